/* Builds sliced rows: rows are sorted if this saves padding, every slice is planned, a scan places the slices, and they are filled. New values
   are filled again. */
#include "mat/impls/gpucsr/spmv/sell/sellslice.h"

/* The steps of a build, implemented by each backend. */
typedef struct {
  GpErr (*width)(const GpCsr *, const GpSell *, double *total); /* sums the lengths of the longest rows of all slices */
  GpErr (*sort)(const GpCsr *, const GpSell *);                 /* fills perm */
  GpErr (*plan)(const GpCsr *, GpSell *);                       /* fills slice and total */
  GpErr (*fill)(const GpCsr *, const GpSell *);                 /* fills head, index, value */
} Steps;

#if !defined(__CUDACC__)
  #include <stdlib.h>

  #define WORTH_A_SORT 1.1 /* rows are sorted if stored entries exceed nonzeros, and unsorted storage exceeds sorted storage, by this factor; sorted rows write a permuted result */
  #define MOST_PADDING 3.0 /* maximum ratio of stored entries to nonzeros */
  #define FREE_PADDING 1e5 /* number of stored entries that is always accepted */

static GpErr Width_Host(const GpCsr *A, const GpSell *S, double *total)
{
  *total = 0;
  for (int32_t s = 0; s < S->nslices; s++) *total += SliceWidth(A, S->perm, s);
  return GP_SUCCESS;
}

static GpErr Sort_Host(const GpCsr *A, const GpSell *S)
{
  for (int32_t first = 0, rows; first < A->m; first += rows) { /* stable counting sort */
    int32_t next[LONGEST + 2] = {0};

    rows = A->m - first < WINDOW ? A->m - first : WINDOW;
    for (int32_t i = first; i < first + rows; i++) next[SortKey(A, i) % (LONGEST + 1) + 1]++;
    for (int c = 0; c < LONGEST; c++) next[c + 1] += next[c];
    for (int32_t i = first; i < first + rows; i++) S->perm[first + next[SortKey(A, i) % (LONGEST + 1)]++] = i;
  }
  return GP_SUCCESS;
}

static GpErr Plan_Host(const GpCsr *A, GpSell *S)
{
  int32_t diagonal[DIAGONALS];

  S->total = (GpSellExtent){0, 0, 0};
  for (int32_t s = 0; s < S->nslices; s++) {
    const GpSlice      P = PlanSlice(A, S->perm, s, diagonal);
    const GpSellExtent e = SliceExtent(P);

    S->slice[s]        = P;
    S->slice[s].quad   = S->total.quads;
    S->slice[s].column = S->total.columns;
    S->slice[s].unit   = S->total.units;
    S->total           = (GpSellExtent){S->total.quads + e.quads, S->total.columns + e.columns, S->total.units + e.units};
  }
  return GP_SUCCESS;
}

static GpErr Fill_Host(const GpCsr *A, const GpSell *S)
{
  int32_t diagonal[DIAGONALS];

  for (int32_t s = 0; s < S->nslices; s++) FillSlice(A, S, s, diagonal);
  return GP_SUCCESS;
}

static const Steps StepsHost = {Width_Host, Sort_Host, Plan_Host, Fill_Host};
extern const Steps GpSellStepsCUDA;
  #define StepsOf(dev) GpDevSelect(dev, StepsHost, GpSellStepsCUDA)

/* Sorts the rows if this pays. Refuses a matrix with too much padding. */
static GpErr SellOrder(const GpCsr *A, GpSell *S)
{
  const Steps *steps = StepsOf(A->dev);
  const size_t bytes = (size_t)A->m * sizeof(int32_t);
  double       plain, width;
  GpErr        err = steps->width(A, S, &plain);

  width = plain;
  if (!err && plain * GP_SLICE > WORTH_A_SORT * A->nnz) {
    err = GpDevAlloc(A->dev, bytes, &S->perm);
    if (!err) err = steps->sort(A, S);
    if (!err) err = steps->width(A, S, &width);
    if (!err && width * WORTH_A_SORT > plain) {
      GpDevFree(A->dev, &S->perm, bytes);
      width = plain;
    }
  }
  if (!err && width * GP_SLICE > MOST_PADDING * A->nnz + FREE_PADDING)
    err = GpDevFail(A->dev, GP_ERR_ARGUMENT, "uneven row lengths: slices of %d rows store %.1f times the nonzeros; the limit is %g", GP_SLICE, width * GP_SLICE / A->nnz, MOST_PADDING);
  return err;
}

