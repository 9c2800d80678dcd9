/* Decodes a chunk in device memory to compressed rows. A section that is already an array of the compressed rows is not copied: the kernels read it in the chunk. */
#include "mat/impls/gpucsr/spmv/stream/gpchunkcode.h"

#define GP_CHUNK_LINE 256 /* alignment of the arrays in the workspace, in bytes */

/* Integers of `width` bytes. `base` is added to each, and the sums are stored in 32 bits. */
typedef struct {
  const void *from;
  int         width;
  int32_t     base, *to;
} GpChunkWiden;

GP_STEP(GpChunkWidenInteger)
{
  const GpChunkWiden *a = (const GpChunkWiden *)args;

  a->to[i] = (int32_t)((uint32_t)a->base + GpChunkLoad(a->from, a->width, i));
}

/* Long rows as pairs of row and length, which replace the zeros in the array of row lengths. */
typedef struct {
  const uint32_t *pair;
  int32_t        *to;
} GpChunkLong;

GP_STEP(GpChunkTakeLong)
{
  const GpChunkLong *a = (const GpChunkLong *)args;

  a->to[a->pair[2 * i]] = (int32_t)a->pair[2 * i + 1];
}

/* Values are copied as integers, so that NaNs keep their bits. */
typedef struct {
  const uint8_t *code; /* NULL: all values are table[0] */
  const void    *table;
  void          *to;
} GpChunkTable;

GP_STEP(GpChunkTakeFloat)
{
  const GpChunkTable *a = (const GpChunkTable *)args;

  ((uint32_t *)a->to)[i] = ((const uint32_t *)a->table)[a->code ? a->code[i] : 0];
}

GP_STEP(GpChunkTakeDouble)
{
  const GpChunkTable *a = (const GpChunkTable *)args;

  ((uint64_t *)a->to)[i] = ((const uint64_t *)a->table)[a->code ? a->code[i] : 0];
}

typedef struct {
  const float *from;
  double      *to;
} GpChunkFloats;

GP_STEP(GpChunkWidenFloat)
{
  const GpChunkFloats *a = (const GpChunkFloats *)args;

  a->to[i] = (double)a->from[i];
}

/* Columns that are encoded as offsets or differences. */
typedef struct {
  const void     *code, *list;
  const int32_t  *base;  /* [blocks]; NULL: the codes are differences */
  const uint32_t *start; /* [blocks] */
  int             escapebytes;
  int32_t         lowest, nnz, *to;
} GpChunkColumns;

GP_PAIR(GpChunkDecodeBlocks, GpDev dev, const GpChunkColumns *a);

#if !defined(__CUDACC__)

static void GpChunkDecodeBlock(const GpChunkColumns *a, int64_t b)
{
  const uint32_t escape = a->base ? GP_CHUNK_OFFSET_ESCAPE : GP_CHUNK_DIFFERENCE_ESCAPE, mask = GpChunkMask(a->escapebytes), lowest = (uint32_t)a->lowest;
  const int64_t  begin = b * GP_CHUNK_BLOCK, end = begin + GP_CHUNK_BLOCK < a->nnz ? begin + GP_CHUNK_BLOCK : a->nnz;
  uint32_t       at = a->start[b], sum = 0;

  for (int64_t k = begin; k < end; k++) {
    const uint32_t code = GpChunkLoad(a->code, a->base ? 2 : 1, k), v = code == escape ? GpChunkLoad(a->list, a->escapebytes, at++) : code;

    sum      = (sum + v) & mask;
    a->to[k] = (int32_t)(!a->base ? lowest + sum : code == escape ? lowest + v : (uint32_t)a->base[b] + v);
  }
}

GpErr GpChunkDecodeBlocks_Host(GpDev dev, const GpChunkColumns *a)
{
  (void)dev;
  for (int64_t b = 0; b < GpChunkBlocks(a->nnz); b++) GpChunkDecodeBlock(a, b);
  return GP_SUCCESS;
}

#else
  #include <cub/block/block_scan.cuh>

static constexpr int EACH = 4, THREADS = GP_CHUNK_BLOCK / EACH; /* a thread decodes EACH consecutive nonzeros */

