/* The row of a place: the last that starts at or before it, which of several that start there is the one with nonzeros.  Included by device twins alone. */
#ifndef GPROWOF_H
#define GPROWOF_H

#include "mat/impls/gpucsr/formats/gpformat.h"

/* Among all m rows, by a whole warp, whose lanes look at 32 rows that cut the rest into 33 parts: a bisection waits for one load after another, five times as
   often.  At every turn rowptr[lo] <= place < rowptr[hi]. */
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

/* among the rows lo..hi-1, by a thread */
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
