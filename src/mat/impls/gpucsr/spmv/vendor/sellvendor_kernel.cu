/* SpMV by cuSPARSE, a candidate so that the selected kernel is not slower than cuSPARSE. There is no host implementation: cuSPARSE formats exist only
   on GPUs. */
#include "mat/impls/gpucsr/spmv/common/gpkernel.h"

#include "mat/impls/gpucsr/spmv/vendor/gpvendor.h"

GP_SPMV(sellvendor)(const GpFmt *A, const double *x, const double *z, double *y)
{
  return GpVendorMult(A, x, z, y);
}
