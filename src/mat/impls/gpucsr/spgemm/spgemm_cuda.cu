/* Symbolic phase on the device: counts the nonzeros of each row of C, creates C and the plan, and writes the columns of C and the map. */
#include "mat/impls/gpucsr/spgemm/gpspgemmcuda.h"

/* Workspace of the symbolic phase, in device memory. */
struct GpSpgemmWork {
  int64_t        *products; /* [m] */
  int32_t        *count;    /* [m+1] number of nonzeros of each row; then row starts */
  int32_t        *row;      /* [m] rows by class */
  int32_t        *overflow; /* rows of class GP_SPGEMM_MEDIUM that turned out to be large */
  GpSpgemmCounts *counts;
  int32_t         rows[GP_SPGEMM_CLASSES]; /* on the host: number of rows of each class */
};

/* Reads the counts. The host waits for the work that writes them. */
static GpErr GpSpgemmReadCounts(GpDev dev, GpSpgemmWork *W, GpSpgemmCounts *counts)
{
  GpErr err = GpDevFetchBegin(dev, W->counts, sizeof(*counts));

  return err ? err : GpDevFetchEnd(dev, counts, sizeof(*counts));
}

/* Returns 1 if one class has all rows, so that no list is needed. */
static int GpSpgemmHasOneClass(const int32_t rows[GP_SPGEMM_CLASSES], int32_t m)
{
  for (int k = 0; k < GP_SPGEMM_CLASSES; k++) {
    if (rows[k] == m) return 1;
  }
  return 0;
}

/* Returns the number of threads that read a row of B together. mean: mean number of entries of a row. */
static int GpSpgemmSelectLanes(double mean)
{
  return mean <= 2 ? 2 : mean <= 4.5 ? 4 : mean <= 9 ? 8 : mean <= 18 ? 16 : 32;
}

/* Counts the products of each row and the rows of each class. */
static GpErr GpSpgemmClassify(GpSpgemm P, const GpCsr *A, const GpCsr *B, GpSpgemmWork *W)
{
  GpSpgemmCounts counts = {0};
  GpErr          err    = GpDevZero(P->dev, W->counts, sizeof(counts));

  if (!err) err = GpSpgemmCountProducts_CUDA(A, B, W->products, W->counts);
  if (!err) err = GpSpgemmCountClasses_CUDA(P, W->products, NULL, W->counts);
  if (!err) err = GpSpgemmReadCounts(P->dev, W, &counts);
  if (err) return err;
  if (counts.unsorted) return GpSpgemmUnsorted(B, (int32_t)(counts.unsorted - 1));
  P->products = (int64_t)counts.total;
  P->lanes    = GpSpgemmSelectLanes(A->nnz ? (double)P->products / A->nnz : 0);
  for (int k = 0; k < GP_SPGEMM_CLASSES; k++) W->rows[k] = (int32_t)counts.number[k];
  return GP_SUCCESS;
}

/* Computes the number of nonzeros of each row. */
static GpErr GpSpgemmCount(GpSpgemm P, const GpCsr *A, const GpCsr *B, GpSpgemmWork *W)
{
  const int      one    = GpSpgemmHasOneClass(W->rows, P->m);
  const size_t   bytes  = (size_t)W->rows[GP_SPGEMM_MEDIUM] * sizeof(int32_t);
  GpSpgemmCounts counts = {0};
  int32_t        at     = 0;
  GpErr          err    = GpDevZero(P->dev, W->count, ((size_t)P->m + 1) * sizeof(int32_t));

  if (!err && bytes) err = GpDevBorrow(P->dev, bytes, &W->overflow);
  if (!err && !one) err = GpSpgemmWriteLists_CUDA(P, W->products, NULL, W->rows, W->row, W->counts);
  for (int k = 0; k < GP_SPGEMM_LARGE && !err; k++) {
    err = GpSpgemmCountRows_CUDA(P, k, A, B, one ? NULL : W->row + at, W->rows[k], W->count, W->overflow, W->counts);
    at += W->rows[k];
  }
  if (!err && bytes) {
    err = GpSpgemmReadCounts(P->dev, W, &counts);
    if (!err) err = GpSpgemmLargeRows_CUDA(P, A, B, W->overflow, (int32_t)counts.overflows, W->count, NULL);
  }
  if (bytes) GpDevReturn(P->dev, &W->overflow, bytes);
  return err;
}

