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

/* what becomes of the rank of dangling nodes, whose scale is 0 */
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
  const double *scale; /* 1/out, 0 where nothing leaves */
  const double *v, *u; /* NULL: the same everywhere, which is */
  double        everywhere;
} StepOperator;

#define STEP_PARTIAL (2 * GP_DEV_PARTS) /* doubles that the partial sums take */

/* the twins of every operation, by runtime */
typedef struct {
  GpErr (*start)(GpDev, const StepOperator *, StepState *, double *partial, const double *ranks, double *x, double *z);                /* x = ranks; z = scale x; lost */
  GpErr (*step)(GpDev, const StepOperator *, StepState *, double *partial, const double *y, const double *x, double *next, double *z); /* y = A z: next = G x, norm = |next - x|_1, z = scale next; status */
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
