/* Builds slabs. The first pass finds the pieces of x that each block needs and sorts its rows by length; the second pass fills the arrays. The
   pieces are bits of a map over the block's span of x. The position of a piece is the number of bits before it. */
#include "mat/impls/gpucsr/spmv/slab/slab.h"

#define MAPWORDS 4096 /* number of words of the map, which covers 131,072 pieces or 524,288 entries */
#define REUSE    1    /* minimum number of nonzeros per staged entry */
#define FULL     1.3  /* maximum ratio of stored entries to nonzeros */
#define FEW      1e5  /* number of entries that is always accepted */

/* Maximum over all blocks: words of the map, and pieces. */
typedef struct {
  int32_t words, pieces;
} Worst;

/* The steps of a build, implemented by each backend. */
GP_PAIR(GpSlabPlan, const GpCsr *, const GpSlab *, Worst *); /* fills start with widths, first with numbers of pieces, and row; Worst is device memory */
GP_PAIR(GpSlabFill, const GpCsr *, const GpSlab *);

GP_INLINE int32_t GpSlabGetLength(const GpCsr *A, int64_t row)
{
  return row < A->m ? A->rowptr[row + 1] - A->rowptr[row] : 0;
}

GP_INLINE int32_t GpSlabCountBits(uint32_t word)
{
#if defined(__CUDACC__)
  return __popc(word);
#else
  int32_t n = 0;

  for (; word; word &= word - 1) n++;
  return n;
#endif
}

/* Returns the index of nonzero k of a block whose map begins at piece `least`. */
GP_INLINE uint16_t GpSlabGetIndex(const GpCsr *A, int32_t k, int32_t least, const uint32_t map[], const int32_t before[])
{
  const int32_t p = A->col[k] / GP_SLAB_PIECE - least;

  return (uint16_t)((before[p / 32] + GpSlabCountBits(map[p / 32] & (((uint32_t)1 << p % 32) - 1))) * GP_SLAB_PIECE + A->col[k] % GP_SLAB_PIECE);
}

/* Fills the row at one position of a block, column by column. */
GP_INLINE void GpSlabFillRow(const GpCsr *A, const GpSlab *S, int32_t block, int32_t place, int32_t least, const uint32_t map[], const int32_t before[])
{
  const int32_t slice = block * GP_SLAB_SLICES + place / GP_WARP;
  const int64_t row   = (int64_t)block * GP_SLAB_ROWS + S->row[(int64_t)block * GP_SLAB_ROWS + place];
  const int32_t from = row < A->m ? A->rowptr[row] : 0, n = GpSlabGetLength(A, row);

  for (int32_t c = S->start[slice]; c < S->start[slice + 1]; c++) {
    const int64_t to = (int64_t)c * GP_WARP + place % GP_WARP;
    const int32_t k  = c - S->start[slice] < n ? from + c - S->start[slice] : -1;

    S->index[to] = k < 0 ? 0 : GpSlabGetIndex(A, k, least, map, before);
    GpPutOrHole(A->prec == GP_F32, S->value, to, A->val, k);
  }
}

#if !defined(__CUDACC__)
  #include <stdlib.h>

/* Returns the range of nonzeros of a block. */
static void GpSlabGetRange(const GpCsr *A, int32_t block, int32_t *from, int32_t *to)
{
  const int64_t first = (int64_t)block * GP_SLAB_ROWS, end = first + GP_SLAB_ROWS;

  *from = A->rowptr[first];
  *to   = A->rowptr[end < A->m ? end : A->m];
}

/* Builds the map of a block, sets *least to its first piece, and returns its number of words. If this exceeds MAPWORDS, the map is not filled. */
static int32_t GpSlabMapPieces(const GpCsr *A, int32_t block, int32_t *least, uint32_t map[MAPWORDS])
{
  int32_t from, to, low = INT32_MAX, high = 0;

  GpSlabGetRange(A, block, &from, &to);
  for (int32_t k = from; k < to; k++) {
    low  = A->col[k] / GP_SLAB_PIECE < low ? A->col[k] / GP_SLAB_PIECE : low;
    high = A->col[k] / GP_SLAB_PIECE > high ? A->col[k] / GP_SLAB_PIECE : high;
  }
  *least              = from < to ? low : 0;
  const int32_t words = from < to ? (high - low) / 32 + 1 : 0;
  for (int32_t w = 0; w < words && words <= MAPWORDS; w++) map[w] = 0;
  for (int32_t k = from; k < to && words <= MAPWORDS; k++) map[(A->col[k] / GP_SLAB_PIECE - low) / 32] |= (uint32_t)1 << (A->col[k] / GP_SLAB_PIECE - low) % 32;
  return words;
}

