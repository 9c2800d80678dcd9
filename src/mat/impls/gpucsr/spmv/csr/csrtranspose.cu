/* Deterministic transpose of compressed rows: within a row of the transpose the columns ascend.

   The host implementation is a counting sort. The CUDA implementation sorts the column indices together with the positions by a stable radix sort
   (CUB). One more pass finds the row starts and gathers the rows and values. Each implementation allocates the transpose itself, unless the caller
   has done so, so that the host allocates while the GPU sorts. */
#include "mat/impls/gpucsr/spmv/common/gpformat.h"

typedef struct {
  GpCsr          A, At;
  const int32_t *perm;
} Permute;

GP_STEP(PermuteValue)
{
  const Permute *p = (const Permute *)args;

  if (p->A.prec == GP_F32) ((float *)p->At.val)[i] = ((const float *)p->A.val)[p->perm[i]];
  else ((double *)p->At.val)[i] = ((const double *)p->A.val)[p->perm[i]];
}

GP_PAIR(GpCsrPermuteValues, const GpCsr *A, const int32_t *perm, GpCsr *At);
GpErr GP_IMPL(GpCsrPermuteValues)(const GpCsr *A, const int32_t *perm, GpCsr *At)
{
  const Permute p = {*A, *At, perm};

  return GP_EACH(A->dev, Permute, PermuteValue, A->nnz, &p);
}

GP_PAIR(GpCsrSortTranspose, const GpCsr *A, GpCsr *At, int32_t *perm);

#if !defined(__CUDACC__)
  #include <stdlib.h>
  #include <string.h>

/* Counting sort. `places` receives the source of every nonzero. */
static GpErr GpCsrCountTranspose(const GpCsr *A, GpCsr *At, int32_t *places)
{
  int32_t *next = (int32_t *)calloc((size_t)A->n + 1, sizeof(int32_t));

  if (!next) return GpDevFail(A->dev, GP_ERR_MEMORY, "out of host memory for a transpose");
  for (int32_t k = 0; k < A->nnz; k++) next[A->col[k] + 1]++;
  for (int32_t j = 0; j < A->n; j++) next[j + 1] += next[j];
  memcpy(At->rowptr, next, ((size_t)A->n + 1) * sizeof(int32_t));
  for (int32_t i = 0; i < A->m; i++) {
    for (int32_t k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) {
      int32_t to = next[A->col[k]]++;

      At->col[to] = i;
      places[to]  = k;
    }
  }
  free(next);
  return GpCsrPermuteValues_Host(A, places, At);
}

GpErr GpCsrSortTranspose_Host(const GpCsr *A, GpCsr *At, int32_t *perm)
{
  const size_t bytes  = (size_t)A->nnz * sizeof(int32_t);
  int32_t     *places = perm;
  GpErr        err    = perm ? GP_SUCCESS : GpDevBorrow(A->dev, bytes, &places);

  if (!err && !At->rowptr) err = GpCsrCreate(A->dev, A->prec, A->n, A->m, A->nnz, At);
  if (!err) err = GpCsrCountTranspose(A, At, places);
  if (!perm) GpDevReturn(A->dev, &places, bytes);
  return err;
}

GpErr GpCsrTransposeValues(const GpCsr *A, const int32_t *perm, GpCsr *At)
{
  return GP_ON_DEVICE(A->dev, GpCsrPermuteValues, A, perm, At);
}

/* On a GPU: four arrays of GpCsrSortTranspose_CUDA(), two in the workspace of the radix sort, and tables of the sort, which take less than a byte a nonzero and 1 MiB. */
double GpCsrTransposeWorkspace(GpDev dev, double nnz)
{
  return GpDevKindOf(dev) == GP_DEV_CUDA ? 25 * nnz + (1 << 20) : 4 * nnz;
}

GpErr GpCsrTranspose(const GpCsr *A, GpCsr *At, int32_t *perm)
{
  GpErr err;

  *At = (GpCsr){0};
  err = GP_ON_DEVICE(A->dev, GpCsrSortTranspose, A, At, perm);
  if (err) GpCsrDestroy(At);
  return err;
}

GpErr GpCsrTransposeTo(const GpCsr *A, GpCsr *At)
{
  return GP_ON_DEVICE(A->dev, GpCsrSortTranspose, A, At, NULL);
}

#else
  #include "mat/impls/gpucsr/spmv/csr/gprowof.h"
  #include <cub/device/device_radix_sort.cuh>

static constexpr int      BLOCK = 256, TILE = 8 * BLOCK; /* number of nonzeros of a block in Expand */
static constexpr int32_t  GAP = 8;                       /* number of row starts that a thread writes alone */
static constexpr unsigned ALL = 0xffffffffu;

static unsigned GpCsrTransposeGrid(int64_t n, int each)
{
  return (unsigned)((n + each - 1) / each);
}

/* Writes the position and the row of every nonzero. Nonzeros are in row order, so a block searches all rows only for its first and its last row,
   and then between these. */
