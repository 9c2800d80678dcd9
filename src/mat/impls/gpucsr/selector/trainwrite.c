/* Writes a model as the header that the library is built with. */
#include "mat/impls/gpucsr/selector/train.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define LINE 188 /* characters */

static const char *const Features[] = {
#define FEATURE(name, help) #name,
#include "mat/impls/gpucsr/selector/features.def"
#undef FEATURE
};

static const char *const Terms[] = {
#define TERM(name, value, help) #name,
#include "mat/impls/gpucsr/selector/terms.def"
#undef TERM
};

/* NVIDIA H200 -> h200 */
static void ShortName(const Table *T, char name[64])
{
  const char *word = strrchr(T->gpu, ' ');
  int         n    = 0;

  for (word = word ? word + 1 : T->gpu; *word && n < 63; word++) name[n++] = isalnum((unsigned char)*word) ? (char)tolower((unsigned char)*word) : '_';
  name[n] = 0;
}

static void WriteLaws(FILE *file, const Model *M, const Table *T, const char *name)
{
  fprintf(file, "/* microseconds of each term of terms.def */\nstatic const double GpSelLaws_%s[][GP_TERMS] = {\n", name);
  for (int k = 0; k < M->candidates; k++) {
    const char *between = "";

    fprintf(file, "  {");
    for (int t = 0; t < GP_TERMS; t++) {
      if (M->law[k][t] == 0) continue;
      fprintf(file, "%s[GP_TERM_%s] = %.4g", between, Terms[t], M->law[k][t]);
      between = ", ";
    }
    fprintf(file, "}, /* %s */\n", T->kernel[M->candidate[k]]);
  }
  fprintf(file, "};\n\n");
}

/* the next item of a list, on a new line when this one is full */
static void Put(FILE *file, int *column, const char item[])
{
  const int length = (int)strlen(item) + 2, full = *column + length > LINE;

  fprintf(file, "%s%s,", full ? "\n" : " ", item);
  *column = full ? length : *column + length;
}

static void WriteTrees(FILE *file, const Model *M, const char *name)
{
  char item[16 + 5 * GP_SEL_MODELLED];
  int  column = LINE;

  fprintf(file, "static const short GpSelRoots_%s[] = {", name);
  for (int t = 0; t < M->settings.trees; t++) {
    snprintf(item, sizeof(item), "%d", M->root[t]);
    Put(file, &column, item);
  }
  fprintf(file, "\n};\n\nstatic const GpSelNode GpSelNodes_%s[] = {", name);
  column = LINE;
  for (int k = 0; k < M->nodes; k++) {
    const Node *node = &M->node[k];
    const int   term = node->feature - GP_FEATURES;

    if (node->feature < 0) snprintf(item, sizeof(item), "{-1, %d, 0, 0}", node->low);
    else if (term < 0) snprintf(item, sizeof(item), "{GP_SEL_%s, %d, %d, %.9g}", Features[node->feature], node->low, node->high, node->threshold);
    else snprintf(item, sizeof(item), "{GP_FEATURES + GP_TERM_%s, %d, %d, %.9g}", Terms[term], node->low, node->high, node->threshold);
    Put(file, &column, item);
  }
  fprintf(file, "\n};\n\n/* what a leaf adds to the logarithm of each kernel's time over its law's, times %g */\nstatic const signed char GpSelLeaves_%s[][%d] = {", GP_SEL_STEPS, name, M->candidates);
  column = LINE;
  for (int l = 0; l < M->leaves; l++) {
    size_t used = 0;

    for (int k = 0; k < M->candidates; k++) used += (size_t)snprintf(item + used, sizeof(item) - used, "%s%d", k ? "," : "{", M->leaf[(size_t)l * GP_SEL_MODELLED + k]);
    snprintf(item + used, sizeof(item) - used, "}");
    Put(file, &column, item);
  }
  fprintf(file, "\n};\n\n");
}

int ModelWrite(const Model *M, const Table *T, const char *path, const char *source)
{
  char  name[64];
  FILE *file = fopen(path, "w");

  if (!file) return 0;
  ShortName(T, name);
  fprintf(file, "/* The model of %s, written by train; do not edit.\n   Learnt from %s: %d matrices and transposes, %d kernels. */\n/* clang-format off */\n", T->gpu, source, T->cases, T->kernels);
  fprintf(file, "static const short GpSelKernels_%s[] = {", name);
  for (int k = 0; k < M->candidates; k++) fprintf(file, "%sGP_SPMV_%s", k ? ", " : "", T->kernel[M->candidate[k]]);
  fprintf(file, "};\n\n");
  WriteLaws(file, M, T, name);
  WriteTrees(file, M, name);
  fprintf(file, "static const GpSelModel GpSelModel_%s = {\"%s\", %d, %.0f, \"%s\", %d, %d, GpSelKernels_%s, GpSelLaws_%s, GpSelRoots_%s, GpSelNodes_%s, GpSelLeaves_%s[0]};\n/* clang-format on */\n", name, T->gpu, T->units, T->cache, source,
          M->candidates, M->settings.trees, name, name, name, name, name);
  return !fclose(file);
}
