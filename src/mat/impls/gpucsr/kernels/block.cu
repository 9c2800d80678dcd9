/* SpMV on blocks (formats/block.h): a lane a row; the rows of a row of blocks share its indices. */
#include "mat/impls/gpucsr/formats/block.h"
#include "mat/impls/gpucsr/kernels/gpkernel.h"
#include "mat/impls/gpucsr/kernels/gpload.h"

#if !defined(__CUDACC__)
GP_SPMV(block)(const GpFmt *A, const double *x, const double *z, double *y)
{
  const GpBlock  *B   = (const GpBlock *)A->data;
  const GpScalar *val = (const GpScalar *)B->value;
  const int32_t   b = B->b, rows = GP_WARP * b;

  for (int32_t i = 0; i < A->csr->m; i++) {
    const int32_t s = i / rows, r = i % rows;
    double        sum = 0;

    for (int32_t c = B->start[s]; c < B->start[s + 1]; c++) {
      for (int32_t k = 0; k < b; k++) {
        const double v = (double)val[((int64_t)c * b + k) * rows + r];

        if (!GpIsHole(v, sizeof(GpScalar) == sizeof(float))) sum += v * x[B->col[(int64_t)c * GP_WARP + r / b] * b + k];
      }
    }
    y[i] = z ? z[i] + sum : sum;
  }
  return GP_SUCCESS;
}

#else
static constexpr int BLOCK = 192; /* whole slices of blocks of 2, 3 and 6 */
static constexpr int AHEAD = 4;   /* blocks that a lane reads in one turn */

template <int B>
__global__ static void __launch_bounds__(BLOCK) Block(const int32_t *__restrict__ start, const int32_t *__restrict__ col, const GpScalar *__restrict__ val, int32_t m, const double *__restrict__ x, const double *z, double *y)
{
  constexpr int ROWS = GP_WARP * B;
  const int64_t i    = (int64_t)blockIdx.x * BLOCK + threadIdx.x;

  if (i >= m) return;
  const int32_t s = (int32_t)(i / ROWS), r = (int32_t)(i % ROWS), first = __ldg(start + s), n = __ldg(start + s + 1) - first;
  double        sum = 0;

  col += (int64_t)first * GP_WARP + r / B;
  val += (int64_t)first * B * ROWS + r;
  /* columns are read one turn ahead, so that values and x arrive together */
  int32_t next[AHEAD], left = n;
  #pragma unroll
  for (int a = 0; a < AHEAD; a++) next[a] = a < n ? GpStream(col + a * GP_WARP) : 0;
  for (; left >= AHEAD; left -= AHEAD) {
    GpScalar v[AHEAD * B];
    double   u[AHEAD * B];

  #pragma unroll
    for (int k = 0; k < AHEAD * B; k++) v[k] = GpStream(val + k * ROWS);
  #pragma unroll
    for (int k = 0; k < AHEAD * B; k++) u[k] = GpGather(x + (int64_t)next[k / B] * B + k % B);
    val += AHEAD * B * ROWS;
    col += AHEAD * GP_WARP;
  #pragma unroll
    for (int a = 0; a < AHEAD; a++) next[a] = AHEAD + a < left ? GpStream(col + a * GP_WARP) : 0;
  #pragma unroll
    for (int k = 0; k < AHEAD * B; k++) sum = GpAdd(sum, v[k], u[k]);
  }
  #pragma unroll
  for (int a = 0; a < AHEAD - 1; a++) {
    if (a >= left) break;
  #pragma unroll
    for (int k = 0; k < B; k++) sum = GpAdd(sum, GpStream(val + (a * B + k) * ROWS), GpGather(x + (int64_t)next[a] * B + k));
  }
  y[i] = z ? z[i] + sum : sum;
}

template <int B>
static void Launch(const GpFmt *A, const double *x, const double *z, double *y)
{
  const GpCsr   *C = A->csr;
  const GpBlock *S = (const GpBlock *)A->data;

  Block<B><<<(unsigned)(((int64_t)C->m + BLOCK - 1) / BLOCK), BLOCK, 0, (cudaStream_t)C->dev->stream>>>(S->start, S->col, (const GpScalar *)S->value, C->m, x, z, y);
}

GP_SPMV(block)(const GpFmt *A, const double *x, const double *z, double *y)
{
  const int b = ((const GpBlock *)A->data)->b;

  if (!A->csr->m) return GP_SUCCESS;
  (b == 2 ? Launch<2> : b == 3 ? Launch<3> : b == 4 ? Launch<4> : Launch<6>)(A, x, z, y);
  return GpDevCheckLaunch(A->csr->dev, "block");
}
#endif
