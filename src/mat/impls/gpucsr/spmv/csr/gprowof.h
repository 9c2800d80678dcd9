/* Finds the row of a nonzero: the last row that starts at or before it. If empty rows start at the same position, this is the nonempty one.
   Included by CUDA files only. */
#ifndef GPROWOF_H
#define GPROWOF_H

#include "mat/impls/gpucsr/spmv/common/gpformat.h"

/* Searches all m rows with a whole warp. The lanes load 32 row pointers that divide the range into 33 parts. A bisection needs five times as many
   dependent loads. Invariant: rowptr[lo] <= place < rowptr[hi]. */
__device__ static inline int32_t GpRowOf(const int32_t *rowptr, int32_t m, int32_t place)
{
  int32_t lo = 0, hi = m;

  while (hi - lo > 1) {
    const int64_t rows  = hi - lo;
    const int     below = __popc(__ballot_sync(0xffffffffu, rowptr[lo + rows * (threadIdx.x % 32 + 1) / 33] <= place));

    hi = lo + (int32_t)(rows * (below + 1) / 33);
    lo = lo + (int32_t)(rows * below / 33);
  }
  return lo;
}

/* Searches rows lo to hi - 1 with one thread. */
__device__ static inline int32_t GpRowAmong(const int32_t *rowptr, int32_t lo, int32_t hi, int32_t place)
{
  while (hi - lo > 1) {
    const int32_t mid = lo + (hi - lo) / 2;

    if (rowptr[mid] <= place) lo = mid;
    else hi = mid;
  }
  return lo;
}
#endif
