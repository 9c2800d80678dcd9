static char help[] = "Vectors and matrices whose layout is wrong on some ranks are errors on all ranks, with the sizes on the first such rank.\n\n";

#include <gpucsr.h>
#include <gpucsrbmrm.h>
#include <gpucsrpagerank.h>
#include <gpucsrsmacof.h>
#include <petsctao.h>
#include "gpucsrcompat.h"
#include "mat/refused.h"

/* Creates a vector of ones. Every rank has n entries, but the last two ranks have one more and one less. */
static PetscErrorCode CreateVec(PetscInt n, Vec *v)
{
  PetscMPIInt rank, size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(VecCreate(PETSC_COMM_WORLD, v));
  PetscCall(VecSetSizes(*v, n + (rank == size - 2) - (rank == size - 1), PETSC_DETERMINE));
  PetscCall(VecSetType(*v, VECSTANDARD));
  PetscCall(VecSet(*v, 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates a dense matrix whose rows are the entries of a vector, with the same number of columns, or with n columns on each rank. */
static PetscErrorCode CreateMat(Vec rows, PetscInt n, Mat *A)
{
  PetscInt m, M, start, end;

  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(rows, &m));
  PetscCall(VecGetSize(rows, &M));
  PetscCall(MatCreateDense(PETSC_COMM_WORLD, m, n, M, PETSC_DETERMINE, NULL, A));
  PetscCall(MatGetOwnershipRange(*A, &start, &end));
  for (PetscInt i = start; i < end; i++) PetscCall(MatSetValue(*A, i, 0, i % 2 ? 1 : -1, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestBMRM(Vec wrong)
{
  Vec  y, w;
  Mat  X;
  BMRM b;
  Tao  tao;

  PetscFunctionBeginUser;
  PetscCall(VecCreateMPI(PETSC_COMM_WORLD, 4, PETSC_DETERMINE, &y));
  PetscCall(VecSet(y, 1));
  PetscCall(CreateMat(y, 4, &X));
  PetscCall(BMRMCreate(PETSC_COMM_WORLD, &b));
  Refused("The local size of the labels is 5 on rank 1, expected 4", BMRMSetData(b, X, wrong));
  PetscCall(BMRMSetData(b, X, y));
  Refused("The local size of the queries is 5 on rank 1, expected 4", BMRMSetQueries(b, wrong));
  PetscCall(BMRMSetLossType(b, "hinge"));
  PetscCall(BMRMSetWeights(b, wrong));
  Refused("The local size of the factors is 5 on rank 1, expected 4", BMRMSetUp(b));
  PetscCall(BMRMSetWeights(b, NULL));
  PetscCall(BMRMSetUp(b));
  PetscCall(TaoCreate(PETSC_COMM_WORLD, &tao));
  PetscCall(TaoSetType(tao, TAOLSBMRM));
  PetscCall(TaoLSBMRMSetBMRM(tao, b));
  PetscCall(VecDuplicate(wrong, &w));
  PetscCall(TaoSetSolution(tao, w));
  Refused("The local size of the solution is 5 on rank 1, expected 4", TaoSolve(tao));
  PetscCall(TaoDestroy(&tao));
  PetscCall(BMRMDestroy(&b));
  PetscCall(VecDestroy(&w));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestSMACOF(Vec wrong)
{
  Vec    right;
  Mat    D, W;
  SMACOF s;

  PetscFunctionBeginUser;
  PetscCall(VecCreateMPI(PETSC_COMM_WORLD, 4, PETSC_DETERMINE, &right));
  PetscCall(CreateMat(right, 4, &D));
  PetscCall(CreateMat(wrong, 4, &W));
  PetscCall(SMACOFCreate(PETSC_COMM_WORLD, &s));
  Refused("The local size of the matrix of weights is 5 on rank 1, expected 4", SMACOFSetDissimilarities(s, D, W));
  PetscCall(SMACOFDestroy(&s));
  PetscCall(VecDestroy(&right));
  PetscCall(MatDestroy(&D));
  PetscCall(MatDestroy(&W));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestPageRank(Vec wrong)
{
  Mat      A;
  PageRank pr;

  PetscFunctionBeginUser;
  PetscCall(CreateMat(wrong, 4, &A));
  PetscCall(PageRankCreate(PETSC_COMM_WORLD, &pr));
  Refused("The local size of the columns of the matrix of the links is 4 on rank 1, expected 5", PageRankSetGraph(pr, A));
  PetscCall(PageRankDestroy(&pr));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Vec wrong;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(CreateVec(4, &wrong));
  PetscCall(TestBMRM(wrong));
  PetscCall(TestSMACOF(wrong));
  PetscCall(TestPageRank(wrong));
  PetscCall(VecDestroy(&wrong));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST
  test:
    suffix: 1
    nsize: 3
TEST*/
