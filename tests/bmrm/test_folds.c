static char help[] = "Folds of the cross-validation: sizes, classes, independence of the number of ranks.\n\n";

#include "bmrmimpl.h"
#include <gpucsr.h>

#define MOST_CLASSES 4
#define MOST_FOLDS   40
#define OBJECTS      PETSC_COMM_WORLD, PETSC_ERR_PLIB

/* The class of an example: some are rare, and all are mixed. */
static PetscInt FindClass(PetscInt row, PetscInt classes)
{
  return classes == 1 ? 0 : row % 11 == 3 ? classes - 1 : row % 3 % classes;
}

/* Folds of m examples with the labels of a loss. Prints a checksum, which must be the same on any number of ranks. */
static PetscErrorCode TestFolds(const char loss[], PetscInt classes, PetscInt m, PetscInt folds)
{
  PetscInt     count[MOST_FOLDS][MOST_CLASSES] = {{0}}, *fold, n, start, sum = 0, least = m, most = 0;
  PetscScalar *a;
  BMRM         b;
  Mat          X;
  Vec          y;

  PetscFunctionBegin;
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, m, 2, 1, NULL, 1, NULL, &X));
  PetscCall(MatAssemblyBegin(X, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(X, MAT_FINAL_ASSEMBLY));
  PetscCall(MatCreateVecs(X, NULL, &y));
  PetscCall(VecGetOwnershipRange(y, &start, NULL));
  PetscCall(VecGetLocalSize(y, &n));
  PetscCall(VecGetArray(y, &a));
  for (PetscInt i = 0; i < n; i++) a[i] = classes == 2 ? 2 * FindClass(start + i, 2) - 1 : FindClass(start + i, classes);
  PetscCall(VecRestoreArray(y, &a));
  PetscCall(BMRMCreate(PETSC_COMM_WORLD, &b));
  PetscCall(BMRMSetLossType(b, loss));
  PetscCall(BMRMSetData(b, X, y));
  PetscCall(PetscMalloc1(n, &fold));
  PetscCall(BMRMFoldsAssign_Private(b, folds, fold));
  for (PetscInt i = 0; i < n; i++) {
    PetscCheck(fold[i] >= 0 && fold[i] < folds, PETSC_COMM_SELF, PETSC_ERR_PLIB, "example %" PetscInt_FMT " is in fold %" PetscInt_FMT, start + i, fold[i]);
    count[fold[i]][FindClass(start + i, classes)]++;
    sum += (start + i + 1) * (fold[i] + 1) % 1009;
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, count, MOST_FOLDS * MOST_CLASSES, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  for (PetscInt k = 0; k < folds; k++) {
    PetscInt size = 0;

    for (PetscInt c = 0; c < classes; c++) size += count[k][c];
    least = PetscMin(least, size);
    most  = PetscMax(most, size);
    for (PetscInt c = 0; c < classes; c++) {
      for (PetscInt l = 0; l < k; l++)
        PetscCheck(PetscAbsInt(count[k][c] - count[l][c]) <= 2, OBJECTS, "%s: folds %" PetscInt_FMT " and %" PetscInt_FMT " hold %" PetscInt_FMT " and %" PetscInt_FMT " examples of class %" PetscInt_FMT, loss, k, l, count[k][c], count[l][c], c);
    }
  }
  PetscCheck(most - least <= 1, OBJECTS, "%s: the folds hold %" PetscInt_FMT " to %" PetscInt_FMT " examples", loss, least, most);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %" PetscInt_FMT " examples in %" PetscInt_FMT " folds, checksum %" PetscInt_FMT "\n", loss, m, folds, sum));
  PetscCall(PetscFree(fold));
  PetscCall(BMRMDestroy(&b));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  for (PetscInt folds = 2; folds <= 10; folds += 4) {
    PetscCall(TestFolds("hinge", 2, 137, folds));
    PetscCall(TestFolds("softmax", 4, 137, folds));
    PetscCall(TestFolds("leastsquares", 1, 137, folds));
  }
  PetscCall(TestFolds("hinge", 2, 40, 40)); /* as many folds as examples */
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   testset:
      requires: double
      output_file: output/test_folds_1.out
      test:
         suffix: 1
         nsize: {{1 2 4}}

TEST*/
