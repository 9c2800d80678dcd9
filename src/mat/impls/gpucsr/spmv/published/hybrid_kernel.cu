/* SpMV on the CSR/ELL hybrid: one thread takes a short row, padded to the 4, 7 or 16 nonzeros of its class; a warp takes a long row. */
#include "mat/impls/gpucsr/spmv/published/gpseeds.h"
#include "mat/impls/gpucsr/spmv/common/gpkernel.h"

static constexpr int BLOCK = 256, WARP = 32;

template <int WIDTH>
__global__ static void __launch_bounds__(BLOCK) ShortRows(int32_t rows, const int32_t *__restrict__ list, const int32_t *__restrict__ col, const GpScalar *__restrict__ val, const double *__restrict__ x, const double *z, double *y)
{
  const int64_t t   = (int64_t)blockIdx.x * BLOCK + threadIdx.x;
  double        sum = 0;

  if (t >= rows) return;
#pragma unroll
  for (int j = 0; j < WIDTH; j++) {
    const int32_t c = col[(int64_t)j * rows + t];

    sum += (double)val[(int64_t)j * rows + t] * (c >= 0 ? __ldg(x + c) : 0.0);
  }
  const int32_t i = list[t];
  y[i]            = z ? z[i] + sum : sum;
}

__global__ static void __launch_bounds__(BLOCK)
  LongRows(int32_t rows, const int32_t *__restrict__ list, const int32_t *__restrict__ rowptr, const int32_t *__restrict__ col, const GpScalar *__restrict__ val, const double *__restrict__ x, const double *z, double *y)
{
  const int64_t t    = ((int64_t)blockIdx.x * BLOCK + threadIdx.x) / WARP;
  const int     lane = threadIdx.x % WARP;
  double        sum  = 0;

  if (t >= rows) return;
  const int32_t i = list[t], end = rowptr[i + 1];
#pragma unroll 4
  for (int32_t k = rowptr[i] + lane; k < end; k += WARP) sum += (double)val[k] * __ldg(x + col[k]);
  for (int half = WARP / 2; half > 0; half /= 2) sum += __shfl_down_sync(0xffffffffu, sum, half);
  if (lane == 0) y[i] = z ? z[i] + sum : sum;
}

template <int WIDTH>
static GpErr LaunchShort(GpDev dev, const GpHybrid *H, int c, const int32_t *list, const double *x, const double *z, double *y)
{
  if (!H->rows[c]) return GP_SUCCESS;
  return GpLaunch(dev, "hybrid", ShortRows<WIDTH>, GpGrid{GpBlocks(H->rows[c], BLOCK), BLOCK}, H->rows[c], list, H->col + H->at[c], (const GpScalar *)H->val + H->at[c], x, z, y);
}

GP_SPMV(hybrid)(const GpFmt *A, const double *x, const double *z, double *y)
{
  const GpHybrid *H    = (const GpHybrid *)A->data;
  const GpCsr    *C    = A->csr;
  const int32_t  *list = H->list;
  GpErr           err  = LaunchShort<4>(C->dev, H, 0, list, x, z, y);

  if (!err) err = LaunchShort<7>(C->dev, H, 1, list += H->rows[0], x, z, y);
  if (!err) err = LaunchShort<16>(C->dev, H, 2, list += H->rows[1], x, z, y);
  list += H->rows[2];
  if (!err && H->rows[3]) err = GpLaunch(C->dev, "hybrid", LongRows, GpGrid{GpBlocks((int64_t)H->rows[3] * WARP, BLOCK), BLOCK}, H->rows[3], list, C->rowptr, C->col, (const GpScalar *)C->val, x, z, y);
  return err;
}
