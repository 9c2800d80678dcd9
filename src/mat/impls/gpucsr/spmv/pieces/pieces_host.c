/* Host product with rows in pieces (gppieces.h). It reads x at the column of a code and packs nothing. */
#include "mat/impls/gpucsr/spmv/common/gpkernel.h"
#include "mat/impls/gpucsr/spmv/pieces/gppieces.h"

/* Returns the sum of one lane of slice s in panel p. */
static double SumLane(const GpPieces *P, int32_t p, int32_t s, int lane, const double *x)
{
  const GpScalar *val  = (const GpScalar *)P->val;
  const int32_t   nhot = P->hbase[s + 1] - P->hbase[s], n = P->base[s + 1] - P->base[s];
  double          sum = 0;

  for (int32_t j = 0; j < n; j++) {
    const int64_t at  = ((int64_t)P->base[s] + j) * GP_PIECE_LANES + lane;
    const int64_t hot = ((int64_t)P->hbase[s] + j) * GP_PIECE_LANES + lane, cold = at - (int64_t)P->hbase[s + 1] * GP_PIECE_LANES;
    const int32_t code = j < nhot ? P->hotcode[hot] : P->codebytes == 2 ? ((const uint16_t *)P->code)[cold] : ((const int32_t *)P->code)[cold];

    if (!code) continue; /* padding */
    sum += (double)val[P->same ? 0 : at] * x[P->pack && code < P->packed ? P->pack[code] : j < nhot ? p * P->width + code - 1 : code - P->packed];
  }
  return sum;
}

GP_SPMV(pieces)(const GpFmt *A, const double *x, const double *z, double *y)
{
  const GpPieces *P = (const GpPieces *)A->data;

  for (int32_t p = 0; p < P->npanels; p++) {
    for (int32_t lane = P->pslice[p] * GP_PIECE_LANES; lane < P->pslice[p + 1] * GP_PIECE_LANES; lane++) {
      const int32_t out = P->out[lane];

      if (out == GP_PIECE_IDLE) continue;
      const double sum = SumLane(P, p, lane / GP_PIECE_LANES, lane % GP_PIECE_LANES, x);
      if (out < 0) P->part[~out] = sum;
      else y[out] = z ? z[out] + sum : sum;
    }
  }
  for (int32_t s = 0; s < P->nspans; s++) {
    const int32_t *span = P->span + 3 * (int64_t)s;
    double         sum  = 0;

    for (int32_t k = span[1]; k < span[2]; k++) sum += P->part[k];
    y[span[0]] = z ? z[span[0]] + sum : sum;
  }
  return GP_SUCCESS;
}
