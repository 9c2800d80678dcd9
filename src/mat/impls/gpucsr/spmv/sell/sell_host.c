/* Host product with sliced rows (sell.h). */
#include "mat/impls/gpucsr/spmv/common/gpkernel.h"
#include "mat/impls/gpucsr/spmv/sell/sell.h"

/* Returns the index of lane l in slice column c of the others. */
static int32_t GetIndex(const GpSell *S, const GpSlice *P, int32_t c, int l)
{
  const int32_t quad = c / 4, e = 4 * l + c % 4, q8 = GpSliceQuads8(*P), q16 = GpSliceQuads16(*P);

  if (quad < q8) return S->index[((int64_t)P->unit + quad) * 128 + e];
  if (quad < q8 + q16) return ((const uint16_t *)S->index)[((int64_t)P->unit + q8 + 2 * (quad - q8)) * 64 + e];
  return ((const int32_t *)S->index)[((int64_t)P->unit + q8 + 2 * q16 + 4 * (quad - q8 - q16)) * 32 + e];
}

GP_SPMV(sell)(const GpFmt *A, const double *x, const double *z, double *y)
{
  const GpSell *S = (const GpSell *)A->data;

  for (int32_t i = 0; i < A->csr->m; i++) {
    const GpSlice  *P = &S->slice[i / GP_SLICE];
    const int32_t   l = i % GP_SLICE, row = S->perm ? S->perm[i] : i, others = P->quad + GpSliceQuads(P->diagonals);
    const GpScalar *val = (const GpScalar *)S->value + (int64_t)P->column * GP_SLICE + l;
    double          sum = 0;

    for (int32_t c = 0; c < P->diagonals; c++, val += GP_SLICE)
      if (S->head[GpSliceMask(P->quad, c)] >> l & 1) sum += (double)*val * x[row + S->head[GpSliceBase(P->quad, c)]];
    for (int32_t c = 0; c < P->others; c++, val += GP_SLICE)
      if (S->head[GpSliceMask(others, c)] >> l & 1) sum += (double)*val * x[S->head[GpSliceBase(others, c)] + GetIndex(S, P, c, l)];
    y[row] = z ? z[row] + sum : sum;
  }
  return GP_SUCCESS;
}
