static char help[] = "KSP type gpu: the type that the first set-up selects, and its solution.\n\n";

#include "gpucsr.h"
#include "gpucsrcompat.h"
#include <petscksp.h>

#define N 60

static PetscErrorCode Create(PetscScalar upper, PetscScalar diagonal, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, N, N));
  PetscCall(MatSetType(*A, MATGPUCSR));
  PetscCall(MatSetUp(*A));
  for (PetscInt i = 0; i < N; i++) {
    PetscCall(MatSetValue(*A, i, i, i % 2 ? diagonal : 3, INSERT_VALUES));
    if (i > 0) PetscCall(MatSetValue(*A, i, i - 1, -1, INSERT_VALUES));
    if (i < N - 1) PetscCall(MatSetValue(*A, i, i + 1, upper, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Test(PetscScalar upper, PetscScalar diagonal, PetscBool spd, PetscBool symmetric, PetscInt restart)
{
  Mat       A;
  Vec       b, x, r;
  KSP       ksp;
  PC        pc;
  KSPType   type;
  PetscReal norm, residual;
  PetscInt  its, used;
  PetscBool gmres;

  PetscFunctionBeginUser;
  PetscCall(Create(upper, diagonal, &A));
  if (spd) PetscCall(MatSetOption(A, MAT_SPD, PETSC_TRUE));
  if (symmetric) PetscCall(MatSetOption(A, MAT_SYMMETRIC, PETSC_TRUE));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(VecSet(b, 1));
  PetscCall(VecSet(x, 0.5));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOptionsPrefix(ksp, "s_"));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCNONE));
  PetscCall(KSPSetTolerances(ksp, 1e-9, PETSC_DEFAULT, PETSC_DEFAULT, 300));
  PetscCall(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPGetType(ksp, &type));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s becomes ", type));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetType(ksp, &type));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s\n", type));
  PetscCall(MatMult(A, x, r));
  PetscCall(VecAYPX(r, -1, b));
  PetscCall(VecNorm(r, NORM_2, &residual));
  PetscCall(VecNorm(b, NORM_2, &norm));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCheck(residual <= 1e-7 * norm && its > 3, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: the residual is %g after %" PetscInt_FMT " iterations", type, (double)(residual / norm), its);
  PetscCall(PetscStrcmp(type, KSPGPUGMRES, &gmres));
  if (gmres) {
    PetscCall(KSPGMRESGetRestart(ksp, &used));
    PetscCheck(used == restart, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "The restart is %" PetscInt_FMT ", not %" PetscInt_FMT, used, restart);
  }
  PetscCall(VecSet(x, 0));
  PetscCall(KSPSolve(ksp, b, x)); /* again, without a set-up */
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&r));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscInt restart = 30;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-s_ksp_gmres_restart", &restart, NULL));
  PetscCall(Test(-1, 3.5, PETSC_TRUE, PETSC_TRUE, restart));
  PetscCall(Test(-1, -3.5, PETSC_FALSE, PETSC_TRUE, restart));
  PetscCall(Test(-0.5, 3.5, PETSC_FALSE, PETSC_FALSE, restart));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   testset:
      output_file: output/gpuauto.out
      nsize: {{1 2}}
      args: -s_ksp_type gpu
      test:
         suffix: 1
      test:
         suffix: restart
         args: -s_ksp_gmres_restart 7

TEST*/
