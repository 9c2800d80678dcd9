/* The blocks of rows whose columns ascend, nonzero by nonzero, in any order: a lane that walks waits for one load after another.  Included by device twins alone. */
#ifndef GPBLOCKFIRST_H
#define GPBLOCKFIRST_H

#include "mat/impls/gpucsr/formats/block.h"

/* The first nonzero of a row at this column or right of it, or the row's end.  Rows of one row of blocks are often alike: it is looked for first where the
   row that asks has it. */
__device__ static int32_t LowerBound(const GpCsr &A, int64_t row, int32_t distance, int32_t column)
{
  int32_t       lo = A.rowptr[row], hi = A.rowptr[row + 1];
  const int32_t guess = lo + min(distance, hi - lo);

  if ((guess == lo || A.col[guess - 1] < column) && (guess == hi || A.col[guess] >= column)) return guess;
  while (lo < hi) {
    const int32_t mid = lo + (hi - lo) / 2;

    if (A.col[mid] < column) lo = mid + 1;
    else hi = mid;
  }
  return lo;
}

/* whether nonzero k of this row, which starts at `start`, is the first of its block: neither its row nor one above has another */
template <int B>
__device__ static int IsFirst(const GpCsr &A, int64_t row, int32_t start, int32_t k, int *descends)
{
  const int32_t column = A.col[k], left = k > start ? A.col[k - 1] : -1, block = column / B;

  if (left >= column) *descends = 1;
  if (left >= 0 && left / B == block) return 0;
  for (int64_t r = row - row % B; r < row; r++) {
    const int32_t at = LowerBound(A, r, k - start, block * B);

    if (at < A.rowptr[r + 1] && A.col[at] / B == block) return 0;
  }
  return 1;
}

/* by a warp: the length of a row of blocks */
template <int B>
__device__ static int32_t CountBlocks(const GpCsr &A, int64_t blockrow, int *descends)
{
  int32_t n = 0;

  for (int64_t row = blockrow * B; row < (blockrow + 1) * B && row < A.m; row++) {
    const int32_t start = A.rowptr[row], end = A.rowptr[row + 1];

    for (int64_t k = start + (int64_t)threadIdx.x % GP_WARP; k < end; k += GP_WARP) n += IsFirst<B>(A, row, start, (int32_t)k, descends);
  }
  return __reduce_add_sync(0xffffffffu, n);
}

#endif
