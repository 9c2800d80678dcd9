/* SpMV with teams of 2, 4, 8, ... lanes a row. The size of a team grows with the length of its row, so no lane adds much and one launch is enough. */
#include "mat/impls/gpucsr/spmv/team/gpteammult.h"

GP_SPMV(team)(const GpFmt *A, const double *x, const double *z, double *y)
{
  return TeamMult<false>("team", A, x, z, y);
}
