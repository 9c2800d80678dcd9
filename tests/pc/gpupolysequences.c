static char help[] = "PCGPUPOLY: options, views, new values and matrices, special matrices, failures and refusals.\n\n";

#include "gpucsrpc.h"
#include "gpucsrcompat.h"
#include "mat/refused.h"
#include <math.h>
#include <petscksp.h>

/* A tridiagonal matrix with the diagonal d, couplings of -1, and in row `special` a diagonal of `value`.  If skew is not 0, the matrix is not symmetric. */
static PetscErrorCode Create(PetscInt n, PetscScalar d, PetscInt special, PetscScalar value, PetscScalar skew, Mat *A)
{
  PetscInt from, to;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, n, n));
  PetscCall(MatSetType(*A, MATGPUCSR));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, 4, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, 4, NULL, 4, NULL));
  PetscCall(MatSetOption(*A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(MatGetOwnershipRange(*A, &from, &to));
  for (PetscInt i = from; i < to; i++) {
    PetscCall(MatSetValue(*A, i, i, i == special ? value : d, INSERT_VALUES));
    if (i > 0) PetscCall(MatSetValue(*A, i, i - 1, -1 - skew, INSERT_VALUES));
    if (i < n - 1) PetscCall(MatSetValue(*A, i, i + 1, -1, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreatePC(Mat A, const char prefix[], PC *pc)
{
  PetscFunctionBeginUser;
  PetscCall(PCCreate(PETSC_COMM_WORLD, pc));
  PetscCall(PCSetOptionsPrefix(*pc, prefix));
  PetscCall(PCSetType(*pc, PCGPUPOLY));
  PetscCall(PCSetOperators(*pc, A, A));
  PetscCall(PCSetFromOptions(*pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The PC must do what a new one with the same options does, up to the last bit. */
static PetscErrorCode Compare(const char what[], PC pc, Mat A, PetscErrorCode (*change)(PC))
{
  PC        fresh;
  Vec       x, y, z;
  PetscReal error, norm;

  PetscFunctionBeginUser;
  PetscCall(CreatePC(A, NULL, &fresh));
  if (change) PetscCall((*change)(fresh));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(VecSet(x, 1));
  PetscCall(PCApply(fresh, x, y));
  PetscCall(PCApply(pc, x, z));
  PetscCall(VecNorm(y, NORM_INFINITY, &norm));
  PetscCall(VecAXPY(z, -1, y));
  PetscCall(VecNorm(z, NORM_INFINITY, &error));
  PetscCheck(error == 0 && norm > 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: differs from a new PC by %g of %g", what, (double)error, (double)norm);
  PetscCall(PCDestroy(&fresh));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LeastSquares(PC pc)
{
  PetscFunctionBeginUser;
  PetscCall(PCGPUPolySetType(pc, PC_GPUPOLY_LEASTSQUARES));
  PetscCall(PCGPUPolySetDegree(pc, 5));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Unscaled(PC pc)
{
  PetscFunctionBeginUser;
  PetscCall(LeastSquares(pc));
  PetscCall(PCGPUPolySetScale(pc, PC_GPUPOLY_SCALE_NONE));
  PetscCall(PCGPUPolySetLanczosSteps(pc, 4));
  PetscCall(PCGPUPolySetRatio(pc, 9));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Given(PC pc)
{
  PetscFunctionBeginUser;
  PetscCall(Unscaled(pc));
  PetscCall(PCGPUPolySetEigenvalues(pc, 0.5, 4));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Other options after the set-up, new values, a new pattern, other matrices. */
static PetscErrorCode TestChanges(void)
{
  Mat      A, B, C;
  PC       pc;
  PetscInt from, to;

  PetscFunctionBeginUser;
  PetscCall(Create(50, 2.25, -1, 0, 0, &A));
  PetscCall(Create(31, 2.5, 3, 7, 0, &B));
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &C));
  PetscCall(MatShift(C, 0.5));
  PetscCall(CreatePC(A, NULL, &pc));
  PetscCall(Compare("first set-up", pc, A, NULL));
  PetscCall(Compare("second application", pc, A, NULL));
  PetscCall(LeastSquares(pc));
  PetscCall(Compare("other type", pc, A, LeastSquares));
  PetscCall(Unscaled(pc));
  PetscCall(Compare("without scaling", pc, A, Unscaled));
  PetscCall(Given(pc));
  PetscCall(Compare("given bounds", pc, A, Given));
  PetscCall(PCGPUPolySetEigenvalues(pc, 0, 0));
  PetscCall(Compare("computed bounds again", pc, A, Unscaled));
  PetscCall(PCGPUPolySetScale(pc, PC_GPUPOLY_SCALE_JACOBI));
  PetscCall(PCGPUPolySetLanczosSteps(pc, 15));
  PetscCall(PCGPUPolySetRatio(pc, 0));
  PetscCall(Compare("scaling again", pc, A, LeastSquares));
  PetscCall(MatShift(A, 0.5));
  PetscCall(Compare("new values", pc, A, LeastSquares));
  PetscCall(MatGetOwnershipRange(A, &from, &to));
  if (from <= 3 && 3 < to) PetscCall(MatSetValue(A, 3, 40, -0.25, INSERT_VALUES));
  if (from <= 40 && 40 < to) PetscCall(MatSetValue(A, 40, 3, -0.25, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(Compare("new pattern", pc, A, LeastSquares));
  PetscCall(PCSetOperators(pc, C, C));
  PetscCall(Compare("matrix of another type", pc, C, LeastSquares));
  PetscCall(PCReset(pc));
  PetscCall(PCReset(pc));
  PetscCall(PCSetOperators(pc, B, B));
  PetscCall(Compare("other sizes", pc, B, LeastSquares));
  PetscCall(PCSetType(pc, PCJACOBI));
  PetscCall(PCGPUPolySetDegree(pc, -5)); /* no effect on another type */
  PetscCall(PCSetUp(pc));
  PetscCall(PCSetType(pc, PCGPUPOLY));
  PetscCall(Compare("after another type", pc, B, NULL));
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&C));
  for (int moment = 0; moment < 3; moment++) { /* destroyed early */
    PetscCall(Create(20, 3, -1, 0, 0, &A));
    PetscCall(CreatePC(A, NULL, &pc));
    if (moment == 1) PetscCall(PCReset(pc));
    if (moment == 2) PetscCall(PCSetUp(pc));
    PetscCall(MatDestroy(&A));
    PetscCall(PCDestroy(&pc));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "changes: as a new PC\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MultDiagonal(Mat A, Vec x, Vec y)
{
  PetscFunctionBeginUser;
  PetscCall(VecCopy(x, y));
  PetscCall(VecScale(y, 3));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves with CG from a right-hand side of ones, or A times ones if the matrix is singular, and checks the reason. */
static PetscErrorCode Solve(const char what[], Mat A, PetscBool singular, KSPConvergedReason expected, PetscInt most)
{
  KSP                ksp;
  PC                 pc;
  Vec                x, b;
  KSPConvergedReason reason;
  PetscInt           its;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(x, 1));
  if (singular) PetscCall(MatMult(A, x, b));
  else PetscCall(VecSet(b, 1));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPSetTolerances(ksp, 1e-10, 1e-12, PETSC_DEFAULT, 200));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCGPUPOLY));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCheck(expected < 0 ? reason == expected : reason > 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: %s, not %s", what, KSPConvergedReasons[reason], KSPConvergedReasons[expected]);
  PetscCheck(its <= most, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: %" PetscInt_FMT " iterations", what, its);
  if (expected < 0) { /* the same solver must work with valid values afterwards */
    PetscCall(MatZeroEntries(A));
    PetscCall(MatShift(A, 2));
    PetscCall(KSPSolve(ksp, b, x)); /* after a failure of any preconditioner, PETSc 3.18 fails once more */
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(KSPGetConvergedReason(ksp, &reason));
    PetscCheck(reason > 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s, then the identity: %s", what, KSPConvergedReasons[reason]);
  } else {
    PetscReal error, norm;

    PetscCall(VecNorm(b, NORM_2, &norm));
    PetscCall(VecScale(b, -1));
    PetscCall(MatMultAdd(A, x, b, b));
    PetscCall(VecNorm(b, NORM_2, &error));
    PetscCheck(error <= 1e-8 * norm, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: residual %g of %g", what, (double)error, (double)norm);
  }
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestSpecial(void)
{
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(Create(0, 1, -1, 0, 0, &A));
  PetscCall(Solve("empty matrix", A, PETSC_FALSE, KSP_CONVERGED_RTOL, 0));
  PetscCall(MatDestroy(&A));
  PetscCall(Create(1, 5, -1, 0, 0, &A));
  PetscCall(Solve("1 x 1", A, PETSC_FALSE, KSP_CONVERGED_RTOL, 1));
  PetscCall(MatDestroy(&A));
  PetscCall(Create(2, 5, -1, 0, 0, &A));
  PetscCall(Solve("2 x 2", A, PETSC_FALSE, KSP_CONVERGED_RTOL, 2));
  PetscCall(MatZeroEntries(A));
  PetscCall(MatShift(A, 1e-20));
  PetscCall(Solve("small multiple of the identity", A, PETSC_TRUE, KSP_CONVERGED_RTOL, 1));
  PetscCall(MatDestroy(&A));
  PetscCall(Create(40, 5, -1, 0, 0, &A));
  PetscCall(MatZeroEntries(A));
  PetscCall(MatShift(A, 4));
  PetscCall(Solve("multiple of the identity", A, PETSC_FALSE, KSP_CONVERGED_RTOL, 1));
  PetscCall(MatDestroy(&A));
  PetscCall(Create(40, 2, -1, 0, 0, &A));
  {
    const PetscInt rows[] = {0, 17};
    PetscMPIInt    rank;

    PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
    PetscCall(MatZeroRowsColumns(A, rank ? 0 : 2, rows, 0, NULL, NULL));
  }
  PetscCall(Solve("zero rows", A, PETSC_TRUE, KSP_CONVERGED_RTOL, 20));
  PetscCall(MatDestroy(&A));
  {
    PetscInt m, M = 9;

    PetscCall(PetscSplitOwnership(PETSC_COMM_WORLD, (m = PETSC_DECIDE, &m), &M));
    PetscCall(MatCreateShell(PETSC_COMM_WORLD, m, m, M, M, NULL, &A));
    PetscCall(MatShellSetOperation(A, MATOP_MULT, (void (*)(void))MultDiagonal));
    PetscCall(PetscOptionsSetValue(NULL, "-pc_gpupoly_scale", "none"));
    PetscCall(Solve("shell matrix", A, PETSC_FALSE, KSP_CONVERGED_RTOL, 1));
    PetscCall(PetscOptionsClearValue(NULL, "-pc_gpupoly_scale"));
    PetscCall(MatDestroy(&A));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "special matrices: solved\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestFailures(void)
{
  const struct {
    const char *what;
    PetscInt    n, special;
    PetscScalar d, value;
  } cases[] = {
    {"negative diagonal", 30, 4, 3, -1}, {"negative Ritz value", 30, -1, 0.5, 0}, {"zero diagonal", 30, -1, 0, 0}, {"NaN", 30, 7, 3, NAN}, {"infinity", 30, 7, 3, INFINITY},
  };
  Mat A;
  KSP ksp;
  PC  pc;
  Vec x, b;

  PetscFunctionBeginUser;
  for (size_t c = 0; c < PETSC_STATIC_ARRAY_LENGTH(cases); c++) {
    PetscCall(Create(cases[c].n, cases[c].d, cases[c].special, cases[c].value, 0, &A));
    PetscCall(Solve(cases[c].what, A, PETSC_FALSE, KSP_DIVERGED_PC_FAILED, 0));
    PetscCall(MatDestroy(&A));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "failures: KSP_DIVERGED_PC_FAILED, then solved with valid values\n"));
  PetscCall(Create(10, 1, -1, 0, 0, &A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCGPUPOLY));
  PetscCall(KSPSetErrorIfNotConverged(ksp, PETSC_TRUE));
  Refused("a Ritz value is negative", KSPSolve(ksp, b, x));
  PetscCall(PCView(pc, PETSC_VIEWER_STDOUT_WORLD));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestRefusals(void)
{
  Mat       A;
  PC        pc;
  PetscReal low, high;

  PetscFunctionBeginUser;
  PetscCall(Create(40, 4, -1, 0, 0.5, &A));
  PetscCall(CreatePC(A, NULL, &pc));
  Refused("before PCSetUp() has succeeded", PCGPUPolyGetEigenvalues(pc, &low, &high));
  Refused("The matrix is not symmetric", PCSetUp(pc));
  Refused("must satisfy 0 <= lower <= upper", PCGPUPolySetEigenvalues(pc, -1, 2));
  Refused("must satisfy 0 <= lower <= upper", PCGPUPolySetEigenvalues(pc, 3, 2));
  Refused("must satisfy 0 <= lower <= upper", PCGPUPolySetEigenvalues(pc, 1, NAN));
  Refused("must be from 0 to 1000", PCGPUPolySetDegree(pc, -1));
  Refused("must be from 1 to 100", PCGPUPolySetLanczosSteps(pc, 0));
  Refused("must be 0 or at least 1", PCGPUPolySetRatio(pc, 0.5));
  PetscCall(PCGPUPolySetEigenvalues(pc, 0, 2));
  Refused("Chebyshev polynomials need a positive one", PCSetUp(pc));
  PetscCall(PCGPUPolySetType(pc, PC_GPUPOLY_LEASTSQUARES));
  PetscCall(PCSetUp(pc));
  PetscCall(PCGPUPolyGetEigenvalues(pc, &low, &high));
  PetscCheck(low == 0 && high == 2, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "bounds [%g, %g]", (double)low, (double)high);
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Views before and after the set-up, with the default options and with those of a prefix. */
static PetscErrorCode TestViews(void)
{
  Mat A;
  PC  pc;

  PetscFunctionBeginUser;
  PetscCall(Create(40, 2.5, -1, 0, 0, &A));
  PetscCall(CreatePC(A, "first_", &pc));
  PetscCall(PCView(pc, PETSC_VIEWER_STDOUT_WORLD));
  PetscCall(PCSetUp(pc));
  PetscCall(PCView(pc, PETSC_VIEWER_STDOUT_WORLD));
  PetscCall(PCDestroy(&pc));
  PetscCall(PetscOptionsInsertString(NULL, "-second_pc_gpupoly_type leastsquares -second_pc_gpupoly_degree 3 -second_pc_gpupoly_scale none -second_pc_gpupoly_lanczos_steps 5"));
  PetscCall(CreatePC(A, "second_", &pc));
  PetscCall(PCSetUp(pc));
  PetscCall(PCView(pc, PETSC_VIEWER_STDOUT_WORLD));
  PetscCall(PetscOptionsInsertString(NULL, "-second_pc_gpupoly_ratio 50"));
  PetscCall(PCSetFromOptions(pc));
  PetscCall(PCSetUp(pc));
  PetscCall(PCView(pc, PETSC_VIEWER_STDOUT_WORLD));
  PetscCall(PetscOptionsInsertString(NULL, "-second_pc_gpupoly_eigenvalues 0.5,4.5"));
  PetscCall(PCSetFromOptions(pc));
  PetscCall(PCView(pc, PETSC_VIEWER_STDOUT_WORLD));
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(TestChanges());
  PetscCall(TestSpecial());
  PetscCall(TestFailures());
  PetscCall(TestRefusals());
  PetscCall(TestViews());
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   test:
      suffix: double
      nsize: {{1 2 4}}
      args: -mat_gpucsr_storage double
      filter: grep -E "^(changes|special|failures|refused|[[] *[0-9])|type (chebyshev|leastsquares)|bounds of|bound:|Ritz|set-up failed"
      output_file: output/gpupolysequences.out

   test:
      suffix: gpu
      nsize: {{1 2 4}}
      args: -mat_gpucsr_storage double -mat_gpucsr_vec_type gpu -vec_gpu_separate
      filter: grep -E "^(changes|special|failures|refused|[[] *[0-9])|type (chebyshev|leastsquares)|bounds of|bound:|Ritz|set-up failed"
      output_file: output/gpupolysequences.out

   test:
      suffix: single
      args: -mat_gpucsr_storage single
      filter: grep -E "^(changes|special|failures|refused|[[] *[0-9])|type (chebyshev|leastsquares)|bounds of|bound:|Ritz|set-up failed"
      output_file: output/gpupolysequences.out

TEST*/
