/* SpMV with rows streamed through shared memory: a thread block loads the nonzeros of its rows as they stand, whatever the rows,
   and adds the products up row by row.  After J. L. Greathouse and M. Daga, "Efficient sparse matrix-vector multiplication on GPUs using the CSR storage format", SC14. */
#include "mat/impls/gpucsr/formats/gpseeds.h"
#include "mat/impls/gpucsr/kernels/gpkernel.h"
#if defined(__CUDACC__)
  #include "device/gplaunch.h"
#endif

#if !defined(__CUDACC__)
GP_SPMV(csrblock)(const GpFmt *A, const double *x, const double *z, double *y)
{
  const GpCsr      *C   = A->csr;
  const GpCsrBlock *B   = (const GpCsrBlock *)A->data;
  const GpScalar   *val = (const GpScalar *)C->val;

  for (int32_t b = 0; b < B->nblocks; b++) {
    for (int32_t i = B->row[b]; i < B->row[b + 1]; i++) {
      double sum = 0;

      for (int32_t k = C->rowptr[i]; k < C->rowptr[i + 1]; k++) sum += (double)val[k] * x[C->col[k]];
      y[i] = z ? z[i] + sum : sum;
    }
  }
  return GP_SUCCESS;
}

#else
static constexpr int BLOCK = 256, WARP = 32;
static_assert(GP_BLOCK_ROWS <= BLOCK, "a thread a row at least");

__device__ static double GroupSum(double sum, int width)
{
  for (int half = width / 2; half > 0; half /= 2) sum += __shfl_down_sync(0xffffffffu, sum, half, width);
  return sum;
}

__global__ static void __launch_bounds__(BLOCK)
  CsrBlock(const int32_t *__restrict__ block, const int32_t *__restrict__ rowptr, const int32_t *__restrict__ col, const GpScalar *__restrict__ val, const double *__restrict__ x, const double *z, double *y)
{
  __shared__ double products[GP_BLOCK_NONZEROS];
  __shared__ double warpsum[BLOCK / WARP];
  const int32_t     first = block[blockIdx.x], rows = block[blockIdx.x + 1] - first, start = rowptr[first], length = rowptr[first + rows] - start;

  GpNextMayStart();
  if (length > GP_BLOCK_NONZEROS) { /* one long row */
    double sum = 0;

  #pragma unroll 4
    for (int32_t k = threadIdx.x; k < length; k += BLOCK) sum += (double)val[start + k] * __ldg(x + col[start + k]);
    sum = GroupSum(sum, WARP);
    if (threadIdx.x % WARP == 0) warpsum[threadIdx.x / WARP] = sum;
    __syncthreads();
    if (threadIdx.x > 0) return;
    for (int w = 1; w < BLOCK / WARP; w++) sum += warpsum[w];
    y[first] = z ? z[first] + sum : sum;
    return;
  }
  #pragma unroll
  for (int e = 0; e < GP_BLOCK_NONZEROS / BLOCK; e++) {
    const int32_t k = e * BLOCK + threadIdx.x;

    if (k < length) products[k] = (double)val[start + k] * __ldg(x + col[start + k]);
  }
  __syncthreads();
  int width = 1;
  while (width < WARP && 2 * width * rows <= BLOCK) width *= 2;
  const int32_t r = threadIdx.x / width, lane = threadIdx.x % width, from = r < rows ? rowptr[first + r] - start : 0, to = r < rows ? rowptr[first + r + 1] - start : 0;
  double        sum = 0;
  for (int32_t k = from + lane; k < to; k += width) sum += products[k];
  sum = GroupSum(sum, width);
  if (r < rows && lane == 0) y[first + r] = z ? z[first + r] + sum : sum;
}

GP_SPMV(csrblock)(const GpFmt *A, const double *x, const double *z, double *y)
{
  const GpCsr      *C = A->csr;
  const GpCsrBlock *B = (const GpCsrBlock *)A->data;

  if (!B->nblocks) return GP_SUCCESS;
  CsrBlock<<<B->nblocks, BLOCK, 0, (cudaStream_t)C->dev->stream>>>(B->row, C->rowptr, C->col, (const GpScalar *)C->val, x, z, y);
  return GpDevCheckLaunch(C->dev, "csrblock");
}
#endif
