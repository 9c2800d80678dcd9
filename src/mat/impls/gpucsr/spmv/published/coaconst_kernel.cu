/* SpMV, El Zein's coa with x in constant memory, for matrices with few columns. */
#include "mat/impls/gpucsr/spmv/published/gpcoa.h"
#include "mat/impls/gpucsr/spmv/published/gpconstant.h"

GP_SPMV(coaconst8)(const GpFmt *A, const double *x, const double *z, double *y)
{
  GpErr err = ToConstant(A->csr, x);

  return err ? err : LaunchCoa<8, false>("coaconst8", A, FromConstant{}, z, y);
}
