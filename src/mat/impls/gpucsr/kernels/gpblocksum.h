/* Sums over products in shared memory, and over what several thread blocks have of a row (csrblock).  Included by device twins alone. */
#ifndef GPBLOCKSUM_H
#define GPBLOCKSUM_H

#include "mat/impls/gpucsr/formats/csrblock.h"

static constexpr int      WARP = 32, TOGETHER = 4;
static constexpr unsigned ALL = 0xffffffffu;

__device__ static double GroupSum(double sum, int width)
{
  for (int half = width / 2; half > 0; half /= 2) sum += __shfl_down_sync(ALL, sum, half, width);
  return sum;
}

/* products[k] + products[k + step] + ..., as far as the end */
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

/* rows of the warp's groups that are too long for these, one after the other by all lanes; each comes to where its group's is */
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

/* the sum of a group's row, which its first lane has */
__device__ static double SumRow(const double *products, int lanes, int rank, int from, int end)
{
  const int  step = 1 << lanes;
  const bool many = end - from > GP_BLOCK_LONG << lanes && step < WARP;
  double     sum  = GroupSum(SumProducts(products, from + rank, many ? from : end, step), step);

  return __any_sync(ALL, many) ? SumLong(products, many && rank == 0, from, end, sum) : sum;
}

/* A part is its own sign that it has come: no fence, no counter. */
__device__ static void LeavePart(uint64_t *part, double sum)
{
  const uint64_t bits = sum == sum ? (uint64_t)__double_as_longlong(sum) : 0x7ff8000000000000u;

  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(part), "l"(bits) : "memory");
}

/* The tile in which a row ends waits for what the n before have left, by a whole warp.  Those are of thread blocks that started before this one, and wait
   for none that starts later. */
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
        bits[u] = 0; /* a sum of nothing */
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
