static char help[] = "Preconditioners that derive from a type of PETSc do what this type does with plain AIJ, in every order of calls, and copy no vectors.\n\n\
  -bs <n>           : block size of the matrix\n\
  -variable         : blocks of variable size\n\
  -resident <false> : applications must not copy vectors\n\n";

#include "gpucsr.h"
#include "gpucsrcompat.h"
#include <petscksp.h>
#include <petsc/private/pcimpl.h>

#define POINTS 30 /* of each rank */

static PetscInt  BS       = 1;
static PetscBool Variable = PETSC_FALSE, Resident = PETSC_FALSE;

/* A diagonally dominant matrix.  Point p is coupled with the points at distance 1 and reach, over all of their BS unknowns; the values depend on seed.
   If singular is set, the rows of the first point are zero. */
static PetscErrorCode Create(MatType type, PetscInt reach, PetscInt seed, PetscBool singular, Mat *A)
{
  PetscInt    start, end, N;
  PetscMPIInt size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  N = POINTS * size;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, POINTS * BS, POINTS * BS, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetBlockSize(*A, BS));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, 5 * BS, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, 5 * BS, NULL, 5 * BS, NULL));
  PetscCall(MatGetOwnershipRange(*A, &start, &end));
  for (PetscInt row = start; row < end; row++) {
    const PetscInt p = row / BS, to[] = {p, p - 1, p + 1, p - reach, p + reach};

    for (int k = 0; k < (reach > 1 ? 5 : 3); k++)
      for (PetscInt c = 0; to[k] >= 0 && to[k] < N && c < BS; c++) {
        const PetscInt column = to[k] * BS + c;
        PetscScalar    v      = -0.1 - (PetscScalar)((7 * (row + column) + seed * PetscAbsInt(row - column)) % 5) / 10; /* symmetric */

        if (row == column) v = 10 * BS + (row + seed) % 3;
        PetscCall(MatSetValue(*A, row, column, singular && (row < BS || column < BS) ? 0 : v, INSERT_VALUES));
      }
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatSetOption(*A, MAT_SYMMETRIC, PETSC_TRUE));
  if (Variable) {
    PetscInt sizes[POINTS * 5], n = 0, left = POINTS * BS;

    for (; left; n++) {
      sizes[n] = PetscMin(left, 1 + (n + seed) % 4);
      left -= sizes[n];
    }
    PetscCall(MatSetVariableBlockSizes(*A, n, sizes));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A preconditioner and its vectors. Side 0 is plain AIJ, side 1 gpucsr with gpu vectors, side 2 gpucsr with standard vectors. */
typedef struct {
  Mat A[3]; /* the second one has other values, the third one another pattern */
  PC  pc;
  Vec x, y;
} Side;

#define SIDES 3

static PetscErrorCode CreateSide(int k, Side *s)
{
  const MatType type = k ? MATGPUCSR : MATAIJ;

  PetscFunctionBeginUser;
  PetscCall(Create(type, 4, 0, PETSC_FALSE, &s->A[0]));
  PetscCall(Create(type, 4, 1, PETSC_FALSE, &s->A[1]));
  PetscCall(Create(type, 1, Variable ? 0 : 2, PETSC_FALSE, &s->A[2]));
  for (int m = 0; m < 3; m++) PetscCall(MatSetVecType(s->A[m], k == 1 ? VECGPU : VECSTANDARD));
  PetscCall(MatCreateVecs(s->A[0], &s->x, &s->y));
  PetscCall(PCCreate(PETSC_COMM_WORLD, &s->pc));
  PetscCall(PCSetFromOptions(s->pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DestroySide(Side *s)
{
  PetscFunctionBeginUser;
  for (int m = 0; m < 3; m++) PetscCall(MatDestroy(&s->A[m]));
  PetscCall(VecDestroy(&s->x));
  PetscCall(VecDestroy(&s->y));
  PetscCall(PCDestroy(&s->pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Copies(PetscInt *copies)
{
  const char *const names[] = {"VecGPUUpload", "VecGPUDownload"};

  PetscFunctionBeginUser;
  *copies = 0;
  for (int k = 0; k < 2; k++) {
    PetscEventPerfInfo info;
    PetscLogEvent      event;

    PetscCall(PetscLogEventGetId(names[k], &event));
    PetscCall(PetscLogEventGetPerfInfo(PETSC_DETERMINE, event, &info));
    *copies += (PetscInt)info.count;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Compare(const char when[], const char what[], int k, Vec y, Vec expected)
{
  const PetscScalar *a, *b;
  PetscReal          most[2] = {0, 0};
  PetscInt           n;

  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(y, &n));
  PetscCall(VecGetArrayRead(y, &a));
  PetscCall(VecGetArrayRead(expected, &b));
  for (PetscInt i = 0; i < n; i++) {
    most[0] = PetscMax(most[0], PetscAbsScalar(a[i] - b[i]) <= 1e300 ? PetscAbsScalar(a[i] - b[i]) : 1e300); /* also if it is NaN */
    most[1] = PetscMax(most[1], PetscAbsScalar(b[i]));
  }
  PetscCheck(most[1] > 0 && most[0] <= 1e-12 * most[1], PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %s of side %d differs by %g of %g", when, what, k, (double)most[0], (double)most[1]);
  PetscCall(VecRestoreArrayRead(y, &a));
  PetscCall(VecRestoreArrayRead(expected, &b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Applies the operation three times, each time to the result of the one before, and counts the copies of the last two. */
static PetscErrorCode Repeat(const char when[], const char what[], int k, Side *s, PetscErrorCode (*apply)(PC, Vec, Vec))
{
  PetscInt before = 0, after;

  PetscFunctionBeginUser;
  PetscCall(VecSet(s->x, 1));
  PetscCall(VecShift(s->x, 0.5));
  for (int round = 0; round < 3; round++) {
    PetscCall((*apply)(s->pc, s->x, s->y));
    if (!round) PetscCall(Copies(&before));
    PetscCall(VecAXPBY(s->x, 1, 0.25, s->y));
  }
  PetscCall(Copies(&after));
  PetscCheck(k != 1 || !Resident || after == before, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %s copies vectors %" PetscInt_FMT " times", when, what, after - before);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Check(const char when[], Side s[])
{
  const char *const names[]                          = {"PCApply()", "PCApplyTranspose()", "PCApplySymmetricLeft()", "PCApplySymmetricRight()"};
  PetscErrorCode (*const operations[])(PC, Vec, Vec) = {PCApply, PCApplyTranspose, PCApplySymmetricLeft, PCApplySymmetricRight};

  PetscFunctionBeginUser;
  for (int k = 0; k < SIDES; k++) PetscCall(PCSetUp(s[k].pc));
  for (int k = 0; k < SIDES; k++) PetscCall(PCSetUpOnBlocks(s[k].pc));
  for (int o = 0; o < 4; o++) {
    const struct _PCOps *ops  = s[0].pc->ops;
    PetscBool            have = (PetscBool)(o == 0 || (o == 1 ? !!ops->applytranspose : !!ops->applysymmetricleft));

    if (o > 1 && have) PetscCall(PetscOptionsHasName(NULL, NULL, "-symmetric", &have));
    for (int k = 0; have && k < SIDES; k++) {
      PetscCall(Repeat(when, names[o], k, &s[k], operations[o]));
      if (k) PetscCall(Compare(when, names[o], k, s[k].y, s[0].y));
      if (k) PetscCall(Compare(when, names[o], k, s[k].x, s[0].x));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets what PCView() prints before the description of the matrix. */
static PetscErrorCode View(PC pc, char text[], size_t length)
{
  char        name[PETSC_MAX_PATH_LEN], line[512], *found;
  FILE       *file;
  PetscViewer viewer;
  PetscMPIInt rank;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  text[0] = 0;
  PetscCall(PetscSNPrintf(name, sizeof(name), "pcview.txt"));
  PetscCall(PetscViewerASCIIOpen(PETSC_COMM_WORLD, name, &viewer));
  PetscCall(PCView(pc, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  if (rank) PetscFunctionReturn(PETSC_SUCCESS);
  file = fopen(name, "r");
  PetscCheck(file, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "Cannot open %s", name);
  while (fgets(line, sizeof(line), file)) {
    PetscCall(PetscStrstr(line, "linear system matrix", &found));
    if (found) break;
    PetscCall(PetscStrstr(line, "package used to perform factorization", &found)); /* each matrix type has its own default */
    if (!found) PetscCall(PetscStrstr(line, "gpucsr:", &found));
    if (!found) PetscCall(PetscStrlcat(text, line, length));
  }
  fclose(file);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckViews(Side s[])
{
  char      text[2][4096];
  PetscBool same;

  PetscFunctionBeginUser;
  for (int k = 0; k < 2; k++) PetscCall(View(s[k].pc, text[k], sizeof(text[k])));
  PetscCall(PetscStrcmp(text[0], text[1], &same));
  PetscCheck(same, PETSC_COMM_SELF, PETSC_ERR_PLIB, "PCView() prints\n%sand with plain AIJ\n%s", text[1], text[0]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The sequences of calls that programs use. */
static PetscErrorCode TestSequences(void)
{
  Side      s[SIDES];
  PCType    type;
  PetscBool gasm;

  PetscFunctionBeginUser;
  for (int k = 0; k < SIDES; k++) PetscCall(CreateSide(k, &s[k]));
  for (int k = 0; k < SIDES; k++) PetscCall(PCSetOperators(s[k].pc, s[k].A[0], s[k].A[0]));
  PetscCall(Check("first set-up", s));
  PetscCall(CheckViews(s));
  for (int k = 0; k < SIDES; k++) {
    PetscCall(MatShift(s[k].A[0], 1));
    PetscCall(MatScale(s[k].A[0], 0.5));
  }
  PetscCall(Check("new values", s));
  for (int k = 0; k < SIDES; k++) {
    PetscCall(PCSetReusePreconditioner(s[k].pc, PETSC_TRUE));
    PetscCall(MatScale(s[k].A[0], 3));
  }
  PetscCall(Check("reused preconditioner", s));
  for (int k = 0; k < SIDES; k++) {
    PetscCall(PCSetReusePreconditioner(s[k].pc, PETSC_FALSE));
    if (!Variable) PetscCall(PCSetOperators(s[k].pc, s[k].A[1], s[k].A[1])); /* PETSc's vpbjacobi requires the blocks of the first set-up */
  }
  PetscCall(Check("another matrix", s));
  for (int k = 0; k < SIDES; k++) PetscCall(PCSetOperators(s[k].pc, s[k].A[2], s[k].A[2]));
  PetscCall(Check("another pattern", s));
  PetscCall(PetscObjectTypeCompare((PetscObject)s[0].pc, PCGASM, &gasm));
  if (!Variable && !gasm) /* PETSc's gasm loses the solvers of its subdomains when it is set up again */
    for (int k = 0; k < SIDES; k++) {
      PetscCall(PCReset(s[k].pc));
      PetscCall(PCSetOperators(s[k].pc, s[k].A[0], s[k].A[0]));
    }
  PetscCall(Check("after PCReset()", s));
  PetscCall(PCGetType(s[0].pc, &type));
  for (int k = 0; k < SIDES; k++) {
    char name[64];

    PetscCall(PetscStrncpy(name, type, sizeof(name)));
    PetscCall(PCSetType(s[k].pc, PCJACOBI));
    PetscCall(PCSetUp(s[k].pc));
    PetscCall(PCSetType(s[k].pc, name));
    PetscCall(PCSetType(s[k].pc, name));
    PetscCall(PCSetFromOptions(s[k].pc));
    PetscCall(PCSetOperators(s[k].pc, s[k].A[1], s[k].A[1]));
    PetscCall(PCSetUp(s[k].pc));
    if (!k) PetscCall(PCGetType(s[0].pc, &type));
  }
  PetscCall(Check("another type and back", s));
  PetscCall(CheckViews(s));
  for (int k = 0; k < SIDES; k++) PetscCall(DestroySide(&s[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Preconditioners that are destroyed before they are used. */
static PetscErrorCode TestEarly(void)
{
  Side s;

  PetscFunctionBeginUser;
  PetscCall(CreateSide(1, &s));
  PetscCall(DestroySide(&s));
  PetscCall(CreateSide(1, &s));
  PetscCall(PCSetOperators(s.pc, s.A[0], s.A[0]));
  PetscCall(PCSetUp(s.pc));
  PetscCall(DestroySide(&s));
  PetscCall(CreateSide(1, &s));
  PetscCall(PCReset(s.pc));
  PetscCall(PCSetType(s.pc, PCNONE));
  PetscCall(DestroySide(&s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Iterations of a solve, also with the transpose; and the reason why a solve with a singular block stops. */
static PetscErrorCode TestSolves(PetscBool singular)
{
  KSPConvergedReason reason[2][2];
  PetscInt           its[2][2];

  PetscFunctionBeginUser;
  for (int k = 0; k < 2; k++) {
    Mat A;
    Vec b, x;
    KSP ksp;
    PC  pc;

    PetscCall(Create(k ? MATGPUCSR : MATAIJ, 4, 0, singular, &A));
    PetscCall(MatSetVecType(A, k ? VECGPU : VECSTANDARD));
    PetscCall(MatCreateVecs(A, &x, &b));
    PetscCall(VecSet(b, 1));
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
    PetscCall(KSPSetTolerances(ksp, 1e-11, PETSC_DEFAULT, PETSC_DEFAULT, 200));
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(KSPSetFromOptions(ksp));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCSetUp(pc));
    for (int t = 0; t < (singular || !pc->ops->applytranspose ? 1 : 2); t++) {
      PetscCall(VecSet(x, 0));
      if (t) PetscCall(KSPSolveTranspose(ksp, b, x));
      else PetscCall(KSPSolve(ksp, b, x));
      PetscCall(KSPGetConvergedReason(ksp, &reason[k][t]));
      PetscCall(KSPGetIterationNumber(ksp, &its[k][t]));
      if (k)
        PetscCheck(its[0][t] == its[1][t] && reason[0][t] == reason[1][t], PETSC_COMM_SELF, PETSC_ERR_PLIB, "%d: %" PetscInt_FMT " iterations (reason %d), with plain AIJ %" PetscInt_FMT " (%d)", t, its[1][t], (int)reason[1][t], its[0][t],
                   (int)reason[0][t]);
      PetscCheck(singular == (PetscBool)(reason[k][t] < 0), PETSC_COMM_SELF, PETSC_ERR_PLIB, "The solve ended with the reason %d", (int)reason[k][t]);
    }
    PetscCall(KSPDestroy(&ksp));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&b));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscBool singular = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(PetscLogDefaultBegin());
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-bs", &BS, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-variable", &Variable, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-resident", &Resident, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-singular", &singular, NULL));
  PetscCall(TestSequences());
  PetscCall(TestEarly());
  PetscCall(TestSolves(PETSC_FALSE));
  if (singular) PetscCall(TestSolves(PETSC_TRUE));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "equal to plain AIJ\n"));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   testset:
      nsize: {{1 2}}
      args: -mat_gpucsr_storage double -mat_gpucsr_vec_type gpu -resident
      output_file: output/derived_1.out
      test:
         suffix: points
         args: -pc_type pbjacobi -bs {{1 2 3 5}} -singular -vec_gpu_separate {{0 1}}
      test:
         suffix: variable
         args: -pc_type vpbjacobi -variable -bs {{1 4}} -vec_gpu_separate {{0 1}}
      test:
         suffix: blocks
         args: -pc_type bjacobi -pc_bjacobi_local_blocks {{1 3}} -sub_pc_type jacobi -bs 2 -vec_gpu_separate {{0 1}}
      test:
         suffix: gasm
         args: -pc_type gasm -pc_gasm_type {{basic restrict interpolate none}} -pc_gasm_overlap {{0 2}} -sub_pc_type ilu -vec_gpu_separate {{0 1}}
      test:
         suffix: subdomains
         args: -pc_type gasm -pc_gasm_total_subdomains 8 -pc_gasm_overlap 1 -sub_pc_type jacobi -bs 2 -mat_partitioning_type average -vec_gpu_separate {{0 1}}

   testset:
      nsize: 4
      args: -mat_gpucsr_storage double -mat_gpucsr_vec_type gpu -vec_gpu_separate -resident
      output_file: output/derived_1.out
      test:
         suffix: points_4
         args: -pc_type pbjacobi -bs 3 -singular
      test:
         suffix: variable_4
         args: -pc_type vpbjacobi -variable -bs 4
      test:
         suffix: blocks_4
         args: -pc_type bjacobi -pc_bjacobi_local_blocks 3 -sub_pc_type jacobi -bs 2
      test:
         suffix: gasm_4
         args: -pc_type gasm -pc_gasm_type {{basic restrict interpolate none}} -pc_gasm_overlap 2 -sub_pc_type ilu
      test:
         suffix: subdomains_4
         args: -pc_type gasm -pc_gasm_total_subdomains 8 -pc_gasm_overlap 1 -sub_pc_type jacobi -bs 2 -mat_partitioning_type average

   test:
      suffix: straddling
      nsize: 4
      args: -mat_gpucsr_storage double -mat_gpucsr_vec_type gpu -vec_gpu_separate -pc_type gasm -pc_gasm_total_subdomains 2 -sub_pc_type {{jacobi bjacobi}} -mat_partitioning_type average
      output_file: output/derived_1.out

   test:
      suffix: single
      nsize: 2
      args: -mat_gpucsr_storage single -pc_type pbjacobi -bs 3 -resident -vec_gpu_separate
      output_file: output/derived_1.out

   test:
      suffix: symmetric
      nsize: {{1 2}}
      args: -mat_gpucsr_storage double -pc_type bjacobi -pc_bjacobi_local_blocks {{1 3}} -sub_pc_type icc -sub_pc_factor_mat_ordering_type natural -symmetric -mat_gpucsr_vec_type gpu -vec_gpu_separate
      output_file: output/derived_1.out

TEST*/
