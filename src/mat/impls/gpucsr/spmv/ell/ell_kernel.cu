/* SpMV on ELL (ell.h): one thread a row, four entries at a time. A row ends at its first padding. */
#include "mat/impls/gpucsr/spmv/ell/ell.h"
#include "mat/impls/gpucsr/spmv/common/gpkernel.h"
#include "mat/impls/gpucsr/spmv/common/gpload.h"

static constexpr int BLOCK = 128, EACH = 4;

__global__ static void __launch_bounds__(BLOCK) Ell(GpEll E, int32_t m, const double *__restrict__ x, const double *z, double *y)
{
  const int64_t   i    = (int64_t)blockIdx.x * BLOCK + threadIdx.x;
  const int32_t  *col  = E.col + i;
  const GpScalar *val  = (const GpScalar *)E.val + i;
  double          sum  = 0;
  bool            more = true;

  if (i >= m) return;
  for (int32_t c = 0; c < E.width && more; c += EACH, col += EACH * E.stride, val += EACH * E.stride) {
    int32_t  j[EACH];
    GpScalar v[EACH];
    double   e[EACH];

#pragma unroll
    for (int u = 0; u < EACH; u++) {
      const int64_t at = c + u < E.width ? u * E.stride : 0; /* positions beyond the last column are not read */

      j[u] = GpStream(col + at);
      v[u] = GpStream(val + at);
      if (c + u >= E.width) j[u] = -1;
    }
#pragma unroll
    for (int u = 0; u < EACH; u++) e[u] = j[u] < 0 ? 0.0 : GpGather(x + j[u]);
#pragma unroll
    for (int u = 0; u < EACH; u++)
      if (j[u] >= 0) sum += (double)v[u] * e[u];
    more = j[EACH - 1] >= 0;
  }
  y[i] = z ? z[i] + sum : sum;
}

GP_SPMV(ell)(const GpFmt *A, const double *x, const double *z, double *y)
{
  const GpCsr *C = A->csr;

  if (!C->m) return GP_SUCCESS;
  Ell<<<(unsigned)(((int64_t)C->m + BLOCK - 1) / BLOCK), BLOCK, 0, (cudaStream_t)C->dev->stream>>>(*(const GpEll *)A->data, C->m, x, z, y);
  return GpDevCheckLaunch(C->dev, "ell");
}
