/* SpMV after El Zein's coalesced variants. The lanes of a group share a row, and each lane loads two adjacent nonzeros at once. A group takes several
   rows: either with a constant stride (cyclic) or adjacent ones (blocked). x is read through the read-only cache or from constant memory. */
#ifndef GPCOA_H
#define GPCOA_H

#include "mat/impls/gpucsr/spmv/common/gpkernel.h"

#define GP_COA_ROWS 4 /* rows that a group of lanes takes */

static constexpr int BLOCK = 256;

struct alignas(2 * sizeof(GpScalar)) Pair {
  GpScalar first, second;
};

struct ReadOnly {
  const double *x;

  __device__ double operator()(int32_t j) const { return __ldg(x + j); }
};

template <int LANES, class X>
__device__ static double RowSum(int32_t start, int32_t end, const int32_t *__restrict__ col, const GpScalar *__restrict__ val, const X &x)
{
  double sum = 0;

  for (int32_t k = start / 2 * 2 + 2 * (int32_t)(threadIdx.x % LANES); k < end; k += 2 * LANES) {
    if (k >= start && k + 1 < end) {
      const int2 c = *(const int2 *)(col + k);
      const Pair v = *(const Pair *)(val + k);

      sum += (double)v.first * x(c.x);
      sum += (double)v.second * x(c.y);
    } else {
      if (k >= start) sum += (double)val[k] * x(col[k]);
      if (k + 1 < end) sum += (double)val[k + 1] * x(col[k + 1]);
    }
  }
#pragma unroll
  for (int half = LANES / 2; half > 0; half /= 2) sum += __shfl_down_sync(0xffffffffu, sum, half, LANES);
  return sum;
}

template <int LANES, bool BLOCKED, class X>
__global__ static void __launch_bounds__(BLOCK) CoaRows(int32_t m, const int32_t *__restrict__ rowptr, const int32_t *__restrict__ col, const GpScalar *__restrict__ val, X x, const double *z, double *y)
{
  const int64_t group = ((int64_t)blockIdx.x * BLOCK + threadIdx.x) / LANES, groups = (int64_t)gridDim.x * BLOCK / LANES;

  for (int r = 0; r < GP_COA_ROWS; r++) {
    const int64_t i   = BLOCKED ? group * GP_COA_ROWS + r : group + r * groups;
    const double  sum = RowSum<LANES>(i < m ? rowptr[i] : 0, i < m ? rowptr[i + 1] : 0, col, val, x);

    if (i < m && threadIdx.x % LANES == 0) y[i] = z ? z[i] + sum : sum;
  }
}

template <int LANES, bool BLOCKED, class X>
static GpErr LaunchCoa(const char *name, const GpFmt *A, const X &x, const double *z, double *y)
{
  const GpCsr  *C       = A->csr;
  const int64_t threads = ((int64_t)C->m + GP_COA_ROWS - 1) / GP_COA_ROWS * LANES;

  if (!C->m) return GP_SUCCESS;
  return GpLaunch(C->dev, name, CoaRows<LANES, BLOCKED, X>, GpGrid{(unsigned)((threads + BLOCK - 1) / BLOCK), BLOCK}, C->m, C->rowptr, C->col, (const GpScalar *)C->val, x, z, y);
}

#endif
