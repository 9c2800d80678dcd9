/* Format csrblock: compressed rows in tiles of equally many nonzeros. A tile finishes the rows that start in it, and reads up to `over` nonzeros
   beyond its end for the last of them. A row that continues further is cut: each of its tiles but the last writes a partial sum, and the last
   tile adds these. If a tile has too many rows, because many rows are empty, additional thread blocks take the excess. */
#ifndef CSRBLOCK_H
#define CSRBLOCK_H

#include "mat/impls/gpucsr/spmv/common/gpformat.h"

#define GP_BLOCK_THREADS 256 /* maximum number of threads that share a tile */
#define GP_BLOCK_OVER    128 /* maximum number of nonzeros that a tile reads beyond its end */
#define GP_BLOCK_ROWS    512 /* rows of a thread block; at most twice as many */
#define GP_BLOCK_LONG    48  /* number of products that a lane adds alone; above it a whole warp adds them */

/* What a thread block must know of its tile. The structure is read by one load. */
typedef struct {
  int32_t row, rows; /* the first row that the block finishes, and the number of rows */
  int32_t first;     /* if a row that is cut before this tile ends in it: the first tile of that row; else -1 */
  int32_t bits;      /* 2^(bits % 8) threads share a row; GP_BLOCK_CUT: the last row is cut; bits / GP_BLOCK_HEAD: number of the tile's nonzeros that belong to a row cut before it */
} GpBlockTile;

#define GP_BLOCK_CUT  8
#define GP_BLOCK_HEAD 16

typedef struct {
  int32_t      ntiles, nextra; /* number of tiles, each with one thread block; number of additional thread blocks, which come first */
  int          threads;        /* threads of a block */
  int          loaded;         /* nonzeros that a block loads: those of the tile and those beyond its end */
  int          stream;         /* 1 if the matrix is larger than the part of it that stays in the L2 cache */
  int32_t      over, length;   /* nonzeros read beyond the end of a tile; nonzeros of a tile */
  GpBlockTile *tile;           /* [nextra+ntiles] for each thread block */
  int32_t     *extra;          /* [nextra] tiles of the additional blocks */
  uint64_t    *part;           /* [ntiles] partial sum of a row that ends in another tile, as bits; GP_BLOCK_NONE before and after a product */
} GpCsrBlock;

#define GP_BLOCK_NONE UINT64_MAX /* marks a missing partial sum; a sum that is NaN is stored with other bits */

#endif
