/* Dissimilarities from files as a PETSc matrix: dense, or sparse with the listed pairs. */
#include "smacof.h"

/* rows and columns of a dense matrix, or both triangles of one */
static PetscErrorCode DenseFromTable(const Table *T, Mat *A)
{
  const PetscInt   N        = T->market ? (PetscInt)T->sizes[0] : T->N;
  const PetscInt64 promised = T->symmetric ? (PetscInt64)N * (N + 1) / 2 : (PetscInt64)N * N;
  PetscInt        *columns;

  PetscFunctionBegin;
  if (T->market)
    PetscCheck(T->cols == 1 && T->N == promised, T->comm, PETSC_ERR_FILE_UNEXPECTED, "%s: the header promises %" PetscInt64_FMT " numbers, one a line, the file holds %" PetscInt_FMT " lines of %" PetscInt_FMT, T->file, promised, T->N, T->cols);
  else PetscCheck(T->cols == N, T->comm, PETSC_ERR_FILE_UNEXPECTED, "%s: %" PetscInt_FMT " rows of %" PetscInt_FMT " numbers: dissimilarities are a square matrix (-features reads vectors)", T->file, N, T->cols);
  PetscCall(MatCreateDense(T->comm, PETSC_DECIDE, PETSC_DECIDE, N, N, NULL, A));
  PetscCall(PetscMalloc1(N, &columns));
  for (PetscInt j = 0; j < N; j++) columns[j] = j;
  if (!T->market) {
    for (PetscInt k = 0; k < T->rows; k++) {
      const PetscInt i = T->first + k;

      PetscCall(MatSetValues(*A, 1, &i, N, columns, T->value + (size_t)k * N, INSERT_VALUES));
    }
  } else {
    PetscInt64 at = T->first, i, j = 0;

    /* by columns: entry (i, j) is number i + N j, of a lower triangle column j begins with its diagonal */
    if (T->symmetric) {
      for (; at >= N - j; j++) at -= N - j;
      i = j + at;
    } else {
      i = at % N;
      j = at / N;
    }
    for (PetscInt k = 0; k < T->rows; k++) {
      PetscCall(MatSetValue(*A, (PetscInt)i, (PetscInt)j, T->value[k], INSERT_VALUES));
      if (T->symmetric) PetscCall(MatSetValue(*A, (PetscInt)j, (PetscInt)i, T->value[k], INSERT_VALUES));
      if (++i < N) continue;
      j++;
      i = T->symmetric ? j : 0;
    }
  }
  PetscCall(PetscFree(columns));
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A sparse matrix of the entries, a column of the table its values */
static PetscErrorCode SparseFromTable(const Table *T, PetscInt N, PetscInt n, PetscInt i[], PetscInt j[], PetscInt column, Mat *A)
{
  PetscInt    *icopy, *jcopy; /* the preallocation changes them */
  PetscScalar *v;
  PetscInt     entries;
  MatInfo      info;

  PetscFunctionBegin;
  PetscCall(MatCreate(T->comm, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, N, N));
  PetscCall(MatSetType(*A, MATAIJ));
  PetscCall(PetscMalloc3(n, &icopy, n, &jcopy, n, &v));
  PetscCall(PetscArraycpy(icopy, i, n));
  PetscCall(PetscArraycpy(jcopy, j, n));
  for (PetscInt k = 0; k < n; k++) v[k] = T->value[(size_t)k * T->cols + column];
  PetscCall(MatSetPreallocationCOO(*A, n, icopy, jcopy));
  PetscCall(MatSetValuesCOO(*A, v, INSERT_VALUES));
  PetscCall(PetscFree3(icopy, jcopy, v));
  PetscCallMPI(MPI_Allreduce(&n, &entries, 1, MPIU_INT, MPI_SUM, T->comm));
  PetscCall(MatGetInfo(*A, MAT_GLOBAL_SUM, &info));
  PetscCheck((PetscInt)info.nz_used == entries, T->comm, PETSC_ERR_FILE_UNEXPECTED, "%s: %" PetscInt_FMT " entries stand more than once in the file", T->file, entries - (PetscInt)info.nz_used);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* pairs <i> <j> <dissimilarity> [<weight>], points counted from 0, of Matrix Market from 1 */
static PetscErrorCode PairsFromTable(const Table *T, Mat *delta, Mat *weight)
{
  const PetscInt base = T->market ? 1 : 0;
  PetscInt       N    = 0, *i, *j;
  GpAppComplaint C    = {0};

  PetscFunctionBegin;
  PetscCheck(T->cols == 3 || (T->cols == 4 && !T->market), T->comm, PETSC_ERR_FILE_UNEXPECTED, "%s: lines of %" PetscInt_FMT " numbers; expected <i> <j> <dissimilarity>%s", T->file, T->cols, T->market ? "" : " [<weight>]");
  PetscCheck(!T->market || T->N == T->sizes[2], T->comm, PETSC_ERR_FILE_UNEXPECTED, "%s: the header promises %" PetscInt64_FMT " entries, the file holds %" PetscInt_FMT, T->file, T->sizes[2], T->N);
  PetscCall(PetscMalloc2(T->rows, &i, T->rows, &j));
  for (PetscInt k = 0; k < T->rows; k++) {
    const PetscReal *row = T->value + (size_t)k * T->cols, limit = T->market ? (PetscReal)T->sizes[0] : PETSC_MPI_INT_MAX - 1;

    for (int c = 0; c < 2 && !C.line; c++)
      if (!(row[c] >= base && row[c] <= limit && row[c] == PetscFloorReal(row[c]))) {
        C.line = T->first + k + 1;
        (void)snprintf(C.what, sizeof(C.what), "entry %" PetscInt_FMT ": expected two points, counted from %" PetscInt_FMT "%s, got %g", T->first + k + 1, base, T->market ? " to the number of rows" : "", (double)row[c]);
      }
    if (C.line) break;
    i[k] = (PetscInt)row[0] - base;
    j[k] = (PetscInt)row[1] - base;
    N    = PetscMax(N, PetscMax(i[k], j[k]) + 1);
  }
  PetscCall(RaiseFirst(T->comm, &C, PETSC_ERR_FILE_UNEXPECTED, T->file));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &N, 1, MPIU_INT, MPI_MAX, T->comm));
  if (T->market) N = (PetscInt)T->sizes[0];
  PetscCall(SparseFromTable(T, N, T->rows, i, j, 2, delta));
  if (T->cols == 4) PetscCall(SparseFromTable(T, N, T->rows, i, j, 3, weight));
  PetscCall(PetscFree2(i, j));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  MatReadDissim - Reads dissimilarities, or weights

  Collective

  Input Parameters:
+ comm        - the communicator
. file        - a square matrix as CSV, Matrix Market or in PETSc's binary format, or a list of pairs
. pairs       - whether a text file is such a list
- nan_allowed - whether a number may be nan

  Output Parameters:
+ delta  - the matrix; dense, or sparse when it lists pairs
. weight - the fourth column of a list, else NULL
. names  - of the points, on the first rank, else NULL
- text   - whether the file is text, so that a NaN that was not allowed stands for an empty field
*/
PetscErrorCode MatReadDissim(MPI_Comm comm, const char file[], PetscBool pairs, PetscBool nan_allowed, Mat *delta, Mat *weight, char **names, PetscBool *text)
{
  PetscBool binary;
  PetscInt  m, n;
  Table     T;

  PetscFunctionBegin;
  *weight = NULL;
  *names  = NULL;
  PetscCall(GpAppIsBinary(comm, file, MAT_FILE_CLASSID, &binary, NULL));
  *text = (PetscBool)!binary;
  if (binary) {
    PetscCall(GpAppMatLoad(comm, file, NULL, delta));
    PetscCall(MatGetSize(*delta, &m, &n));
    if (m != n) PetscCall(MatDestroy(delta));
    PetscCheck(m == n, comm, PETSC_ERR_FILE_UNEXPECTED, "%s: a matrix of %" PetscInt_FMT " rows and %" PetscInt_FMT " columns: dissimilarities are square", file, m, n);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(TableRead(comm, file, nan_allowed, &T));
  if (pairs || T.coordinates) PetscCall(PairsFromTable(&T, delta, weight));
  else {
    PetscCall(DenseFromTable(&T, delta));
    PetscCall(TableNames(&T, names));
  }
  PetscCall(TableDestroy(&T));
  PetscFunctionReturn(PETSC_SUCCESS);
}
