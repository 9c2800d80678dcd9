/* SpMV on diagonals (formats/dia.h): a thread a row; every load's address is known from the start. */
#include "mat/impls/gpucsr/formats/dia.h"
#include "mat/impls/gpucsr/kernels/gpkernel.h"

#if !defined(__CUDACC__)
GP_SPMV(dia)(const GpFmt *A, const double *x, const double *z, double *y)
{
  const GpDia    *D   = (const GpDia *)A->data;
  const GpScalar *val = (const GpScalar *)D->value;

  for (int32_t i = 0; i < A->csr->m; i++) {
    double sum = 0;

    for (int32_t d = 0; d < D->n; d++) {
      const double v = (double)val[d * D->stride + i];

      if (!GpIsHole(v, sizeof(GpScalar) == sizeof(float))) sum += v * x[i + D->offset[d]];
    }
    y[i] = z ? z[i] + sum : sum;
  }
  return GP_SUCCESS;
}

#else
static constexpr int BLOCK = 512;

__global__ static void __launch_bounds__(BLOCK) Dia(GpDia D, int32_t m, int32_t n, const double *__restrict__ x, const double *z, double *y)
{
  const int64_t   i   = (int64_t)blockIdx.x * BLOCK + threadIdx.x;
  const GpScalar *val = (const GpScalar *)D.value + i;
  double          sum = 0;

  if (i >= m) return;
  #pragma unroll 7
  for (int32_t d = 0; d < D.n; d++) {
    const GpScalar v = __ldcs(val + d * D.stride);
    const int64_t  j = i + D.offset[d];
    const double   t = (uint64_t)j < (uint64_t)n ? __ldg(x + j) : 0.0;

    if (!GpIsHole(v)) sum += (double)v * t;
  }
  y[i] = z ? z[i] + sum : sum;
}

GP_SPMV(dia)(const GpFmt *A, const double *x, const double *z, double *y)
{
  const GpCsr *C = A->csr;

  if (!C->m) return GP_SUCCESS;
  Dia<<<(unsigned)(((int64_t)C->m + BLOCK - 1) / BLOCK), BLOCK, 0, (cudaStream_t)C->dev->stream>>>(*(const GpDia *)A->data, C->m, C->n, x, z, y);
  return GpDevCheckLaunch(C->dev, "dia");
}
#endif
