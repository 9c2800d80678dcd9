/* Matrices, right-hand sides and solvers for tests of algebraic multigrid. */
#ifndef AMGSOLVER_H
#define AMGSOLVER_H

#include "gpucsr.h"
#include "gpucsrcompat.h"
#include <petscksp.h>

/* Nodes are distributed evenly; `length` is the maximum number of nonzeros of a row. */
static PetscErrorCode AmgCreateMatrix(MPI_Comm comm, const char type[], PetscInt points, PetscInt block, PetscInt length, Mat *A)
{
  PetscInt n = PETSC_DECIDE, N = points;

  PetscFunctionBeginUser;
  PetscCall(PetscSplitOwnership(comm, &n, &N));
  PetscCall(MatCreate(comm, A));
  PetscCall(MatSetSizes(*A, n * block, n * block, N * block, N * block));
  PetscCall(MatSetBlockSize(*A, block));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSeqAIJSetPreallocation(*A, length, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, length, NULL, length, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AmgAssemble(Mat A)
{
  PetscFunctionBeginUser;
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AmgCreateSolver(Mat A, const char prefix[], const char pctype[], KSP *ksp)
{
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PetscObjectComm((PetscObject)A), ksp));
  PetscCall(KSPSetOptionsPrefix(*ksp, prefix));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPSetType(*ksp, KSPCG));
  PetscCall(KSPGetPC(*ksp, &pc));
  PetscCall(PCSetType(pc, pctype));
  PetscCall(KSPSetTolerances(*ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 500));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AmgFillRightSide(Vec b)
{
  PetscInt begin, end;

  PetscFunctionBeginUser;
  PetscCall(VecGetOwnershipRange(b, &begin, &end));
  for (PetscInt i = begin; i < end; i++) PetscCall(VecSetValue(b, i, 1 + 0.5 * PetscSinReal((PetscReal)i), INSERT_VALUES));
  PetscCall(VecAssemblyBegin(b));
  PetscCall(VecAssemblyEnd(b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif
