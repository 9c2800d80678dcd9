static char help[] = "Krylov methods with approximate triangular solves: iterations, settings, new values, new patterns.\n\n";

#include "gpucsr.h"
#include "gpucsrcompat.h"
#include <petscksp.h>

typedef enum {
  PLANE,      /* 5-point stencil */
  VARIABLE,   /* 7-point stencil with couplings that vary smoothly */
  CUBE,       /* 27-point stencil */
  CONVECTION, /* 7-point stencil, unsymmetric */
  PROBLEMS
} Problem;

static const char *const Names[] = {"5-point", "7-point, variable", "27-point", "7-point, convection"};

/* The coupling of a point to its neighbour in the direction (di, dj, dk); 0: there is none. */
static PetscScalar Coupling(Problem problem, PetscInt n, PetscInt i, PetscInt j, PetscInt k, PetscInt di, PetscInt dj, PetscInt dk)
{
  const PetscInt far = PetscAbsInt(di) + PetscAbsInt(dj) + PetscAbsInt(dk);

  if (problem == PLANE) return far == 1 && !dk ? -1 : 0;
  if (problem == CUBE) return -1.0 / far;
  if (far > 1) return 0;
  if (problem == VARIABLE) return -1 - 0.3 * PetscSinReal((3.0 * (2 * i + di) + 5.0 * (2 * j + dj) + 7.0 * (2 * k + dk)) / n);
  return -1 - 0.9 * (di + 0.5 * dj);
}

