/* SpMV over nonempty rows only, four lanes a row. The cost of y += A x depends on these rows alone, not on the length of y. */
#include "mat/impls/gpucsr/spmv/common/gpkernel.h"

#define LANES 4

/* y = z or y = 0, the result in empty rows */
static GpErr Prepare(const GpCsr *C, const double *z, double *y)
{
  const size_t bytes = (size_t)C->m * sizeof(double);

  if (!z) return GpDevZero(C->dev, y, bytes);
  return z == y ? GP_SUCCESS : GpDevCopyWithin(C->dev, y, z, bytes);
}

static constexpr int BLOCK = 128;

__global__ static void CsrList(int32_t n, const int32_t *__restrict__ row, const int32_t *__restrict__ rowptr, const int32_t *__restrict__ col, const GpScalar *__restrict__ val, const double *__restrict__ x, double *y)
{
  const int64_t r    = ((int64_t)blockIdx.x * BLOCK + threadIdx.x) / LANES;
  const int     lane = threadIdx.x % LANES;
  const int32_t i    = r < n ? row[r] : 0;
  double        sum  = 0;

  if (r < n) {
    const int32_t end = rowptr[i + 1];

    for (int32_t k = rowptr[i] + lane; k < end; k += LANES) sum += (double)val[k] * __ldg(x + col[k]);
  }
#pragma unroll
  for (int half = LANES / 2; half > 0; half /= 2) sum += __shfl_down_sync(0xffffffffu, sum, half, LANES);
  if (r < n && lane == 0) y[i] += sum;
}

GP_SPMV(csrlist)(const GpFmt *A, const double *x, const double *z, double *y)
{
  const GpCsr     *C   = A->csr;
  const GpCsrList *L   = (const GpCsrList *)A->data;
  GpErr            err = Prepare(C, z, y);

  if (err || !L->n) return err;
  return GpLaunch(C->dev, "csrlist", CsrList, GpGrid{(unsigned)(((int64_t)L->n * LANES + BLOCK - 1) / BLOCK), BLOCK}, L->n, L->row, C->rowptr, C->col, (const GpScalar *)C->val, x, y);
}