static size_t SellValueBytes(const GpCsr *A, const GpSell *S)
{
  if (S->kind == GP_SELL_FULL) return ((size_t)S->total.columns + 3) * GP_SLICE * GpPrecBytes(A->prec);
  return (size_t)S->total.quads * 4 * GP_SLICE;
}

GpErr GpSellBuild(GpFmt *F, GpSellKind kind)
{
  const GpCsr *A   = F->csr;
  GpDev        dev = A->dev;
  GpSell      *S   = (GpSell *)calloc(1, sizeof(*S));
  GpErr        err;

  F->data = S;
  if (!S) return GpDevFail(dev, GP_ERR_MEMORY, "out of host memory for sliced rows");
  S->kind    = kind;
  S->nslices = (int32_t)(((int64_t)A->m + GP_SLICE - 1) / GP_SLICE);
  err        = kind == GP_SELL_CODES ? GpSellTable(F) : GP_SUCCESS;
  if (!err) err = GpDevAlloc(dev, (size_t)S->nslices * sizeof(GpSlice), &S->slice);
  if (!err && S->nslices) err = SellOrder(A, S);
  if (!err && S->nslices) err = StepsOf(dev)->plan(A, S);
  if (!err) err = GpDevAlloc(dev, (size_t)S->total.quads * 8 * sizeof(int32_t), &S->head);
  if (!err) err = GpDevAlloc(dev, (size_t)S->total.units * 128, &S->index);
  if (!err) err = GpDevAlloc(dev, SellValueBytes(A, S), &S->value);
  /* The padding of short quads, and positions of rows that a slice column does not contain, are read but not used. */
  if (!err) err = dev->ops->zero(dev, S->head, (size_t)S->total.quads * 8 * sizeof(int32_t));
  if (!err) err = dev->ops->zero(dev, S->index, (size_t)S->total.units * 128);
  if (!err) err = dev->ops->zero(dev, S->value, SellValueBytes(A, S));
  if (!err && S->nslices) err = StepsOf(dev)->fill(A, S);
  return err;
}

GpErr GpSellRefill(GpFmt *F)
{
  const GpSell *S   = (const GpSell *)F->data;
  GpErr         err = S->kind == GP_SELL_CODES ? GpSellTable(F) : GP_SUCCESS;

  return err || !S->nslices ? err : StepsOf(F->csr->dev)->fill(F->csr, S);
}

void GpSellDestroy(GpFmt *F)
{
  GpSell *S   = (GpSell *)F->data;
  GpDev   dev = F->csr->dev;

  if (!S) return;
  GpDevFree(dev, &S->slice, (size_t)S->nslices * sizeof(GpSlice));
  GpDevFree(dev, &S->head, (size_t)S->total.quads * 8 * sizeof(int32_t));
  GpDevFree(dev, &S->index, (size_t)S->total.units * 128);
  GpDevFree(dev, &S->value, SellValueBytes(F->csr, S));
  GpDevFree(dev, &S->perm, (size_t)F->csr->m * sizeof(int32_t));
  GpDevFree(dev, &S->bits, GP_SELL_CODES_MOST * sizeof(uint64_t));
  GpDevFree(dev, &S->table, GP_SELL_CODES_MOST * sizeof(double));
  free(S);
}

double GpSellBytes(const GpFmt *F)
{
  const GpSell *S = (const GpSell *)F->data;

  return (double)S->nslices * sizeof(GpSlice) + 32.0 * S->total.quads + 128.0 * S->total.units + (double)SellValueBytes(F->csr, S) + (S->perm ? (double)F->csr->m * sizeof(int32_t) : 0.0);
}

GpErr GpFmtBuild_sell(GpFmt *F, const int32_t rowptr[])
{
  (void)rowptr;
  return GpSellBuild(F, GP_SELL_FULL);
}

