static char help[] = "Approximate solves with ILU(0) and ICC(0) factors agree with dense references.\n\n";

#define _GNU_SOURCE
#include "gpucsr.h"
#include "gpucsrcompat.h"
#include "expect.h"
#include "refused.h"
#include <petscksp.h>
#include <sched.h>

#define MOST 64 /* maximum number of rows of a matrix with a dense reference */

static PetscReal Tolerance = 1e-12;

typedef double Dense[MOST][MOST];

/* One case: how a matrix is factorised and how the triangles are solved. */
typedef struct {
  PetscInt          n;
  PetscBool         icc;
  MatGPUCSRTrisolve trisolve;
  PetscInt          sweeps;
  char              where[160];
} Case;

/* --- matrices -------------------------------------------------------------------------------------------------------------------- */

/* An n by n grid. Unless it is symmetric, the columns are permuted if shift is not 0: column j becomes column (j + shift) modulo the number of rows. */
static PetscErrorCode Create(MatType type, PetscInt n, PetscBool symmetric, PetscInt shift, Mat *A)
{
  const PetscInt di[] = {0, -1, 1, 0, 0, 1}, dj[] = {0, 0, 0, -1, 1, 1}, size = n * n;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_SELF, A));
  PetscCall(MatSetSizes(*A, size, size, size, size));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSetOption(*A, MAT_USE_INODES, PETSC_FALSE)); /* rows of one pattern would have to stay together in the orderings */
  PetscCall(MatSeqAIJSetPreallocation(*A, 7, NULL));
  for (PetscInt row = 0; row < size; row++) {
    PetscCall(MatSetValue(*A, row, row, 0.01, INSERT_VALUES)); /* PETSc's ILU needs the entry, also if the permuted matrix has another diagonal */
    for (int k = 0; k < (symmetric ? 5 : 6); k++) {            /* the sixth neighbour makes the pattern unsymmetric */
      const PetscInt i = row % n + di[k], j = row / n + dj[k], column = i + n * j;

      if (i < 0 || i >= n || j < 0 || j >= n) continue;
      PetscCall(MatSetValue(*A, row, (column + shift) % size, k ? -0.7 - 0.1 * PetscSinReal(1.0 + PetscMin(row, column)) - (symmetric ? 0 : 0.2 * PetscCosReal((PetscReal)row)) : 4.5 + row % 3 / 3.0, INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The orderings of a matrix whose columns were permuted by Create(). */
static PetscErrorCode Order(PetscInt n, PetscBool symmetric, PetscInt shift, MatOrderingType type, IS *row, IS *column)
{
  const PetscInt *index;
  PetscInt       *moved;
  Mat             A;

  PetscFunctionBeginUser;
  PetscCall(Create(MATSEQAIJ, n, symmetric, 0, &A));
  PetscCall(MatGetOrdering(A, type, row, column));
  PetscCall(MatDestroy(&A));
  if (!shift) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(n * n, &moved));
  PetscCall(ISGetIndices(*column, &index));
  for (PetscInt k = 0; k < n * n; k++) moved[k] = (index[k] + shift) % (n * n);
  PetscCall(ISRestoreIndices(*column, &index));
  PetscCall(ISDestroy(column));
  PetscCall(ISCreateGeneral(PETSC_COMM_SELF, n * n, moved, PETSC_OWN_POINTER, column));
  PetscCall(ISSetPermutation(*column));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --- dense reference ------------------------------------------------------------------------------------------------------------- */

/* ILU(0) of the matrix with permuted rows and columns: the unit triangle L, the inverse d of the diagonal of U, and the unit triangle d U. */
static PetscErrorCode FactorDense(Mat A, IS rows, IS columns, Dense L, Dense U, double d[])
{
  const PetscInt    *row, *column, *cols;
  const PetscScalar *vals;
  static Dense       F;
  PetscInt           n, length, place[MOST];

  PetscFunctionBeginUser;
  PetscCall(MatGetLocalSize(A, &n, NULL));
  PetscCall(PetscArrayzero(&F[0][0], MOST * MOST));
  PetscCall(ISGetIndices(rows, &row));
  PetscCall(ISGetIndices(columns, &column));
  for (PetscInt k = 0; k < n; k++) place[column[k]] = k;
  for (PetscInt i = 0; i < n; i++) {
    PetscCall(MatGetRow(A, row[i], &length, &cols, &vals));
    for (PetscInt k = 0; k < length; k++) F[i][place[cols[k]]] = vals[k];
    PetscCall(MatRestoreRow(A, row[i], &length, &cols, &vals));
  }
  PetscCall(ISRestoreIndices(rows, &row));
  PetscCall(ISRestoreIndices(columns, &column));
  for (PetscInt i = 0; i < n; i++) {
    for (PetscInt k = 0; k < i; k++) {
      if (F[i][k] == 0) continue;
      F[i][k] /= F[k][k];
      for (PetscInt j = k + 1; j < n; j++) {
        if (F[i][j] != 0) F[i][j] -= F[i][k] * F[k][j];
      }
    }
  }
  for (PetscInt i = 0; i < n; i++) {
    d[i] = 1 / F[i][i];
    for (PetscInt j = 0; j < n; j++) {
      L[i][j] = i == j ? 1 : j < i ? F[i][j] : 0;
      U[i][j] = i == j ? 1 : j > i ? F[i][j] * d[i] : 0;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The approximate inverse with the pattern of T: each row by Gaussian elimination with pivoting. */
static void InvertDense(PetscInt n, Dense T, Dense M)
{
  for (PetscInt i = 0; i < n; i++) {
    static Dense S;
    PetscInt     J[MOST], many = 0;

    for (PetscInt j = 0; j < n; j++) {
      M[i][j] = 0;
      if (T[i][j] != 0) J[many++] = j;
    }
    for (PetscInt a = 0; a < many; a++) { /* T(J,J)' m = e, with the right-hand side as last column */
      for (PetscInt b = 0; b < many; b++) S[a][b] = T[J[b]][J[a]];
      S[a][many] = J[a] == i;
    }
    for (PetscInt a = 0; a < many; a++) {
      PetscInt pivot = a;

      for (PetscInt b = a; b < many; b++) pivot = PetscAbsReal(S[b][a]) > PetscAbsReal(S[pivot][a]) ? b : pivot;
      for (PetscInt c = 0; c <= many; c++) {
        const double t = S[a][c];

        S[a][c]     = S[pivot][c];
        S[pivot][c] = t;
      }
      for (PetscInt b = 0; b < many; b++) {
        const double factor = S[b][a] / S[a][a];

        for (PetscInt c = a; c <= many && b != a; c++) S[b][c] -= factor * S[a][c];
      }
    }
    for (PetscInt a = 0; a < many; a++) M[i][J[a]] = S[a][many] / S[a][a];
  }
}

static void Multiply(PetscInt n, Dense T, PetscBool transpose, const double x[], double y[])
{
  for (PetscInt i = 0; i < n; i++) {
    y[i] = 0;
    for (PetscInt j = 0; j < n; j++) y[i] += (transpose ? T[j][i] : T[i][j]) * x[j];
  }
}

/* The sweeps of a unit triangle T, or of its transpose: x = M b, x = x + M (b - T x). M is the identity for Jacobi's method. */
static void SweepDense(const Case *c, Dense T, PetscBool transpose, double x[])
{
  static Dense M;
  double       b[MOST], r[MOST], z[MOST];

  if (c->trisolve == MAT_GPUCSR_TRISOLVE_ISAI) InvertDense(c->n, T, M);
  else {
    for (PetscInt i = 0; i < c->n; i++) {
      for (PetscInt j = 0; j < c->n; j++) M[i][j] = i == j;
    }
  }
  for (PetscInt i = 0; i < c->n; i++) b[i] = x[i];
  Multiply(c->n, M, transpose, b, x);
  for (PetscInt k = 1; k < c->sweeps; k++) {
    Multiply(c->n, T, transpose, x, r);
    for (PetscInt i = 0; i < c->n; i++) r[i] = b[i] - r[i];
    Multiply(c->n, M, transpose, r, z);
    for (PetscInt i = 0; i < c->n; i++) x[i] += z[i];
  }
}

typedef enum {
  SOLVE,
  TRANSPOSE,
  FORWARD,
  BACKWARD,
  KINDS
} Kind;

static const char *const KindNames[] = {"MatSolve", "MatSolveTranspose", "MatForwardSolve", "MatBackwardSolve"};

static PetscErrorCode SolveDense(const Case *c, Kind kind, Dense L, Dense U, const double d[], IS rows, IS columns, const PetscScalar b[], PetscScalar x[])
{
  const PetscInt *row, *column, *in, *out;
  double          w[MOST];

  PetscFunctionBeginUser;
  PetscCall(ISGetIndices(rows, &row));
  PetscCall(ISGetIndices(columns, &column));
  in  = kind == TRANSPOSE ? column : row;
  out = kind == TRANSPOSE ? row : column;
  for (PetscInt k = 0; k < c->n; k++) w[k] = b[kind == BACKWARD ? k : in[k]];
  if (kind == TRANSPOSE || (c->icc && kind != BACKWARD)) SweepDense(c, U, PETSC_TRUE, w);
  if (kind == SOLVE && !c->icc) SweepDense(c, L, PETSC_FALSE, w);
  for (PetscInt k = 0; k < c->n; k++) w[k] *= kind < FORWARD ? d[k] : PetscSqrtReal(d[k]);
  if ((kind == SOLVE || kind == BACKWARD || c->icc) && kind != FORWARD) SweepDense(c, U, PETSC_FALSE, w);
  if (kind == TRANSPOSE && !c->icc) SweepDense(c, L, PETSC_TRUE, w);
  for (PetscInt k = 0; k < c->n; k++) x[kind == FORWARD ? k : out[k]] = w[k];
  PetscCall(ISRestoreIndices(rows, &row));
  PetscCall(ISRestoreIndices(columns, &column));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --- comparisons ----------------------------------------------------------------------------------------------------------------- */

static PetscErrorCode Solve(Mat F, Kind kind, Vec b, Vec x)
{
  PetscFunctionBeginUser;
  if (kind == SOLVE) PetscCall(MatSolve(F, b, x));
  if (kind == TRANSPOSE) PetscCall(MatSolveTranspose(F, b, x));
  if (kind == FORWARD) PetscCall(MatForwardSolve(F, b, x));
  if (kind == BACKWARD) PetscCall(MatBackwardSolve(F, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Compare(const Case *c, Mat A, Mat F, IS rows, IS columns)
{
  static Dense       L, U;
  double             d[MOST];
  PetscScalar        e[MOST];
  const PetscScalar *a;
  Vec                b, x;

  PetscFunctionBeginUser;
  PetscCall(FactorDense(A, rows, columns, L, U, d));
  PetscCall(VecCreate(PETSC_COMM_SELF, &b));
  PetscCall(VecSetSizes(b, c->n, c->n));
  PetscCall(VecSetType(b, VECGPU));
  PetscCall(VecDuplicate(b, &x));
  for (PetscInt i = 0; i < c->n; i++) PetscCall(VecSetValue(b, i, 1 + PetscSinReal((PetscReal)i), INSERT_VALUES));
  for (int kind = 0; kind < (c->icc ? KINDS : FORWARD); kind++) {
    PetscReal error = 0, size = 0;

    PetscCall(VecGetArrayRead(b, &a));
    PetscCall(SolveDense(c, (Kind)kind, L, U, d, rows, columns, a, e));
    PetscCall(VecRestoreArrayRead(b, &a));
    PetscCall(VecSet(x, 7));
    PetscCall(Solve(F, (Kind)kind, b, x));
    PetscCall(VecGetArrayRead(x, &a));
    for (PetscInt i = 0; i < c->n; i++) {
      error = PetscMax(error, PetscIsInfOrNanScalar(a[i]) ? PETSC_MAX_REAL : PetscAbsScalar(a[i] - e[i]));
      size  = PetscMax(size, PetscAbsScalar(e[i]));
    }
    PetscCall(VecRestoreArrayRead(x, &a));
    PetscCall(Expect((PetscBool)(error <= Tolerance * size), KindNames[kind], c->where));
  }
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Symbolic(Mat A, PetscBool icc, IS rows, IS columns, MatFactorInfo *info, Mat *F)
{
  PetscFunctionBeginUser;
  PetscCall(MatFactorInfoInitialize(info));
  info->fill      = 3;
  info->zeropivot = 100 * PETSC_MACHINE_EPSILON;
  PetscCall(MatGetFactor(A, MATSOLVERGPUCSR, icc ? MAT_FACTOR_ICC : MAT_FACTOR_ILU, F));
  if (icc) PetscCall(MatICCFactorSymbolic(*F, A, rows, info));
  else PetscCall(MatILUFactorSymbolic(*F, A, rows, columns, info));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One factor. Between its numeric factorisations, the method, the number of sweeps and the values change. */
static PetscErrorCode RunMatrix(PetscInt n, PetscBool icc, PetscInt shift, MatOrderingType ordering)
{
  static const MatGPUCSRTrisolve methods[] = {MAT_GPUCSR_TRISOLVE_JACOBI, MAT_GPUCSR_TRISOLVE_ISAI, MAT_GPUCSR_TRISOLVE_ISAI, MAT_GPUCSR_TRISOLVE_EXACT, MAT_GPUCSR_TRISOLVE_ISAI, MAT_GPUCSR_TRISOLVE_JACOBI, MAT_GPUCSR_TRISOLVE_JACOBI};
  static const PetscInt          sweeps[]  = {2, 1, 3, MOST, 2, 1, 4};
  MatFactorInfo                  info;
  IS                             rows, columns;
  Mat                            A, F;

  PetscFunctionBeginUser;
  PetscCall(Create(MATSEQAIJGPUCSR, n, icc, shift, &A));
  PetscCall(Order(n, icc, shift, ordering, &rows, &columns));
  PetscCall(Symbolic(A, icc, rows, columns, &info, &F));
  for (int round = 0; round < 7; round++) {
    Case c = {n * n, icc, methods[round], sweeps[round], ""};

    PetscCall(PetscSNPrintf(c.where, sizeof(c.where), "size %d, %s, columns moved by %d, %s, round %d: %s, %d sweeps", (int)n, icc ? "ICC" : "ILU", (int)shift, ordering, round, MatGPUCSRTrisolves[c.trisolve], (int)c.sweeps));
    if (round % 2) PetscCall(MatScale(A, 1.5));
    if (round == 4 && !shift) PetscCall(MatShift(A, 1.5));
    PetscCall(MatGPUCSRSetTrisolve(A, c.trisolve));
    PetscCall(MatGPUCSRSetTrisolveSweeps(A, c.sweeps));
    if (icc) PetscCall(MatCholeskyFactorNumeric(F, A, &info));
    else PetscCall(MatLUFactorNumeric(F, A, &info));
    PetscCall(Compare(&c, A, F, rows, columns));
  }
  PetscCall(MatDestroy(&F));
  PetscCall(ISDestroy(&rows));
  PetscCall(ISDestroy(&columns));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --- other tests ----------------------------------------------------------------------------------------------------------------- */

/* Solves with a large matrix, from which threads compute approximate inverses if the process may use several cores. */
static PetscErrorCode SolveLarge(PetscBool one, Vec b, Vec x)
{
  cpu_set_t     all, first;
  MatFactorInfo info;
  IS            rows, columns;
  Mat           A, F;

  PetscFunctionBeginUser;
  PetscCheck(!sched_getaffinity(0, sizeof(all), &all), PETSC_COMM_SELF, PETSC_ERR_SYS, "Cannot read the cores of this process");
  CPU_ZERO(&first);
  for (int core = 0; core < CPU_SETSIZE && !CPU_COUNT(&first); core++) {
    if (CPU_ISSET(core, &all)) CPU_SET(core, &first);
  }
  PetscCall(Create(MATSEQAIJGPUCSR, 200, PETSC_FALSE, 0, &A));
  PetscCall(Order(200, PETSC_FALSE, 0, MATORDERINGNATURAL, &rows, &columns));
  PetscCall(MatGPUCSRSetTrisolve(A, MAT_GPUCSR_TRISOLVE_ISAI));
  PetscCall(MatGPUCSRSetTrisolveSweeps(A, 2));
  PetscCall(Symbolic(A, PETSC_FALSE, rows, columns, &info, &F));
  PetscCall(MatLUFactorNumeric(F, A, &info));
  if (one) PetscCheck(!sched_setaffinity(0, sizeof(first), &first), PETSC_COMM_SELF, PETSC_ERR_SYS, "Cannot select a core");
  PetscCall(MatSolve(F, b, x));
  if (one) PetscCheck(!sched_setaffinity(0, sizeof(all), &all), PETSC_COMM_SELF, PETSC_ERR_SYS, "Cannot select the cores again");
  PetscCall(MatDestroy(&F));
  PetscCall(ISDestroy(&rows));
  PetscCall(ISDestroy(&columns));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RunThreads(void)
{
  Vec       b, x[2];
  PetscBool equal;

  PetscFunctionBeginUser;
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, 200 * 200, &b));
  for (int k = 0; k < 2; k++) PetscCall(VecDuplicate(b, &x[k]));
  PetscCall(VecSet(b, 1));
  for (int k = 0; k < 2; k++) PetscCall(SolveLarge((PetscBool)k, b, x[k]));
  PetscCall(VecEqual(x[0], x[1], &equal));
  PetscCall(Expect(equal, "one thread computes other bits than several", "a large matrix"));
  PetscCall(VecDestroy(&b));
  for (int k = 0; k < 2; k++) PetscCall(VecDestroy(&x[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* LU and Cholesky stay exact. */
static PetscErrorCode RunExact(void)
{
  MatFactorInfo info;
  IS            rows, columns;
  Mat           A, F;
  Vec           b, x, r;
  PetscReal     error;

  PetscFunctionBeginUser;
  PetscCall(MatFactorInfoInitialize(&info));
  info.fill      = 5;
  info.zeropivot = 100 * PETSC_MACHINE_EPSILON;
  for (int cholesky = 0; cholesky < 2; cholesky++) {
    PetscCall(Create(MATSEQAIJGPUCSR, 9, PETSC_TRUE, 0, &A));
    PetscCall(MatGPUCSRSetStorage(A, MAT_GPUCSR_STORAGE_DOUBLE));
    PetscCall(MatGPUCSRSetTrisolve(A, MAT_GPUCSR_TRISOLVE_JACOBI));
    PetscCall(MatGPUCSRSetTrisolveSweeps(A, 1));
    PetscCall(MatGetOrdering(A, MATORDERINGRCM, &rows, &columns));
    PetscCall(MatGetFactor(A, MATSOLVERGPUCSR, cholesky ? MAT_FACTOR_CHOLESKY : MAT_FACTOR_LU, &F));
    if (cholesky) PetscCall(MatCholeskyFactorSymbolic(F, A, rows, &info));
    else PetscCall(MatLUFactorSymbolic(F, A, rows, columns, &info));
    if (cholesky) PetscCall(MatCholeskyFactorNumeric(F, A, &info));
    else PetscCall(MatLUFactorNumeric(F, A, &info));
    PetscCall(MatCreateVecs(A, &x, &b));
    PetscCall(VecDuplicate(b, &r));
    PetscCall(VecSet(b, 1));
    PetscCall(MatSolve(F, b, x));
    PetscCall(MatMult(A, x, r));
    PetscCall(VecAXPY(r, -1, b));
    PetscCall(VecNorm(r, NORM_INFINITY, &error));
    PetscCall(Expect((PetscBool)(error < 1e-12), "the solve is not exact", cholesky ? "Cholesky" : "LU"));
    PetscCall(VecDestroy(&b));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&r));
    PetscCall(MatDestroy(&F));
    PetscCall(ISDestroy(&rows));
    PetscCall(ISDestroy(&columns));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RunErrors(void)
{
  MatFactorInfo info;
  IS            rows, columns;
  Mat           A, F;
  Vec           b, x;

  PetscFunctionBeginUser;
  PetscCall(Create(MATSEQAIJ, 2, PETSC_TRUE, 0, &A));
  Refused("seqaij is not a gpucsr matrix", MatGPUCSRSetTrisolve(A, MAT_GPUCSR_TRISOLVE_JACOBI));
  PetscCall(MatDestroy(&A));
  PetscCall(Create(MATSEQAIJGPUCSR, 2, PETSC_FALSE, 0, &A));
  Refused("Unknown MatGPUCSRTrisolve", MatGPUCSRSetTrisolve(A, (MatGPUCSRTrisolve)3));
  Refused("give a number from 0 to 1024", MatGPUCSRSetTrisolveSweeps(A, -1));
  Refused("give a number from 0 to 1024", MatGPUCSRSetTrisolveSweeps(A, 1025));
  PetscCall(MatSetValue(A, 1, 0, 1e60, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatGPUCSRSetFactorStorage(A, MAT_GPUCSR_FACTOR_STORAGE_SINGLE));
  PetscCall(MatGetOrdering(A, MATORDERINGNATURAL, &rows, &columns));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1));
  for (int k = 0; k < 2; k++) {
    PetscCall(MatGPUCSRSetTrisolve(A, k ? MAT_GPUCSR_TRISOLVE_ISAI : MAT_GPUCSR_TRISOLVE_JACOBI));
    PetscCall(Symbolic(A, PETSC_FALSE, rows, columns, &info, &F));
    PetscCall(MatLUFactorNumeric(F, A, &info));
    Refused("use -mat_gpucsr_factor_storage double", MatSolve(F, b, x));
    PetscCall(MatDestroy(&F));
  }
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(ISDestroy(&rows));
  PetscCall(ISDestroy(&columns));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static const char *const orderings[] = {MATORDERINGNATURAL, MATORDERINGRCM, MATORDERINGMULTICOLOR};
  static const PetscInt    sizes[]     = {1, 2, 3, 7};

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-tolerance", &Tolerance, NULL));
  for (int s = 0; s < 4; s++) {
    for (int o = 0; o < 3; o++) {
      PetscCall(RunMatrix(sizes[s], PETSC_TRUE, 0, orderings[o]));
      PetscCall(RunMatrix(sizes[s], PETSC_FALSE, 0, orderings[o]));
      if (s) PetscCall(RunMatrix(sizes[s], PETSC_FALSE, 3, orderings[o]));
    }
  }
  PetscCall(RunThreads());
  PetscCall(RunExact());
  PetscCall(RunErrors());
  PetscCall(PetscPrintf(PETSC_COMM_SELF, Failures ? "%d failures\n" : "all solves agree\n", (int)Failures));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    suffix: double
    args: -mat_gpucsr_storage double -vec_gpu_separate

  test:
    suffix: single
    args: -mat_gpucsr_storage double -mat_gpucsr_factor_storage single -tolerance 1e-5 -vec_gpu_separate
    output_file: output/trisolve_approx_double.out

TEST*/
