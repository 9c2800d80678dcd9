/* Kernels for polynomials of a matrix (src/pc/impls/gpupoly/). */
#ifndef GPPOLY_H
#define GPPOLY_H

#include "device/gpsteps.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* d: a diagonal; NULL: the identity. All arrays have n entries. */
typedef struct {
  GpErr (*scale)(GpDev, int32_t n, double a, const double *d, const double *x, double *y);                                          /* y = a d .* x */
  GpErr (*step)(GpDev, int32_t n, double a, const double *d, const double *w, double b, const double *v, double c, double *before); /* before = a d .* w + b v + c before; before is not read if c is 0, and may then be w */
} GpPolyKernels;

extern const GpPolyKernels GpPolyKernels_Host;
extern const GpPolyKernels GpPolyKernels_CUDA; /* exists only if GP_HAVE_CUDA is set */

#define GpPolyKernelsOf(dev) GpDevSelect(dev, GpPolyKernels_Host, GpPolyKernels_CUDA)

#if defined(__cplusplus)
}
#endif
#endif
