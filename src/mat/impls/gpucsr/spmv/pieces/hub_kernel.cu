/* SpMV with columns renumbered by frequency: the most frequently used entries of x are packed and staged in shared memory. */
#include "mat/impls/gpucsr/spmv/pieces/gppiecemult.h"

GP_SPMV(hub)(const GpFmt *A, const double *x, const double *z, double *y)
{
  return PieceMult("hub", A, x, z, y);
}
