/* Writes a model as a header that is compiled into the library. */
#include "tools/selector/train.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const char *const Terms[] = {
#define TERM(name, value, help)  [GP_TERM_##name] = #name,
#define LIMIT(name, value, help) [GP_TERM_##name] = #name,
#include "mat/impls/gpucsr/selector/model/terms.def"
#undef TERM
#undef LIMIT
};

/* example: NVIDIA H200 -> h200 */
static void ModelShortName(const Table *T, char name[64])
{
  const char *word = strrchr(T->gpu, ' ');
  int         n    = 0;

  for (word = word ? word + 1 : T->gpu; *word && n < 63; word++) name[n++] = isalnum((unsigned char)*word) ? (char)tolower((unsigned char)*word) : '_';
  name[n] = 0;
}

static void ModelWriteCoefficients(FILE *file, const Model *M, const Table *T, const char *name)
{
  fprintf(file, "/* coefficients of the terms of terms.def: microseconds to the power GP_SEL_POWER */\nstatic const double GpSelCoefficients_%s[][GP_TERMS] = {\n", name);
  for (int k = 0; k < M->candidates; k++) {
    const char *between = "";

    fprintf(file, "  {");
    for (int t = 0; t < GP_TERMS; t++) {
      if (M->coefficients[k][t] == 0) continue;
      if (M->coefficients[k][t] == GP_SEL_NEVER) fprintf(file, "%s[GP_TERM_%s] = GP_SEL_NEVER", between, Terms[t]);
      else fprintf(file, "%s[GP_TERM_%s] = %.4g", between, Terms[t], M->coefficients[k][t]);
      between = ", ";
    }
    fprintf(file, "}, /* %s */\n", T->kernel[M->candidate[k]]);
  }
  fprintf(file, "};\n\n");
}

int ModelWrite(const Model *M, const Table *T, const char *path, const char *source)
{
  char  name[64];
  FILE *file = fopen(path, "w");

  if (!file) return 0;
  ModelShortName(T, name);
  fprintf(file, "/* Cost model of %s, written by the program train; do not edit.\n   Trained on %s: %d matrices and transposes, %d kernels. */\n/* clang-format off */\n", T->gpu, source, T->cases, T->kernels);
  fprintf(file, "static const short GpSelKernels_%s[] = {", name);
  for (int k = 0; k < M->candidates; k++) fprintf(file, "%sGP_SPMV_%s", k ? ", " : "", T->kernel[M->candidate[k]]);
  fprintf(file, "};\n\n");
  ModelWriteCoefficients(file, M, T, name);
  fprintf(file, "static const GpSelModel GpSelModel_%s = {\"%s\", %d, %.0f, \"%s\", %d, GpSelKernels_%s, GpSelCoefficients_%s};\n/* clang-format on */\n", name, T->gpu, T->units, T->cache, source, M->candidates, name, name);
  return !fclose(file);
}
