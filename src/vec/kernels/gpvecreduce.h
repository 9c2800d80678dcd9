/* How a block, and then the grid, brings its partial results together: included by the device twins of reductions alone. */
#ifndef GPVECREDUCE_H
#define GPVECREDUCE_H

#include "vec/kernels/gpveckernel.h"

static constexpr int BLOCK = 256, WARPS = BLOCK / 32;

/* what a launch needs to know of the work area */
struct GpVecWorkArgs {
  double            *partial;
  uint32_t          *ticket;
  volatile double   *result;
  volatile uint64_t *done;
  uint64_t           number;
};

/* the K results of all threads of a block, in thread 0: a tree whose shape never changes */
template <class R, int K>
__device__ static void Together(double (&mine)[K])
{
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

  Together<R, K>(mine);
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
  Together<R, K>(mine);
  if (threadIdx.x == 0) *ticket = 0; /* for the next launch */
  return true;
}

/* a reduction whose result the host waits for */
template <class R, int K>
__device__ static void Finish(double (&mine)[K], const GpVecWorkArgs work)
{
  if (!Everyone<R, K>(mine, work.partial, work.ticket) || threadIdx.x) return;
  for (int k = 0; k < K; k++) work.result[k] = mine[k];
  __threadfence_system();
  *work.done = work.number;
}

static inline GpVecWorkArgs GpVecArgs(GpVecWork *work, int slot)
{
  GpVecWorkArgs args = {work->partial, work->ticket, work->result + slot, work->done, ++work->launched};
  return args;
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
