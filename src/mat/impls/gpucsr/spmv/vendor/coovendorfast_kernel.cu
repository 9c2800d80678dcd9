/* SpMV by cuSPARSE's default algorithm. Its results may differ in the last bits from run to run. */
#include "mat/impls/gpucsr/spmv/common/gpkernel.h"

#include "mat/impls/gpucsr/spmv/vendor/gpvendor.h"

GP_SPMV(coovendorfast)(const GpFmt *A, const double *x, const double *z, double *y)
{
  return GpVendorMult(A, x, z, y);
}
