/* The KSP type KSPGPUBCGS: BiCGStab. */
/* MANSEC = KSP */
#include "ksp/impls/gpukrylov/gpukrylov.h"

/* r: residual, and s within an iteration; r0: shadow residual; p: direction; v, t: products with the preconditioned operator */
enum {
  R = KSP_GPU_VECTORS,
  R0,
  P,
  V,
  T,
  VECTORS
};

#define VECTOR(which) KSP_GPU_VECTOR(g, which)

static PetscErrorCode KSPGPUBCGSPlan(KSP ksp, KSP_GPU *g)
{
  PetscFunctionBegin;
  (void)ksp;
  g->count  = VECTORS;
  g->period = 1;
  g->extra  = 0;
  g->sums   = GP_KRYLOV_SUMS;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPGPUBCGSStart(KSP_GPU *g, double *ax)
{
  PetscFunctionBegin;
  PetscCall(KSPGPUStartResidual_Private(g, ax, VECTOR(R)));
  PetscCallKrylov(g, GpBcgsKernelsOf(g->dev)->start(g->dev, (int32_t)g->n, g->state, g->partial, VECTOR(R), VECTOR(R0)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPGPUBCGSIterate(KSP_GPU *g, PetscInt k)
{
  const GpBcgsKernels *K     = GpBcgsKernelsOf(g->dev);
  const int32_t        n     = (int32_t)g->n;
  const double        *scale = KSPGPUGetScale(g);

  PetscFunctionBegin;
  (void)k;
  PetscCallKrylov(g, K->direction(g->dev, n, g->state, VECTOR(R), VECTOR(V), VECTOR(P)));
  PetscCall(KSPGPUMult_Private(g, g->op, VECTOR(P), VECTOR(V)));
  PetscCallKrylov(g, K->shorten(g->dev, n, g->state, g->partial, scale, VECTOR(R0), VECTOR(V)));
  PetscCallKrylov(g, K->half(g->dev, n, g->state, VECTOR(V), VECTOR(R)));
  PetscCall(KSPGPUMult_Private(g, g->op, VECTOR(R), VECTOR(T)));
  PetscCallKrylov(g, K->stabilise(g->dev, n, g->state, g->partial, scale, VECTOR(R), VECTOR(T)));
  PetscCallKrylov(g, K->update(g->dev, n, g->state, g->partial, VECTOR(P), VECTOR(T), VECTOR(R0), VECTOR(KSP_GPU_X), VECTOR(R)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The residual is replaced between two iterations, where t is not needed. */
static PetscErrorCode KSPGPUBCGSReplace(KSP_GPU *g)
{
  const int32_t n = (int32_t)g->n;

  PetscFunctionBegin;
  PetscCall(KSPGPUReplaceResidual_Private(g, VECTOR(T)));
  PetscCallKrylov(g, GpKrylovKernelsOf(g->dev)->compare(g->dev, n, g->state, g->partial, VECTOR(T), VECTOR(R)));
  PetscCallKrylov(g, GpBcgsKernelsOf(g->dev)->adopt(g->dev, n, g->state, g->partial, VECTOR(T), VECTOR(R), VECTOR(R0)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const KSPGPUMethod KSPGPUBCGSMethod = {.type         = KSPGPUBCGS,
                                              .base         = KSPBCGS,
                                              .plan         = KSPGPUBCGSPlan,
                                              .start        = KSPGPUBCGSStart,
                                              .iterate      = KSPGPUBCGSIterate,
                                              .replace      = KSPGPUBCGSReplace,
                                              .replaces     = PETSC_TRUE,
                                              .products     = 2,
                                              .applications = 2,
                                              .vectorflops  = 20 /* four inner products and six vector updates */,
                                              .normflops    = 2};

/*MC
  KSPGPUBCGS - KSPGPUBCGS = "gpubcgs" - BiCGStab with its whole loop on the GPU: matrix products, vector updates, scalars and stopping test are recorded in a
  CUDA graph

  Options Database Keys:
+ -ksp_type gpubcgs    - sets the type
. -ksp_pc_side right   - preconditions from the right, as `KSPBCGS`; the tested norm is then that of the unpreconditioned residual
. -ksp_gpu_batch <8>   - number of iterations of a graph, after which the host reads the state
- -ksp_gpu_refine <1>  - if single storage rounds values of the matrix, replace the residual by one in double precision

  Level: intermediate

  Notes:
  The iterates are those of `KSPBCGS` up to rounding. Sums are added in a fixed order. The manual page of `KSPGPUCG` says what the loop on the device supports, and how it
  replaces the residual. In all other cases `KSPBCGS` solves.

  `-ksp_view` and `-info` report which loop has run, and why. All options of `KSPBCGS` apply.

.seealso: `KSPBCGS`, `KSPGPUCG`, `MATGPUCSR`
M*/
PetscErrorCode KSPCreate_GPUBCGS(KSP ksp)
{
  PetscFunctionBegin;
  PetscCall(KSPGPUCreate_Private(ksp, &KSPGPUBCGSMethod));
  PetscFunctionReturn(PETSC_SUCCESS);
}
