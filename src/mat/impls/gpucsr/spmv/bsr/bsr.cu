/* Builds block CSR. The block size is chosen from a sample of the slices. The host walks the rows of each block row together (bsrwalk.h). The
   device processes nonzeros independently if the columns of all rows ascend (bsrfirst.h), and gets the same blocks. */
#include "mat/impls/gpucsr/spmv/bsr/bsrwalk.h"
#include "mat/impls/gpucsr/spmv/common/gpparts.h"

#define SIZES     4    /* block sizes 2, 3, 4 and 6 */
#define SAMPLE    256  /* number of slices in the sample */
#define PADDING   1.02 /* maximum ratio of stored blocks with one common slice width to stored blocks with individual widths; with a common width, kernels need not look up where a slice starts */
#define OF_FEW    1.25 /* the same limit for small matrices, where a dependent load costs more than additional bytes */
#define FEW       4    /* a matrix is small if at least so many threads share a row */
#define MORE_THAN 4    /* maximum bytes per nonzero beyond its value; a column index per nonzero would take as many */

/* Result of the plan step. On the device the first three members are stored in this order at the end of GpBsr.start; the first is the last
   entry of start. */
typedef struct {
  int32_t  ncolumns, widest; /* slice columns of all slices, and of the widest slice */
  int32_t  walk;             /* 1: the columns of some row do not ascend, so rows are walked */
  int32_t *before;           /* [nnz+1] borrowed workspace: number of blocks that begin before each nonzero; NULL on the host, and if rows are walked */
} Plan;

/* The steps of a build, implemented by each backend. */
GP_PAIR(GpBsrSample, const GpCsr *, double columns[SIZES]);        /* estimates from a sample, for each size that divides rows and columns, the slice columns of all slices */
GP_PAIR(GpBsrPlan, const GpCsr *, GpBsr *, Plan *);                /* plans the slices and fills GpBsr.start */
GP_PAIR(GpBsrFill, const GpCsr *, const GpBsr *, int32_t *before); /* fills columns and values; `before` comes from the plan, or is NULL and is computed again */

static const int sizes[SIZES] = {2, 3, 4, 6};

static inline int GpBsrIsDivisor(const GpCsr *A, int b)
{
  return !(A->m % b) && !(A->n % b);
}

static inline int32_t GpBsrCountSlices(const GpCsr *A, int b)
{
  return (int32_t)(((int64_t)A->m / b + GP_WARP - 1) / GP_WARP);
}

static inline int32_t GpBsrGetSampleStep(int32_t nslices)
{
  return nslices > SAMPLE ? nslices / SAMPLE : 1;
}

static inline size_t GpBsrBeforeBytes(const GpCsr *A)
{
  return ((size_t)A->nnz + 1) * sizeof(int32_t);
}

#if !defined(__CUDACC__)
  #include <stdlib.h>

/* Returns the largest number of blocks in a block row of the slice. */
static int32_t GpBsrGetSliceWidth(const GpCsr *A, int b, int32_t slice)
{
  int32_t width = 0;

  for (int l = 0; l < GP_WARP; l++) {
    const int32_t n = GpBsrWalkRow(A, b, slice, l);

    if (n > width) width = n;
  }
  return width;
}

GpErr GpBsrSample_Host(const GpCsr *A, double columns[SIZES])
{
  for (int i = 0; i < SIZES; i++) {
    const int32_t n = GpBsrCountSlices(A, sizes[i]), step = GpBsrGetSampleStep(n);

    columns[i] = 0;
    for (int64_t s = 0; s < n && GpBsrIsDivisor(A, sizes[i]); s += step) columns[i] += GpBsrGetSliceWidth(A, sizes[i], (int32_t)s);
  }
  return GP_SUCCESS;
}

GpErr GpBsrPlan_Host(const GpCsr *A, GpBsr *B, Plan *P)
{
  B->start[0] = 0;
  for (int32_t s = 0; s < B->nslices; s++) {
    const int32_t width = GpBsrGetSliceWidth(A, B->b, s);

    B->start[s + 1] = B->start[s] + width;
    if (width > P->widest) P->widest = width;
  }
  P->ncolumns = B->start[B->nslices];
  return GP_SUCCESS;
}

