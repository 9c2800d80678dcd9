/* Slabs: blocks of neighbouring rows, each with the list of the pieces of x, of four entries, that it meets, which a product stages in
   shared memory.  Columns are places among these pieces, of 16 bits.  The rows of a block are sorted by length and lie in
   slices of 32, column by column; where a row has ended there is a hole (gphole.h). */
#ifndef GPSLAB_H
#define GPSLAB_H

#include "mat/impls/gpucsr/formats/gpformat.h"
#include "mat/impls/gpucsr/formats/gphole.h"

#define GP_SLAB_ROWS   256 /* of a block, whose places are bytes */
#define GP_SLAB_SLICES (GP_SLAB_ROWS / GP_WARP)
#define GP_SLAB_PIECE  4    /* entries of x: a sector of the cache */
#define GP_SLAB_MOST   2048 /* pieces of a block: 64 KiB */

typedef struct {
  int32_t   nblocks, ncolumns, npieces, most; /* most: pieces of a block */
  int32_t  *start;                            /* [nblocks * GP_SLAB_SLICES + 1] first column of every slice */
  int32_t  *first;                            /* [nblocks + 1] first piece of every block */
  int32_t  *piece;                            /* [npieces] entries 4 p to 4 p + 3 of x, ascending within a block */
  uint8_t  *row;                              /* [nblocks * GP_SLAB_ROWS] the row of every place, counted from the block's first */
  uint16_t *index;                            /* [32 ncolumns] */
  void     *value;                            /* [32 ncolumns] */
} GpSlab;

#endif
