/* Builds format csrshort: compressed rows with 16-bit columns. The offsets of a row are relative to a base that puts the row's middle column at
   the centre of the range. A few distant columns then become exceptions without moving the range away from the others. */
#include "mat/impls/gpucsr/spmv/csrshort/csrshort.h"
#include "mat/impls/gpucsr/spmv/common/gpsteps.h"

#define GP_SHORT_MOST 16 /* at most one nonzero in so many may be an exception */

typedef struct {
  GpCsrShort S;
  GpCsr      C;
  int32_t   *escapes; /* [nnz+1] number of exceptions before each nonzero */
} Short;

GP_STEP(BaseOfRow)
{
  const Short  *a     = (const Short *)args;
  const int32_t start = a->C.rowptr[i], end = a->C.rowptr[i + 1], middle = start < end ? a->C.col[start + (end - start) / 2] : 0;

  a->S.base[i] = middle > GP_SHORT_ESCAPE / 2 ? middle - GP_SHORT_ESCAPE / 2 : 0;
}

GP_INLINE int32_t Distance(const Short *a, int64_t k)
{
  int32_t lo = 0, hi = a->C.m; /* find the row of nonzero k */

  while (hi - lo > 1) {
    const int32_t mid = lo + (hi - lo) / 2;

    if (a->C.rowptr[mid] <= k) lo = mid;
    else hi = mid;
  }
  return a->C.col[k] - a->S.base[lo];
}

GP_STEP(Shorten)
{
  const Short  *a = (const Short *)args;
  const int32_t d = Distance(a, i);

  a->escapes[i] = d < 0 || d >= GP_SHORT_ESCAPE;
  a->S.off[i]   = (uint16_t)(a->escapes[i] ? GP_SHORT_ESCAPE : d);
}

GP_STEP(ListEscapes)
{
  const Short *a = (const Short *)args;

  if (a->escapes[i + 1] == a->escapes[i]) return;
  a->S.escape[a->escapes[i]]                 = (int32_t)i;
  a->S.escape[a->S.nescapes + a->escapes[i]] = a->C.col[i];
}

GP_PAIR(GpCsrShortBuild, GpCsrShort *S, const GpCsr *C);
GpErr GP_IMPL(GpCsrShortBuild)(GpCsrShort *S, const GpCsr *C)
{
  GpDev        dev   = C->dev;
  Short        a     = {*S, *C, NULL};
  const size_t bytes = ((size_t)C->nnz + 1) * sizeof(int32_t);
  GpErr        err   = GpDevAlloc(dev, (size_t)C->m * sizeof(int32_t), &a.S.base);

  if (!err) err = GpDevAlloc(dev, (size_t)C->nnz * sizeof(uint16_t), &a.S.off);
  if (!err) err = GpDevBorrow(dev, bytes, &a.escapes);
  if (!err) err = GP_EACH(dev, Short, BaseOfRow, C->m, &a);
  if (!err) err = GP_EACH(dev, Short, Shorten, C->nnz, &a);
  if (!err) err = GP_IMPL(GpScan)(dev, C->nnz, a.escapes);
  if (!err) err = GpDevDownload(dev, &a.S.nescapes, a.escapes + C->nnz, sizeof(int32_t));
  if (!err && a.S.nescapes > C->nnz / GP_SHORT_MOST)
    err = GpDevFail(dev, GP_ERR_ARGUMENT, "%d of %d column indices are more than %d away from the middle column of their row; the limit is one in %d", (int)a.S.nescapes, (int)C->nnz, GP_SHORT_ESCAPE / 2, GP_SHORT_MOST);
  if (err) a.S.nescapes = 0;
  if (!err) err = GpDevAlloc(dev, 2 * (size_t)a.S.nescapes * sizeof(int32_t), &a.S.escape);
  if (!err) err = GP_EACH(dev, Short, ListEscapes, C->nnz, &a);
  *S = a.S;
  GpDevReturn(dev, &a.escapes, bytes);
  return err;
}

#if !defined(__CUDACC__)
  #include <stdlib.h>

GpErr GpFmtBuild_csrshort(GpFmt *A, const int32_t rowptr[])
{
  A->data = calloc(1, sizeof(GpCsrShort));
  (void)rowptr;
  if (!A->data) return GpDevFail(A->csr->dev, GP_ERR_MEMORY, "out of host memory for a format");
  return GP_ON_DEVICE(A->csr->dev, GpCsrShortBuild, (GpCsrShort *)A->data, A->csr);
}

GpErr GpFmtRefill_csrshort(GpFmt *A)
{
  (void)A; /* the values are those of the compressed rows */
  return GP_SUCCESS;
}

void GpFmtDestroy_csrshort(GpFmt *A)
{
  GpCsrShort *S = (GpCsrShort *)A->data;

  if (!S) return;
  GpDevFree(A->csr->dev, &S->base, (size_t)A->csr->m * sizeof(int32_t));
  GpDevFree(A->csr->dev, &S->off, (size_t)A->csr->nnz * sizeof(uint16_t));
  GpDevFree(A->csr->dev, &S->escape, 2 * (size_t)S->nescapes * sizeof(int32_t));
  free(S);
}

double GpFmtBytes_csrshort(const GpFmt *A)
{
  const GpCsrShort *S = (const GpCsrShort *)A->data;

  return sizeof(int32_t) * (A->csr->m + 2.0 * S->nescapes) + sizeof(uint16_t) * (double)A->csr->nnz;
}

double GpFmtTraffic_csrshort(const GpFmt *A)
{
  return GpCsrBytes(A->csr) - sizeof(int32_t) * (double)A->csr->nnz + GpFmtBytes_csrshort(A);
}
#endif
