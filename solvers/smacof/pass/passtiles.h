/* Tiles: complete dissimilarities in the order in which a pass reads them, for passes whose data are streamed to the device block by block.

   On a GPU a tile holds the entries of a unit: PASS_UNIT columns of the PASS_HEIGHT rows of a strip.  passruns.h defines units, strips and runs.  Tiles are stored in the order of
   the units, launch after launch.

   A chunk is up to SMACOF_TILE_LEAD + 1 consecutive units of one strip and one run: the columns whose row sums a thread block adds before it begins the next chunk.  It is neither a
   chunk of a matrix (docs/glossary.md) nor a block of streamed data, which -smacof_stream_chunk bounds.

   A pass over stored rows adds chunk after chunk.  A pass over tiles must add the same chunks, so that its results have the same bits.  A block of tiles may end inside a chunk.  Each
   block therefore repeats the last SMACOF_TILE_LEAD tiles of the block before it, and a chunk is processed with the block that has its last unit.

   On the host a tile is a rectangle of up to SMACOF_TILE_ROWS rows, with the columns that SMACOFRunPass_Host() processes together.

   The ranges of the pass alone determine the tiles. */
#ifndef GPUCSR_SMACOF_PASSTILES_H
#define GPUCSR_SMACOF_PASSTILES_H

#include "passruns.h"

#if defined(__cplusplus)
extern "C" {
#endif

#define SMACOF_TILE_LEAD 3  /* maximum number of tiles that a block repeats; one less than the maximum number of units of a chunk */
#define SMACOF_TILE_ROWS 64 /* maximum number of rows of a tile of the host implementation */

/* a tile: the entries of the columns c0 to c1 - 1 of the rows r0 to r1 - 1 in row-major order with the pitch ld */
typedef struct {
  int r0, r1, c0, c1, ld;
  int kind; /* host: kind of the range that contains the tile: PASS_ROWS, PASS_BOTH or PASS_TRIANGLE. Not used on a GPU */
} SMACOFTile;

/* consecutive tiles, which are transferred together, or rows of listed pairs */
typedef struct {
  int     launch;         /* GPU: launch of the tiles */
  int     lead;           /* GPU: number of tiles before `begin` that the block repeats */
  int64_t begin, end;     /* GPU: units begin to end - 1 of the launch; host: tiles begin to end - 1; listed pairs: rows begin to end - 1 */
  int64_t entries;        /* listed pairs: number of entries */
  int     chunk0, chunk1; /* GPU: chunks chunk0 to chunk1 - 1 of the plan are processed with this block */
  size_t  bytes;          /* size, including the repeated tiles */
  void   *memory;         /* host memory */
  int     pinned;         /* the memory is pinned */
} SMACOFBlock;

/* a chunk (see above): up to CHUNK columns of one strip and one run */
typedef struct {
  int unit, units; /* first unit in the launch, and number of units */
  int strip;       /* strip of the launch */
  int place;       /* index of the partial row sums to which the chunk adds: run + strip */
  int first;       /* 1: the chunk is the first one that adds to these sums */
} SMACOFChunk;

/* what a pass over tiles on a GPU needs: the runs of all launches, and their chunks */
typedef struct {
  int                nlaunches, nchunks, largest; /* numbers of launches and of chunks; largest number of chunks of a block */
  SMACOFRuns        *runs;                        /* [nlaunches] */
  SMACOFChunk       *chunk;                       /* [nchunks] */
  const SMACOFChunk *device;                      /* copy of chunk[] in device memory */
  double            *rowsums;                     /* device workspace [largest][dim + 1][PASS_HEIGHT] for the row sums of chunks */
} SMACOFPlan;

/* Lists the blocks for a GPU, of up to `most` units each.  Does not set their sizes.  The blocks are the same for all GPUs.  Returns the number of blocks; block may be NULL. */
int64_t SMACOFListUnits(const SMACOFPass *, int most, SMACOFBlock *block);

/* Creates the runs and the chunks for a GPU on which `resident` thread blocks run at the same time.  A chunk has up to chunk_units units.  Sets chunk0 and chunk1 of the nblocks blocks of
   tiles.  Returns 0 if host memory is exhausted. */
int  SMACOFPlanCreate(const SMACOFPass *, int resident, int chunk_units, int64_t nblocks, SMACOFBlock *, SMACOFPlan *);
void SMACOFPlanDestroy(SMACOFPlan *);

/* Writes the entries of a tile from stored rows, or from features if p->delta is NULL; the diagonal is 0.  Entries of columns after the last point are 0.  *p is a pass
   on host arrays. */
void SMACOFFillTile(const SMACOFPass *p, const SMACOFTile *, void *to);

/* Returns the tile of a unit on a GPU.  Its columns may exceed the number of points. */
SMACOFTile SMACOFGetUnitTile(const SMACOFRuns *, int unit);

/* Lists the tiles of a pass on the host, in the order in which they are processed.  Returns their number; tile may be NULL. */
int64_t SMACOFListTiles_Host(const SMACOFPass *, SMACOFTile *tile);

/* Adds consecutive tiles to the sums of n passes.  SMACOFBeginPass_Host() sets the sums to zero before the first tile. */
void SMACOFAddTiles_Host(const SMACOFPass *, int n, const SMACOFTile *tile, int64_t ntiles, const void *memory);

/* A block of rows of listed pairs has the row offsets in the block, the column indices, the dissimilarities, and the weights, unless all are 1.  Each part begins at a multiple
   of eight bytes.  SMACOFGetListedRows() returns the pass over the rows of a block, which has n entries. */
size_t SMACOFGetListedBytes(const SMACOFPass *p, int64_t rows, int64_t n);
void   SMACOFFillListed(const SMACOFPass *p, const SMACOFBlock *, void *to);
void   SMACOFGetListedRows(const SMACOFPass *p, const SMACOFBlock *, const void *memory, SMACOFPass *rows);
void   SMACOFAddListed_Host(const SMACOFPass *rows);

/* CUDA implementation.  The memory of a block is device memory. */
void  SMACOFGetTileShape_CUDA(GpDev, const SMACOFPass *, const SMACOFPassWork *, int *resident, int *chunk_units); /* gets the parameters of SMACOFPlanCreate() */
GpErr SMACOFBeginTiles_CUDA(GpDev, const SMACOFPass *, const SMACOFPassWork *);
GpErr SMACOFAddTiles_CUDA(GpDev, const SMACOFPass *, const SMACOFPassWork *, const SMACOFPlan *, const SMACOFBlock *, const void *memory, int last); /* last: the block is the last one of its launch */
GpErr SMACOFStoreTiles_CUDA(GpDev, const SMACOFPass *, const SMACOFRuns *, const SMACOFBlock *, void *memory);                                       /* computes the distances between features */

#if defined(__cplusplus)
}
#endif
#endif
