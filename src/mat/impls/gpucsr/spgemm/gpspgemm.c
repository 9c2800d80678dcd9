/* Products of sparse matrices: creation of plans, and the host implementation. */
#include "mat/impls/gpucsr/spgemm/gpspgemmimpl.h"
#include <stdlib.h>
#include <string.h>

GpErr GpSpgemmRefuse(const GpCsr *A, const GpCsr *B, int64_t nnz)
{
  return GpDevFail(A->dev, GP_ERR_ARGUMENT, "the product of a %d x %d and a %d x %d matrix has %lld nonzeros; a process can have at most %lld of them: use more processes", (int)A->m, (int)A->n, (int)B->m, (int)B->n, (long long)nnz,
                   (long long)GP_SPGEMM_MOST);
}

GpErr GpSpgemmUnsorted(const GpCsr *B, int32_t row)
{
  return GpDevFail(B->dev, GP_ERR_ARGUMENT, "the columns of row %d of the second matrix of a sparse product do not ascend strictly from 0 to %d: sort them and add up duplicates", (int)row, (int)B->n - 1);
}

/* --- plans ---------------------------------------------------------------------------------------------------------------------------------- */

static size_t GpSpgemmItemBytes(const struct GpSpgemm_ *P)
{
  size_t items = 0;

  for (int w = 0; w < GP_SPGEMM_ITEMS; w++) items += (size_t)P->items[w];
  return items * sizeof(GpSpgemmItem);
}

void GpSpgemmDestroy(GpSpgemm *plan)
{
  struct GpSpgemm_ *P = *plan;

  if (!P) return;
  GpDevFree(P->dev, &P->row, (size_t)P->m * sizeof(int32_t));
  GpDevFree(P->dev, &P->item, GpSpgemmItemBytes(P));
  GpDevFree(P->dev, &P->mapstart, ((size_t)P->m + 1) * sizeof(int64_t));
  GpDevFree(P->dev, &P->map, (size_t)P->mapped);
  free(P);
  *plan = NULL;
}

void GpSpgemmGetInfo(GpSpgemm plan, GpSpgemmInfo *info)
{
  info->products = plan->products;
  info->mapped   = plan->placed;
  info->bytes    = (double)GpSpgemmItemBytes(plan) + (double)plan->mapped;
  if (plan->row) info->bytes += (double)plan->m * sizeof(int32_t);
  if (plan->mapstart) info->bytes += ((double)plan->m + 1) * sizeof(int64_t);
}

GpErr GpSpgemmSymbolic(const GpCsr *A, const GpCsr *B, GpSpgemm *plan, GpCsr *C)
{
  struct GpSpgemm_ *P;
  GpErr             err;

  *plan = NULL;
  *C    = (GpCsr){0};
  if (A->n != B->m) return GpDevFail(A->dev, GP_ERR_ARGUMENT, "sparse product: the first matrix has %d columns, the second %d rows", (int)A->n, (int)B->m);
  if (GpGraphRefuse(A->dev)) return GpDevFail(A->dev, GP_ERR_ARGUMENT, "the symbolic phase of a sparse product cannot be captured in a graph; call it before");
  P = (struct GpSpgemm_ *)calloc(1, sizeof(*P));
  if (!P) return GpDevFail(A->dev, GP_ERR_MEMORY, "out of host memory for the plan of a sparse product");
  P->dev  = A->dev;
  P->m    = A->m;
  P->k    = A->n;
  P->n    = B->n;
  P->annz = A->nnz;
  P->bnnz = B->nnz;
  err     = GP_ON_DEVICE(A->dev, GpSpgemmFindPattern, A, B, P, C);
  if (err) {
    GpSpgemmDestroy(&P);
    GpCsrDestroy(C);
    return err;
  }
  P->nnz = C->nnz;
  *plan  = P;
  return GP_SUCCESS;
}

GpErr GpSpgemmNumeric(GpSpgemm plan, const GpCsr *A, const GpCsr *B, GpCsr *C)
{
  if (A->m != plan->m || A->n != plan->k || A->nnz != plan->annz || B->m != plan->k || B->n != plan->n || B->nnz != plan->bnnz || C->m != plan->m || C->n != plan->n || C->nnz != plan->nnz)
    return GpDevFail(plan->dev, GP_ERR_ARGUMENT, "a matrix of a sparse product has another size or number of nonzeros than in the symbolic phase: repeat the symbolic phase");
  if (A->prec != GP_F64 || B->prec != GP_F64 || C->prec != GP_F64) return GpDevFail(plan->dev, GP_ERR_ARGUMENT, "a sparse product needs values in double precision");
  if (!C->nnz) return GP_SUCCESS;
  return GP_ON_DEVICE(plan->dev, GpSpgemmAddProducts, plan, A, B, C);
}

/* --- host implementation (F. G. Gustavson, ACM TOMS 4, 1978) ------------------------------------------------------------------------------------ */

