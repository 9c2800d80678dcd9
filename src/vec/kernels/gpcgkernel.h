/* Kernels for the vector work of a conjugate gradient iteration (cg.cu). The scalars of the method stay on the device. */
#ifndef GPCGKERNEL_H
#define GPCGKERNEL_H

#include "vec/kernels/gpveckernel.h"

#if defined(__cplusplus)
extern "C" {
#endif

typedef enum {
  GP_CG_RUNNING,
  GP_CG_NORM,          /* the norm reached a threshold or is NaN; the host's convergence test finds out which */
  GP_CG_ZERO_BETA,     /* z'r is zero */
  GP_CG_INDEFINITE_PC, /* z'r changed sign */
  GP_CG_INDEFINITE,    /* p'Ap is zero or changed sign */
  GP_CG_MAX_IT         /* the maximum number of iterations is reached */
} GpCgStatus;

typedef enum {
  GP_CG_NORM_NONE,
  GP_CG_NORM_PRECONDITIONED,   /* sqrt(z'z) */
  GP_CG_NORM_UNPRECONDITIONED, /* sqrt(r'r) */
  GP_CG_NORM_NATURAL           /* sqrt(|z'r|) */
} GpCgNorm;

/* State of the method in device memory. Once status is not GP_CG_RUNNING, every kernel returns at once. */
typedef struct {
  double   beta, dpi, a, b, dp; /* z'r, p'Ap, the step length, the coefficient of the old direction, the norm */
  double   small, large;        /* the iteration stops if dp <= small or dp >= large */
  int32_t  it, max_it;
  int32_t  status, norm; /* a GpCgStatus and a GpCgNorm */
  uint32_t ticket;       /* number of blocks that have finished their part of a reduction; zero between launches */
} GpCgState;

#define GP_CG_PARTIAL (3 * GP_DEV_PARTS) /* size in doubles of the partial sums of a reduction */

/* The preconditioner is z = d .* r, entry by entry. If d is NULL, z and r are the same memory. For another preconditioner, start and update get partial = NULL and compute only x and r; the caller computes z,
   and then calls residual. */
typedef struct {
  GpErr (*start)(GpDev, int32_t n, GpCgState *, double *partial, const double *d, const double *b, const double *ax, double *r, double *z);            /* r = b - ax (b if ax is NULL); computes beta and dp */
  GpErr (*direction)(GpDev, int32_t n, const GpCgState *, const double *z, double *p);                                                                 /* p = z + b p */
  GpErr (*curvature)(GpDev, int32_t n, GpCgState *, double *partial, const double *p, const double *w);                                                /* dpi = p'w; computes a */
  GpErr (*update)(GpDev, int32_t n, GpCgState *, double *partial, const double *d, const double *p, const double *w, double *x, double *r, double *z); /* x += a p; r -= a w; computes beta, b, dp and status */
  GpErr (*residual)(GpDev, int32_t n, GpCgState *, double *partial, int starts, const double *r, const double *z);                                     /* the sums and the scalars of start (starts = 1) or of update (starts = 0) */
} GpCgKernels;

extern const GpCgKernels GpCgKernels_Host;
extern const GpCgKernels GpCgKernels_CUDA; /* exists only if GP_HAVE_CUDA is set */

#define GpCgKernelsOf(dev) GpDevSelect(dev, GpCgKernels_Host, GpCgKernels_CUDA)

#if defined(__cplusplus)
}
#endif
#endif
