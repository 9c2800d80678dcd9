/* Examples in the Matrix Market format: a matrix in coordinates, or a dense one as an array, and a file with a label for each of its rows. */
#include "app/appmarket.h"
#include "app/appscan.h"
#include "libsvm.h"
#include <string.h>

/* The name up to ".mtx", if that is how it ends but for the ending of a compressed file; 0 for another. */
static size_t Stem(const char file[])
{
  const char *at = NULL, *p = file;

  while ((p = strstr(p, ".mtx"))) at = p++;
  return at && (!at[4] || !strcmp(at + 4, ".gz") || !strcmp(at + 4, ".xz") || !strcmp(at + 4, ".bz2") || !strcmp(at + 4, ".zst")) ? (size_t)(at - file) : 0;
}

PetscBool BMRMExamplesIsMarket_Private(const char file[])
{
  return (PetscBool)(Stem(file) > 0);
}

static const char *EndOfLine(const GpAppText *text, const char *p)
{
  return (const char *)memchr(p, '\n', (size_t)(text->text + text->length - p));
}

/* Reads n numbers and nothing else from a line; false where there is something else. */
static PetscBool Numbers(const char *p, int n, double number[])
{
  for (int k = 0; k < n; k++) {
    while (GpAppIsBlank(*p)) p++;
    p = GpAppScanReal(p, &number[k]);
    if (!p || !(PetscAbsReal((PetscReal)number[k]) <= PETSC_MAX_REAL)) return PETSC_FALSE;
  }
  while (GpAppIsBlank(*p)) p++;
  return (PetscBool)(*p == '\n');
}

/* Takes the rows of this rank out of the matrix that brought the entries to their owners. */
static PetscErrorCode TakeRows(BMRMExamples *ex, Mat X)
{
  const PetscInt    *j;
  const PetscScalar *a;
  PetscInt           start, end, n, nz = 0;
  PetscInt64         mine;

  PetscFunctionBegin;
  PetscCall(MatGetSize(X, &ex->M, &ex->N));
  PetscCall(MatGetOwnershipRange(X, &start, &end));
  ex->m = end - start;
  PetscCall(PetscMalloc1(ex->m + 1, &ex->i));
  ex->i[0] = 0;
  for (PetscInt row = start; row < end; row++) {
    PetscCall(MatGetRow(X, row, &n, NULL, NULL));
    ex->i[row - start + 1] = nz += n;
    PetscCall(MatRestoreRow(X, row, &n, NULL, NULL));
  }
  PetscCall(PetscMalloc1(nz, &ex->j));
  PetscCall(PetscMalloc1(nz, &ex->a));
  for (PetscInt row = start; row < end; row++) {
    PetscCall(MatGetRow(X, row, &n, &j, &a));
    PetscCall(PetscArraycpy(ex->j + ex->i[row - start], j, n));
    PetscCall(PetscArraycpy(ex->a + ex->i[row - start], a, n));
    PetscCall(MatRestoreRow(X, row, &n, &j, &a));
  }
  mine = nz;
  PetscCallMPI(MPI_Allreduce(&mine, &ex->nnz, 1, MPIU_INT64, MPI_SUM, ex->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads the labels, one a line, into a vector, which the caller assembles. */
static PetscErrorCode ReadLabelLines(const BMRMExamples *ex, const char file[], Vec y)
{
  GpAppText      text;
  GpAppComplaint wrong = {0};
  PetscInt64     line  = 0, all;

  PetscFunctionBegin;
  PetscCall(GpAppTextRead(ex->comm, file, &text));
  for (const char *p = text.text, *end = text.text + text.length, *eol; p < end && !wrong.code; p = eol + 1, line++) {
    double label;

    eol = EndOfLine(&text, p);
    if (!Numbers(p, 1, &label)) GpAppComplain(&wrong, line + 1, p, eol, "expected a finite number as label, and nothing else");
    else if (text.before + line < ex->M) PetscCall(VecSetValue(y, (PetscInt)(text.before + line), label, INSERT_VALUES));
  }
  PetscCall(GpAppTextRaise(&text, &wrong));
  PetscCall(GpAppTextDestroy(&text));
  PetscCallMPI(MPI_Allreduce(&line, &all, 1, MPIU_INT64, MPI_SUM, ex->comm));
  PetscCheck(all == ex->M, ex->comm, PETSC_ERR_FILE_UNEXPECTED, "%s: there are %" PetscInt64_FMT " labels, the matrix has %" PetscInt_FMT " rows", file, all, ex->M);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Brings the labels from the file beside the matrix to the ranks that own the rows. */
static PetscErrorCode ReadLabels(BMRMExamples *ex)
{
  char               file[PETSC_MAX_PATH_LEN + 8];
  const PetscScalar *a;
  PetscErrorCode     ierr;
  PetscInt           start;
  Vec                y;

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(file, sizeof(file), "%.*s.labels", (int)Stem(ex->file), ex->file));
  PetscCall(VecCreateMPI(ex->comm, ex->m, ex->M, &y));
  ierr = ReadLabelLines(ex, file, y);
  PetscCall(VecAssemblyBegin(y));
  PetscCall(VecAssemblyEnd(y));
  if (ierr) PetscCall(VecDestroy(&y));
  PetscCall(ierr);
  PetscCall(PetscMalloc1(ex->m, &ex->label));
  PetscCall(VecGetOwnershipRange(y, &start, NULL));
  PetscCall(VecGetArrayRead(y, &a));
  for (PetscInt row = 0; row < ex->m; row++) {
    ex->label[row] = PetscRealPart(a[row]);
    BMRMExamplesNoteClass_Private(ex, ex->label[row], row + 1);
  }
  PetscCall(VecRestoreArrayRead(y, &a));
  PetscCall(VecDestroy(&y));
  PetscCall(BMRMExamplesMergeClasses_Private(ex, start));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads a matrix in any order of its entries, each rank some of the lines, and brings them to those who own the rows.  An entry that the file holds twice is the sum. */
static PetscErrorCode LoadMatrix(BMRMExamples *ex)
{
  GpAppMarket  mk;
  PetscInt    *i, *j;
  PetscScalar *a;
  Mat          X;

  PetscFunctionBegin;
  PetscCall(GpAppMarketRead(ex->comm, ex->file, GP_MARKET_NONZERO, &mk));
  PetscCall(GpAppMarketExpand(&mk));
  PetscCall(PetscMalloc3(mk.n, &i, mk.n, &j, mk.n, &a));
  for (PetscInt64 k = 0; k < mk.n; k++) {
    i[k] = (PetscInt)mk.i[k];
    j[k] = (PetscInt)mk.j[k];
    a[k] = mk.pattern ? 1.0 : mk.a[k];
  }
  PetscCall(GpAppMarketDestroy(&mk));
  PetscCall(MatCreate(ex->comm, &X));
  PetscCall(MatSetSizes(X, PETSC_DECIDE, PETSC_DECIDE, (PetscInt)mk.M, (PetscInt)mk.N));
  PetscCall(MatSetType(X, MATAIJ));
  PetscCall(MatSetPreallocationCOO(X, mk.n, i, j));
  PetscCall(MatSetValuesCOO(X, a, ADD_VALUES));
  PetscCall(PetscFree3(i, j, a));
  PetscCall(TakeRows(ex, X));
  PetscCall(MatDestroy(&X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads examples; nothing stays allocated where a file is refused. */
PetscErrorCode BMRMExamplesLoadMarket_Private(BMRMExamples *ex)
{
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(LoadMatrix(ex));
  ierr = ReadLabels(ex);
  if (ierr) PetscCall(BMRMExamplesDestroy(ex));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}
