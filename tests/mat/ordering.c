static char help[] = "The ordering multicolor is a proper greedy colouring, with few levels.\n\n";

#include "gpucsr.h"
#include "gpucsrcompat.h"
#include "expect.h"
#include "refused.h"
#include <petscksp.h>

enum {
  STENCIL,  /* 7-point stencil */
  SKEW,     /* 7-point stencil with unequal couplings */
  RANDOM,   /* pattern that is not symmetric; some rows are empty, some have no diagonal entry */
  UPPER,    /* entries above the diagonal only */
  DENSE,    /* every entry */
  DIAGONAL, /* the diagonal alone */
  ZERO,     /* no entry */
  PAIRS,    /* 7-point stencil of pairs of rows with one pattern */
  EMPTY,    /* no row */
  MATRICES
};

static const char *const Names[] = {"stencil", "skew", "random", "upper", "dense", "diagonal", "zero", "pairs", "empty"};

/* The value of an entry of a matrix of n^3 points; 0: there is no entry. */
static PetscScalar Entry(int kind, PetscInt n, PetscInt row, PetscInt column)
{
  const PetscInt i = kind == PAIRS ? row / 2 : row, j = kind == PAIRS ? column / 2 : column, hash = (row * 7919 + column * 104729 + row * column) % 101;
  const PetscInt d = PetscAbsInt(i % n - j % n) + PetscAbsInt(i / n % n - j / n % n) + PetscAbsInt(i / n / n - j / n / n);

  switch (kind) {
  case STENCIL:
    return d == 0 ? 6.1 + 0.1 * (i % 3) : d == 1 ? -1 - 0.1 * ((i + j) % 4) : 0;
  case SKEW:
    return d == 0 ? 6.5 : d == 1 ? (j > i ? -0.6 : -1.2) - 0.1 * ((i + j) % 3) : 0;
  case PAIRS:
    return row == column ? 9 : d == 0 ? 0.7 : d == 1 ? -0.5 : 0;
  case RANDOM:
    return row % 11 && hash < 6 && (row != column || row % 5) ? 1 + hash : 0;
  case UPPER:
    return column > row && hash < 6 ? 1 : 0;
  case DENSE:
    return row == column ? n * n * n : 0.5;
  case DIAGONAL:
    return row == column ? 2 : 0;
  }
  return 0;
}

