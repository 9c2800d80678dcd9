/* Sums and inner products that the host needs after a pass: the stress and the best scale of a configuration, and the inner products of its
   differences with those of earlier iterates.  On a GPU all of them are launched before the host waits for any.  There is a host and a CUDA
   implementation.  This header does not include PETSc. */
#ifndef GPUCSR_SMACOF_LOOK_H
#define GPUCSR_SMACOF_LOOK_H

#include "device/gpdevice.h"

#if defined(__cplusplus)
extern "C" {
#endif

#if defined(__CUDACC__)
  #define LOOK_BOTH_SIDES __host__ __device__
#else
  #define LOOK_BOTH_SIDES
#endif

#define LOOK_PARTS 32 /* partial sums of each sum on a GPU, one for each block; a power of two, at most the warp size */
#define LOOK_MOST  20 /* maximum number of differences in a history */
#define LOOK_BATCH 5  /* pairs of differences whose inner products are computed together */
#define LOOK_ROW   (3 * LOOK_BATCH)

/* task: the sum of the stress of all points, and <X, B(X) X> */
typedef struct {
  size_t        n, points;       /* length of x and bx; number of points */
  const double *x, *bx, *stress; /* [n], [n], [points] */
  double       *sums;            /* output, [parts][2] partial sums on the device; one part on the host */
  double       *told;            /* output, the same in memory that the host reads */
} LookSums;

/* task: the new iterate x = a X, where a is the best scale of X, and its residual f = G(X) - a X; the differences dx and df from the iterate
   before; and for the pair u = dx, v = df and each earlier pair u, v the inner products <dx, u>, <dx, v> + <df, u>, <f, u> */
typedef struct {
  size_t        n;
  const double *sums;                        /* [parts][2] results of LookSums for X; NULL: a = 1 */
  double        unit;                        /* the sum of squares that normalises the stress */
  double        gfactor;                     /* G(X) is gfactor times g */
  const double *X, *g;                       /* [n] */
  const double *lastx, *lastf;               /* [n] previous iterate and residual; NULL: there is none, and differences are not computed */
  double       *x, *f, *dx, *df;             /* [n] output */
  int           before;                      /* number of earlier pairs of differences */
  const double *u[LOOK_MOST], *v[LOOK_MOST]; /* [before][n] */
  double       *told;                        /* output in memory that the host reads, [batches][parts][LOOK_ROW]; it starts with the products of the new pair itself */
} LookNewest;

static inline LOOK_BOTH_SIDES int LookBatches(int before)
{
  return (1 + before + LOOK_BATCH - 1) / LOOK_BATCH;
}

/* Returns the best scale a of a configuration with normalised stress sigma and <X, B(X) X> = rho in the same unit.  The stress of a X is
   1 - 2 a rho + a^2 eta^2, with its minimum at a = rho / eta^2.  Returns 1 if all points coincide. */
static inline LOOK_BOTH_SIDES double LookScale(double sigma, double rho)
{
  const double eta2 = sigma - 1 + 2 * rho;

  return rho > 0 && eta2 > 0 ? rho / eta2 : 1;
}

void  LookSums_Host(const LookSums *);
void  LookNewest_Host(const LookNewest *);
GpErr LookSums_CUDA(GpDev, const LookSums *);
GpErr LookNewest_CUDA(GpDev, const LookNewest *);

#if defined(__cplusplus)
}
#endif
#endif
