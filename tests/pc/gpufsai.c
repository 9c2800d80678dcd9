static char help[] = "PCGPUFSAI compared with dense references: all entries of the factor, its application, new values and new patterns.\n\n";

#include "applied.h"
#include "fsaireference.h"

#include <math.h>

static PetscReal Tolerance = 1e-12;

/* What a factor should be. */
typedef struct {
  PetscInt  power;
  PetscReal threshold, filter;
  PetscInt  steps, step_size; /* steps > 0: adaptive */
  PetscBool local;
} Expected;

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

/* Compares all entries of the factor. */
static PetscErrorCode CheckFactor(PC pc, const Grid *g, const Expected *e, const char what[])
{
  PC_GPUFSAI *fsai = (PC_GPUFSAI *)pc->data;
  PetscInt    begin, end, *J;
  PetscReal  *y;

  PetscFunctionBeginUser;
  PetscCheck(fsai->inverse.matrix, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: there is no factor", what);
  PetscCall(MatGetOwnershipRange(fsai->inverse.matrix, &begin, &end));
  PetscCall(PetscMalloc2(g->size, &J, g->size, &y));
  for (PetscInt row = begin; row < end; row++) {
    PetscInt           m = 0, ncols;
    const PetscInt    *cols;
    const PetscScalar *vals;

    PetscCall(ExpectedRow(g, e, e->local ? begin : 0, e->local ? end : g->size, row, &m, J, y));
    PetscCall(MatGetRow(fsai->inverse.matrix, row, &ncols, &cols, &vals));
    PetscCheck(ncols == m, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: row %" PetscInt_FMT " has %" PetscInt_FMT " entries, not %" PetscInt_FMT, what, row, ncols, m);
    for (PetscInt a = 0; a < m; a++) {
      PetscCheck(cols[a] == J[a], PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: row %" PetscInt_FMT " has column %" PetscInt_FMT ", not %" PetscInt_FMT, what, row, cols[a], J[a]);
      PetscCheck(PetscAbsReal(vals[a] - y[a]) <= Tolerance * y[m - 1], PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: entry %" PetscInt_FMT ",%" PetscInt_FMT " is %g, not %g", what, row, J[a], (double)vals[a], (double)y[a]);
    }
    PetscCall(MatRestoreRow(fsai->inverse.matrix, row, &ncols, &cols, &vals));
  }
  PetscCall(PetscFree2(J, y));
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

/* Sets the type and the options by functions. */
static PetscErrorCode Create(MPI_Comm comm, const Expected *e, MatGPUCSRStorage storage, PC *pc)
{
  PetscFunctionBeginUser;
  PetscCall(PCCreate(comm, pc));
  PetscCall(PCSetType(*pc, PCGPUFSAI));
  if (e->steps) {
    PetscCall(PCGPUFSAISetPattern(*pc, PC_GPUFSAI_PATTERN_ADAPTIVE));
    PetscCall(PCGPUFSAISetAdaptive(*pc, e->steps, e->step_size, 0));
  } else PetscCall(PCGPUFSAISetPower(*pc, e->power));
  PetscCall(PCGPUFSAISetThreshold(*pc, e->threshold));
  PetscCall(PCGPUFSAISetFilter(*pc, e->filter));
  PetscCall(PCGPUFSAISetLocal(*pc, e->local));
  PetscCall(PCGPUFSAISetStorage(*pc, storage));
  PetscCall(PCSetFromOptions(*pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

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

static PetscErrorCode TestCases(const Grid *g, MatType type, MatGPUCSRStorage storage)
{
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(GridCreate(g, PETSC_COMM_WORLD, type, &A));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(Cases); k++) {
    PC   pc;
    char what[64];

    PetscCall(PetscSNPrintf(what, sizeof(what), "%s, %" PetscInt_FMT " unknowns, case %d", type, g->size, (int)k));
    PetscCall(Create(PETSC_COMM_WORLD, &Cases[k], storage, &pc));
    PetscCall(PCSetOperators(pc, A, A));
    PetscCall(PCSetUp(pc));
    PetscCall(CheckFactor(pc, g, &Cases[k], what));
    PetscCall(CheckUse(pc, g, storage == MAT_GPUCSR_STORAGE_DOUBLE ? 1e-13 : 1e-6));
    PetscCheck(((PC_GPUFSAI *)pc->data)->inverse.setups == 1, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: an application sets up anew", what);
    PetscCall(PCDestroy(&pc));
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* New values keep the pattern and the matrix G; a new pattern does not. */
static PetscErrorCode TestReuse(const Expected *e)
{
  Grid        g = GridOf(6, 2), same = g, other = g, small = GridOf(5, 1);
  Expected    kept = *e;
  PC          pc;
  Mat         A, B, S, G;
  PC_GPUFSAI *fsai;

  PetscFunctionBeginUser;
  same.wave   = 1.7;
  other.extra = 3;
  PetscCall(GridCreate(&g, PETSC_COMM_WORLD, MATGPUCSR, &A));
  PetscCall(GridCreate(&same, PETSC_COMM_WORLD, MATAIJ, &S));
  PetscCall(GridCreate(&other, PETSC_COMM_WORLD, MATAIJ, &B));
  PetscCall(Create(PETSC_COMM_WORLD, e, MAT_GPUCSR_STORAGE_DOUBLE, &pc));
  fsai = (PC_GPUFSAI *)pc->data;
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCSetUp(pc));
  PetscCall(CheckFactor(pc, &g, e, "first set-up"));
  PetscCall(CheckUse(pc, &g, 1e-13));
  G = fsai->inverse.matrix;
  PetscCall(MatCopy(S, A, SAME_NONZERO_PATTERN));
  PetscCall(PCSetReusePreconditioner(pc, PETSC_TRUE));
  PetscCall(PCSetUp(pc));
  PetscCall(CheckFactor(pc, &g, e, "a preconditioner that is kept"));
  PetscCall(PCSetReusePreconditioner(pc, PETSC_FALSE));
  PetscCall(PCSetUp(pc));
  PetscCheck(G == fsai->inverse.matrix && fsai->inverse.refills == 1, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "New values: the factor was built anew");
  PetscCall(CheckFactor(pc, &same, e, "new values"));
  PetscCall(CheckUse(pc, &same, 1e-13));
  PetscCall(PCSetOperators(pc, B, B));
  PetscCall(PCSetUp(pc));
  PetscCheck(fsai->inverse.refills == 1, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Another matrix: the pattern was kept");
  PetscCall(CheckFactor(pc, &other, e, "another matrix"));
  kept.power++;
  PetscCall(PCGPUFSAISetPower(pc, kept.power));
  PetscCall(PCSetUp(pc));
  PetscCall(CheckFactor(pc, &other, &kept, "another power"));
  PetscCall(PCGPUFSAISetPower(pc, e->power));
  PetscCall(PCReset(pc));
  PetscCall(MatDestroy(&A));
  PetscCall(GridCreate(&small, PETSC_COMM_WORLD, MATAIJ, &A));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCSetUp(pc));
  PetscCall(CheckFactor(pc, &small, e, "another size"));
  PetscCall(CheckUse(pc, &small, 1e-13));
  PetscCall(PCSetType(pc, PCJACOBI));
  PetscCall(PCSetType(pc, PCGPUFSAI));
  PetscCall(PCSetType(pc, PCGPUFSAI));
  PetscCall(PCSetUp(pc));
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&S));
  PetscFunctionReturn(PETSC_SUCCESS);
}

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
  PetscCall(Create(PETSC_COMM_WORLD, e, MAT_GPUCSR_STORAGE_DOUBLE, &pc));
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

/* The number of threads changes no bit. */
static PetscErrorCode TestThreads(void)
{
  static const char *threads[] = {"1", "3", "16"};
  const Grid         g         = GridOf(24, 1);
  Mat                A, G = NULL;

  PetscFunctionBeginUser;
  PetscCall(GridCreate(&g, PETSC_COMM_WORLD, MATAIJ, &A));
  for (int adaptive = 0; adaptive < 2; adaptive++) {
    for (int k = 0; k < 3; k++) {
      PC        pc;
      PetscBool same;

      PetscCall(PetscOptionsSetValue(NULL, "-pc_gpufsai_threads", threads[k]));
      PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
      PetscCall(PCSetType(pc, PCGPUFSAI));
      PetscCall(PCGPUFSAISetPower(pc, 2));
      PetscCall(PCGPUFSAISetPattern(pc, adaptive ? PC_GPUFSAI_PATTERN_ADAPTIVE : PC_GPUFSAI_PATTERN_STATIC));
      PetscCall(PCSetFromOptions(pc));
      PetscCall(PCSetOperators(pc, A, A));
      PetscCall(PCSetUp(pc));
      if (k) {
        PetscCall(MatEqual(G, ((PC_GPUFSAI *)pc->data)->inverse.matrix, &same));
        PetscCheck(same, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s threads change the factor", threads[k]);
      } else PetscCall(MatDuplicate(((PC_GPUFSAI *)pc->data)->inverse.matrix, MAT_COPY_VALUES, &G));
      PetscCall(PCDestroy(&pc));
    }
    PetscCall(MatDestroy(&G));
  }
  PetscCall(PetscOptionsClearValue(NULL, "-pc_gpufsai_threads"));
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
    PetscCall(TestCases(&grid, types[t], t ? MAT_GPUCSR_STORAGE_DOUBLE : MAT_GPUCSR_STORAGE_SINGLE));
    if (t < 4) PetscCall(TestCases(&blocks, types[t], MAT_GPUCSR_STORAGE_DOUBLE));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "factors and their application: equal to dense references\n"));
  for (size_t k = 0; k < 6; k++) PetscCall(TestReuse(&Cases[k]));
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
