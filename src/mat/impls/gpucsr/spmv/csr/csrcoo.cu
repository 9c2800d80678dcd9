/* Assembly on the device (MatSetValuesCOO()): every nonzero is the sum of its entries in a fixed order. */
#include "mat/impls/gpucsr/spmv/common/gpformat.h"

#if defined(__CUDACC__)
  #define GP_BOTH __host__ __device__ static inline
#else
  #define GP_BOTH static inline
#endif

/* Adds the entries begin to end - 1 of a list. Indices below n are this rank's own entries, the others came from other ranks. */
GP_BOTH double SumOf(const int32_t *source, int32_t begin, int32_t end, int32_t n, const double *entries, const double *more)
{
  double s = 0;

  for (int32_t e = begin; e < end; e++) s += source[e] < n ? entries[source[e]] : more[source[e] - n];
  return s;
}

#if !defined(__CUDACC__)

GpErr GpCooCreate(GpDev dev, int32_t nnz, const int32_t start[], const int32_t source[], GpCoo *C)
{
  GpErr err;

  *C  = (GpCoo){.dev = dev, .nnz = nnz, .n = start[nnz]};
  err = GpDevAlloc(dev, ((size_t)nnz + 1) * sizeof(int32_t), &C->start);
  if (!err) err = GpDevAlloc(dev, (size_t)C->n * sizeof(int32_t), &C->source);
  if (!err) err = GpDevUpload(dev, C->start, start, ((size_t)nnz + 1) * sizeof(int32_t));
  if (!err) err = GpDevUpload(dev, C->source, source, (size_t)C->n * sizeof(int32_t));
  if (err) GpCooDestroy(C);
  return err;
}

void GpCooDestroy(GpCoo *C)
{
  if (!C->dev) return;
  GpDevFree(C->dev, &C->start, ((size_t)C->nnz + 1) * sizeof(int32_t));
  GpDevFree(C->dev, &C->source, (size_t)C->n * sizeof(int32_t));
  *C = (GpCoo){0};
}

  #if GP_HAVE_CUDA
GpErr GpCooSum_CUDA(const GpCoo *, int32_t, const double *, const double *, double *);
  #endif

GpErr GpCooSum(const GpCoo *C, int32_t n, const double *entries, const double *more, double *sum)
{
  #if GP_HAVE_CUDA
  if (C->dev->kind == GP_DEV_CUDA) return GpCooSum_CUDA(C, n, entries, more, sum);
  #endif
  for (int32_t k = 0; k < C->nnz; k++) sum[k] = SumOf(C->source, C->start[k], C->start[k + 1], n, entries, more);
  return GP_SUCCESS;
}

#else

static constexpr int BLOCK = 256;

__global__ static void Sum(GpCoo C, int32_t n, const double *entries, const double *more, double *sum)
{
  const int64_t k = (int64_t)blockIdx.x * BLOCK + threadIdx.x;

  if (k < C.nnz) sum[k] = SumOf(C.source, C.start[k], C.start[k + 1], n, entries, more);
}

extern "C" GpErr GpCooSum_CUDA(const GpCoo *C, int32_t n, const double *entries, const double *more, double *sum)
{
  if (!C->nnz) return GP_SUCCESS;
  Sum<<<(unsigned)(((int64_t)C->nnz + BLOCK - 1) / BLOCK), BLOCK, 0, (cudaStream_t)C->dev->stream>>>(*C, n, entries, more, sum);
  return GpDevCheckLaunch(C->dev, "summing entries");
}
#endif
