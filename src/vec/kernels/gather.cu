/* Packing and unpacking of the entries that a parallel product exchanges with its neighbours. */
#include "vec/kernels/gpveckernel.h"

#if !defined(__CUDACC__)
GP_VEC_TWIN(gather)(GpDev dev, int32_t n, const int32_t *index, const double *x, double *packed)
{
  (void)dev;
  for (int32_t k = 0; k < n; k++) packed[k] = x[index[k]];
  return GP_SUCCESS;
}

GP_VEC_TWIN(scatteradd)(GpDev dev, int32_t n, const int32_t *index, const double *packed, double *y)
{
  (void)dev;
  for (int32_t k = 0; k < n; k++) y[index[k]] += packed[k];
  return GP_SUCCESS;
}

#else
static constexpr int BLOCK = 256;

__global__ static void Gather(int32_t n, const int32_t *index, const double *x, double *packed)
{
  int64_t k = (int64_t)blockIdx.x * BLOCK + threadIdx.x;

  if (k < n) packed[k] = x[index[k]];
}

__global__ static void ScatterAdd(int32_t n, const int32_t *index, const double *packed, double *y)
{
  int64_t k = (int64_t)blockIdx.x * BLOCK + threadIdx.x;

  if (k < n) y[index[k]] += packed[k];
}

GP_VEC_TWIN(gather)(GpDev dev, int32_t n, const int32_t *index, const double *x, double *packed)
{
  if (!n) return GP_SUCCESS;
  Gather<<<(unsigned)(((int64_t)n + BLOCK - 1) / BLOCK), BLOCK, 0, (cudaStream_t)dev->stream>>>(n, index, x, packed);
  return GpDevCheckLaunch(dev, "gather");
}

GP_VEC_TWIN(scatteradd)(GpDev dev, int32_t n, const int32_t *index, const double *packed, double *y)
{
  if (!n) return GP_SUCCESS;
  ScatterAdd<<<(unsigned)(((int64_t)n + BLOCK - 1) / BLOCK), BLOCK, 0, (cudaStream_t)dev->stream>>>(n, index, packed, y);
  return GpDevCheckLaunch(dev, "scatter and add");
}
#endif