GpErr GpSlabPlan_Host(const GpCsr *A, const GpSlab *S, Worst *worst)
{
  uint32_t map[MAPWORDS];

  for (int32_t block = 0; block < S->nblocks; block++) {
    const int64_t first = (int64_t)block * GP_SLAB_ROWS;
    int32_t       least, pieces = 0;
    const int32_t words = GpSlabMapPieces(A, block, &least, map);

    for (int32_t w = 0; w < words && words <= MAPWORDS; w++) pieces += GpSlabCountBits(map[w]);
    if (words > worst->words) worst->words = words;
    if (pieces > worst->pieces) worst->pieces = pieces;
    S->first[block] = pieces;
    for (int i = 0; i < GP_SLAB_ROWS; i++) {
      int place = 0;

      for (int j = 0; j < GP_SLAB_ROWS; j++) place += GpSlabGetLength(A, first + j) > GpSlabGetLength(A, first + i) || (j < i && GpSlabGetLength(A, first + j) == GpSlabGetLength(A, first + i));
      S->row[first + place] = (uint8_t)i;
      if (place % GP_WARP == 0) S->start[block * GP_SLAB_SLICES + place / GP_WARP] = GpSlabGetLength(A, first + i);
    }
  }
  return GP_SUCCESS;
}

GpErr GpSlabFill_Host(const GpCsr *A, const GpSlab *S)
{
  uint32_t map[MAPWORDS];
  int32_t  before[MAPWORDS];

  for (int32_t block = 0; block < S->nblocks; block++) {
    int32_t       least, piece = S->first[block];
    const int32_t words = GpSlabMapPieces(A, block, &least, map);

    for (int32_t w = 0; w < words; w++) {
      before[w] = piece - S->first[block];
      for (int b = 0; b < 32; b++)
        if (map[w] >> b & 1) S->piece[piece++] = least + 32 * w + b;
    }
    for (int32_t place = 0; place < GP_SLAB_ROWS; place++) GpSlabFillRow(A, S, block, place, least, map, before);
  }
  return GP_SUCCESS;
}

static size_t GpSlabCountSlices(const GpSlab *S)
{
  return (size_t)S->nblocks * GP_SLAB_SLICES;
}

/* Plans all blocks and scans the widths and the numbers of pieces. Refuses a matrix that does not suit the format. */
static GpErr GpSlabMakePlan(const GpCsr *A, GpSlab *S)
{
  GpDev  dev   = A->dev;
  Worst *found = NULL, worst = {0, 0};
  GpErr  err = GpDevBorrow(dev, sizeof(worst), &found);

  if (!err) err = GpDevZero(dev, found, sizeof(worst));
  if (!err) err = GP_ON_DEVICE(dev, GpSlabPlan, A, S, found);
  if (!err) err = GpDevDownload(dev, &worst, found, sizeof(worst));
  GpDevReturn(dev, &found, sizeof(worst));
  if (err) return err;
  S->most = worst.pieces;
  if (worst.words > MAPWORDS) return GpDevFail(dev, GP_ERR_ARGUMENT, "%d consecutive rows span %lld columns; the limit is %d", GP_SLAB_ROWS, 32ll * GP_SLAB_PIECE * worst.words, 32 * GP_SLAB_PIECE * MAPWORDS);
  if (worst.pieces > GP_SLAB_MOST) return GpDevFail(dev, GP_ERR_ARGUMENT, "%d consecutive rows need %d entries of x; the limit is %d", GP_SLAB_ROWS, GP_SLAB_PIECE * worst.pieces, GP_SLAB_PIECE * GP_SLAB_MOST);
  err = GP_ON_DEVICE(dev, GpScan, dev, (int64_t)GpSlabCountSlices(S), S->start);
  if (!err) err = GP_ON_DEVICE(dev, GpScan, dev, S->nblocks, S->first);
  if (!err) err = GpDevDownload(dev, &S->ncolumns, S->start + GpSlabCountSlices(S), sizeof(int32_t));
  if (!err) err = GpDevDownload(dev, &S->npieces, S->first + S->nblocks, sizeof(int32_t));
  if (err) return err;
  if ((double)S->npieces * GP_SLAB_PIECE * REUSE > A->nnz + FEW) return GpDevFail(dev, GP_ERR_ARGUMENT, "%lld entries of x would be staged for %d nonzeros", (long long)S->npieces * GP_SLAB_PIECE, (int)A->nnz);
  if ((double)S->ncolumns * GP_WARP > FULL * A->nnz + FEW) return GpDevFail(dev, GP_ERR_ARGUMENT, "uneven row lengths: slices store %.1f times the nonzeros; the limit is %g", (double)S->ncolumns * GP_WARP / A->nnz, FULL);
  return err;
}

