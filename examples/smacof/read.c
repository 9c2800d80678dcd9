/* Reads dissimilarities or weights from a file into a PETSc matrix: dense, or sparse with the listed pairs. */
#include "smacof.h"
#include "app/market/appmarket.h"
#include "app/text/appcollective.h"
#include <string.h>

#define POINTS_FREE 65536 /* maximum number of points of a list beyond two for each pair; more points indicate a wrong number in the file */

/* Creates a dense matrix from a Matrix Market array. */
static PetscErrorCode ReadDenseFromMarket(const GpAppMarket *M, Mat *A)
{
  PetscFunctionBegin;
  PetscCall(MatCreateDense(M->comm, PETSC_DECIDE, PETSC_DECIDE, (PetscInt)M->N, (PetscInt)M->N, NULL, A));
  for (PetscInt64 k = 0; k < M->n; k++) {
    PetscCall(MatSetValue(*A, (PetscInt)M->i[k], (PetscInt)M->j[k], M->a[k], INSERT_VALUES));
    if (M->symmetric) PetscCall(MatSetValue(*A, (PetscInt)M->j[k], (PetscInt)M->i[k], M->a[k], INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finds a column whose heading is the name of another row: rows and columns are then in different orders.  Both are counted from 0; column is -1 if
   there is none. */
static PetscErrorCode ReadFindSwapped(const GpAppTable *T, const char names[], PetscInt *column, PetscInt *row)
{
  const char *at = names;
  Names       index;

  PetscFunctionBegin;
  *column = -1;
  if (!names || !T->heading || T->shape != GP_TABLE_RECTANGLE) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(NamesCreate(T->N, names, &index));
  for (PetscInt i = 0; i < T->N && *column < 0; i++, at += strlen(at) + 1)
    if (strcmp(at, T->heading[i]) && (*row = NamesFind(&index, T->heading[i])) >= 0) *column = i; /* a heading without a row of this name is accepted: R changes headings when it writes a table */
  PetscCall(NamesDestroy(&index));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds the name of the first row, which a strict lower triangle lacks: the first heading, or 0. */
static PetscErrorCode ReadAddFirstName(const GpAppTable *T, char **names)
{
  const char  *first = T->heading ? T->heading[0] : "0", *at = *names;
  const size_t n = strlen(first) + 1;
  size_t       bytes;
  char        *all;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < T->N; i++) at += strlen(at) + 1;
  bytes = (size_t)(at - *names);
  PetscCall(PetscMalloc1(n + bytes, &all));
  memcpy(all, first, n);
  memcpy(all + n, *names, bytes);
  PetscCall(PetscFree(*names));
  *names = all;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether the last numbers of all lines of a triangle are equal, as on the diagonal of a correlation matrix. Collective. */
static PetscErrorCode ReadHasConstantEnds(const GpAppTable *T, PetscBool *constant)
{
  PetscReal range[2] = {PETSC_MIN_REAL, PETSC_MIN_REAL}; /* the largest number, and minus the smallest one */

  PetscFunctionBegin;
  for (PetscInt k = 0; k < T->rows; k++) {
    const PetscReal end = T->value[(size_t)k * (size_t)T->cols + (size_t)(T->first + k)];

    range[0] = PetscMax(range[0], end);
    range[1] = PetscMax(range[1], -end);
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, range, 2, MPIU_REAL, MPIU_MAX, T->comm));
  *constant = (PetscBool)(T->N > 1 && range[0] == -range[1]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates a dense matrix from a square table or a lower triangle.  Entries above a triangle are NaN, so that the lower entry counts for both. */
static PetscErrorCode ReadDenseFromTable(GpAppTable *T, PetscBool similar, Mat *A, char **names)
{
  const PetscInt from1 = T->shape == GP_TABLE_STRICT_FROM1, N = T->N + from1;
  PetscInt      *columns, column, swapped = 0, rows;
  PetscBool      constant = PETSC_FALSE;
  PetscScalar   *a;

  PetscFunctionBegin;
  TABLE_CHECK(T, T->cols == N - (T->shape == GP_TABLE_STRICT_FROM0) - from1 || T->shape == GP_TABLE_LOWER,
              "%s: %" PetscInt_FMT " rows of %" PetscInt_FMT " numbers%s%s: dissimilarities are a square matrix (use -features for vectors; -table_header and -table_names set whether there are headings and row names)", T->file, T->N, T->cols,
              T->heading ? " under headings" : "", T->named ? " behind names" : "");
  if (similar && from1) PetscCall(ReadHasConstantEnds(T, &constant));
  TABLE_CHECK(T, !constant, "%s: the last numbers of all lines are equal, so that this can be a triangle of similarities with its diagonal or without it: give the whole matrix", T->file);
  PetscCall(GpAppTableGatherNames(T, names));
  PetscCall(ReadFindSwapped(T, *names, &column, &swapped));
  if (column >= 0) PetscCall(PetscFree(*names));
  TABLE_CHECK(T, column < 0, "%s: column %" PetscInt_FMT " has the heading of row %" PetscInt_FMT " (counted from 1, without headings and names): write rows and columns in the same order", T->file, column + 1, swapped + 1);
  if (*names && from1) PetscCall(ReadAddFirstName(T, names));
  PetscCall(MatCreateDense(T->comm, PETSC_DECIDE, PETSC_DECIDE, N, N, NULL, A));
  PetscCall(MatGetLocalSize(*A, &rows, NULL));
  PetscCall(MatDenseGetArrayWrite(*A, &a));
  for (size_t k = 0; k < (size_t)rows * (size_t)N; k++) a[k] = NAN;
  PetscCall(MatDenseRestoreArrayWrite(*A, &a));
  PetscCall(PetscMalloc1(N, &columns));
  for (PetscInt j = 0; j < N; j++) columns[j] = j;
  for (PetscInt k = 0; k < T->rows; k++) {
    const PetscInt i = T->first + k + from1;

    PetscCall(MatSetValues(*A, 1, &i, T->cols, columns, T->value + (size_t)k * (size_t)T->cols, INSERT_VALUES));
  }
  PetscCall(PetscFree(columns));
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates a sparse matrix from n entries of this rank.  twice is the global number of entries at a position that another entry has too.  The contents of i and j are lost. */
static PetscErrorCode ReadCreateSparse(MPI_Comm comm, PetscInt N, PetscInt n, PetscInt i[], PetscInt j[], const PetscScalar v[], Mat *A, PetscInt *twice)
{
  PetscInt entries;
  MatInfo  info;

  PetscFunctionBegin;
  PetscCall(MatCreate(comm, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, N, N));
  PetscCall(MatSetType(*A, MATAIJ));
  PetscCall(MatSetPreallocationCOO(*A, n, i, j));
  PetscCall(MatSetValuesCOO(*A, v, INSERT_VALUES));
  PetscCallMPI(MPI_Allreduce(&n, &entries, 1, MPIU_INT, MPI_SUM, comm));
  PetscCall(MatGetInfo(*A, MAT_GLOBAL_SUM, &info));
  *twice = entries - (PetscInt)info.nz_used;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates a sparse matrix from the entries of a Matrix Market file. */
static PetscErrorCode ReadSparseFromMarket(const GpAppMarket *M, Mat *A, PetscInt *twice)
{
  PetscInt *i, *j;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(M->n, &i, M->n, &j));
  for (PetscInt64 k = 0; k < M->n; k++) {
    i[k] = (PetscInt)M->i[k];
    j[k] = (PetscInt)M->j[k];
  }
  PetscCall(ReadCreateSparse(M->comm, (PetscInt)M->N, (PetscInt)M->n, i, j, M->a, A, twice));
  PetscCall(PetscFree2(i, j));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads a Matrix Market file.  The format `array` gives a dense matrix, `coordinate` gives listed pairs. */
static PetscErrorCode ReadMarket(GpAppText *X, PetscBool nan_missing, Mat *A)
{
  MPI_Comm    comm = X->comm;
  char        file[PETSC_MAX_PATH_LEN], line[256];
  PetscInt    twice = 0;
  PetscInt64  free  = 0;
  const char *bad   = NULL;
  GpAppMarket M;

  PetscFunctionBegin;
  PetscCall(PetscStrncpy(file, X->file, sizeof(file)));
  PetscCall(GpAppMarketParse(X, GP_MARKET_SQUARE | (nan_missing ? GP_MARKET_NAN : 0), &M));
  PetscCall(GpAppTextDestroy(X));
  PetscCall(GpAppMarketDescribe(&M, line, sizeof(line)));
  PetscCall(PetscPrintf(comm, "%s: %s\n", file, line));
  if (!M.array && M.N > 2 * M.entries + POINTS_FREE) free = M.N;
  if (M.pattern || M.skew) bad = M.pattern ? "a pattern matrix has no values; dissimilarities need values" : "a skew-symmetric matrix cannot hold dissimilarities, which are symmetric";
  else if (M.array) PetscCall(ReadDenseFromMarket(&M, A));
  else if (!free) PetscCall(ReadSparseFromMarket(&M, A, &twice));
  PetscCall(GpAppMarketDestroy(&M));
  if (twice) PetscCall(MatDestroy(A));
  PetscCheck(!bad, comm, PETSC_ERR_FILE_UNEXPECTED, "%s:1: %s", file, bad);
  PetscCheck(!free, comm, PETSC_ERR_FILE_UNEXPECTED, "%s: %" PetscInt64_FMT " points (each vector of coordinates takes at least %.3g GB), but most points are in no pair: check the number of points", file, free, 16e-9 * (double)free);
  PetscCheck(!twice, comm, PETSC_ERR_FILE_UNEXPECTED, "%s: %" PetscInt_FMT " entries occur more than once in the file; remove the repetitions", file, twice);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates a sparse matrix of pairs with the values of a column of the table. */
static PetscErrorCode ReadSparseFromTable(const GpAppTable *T, PetscInt N, const PetscInt i[], const PetscInt j[], PetscInt column, Mat *A, PetscInt *twice)
{
  PetscScalar *v;
  PetscInt    *icopy, *jcopy;

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(T->rows, &v, T->rows, &icopy, T->rows, &jcopy));
  PetscCall(PetscArraycpy(icopy, i, T->rows));
  PetscCall(PetscArraycpy(jcopy, j, T->rows));
  for (PetscInt k = 0; k < T->rows; k++) v[k] = T->value[(size_t)k * (size_t)T->cols + (size_t)column];
  PetscCall(ReadCreateSparse(T->comm, N, T->rows, icopy, jcopy, v, A, twice));
  PetscCall(PetscFree3(v, icopy, jcopy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the points of each pair from their numbers; N becomes the number of points.  Collective. */
static PetscErrorCode ReadPairsByNumber(const GpAppTable *T, PetscInt i[], PetscInt j[], PetscInt *N, GpAppComplaint *C)
{
  PetscInt64 largest = 0;
  PetscInt   most;

  PetscFunctionBegin;
  *N = 0;
  for (PetscInt k = 0; k < T->rows && !C->code; k++) {
    const PetscReal *row = T->value + (size_t)k * (size_t)T->cols;

    for (int c = 0; c < 2; c++)
      if (!(row[c] >= 0 && row[c] <= PETSC_MPI_INT_MAX - 1 && row[c] == PetscFloorReal(row[c]))) GpAppComplainAbout(C, PETSC_ERR_FILE_UNEXPECTED, T->line[k], "expected two points, counted from 0, got %g", (double)row[c]);
    if (C->code) break;
    i[k] = (PetscInt)row[0];
    j[k] = (PetscInt)row[1];
    if (PetscMax(i[k], j[k]) >= *N) largest = T->line[k];
    *N = PetscMax(*N, PetscMax(i[k], j[k]) + 1);
  }
  PetscCallMPI(MPI_Allreduce(N, &most, 1, MPIU_INT, MPI_MAX, T->comm));
  if (*N == most && (PetscInt64)most > 2 * (PetscInt64)T->N + POINTS_FREE)
    GpAppComplainAbout(C, PETSC_ERR_FILE_UNEXPECTED, largest, "%" PetscInt_FMT " points (each vector of coordinates takes at least %.3g GB), but the %" PetscInt_FMT " pairs of the file have at most %" PetscInt64_FMT ": check the number of the point",
                       most, 16e-9 * (double)most, T->N, 2 * (PetscInt64)T->N);
  *N = most;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the points of each pair from their names, which are numbered in the order of their first occurrence.  Collective. */
static PetscErrorCode ReadPairsByName(const GpAppTable *T, PetscInt i[], PetscInt j[], PetscInt *N, char **names)
{
  GpAppNames  all = {0};
  PetscInt64 *number, p, q;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < T->rows; k++) {
    const char *const *word = T->word + k * T->ntext;

    PetscCall(GpAppNamesAdd(&all, word[0], strlen(word[0]), &p));
    PetscCall(GpAppNamesAdd(&all, word[1], strlen(word[1]), &q));
    i[k] = (PetscInt)p;
    j[k] = (PetscInt)q;
  }
  PetscCall(GpAppNamesMerge(T->comm, &all, &number));
  for (PetscInt k = 0; k < T->rows; k++) {
    i[k] = (PetscInt)number[i[k]];
    j[k] = (PetscInt)number[j[k]];
  }
  *N       = (PetscInt)all.n;
  *names   = all.text; /* the distinct names as consecutive strings */
  all.text = NULL;
  PetscCall(PetscFree(number));
  PetscCall(GpAppNamesDestroy(&all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates sparse matrices from lines <i> <j> <dissimilarity> [<weight>].  Points are names, or numbers counted from 0. */
static PetscErrorCode ReadPairsFromTable(GpAppTable *T, Mat *delta, Mat *weight, char **names)
{
  PetscInt       N, *i, *j, twice = 0;
  PetscBool      bad;
  GpAppComplaint C = {0};

  PetscFunctionBegin;
  TABLE_CHECK(T, T->cols == 3 || T->cols == 4, "%s: lines of %" PetscInt_FMT " fields; expected <i> <j> <dissimilarity> [<weight>]", T->file, T->cols);
  PetscCall(PetscMalloc2(T->rows, &i, T->rows, &j));
  if (T->ntext > 1) PetscCall(ReadPairsByName(T, i, j, &N, names));
  else PetscCall(ReadPairsByNumber(T, i, j, &N, &C));
  PetscCall(GpAppFindAny(T->comm, (PetscBool)(C.code != 0), &bad));
  if (!bad) PetscCall(ReadSparseFromTable(T, N, i, j, 2, delta, &twice));
  if (!bad && !twice && T->cols == 4) PetscCall(ReadSparseFromTable(T, N, i, j, 3, weight, &twice));
  PetscCall(PetscFree2(i, j));
  if (twice) PetscCall(MatDestroy(delta));
  if (twice) PetscCall(MatDestroy(weight));
  if (twice) PetscCall(PetscFree(*names));
  PetscCall(TableRaise(T, &C));
  TABLE_CHECK(T, !twice, "%s: %" PetscInt_FMT " entries occur more than once in the file; remove the repetitions", T->file, twice);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads dissimilarities or weights from a square matrix (table, Matrix Market or PETSc's binary format), or from a list of pairs, whose fourth column is the weight (else NULL).  The
   matrix is dense, or sparse if pairs are listed.  names are consecutive strings on every rank, NULL if the points have none.  In a file that is text a NaN of the matrix means a
   missing number.  Collective. */
PetscErrorCode MatReadDissimilarities(MPI_Comm comm, const char file[], PetscBool pairs, PetscBool nan_missing, PetscBool similar, const GpAppTableSpec *table, Mat *delta, Mat *weight, char **names, PetscBool *text)
{
  GpAppTableSpec spec = *table;
  PetscBool      binary, market;
  PetscInt       m, n;
  GpAppText      X;
  GpAppTable     T;

  PetscFunctionBegin;
  *delta  = NULL;
  *weight = NULL;
  *names  = NULL;
  PetscCall(GpAppIsBinary(comm, file, MAT_FILE_CLASSID, &binary, NULL));
  *text = (PetscBool)!binary;
  if (binary) {
    PetscCall(GpAppMatLoad(comm, file, NULL, delta));
    PetscCall(MatGetSize(*delta, &m, &n));
    if (m != n) PetscCall(MatDestroy(delta));
    PetscCheck(m == n, comm, PETSC_ERR_FILE_UNEXPECTED, "%s: a matrix of %" PetscInt_FMT " rows and %" PetscInt_FMT " columns; dissimilarities need a square matrix", file, m, n);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(GpAppTextRead(comm, file, &X));
  PetscCall(GpAppTextIsMarket(&X, &market));
  if (market) {
    PetscCall(ReadMarket(&X, nan_missing, delta));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  spec.nan_missing = nan_missing;
  spec.square      = (PetscBool)!pairs;
  if (pairs) {
    spec.names      = GP_TABLE_NO;
    spec.text_first = 2;
  }
  PetscCall(GpAppTableParse(&X, &spec, &T));
  PetscCall(GpAppTablePrint(&T));
  if (pairs) PetscCall(ReadPairsFromTable(&T, delta, weight, names));
  else PetscCall(ReadDenseFromTable(&T, similar, delta, names));
  PetscCall(GpAppTableDestroy(&T));
  PetscFunctionReturn(PETSC_SUCCESS);
}
