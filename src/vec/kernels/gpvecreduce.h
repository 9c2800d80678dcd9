/* Reductions that the host waits for: included by the device twins of reductions alone. */
#ifndef GPVECREDUCE_H
#define GPVECREDUCE_H

#include "device/gplaunch.h"
#include "device/gpreduce.h"
#include "device/gpwatch.h"
#include "vec/kernels/gpveckernel.h"

static constexpr int BLOCK = GP_REDUCE_BLOCK, REDUCE = 512; /* threads of a block: in general, and of reductions that the host waits for */

/* A reduction whose result the host waits for: a block leaves what it has in pinned host memory and is done, since the host brings a few
   hundred numbers together sooner than the device agrees on who is the last. */
template <class R, int K>
__device__ static void Finish(double (&mine)[K], volatile double *parts)
{
  Together<R, K, REDUCE>(mine);
  if (threadIdx.x) return;
#pragma unroll
  for (int k = 0; k < K; k++) GpWatchTell(parts + blockIdx.x * K + k, mine[k]);
}

/* two blocks for a multiprocessor, fewer for a short vector: a function of n and the GPU alone */
static inline unsigned GpVecReduceGrid(GpDev dev, int64_t n)
{
  const int64_t most = 2 * (int64_t)dev->compute_units < GP_VEC_BLOCKS ? 2 * (int64_t)dev->compute_units : GP_VEC_BLOCKS;
  const int64_t want = (n + 4 * REDUCE - 1) / (4 * REDUCE);

  return (unsigned)(want < most ? want : most);
}
#endif
