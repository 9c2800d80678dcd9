/* SpMV, a team of lanes a row; the blocks of the largest teams are a cluster and add up in their shared memory. */
#include "mat/impls/gpucsr/kernels/gpteammult.h"

GP_SPMV(teamcluster)(const GpFmt *A, const double *x, const double *z, double *y)
{
#if defined(__CUDACC__)
  return TeamMult<true>("teamcluster", A, x, z, y);
#else
  return TeamMult(A, x, z, y);
#endif
}
