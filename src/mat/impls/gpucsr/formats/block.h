/* Blocks: one column index for a dense b x b block, b = 2, 3, 4 or 6, in slices of 32 rows of blocks.  Places of a block, or of a
   slice, without a nonzero have a hole (gphole.h). */
#ifndef GPBLOCK_H
#define GPBLOCK_H

#include "mat/impls/gpucsr/formats/gpformat.h"
#include "mat/impls/gpucsr/formats/gphole.h"

#define GP_BLOCK_CROWD 32 /* warps on a multiprocessor that leave a thread 64 registers for what it reads ahead; up to there threads share rows */

typedef struct {
  int32_t  b, nslices, ncolumns;
  int32_t  parts; /* threads that share a row: each takes every parts-th block, from its own number on */
  int32_t  width; /* of all slices; 0: each its own */
  int32_t  walk;  /* rows do not ascend: the device fills by walking them */
  int32_t *start; /* [nslices+1] first slice column of blocks of the slice; start[nslices] = ncolumns; NULL: width is given */
  int32_t *col;   /* [32 ncolumns] column of blocks */
  void    *value; /* [32 b b ncolumns] of a slice column: the first column of all blocks, 32 b rows, then the second, ... */
} GpBlock;

/* the first slice column of a slice, or with slice + 1 its end */
GP_LANEFN int32_t GpBlockStart(const GpBlock *B, int32_t slice)
{
  return B->width ? slice * B->width : B->start[slice];
}

#endif
