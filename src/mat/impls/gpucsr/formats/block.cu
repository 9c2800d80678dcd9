/* Building blocks.  The size is chosen on a sample of the slices; a lane walks the rows of one row of blocks together. */
#include "mat/impls/gpucsr/formats/block.h"
#include "mat/impls/gpucsr/formats/gpparts.h"

#define MOST      6    /* the largest size */
#define SIZES     4    /* 2, 3, 4 and 6 */
#define SAMPLE    256  /* slices that are looked at to choose */
#define PADDING   1.02 /* blocks in slices of one width over those in slices of their own, at most: no one need look up then where a slice starts */
#define OF_FEW    1.25 /* the same for the small, where a wait counts more than a byte */
#define FEW       4    /* threads that share a row of the small */
#define MORE_THAN 4    /* bytes that a nonzero may take beyond its value: an index of its own would take as many */

/* where a lane stands in the rows of a row of blocks */
typedef struct {
  int32_t k[MOST], end[MOST];
} Walk;

GP_LANEFN Walk Begin(const GpCsr *A, int b, int32_t slice, int l)
{
  const int64_t first = ((int64_t)slice * GP_WARP + l) * b;
  Walk          W;

  for (int r = 0; r < MOST; r++) {
    const int has = r < b && first + r < A->m;

    W.k[r]   = has ? A->rowptr[first + r] : 0;
    W.end[r] = has ? A->rowptr[first + r + 1] : 0;
  }
  return W;
}

/* the leftmost block that a row stands at, -1: all have ended */
GP_LANEFN int32_t Leftmost(const GpCsr *A, int b, const Walk *W)
{
  int32_t col = INT32_MAX;

  for (int r = 0; r < MOST; r++)
    if (W->k[r] < W->end[r] && A->col[W->k[r]] < col) col = A->col[W->k[r]];
  return col < INT32_MAX ? col / b : -1;
}

/* the next nonzero of row r in this block, right of column `after`, or -1: rows that do not ascend, or repeat, make further blocks */
GP_LANEFN int32_t NextInBlock(const GpCsr *A, int b, Walk *W, int r, int32_t block, int32_t after)
{
  const int32_t k = W->k[r];

  if (k == W->end[r] || A->col[k] / b != block || A->col[k] <= after) return -1;
  W->k[r]++;
  return k;
}

/* the longest row of blocks in a slice, and the sum of all */
GP_WARPFN int32_t SliceWidth(const GpCsr *A, int b, int32_t slice)
{
  int32_t n[GP_PER_LANE];

  GP_LANES(l)
  {
    Walk    W = Begin(A, b, slice, l);
    int32_t block;

    n[GP_AT(l)] = 0;
    while ((block = Leftmost(A, b, &W)) >= 0) {
      n[GP_AT(l)]++;
      for (int r = 0; r < MOST; r++)
        for (int32_t k, after = -1; r < b && (k = NextInBlock(A, b, &W, r, block, after)) >= 0;) after = A->col[k];
    }
  }
  GP_LANESYNC();
  return GpLanesMax(n);
}

GP_LANEFN void FillRow(const GpCsr *A, const GpBlock *B, int b, int32_t slice, int l)
{
  const int single = A->prec == GP_F32;
  Walk      W      = Begin(A, b, slice, l);

  for (int32_t c = GpBlockStart(B, slice); c < GpBlockStart(B, slice + 1); c++) {
    const int32_t block = Leftmost(A, b, &W);

    B->col[(int64_t)c * GP_WARP + l] = block >= 0 ? block : 0;
    for (int r = 0; r < MOST; r++) {
      const int64_t to   = (int64_t)c * b * b * GP_WARP + l * b + r;
      int32_t       next = 0; /* the first column of the block not yet written */

      if (r >= b) break;
      for (int32_t k, after = -1; (k = NextInBlock(A, b, &W, r, block, after)) >= 0; next++) {
        after = A->col[k];
        for (; next < after - block * b; next++) GpPutOrHole(single, B->value, to + (int64_t)next * b * GP_WARP, A->val, -1);
        GpPutOrHole(single, B->value, to + (int64_t)next * b * GP_WARP, A->val, k);
      }
      for (; next < b; next++) GpPutOrHole(single, B->value, to + (int64_t)next * b * GP_WARP, A->val, -1);
    }
  }
}