GpErr GpBsrFill_Host(const GpCsr *A, const GpBsr *B, int32_t *before)
{
  (void)before;
  for (int32_t s = 0; s < B->nslices; s++)
    for (int l = 0; l < GP_WARP; l++) GpBsrFillRow(A, B, B->b, s, l);
  return GP_SUCCESS;
}

/* Selects the block size that takes the fewest bytes in a sample of the slices. */
static GpErr GpBsrChooseSize(const GpCsr *A, int *size)
{
  const double value = (double)GpPrecBytes(A->prec), limit = value + MORE_THAN;
  double       least = 0, columns[SIZES];
  GpErr        err;

  *size = 0;
  if (!A->nnz) return GpDevFail(A->dev, GP_ERR_ARGUMENT, "the matrix has no nonzeros, so it has no blocks");
  err = GP_ON_DEVICE(A->dev, GpBsrSample, A, columns);
  if (err) return err;
  for (int i = 0; i < SIZES; i++) {
    const int     b = sizes[i];
    const int32_t n = GpBsrCountSlices(A, b), step = GpBsrGetSampleStep(n);
    const double  bytes = columns[i] * GP_WARP * (b * b * value + sizeof(int32_t)) * n / ((n + (int64_t)step - 1) / step) / A->nnz;

    if (!GpBsrIsDivisor(A, b) || (*size && bytes >= least)) continue;
    *size = b;
    least = bytes;
  }
  if (!*size) return GpDevFail(A->dev, GP_ERR_ARGUMENT, "%d rows and %d columns: no block size of 2, 3, 4 or 6 divides both", (int)A->m, (int)A->n);
  if (least > limit) return GpDevFail(A->dev, GP_ERR_ARGUMENT, "dense blocks of the best size, %d, take %.1f bytes per nonzero; the limit is %g", *size, least, limit);
  return GP_SUCCESS;
}

static size_t GpBsrStartBytes(const GpBsr *B)
{
  return ((size_t)B->nslices + 3) * sizeof(int32_t); /* the result of the plan step is stored behind the nslices + 1 entries */
}

/* Decides how many threads share a row, and whether all slices have the same width. */
static void GpBsrChooseShape(const GpCsr *A, GpBsr *B, int32_t ncolumns, int32_t widest)
{
  B->parts    = GpParts(A->dev, A->m, (double)ncolumns / B->nslices, 1, GP_BSR_CROWD);
  B->ncolumns = ncolumns;
  if ((double)B->nslices * widest > (B->parts < FEW ? PADDING : OF_FEW) * ncolumns) return;
  B->width    = widest;
  B->ncolumns = B->nslices * widest;
  GpDevFree(A->dev, &B->start, GpBsrStartBytes(B));
}

static size_t GpBsrColumnBytes(const GpCsr *A, const GpBsr *B)
{
  return (size_t)GP_WARP * ((size_t)(B->b * B->b) * GpPrecBytes(A->prec) + sizeof(int32_t));
}

GpErr GpFmtRefill_bsr(GpFmt *F)
{
  const GpBsr *B = (const GpBsr *)F->data;

  return B->ncolumns ? GP_ON_DEVICE(F->csr->dev, GpBsrFill, F->csr, B, NULL) : GP_SUCCESS;
}

GpErr GpFmtBuild_bsr(GpFmt *F, const int32_t rowptr[])
{
  const GpCsr *A   = F->csr;
  GpDev        dev = A->dev;
  GpBsr       *B   = (GpBsr *)calloc(1, sizeof(*B));
  Plan         P   = {0, 0, 0, NULL};
  GpErr        err;

  (void)rowptr;
  F->data = B;
  if (!B) return GpDevFail(dev, GP_ERR_MEMORY, "out of host memory for blocks");
  err = GpBsrChooseSize(A, &B->b);
  if (err) return err;
  B->nslices = GpBsrCountSlices(A, B->b);
  err        = GpDevAlloc(dev, GpBsrStartBytes(B), &B->start);
  if (!err) err = GP_ON_DEVICE(dev, GpBsrPlan, A, B, &P);
  if (!err) {
    B->walk = P.walk;
    GpBsrChooseShape(A, B, P.ncolumns, P.widest);
    err = GpDevAlloc(dev, (size_t)B->ncolumns * GP_WARP * sizeof(int32_t), &B->col);
  }
  if (!err) err = GpDevAlloc(dev, (size_t)B->ncolumns * GP_WARP * (size_t)(B->b * B->b) * GpPrecBytes(A->prec), &B->value);
  if (!err) err = GP_ON_DEVICE(dev, GpBsrFill, A, B, P.before);
  GpDevReturn(dev, &P.before, GpBsrBeforeBytes(A));
  return err;
}

