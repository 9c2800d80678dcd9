/* SpMV on Balanced CSR. A thread takes a balanced row, so all threads have the same work whatever the row lengths. A second kernel adds the parts of
   rows that are longer than a balanced row. After T. Gunarathne, B. Salpitikorala, A. Chauhan and G. Fox, "Optimizing OpenCL kernels for iterative
   statistical applications on GPUs", GPUScA 2011. */
#include "mat/impls/gpucsr/spmv/published/gpseeds.h"
#include "mat/impls/gpucsr/spmv/common/gpkernel.h"

static constexpr int BLOCK = 256, WARP = 32;

__global__ static void __launch_bounds__(BLOCK) BalancedRows(GpBalanced B, const double *__restrict__ x, const double *z, double *y)
{
  const int64_t   r   = (int64_t)blockIdx.x * BLOCK + threadIdx.x;
  const GpScalar *val = (const GpScalar *)B.val + r;

  if (r >= B.n) return;
  const uint32_t *col  = B.col + r;
  const int32_t   from = B.first[r];
  int32_t         next = from;
  double          sum  = 0;
  const auto      put  = [&](int32_t out) {
    if (out < 0) B.part[~out] = sum;
    else y[out] = z ? z[out] + sum : sum;
  };

#pragma unroll 4
  for (int j = 0; j < GP_BALANCED_WIDTH; j++) {
    const uint32_t c = col[(int64_t)j * B.n];

    if (c == GP_BALANCED_FILLER) break;
    if (c & ~GP_BALANCED_COLUMN) {
      if (next > from) put(B.out[next - 1]);
      next++;
      sum = 0;
    }
    sum += (double)val[(int64_t)j * B.n] * __ldg(x + (c & GP_BALANCED_COLUMN));
  }
  if (next > from) put(B.out[next - 1]);
}

/* one warp adds the parts of a row */
__global__ static void __launch_bounds__(BLOCK) BalancedParts(GpBalanced B, const double *z, double *y)
{
  const int64_t s    = ((int64_t)blockIdx.x * BLOCK + threadIdx.x) / WARP;
  const int     lane = threadIdx.x % WARP;
  double        sum  = 0;

  if (s >= B.nspans) return;
  const int32_t i = B.span[3 * s], end = B.span[3 * s + 2];
#pragma unroll 4
  for (int32_t k = B.span[3 * s + 1] + lane; k < end; k += WARP) sum += B.part[k];
  for (int half = WARP / 2; half > 0; half /= 2) sum += __shfl_down_sync(0xffffffffu, sum, half);
  if (lane == 0) y[i] = z ? z[i] + sum : sum;
}

GP_SPMV(balanced)(const GpFmt *A, const double *x, const double *z, double *y)
{
  const GpBalanced *B   = (const GpBalanced *)A->data;
  GpErr             err = GP_SUCCESS;

  if (B->n) err = GpLaunch(A->csr->dev, "balanced", BalancedRows, GpGrid{GpBlocks(B->n, BLOCK), BLOCK}, *B, x, z, y);
  if (!err && B->nspans) err = GpLaunch(A->csr->dev, "balanced", BalancedParts, GpGrid{GpBlocks((int64_t)B->nspans * WARP, BLOCK), BLOCK}, *B, z, y);
  return err;
}
