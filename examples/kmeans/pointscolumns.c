/* Selection of columns, and the check that all values are finite. */
#include "points.h"
#include "app/libsvm/applibsvm.h"
#include "app/text/appscan.h"

/* Parses the next number or range before a comma. Returns what follows it, or NULL if it is malformed or a number is not below d. */
static const char *PointSetParseRange(const char *at, PetscInt d, PetscInt64 *from, PetscInt64 *to)
{
  at  = GpAppScanId(at, from);
  *to = *from;
  if (at && *at == '-') at = GpAppScanId(at + 1, to);
  if (!at || (*at && *at != ',') || (*at && !at[1]) || *to < *from || *to >= d) return NULL;
  return *at ? at + 1 : at;
}

/* Parses numbers and ranges such as 0,3-7, each below d and given once. NULL, and n = d: an empty text, which stands for all columns. */
PetscErrorCode PointSetParseColumns(MPI_Comm comm, const char text[], PetscInt d, PetscInt *n, PetscInt **columns)
{
  PetscInt64  from, to, all = 0;
  PetscInt   *sorted;
  PetscBool   good = PETSC_TRUE;
  const char *at   = text;

  PetscFunctionBegin;
  *n       = d;
  *columns = NULL;
  if (!text[0]) PetscFunctionReturn(PETSC_SUCCESS);
  for (; at && *at && all <= d; all += to - from + 1) {
    at = PointSetParseRange(at, d, &from, &to);
    if (!at) break;
  }
  good = (PetscBool)(at && all <= d);
  if (good) {
    *n = 0;
    PetscCall(PetscMalloc1(all, columns));
    for (at = text; *at;)
      for (at = PointSetParseRange(at, d, &from, &to); from <= to; from++) (*columns)[(*n)++] = (PetscInt)from;
    PetscCall(PetscMalloc1(all, &sorted));
    PetscCall(PetscArraycpy(sorted, *columns, all));
    PetscCall(PetscSortInt(*n, sorted));
    for (PetscInt c = 1; c < *n; c++) good = (PetscBool)(good && sorted[c] > sorted[c - 1]);
    PetscCall(PetscFree(sorted));
  }
  if (!good) PetscCall(PetscFree(*columns));
  PetscCheck(good, comm, PETSC_ERR_USER_INPUT, "-columns %s: the points have columns 0 to %" PetscInt_FMT "; give each at most once, as numbers or ranges such as 0,3-7", text, d - 1);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Keeps n columns. The rows stay on their ranks. */
static PetscErrorCode PointSetKeepColumns(PetscInt n, const PetscInt columns[], Mat *X)
{
  MPI_Comm comm = PetscObjectComm((PetscObject)*X);
  PetscInt start, end, local = PETSC_DECIDE, before = 0, all = n;
  IS       rows, cols;
  Mat      Y;

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(*X, &start, &end));
  PetscCall(PetscSplitOwnership(comm, &local, &all));
  PetscCallMPI(MPI_Scan(&local, &before, 1, MPIU_INT, MPI_SUM, comm));
  PetscCall(ISCreateStride(comm, end - start, start, 1, &rows));
  PetscCall(ISCreateGeneral(comm, local, columns + before - local, PETSC_COPY_VALUES, &cols));
  PetscCall(MatCreateSubMatrix(*X, rows, cols, MAT_INITIAL_MATRIX, &Y));
  PetscCall(ISDestroy(&rows));
  PetscCall(ISDestroy(&cols));
  PetscCall(MatDestroy(X));
  *X = Y;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Tells whether a dense matrix on this rank is known to be finite, because the rows of a dense matrix take long to get. */
static PetscErrorCode PointSetIsFinite(Mat X, PetscBool *finite)
{
  const PetscScalar *a;
  PetscInt           m, d, lda;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)X, finite, MATSEQDENSE, MATMPIDENSE, ""));
  if (!*finite) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetLocalSize(X, &m, NULL));
  PetscCall(MatGetSize(X, NULL, &d));
  PetscCall(MatDenseGetLDA(X, &lda));
  PetscCall(MatDenseGetArrayRead(X, &a));
  for (PetscInt j = 0; j < d; j++)
    for (PetscInt i = 0; i < m; i++) *finite = (PetscBool)(*finite & (PetscAbsScalar(a[i + (size_t)j * lda]) <= PETSC_MAX_REAL));
  PetscCall(MatDenseRestoreArrayRead(X, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Refuses the first row of this rank with a value that is not finite. columns: numbers of the columns in the file; NULL: all. */
static PetscErrorCode PointSetCheckFinite(const char file[], const PetscInt columns[], Mat X)
{
  PetscInt       start, end;
  GpAppComplaint wrong = {0};
  PetscBool      finite;

  PetscFunctionBegin;
  PetscCall(PointSetIsFinite(X, &finite));
  PetscCall(MatGetOwnershipRange(X, &start, &end));
  for (PetscInt i = start; i < end && !finite && !wrong.code; i++) {
    const PetscInt    *col;
    const PetscScalar *value;
    PetscInt           n;

    PetscCall(MatGetRow(X, i, &n, &col, &value));
    for (PetscInt k = 0; k < n; k++)
      if (PetscIsInfOrNanScalar(value[k]))
        GpAppComplainAbout(&wrong, PETSC_ERR_FILE_UNEXPECTED, 0, "the value in row %" PetscInt_FMT ", column %" PetscInt_FMT " (counted from 0) is %s: leave out the row or the column", i, columns ? columns[col[k]] : col[k],
                           PetscIsNanScalar(value[k]) ? "NaN" : "infinite");
    PetscCall(MatRestoreRow(X, i, &n, &col, &value));
  }
  PetscCall(GpAppComplaintRaise(PetscObjectComm((PetscObject)X), file, &wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Refuses sparse points with so many features that the centroids would take most of the memory. */
static PetscErrorCode PointSetCheckFeatures(const char file[], Mat X)
{
  PetscInt d;
  MatInfo  info;

  PetscFunctionBegin;
  PetscCall(MatGetSize(X, NULL, &d));
  PetscCall(MatGetInfo(X, MAT_GLOBAL_SUM, &info));
  PetscCheck(GpAppFeaturesFit(d, (PetscInt64)info.nz_used, 0), PetscObjectComm((PetscObject)X), PETSC_ERR_FILE_UNEXPECTED, "%s: %" PetscInt_FMT " features in data of %.0f entries: every centroid would take %.1f GiB; check the number of columns",
             file, d, (double)info.nz_used, (double)d * (double)sizeof(PetscScalar) / 1073741824.);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Keeps the columns that the option names, and checks that their values are finite. */
PetscErrorCode PointSetSelectColumns(MPI_Comm comm, const PointSetOptions *o, Mat *X)
{
  PetscInt       N, d, n, *columns;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(MatGetSize(*X, &N, &d));
  PetscCheck(N > 0 && d > 0, comm, PETSC_ERR_FILE_UNEXPECTED, "%s: a matrix of %" PetscInt_FMT " x %" PetscInt_FMT " holds no points", o->file, N, d);
  PetscCall(PointSetCheckFeatures(o->file, *X));
  ierr = PointSetParseColumns(comm, o->columns, d, &n, &columns);
  if (!ierr && o->columns[0]) ierr = PointSetKeepColumns(n, columns, X);
  if (!ierr) ierr = PointSetCheckFinite(o->file, columns, *X);
  PetscCall(PetscFree(columns));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}
