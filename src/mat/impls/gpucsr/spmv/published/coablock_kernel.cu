/* SpMV, El Zein's coa with blocked rows: a group of lanes takes adjacent rows. */
#include "mat/impls/gpucsr/spmv/published/gpcoa.h"

#define KERNEL(lanes) \
  GP_SPMV(coablock##lanes)(const GpFmt *A, const double *x, const double *z, double *y) \
  { \
    return LaunchCoa<lanes, true>("coablock" #lanes, A, ReadOnly{x}, z, y); \
  }

KERNEL(8)
KERNEL(32)
