static char help[] = "ILU and ICC factors computed on the device have the values of those of plain AIJ.\n\n";

#include "gpucsr.h"
#include "gpucsrcompat.h"
#include "expect.h"
#include "refused.h"
#include <petscksp.h>

static PetscReal Tolerance = 0; /* for ILU, whose sums have PETSc's order */

/* Shapes of matrices.  All patterns are symmetric, and so are all values except those of the grid with convection. */
typedef enum {
  GRID,   /* 9 points with convection */
  RANDOM, /* a few entries a row, far from the diagonal */
  ARROW,  /* the last row is full */
  DIAGONAL,
  INDEFINITE, /* a grid whose diagonal is too small */
  SHAPES
} Shape;

static const char *const ShapeNames[] = {"grid", "random", "arrow", "diagonal", "indefinite"};

static PetscErrorCode Set(Mat A, PetscInt i, PetscInt j, PetscScalar v)
{
  PetscFunctionBeginUser;
  PetscCall(MatSetValue(A, i, j, v, INSERT_VALUES));
  if (i != j) PetscCall(MatSetValue(A, j, i, v, INSERT_VALUES));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create(MatType type, Shape shape, PetscInt n, Mat *A)
{
  const PetscInt m = n * n;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_SELF, A));
  PetscCall(MatSetSizes(*A, m, m, m, m));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSetOption(*A, MAT_USE_INODES, PETSC_FALSE)); /* with inodes PETSc computes several rows at once, in another order */
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, shape == ARROW ? m : PetscMin(m, 24), NULL));
  PetscCall(MatSetOption(*A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  for (PetscInt i = 0; i < m; i++) {
    PetscCall(Set(*A, i, i, shape == INDEFINITE ? 1.5 + 0.1 * PetscSinReal((PetscReal)i) : 9 + PetscSinReal((PetscReal)i) / 3));
    if (shape == ARROW && i < m - 1) PetscCall(Set(*A, m - 1, i, 0.5 * PetscCosReal((PetscReal)i) / n));
    if (shape == RANDOM) {
      for (PetscInt k = 1; k <= 4 && i; k++) PetscCall(Set(*A, i, (i * 7919 + k * k * 104729) % i, -0.3 - 0.1 * PetscSinReal((PetscReal)(i + k))));
    }
    for (PetscInt k = 0; k < 4 && (shape == GRID || shape == INDEFINITE); k++) {
      const PetscInt x = i % n + (k == 0 ? 1 : k - 2), y = i / n + (k > 0);

      if (x >= 0 && x < n && y < n) PetscCall(Set(*A, i, x + n * y, -0.8 - 0.1 * PetscSinReal((PetscReal)(i * 3 + k))));
    }
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The upper half gets other values: the matrix is no longer symmetric. */
static PetscErrorCode Convect(Mat A)
{
  const PetscInt *i, *j;
  PetscScalar    *v;
  PetscInt        n;
  PetscBool       done;

  PetscFunctionBeginUser;
  PetscCall(MatGetRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &n, &i, &j, &done));
  PetscCall(MatSeqAIJGetArray(A, &v));
  for (PetscInt row = 0; row < n; row++) {
    for (PetscInt k = i[row]; k < i[row + 1]; k++) {
      if (j[k] > row) v[k] *= 1.3;
    }
  }
  PetscCall(MatSeqAIJRestoreArray(A, &v));
  PetscCall(MatRestoreRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &n, &i, &j, &done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Symbolic(Mat A, MatSolverType solver, MatFactorType type, const char ordering[], const MatFactorInfo *info, Mat *F)
{
  IS row, column;

  PetscFunctionBeginUser;
  PetscCall(MatGetFactor(A, solver, type, F));
  PetscCall(MatGetOrdering(A, ordering, &row, &column));
  if (type == MAT_FACTOR_ILU) PetscCall(MatILUFactorSymbolic(*F, A, row, column, info));
  else PetscCall(MatICCFactorSymbolic(*F, A, row, info));
  PetscCall(ISDestroy(&row));
  PetscCall(ISDestroy(&column));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Numeric(Mat F, Mat A, MatFactorType type, const MatFactorInfo *info)
{
  PetscFunctionBeginUser;
  PetscCall(MatFactorClearError(F));
  if (type == MAT_FACTOR_ILU) PetscCall(MatLUFactorNumeric(F, A, info));
  else PetscCall(MatCholeskyFactorNumeric(F, A, info));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Returns the largest relative difference of two arrays. */
static PetscReal Differ(PetscInt n, const PetscScalar a[], const PetscScalar b[])
{
  PetscReal worst = 0;

  for (PetscInt k = 0; k < n; k++) {
    if (a[k] == b[k] || (PetscIsNanScalar(a[k]) && PetscIsNanScalar(b[k]))) continue;
    if (PetscIsInfOrNanScalar(a[k]) || PetscIsInfOrNanScalar(b[k])) return PETSC_MAX_REAL;
    worst = PetscMax(worst, PetscAbsScalar(a[k] - b[k]) / (1e-3 + PetscAbsScalar(b[k])));
  }
  return worst;
}

/* Compares the diagonals, all values and the errors of two factors.  MatGetDiagonal() brings the values to the host. */
static PetscErrorCode Compare(Mat F, Mat reference, MatFactorType type, const char where[])
{
  Mat            f[2] = {F, reference};
  Vec            d[2];
  PetscScalar   *v[2];
  MatInfo        info;
  MatFactorError error[2];
  PetscReal      pivot[2] = {0, 0}, tolerance = type == MAT_FACTOR_ILU ? Tolerance : PetscMax(Tolerance, 1e-12);
  PetscInt       row[2] = {-1, -1}, n;

  PetscFunctionBeginUser;
  PetscCall(MatGetLocalSize(F, &n, NULL));
  for (int k = 0; k < 2; k++) {
    PetscCall(MatFactorGetError(f[k], &error[k]));
    if (error[k]) PetscCall(MatFactorGetErrorZeroPivot(f[k], &pivot[k], &row[k]));
  }
  PetscCall(Expect((PetscBool)(error[0] == error[1] && pivot[0] == pivot[1] && row[0] == row[1]), "another error, pivot or row is reported", where));
  if (error[1]) PetscFunctionReturn(PETSC_SUCCESS);
  for (int k = 0; k < 2; k++) {
    PetscCall(VecCreateSeq(PETSC_COMM_SELF, n, &d[k]));
    PetscCall(MatGetDiagonal(f[k], d[k]));
    PetscCall(VecGetArray(d[k], &v[k]));
  }
  PetscCall(Expect((PetscBool)(Differ(n, v[0], v[1]) <= tolerance), "the diagonals differ", where));
  PetscCall(MatGetInfo(F, MAT_LOCAL, &info));
  for (int k = 0; k < 2; k++) {
    PetscCall(VecRestoreArray(d[k], &v[k]));
    PetscCall(VecDestroy(&d[k]));
    if (type == MAT_FACTOR_ILU) PetscCall(MatSeqAIJGetArray(f[k], &v[k]));
    else PetscCall(MatSeqSBAIJGetArray(f[k], &v[k]));
  }
  PetscCall(Expect((PetscBool)(Differ((PetscInt)info.nz_used, v[0], v[1]) <= tolerance), "the values differ", where));
  for (int k = 0; k < 2; k++) {
    if (type == MAT_FACTOR_ILU) PetscCall(MatSeqAIJRestoreArray(f[k], &v[k]));
    else PetscCall(MatSeqSBAIJRestoreArray(f[k], &v[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares solves. */
static PetscErrorCode CompareSolves(Mat F, Mat reference, PetscReal tolerance, const char where[])
{
  Vec       b, x, y;
  PetscReal error, norm;
  PetscInt  n;

  PetscFunctionBeginUser;
  PetscCall(MatGetLocalSize(F, &n, NULL));
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, n, &b));
  PetscCall(VecDuplicate(b, &x));
  PetscCall(VecDuplicate(b, &y));
  for (PetscInt i = 0; i < n; i++) PetscCall(VecSetValue(b, i, 1 + PetscSinReal((PetscReal)i), INSERT_VALUES));
  PetscCall(MatSolve(F, b, x));
  PetscCall(MatSolve(reference, b, y));
  PetscCall(VecNorm(y, NORM_INFINITY, &norm));
  PetscCall(VecAXPY(x, -1, y));
  PetscCall(VecNorm(x, NORM_INFINITY, &error));
  PetscCall(Expect((PetscBool)(error <= tolerance * norm), "the solutions differ", where));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Brings the image of the matrix to the device. */
static PetscErrorCode Multiply(Mat A)
{
  Vec x, y;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecSet(x, 1));
  PetscCall(MatMult(A, x, y));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Changes the values of both matrices in one way. */
static PetscErrorCode Change(int round, Mat A[2])
{
  PetscFunctionBeginUser;
  for (int k = 0; k < 2; k++) {
    if (round == 1) PetscCall(MatScale(A[k], 2)); /* the image, if there is one, changes on the device */
    if (round == 2) {
      PetscCall(MatSetValue(A[k], 0, 0, 11.0 / 3, INSERT_VALUES)); /* the image is stale */
      PetscCall(MatAssemblyBegin(A[k], MAT_FINAL_ASSEMBLY));
      PetscCall(MatAssemblyEnd(A[k], MAT_FINAL_ASSEMBLY));
    }
    if (round == 3) PetscCall(MatShift(A[k], 0.3));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Run(Shape shape, PetscInt n, MatFactorType type, const char ordering[], PetscInt levels, MatFactorShiftType shift, PetscReal solves)
{
  Mat           A[2], F[2], other;
  MatFactorInfo info;
  char          where[128];

  PetscFunctionBeginUser;
  PetscCall(MatFactorInfoInitialize(&info));
  info.fill        = 4;
  info.levels      = (PetscReal)levels;
  info.zeropivot   = 100 * PETSC_MACHINE_EPSILON;
  info.shifttype   = (PetscReal)shift;
  info.shiftamount = shift == MAT_SHIFT_NONE ? 0 : 1e-2;
  for (int k = 0; k < 2; k++) {
    PetscCall(Create(k ? MATSEQAIJ : MATSEQAIJGPUCSR, shape, n, &A[k]));
    if (shape == GRID && type == MAT_FACTOR_ILU) PetscCall(Convect(A[k]));
    PetscCall(Symbolic(A[k], k ? MATSOLVERPETSC : MATSOLVERGPUCSR, type, ordering, &info, &F[k]));
  }
  for (int round = 0; round < 5; round++) {
    PetscCall(PetscSNPrintf(where, sizeof(where), "%s %d, %s(%d), %s, %s, round %d", ShapeNames[shape], (int)n, MatFactorTypes[type], (int)levels, ordering, MatFactorShiftTypes[shift], round));
    PetscCall(Change(round, A));
    if (round == 4) { /* another matrix with the same pattern */
      PetscCall(MatDuplicate(A[0], MAT_COPY_VALUES, &other));
      PetscCall(MatScale(other, 1.25));
      PetscCall(MatScale(A[1], 1.25));
    }
    PetscCall(Numeric(F[0], round == 4 ? other : A[0], type, &info));
    PetscCall(Numeric(F[1], A[1], type, &info));
    if (round % 2) { /* the values are read before or after the solves */
      PetscCall(Compare(F[0], F[1], type, where));
      PetscCall(CompareSolves(F[0], F[1], solves, where));
    } else {
      PetscCall(CompareSolves(F[0], F[1], solves, where));
      PetscCall(Compare(F[0], F[1], type, where));
    }
    if (!round) PetscCall(Multiply(A[0]));
  }
  PetscCall(Numeric(F[0], A[1], type, &info)); /* a matrix of plain AIJ */
  PetscCall(Compare(F[0], F[1], type, where));
  PetscCall(MatDestroy(&other));
  for (int k = 0; k < 2; k++) {
    PetscCall(MatDestroy(&F[k]));
    PetscCall(MatDestroy(&A[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Several zero pivots, with each shift.  Without a shift PETSc reports the last one. */
static PetscErrorCode RunZeros(MatFactorType type, MatFactorShiftType shift)
{
  static const PetscInt zeros[] = {11, 40, 83};
  Mat                   A[2], F[2];
  MatFactorInfo         info;
  char                  where[128];

  PetscFunctionBeginUser;
  PetscCall(MatFactorInfoInitialize(&info));
  info.fill        = 2;
  info.zeropivot   = 100 * PETSC_MACHINE_EPSILON;
  info.shifttype   = (PetscReal)shift;
  info.shiftamount = shift == MAT_SHIFT_NONE ? 0 : 1e-3;
  PetscCall(PetscSNPrintf(where, sizeof(where), "zero pivots, %s, %s", MatFactorTypes[type], MatFactorShiftTypes[shift]));
  for (int k = 0; k < 2; k++) {
    PetscCall(Create(k ? MATSEQAIJ : MATSEQAIJGPUCSR, GRID, 10, &A[k]));
    PetscCall(MatSetOption(A[k], MAT_KEEP_NONZERO_PATTERN, PETSC_TRUE));
    PetscCall(MatZeroRowsColumns(A[k], 3, zeros, 0, NULL, NULL));
    PetscCall(Symbolic(A[k], k ? MATSOLVERPETSC : MATSOLVERGPUCSR, type, MATORDERINGNATURAL, &info, &F[k]));
    PetscCall(Numeric(F[k], A[k], type, &info));
  }
  PetscCall(Compare(F[0], F[1], type, where));
  if (type == MAT_FACTOR_ILU && shift == MAT_SHIFT_NONE) { /* an error names the first one */
    PetscCall(MatSetErrorIfFailure(A[0], PETSC_TRUE));
    Refused("Zero pivot row 11", Numeric(F[0], A[0], type, &info));
    PetscCall(MatSetErrorIfFailure(A[0], PETSC_FALSE));
  }
  for (int k = 0; k < 2; k++) { /* the same factors without zero pivots */
    PetscCall(MatShift(A[k], 2));
    PetscCall(Numeric(F[k], A[k], type, &info));
  }
  PetscCall(Compare(F[0], F[1], type, where));
  PetscCall(CompareSolves(F[0], F[1], 1e-5, where));
  for (int k = 0; k < 2; k++) { /* a value that is no number */
    PetscCall(MatSetValue(A[k], 50, 50, NAN, INSERT_VALUES));
    PetscCall(MatAssemblyBegin(A[k], MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A[k], MAT_FINAL_ASSEMBLY));
    PetscCall(Numeric(F[k], A[k], type, &info));
  }
  PetscCall(Compare(F[0], F[1], type, where));
  for (int k = 0; k < 2; k++) {
    PetscCall(MatDestroy(&F[k]));
    PetscCall(MatDestroy(&A[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Through a solver: new values, then a new pattern, then another ordering, and where the factor was computed. */
static PetscErrorCode RunSolver(PCType type)
{
  Mat      A[2];
  KSP      ksp[2];
  PC       pc;
  Vec      b, x;
  PetscInt its[2];

  PetscFunctionBeginUser;
  for (int k = 0; k < 2; k++) {
    PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp[k]));
    PetscCall(KSPSetOptionsPrefix(ksp[k], k ? "reference_" : "ours_"));
    PetscCall(KSPGetPC(ksp[k], &pc));
    PetscCall(PCSetType(pc, type));
  }
  for (int round = 0; round < 4; round++) {
    for (int k = 0; k < 2; k++) {
      if (round != 1) {
        if (round) PetscCall(MatDestroy(&A[k]));
        PetscCall(Create(k ? MATSEQAIJ : MATSEQAIJGPUCSR, round > 1 ? RANDOM : GRID, 12, &A[k]));
        PetscCall(KSPSetOperators(ksp[k], A[k], A[k]));
        PetscCall(KSPGetPC(ksp[k], &pc));
        PetscCall(PCFactorSetMatSolverType(pc, k ? MATSOLVERPETSC : MATSOLVERGPUCSR));
      } else PetscCall(MatShift(A[k], 0.5));
      if (round == 3) {
        PetscCall(KSPReset(ksp[k]));
        PetscCall(PCFactorSetMatOrderingType(pc, MATORDERINGRCM));
        PetscCall(KSPSetOperators(ksp[k], A[k], A[k]));
      }
      PetscCall(KSPSetFromOptions(ksp[k]));
      PetscCall(MatCreateVecs(A[k], &x, &b));
      PetscCall(VecSet(b, 1));
      PetscCall(KSPSolve(ksp[k], b, x));
      PetscCall(KSPGetIterationNumber(ksp[k], &its[k]));
      PetscCall(VecDestroy(&x));
      PetscCall(VecDestroy(&b));
    }
    PetscCall(Expect((PetscBool)(PetscAbsInt(its[0] - its[1]) <= 1), "another number of iterations", type));
  }
  PetscCall(KSPView(ksp[0], PETSC_VIEWER_STDOUT_SELF));
  for (int k = 0; k < 2; k++) {
    PetscCall(KSPDestroy(&ksp[k]));
    PetscCall(MatDestroy(&A[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The setter, and what the view prints. */
static PetscErrorCode RunSetter(void)
{
  Mat           A[2], F[2];
  MatFactorInfo info;

  PetscFunctionBeginUser;
  PetscCall(MatFactorInfoInitialize(&info));
  info.fill = 2;
  for (int k = 0; k < 2; k++) {
    PetscCall(Create(k ? MATSEQAIJ : MATSEQAIJGPUCSR, GRID, 8, &A[k]));
    PetscCall(Symbolic(A[k], k ? MATSOLVERPETSC : MATSOLVERGPUCSR, MAT_FACTOR_ILU, MATORDERINGNATURAL, &info, &F[k]));
    PetscCall(Numeric(F[k], A[k], MAT_FACTOR_ILU, &info));
  }
  for (int round = 0; round < 4; round++) {
    PetscCall(MatGPUCSRSetFactorNumeric(A[0], round % 2 ? MAT_GPUCSR_FACTOR_NUMERIC_DEVICE : MAT_GPUCSR_FACTOR_NUMERIC_HOST));
    for (int k = 0; k < 2; k++) {
      PetscCall(MatShift(A[k], 1));
      PetscCall(Numeric(F[k], A[k], MAT_FACTOR_ILU, &info));
    }
    if (round > 1) PetscCall(CompareSolves(F[0], F[1], 1e-5, "setter"));
    PetscCall(Compare(F[0], F[1], MAT_FACTOR_ILU, "setter"));
    PetscCall(PetscViewerPushFormat(PETSC_VIEWER_STDOUT_SELF, PETSC_VIEWER_ASCII_INFO));
    PetscCall(MatView(F[0], PETSC_VIEWER_STDOUT_SELF));
    PetscCall(PetscViewerPopFormat(PETSC_VIEWER_STDOUT_SELF));
  }
  Refused("Unknown MatGPUCSRFactorNumericType", MatGPUCSRSetFactorNumeric(A[0], (MatGPUCSRFactorNumericType)2));
  Refused("seqaij is not a gpucsr matrix", MatGPUCSRSetFactorNumeric(A[1], MAT_GPUCSR_FACTOR_NUMERIC_DEVICE));
  for (int k = 0; k < 2; k++) {
    PetscCall(MatDestroy(&F[k]));
    PetscCall(MatDestroy(&A[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static const char *const orderings[] = {MATORDERINGNATURAL, MATORDERINGRCM, MATORDERINGND, MATORDERINGMULTICOLOR};
  PetscReal                solves      = 1e-12;
  PetscBool                large       = PETSC_FALSE;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-tolerance", &Tolerance, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-solves", &solves, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-large", &large, NULL));
  for (int t = 0; t < 2; t++) {
    const MatFactorType type = t ? MAT_FACTOR_ICC : MAT_FACTOR_ILU;

    for (int shape = 0; shape < SHAPES && !large; shape++) {
      for (int size = 0; size < 3; size++) {
        for (int o = 0; o < 4; o++) {
          for (PetscInt levels = 0; levels < 3; levels++) {
            const MatFactorShiftType shift = shape == INDEFINITE && !(t == 0 && o % 2) ? MAT_SHIFT_POSITIVE_DEFINITE : o == 1 ? MAT_SHIFT_NONZERO : o == 2 ? MAT_SHIFT_INBLOCKS : MAT_SHIFT_NONE;

            PetscCall(Run((Shape)shape, size == 0 ? 1 : size == 1 ? 4 : 11, type, orderings[o], levels, shift, solves));
          }
        }
      }
    }
    for (int shape = 0; shape < 3 && large; shape++) PetscCall(Run((Shape)shape, shape == ARROW ? 40 : 100, type, MATORDERINGNATURAL, t, MAT_SHIFT_NONE, solves));
    for (int shift = 0; shift < 4; shift++) PetscCall(RunZeros(type, (MatFactorShiftType)shift));
  }
  PetscCall(RunSolver(PCILU));
  PetscCall(RunSolver(PCICC));
  PetscCall(RunSetter());
  PetscCall(PetscPrintf(PETSC_COMM_SELF, Failures ? "%d differences\n" : "all factors agree\n", (int)Failures));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    filter: grep -E "numeric factorisation|differ|another|agree|refused" | sed "s@^ *@@"
    output_file: output/factornumeric_double.out

    test:
      suffix: double
      args: -mat_gpucsr_storage {{double auto}} -mat_gpucsr_factor_storage double

    test:
      suffix: single
      args: -mat_gpucsr_storage single -solves 1e-5

    test:
      suffix: large
      args: -large -mat_gpucsr_storage double

TEST*/
