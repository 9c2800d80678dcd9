/* SpMV, El Zein's seq: one thread a row, padded rows, loads of four nonzeros, x through the read-only cache. */
#include "mat/impls/gpucsr/spmv/published/gpseq.h"

GP_SPMV(seq)(const GpFmt *A, const double *x, const double *z, double *y)
{
  return LaunchSeq("seq", A, ReadOnlyX{x}, z, y);
}
