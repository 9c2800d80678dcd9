/* Slabs: blocks of consecutive rows. Each block lists the pieces of x, of four entries each, that it needs; a product stages them in shared
   memory. Columns are 16-bit indices into the staged entries. The rows of a block are sorted by length and stored in slices of 32, column by
   column. Behind the end of a row there are holes (gphole.h). */
#ifndef GPSLAB_H
#define GPSLAB_H

#include "mat/impls/gpucsr/spmv/common/gpformat.h"
#include "mat/impls/gpucsr/spmv/common/gphole.h"

#define GP_SLAB_ROWS   256 /* rows of a block; a row is numbered by one byte */
#define GP_SLAB_SLICES (GP_SLAB_ROWS / GP_WARP)
#define GP_SLAB_PIECE  4    /* entries of x in a piece, one sector of the cache */
#define GP_SLAB_MOST   2048 /* maximum number of pieces of a block, 64 KiB */

typedef struct {
  int32_t   nblocks, ncolumns, npieces, most; /* number of blocks, of columns of all slices, of pieces of all blocks; maximum number of pieces of a block */
  int32_t  *start;                            /* [nblocks * GP_SLAB_SLICES + 1] first column of each slice */
  int32_t  *first;                            /* [nblocks + 1] first piece of each block */
  int32_t  *piece;                            /* [npieces] piece p contains entries 4 p to 4 p + 3 of x; ascending within a block */
  uint8_t  *row;                              /* [nblocks * GP_SLAB_ROWS] row at each position, counted from the first row of the block */
  uint16_t *index;                            /* [32 ncolumns] index of each column in the staged entries */
  void     *value;                            /* [32 ncolumns] float or double */
} GpSlab;

#endif
