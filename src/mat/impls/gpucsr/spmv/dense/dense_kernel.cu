/* SpMV on dense rows (dense.h). A warp takes four rows, or a piece of four rows. A second kernel adds the pieces in order. */
#include "mat/impls/gpucsr/spmv/dense/dense.h"
#include "mat/impls/gpucsr/spmv/common/gpkernel.h"

/* first column of piece p of `parts`; a multiple of 32, so that pieces begin at whole cache lines */
#define FIRST(n, parts, p) ((int32_t)(((int64_t)(n) * (p) / (parts)) / 32 * 32))

#if !defined(__CUDACC__)
GP_SPMV(dense)(const GpFmt *A, const double *x, const double *z, double *y)
{
  const GpDense  *D   = (const GpDense *)A->data;
  const GpScalar *val = (const GpScalar *)D->value;
  const int32_t   n   = A->csr->nnz ? A->csr->n : 0;

  for (int32_t i = 0; i < A->csr->m; i++) {
    double sum = 0;

    for (int32_t p = 0; n && p < D->parts; p++) {
      const int32_t end  = p + 1 < D->parts ? FIRST(n, D->parts, p + 1) : n;
      double        part = 0;

      for (int32_t j = FIRST(n, D->parts, p); j < end; j++) {
        const double v = (double)val[i * D->stride + j];

        if (!GpIsHole(v, sizeof(GpScalar) == sizeof(float))) part += v * x[j];
      }
      sum += part;
    }
    y[i] = z ? z[i] + sum : sum;
  }
  return GP_SUCCESS;
}

#else
static constexpr int WARP = 32, BLOCK = 128, WARPS = BLOCK / WARP, ROWS = GP_DENSE_ROWS;

__global__ static void __launch_bounds__(BLOCK) Dense(GpDense D, int32_t m, int32_t n, const double *__restrict__ x, const double *z, double *y)
{
  const int64_t first = ((int64_t)blockIdx.x * WARPS + threadIdx.x / WARP) * ROWS;
  const int32_t p = blockIdx.y, begin = FIRST(n, D.parts, p), end = p + 1 < D.parts ? FIRST(n, D.parts, p + 1) : n;
  const int     lane      = threadIdx.x % WARP;
  double        sum[ROWS] = {};

  if (first >= m) return;
  const GpScalar *row[ROWS];
  #pragma unroll
  for (int r = 0; r < ROWS; r++) row[r] = (const GpScalar *)D.value + (first + r < m ? first + r : m - 1) * D.stride;
  #pragma unroll 4
  for (int32_t j = begin + lane; j < end; j += WARP) {
    const double t = __ldg(x + j);

  #pragma unroll
    for (int r = 0; r < ROWS; r++) sum[r] = GpAdd(sum[r], __ldcs(row[r] + j), t);
  }
  #pragma unroll
  for (int r = 0; r < ROWS; r++) {
    const int64_t i = first + r;

    for (int half = WARP / 2; half > 0; half /= 2) sum[r] += __shfl_down_sync(0xffffffffu, sum[r], half);
    if (lane || i >= m) continue;
    if (D.parts > 1) D.partial[(int64_t)p * m + i] = sum[r];
    else y[i] = z ? z[i] + sum[r] : sum[r];
  }
}

__global__ static void Finish(GpDense D, int32_t m, const double *z, double *y)
{
  const int64_t i   = (int64_t)blockIdx.x * BLOCK + threadIdx.x;
  double        sum = 0;

  if (i >= m) return;
  for (int32_t p = 0; p < D.parts; p++) sum += D.partial[(int64_t)p * m + i];
  y[i] = z ? z[i] + sum : sum;
}

GP_SPMV(dense)(const GpFmt *A, const double *x, const double *z, double *y)
{
  const GpCsr  *C      = A->csr;
  GpDense       D      = *(const GpDense *)A->data;
  const int64_t warps  = ((int64_t)C->m + ROWS - 1) / ROWS;
  cudaStream_t  stream = (cudaStream_t)C->dev->stream;

  if (!C->m) return GP_SUCCESS;
  if (!C->nnz) D.parts = 1;
  Dense<<<dim3((unsigned)((warps + WARPS - 1) / WARPS), (unsigned)D.parts), BLOCK, 0, stream>>>(D, C->m, C->nnz ? C->n : 0, x, z, y);
  if (D.parts > 1) Finish<<<(unsigned)(((int64_t)C->m + BLOCK - 1) / BLOCK), BLOCK, 0, stream>>>(D, C->m, z, y);
  return GpDevCheckLaunch(C->dev, "dense");
}
#endif
