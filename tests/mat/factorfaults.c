static char help[] = "Faults of factorisations with the solver type gpucsr are those of plain AIJ, and so are factorisations in place.\n\n";

#include "gpucsr.h"
#include "gpucsrcompat.h"
#include "expect.h"
#include "refused.h"
#include <petscksp.h>

#define N 12

/* A tridiagonal matrix. If zero is not negative, this row has a zero pivot: it has no coupling to the row before, and a zero diagonal. missing: the row without a diagonal entry */
static PetscErrorCode Create(MatType type, PetscInt zero, PetscInt missing, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_SELF, A));
  PetscCall(MatSetSizes(*A, N, N, N, N));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, 3, NULL));
  for (PetscInt i = 0; i < N; i++) {
    if (i != missing) PetscCall(MatSetValue(*A, i, i, i == zero ? 0 : 2.5 + i % 3, INSERT_VALUES));
    if (i) PetscCall(MatSetValue(*A, i, i - 1, i == zero ? 0 : -1, INSERT_VALUES));
    if (i) PetscCall(MatSetValue(*A, i - 1, i, i == zero ? 0 : -1, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Symbolic(Mat F, Mat A, MatFactorType type, const MatFactorInfo *info)
{
  IS row, column;

  PetscFunctionBeginUser;
  PetscCall(MatGetOrdering(A, MATORDERINGNATURAL, &row, &column));
  if (type == MAT_FACTOR_LU) PetscCall(MatLUFactorSymbolic(F, A, row, column, info));
  if (type == MAT_FACTOR_ILU) PetscCall(MatILUFactorSymbolic(F, A, row, column, info));
  if (type == MAT_FACTOR_CHOLESKY) PetscCall(MatCholeskyFactorSymbolic(F, A, row, info));
  if (type == MAT_FACTOR_ICC) PetscCall(MatICCFactorSymbolic(F, A, row, info));
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

/* What PETSc reports of a factorisation, and the solution with the factor. */
typedef struct {
  MatFactorError error;
  PetscReal      pivot;
  PetscInt       row;
  PetscScalar    x[N];
} Report;

static PetscErrorCode GetReport(Mat F, VecType vectype, Report *r)
{
  const PetscScalar *a;
  Vec                b, x;

  PetscFunctionBeginUser;
  *r = (Report){.row = -1};
  PetscCall(MatFactorGetError(F, &r->error));
  if (r->error) PetscCall(MatFactorGetErrorZeroPivot(F, &r->pivot, &r->row));
  PetscCall(VecCreate(PETSC_COMM_SELF, &b));
  PetscCall(VecSetSizes(b, N, N));
  PetscCall(VecSetType(b, vectype));
  PetscCall(VecDuplicate(b, &x));
  PetscCall(VecSet(b, 1));
  PetscCall(MatSolve(F, b, x));
  PetscCall(VecGetArrayRead(x, &a));
  for (PetscInt i = 0; i < N; i++) r->x[i] = a[i];
  PetscCall(VecRestoreArrayRead(x, &a));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CompareReports(const Report *r, const Report *expected, PetscReal tolerance, const char where[])
{
  PetscBool same = PETSC_TRUE;

  PetscFunctionBeginUser;
  PetscCall(Expect((PetscBool)(r->error == expected->error && r->pivot == expected->pivot && r->row == expected->row), "another error, pivot or row is reported", where));
  for (PetscInt i = 0; i < N; i++) {
    const PetscScalar a = r->x[i], e = expected->x[i];

    same = (PetscBool)(same && (PetscIsInfOrNanScalar(e) ? PetscIsInfOrNanScalar(a) : PetscAbsScalar(a - e) <= tolerance * (1 + PetscAbsScalar(e))));
  }
  PetscCall(Expect(same, "the solutions differ", where));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const char *const Shifts[] = {"no shift", "shift nonzero", "shift positive definite", "shift in blocks"};

/* A factor whose matrix has a zero pivot, then none, then one again. */
static PetscErrorCode RunPivots(MatFactorType type, MatFactorShiftType shift)
{
  static const PetscInt zero[] = {7, -1, 0};
  Mat                   A[2], F[2];
  MatFactorInfo         info;
  char                  where[128];

  PetscFunctionBeginUser;
  PetscCall(MatFactorInfoInitialize(&info));
  info.fill        = 2;
  info.zeropivot   = 100 * PETSC_MACHINE_EPSILON;
  info.shifttype   = (PetscReal)shift;
  info.shiftamount = shift == MAT_SHIFT_NONE ? 0 : 1e-3;
  for (int round = 0; round < 3; round++) {
    Report r[2];

    PetscCall(PetscSNPrintf(where, sizeof(where), "%s, %s, round %d", MatFactorTypes[type], Shifts[shift], round));
    for (int ours = 0; ours < 2; ours++) {
      Mat B;

      PetscCall(Create(ours ? MATSEQAIJGPUCSR : MATSEQAIJ, zero[round], -1, &B));
      if (round) PetscCall(MatCopy(B, A[ours], SAME_NONZERO_PATTERN));
      else {
        PetscCall(MatDuplicate(B, MAT_COPY_VALUES, &A[ours]));
        PetscCall(MatGetFactor(A[ours], ours ? MATSOLVERGPUCSR : MATSOLVERPETSC, type, &F[ours]));
        PetscCall(Symbolic(F[ours], A[ours], type, &info));
      }
      PetscCall(MatDestroy(&B));
      PetscCall(MatFactorClearError(F[ours]));
      PetscCall(Numeric(F[ours], A[ours], type, &info));
      PetscCall(GetReport(F[ours], ours ? VECGPU : VECSTANDARD, &r[ours]));
    }
    PetscCall(CompareReports(&r[1], &r[0], 1e-12, where));
    if (shift == MAT_SHIFT_NONE && (type == MAT_FACTOR_LU || type == MAT_FACTOR_ILU))
      PetscCall(Expect((PetscBool)((r[1].error == MAT_FACTOR_NUMERIC_ZEROPIVOT) == (zero[round] >= 0) && r[1].row == zero[round]), "the row of the zero pivot is not reported", where));
  }
  for (int ours = 0; ours < 2; ours++) {
    PetscCall(MatDestroy(&F[ours]));
    PetscCall(MatDestroy(&A[ours]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves with a zero pivot, then without one, and records what the solver reports. fails: the solver raises an error instead */
static PetscErrorCode SolveTwice(MatType mattype, MatSolverType solver, PCType type, PetscBool fails, KSPConvergedReason reason[2], PCFailedReason why[2])
{
  Mat A, B;
  KSP ksp;
  PC  pc;
  Vec b, x;

  PetscFunctionBeginUser;
  PetscCall(Create(mattype, 7, -1, &A));
  PetscCall(Create(mattype, -1, -1, &B));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
  PetscCall(KSPSetErrorIfNotConverged(ksp, fails));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, type));
  PetscCall(PCFactorSetMatSolverType(pc, solver));
  PetscCall(PCFactorSetMatOrderingType(pc, MATORDERINGNATURAL));
  PetscCall(PCFactorSetShiftType(pc, MAT_SHIFT_NONE));
  if (fails) Refused("Zero pivot row 7", KSPSolve(ksp, b, x));
  for (int round = 0; round < 2 && !fails; round++) {
    if (round) PetscCall(MatCopy(B, A, SAME_NONZERO_PATTERN));
    PetscCall(VecSet(x, 0));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(KSPGetConvergedReason(ksp, &reason[round]));
    PetscCall(PCGetFailedReason(pc, &why[round]));
  }
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A solver reports a zero pivot as it does with plain AIJ. */
static PetscErrorCode RunSolver(PCType type)
{
  KSPConvergedReason reason[2][2];
  PCFailedReason     why[2][2];

  PetscFunctionBeginUser;
  PetscCall(SolveTwice(MATSEQAIJ, MATSOLVERPETSC, type, PETSC_FALSE, reason[0], why[0]));
  PetscCall(SolveTwice(MATSEQAIJGPUCSR, MATSOLVERGPUCSR, type, PETSC_FALSE, reason[1], why[1]));
  for (int round = 0; round < 2; round++) PetscCall(Expect((PetscBool)(reason[0][round] == reason[1][round] && why[0][round] == why[1][round]), round ? "another reason is reported after the zero pivot is gone" : "another reason is reported", type));
  PetscCall(Expect((PetscBool)(reason[1][0] == KSP_DIVERGED_PC_FAILED && why[1][0] == PC_FACTOR_NUMERIC_ZEROPIVOT), "a solver does not report the zero pivot", type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Factorisations in place replace the contents of the matrix as for plain AIJ. */
static PetscErrorCode RunInPlace(MatFactorType type)
{
  MatFactorInfo info;
  Report        r[2];
  IS            row, column;

  PetscFunctionBeginUser;
  PetscCall(MatFactorInfoInitialize(&info));
  info.fill      = 2;
  info.zeropivot = 100 * PETSC_MACHINE_EPSILON;
  for (int ours = 0; ours < 2; ours++) {
    Mat A;

    PetscCall(Create(ours ? MATSEQAIJGPUCSR : MATSEQAIJ, -1, -1, &A));
    PetscCall(MatGetOrdering(A, MATORDERINGNATURAL, &row, &column));
    if (type == MAT_FACTOR_LU) PetscCall(MatLUFactor(A, row, column, &info));
    if (type == MAT_FACTOR_ILU) PetscCall(MatILUFactor(A, row, column, &info));
    PetscCall(GetReport(A, ours ? VECGPU : VECSTANDARD, &r[ours]));
    PetscCall(ISDestroy(&row));
    PetscCall(ISDestroy(&column));
    PetscCall(MatDestroy(&A));
  }
  PetscCall(CompareReports(&r[1], &r[0], 0, MatFactorTypes[type]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A matrix whose values single precision cannot represent: an ILU factor in single precision is refused, one in double precision is right. */
static PetscErrorCode RunUnderflow(void)
{
  MatFactorInfo info;

  PetscFunctionBeginUser;
  PetscCall(MatFactorInfoInitialize(&info));
  info.fill = 1;
  for (int storage = MAT_GPUCSR_FACTOR_STORAGE_SINGLE; storage <= MAT_GPUCSR_FACTOR_STORAGE_DOUBLE; storage++) {
    Mat    A[2], F[2];
    Report r[2];

    for (int ours = 0; ours < 2; ours++) {
      PetscCall(Create(ours ? MATSEQAIJGPUCSR : MATSEQAIJ, -1, -1, &A[ours]));
      PetscCall(MatScale(A[ours], 1e-60));
      if (ours) PetscCall(MatGPUCSRSetFactorStorage(A[1], (MatGPUCSRFactorStorage)storage));
      PetscCall(MatGetFactor(A[ours], ours ? MATSOLVERGPUCSR : MATSOLVERPETSC, MAT_FACTOR_ILU, &F[ours]));
      PetscCall(Symbolic(F[ours], A[ours], MAT_FACTOR_ILU, &info));
      PetscCall(Numeric(F[ours], A[ours], MAT_FACTOR_ILU, &info));
      if (ours && storage == MAT_GPUCSR_FACTOR_STORAGE_SINGLE) Refused("too small for single precision", GetReport(F[1], VECSTANDARD, &r[1]));
      else PetscCall(GetReport(F[ours], VECSTANDARD, &r[ours]));
    }
    if (storage == MAT_GPUCSR_FACTOR_STORAGE_DOUBLE) PetscCall(CompareReports(&r[1], &r[0], 1e-12, "small values"));
    for (int ours = 0; ours < 2; ours++) {
      PetscCall(MatDestroy(&F[ours]));
      PetscCall(MatDestroy(&A[ours]));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Errors of PETSc, which leave memory allocated. */
static PetscErrorCode RunErrors(void)
{
  static const MatFactorType types[] = {MAT_FACTOR_ILU, MAT_FACTOR_ICC};
  MatFactorInfo              info;
  Mat                        A, F;
  PetscBool                  same;

  PetscFunctionBeginUser;
  PetscCall(SolveTwice(MATSEQAIJGPUCSR, MATSOLVERGPUCSR, PCLU, PETSC_TRUE, NULL, NULL));
  PetscCall(SolveTwice(MATSEQAIJGPUCSR, MATSOLVERGPUCSR, PCILU, PETSC_TRUE, NULL, NULL));
  PetscCall(RunUnderflow());
  PetscCall(MatFactorInfoInitialize(&info));
  info.fill = 2;
  PetscCall(Create(MATSEQAIJGPUCSR, -1, 5, &A));
  for (int t = 0; t < 2; t++) {
    PetscCall(MatGetFactor(A, MATSOLVERGPUCSR, types[t], &F));
    Refused("missing diagonal", Symbolic(F, A, types[t], &info));
    PetscCall(MatDestroy(&F));
  }
  /* a conversion that PETSc does not have leaves the matrix as it was */
  Refused("", MatConvert(A, MATNEST, MAT_INITIAL_MATRIX, &F));
  Refused("", MatConvert(A, MATNEST, MAT_INPLACE_MATRIX, &A));
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATSEQAIJGPUCSR, &same));
  PetscCheck(same, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The type is now %s", "another one");
  PetscCall(MatScale(A, 2));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A factor that does not fit the device memory (-gpucsr_device_memory): an error, after which a solve succeeds once the option allows the host.  The factor on the host gives what PETSc's does. */
static PetscErrorCode RunMemory(void)
{
  static const char *const   methods[] = {"exact", "jacobi"};
  static const MatFactorType types[]   = {MAT_FACTOR_LU, MAT_FACTOR_ILU, MAT_FACTOR_ICC};
  MatFactorInfo              info;
  PetscErrorCode             err;
  Report                     r[2];
  Vec                        b, x;

  PetscFunctionBeginUser;
  PetscCall(MatFactorInfoInitialize(&info));
  info.fill      = 2;
  info.zeropivot = 100 * PETSC_MACHINE_EPSILON;
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, N, &b));
  PetscCall(VecDuplicate(b, &x));
  PetscCall(VecSet(b, 1));
  for (int k = 0; k < 6; k++) {
    Mat A[2], F[2];

    for (int ours = 0; ours < 2; ours++) {
      PetscCall(Create(ours ? MATSEQAIJGPUCSR : MATSEQAIJ, -1, -1, &A[ours]));
      if (ours) PetscCall(MatGPUCSRSetTrisolve(A[1], k % 2 ? MAT_GPUCSR_TRISOLVE_JACOBI : MAT_GPUCSR_TRISOLVE_EXACT));
      PetscCall(MatGetFactor(A[ours], ours ? MATSOLVERGPUCSR : MATSOLVERPETSC, types[k / 2], &F[ours]));
      PetscCall(Symbolic(F[ours], A[ours], types[k / 2], &info));
      if (!ours) PetscCall(Numeric(F[0], A[0], types[k / 2], &info));
      else {
        for (int round = 0; round < 4; round++) { /* the device, or PETSc on the host, computes the factor */
          PetscCall(MatGPUCSRSetFactorNumeric(A[1], round < 2 ? MAT_GPUCSR_FACTOR_NUMERIC_DEVICE : MAT_GPUCSR_FACTOR_NUMERIC_HOST));
          PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
          err = Numeric(F[1], A[1], types[k / 2], &info);
          if (!err) err = MatSolve(F[1], b, x);
          PetscCall(PetscPopErrorHandler());
          PetscCall(Expect((PetscBool)(err == PETSC_ERR_MEM), "a factor that does not fit the device is not refused", methods[k % 2]));
        }
        PetscCall(MatGPUCSRSetFactorNumeric(A[1], MAT_GPUCSR_FACTOR_NUMERIC_DEVICE));
        PetscCall(MatGPUCSRSetFactorHost(A[1], PETSC_TRUE));
        PetscCall(Numeric(F[1], A[1], types[k / 2], &info));
      }
      PetscCall(GetReport(F[ours], VECSTANDARD, &r[ours]));
    }
    PetscCall(CompareReports(&r[1], &r[0], 0, methods[k % 2]));
    for (int ours = 0; ours < 2; ours++) {
      PetscCall(MatDestroy(&F[ours]));
      PetscCall(MatDestroy(&A[ours]));
    }
  }
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static const MatFactorType types[] = {MAT_FACTOR_LU, MAT_FACTOR_ILU, MAT_FACTOR_CHOLESKY, MAT_FACTOR_ICC};
  PetscBool                  errors = PETSC_FALSE, memory = PETSC_FALSE;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-errors", &errors, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-memory", &memory, NULL));
  if (errors) PetscCall(RunErrors());
  else if (memory) PetscCall(RunMemory());
  for (int t = 0; t < 4 && !errors && !memory; t++) {
    for (int shift = 0; shift < 4; shift++) PetscCall(RunPivots(types[t], (MatFactorShiftType)shift));
  }
  if (!errors && !memory) {
    PetscCall(RunSolver(PCLU));
    PetscCall(RunSolver(PCILU));
    PetscCall(RunInPlace(MAT_FACTOR_LU));
    PetscCall(RunInPlace(MAT_FACTOR_ILU));
  }
  if (!errors) PetscCall(PetscPrintf(PETSC_COMM_SELF, Failures ? "%d differences\n" : "equal to plain AIJ\n", (int)Failures));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    suffix: exact
    args: -mat_gpucsr_storage double -vec_gpu_separate

  test:
    suffix: sweeps
    args: -mat_gpucsr_storage double -vec_gpu_separate -mat_gpucsr_trisolve {{jacobi isai}} -mat_gpucsr_trisolve_sweeps 100
    output_file: output/factorfaults_exact.out

  test:
    suffix: memory
    args: -memory -gpucsr_device_memory 100
    output_file: output/factorfaults_exact.out

  test:
    suffix: errors
    args: -errors
    filter: grep refused

TEST*/
