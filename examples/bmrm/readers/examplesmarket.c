/* Examples in the Matrix Market format: a matrix in coordinates, or a dense one as an array, and a file with a label for each of its rows. */
#include "app/market/appmarket.h"
#include "app/text/appcollective.h"
#include "app/text/appscan.h"
#include "examples.h"
#include <string.h>

/* Returns the length of a file's name before ".mtx" or ".mtx" and the suffix of a compressed file; 0 for any other name. */
static size_t BMRMMarketStemLength(const char file[])
{
  const char *at = NULL, *p = file;

  while ((p = strstr(p, ".mtx"))) at = p++;
  return at && (!at[4] || !strcmp(at + 4, ".gz") || !strcmp(at + 4, ".xz") || !strcmp(at + 4, ".bz2") || !strcmp(at + 4, ".zst")) ? (size_t)(at - file) : 0;
}

PetscBool BMRMExamplesIsMarket(const char file[])
{
  return (PetscBool)(BMRMMarketStemLength(file) > 0);
}

/* Copies the rows of this rank from the matrix that sent the entries to the ranks that own them. */
static PetscErrorCode BMRMMarketCopyRows(BMRMExamples *ex, Mat X)
{
  const PetscInt    *j;
  const PetscScalar *a;
  PetscInt           start, end, n, nz = 0;

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
  PetscCall(GpAppSumBefore(ex->comm, nz, NULL, &ex->nnz));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Opens the file of labels that belongs to the matrix. The number of labels is compared with the M rows before memory is allocated for them. */
static PetscErrorCode BMRMMarketOpenLabels(const BMRMExamples *ex, PetscInt64 M, GpAppText *text)
{
  char       file[PETSC_MAX_PATH_LEN + 8];
  PetscInt64 all;

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(file, sizeof(file), "%.*s.labels", (int)BMRMMarketStemLength(ex->file), ex->file));
  PetscCall(GpAppTextRead(ex->comm, file, text));
  PetscCall(GpAppSumBefore(ex->comm, text->lines, NULL, &all));
  if (all == M) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(GpAppTextDestroy(text));
  SETERRQ(ex->comm, PETSC_ERR_FILE_UNEXPECTED, "%s: there are %" PetscInt64_FMT " labels, the matrix has %" PetscInt64_FMT " rows", file, all, M);
}

/* Sends the labels, one a line, to the ranks that own the rows. */
static PetscErrorCode BMRMMarketReadLabels(BMRMExamples *ex, GpAppText *text)
{
  GpAppComplaint     wrong = {0};
  GpAppLines         lines = {text->text, text->text + text->length, NULL, 0, 0};
  const PetscScalar *a;
  PetscErrorCode     ierr;
  PetscInt           start;
  Vec                y;

  PetscFunctionBegin;
  PetscCall(VecCreateMPI(ex->comm, ex->m, ex->M, &y));
  for (const char *p = GpAppLinesNext(&lines, NULL), *q; p && !wrong.code; p = GpAppLinesNext(&lines, NULL)) {
    double label;

    q = GpAppScanReal(GpAppSkipBlanks(p), &label);
    if (!q || GpAppSkipBlanks(q) != lines.eol || !(PetscAbsReal((PetscReal)label) <= PETSC_MAX_REAL)) GpAppComplain(&wrong, lines.line, p, lines.eol, "expected a finite number as label, and nothing else");
    else PetscCall(VecSetValue(y, (PetscInt)(text->before + lines.line - 1), label, INSERT_VALUES));
  }
  ierr = GpAppTextRaise(text, &wrong);
  PetscCall(VecAssemblyBegin(y));
  PetscCall(VecAssemblyEnd(y));
  if (ierr) PetscCall(VecDestroy(&y));
  PetscCall(ierr);
  PetscCall(PetscMalloc1(ex->m, &ex->label));
  PetscCall(VecGetOwnershipRange(y, &start, NULL));
  PetscCall(VecGetArrayRead(y, &a));
  for (PetscInt row = 0; row < ex->m; row++) {
    ex->label[row] = PetscRealPart(a[row]);
    BMRMExamplesNoteClass(ex, ex->label[row], row + 1);
  }
  PetscCall(VecRestoreArrayRead(y, &a));
  PetscCall(VecDestroy(&y));
  PetscCall(BMRMExamplesMergeClasses(ex, start));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Refuses duplicate entries whose sum is not finite. */
static PetscErrorCode BMRMMarketCheckSums(const BMRMExamples *ex)
{
  PetscBool bad = PETSC_FALSE, any;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < ex->i[ex->m]; k++) bad = (PetscBool)(bad || PetscIsInfOrNanScalar(ex->a[k]));
  PetscCall(GpAppFindAny(ex->comm, bad, &any));
  PetscCheck(!any, ex->comm, PETSC_ERR_FILE_UNEXPECTED, "%s: the sum of duplicate entries exceeds the range of double precision", ex->file);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads a matrix and its labels; each rank parses some of the lines. If a file is refused, all memory has been freed. */
PetscErrorCode BMRMExamplesLoadMarket(BMRMExamples *ex)
{
  GpAppMarket    mk;
  GpAppText      labels;
  PetscErrorCode ierr;
  Mat            X;

  PetscFunctionBegin;
  PetscCall(GpAppMarketRead(ex->comm, ex->file, GP_MARKET_NONZERO, &mk));
  PetscCall(GpAppMarketExpand(&mk));
  ierr = BMRMMarketOpenLabels(ex, mk.M, &labels);
  if (ierr) PetscCall(GpAppMarketDestroy(&mk));
  PetscCall(ierr);
  PetscCall(GpAppMarketCreateAIJ(&mk, &X));
  PetscCall(GpAppMarketDestroy(&mk));
  PetscCall(BMRMMarketCopyRows(ex, X));
  PetscCall(MatDestroy(&X));
  ierr = BMRMMarketReadLabels(ex, &labels);
  if (!ierr) PetscCall(GpAppTextDestroy(&labels));
  if (!ierr) ierr = BMRMMarketCheckSums(ex);
  if (ierr) PetscCall(BMRMExamplesDestroy(ex));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}
