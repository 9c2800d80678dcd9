/* Sets the values of a triangle from an array in device memory. */
#include "mat/impls/gpucsr/trisolve/gptrifactor.h"

#define GP_TRI_FILL 256

template <class V>
__global__ static void GpTriScatterKernel(const uint32_t *source, const double *values, double sign, V *val, int64_t stored, int32_t *infinite)
{
  const int64_t k = (int64_t)blockIdx.x * GP_TRI_FILL + threadIdx.x;

  if (k >= stored) return;
  const double v = source[k] == GP_TRI_NONE ? 0 : sign * values[source[k]];

  val[k] = (V)v;
  if (infinite && isinf((double)(V)v) && !isinf(v)) *infinite = 1;
}

__global__ static void GpTriScatterDiagonalKernel(const int32_t *row, const double *diagonal, double *diag, int64_t n)
{
  const int64_t k = (int64_t)blockIdx.x * GP_TRI_FILL + threadIdx.x;

  if (k < n) diag[k] = diagonal[row[k]];
}

/* infinite: is set to 1 if a finite value becomes infinite in single precision; NULL: not needed */
GpErr GpTriScatter_CUDA(const GpTri *T, const double values[], double sign, const double diagonal[], int32_t *infinite)
{
  const int64_t stored = T->layout.stored, n = T->layout.n;
  const GpGrid  grid = {dim3(GpBlocks(stored, GP_TRI_FILL)), GP_TRI_FILL};
  GpErr         err  = GP_SUCCESS;

  if (stored && T->single) err = GpLaunchVector(T->dev, "values of a triangle", GpTriScatterKernel<float>, grid, T->source, values, sign, (float *)T->val, stored, infinite);
  if (stored && !T->single) err = GpLaunchVector(T->dev, "values of a triangle", GpTriScatterKernel<double>, grid, T->source, values, sign, (double *)T->val, stored, infinite);
  if (!err && diagonal && n) err = GpLaunchVector(T->dev, "diagonal of a triangle", GpTriScatterDiagonalKernel, GpGrid{dim3(GpBlocks(n, GP_TRI_FILL)), GP_TRI_FILL}, T->row, diagonal, T->diag, n);
  return err;
}
