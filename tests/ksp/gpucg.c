static char help[] = "KSPGPUCG compared with KSPCG: iterations, reasons and solutions for all norms, initial guesses and preconditioners; values that change; breakdowns.\n\n\
  -largest : largest number of unknowns; if given, only the first tests run\n\n";

#include "gpucsr.h"
#include "gpucsrcompat.h"
#include "ksp/kspview.h"
#include <petscksp.h>

/* An n x n matrix: a chain with a long-range term. It is indefinite if shift < 0. */
static PetscErrorCode Create(PetscInt n, PetscScalar shift, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, n, n));
  PetscCall(MatSetType(*A, MATGPUCSR));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, 5, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, 5, NULL, 5, NULL));
  for (PetscInt i = 0; i < n; i++) {
    const PetscInt    far = (i + n / 2) % n;
    const PetscScalar d   = 2.5 + shift + (i % 5);

    PetscCall(MatSetValue(*A, i, i, d, ADD_VALUES));
    if (i > 0) PetscCall(MatSetValue(*A, i, i - 1, -1, ADD_VALUES));
    if (i < n - 1) PetscCall(MatSetValue(*A, i, i + 1, -1, ADD_VALUES));
    if (n % 2 == 0 && far != i) PetscCall(MatSetValue(*A, i, far, -0.25, ADD_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef struct {
  KSP ksp[2]; /* cg, gpucg */
  Vec b, x[2];
} Pair;

static PetscErrorCode PairCreate(Mat A, PCType pctype, KSPNormType norm, Pair *p)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &p->b, NULL));
  for (int k = 0; k < 2; k++) {
    PC pc;

    PetscCall(VecDuplicate(p->b, &p->x[k]));
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &p->ksp[k]));
    PetscCall(KSPSetOperators(p->ksp[k], A, A));
    PetscCall(KSPSetType(p->ksp[k], k ? KSPGPUCG : KSPCG));
    PetscCall(KSPGetPC(p->ksp[k], &pc));
    PetscCall(PCSetType(pc, pctype));
    PetscCall(KSPSetNormType(p->ksp[k], norm));
    PetscCall(KSPSetTolerances(p->ksp[k], 1e-9, PETSC_DEFAULT, PETSC_DEFAULT, 500));
    PetscCall(KSPSetFromOptions(p->ksp[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PairDestroy(Pair *p)
{
  PetscFunctionBeginUser;
  PetscCall(VecDestroy(&p->b));
  for (int k = 0; k < 2; k++) {
    PetscCall(VecDestroy(&p->x[k]));
    PetscCall(KSPDestroy(&p->ksp[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PairSolve(const char what[], Pair *p, PetscRandom random)
{
  PetscInt           its[2];
  KSPConvergedReason reason[2];
  PetscReal          scale, error, tiny, rnorm[2];
  PetscBool          same;

  PetscFunctionBeginUser;
  if (random) PetscCall(VecSetRandom(p->b, random));
  PetscCall(VecNorm(p->b, NORM_2, &tiny));
  tiny *= 1e-13;
  for (int k = 0; k < 2; k++) {
    PetscCall(KSPSolve(p->ksp[k], p->b, p->x[k]));
    PetscCall(KSPGetIterationNumber(p->ksp[k], &its[k]));
    PetscCall(KSPGetConvergedReason(p->ksp[k], &reason[k]));
    PetscCall(KSPGetResidualNorm(p->ksp[k], &rnorm[k]));
  }
  /* depending on rounding, a residual at the level of rounding errors satisfies the relative or the absolute tolerance */
  same = (PetscBool)(reason[0] == reason[1] || (PetscMin(reason[0], reason[1]) > 0 && rnorm[0] <= tiny && rnorm[1] <= tiny));
  PetscCheck(its[0] == its[1] && same, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: %s after %" PetscInt_FMT " iterations, not %s after %" PetscInt_FMT, what, KSPConvergedReasons[reason[1]], its[1], KSPConvergedReasons[reason[0]], its[0]);
  PetscCheck(PetscAbsReal(rnorm[0] - rnorm[1]) <= 1e-6 * rnorm[0] + tiny, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: residual norm %g, not %g", what, (double)rnorm[1], (double)rnorm[0]);
  PetscCall(VecNorm(p->x[0], NORM_INFINITY, &scale));
  PetscCall(VecAYPX(p->x[0], -1, p->x[1]));
  PetscCall(VecNorm(p->x[0], NORM_INFINITY, &error));
  PetscCheck(error <= 1e-10 * (scale + 1e-30), PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: solutions differ by %g of %g", what, (double)error, (double)scale);
  PetscCall(VecCopy(p->x[1], p->x[0]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestSizes(PetscRandom random, PetscInt largest)
{
  const PetscInt    sizes[] = {1, 2, 33, 256, 2000};
  const PCType      pcs[]   = {PCNONE, PCJACOBI, PCGPUFSAI};
  const KSPNormType norms[] = {KSP_NORM_PRECONDITIONED, KSP_NORM_UNPRECONDITIONED, KSP_NORM_NATURAL};

  PetscFunctionBeginUser;
  for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(sizes) && sizes[s] <= largest; s++) {
    Mat A;

    PetscCall(Create(sizes[s], 0.5, &A));
    for (size_t c = 0; c < PETSC_STATIC_ARRAY_LENGTH(pcs); c++) {
      for (size_t m = 0; m < 3; m++) {
        Pair p;

        PetscCall(PairCreate(A, pcs[c], norms[m], &p));
        PetscCall(PairSolve("first solve", &p, random));
        PetscCall(PairSolve("second solve", &p, random));
        for (int k = 0; k < 2; k++) PetscCall(KSPSetInitialGuessNonzero(p.ksp[k], PETSC_TRUE));
        PetscCall(PairSolve("from a nonzero initial guess", &p, random));
        PetscCall(PairSolve("from the solution", &p, NULL));
        PetscCall(PairDestroy(&p));
      }
    }
    PetscCall(MatDestroy(&A));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " unknowns: equal\n", sizes[s]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Changes the values, the pattern, and the kernel. A recorded graph must not be used for a changed matrix. */
static PetscErrorCode TestChanges(PCType pctype, PetscRandom random)
{
  Mat  A;
  Pair p;

  PetscFunctionBeginUser;
  PetscCall(Create(500, 1, &A));
  PetscCall(PairCreate(A, pctype, KSP_NORM_PRECONDITIONED, &p));
  PetscCall(PairSolve("before", &p, random));
  PetscCall(MatShift(A, 0.75));
  PetscCall(PairSolve("other values", &p, random));
  PetscCall(MatScale(A, 4));
  PetscCall(PairSolve("other values again", &p, random));
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(MatSetValue(A, 3, 400, -0.5, INSERT_VALUES));
  PetscCall(MatSetValue(A, 400, 3, -0.5, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(PairSolve("another pattern", &p, random));
  PetscCall(MatGPUCSRSetKernel(A, "csrsplit"));
  PetscCall(PairSolve("another kernel", &p, random));
  PetscCall(PairDestroy(&p));
  PetscCall(MatDestroy(&A));
  /* a new image, which may have the address of the old one */
  PetscCall(Create(500, 1, &A));
  PetscCall(PairCreate(A, pctype, KSP_NORM_PRECONDITIONED, &p));
  PetscCall(PairSolve("the first image", &p, random));
  for (PetscInt k = 0; k < 3; k++) {
    PetscCall(MatConvert(A, MATAIJ, MAT_INPLACE_MATRIX, &A));
    PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
    PetscCall(MatSetValue(A, 7, 300 + k, -0.25, INSERT_VALUES));
    PetscCall(MatSetValue(A, 300 + k, 7, -0.25, INSERT_VALUES));
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatConvert(A, MATGPUCSR, MAT_INPLACE_MATRIX, &A));
    PetscCall(PairSolve("another image", &p, random));
  }
  PetscCall(PairDestroy(&p));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestBreakdowns(PetscRandom random)
{
  Mat  A;
  Pair p;

  PetscFunctionBeginUser;
  PetscCall(Create(100, -4.2, &A));
  PetscCall(PairCreate(A, PCNONE, KSP_NORM_PRECONDITIONED, &p));
  PetscCall(PairSolve("indefinite", &p, random));
  PetscCall(PairDestroy(&p));
  PetscCall(PairCreate(A, PCJACOBI, KSP_NORM_UNPRECONDITIONED, &p));
  PetscCall(PairSolve("indefinite preconditioner", &p, random));
  PetscCall(PairDestroy(&p));
  PetscCall(MatDestroy(&A));
  PetscCall(Create(100, 1, &A));
  PetscCall(PairCreate(A, PCJACOBI, KSP_NORM_PRECONDITIONED, &p));
  PetscCall(VecSet(p.b, 0));
  PetscCall(PairSolve("nothing to solve", &p, NULL));
  for (int k = 0; k < 2; k++) PetscCall(KSPSetTolerances(p.ksp[k], 1e-14, 0, PETSC_DEFAULT, 5));
  PetscCall(PairSolve("too few iterations", &p, random));
  for (int k = 0; k < 2; k++) PetscCall(KSPSetTolerances(p.ksp[k], 1e-14, 0, 1e-30, 50));
  PetscCall(PairSolve("divergence tolerance", &p, random));
  PetscCall(PairDestroy(&p));
  PetscCall(PairCreate(A, PCNONE, KSP_NORM_NONE, &p));
  for (int k = 0; k < 2; k++) PetscCall(KSPSetTolerances(p.ksp[k], 1e-14, 0, PETSC_DEFAULT, 11));
  PetscCall(PairSolve("no norm", &p, random));
  PetscCall(PairDestroy(&p));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "breakdowns and limits: equal\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Checks that the output of -ksp_view contains the words. */
static PetscErrorCode Told(KSP ksp, const char words[])
{
  PetscMPIInt rank;
  char        text[4096], *found;

  PetscFunctionBeginUser;
  PetscCall(GetView(ksp, sizeof(text), text));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(PetscStrstr(text, words, &found));
  PetscCheck(found || rank, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The view does not contain '%s': %s", words, text);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A matrix that is not positive definite: both types stop because the set-up of the preconditioner has failed. */
static PetscErrorCode TestFailure(PetscRandom random)
{
  Mat  A;
  Pair p;

  PetscFunctionBeginUser;
  PetscCall(Create(100, -4.2, &A));
  PetscCall(PairCreate(A, PCGPUFSAI, KSP_NORM_PRECONDITIONED, &p));
  PetscCall(VecSetRandom(p.b, random));
  for (int k = 0; k < 2; k++) {
    KSPConvergedReason reason;

    PetscCall(KSPSolve(p.ksp[k], p.b, p.x[k]));
    PetscCall(KSPGetConvergedReason(p.ksp[k], &reason));
    PetscCheck(reason == KSP_DIVERGED_PC_FAILED, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "A failed set-up: %s", KSPConvergedReasons[reason]);
  }
  PetscCall(MatShift(A, 5));
  for (int k = 0; k < 2; k++) PetscCall(KSPSetOperators(p.ksp[k], A, A));
  for (int k = 0; k < 2; k++) PetscCall(VecSet(p.x[k], 0));
  PetscCall(PairSolve("after a failed set-up", &p, random));
  PetscCall(PairDestroy(&p));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Cases that the device loop does not support are solved by KSPCG. */
static PetscErrorCode TestOthers(PetscRandom random)
{
  Mat         A;
  Pair        p;
  PetscReal   history[600];
  PetscMPIInt size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(Create(300, 1, &A));
  PetscCall(PairCreate(A, PCJACOBI, KSP_NORM_PRECONDITIONED, &p));
  PetscCall(PairSolve("Jacobi", &p, random));
  PetscCall(Told(p.ksp[1], size > 1 ? "KSP type cg of PETSc iterates, controlled by the host: the loop on the device does not support several ranks" : "the whole loop runs on the device"));
  PetscCall(PairDestroy(&p));
  PetscCall(PairCreate(A, PCGPUFSAI, KSP_NORM_PRECONDITIONED, &p));
  PetscCall(PairSolve("an approximate inverse", &p, random));
  PetscCall(Told(p.ksp[1], size > 1 ? "several ranks" : "the whole loop runs on the device"));
  for (int k = 0; k < 2; k++) PetscCall(KSPSetType(p.ksp[k], k ? KSPCG : KSPGPUCG));
  PetscCall(PairSolve("other types", &p, random));
  PetscCall(PairDestroy(&p));
  PetscCall(PairCreate(A, PCBJACOBI, KSP_NORM_PRECONDITIONED, &p));
  PetscCall(PairSolve("block Jacobi", &p, random));
  PetscCall(Told(p.ksp[1], size > 1 ? "several ranks" : "preconditioners other than none, jacobi, gpufsai, gpuspai and gpupoly"));
  PetscCall(PairDestroy(&p));
  PetscCall(PairCreate(A, PCJACOBI, KSP_NORM_PRECONDITIONED, &p));
  PetscCall(KSPSetResidualHistory(p.ksp[1], history, 600, PETSC_TRUE));
  PetscCall(PairSolve("a history", &p, random));
  PetscCall(Told(p.ksp[1], size > 1 ? "several ranks" : "the whole loop runs on the device"));
  PetscCall(PairDestroy(&p));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "solves by KSPCG: equal\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscRandom random;
  PetscInt    largest = PETSC_MAX_INT;
  PetscBool   few;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &random));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-largest", &largest, &few));
  PetscCall(TestSizes(random, largest));
  if (!few) {
    PetscCall(TestChanges(PCJACOBI, random));
    PetscCall(TestChanges(PCGPUFSAI, random));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "a matrix that changes: equal\n"));
    PetscCall(TestBreakdowns(random));
    PetscCall(TestFailure(random));
    PetscCall(TestOthers(random));
  }
  PetscCall(PetscRandomDestroy(&random));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   testset:
      output_file: output/gpucg.out
      args: -ksp_gpu_refine 0
      test:
         suffix: 1
         args: -mat_gpucsr_storage {{single double}}
      test:
         suffix: batch
         args: -ksp_gpu_batch {{1 3 50}}
      test:
         suffix: stream
         args: -mat_gpucsr_storage double -mat_gpucsr_stream always -mat_gpucsr_stream_chunk 16384 -mat_gpucsr_stream_resident {{0 20000}}
      test:
         suffix: 2
         nsize: 2

TEST*/
