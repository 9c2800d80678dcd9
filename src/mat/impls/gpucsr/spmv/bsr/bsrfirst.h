/* Finds the blocks of rows whose columns ascend, independently for every nonzero. This is faster than walking the rows, where every load depends
   on the one before. Included by CUDA files only. */
#ifndef GPBSRFIRST_H
#define GPBSRFIRST_H

#include "mat/impls/gpucsr/spmv/bsr/bsr.h"

/* Returns the first nonzero of a row whose column is at least `column`, or the end of the row. The rows of a block row often have similar
   patterns, so the function first tries the position at the same distance from the start of the row as in the row of the caller. */
__device__ static int32_t GpBsrFindColumn(const GpCsr &A, int64_t row, int32_t distance, int32_t column)
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

/* Returns 1 if nonzero k is the first of its block, that is, if no nonzero to its left and no row above it in the block row has a nonzero in this
   block. `start` is the first nonzero of the row. Sets *descends if the columns of the row do not ascend at k. */
template <int B>
__device__ static int GpBsrIsFirst(const GpCsr &A, int64_t row, int32_t start, int32_t k, int *descends)
{
  const int32_t column = A.col[k], left = k > start ? A.col[k - 1] : -1, block = column / B;

  if (left >= column) *descends = 1;
  if (left >= 0 && left / B == block) return 0;
  for (int64_t r = row - row % B; r < row; r++) {
    const int32_t at = GpBsrFindColumn(A, r, k - start, block * B);

    if (at < A.rowptr[r + 1] && A.col[at] / B == block) return 0;
  }
  return 1;
}

/* Returns the number of blocks in a block row. Called by a whole warp. */
template <int B>
__device__ static int32_t GpBsrCountBlocks(const GpCsr &A, int64_t blockrow, int *descends)
{
  int32_t n = 0;

  for (int64_t row = blockrow * B; row < (blockrow + 1) * B && row < A.m; row++) {
    const int32_t start = A.rowptr[row], end = A.rowptr[row + 1];

    for (int64_t k = start + (int64_t)threadIdx.x % GP_WARP; k < end; k += GP_WARP) n += GpBsrIsFirst<B>(A, row, start, (int32_t)k, descends);
  }
  return __reduce_add_sync(0xffffffffu, n);
}

#endif