GpErr GpFmtRefill_sell(GpFmt *F)
{
  return GpSellRefill(F);
}

void GpFmtDestroy_sell(GpFmt *F)
{
  GpSellDestroy(F);
}

double GpFmtBytes_sell(const GpFmt *F)
{
  return GpSellBytes(F);
}

double GpFmtTraffic_sell(const GpFmt *F)
{
  return GpSellBytes(F);
}

#else
  #include <cub/device/device_radix_sort.cuh>
  #include <cub/device/device_scan.cuh>
  #include <thrust/iterator/counting_iterator.h>
  #include <thrust/iterator/transform_iterator.h>

static constexpr int BLOCK = 128, WARPS = BLOCK / GP_WARP;

static unsigned Blocks(int64_t n, int each)
{
  return (unsigned)((n + each - 1) / each);
}

__global__ static void Widths(GpCsr A, GpSell S, unsigned long long *total)
{
  __shared__ unsigned sum;
  const int64_t       s = (int64_t)blockIdx.x * WARPS + threadIdx.x / GP_WARP;

  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  const int32_t width = s < S.nslices ? SliceWidth(&A, S.perm, (int32_t)s) : 0;
  if (threadIdx.x % GP_WARP == 0) atomicAdd(&sum, (unsigned)width);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(total, (unsigned long long)sum);
}

__global__ static void Keys(GpCsr A, uint32_t *key, int32_t *row)
{
  const int64_t i = (int64_t)blockIdx.x * BLOCK + threadIdx.x;

  if (i >= A.m) return;
  key[i] = SortKey(&A, (int32_t)i);
  row[i] = (int32_t)i;
}

__global__ static void Plan(GpCsr A, GpSell S)
{
  __shared__ int32_t diagonal[WARPS][DIAGONALS];
  const int64_t      s = (int64_t)blockIdx.x * WARPS + threadIdx.x / GP_WARP;

  if (s >= S.nslices) return;
  const GpSlice P           = PlanSlice(&A, S.perm, (int32_t)s, diagonal[threadIdx.x / GP_WARP]);
  GP_ONE_LANE(0) S.slice[s] = P;
}

__global__ static void Place(GpSell S, const GpSellExtent *before)
{
  const int64_t s = (int64_t)blockIdx.x * BLOCK + threadIdx.x;

  if (s >= S.nslices) return;
  S.slice[s].quad   = before[s].quads;
  S.slice[s].column = before[s].columns;
  S.slice[s].unit   = before[s].units;
}

__global__ static void Fill(GpCsr A, GpSell S)
{
  __shared__ int32_t diagonal[WARPS][DIAGONALS];
  const int64_t      s = (int64_t)blockIdx.x * WARPS + threadIdx.x / GP_WARP;

  if (s < S.nslices) FillSlice(&A, &S, (int32_t)s, diagonal[threadIdx.x / GP_WARP]);
}

struct Sum {
  __device__ GpSellExtent operator()(const GpSellExtent &a, const GpSellExtent &b) const { return {a.quads + b.quads, a.columns + b.columns, a.units + b.units}; }
};

/* Returns the extent of slice s. Behind the last slice it is zero, so that the exclusive scan gives the total there. */
struct ExtentOf {
  const GpSlice *slice;
  int32_t        n;

  __device__ GpSellExtent operator()(int32_t s) const { return s < n ? SliceExtent(slice[s]) : GpSellExtent{0, 0, 0}; }
};

static GpErr Width_CUDA(const GpCsr *A, const GpSell *S, double *total)
{
  unsigned long long *sum, result = 0;
  GpErr               err = GpDevBorrow(A->dev, sizeof(*sum), &sum);

  if (!err) err = A->dev->ops->zero(A->dev, sum, sizeof(*sum));
  if (!err) {
    Widths<<<Blocks(S->nslices, WARPS), BLOCK, 0, (cudaStream_t)A->dev->stream>>>(*A, *S, sum);
    err = GpDevCheckLaunch(A->dev, "widths of slices");
  }
  if (!err) err = GpDevDownload(A->dev, &result, sum, sizeof(*sum));
  GpDevReturn(A->dev, &sum, sizeof(*sum));
  *total = (double)result;
  return err;
}

