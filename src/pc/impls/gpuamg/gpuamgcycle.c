/* The cycle of PCGPUAMG: PETSc's PCMG with smoothers for the levels. */
#include "pc/impls/gpuamg/gpuamg.h"
#include "mat/impls/gpucsr/image/gpucsrimpl.h"

/* Divides each entry of r by the sum of the absolute values of its row.  The context of the shell is the level. */
static PetscErrorCode PCGPUAMGApplyL1(PC shell, Vec r, Vec z)
{
  PCGPUAMGLevel *L;

  PetscFunctionBegin;
  PetscCall(PCShellGetContext(shell, &L));
  PetscCall(VecPointwiseMult(z, r, L->l1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the iterative method of a level. */
static PetscErrorCode PCGPUAMGSetUpSmoother(PC pc, PCGPUAMGLevel *L, KSP ksp)
{
  const PCGPUAMGOptions *o         = &((PC_GPUAMG *)pc->data)->options;
  const PetscBool        chebyshev = (PetscBool)(o->smoother == PC_GPUAMG_SMOOTHER_CHEBYSHEV || o->smoother == PC_GPUAMG_SMOOTHER_GPUFSAI);
  PC                     inner;

  PetscFunctionBegin;
  PetscCall(KSPSetType(ksp, chebyshev ? KSPCHEBYSHEV : KSPRICHARDSON));
  PetscCall(KSPSetTolerances(ksp, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, o->sweeps));
  PetscCall(KSPSetNormType(ksp, KSP_NORM_NONE));
  PetscCall(KSPSetConvergenceTest(ksp, KSPConvergedSkip, NULL, NULL));
  PetscCall(KSPGetPC(ksp, &inner));
  switch (o->smoother) {
  case PC_GPUAMG_SMOOTHER_CHEBYSHEV:
    PetscCall(PCSetType(inner, PCJACOBI));
    break;
  case PC_GPUAMG_SMOOTHER_L1JACOBI:
    PetscCall(PCSetType(inner, PCSHELL));
    PetscCall(PCShellSetName(inner, "l1-Jacobi"));
    PetscCall(PCShellSetContext(inner, L));
    PetscCall(PCShellSetApply(inner, PCGPUAMGApplyL1));
    PetscCall(PCShellSetApplyTranspose(inner, PCGPUAMGApplyL1));
    break;
  case PC_GPUAMG_SMOOTHER_GPUFSAI:
    PetscCall(PCSetType(inner, PCGPUFSAI));
    PetscCall(KSPChebyshevEstEigSet(ksp, 0, 1.1 / o->ratio, 0, 1.1));
    break;
  case PC_GPUAMG_SMOOTHER_SOR:
    PetscCall(PCSetType(inner, PCSOR));
    if (L != ((PC_GPUAMG *)pc->data)->level && MatGPUCSRIs_Private(L->A)) PetscCall(MatGPUCSRSetSORType(L->A, MAT_GPUCSR_SOR_MULTICOLOR));
    break;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the KSP of a level. */
static PetscErrorCode PCGPUAMGGetSmoother(PC_GPUAMG *amg, PetscInt level, KSP *ksp)
{
  PetscFunctionBegin;
  if (level == amg->n - 1) PetscCall(PCMGGetCoarseSolve(amg->mg, ksp));
  else PetscCall(PCMGGetSmoother(amg->mg, amg->n - 1 - level, ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes a product with the inverse the solver of the coarsest level. */
static PetscErrorCode PCGPUAMGSetCoarseSolver(PC_GPUAMG *amg, KSP ksp)
{
  PC inner;

  PetscFunctionBegin;
  PetscCall(KSPSetType(ksp, KSPPREONLY));
  PetscCall(KSPSetOperators(ksp, amg->inverse, amg->inverse));
  PetscCall(KSPGetPC(ksp, &inner));
  PetscCall(PCSetType(inner, PCMAT));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCGPUAMGCreateCycle(PC pc)
{
  PC_GPUAMG  *amg = (PC_GPUAMG *)pc->data;
  const char *prefix;

  PetscFunctionBegin;
  PetscCall(PCCreate(PetscObjectComm((PetscObject)pc), &amg->mg));
  PetscCall(PetscObjectIncrementTabLevel((PetscObject)amg->mg, (PetscObject)pc, 1));
  PetscCall(PCGetOptionsPrefix(pc, &prefix));
  PetscCall(PCSetOptionsPrefix(amg->mg, prefix));
  PetscCall(PCAppendOptionsPrefix(amg->mg, "pc_gpuamg_"));
  PetscCall(PCSetOperators(amg->mg, amg->level[0].A, amg->level[0].A));
  PetscCall(PCSetType(amg->mg, PCMG));
  PetscCall(PCSetUseAmat(amg->mg, PETSC_FALSE));
  PetscCall(PCMGSetLevels(amg->mg, amg->n, NULL));
  PetscCall(PCMGSetGalerkin(amg->mg, PC_MG_GALERKIN_EXTERNAL));
  PetscCall(PCMGSetCycleType(amg->mg, amg->options.cycle == PC_GPUAMG_CYCLE_W ? PC_MG_CYCLE_W : PC_MG_CYCLE_V));
  for (PetscInt level = 0; level < amg->n; level++) {
    KSP ksp;

    PetscCall(PCGPUAMGGetSmoother(amg, level, &ksp));
    if (level == amg->n - 1 && amg->exact) PetscCall(PCGPUAMGSetCoarseSolver(amg, ksp));
    else {
      PetscCall(KSPSetOperators(ksp, amg->level[level].A, amg->level[level].A));
      PetscCall(PCGPUAMGSetUpSmoother(pc, &amg->level[level], ksp));
    }
    if (level < amg->n - 1) PetscCall(PCMGSetInterpolation(amg->mg, amg->n - 1 - level, amg->level[level].P));
  }
  PetscCall(PCSetFromOptions(amg->mg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates the cycle unless it exists, sets the bounds of the eigenvalues, and sets up the smoothers. */
PetscErrorCode PCGPUAMGSetUpCycle_Private(PC pc)
{
  PC_GPUAMG *amg = (PC_GPUAMG *)pc->data;

  PetscFunctionBegin;
  if (!amg->mg) PetscCall(PCGPUAMGCreateCycle(pc));
  for (PetscInt level = 0; level < amg->n; level++) {
    const PetscReal high = amg->level[level].high;
    KSP             ksp;

    PetscCall(PCGPUAMGGetSmoother(amg, level, &ksp));
    if (amg->options.smoother == PC_GPUAMG_SMOOTHER_CHEBYSHEV && (level < amg->n - 1 || !amg->exact)) PetscCall(KSPChebyshevSetEigenvalues(ksp, high, high / amg->options.ratio));
  }
  PetscCall(PCSetOperators(amg->mg, amg->level[0].A, amg->level[0].A));
  PetscCall(PCSetUp(amg->mg));
  pc->failedreason = amg->mg->failedreason;
  if (pc->failedreason) PetscCall(PetscSNPrintf(amg->why, sizeof(amg->why), "the set-up of a smoother has failed"));
  PetscFunctionReturn(PETSC_SUCCESS);
}
