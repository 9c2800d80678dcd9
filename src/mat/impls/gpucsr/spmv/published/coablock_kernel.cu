/* SpMV, El Zein's coa with blocked rows: a group of lanes takes adjacent rows. */
#include "mat/impls/gpucsr/spmv/published/gpcoa.h"

#if !defined(__CUDACC__)
  #define KERNEL(lanes) \
    GP_SPMV(coablock##lanes)(const GpFmt *A, const double *x, const double *z, double *y) \
    { \
      return Coa(lanes, A, x, z, y); \
    }
#else
  #define KERNEL(lanes) \
    GP_SPMV(coablock##lanes)(const GpFmt *A, const double *x, const double *z, double *y) \
    { \
      return LaunchCoa<lanes, true>("coablock" #lanes, A, ReadOnly{x}, z, y); \
    }
#endif

KERNEL(8)
KERNEL(32)
