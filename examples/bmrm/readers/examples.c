/* Examples: creates the solver's matrix, labels and queries from the examples of a file. */
#include <gpucsr.h>
#include "examples.h"

/* Gets the labels of training data in ascending order; the examples own the array. two: exactly two labels are required. */
PetscErrorCode BMRMExamplesGetClasses(const BMRMExamples *ex, PetscBool two, PetscInt *n, const PetscReal *classes[])
{
  PetscFunctionBegin;
  PetscCheck(ex->nclass != 1, ex->comm, PETSC_ERR_FILE_UNEXPECTED, "%s: all labels are %.15g, expected %s classes", ex->file, (double)ex->classes[0], two ? "two" : "several");
  PetscCheck(!two || ex->nclass == 2, ex->comm, PETSC_ERR_FILE_UNEXPECTED, "%s: expected two classes, got more: %.15g (line %" PetscInt64_FMT "), %.15g (line %" PetscInt64_FMT "), %.15g (line %" PetscInt64_FMT ")%s", ex->file, (double)ex->classes[0],
             ex->classline[0], (double)ex->classes[1], ex->classline[1], (double)ex->classes[2], ex->classline[2], ex->nclass > 3 ? ", ..." : "");
  PetscCheck(ex->nclass <= BMRM_MAX_CLASSES, ex->comm, PETSC_ERR_FILE_UNEXPECTED, "%s: there are more than %d different labels: these are not classes", ex->file, BMRM_MAX_CLASSES);
  *n       = ex->nclass;
  *classes = ex->classes;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Checks that all labels are among the n ascending labels of a model. known: whether they are; NULL: a label that the model does not have is an
   error. */
PetscErrorCode BMRMExamplesCheckClasses(const BMRMExamples *ex, PetscInt n, const PetscReal classes[], PetscBool *known)
{
  char names[128];

  PetscFunctionBegin;
  if (known) *known = PETSC_TRUE;
  if (n == 2) PetscCall(PetscSNPrintf(names, sizeof(names), "neither of the model's %.15g and %.15g", (double)classes[0], (double)classes[1]));
  else PetscCall(PetscSNPrintf(names, sizeof(names), "none of the model's %" PetscInt_FMT " from %.15g to %.15g", n, (double)classes[0], (double)classes[n - 1]));
  for (PetscInt k = 0; k < ex->nclass; k++) {
    if (BMRMFindLabel(ex->classes[k], n, classes) >= 0) continue;
    PetscCheck(known, ex->comm, PETSC_ERR_FILE_UNEXPECTED, "%s:%" PetscInt64_FMT ": label %.15g is %s", ex->file, ex->classline[k], (double)ex->classes[k], names);
    *known = PETSC_FALSE;
    break;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes the matrix own an array: it is freed together with the matrix. */
static PetscErrorCode BMRMComposeArray(Mat A, const char name[], void *array)
{
  PetscContainer container;

  PetscFunctionBegin;
  PetscCall(PetscContainerCreate(PETSC_COMM_SELF, &container));
  PetscCall(PetscContainerSetPointer(container, array));
  PetscCall(GpCompatContainerSetFree(container));
  PetscCall(PetscObjectCompose((PetscObject)A, name, (PetscObject)container));
  PetscCall(PetscContainerDestroy(&container));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BMRMComposeRows(Mat A, PetscInt *i, PetscInt *j, PetscScalar *a)
{
  PetscFunctionBegin;
  PetscCall(BMRMComposeArray(A, "BMRMExamples_i", i));
  PetscCall(BMRMComposeArray(A, "BMRMExamples_j", j));
  PetscCall(BMRMComposeArray(A, "BMRMExamples_a", a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Returns the position of the first column of a row that is not below a limit. Columns of a row ascend. */
static inline PetscInt BMRMFindColumn(const PetscInt j[], PetscInt from, PetscInt end, PetscInt limit)
{
  while (from < end && j[from] < limit) from++;
  return from;
}

static inline void BMRMCopyEntries(const BMRMExamples *ex, PetscInt from, PetscInt end, PetscInt cstart, PetscInt j[], PetscScalar a[])
{
  for (PetscInt k = from; k < end; k++) {
    j[k - from] = ex->j[k] - cstart;
    a[k - from] = ex->a[k];
  }
}

/* Separates the columns [cstart, cend) from the others. Memory is returned to the system as soon as it has been copied, so that at most one piece exists twice.
   If memory does not suffice, the examples are not changed. */
static PetscErrorCode BMRMSplitColumns(BMRMExamples *ex, PetscInt cstart, PetscInt cend, PetscInt *i[2], PetscInt *j[2], PetscScalar *a[2])
{
  const PetscInt piece = 1 << 16, m = ex->m;
  PetscInt       given = 0, entries[2];
  PetscErrorCode err   = PETSC_SUCCESS;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(m + 1, &i[1]));
  i[1][0] = 0;
  for (PetscInt row = 0, k = 0; row < m; row++) {
    const PetscInt end = ex->i[row + 1], low = BMRMFindColumn(ex->j, k, end, cstart), high = BMRMFindColumn(ex->j, low, end, cend);

    i[1][row + 1] = i[1][row] + end - k - (high - low);
    k             = end;
  }
  entries[1] = i[1][m];
  entries[0] = ex->i[m] - entries[1];
  for (int side = 0; side < 2; side++) {
    j[side] = NULL;
    a[side] = NULL;
    if (!err) err = PetscMalloc1(entries[side], &j[side]);
    if (!err) err = PetscMalloc1(entries[side], &a[side]);
  }
  if (err) {
    PetscCall(PetscFree(i[1]));
    for (int side = 0; side < 2; side++) {
      PetscCall(PetscFree(j[side]));
      PetscCall(PetscFree(a[side]));
    }
    PetscCall(err);
  }
  for (int side = 0; side < 2; side++) {
    BMRMWantLargePages(j[side], (size_t)entries[side] * sizeof(**j));
    BMRMWantLargePages(a[side], (size_t)entries[side] * sizeof(**a));
  }
  i[0] = ex->i;
  for (PetscInt row = 1; row <= m; row++) i[0][row] -= i[1][row];
  for (PetscInt row = 0, k = 0; row < m; row++) {
    const PetscInt end = i[0][row + 1] + i[1][row + 1], low = BMRMFindColumn(ex->j, k, end, cstart), high = low + i[0][row + 1] - i[0][row], to = i[1][row];

    BMRMCopyEntries(ex, k, low, 0, j[1] + to, a[1] + to);
    BMRMCopyEntries(ex, low, high, cstart, j[0] + i[0][row], a[0] + i[0][row]);
    BMRMCopyEntries(ex, high, end, 0, j[1] + to + (low - k), a[1] + to + (low - k));
    k = end;
    if (k - given < piece) continue;
    BMRMGiveBackPages(ex->j + given, (size_t)(k - given) * sizeof(**j));
    BMRMGiveBackPages(ex->a + given, (size_t)(k - given) * sizeof(**a));
    given = k;
  }
  ex->i = NULL;
  PetscCall(PetscFree(ex->j));
  PetscCall(PetscFree(ex->a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates an AIJ matrix that uses the arrays of the examples without a copy. */
static PetscErrorCode BMRMCreateAIJ(BMRMExamples *ex, PetscInt N, PetscBool mpi, Mat *X)
{
  PetscInt    *i[2], *j[2], n = PETSC_DECIDE, cend = 0;
  PetscScalar *a[2];
  Mat          A, B;

  PetscFunctionBegin;
  if (!mpi) {
    PetscCall(MatCreateSeqAIJWithArrays(ex->comm, ex->m, N, ex->i, ex->j, ex->a, X));
    PetscCall(BMRMComposeRows(*X, ex->i, ex->j, ex->a));
    ex->i = NULL;
    ex->j = NULL;
    ex->a = NULL;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscSplitOwnership(ex->comm, &n, &N));
  PetscCallMPI(MPI_Scan(&n, &cend, 1, MPIU_INT, MPI_SUM, ex->comm));
  PetscCall(BMRMSplitColumns(ex, cend - n, cend, i, j, a));
  PetscCall(MatCreateMPIAIJWithSplitArrays(ex->comm, ex->m, n, ex->M, N, i[0], j[0], a[0], i[1], j[1], a[1], X));
  PetscCall(MatMPIAIJGetSeqAIJ(*X, &A, &B, NULL));
  PetscCall(BMRMComposeRows(A, i[0], j[0], a[0]));
  PetscCall(BMRMComposeRows(B, i[1], j[1], a[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates the matrix with one example a row and N columns, which are at least the largest index; PETSC_DECIDE stands for that. type: used without
   -mat_type. The examples have no features afterwards, because an AIJ matrix takes over these arrays without a copy. */
PetscErrorCode BMRMExamplesCreateMat(BMRMExamples *ex, PetscInt N, MatType type, Mat *X)
{
  char        name[64];
  PetscBool   mpi, aij, gpucsr;
  PetscMPIInt size;

  PetscFunctionBegin;
  if (N == PETSC_DECIDE) N = ex->N;
  PetscCheck(N >= ex->N, ex->comm, PETSC_ERR_ARG_SIZ, "%s has %" PetscInt_FMT " features, only %" PetscInt_FMT " are known", ex->file, ex->N, N);
  PetscCall(PetscStrncpy(name, type, sizeof(name)));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-mat_type", name, sizeof(name), NULL));
  PetscCallMPI(MPI_Comm_size(ex->comm, &size));
  PetscCall(PetscStrbeginswith(name, "mpi", &mpi));
  PetscCall(BMRMCreateAIJ(ex, N, (PetscBool)(mpi || size > 1), X));
  PetscCall(PetscStrInList(name, MATAIJ "," MATSEQAIJ "," MATMPIAIJ, ',', &aij));
  PetscCall(PetscStrendswith(name, MATGPUCSR, &gpucsr));
  if (gpucsr) PetscCall(MatConvert(*X, name, MAT_INPLACE_MATRIX, X)); /* the conversion keeps the arrays */
  else if (!aij) {
    Mat other;

    PetscCall(MatConvert(*X, name, MAT_INITIAL_MATRIX, &other));
    PetscCall(MatDestroy(X));
    *X = other;
  }
  PetscCall(MatSetFromOptions(*X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Appends a feature with the same value to every example, for a bias. n: number of features before the new one, at least the largest index. */
PetscErrorCode BMRMExamplesAppendFeature(BMRMExamples *ex, PetscInt n, PetscReal value)
{
  const PetscInt nz = ex->m ? ex->i[ex->m] : 0;

  PetscFunctionBegin;
  PetscCheck((PetscInt64)nz + ex->m < PETSC_MAX_INT, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "The number of entries on a rank exceeds PetscInt: use more ranks or a PETSc with 64-bit indices");
  PetscCall(PetscRealloc((size_t)(nz + ex->m) * sizeof(*ex->j), &ex->j));
  PetscCall(PetscRealloc((size_t)(nz + ex->m) * sizeof(*ex->a), &ex->a));
  for (PetscInt row = ex->m - 1; row >= 0; row--) { /* from the last row to the first, so that no entry is overwritten before it has moved */
    const PetscInt from = ex->i[row], length = ex->i[row + 1] - from, to = from + row;

    PetscCall(PetscArraymove(ex->j + to, ex->j + from, length));
    PetscCall(PetscArraymove(ex->a + to, ex->a + from, length));
    ex->j[to + length] = n;
    ex->a[to + length] = value;
  }
  for (PetscInt row = 1; row <= ex->m; row++) ex->i[row] += row;
  ex->N = n + 1;
  ex->nnz += ex->M;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Divides every example by its Euclidean norm. An example without features is not changed. */
PetscErrorCode BMRMExamplesNormalizeRows(BMRMExamples *ex)
{
  PetscFunctionBegin;
  for (PetscInt row = 0; row < ex->m; row++) {
    PetscReal largest = 0, sum = 0;

    for (PetscInt k = ex->i[row]; k < ex->i[row + 1]; k++) largest = PetscMax(largest, PetscAbsScalar(ex->a[k]));
    if (largest == 0) continue;
    for (PetscInt k = ex->i[row]; k < ex->i[row + 1]; k++) sum += PetscSqr(PetscRealPart(ex->a[k]) / largest); /* the division avoids overflow and underflow */
    for (PetscInt k = ex->i[row]; k < ex->i[row + 1]; k++) ex->a[k] = ex->a[k] / largest / PetscSqrtReal(sum);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Divides every one of N features by its largest absolute value, and returns the divisors, to be freed with PetscFree(); 1 for a feature that is
   always zero. The weight of a scaled feature, divided by the divisor, is the weight of the original feature. */
PetscErrorCode BMRMExamplesScaleColumns(BMRMExamples *ex, PetscInt N, PetscReal *largest[])
{
  PetscReal  *max;
  PetscMPIInt n;

  PetscFunctionBegin;
  PetscCall(PetscMPIIntCast(N, &n));
  PetscCall(PetscCalloc1(N, &max));
  for (PetscInt k = 0; k < ex->i[ex->m]; k++) max[ex->j[k]] = PetscMax(max[ex->j[k]], PetscAbsScalar(ex->a[k]));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, max, n, MPIU_REAL, MPIU_MAX, ex->comm));
  for (PetscInt j = 0; j < N; j++) max[j] = max[j] == 0 ? 1 : max[j];
  for (PetscInt k = 0; k < ex->i[ex->m]; k++) ex->a[k] /= max[ex->j[k]];
  *largest = max;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates the vector of labels in the form that the solver expects. classes: the n labels of the classes in ascending order; n is 0 if labels are
   numbers, which are copied. signs: +1 for the second of two classes, -1 for the first, 0 for any other label. Without signs: the number of the
   class, counted from 0, and -1 for any other label. */
PetscErrorCode BMRMExamplesCreateLabels(const BMRMExamples *ex, PetscInt n, const PetscReal classes[], PetscBool signs, Mat X, Vec *y)
{
  PetscScalar *ya;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(X, NULL, y));
  PetscCall(VecGetArrayWrite(*y, &ya));
  for (PetscInt i = 0; i < ex->m; i++) {
    const PetscInt k = BMRMFindLabel(ex->label[i], n, classes);

    if (signs) ya[i] = k < 0 ? 0 : 2 * k - 1;
    else ya[i] = n ? k : ex->label[i];
  }
  PetscCall(VecRestoreArrayWrite(*y, &ya));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates the vector of the numbers after qid:, NULL if the file has none. */
PetscErrorCode BMRMExamplesCreateQueries(const BMRMExamples *ex, Mat X, Vec *queries)
{
  PetscScalar *qa;

  PetscFunctionBegin;
  *queries = NULL;
  if (!ex->ranked) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatCreateVecs(X, NULL, queries));
  PetscCall(VecGetArrayWrite(*queries, &qa));
  for (PetscInt i = 0; i < ex->m; i++) qa[i] = ex->query[i];
  PetscCall(VecRestoreArrayWrite(*queries, &qa));
  PetscFunctionReturn(PETSC_SUCCESS);
}
