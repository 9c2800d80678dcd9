/* Sums and inner products that the host needs after a pass: the stress and the best scale of a configuration, and the inner products of its
   differences with those of earlier iterates.  On a GPU all of them are launched before the host waits for any.  There is a host and a CUDA
   implementation.  This header does not include PETSc. */
#ifndef GPUCSR_SMACOF_SUMS_H
#define GPUCSR_SMACOF_SUMS_H

#include <gpucsrdevicetypes.h>

#if defined(__cplusplus)
extern "C" {
#endif

#if defined(__CUDACC__)
  #define SMACOF_HOST_DEVICE __host__ __device__
#else
  #define SMACOF_HOST_DEVICE
#endif

#define SMACOF_SUM_PARTS     32 /* partial sums of each sum on a GPU, one for each block; a power of two, at most the warp size */
#define SMACOF_HISTORY_LIMIT 20 /* maximum number of differences in a history */
#define SMACOF_PAIR_BATCH    5  /* pairs of differences whose inner products are computed together */
#define SMACOF_BATCH_SUMS    (3 * SMACOF_PAIR_BATCH)

/* task: the sum of the stress of all points, and <X, B(X) X> */
typedef struct {
  size_t        n, points;       /* length of x and bx; number of points */
  const double *x, *bx, *stress; /* [n], [n], [points] */
  double       *sums;            /* output, [parts][2] partial sums on the device; one part on the host */
  double       *result;          /* output, the same in memory that the host reads */
} SMACOFSumsTask;

/* task: the new iterate x = a X, where a is the best scale of X, and its residual f = G(X) - a X; the differences dx and df from the iterate
   before; and for the pair u = dx, v = df and each earlier pair u, v the inner products <dx, u>, <dx, v> + <df, u>, <f, u> */
typedef struct {
  size_t        n;
  const double *sums;                                              /* [parts][2] results of SMACOFSumsTask for X; NULL: a = 1 */
  double        unit;                                              /* the sum of squares that normalises the stress */
  double        gfactor;                                           /* G(X) is gfactor times g */
  const double *X, *g;                                             /* [n] */
  const double *lastx, *lastf;                                     /* [n] previous iterate and residual; NULL: there is none, and differences are not computed */
  double       *x, *f, *dx, *df;                                   /* [n] output */
  int           before;                                            /* number of earlier pairs of differences */
  const double *u[SMACOF_HISTORY_LIMIT], *v[SMACOF_HISTORY_LIMIT]; /* [before][n] */
  double       *result;                                            /* output in memory that the host reads, [batches][parts][SMACOF_BATCH_SUMS]; it starts with the products of the new pair itself */
} SMACOFDifferencesTask;

static inline SMACOF_HOST_DEVICE int SMACOFCountBatches(int before)
{
  return (1 + before + SMACOF_PAIR_BATCH - 1) / SMACOF_PAIR_BATCH;
}

/* Returns the best scale a of a configuration with normalised stress sigma and <X, B(X) X> = rho in the same unit.  The stress of a X is
   1 - 2 a rho + a^2 eta^2, with its minimum at a = rho / eta^2.  Returns 1 if all points coincide. */
static inline SMACOF_HOST_DEVICE double SMACOFComputeScale(double sigma, double rho)
{
  const double eta2 = sigma - 1 + 2 * rho;

  return rho > 0 && eta2 > 0 ? rho / eta2 : 1;
}

void  SMACOFComputeSums_Host(const SMACOFSumsTask *);
void  SMACOFComputeDifferences_Host(const SMACOFDifferencesTask *);
GpErr SMACOFComputeSums_CUDA(GpDev, const SMACOFSumsTask *);
GpErr SMACOFComputeDifferences_CUDA(GpDev, const SMACOFDifferencesTask *);

#if defined(__cplusplus)
}
#endif
#endif