/* what each runtime does in its way */
typedef struct {
  GpErr (*sample)(const GpCsr *, double columns[SIZES]); /* of each size that divides rows and columns: slice columns of all slices, by a sample */
  GpErr (*plan)(const GpCsr *, GpBlock *);               /* fills start, and behind it the width of the widest slice */
  GpErr (*fill)(const GpCsr *, const GpBlock *);
} Steps;

static const int sizes[SIZES] = {2, 3, 4, 6};

static inline int Divides(const GpCsr *A, int b)
{
  return !(A->m % b) && !(A->n % b);
}

static inline int32_t Slices(const GpCsr *A, int b)
{
  return (int32_t)(((int64_t)A->m / b + GP_WARP - 1) / GP_WARP);
}

static inline int32_t SampleStep(int32_t nslices)
{
  return nslices > SAMPLE ? nslices / SAMPLE : 1;
}

#if !defined(__CUDACC__)
  #include <stdlib.h>

static GpErr Sample_Host(const GpCsr *A, double columns[SIZES])
{
  for (int i = 0; i < SIZES; i++) {
    const int32_t n = Slices(A, sizes[i]), step = SampleStep(n);

    columns[i] = 0;
    for (int64_t s = 0; s < n && Divides(A, sizes[i]); s += step) columns[i] += SliceWidth(A, sizes[i], (int32_t)s);
  }
  return GP_SUCCESS;
}

static GpErr Plan_Host(const GpCsr *A, GpBlock *B)
{
  int32_t widest = 0;

  B->start[0] = 0;
  for (int32_t s = 0; s < B->nslices; s++) {
    const int32_t width = SliceWidth(A, B->b, s);

    B->start[s + 1] = B->start[s] + width;
    if (width > widest) widest = width;
  }
  B->start[B->nslices + 1] = widest;
  return GP_SUCCESS;
}

static GpErr Fill_Host(const GpCsr *A, const GpBlock *B)
{
  for (int32_t s = 0; s < B->nslices; s++)
    for (int l = 0; l < GP_WARP; l++) FillRow(A, B, B->b, s, l);
  return GP_SUCCESS;
}

static const Steps StepsHost = {Sample_Host, Plan_Host, Fill_Host};
extern const Steps GpBlockStepsCUDA;
  #define StepsOf(dev) GpDevTwin(dev, StepsHost, GpBlockStepsCUDA)

/* the size that takes the fewest bytes, by a sample of the slices */
static GpErr ChooseSize(const GpCsr *A, int *size)
{
  const double value = (double)GpPrecBytes(A->prec), limit = value + MORE_THAN;
  double       least = 0, columns[SIZES];
  GpErr        err;

  *size = 0;
  if (!A->nnz) return GpDevFail(A->dev, GP_ERR_ARGUMENT, "no nonzeros to make blocks of");
  err = StepsOf(A->dev)->sample(A, columns);
  if (err) return err;
  for (int i = 0; i < SIZES; i++) {
    const int     b = sizes[i];
    const int32_t n = Slices(A, b), step = SampleStep(n);
    const double  bytes = columns[i] * GP_WARP * (b * b * value + sizeof(int32_t)) * n / ((n + (int64_t)step - 1) / step) / A->nnz;

    if (!Divides(A, b) || (*size && bytes >= least)) continue;
    *size = b;
    least = bytes;
  }
  if (!*size) return GpDevFail(A->dev, GP_ERR_ARGUMENT, "%d rows and %d columns are not made of blocks of 2, 3, 4 or 6", (int)A->m, (int)A->n);
  if (least > limit) return GpDevFail(A->dev, GP_ERR_ARGUMENT, "the best dense blocks, of %d, take %.1f bytes a nonzero; the limit is %g", *size, least, limit);
  return GP_SUCCESS;
}

static size_t StartBytes(const GpBlock *B)
{
  return ((size_t)B->nslices + 2) * sizeof(int32_t);
}

/* how many threads share a row, and whether slices have one width */
static void Shape(const GpCsr *A, GpBlock *B, int32_t ncolumns, int32_t widest)
{
  B->parts    = GpParts(A->dev, A->m, (double)ncolumns / B->nslices, 1, GP_BLOCK_CROWD);
  B->ncolumns = ncolumns;
  if ((double)B->nslices * widest > (B->parts < FEW ? PADDING : OF_FEW) * ncolumns) return;
  B->width    = widest;
  B->ncolumns = B->nslices * widest;
  GpDevFree(A->dev, &B->start, StartBytes(B));
}