/* Allocates the arrays of the plan. small: number of rows of at most 256 nonzeros. mapped: number of their products. */
static GpErr GpSpgemmAllocate(GpSpgemm P, int32_t small, int64_t mapped, double limit)
{
  GpErr err = GP_SUCCESS;

  if (!GpSpgemmHasOneClass(P->rows, P->m)) err = GpDevAlloc(P->dev, (size_t)P->m * sizeof(int32_t), &P->row);
  if (!err && mapped && (double)mapped <= limit) {
    P->mapped = mapped;
    err       = GpDevAlloc(P->dev, ((size_t)P->m + 1) * sizeof(int64_t), &P->mapstart);
    if (!err) err = GpDevAlloc(P->dev, (size_t)mapped, &P->map);
  } else if (!err) P->items[0] += small;
  if (!err && P->items[0] + P->items[1]) err = GpDevAlloc(P->dev, ((size_t)P->items[0] + (size_t)P->items[1]) * sizeof(GpSpgemmItem), &P->item);
  return err;
}

/* Creates C and the plan from the numbers of nonzeros. */
static GpErr GpSpgemmCreatePlan(GpSpgemm P, const GpCsr *A, const GpCsr *B, GpSpgemmWork *W, GpCsr *C)
{
  GpSpgemmCounts counts = {0};
  int32_t        small  = 0;
  GpErr          err    = GpDevZero(P->dev, W->counts, sizeof(counts));

  if (!err) err = GpSpgemmCountClasses_CUDA(P, W->products, W->count, W->counts);
  if (!err) err = GpSpgemmReadCounts(P->dev, W, &counts);
  if (err) return err;
  if (counts.total > (unsigned long long)GP_SPGEMM_MOST) return GpSpgemmRefuse(A, B, (int64_t)counts.total);
  for (int k = 0; k < GP_SPGEMM_CLASSES; k++) {
    P->rows[k] = (int32_t)counts.number[k];
    if (k < GP_SPGEMM_MEDIUM) small += P->rows[k];
  }
  for (int w = 0; w < GP_SPGEMM_WIDTHS; w++) P->items[w] = (int32_t)counts.number[GP_SPGEMM_CLASSES + w];
  err = GpCsrCreate(P->dev, GP_F64, P->m, P->n, (int32_t)counts.total, C);
  if (!err) err = GpScan_CUDA(P->dev, P->m, W->count);
  if (!err) err = GpDevCopyWithin(P->dev, C->rowptr, W->count, ((size_t)P->m + 1) * sizeof(int32_t));
  if (!err) err = GpSpgemmAllocate(P, small, (int64_t)counts.mapped, 12.0 * (double)counts.total);
  if (!err) err = GpSpgemmWriteLists_CUDA(P, W->products, C->rowptr, P->rows, P->row, W->counts);
  if (!err && P->mapstart) err = GpSpgemmScan_CUDA(P->dev, P->m, P->mapstart);
  return err;
}

static GpErr GpSpgemmFill(GpSpgemm P, const GpCsr *A, const GpCsr *B, GpCsr *C)
{
  int32_t at  = 0;
  GpErr   err = GP_SUCCESS;

  for (int k = 0; k < GP_SPGEMM_CLASSES && !err; k++) {
    const int32_t *list = P->row ? P->row + at : NULL;

    err = k < GP_SPGEMM_LARGE ? GpSpgemmFillRows_CUDA(P, k, A, B, list, P->rows[k], C) : GpSpgemmLargeRows_CUDA(P, A, B, list, P->rows[k], NULL, C);
    at += P->rows[k];
  }
  return err;
}

extern "C" GpErr GpSpgemmFindPattern_CUDA(const GpCsr *A, const GpCsr *B, GpSpgemm P, GpCsr *C)
{
  const size_t products = ((size_t)A->m + 1) * sizeof(int64_t), count = ((size_t)A->m + 1) * sizeof(int32_t);
  GpSpgemmWork W   = {};
  GpErr        err = GpDevBorrow(P->dev, products, &W.products);

  if (!err) err = GpDevBorrow(P->dev, count, &W.count);
  if (!err) err = GpDevBorrow(P->dev, count, &W.row);
  if (!err) err = GpDevBorrow(P->dev, sizeof(GpSpgemmCounts), &W.counts);
  if (!err) err = GpSpgemmClassify(P, A, B, &W);
  if (!err) err = GpSpgemmCount(P, A, B, &W);
  if (!err) err = GpSpgemmCreatePlan(P, A, B, &W, C);
  GpDevReturn(P->dev, &W.counts, sizeof(GpSpgemmCounts));
  GpDevReturn(P->dev, &W.row, count);
  GpDevReturn(P->dev, &W.count, count);
  GpDevReturn(P->dev, &W.products, products);
  return err ? err : GpSpgemmFill(P, A, B, C);
}
