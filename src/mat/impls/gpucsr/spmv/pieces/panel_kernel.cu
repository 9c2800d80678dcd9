/* SpMV with columns in panels: the part of x that a block needs is staged in shared memory. */
#include "mat/impls/gpucsr/spmv/pieces/gppiecemult.h"

GP_SPMV(panel)(const GpFmt *A, const double *x, const double *z, double *y)
{
  return PieceMult("panel", A, x, z, y);
}
