/* Kernels for the vector work of Krylov methods whose loop runs on the device. The scalars of a method stay on the device, in its state. */
#ifndef GPKRYLOV_H
#define GPKRYLOV_H

#include "vec/kernels/gpveckernel.h"

#if defined(__cplusplus)
extern "C" {
#endif

typedef enum {
  GP_KRYLOV_RUNNING,
  GP_KRYLOV_NORM,          /* the norm reached a threshold or is NaN; the host's convergence test finds out which */
  GP_KRYLOV_ZERO_BETA,     /* z'r is zero */
  GP_KRYLOV_INDEFINITE_PC, /* z'r changed sign */
  GP_KRYLOV_INDEFINITE,    /* p'Ap is zero or changed sign */
  GP_KRYLOV_MAX_IT,        /* the maximum number of iterations is reached */
  GP_KRYLOV_NAN,           /* an inner product is infinite or NaN */
  GP_KRYLOV_BREAKDOWN,     /* an inner product by which the method divides is zero */
  GP_KRYLOV_EXACT,         /* BiCGStab: the residual is exactly zero */
  GP_KRYLOV_HAPPY,         /* the Krylov space is exhausted, and the method computes no norms */
  GP_KRYLOV_STATUSES
} GpKrylovStatus;

typedef enum {
  GP_KRYLOV_NORM_NONE,
  GP_KRYLOV_NORM_PRECONDITIONED,   /* sqrt(z'z) */
  GP_KRYLOV_NORM_UNPRECONDITIONED, /* sqrt(r'r) */
  GP_KRYLOV_NORM_NATURAL           /* sqrt(|z'r|) */
} GpKrylovNorm;

/* State of a method in device memory. Once status is not GP_KRYLOV_RUNNING, the kernels of iterations return at once. */
typedef struct {
  double   dp;           /* the norm */
  double   small, large; /* the iteration stops if dp <= small or dp >= large */
  int32_t  it, max_it;
  int32_t  status, norm; /* a GpKrylovStatus and a GpKrylovNorm */
  uint32_t ticket;       /* number of blocks that have finished their part of a reduction; zero between launches */

  double *norms; /* [ring] device memory: the norm of iteration k is norms[k % ring]; NULL: not stored */
  int32_t ring;

  /* replacement of the residual by one computed with the values in double precision */
  int32_t replaced;     /* iteration of the last replacement, or of the start */
  int32_t replacements; /* number of replacements so far */
  int32_t restart;      /* the deviation is so large that the method must start again with the new residual */
  double  deviation;    /* norm of the difference between the replaced residual and its replacement */
  double  size;         /* norm of the residual at the last replacement, computed like the deviation */
  double  drift;        /* deviation divided by the norm of the residual at the replacement before */
  double  reference;    /* dp at the last replacement */

  /* conjugate gradients: z'r, p'r of the next direction, p'Ap, the step length, the coefficient of the old direction */
  double  beta, slope, dpi, a, b;
  int32_t pending; /* 1: the last step is not in x yet; the next direction() or complete() adds a p */
  /* BiCGStab: r0'r, the step lengths, the coefficient of the old direction */
  double  rho, alpha, omega, gamma;
  int32_t exact; /* 1: s and t are zero, so that x + alpha p is the solution */
  /* GMRES */
  int32_t columns;    /* number of columns of the cycle whose correction is not in the solution yet */
  int32_t refines;    /* the matrix of the iterations is rounded */
  double  cycle;      /* norm at the start of the cycle */
  double  early;      /* the cycle ends if dp <= early, so that the residual is replaced; 0: never */
  double  happy, far; /* tolerances for a happy breakdown, and for the deviation at a restart relative to `cycle` */
} GpKrylovState;

#define GP_KRYLOV_SUMS 5 /* number of sums of a reduction, except in GMRES; memory for partial sums has GP_DEV_PARTS doubles for each */

/* Kernels that several methods use (krylov.cu) */
typedef struct {
  GpErr (*residual)(GpDev, int32_t n, const double *b, double *r);                                                  /* r = b - r */
  GpErr (*multiply)(GpDev, int32_t n, const double *x, const double *y, double *z);                                 /* z = x .* y */
  GpErr (*add)(GpDev, int32_t n, const double *x, double *y);                                                       /* y += x */
  GpErr (*compare)(GpDev, int32_t n, GpKrylovState *, double *partial, const double *replacement, const double *r); /* computes deviation, drift, size and restart */
} GpKrylovKernels;

/* Conjugate gradients (cg.cu). The preconditioner is z = d .* r, entry by entry. If d is NULL, z and r are the same memory. For another preconditioner, start and update get partial = NULL and compute only r; the caller computes z, and then calls residual. */
typedef enum {
  GP_CG_UPDATED,
  GP_CG_STARTS
} GpCgStage;

typedef struct {
  GpErr (*start)(GpDev, int32_t n, GpKrylovState *, double *partial, const double *d, const double *b, const double *ax, double *r, double *z); /* r = b - ax (b if ax is NULL); computes beta and dp */
  GpErr (*direction)(GpDev, int32_t n, const GpKrylovState *, const double *z, double *p, double *x);                                           /* x += a p; p = z + b p */
  GpErr (*curvature)(GpDev, int32_t n, GpKrylovState *, double *partial, const double *p, const double *w);                                     /* dpi = p'w; computes a */
  GpErr (*update)(GpDev, int32_t n, GpKrylovState *, double *partial, const double *d, const double *w, double *r, double *z);                  /* r -= a w; computes beta, b, dp and status */
  GpErr (*residual)(GpDev, int32_t n, GpKrylovState *, double *partial, GpCgStage, const double *r, const double *z);                           /* the sums and the scalars of start or of update */
  GpErr (*complete)(GpDev, int32_t n, GpKrylovState *, const double *p, double *x);                                                             /* x += a p if the last step is pending */
  GpErr (*replace)(GpDev, int32_t n, GpKrylovState *, double *partial, const double *r, const double *z, const double *p, const double *w);     /* after r was replaced: computes beta, slope, b, dp and status */
} GpCgKernels;

/* BiCGStab (bcgs.cu). v and t are products with the preconditioned operator. If d is not NULL, the caller has not applied the diagonal d: shorten() multiplies v by d and stabilise() multiplies t by d, entry by entry. s is stored in the memory of r. */
typedef struct {
  GpErr (*start)(GpDev, int32_t n, GpKrylovState *, double *partial, const double *r, double *r0);                                               /* r0 = r; computes rho and dp */
  GpErr (*direction)(GpDev, int32_t n, GpKrylovState *, const double *r, const double *v, double *p);                                            /* p = r + gamma (p - omega v) */
  GpErr (*shorten)(GpDev, int32_t n, GpKrylovState *, double *partial, const double *d, const double *r0, double *v);                            /* computes alpha = rho / v'r0 */
  GpErr (*half)(GpDev, int32_t n, GpKrylovState *, const double *v, double *r);                                                                  /* s = r - alpha v */
  GpErr (*stabilise)(GpDev, int32_t n, GpKrylovState *, double *partial, const double *d, const double *s, double *t);                           /* computes omega = t's / t't */
  GpErr (*update)(GpDev, int32_t n, GpKrylovState *, double *partial, const double *p, const double *t, const double *r0, double *x, double *r); /* x += alpha p + omega s; r = s - omega t; computes dp, rho, gamma and status */
  GpErr (*adopt)(GpDev, int32_t n, GpKrylovState *, double *partial, const double *replacement, double *r, double *r0);                          /* r = replacement; r0 too if restart is set; computes dp, rho, gamma and status */
} GpBcgsKernels;

/* GMRES (gmres.cu): arrays in device memory */
#define GP_GMRES_RESTART 200 /* maximum length of a cycle, bounded by the shared memory of a block */

typedef struct {
  double *columns;                                  /* [restart][restart] columns of the rotated Hessenberg matrix */
  double *h, *cosine, *sine, *residual, *scale, *y; /* [restart + 1] new column, rotations, rotated right-hand side, 1 / norm of the vectors u, coefficients of the correction */
  int32_t restart;
} GpGmresWork;

typedef enum {
  GP_GMRES_STARTS,
  GP_GMRES_RESTARTS,
  GP_GMRES_REPLACED
} GpGmresStage;

/* basis: [restart + 1][n] the vectors u. d: as in GpBcgsKernels */
typedef struct {
  GpErr (*begin)(GpDev, int32_t n, GpKrylovState *, const GpGmresWork *, double *partial, GpGmresStage, const double *r, double *u);                                 /* u = r; begins a cycle */
  GpErr (*orthogonalise)(GpDev, int32_t n, GpKrylovState *, const GpGmresWork *, double *partial, int32_t k, const double *d, const double *basis, const double *x); /* x is the product with u_k; computes the new column h */
  GpErr (*update)(GpDev, int32_t n, GpKrylovState *, const GpGmresWork *, double *partial, int32_t k, const double *d, double *basis, const double *x);              /* computes u_(k + 1), dp and status */
  GpErr (*correct)(GpDev, int32_t n, GpKrylovState *, const GpGmresWork *, int always, const double *basis, double *x);                                              /* adds the correction of the cycle to x */
} GpGmresKernels;

extern const GpKrylovKernels GpKrylovKernels_Host;
extern const GpKrylovKernels GpKrylovKernels_CUDA; /* exists only if GP_HAVE_CUDA is set */
extern const GpCgKernels     GpCgKernels_Host;
extern const GpCgKernels     GpCgKernels_CUDA;
extern const GpBcgsKernels   GpBcgsKernels_Host;
extern const GpBcgsKernels   GpBcgsKernels_CUDA;
extern const GpGmresKernels  GpGmresKernels_Host;
extern const GpGmresKernels  GpGmresKernels_CUDA;

#define GpKrylovKernelsOf(dev) GpDevSelect(dev, GpKrylovKernels_Host, GpKrylovKernels_CUDA)
#define GpCgKernelsOf(dev)     GpDevSelect(dev, GpCgKernels_Host, GpCgKernels_CUDA)
#define GpBcgsKernelsOf(dev)   GpDevSelect(dev, GpBcgsKernels_Host, GpBcgsKernels_CUDA)

#define GpGmresKernelsOf(dev) GpDevSelect(dev, GpGmresKernels_Host, GpGmresKernels_CUDA)

#if defined(__cplusplus)
}
#endif
#endif
