/* The vector work of one conjugate gradient iteration in three kernels, with the method's scalars on the device. */
#ifndef GPCGKERNEL_H
#define GPCGKERNEL_H

#include "vec/kernels/gpveckernel.h"

#if defined(__cplusplus)
extern "C" {
#endif

typedef enum {
  GP_CG_RUNNING,
  GP_CG_NORM,          /* the norm passed a threshold, or is not a number: the host's test knows which */
  GP_CG_ZERO_BETA,     /* z'r is zero */
  GP_CG_INDEFINITE_PC, /* z'r changed its sign */
  GP_CG_INDEFINITE,    /* p'Ap is zero or changed its sign */
  GP_CG_MAX_IT         /* as many iterations as were allowed */
} GpCgStatus;

typedef enum {
  GP_CG_NORM_NONE,
  GP_CG_NORM_PRECONDITIONED,   /* sqrt(z'z) */
  GP_CG_NORM_UNPRECONDITIONED, /* sqrt(r'r) */
  GP_CG_NORM_NATURAL           /* sqrt(|z'r|) */
} GpCgNorm;

/* lives on the device; once status is not GP_CG_RUNNING every kernel returns at once */
typedef struct {
  double   beta, dpi, a, b, dp; /* z'r, p'Ap, the step, the direction's coefficient, the norm */
  double   small, large;        /* stop when dp <= small or dp >= large */
  int32_t  it, max_it;
  int32_t  status, norm;
  uint32_t ticket; /* how many blocks of a reduction are done */
} GpCgState;

#define GP_CG_PARTIAL (3 * GP_DEV_PARTS) /* doubles that the partial sums of a reduction take */

/* z = d .* r, entry by entry; without d (NULL) z and r are the same memory */
typedef struct {
  GpErr (*start)(GpDev, int32_t n, GpCgState *, double *partial, const double *d, const double *b, const double *ax, double *r, double *z);            /* r = b - ax (ax NULL: b); beta, dp */
  GpErr (*direction)(GpDev, int32_t n, const GpCgState *, const double *z, double *p);                                                                 /* p = z + b p */
  GpErr (*curvature)(GpDev, int32_t n, GpCgState *, double *partial, const double *p, const double *w);                                                /* dpi = p'w; a */
  GpErr (*update)(GpDev, int32_t n, GpCgState *, double *partial, const double *d, const double *p, const double *w, double *x, double *r, double *z); /* x += a p; r -= a w; beta, b, dp, status */
} GpCgKernels;

extern const GpCgKernels GpCgKernelsHost;
extern const GpCgKernels GpCgKernelsCUDA; /* only with GP_HAVE_CUDA */

#define GpCgKernelsOf(dev) GpDevTwin(dev, GpCgKernelsHost, GpCgKernelsCUDA)

#if defined(__cplusplus)
}
#endif
#endif
