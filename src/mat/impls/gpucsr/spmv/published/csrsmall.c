/* Format csrsmall: compressed rows of a matrix with so few columns that x fits in constant memory. */
#include "mat/impls/gpucsr/spmv/published/gpseeds.h"

GpErr GpFmtBuild_csrsmall(GpFmt *A, const int32_t rowptr[])
{
  (void)rowptr;
  if (A->csr->n <= GP_SMALL_COLUMNS) return GP_SUCCESS;
  return GpDevFail(A->csr->dev, GP_ERR_ARGUMENT, "%d columns: x does not fit in constant memory, which holds %d entries", (int)A->csr->n, GP_SMALL_COLUMNS);
}

GpErr GpFmtRefill_csrsmall(GpFmt *A)
{
  (void)A;
  return GP_SUCCESS;
}

void GpFmtDestroy_csrsmall(GpFmt *A)
{
  (void)A;
}

double GpFmtBytes_csrsmall(const GpFmt *A)
{
  (void)A;
  return 0.0;
}

double GpFmtTraffic_csrsmall(const GpFmt *A)
{
  return GpCsrBytes(A->csr);
}
