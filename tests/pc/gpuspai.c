static char help[] = "PCGPUSPAI compared with dense references, in Krylov methods, after changes of the matrix, with matrices that it must refuse.\n\n";

#include "../mat/refused.h"
#include "inverse.h"
#include "pc/impls/gpuspai/gpuspai.h"
#include <petscksp.h>

#include <math.h>

/* Row `row` of M by the normal equations, with the columns from `first` on and before `last` only. */
static PetscErrorCode ReferenceRow(const Grid *g, const Expected *e, PetscInt first, PetscInt last, PetscInt row, PetscInt *m, PetscInt J[], PetscReal y[])
{
  PetscReal *M, largest = 0;
  PetscInt   kept = 0;

  PetscFunctionBeginUser;
  PetscCall(GridPattern(g, e->power, e->threshold, PETSC_FALSE, first, last, row, m, J));
  PetscCall(PetscMalloc1(*m * *m, &M));
  for (PetscInt a = 0; a < *m; a++) {
    y[a] = GridValue(g, J[a], row);
    for (PetscInt b = 0; b < *m; b++) {
      M[a * *m + b] = 0;
      for (PetscInt c = first; c < last; c++) M[a * *m + b] += GridValue(g, J[a], c) * GridValue(g, J[b], c);
    }
  }
  PetscCall(DenseSolve(*m, M, y));
  PetscCall(PetscFree(M));
  for (PetscInt a = 0; a < *m; a++) largest = PetscMax(largest, PetscAbsReal(y[a]));
  for (PetscInt a = 0; a < *m; a++) {
    if (e->filter > 0 && PetscAbsReal(y[a]) <= e->filter * largest) continue;
    J[kept]   = J[a];
    y[kept++] = y[a];
  }
  *m = kept;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetOptions(PC pc, const Expected *e, MatGPUCSRStorage storage)
{
  PetscFunctionBeginUser;
  PetscCall(PCGPUSPAISetPower(pc, e->power));
  PetscCall(PCGPUSPAISetThreshold(pc, e->threshold));
  PetscCall(PCGPUSPAISetFilter(pc, e->filter));
  PetscCall(PCGPUSPAISetLocal(pc, e->local));
  PetscCall(PCGPUSPAISetStorage(pc, storage));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PCGPUInverse *GetInverse(PC pc)
{
  return &((PC_GPUSPAI *)pc->data)->inverse;
}

static PetscErrorCode CheckUse(PC pc, const Grid *g, PetscReal tolerance)
{
  PetscReal *D;

  PetscFunctionBeginUser;
  PetscCall(GetDense(GetInverse(pc)->matrix, &D));
  PetscCall(CheckApply(pc, D, g->size, tolerance));
  PetscCall(PetscFree(D));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const InverseType Type = {PCGPUSPAI, 0.2, SetOptions, GetInverse, ReferenceRow, CheckUse};

static const Expected Cases[] = {
  {.power = 1, .local = PETSC_TRUE}, {.power = 2, .local = PETSC_TRUE}, {.power = 1, .local = PETSC_FALSE}, {.power = 2, .local = PETSC_FALSE}, {.power = 2, .local = PETSC_FALSE, .threshold = 0.14}, {.power = 2, .local = PETSC_TRUE, .filter = 0.05},
};

/* The norm of MA - I decreases with the power, and threads change no bit. */
static PetscErrorCode TestMeasure(void)
{
  Grid      g = GridOf(12, 1);
  Mat       A;
  PetscReal norm[3];

  PetscFunctionBeginUser;
  g.skew = 0.3;
  PetscCall(GridCreate(&g, PETSC_COMM_WORLD, MATAIJ, &A));
  for (PetscInt power = 1; power < 4; power++) {
    const Expected e = {.power = power};
    PC             pc;

    PetscCall(InverseTestThreads(&Type, &e, A));
    PetscCall(InverseCreate(&Type, &e, MAT_GPUCSR_STORAGE_SINGLE, &pc));
    PetscCall(PCSetOperators(pc, A, A));
    PetscCall(PCSetUp(pc));
    norm[power - 1] = GetInverse(pc)->measure;
    PetscCall(PCDestroy(&pc));
  }
  PetscCheck(norm[0] > 1.5 * norm[1] && norm[1] > 1.5 * norm[2], PETSC_COMM_WORLD, PETSC_ERR_PLIB, "The norm of MA - I does not decrease: %g, %g, %g", (double)norm[0], (double)norm[1], (double)norm[2]);
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves with a Krylov method and returns the number of iterations. */
static PetscErrorCode Solve(KSP ksp, Mat A, KSPConvergedReason *reason, PetscInt *its)
{
  Vec x, b;

  PetscFunctionBeginUser;
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetConvergedReason(ksp, reason));
  PetscCall(KSPGetIterationNumber(ksp, its));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Fewer iterations than Jacobi, on both sides of the matrix; failures, and solves after them. */
static PetscErrorCode TestSolves(KSPType type, PCSide side)
{
  Grid               g = GridOf(20, 1);
  PetscInt           its[3], row = 7, begin, end;
  KSPConvergedReason reason;
  Mat                A;
  KSP                ksp;
  PC                 pc;

  PetscFunctionBeginUser;
  g.skew  = 0.4;
  g.shift = -0.6;
  PetscCall(GridCreate(&g, PETSC_COMM_WORLD, MATGPUCSR, &A));
  PetscCall(MatGPUCSRSetStorage(A, MAT_GPUCSR_STORAGE_DOUBLE));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetType(ksp, type));
  PetscCall(KSPSetPCSide(ksp, side));
  PetscCall(KSPSetTolerances(ksp, 1e-9, PETSC_DEFAULT, PETSC_DEFAULT, 1000));
  PetscCall(KSPGetPC(ksp, &pc));
  for (PetscInt power = 0; power < 3; power++) {
    PetscCall(PCSetType(pc, power ? PCGPUSPAI : PCJACOBI));
    if (power) PetscCall(PCGPUSPAISetPower(pc, power));
    PetscCall(Solve(ksp, A, &reason, &its[power]));
    PetscCheck(reason > 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: %s", type, KSPConvergedReasons[reason]);
  }
  PetscCheck(its[1] < 0.8 * its[0] && its[2] < its[1], PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: %" PetscInt_FMT ", %" PetscInt_FMT " and %" PetscInt_FMT " iterations", type, its[0], its[1], its[2]);
  PetscCall(MatGetOwnershipRange(A, &begin, &end));
  for (int bad = 0; bad < 2; bad++) {
    for (PetscInt j = 0; row >= begin && row < end && j < g.size; j++) {
      if (GridHas(&g, row, j)) PetscCall(MatSetValue(A, row, j, bad ? NAN : 0, INSERT_VALUES));
    }
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    PetscCall(Solve(ksp, A, &reason, &its[0]));
    PetscCheck(reason == KSP_DIVERGED_PC_FAILED, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: %s, not a failure of the preconditioner", type, KSPConvergedReasons[reason]);
    for (PetscInt j = 0; row >= begin && row < end && j < g.size; j++) {
      if (GridHas(&g, row, j)) PetscCall(MatSetValue(A, row, j, GridValue(&g, row, j), INSERT_VALUES));
    }
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    PetscCall(Solve(ksp, A, &reason, &its[1]));
    PetscCheck(reason > 0 && its[1] == its[2], PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s after a failure: %s, %" PetscInt_FMT " iterations", type, KSPConvergedReasons[reason], its[1]);
  }
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetUpOf(Mat A)
{
  PC             pc;
  PetscErrorCode err;

  PetscFunctionBeginUser;
  PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
  PetscCall(PCSetType(pc, PCGPUSPAI));
  PetscCall(PCSetErrorIfFailure(pc, PETSC_TRUE));
  PetscCall(PCSetOperators(pc, A, A));
  err = PCSetUp(pc);
  PetscCall(PCDestroy(&pc));
  PetscFunctionReturn(err);
}

/* Calls the setters with values that are errors for the type gpuspai.  A PC of another type, or without a type, ignores them. */
static PetscErrorCode SetOptionsOfOtherType(PC pc)
{
  PetscFunctionBeginUser;
  PetscCall(PCGPUSPAISetPower(pc, 17));
  PetscCall(PCGPUSPAISetThreshold(pc, -1));
  PetscCall(PCGPUSPAISetFilter(pc, -1));
  PetscCall(PCGPUSPAISetLocal(pc, PETSC_FALSE));
  PetscCall(PCGPUSPAISetStorage(pc, (MatGPUCSRStorage)3));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Errors, on one rank. */
static PetscErrorCode TestErrors(void)
{
  const PetscInt i[] = {0, 1, 2}, j[] = {0, 0};
  Mat            A;
  PC             pc;

  PetscFunctionBeginUser;
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, 2, 2, 1, NULL, &A));
  PetscCall(MatSeqAIJSetPreallocationCSR(A, i, j, (const PetscScalar[]){1, 1}));
  Refused("PC type gpuspai, row 1: the rows of the matrix in the pattern of this row are linearly dependent, or none of them has a nonzero in the column with this number; use another preconditioner", SetUpOf(A));
  PetscCall(MatDestroy(&A));
  PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
  PetscCall(SetOptionsOfOtherType(pc));
  PetscCall(PCSetType(pc, PCGPUFSAI));
  PetscCall(SetOptionsOfOtherType(pc));
  PetscCall(PCSetType(pc, PCGPUSPAI));
  Refused("-pc_gpuspai_power 17: must be from 1 to 16", PCGPUSPAISetPower(pc, 17));
  Refused("-pc_gpuspai_filter -0.5: must be at least 0 and less than 1", PCGPUSPAISetFilter(pc, -0.5));
  PetscCall(PCDestroy(&pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestView(void)
{
  Grid g = GridOf(8, 1);
  Mat  A;
  PC   pc;

  PetscFunctionBeginUser;
  g.skew = 0.2;
  PetscCall(GridCreate(&g, PETSC_COMM_WORLD, MATAIJ, &A));
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetType(pc, PCGPUSPAI));
  PetscCall(PCSetFromOptions(pc));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCSetUp(pc));
  PetscCall(PCView(pc, PETSC_VIEWER_STDOUT_(PETSC_COMM_WORLD)));
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Grid          grid = GridOf(7, 1), blocks = GridOf(4, 3);
  const MatType types[] = {MATAIJ, MATGPUCSR, MATBAIJ};
  PetscBool     view = PETSC_FALSE, errors = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-view", &view, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-errors", &errors, NULL));
  if (view) PetscCall(TestView());
  else if (errors) PetscCall(TestErrors());
  else {
    grid.skew   = 0.25;
    blocks.skew = 0.1;
    for (size_t t = 0; t < PETSC_STATIC_ARRAY_LENGTH(types); t++) {
      PetscCall(InverseTestCases(&Type, &grid, types[t], t ? MAT_GPUCSR_STORAGE_DOUBLE : MAT_GPUCSR_STORAGE_SINGLE, PETSC_STATIC_ARRAY_LENGTH(Cases), Cases));
      PetscCall(InverseTestCases(&Type, &blocks, types[t], MAT_GPUCSR_STORAGE_DOUBLE, PETSC_STATIC_ARRAY_LENGTH(Cases), Cases));
    }
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "inverses and their application: equal to dense references\n"));
    for (size_t k = 0; k < 4; k++) PetscCall(InverseTestReuse(&Type, &Cases[k], k % 3 ? MAT_GPUCSR_STORAGE_DOUBLE : MAT_GPUCSR_STORAGE_SINGLE));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "new values, new patterns, reset: right\n"));
    PetscCall(TestMeasure());
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "the norm of MA - I decreases; threads change no bit\n"));
    PetscCall(TestSolves(KSPGMRES, PC_LEFT));
    PetscCall(TestSolves(KSPGMRES, PC_RIGHT));
    PetscCall(TestSolves(KSPBCGS, PC_LEFT));
    PetscCall(TestSolves(KSPBICG, PC_LEFT));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "Krylov methods converge, and stop after a failure\n"));
  }
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   test:
      suffix: equal
      nsize: {{1 2 4}}

   test:
      suffix: separate
      args: -vec_gpu_separate
      output_file: output/gpuspai_equal.out

   test:
      suffix: errors
      args: -errors

   test:
      suffix: view
      nsize: 2
      args: -view -pc_gpuspai_power 2 -pc_gpuspai_threshold 0.05 -pc_gpuspai_filter 0.01
      filter: grep -E "gpuspai|pattern|threshold|filter|storage|inverse|norm"

TEST*/