/* shift is added to the diagonal; wide: couplings to the next but one point too, another pattern */
static PetscErrorCode Create(Problem problem, PetscInt n, PetscScalar shift, PetscBool wide, const char prefix[], Mat *A)
{
  const PetscInt depth = problem == PLANE ? 1 : n, size = n * n * depth;
  PetscInt       start, end;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, size, size));
  PetscCall(MatSetOptionsPrefix(*A, prefix));
  PetscCall(MatSetType(*A, MATGPUCSR));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, 31, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, 31, NULL, 31, NULL));
  PetscCall(MatGetOwnershipRange(*A, &start, &end));
  for (PetscInt row = start; row < end; row++) {
    const PetscInt i = row % n, j = row / n % n, k = row / n / n;
    PetscScalar    diagonal = shift;

    for (PetscInt d = 0; d < 27; d++) {
      const PetscInt    di = d % 3 - 1, dj = d / 3 % 3 - 1, dk = d / 9 - 1, a = i + di, b = j + dj, c = k + dk;
      const PetscScalar v = d == 13 ? 0 : Coupling(problem, n, i, j, k, di, dj, dk);

      diagonal -= v;
      if (v == 0 || a < 0 || a >= n || b < 0 || b >= n || c < 0 || c >= depth) continue;
      PetscCall(MatSetValue(*A, row, a + n * (b + n * c), v, INSERT_VALUES));
    }
    for (PetscInt far = -2; far <= 2 && wide; far += 4) {
      if (i + far >= 0 && i + far < n) PetscCall(MatSetValue(*A, row, row + far, -0.25, INSERT_VALUES));
      diagonal += 0.25;
    }
    PetscCall(MatSetValue(*A, row, row, diagonal, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A solver with incomplete factors, on several processes with those of the blocks. */
static PetscErrorCode CreateSolver(PetscBool symmetric, const char ordering[], KSP *ksp)
{
  const char *pctype = symmetric ? PCICC : PCILU;
  PetscMPIInt ranks;
  PC          pc;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
  PetscCall(PetscOptionsSetValue(NULL, "-sub_pc_type", pctype));
  PetscCall(PetscOptionsSetValue(NULL, "-sub_pc_factor_mat_solver_type", MATSOLVERGPUCSR));
  PetscCall(PetscOptionsSetValue(NULL, "-sub_pc_factor_mat_ordering_type", ordering));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, ksp));
  PetscCall(KSPSetType(*ksp, symmetric ? KSPCG : KSPBCGS));
  PetscCall(KSPSetTolerances(*ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 1000));
  PetscCall(KSPGetPC(*ksp, &pc));
  PetscCall(PCSetType(pc, PCBJACOBI));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves A x = A 1 and checks the error of x. */
static PetscErrorCode Solve(KSP ksp, Mat A, const char where[], PetscInt *its)
{
  KSPConvergedReason reason;
  PetscReal          error, size;
  Vec                one, b, x;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(x, &one));
  PetscCall(VecSet(one, 1));
  PetscCall(VecNorm(one, NORM_2, &size));
  PetscCall(MatMult(A, one, b));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPGetIterationNumber(ksp, its));
  PetscCall(VecAXPY(x, -1, one));
  PetscCall(VecNorm(x, NORM_2, &error));
  PetscCheck(reason > 0 && error <= 1e-5 * size, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: %s after %" PetscInt_FMT " iterations, error %g of %g", where, KSPConvergedReasons[reason], *its, (double)error, (double)size);
  PetscCall(VecDestroy(&one));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Iterations of exact and of approximate solves. */
static PetscErrorCode RunProblem(Problem problem, PetscInt n, const char ordering[], PetscBool table)
{
  static const MatGPUCSRTrisolve methods[] = {MAT_GPUCSR_TRISOLVE_EXACT, MAT_GPUCSR_TRISOLVE_JACOBI, MAT_GPUCSR_TRISOLVE_JACOBI, MAT_GPUCSR_TRISOLVE_JACOBI, MAT_GPUCSR_TRISOLVE_ISAI, MAT_GPUCSR_TRISOLVE_ISAI, MAT_GPUCSR_TRISOLVE_ISAI};
  static const PetscInt          sweeps[]  = {0, 2, 3, 0, 1, 0, 3};
  PetscInt                       its[7];
  Mat                            A;

  PetscFunctionBeginUser;
  PetscCall(Create(problem, n, 0, PETSC_FALSE, NULL, &A));
  for (int m = 0; m < 7; m++) {
    char where[128];
    KSP  ksp;

    PetscCall(PetscSNPrintf(where, sizeof(where), "%s, %s, %s, %d sweeps", Names[problem], ordering, MatGPUCSRTrisolves[methods[m]], (int)sweeps[m]));
    PetscCall(MatGPUCSRSetTrisolve(A, methods[m]));
    PetscCall(MatGPUCSRSetTrisolveSweeps(A, sweeps[m]));
    PetscCall(CreateSolver((PetscBool)(problem != CONVECTION), ordering, &ksp));
    PetscCall(Solve(ksp, A, where, &its[m]));
    PetscCall(KSPDestroy(&ksp));
    if (table) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %d iterations\n", where, (int)its[m]));
  }
  PetscCheck(its[3] <= 4 + 1.2 * its[0] && its[5] <= 4 + 1.2 * its[0], PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s, %s: %" PetscInt_FMT " iterations, with jacobi %" PetscInt_FMT ", with isai %" PetscInt_FMT, Names[problem], ordering, its[0], its[3],
             its[5]);
  PetscCheck(its[1] >= its[3], PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s, %s: two sweeps need %" PetscInt_FMT " iterations, five need %" PetscInt_FMT, Names[problem], ordering, its[1], its[3]);
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets what the solver of the block of the first process prints of its factor. */
static PetscErrorCode GetLine(KSP ksp, char line[], size_t size)
{
  KSP        *sub;
  PC          pc;
  Mat         F;
  FILE       *file;
  PetscViewer viewer;
  char        text[4096] = "", *found, *end;

  PetscFunctionBeginUser;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCBJacobiGetSubKSP(pc, NULL, NULL, &sub));
  PetscCall(KSPGetPC(sub[0], &pc));
  PetscCall(PCFactorGetMatrix(pc, &F));
  PetscCall(PetscViewerASCIIOpen(PETSC_COMM_SELF, "trisolve.txt", &viewer));
  PetscCall(PetscViewerPushFormat(viewer, PETSC_VIEWER_ASCII_INFO));
  PetscCall(MatView(F, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  file = fopen("trisolve.txt", "r");
  PetscCheck(file, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "Cannot read trisolve.txt");
  text[fread(text, 1, sizeof(text) - 1, file)] = 0;
  fclose(file);
  PetscCall(PetscStrstr(text, "gpucsr: triangular solves: ", &found));
  PetscCall(PetscStrncpy(line, found ? found + 27 : "exact", size));
  PetscCall(PetscStrchr(line, '\n', &end));
  if (end) *end = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ExpectLine(KSP ksp, const char expected[])
{
  PetscMPIInt rank;
  char        line[128];
  PetscBool   same = PETSC_TRUE;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (!rank) {
    PetscCall(GetLine(ksp, line, sizeof(line)));
    PetscCall(PetscStrcmp(line, expected, &same));
  }
  PetscCheck(same, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The factor prints '%s' instead of '%s'", line, expected);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One solver, whose matrix changes its settings, its values and its pattern. */
static PetscErrorCode RunSettings(void)
{
  Mat      A, B;
  KSP      ksp;
  PetscInt its[6];

  PetscFunctionBeginUser;
  PetscCall(CreateSolver(PETSC_TRUE, MATORDERINGRCM, &ksp));
  PetscCall(Create(PLANE, 20, 0, PETSC_FALSE, NULL, &A));
  PetscCall(Solve(ksp, A, "exact", &its[0]));
  PetscCall(ExpectLine(ksp, "exact"));
  PetscCall(MatGPUCSRSetTrisolve(A, MAT_GPUCSR_TRISOLVE_JACOBI));
  PetscCall(Solve(ksp, A, "without a new factorisation", &its[1]));
  PetscCall(ExpectLine(ksp, "exact"));
  PetscCheck(its[0] == its[1], PETSC_COMM_WORLD, PETSC_ERR_PLIB, "A setting changed solves with an old factor");
  PetscCall(MatScale(A, 2));
  PetscCall(Solve(ksp, A, "jacobi", &its[2]));
  PetscCall(ExpectLine(ksp, "jacobi, at most 5 sweeps"));
  PetscCall(MatGPUCSRSetTrisolve(A, MAT_GPUCSR_TRISOLVE_ISAI));
  PetscCall(MatGPUCSRSetTrisolveSweeps(A, 1));
  PetscCall(MatShift(A, 0.1));
  PetscCall(Solve(ksp, A, "isai", &its[3]));
  PetscCall(ExpectLine(ksp, "isai, at most 1 sweep"));
  PetscCall(MatDestroy(&A));
  PetscCall(Create(PLANE, 20, 0, PETSC_TRUE, "w_", &B));
  PetscCall(MatGPUCSRSetTrisolve(B, MAT_GPUCSR_TRISOLVE_JACOBI));
  PetscCall(Solve(ksp, B, "another pattern", &its[4]));
  PetscCall(ExpectLine(ksp, "jacobi, at most 5 sweeps"));
  PetscCall(MatDestroy(&B));
  PetscCall(PetscOptionsSetValue(NULL, "-w_mat_gpucsr_trisolve", "isai"));
  PetscCall(PetscOptionsSetValue(NULL, "-w_mat_gpucsr_trisolve_sweeps", "3"));
  PetscCall(Create(VARIABLE, 6, 0, PETSC_FALSE, "w_", &B));
  PetscCall(KSPReset(ksp));
  PetscCall(Solve(ksp, B, "a prefix", &its[5]));
  PetscCall(ExpectLine(ksp, "isai, at most 3 sweeps"));
  PetscCall(MatDestroy(&B));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Settings after the assembly of a matrix, without a product before the factorisation. */
static PetscErrorCode RunSetUp(void)
{
  Mat A;
  KSP ksp;

  PetscFunctionBeginUser;
  PetscCall(CreateSolver(PETSC_FALSE, MATORDERINGNATURAL, &ksp));
  PetscCall(Create(CONVECTION, 5, 0, PETSC_FALSE, NULL, &A));
  PetscCall(MatGPUCSRSetTrisolve(A, MAT_GPUCSR_TRISOLVE_ISAI));
  PetscCall(MatGPUCSRSetTrisolveSweeps(A, 4));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetUp(ksp));
  PetscCall(KSPSetUpOnBlocks(ksp));
  PetscCall(ExpectLine(ksp, "isai, at most 4 sweeps"));
  PetscCall(MatDestroy(&A));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscInt  plane = 24, cube = 8;
  PetscBool table = PETSC_FALSE;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-plane", &plane, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-cube", &cube, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-table", &table, NULL));
  for (int problem = 0; problem < PROBLEMS; problem++) {
    PetscCall(RunProblem((Problem)problem, problem == PLANE ? plane : cube, MATORDERINGNATURAL, table));
    PetscCall(RunProblem((Problem)problem, problem == PLANE ? plane : cube, MATORDERINGMULTICOLOR, table));
  }
  if (!table) {
    PetscCall(RunSetUp());
    PetscCall(RunSettings());
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "all solves converge\n"));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   testset:
      nsize: {{1 2 4}}
      args: -vec_gpu_separate -mat_gpucsr_vec_type gpu
      output_file: output/trisolve_double.out
      test:
         suffix: double
         args: -mat_gpucsr_storage double
      test:
         suffix: single
         args: -mat_gpucsr_storage double -mat_gpucsr_factor_storage single

TEST*/
