static char help[] = "An invalid link weight on one rank is an error on all ranks, none of which waits for another.\n\n";

#include <gpucsrpagerank.h>
#include "gpucsrcompat.h"

int main(int argc, char **argv)
{
  const PetscScalar bad[] = {-1, INFINITY, NAN};
  PetscErrorCode    err;
  PetscInt          start, end, N;
  PageRank          pr;
  Mat               A;
  Vec               v;
  PetscMPIInt       rank, size;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, 5, 5, PETSC_DETERMINE, PETSC_DETERMINE, 2, NULL, 2, NULL, &A));
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  PetscCall(MatGetSize(A, &N, NULL));
  PetscCall(PageRankCreate(PETSC_COMM_WORLD, &pr));
  for (int k = 0; k <= 3; k++) {
    for (PetscInt i = start; i < end; i++) PetscCall(MatSetValue(A, i, (i + 1) % N, k < 3 && i == N - 1 ? bad[k] : 1, INSERT_VALUES));
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    PetscCall(PageRankSetGraph(pr, A));
    PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
    err = PageRankSolve(pr);
    PetscCall(PetscPopErrorHandler());
    PetscCheck(err == (k < 3 ? PETSC_ERR_ARG_OUTOFRANGE : PETSC_SUCCESS), PETSC_COMM_SELF, PETSC_ERR_PLIB, "Graph %d: error %d", k, (int)err);
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "graph %d: %s\n", k, err ? "an error on all ranks" : "solved"));
  }
  /* a vector whose layout differs on two of the ranks */
  PetscCall(VecCreate(PETSC_COMM_WORLD, &v));
  PetscCall(VecSetSizes(v, 5 + (rank == 0) - (rank == 1), N));
  PetscCall(VecSetFromOptions(v));
  PetscCall(VecSet(v, 1.0 / N));
  PetscCall(PageRankSetPersonalizations(pr, 1, &v));
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  err = PageRankSolve(pr);
  PetscCall(PetscPopErrorHandler());
  PetscCheck(err == PETSC_ERR_ARG_SIZ, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Another layout: error %d", (int)err);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "another layout: an error on all ranks\n"));
  PetscCall(VecDestroy(&v));
  PetscCall(PageRankDestroy(&pr));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST
  test:
    suffix: 1
    nsize: {{2 3}}
TEST*/
