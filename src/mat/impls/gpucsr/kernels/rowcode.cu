/* SpMV on row codes (formats/rowcode.h): a thread a row; the patterns come from the L1 cache. */
#include "mat/impls/gpucsr/formats/rowcode.h"
#include "mat/impls/gpucsr/kernels/gpkernel.h"

#if !defined(__CUDACC__)
GP_SPMV(rowcode)(const GpFmt *A, const double *x, const double *z, double *y)
{
  const GpRowCode *R = (const GpRowCode *)A->data;

  for (int32_t i = 0; i < A->csr->m; i++) {
    const int32_t p   = R->width == 1 ? ((const uint8_t *)R->code)[i] : ((const uint16_t *)R->code)[i];
    double        sum = 0;

    for (int32_t e = R->start[p]; e < R->start[p + 1]; e++) sum += R->entry[e].value * x[i + R->entry[e].offset];
    y[i] = z ? z[i] + sum : sum;
  }
  return GP_SUCCESS;
}

#else
static constexpr int BLOCK = 512;

template <typename Code>
__global__ static void __launch_bounds__(BLOCK) RowCode(int32_t m, const Code *__restrict__ code, const int32_t *__restrict__ start, const int4 *__restrict__ entry, const double *__restrict__ x, const double *z, double *y)
{
  const int64_t i = (int64_t)blockIdx.x * BLOCK + threadIdx.x;

  if (i >= m) return;
  const int32_t p = code[i], end = __ldg(start + p + 1);
  double        sum = 0;
  #pragma unroll 4
  for (int32_t e = __ldg(start + p); e < end; e++) {
    const int4 t = __ldg(entry + e);

    sum += __hiloint2double(t.y, t.x) * __ldg(x + i + t.z);
  }
  y[i] = z ? z[i] + sum : sum;
}

GP_SPMV(rowcode)(const GpFmt *A, const double *x, const double *z, double *y)
{
  const GpCsr     *C      = A->csr;
  const GpRowCode *R      = (const GpRowCode *)A->data;
  const unsigned   blocks = (unsigned)(((int64_t)C->m + BLOCK - 1) / BLOCK);
  cudaStream_t     stream = (cudaStream_t)C->dev->stream;

  if (!C->m) return GP_SUCCESS;
  if (R->width == 1) RowCode<<<blocks, BLOCK, 0, stream>>>(C->m, (const uint8_t *)R->code, R->start, (const int4 *)R->entry, x, z, y);
  else RowCode<<<blocks, BLOCK, 0, stream>>>(C->m, (const uint16_t *)R->code, R->start, (const int4 *)R->entry, x, z, y);
  return GpDevCheckLaunch(C->dev, "rowcode");
}
#endif
