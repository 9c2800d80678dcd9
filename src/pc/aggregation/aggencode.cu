/* Columns as codes of one byte (gpagg.h): matrices of grids have few distinct differences of column and row. */
#include "pc/aggregation/gpagg.h"
#include "pc/aggregation/aggstep.h"

typedef struct {
  GpCsr     A;
  uint32_t *seen;  /* [words + 1] bit `column - row + m` is set if a nonzero has this difference */
  int32_t  *start; /* [words + 1] number of bits that are set in each word; after the prefix sum, in all words before it */
  int32_t  *offset;
  int32_t   count;
  uint8_t  *code;
} GpAggOffsets;

GP_STEP(GpAggMarkOffsets)
{
  const GpAggOffsets *a = (const GpAggOffsets *)args;

  for (int32_t k = a->A.rowptr[i]; k < a->A.rowptr[i + 1]; k++) {
    const int64_t  at  = (int64_t)a->A.col[k] - i + a->A.m;
    const uint32_t bit = (uint32_t)1 << (at % 32);

    if (!(((volatile uint32_t *)a->seen)[at / 32] & bit)) GP_SET(a->seen + at / 32, bit);
  }
}

GP_STEP(GpAggCountOffsets)
{
  const GpAggOffsets *a = (const GpAggOffsets *)args;
  int32_t             n = 0;

  for (uint32_t rest = a->seen[i]; rest; rest &= rest - 1) n++;
  a->start[i] = n;
}

GP_STEP(GpAggListOffsets)
{
  const GpAggOffsets *a  = (const GpAggOffsets *)args;
  int32_t             to = a->start[i];

  for (int bit = 0; bit < 32; bit++) {
    if (a->seen[i] >> bit & 1) a->offset[to++] = (int32_t)(i * 32 + bit - a->A.m);
  }
}

GP_STEP(GpAggEncodeRow)
{
  const GpAggOffsets *a = (const GpAggOffsets *)args;

  for (int32_t k = a->A.rowptr[i]; k < a->A.rowptr[i + 1]; k++) {
    const int32_t difference = a->A.col[k] - (int32_t)i;
    int32_t       lo = 0, hi = a->count - 1;

    while (lo < hi) {
      const int32_t mid = lo + (hi - lo) / 2;

      if (a->offset[mid] < difference) lo = mid + 1;
      else hi = mid;
    }
    a->code[k] = (uint8_t)lo;
  }
}

GP_PAIR(GpAggFindOffsets, const GpAggOffsets *a, int32_t words);
GpErr GP_IMPL(GpAggFindOffsets)(const GpAggOffsets *a, int32_t words)
{
  GpErr err = GP_EACH(a->A.dev, GpAggOffsets, GpAggMarkOffsets, a->A.m, a);

  if (!err) err = GP_EACH(a->A.dev, GpAggOffsets, GpAggCountOffsets, words, a);
  return err ? err : GP_IMPL(GpScan)(a->A.dev, words, a->start);
}

GP_PAIR(GpAggEncodeRows, const GpAggOffsets *a, int32_t words);
GpErr GP_IMPL(GpAggEncodeRows)(const GpAggOffsets *a, int32_t words)
{
  const GpErr err = GP_EACH(a->A.dev, GpAggOffsets, GpAggListOffsets, words, a);

  return err ? err : GP_EACH(a->A.dev, GpAggOffsets, GpAggEncodeRow, a->A.m, a);
}

#if !defined(__CUDACC__)
void GpAggDestroyCodes(GpDev dev, GpAggCodes *c)
{
  GpDevFree(dev, &c->offset, (size_t)c->count * sizeof(int32_t));
  GpDevFree(dev, &c->code, (size_t)c->nnz);
  *c = (GpAggCodes){0};
}

GpErr GpAggEncodeColumns(const GpCsr *A, GpAggCodes *codes)
{
  const int32_t words = (int32_t)(((int64_t)A->m + A->n + 31) / 32);
  const size_t  bytes = ((size_t)words + 1) * sizeof(int32_t);
  GpAggOffsets  a     = {.A = *A};
  GpErr         err   = GpDevBorrow(A->dev, bytes, &a.seen);

  *codes = (GpAggCodes){0};
  if (!err) err = GpDevBorrow(A->dev, bytes, &a.start);
  if (!err) err = GpDevZero(A->dev, a.seen, bytes);
  if (!err) err = GP_ON_DEVICE(A->dev, GpAggFindOffsets, &a, words);
  if (!err) err = GpDevDownload(A->dev, &a.count, a.start + words, sizeof(int32_t));
  if (!err && a.count && a.count <= GP_AGG_OFFSETS) {
    codes->count = a.count;
    codes->nnz   = A->nnz;
    err          = GpDevAlloc(A->dev, (size_t)a.count * sizeof(int32_t), &codes->offset);
    if (!err) err = GpDevAlloc(A->dev, (size_t)A->nnz, &codes->code);
    a.offset = codes->offset;
    a.code   = codes->code;
    if (!err) err = GP_ON_DEVICE(A->dev, GpAggEncodeRows, &a, words);
  }
  GpDevReturn(A->dev, &a.start, bytes);
  GpDevReturn(A->dev, &a.seen, bytes);
  if (err) GpAggDestroyCodes(A->dev, codes);
  return err;
}
#endif
