static char help[] = "PCGPUFSAI compared with dense references: all entries of the factor, its application, new values and new patterns.\n\n";

#include "fsaireference.h"
#include "inverse.h"

#include <math.h>

static PetscErrorCode ExpectedRow(const Grid *g, const Expected *e, PetscInt first, PetscInt last, PetscInt row, PetscInt *m, PetscInt J[], PetscReal y[])
{
  PetscFunctionBeginUser;
  if (e->steps) PetscCall(ReferenceAdaptive(g, e->steps, e->step_size, first, row, m, J, y));
  else {
    PetscCall(GridPattern(g, e->power, e->threshold, PETSC_TRUE, first, last, row, m, J));
    PetscCall(ReferenceRow(g, *m, J, y));
  }
  PetscCall(ReferenceFilter(g, e->filter, m, J, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Checks that the two symmetric halves multiply by G and by G'. */
static PetscErrorCode CheckHalves(PC pc, const PetscReal D[], PetscInt N, PetscReal tolerance)
{
  Vec        x, y;
  PetscReal *dense, *result;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(pc->pmat, &x, &y));
  PetscCall(PetscMalloc2(N, &dense, N, &result));
  PetscCall(FillVector(x, N, dense));
  PetscCall(PCApplySymmetricLeft(pc, x, y));
  PetscCall(CheckProduct(D, N, PETSC_FALSE, dense, result, y, tolerance, "PCApplySymmetricLeft"));
  PetscCall(PCApplySymmetricRight(pc, x, y));
  PetscCall(CheckProduct(D, N, PETSC_TRUE, dense, result, y, tolerance, "PCApplySymmetricRight"));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(PetscFree2(dense, result));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Checks the diagonal of GAG' and all ways to apply G. */
static PetscErrorCode CheckUse(PC pc, const Grid *g, PetscReal tolerance)
{
  PetscReal     *D, *T;
  PetscBool      device;
  const PetscInt N = g->size;

  PetscFunctionBeginUser;
  PetscCall(GetDense(((PC_GPUFSAI *)pc->data)->inverse.matrix, &D));
  for (PetscInt i = 0; i < N; i++) {
    PetscReal sum = 0;

    for (PetscInt a = 0; a < N; a++) {
      for (PetscInt b = 0; D[i * N + a] != 0 && b < N; b++) sum += D[i * N + a] * GridValue(g, a, b) * D[i * N + b];
    }
    PetscCheck(PetscAbsReal(sum - 1) < 1e-12, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Diagonal entry %" PetscInt_FMT " of GAG' is %g, not 1", i, (double)sum);
  }
  PetscCall(CheckHalves(pc, D, N, tolerance));
  PetscCall(PetscCalloc1(N * N, &T));
  for (PetscInt k = 0; k < N; k++) {
    for (PetscInt i = 0; i <= k; i++) {
      for (PetscInt j = 0; j <= k; j++) T[i * N + j] += D[k * N + i] * D[k * N + j];
    }
  }
  PetscCall(CheckApply(pc, T, N, tolerance));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)((PC_GPUFSAI *)pc->data)->work, &device, VECSEQGPU, VECMPIGPU, ""));
  PetscCheck(device, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "After an application to vectors on the device, the vector between the two products is not there");
  PetscCall(PetscFree(T));
  PetscCall(PetscFree(D));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetOptions(PC pc, const Expected *e, MatGPUCSRStorage storage)
{
  PetscFunctionBeginUser;
  if (e->steps) {
    PetscCall(PCGPUFSAISetPattern(pc, PC_GPUFSAI_PATTERN_ADAPTIVE));
    PetscCall(PCGPUFSAISetAdaptive(pc, e->steps, e->step_size, 0));
  } else PetscCall(PCGPUFSAISetPower(pc, e->power));
  PetscCall(PCGPUFSAISetThreshold(pc, e->threshold));
  PetscCall(PCGPUFSAISetFilter(pc, e->filter));
  PetscCall(PCGPUFSAISetLocal(pc, e->local));
  PetscCall(PCGPUFSAISetStorage(pc, storage));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PCGPUInverse *GetInverse(PC pc)
{
  return &((PC_GPUFSAI *)pc->data)->inverse;
}

static const InverseType Type = {PCGPUFSAI, 0, SetOptions, GetInverse, ExpectedRow, CheckUse};

static const Expected Cases[] = {
  {.power = 1, .local = PETSC_TRUE},
  {.power = 2, .local = PETSC_TRUE},
  {.power = 3, .local = PETSC_TRUE},
  {.power = 1, .local = PETSC_FALSE},
  {.power = 2, .local = PETSC_FALSE},
  {.power = 2, .local = PETSC_FALSE, .threshold = 0.14},
  {.power = 2, .local = PETSC_TRUE, .filter = 0.05},
  {.power = 3, .local = PETSC_FALSE, .threshold = 0.1, .filter = 0.03},
  {.steps = 1, .step_size = 1, .local = PETSC_TRUE},
  {.steps = 4, .step_size = 1, .local = PETSC_FALSE},
  {.steps = 3, .step_size = 2, .local = PETSC_FALSE},
  {.steps = 3, .step_size = 3, .local = PETSC_TRUE, .filter = 0.02},
};

/* A filtered or an adaptive pattern is kept if only values change; the rows are then optimal on it. */
static PetscErrorCode TestKept(const Expected *e)
{
  Grid        g = GridOf(6, 1), same = g;
  PC          pc;
  Mat         A, S;
  PC_GPUFSAI *fsai;
  PetscInt    begin, end;

  PetscFunctionBeginUser;
  same.wave = 1.7;
  PetscCall(GridCreate(&g, PETSC_COMM_WORLD, MATAIJ, &A));
  PetscCall(GridCreate(&same, PETSC_COMM_WORLD, MATAIJ, &S));
  PetscCall(InverseCreate(&Type, e, MAT_GPUCSR_STORAGE_DOUBLE, &pc));
  fsai = (PC_GPUFSAI *)pc->data;
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCSetUp(pc));
  PetscCall(MatCopy(S, A, SAME_NONZERO_PATTERN));
  PetscCall(PCSetUp(pc));
  PetscCall(MatGetOwnershipRange(fsai->inverse.matrix, &begin, &end));
  for (PetscInt row = begin; row < end; row++) {
    PetscInt           ncols;
    const PetscInt    *cols;
    const PetscScalar *vals;
    PetscReal          y[64];

    PetscCall(MatGetRow(fsai->inverse.matrix, row, &ncols, &cols, &vals));
    PetscCheck(ncols <= 64, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Row %" PetscInt_FMT " is too long", row);
    PetscCall(ReferenceRow(&same, ncols, cols, y));
    for (PetscInt a = 0; a < ncols; a++) PetscCheck(PetscAbsReal(vals[a] - y[a]) <= 1e-12 * y[ncols - 1], PETSC_COMM_SELF, PETSC_ERR_PLIB, "Kept pattern: entry %" PetscInt_FMT ",%" PetscInt_FMT, row, cols[a]);
    PetscCall(MatRestoreRow(fsai->inverse.matrix, row, &ncols, &cols, &vals));
  }
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&S));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Each step of the adaptive pattern reduces Kaporin's condition number, and a tolerance stops rows early. */
static PetscErrorCode TestMeasure(void)
{
  const Grid  g      = GridOf(9, 1);
  PetscReal   before = 0;
  PetscInt    all;
  Mat         A;
  PC          pc;
  PC_GPUFSAI *fsai;

  PetscFunctionBeginUser;
  PetscCall(GridCreate(&g, PETSC_COMM_WORLD, MATAIJ, &A));
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetType(pc, PCGPUFSAI));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCGPUFSAISetPattern(pc, PC_GPUFSAI_PATTERN_ADAPTIVE));
  fsai = (PC_GPUFSAI *)pc->data;
  for (PetscInt steps = 1; steps < 8; steps++) {
    PetscCall(PCGPUFSAISetAdaptive(pc, steps, 1, 0));
    PetscCall(PCSetUp(pc));
    PetscCheck(fsai->inverse.measure > before + 1e-8, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%" PetscInt_FMT " steps: Kaporin's condition number is not smaller", steps);
    PetscCheck(fsai->inverse.longest == steps + 1, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%" PetscInt_FMT " steps: the longest row has %" PetscInt_FMT " entries", steps, fsai->inverse.longest);
    before = fsai->inverse.measure;
  }
  all = fsai->inverse.rows.rowptr[fsai->inverse.rows.rows];
  PetscCall(PCGPUFSAISetAdaptive(pc, 7, 1, 0.02));
  PetscCall(PCSetUp(pc));
  PetscCheck(fsai->inverse.measure < before && fsai->inverse.rows.rowptr[fsai->inverse.rows.rows] < all, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "The tolerance stops no row");
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestThreads(void)
{
  const Expected power = {.power = 2}, adaptive = {.steps = 3, .step_size = 2};
  const Grid     g = GridOf(24, 1);
  Mat            A;

  PetscFunctionBeginUser;
  PetscCall(GridCreate(&g, PETSC_COMM_WORLD, MATAIJ, &A));
  PetscCall(InverseTestThreads(&Type, &power, A));
  PetscCall(InverseTestThreads(&Type, &adaptive, A));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const Grid grid = GridOf(7, 1), blocks = GridOf(4, 3);
  MatType    types[] = {MATAIJ, MATGPUCSR, MATBAIJ, MATSBAIJ, MATDENSE};

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  for (size_t t = 0; t < PETSC_STATIC_ARRAY_LENGTH(types); t++) {
    PetscCall(InverseTestCases(&Type, &grid, types[t], t ? MAT_GPUCSR_STORAGE_DOUBLE : MAT_GPUCSR_STORAGE_SINGLE, PETSC_STATIC_ARRAY_LENGTH(Cases), Cases));
    if (t < 4) PetscCall(InverseTestCases(&Type, &blocks, types[t], MAT_GPUCSR_STORAGE_DOUBLE, PETSC_STATIC_ARRAY_LENGTH(Cases), Cases));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "factors and their application: equal to dense references\n"));
  for (size_t k = 0; k < 6; k++) PetscCall(InverseTestReuse(&Type, &Cases[k], k % 3 ? MAT_GPUCSR_STORAGE_DOUBLE : MAT_GPUCSR_STORAGE_SINGLE));
  for (size_t k = 6; k < PETSC_STATIC_ARRAY_LENGTH(Cases); k++) PetscCall(TestKept(&Cases[k]));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "new values, new patterns, reset: right\n"));
  PetscCall(TestMeasure());
  PetscCall(TestThreads());
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "Kaporin's condition number decreases; threads change no bit\n"));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   test:
      suffix: equal
      nsize: {{1 2 4}}

   test:
      suffix: separate
      nsize: {{1 2}}
      args: -vec_gpu_separate
      output_file: output/gpufsai_equal.out

TEST*/