void GpFmtDestroy_bsr(GpFmt *F)
{
  GpBsr *B   = (GpBsr *)F->data;
  GpDev  dev = F->csr->dev;

  if (!B) return;
  GpDevFree(dev, &B->start, GpBsrStartBytes(B));
  GpDevFree(dev, &B->col, (size_t)B->ncolumns * GP_WARP * sizeof(int32_t));
  GpDevFree(dev, &B->value, (size_t)B->ncolumns * GP_WARP * (size_t)(B->b * B->b) * GpPrecBytes(F->csr->prec));
  free(B);
}

double GpFmtBytes_bsr(const GpFmt *F)
{
  const GpBsr *B = (const GpBsr *)F->data;

  return (double)B->ncolumns * (double)GpBsrColumnBytes(F->csr, B) + (B->width ? 0.0 : (double)GpBsrStartBytes(B));
}

double GpFmtTraffic_bsr(const GpFmt *F)
{
  return GpFmtBytes_bsr(F);
}

#else
  #include "mat/impls/gpucsr/spmv/bsr/bsrfirst.h"

  /* The block size is a template parameter, because the kernels divide by it for every nonzero. */
  #define OF_SIZE(Kernel, b) ((b) == 2 ? Kernel<2> : (b) == 3 ? Kernel<3> : (b) == 4 ? Kernel<4> : Kernel<6>)

static constexpr int      BLOCK = 128, WARPS = BLOCK / GP_WARP;
static constexpr unsigned ALL = 0xffffffffu;

static unsigned GpBsrGridSize(int64_t warps)
{
  return (unsigned)((warps + WARPS - 1) / WARPS);
}

__device__ static int64_t GpBsrGetWarp()
{
  return (int64_t)blockIdx.x * WARPS + threadIdx.x / GP_WARP;
}

/* Returns the largest number of blocks in a block row of the slice. Called by a whole warp. */
__device__ static int32_t GpBsrGetSliceWidth(const GpCsr &A, int b, int32_t slice)
{
  const int32_t n = GpBsrWalkRow(&A, b, slice, threadIdx.x % GP_WARP);

  __syncwarp();
  return __reduce_max_sync(ALL, n);
}

typedef struct {
  int32_t nslices[SIZES], step[SIZES]; /* number of slices for each size, 0 if the size does not divide rows and columns; distance between sampled slices */
} Samples;

/* Samples all sizes in one launch, because a sample of one size leaves most of the GPU idle. A thread block takes a slice, and each warp takes a
   block row. */
__global__ static void __launch_bounds__(GP_WARP *GP_WARP) GpBsrSampleKernel(GpCsr A, Samples S, int32_t *sum, int32_t *walk)
{
  __shared__ int32_t length[GP_WARP];
  const int          i = blockIdx.y, warp = threadIdx.x / GP_WARP;
  const int64_t      slice = (int64_t)blockIdx.x * S.step[i], row = slice * GP_WARP + warp;
  int                descends = 0;

  if (slice >= S.nslices[i]) return;
  length[warp] = i == 0 ? GpBsrCountBlocks<2>(A, row, &descends) : i == 1 ? GpBsrCountBlocks<3>(A, row, &descends) : i == 2 ? GpBsrCountBlocks<4>(A, row, &descends) : GpBsrCountBlocks<6>(A, row, &descends);
  if (descends) GP_SET(walk, 1);
  __syncthreads();
  if (warp) return;
  const int32_t width = __reduce_max_sync(ALL, length[threadIdx.x]);
  if (threadIdx.x == 0) atomicAdd(sum + i, width);
}

__global__ static void GpBsrWalkSampleKernel(GpCsr A, Samples S, int32_t *sum)
{
  const int     i     = blockIdx.y;
  const int64_t slice = GpBsrGetWarp() * S.step[i];

  if (slice >= S.nslices[i]) return;
  const int32_t width = GpBsrGetSliceWidth(A, i == 0 ? 2 : i == 1 ? 3 : i == 2 ? 4 : 6, (int32_t)slice);
  if (threadIdx.x % GP_WARP == 0) atomicAdd(sum + i, width);
}

