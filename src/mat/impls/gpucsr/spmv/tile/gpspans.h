/* Rows that cross the end of a tile (spans). Every tile stores its partial sums in head and tail. A second kernel adds them in the order of the
   tiles. No atomics: deterministic. After D. Merrill and M. Garland, "Merge-based parallel sparse matrix-vector multiplication", SC16. */
#ifndef GPSPANS_H
#define GPSPANS_H

#include "mat/impls/gpucsr/spmv/common/gpkernel.h"
#include "device/gplaunch.h"

static constexpr int BLOCK = 256, WARP = 32, WARPS = BLOCK / WARP;

/* the sum over each group of `width` adjacent lanes, valid in the first lane of the group */
__device__ static double GroupSum(double sum, int width)
{
  for (int half = width / 2; half > 0; half /= 2) sum += __shfl_down_sync(0xffffffffu, sum, half, width);
  return sum;
}

/* One warp a span: adds the tail of its first tile and the heads of the others. The kernel before it must call GpNextMayStart(). */
__global__ static void SumSpans(GpCsrTile T, const double *z, double *y)
{
  const int32_t s = (int32_t)((blockIdx.x * (int64_t)BLOCK + threadIdx.x) / WARP), lane = threadIdx.x % WARP;

  const bool    mine = s < T.nspans;
  const int32_t i = mine ? T.spanrow[s] : 0, from = mine ? T.spanend[2 * s] : 0, to = mine ? T.spanend[2 * s + 1] : 0;

  GpNextMayStart();
  GpWait();
  if (!mine) return;
  double sum = lane ? 0.0 : T.tail[from];
  for (int32_t t = from + 1 + lane; t <= to; t += WARP) sum += T.head[t];
  sum = GroupSum(sum, WARP);
  if (lane == 0) y[i] = z ? z[i] + sum : sum;
}

static GpErr FinishSpans(GpDev dev, const char *name, const GpCsrTile *T, const double *z, double *y)
{
  return T->nspans ? GpLaunchEarly(dev, name, SumSpans, GpGrid{GpBlocks((int64_t)T->nspans * WARP, BLOCK), BLOCK}, *T, z, y) : GP_SUCCESS;
}

#endif