static GpErr Sort_CUDA(const GpCsr *A, const GpSell *S)
{
  GpDev        dev    = A->dev;
  cudaStream_t stream = (cudaStream_t)dev->stream;
  size_t       bytes = (size_t)A->m * sizeof(uint32_t), scratch = 0;
  uint32_t    *key = NULL, *sorted;
  int32_t     *row;
  char        *temp;
  int          bits = 1;
  GpErr        err;

  while (bits < 32 && ((uint32_t)((A->m - 1) / WINDOW + 1) * (LONGEST + 1) - 1) >> bits) bits++;
  if (cub::DeviceRadixSort::SortPairs(NULL, scratch, key, key, S->perm, S->perm, A->m, 0, bits, stream) != cudaSuccess) return GpDevFail(dev, GP_ERR_DEVICE, "computing the workspace of the sort of rows failed");
  bytes = (bytes + 255) / 256 * 256;
  err   = GpDevBorrow(dev, 3 * bytes + scratch, &key);
  if (err) return err;
  sorted = (uint32_t *)((char *)key + bytes);
  row    = (int32_t *)((char *)key + 2 * bytes);
  temp   = (char *)key + 3 * bytes;
  Keys<<<Blocks(A->m, BLOCK), BLOCK, 0, stream>>>(*A, key, row);
  cudaError_t code = cub::DeviceRadixSort::SortPairs(temp, scratch, key, sorted, row, S->perm, A->m, 0, bits, stream);
  if (code != cudaSuccess) err = GpDevFail(dev, GP_ERR_DEVICE, "sorting rows: %s", cudaGetErrorString(code));
  GpDevReturn(dev, &key, 3 * bytes + scratch);
  return err;
}

static GpErr Plan_CUDA(const GpCsr *A, GpSell *S)
{
  GpDev              dev     = A->dev;
  cudaStream_t       stream  = (cudaStream_t)dev->stream;
  const size_t       bytes   = ((size_t)S->nslices + 1) * sizeof(GpSellExtent);
  const GpSellExtent zero    = {0, 0, 0};
  const auto         extent  = thrust::make_transform_iterator(thrust::make_counting_iterator((int32_t)0), ExtentOf{S->slice, S->nslices});
  GpSellExtent      *before  = NULL;
  size_t             scratch = 0;
  GpErr              err;

  if (cub::DeviceScan::ExclusiveScan(NULL, scratch, extent, before, Sum(), zero, S->nslices + 1, stream) != cudaSuccess) return GpDevFail(dev, GP_ERR_DEVICE, "computing the workspace of the scan of slices failed");
  const size_t skip = (bytes + 255) / 256 * 256;
  err               = GpDevBorrow(dev, skip + scratch, &before);
  if (err) return err;
  Plan<<<Blocks(S->nslices, WARPS), BLOCK, 0, stream>>>(*A, *S);
  cudaError_t code = cub::DeviceScan::ExclusiveScan((char *)before + skip, scratch, extent, before, Sum(), zero, S->nslices + 1, stream);
  if (code != cudaSuccess) err = GpDevFail(dev, GP_ERR_DEVICE, "placing slices: %s", cudaGetErrorString(code));
  Place<<<Blocks(S->nslices, BLOCK), BLOCK, 0, stream>>>(*S, before);
  if (!err) err = GpDevCheckLaunch(dev, "plan of slices");
  if (!err) err = GpDevDownload(dev, &S->total, before + S->nslices, sizeof(S->total));
  GpDevReturn(dev, &before, skip + scratch);
  return err;
}

static GpErr Fill_CUDA(const GpCsr *A, const GpSell *S)
{
  Fill<<<Blocks(S->nslices, WARPS), BLOCK, 0, (cudaStream_t)A->dev->stream>>>(*A, *S);
  return GpDevCheckLaunch(A->dev, "filling slices");
}

extern "C" const Steps GpSellStepsCUDA = {Width_CUDA, Sort_CUDA, Plan_CUDA, Fill_CUDA};
#endif
