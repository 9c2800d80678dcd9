/* SpMV, a lane a piece of a row, like lengths together: no lane waits for another, and a row of any length is shared by many blocks. */
#include "mat/impls/gpucsr/kernels/gppiecemult.h"

GP_SPMV(bin)(const GpFmt *A, const double *x, const double *z, double *y)
{
  return PieceMult("bin", A, x, z, y);
}
