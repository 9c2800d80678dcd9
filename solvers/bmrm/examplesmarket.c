/* Examples in the Matrix Market format: a matrix in coordinates, or a dense one as an array, and a file with a label for each of its rows. */
#include "app/appscan.h"
#include "libsvm.h"
#include <string.h>
#include <strings.h>

/* the matrix, and the entries in the lines of this rank */
typedef struct {
  PetscInt64   size[3]; /* rows, columns, entries; zero until known */
  PetscInt64   lines;   /* with something in them, on this rank */
  PetscInt64   before;  /* those on the ranks before */
  int          form[2]; /* is it an array, does it have no values */
  PetscInt     n;
  PetscInt    *i, *j;
  PetscScalar *a;
} Market;

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

/* What the first line of the file says, on all ranks. */
static PetscErrorCode ReadBanner(const GpAppText *text, Market *mk, GpAppComplaint *wrong)
{
  char form[16] = "", kind[16] = "", shape[16] = "";

  PetscFunctionBegin;
  if (!text->before && text->length) {
    const char *eol = EndOfLine(text, text->text);
    char        line[128];

    GpAppTextLine(text->text, eol, line, sizeof(line));
    (void)sscanf(line, "%%%%MatrixMarket matrix %15s %15s %15s", form, kind, shape);
    mk->form[0] = !strcasecmp(form, "array");
    mk->form[1] = !strcasecmp(kind, "pattern");
    if ((!mk->form[0] && strcasecmp(form, "coordinate")) || (strcasecmp(kind, "real") && strcasecmp(kind, "integer") && (!mk->form[1] || mk->form[0])) || strcasecmp(shape, "general"))
      GpAppComplain(wrong, 1, text->text, eol, "expected %%MatrixMarket matrix coordinate|array real|integer|pattern general");
  }
  PetscCallMPI(MPI_Bcast(mk->form, 2, MPI_INT, 0, text->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool IsEmpty(const char *p)
{
  while (GpAppIsBlank(*p)) p++;
  return (PetscBool)(*p == '\n' || *p == '%');
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

static PetscBool IsCount(double x, double least, double most)
{
  return (PetscBool)(x >= least && x <= most && x == PetscFloorReal((PetscReal)x));
}

/* The sizes, in the first line of the file that holds anything; all ranks know them then. */
static PetscErrorCode ReadSizes(const GpAppText *text, Market *mk, GpAppComplaint *wrong)
{
  const char *end = text->text + text->length, *first = NULL;
  PetscInt64  line = 0, mine[3] = {0, 0, 0};

  PetscFunctionBegin;
  for (const char *p = text->text; p < end; p = EndOfLine(text, p) + 1) {
    if (!first) line++;
    if (IsEmpty(p)) continue;
    if (!first) first = p;
    mk->lines++;
  }
  PetscCallMPI(MPI_Scan(&mk->lines, &mk->before, 1, MPIU_INT64, MPI_SUM, text->comm));
  mk->before -= mk->lines;
  if (first && !mk->before) {
    double s[3] = {0, 0, 0};

    if (!Numbers(first, mk->form[0] ? 2 : 3, s) || !IsCount(s[0], 1, PETSC_MAX_INT) || !IsCount(s[1], 1, PETSC_MAX_INT) || !IsCount(s[2], 0, PETSC_MAX_INT))
      GpAppComplain(wrong, line, first, EndOfLine(text, first), mk->form[0] ? "expected the numbers of rows and columns, which a PetscInt can count" : "expected the numbers of rows, columns and entries, which a PetscInt can count");
    else {
      for (int k = 0; k < 3; k++) mine[k] = (PetscInt64)s[k];
      if (mk->form[0]) mine[2] = mine[0] * mine[1];
    }
  }
  PetscCallMPI(MPI_Allreduce(mine, mk->size, 3, MPIU_INT64, MPI_MAX, text->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The entries in the lines of this rank. */
static PetscErrorCode ReadEntries(const GpAppText *text, Market *mk, GpAppComplaint *wrong)
{
  const char *end = text->text + text->length;
  PetscInt64  at = mk->before - 1, line = 0; /* the entry that a line holds; the sizes are before the first */

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(mk->lines, &mk->i, mk->lines, &mk->j, mk->lines, &mk->a));
  for (const char *p = text->text, *eol; p < end && !wrong->code; p = eol + 1) {
    double number[3] = {0, 0, 1};

    eol = EndOfLine(text, p);
    line++;
    if (IsEmpty(p) || at++ < 0) continue;
    if (mk->form[0]) {
      if (!Numbers(p, 1, &number[2])) GpAppComplain(wrong, line, p, eol, "expected a finite number");
      number[0] = (double)((at - 1) % mk->size[0] + 1);
      number[1] = (double)((at - 1) / mk->size[0] + 1);
      if (number[2] == 0) continue;
    } else if (!Numbers(p, mk->form[1] ? 2 : 3, number)) GpAppComplain(wrong, line, p, eol, mk->form[1] ? "expected <row> <column>" : "expected <row> <column> <value>");
    if (!wrong->code && (!IsCount(number[0], 1, (double)mk->size[0]) || !IsCount(number[1], 1, (double)mk->size[1]))) GpAppComplain(wrong, line, p, eol, "a row or a column that the matrix does not have; they are counted from 1");
    mk->i[mk->n]   = (PetscInt)(number[0] - 1);
    mk->j[mk->n]   = (PetscInt)(number[1] - 1);
    mk->a[mk->n++] = number[2];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
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

/* The labels, one a line, from the file beside the matrix. */
static PetscErrorCode ReadLabels(BMRMExamples *ex)
{
  char               file[PETSC_MAX_PATH_LEN + 8];
  GpAppText          text;
  GpAppComplaint     wrong = {0};
  PetscInt64         line  = 0, all;
  const PetscScalar *a;
  PetscInt           start;
  Vec                y;

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(file, sizeof(file), "%.*s.labels", (int)Stem(ex->file), ex->file));
  PetscCall(VecCreateMPI(ex->comm, ex->m, ex->M, &y));
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
  PetscCall(VecAssemblyBegin(y));
  PetscCall(VecAssemblyEnd(y));
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

/* Reads a matrix in any order of its entries, each rank some of the lines, and brings them to those who own the rows. */
PetscErrorCode BMRMExamplesLoadMarket_Private(BMRMExamples *ex)
{
  GpAppText      text;
  GpAppComplaint wrong = {0};
  Market         mk    = {0};
  PetscInt64     lines;
  Mat            X;

  PetscFunctionBegin;
  PetscCall(GpAppTextRead(ex->comm, ex->file, &text));
  PetscCall(ReadBanner(&text, &mk, &wrong));
  PetscCall(ReadSizes(&text, &mk, &wrong));
  if (mk.size[0]) PetscCall(ReadEntries(&text, &mk, &wrong));
  PetscCall(GpAppTextRaise(&text, &wrong));
  PetscCall(GpAppTextDestroy(&text));
  PetscCallMPI(MPI_Allreduce(&mk.lines, &lines, 1, MPIU_INT64, MPI_SUM, ex->comm));
  PetscCheck(lines > 0 && lines - 1 == mk.size[2], ex->comm, PETSC_ERR_FILE_UNEXPECTED, "%s: there are %" PetscInt64_FMT " entries where its head says %" PetscInt64_FMT ": the file is cut off or damaged", ex->file, PetscMax(lines - 1, 0),
             mk.size[2]);
  PetscCall(MatCreate(ex->comm, &X));
  PetscCall(MatSetSizes(X, PETSC_DECIDE, PETSC_DECIDE, (PetscInt)mk.size[0], (PetscInt)mk.size[1]));
  PetscCall(MatSetType(X, MATAIJ));
  PetscCall(MatSetPreallocationCOO(X, mk.n, mk.i, mk.j));
  PetscCall(MatSetValuesCOO(X, mk.a, ADD_VALUES));
  PetscCall(PetscFree3(mk.i, mk.j, mk.a));
  PetscCall(TakeRows(ex, X));
  PetscCall(MatDestroy(&X));
  PetscCall(ReadLabels(ex));
  PetscFunctionReturn(PETSC_SUCCESS);
}
