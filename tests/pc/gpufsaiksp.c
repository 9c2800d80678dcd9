static char help[] = "PCGPUFSAI in Krylov methods: iterations, other numbers of ranks, nested solvers, failures and errors.\n\n\
  -test iterations, nested, failures, errors or view\n\
  -n : number of points of the grid in each direction\n\n";

#include "../mat/refused.h"
#include "pc/impls/gpufsai/gpufsai.h"
#include <petscksp.h>

static PetscInt N = 40;

/* Coupling of two neighbours, from 0.7 to 1.3. */
static PetscReal Coupling(PetscInt a, PetscInt b)
{
  return 1 + 0.3 * PetscSinReal(0.37 * (a % N) + 0.21 * (a / N % N) + 0.11 * (a / (N * N)) + 0.05 * (b - a > N ? 3 : b - a > 1 ? 2 : 1));
}

/* Diffusion with smooth coefficients on N^3 points and Dirichlet conditions. */
static PetscErrorCode CreatePoisson(MPI_Comm comm, MatType type, Mat *A)
{
  const PetscInt n = N * N * N, stride[3] = {1, N, N * N};
  PetscInt       begin, end;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(comm, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, n, n));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSeqAIJSetPreallocation(*A, 7, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, 7, NULL, 7, NULL));
  PetscCall(MatGetOwnershipRange(*A, &begin, &end));
  for (PetscInt i = begin; i < end; i++) {
    PetscReal diagonal = 0;

    for (int d = 0; d < 3; d++) {
      for (int s = -1; s < 2; s += 2) {
        const PetscInt  j = i + s * stride[d], x = i / stride[d] % N + s;
        const PetscReal c = Coupling(PetscMin(i, j) + n, PetscMax(i, j) + n);

        diagonal += c;
        if (x >= 0 && x < N) PetscCall(MatSetValue(*A, i, j, -c, INSERT_VALUES));
      }
    }
    PetscCall(MatSetValue(*A, i, i, diagonal, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateSolver(Mat A, const char prefix[], KSPType type, KSP *ksp)
{
  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PetscObjectComm((PetscObject)A), ksp));
  PetscCall(KSPSetOptionsPrefix(*ksp, prefix));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPSetType(*ksp, type));
  PetscCall(KSPSetTolerances(*ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 2000));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves, checks the true residual, and returns the number of iterations. */
static PetscErrorCode Solve(KSP ksp, const char what[], PetscInt *its)
{
  Mat                A;
  Vec                x, b, r;
  PetscReal          norm, residual;
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(VecSet(b, 1));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPGetIterationNumber(ksp, its));
  PetscCheck(reason > 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: %s", what, KSPConvergedReasons[reason]);
  PetscCall(MatMult(A, x, r));
  PetscCall(VecAXPY(r, -1, b));
  PetscCall(VecNorm(r, NORM_2, &residual));
  PetscCall(VecNorm(b, NORM_2, &norm));
  PetscCheck(residual < 1e-6 * norm, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: the true residual is %g", what, (double)(residual / norm));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Iterations of CG with Jacobi (power 0) or with the factor of a power of A. */
static PetscErrorCode CountIterations(Mat A, PetscInt power, MatGPUCSRStorage storage, PetscBool local, PetscInt *its, PetscReal *length)
{
  KSP     ksp;
  PC      pc;
  MatInfo info;

  PetscFunctionBeginUser;
  PetscCall(CreateSolver(A, NULL, KSPCG, &ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, power ? PCGPUFSAI : PCJACOBI));
  if (power) {
    PetscCall(PCGPUFSAISetPower(pc, power));
    PetscCall(PCGPUFSAISetStorage(pc, storage));
    PetscCall(PCGPUFSAISetLocal(pc, local));
  }
  PetscCall(Solve(ksp, power ? PCGPUFSAI : PCJACOBI, its));
  if (power) {
    PetscCall(MatGetInfo(((PC_GPUFSAI *)pc->data)->inverse.matrix, MAT_GLOBAL_SUM, &info));
    *length = info.nz_used / (N * N * N);
  }
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Iterations as a share of Jacobi's, and nonzeros of a row of G, as computed by another program for a grid of 40^3 points. */
static PetscErrorCode TestIterations(void)
{
  const PetscReal share[] = {1, 0.52, 0.37, 0.29}, expected[] = {1, 3.9, 12.5, 30.1};
  PetscInt        its, jacobi                                 = 0;
  PetscReal       length = 1;
  Mat             A;

  PetscFunctionBeginUser;
  PetscCall(CreatePoisson(PETSC_COMM_WORLD, MATGPUCSR, &A));
  PetscCall(MatGPUCSRSetStorage(A, MAT_GPUCSR_STORAGE_DOUBLE));
  for (PetscInt power = 0; power < 4; power++) {
    for (int storage = 0; storage < (power ? 2 : 1); storage++) {
      PetscCall(CountIterations(A, power, storage ? MAT_GPUCSR_STORAGE_DOUBLE : MAT_GPUCSR_STORAGE_SINGLE, PETSC_FALSE, &its, &length));
      if (!power) jacobi = its;
      PetscCheck(PetscAbsReal((PetscReal)its / jacobi - share[power]) < 0.02, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Power %" PetscInt_FMT ": %" PetscInt_FMT " iterations, Jacobi %" PetscInt_FMT, power, its, jacobi);
      PetscCheck(PetscAbsReal(length - expected[power]) < 0.05, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Power %" PetscInt_FMT ": %g nonzeros in a row", power, (double)length);
    }
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "iterations and nonzeros: as published\n"));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A pattern that is not local gives the same iterations on any number of ranks. */
static PetscErrorCode TestRanks(void)
{
  PetscInt  its[2], local;
  PetscReal length[2];
  Mat       A, alone;

  PetscFunctionBeginUser;
  PetscCall(CreatePoisson(PETSC_COMM_WORLD, MATAIJ, &A));
  PetscCall(CreatePoisson(PETSC_COMM_SELF, MATAIJ, &alone));
  for (PetscInt power = 1; power < 4; power++) {
    PetscCall(CountIterations(alone, power, MAT_GPUCSR_STORAGE_DOUBLE, PETSC_TRUE, &its[0], &length[0]));
    PetscCall(CountIterations(A, power, MAT_GPUCSR_STORAGE_DOUBLE, PETSC_FALSE, &its[1], &length[1]));
    PetscCheck(its[0] == its[1] && length[0] == length[1], PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Power %" PetscInt_FMT ": %" PetscInt_FMT " iterations, on one rank %" PetscInt_FMT, power, its[1], its[0]);
    PetscCall(CountIterations(A, power, MAT_GPUCSR_STORAGE_DOUBLE, PETSC_TRUE, &local, &length[1]));
    PetscCheck(local >= its[0] && length[1] <= length[0], PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Power %" PetscInt_FMT ": %" PetscInt_FMT " iterations with a local pattern, otherwise %" PetscInt_FMT, power, local, its[0]);
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "iterations do not depend on the number of ranks\n"));
  PetscCall(MatDestroy(&alone));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves with the options of a prefix. */
static PetscErrorCode SolveWith(Mat A, const char prefix[], KSPType type)
{
  KSP      ksp;
  PetscInt its;

  PetscFunctionBeginUser;
  PetscCall(CreateSolver(A, prefix, type, &ksp));
  for (int k = 0; k < 2; k++) PetscCall(Solve(ksp, prefix, &its));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The type by options with a prefix, as a part of other preconditioners, on both sides of the matrix. */
static PetscErrorCode TestNested(void)
{
  Mat A, plain;

  PetscFunctionBeginUser;
  PetscCall(CreatePoisson(PETSC_COMM_WORLD, MATGPUCSR, &A));
  PetscCall(MatGPUCSRSetStorage(A, MAT_GPUCSR_STORAGE_DOUBLE));
  PetscCall(CreatePoisson(PETSC_COMM_WORLD, MATAIJ, &plain));
  for (int k = 0; k < 2; k++) {
    PetscCall(SolveWith(k ? plain : A, "adaptive_", KSPCG));
    PetscCall(SolveWith(k ? plain : A, "blocks_", KSPCG));
    PetscCall(SolveWith(k ? plain : A, "symmetric_", KSPGMRES));
    PetscCall(SolveWith(k ? plain : A, "right_", KSPGMRES));
    PetscCall(SolveWith(k ? plain : A, "composite_", KSPGMRES));
    PetscCall(SolveWith(k ? plain : A, "multigrid_", KSPCG));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "nested solvers converge\n"));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&plain));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The solve must stop because the preconditioner has failed; after a repair of the matrix it must converge. */
static PetscErrorCode Fails(Mat A, PetscInt row, PetscScalar bad, PetscBool adaptive, const char what[])
{
  KSP                ksp;
  PC                 pc;
  Vec                x, b;
  KSPConvergedReason reason;
  PCFailedReason     why;
  PetscScalar        good;
  PetscInt           begin, end, its;

  PetscFunctionBeginUser;
  PetscCall(CreateSolver(A, "fails_", KSPCG, &ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCGPUFSAI));
  PetscCall(PCGPUFSAISetPattern(pc, adaptive ? PC_GPUFSAI_PATTERN_ADAPTIVE : PC_GPUFSAI_PATTERN_STATIC));
  PetscCall(Solve(ksp, "before", &its));
  PetscCall(MatGetOwnershipRange(A, &begin, &end));
  if (row >= begin && row < end) {
    PetscCall(MatGetValues(A, 1, &row, 1, &row, &good));
    PetscCall(MatSetValue(A, row, row, bad, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(PCGetFailedReason(pc, &why));
  PetscCheck(reason == KSP_DIVERGED_PC_FAILED && why == PC_SUBPC_ERROR, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: %s, not a failure of the preconditioner", what, KSPConvergedReasons[reason]);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %s\n", what, KSPConvergedReasons[reason]));
  if (row >= begin && row < end) PetscCall(MatSetValue(A, row, row, good, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(Solve(ksp, "after", &its));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestFailures(void)
{
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(CreatePoisson(PETSC_COMM_WORLD, MATAIJ, &A));
  for (int adaptive = 0; adaptive < 2; adaptive++) {
    PetscCall(Fails(A, 3, 0, (PetscBool)adaptive, "a zero diagonal entry"));
    PetscCall(Fails(A, N * N * N - 2, -1, (PetscBool)adaptive, "a negative diagonal entry"));
    PetscCall(Fails(A, N * N, 0.1, (PetscBool)adaptive, "an indefinite matrix"));
    PetscCall(Fails(A, N, NAN, (PetscBool)adaptive, "a diagonal entry that is no number"));
    PetscCall(Fails(A, N, INFINITY, (PetscBool)adaptive, "an infinite diagonal entry"));
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetUpOf(Mat A, PetscBool error, MatGPUCSRStorage storage)
{
  PC             pc;
  PetscErrorCode err;

  PetscFunctionBeginUser;
  PetscCall(PCCreate(PetscObjectComm((PetscObject)A), &pc));
  PetscCall(PCSetType(pc, PCGPUFSAI));
  PetscCall(PCSetErrorIfFailure(pc, error));
  PetscCall(PCGPUFSAISetStorage(pc, storage));
  PetscCall(PCSetOperators(pc, A, A));
  err = PCSetUp(pc);
  PetscCall(PCDestroy(&pc));
  PetscFunctionReturn(err);
}

/* Calls the setters with values that are errors for the type gpufsai.  A PC of another type, or without a type, ignores them. */
static PetscErrorCode SetOptionsOfOtherType(PC pc)
{
  PetscFunctionBeginUser;
  PetscCall(PCGPUFSAISetPattern(pc, (PCGPUFSAIPattern)2));
  PetscCall(PCGPUFSAISetPower(pc, 0));
  PetscCall(PCGPUFSAISetThreshold(pc, -1));
  PetscCall(PCGPUFSAISetAdaptive(pc, 0, 1, 0));
  PetscCall(PCGPUFSAISetFilter(pc, 1));
  PetscCall(PCGPUFSAISetLocal(pc, PETSC_FALSE));
  PetscCall(PCGPUFSAISetStorage(pc, (MatGPUCSRStorage)3));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestErrors(void)
{
  Mat            A;
  PC             pc;
  const PetscInt i[] = {0, 1, 2}, j[] = {0, 0};

  PetscFunctionBeginUser;
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, 2, 2, 1, NULL, &A));
  PetscCall(MatSeqAIJSetPreallocationCSR(A, i, j, (const PetscScalar[]){1, 1}));
  Refused("Matrix is missing diagonal entry 1; PC type gpufsai needs a matrix whose diagonal is stored", SetUpOf(A, PETSC_FALSE, MAT_GPUCSR_STORAGE_SINGLE));
  PetscCall(MatDestroy(&A));
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, 2, 3, 1, NULL, &A));
  PetscCall(MatSeqAIJSetPreallocationCSR(A, i, j, (const PetscScalar[]){1, 1}));
  Refused("PC type gpufsai needs a square matrix whose rows and columns are distributed in the same way", SetUpOf(A, PETSC_FALSE, MAT_GPUCSR_STORAGE_SINGLE));
  PetscCall(MatDestroy(&A));
  PetscCall(MatCreateConstantDiagonal(PETSC_COMM_SELF, 2, 2, 2, 2, -1, &A));
  Refused("PC type gpufsai, row 0: the matrix is not positive definite on the pattern of the row; use another preconditioner", SetUpOf(A, PETSC_TRUE, MAT_GPUCSR_STORAGE_SINGLE));
  PetscCall(MatDestroy(&A));
  for (int k = 0; k < 2; k++) { /* the factor has the values 1e45 and 1e-45 */
    PetscCall(MatCreateConstantDiagonal(PETSC_COMM_SELF, 2, 2, 2, 2, k ? 1e90 : 1e-90, &A));
    Refused("PC type gpufsai: single precision cannot store the largest value of row 0 of the approximate inverse or its factor; use -pc_gpufsai_storage double", SetUpOf(A, PETSC_FALSE, MAT_GPUCSR_STORAGE_SINGLE));
    PetscCall(SetUpOf(A, PETSC_FALSE, MAT_GPUCSR_STORAGE_DOUBLE));
    PetscCall(SetUpOf(A, PETSC_FALSE, MAT_GPUCSR_STORAGE_AUTO));
    PetscCall(MatDestroy(&A));
  }
  PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
  PetscCall(SetOptionsOfOtherType(pc));
  PetscCall(PCSetType(pc, PCJACOBI));
  PetscCall(SetOptionsOfOtherType(pc));
  PetscCall(PCSetType(pc, PCGPUFSAI));
  Refused("-pc_gpufsai_power 0: must be from 1 to 16", PCGPUFSAISetPower(pc, 0));
  Refused("-pc_gpufsai_threshold -1.: must be at least 0 and less than 1", PCGPUFSAISetThreshold(pc, -1));
  Refused("-pc_gpufsai_filter 1.: must be at least 0 and less than 1", PCGPUFSAISetFilter(pc, 1));
  Refused("-pc_gpufsai_steps 0: must be from 1 to 1000", PCGPUFSAISetAdaptive(pc, 0, 1, 0));
  Refused("-pc_gpufsai_step_size 1001: must be from 1 to 1000", PCGPUFSAISetAdaptive(pc, 1, 1001, 0));
  Refused("-pc_gpufsai_tolerance 2.: must be at least 0 and less than 1", PCGPUFSAISetAdaptive(pc, 1, 1, 2));
  Refused("Unknown pattern 2; use one of PCGPUFSAIPattern", PCGPUFSAISetPattern(pc, (PCGPUFSAIPattern)2));
  Refused("Unknown storage 3; use one of MatGPUCSRStorage", PCGPUFSAISetStorage(pc, (MatGPUCSRStorage)3));
  PetscCall(PCDestroy(&pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestView(void)
{
  Mat A;
  KSP ksp;
  PC  pc;

  PetscFunctionBeginUser;
  PetscCall(CreatePoisson(PETSC_COMM_WORLD, MATAIJ, &A));
  PetscCall(CreateSolver(A, NULL, KSPCG, &ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCView(pc, PETSC_VIEWER_STDOUT_(PETSC_COMM_WORLD)));
  PetscCall(KSPSetUp(ksp));
  PetscCall(PCView(pc, PETSC_VIEWER_STDOUT_(PETSC_COMM_WORLD)));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static const struct {
    const char *name;
    PetscErrorCode (*run)(void);
  } tests[] = {
    {"iterations", TestIterations}, {"ranks", TestRanks}, {"nested", TestNested}, {"failures", TestFailures}, {"errors", TestErrors}, {"view", TestView},
  };
  char      name[32] = "";
  PetscBool same;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &N, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-test", name, sizeof(name), NULL));
  for (size_t t = 0; t < PETSC_STATIC_ARRAY_LENGTH(tests); t++) {
    PetscCall(PetscStrcmp(name, tests[t].name, &same));
    if (same) PetscCall((*tests[t].run)());
  }
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   test:
      suffix: iterations
      args: -test iterations

   test:
      suffix: ranks
      nsize: {{1 2 4}}
      args: -test ranks -n 12

   test:
      suffix: nested
      nsize: {{1 2}}
      args: -test nested -n 12 -vec_gpu_separate
      args: -adaptive_pc_type gpufsai -adaptive_pc_gpufsai_pattern adaptive -adaptive_pc_gpufsai_filter 0.01 -adaptive_pc_gpufsai_mat_gpucsr_kernel csrvector4
      args: -blocks_pc_type bjacobi -blocks_sub_pc_type gpufsai -blocks_sub_pc_gpufsai_power 2
      args: -symmetric_pc_type gpufsai -symmetric_ksp_pc_side symmetric
      args: -right_pc_type gpufsai -right_ksp_pc_side right -right_pc_gpufsai_storage double
      args: -composite_pc_type composite -composite_pc_composite_pcs jacobi,gpufsai
      args: -multigrid_pc_type gamg -multigrid_mg_levels_ksp_type chebyshev -multigrid_mg_levels_pc_type gpufsai

   test:
      suffix: failures
      nsize: {{1 2}}
      args: -test failures -n 6

   test:
      suffix: info
      args: -test failures -n 6 -info :pc
      filter: grep -o "Row [0-9]*: [a-z ]*"

   test:
      suffix: errors
      args: -test errors

   test:
      suffix: view
      nsize: 2
      args: -test view -n 8 -pc_type gpufsai -pc_gpufsai_power 2 -pc_gpufsai_threshold 0.01 -pc_gpufsai_filter 0.02
      filter: grep -E "gpufsai|pattern|threshold|filter|storage|factor:|Kaporin"

   test:
      suffix: viewadaptive
      args: -test view -n 8 -pc_type gpufsai -pc_gpufsai_pattern adaptive -pc_gpufsai_storage double
      filter: grep -E "gpufsai|pattern|threshold|filter|storage|factor:|Kaporin"

TEST*/