__global__ static void __launch_bounds__(BLOCK) GpCsrExpandKernel(int32_t nnz, int32_t m, const int32_t *rowptr, int32_t *place, int32_t *row)
{
  __shared__ int32_t ends[2];
  const int64_t      begin = (int64_t)blockIdx.x * TILE, end = begin + TILE < nnz ? begin + TILE : nnz;

  if (threadIdx.x < 64) {
    const int32_t found = GpRowOf(rowptr, m, (int32_t)(threadIdx.x < 32 ? begin : end - 1));

    if (threadIdx.x % 32 == 0) ends[threadIdx.x / 32] = found;
  }
  __syncthreads();
  for (int64_t k = begin + threadIdx.x; k < end; k += BLOCK) {
    place[k] = (int32_t)k;
    row[k]   = GpRowAmong(rowptr, ends[0], ends[1] + 1, (int32_t)k);
  }
}

/* Writes k as the start of rows first to last of the transpose. Long ranges are written by the whole warp, because a transpose may have a million
   consecutive empty rows. */
__device__ static void GpCsrStartRows(int32_t first, int32_t last, int32_t k, int32_t *rowptr)
{
  const bool far = last - first >= GAP;

  for (int32_t r = first; r <= last && !far; r++) rowptr[r] = k;
  for (unsigned todo = __ballot_sync(ALL, far); todo; todo &= todo - 1) {
    const int     lane = __ffs(todo) - 1;
    const int32_t end = __shfl_sync(ALL, last, lane), start = __shfl_sync(ALL, k, lane);

    for (int64_t r = (int64_t)__shfl_sync(ALL, first, lane) + threadIdx.x % 32; r <= end; r += 32) rowptr[r] = start;
  }
}

/* Fills the transpose. keys are the sorted columns. If the key changes from p to c, rows p + 1 to c of the transpose start there. */
template <typename T>
__global__ static void __launch_bounds__(BLOCK) GpCsrCollectKernel(int32_t nnz, int32_t rows, const int32_t *keys, const int32_t *perm, const int32_t *row, const T *val, GpCsr At)
{
  const int64_t k        = (int64_t)blockIdx.x * BLOCK + threadIdx.x;
  const int32_t previous = k > nnz ? rows : k > 0 ? keys[k - 1] : -1, current = k < nnz ? keys[k] : rows;

  GpCsrStartRows(previous + 1, current, (int32_t)k, At.rowptr);
  if (k >= nnz) return;
  const int32_t from = perm[k];

  At.col[k]        = row[from];
  ((T *)At.val)[k] = val[from];
}

/* The workspace contains, in this order: the sorted columns, the row of every nonzero, the positions, the sorted positions (unless the caller
   wants them in perm), and CUB's workspace. */
GpErr GpCsrSortTranspose_CUDA(const GpCsr *A, GpCsr *At, int32_t *perm)
{
  GpDev        dev    = A->dev;
  cudaStream_t stream = (cudaStream_t)GpDevStream(dev);
  const size_t each = ((size_t)A->nnz * sizeof(int32_t) + 255) / 256 * 256, own = (perm ? 3 : 4) * each;
  const GpGrid grid    = {GpCsrTransposeGrid((int64_t)A->nnz + 1, BLOCK), BLOCK};
  size_t       scratch = 0;
  int32_t     *keys    = NULL, *place, *row, *sorted;
  int          bits    = 1;
  GpErr        err;

  if (!A->nnz) {
    err = At->rowptr ? GP_SUCCESS : GpCsrCreate(dev, A->prec, A->n, A->m, 0, At);
    return err ? err : GpDevZero(dev, At->rowptr, ((size_t)At->m + 1) * sizeof(int32_t));
  }
  while (bits < 31 && (A->n - 1) >> bits) bits++;
  if (cub::DeviceRadixSort::SortPairs(NULL, scratch, A->col, keys, keys, perm, A->nnz, 0, bits, stream) != cudaSuccess) return GpDevFail(dev, GP_ERR_DEVICE, "computing the workspace of the sort for a transpose failed");
  err = GpDevBorrow(dev, own + scratch, &keys);
  if (err) return err;
  row    = (int32_t *)((char *)keys + each);
  place  = (int32_t *)((char *)keys + 2 * each);
  sorted = perm ? perm : (int32_t *)((char *)keys + 3 * each);
  err    = GpLaunch(dev, "sorting a transpose", GpCsrExpandKernel, GpGrid{GpCsrTransposeGrid(A->nnz, TILE), BLOCK}, A->nnz, A->m, A->rowptr, place, row);
  if (!err) err = GpCheckCuda(dev, cub::DeviceRadixSort::SortPairs((char *)keys + own, scratch, A->col, keys, place, sorted, A->nnz, 0, bits, stream), "sorting a transpose");
  if (!err && !At->rowptr) err = GpCsrCreate(dev, A->prec, A->n, A->m, A->nnz, At); /* the host allocates while the GPU sorts */
  if (!err && A->prec == GP_F32) err = GpLaunch(dev, "transpose", GpCsrCollectKernel<float>, grid, A->nnz, A->n, keys, sorted, row, (const float *)A->val, *At);
  else if (!err) err = GpLaunch(dev, "transpose", GpCsrCollectKernel<double>, grid, A->nnz, A->n, keys, sorted, row, (const double *)A->val, *At);
  GpDevReturn(dev, &keys, own + scratch);
  return err;
}
#endif
