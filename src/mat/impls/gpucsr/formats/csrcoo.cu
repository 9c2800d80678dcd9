/* Assembly on the device: every nonzero is the sum of its entries, always in the same order. */
#include "mat/impls/gpucsr/formats/gpformat.h"

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
GpErr GpCooSum_CUDA(const GpCoo *, const double *, double *);
  #endif

GpErr GpCooSum(const GpCoo *C, const double *entries, double *sum)
{
  #if GP_HAVE_CUDA
  if (C->dev->kind == GP_DEV_CUDA) return GpCooSum_CUDA(C, entries, sum);
  #endif
  for (int32_t k = 0; k < C->nnz; k++) {
    double s = 0;

    for (int32_t e = C->start[k]; e < C->start[k + 1]; e++) s += entries[C->source[e]];
    sum[k] = s;
  }
  return GP_SUCCESS;
}

#else

static constexpr int BLOCK = 256;

__global__ static void Sum(GpCoo C, const double *entries, double *sum)
{
  const int64_t k = (int64_t)blockIdx.x * BLOCK + threadIdx.x;
  double        s = 0;

  if (k >= C.nnz) return;
  for (int32_t e = C.start[k], end = C.start[k + 1]; e < end; e++) s += entries[C.source[e]];
  sum[k] = s;
}

extern "C" GpErr GpCooSum_CUDA(const GpCoo *C, const double *entries, double *sum)
{
  if (!C->nnz) return GP_SUCCESS;
  Sum<<<(unsigned)(((int64_t)C->nnz + BLOCK - 1) / BLOCK), BLOCK, 0, (cudaStream_t)C->dev->stream>>>(*C, entries, sum);
  return GpDevCheckLaunch(C->dev, "summing entries");
}
#endif
