/* SpMV with teams of lanes a row. The thread blocks of the largest teams are clusters and add their sums through shared memory. */
#include "mat/impls/gpucsr/spmv/team/gpteammult.h"

GP_SPMV(teamcluster)(const GpFmt *A, const double *x, const double *z, double *y)
{
  return TeamMult<true>("teamcluster", A, x, z, y);
}
