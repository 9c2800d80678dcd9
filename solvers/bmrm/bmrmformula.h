/* Interface of losses that are sums over the examples, without PETSc. They are compiled for the host and for CUDA (see bmrmpointwise.h). */
#ifndef BMRM_FORMULA_H
#define BMRM_FORMULA_H

#include <gpucsrbmrmtypes.h>
#include <gpucsrdevicetypes.h>
#include <math.h>

#if defined(__CUDACC__)
  #define FORMULA [[maybe_unused]] __device__ static inline
#else
  #define FORMULA static inline
#endif

#define BMRM_LOSS_PARAMETERS 2
#define BMRM_SLOPES          16 /* maximum number of points on a line at which one kernel call computes derivatives */

#if defined(__cplusplus)
extern "C" {
#endif

/* A kink of a convex function of a step: right of t, the derivative at s gains jump + bend (s - t). */
typedef struct {
  double t, jump, bend;
} BMRMKink;

/* A parameter of a loss and its option. */
typedef struct {
  const char *option, *help;
  double      value, low, high; /* default value, and the open interval of valid values */
} BMRMLossParameter;

/* Where kernels store their sums. partial: one value per block, in device memory. result: totals in host memory, valid after the stream is
   synchronised. */
typedef struct {
  GpDev   dev; /* NULL if the arrays are those of a host vector */
  double *partial, *result;
} BMRMWork;

#define BMRM_PARTS 1024 /* maximum number of thread blocks of a kernel */

/* Scores of n examples of this rank, with k scores per example, the labels, and the parameters of the loss. Scores of consecutive classes are n apart. p is
   in host memory, the other arrays are in the memory of the work's device. */
typedef struct {
  int64_t       n;
  int           k;
  const double *p, *f, *e, *y; /* e: the derivatives of the scores f along a line */
  const double *v;             /* factor of the loss of each example, NULL for ones. Only host kernels get factors */
} BMRMScores;

/* One implementation of a mean over the examples, at the scores f + s e. */
typedef struct {
  /* result[0] = sum of the losses */
  GpErr (*risk)(BMRMWork *, const BMRMScores *, double s);
  /* For the examples with (first + i) % nblock == block: r = scale times the slope of the loss, result[0] = sum of the offsets. For the others: r
     = 0. */
  GpErr (*cut)(BMRMWork *, const BMRMScores *, double s, int64_t first, int nblock, int block, double scale, double *r);
  /* result[2 k] and result[2 k + 1]: the sums of the first and second derivatives with respect to s, right of t[k], for k < nt <= BMRM_SLOPES. */
  GpErr (*slopes)(BMRMWork *, const BMRMScores *, int nt, const double t[]);
} BMRMKernels;

/* A loss that is a mean over the examples of a function of one score. */
typedef struct {
  BMRMKernels       kernels; /* the host implementation */
  BMRMTask          task;
  const char       *labels; /* description of the labels that fits() accepts; NULL if these are the labels of the task */
  BMRMLossParameter parameter[BMRM_LOSS_PARAMETERS];
  int               nparameter;
  int (*fits)(double y); /* NULL: the labels of the task */
  double (*offset)(double u, double y, const double p[]);
  int (*steps)(const double p[]);                                                   /* whether the slope is constant between kinks */
  int kinks;                                                                        /* number of kinks of one example; -1 if the loss is not piecewise quadratic */
  int64_t (*pieces)(const BMRMScores *, double scale, double end, BMRMKink kink[]); /* stores the kinks with 0 < t <= end; returns their number */
} BMRMPointwise;

#if defined(__cplusplus)
}
#endif

FORMULA double Larger(double a, double b)
{
  return a > b ? a : b;
}

FORMULA double Smaller(double a, double b)
{
  return a < b ? a : b;
}

#endif
