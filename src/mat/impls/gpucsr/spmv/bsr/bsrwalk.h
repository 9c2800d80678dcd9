/* Finds the blocks of a block row by walking its rows together, nonzero by nonzero. The host always does so. The device does so if the columns of
   a row do not ascend, because the blocks then depend on the order of the nonzeros. One lane walks one block row. */
#ifndef GPBSRWALK_H
#define GPBSRWALK_H

#include "mat/impls/gpucsr/spmv/bsr/bsr.h"

#define MOST 6 /* the largest block size */

/* Current nonzero and end of each row in a block row. */
typedef struct {
  int32_t k[MOST], end[MOST];
} Walk;

GP_INLINE Walk GpBsrStartWalk(const GpCsr *A, int b, int32_t slice, int l)
{
  const int64_t first = ((int64_t)slice * GP_WARP + l) * b;
  Walk          W;

  for (int r = 0; r < MOST; r++) {
    const int has = r < b && first + r < A->m;

    W.k[r]   = has ? A->rowptr[first + r] : 0;
    W.end[r] = has ? A->rowptr[first + r + 1] : 0;
  }
  return W;
}

/* Returns the leftmost block column among the current nonzeros of all rows, or -1 if all rows have ended. */
GP_INLINE int32_t GpBsrFindLeftmost(const GpCsr *A, int b, const Walk *W)
{
  int32_t col = INT32_MAX;

  for (int r = 0; r < MOST; r++)
    if (W->k[r] < W->end[r] && A->col[W->k[r]] < col) col = A->col[W->k[r]];
  return col < INT32_MAX ? col / b : -1;
}

/* Returns the next nonzero of row r in this block with a column greater than `after`, or -1. Columns that do not ascend, or occur twice, start
   another block. */
GP_INLINE int32_t GpBsrTakeNext(const GpCsr *A, int b, Walk *W, int r, int32_t block, int32_t after)
{
  const int32_t k = W->k[r];

  if (k == W->end[r] || A->col[k] / b != block || A->col[k] <= after) return -1;
  W->k[r]++;
  return k;
}

/* Returns the number of blocks in block row l of a slice. */
GP_INLINE int32_t GpBsrWalkRow(const GpCsr *A, int b, int32_t slice, int l)
{
  Walk    W = GpBsrStartWalk(A, b, slice, l);
  int32_t block, n = 0;

  for (; (block = GpBsrFindLeftmost(A, b, &W)) >= 0; n++) {
    for (int r = 0; r < MOST; r++)
      for (int32_t k, after = -1; r < b && (k = GpBsrTakeNext(A, b, &W, r, block, after)) >= 0;) after = A->col[k];
  }
  return n;
}

GP_INLINE void GpBsrFillRow(const GpCsr *A, const GpBsr *B, int b, int32_t slice, int l)
{
  const int single = A->prec == GP_F32;
  Walk      W      = GpBsrStartWalk(A, b, slice, l);

  for (int32_t c = GpBsrStart(B, slice); c < GpBsrStart(B, slice + 1); c++) {
    const int32_t block = GpBsrFindLeftmost(A, b, &W);

    B->col[(int64_t)c * GP_WARP + l] = block >= 0 ? block : 0;
    for (int r = 0; r < MOST; r++) {
      const int64_t to   = (int64_t)c * b * b * GP_WARP + l * b + r;
      int32_t       next = 0; /* the first column of the block that is not yet written */

      if (r >= b) break;
      for (int32_t k, after = -1; (k = GpBsrTakeNext(A, b, &W, r, block, after)) >= 0; next++) {
        after = A->col[k];
        for (; next < after - block * b; next++) GpPutOrHole(single, B->value, to + (int64_t)next * b * GP_WARP, A->val, -1);
        GpPutOrHole(single, B->value, to + (int64_t)next * b * GP_WARP, A->val, k);
      }
      for (; next < b; next++) GpPutOrHole(single, B->value, to + (int64_t)next * b * GP_WARP, A->val, -1);
    }
  }
}

#endif
