/* Selection of columns, and the check that all values are finite. */
#include "points.h"
#include "app/text/appcollective.h"
#include <petscbt.h>
#include <stdlib.h>

/* Parses numbers and ranges such as 0,3-7, each below d and given once. An empty text stands for all columns. The array is to be freed, also after an error. */
PetscErrorCode PointSetParseColumns(MPI_Comm comm, const char text[], PetscInt d, PetscInt *n, PetscInt **columns)
{
  const char *at   = text;
  PetscBool   good = PETSC_TRUE;
  PetscBT     seen;

  PetscFunctionBegin;
  *n = 0;
  PetscCall(PetscMalloc1(d, columns));
  for (PetscInt j = 0; j < d && !text[0]; j++) (*columns)[(*n)++] = j;
  PetscCall(PetscBTCreate(d, &seen));
  while (*at && good) {
    char     *after;
    long long from = strtoll(at, &after, 10), to = from;

    good = (PetscBool)(after > at);
    if (good && *after == '-') {
      at   = after + 1;
      to   = strtoll(at, &after, 10);
      good = (PetscBool)(after > at);
    }
    good = (PetscBool)(good && (!*after || (*after == ',' && after[1])) && from >= 0 && to >= from && to < d);
    for (; good && from <= to; from++) {
      good = (PetscBool)!PetscBTLookupSet(seen, from);
      if (good) (*columns)[(*n)++] = (PetscInt)from;
    }
    at = *after ? after + 1 : after;
  }
  PetscCall(PetscBTDestroy(&seen));
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

/* Refuses the first row of this rank with a value that is not finite. columns: numbers of the columns in the file. */
static PetscErrorCode PointSetCheckFinite(const char file[], const PetscInt columns[], Mat X)
{
  PetscInt       start, end;
  GpAppComplaint wrong = {0};

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(X, &start, &end));
  for (PetscInt i = start; i < end && !wrong.code; i++) {
    const PetscInt    *col;
    const PetscScalar *value;
    PetscInt           n;

    PetscCall(MatGetRow(X, i, &n, &col, &value));
    for (PetscInt k = 0; k < n; k++)
      if (PetscIsInfOrNanScalar(value[k]))
        GpAppComplainAbout(&wrong, PETSC_ERR_FILE_UNEXPECTED, 0, "the value in row %" PetscInt_FMT ", column %" PetscInt_FMT " (counted from 0) is %s: leave out the row or the column", i, columns[col[k]],
                           PetscIsNanScalar(value[k]) ? "NaN" : "infinite");
    PetscCall(MatRestoreRow(X, i, &n, &col, &value));
  }
  PetscCall(GpAppComplaintRaise(PetscObjectComm((PetscObject)X), file, &wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Keeps the columns that the option names, and checks that their values are finite. */
PetscErrorCode PointSetSelectColumns(MPI_Comm comm, const PointSetOptions *o, Mat *X)
{
  PetscInt       N, d, n, *columns = NULL;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(MatGetSize(*X, &N, &d));
  PetscCheck(N > 0 && d > 0, comm, PETSC_ERR_FILE_UNEXPECTED, "%s: a matrix of %" PetscInt_FMT " x %" PetscInt_FMT " holds no points", o->file, N, d);
  ierr = PointSetParseColumns(comm, o->columns, d, &n, &columns);
  if (!ierr && o->columns[0]) ierr = PointSetKeepColumns(n, columns, X);
  if (!ierr) ierr = PointSetCheckFinite(o->file, columns, *X);
  PetscCall(PetscFree(columns));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}
