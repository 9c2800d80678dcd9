/* SpMV by cuSPARSE's default algorithm, which does not promise the same bits twice. */
#include "mat/impls/gpucsr/kernels/gpkernel.h"

#if defined(__CUDACC__)
  #include "mat/impls/gpucsr/formats/gpvendor.h"

GP_SPMV(csrvendorfast)(const GpFmt *A, const double *x, const double *z, double *y)
{
  return GpVendorMult(A, x, z, y);
}
#endif
