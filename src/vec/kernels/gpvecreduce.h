/* Sums and largest values of vectors, shared by reduce.cu and many.cu. */
#ifndef GPVECREDUCE_H
#define GPVECREDUCE_H

#include "vec/kernels/gpveckernel.h"

/* Combines two largest values with their positions. NaN is larger than any number. Of equal values the one with the lowest position wins;
   positions are compared, because the entries of a block are not contiguous. */
GP_INLINE void GpVecMost(double most[2], const double other[2])
{
  const int nan = other[0] != other[0], had = most[0] != most[0], tie = other[0] == most[0] || (nan && had);

  if (other[1] < 0) return;
  if (most[1] < 0 || other[0] > most[0] || (nan && !had) || (tie && other[1] < most[1])) {
    most[0] = other[0];
    most[1] = other[1];
  }
}

#if defined(__CUDACC__)
  #include "device/gplaunch.h"

static constexpr int BLOCK = GP_REDUCE_BLOCK, REDUCE = 512; /* number of threads of a block: in general, and in reductions that the host finishes */

/* Reduces the results of the block and writes them to pinned host memory. The host combines a few hundred numbers in less time than the device
   needs to find the block that finishes last. */
template <class R, int K>
__device__ static void GpVecReduceToHost(double (&mine)[K], volatile double *parts)
{
  GpReduceBlock<R, K, REDUCE>(mine);
  if (threadIdx.x) return;
  #pragma unroll
  for (int k = 0; k < K; k++) GpWatchWrite(parts + blockIdx.x * K + k, mine[k]);
}

/* Number of blocks: two per multiprocessor, fewer for a short vector. It depends only on n and on the GPU, so that results are reproducible. */
static inline unsigned GpVecReduceGrid(GpDev dev, int64_t n)
{
  const int64_t most = 2 * (int64_t)GpDevComputeUnits(dev) < GP_VEC_BLOCKS ? 2 * (int64_t)GpDevComputeUnits(dev) : GP_VEC_BLOCKS;
  const int64_t want = (n + 4 * REDUCE - 1) / (4 * REDUCE);

  return (unsigned)(want < most ? want : most);
}

#else
enum {
  GP_VEC_LANES = 8,
  GP_VEC_CHUNK = 2048
};

/* Adds one or two terms for entries begin to end - 1, at most GP_VEC_CHUNK, to total. Several partial sums let the compiler vectorise the loop, and
   their rounding error is smaller than that of one long sum. `add` is a constant at every call and is inlined. */
static inline __attribute__((always_inline)) void GpVecAddChunk(void (*add)(const double *x, const double *y, int64_t i, double *sum0, double *sum1), int terms, int64_t begin, int64_t end, const double *x, const double *y, double *total)
{
  double  sum[2][GP_VEC_LANES] = {{0}};
  int64_t i                    = begin;

  for (; i + GP_VEC_LANES <= end; i += GP_VEC_LANES)
    for (int l = 0; l < GP_VEC_LANES; l++) add(x, y, i + l, &sum[0][l], &sum[1][l]);
  for (int l = 0; i + l < end; l++) add(x, y, i + l, &sum[0][l], &sum[1][l]);
  for (int t = 0; t < terms; t++) {
    for (int half = GP_VEC_LANES / 2; half > 0; half /= 2)
      for (int l = 0; l < half; l++) sum[t][l] += sum[t][l + half];
    total[t] += sum[t][0];
  }
}
#endif
#endif