/* Marks the first nonzero of every block. A warp takes a row. *walk is set if the columns of a row do not ascend; walk may be NULL. */
template <int B>
__global__ static void GpBsrMarkFirstKernel(GpCsr A, int32_t *first, int32_t *walk)
{
  const int64_t row      = GpBsrGetWarp();
  int           descends = 0;

  if (row >= A.m) return;
  const int32_t start = A.rowptr[row], end = A.rowptr[row + 1];
  for (int64_t k = start + (int64_t)threadIdx.x % GP_WARP; k < end; k += GP_WARP) first[k] = GpBsrIsFirst<B>(A, row, start, (int32_t)k, &descends);
  if (descends && walk) GP_SET(walk, 1);
}

/* Computes the widths of slices. A warp takes a slice. `before` is NULL if rows are walked. */
__global__ static void GpBsrWidthsKernel(GpCsr A, GpBsr S, const int32_t *before)
{
  const int64_t s = GpBsrGetWarp(), row = (s * GP_WARP + threadIdx.x % GP_WARP) * S.b;

  if (s >= S.nslices) return;
  const int32_t length = before && row < A.m ? before[A.rowptr[row + S.b]] - before[A.rowptr[row]] : 0;
  const int32_t width  = before ? __reduce_max_sync(ALL, length) : GpBsrGetSliceWidth(A, S.b, (int32_t)s);
  if (threadIdx.x % GP_WARP) return;
  S.start[s] = width;
  atomicMax(S.start + S.nslices + 1, width);
}

typedef struct {
  GpBsr B;
  int   single;
} Cleared;

GP_STEP(Clear)
{
  const Cleared *R    = (const Cleared *)args;
  const int64_t  cols = (int64_t)R->B.ncolumns * GP_WARP;

  if (i < cols) R->B.col[i] = 0;
  GpPutOrHole(R->single, R->B.value, i, NULL, -1);
}

/* Fills columns and values. A warp takes a row. The position of a block is the number of blocks to its left in its block row, whichever row these
   begin in. */
template <int B>
__global__ static void GpBsrFillKernel(GpCsr A, GpBsr S, const int32_t *before)
{
  const int64_t row = GpBsrGetWarp(), blockrow = row / B, top = blockrow * B;
  const int     l = (int)(blockrow % GP_WARP);

  if (row >= A.m) return;
  const int32_t start = A.rowptr[row], end = A.rowptr[row + 1];
  int64_t       first = GpBsrStart(&S, (int32_t)(blockrow / GP_WARP)); /* becomes the slice column of the block after adding before[] at the block in all rows of the block row */

  for (int r = 0; r < B; r++) first -= before[A.rowptr[top + r]];
  for (int64_t k = start + (int64_t)threadIdx.x % GP_WARP; k < end; k += GP_WARP) {
    const int32_t column = A.col[k], block = column / B;
    int32_t       own = (int32_t)k; /* first nonzero of the block in this row */
    int64_t       c   = first;

    while (own > start && A.col[own - 1] / B == block) own--;
    for (int r = 0; r < B; r++) c += before[top + r == row ? own : GpBsrFindColumn(A, top + r, own - start, block * B)];
    if (before[k + 1] > before[k]) S.col[c * GP_WARP + l] = block;
    GpPutOrHole(A.prec == GP_F32, S.value, (c * B + column % B) * B * GP_WARP + l * B + (row - top), A.val, k);
  }
}

__global__ static void GpBsrWalkFillKernel(GpCsr A, GpBsr S)
{
  const int64_t s = GpBsrGetWarp();

  if (s < S.nslices) GpBsrFillRow(&A, &S, S.b, (int32_t)s, threadIdx.x % GP_WARP);
}

