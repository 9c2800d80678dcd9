/* Reductions whose partial results the host combines. Included by CUDA files only. */
#ifndef GPVECREDUCE_H
#define GPVECREDUCE_H

#include "device/gplaunch.h"
#include "device/gpreduce.h"
#include "device/gpwatch.h"
#include "vec/kernels/gpveckernel.h"

static constexpr int BLOCK = GP_REDUCE_BLOCK, REDUCE = 512; /* number of threads of a block: in general, and in reductions that the host finishes */

/* Reduces the results of the block and writes them to pinned host memory. The host combines a few hundred numbers in less time than the device
   needs to find the block that finishes last. */
template <class R, int K>
__device__ static void Finish(double (&mine)[K], volatile double *parts)
{
  GpReduceBlock<R, K, REDUCE>(mine);
  if (threadIdx.x) return;
#pragma unroll
  for (int k = 0; k < K; k++) GpWatchTell(parts + blockIdx.x * K + k, mine[k]);
}

/* Number of blocks: two per multiprocessor, fewer for a short vector. It depends only on n and on the GPU, so that results are reproducible. */
static inline unsigned GpVecReduceGrid(GpDev dev, int64_t n)
{
  const int64_t most = 2 * (int64_t)dev->compute_units < GP_VEC_BLOCKS ? 2 * (int64_t)dev->compute_units : GP_VEC_BLOCKS;
  const int64_t want = (n + 4 * REDUCE - 1) / (4 * REDUCE);

  return (unsigned)(want < most ? want : most);
}
#endif
