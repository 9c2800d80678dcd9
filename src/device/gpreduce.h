/* How a block, and then the grid, brings its partial results together on the device: included by device twins alone. */
#ifndef GPREDUCE_H
#define GPREDUCE_H

#include "device/gpdevice.h"

static constexpr int GP_REDUCE_BLOCK = 256; /* threads of a block */

/* the K results of all threads of a block, in thread 0: a tree whose shape never changes */
template <class R, int K, int THREADS>
__device__ static void Together(double (&mine)[K])
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
  __syncthreads(); /* a former call's readers are done with the shared array */
  if (lane == 0) {
#pragma unroll
    for (int k = 0; k < K; k++) warps[warp][k] = mine[k];
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < WARPS; w++) R::merge(mine, warps[w]);
  }
}

/* each block leaves what it has */
template <class R, int K>
__device__ static void Leave(double (&mine)[K], double *partial)
{
  Together<R, K, GP_REDUCE_BLOCK>(mine);
  if (threadIdx.x == 0) {
    for (int k = 0; k < K; k++) partial[(int64_t)k * GP_DEV_PARTS + blockIdx.x] = mine[k];
  }
}

/* All blocks leave what they have; true in the last to arrive, whose thread 0 has everything merged in the order of the blocks.
   partial holds K times GP_DEV_PARTS values, ticket is zero before and after. */
template <class R, int K>
__device__ static bool Everyone(double (&mine)[K], double *partial, uint32_t *ticket)
{
  __shared__ bool last;

  Leave<R, K>(mine, partial);
  if (threadIdx.x == 0) {
    __threadfence(); /* the partial results before the ticket */
    last = atomicAdd(ticket, 1u) == gridDim.x - 1;
    __threadfence(); /* the ticket before reading those of others */
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
  Together<R, K, GP_REDUCE_BLOCK>(mine);
  if (threadIdx.x == 0) *ticket = 0; /* for the next launch */
  return true;
}

/* as many blocks as the GPU runs at once, fewer for a short vector: a function of n and the GPU alone */
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