/* A thread block decodes a block of nonzeros. A scan counts the escapes before the nonzeros of each thread. With differences, a second scan adds the differences. */
template <bool DIFFERENCES>
__global__ static void __launch_bounds__(THREADS) GpChunkBlockKernel(GpChunkColumns a)
{
  typedef cub::BlockScan<uint32_t, THREADS>                             Scan;
  typedef typename std::conditional<DIFFERENCES, uchar4, ushort4>::type Codes;
  __shared__ typename Scan::TempStorage                                 counting, adding;
  constexpr uint32_t                                                    ESCAPE  = DIFFERENCES ? GP_CHUNK_DIFFERENCE_ESCAPE : GP_CHUNK_OFFSET_ESCAPE;
  const int64_t                                                         k       = (int64_t)blockIdx.x * GP_CHUNK_BLOCK + (int64_t)threadIdx.x * EACH;
  const int                                                             left    = k < a.nnz ? (a.nnz - k < EACH ? (int)(a.nnz - k) : EACH) : 0;
  const Codes                                                           codes   = left ? ((const Codes *)a.code)[k / EACH] : Codes{0, 0, 0, 0}; /* in bounds for the last group too, because the section is padded to GP_CHUNK_ALIGN bytes */
  const uint32_t                                                        base    = DIFFERENCES ? (uint32_t)a.lowest : (uint32_t)a.base[blockIdx.x];
  uint32_t                                                              v[EACH] = {codes.x, codes.y, codes.z, codes.w}, mine = 0, before;

  #pragma unroll
  for (int j = 0; j < EACH; j++) mine += j < left && v[j] == ESCAPE;
  Scan(counting).ExclusiveSum(mine, before);
  before += a.start[blockIdx.x];
  #pragma unroll
  for (int j = 0; j < EACH; j++) {
    const bool escape = j < left && v[j] == ESCAPE;

    if (escape) v[j] = GpChunkLoad(a.list, a.escapebytes, before++);
    if (!DIFFERENCES) v[j] += escape ? (uint32_t)a.lowest : base;
    else if (j) v[j] += v[j - 1];
  }
  if (DIFFERENCES) {
    uint32_t sum;

    Scan(adding).ExclusiveSum(v[EACH - 1], sum);
  #pragma unroll
    for (int j = 0; j < EACH; j++) v[j] = base + ((sum + v[j]) & GpChunkMask(a.escapebytes));
  }
  if (left == EACH) ((uint4 *)a.to)[k / EACH] = uint4{v[0], v[1], v[2], v[3]};
  else {
  #pragma unroll
    for (int j = 0; j < EACH; j++)
      if (j < left) a.to[k + j] = (int32_t)v[j];
  }
}

GpErr GpChunkDecodeBlocks_CUDA(GpDev dev, const GpChunkColumns *a)
{
  const GpGrid grid = {(unsigned)GpChunkBlocks(a->nnz), THREADS};

  if (!a->nnz) return GP_SUCCESS;
  return GpLaunch(dev, "decoding columns", a->base ? GpChunkBlockKernel<false> : GpChunkBlockKernel<true>, grid, *a);
}
#endif

GP_PAIR(GpChunkDecodeRows, GpDev dev, const GpChunkHeader *head, const uint8_t *chunk, int32_t *rowptr);
GpErr GP_IMPL(GpChunkDecodeRows)(GpDev dev, const GpChunkHeader *head, const uint8_t *chunk, int32_t *rowptr)
{
  const GpChunkWiden a      = {chunk + head->offset[GP_CHUNK_AT_ROWS], head->rowbytes, 0, rowptr};
  const GpChunkLong  longer = {(const uint32_t *)(chunk + head->offset[GP_CHUNK_AT_LONG]), rowptr};
  GpErr              err    = GP_EACH(dev, GpChunkWiden, GpChunkWidenInteger, head->m, &a);

  if (!err) err = GP_EACH(dev, GpChunkLong, GpChunkTakeLong, head->nlong, &longer);
  return err ? err : GP_IMPL(GpScan)(dev, head->m, rowptr);
}

GP_PAIR(GpChunkDecodeColumns, GpDev dev, const GpChunkHeader *head, const uint8_t *chunk, int32_t *col);
GpErr GP_IMPL(GpChunkDecodeColumns)(GpDev dev, const GpChunkHeader *head, const uint8_t *chunk, int32_t *col)
{
  const uint8_t *code = chunk + head->offset[GP_CHUNK_AT_COLUMNS];

  if (head->columns == GP_CHUNK_PLAIN) {
    const GpChunkWiden a = {code, head->colbytes, head->lowest, col};

    return GP_EACH(dev, GpChunkWiden, GpChunkWidenInteger, head->nnz, &a);
  }
  const GpChunkColumns a = {code,
                            chunk + head->offset[GP_CHUNK_AT_ESCAPES],
                            head->columns == GP_CHUNK_OFFSET ? (const int32_t *)(chunk + head->offset[GP_CHUNK_AT_BASES]) : NULL,
                            (const uint32_t *)(chunk + head->offset[GP_CHUNK_AT_STARTS]),
                            head->escapebytes,
                            head->lowest,
                            head->nnz,
                            col};

  return GP_IMPL(GpChunkDecodeBlocks)(dev, &a);
}

