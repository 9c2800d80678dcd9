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

/* N diagonals from d on, whose loads are on their way together */
template <int N>
__device__ static double Add(double sum, const GpDia &D, int32_t d, const GpScalar *val, int64_t i, int32_t n, const double *__restrict__ x)
{
  #pragma unroll
  for (int k = 0; k < N; k++) {
    const GpScalar v = __ldcs(val + (d + k) * D.stride);
    const int64_t  j = i + D.offset[d + k];
    const double   t = (uint64_t)j < (uint64_t)n ? __ldg(x + j) : 0.0;

    if (!GpIsHole(v)) sum += (double)v * t;
  }
  return sum;
}

/* LAST: what the number of diagonals leaves when divided by seven, so that these go together too */
template <int LAST>
__global__ static void __launch_bounds__(BLOCK) Dia(const __grid_constant__ GpDia D, int32_t m, int32_t n, const double *__restrict__ x, const double *z, double *y)
{
  const int64_t   i   = (int64_t)blockIdx.x * BLOCK + threadIdx.x;
  const GpScalar *val = (const GpScalar *)D.value + i;
  int32_t         d   = 0;
  double          sum = 0;

  if (i >= m) return;
  for (; d < D.n - LAST; d += 7) sum = Add<7>(sum, D, d, val, i, n, x);
  sum  = Add<LAST>(sum, D, d, val, i, n, x);
  y[i] = z ? z[i] + sum : sum;
}

typedef void (*Kernel)(GpDia, int32_t, int32_t, const double *, const double *, double *);

GP_SPMV(dia)(const GpFmt *A, const double *x, const double *z, double *y)
{
  static const Kernel kernel[] = {Dia<0>, Dia<1>, Dia<2>, Dia<3>, Dia<4>, Dia<5>, Dia<6>};
  const GpCsr        *C        = A->csr;
  const GpDia        *D        = (const GpDia *)A->data;

  if (!C->m) return GP_SUCCESS;
  kernel[D->n % 7]<<<(unsigned)(((int64_t)C->m + BLOCK - 1) / BLOCK), BLOCK, 0, (cudaStream_t)C->dev->stream>>>(*D, C->m, C->n, x, z, y);
  return GpDevCheckLaunch(C->dev, "dia");
}
#endif
