/* SpMV with one thread a row, for rows so short that several lanes a row would idle. */
#include "mat/impls/gpucsr/spmv/common/gpkernel.h"
#include "mat/impls/gpucsr/spmv/common/gpload.h"
#include "device/gplaunch.h"

static constexpr int BLOCK = 128;

template <bool EARLY>
__global__ static void CsrScalar(GpHow how, int32_t m, const int32_t *__restrict__ rowptr, const int32_t *__restrict__ col, const GpScalar *__restrict__ val, const double *x, const double *z, double *y)
{
  const int64_t i   = (int64_t)blockIdx.x * BLOCK + threadIdx.x;
  double        sum = 0;

  GpBegin(how);
  if (i >= m) return;
  const int32_t end = EARLY ? GpRead<true>(rowptr + i + 1) : rowptr[i + 1];
  int32_t       k   = EARLY ? GpRead<true>(rowptr + i) : rowptr[i];
  if (EARLY) GpWait();
#pragma unroll 4
  for (; k < end; k++) sum += (double)val[k] * (EARLY ? x[col[k]] : __ldg(x + col[k]));
  if (EARLY) GpNextMayStart();
  y[i] = z ? z[i] + sum : sum;
}

GP_SPMV(csrscalar)(const GpFmt *A, const double *x, const double *z, double *y)
{
  const GpCsr *C = A->csr;

  if (!C->m) return GP_SUCCESS;
  return GpLaunchProduct(C->dev, "csrscalar", CsrScalar<false>, CsrScalar<true>, GpGrid{(unsigned)(((int64_t)C->m + BLOCK - 1) / BLOCK), BLOCK}, C->m, C->rowptr, C->col, (const GpScalar *)C->val, x, z, y);
}
