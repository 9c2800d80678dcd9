/* The preconditioner of a recorded Krylov method, and products with the preconditioned operator. */
#include "ksp/impls/gpukrylov/gpukrylov.h"

/* Gets the kind of the preconditioner.  *why is set to what the loop does not support; otherwise it does not change. */
PetscErrorCode KSPGPUGetPC_Private(KSP ksp, KSPGPUPCKind *kind, PCGPURecorded *recorded, const char **why)
{
  PetscBool          none, jacobi;
  PCGPUGetRecordedFn get;

  PetscFunctionBegin;
  *kind     = KSP_GPU_PC_NONE;
  *recorded = (PCGPURecorded){0};
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp->pc, PCNONE, &none));
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp->pc, PCJACOBI, &jacobi));
  PetscCall(PetscObjectQueryFunction((PetscObject)ksp->pc, PC_GPU_GET_RECORDED, &get));
  if (jacobi) *kind = KSP_GPU_PC_DIAGONAL;
  else if (get) {
    *kind = KSP_GPU_PC_RECORDED;
    PetscCall(PCSetUp(ksp->pc)); /* KSPSetUp() does nothing if only the values of the matrix have changed; PCApply() would then set up */
    PetscCall((*get)(ksp->pc, recorded));
    *why = recorded->why;
  } else if (!none) *why = "preconditioners other than none, jacobi, gpufsai, gpuspai and gpupoly";
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPGPUApply_Private(KSP_GPU *g, const double r[], double z[])
{
  PetscFunctionBegin;
  if (g->pc == KSP_GPU_PC_RECORDED) PetscCall((*g->recorded.apply)(g->recorded.ctx, r, z));
  else if (g->pc == KSP_GPU_PC_DIAGONAL) PetscCallKrylov(g, GpKrylovKernelsOf(g->dev)->multiply(g->dev, (int32_t)g->n, KSP_GPU_VECTOR(g, KSP_GPU_D), r, z));
  else PetscCallKrylov(g, GpDevCopyWithin(g->dev, z, r, (size_t)g->n * sizeof(double)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPGPUMult_Private(KSP_GPU *g, GpOp op, const double x[], double y[])
{
  double *work = KSP_GPU_VECTOR(g, KSP_GPU_WORK);

  PetscFunctionBegin;
  if (g->pc != KSP_GPU_PC_NONE && g->side == PC_RIGHT) {
    PetscCall(KSPGPUApply_Private(g, x, work));
    PetscCall(GpOpMult(op, PETSC_FALSE, work, NULL, y));
  } else if (g->pc == KSP_GPU_PC_RECORDED) {
    PetscCall(GpOpMult(op, PETSC_FALSE, x, NULL, work));
    PetscCall(KSPGPUApply_Private(g, work, y));
  } else PetscCall(GpOpMult(op, PETSC_FALSE, x, NULL, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Multiplies a residual by the preconditioner if that is applied from the left.  y and r may be the same memory only if the preconditioner is a diagonal */
static PetscErrorCode KSPGPUPreconditionResidual(KSP_GPU *g, const double r[], double y[])
{
  PetscFunctionBegin;
  if (g->side == PC_RIGHT && y != r) PetscCallKrylov(g, GpDevCopyWithin(g->dev, y, r, (size_t)g->n * sizeof(double)));
  if (g->side != PC_RIGHT && (y != r || g->pc != KSP_GPU_PC_NONE)) PetscCall(KSPGPUApply_Private(g, r, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPGPUComputeResidual_Private(KSP_GPU *g, double *ax, double y[])
{
  PetscFunctionBegin;
  if (ax) PetscCallKrylov(g, GpKrylovKernelsOf(g->dev)->residual(g->dev, (int32_t)g->n, KSP_GPU_VECTOR(g, KSP_GPU_B), ax));
  PetscCall(KSPGPUPreconditionResidual(g, ax ? ax : KSP_GPU_VECTOR(g, KSP_GPU_B), y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPGPUStartResidual_Private(KSP_GPU *g, double *ax, double y[])
{
  const size_t bytes = (size_t)g->n * sizeof(double);

  PetscFunctionBegin;
  PetscCall(KSPGPUComputeResidual_Private(g, ax, y));
  if (g->side == PC_RIGHT) {
    PetscCallKrylov(g, GpDevCopyWithin(g->dev, KSP_GPU_VECTOR(g, KSP_GPU_B), y, bytes));
    PetscCallKrylov(g, GpDevZero(g->dev, KSP_GPU_VECTOR(g, KSP_GPU_X), bytes));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* With the preconditioner on the right, B is the initial residual and X the solution of the preconditioned system. */
PetscErrorCode KSPGPUReplaceResidual_Private(KSP_GPU *g, double y[])
{
  double       *work = KSP_GPU_VECTOR(g, KSP_GPU_WORK);
  const double *x    = KSP_GPU_VECTOR(g, KSP_GPU_X);

  PetscFunctionBegin;
  if (g->side == PC_RIGHT) {
    PetscCall(KSPGPUApply_Private(g, x, y));
    x = y;
  }
  PetscCall(GpOpMult(g->exact, PETSC_FALSE, x, NULL, work));
  PetscCall(KSPGPUComputeResidual_Private(g, work, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}
