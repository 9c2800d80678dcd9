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

/* Creates the matrix with one example a row and N columns, which are at least the largest index; PETSC_DECIDE stands for that. type: used without
   -mat_type. The examples have no features afterwards, because an AIJ matrix takes over these arrays without a copy. */
PetscErrorCode BMRMExamplesCreateMat(BMRMExamples *ex, PetscInt N, MatType type, Mat *X)
{
  GpAppRows   rows = {.comm = ex->comm, .m = ex->m, .M = ex->M, .i = ex->i, .j = ex->j, .a = ex->a};
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
  PetscCall(GpAppRowsCreateAIJ(&rows, N, (PetscBool)(mpi || size > 1), X));
  ex->i = NULL; /* the matrix has the arrays now */
  ex->j = NULL;
  ex->a = NULL;
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
