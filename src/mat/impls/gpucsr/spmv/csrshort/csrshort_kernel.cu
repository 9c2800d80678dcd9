/* SpMV with 16-bit columns, 2 to 32 lanes a row. A column that does not fit 16 bits is looked up in the list of escapes. */
#include "mat/impls/gpucsr/spmv/csrshort/csrshort.h"
#include "mat/impls/gpucsr/spmv/common/gpkernel.h"

#if defined(__CUDACC__)
__device__ __forceinline__
#endif
  static int32_t
  Column(const GpCsrShort *S, int32_t base, int32_t off, int32_t k)
{
  int32_t lo = 0, hi = S->nescapes;

  if (off != GP_SHORT_ESCAPE) return base + off;
  while (hi - lo > 1) {
    const int32_t mid = lo + (hi - lo) / 2;

    if (S->escape[mid] <= k) lo = mid;
    else hi = mid;
  }
  return S->escape[S->nescapes + lo];
}

#if !defined(__CUDACC__)
/* adds in the order of the CUDA kernel: lane l takes nonzeros l, l + lanes, ... of a row, then halving steps add the lanes */
static GpErr CsrShort(int lanes, const GpFmt *A, const double *x, const double *z, double *y)
{
  const GpCsr      *C   = A->csr;
  const GpCsrShort *S   = (const GpCsrShort *)A->data;
  const GpScalar   *val = (const GpScalar *)C->val;

  for (int32_t i = 0; i < C->m; i++) {
    double sum[32] = {0};

    for (int32_t k = C->rowptr[i], lane = 0; k < C->rowptr[i + 1]; k++, lane = (lane + 1) % lanes) sum[lane] += (double)val[k] * x[Column(S, S->base[i], S->off[k], k)];
    for (int half = lanes / 2; half > 0; half /= 2)
      for (int lane = 0; lane < half; lane++) sum[lane] += sum[lane + half];
    y[i] = z ? z[i] + sum[0] : sum[0];
  }
  return GP_SUCCESS;
}

  #define KERNEL(lanes) \
    GP_SPMV(csrshort##lanes)(const GpFmt *A, const double *x, const double *z, double *y) \
    { \
      return CsrShort(lanes, A, x, z, y); \
    }

#else
static constexpr int BLOCK = 256;

template <int LANES>
__global__ static void CsrShort(int32_t m, GpCsrShort S, const int32_t *__restrict__ rowptr, const GpScalar *__restrict__ val, const double *__restrict__ x, const double *z, double *y)
{
  const int64_t i    = ((int64_t)blockIdx.x * BLOCK + threadIdx.x) / LANES;
  const int     lane = threadIdx.x % LANES;
  double        sum  = 0;

  if (i < m) {
    const int32_t end = rowptr[i + 1], base = S.base[i];
  #pragma unroll 4
    for (int32_t k = rowptr[i] + lane; k < end; k += LANES) sum += (double)val[k] * __ldg(x + Column(&S, base, S.off[k], k));
  }
  #pragma unroll
  for (int half = LANES / 2; half > 0; half /= 2) sum += __shfl_down_sync(0xffffffffu, sum, half, LANES);
  if (i < m && lane == 0) y[i] = z ? z[i] + sum : sum;
}

template <int LANES>
static GpErr Launch(const char *name, const GpFmt *A, const double *x, const double *z, double *y)
{
  const GpCsr *C = A->csr;

  if (!C->m) return GP_SUCCESS;
  CsrShort<LANES><<<(unsigned)(((int64_t)C->m * LANES + BLOCK - 1) / BLOCK), BLOCK, 0, (cudaStream_t)C->dev->stream>>>(C->m, *(const GpCsrShort *)A->data, C->rowptr, (const GpScalar *)C->val, x, z, y);
  return GpDevCheckLaunch(C->dev, name);
}

  #define KERNEL(lanes) \
    GP_SPMV(csrshort##lanes)(const GpFmt *A, const double *x, const double *z, double *y) \
    { \
      return Launch<lanes>("csrshort" #lanes, A, x, z, y); \
    }
#endif

KERNEL(2)
KERNEL(4)
KERNEL(8)
KERNEL(16)
KERNEL(32)
