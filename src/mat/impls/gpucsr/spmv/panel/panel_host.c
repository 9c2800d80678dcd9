/* Host product with format panel (panel.h). */
#include "mat/impls/gpucsr/spmv/common/gpkernel.h"
#include "mat/impls/gpucsr/spmv/panel/panel.h"

/* Returns the sum of one lane of slice s, whose panel begins at entry x[0]. */
static double GpPanelSumLane(const GpPanel *P, int32_t s, int lane, const double *x)
{
  const GpScalar *val = (const GpScalar *)P->val;
  double          sum = 0;

  for (int64_t at = (int64_t)P->base[s] * GP_WARP + lane; at < (int64_t)P->base[s + 1] * GP_WARP; at += GP_WARP)
    if (P->code[at]) sum += (double)val[P->same ? 0 : at] * x[P->code[at] - 1];
  return sum;
}

GP_SPMV(panel)(const GpFmt *A, const double *x, const double *z, double *y)
{
  const GpPanel *P = (const GpPanel *)A->data;

  for (int32_t p = 0; p < P->npanels; p++) {
    for (int32_t lane = P->pslice[p] * GP_WARP; lane < P->pslice[p + 1] * GP_WARP; lane++) {
      const int32_t out = P->out[lane];

      if (out == GP_PIECE_IDLE) continue;
      const double sum = GpPanelSumLane(P, lane / GP_WARP, lane % GP_WARP, x + (int64_t)p * P->width);
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
