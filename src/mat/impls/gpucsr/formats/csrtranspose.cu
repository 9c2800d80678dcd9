/* The transpose of compressed rows, deterministic: within a row of the transpose the columns ascend.
   Host twin: counting sort.  Device twin: a stable radix sort (CUB) of the column indices carries the places. */
#include "mat/impls/gpucsr/formats/gpformat.h"

#if !defined(__CUDACC__)
  #include <stdlib.h>
  #include <string.h>

GpErr GpCsrTranspose_Host(const GpCsr *A, GpCsr *At, int32_t *perm)
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
      perm[to]    = k;
    }
  }
  free(next);
  return GP_SUCCESS;
}

GpErr GpCsrPermuteValues_Host(const GpCsr *A, const int32_t *perm, GpCsr *At)
{
  if (A->prec == GP_F32) {
    for (int32_t k = 0; k < A->nnz; k++) ((float *)At->val)[k] = ((const float *)A->val)[perm[k]];
  } else {
    for (int32_t k = 0; k < A->nnz; k++) ((double *)At->val)[k] = ((const double *)A->val)[perm[k]];
  }
  return GP_SUCCESS;
}

  #if GP_HAVE_CUDA
GpErr GpCsrTranspose_CUDA(const GpCsr *, GpCsr *, int32_t *);
GpErr GpCsrPermuteValues_CUDA(const GpCsr *, const int32_t *, GpCsr *);
  #endif

GpErr GpCsrTransposeValues(const GpCsr *A, const int32_t *perm, GpCsr *At)
{
  #if GP_HAVE_CUDA
  if (A->dev->kind == GP_DEV_CUDA) return GpCsrPermuteValues_CUDA(A, perm, At);
  #endif
  return GpCsrPermuteValues_Host(A, perm, At);
}

GpErr GpCsrTranspose(const GpCsr *A, GpCsr *At, int32_t *perm)
{
  GpErr err = GpCsrCreate(A->dev, A->prec, A->n, A->m, A->nnz, At);

  if (err) return err;
  #if GP_HAVE_CUDA
  if (A->dev->kind == GP_DEV_CUDA) err = GpCsrTranspose_CUDA(A, At, perm);
  else
  #endif
    err = GpCsrTranspose_Host(A, At, perm);
  if (!err) err = GpCsrTransposeValues(A, perm, At);
  if (err) GpCsrDestroy(At);
  return err;
}

#else
  #include <cub/device/device_radix_sort.cuh>

static constexpr int BLOCK = 256;

static unsigned Blocks(int64_t n)
{
  return (unsigned)((n + BLOCK - 1) / BLOCK);
}

__global__ static void Iota(int32_t n, int32_t *place)
{
  int64_t k = (int64_t)blockIdx.x * BLOCK + threadIdx.x;

  if (k < n) place[k] = (int32_t)k;
}

/* keys are the sorted columns: where they step from p to c, the rows p+1..c of the transpose start */
__global__ static void RowStarts(int32_t nnz, int32_t rows, const int32_t *keys, int32_t *rowptr)
{
  int64_t k = (int64_t)blockIdx.x * BLOCK + threadIdx.x;

  if (k > nnz) return;
  int32_t previous = k > 0 ? keys[k - 1] : -1, current = k < nnz ? keys[k] : rows;
  for (int32_t r = previous + 1; r <= current; r++) rowptr[r] = (int32_t)k;
}

/* the source row of every sorted nonzero: the last row that starts at or before its place */
__global__ static void SourceRows(int32_t nnz, int32_t m, const int32_t *rowptr, const int32_t *perm, int32_t *row)
{
  int64_t k = (int64_t)blockIdx.x * BLOCK + threadIdx.x;

  if (k >= nnz) return;
  int32_t place = perm[k], lo = 0, hi = m;
  while (hi - lo > 1) {
    int32_t mid = lo + (hi - lo) / 2;

    if (rowptr[mid] <= place) lo = mid;
    else hi = mid;
  }
  row[k] = lo;
}

template <typename T>
__global__ static void Gather(int32_t nnz, const int32_t *perm, const T *in, T *out)
{
  int64_t k = (int64_t)blockIdx.x * BLOCK + threadIdx.x;

  if (k < nnz) out[k] = in[perm[k]];
}

extern "C" GpErr GpCsrPermuteValues_CUDA(const GpCsr *A, const int32_t *perm, GpCsr *At)
{
  cudaStream_t stream = (cudaStream_t)A->dev->stream;

  if (!A->nnz) return GP_SUCCESS;
  if (A->prec == GP_F32) Gather<<<Blocks(A->nnz), BLOCK, 0, stream>>>(A->nnz, perm, (const float *)A->val, (float *)At->val);
  else Gather<<<Blocks(A->nnz), BLOCK, 0, stream>>>(A->nnz, perm, (const double *)A->val, (double *)At->val);
  return GpDevCheckLaunch(A->dev, "transpose values");
}

extern "C" GpErr GpCsrTranspose_CUDA(const GpCsr *A, GpCsr *At, int32_t *perm)
{
  GpDev        dev    = A->dev;
  cudaStream_t stream = (cudaStream_t)dev->stream;
  size_t       bytes = (size_t)A->nnz * sizeof(int32_t), scratch = 0;
  int32_t     *place = NULL, *keys = NULL;
  void        *temp = NULL;
  int          bits = 1;
  GpErr        err;

  if (!A->nnz) return dev->ops->zero(dev, At->rowptr, ((size_t)At->m + 1) * sizeof(int32_t));
  while (bits < 31 && (A->n - 1) >> bits) bits++;
  if (cub::DeviceRadixSort::SortPairs(NULL, scratch, A->col, keys, place, perm, A->nnz, 0, bits, stream) != cudaSuccess) return GpDevFail(dev, GP_ERR_DEVICE, "sizing the sort of a transpose failed");
  err = GpDevAlloc(dev, bytes, &place);
  if (!err) err = GpDevAlloc(dev, bytes, &keys);
  if (!err) err = GpDevAlloc(dev, scratch, &temp);
  if (!err) {
    Iota<<<Blocks(A->nnz), BLOCK, 0, stream>>>(A->nnz, place);
    cudaError_t code = cub::DeviceRadixSort::SortPairs(temp, scratch, A->col, keys, place, perm, A->nnz, 0, bits, stream);

    if (code != cudaSuccess) err = GpDevFail(dev, GP_ERR_DEVICE, "sorting a transpose: %s", cudaGetErrorString(code));
  }
  if (!err) {
    RowStarts<<<Blocks((int64_t)A->nnz + 1), BLOCK, 0, stream>>>(A->nnz, A->n, keys, At->rowptr);
    SourceRows<<<Blocks(A->nnz), BLOCK, 0, stream>>>(A->nnz, A->m, A->rowptr, perm, At->col);
    err = GpDevCheckLaunch(dev, "transpose");
  }
  GpDevFree(dev, &temp, scratch);
  GpDevFree(dev, &keys, bytes);
  GpDevFree(dev, &place, bytes);
  return err;
}
#endif
