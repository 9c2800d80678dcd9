/* Rows of a matrix of points on the host: reading, checking, rounding. */
#include "kmeansrows.h"

#include <float.h>

#define KMEANS_ROWS_BLOCK 4096 /* number of values in a block */

/* What is wrong with a row. Ranks agree on the first such row, so that all raise the same error. */
typedef enum {
  KMEANS_ROW_GOOD,
  KMEANS_ROW_NOT_FINITE,
  KMEANS_ROW_UNSORTED,
  KMEANS_ROW_ZERO
} KMeansRowFault;

/* Raises the error of the first faulty row of all ranks. row: global number, or PETSC_MAX_INT if all local rows are good. */
static PetscErrorCode KMeansRowsRefuse(MPI_Comm comm, PetscInt row, PetscInt column, KMeansRowFault fault)
{
  PetscInt first, mine[2] = {-1, -1}, all[2];

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(&row, &first, 1, MPIU_INT, MPI_MIN, comm));
  if (first == PETSC_MAX_INT) PetscFunctionReturn(PETSC_SUCCESS);
  if (first == row) {
    mine[0] = column;
    mine[1] = (PetscInt)fault;
  }
  PetscCallMPI(MPI_Allreduce(mine, all, 2, MPIU_INT, MPI_MAX, comm));
  PetscCheck(all[1] != KMEANS_ROW_NOT_FINITE, comm, PETSC_ERR_USER_INPUT, "Points: row %" PetscInt_FMT ", column %" PetscInt_FMT " is not a finite number; remove or replace the point", first, all[0]);
  PetscCheck(all[1] != KMEANS_ROW_UNSORTED, comm, PETSC_ERR_USER_INPUT, "Points: row %" PetscInt_FMT ": column %" PetscInt_FMT " follows an equal or larger one; assemble the matrix with MatSetValues()", first, all[0]);
  SETERRQ(comm, PETSC_ERR_USER_INPUT, "Points: row %" PetscInt_FMT " (counted from 0) is zero and has no direction; remove it, or use the Euclidean metric", first);
}

/* Checks the entries of a row. at: column of the first faulty one. */
static KMeansRowFault KMeansRowCheck(PetscInt n, const PetscInt col[], const PetscScalar value[], PetscInt *at)
{
  for (PetscInt k = 0; k < n; k++) {
    *at = col[k];
    if (k && col[k] <= col[k - 1]) return KMEANS_ROW_UNSORTED;
    if (PetscIsInfOrNanScalar(value[k])) return KMEANS_ROW_NOT_FINITE;
  }
  return KMEANS_ROW_GOOD;
}

/* Scales a point to norm 1. Returns PETSC_FALSE for a zero point. */
static PetscBool KMeansScaleToNorm(size_t n, double value[])
{
  double largest = 0, sum = 0;

  for (size_t k = 0; k < n; k++) largest = PetscMax(largest, fabs(value[k]));
  if (largest == 0) return PETSC_FALSE;
  for (size_t k = 0; k < n; k++) { /* division by the largest value prevents overflow */
    value[k] /= largest;
    sum += value[k] * value[k];
  }
  for (size_t k = 0; k < n; k++) value[k] /= sqrt(sum);
  return PETSC_TRUE;
}

