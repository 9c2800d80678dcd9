/* Symbolic phase on the device: counts the nonzeros of each row of C, creates C and the plan, and writes the columns of C and the map. */
#include "mat/impls/gpucsr/spgemm/gpspgemmcuda.h"

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

/* Counts the followers, the products of each row and the rows of each class. */
static GpErr GpSpgemmClassify(GpSpgemm P, const GpCsr *A, const GpCsr *B, GpSpgemmWork *W, int32_t *followers)
{
  GpSpgemmCounts counts = {0};
  GpErr          err    = GpDevZero(P->dev, W->counts, sizeof(counts));

  if (!err) err = GpSpgemmFindFollowers_CUDA(A, W);
  if (!err) err = GpSpgemmCountProducts_CUDA(A, B, W->products, W->counts);
  if (!err) err = GpSpgemmCountClasses_CUDA(P, W, 1);
  if (!err) err = GpSpgemmReadCounts(P->dev, W, &counts);
  if (err) return err;
  if (counts.unsorted) return GpSpgemmUnsorted(B, (int32_t)(counts.unsorted - 1));
  P->products = (int64_t)counts.total;
  P->lanes    = GpSpgemmSelectLanes(A->nnz ? (double)P->products / A->nnz : 0);
  for (int k = 0; k < GP_SPGEMM_CLASSES; k++) W->rows[k] = (int32_t)counts.number[k];
  *followers = (int32_t)counts.followers;
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
  if (!err && !one) err = GpSpgemmWriteLists_CUDA(P, W, NULL, W->rows, W->row);
  for (int k = 0; k < GP_SPGEMM_LARGE && !err; k++) {
    err = GpSpgemmCountRows_CUDA(P, k, A, B, one ? NULL : W->row + at, W->rows[k], W->count, W->overflow, W->counts);
    at += W->rows[k];
  }
  if (!err && bytes) {
    err = GpSpgemmReadCounts(P->dev, W, &counts);
    if (!err) err = GpSpgemmLargeRows_CUDA(P, A, B, NULL, W->overflow, (int32_t)counts.overflows, W->count, NULL);
  }
  if (bytes) GpDevReturn(P->dev, &W->overflow, bytes);
  return err ? err : GpSpgemmFollowCounts_CUDA(P, W);
}

/* Allocates the arrays of the plan. */
static GpErr GpSpgemmAllocate(GpSpgemm P)
{
  int64_t items = 0;
  GpErr   err   = GP_SUCCESS;

  for (int w = 0; w < GP_SPGEMM_ITEMS; w++) items += P->items[w];
  if (!GpSpgemmHasOneClass(P->rows, P->m)) err = GpDevAlloc(P->dev, (size_t)P->m * sizeof(int32_t), &P->row);
  if (!err && P->mapped) err = GpDevAlloc(P->dev, ((size_t)P->m + 1) * sizeof(int64_t), &P->mapstart);
  if (!err && P->mapped) err = GpDevAlloc(P->dev, (size_t)P->mapped, &P->map);
  if (!err && items) err = GpDevAlloc(P->dev, (size_t)items * sizeof(GpSpgemmItem), &P->item);
  return err;
}

/* Creates C and the plan from the numbers of nonzeros. */
static GpErr GpSpgemmCreatePlan(GpSpgemm P, const GpCsr *A, const GpCsr *B, GpSpgemmWork *W, GpCsr *C)
{
  GpSpgemmCounts counts = {0};
  GpErr          err    = GpDevZero(P->dev, W->counts, sizeof(counts));

  if (!err) err = GpSpgemmCountClasses_CUDA(P, W, 0);
  if (!err) err = GpSpgemmReadCounts(P->dev, W, &counts);
  if (err) return err;
  if (counts.total > (unsigned long long)GP_SPGEMM_MOST) return GpSpgemmRefuse(A, B, (int64_t)counts.total);
  P->mapped = (int64_t)counts.mapped;
  P->placed = (int64_t)counts.placed;
  for (int k = 0; k < GP_SPGEMM_CLASSES; k++) P->rows[k] = (int32_t)counts.number[k];
  for (int w = 0; w < GP_SPGEMM_ITEMS; w++) P->items[w] = (int32_t)counts.number[GP_SPGEMM_CLASSES + w];
  err = GpCsrCreate(P->dev, GP_F64, P->m, P->n, (int32_t)counts.total, C);
  if (!err) err = GpScan_CUDA(P->dev, P->m, W->count);
  if (!err) err = GpDevCopyWithin(P->dev, C->rowptr, W->count, ((size_t)P->m + 1) * sizeof(int32_t));
  if (!err) err = GpSpgemmAllocate(P);
  if (!err) err = GpSpgemmWriteLists_CUDA(P, W, C->rowptr, P->rows, P->row);
  if (!err && P->map) err = GpSpgemmScan_CUDA(P->dev, P->m, P->mapstart);
  if (!err && P->map) err = GpSpgemmFinishMap_CUDA(P, W, C->rowptr);
  return err;
}

static GpErr GpSpgemmFill(GpSpgemm P, const GpCsr *A, const GpCsr *B, const GpSpgemmWork *W, GpCsr *C)
{
  int32_t at  = 0;
  GpErr   err = GP_SUCCESS;

  for (int k = 0; k < GP_SPGEMM_CLASSES && !err; k++) {
    const int32_t *list = P->row ? P->row + at : NULL;

    err = k < GP_SPGEMM_LARGE ? GpSpgemmFillRows_CUDA(P, k, A, B, W->follows, list, P->rows[k], C) : GpSpgemmLargeRows_CUDA(P, A, B, W->follows, list, P->rows[k], NULL, C);
    at += P->rows[k];
  }
  return err ? err : GpSpgemmFollowColumns_CUDA(P, W, C);
}

extern "C" GpErr GpSpgemmFindPattern_CUDA(const GpCsr *A, const GpCsr *B, GpSpgemm P, GpCsr *C)
{
  const size_t products = ((size_t)A->m + 1) * sizeof(int64_t), count = ((size_t)A->m + 1) * sizeof(int32_t);
  GpSpgemmWork W         = {};
  int32_t      followers = 0;
  GpErr        err       = GpDevBorrow(P->dev, products, &W.products);

  if (!err) err = GpDevBorrow(P->dev, count, &W.count);
  if (!err) err = GpDevBorrow(P->dev, count, &W.row);
  if (!err) err = GpDevBorrow(P->dev, (size_t)A->m + 1, &W.follows);
  if (!err) err = GpDevBorrow(P->dev, sizeof(GpSpgemmCounts), &W.counts);
  if (!err) err = GpSpgemmClassify(P, A, B, &W, &followers);
  if (!followers) GpDevReturn(P->dev, &W.follows, (size_t)A->m + 1);
  if (!err) err = GpSpgemmCount(P, A, B, &W);
  if (!err) err = GpSpgemmCreatePlan(P, A, B, &W, C);
  if (!err) err = GpSpgemmFill(P, A, B, &W, C);
  GpDevReturn(P->dev, &W.counts, sizeof(GpSpgemmCounts));
  GpDevReturn(P->dev, &W.follows, (size_t)A->m + 1);
  GpDevReturn(P->dev, &W.row, count);
  GpDevReturn(P->dev, &W.count, count);
  GpDevReturn(P->dev, &W.products, products);
  return err;
}
