/* One power iteration beside its product: kernels with the iteration's scalars on the device.  No PETSc here. */
#ifndef GPUCSR_PAGERANK_STEP_H
#define GPUCSR_PAGERANK_STEP_H

#include "device/gpdevice.h"

#if defined(__cplusplus)
extern "C" {
#endif

enum {
  STEP_RUNNING,
  STEP_SMALL, /* the residual is as small as asked for, or not a number: the host's test knows which */
  STEP_MAX_IT /* as many iterations as were allowed */
};

/* lives on the device; once status is not STEP_RUNNING every kernel returns at once */
typedef struct {
  double   norm;   /* |residual|_1 of the ranks before the last step */
  double   target; /* to stop at */
  double   lost;   /* what dangling nodes hold of the newest ranks */
  int32_t  it, max_it;
  int32_t  status;
  uint32_t ticket; /* how many blocks of a reduction are done */
} StepState;

/* what becomes of the rank of dangling nodes, whose out is 0 */
enum {
  STEP_DROPS,
  STEP_STAYS,
  STEP_MOVES /* by u */
};

/* the operator beside A, entry by entry */
typedef struct {
  int32_t       n;
  int           dangling;
  double        damping;
  const double *out;   /* weight of the links that leave a node */
  const double *v, *u; /* NULL: the same everywhere, which is */
  double        everywhere;
} StepOperator;

#define STEP_PARTIAL (2 * GP_DEV_PARTS) /* doubles that the partial sums take */

/* The twins of every operation, by runtime.  The ranks x are kept as z, what A multiplies: z = x/out, and x where out is 0, whose columns of A are empty. */
typedef struct {
  GpErr (*start)(GpDev, const StepOperator *, StepState *, double *partial, const double *x, double *z);                    /* z of x; lost */
  GpErr (*step)(GpDev, const StepOperator *, StepState *, double *partial, const double *y, const double *z, double *next); /* y = A z: next = z of G x, norm = |G x - x|_1; status */
  GpErr (*finish)(GpDev, const StepOperator *, const double *z, double *x);                                                 /* x of z, as step() took it */
} StepKernels;

extern const StepKernels StepKernelsHost;
extern const StepKernels StepKernelsCUDA; /* only with GP_HAVE_CUDA */

#if GP_HAVE_CUDA
  #define StepKernelsOf(dev) ((dev)->kind == GP_DEV_CUDA ? &StepKernelsCUDA : &StepKernelsHost)
#else
  #define StepKernelsOf(dev) ((void)(dev), &StepKernelsHost)
#endif

#if defined(__cplusplus)
}
#endif
#endif