static size_t ColumnBytes(const GpCsr *A, const GpBlock *B)
{
  return (size_t)GP_WARP * ((size_t)(B->b * B->b) * GpPrecBytes(A->prec) + sizeof(int32_t));
}

GpErr GpFmtRefill_block(GpFmt *F)
{
  const GpBlock *B = (const GpBlock *)F->data;

  return B->ncolumns ? StepsOf(F->csr->dev)->fill(F->csr, B) : GP_SUCCESS;
}

GpErr GpFmtBuild_block(GpFmt *F, const int32_t rowptr[])
{
  const GpCsr *A        = F->csr;
  GpDev        dev      = A->dev;
  GpBlock     *B        = (GpBlock *)calloc(1, sizeof(*B));
  int32_t      found[2] = {0, 0};
  GpErr        err;

  (void)rowptr;
  F->data = B;
  if (!B) return GpDevFail(dev, GP_ERR_MEMORY, "out of host memory for blocks");
  err = ChooseSize(A, &B->b);
  if (err) return err;
  B->nslices = Slices(A, B->b);
  err        = GpDevAlloc(dev, StartBytes(B), &B->start);
  if (!err) err = StepsOf(dev)->plan(A, B);
  if (!err) err = GpDevDownload(dev, found, B->start + B->nslices, sizeof(found));
  if (err) return err;
  Shape(A, B, found[0], found[1]);
  err = GpDevAlloc(dev, (size_t)B->ncolumns * GP_WARP * sizeof(int32_t), &B->col);
  if (!err) err = GpDevAlloc(dev, (size_t)B->ncolumns * GP_WARP * (size_t)(B->b * B->b) * GpPrecBytes(A->prec), &B->value);
  return err ? err : GpFmtRefill_block(F);
}

void GpFmtDestroy_block(GpFmt *F)
{
  GpBlock *B   = (GpBlock *)F->data;
  GpDev    dev = F->csr->dev;

  if (!B) return;
  GpDevFree(dev, &B->start, StartBytes(B));
  GpDevFree(dev, &B->col, (size_t)B->ncolumns * GP_WARP * sizeof(int32_t));
  GpDevFree(dev, &B->value, (size_t)B->ncolumns * GP_WARP * (size_t)(B->b * B->b) * GpPrecBytes(F->csr->prec));
  free(B);
}

double GpFmtBytes_block(const GpFmt *F)
{
  const GpBlock *B = (const GpBlock *)F->data;

  return (double)B->ncolumns * (double)ColumnBytes(F->csr, B) + (B->width ? 0.0 : (double)StartBytes(B));
}

double GpFmtTraffic_block(const GpFmt *F)
{
  return GpFmtBytes_block(F);
}

#else
  #include <cub/device/device_scan.cuh>

static constexpr int BLOCK = 128, WARPS = BLOCK / GP_WARP;

static unsigned Blocks(int64_t warps)
{
  return (unsigned)((warps + WARPS - 1) / WARPS);
}

/* the size is known when these are compiled: they divide by it at every nonzero */
template <int B>
__device__ static int32_t SampledWidth(const GpCsr &A, int64_t warp, int32_t nslices, int32_t step)
{
  return warp * step < nslices ? SliceWidth(&A, B, (int32_t)(warp * step)) : 0;
}

typedef struct {
  int32_t nslices[SIZES], step[SIZES]; /* no slices: the size does not divide */
} Samples;

/* all sizes at once: a sample leaves most of the GPU idle, and walks long rows one nonzero after the other */
__global__ static void Sample(GpCsr A, Samples S, int32_t *sum)
{
  const int     i     = blockIdx.y;
  const int64_t warp  = (int64_t)blockIdx.x * WARPS + threadIdx.x / GP_WARP;
  const int32_t width = i == 0 ? SampledWidth<2>(A, warp, S.nslices[0], S.step[0])
                      : i == 1 ? SampledWidth<3>(A, warp, S.nslices[1], S.step[1])
                      : i == 2 ? SampledWidth<4>(A, warp, S.nslices[2], S.step[2])
                               : SampledWidth<6>(A, warp, S.nslices[3], S.step[3]);

  GP_ONE_LANE(0) atomicAdd(sum + i, width);
}

