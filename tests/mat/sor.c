static char help[] = "MatSOR() by colours equals PETSc's sweeps with the matrix ordered by colours, for all flags, new values and patterns; as a preconditioner; refusals.\n\n\
  -tolerance <t> : relative tolerance of the comparisons\n\n";

#include "gpucsr.h"
#include "gpucsrcompat.h"
#include "mat/refused.h"
#include <petscksp.h>

static PetscReal Tolerance = 1e-14;

/* A grid of n x n points with couplings to 4 or, if box is true, to 8 neighbours.  far: some rows have another nonzero, without its counterpart in the transpose. */
static PetscErrorCode Create(MatType type, PetscInt n, PetscBool box, PetscBool far, Mat *A)
{
  PetscInt from, to;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, n * n, n * n));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSeqAIJSetPreallocation(*A, 11, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, 11, NULL, 11, NULL));
  PetscCall(MatGetOwnershipRange(*A, &from, &to));
  for (PetscInt row = from; row < to; row++) {
    const PetscInt i = row % n, j = row / n;

    for (PetscInt e = 0; e < 9; e++) {
      const PetscInt    di = e % 3 - 1, dj = e / 3 - 1, column = row + di + n * dj;
      const PetscScalar skew = far ? 0.2 * PetscSinReal((PetscReal)(2 * row + column)) : 0;

      if (i + di < 0 || i + di >= n || j + dj < 0 || j + dj >= n || (!box && di && dj)) continue;
      PetscCall(MatSetValue(*A, row, column, e == 4 ? (box ? 8.25 : 4.25) + row % 3 : -1 - skew - 0.1 * PetscSinReal((PetscReal)(row + column)), ADD_VALUES));
    }
    if (far && row % 5 == 2) PetscCall(MatSetValue(*A, row, (7 * row) % (n * n), 0.5, ADD_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Orders the rows of a sequential matrix by the colours of a greedy algorithm that compares all pairs of rows. */
static PetscErrorCode ColorOrder(Mat A, IS *order)
{
  Mat                dense;
  const PetscScalar *a;
  PetscInt           n, *color, *index, colors = 0, at = 0;

  PetscFunctionBeginUser;
  PetscCall(MatGetLocalSize(A, &n, NULL));
  PetscCall(MatConvert(A, MATDENSE, MAT_INITIAL_MATRIX, &dense));
  PetscCall(MatDenseGetArrayRead(dense, &a));
  PetscCall(PetscMalloc2(n, &color, n, &index));
  for (PetscInt i = 0; i < n; i++) {
    PetscBool taken = PETSC_TRUE;

    for (color[i] = -1; taken;) {
      color[i]++;
      taken = PETSC_FALSE;
      for (PetscInt j = 0; j < i && !taken; j++) taken = (PetscBool)(color[j] == color[i] && (a[i + n * j] != 0 || a[j + n * i] != 0));
    }
    colors = PetscMax(colors, color[i] + 1);
  }
  for (PetscInt c = 0; c < colors; c++) {
    for (PetscInt i = 0; i < n; i++) {
      if (color[i] == c) index[at++] = i;
    }
  }
  PetscCall(ISCreateGeneral(PETSC_COMM_SELF, n, index, PETSC_COPY_VALUES, order));
  PetscCall(ISSetPermutation(*order));
  PetscCall(PetscFree2(color, index));
  PetscCall(MatDenseRestoreArrayRead(dense, &a));
  PetscCall(MatDestroy(&dense));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A sweep of PETSc over the rows of this rank, in the order of the colours. */
static PetscErrorCode LocalSweep(Mat A, Vec b, PetscReal omega, MatSORType flag, PetscReal shift, PetscInt its, Vec x)
{
  Mat          block, permuted;
  Vec          bl, xl;
  IS           order;
  PetscScalar *a;
  PetscInt     n;

  PetscFunctionBeginUser;
  PetscCall(MatGetDiagonalBlock(A, &block));
  PetscCall(ColorOrder(block, &order));
  PetscCall(MatPermute(block, order, order, &permuted));
  PetscCall(MatSetOption(permuted, MAT_USE_INODES, PETSC_FALSE));
  PetscCall(MatCreateVecs(permuted, &xl, &bl));
  for (int k = 0; k < 2; k++) {
    PetscCall(VecGetLocalSize(b, &n));
    PetscCall(VecGetArray(k ? x : b, &a));
    {
      PetscScalar *to;

      PetscCall(VecGetArray(k ? xl : bl, &to));
      PetscCall(PetscArraycpy(to, a, n));
      PetscCall(VecRestoreArray(k ? xl : bl, &to));
    }
    PetscCall(VecRestoreArray(k ? x : b, &a));
    PetscCall(VecPermute(k ? xl : bl, order, PETSC_FALSE));
  }
  PetscCall(MatSOR(permuted, bl, omega, flag, shift, its, 1, xl));
  PetscCall(VecPermute(xl, order, PETSC_TRUE));
  {
    const PetscScalar *from;

    PetscCall(VecGetArrayRead(xl, &from));
    PetscCall(VecGetArray(x, &a));
    PetscCall(PetscArraycpy(a, from, n));
    PetscCall(VecRestoreArray(x, &a));
    PetscCall(VecRestoreArrayRead(xl, &from));
  }
  PetscCall(VecDestroy(&bl));
  PetscCall(VecDestroy(&xl));
  PetscCall(MatDestroy(&permuted));
  PetscCall(ISDestroy(&order));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* As MATMPIAIJ: local sweeps, before each of which the contributions of other ranks are subtracted from b. */
static PetscErrorCode Reference(Mat A, Vec b, PetscReal omega, MatSORType flag, PetscReal shift, PetscInt its, PetscInt lits, Vec x)
{
  const MatSORType local = (MatSORType)(((flag >> 2) | flag) & SOR_SYMMETRIC_SWEEP);
  Vec              rest;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(b, &rest));
  for (PetscInt k = 0; k < its; k++) {
    const PetscBool zero = (PetscBool)(!k && (flag & SOR_ZERO_INITIAL_GUESS));

    PetscCall(VecCopy(b, rest));
    if (!zero) { /* b - A x + D x with the diagonal block D */
      Mat                block;
      Vec                xl, yl;
      PetscScalar       *r;
      const PetscScalar *a;
      PetscInt           n;

      PetscCall(MatMult(A, x, rest));
      PetscCall(VecAYPX(rest, -1, b));
      PetscCall(MatGetDiagonalBlock(A, &block));
      PetscCall(MatCreateVecs(block, &xl, &yl));
      PetscCall(VecGetLocalSize(x, &n));
      PetscCall(VecGetArrayRead(x, &a));
      PetscCall(VecPlaceArray(xl, a));
      PetscCall(MatMult(block, xl, yl));
      PetscCall(VecResetArray(xl));
      PetscCall(VecRestoreArrayRead(x, &a));
      PetscCall(VecGetArrayRead(yl, &a));
      PetscCall(VecGetArray(rest, &r));
      for (PetscInt i = 0; i < n; i++) r[i] += a[i];
      PetscCall(VecRestoreArray(rest, &r));
      PetscCall(VecRestoreArrayRead(yl, &a));
      PetscCall(VecDestroy(&xl));
      PetscCall(VecDestroy(&yl));
    }
    PetscCall(LocalSweep(A, rest, omega, (MatSORType)(local | (zero ? SOR_ZERO_INITIAL_GUESS : 0)), shift, lits, x));
  }
  PetscCall(VecDestroy(&rest));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares all kinds of sweeps with A, of type gpucsr, and B, the same matrix of type aij. */
static PetscErrorCode Compare(const char what[], Mat A, Mat B)
{
  const MatSORType sweeps[] = {SOR_LOCAL_FORWARD_SWEEP, SOR_LOCAL_BACKWARD_SWEEP, SOR_LOCAL_SYMMETRIC_SWEEP, SOR_FORWARD_SWEEP, SOR_BACKWARD_SWEEP, SOR_SYMMETRIC_SWEEP};
  PetscMPIInt      size;
  Vec              b, x, c, y;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(MatCreateVecs(B, &y, &c));
  for (int s = 0; s < (size == 1 ? 6 : 3); s++) {
    for (int variant = 0; variant < 16; variant++) {
      const MatSORType flag  = (MatSORType)(sweeps[s] | (variant & 1 ? SOR_ZERO_INITIAL_GUESS : 0));
      const PetscReal  omega = variant & 2 ? 1.3 : 1, shift = variant & 4 ? 0.5 : 0;
      const PetscInt   its = variant & 8 ? 2 : 1, lits = variant & 8 ? 3 : 1;
      PetscReal        error, norm;

      PetscCall(VecSet(c, 1));
      PetscCall(MatMult(B, c, y));
      PetscCall(VecPointwiseMult(c, y, y));
      PetscCall(VecCopy(c, b));
      PetscCall(VecCopy(y, x));
      PetscCall(MatSOR(A, b, omega, flag, shift, its, lits, x));
      PetscCall(Reference(B, c, omega, flag, shift, its, lits, y));
      PetscCall(VecNorm(y, NORM_INFINITY, &norm));
      PetscCall(VecCopy(x, c));
      PetscCall(VecAXPY(c, -1, y));
      PetscCall(VecNorm(c, NORM_INFINITY, &error));
      PetscCheck(error <= Tolerance * norm, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: flag %d, omega %g, shift %g, %" PetscInt_FMT " x %" PetscInt_FMT " iterations: error %g of %g", what, (int)flag, (double)omega, (double)shift, its, lits,
                 (double)error, (double)norm);
    }
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&c));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: equal to PETSc's sweeps in the order of the colours\n", what));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* As many ranks as there are, most of them without rows. */
static PetscErrorCode TestFewRows(void)
{
  Mat A, B;

  PetscFunctionBeginUser;
  PetscCall(Create(MATGPUCSR, 1, PETSC_FALSE, PETSC_FALSE, &A));
  PetscCall(Create(MATAIJ, 1, PETSC_FALSE, PETSC_FALSE, &B));
  PetscCall(MatGPUCSRSetSORType(A, MAT_GPUCSR_SOR_MULTICOLOR));
  PetscCall(Compare("one row", A, B));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestSweeps(void)
{
  Mat      A, B, C;
  PetscInt from, to;

  PetscFunctionBeginUser;
  PetscCall(Create(MATGPUCSR, 9, PETSC_FALSE, PETSC_FALSE, &A));
  PetscCall(MatGPUCSRSetSORType(A, MAT_GPUCSR_SOR_MULTICOLOR));
  PetscCall(Create(MATAIJ, 9, PETSC_FALSE, PETSC_FALSE, &B));
  PetscCall(Compare("two colours", A, B));
  for (int k = 0; k < 2; k++) PetscCall(MatShift(k ? A : B, 1.5));
  for (int k = 0; k < 2; k++) PetscCall(MatScale(k ? A : B, 3));
  PetscCall(Compare("new values", A, B));
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &C));
  PetscCall(Compare("duplicate", C, B));
  PetscCall(MatDestroy(&C));
  PetscCall(Create(MATGPUCSR, 9, PETSC_TRUE, PETSC_TRUE, &C));
  PetscCall(MatDestroy(&B));
  PetscCall(Create(MATAIJ, 9, PETSC_TRUE, PETSC_TRUE, &B));
  PetscCall(MatGPUCSRSetSORType(C, MAT_GPUCSR_SOR_MULTICOLOR));
  PetscCall(Compare("unsymmetric pattern", C, B));
  PetscCall(MatDestroy(&A));
  PetscCall(MatGetOwnershipRange(C, &from, &to));
  for (int k = 0; k < 2; k++) {
    Mat M = k ? C : B;

    PetscCall(MatSetOption(M, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
    if (from <= 3 && 3 < to) PetscCall(MatSetValue(M, 3, 7, -0.25, INSERT_VALUES));
    if (from <= 40 && 40 < to) PetscCall(MatSetValue(M, 40, 3, -0.25, INSERT_VALUES));
    PetscCall(MatAssemblyBegin(M, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(M, MAT_FINAL_ASSEMBLY));
  }
  PetscCall(Compare("new pattern", C, B));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solve(Mat A, KSPType type, MatSORType flag, PetscInt *its)
{
  KSP                ksp;
  PC                 pc;
  Vec                x, b;
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, type));
  PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 300));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCSOR));
  PetscCall(PCSORSetSymmetric(pc, flag));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, its));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCheck(reason > 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: %s", type, KSPConvergedReasons[reason]);
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Krylov methods converge in about as many iterations as with PETSc's order of the rows. */
static PetscErrorCode TestSolvers(void)
{
  Mat      A;
  PetscInt host, own;

  PetscFunctionBeginUser;
  for (int k = 0; k < 2; k++) {
    PetscCall(Create(MATGPUCSR, 30, PETSC_FALSE, k ? PETSC_TRUE : PETSC_FALSE, &A));
    PetscCall(MatGPUCSRSetSORType(A, MAT_GPUCSR_SOR_HOST));
    PetscCall(Solve(A, k ? KSPGMRES : KSPCG, k ? SOR_LOCAL_FORWARD_SWEEP : SOR_LOCAL_SYMMETRIC_SWEEP, &host));
    PetscCall(MatGPUCSRSetSORType(A, MAT_GPUCSR_SOR_MULTICOLOR));
    PetscCall(Solve(A, k ? KSPGMRES : KSPCG, k ? SOR_LOCAL_FORWARD_SWEEP : SOR_LOCAL_SYMMETRIC_SWEEP, &own));
    PetscCheck(own <= 1.5 * host + 2, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%" PetscInt_FMT " iterations, %" PetscInt_FMT " in the order of the rows", own, host);
    PetscCall(MatDestroy(&A));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "CG with symmetric sweeps, GMRES with forward sweeps: converge\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sweeps that stay on the host, and errors. */
static PetscErrorCode TestOthers(void)
{
  Mat         A, B;
  Vec         x, b;
  PetscMPIInt size;
  PetscReal   error;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(Create(MATGPUCSR, 5, PETSC_FALSE, PETSC_FALSE, &A));
  PetscCall(Create(MATAIJ, 5, PETSC_FALSE, PETSC_FALSE, &B));
  PetscCall(MatGPUCSRSetSORType(A, MAT_GPUCSR_SOR_MULTICOLOR));
  PetscCall(MatCreateVecs(A, &x, &b));
  if (size == 1) {
    Vec y;

    PetscCall(VecDuplicate(x, &y));
    PetscCall(VecSet(b, 1));
    PetscCall(VecSet(x, 0));
    PetscCall(VecSet(y, 0));
    PetscCall(MatSOR(A, b, 1.2, (MatSORType)(SOR_EISENSTAT | SOR_SYMMETRIC_SWEEP | SOR_ZERO_INITIAL_GUESS), 0, 1, 1, x));
    PetscCall(MatSOR(B, b, 1.2, (MatSORType)(SOR_EISENSTAT | SOR_SYMMETRIC_SWEEP | SOR_ZERO_INITIAL_GUESS), 0, 1, 1, y));
    PetscCall(VecAXPY(x, -1, y));
    PetscCall(VecNorm(x, NORM_INFINITY, &error));
    PetscCheck(error == 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Eisenstat's trick differs by %g", (double)error);
    PetscCall(VecDestroy(&y));
  }
  { /* a zero on the diagonal has the effect that it has with AIJ */
    PetscErrorCode code[2];
    MatFactorError pivot[2];

    PetscCall(VecSet(b, 1));
    for (int k = 0; k < 2; k++) {
      Mat M = k ? B : A;
      Vec v, w;

      PetscCall(MatZeroEntries(M));
      PetscCall(MatCreateVecs(M, &v, &w));
      PetscCall(VecSet(w, 1));
      PetscCall(PetscPushErrorHandler(RefusedCatch, NULL));
      code[k] = MatSOR(M, w, 1, (MatSORType)(SOR_LOCAL_SYMMETRIC_SWEEP | SOR_ZERO_INITIAL_GUESS), 0, 1, 1, v);
      PetscCall(PetscPopErrorHandler());
      PetscCall(MatFactorGetError(M, &pivot[k]));
      PetscCall(VecDestroy(&v));
      PetscCall(VecDestroy(&w));
    }
    PetscCheck(code[0] == code[1] && pivot[0] == pivot[1] && (code[0] || pivot[0]), PETSC_COMM_WORLD, PETSC_ERR_PLIB, "zero diagonal: error %d, state %d, with AIJ %d and %d", (int)code[0], (int)pivot[0], (int)code[1], (int)pivot[1]);
    for (int k = 0; k < 2; k++) PetscCall(MatShift(k ? B : A, 2));
    PetscCall(MatFactorClearError(A));
    PetscCall(VecSet(x, 0));
    PetscCall(MatSOR(A, b, 1, (MatSORType)(SOR_LOCAL_SYMMETRIC_SWEEP | SOR_ZERO_INITIAL_GUESS), 0, 1, 1, x));
    PetscCall(VecShift(x, -0.5));
    PetscCall(VecNorm(x, NORM_INFINITY, &error));
    PetscCheck(error == 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "after a zero diagonal: error %g", (double)error);
  }
  PetscCall(MatGPUCSRSetStream(A, MAT_GPUCSR_STREAM_ALWAYS));
  Refused("does not support streamed matrices", MatSOR(A, b, 1, (MatSORType)(SOR_LOCAL_SYMMETRIC_SWEEP | SOR_ZERO_INITIAL_GUESS), 0, 1, 1, x));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  {
    const PetscInt n = 130;
    PetscInt       from, to;

    PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
    PetscCall(MatSetSizes(A, n, n, PETSC_DETERMINE, PETSC_DETERMINE));
    PetscCall(MatSetType(A, MATGPUCSR));
    PetscCall(MatSeqAIJSetPreallocation(A, n, NULL));
    PetscCall(MatMPIAIJSetPreallocation(A, n, NULL, 0, NULL));
    PetscCall(MatGetOwnershipRange(A, &from, &to));
    for (PetscInt i = from; i < to; i++) {
      for (PetscInt j = from; j < to; j++) PetscCall(MatSetValue(A, i, j, i == j ? n : 0.5, INSERT_VALUES));
    }
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatGPUCSRSetSORType(A, MAT_GPUCSR_SOR_MULTICOLOR));
    PetscCall(MatCreateVecs(A, &x, &b));
    Refused("needs 130 colours", MatSOR(A, b, 1, (MatSORType)(SOR_LOCAL_SYMMETRIC_SWEEP | SOR_ZERO_INITIAL_GUESS), 0, 1, 1, x));
    PetscCall(MatDestroy(&A));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&b));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-tolerance", &Tolerance, NULL));
  PetscCall(TestFewRows());
  PetscCall(TestSweeps());
  PetscCall(TestSolvers());
  PetscCall(TestOthers());
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   test:
      suffix: double
      nsize: {{1 2 4}}
      args: -mat_gpucsr_storage double
      output_file: output/sor.out

   test:
      suffix: gpu
      nsize: {{1 2 4}}
      args: -mat_gpucsr_storage {{double auto}} -mat_gpucsr_vec_type gpu -vec_gpu_separate
      output_file: output/sor.out

   test:
      suffix: single
      nsize: {{1 2}}
      args: -mat_gpucsr_storage single -tolerance 1e-6
      output_file: output/sor.out

TEST*/
