/* Packing and unpacking of the boundary and ghost entries of a parallel product. */
#include "vec/kernels/gpveckernel.h"

#if !defined(__CUDACC__)
GP_VEC(gather)(GpDev dev, int32_t n, const int32_t *index, const double *x, double *packed)
{
  (void)dev;
  for (int32_t k = 0; k < n; k++) packed[k] = x[index[k]];
  return GP_SUCCESS;
}

GP_VEC(scatteradd)(GpDev dev, int32_t n, const int32_t *index, const double *packed, double *y)
{
  (void)dev;
  for (int32_t k = 0; k < n; k++) y[index[k]] += packed[k];
  return GP_SUCCESS;
}

GP_VEC(gatherrows)(GpDev dev, int32_t n, const int32_t *index, int many, const double *const x[], double *packed)
{
  (void)dev;
  for (int32_t k = 0; k < n; k++)
    for (int c = 0; c < many; c++) packed[(size_t)k * many + c] = x[c][index[k]];
  return GP_SUCCESS;
}

GP_VEC(scatteraddrows)(GpDev dev, int32_t n, const int32_t *index, int many, const double *packed, double *const y[])
{
  (void)dev;
  for (int32_t k = 0; k < n; k++)
    for (int c = 0; c < many; c++) y[c][index[k]] += packed[(size_t)k * many + c];
  return GP_SUCCESS;
}

#else
static constexpr int BLOCK = 256;

__global__ static void GpVecGatherKernel(int32_t n, const int32_t *index, const double *x, double *packed)
{
  int64_t k = (int64_t)blockIdx.x * BLOCK + threadIdx.x;

  if (k < n) packed[k] = x[index[k]];
}

__global__ static void GpVecScatterAddKernel(int32_t n, const int32_t *index, const double *packed, double *y)
{
  int64_t k = (int64_t)blockIdx.x * BLOCK + threadIdx.x;

  if (k < n) y[index[k]] += packed[k];
}

GP_VEC(gather)(GpDev dev, int32_t n, const int32_t *index, const double *x, double *packed)
{
  if (!n) return GP_SUCCESS;
  return GpLaunch(dev, "gather", GpVecGatherKernel, GpGrid{(unsigned)(((int64_t)n + BLOCK - 1) / BLOCK), BLOCK}, n, index, x, packed);
}

GP_VEC(scatteradd)(GpDev dev, int32_t n, const int32_t *index, const double *packed, double *y)
{
  if (!n) return GP_SUCCESS;
  return GpLaunch(dev, "scatter and add", GpVecScatterAddKernel, GpGrid{(unsigned)(((int64_t)n + BLOCK - 1) / BLOCK), BLOCK}, n, index, packed, y);
}

struct GpVecSources {
  const double *at[GP_VEC_ROWS];
};

struct GpVecTargets {
  double *at[GP_VEC_ROWS];
};

__global__ static void GpVecGatherRowsKernel(int32_t n, const int32_t *index, int many, const __grid_constant__ GpVecSources x, double *packed)
{
  int64_t e = (int64_t)blockIdx.x * BLOCK + threadIdx.x;

  if (e < (int64_t)n * many) packed[e] = x.at[e % many][index[e / many]];
}

__global__ static void GpVecScatterAddRowsKernel(int32_t n, const int32_t *index, int many, const double *packed, const __grid_constant__ GpVecTargets y)
{
  int64_t e = (int64_t)blockIdx.x * BLOCK + threadIdx.x;

  if (e < (int64_t)n * many) y.at[e % many][index[e / many]] += packed[e];
}

GP_VEC(gatherrows)(GpDev dev, int32_t n, const int32_t *index, int many, const double *const x[], double *packed)
{
  GpVecSources from;

  if (!n || !many) return GP_SUCCESS;
  for (int c = 0; c < many; c++) from.at[c] = x[c];
  return GpLaunch(dev, "gather rows", GpVecGatherRowsKernel, GpGrid{(unsigned)(((int64_t)n * many + BLOCK - 1) / BLOCK), BLOCK}, n, index, many, from, packed);
}

GP_VEC(scatteraddrows)(GpDev dev, int32_t n, const int32_t *index, int many, const double *packed, double *const y[])
{
  GpVecTargets to;

  if (!n || !many) return GP_SUCCESS;
  for (int c = 0; c < many; c++) to.at[c] = y[c];
  return GpLaunch(dev, "scatter and add rows", GpVecScatterAddRowsKernel, GpGrid{(unsigned)(((int64_t)n * many + BLOCK - 1) / BLOCK), BLOCK}, n, index, many, packed, to);
}
#endif
