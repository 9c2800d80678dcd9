/* Blocks: one column index for a dense b x b block, b = 2, 3, 4 or 6, in slices of 32 rows of blocks.  Places of a block, or of a
   slice, without a nonzero have a hole (gphole.h). */
#ifndef GPBLOCK_H
#define GPBLOCK_H

#include "mat/impls/gpucsr/formats/gpformat.h"
#include "mat/impls/gpucsr/formats/gphole.h"

typedef struct {
  int32_t  b, nslices, ncolumns;
  int32_t *start; /* [nslices+1] first slice column of blocks of the slice; start[nslices] = ncolumns */
  int32_t *col;   /* [32 ncolumns] column of blocks */
  void    *value; /* [32 b b ncolumns] of a slice column: the first column of all blocks, 32 b rows, then the second, ... */
} GpBlock;

#endif
