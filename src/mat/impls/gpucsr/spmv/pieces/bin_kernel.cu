/* SpMV with one lane per piece of a row. Pieces of similar length are adjacent, so no lane waits for another one. A long row is distributed over many
   blocks. */
#include "mat/impls/gpucsr/spmv/pieces/gppiecemult.h"

GP_SPMV(bin)(const GpFmt *A, const double *x, const double *z, double *y)
{
  return PieceMult("bin", A, x, z, y);
}
