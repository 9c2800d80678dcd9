/* Writes a model as the header that the library is built with. */
#include "mat/impls/gpucsr/selector/train.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

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

static void WriteTrees(FILE *file, const Model *M, const char *name)
{
  fprintf(file, "static const short GpSelRoots_%s[] = {", name);
  for (int t = 0; t < M->settings.trees; t++) fprintf(file, "%s%d", t ? ", " : "", M->root[t]);
  fprintf(file, "};\n\nstatic const GpSelNode GpSelNodes_%s[] = {\n", name);
  for (int k = 0; k < M->nodes; k++) {
    const Node *node = &M->node[k];

    if (node->feature < 0) fprintf(file, "  {-1, %d, 0, 0},\n", node->low);
    else if (node->feature < GP_FEATURES) fprintf(file, "  {GP_SEL_%s, %d, %d, %.9g},\n", Features[node->feature], node->low, node->high, node->threshold);
    else fprintf(file, "  {GP_FEATURES + GP_TERM_%s, %d, %d, %.9g},\n", Terms[node->feature - GP_FEATURES], node->low, node->high, node->threshold);
  }
  fprintf(file, "};\n\n/* what a leaf adds to the logarithm of each kernel's time over its law's, times %g */\nstatic const signed char GpSelLeaves_%s[][%d] = {\n", GP_SEL_STEPS, name, M->candidates);
  for (int l = 0; l < M->leaves; l++) {
    fprintf(file, "  {");
    for (int k = 0; k < M->candidates; k++) fprintf(file, "%s%d", k ? ", " : "", M->leaf[(size_t)l * GP_SEL_MODELLED + k]);
    fprintf(file, "},\n");
  }
  fprintf(file, "};\n\n");
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
