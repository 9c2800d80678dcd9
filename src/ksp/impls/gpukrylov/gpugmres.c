/* The KSP type KSPGPUGMRES: restarted GMRES with classical Gram-Schmidt orthogonalisation. */
/* MANSEC = KSP */
#include "ksp/impls/gpukrylov/gpukrylov.h"

/* w: product, residual; u: restart + 1 vectors of the basis */
enum {
  W = KSP_GPU_VECTORS,
  U,
  VECTORS /* without those of the basis after the first */
};

#define VECTOR(which) KSP_GPU_VECTOR(g, which)

static GpGmresWork KSPGPUGMRESGetWork(KSP_GPU *g)
{
  const size_t m = (size_t)g->period, k = m + 1;
  double      *h = g->work + m * m;

  return (GpGmresWork){.columns = g->work, .h = h, .cosine = h + k, .sine = h + 2 * k, .residual = h + 3 * k, .scale = h + 4 * k, .y = h + 5 * k, .restart = (int32_t)m};
}

static PetscErrorCode KSPGPUGMRESCheck(KSP ksp, KSP_GPU *g, const char **why)
{
  PetscInt  restart;
  PetscBool classical;

  PetscFunctionBegin;
  (void)g;
  PetscCall(KSPGMRESGetRestart(ksp, &restart));
  GP_COMPAT_IS_CLASSICAL(ksp, &classical);
  if (restart > GP_GMRES_RESTART) *why = "a restart of more than 200";
  else if (!classical) *why = "orthogonalisations other than classical Gram-Schmidt without refinement";
  else if (ksp->max_it < 1) *why = "a solve without iterations";
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPGPUGMRESPlan(KSP ksp, KSP_GPU *g)
{
  PetscInt restart;

  PetscFunctionBegin;
  PetscCall(KSPGMRESGetRestart(ksp, &restart));
  g->period = restart;
  g->count  = VECTORS + restart;
  g->extra  = restart * restart + 6 * (restart + 1);
  g->sums   = PetscMax(GP_KRYLOV_SUMS, restart);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPGPUGMRESInitialise(KSP_GPU *g, GpKrylovState *state)
{
  PetscFunctionBegin;
  state->happy   = (double)g->happy;
  state->far     = (double)g->far;
  state->refines = g->refining;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPGPUGMRESBegin(KSP_GPU *g, GpGmresStage stage)
{
  const GpGmresWork w = KSPGPUGMRESGetWork(g);

  PetscFunctionBegin;
  PetscCallKrylov(g, GpGmresKernelsOf(g->dev)->begin(g->dev, (int32_t)g->n, g->state, &w, g->partial, stage, VECTOR(W), VECTOR(U)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPGPUGMRESStart(KSP_GPU *g, double *ax)
{
  PetscFunctionBegin;
  PetscCall(KSPGPUStartResidual_Private(g, ax, VECTOR(W)));
  PetscCall(KSPGPUGMRESBegin(g, GP_GMRES_STARTS));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds the correction of the cycle to the solution.  always: also if the method has stopped */
static PetscErrorCode KSPGPUGMRESCorrect(KSP_GPU *g, PetscBool always)
{
  const GpGmresWork w = KSPGPUGMRESGetWork(g);

  PetscFunctionBegin;
  PetscCallKrylov(g, GpGmresKernelsOf(g->dev)->correct(g->dev, (int32_t)g->n, g->state, &w, always, VECTOR(U), VECTOR(KSP_GPU_X)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The product is not stored in the basis: products that are launched after the method has stopped must not overwrite a vector that the correction needs. */
static PetscErrorCode KSPGPUGMRESIterate(KSP_GPU *g, PetscInt k)
{
  const GpGmresKernels *K     = GpGmresKernelsOf(g->dev);
  const GpGmresWork     w     = KSPGPUGMRESGetWork(g);
  const int32_t         n     = (int32_t)g->n;
  const double         *scale = KSPGPUGetScale(g);

  PetscFunctionBegin;
  PetscCall(KSPGPUMult_Private(g, g->op, VECTOR(U + k), VECTOR(W)));
  PetscCallKrylov(g, K->orthogonalise(g->dev, n, g->state, &w, g->partial, (int32_t)k, scale, VECTOR(U), VECTOR(W)));
  PetscCallKrylov(g, K->update(g->dev, n, g->state, &w, g->partial, (int32_t)k, scale, VECTOR(U), VECTOR(W)));
  if (k + 1 < g->period) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPGPUGMRESCorrect(g, PETSC_FALSE));
  PetscCall(KSPGPUReplaceResidual_Private(g, VECTOR(W)));
  PetscCall(KSPGPUGMRESBegin(g, GP_GMRES_RESTARTS));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ends the cycle and begins one with the new residual. */
static PetscErrorCode KSPGPUGMRESReplace(KSP_GPU *g)
{
  PetscFunctionBegin;
  PetscCall(KSPGPUGMRESCorrect(g, PETSC_TRUE));
  PetscCall(KSPGPUReplaceResidual_Private(g, VECTOR(W)));
  PetscCall(KSPGPUGMRESBegin(g, GP_GMRES_REPLACED));
  g->next = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPGPUGMRESFinish(KSP_GPU *g)
{
  PetscFunctionBegin;
  PetscCall(KSPGPUGMRESCorrect(g, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPGMRESSetHapTol_GPUGMRES(KSP ksp, PetscReal tolerance)
{
  KSP_GPU *g;

  PetscFunctionBegin;
  PetscCall(KSPGPUGetData_Private(ksp, &g));
  PetscCall((*g->sethappy)(ksp, tolerance));
  g->happy = tolerance;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPGMRESSetBreakdownTolerance_GPUGMRES(KSP ksp, PetscReal tolerance)
{
  KSP_GPU *g;

  PetscFunctionBegin;
  PetscCall(KSPGPUGetData_Private(ksp, &g));
  PetscCall((*g->setfar)(ksp, tolerance));
  g->far = tolerance == (PetscReal)PETSC_DEFAULT ? 0.1 : tolerance;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* KSPGMRES has no functions that return its tolerances. */
static PetscErrorCode KSPGPUGMRESCreate(KSP ksp, KSP_GPU *g)
{
  PetscFunctionBegin;
  g->happy = 1e-30;
  g->far   = 0.1;
  PetscCall(PetscObjectQueryFunction((PetscObject)ksp, "KSPGMRESSetHapTol_C", &g->sethappy));
  PetscCall(PetscObjectQueryFunction((PetscObject)ksp, "KSPGMRESSetBreakdownTolerance_C", &g->setfar));
  if (g->sethappy) PetscCall(PetscObjectComposeFunction((PetscObject)ksp, "KSPGMRESSetHapTol_C", KSPGMRESSetHapTol_GPUGMRES));
  if (g->setfar) PetscCall(PetscObjectComposeFunction((PetscObject)ksp, "KSPGMRESSetBreakdownTolerance_C", KSPGMRESSetBreakdownTolerance_GPUGMRES));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscLogDouble KSPGPUGMRESGetFlops(KSP_GPU *g, PetscInt its)
{
  PetscLogDouble flops = 0;

  for (PetscInt k = 0; k < its; k++) flops += (4.0 * (k % g->period + 1) + 3) * (PetscLogDouble)g->n;
  return flops;
}

static const KSPGPUMethod KSPGPUGMRESMethod = {.type         = KSPGPUGMRES,
                                               .base         = KSPGMRES,
                                               .check        = KSPGPUGMRESCheck,
                                               .plan         = KSPGPUGMRESPlan,
                                               .initialise   = KSPGPUGMRESInitialise,
                                               .start        = KSPGPUGMRESStart,
                                               .iterate      = KSPGPUGMRESIterate,
                                               .replace      = KSPGPUGMRESReplace,
                                               .finish       = KSPGPUGMRESFinish,
                                               .create       = KSPGPUGMRESCreate,
                                               .getflops     = KSPGPUGMRESGetFlops,
                                               .products     = 1,
                                               .applications = 1};

/*MC
  KSPGPUGMRES - KSPGPUGMRES = "gpugmres" - Restarted GMRES with its whole loop on the GPU: matrix products, orthogonalisation, scalars and stopping test are
  recorded in CUDA graphs

  Options Database Keys:
+ -ksp_type gpugmres        - sets the type
. -ksp_gmres_restart <30>   - number of iterations of a cycle, as `KSPGMRES`; at most 200
. -ksp_pc_side right        - preconditions from the right, as `KSPGMRES`; the tested norm is then that of the unpreconditioned residual
. -ksp_gpu_batch <8>        - number of iterations of a graph, after which the host reads the state
- -ksp_gpu_refine <1>       - if single storage rounds values of the matrix, compute the residual at restarts in double precision

  Level: intermediate

  Notes:
  The iterates are those of `KSPGMRES` up to rounding. The vectors are orthogonalised by the classical Gram-Schmidt method, the default of `KSPGMRES`; with another orthogonalisation, or with its
  iterative refinement, `KSPGMRES` solves. All inner products of an iteration are one reduction. Sums are added in a fixed order.

  The device holds m + 6 vectors, where m is the restart. The manual page of `KSPGPUCG` says what the loop on the device supports, and how it replaces the residual. In all other cases `KSPGMRES` solves.

  `-ksp_view` and `-info` report which loop has run, and why. All options of `KSPGMRES` apply.

.seealso: `KSPGMRES`, `KSPGPUCG`, `KSPGPUBCGS`, `MATGPUCSR`
M*/
PetscErrorCode KSPCreate_GPUGMRES(KSP ksp)
{
  PetscFunctionBegin;
  PetscCall(KSPGPUCreate_Private(ksp, &KSPGPUGMRESMethod));
  PetscFunctionReturn(PETSC_SUCCESS);
}
