static char help[] = "Training with the installed headers only, as a program outside the project does.\n\n";

#include <gpucsr.h>
#include <gpucsrbmrm.h>
#include <petsctao.h>

/* Two examples, 1 and -1, of their own classes: J(w) = w^2 + max(0, 1 - w) is least at 1/2, where it is 3/4. */
static PetscErrorCode Check(BMRM b, const char way[])
{
  BMRMConvergedReason reason;
  PetscReal           J, bound, norm;
  Vec                 w;

  PetscFunctionBeginUser;
  PetscCall(BMRMGetConvergedReason(b, &reason));
  PetscCall(BMRMGetObjective(b, &J, &bound));
  PetscCall(BMRMGetSolution(b, &w));
  PetscCall(VecNorm(w, NORM_2, &norm));
  PetscCheck(PetscAbsReal(norm - 0.5) < 1e-4 && PetscAbsReal(J - 0.75) < 1e-8 && bound <= 0.75 && bound > 0.75 - 1e-6, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: %s, w %g, objective %.12g, bound %.12g", way, BMRMConvergedReasons[reason], (double)norm,
             (double)J, (double)bound);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: at the optimum\n", way));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  PetscInt start, end;
  Mat      X;
  Vec      y, w;
  BMRM     b;
  Tao      tao;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(MatCreate(PETSC_COMM_WORLD, &X));
  PetscCall(MatSetSizes(X, PETSC_DECIDE, PETSC_DECIDE, 2, 1));
  PetscCall(MatSetType(X, MATGPUCSR));
  PetscCall(MatSetUp(X));
  PetscCall(MatCreateVecs(X, &w, &y));
  PetscCall(MatGetOwnershipRange(X, &start, &end));
  for (PetscInt i = start; i < end; i++) {
    PetscCall(MatSetValue(X, i, 0, 1 - 2 * i, INSERT_VALUES));
    PetscCall(VecSetValue(y, i, 1 - 2 * i, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(X, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(X, MAT_FINAL_ASSEMBLY));
  PetscCall(VecAssemblyBegin(y));
  PetscCall(VecAssemblyEnd(y));

  PetscCall(BMRMCreate(PETSC_COMM_WORLD, &b));
  PetscCall(BMRMSetData(b, X, y));
  PetscCall(BMRMSetLossType(b, "hinge"));
  PetscCall(BMRMSetLambda(b, 2));
  PetscCall(BMRMSetTolerances(b, 1e-9, 0, 100));
  PetscCall(BMRMSetFromOptions(b));
  PetscCall(BMRMSolve(b));
  PetscCall(Check(b, "BMRMSolve"));

  PetscCall(TaoCreate(PETSC_COMM_WORLD, &tao));
  PetscCall(TaoSetType(tao, TAOLSBMRM));
  PetscCall(TaoSetSolution(tao, w));
  PetscCall(TaoLSBMRMSetBMRM(tao, b));
  PetscCall(TaoSetTolerances(tao, 1e-9, 0, 0));
  PetscCall(TaoSolve(tao));
  PetscCall(Check(b, "TaoSolve"));

  PetscCall(TaoDestroy(&tao));
  PetscCall(BMRMDestroy(&b));
  PetscCall(VecDestroy(&w));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&X));
  PetscCall(PetscFinalize());
  return 0;
}
