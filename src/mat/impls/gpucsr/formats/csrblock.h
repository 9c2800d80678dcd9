/* Compressed rows in tiles of equally many nonzeros, which begin at known places.  A tile finishes the rows that start in it, and reads a
   little beyond its end for the last of them.  A row that goes on further is cut: every tile but its last leaves what it has of it, and the
   last adds that up.  Where rows without nonzeros make many rows of a tile, thread blocks of their own take what is too many. */
#ifndef CSRBLOCK_H
#define CSRBLOCK_H

#include "mat/impls/gpucsr/formats/gpformat.h"

#define GP_BLOCK_THREADS 256 /* that share a tile, at most */
#define GP_BLOCK_OVER    128 /* nonzeros beyond its end, at most */
#define GP_BLOCK_ROWS    512 /* rows of a thread block, at most twice */
#define GP_BLOCK_LONG    48  /* products that a lane adds up, before a whole warp does it instead */

/* what a thread block must know of its tile, together in one load */
typedef struct {
  int32_t row, rows; /* the first row that it finishes, and how many */
  int32_t first;     /* of the row that is cut before the tile and ends in it, the first tile; -1: it does not end */
  int32_t bits;      /* 2^(bits % 8) threads share a row; GP_BLOCK_CUT: the last row is cut; GP_BLOCK_HEAD times the tile's nonzeros of a row that is cut before */
} GpBlockTile;

#define GP_BLOCK_CUT  8
#define GP_BLOCK_HEAD 16

typedef struct {
  int32_t      ntiles, nextra; /* thread blocks, one a tile; those before them, for rows that are too many */
  int          threads;        /* of a block */
  int          loaded;         /* nonzeros that it loads: those of the tile, and those beyond its end */
  int          stream;         /* is the matrix larger than what stays in the cache? */
  int32_t      over, length;   /* nonzeros beyond a tile's end; nonzeros of a tile */
  GpBlockTile *tile;           /* [nextra+ntiles] by thread blocks */
  int32_t     *extra;          /* [nextra] their tiles */
  uint64_t    *part;           /* [ntiles] what the tile has of a row that ends in another, as bits; GP_BLOCK_NONE before and after a product */
} GpCsrBlock;

#define GP_BLOCK_NONE UINT64_MAX /* no sum: one that is not a number is left as another of these */

#endif