GpErr GpBsrSample_CUDA(const GpCsr *A, double columns[SIZES])
{
  GpDev    dev = A->dev;
  Samples  S;
  int32_t *sum, result[SIZES + 1] = {}; /* the last entry is 1 if the columns of a row do not ascend */
  int64_t  most = 0;
  GpErr    err  = GpDevBorrow(dev, sizeof(result), &sum);

  if (err) return err;
  for (int i = 0; i < SIZES; i++) {
    S.nslices[i] = GpBsrIsDivisor(A, sizes[i]) ? GpBsrCountSlices(A, sizes[i]) : 0;
    S.step[i]    = GpBsrGetSampleStep(S.nslices[i]);
    if ((S.nslices[i] + (int64_t)S.step[i] - 1) / S.step[i] > most) most = (S.nslices[i] + (int64_t)S.step[i] - 1) / S.step[i];
  }
  for (int walk = 0; !err && most && walk <= result[SIZES]; walk++) {
    err = GpDevZero(dev, sum, SIZES * sizeof(*sum) + (walk ? 0 : sizeof(*sum)));
    if (err) break;
    if (walk) err = GpLaunch(dev, "sampling blocks", GpBsrWalkSampleKernel, GpGrid{dim3(GpBsrGridSize(most), SIZES), BLOCK}, *A, S, sum);
    else err = GpLaunch(dev, "sampling blocks", GpBsrSampleKernel, GpGrid{dim3((unsigned)most, SIZES), GP_WARP * GP_WARP}, *A, S, sum, sum + SIZES);
    if (!err) err = GpDevDownload(dev, result, sum, sizeof(result));
  }
  GpDevReturn(dev, &sum, sizeof(result));
  for (int i = 0; i < SIZES; i++) columns[i] = result[i];
  return err;
}

/* Borrows and fills `before`. */
static GpErr GpBsrCountBefore(const GpCsr *A, int b, int32_t *walk, int32_t **before)
{
  GpErr err = GpDevBorrow(A->dev, GpBsrBeforeBytes(A), before);

  if (err) return err;
  err = GpLaunch(A->dev, "first nonzeros of blocks", OF_SIZE(GpBsrMarkFirstKernel, b), GpGrid{GpBsrGridSize(A->m), BLOCK}, *A, *before, walk);
  if (!err) err = GpScan_CUDA(A->dev, A->nnz, *before);
  if (err) GpDevReturn(A->dev, before, GpBsrBeforeBytes(A));
  return err;
}

GpErr GpBsrPlan_CUDA(const GpCsr *A, GpBsr *B, Plan *P)
{
  GpDev    dev = A->dev;
  int32_t *end = B->start + B->nslices, found[3];
  GpErr    err = GpDevZero(dev, end, sizeof(found));

  if (!err) err = GpBsrCountBefore(A, B->b, end + 2, &P->before);
  for (;;) {
    if (err) return err;
    err = GpLaunch(dev, "widths of slices of blocks", GpBsrWidthsKernel, GpGrid{GpBsrGridSize(B->nslices), BLOCK}, *A, *B, P->before);
    if (!err) err = GpScan_CUDA(dev, B->nslices, B->start);
    if (!err) err = GpDevDownload(dev, found, end, sizeof(found));
    if (err || found[2] == P->walk) break;
    P->walk = 1; /* repeat the plan by walking rows */
    GpDevReturn(dev, &P->before, GpBsrBeforeBytes(A));
    err = GpDevZero(dev, end + 1, sizeof(*end));
  }
  P->ncolumns = found[0];
  P->widest   = found[1];
  return err;
}

GpErr GpBsrFill_CUDA(const GpCsr *A, const GpBsr *B, int32_t *before)
{
  GpDev         dev    = A->dev;
  cudaStream_t  stream = (cudaStream_t)GpDevStream(dev);
  const Cleared R      = {*B, A->prec == GP_F32};
  int32_t      *again  = NULL;
  GpErr         err;

  if (B->walk) return GpLaunch(dev, "walking blocks", GpBsrWalkFillKernel, GpGrid{GpBsrGridSize(B->nslices), BLOCK}, *A, *B);
  err = before ? GP_SUCCESS : GpBsrCountBefore(A, B->b, NULL, &again);
  if (!err) err = GP_EACH(dev, Cleared, Clear, (int64_t)B->ncolumns * GP_WARP * B->b * B->b, &R);
  if (!err) err = GpLaunch(dev, "filling blocks", OF_SIZE(GpBsrFillKernel, B->b), GpGrid{GpBsrGridSize(A->m), BLOCK}, *A, *B, before ? before : again);
  GpDevReturn(dev, &again, GpBsrBeforeBytes(A));
  return err;
}
#endif
