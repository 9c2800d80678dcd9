/* Writes a LIBSVM file of a generated bag of words: Zipf columns, positive values, rows of unit length, and labels that a
   hidden sparse direction gives to most rows.   textgen <file> [rows columns each]      default 800000 47236 64
   A file whose name ends with .petsc is written as PETSc's binary matrix and vector of labels, in half the time; values then have all their digits. */
#include "bench/matrices.h"

#include <byteswap.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Writes numbers of four or eight bytes as in PETSc's files, the most significant byte first. */
static void PutInts(FILE *file, const int32_t a[], int64_t n)
{
  for (int64_t i = 0; i < n; i++) {
    const uint32_t b = bswap_32((uint32_t)a[i]);

    fwrite(&b, sizeof(b), 1, file);
  }
}

static void PutReals(FILE *file, const double a[], int64_t n)
{
  for (int64_t i = 0; i < n; i++) {
    uint64_t b;

    memcpy(&b, &a[i], sizeof(b));
    b = bswap_64(b);
    fwrite(&b, sizeof(b), 1, file);
  }
}

static void PutBinary(FILE *file, const BenchMatrix *A, const double label[])
{
  const int32_t matrix[4] = {1211216, A->m, A->n, (int32_t)A->nnz}, vector[2] = {1211214, A->m};

  PutInts(file, matrix, 4);
  for (int32_t i = 0; i < A->m; i++) PutInts(file, &(int32_t){A->rowptr[i + 1] - A->rowptr[i]}, 1);
  PutInts(file, A->col, A->nnz);
  PutReals(file, A->val, A->nnz);
  PutInts(file, vector, 2);
  PutReals(file, label, A->m);
}

static void PutText(FILE *file, const BenchMatrix *A, const double label[])
{
  for (int32_t i = 0; i < A->m; i++) {
    fputs(label[i] > 0 ? "+1" : "-1", file);
    for (int32_t k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) fprintf(file, " %d:%.6g", (int)A->col[k] + 1, A->val[k]);
    fputc('\n', file);
  }
}

int main(int argc, char **argv)
{
  const int32_t rows = argc > 2 ? atoi(argv[2]) : 800000, columns = argc > 3 ? atoi(argv[3]) : 47236, each = argc > 4 ? atoi(argv[4]) : 64;
  const char   *ending = argc > 1 ? strrchr(argv[1], '.') : NULL;
  const bool    binary = ending && !strcmp(ending, ".petsc");
  uint64_t      seed   = 2026;
  double       *hidden, *label;
  BenchMatrix   A;
  FILE         *file;

  if (argc < 2 || rows < 1 || columns < 1 || each < 1) {
    fprintf(stderr, "usage: textgen <file> [rows columns each]\n");
    return 2;
  }
  file   = fopen(argv[1], "w");
  hidden = (double *)malloc((size_t)columns * sizeof(double));
  label  = (double *)malloc((size_t)rows * sizeof(double));
  if (!file || !hidden || !label) {
    fprintf(stderr, "textgen: cannot write %s\n", argv[1]);
    return 1;
  }
  for (int32_t j = 0; j < columns; j++) hidden[j] = BenchUniform(&seed) < 0.1 ? 2 * BenchUniform(&seed) - 1 : 0.0;
  BenchRows(&A, rows, columns, each, 1, 7);
  for (int32_t i = 0; i < rows; i++) {
    double norm = 0, score = 0;

    for (int32_t k = A.rowptr[i]; k < A.rowptr[i + 1]; k++) {
      const double v = fabs(A.val[k]) * log((double)(A.col[k] + 3)); /* rare words have larger weights */

      A.val[k] = v;
      norm += v * v;
      score += v * hidden[A.col[k]];
    }
    norm = norm > 0 ? sqrt(norm) : 1;
    for (int32_t k = A.rowptr[i]; k < A.rowptr[i + 1]; k++) A.val[k] /= norm;
    label[i] = score / norm + 0.2 * (BenchUniform(&seed) - 0.5) > 0 ? 1 : -1;
  }
  if (binary) PutBinary(file, &A, label);
  else PutText(file, &A, label);
  BenchMatrixDestroy(&A);
  free(hidden);
  free(label);
  if (fclose(file)) {
    fprintf(stderr, "textgen: writing %s failed\n", argv[1]);
    return 1;
  }
  return 0;
}
