/* Sums over products in shared memory, and over the partial sums that several thread blocks hold of one row (kernel csrblock). Included only by CUDA
   implementations. */
#ifndef GPBLOCKSUM_H
#define GPBLOCKSUM_H

#include "mat/impls/gpucsr/spmv/tile/csrblock.h"

static constexpr int      WARP = 32, TOGETHER = 4;
static constexpr unsigned ALL = 0xffffffffu;

__device__ static double GroupSum(double sum, int width)
{
  for (int half = width / 2; half > 0; half /= 2) sum += __shfl_down_sync(ALL, sum, half, width);
  return sum;
}

/* returns products[k] + products[k + step] + ... for indices below end */
__device__ static double SumProducts(const double *products, int k, int end, int step)
{
  double sum = 0;

#pragma unroll 1
  for (; k < end; k += TOGETHER * step) {
    double p[TOGETHER];

#pragma unroll
    for (int u = 0; u < TOGETHER; u++) p[u] = k + u * step < end ? products[k + u * step] : 0.0;
#pragma unroll
    for (int u = 0; u < TOGETHER; u++) sum += p[u];
  }
  return sum;
}

/* Rows with too many products for one group of lanes. The whole warp adds such rows, one after the other. Each sum is returned in the lane that set
   `mine`. */
__device__ static __noinline__ double SumLong(const double *products, bool mine, int from, int end, double sum)
{
  const int lane = threadIdx.x % WARP;

  for (unsigned longs = __ballot_sync(ALL, mine); longs; longs &= longs - 1) {
    const int    who = __ffs(longs) - 1, begin = __shfl_sync(ALL, from, who), behind = __shfl_sync(ALL, end, who);
    const double its = __shfl_sync(ALL, GroupSum(SumProducts(products, begin + lane, behind, WARP), WARP), 0);

    if (lane == who) sum = its;
  }
  return sum;
}

/* the sum of a group's row, valid in the group's first lane; a group has 2^lanes lanes */
__device__ static double SumRow(const double *products, int lanes, int rank, int from, int end)
{
  const int  step = 1 << lanes;
  const bool many = end - from > GP_BLOCK_LONG << lanes && step < WARP;
  double     sum  = GroupSum(SumProducts(products, from + rank, many ? from : end, step), step);

  return __any_sync(ALL, many) ? SumLong(products, many && rank == 0, from, end, sum) : sum;
}

/* The value is its own flag: a part that differs from GP_BLOCK_NONE is complete, so neither a fence nor a counter is needed. NaNs are replaced by one
   NaN that differs from GP_BLOCK_NONE. */
__device__ static void LeavePart(uint64_t *part, double sum)
{
  const uint64_t bits = sum == sum ? (uint64_t)__double_as_longlong(sum) : 0x7ff8000000000000u;

  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(part), "l"(bits) : "memory");
}

/* Called by a whole warp of the tile in which a row ends. Polls the parts of the n preceding tiles, resets them, and returns their sum. This cannot
   deadlock: those tiles belong to thread blocks that started earlier, and no block waits for a block that starts later. */
__device__ static __noinline__ double TakeParts(uint64_t *part, int n)
{
  double sum = 0;

  for (int p = threadIdx.x % WARP; p < n; p += TOGETHER * WARP) {
    uint64_t bits[TOGETHER];
    bool     come;

    do {
      come = true;
#pragma unroll
      for (int u = 0; u < TOGETHER; u++) {
        bits[u] = 0; /* adds 0.0 if there is no such part */
        if (p + u * WARP < n) asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(bits[u]) : "l"(part + p + u * WARP) : "memory");
        come &= bits[u] != GP_BLOCK_NONE;
      }
    } while (!come);
#pragma unroll
    for (int u = 0; u < TOGETHER; u++) {
      if (p + u * WARP < n) part[p + u * WARP] = GP_BLOCK_NONE;
      sum += __longlong_as_double((long long)bits[u]);
    }
  }
  return GroupSum(sum, WARP);
}

#endif
