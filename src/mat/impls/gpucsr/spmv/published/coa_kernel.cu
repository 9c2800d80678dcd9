/* SpMV, El Zein's coa with cyclic rows: lanes share a row and load two nonzeros at once. */
#include "mat/impls/gpucsr/spmv/published/gpcoa.h"

#define KERNEL(lanes) \
  GP_SPMV(coa##lanes)(const GpFmt *A, const double *x, const double *z, double *y) \
  { \
    return LaunchCoa<lanes, false>("coa" #lanes, A, ReadOnly{x}, z, y); \
  }

KERNEL(8)
KERNEL(32)
