/* How a block, and then the grid, brings its partial results together: included by the device twins of reductions alone. */
#ifndef GPVECREDUCE_H
#define GPVECREDUCE_H

#include "vec/kernels/gpveckernel.h"

static constexpr int BLOCK = 256, REDUCE = 512; /* threads of a block: in general, and of reductions that the host waits for */

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

/* All blocks leave what they have; true in the last to arrive, whose thread 0 has everything merged in the order of the blocks.
   partial holds K times GP_VEC_PARTS values, ticket is zero before and after. */
template <class R, int K>
__device__ static bool Everyone(double (&mine)[K], double *partial, uint32_t *ticket)
{
  __shared__ bool last;

  Together<R, K, BLOCK>(mine);
  if (threadIdx.x == 0) {
    for (int k = 0; k < K; k++) partial[(int64_t)k * GP_VEC_PARTS + blockIdx.x] = mine[k];
    __threadfence(); /* the partial results before the ticket */
    last = atomicAdd(ticket, 1u) == gridDim.x - 1;
    __threadfence(); /* the ticket before reading those of others */
  }
  __syncthreads();
  if (!last) return false;
  R::start(mine);
  for (unsigned b = threadIdx.x; b < gridDim.x; b += BLOCK) {
    double other[K];
#pragma unroll
    for (int k = 0; k < K; k++) other[k] = __ldcg(partial + (int64_t)k * GP_VEC_PARTS + b);
    R::merge(mine, other);
  }
  Together<R, K, BLOCK>(mine);
  if (threadIdx.x == 0) *ticket = 0; /* for the next launch */
  return true;
}

/* A reduction whose result the host waits for: a block leaves what it has in pinned host memory and is done, since the host brings a few
   hundred numbers together sooner than the device agrees on who is the last.  A place holds the one NaN that says nothing until
   then, so the numbers tell themselves that they have come. */
template <class R, int K>
__device__ static void Finish(double (&mine)[K], volatile double *parts)
{
  Together<R, K, REDUCE>(mine);
  if (threadIdx.x) return;
#pragma unroll
  for (int k = 0; k < K; k++) parts[blockIdx.x * K + k] = __double_as_longlong(mine[k]) == GP_VEC_NOTHING ? __longlong_as_double(GP_VEC_NOTHING ^ 1) : mine[k];
}

/* two blocks for a multiprocessor, fewer for a short vector: a function of n and the GPU alone */
static inline unsigned GpVecReduceGrid(GpDev dev, int64_t n)
{
  const int64_t most = 2 * (int64_t)dev->compute_units < GP_VEC_BLOCKS ? 2 * (int64_t)dev->compute_units : GP_VEC_BLOCKS;
  const int64_t want = (n + 4 * REDUCE - 1) / (4 * REDUCE);

  return (unsigned)(want < most ? want : most);
}

/* as many blocks as the GPU runs at once, fewer for a short vector: a function of n and the GPU alone */
static inline unsigned GpVecGrid(GpDev dev, int64_t n)
{
  const int64_t most = 8 * (int64_t)dev->compute_units < GP_VEC_PARTS ? 8 * (int64_t)dev->compute_units : GP_VEC_PARTS;
  const int64_t want = (n + 4 * BLOCK - 1) / (4 * BLOCK);

  return (unsigned)(want < most ? want : most);
}

struct GpVecSums {
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