GpErr GpFmtRefill_slab(GpFmt *F)
{
  const GpSlab *S = (const GpSlab *)F->data;

  return S->nblocks ? GP_ON_DEVICE(F->csr->dev, GpSlabFill, F->csr, S) : GP_SUCCESS;
}

GpErr GpFmtBuild_slab(GpFmt *F, const int32_t rowptr[])
{
  const GpCsr *A   = F->csr;
  GpDev        dev = A->dev;
  GpSlab      *S   = (GpSlab *)calloc(1, sizeof(*S));
  GpErr        err;

  (void)rowptr;
  F->data = S;
  if (!S) return GpDevFail(dev, GP_ERR_MEMORY, "out of host memory for slabs");
  S->nblocks = (int32_t)(((int64_t)A->m + GP_SLAB_ROWS - 1) / GP_SLAB_ROWS);
  if (!S->nblocks) return GP_SUCCESS;
  err = GpDevAlloc(dev, (GpSlabCountSlices(S) + 1) * sizeof(int32_t), &S->start);
  if (!err) err = GpDevAlloc(dev, ((size_t)S->nblocks + 1) * sizeof(int32_t), &S->first);
  if (!err) err = GpDevAlloc(dev, (size_t)S->nblocks * GP_SLAB_ROWS, &S->row);
  if (!err) err = GpSlabMakePlan(A, S);
  if (err) {
    S->ncolumns = S->npieces = 0; /* no memory of these arrays is held */
    return err;
  }
  err = GpDevAlloc(dev, (size_t)S->npieces * sizeof(int32_t), &S->piece);
  if (!err) err = GpDevAlloc(dev, (size_t)S->ncolumns * GP_WARP * sizeof(uint16_t), &S->index);
  if (!err) err = GpDevAlloc(dev, (size_t)S->ncolumns * GP_WARP * GpPrecBytes(A->prec), &S->value);
  return err ? err : GpFmtRefill_slab(F);
}

void GpFmtDestroy_slab(GpFmt *F)
{
  GpSlab *S   = (GpSlab *)F->data;
  GpDev   dev = F->csr->dev;

  if (!S) return;
  GpDevFree(dev, &S->start, (GpSlabCountSlices(S) + 1) * sizeof(int32_t));
  GpDevFree(dev, &S->first, ((size_t)S->nblocks + 1) * sizeof(int32_t));
  GpDevFree(dev, &S->row, (size_t)S->nblocks * GP_SLAB_ROWS);
  GpDevFree(dev, &S->piece, (size_t)S->npieces * sizeof(int32_t));
  GpDevFree(dev, &S->index, (size_t)S->ncolumns * GP_WARP * sizeof(uint16_t));
  GpDevFree(dev, &S->value, (size_t)S->ncolumns * GP_WARP * GpPrecBytes(F->csr->prec));
  free(S);
}

double GpFmtBytes_slab(const GpFmt *F)
{
  const GpSlab *S = (const GpSlab *)F->data;

  return (GpSlabCountSlices(S) + S->nblocks + 2.0 + S->npieces) * sizeof(int32_t) + (double)S->nblocks * GP_SLAB_ROWS + (double)S->ncolumns * GP_WARP * (sizeof(uint16_t) + GpPrecBytes(F->csr->prec));
}

double GpFmtTraffic_slab(const GpFmt *F)
{
  return GpFmtBytes_slab(F);
}

#else
  #include <cub/block/block_scan.cuh>

static constexpr int BLOCK = GP_SLAB_ROWS;

/* The map of this block, built by all its threads, and the number of bits before each word. Make() returns the number of words like
   GpSlabMapPieces() of the host implementation. */
struct Mapped {
  uint32_t map[MAPWORDS];
  int32_t before[MAPWORDS];
  int32_t low, high;

