static char help[] = "A client outside the tree: compares a product of a gpucsr matrix with the same product of an AIJ matrix, then solves a system.\n\n";

/* With CLIENT_PLUGIN defined, the program does not link the library: PETSc loads it for the option -dll_append. */
#include <petscksp.h>
#if !defined(CLIENT_PLUGIN)
  #include <gpucsr.h>
#endif

int main(int argc, char **argv)
{
  Mat         A, B;
  Vec         x, y, z;
  KSP         ksp;
  PetscInt    n = 60, first, last, its;
  PetscReal   norm, error, distance;
  PetscBool   same;
  PetscMPIInt size;

  PetscFunctionBeginUser;
  if (PetscInitialize(&argc, &argv, NULL, help)) return 1;
#if !defined(CLIENT_PLUGIN)
  PetscCall(PetscGPUCSRInitialize());
#endif
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, n, n, 3, NULL, 2, NULL, &A));
  PetscCall(MatGetOwnershipRange(A, &first, &last));
  for (PetscInt i = first; i < last; i++) {
    if (i > 0) PetscCall(MatSetValue(A, i, i - 1, -1.0, INSERT_VALUES));
    if (i < n - 1) PetscCall(MatSetValue(A, i, i + 1, -1.5, INSERT_VALUES));
    PetscCall(MatSetValue(A, i, i, 4.0 + i / 8.0, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatConvert(A, "gpucsr", MAT_INITIAL_MATRIX, &B));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)B, &same, "seqaijgpucsr", "mpiaijgpucsr", ""));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(VecSetRandom(x, NULL));
  PetscCall(MatMult(A, x, y));
  PetscCall(MatMult(B, x, z));
  PetscCall(VecNorm(y, NORM_2, &norm));
  PetscCall(VecAXPY(z, -1.0, y));
  PetscCall(VecNorm(z, NORM_2, &error));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, B, B));
  PetscCall(KSPSetTolerances(ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, y, z));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCall(VecAXPY(z, -1.0, x)); /* the values of the matrix are exact in single precision */
  PetscCall(VecNorm(z, NORM_INFINITY, &distance));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "client: %s on %d\n", same && error <= 1e-14 * norm && distance < 1e-8 && its > 0 ? "right" : "wrong", (int)size));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(PetscFinalize());
  return 0;
}
