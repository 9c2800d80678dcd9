/* SpMV on row codes (formats/rowcode.h): a thread a row, which all read the same few patterns. */
#include "mat/impls/gpucsr/formats/rowcode.h"
#include "mat/impls/gpucsr/kernels/gpkernel.h"

#if !defined(__CUDACC__)
GP_SPMV(rowcode)(const GpFmt *A, const double *x, const double *z, double *y)
{
  const GpRowCode *R = (const GpRowCode *)A->data;

  for (int32_t i = 0; i < A->csr->m; i++) {
    const int32_t p   = R->width == 1 ? ((const uint8_t *)R->code)[i] : ((const uint16_t *)R->code)[i];
    double        sum = 0;

    for (int32_t e = R->start[p]; e < R->start[p + 1]; e++) sum += R->value[e] * x[i + R->offset[e]];
    y[i] = z ? z[i] + sum : sum;
  }
  return GP_SUCCESS;
}

#else
static constexpr int    BLOCK       = 512;
static constexpr size_t SHARED_MOST = 16384; /* bytes of patterns that leave the L1 cache its room */

/* the patterns stand in shared memory when they fit, which then takes many rows a block to pay */
template <typename Code, bool SHARED>
__global__ static void __launch_bounds__(BLOCK) RowCode(GpRowCode R, int32_t m, const double *__restrict__ x, const double *z, double *y)
{
  extern __shared__ double values[];
  int32_t                 *offsets = (int32_t *)(values + (SHARED ? R.nentries : 0)), *starts = offsets + R.nentries;
  const int64_t            step    = (int64_t)gridDim.x * BLOCK;
  int64_t                  i       = (int64_t)blockIdx.x * BLOCK + threadIdx.x;
  int32_t                  next    = i < m ? __ldcs((const Code *)R.code + i) : 0;

  if (SHARED) {
    for (int32_t e = threadIdx.x; e < R.nentries; e += BLOCK) values[e] = R.value[e];
    for (int32_t e = threadIdx.x; e < R.nentries; e += BLOCK) offsets[e] = R.offset[e];
    for (int32_t p = threadIdx.x; p <= R.npatterns; p += BLOCK) starts[p] = R.start[p];
    __syncthreads();
  }
  for (; i < m; i += step) {
    const int32_t p = next;
    const double *t = x + i;
    double        sum = 0;

    if (i + step < m) next = __ldcs((const Code *)R.code + i + step);
    int32_t       e   = SHARED ? starts[p] : __ldg(R.start + p);
    const int32_t end = SHARED ? starts[p + 1] : __ldg(R.start + p + 1);
  #pragma unroll 8
    for (; e < end; e++) sum += (SHARED ? values[e] : __ldg(R.value + e)) * __ldg(t + (SHARED ? offsets[e] : __ldg(R.offset + e)));
    y[i] = z ? z[i] + sum : sum;
  }
}

template <typename Code>
static void Launch(const GpFmt *A, const double *x, const double *z, double *y)
{
  const GpCsr     *C      = A->csr;
  const GpRowCode *R      = (const GpRowCode *)A->data;
  const size_t     bytes  = (size_t)R->nentries * 12 + ((size_t)R->npatterns + 1) * 4;
  const int64_t    blocks = ((int64_t)C->m + BLOCK - 1) / BLOCK, resident = (int64_t)C->dev->compute_units * (2048 / BLOCK);
  cudaStream_t     stream = (cudaStream_t)C->dev->stream;

  if (bytes <= SHARED_MOST) RowCode<Code, true><<<(unsigned)(blocks < resident ? blocks : resident), BLOCK, bytes, stream>>>(*R, C->m, x, z, y);
  else RowCode<Code, false><<<(unsigned)blocks, BLOCK, 0, stream>>>(*R, C->m, x, z, y);
}

GP_SPMV(rowcode)(const GpFmt *A, const double *x, const double *z, double *y)
{
  if (!A->csr->m) return GP_SUCCESS;
  (((const GpRowCode *)A->data)->width == 1 ? Launch<uint8_t> : Launch<uint16_t>)(A, x, z, y);
  return GpDevCheckLaunch(A->csr->dev, "rowcode");
}
#endif
