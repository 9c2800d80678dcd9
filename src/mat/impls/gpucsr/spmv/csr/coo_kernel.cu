/* SpMV on coordinates with a segmented sum. A warp takes GP_COO_STRIP nonzeros and finishes the rows that lie within them. It stores the sums of its
   first and last row for a second kernel, which adds them in order. No atomics: deterministic. */
#include "mat/impls/gpucsr/spmv/published/gpseeds.h"
#include "mat/impls/gpucsr/spmv/common/gpkernel.h"

#if !defined(__CUDACC__)
  #include <string.h>

GP_SPMV(coo)(const GpFmt *A, const double *x, const double *z, double *y)
{
  const GpCsr     *C   = A->csr;
  const GpCooRows *T   = (const GpCooRows *)A->data;
  const GpScalar  *val = (const GpScalar *)C->val;

  if (!z) memset(y, 0, (size_t)C->m * sizeof(double));
  else if (z != y) memcpy(y, z, (size_t)C->m * sizeof(double));
  for (int32_t w = 0; w < T->nstrips; w++) {
    const int32_t start = w * GP_COO_STRIP, end = C->nnz - start > GP_COO_STRIP ? start + GP_COO_STRIP : C->nnz;

    T->carry[2 * w] = T->carry[2 * w + 1] = 0;
    for (int32_t k = start; k < end;) {
      const int32_t row = T->row[k];
      double        sum = 0;

      for (; k < end && T->row[k] == row; k++) sum += (double)val[k] * x[C->col[k]];
      if (row == T->row[start]) T->carry[2 * w] = sum;
      else if (k == end) T->carry[2 * w + 1] = sum;
      else y[row] += sum;
    }
  }
  for (int32_t e = 0; e < 2 * T->nstrips;) {
    const int32_t row = T->row[e % 2 ? (e == 2 * T->nstrips - 1 ? C->nnz : (e / 2 + 1) * GP_COO_STRIP) - 1 : e / 2 * GP_COO_STRIP];
    double        sum = 0;

    for (; e < 2 * T->nstrips && row == T->row[e % 2 ? (e == 2 * T->nstrips - 1 ? C->nnz : (e / 2 + 1) * GP_COO_STRIP) - 1 : e / 2 * GP_COO_STRIP]; e++) sum += T->carry[e];
    y[row] += sum;
  }
  return GP_SUCCESS;
}

#else
static constexpr int      BLOCK = 256, WARP = 32;
static constexpr unsigned ALL = 0xffffffffu;

struct Strip {
  const double *z;
  double       *y, *carry;
  int32_t       firstrow;

  __device__ void Put(int32_t row, double sum) const
  {
    if (row == firstrow) carry[0] = sum;
    else y[row] = z ? z[row] + sum : sum;
  }
};

__global__ static void __launch_bounds__(BLOCK) CooStrips(GpCooRows T, int32_t nnz, const int32_t *__restrict__ col, const GpScalar *__restrict__ val, const double *__restrict__ x, const double *z, double *y)
{
  const int64_t w    = ((int64_t)blockIdx.x * BLOCK + threadIdx.x) / WARP;
  const int     lane = threadIdx.x % WARP;

  if (w >= T.nstrips) return;
  const int32_t start = (int32_t)w * GP_COO_STRIP, end = nnz - start > GP_COO_STRIP ? start + GP_COO_STRIP : nnz;
  const Strip   strip{z, y, T.carry + 2 * w, T.row[start]};
  double        product[GP_COO_STRIP / WARP];
  int32_t       row[GP_COO_STRIP / WARP], open = strip.firstrow;
  double        sum = 0; /* sum of the row `open` so far */

  #pragma unroll
  for (int t = 0; t < GP_COO_STRIP / WARP; t++) {
    const int32_t k = start + t * WARP + lane;

    row[t]     = T.row[k < end ? k : end - 1];
    product[t] = k < end ? (double)__ldcs(val + k) * __ldg(x + __ldcs(col + k)) : 0.0;
  }
  #pragma unroll
  for (int t = 0; t < GP_COO_STRIP / WARP; t++) {
    double p = product[t];

    if (lane == 0) {
      if (row[t] == open) p += sum;
      else strip.Put(open, sum);
    }
  #pragma unroll
    for (int d = 1; d < WARP; d *= 2) {
      const double  before = __shfl_up_sync(ALL, p, d);
      const int32_t above  = __shfl_up_sync(ALL, row[t], d);

      if (lane >= d && above == row[t]) p += before;
    }
    const int32_t next = __shfl_down_sync(ALL, row[t], 1);
    if (lane < WARP - 1 && next != row[t]) strip.Put(row[t], p);
    open = __shfl_sync(ALL, row[t], WARP - 1);
    sum  = __shfl_sync(ALL, p, WARP - 1);
  }
  if (lane == 0) {
    if (open == strip.firstrow) strip.Put(open, sum);
    strip.carry[1] = open == strip.firstrow ? 0.0 : sum;
  }
}

/* Entries 2w and 2w+1 of carry belong to the first and the last row of strip w. One warp adds a run of entries that belong to one row. */
__global__ static void __launch_bounds__(BLOCK) CooCarries(GpCooRows T, int32_t nnz, double *y)
{
  const int64_t e = ((int64_t)blockIdx.x * BLOCK + threadIdx.x) / WARP, entries = 2 * (int64_t)T.nstrips;
  const int     lane  = threadIdx.x % WARP;
  const auto    rowof = [&](int64_t i) { return T.row[i % 2 == 0 ? i / 2 * GP_COO_STRIP : i == entries - 1 ? nnz - 1 : (i / 2 + 1) * GP_COO_STRIP - 1]; };

  if (e >= entries) return;
  const int32_t row = rowof(e);
  if (e > 0 && rowof(e - 1) == row) return; /* not the first entry of a run */
  double sum = 0;
  for (int64_t i = e + lane; __any_sync(ALL, i < entries && rowof(i) == row); i += WARP) sum += i < entries && rowof(i) == row ? T.carry[i] : 0.0;
  for (int half = WARP / 2; half > 0; half /= 2) sum += __shfl_down_sync(ALL, sum, half);
  if (lane == 0) y[row] += sum;
}

GP_SPMV(coo)(const GpFmt *A, const double *x, const double *z, double *y)
{
  const GpCsr     *C      = A->csr;
  const GpCooRows *T      = (const GpCooRows *)A->data;
  cudaStream_t     stream = (cudaStream_t)C->dev->stream;
  const size_t     bytes  = (size_t)C->m * sizeof(double);
  const int64_t    strips = T->nstrips;
  GpErr            err    = GP_SUCCESS;

  if (!z) err = C->dev->ops->zero(C->dev, y, bytes);
  else if (z != y) err = C->dev->ops->copy_within(C->dev, y, z, bytes);
  if (err || !strips) return err;
  CooStrips<<<(unsigned)((strips * WARP + BLOCK - 1) / BLOCK), BLOCK, 0, stream>>>(*T, C->nnz, C->col, (const GpScalar *)C->val, x, z, y);
  CooCarries<<<(unsigned)((2 * strips * WARP + BLOCK - 1) / BLOCK), BLOCK, 0, stream>>>(*T, C->nnz, y);
  return GpDevCheckLaunch(C->dev, "coo");
}
#endif