static PetscErrorCode Create(MatType type, int kind, PetscInt n, Mat *A)
{
  const PetscInt size = kind == EMPTY ? 0 : (kind == PAIRS ? 2 : 1) * n * n * n;
  Mat            C;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_SELF, &C));
  PetscCall(MatSetSizes(C, size, size, size, size));
  PetscCall(MatSetType(C, MATSEQAIJ));
  PetscCall(MatSeqAIJSetPreallocation(C, kind == DENSE || kind == RANDOM || kind == UPPER ? size : 14, NULL));
  if (kind != PAIRS) PetscCall(MatSetOption(C, MAT_USE_INODES, PETSC_FALSE));
  for (PetscInt row = 0; row < size; row++) {
    for (PetscInt column = 0; column < size; column++) {
      const PetscScalar v = Entry(kind, n, row, column);

      if (v != 0) PetscCall(MatSetValue(C, row, column, v, INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(C, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(C, MAT_FINAL_ASSEMBLY));
  if (kind == STENCIL) PetscCall(MatSetOption(C, MAT_SYMMETRIC, PETSC_TRUE)); /* a conversion to MATSEQSBAIJ needs this */
  PetscCall(MatConvert(C, type, MAT_INITIAL_MATRIX, A));
  PetscCall(MatDestroy(&C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Greedy colours of the vertices, by a search of all pairs. */
static PetscInt Colour(int kind, PetscInt n, PetscInt vertices, PetscInt step, PetscInt colour[], PetscBool used[])
{
  PetscInt colours = 0;

  for (PetscInt v = 0; v < vertices; v++) {
    for (PetscInt c = 0; c <= v; c++) used[c] = PETSC_FALSE;
    for (PetscInt w = 0; w < v; w++) {
      if (Entry(kind, n, step * v, step * w) != 0 || Entry(kind, n, step * w, step * v) != 0) used[colour[w]] = PETSC_TRUE;
    }
    for (colour[v] = 0; used[colour[v]]; colour[v]++) {}
    colours = PetscMax(colours, colour[v] + 1);
  }
  return colours;
}

/* Compares an ordering with one that a search of all pairs finds.  step: number of consecutive rows with one pattern */
static PetscErrorCode Compare(int kind, PetscInt n, PetscInt size, PetscInt step, IS row, IS column, PetscInt *colours, const char where[])
{
  const PetscInt  vertices = size / step;
  const PetscInt *order;
  PetscInt       *colour, next = 0, length;
  PetscBool      *used, same   = PETSC_TRUE, equal;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(vertices + 1, &colour, vertices + 1, &used));
  *colours = Colour(kind, n, vertices, step, colour, used);
  PetscCall(ISGetLocalSize(row, &length));
  PetscCall(Expect((PetscBool)(length == size), "the permutation has another length", where));
  PetscCall(ISEqual(row, column, &equal));
  PetscCall(Expect(equal, "rows and columns have different permutations", where));
  PetscCall(ISGetIndices(row, &order));
  for (PetscInt c = 0; c < *colours && length == size; c++) {
    for (PetscInt v = 0; v < vertices; v++) {
      for (PetscInt s = 0; s < step && colour[v] == c; s++) same = (PetscBool)(same && order[next++] == step * v + s);
    }
  }
  PetscCall(Expect((PetscBool)(same && next == size), "the order is not that of the colours", where));
  PetscCall(ISRestoreIndices(row, &order));
  PetscCall(PetscFree2(colour, used));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Number of levels of the strict lower (which = 0) or upper triangle of the permuted matrix. */
static PetscErrorCode CountLevels(Mat A, IS order, int which, PetscInt *levels)
{
  Mat             P;
  PetscInt        n, *level;
  const PetscInt *i, *j;
  PetscBool       done;

  PetscFunctionBeginUser;
  *levels = 0;
  PetscCall(MatPermute(A, order, order, &P));
  PetscCall(MatGetRowIJ(P, 0, PETSC_FALSE, PETSC_FALSE, &n, &i, &j, &done));
  PetscCall(PetscCalloc1(n, &level));
  for (PetscInt k = 0; k < n; k++) {
    const PetscInt row = which ? n - 1 - k : k;

    for (PetscInt e = i[row]; e < i[row + 1]; e++) {
      if (which ? j[e] > row : j[e] < row) level[row] = PetscMax(level[row], level[j[e]] + 1);
    }
    *levels = PetscMax(*levels, level[row] + 1);
  }
  PetscCall(PetscFree(level));
  PetscCall(MatRestoreRowIJ(P, 0, PETSC_FALSE, PETSC_FALSE, &n, &i, &j, &done));
  PetscCall(MatDestroy(&P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RunMatrix(MatType type, int kind, PetscInt n)
{
  Mat      A;
  IS       row, column;
  PetscInt size, colours, levels;
  char     where[64];

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(where, sizeof(where), "%s, %s, size %d", type, Names[kind], (int)n));
  PetscCall(Create(type, kind, n, &A));
  PetscCall(MatGetLocalSize(A, &size, NULL));
  PetscCall(MatGetOrdering(A, MATORDERINGMULTICOLOR, &row, &column));
  if (size) {
    PetscCall(Compare(kind, n, size, kind == PAIRS ? 2 : 1, row, column, &colours, where));
    if (n > 1 && (kind == STENCIL || kind == SKEW)) PetscCall(Expect((PetscBool)(colours == 2), "the stencil does not have two colours", where));
    for (int which = 0; which < 2 && kind != PAIRS && kind != RANDOM && kind != UPPER; which++) {
      PetscCall(CountLevels(A, row, which, &levels));
      PetscCall(Expect((PetscBool)(levels == colours), which ? "the upper triangle has another number of levels than colours" : "the lower triangle has another number of levels than colours", where));
    }
  } else {
    PetscCall(ISGetLocalSize(row, &size));
    PetscCall(Expect((PetscBool)!size, "the permutation of an empty matrix is not empty", where));
  }
  PetscCall(ISDestroy(&row));
  PetscCall(ISDestroy(&column));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Types whose rows MatGetRowIJ() returns as blocks, or without their lower triangle. */
static PetscErrorCode RunTypes(void)
{
  static const MatType types[] = {MATSEQBAIJ, MATSEQSBAIJ};
  Mat                  A;
  IS                   row, column;
  PetscInt             colours;

  PetscFunctionBeginUser;
  for (int t = 0; t < 2; t++) {
    PetscCall(Create(types[t], STENCIL, 3, &A));
    PetscCall(MatGetOrdering(A, MATORDERINGMULTICOLOR, &row, &column));
    PetscCall(Compare(STENCIL, 3, 27, 1, row, column, &colours, types[t]));
    PetscCall(ISDestroy(&row));
    PetscCall(ISDestroy(&column));
    PetscCall(MatDestroy(&A));
  }
  PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, 4, 4, NULL, &A));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  Refused("seqdense", MatGetOrdering(A, MATORDERINGMULTICOLOR, &row, &column));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Iterations of a Krylov method with a factor as preconditioner. */
static PetscErrorCode Iterate(Mat A, PCType pctype, MatOrderingType ordering, MatSolverType solver, PetscInt *its)
{
  KSP ksp;
  PC  pc;
  Vec b, x;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPGMRES));
  PetscCall(KSPSetTolerances(ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, pctype));
  PetscCall(PCFactorSetMatOrderingType(pc, ordering));
  PetscCall(PCFactorSetMatSolverType(pc, solver));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, its));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RunSolves(PetscInt n, PetscBool table)
{
  static const char *const orderings[] = {MATORDERINGNATURAL, MATORDERINGRCM, MATORDERINGMULTICOLOR};
  static const int         kinds[]     = {STENCIL, SKEW, PAIRS, DENSE};
  PetscInt                 its[2], levels;
  Mat                      A, P;
  IS                       row, column;
  char                     where[64];

  PetscFunctionBeginUser;
  for (int k = 0; k < 4; k++) {
    for (int icc = 0; icc < (kinds[k] == SKEW ? 1 : 2); icc++) {
      PetscCall(Create(MATSEQAIJGPUCSR, kinds[k], kinds[k] == DENSE ? 3 : n, &A));
      PetscCall(Create(MATSEQAIJ, kinds[k], kinds[k] == DENSE ? 3 : n, &P));
      PetscCall(MatGPUCSRSetStorage(A, MAT_GPUCSR_STORAGE_DOUBLE));
      for (int o = 0; o < 3; o++) {
        PetscCall(PetscSNPrintf(where, sizeof(where), "%s, %s, %s", Names[kinds[k]], icc ? "ICC(0)" : "ILU(0)", orderings[o]));
        PetscCall(Iterate(A, icc ? PCICC : PCILU, orderings[o], MATSOLVERGPUCSR, &its[0]));
        PetscCall(Iterate(P, icc ? PCICC : PCILU, orderings[o], MATSOLVERPETSC, &its[1]));
        PetscCall(Expect((PetscBool)(PetscAbsInt(its[0] - its[1]) <= 1 && its[0] > 0), "the numbers of iterations of gpucsr and AIJ differ", where));
        PetscCall(MatGetOrdering(P, orderings[o], &row, &column));
        PetscCall(CountLevels(P, row, 0, &levels));
        if (table) PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s: %d levels, %d iterations\n", where, (int)levels, (int)its[0]));
        PetscCall(ISDestroy(&row));
        PetscCall(ISDestroy(&column));
      }
      PetscCall(MatDestroy(&A));
      PetscCall(MatDestroy(&P));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static const MatType types[] = {MATSEQAIJ, MATSEQAIJGPUCSR};
  PetscInt             n       = 6; /* size of the problems that are solved; with -table their iterations are printed */
  PetscBool            table   = PETSC_FALSE;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-table", &table, NULL));
  for (int t = 0; t < 2; t++) {
    for (int kind = 0; kind < MATRICES; kind++) {
      for (PetscInt size = 1; size <= 5; size += 2) PetscCall(RunMatrix(types[t], kind, size));
    }
  }
  PetscCall(RunTypes());
  PetscCall(RunSolves(n, table));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, Failures ? "%d failures\n" : "all orderings are right\n", (int)Failures));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    suffix: multicolor

TEST*/
