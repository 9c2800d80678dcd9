/* SpMV by cuSPARSE, so that the choice is never worse than what the vendor offers.  There is no host twin: a format of the
   vendor's is built on GPUs alone. */
#include "mat/impls/gpucsr/kernels/gpkernel.h"

#if defined(__CUDACC__)
  #include "mat/impls/gpucsr/formats/gpvendor.h"

GP_SPMV(sellvendor)(const GpFmt *A, const double *x, const double *z, double *y)
{
  return GpVendorMult(A, x, z, y);
}
#endif
