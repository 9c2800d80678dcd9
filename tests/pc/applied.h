/* Checks of all ways to apply a preconditioner that is a known matrix. */
#ifndef APPLIED_H
#define APPLIED_H

#include "gpucsr.h"
#include "gpucsrcompat.h"
#include <petscpc.h>

/* Copies a matrix to a dense array on all ranks. */
static PetscErrorCode GetDense(Mat G, PetscReal **D)
{
  PetscInt N, begin, end;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(G, &N, NULL));
  PetscCall(MatGetOwnershipRange(G, &begin, &end));
  PetscCall(PetscCalloc1(N * N, D));
  for (PetscInt row = begin; row < end; row++) {
    PetscInt           ncols;
    const PetscInt    *cols;
    const PetscScalar *vals;

    PetscCall(MatGetRow(G, row, &ncols, &cols, &vals));
    for (PetscInt a = 0; a < ncols; a++) (*D)[row * N + cols[a]] = vals[a];
    PetscCall(MatRestoreRow(G, row, &ncols, &cols, &vals));
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, *D, (PetscMPIInt)(N * N), MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)G)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares y with D x, or with D'x. */
static PetscErrorCode CheckProduct(const PetscReal D[], PetscInt N, PetscBool transpose, const PetscReal x[], PetscReal y[], Vec result, PetscReal tolerance, const char what[])
{
  const PetscScalar *a;
  PetscReal          size = 0;
  PetscInt           begin, end;

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < N; i++) {
    y[i] = 0;
    for (PetscInt j = 0; j < N; j++) y[i] += D[transpose ? j * N + i : i * N + j] * x[j];
    size = PetscMax(size, PetscAbsReal(y[i]));
  }
  PetscCall(VecGetOwnershipRange(result, &begin, &end));
  PetscCall(VecGetArrayRead(result, &a));
  for (PetscInt i = begin; i < end; i++) { PetscCheck(PetscAbsReal(a[i - begin] - y[i]) <= tolerance * size, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: entry %" PetscInt_FMT " is %g, not %g", what, i, (double)a[i - begin], (double)y[i]); }
  PetscCall(VecRestoreArrayRead(result, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the entries of a vector, and of a dense copy on all ranks. */
static PetscErrorCode FillVector(Vec x, PetscInt N, PetscReal dense[])
{
  PetscInt begin, end;

  PetscFunctionBeginUser;
  PetscCall(VecGetOwnershipRange(x, &begin, &end));
  for (PetscInt i = 0; i < N; i++) {
    dense[i] = 1 + PetscSinReal((PetscReal)i);
    if (i >= begin && i < end) PetscCall(VecSetValue(x, i, dense[i], INSERT_VALUES));
  }
  PetscCall(VecAssemblyBegin(x));
  PetscCall(VecAssemblyEnd(x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares PCMatApply() with T, twice. */
static PetscErrorCode CheckMatApply(PC pc, const PetscReal T[], PetscInt N, Vec y, const PetscReal dense[], PetscReal result[], PetscReal tolerance)
{
  Mat      X, Y;
  PetscInt n, begin, end;

  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(y, &n));
  PetscCall(VecGetOwnershipRange(y, &begin, &end));
  PetscCall(MatCreateDense(PetscObjectComm((PetscObject)pc), n, PETSC_DECIDE, N, 3, NULL, &X));
  for (PetscInt c = 0; c < 3; c++) {
    for (PetscInt i = begin; i < end; i++) PetscCall(MatSetValue(X, i, c, (c + 1) * dense[i], INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(X, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(X, MAT_FINAL_ASSEMBLY));
  PetscCall(MatDuplicate(X, MAT_DO_NOT_COPY_VALUES, &Y));
  for (int twice = 0; twice < 2; twice++) {
    PetscCall(PCMatApply(pc, X, Y));
    for (PetscInt c = 0; c < 3; c++) {
      PetscCall(MatGetColumnVector(Y, y, c));
      PetscCall(VecScale(y, 1. / (c + 1)));
      PetscCall(CheckProduct(T, N, PETSC_FALSE, dense, result, y, tolerance, "PCMatApply"));
    }
  }
  PetscCall(MatDestroy(&X));
  PetscCall(MatDestroy(&Y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares every way to apply the preconditioner with the dense matrix T, with standard vectors, vectors on the device, and standard vectors again. */
static PetscErrorCode CheckApply(PC pc, const PetscReal T[], PetscInt N, PetscReal tolerance)
{
  const VecType types[] = {VECSTANDARD, VECGPU, VECSTANDARD};
  Mat           A;
  PetscReal    *dense, *result;
  PetscInt      n;

  PetscFunctionBeginUser;
  PetscCall(PCGetOperators(pc, NULL, &A));
  PetscCall(MatGetLocalSize(A, &n, NULL));
  PetscCall(PetscMalloc2(N, &dense, N, &result));
  for (size_t t = 0; t < PETSC_STATIC_ARRAY_LENGTH(types); t++) {
    Vec x, y;

    PetscCall(VecCreate(PetscObjectComm((PetscObject)pc), &x));
    PetscCall(VecSetSizes(x, n, N));
    PetscCall(VecSetType(x, types[t]));
    PetscCall(VecDuplicate(x, &y));
    PetscCall(FillVector(x, N, dense));
    PetscCall(PCApply(pc, x, y));
    PetscCall(CheckProduct(T, N, PETSC_FALSE, dense, result, y, tolerance, "PCApply"));
    PetscCall(PCApplyTranspose(pc, x, y));
    PetscCall(CheckProduct(T, N, PETSC_TRUE, dense, result, y, tolerance, "PCApplyTranspose"));
    PetscCall(CheckMatApply(pc, T, N, y, dense, result, tolerance));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&y));
  }
  PetscCall(PetscFree2(dense, result));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif
