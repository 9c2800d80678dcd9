/* Builds format csrblock (csrblock.h): compressed rows in tiles of equally many nonzeros. Only the first row of every tile must be found. */
#include "mat/impls/gpucsr/spmv/tile/csrblock.h"

#include <stdlib.h>

typedef struct {
  GpCsrBlock B;
  GpCsr      C;
} Block;

/* Returns the first row, at or behind row lo, that starts at or behind the first nonzero of the tile. The last tile gets all remaining rows. */
GP_INLINE int32_t GpCsrBlockFindRow(const Block *a, int32_t lo, int64_t tile)
{
  const int64_t at = tile * a->B.length;
  int32_t       hi = a->C.m;

  if (tile == a->B.ntiles) return hi;
  while (lo < hi) {
    const int32_t mid = lo + (hi - lo) / 2;

    if (a->C.rowptr[mid] < at) lo = mid + 1;
    else hi = mid;
  }
  return lo;
}

GP_INLINE int GpCsrBlockIsCut(const Block *a, int32_t row)
{
  return a->C.rowptr[row + 1] > ((int64_t)a->C.rowptr[row] / a->B.length + 1) * a->B.length + a->B.over;
}

/* Sets the rows of a thread block: from `first` to `behind`, but not beyond `most`. */
GP_INLINE void GpCsrBlockSetRows(const Block *a, int64_t block, int32_t first, int32_t behind, int32_t most, int32_t head, int32_t from)
{
  GpBlockTile t    = {first, (behind < most ? behind : most) - first, from, 0};
  int         lane = 0;

  while (lane < 5 && (int64_t)t.rows << (lane + 1) <= a->B.threads) lane++;
  t.bits           = lane + (t.rows && behind <= most && GpCsrBlockIsCut(a, behind - 1) ? GP_BLOCK_CUT : 0) + GP_BLOCK_HEAD * head;
  a->B.tile[block] = t;
}

/* Sets the rows of an additional block. extra[i] is its number; its first row is that number times GP_BLOCK_ROWS. */
GP_STEP(SetExtra)
{
  const Block  *a     = (const Block *)args;
  const int32_t first = a->B.extra[i] * GP_BLOCK_ROWS, at = a->C.rowptr[first] / a->B.length, tile = at < a->B.ntiles ? at : a->B.ntiles - 1;

  a->B.extra[i] = tile;
  GpCsrBlockSetRows(a, i, first, GpCsrBlockFindRow(a, first, (int64_t)tile + 1), first + GP_BLOCK_ROWS, 0, 0);
}

GP_STEP(SetTile)
{
  const Block  *a     = (const Block *)args;
  const int32_t first = GpCsrBlockFindRow(a, 0, i), behind = GpCsrBlockFindRow(a, first, i + 1), length = a->B.length;
  const int64_t left = a->C.rowptr[first] - i * length, most = ((int64_t)first / GP_BLOCK_ROWS + 2) * GP_BLOCK_ROWS;
  const int     head = left > 0 && GpCsrBlockIsCut(a, first - 1);

  GpCsrBlockSetRows(a, a->B.nextra + i, first, behind, most < a->C.m ? (int32_t)most : a->C.m, !head ? 0 : left < length ? (int32_t)left : length, head && left <= length ? a->C.rowptr[first - 1] / length : -1);
  a->B.part[i] = GP_BLOCK_NONE;
}

static GpErr GpCsrBlockFill(const GpCsrBlock *B, const GpCsr *C)
{
  const Block a   = {*B, *C};
  GpErr       err = GP_EACH(C->dev, Block, SetExtra, B->nextra, &a);

  return err ? err : GP_EACH(C->dev, Block, SetTile, B->ntiles, &a);
}

#define SMALL 2500 /* nonzeros per multiprocessor below which tiles of short rows are halved, so that all multiprocessors have work */

/* Counts, and lists if extra is not NULL, the additional blocks: those that begin behind the rows that the tile's own block takes (SetTile). */
static int32_t GpCsrBlockListExtras(const GpCsrBlock *B, int32_t m, const int32_t rowptr[], int32_t extra[])
{
  int32_t n = 0;

  for (int32_t q = 2; q <= (m - 1) / GP_BLOCK_ROWS; q++) {
    const int32_t at = rowptr[q * GP_BLOCK_ROWS] / B->length, tile = at < B->ntiles ? at : B->ntiles - 1;

    if (rowptr[(q - 1) * GP_BLOCK_ROWS - 1] < (int64_t)tile * B->length) continue;
    if (extra) extra[n] = q;
    n++;
  }
  return n;
}

extern "C" GpErr GpFmtBuild_csrblock(GpFmt *A, const int32_t rowptr[])
{
  const GpCsr *C     = A->csr;
  GpDev        dev   = C->dev;
  const double mean  = C->m ? (double)C->nnz / C->m : 0;
  int32_t     *extra = NULL;
  GpCsrBlock  *B     = (GpCsrBlock *)calloc(1, sizeof(*B));
  GpErr        err;

  A->data = B;
  if (!B) return GpDevFail(dev, GP_ERR_MEMORY, "out of host memory for a format");
  B->over    = mean <= 8 ? GP_BLOCK_OVER / 4 : mean <= 24 ? GP_BLOCK_OVER / 2 : GP_BLOCK_OVER;
  B->stream  = GpDevCacheBytes(dev) > 0 && GpCsrBytes(C) > GpDevCacheBytes(dev) * 2 / 3;
  B->threads = B->stream || (C->nnz < (int64_t)SMALL * GpDevComputeUnits(dev) && B->over < GP_BLOCK_OVER) ? GP_BLOCK_THREADS / 2 : GP_BLOCK_THREADS;
  B->loaded  = B->threads * (B->stream ? 8 : 4);
  B->length  = B->loaded - B->over;
  B->ntiles  = C->nnz ? (C->nnz - 1) / B->length + 1 : 1;
  B->nextra  = GpCsrBlockListExtras(B, C->m, rowptr, NULL);
  if (B->nextra) {
    extra = (int32_t *)malloc((size_t)B->nextra * sizeof(int32_t));
    if (!extra) {
      B->nextra = B->ntiles = 0; /* no memory is held */
      return GpDevFail(dev, GP_ERR_MEMORY, "out of host memory for row blocks");
    }
    (void)GpCsrBlockListExtras(B, C->m, rowptr, extra);
  }
  err = GpDevAlloc(dev, ((size_t)B->nextra + (size_t)B->ntiles) * sizeof(GpBlockTile), &B->tile);
  if (!err) err = GpDevAlloc(dev, (size_t)B->nextra * sizeof(int32_t), &B->extra);
  if (!err) err = GpDevAlloc(dev, (size_t)B->ntiles * sizeof(uint64_t), &B->part);
  if (!err) err = GpDevUpload(dev, B->extra, extra, (size_t)B->nextra * sizeof(int32_t));
  free(extra);
  return err ? err : GpCsrBlockFill(B, C);
}

extern "C" GpErr GpFmtRefill_csrblock(GpFmt *A)
{
  (void)A; /* the values are those of the compressed rows */
  return GP_SUCCESS;
}

extern "C" void GpFmtDestroy_csrblock(GpFmt *A)
{
  GpCsrBlock *B   = (GpCsrBlock *)A->data;
  GpDev       dev = A->csr->dev;

  if (!B) return;
  GpDevFree(dev, &B->tile, ((size_t)B->nextra + (size_t)B->ntiles) * sizeof(GpBlockTile));
  GpDevFree(dev, &B->extra, (size_t)B->nextra * sizeof(int32_t));
  GpDevFree(dev, &B->part, (size_t)B->ntiles * sizeof(uint64_t));
  free(B);
}

extern "C" double GpFmtBytes_csrblock(const GpFmt *A)
{
  const GpCsrBlock *B = (const GpCsrBlock *)A->data;

  return B->ntiles * (double)(sizeof(GpBlockTile) + sizeof(uint64_t)) + B->nextra * (double)(sizeof(GpBlockTile) + sizeof(int32_t));
}

extern "C" double GpFmtTraffic_csrblock(const GpFmt *A)
{
  const GpCsrBlock *B = (const GpCsrBlock *)A->data;

  return GpCsrBytes(A->csr) * (1.0 + (double)B->over / B->length) + ((double)B->nextra + B->ntiles) * sizeof(GpBlockTile);
}
