static char help[] = "Factors of the solver type gpucsr solve like those of plain AIJ.\n\n";

#include "gpucsr.h"
#include "gpucsrcompat.h"
#include "expect.h"
#include <petscmat.h>

static PetscReal Tolerance = 1e-12;

/* A grid of n by n points, not symmetric unless `symmetric`, with pairs of rows of one pattern if `pairs`.  empty: every fifth row has only its diagonal. */
static PetscErrorCode Create(MatType type, PetscInt n, PetscBool symmetric, PetscBool pairs, PetscBool empty, Mat *A)
{
  const PetscInt di[] = {0, -1, 1, 0, 0}, dj[] = {0, 0, 0, -1, 1}, c = pairs ? 2 : 1;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_SELF, A));
  PetscCall(MatSetSizes(*A, c * n * n, c * n * n, c * n * n, c * n * n));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSeqAIJSetPreallocation(*A, 5 * c, NULL));
  for (PetscInt row = 0; row < c * n * n; row++) {
    const PetscInt point = row / c, i = point % n, j = point / n;

    for (int k = 0; k < 5; k++) {
      if (i + di[k] < 0 || i + di[k] >= n || j + dj[k] < 0 || j + dj[k] >= n || (empty && k && point % 5 == 0)) continue;
      for (PetscInt d = 0; d < c; d++) {
        const PetscInt    column = c * (point + di[k] + n * dj[k]) + d;
        const PetscScalar v      = column == row ? 6 + point % 3 / 3.0 : -0.7 - 0.1 * PetscSinReal(1.0 + PetscMin(row, column)) - (symmetric ? 0 : 0.2 * PetscCosReal((PetscReal)row));

        if (empty && column != row && column / c % 5 == 0) continue;
        PetscCall(MatSetValue(*A, row, column, v, INSERT_VALUES));
      }
    }
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Factor(Mat A, MatSolverType solver, MatFactorType type, const char ordering[], MatFactorInfo *info, Mat *F)
{
  IS row, column;

  PetscFunctionBeginUser;
  PetscCall(MatGetFactor(A, solver, type, F));
  PetscCall(MatGetOrdering(A, ordering, &row, &column));
  if (type == MAT_FACTOR_LU) PetscCall(MatLUFactorSymbolic(*F, A, row, column, info));
  if (type == MAT_FACTOR_ILU) PetscCall(MatILUFactorSymbolic(*F, A, row, column, info));
  if (type == MAT_FACTOR_CHOLESKY) PetscCall(MatCholeskyFactorSymbolic(*F, A, row, info));
  if (type == MAT_FACTOR_ICC) PetscCall(MatICCFactorSymbolic(*F, A, row, info));
  PetscCall(ISDestroy(&row));
  PetscCall(ISDestroy(&column));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Numeric(Mat F, Mat A, MatFactorType type, const MatFactorInfo *info)
{
  PetscFunctionBeginUser;
  if (type == MAT_FACTOR_LU || type == MAT_FACTOR_ILU) PetscCall(MatLUFactorNumeric(F, A, info));
  else PetscCall(MatCholeskyFactorNumeric(F, A, info));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves number `which` of the variants.  Returns without a solve if PETSc's factor does not have it. */
static PetscErrorCode Solve(Mat F, PetscBool cholesky, int which, Vec b, Vec y, Vec x, PetscBool *has)
{
  PetscFunctionBeginUser;
  *has = (PetscBool)(which < 6 || cholesky);
  switch (which) {
  case 0:
    PetscCall(MatSolve(F, b, x));
    break;
  case 1:
    PetscCall(MatSolveTranspose(F, b, x));
    break;
  case 2:
    PetscCall(MatSolveAdd(F, b, y, x));
    break;
  case 3:
    PetscCall(VecCopy(y, x));
    PetscCall(MatSolveAdd(F, b, x, x));
    break;
  case 4:
    PetscCall(MatSolveTransposeAdd(F, b, y, x));
    break;
  case 5:
    PetscCall(VecCopy(y, x));
    PetscCall(MatSolveTransposeAdd(F, b, x, x));
    break;
  case 6:
    if (cholesky) PetscCall(MatForwardSolve(F, b, x));
    break;
  case 7:
    if (cholesky) PetscCall(MatBackwardSolve(F, b, x));
    break;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Same(Vec x, Vec expected, const char what[], const char where[])
{
  const PetscScalar *a, *e;
  PetscReal          error = 0, size = 0;
  PetscInt           n;

  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(VecGetArrayRead(x, &a));
  PetscCall(VecGetArrayRead(expected, &e));
  for (PetscInt i = 0; i < n; i++) {
    error = PetscMax(error, PetscAbsScalar(a[i] - e[i]));
    size  = PetscMax(size, PetscAbsScalar(e[i]));
    if (PetscIsInfOrNanScalar(a[i])) error = PETSC_MAX_REAL;
  }
  PetscCall(VecRestoreArrayRead(x, &a));
  PetscCall(VecRestoreArrayRead(expected, &e));
  PetscCall(Expect((PetscBool)(error <= Tolerance * size), what, where));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares all solves of a factor with those of PETSc's, each twice. */
static PetscErrorCode Compare(Mat F, Mat reference, PetscBool cholesky, VecType vectype, const char where[])
{
  static const char *names[] = {"MatSolve", "MatSolveTranspose", "MatSolveAdd", "MatSolveAdd in place", "MatSolveTransposeAdd", "MatSolveTransposeAdd in place", "MatForwardSolve", "MatBackwardSolve"};
  Vec                v[4], w[3];
  PetscInt           n;
  PetscBool          has, equal;

  PetscFunctionBeginUser;
  PetscCall(MatGetLocalSize(F, &n, NULL));
  for (int k = 0; k < 4; k++) {
    PetscCall(VecCreate(PETSC_COMM_SELF, &v[k]));
    PetscCall(VecSetSizes(v[k], n, n));
    PetscCall(VecSetType(v[k], vectype));
    if (k < 3) PetscCall(VecCreateSeq(PETSC_COMM_SELF, n, &w[k]));
  }
  for (PetscInt i = 0; i < n; i++) {
    for (int k = 0; k < 2; k++) PetscCall(VecSetValue(w[k], i, 1 + PetscSinReal((PetscReal)(i + 7 * k)), INSERT_VALUES));
  }
  for (int k = 0; k < 2; k++) PetscCall(VecCopy(w[k], v[k]));
  for (int which = 0; which < 8; which++) {
    PetscCall(Solve(reference, cholesky, which, w[0], w[1], w[2], &has));
    if (!has) continue;
    PetscCall(Solve(F, cholesky, which, v[0], v[1], v[2], &has));
    PetscCall(Same(v[2], w[2], names[which], where));
    PetscCall(Solve(F, cholesky, which, v[0], v[1], v[3], &has));
    PetscCall(VecEqual(v[2], v[3], &equal));
    PetscCall(Expect(equal, "the second solve has other bits", where));
  }
  for (int k = 0; k < 4; k++) PetscCall(VecDestroy(&v[k]));
  for (int k = 0; k < 3; k++) PetscCall(VecDestroy(&w[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CompareMany(Mat F, Mat reference, PetscBool lu, const char where[])
{
  Mat       B, X, Y;
  PetscInt  n;
  PetscReal error, size;

  PetscFunctionBeginUser;
  PetscCall(MatGetLocalSize(F, &n, NULL));
  PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, n, 3, NULL, &B));
  for (PetscInt i = 0; i < 3 * n; i++) PetscCall(MatSetValue(B, i % n, i / n, PetscCosReal((PetscReal)i), INSERT_VALUES));
  PetscCall(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatDuplicate(B, MAT_DO_NOT_COPY_VALUES, &X));
  PetscCall(MatDuplicate(B, MAT_DO_NOT_COPY_VALUES, &Y));
  for (int transpose = 0; transpose < (lu ? 2 : 1); transpose++) {
    PetscCall(transpose ? MatMatSolveTranspose(F, B, X) : MatMatSolve(F, B, X));
    PetscCall(transpose ? MatMatSolveTranspose(reference, B, Y) : MatMatSolve(reference, B, Y));
    PetscCall(MatNorm(Y, NORM_FROBENIUS, &size));
    PetscCall(MatAXPY(X, -1, Y, SAME_NONZERO_PATTERN));
    PetscCall(MatNorm(X, NORM_FROBENIUS, &error));
    PetscCall(Expect((PetscBool)(error <= Tolerance * size), transpose ? "MatMatSolveTranspose" : "MatMatSolve", where));
  }
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&X));
  PetscCall(MatDestroy(&Y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static char Default[32] = MATSOLVERGPUCSR; /* solver type that a program gets which asks for none */

/* One matrix, factorised three times on one pattern; the matrix of the second time has other values. */
static PetscErrorCode Run(Mat A, Mat P, MatFactorType type, const char ordering[], MatFactorInfo *info, VecType vectype, const char where[])
{
  const PetscBool cholesky = (PetscBool)(type == MAT_FACTOR_CHOLESKY || type == MAT_FACTOR_ICC);
  MatSolverType   solver;
  Mat             F, reference;
  PetscBool       same;

  PetscFunctionBeginUser;
  PetscCall(Factor(A, MATSOLVERGPUCSR, type, ordering, info, &F));
  PetscCall(MatFactorGetSolverType(F, &solver));
  PetscCall(PetscStrcmp(solver, MATSOLVERGPUCSR, &same));
  PetscCall(Expect(same, "the factor is not of the solver type gpucsr", where));
  PetscCall(Factor(P, NULL, type, ordering, info, &reference));
  for (int round = 0; round < 3; round++) {
    if (round == 1) {
      PetscCall(MatShift(A, 1.5));
      PetscCall(MatShift(P, 1.5));
    }
    PetscCall(Numeric(F, A, type, info));
    PetscCall(Numeric(reference, P, type, info));
    PetscCall(Compare(F, reference, cholesky, vectype, where));
    PetscCall(CompareMany(F, reference, (PetscBool)!cholesky, where));
  }
  PetscCall(MatShift(A, -1.5));
  PetscCall(MatShift(P, -1.5));
  PetscCall(MatDestroy(&F));
  PetscCall(Factor(A, MATSOLVERGPUCSR, type, ordering, info, &F)); /* destroyed before the numeric factorisation, and then before a solve */
  PetscCall(MatDestroy(&F));
  PetscCall(Factor(A, MATSOLVERGPUCSR, type, ordering, info, &F));
  PetscCall(Numeric(F, A, type, info));
  PetscCall(MatDestroy(&F));
  PetscCall(Factor(A, MATSOLVERPETSC, type, ordering, info, &F));
  PetscCall(MatFactorGetSolverType(F, &solver));
  PetscCall(PetscStrcmp(solver, MATSOLVERPETSC, &same));
  PetscCall(Expect(same, "the factor is not of the solver type petsc", where));
  PetscCall(MatDestroy(&F));
  PetscCall(Factor(A, NULL, type, ordering, info, &F));
  PetscCall(MatFactorGetSolverType(F, &solver));
  PetscCall(PetscStrcmp(solver, Default, &same));
  PetscCall(Expect(same, "another solver type is the default", where));
  PetscCall(Numeric(F, A, type, info));
  PetscCall(Numeric(reference, P, type, info));
  PetscCall(Compare(F, reference, cholesky, vectype, where));
  PetscCall(MatDestroy(&F));
  PetscCall(MatDestroy(&reference));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static const MatFactorType types[]     = {MAT_FACTOR_LU, MAT_FACTOR_ILU, MAT_FACTOR_CHOLESKY, MAT_FACTOR_ICC};
  static const char *const   orderings[] = {MATORDERINGNATURAL, MATORDERINGRCM, MATORDERINGND, MATORDERINGQMD, MATORDERINGMULTICOLOR};
  static const PetscInt      sizes[]     = {1, 2, 7, 12};
  char                       vectype[32] = VECSTANDARD, where[128];
  MatFactorInfo              info;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(PetscOptionsGetString(NULL, NULL, "-vec", vectype, sizeof(vectype), NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-tolerance", &Tolerance, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-gpucsr_factor_solver", Default, sizeof(Default), NULL));
  for (int shape = 0; shape < 12; shape++) {
    const PetscInt  n     = sizes[shape / 3];
    const PetscBool pairs = (PetscBool)(shape % 3 == 1), empty = (PetscBool)(shape % 3 == 2);

    for (int t = 0; t < 4; t++) {
      const PetscBool symmetric = (PetscBool)(t >= 2);
      Mat             A, P;

      PetscCall(Create(MATSEQAIJGPUCSR, n, symmetric, pairs, empty, &A));
      PetscCall(Create(MATSEQAIJ, n, symmetric, pairs, empty, &P));
      for (int o = 0; o < 5; o++) {
        for (int levels = 0; levels < (t % 2 ? 3 : 1); levels++) {
          PetscCall(MatFactorInfoInitialize(&info));
          info.fill      = 6;
          info.dtcol     = 0;
          info.levels    = levels;
          info.zeropivot = 100 * PETSC_MACHINE_EPSILON;
          info.shifttype = (PetscReal)(o == 1 ? MAT_SHIFT_POSITIVE_DEFINITE : o == 2 ? MAT_SHIFT_NONZERO : MAT_SHIFT_NONE);
          PetscCall(PetscSNPrintf(where, sizeof(where), "size %d, shape %d, %s, %s, levels %d", (int)n, shape % 3, MatFactorTypes[types[t]], orderings[o], levels));
          PetscCall(Run(A, P, types[t], orderings[o], &info, vectype, where));
        }
      }
      PetscCall(MatDestroy(&A));
      PetscCall(MatDestroy(&P));
    }
  }
  PetscCall(PetscPrintf(PETSC_COMM_SELF, Failures ? "%d solves differ\n" : "all solves agree\n", (int)Failures));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    suffix: double
    args: -mat_gpucsr_factor_storage double -vec {{standard gpu}}
    output_file: output/factor_double.out

  test:
    suffix: petsc
    args: -gpucsr_factor_solver petsc -vec standard -mat_gpucsr_factor_storage double
    output_file: output/factor_double.out

  test:
    suffix: sweeps
    args: -mat_gpucsr_factor_storage double -vec {{standard gpu}} -mat_gpucsr_trisolve {{jacobi isai}} -mat_gpucsr_trisolve_sweeps 1024
    output_file: output/factor_double.out

  test:
    suffix: single
    args: -mat_gpucsr_storage single -tolerance 1e-5 -vec gpu
    output_file: output/factor_double.out

TEST*/
