static char help[] = "Krylov methods whose loop runs on the device, compared with PETSc's types: iterations, reasons, residual norms, histories and solutions.\n\n\
  -method <gpubcgs>  : type\n\
  -largest           : largest number of unknowns; if given, only the first tests run\n\n";

#include "gpucsr.h"
#include "gpucsrcompat.h"
#include <petscksp.h>

#define HISTORY 600

typedef struct {
  const char *type, *base;
  PetscReal   tolerance; /* relative difference of residual norms */
} Method;

static const Method Methods[] = {
  {KSPGPUCG, KSPCG, 1e-6},
  {KSPGPUBCGS, KSPBCGS, 1e-2},
  {KSPGPUGMRES, KSPGMRES, 1e-5},
};

typedef struct {
  const Method *method;
  KSP           ksp[2]; /* PETSc's type, ours */
  Vec           b, x[2];
  PetscReal     history[2][HISTORY];
} Pair;

static PetscRandom random_;

/* An n x n matrix: a chain, with convection unless the method is CG, and a long-range term. */
static PetscErrorCode Create(const Method *method, PetscInt n, PetscScalar diagonal, Mat *A)
{
  PetscBool         symmetric;
  const PetscScalar side = 0.25;

  PetscFunctionBeginUser;
  PetscCall(PetscStrcmp(method->base, KSPCG, &symmetric));
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, n, n));
  PetscCall(MatSetType(*A, MATGPUCSR));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, 5, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, 5, NULL, 5, NULL));
  for (PetscInt i = 0; i < n; i++) {
    const PetscInt far = (i + n / 2) % n;

    PetscCall(MatSetValue(*A, i, i, diagonal + (i % 5), ADD_VALUES));
    if (i > 0) PetscCall(MatSetValue(*A, i, i - 1, symmetric ? -1 : -1 - side, ADD_VALUES));
    if (i < n - 1) PetscCall(MatSetValue(*A, i, i + 1, symmetric ? -1 : -1 + side, ADD_VALUES));
    if (n % 2 == 0 && far != i) PetscCall(MatSetValue(*A, i, far, -0.25, ADD_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PairCreate(const Method *method, Mat A, PCType pctype, PCSide side, Pair *p)
{
  PetscFunctionBeginUser;
  p->method = method;
  PetscCall(MatCreateVecs(A, &p->b, NULL));
  for (int k = 0; k < 2; k++) {
    PC pc;

    PetscCall(VecDuplicate(p->b, &p->x[k]));
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &p->ksp[k]));
    PetscCall(KSPSetOperators(p->ksp[k], A, A));
    PetscCall(KSPSetType(p->ksp[k], k ? method->type : method->base));
    PetscCall(KSPGetPC(p->ksp[k], &pc));
    PetscCall(PCSetType(pc, pctype));
    PetscCall(KSPSetPCSide(p->ksp[k], side));
    PetscCall(KSPSetTolerances(p->ksp[k], 1e-9, PETSC_DEFAULT, PETSC_DEFAULT, 500));
    PetscCall(KSPSetResidualHistory(p->ksp[k], p->history[k], HISTORY, PETSC_TRUE));
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

/* Compares histories: their lengths may differ by one, norms by the tolerance of the method. */
static PetscErrorCode CompareHistories(const char what[], const Pair *p, PetscReal tiny)
{
  PetscInt n[2];

  PetscFunctionBeginUser;
  for (int k = 0; k < 2; k++) PetscCall(KSPGetResidualHistory(p->ksp[k], NULL, &n[k]));
  PetscCheck(PetscAbsInt(n[0] - n[1]) <= 1, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: a history of %" PetscInt_FMT " norms, not %" PetscInt_FMT, what, n[1], n[0]);
  for (PetscInt i = 0; i < PetscMin(n[0], n[1]); i++) {
    const PetscReal a = p->history[0][i], b = p->history[1][i];

    if (b == 0 && i == n[1] - 1) continue; /* after an exact half step KSPBCGS stores the norm before it */
    PetscCheck(PetscAbsReal(a - b) <= p->method->tolerance * PetscMax(a, b) + tiny || (PetscIsInfOrNanReal(a) && PetscIsInfOrNanReal(b)), PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: the norm of iteration %" PetscInt_FMT " is %g, not %g", what, i,
               (double)b, (double)a);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PairSolve(const char what[], Pair *p, PetscBool draw)
{
  PetscInt           its[2];
  KSPConvergedReason reason[2];
  PetscReal          scale, error, tiny, rnorm[2];
  PetscBool          same;

  PetscFunctionBeginUser;
  if (draw) PetscCall(VecSetRandom(p->b, random_));
  PetscCall(VecNorm(p->b, NORM_2, &tiny));
  tiny *= 1e-12;
  for (int k = 0; k < 2; k++) {
    PetscCall(KSPSolve(p->ksp[k], p->b, p->x[k]));
    PetscCall(KSPGetIterationNumber(p->ksp[k], &its[k]));
    PetscCall(KSPGetConvergedReason(p->ksp[k], &reason[k]));
    PetscCall(KSPGetResidualNorm(p->ksp[k], &rnorm[k]));
  }
  /* depending on rounding, a residual at the level of rounding errors satisfies the relative or the absolute tolerance, or is a breakdown */
  same = (PetscBool)(reason[0] == reason[1] || (rnorm[0] <= tiny && rnorm[1] <= tiny));
  PetscCheck(PetscAbsInt(its[0] - its[1]) <= (p->method->tolerance > 1e-4 ? 1 : 0) && same, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: %s after %" PetscInt_FMT " iterations, not %s after %" PetscInt_FMT, what, KSPConvergedReasons[reason[1]], its[1],
             KSPConvergedReasons[reason[0]], its[0]);
  PetscCall(CompareHistories(what, p, tiny));
  if (reason[0] > 0) {
    PetscCall(VecNorm(p->x[0], NORM_INFINITY, &scale));
    PetscCall(VecAYPX(p->x[0], -1, p->x[1]));
    PetscCall(VecNorm(p->x[0], NORM_INFINITY, &error));
    PetscCheck(error <= 1e-7 * (scale + 1e-30), PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: solutions differ by %g of %g", what, (double)error, (double)scale);
  }
  PetscCall(VecCopy(p->x[1], p->x[0]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestSizes(const Method *method, PetscInt largest)
{
  const PetscInt  sizes[] = {1, 2, 33, 256, 2000};
  const PCType    pcs[]   = {PCNONE, PCJACOBI, PCGPUFSAI};
  const PetscBool cg      = (PetscBool)(method == Methods);

  PetscFunctionBeginUser;
  for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(sizes) && sizes[s] <= largest; s++) {
    Mat A;

    PetscCall(Create(method, sizes[s], 3, &A));
    for (size_t c = 0; c < PETSC_STATIC_ARRAY_LENGTH(pcs); c++) {
      for (PCSide side = PC_LEFT; side <= (cg ? PC_LEFT : PC_RIGHT); side = (PCSide)(side + 1)) {
        Pair p;

        PetscCall(PairCreate(method, A, pcs[c], side, &p));
        PetscCall(PairSolve("first solve", &p, PETSC_TRUE));
        PetscCall(PairSolve("second solve", &p, PETSC_TRUE));
        for (int k = 0; k < 2; k++) PetscCall(KSPSetInitialGuessNonzero(p.ksp[k], PETSC_TRUE));
        PetscCall(PairSolve("from a nonzero initial guess", &p, PETSC_TRUE));
        PetscCall(PairDestroy(&p));
      }
    }
    PetscCall(MatDestroy(&A));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " unknowns: equal\n", sizes[s]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Changes the values, the kernel, and the size. A recorded graph must not be used for a changed matrix. */
static PetscErrorCode TestChanges(const Method *method)
{
  Mat  A, B;
  Pair p;

  PetscFunctionBeginUser;
  PetscCall(Create(method, 500, 3.5, &A));
  PetscCall(PairCreate(method, A, PCJACOBI, PC_LEFT, &p));
  PetscCall(PairSolve("before", &p, PETSC_TRUE));
  PetscCall(MatShift(A, 0.75));
  PetscCall(PairSolve("other values", &p, PETSC_TRUE));
  PetscCall(MatGPUCSRSetKernel(A, "csrsplit"));
  PetscCall(PairSolve("another kernel", &p, PETSC_TRUE));
  PetscCall(Create(method, 300, 3.5, &B));
  for (int k = 0; k < 2; k++) {
    PetscCall(KSPReset(p.ksp[k]));
    PetscCall(KSPSetOperators(p.ksp[k], B, B));
    PetscCall(VecDestroy(&p.x[k]));
  }
  PetscCall(VecDestroy(&p.b));
  PetscCall(MatCreateVecs(B, &p.b, &p.x[0]));
  PetscCall(VecDuplicate(p.b, &p.x[1]));
  PetscCall(PairSolve("another size", &p, PETSC_TRUE));
  PetscCall(PairDestroy(&p));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "a matrix that changes: equal\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves with a matrix of two rows, whose entries are given by rows. */
static PetscErrorCode TestTwo(const Method *method, const char what[], const PetscScalar a[])
{
  const PetscInt rows[] = {0, 1};
  Mat            A;
  Pair           p;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetSizes(A, PETSC_DECIDE, PETSC_DECIDE, 2, 2));
  PetscCall(MatSetType(A, MATGPUCSR));
  PetscCall(MatSetFromOptions(A));
  PetscCall(MatSetUp(A));
  PetscCall(MatSetValues(A, 2, rows, 2, rows, a, ADD_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(PairCreate(method, A, PCNONE, PC_LEFT, &p));
  PetscCall(VecSet(p.b, 1));
  PetscCall(PairSolve(what, &p, PETSC_FALSE));
  PetscCall(PairDestroy(&p));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestBreakdowns(const Method *method)
{
  Mat         A;
  Pair        p;
  PetscMPIInt size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  if (size == 1) {
    PetscCall(TestTwo(method, "identity", (PetscScalar[]){1, 0, 0, 1}));
    PetscCall(TestTwo(method, "zero matrix", (PetscScalar[]){0, 0, 0, 0}));
    PetscCall(TestTwo(method, "skew matrix", (PetscScalar[]){0, 1, -1, 0}));
    PetscCall(TestTwo(method, "singular matrix", (PetscScalar[]){1, 1, 1, 1}));
    PetscCall(TestTwo(method, "NaN", (PetscScalar[]){1, NAN, 1, 1}));
  }
  PetscCall(Create(method, 100, 3.5, &A));
  PetscCall(PairCreate(method, A, PCJACOBI, PC_LEFT, &p));
  PetscCall(VecSet(p.b, 0));
  PetscCall(PairSolve("nothing to solve", &p, PETSC_FALSE));
  for (int k = 0; k < 2; k++) PetscCall(KSPSetTolerances(p.ksp[k], 1e-14, 0, PETSC_DEFAULT, 5));
  PetscCall(PairSolve("too few iterations", &p, PETSC_TRUE));
  for (int k = 0; k < 2; k++) PetscCall(KSPSetTolerances(p.ksp[k], 1e-14, 0, PETSC_DEFAULT, 1));
  PetscCall(PairSolve("one iteration", &p, PETSC_TRUE));
  for (int k = 0; k < 2; k++) PetscCall(KSPSetTolerances(p.ksp[k], 1e-14, 0, 1e-30, 50));
  PetscCall(PairSolve("divergence tolerance", &p, PETSC_TRUE));
  PetscCall(PairDestroy(&p));
  PetscCall(PairCreate(method, A, PCNONE, PC_LEFT, &p));
  for (int k = 0; k < 2; k++) {
    PetscCall(KSPSetNormType(p.ksp[k], KSP_NORM_NONE));
    PetscCall(KSPSetTolerances(p.ksp[k], 1e-14, 0, PETSC_DEFAULT, 11));
  }
  PetscCall(PairSolve("no norm", &p, PETSC_TRUE));
  PetscCall(PairDestroy(&p));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "breakdowns and limits: equal\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscInt  largest = PETSC_MAX_INT, k;
  PetscBool few, found = PETSC_FALSE;
  char      type[64] = KSPGPUBCGS;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &random_));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-largest", &largest, &few));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-method", type, sizeof(type), NULL));
  for (k = 0; k < (PetscInt)PETSC_STATIC_ARRAY_LENGTH(Methods); k++) {
    PetscCall(PetscStrcmp(Methods[k].type, type, &found));
    if (found) break;
  }
  PetscCheck(found, PETSC_COMM_WORLD, PETSC_ERR_ARG_WRONG, "-method %s: not a type of this test", type);
  PetscCall(TestSizes(&Methods[k], largest));
  if (!few) {
    PetscCall(TestChanges(&Methods[k]));
    PetscCall(TestBreakdowns(&Methods[k]));
  }
  PetscCall(PetscRandomDestroy(&random_));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   testset:
      output_file: output/gpukrylov.out
      args: -method {{gpucg gpubcgs gpugmres}} -mat_gpucsr_storage double
      test:
         suffix: 1
      test:
         suffix: batch
         args: -ksp_gpu_batch {{1 3}}
      test:
         suffix: stream
         args: -mat_gpucsr_stream always -mat_gpucsr_stream_chunk 16384
      test:
         suffix: 2
         nsize: 2
   test:
      suffix: monitor_bcgs
      args: -method gpubcgs -mat_gpucsr_storage double -largest 2 -ksp_monitor
   test:
      suffix: monitor_gmres
      args: -method gpugmres -mat_gpucsr_storage double -largest 2 -ksp_monitor
   test:
      suffix: single
      output_file: output/gpukrylov.out
      args: -method {{gpucg gpubcgs gpugmres}} -mat_gpucsr_storage single -ksp_gpu_refine 0

TEST*/
