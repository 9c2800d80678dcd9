/* The KSP type KSPGPUCG: conjugate gradients. */
/* MANSEC = KSP */
#include "ksp/impls/gpukrylov/gpukrylov.h"

/* r: residual, p: direction, w = A p, z: preconditioned residual */
enum {
  R = KSP_GPU_VECTORS,
  P,
  W,
  Z,
  VECTORS
};

#define VECTOR(which) KSP_GPU_VECTOR(g, which)

static double *KSPGPUCGGetZ(KSP_GPU *g)
{
  return VECTOR(g->pc == KSP_GPU_PC_NONE ? R : Z);
}

static PetscErrorCode KSPGPUCGCheck(KSP ksp, KSP_GPU *g, const char **why)
{
  PetscFunctionBegin;
  if (ksp->pc_side == PC_RIGHT) *why = "right preconditioning";
  else if (g->radius || GpCompatGetNegCurve(ksp)) *why = "trust regions";
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPGPUCGPlan(KSP ksp, KSP_GPU *g)
{
  PetscFunctionBegin;
  (void)ksp;
  g->count  = VECTORS;
  g->period = 1;
  g->extra  = 0;
  g->sums   = GP_KRYLOV_SUMS;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Applies a recorded preconditioner, and computes the scalars that depend on z. */
static PetscErrorCode KSPGPUCGApply(KSP_GPU *g, GpCgStage stage)
{
  PetscFunctionBegin;
  PetscCall(KSPGPUApply_Private(g, VECTOR(R), VECTOR(Z)));
  PetscCallKrylov(g, GpCgKernelsOf(g->dev)->residual(g->dev, (int32_t)g->n, g->state, g->partial, stage, VECTOR(R), VECTOR(Z)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPGPUCGStart(KSP_GPU *g, double *ax)
{
  const PetscBool recorded = (PetscBool)(g->pc == KSP_GPU_PC_RECORDED);

  PetscFunctionBegin;
  PetscCallKrylov(g, GpCgKernelsOf(g->dev)->start(g->dev, (int32_t)g->n, g->state, recorded ? NULL : g->partial, KSPGPUGetScale(g), VECTOR(KSP_GPU_B), ax, VECTOR(R), recorded ? VECTOR(R) : KSPGPUCGGetZ(g)));
  if (recorded) PetscCall(KSPGPUCGApply(g, GP_CG_STARTS));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPGPUCGIterate(KSP_GPU *g, PetscInt k)
{
  const GpCgKernels *K        = GpCgKernelsOf(g->dev);
  const int32_t      n        = (int32_t)g->n;
  const PetscBool    recorded = (PetscBool)(g->pc == KSP_GPU_PC_RECORDED);

  PetscFunctionBegin;
  (void)k;
  PetscCallKrylov(g, K->direction(g->dev, n, g->state, KSPGPUCGGetZ(g), VECTOR(P), VECTOR(KSP_GPU_X)));
  PetscCall(GpOpMult(g->op, PETSC_FALSE, VECTOR(P), NULL, VECTOR(W)));
  PetscCallKrylov(g, K->curvature(g->dev, n, g->state, g->partial, VECTOR(P), VECTOR(W)));
  PetscCallKrylov(g, K->update(g->dev, n, g->state, recorded ? NULL : g->partial, KSPGPUGetScale(g), VECTOR(W), VECTOR(R), recorded ? VECTOR(R) : KSPGPUCGGetZ(g)));
  if (recorded) PetscCall(KSPGPUCGApply(g, GP_CG_UPDATED));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds the last step to the solution. Within the loop the next direction kernel does so, which reads p anyway. */
static PetscErrorCode KSPGPUCGFinish(KSP_GPU *g)
{
  PetscFunctionBegin;
  PetscCallKrylov(g, GpCgKernelsOf(g->dev)->complete(g->dev, (int32_t)g->n, g->state, VECTOR(P), VECTOR(KSP_GPU_X)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The residual is replaced between two iterations. */
static PetscErrorCode KSPGPUCGReplace(KSP_GPU *g)
{
  double       *work = VECTOR(KSP_GPU_WORK);
  const int32_t n    = (int32_t)g->n;

  PetscFunctionBegin;
  PetscCall(KSPGPUCGFinish(g));
  PetscCall(GpOpMult(g->exact, PETSC_FALSE, VECTOR(KSP_GPU_X), NULL, work));
  PetscCallKrylov(g, GpKrylovKernelsOf(g->dev)->residual(g->dev, n, VECTOR(KSP_GPU_B), work));
  PetscCallKrylov(g, GpKrylovKernelsOf(g->dev)->compare(g->dev, n, g->state, g->partial, work, VECTOR(R)));
  PetscCallKrylov(g, GpDevCopyWithin(g->dev, VECTOR(R), work, (size_t)g->n * sizeof(double)));
  if (g->pc != KSP_GPU_PC_NONE) PetscCall(KSPGPUApply_Private(g, VECTOR(R), VECTOR(Z)));
  PetscCallKrylov(g, GpCgKernelsOf(g->dev)->replace(g->dev, n, g->state, g->partial, VECTOR(R), KSPGPUCGGetZ(g), VECTOR(P), VECTOR(W)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPCGSetRadius_GPUCG(KSP ksp, PetscReal radius)
{
  KSP_GPU *g;

  PetscFunctionBegin;
  PetscCall(KSPGPUGetData_Private(ksp, &g));
  g->radius = (PetscBool)(radius != 0);
  PetscCall((*g->setradius)(ksp, radius));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPGPUCGCreate(KSP ksp, KSP_GPU *g)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectQueryFunction((PetscObject)ksp, "KSPCGSetRadius_C", &g->setradius));
  if (g->setradius) PetscCall(PetscObjectComposeFunction((PetscObject)ksp, "KSPCGSetRadius_C", KSPCGSetRadius_GPUCG));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const KSPGPUMethod KSPGPUCGMethod = {.type         = KSPGPUCG,
                                            .base         = KSPCG,
                                            .check        = KSPGPUCGCheck,
                                            .plan         = KSPGPUCGPlan,
                                            .start        = KSPGPUCGStart,
                                            .iterate      = KSPGPUCGIterate,
                                            .replace      = KSPGPUCGReplace,
                                            .finish       = KSPGPUCGFinish,
                                            .create       = KSPGPUCGCreate,
                                            .replaces     = PETSC_TRUE,
                                            .products     = 1,
                                            .applications = 1,
                                            .vectorflops  = 10 /* two inner products and three vector updates */,
                                            .normflops    = 2};

/*MC
  KSPGPUCG - KSPGPUCG = "gpucg" - The conjugate gradient method with its whole loop on the GPU: matrix product, vector updates,
  scalars and stopping test are recorded in a CUDA graph

  Options Database Keys:
+ -ksp_type gpucg      - sets the type
. -ksp_gpu_batch <8>   - number of iterations of a graph, after which the host reads the state; a larger number needs fewer launches, but more kernels are launched after the method has stopped
- -ksp_gpu_refine <1>  - if single storage rounds values of the matrix, replace the residual by one in double precision

  Level: intermediate

  Notes:
  The loop on the device supports one process, matrices of type `MATGPUCSR`, and the preconditioners `PCNONE`, `PCJACOBI`, `PCGPUFSAI`, `PCGPUSPAI` and
  `PCGPUPOLY`. The vectors may be of any type. The iterates are those of `KSPCG` up to rounding. Sums are added in a fixed order.

  In all other cases `KSPCG` solves, for example with monitors other than `KSPMonitorResidual()`, another preconditioner, null spaces, a user-defined
  convergence test, or several processes. Inner products on several processes need a reduction over the ranks, which only the host can start. With
  vectors of type `VECGPU`, `KSPCG` too copies only sums and the exchanged entries of products between host and device.

  If single storage (`MatGPUCSRSetStorage()`) rounds values of the matrix, the iterations multiply by the rounded matrix. From time to time the residual is replaced by that of the
  given matrix. For this purpose the device holds a second copy of the matrix, in double precision. The method converges only if the residual of the given matrix meets the tolerance.
  If single precision does not suffice for the matrix, the solve continues or starts again with the double-precision values. `-ksp_gpu_refine 0` solves with the rounded matrix.

  `-ksp_view` and `-info` report which loop has run, and why. All options of `KSPCG` apply.

.seealso: `KSPCG`, `KSPGPUBCGS`, `MATGPUCSR`
M*/
PetscErrorCode KSPCreate_GPUCG(KSP ksp)
{
  PetscFunctionBegin;
  PetscCall(KSPGPUCreate_Private(ksp, &KSPGPUCGMethod));
  PetscFunctionReturn(PETSC_SUCCESS);
}
