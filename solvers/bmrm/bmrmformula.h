/* What a loss of one example is: formulas, without PETSc, compiled for the host and for the GPU (see bmrmpointwise.h). */
#ifndef BMRM_FORMULA_H
#define BMRM_FORMULA_H

#include <gpucsrbmrmtypes.h>
#include "device/gpdevice.h"
#include <math.h>

#if defined(__CUDACC__)
  #define FORMULA [[maybe_unused]] __device__ static inline
#else
  #define FORMULA static inline
#endif

#define BMRM_LOSS_PARAMETERS 2
#define BMRM_SLOPES          16 /* places of a line where one kernel takes the derivatives */

#if defined(__cplusplus)
extern "C" {
#endif

/* Beyond t the derivative along a line gains jump + bend (s - t). */
typedef struct {
  double t, jump, bend;
} BMRMKink;

/* a number that shapes a loss, and its option */
typedef struct {
  const char *option, *help;
  double      value, low, high; /* its default, and what it lies between */
} BMRMLossParameter;

/* where kernels leave their sums: partial ones on the device, results in host memory once the stream is idle */
typedef struct {
  GpDev   dev; /* NULL for the plain arrays of a host vector */
  double *partial, *result;
} BMRMWork;

#define BMRM_PARTS 1024 /* blocks of a kernel at most */

/* Rows i = 0 ... n-1 with scores f + s e and labels y; p are the parameters. All arrays are on the device of the work. */
typedef struct {
  /* result[0]: the sum of the losses */
  GpErr (*risk)(BMRMWork *, int64_t n, const double p[], const double *f, const double *e, double s, const double *y);
  /* for the rows with (first + i) % nblock == block: r = scale times the slope, result[0] the sum of the offsets; r is 0 elsewhere */
  GpErr (*cut)(BMRMWork *, int64_t n, int64_t first, int nblock, int block, const double p[], double scale, const double *f, const double *e, double s, const double *y, double *r);
  /* result[2 k] and [2 k + 1]: the sums of the first and second derivatives by s right of t[k], k < nt <= BMRM_SLOPES */
  GpErr (*slopes)(BMRMWork *, int64_t n, const double p[], const double *f, const double *e, int nt, const double t[], const double *y);
} BMRMPointwiseKernels;

typedef struct {
  BMRMPointwiseKernels kernels; /* the host twins */
  BMRMTask             task;
  const char          *labels; /* what fits() wants, in words */
  BMRMLossParameter    parameter[BMRM_LOSS_PARAMETERS];
  int                  nparameter;
  int (*fits)(double y);
  double (*offset)(double u, double y, const double p[]);
  int (*steps)(const double p[]);                                                                                                          /* whether the slope is constant between kinks */
  int kinks;                                                                                                                               /* of one example, -1 when the loss is not piecewise quadratic */
  int64_t (*pieces)(int64_t n, const double p[], double scale, double end, const double *f, const double *e, const double *y, BMRMKink *); /* those ahead, up to the step end; returns their number */
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
