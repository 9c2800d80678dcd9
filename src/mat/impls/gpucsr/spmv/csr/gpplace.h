/* Device functions that find the row or the segment at a position. gpsegment.h defines positions. Included only by CUDA implementations. */
#ifndef GPPLACE_H
#define GPPLACE_H

#include "mat/impls/gpucsr/spmv/csr/gpsegment.h"

__device__ static inline int64_t GpPositionOf(const int32_t *rowptr, int32_t i)
{
  return (int64_t)rowptr[i] + i;
}

/* Returns the first row at or after a position, or m if there is none. All lanes of the warp call it with the same arguments; they load 32 row pointers at a time. */
__device__ static inline int32_t GpRowAtWarp(const int32_t *__restrict__ rowptr, int32_t m, int64_t position)
{
  int32_t lo = 0, hi = m;

  while (lo < hi) {
    const int64_t rows  = hi - lo;
    const int     below = __popc(__ballot_sync(0xffffffffu, GpPositionOf(rowptr, lo + (int32_t)(rows * (threadIdx.x % 32) / 32)) < position));

    if (below < 32) hi = lo + (int32_t)(rows * below / 32);
    if (below) lo += (int32_t)(rows * (below - 1) / 32) + 1;
  }
  return lo;
}

/* Returns the first row at or after a position, found by one thread. This row must be in [lo, hi]. */
__device__ static inline int32_t GpRowAt(const int32_t *__restrict__ rowptr, int32_t lo, int32_t hi, int64_t position)
{
  while (lo < hi) {
    const int32_t mid = lo + (hi - lo) / 2;

    if (GpPositionOf(rowptr, mid) < position) lo = mid + 1;
    else hi = mid;
  }
  return lo;
}

/* A segment: nonzeros [begin, end) of row `row`. */
typedef struct {
  int32_t row, begin, end;
} GpSegment;

/* Returns the segment at positions [position, position + SIZE) of the row before row i, which is the first one at or after this position. If there is none, it is empty. */
template <int SIZE>
__device__ static inline GpSegment GpSegmentAt(const int32_t *__restrict__ rowptr, int32_t i, int64_t position)
{
  if (i == 0) return GpSegment{0, 0, 0};
  const int32_t begin = rowptr[i - 1], end = rowptr[i], segments = (end - begin) / SIZE;
  const int64_t s = (position - begin - (i - 1) + SIZE - 1) / SIZE;

  if (segments < 2 || s >= segments) return GpSegment{i - 1, end, end};
  return GpSegment{i - 1, begin + (int32_t)s * SIZE, s == segments - 1 ? end : begin + (int32_t)(s + 1) * SIZE};
}

/* Returns the end of the first segment of a row, which is the whole row if that is short. */
template <int SIZE>
__device__ static inline int32_t GpFirstSegmentEnd(int32_t begin, int32_t end)
{
  return end - begin < 2 * SIZE ? end : begin + SIZE;
}

#endif
