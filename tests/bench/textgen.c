/* Writes a LIBSVM file of a generated bag of words: Zipf columns, positive values, rows of unit length, and labels that a
   hidden sparse direction gives to most rows.   textgen <file> [rows columns each]      default 800000 47236 64 */
#include "bench/matrices.h"

#include <stdio.h>

int main(int argc, char **argv)
{
  const int32_t rows = argc > 2 ? atoi(argv[2]) : 800000, columns = argc > 3 ? atoi(argv[3]) : 47236, each = argc > 4 ? atoi(argv[4]) : 64;
  uint64_t      seed = 2026;
  double       *hidden;
  BenchMatrix   A;
  FILE         *file;

  if (argc < 2 || rows < 1 || columns < 1 || each < 1) {
    fprintf(stderr, "usage: textgen <file> [rows columns each]\n");
    return 2;
  }
  file   = fopen(argv[1], "w");
  hidden = (double *)malloc((size_t)columns * sizeof(double));
  if (!file || !hidden) {
    fprintf(stderr, "textgen: cannot write %s\n", argv[1]);
    return 1;
  }
  for (int32_t j = 0; j < columns; j++) hidden[j] = BenchUniform(&seed) < 0.1 ? 2 * BenchUniform(&seed) - 1 : 0.0;
  BenchRows(&A, rows, columns, each, 1, 7);
  for (int32_t i = 0; i < rows; i++) {
    double norm = 0, score = 0;

    for (int32_t k = A.rowptr[i]; k < A.rowptr[i + 1]; k++) {
      const double v = fabs(A.val[k]) * log((double)(A.col[k] + 3)); /* rare words weigh more */

      A.val[k] = v;
      norm += v * v;
      score += v * hidden[A.col[k]];
    }
    norm = norm > 0 ? sqrt(norm) : 1;
    fputs(score / norm + 0.2 * (BenchUniform(&seed) - 0.5) > 0 ? "+1" : "-1", file);
    for (int32_t k = A.rowptr[i]; k < A.rowptr[i + 1]; k++) fprintf(file, " %d:%.6g", (int)A.col[k] + 1, A.val[k] / norm);
    fputc('\n', file);
  }
  BenchMatrixDestroy(&A);
  free(hidden);
  if (fclose(file)) {
    fprintf(stderr, "textgen: writing %s failed\n", argv[1]);
    return 1;
  }
  return 0;
}