GP_PAIR(GpChunkDecodeValues, GpDev dev, const GpChunkHeader *head, const uint8_t *chunk, void *val);
GpErr GP_IMPL(GpChunkDecodeValues)(GpDev dev, const GpChunkHeader *head, const uint8_t *chunk, void *val)
{
  const uint8_t      *from   = chunk + head->offset[GP_CHUNK_AT_VALUES];
  const GpChunkTable  table  = {head->values == GP_CHUNK_CODE ? from : NULL, chunk + head->offset[GP_CHUNK_AT_TABLE], val};
  const GpChunkFloats floats = {(const float *)from, (double *)val};

  if (head->values == GP_CHUNK_SINGLE) return GP_EACH(dev, GpChunkFloats, GpChunkWidenFloat, head->nnz, &floats);
  if (head->prec == GP_F32) return GP_EACH(dev, GpChunkTable, GpChunkTakeFloat, head->nnz, &table);
  return GP_EACH(dev, GpChunkTable, GpChunkTakeDouble, head->nnz, &table);
}

#if !defined(__CUDACC__)

/* Returns 1 if kernels can read the section of columns as the array of columns. */
static int GpChunkHasColumns(const GpChunkHeader *head)
{
  return head->columns == GP_CHUNK_PLAIN && head->colbytes == 4;
}

/* Returns 1 if kernels can read the section of values as the array of values. */
static int GpChunkHasValues(const GpChunkHeader *head)
{
  return head->values == GP_CHUNK_DOUBLE || (head->values == GP_CHUNK_SINGLE && head->prec == GP_F32);
}

static size_t GpChunkAlign(size_t bytes)
{
  return (bytes + GP_CHUNK_LINE - 1) / GP_CHUNK_LINE * GP_CHUNK_LINE;
}

static size_t GpChunkRowBytes(const GpChunkHeader *head)
{
  return GpChunkAlign(((size_t)head->m + 1) * sizeof(int32_t));
}

static size_t GpChunkColumnBytes(const GpChunkHeader *head)
{
  return GpChunkHasColumns(head) ? 0 : GpChunkAlign((size_t)head->nnz * sizeof(int32_t));
}

size_t GpChunkWorkspace(const GpChunkHeader *head)
{
  return GpChunkRowBytes(head) + GpChunkColumnBytes(head) + (GpChunkHasValues(head) ? 0 : GpChunkAlign((size_t)head->nnz * GpPrecBytes((GpPrec)head->prec)));
}

GpErr GpChunkDecode(GpDev dev, const GpChunkHeader *head, const void *chunk, void *workspace, GpCsr *A)
{
  uint8_t       *work = (uint8_t *)workspace;
  const uint8_t *from = (const uint8_t *)chunk;
  GpErr          err;

  *A        = (GpCsr){.dev = dev, .prec = (GpPrec)head->prec, .m = head->m, .n = head->n, .nnz = head->nnz};
  A->rowptr = (int32_t *)work;
  A->col    = (int32_t *)(GpChunkHasColumns(head) ? (uint8_t *)(uintptr_t)from + head->offset[GP_CHUNK_AT_COLUMNS] : work + GpChunkRowBytes(head));
  A->val    = GpChunkHasValues(head) ? (uint8_t *)(uintptr_t)from + head->offset[GP_CHUNK_AT_VALUES] : work + GpChunkRowBytes(head) + GpChunkColumnBytes(head);
  err       = GP_ON_DEVICE(dev, GpChunkDecodeRows, dev, head, from, A->rowptr);
  if (!err && !GpChunkHasColumns(head)) err = GP_ON_DEVICE(dev, GpChunkDecodeColumns, dev, head, from, A->col);
  if (!err && !GpChunkHasValues(head)) err = GP_ON_DEVICE(dev, GpChunkDecodeValues, dev, head, from, A->val);
  return err;
}
#endif
