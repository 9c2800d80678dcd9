/* The KSP type KSPGPU, which becomes another type at the first set-up. The known symmetry of the matrix decides which. */
/* MANSEC = KSP */
#include "ksp/impls/gpukrylov/gpukrylov.h"

static PetscErrorCode KSPGPUSelectType(Mat A, KSPType *type)
{
  PetscBool known, is;

  PetscFunctionBegin;
  *type = KSPGPUGMRES;
  PetscCall(MatIsSymmetricKnown(A, &known, &is));
  if (known && is) *type = KSPMINRES;
  PetscCall(MatIsSPDKnown(A, &known, &is));
  if (known && is) *type = KSPGPUCG;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPSetUp_GPU(KSP ksp)
{
  Mat               A;
  KSPType           type;
  const KSPNormType norm = ksp->normtype; /* KSPSetUp() has set both, for one of the supported norms of this type */
  const PCSide      side = ksp->pc_side;

  PetscFunctionBegin;
  PetscCall(PCGetOperators(ksp->pc, &A, NULL));
  PetscCall(KSPGPUSelectType(A, &type));
  PetscCall(PetscInfo(ksp, "KSP type gpu becomes %s\n", type));
  PetscCall(KSPSetType(ksp, type));
  ksp->normtype = norm;
  ksp->pc_side  = side;
  PetscObjectOptionsBegin((PetscObject)ksp);
  if (ksp->ops->setfromoptions) PetscCall((*ksp->ops->setfromoptions)(ksp, PetscOptionsObject)); /* options of the new type, such as the restart */
  PetscOptionsEnd();
  PetscCall((*ksp->ops->setup)(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPSolve_GPUAuto(KSP ksp)
{
  PetscFunctionBegin;
  PetscCheck(PETSC_FALSE, PetscObjectComm((PetscObject)ksp), PETSC_ERR_PLIB, "The set-up of KSP type gpu did not select a type");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
  KSPGPU - KSPGPU = "gpu" - Becomes a Krylov method that suits the matrix, at the first set-up: `KSPGPUCG` if the matrix is known to be symmetric positive
  definite, `KSPMINRES` if it is known to be symmetric, else `KSPGPUGMRES`

  Options Database Keys:
. -ksp_type gpu - sets the type

  Level: intermediate

  Notes:
  What is known of the matrix is what the program has set by `MatSetOption()` with `MAT_SPD` or `MAT_SYMMETRIC`. `KSPMINRES` needs a preconditioner that is positive definite.

  `KSPGetType()` returns the selected type after `KSPSetUp()`. If another matrix is set later, the type does not change. Options of the selected type, such as `-ksp_gmres_restart`, apply. Call
  functions of the selected type, such as `KSPGMRESSetRestart()`, after `KSPSetUp()`. Before, they have no effect.

.seealso: `KSPGPUCG`, `KSPGPUGMRES`, `KSPMINRES`, `MatSetOption()`, `MatIsSPDKnown()`, `MatIsSymmetricKnown()`
M*/
PetscErrorCode KSPCreate_GPU(KSP ksp)
{
  PetscFunctionBegin;
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_PRECONDITIONED, PC_LEFT, 3));
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_NONE, PC_LEFT, 1));
  ksp->ops->setup         = KSPSetUp_GPU;
  ksp->ops->solve         = KSPSolve_GPUAuto;
  ksp->ops->destroy       = KSPDestroyDefault;
  ksp->ops->buildsolution = KSPBuildSolutionDefault;
  ksp->ops->buildresidual = KSPBuildResidualDefault;
  PetscFunctionReturn(PETSC_SUCCESS);
}
