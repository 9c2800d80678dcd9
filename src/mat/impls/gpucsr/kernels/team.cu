/* SpMV, a team of lanes a row, as many as its length asks for: no lane has much to add, and no row is left for a second launch. */
#include "mat/impls/gpucsr/kernels/gpteammult.h"

GP_SPMV(team)(const GpFmt *A, const double *x, const double *z, double *y)
{
#if defined(__CUDACC__)
  return TeamMult<false>("team", A, x, z, y);
#else
  return TeamMult(A, x, z, y);
#endif
}
