/* Functions of the kernels for rows of approximate inverses. */
#ifndef GPBATCHKERNEL_H
#define GPBATCHKERNEL_H

#include "pc/kernels/gpbatchimpl.h"

#include <float.h>

static constexpr int      GP_BATCH_WARP = 32;
static constexpr unsigned GP_BATCH_ALL  = 0xffffffffu; /* all lanes of a warp */

__device__ static inline double GpBatchValue(const GpBatchMatrix &A, int32_t k)
{
  return A.single ? (double)((const float *)A.val)[k] : ((const double *)A.val)[k];
}

/* Adds over the lanes of a warp. All lanes get the same bits, because addition is commutative. */
__device__ static inline double GpBatchSum(double x)
{
#pragma unroll
  for (int lane = GP_BATCH_WARP / 2; lane; lane /= 2) x += __shfl_xor_sync(GP_BATCH_ALL, x, lane);
  return x;
}

/* Returns the position of c in n ascending numbers, or -1. */
__device__ static inline int32_t GpBatchFind(const int32_t *numbers, int32_t n, int32_t c)
{
  int32_t lo = 0, hi = n;

  while (lo < hi) {
    const int32_t mid = (lo + hi) / 2;

    if (numbers[mid] < c) lo = mid + 1;
    else hi = mid;
  }
  return lo < n && numbers[lo] == c ? lo : -1;
}

/* Tells whether a pivot of a Cholesky factor is positive and above its rounding error. The result is false if the pivot is NaN or the diagonal entry is infinite. */
__device__ static inline bool GpBatchIsPivot(double pivot, int32_t m, double diagonal)
{
  return pivot > m * DBL_EPSILON * diagonal && diagonal > 0;
}

/* Records that a row has failed. */
__device__ static inline void GpBatchFail(const GpBatchWork &w, int32_t row, double pivot)
{
  w.measure[row] = pivot;
  atomicMax(&w.status->failed, (uint32_t)(INT32_MAX - row));
}

/* Allows a kernel to use that much dynamic shared memory. */
template <class Kernel>
static GpErr GpBatchAllowShared(GpDev dev, Kernel kernel, size_t bytes)
{
  if (bytes <= 48 * 1024) return GP_SUCCESS;
  return GpCheckCuda(dev, cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes), "setting the shared memory of a thread block");
}

/* --- a set of columns in shared memory, with the list of its members ----------------------------------------------------------------- */

/* A hash table with more than `most` places. The order of the list depends on the order in which threads run; callers sort it. */
struct GpBatchSet {
  int32_t *table; /* [slots] columns, -1: free */
  int32_t *list;  /* [most] */
  int32_t *n;     /* number of members; if it exceeds `most`, members are missing in the list */
  int32_t  most;
  int      bits; /* there are 2^bits slots */

  /* Called by the threads `at`, at + step, and so on; the caller then synchronises them. */
  __device__ void Clear(int at, int step) const
  {
    for (int32_t s = at; s < 1 << bits; s += step) table[s] = -1;
    if (at == 0) *n = 0;
  }

  /* If there are more than `most` members, some insertions do nothing. The loop ends, because either a place is free or the size exceeds `most`. */
  __device__ void Insert(int32_t c) const
  {
    uint32_t at = ((uint32_t)c * 2654435761u) >> (32 - bits);

    for (;; at = (at + 1) & ((1u << bits) - 1)) {
      const int32_t was = atomicCAS(&table[at], -1, c);

      if (was == c) return;
      if (was == -1) {
        const int32_t position = atomicAdd(n, 1);

        if (position < most) list[position] = c;
        return;
      }
      if (atomicAdd(n, 0) > most) return;
    }
  }
};

#endif