PetscErrorCode KMeansRowsDestroy_Private(KMeansRows *rows)
{
  PetscFunctionBegin;
  if (rows->X) PetscCall(MatDenseRestoreArrayRead(rows->X, &rows->array));
  rows->X = NULL;
  PetscCall(PetscFree(rows->range));
  PetscCall(PetscFree2(rows->row, rows->col));
  PetscCall(PetscFree(rows->value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gives access to the local rows of a dense matrix. For the Euclidean metric they stay there. For the cosine metric they are copied, because they will be scaled. Returns the first row
   with a value that is not finite, or -1, and the column of the value. */
static PetscErrorCode KMeansRowsOpenDense(KMeans km, Mat X, const PetscInt order[], KMeansRows *rows, PetscInt *faulty, PetscInt *at)
{
  PetscFunctionBegin;
  PetscCall(MatDenseGetLDA(X, &rows->lda));
  PetscCall(MatDenseGetArrayRead(X, &rows->array));
  rows->X     = X;
  rows->order = order;
  PetscCall(PetscMalloc1(2 * rows->d, &rows->range));
  PetscCall(KMeansRowsScan_Private(rows, (PetscBool)(km->storage == KMEANS_STORAGE_SINGLE), faulty, at));
  if (km->metric != KMEANS_METRIC_COSINE) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(rows->nvalues, &rows->value));
  KMeansRowsFill_Private(rows, 0, rows->nvalues, 0, rows->value);
  PetscCall(MatDenseRestoreArrayRead(X, &rows->array));
  rows->X = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the local rows of a sparse matrix. Returns the first row that has a fault, or -1, the fault, and its column. */
static PetscErrorCode KMeansRowsCopySparse(Mat X, const PetscInt order[], KMeansRows *rows, PetscInt *faulty, PetscInt *at, KMeansRowFault *fault)
{
  PetscInt start, nnz = 0;

  PetscFunctionBegin;
  *faulty = -1;
  PetscCall(MatGetOwnershipRange(X, &start, NULL));
  rows->row[0] = 0;
  for (PetscInt i = 0; i < rows->n; i++) {
    const PetscInt     row = start + (order ? order[i] : i);
    PetscInt           n;
    const PetscInt    *col;
    const PetscScalar *value;

    PetscCall(MatGetRow(X, row, &n, &col, &value));
    for (PetscInt k = 0; k < n; k++) {
      rows->value[nnz + k] = value[k];
      rows->col[nnz + k]   = (int32_t)col[k];
    }
    if (!*fault) *fault = KMeansRowCheck(n, col, value, at);
    if (*fault && *faulty < 0) *faulty = i;
    nnz += n;
    rows->row[i + 1] = (int32_t)nnz;
    PetscCall(MatRestoreRow(X, row, &n, &col, &value)); /* sets n to 0 */
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the local rows of a matrix, or gives access to them where they are. Scales them to norm 1 for the cosine metric. order: the local numbers of the rows in the order of
   the copies, or NULL; it must exist until KMeansRowsDestroy_Private(). */
PetscErrorCode KMeansRowsCreate_Private(KMeans km, Mat X, const PetscInt order[], KMeansRows *rows)
{
  PetscInt       start, end, faulty, at = 0;
  PetscInt64     nnz   = 0, most;
  KMeansRowFault fault = KMEANS_ROW_GOOD;
  MPI_Comm       comm;

  PetscFunctionBegin;
  PetscCall(PetscObjectGetComm((PetscObject)X, &comm));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)X, &rows->dense, MATSEQDENSE, MATMPIDENSE, MATSEQDENSECUDA, MATMPIDENSECUDA, ""));
  PetscCall(MatGetOwnershipRange(X, &start, &end));
  PetscCall(MatGetSize(X, NULL, &rows->d));
  rows->n = end - start;
  if (rows->dense) nnz = (PetscInt64)rows->n * rows->d;
  else {
    for (PetscInt i = start; i < end; i++) {
      PetscInt n;

      PetscCall(MatGetRow(X, i, &n, NULL, NULL));
      nnz += n;
      PetscCall(MatRestoreRow(X, i, &n, NULL, NULL));
    }
  }
  most = PetscMax(rows->dense ? 0 : nnz, PetscMax(rows->n, rows->d));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPIU_INT64, MPI_MAX, comm));
  PetscCheck(most < INT32_MAX, comm, PETSC_ERR_SUP, "KMeans: a rank has %" PetscInt64_FMT " points, features or nonzeros, more than 32 bits can count; use more ranks", most);
  rows->nvalues = (size_t)nnz;
  if (rows->dense) {
    PetscCall(KMeansRowsOpenDense(km, X, order, rows, &faulty, &at));
    if (faulty >= 0) fault = KMEANS_ROW_NOT_FINITE;
  } else {
    PetscCall(PetscMalloc2(rows->n + 1, &rows->row, nnz, &rows->col));
    PetscCall(PetscMalloc1(nnz, &rows->value));
    PetscCall(KMeansRowsCopySparse(X, order, rows, &faulty, &at, &fault));
  }
  for (PetscInt i = 0; km->metric == KMEANS_METRIC_COSINE && i < (fault ? faulty : rows->n); i++) {
    const size_t from = rows->dense ? (size_t)i * rows->d : (size_t)rows->row[i], to = rows->dense ? from + rows->d : (size_t)rows->row[i + 1];

    if (KMeansScaleToNorm(to - from, rows->value + from)) continue;
    faulty = i;
    fault  = KMEANS_ROW_ZERO;
  }
  PetscCall(KMeansRowsRefuse(comm, fault ? start + (order ? order[faulty] : faulty) : PETSC_MAX_INT, at, fault));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rounds the values to single precision, or has KMeansRowsFill_Private() round those of rows->X, if the storage asks for it, or if no value of any rank changes. */
PetscErrorCode KMeansRowsRound_Private(KMeans km, KMeansRows *rows, int *single)
{
  int exact = km->storage != KMEANS_STORAGE_DOUBLE;

  PetscFunctionBegin;
  if (rows->X && km->storage == KMEANS_STORAGE_AUTO) exact = rows->exact;
  for (size_t first = 0; first < rows->nvalues && !rows->X && exact && km->storage == KMEANS_STORAGE_AUTO; first += KMEANS_ROWS_BLOCK) { /* no exit within a block, which is vectorised */
    const size_t end = PetscMin(first + KMEANS_ROWS_BLOCK, rows->nvalues);

    for (size_t k = first; k < end; k++) exact &= (double)(float)rows->value[k] == rows->value[k];
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &exact, 1, MPI_INT, MPI_MIN, PetscObjectComm((PetscObject)km)));
  *single = exact;
  if (exact && km->storage == KMEANS_STORAGE_SINGLE && !rows->X)
    for (size_t k = 0; k < rows->nvalues; k++) rows->value[k] = (float)rows->value[k];
  PetscFunctionReturn(PETSC_SUCCESS);
}
