/* Reductions in CUDA kernels: over the threads of a block, then over the blocks of a grid. The order of the operations is fixed. */
#ifndef GPREDUCE_H
#define GPREDUCE_H

#include "device/gpdevice.h"

static constexpr int GP_REDUCE_BLOCK = 256; /* number of threads of a block */

/* Reduces the K results of all threads of a block into thread 0, by a tree of fixed shape. */
template <class R, int K, int THREADS>
__device__ static void GpReduceBlock(double (&mine)[K])
{
  constexpr int     WARPS = THREADS / 32;
  __shared__ double warps[WARPS][K];
  const int         lane = threadIdx.x % 32, warp = threadIdx.x / 32;

  for (int half = 16; half > 0; half /= 2) {
    double other[K];
#pragma unroll
    for (int k = 0; k < K; k++) other[k] = __shfl_down_sync(0xffffffffu, mine[k], half);
    R::merge(mine, other);
  }
  __syncthreads(); /* the shared array may still be read for the previous call */
  if (lane == 0) {
#pragma unroll
    for (int k = 0; k < K; k++) warps[warp][k] = mine[k];
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < WARPS; w++) R::merge(mine, warps[w]);
  }
}

/* Reduces the K results of the block and stores them in the partial results of this block. */
template <class R, int K>
__device__ static void GpReduceToPart(double (&mine)[K], double *partial)
{
  GpReduceBlock<R, K, GP_REDUCE_BLOCK>(mine);
  if (threadIdx.x == 0) {
    for (int k = 0; k < K; k++) partial[(int64_t)k * GP_DEV_PARTS + blockIdx.x] = mine[k];
  }
}

/* Reduces over all blocks. Each block stores its partial results. In the block that finishes last, thread 0 gets all of them, merged in a fixed
   order, and the function returns true. `partial` holds K times GP_DEV_PARTS values; `ticket` is zero before and after the launch. */
template <class R, int K>
__device__ static bool GpReduceAllBlocks(double (&mine)[K], double *partial, uint32_t *ticket)
{
  __shared__ bool last;

  GpReduceToPart<R, K>(mine, partial);
  if (threadIdx.x == 0) {
    __threadfence(); /* the partial results must be visible before the ticket */
    last = atomicAdd(ticket, 1u) == gridDim.x - 1;
    __threadfence(); /* the ticket must be read before the partial results of other blocks */
  }
  __syncthreads();
  if (!last) return false;
  R::start(mine);
  for (unsigned b = threadIdx.x; b < gridDim.x; b += GP_REDUCE_BLOCK) {
    double other[K];
#pragma unroll
    for (int k = 0; k < K; k++) other[k] = __ldcg(partial + (int64_t)k * GP_DEV_PARTS + b);
    R::merge(mine, other);
  }
  GpReduceBlock<R, K, GP_REDUCE_BLOCK>(mine);
  if (threadIdx.x == 0) *ticket = 0; /* zero again for the next launch */
  return true;
}

/* Number of blocks: as many as the GPU runs at once, fewer for a short vector. It depends only on n and on the GPU, so that results are
   reproducible. */
static inline unsigned GpReduceGrid(GpDev dev, int64_t n)
{
  const int64_t most = 8 * (int64_t)dev->compute_units < GP_DEV_PARTS ? 8 * (int64_t)dev->compute_units : GP_DEV_PARTS;
  const int64_t want = (n + 4 * GP_REDUCE_BLOCK - 1) / (4 * GP_REDUCE_BLOCK);

  return (unsigned)(want < most ? want : most);
}

struct GpReduceSums {
  template <int K>
  __device__ static void start(double (&sum)[K])
  {
    for (int k = 0; k < K; k++) sum[k] = 0;
  }
  template <int K>
  __device__ static void merge(double (&sum)[K], const double (&other)[K])
  {
#pragma unroll
    for (int k = 0; k < K; k++) sum[k] += other[k];
  }
};
#endif
