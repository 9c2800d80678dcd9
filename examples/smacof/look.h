/* What the host must know of a configuration when a pass has been over it: its stress and its scale, and how the newest differences of iterates go with
   those before.  A GPU is told to find out all of it, one thing after another, before the host waits for any.  No PETSc here; a twin for each runtime. */
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

#define LOOK_PARTS 32 /* of a sum, on a GPU: blocks that add it up. A power of two, no more than a warp has lanes */
#define LOOK_MOST  20 /* differences of iterates that are kept */
#define LOOK_BATCH 5  /* of them are looked at together */
#define LOOK_ROW   (3 * LOOK_BATCH)

/* the sum of the stress of all points, <X, B(X) X> */
typedef struct {
  size_t        n, points; /* numbers that a configuration is, points */
  const double *x, *bx, *stress;
  double       *sums, *told; /* [parts][2] on the device, and for the host; on the host one part */
} LookSums;

/* With x = a X, where a is the best scale of X, and its residual f = G(X) - a X, which become the newest iterate: the differences dx and df from the one
   before it, and for these and each pair before them, u and v:  <dx, u>,  <dx, v> + <df, u>,  <f, u> */
typedef struct {
  size_t        n;
  const double *sums;    /* [parts][2] of this configuration; NULL: its scale is 1 */
  double        unit;    /* of the normalised stress */
  double        gfactor; /* the transform is g times this */
  const double *X, *g;
  const double *lastx, *lastf; /* of the iterate before; NULL: there is none, and no differences */
  double       *x, *f, *dx, *df;
  int           before; /* pairs of differences */
  const double *u[LOOK_MOST], *v[LOOK_MOST];
  double       *told; /* for the host: [batches][parts][LOOK_ROW]; the first three of all are the newest differences' own */
} LookNewest;

static inline LOOK_BOTH_SIDES int LookBatches(int before)
{
  return (1 + before + LOOK_BATCH - 1) / LOOK_BATCH;
}

/* Of a configuration with this normalised stress and <X, B(X) X> in the same unit: stress(a X) = 1 - 2 a rho + a^2 eta^2, least at a = rho / eta^2.  1 where all points coincide */
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
