/* SpMV on diagonals (formats/dia.h): a thread a row; every load's address is known from the start. */
#include "mat/impls/gpucsr/formats/dia.h"
#include "mat/impls/gpucsr/kernels/gpkernel.h"
#include "mat/impls/gpucsr/kernels/gpload.h"

#if !defined(__CUDACC__)
GP_SPMV(dia)(const GpFmt *A, const double *x, const double *z, double *y)
{
  const GpDia    *D   = (const GpDia *)A->data;
  const GpScalar *val = (const GpScalar *)D->value;

  for (int32_t i = 0; i < A->csr->m; i++) {
    double sum = 0;

    for (int32_t d = 0; d < D->n; d++) {
      const double v = (double)val[(int64_t)d * D->stride + i];

      if (!GpIsHole(v, sizeof(GpScalar) == sizeof(float))) sum += v * x[i + D->offset[d]];
    }
    y[i] = z ? z[i] + sum : sum;
  }
  return GP_SUCCESS;
}

#else
#ifndef UNR
#define UNR 7
#endif
#ifndef BLK
#define BLK 512
#endif
static constexpr int BLOCK = BLK, UNROLL = UNR;

__global__ static void __launch_bounds__(BLOCK) Dia(GpDia D, int32_t m, int32_t n, const double *__restrict__ x, const double *z, double *y)
{
  const int64_t   i   = (int64_t)blockIdx.x * BLOCK + threadIdx.x;
  const GpScalar *val = (const GpScalar *)D.value + i;
  double          sum = 0;

  if (i >= m) return;
  #pragma unroll UNROLL
  for (int32_t d = 0; d < D.n; d++, val += D.stride) {
    const GpScalar v = GpStream(val);
    const uint32_t j = (uint32_t)i + (uint32_t)D.offset[d]; /* what lies left of the first column comes out beyond the last */

    sum = GpAdd(sum, v, j < (uint32_t)n ? __ldg(x + j) : 0.0);
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