template <int B>
__global__ static void Widths(GpCsr A, GpBlock S)
{
  const int64_t s = (int64_t)blockIdx.x * WARPS + threadIdx.x / GP_WARP;

  if (s > S.nslices) return;
  const int32_t width       = s < S.nslices ? SliceWidth(&A, B, (int32_t)s) : 0;
  GP_ONE_LANE(0) S.start[s] = width;
  GP_ONE_LANE(0) atomicMax(S.start + S.nslices + 1, width);
}

template <int B>
__global__ static void Fill(GpCsr A, GpBlock S)
{
  const int64_t s = (int64_t)blockIdx.x * WARPS + threadIdx.x / GP_WARP;

  if (s < S.nslices) FillRow(&A, &S, B, (int32_t)s, threadIdx.x % GP_WARP);
}

static GpErr Sample_CUDA(const GpCsr *A, double columns[SIZES])
{
  GpDev    dev = A->dev;
  Samples  S;
  int32_t *sum, result[SIZES] = {};
  int64_t  most = 0;
  GpErr    err  = GpDevBorrow(dev, sizeof(result), &sum);

  if (err) return err;
  for (int i = 0; i < SIZES; i++) {
    S.nslices[i] = Divides(A, sizes[i]) ? Slices(A, sizes[i]) : 0;
    S.step[i]    = SampleStep(S.nslices[i]);
    if ((S.nslices[i] + (int64_t)S.step[i] - 1) / S.step[i] > most) most = (S.nslices[i] + (int64_t)S.step[i] - 1) / S.step[i];
  }
  err = dev->ops->zero(dev, sum, sizeof(result));
  if (!err && most) Sample<<<dim3(Blocks(most), SIZES), BLOCK, 0, (cudaStream_t)dev->stream>>>(*A, S, sum);
  if (!err) err = GpDevCheckLaunch(dev, "sampling blocks");
  if (!err) err = GpDevDownload(dev, result, sum, sizeof(result));
  GpDevReturn(dev, &sum, sizeof(result));
  for (int i = 0; i < SIZES; i++) columns[i] = result[i];
  return err;
}

static GpErr Plan_CUDA(const GpCsr *A, GpBlock *B)
{
  GpDev        dev     = A->dev;
  cudaStream_t stream  = (cudaStream_t)dev->stream;
  size_t       scratch = 0;
  void        *temp    = NULL;
  GpErr        err;

  if (cub::DeviceScan::ExclusiveSum(NULL, scratch, B->start, B->start, B->nslices + 1, stream) != cudaSuccess) return GpDevFail(dev, GP_ERR_DEVICE, "sizing the scan of blocks failed");
  err = dev->ops->zero(dev, B->start + B->nslices + 1, sizeof(int32_t));
  if (!err) err = GpDevBorrow(dev, scratch, &temp);
  if (err) return err;
  (B->b == 2 ? Widths<2> : B->b == 3 ? Widths<3> : B->b == 4 ? Widths<4> : Widths<6>)<<<Blocks((int64_t)B->nslices + 1), BLOCK, 0, stream>>>(*A, *B);
  cudaError_t code = cub::DeviceScan::ExclusiveSum(temp, scratch, B->start, B->start, B->nslices + 1, stream);
  if (code != cudaSuccess) err = GpDevFail(dev, GP_ERR_DEVICE, "placing blocks: %s", cudaGetErrorString(code));
  if (!err) err = GpDevCheckLaunch(dev, "plan of blocks");
  GpDevReturn(dev, &temp, scratch);
  return err;
}

static GpErr Fill_CUDA(const GpCsr *A, const GpBlock *B)
{
  (B->b == 2 ? Fill<2> : B->b == 3 ? Fill<3> : B->b == 4 ? Fill<4> : Fill<6>)<<<Blocks(B->nslices), BLOCK, 0, (cudaStream_t)A->dev->stream>>>(*A, *B);
  return GpDevCheckLaunch(A->dev, "filling blocks");
}

extern "C" const Steps GpBlockStepsCUDA = {Sample_CUDA, Plan_CUDA, Fill_CUDA};
#endif