/* Returns the first row whose columns do not ascend strictly within 0 to n - 1; -1: none. */
static int32_t GpSpgemmFindUnsorted(const GpCsr *B)
{
  for (int32_t i = 0; i < B->m; i++) {
    int32_t previous = -1;

    for (int32_t k = B->rowptr[i]; k < B->rowptr[i + 1]; k++) {
      if (B->col[k] <= previous || B->col[k] >= B->n) return i;
      previous = B->col[k];
    }
  }
  return -1;
}

/* Returns the number of nonzeros of row i of C, and writes its columns in any order unless col is NULL. seen: [n] holds the last row that has each column. */
static int32_t GpSpgemmListColumns(const GpCsr *A, const GpCsr *B, int32_t i, int32_t seen[], int32_t col[])
{
  int32_t c = 0;

  if (!col && A->rowptr[i + 1] - A->rowptr[i] == 1) return B->rowptr[A->col[A->rowptr[i]] + 1] - B->rowptr[A->col[A->rowptr[i]]];
  for (int32_t k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) {
    for (int32_t b = B->rowptr[A->col[k]]; b < B->rowptr[A->col[k] + 1]; b++) {
      const int32_t j = B->col[b];

      if (seen[j] == i) continue;
      seen[j] = i;
      if (col) col[c] = j;
      c++;
    }
  }
  return c;
}

static int GpSpgemmCompare(const void *a, const void *b)
{
  const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

  return (x > y) - (x < y);
}

static void GpSpgemmSortColumns(int32_t n, int32_t col[])
{
  if (n > 64) {
    qsort(col, (size_t)n, sizeof(int32_t), GpSpgemmCompare);
    return;
  }
  for (int32_t k = 1; k < n; k++) {
    const int32_t j  = col[k];
    int32_t       to = k;

    for (; to > 0 && col[to - 1] > j; to--) col[to] = col[to - 1];
    col[to] = j;
  }
}

GpErr GpSpgemmFindPattern_Host(const GpCsr *A, const GpCsr *B, GpSpgemm P, GpCsr *C)
{
  const int32_t bad  = GpSpgemmFindUnsorted(B);
  int32_t      *seen = (int32_t *)malloc((size_t)B->n * sizeof(int32_t) + 1), *count = (int32_t *)malloc((size_t)A->m * sizeof(int32_t) + 1);
  int64_t       nnz = 0;
  GpErr         err = seen && count ? GP_SUCCESS : GpDevFail(A->dev, GP_ERR_MEMORY, "out of host memory for a sparse product of %d rows and %d columns", (int)A->m, (int)B->n);

  if (!err && bad >= 0) err = GpSpgemmUnsorted(B, bad);
  if (!err) {
    for (int32_t j = 0; j < B->n; j++) seen[j] = -1;
    for (int32_t i = 0; i < A->m; i++) nnz += count[i] = GpSpgemmListColumns(A, B, i, seen, NULL);
    for (int32_t k = 0; k < A->nnz; k++) P->products += B->rowptr[A->col[k] + 1] - B->rowptr[A->col[k]];
    if (nnz > GP_SPGEMM_MOST) err = GpSpgemmRefuse(A, B, nnz);
  }
  if (!err) err = GpCsrCreate(A->dev, GP_F64, A->m, B->n, (int32_t)nnz, C);
  if (!err) {
    for (int32_t j = 0; j < B->n; j++) seen[j] = -1;
    C->rowptr[0] = 0;
    for (int32_t i = 0; i < A->m; i++) {
      C->rowptr[i + 1] = C->rowptr[i] + count[i];
      if (!count[i]) continue;
      (void)GpSpgemmListColumns(A, B, i, seen, C->col + C->rowptr[i]);
      GpSpgemmSortColumns(count[i], C->col + C->rowptr[i]);
    }
  }
  free(seen);
  free(count);
  return err;
}

GpErr GpSpgemmAddProducts_Host(GpSpgemm P, const GpCsr *A, const GpCsr *B, GpCsr *C)
{
  const double *a = (const double *)A->val, *b = (const double *)B->val;
  double       *c = (double *)C->val, *sum = (double *)malloc((size_t)B->n * sizeof(double) + 1);

  (void)P;
  if (!sum) return GpDevFail(A->dev, GP_ERR_MEMORY, "out of host memory for a sparse product of %d columns", (int)B->n);
  for (int32_t i = 0; i < A->m; i++) {
    for (int32_t e = C->rowptr[i]; e < C->rowptr[i + 1]; e++) sum[C->col[e]] = 0;
    for (int32_t k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) {
      const int32_t end = B->rowptr[A->col[k] + 1];

      for (int32_t e = B->rowptr[A->col[k]]; e < end; e++) sum[B->col[e]] += a[k] * b[e];
    }
    for (int32_t e = C->rowptr[i]; e < C->rowptr[i + 1]; e++) c[e] = sum[C->col[e]];
  }
  free(sum);
  return GP_SUCCESS;
}
