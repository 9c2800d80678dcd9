/* Solves systems with a matrix of a Matrix Market file, and prints the numbers of iterations: with Jacobi, gpufsai and gpufsai with an adaptive pattern by CG, or
   with Jacobi, gpuspai and gpuspai with the power 2 by GMRES.
   Arguments: -f <file>  the matrix; -nonsymmetric: GMRES; -expect_failure: the preconditioner must refuse the matrix. */
#include "app/market/appmarket.h"
#include "gpucsr.h"
#include "gpucsrcompat.h"
#include <petscksp.h>

/* Solves and checks the residual.  Returns the number of iterations, or -1 if the preconditioner has failed. */
static PetscErrorCode Solve(Mat A, PetscBool nonsymmetric, PCType type, PetscBool larger, PetscInt *its)
{
  KSP                ksp;
  PC                 pc;
  Vec                x, b, r;
  PetscReal          norm, residual;
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(VecSet(b, 1));
  PetscCall(KSPCreate(PetscObjectComm((PetscObject)A), &ksp));
  PetscCall(KSPSetType(ksp, nonsymmetric ? KSPGMRES : KSPCG));
  if (nonsymmetric) PetscCall(KSPGMRESSetRestart(ksp, 100));
  if (nonsymmetric) PetscCall(KSPSetPCSide(ksp, PC_RIGHT));
  PetscCall(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetTolerances(ksp, 1e-6, 1e-300, 1e30, 20000));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, type));
  if (larger && nonsymmetric) PetscCall(PCGPUSPAISetPower(pc, 2));
  else if (larger) PetscCall(PCGPUFSAISetPattern(pc, PC_GPUFSAI_PATTERN_ADAPTIVE));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, its));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  if (reason == KSP_DIVERGED_PC_FAILED) *its = -1;
  else {
    PetscCheck(reason > 0, PETSC_COMM_WORLD, PETSC_ERR_NOT_CONVERGED, "%s: %s", type, KSPConvergedReasons[reason]);
    PetscCall(MatMult(A, x, r));
    PetscCall(VecAXPY(r, -1, b));
    PetscCall(VecNorm(r, NORM_2, &residual));
    PetscCall(VecNorm(b, NORM_2, &norm));
    PetscCheck(residual <= 1e-5 * norm, PETSC_COMM_WORLD, PETSC_ERR_NOT_CONVERGED, "%s: the true residual is %g", type, (double)(residual / norm));
  }
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  char        file[PETSC_MAX_PATH_LEN];
  GpAppMarket market;
  Mat         A;
  PetscInt    its[3]  = {0, 0, 0};
  PetscBool   failure = PETSC_FALSE, nonsymmetric = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(PetscOptionsGetString(NULL, NULL, "-f", file, sizeof(file), NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-expect_failure", &failure, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-nonsymmetric", &nonsymmetric, NULL));
  PetscCall(GpAppMarketRead(PETSC_COMM_WORLD, file, GP_MARKET_SQUARE, &market));
  PetscCall(GpAppMarketExpand(&market));
  PetscCall(GpAppMarketCreateAIJ(&market, &A));
  PetscCall(GpAppMarketDestroy(&market));
  PetscCall(MatConvert(A, MATGPUCSR, MAT_INPLACE_MATRIX, &A));
  PetscCall(MatGPUCSRSetStorage(A, MAT_GPUCSR_STORAGE_DOUBLE));
  if (!failure) PetscCall(Solve(A, nonsymmetric, PCJACOBI, PETSC_FALSE, &its[0]));
  PetscCall(Solve(A, nonsymmetric, nonsymmetric ? PCGPUSPAI : PCGPUFSAI, PETSC_FALSE, &its[1]));
  PetscCall(Solve(A, nonsymmetric, nonsymmetric ? PCGPUSPAI : PCGPUFSAI, PETSC_TRUE, &its[2]));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " %" PetscInt_FMT " %" PetscInt_FMT "\n", its[0], its[1], its[2]));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}