  __device__ int32_t Make(const GpCsr &A)
  {
    const int64_t first = (int64_t)blockIdx.x * BLOCK;
    const int32_t from = A.rowptr[first], to = A.rowptr[first + BLOCK < A.m ? first + BLOCK : A.m];

    if (threadIdx.x == 0) {
      low = INT32_MAX;
      high = -1;
    }
    __syncthreads();
    int32_t mylow = INT32_MAX, myhigh = -1;
    for (int32_t k = from + threadIdx.x; k < to; k += BLOCK) {
      mylow = min(mylow, A.col[k] / GP_SLAB_PIECE);
      myhigh = max(myhigh, A.col[k] / GP_SLAB_PIECE);
    }
    atomicMin(&low, mylow);
    atomicMax(&high, myhigh);
    __syncthreads();
    const int32_t words = high < 0 ? 0 : (high - low) / 32 + 1;
    if (words > MAPWORDS) return words;
    for (int32_t w = threadIdx.x; w < words; w += BLOCK) map[w] = 0;
    __syncthreads();
    for (int32_t k = from + threadIdx.x; k < to; k += BLOCK) {
      const int32_t p = A.col[k] / GP_SLAB_PIECE - low;

      atomicOr(map + p / 32, 1u << p % 32);
    }
    __syncthreads();
    return words;
  }

  /* Fills before[] and returns the number of all bits. */
  __device__ int32_t Count(int32_t words)
  {
    typedef cub::BlockScan<int32_t, BLOCK> Scan;

    __shared__ typename Scan::TempStorage temp;
    const int32_t each = (words + BLOCK - 1) / BLOCK, w0 = each * threadIdx.x, w1 = min(w0 + each, words);
    int32_t sum = 0, all;

    for (int32_t w = w0; w < w1; w++) sum += __popc(map[w]);
    Scan(temp).ExclusiveSum(sum, sum, all);
    for (int32_t w = w0; w < w1; w++) {
      before[w] = sum;
      sum += __popc(map[w]);
    }
    __syncthreads();
    return all;
  }
};

__global__ static void __launch_bounds__(BLOCK) GpSlabPlanKernel(GpCsr A, GpSlab S, Worst *worst)
{
  __shared__ Mapped M;
  __shared__ int32_t length[BLOCK];
  const int64_t first = (int64_t)blockIdx.x * BLOCK;
  const int32_t mine = GpSlabGetLength(&A, first + threadIdx.x), words = M.Make(A), pieces = words <= MAPWORDS ? M.Count(words) : 0;
  int place = 0;

  length[threadIdx.x] = mine;
  __syncthreads();
  for (int j = 0; j < BLOCK; j++) place += length[j] > mine || (j < threadIdx.x && length[j] == mine);
  S.row[first + place] = (uint8_t)threadIdx.x;
  if (place % GP_WARP == 0) S.start[blockIdx.x * GP_SLAB_SLICES + place / GP_WARP] = mine;
  if (threadIdx.x) return;
  S.first[blockIdx.x] = pieces;
  atomicMax(&worst->words, words);
  atomicMax(&worst->pieces, pieces);
}

__global__ static void __launch_bounds__(BLOCK) GpSlabFillKernel(GpCsr A, GpSlab S)
{
  __shared__ Mapped M;
  const int32_t words = M.Make(A), first = S.first[blockIdx.x];

  M.Count(words);
  for (int32_t w = threadIdx.x; w < words; w += BLOCK) {
    int32_t to = first + M.before[w];

    for (uint32_t bits = M.map[w]; bits; bits &= bits - 1) S.piece[to++] = M.low + 32 * w + __ffs(bits) - 1;
  }
  GpSlabFillRow(&A, &S, blockIdx.x, threadIdx.x, M.low, M.map, M.before);
}

GpErr GpSlabPlan_CUDA(const GpCsr *A, const GpSlab *S, Worst *worst)
{
  return GpLaunch(A->dev, "plan of slabs", GpSlabPlanKernel, GpGrid{(unsigned)S->nblocks, BLOCK}, *A, *S, worst);
}

GpErr GpSlabFill_CUDA(const GpCsr *A, const GpSlab *S)
{
  return GpLaunch(A->dev, "filling slabs", GpSlabFillKernel, GpGrid{(unsigned)S->nblocks, BLOCK}, *A, *S);
}
#endif
