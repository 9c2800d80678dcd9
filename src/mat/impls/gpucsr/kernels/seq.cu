/* SpMV, El Zein's seq: a thread a row, over padded rows with loads of four nonzeros, x by the read-only cache. */
#include "mat/impls/gpucsr/kernels/gpseq.h"

GP_SPMV(seq)(const GpFmt *A, const double *x, const double *z, double *y)
{
#if !defined(__CUDACC__)
  return Seq(A, x, z, y);
#else
  return LaunchSeq("seq", A, ReadOnlyX{x}, z, y);
#endif
}
