/* Parallel reader of tables: the third pass over the lines, which stores names, numbers and words. */
#include "app/table/apptablefield.h"
#include <stdlib.h>
#include <string.h>

/* Data of the third pass. */
typedef struct {
  const GpAppTableSpec   *spec;
  const GpAppTableSurvey *S;
  GpAppTableForm          form;
  PetscInt               *where; /* [cols] place of a column among those of text, -1: it holds numbers */
  char                   *to;    /* end of the strings so far */
  PetscInt                row;
} Filler;

/* Refuses the first line that has another number of fields than the lines before it. */
static PetscErrorCode TableCheckFields(const GpAppText *X, const Filler *F, GpAppComplaint *C)
{
  const GpAppTableSurvey *S = F->S;
  GpAppLines              L = {X->text, X->text + X->length};

  PetscFunctionBegin;
  if (F->form.shape != GP_TABLE_RECTANGLE || S->lines < 2 || (S->kmin == S->kmax && S->kmax == F->form.expected)) PetscFunctionReturn(PETSC_SUCCESS);
  for (const char *p; !C->code && (p = GpAppLinesNext(&L, GP_TABLE_COMMENT));) {
    PetscInt k = 0;

    if (p == S->here) continue;
    for (const char *at = p; at; k++) at = GpAppFieldGet(at, L.eol, S->delimiter).next;
    if (k == F->form.expected) continue;
    GpAppComplainAbout(C, PETSC_ERR_FILE_UNEXPECTED, L.line, "expected %" PetscInt_FMT " fields as in the first line of data, got %" PetscInt_FMT "%s", F->form.expected, k,
                       S->delimiter == ' ' ? "; fields are separated by blanks here: quote those that hold blanks, or separate by commas" : "");
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finds the column of labels by its heading, else by its number counted from 1. -1: there is none. */
static PetscInt TableFindLabel(const GpAppTable *T, const char label[])
{
  char *end;
  long  number = strtol(label, &end, 10);

  for (PetscInt j = 0; T->heading && j < T->cols; j++)
    if (!strcmp(T->heading[j], label)) return j;
  return *label && !*end && number >= 1 && number <= T->cols ? (PetscInt)number - 1 : -1;
}

/* Is the column that was taken for row names the one whose heading spec->label gives? */
static PetscBool TableNamesAreLabels(const Filler *F)
{
  const char       *label = F->spec->label;
  const GpAppField *f;

  if (!label || !*label || F->spec->names != GP_TABLE_AUTO || !F->form.names || !F->form.header || F->form.shifted) return PETSC_FALSE;
  f = &F->S->field[0].field;
  return (PetscBool)((size_t)(f->end - f->begin) == strlen(label) && !memcmp(f->begin, label, strlen(label)));
}

/* Copies the headings. Every rank has the first line. */
static PetscErrorCode TableHeadings(const Filler *F, GpAppTable *T)
{
  const GpAppTableSurvey *S = F->S;
  PetscInt                k = 0;
  char                   *to;

  PetscFunctionBegin;
  if (!F->form.header) PetscFunctionReturn(PETSC_SUCCESS);
  /* a field takes no more bytes with its final 0 than with the delimiter behind it; columns without a heading take one byte */
  PetscCall(PetscCalloc1(strlen(S->first) + 2 + (size_t)T->cols, &T->headings));
  PetscCall(PetscMalloc1(T->cols, &T->heading));
  to = T->headings;
  if (F->form.names) {
    T->corner = to;
    if (!F->form.shifted && (F->form.shape == GP_TABLE_RECTANGLE || S->kfirst > T->cols)) to += GpAppFieldCopy(&S->field[k++].field, to);
    else to++;
  }
  for (PetscInt j = 0; j < T->cols; j++) {
    T->heading[j] = to;
    if (k < S->kfirst) to += GpAppFieldCopy(&S->field[k++].field, to);
    else to++;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Returns whether a column, counted without row names, holds words. With `quotes`, numbers in quotes are words. */
static PetscBool TableIsText(const Filler *F, PetscInt j, PetscBool quotes)
{
  const GpAppTableSurvey *S     = F->S;
  const PetscInt          c     = j + (F->form.names ? 1 : 0);
  PetscInt64              flags = c < S->kmax ? S->column[c].flags : 0;

  if (!F->form.header && c < S->kfirst) {
    flags |= S->field[c].field.quoted ? GP_COLUMN_QUOTED : S->field[c].empty ? 0 : GP_COLUMN_UNQUOTED;
    if (S->field[c].kind == GP_FIELD_WORD) flags |= GP_COLUMN_WORD;
  }
  if (flags & GP_COLUMN_WORD) return PETSC_TRUE;
  return (PetscBool)(quotes && (flags & GP_COLUMN_QUOTED) && !(flags & GP_COLUMN_UNQUOTED));
}

/* Chooses the columns that hold text: all or none of the first spec->text_first, the column of labels, and any other column that the caller allows to hold words. */
static PetscErrorCode TableChooseText(Filler *F, GpAppTable *T)
{
  const PetscInt n   = PetscMin(F->spec->text_first, T->cols);
  PetscBool      any = PETSC_FALSE, quotes = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(T->cols, &F->where));
  for (PetscInt j = 0; j < T->cols; j++) F->where[j] = -1;
  T->label = -1;
  if (F->spec->label) T->label = TableFindLabel(T, F->spec->label);
  for (PetscInt j = n; j < T->cols && n; j++) /* quotes tell names from numbers where other columns have none */
    if (j + (F->form.names ? 1 : 0) < F->S->kmax && (F->S->column[j + (F->form.names ? 1 : 0)].flags & GP_COLUMN_UNQUOTED)) quotes = PETSC_TRUE;
  for (PetscInt j = 0; j < n; j++) any = (PetscBool)(any || TableIsText(F, j, quotes));
  PetscCall(PetscMalloc1(F->spec->words ? T->cols : PetscMin(n + 1, T->cols), &T->text));
  for (PetscInt j = 0; j < T->cols; j++)
    if ((any && j < n) || ((j == T->label || F->spec->words) && TableIsText(F, j, PETSC_FALSE))) {
      F->where[j]         = T->ntext;
      T->text[T->ntext++] = j;
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Allocates the rows of this rank. The file has at least one byte for each number and each byte of a string. */
static PetscErrorCode TableAllocate(const GpAppText *X, Filler *F, GpAppTable *T)
{
  const GpAppTableSurvey *S     = F->S;
  size_t                  bytes = 1;

  PetscFunctionBegin;
  for (PetscInt64 c = 0; c < S->kmax; c++) {
    const PetscInt j = (PetscInt)c - (F->form.names ? 1 : 0);

    if (j < 0 || (j < T->cols && F->where[j] >= 0)) bytes += (size_t)S->column[c].bytes;
  }
  if (S->here && !F->form.header) bytes += strlen(S->first) + 1;
  PetscCall(PetscMalloc1((size_t)T->rows * (size_t)T->cols, &T->value));
  PetscCall(PetscMalloc1(T->rows, &T->line));
  if (F->form.names) PetscCall(PetscMalloc1(T->rows, &T->name));
  if (T->ntext) PetscCall(PetscMalloc1((size_t)T->rows * (size_t)T->ntext, &T->word));
  PetscCall(PetscMalloc1(bytes, &T->words));
  F->to = T->words;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Refuses a field that is not a number. */
static void TableComplain(const GpAppTable *T, const Filler *F, GpAppFieldKind kind, PetscInt j, const GpAppField *f, const char *p, const char *eol, PetscInt64 line, GpAppComplaint *C)
{
  const PetscInt field = j + 1 + (F->form.names ? 1 : 0);
  char           expected[160], heading[48] = "";
  const char    *hint = "";

  if (T->heading && T->heading[j][0]) (void)snprintf(heading, sizeof(heading), " (%.40s)", T->heading[j]);
  if (kind == GP_FIELD_NAN) hint = ", or NA or an empty field for a missing value";
  else if (kind == GP_FIELD_REFUSED && memchr(f->begin, ',', (size_t)(f->end - f->begin))) hint = " with a decimal point (decimal commas are read between semicolons)";
  else if (kind == GP_FIELD_REFUSED) hint = ", at most 1.8e308";
  else if (T->decimal_comma && f->begin < f->end && memchr(f->begin, '.', (size_t)(f->end - f->begin))) hint = " with a decimal comma as in other fields";
  (void)snprintf(expected, sizeof(expected), "field %" PetscInt_FMT "%s: expected a finite number%s", field, heading, hint);
  GpAppComplainAt(C, PETSC_ERR_FILE_UNEXPECTED, line, f->begin - p + 1, f->begin, f->end, expected);
}

/* Reads a data line that is not the heading. */
static PetscErrorCode TableFillRow(GpAppTable *T, Filler *F, const char *p, const char *eol, PetscInt64 line, GpAppComplaint *C)
{
  double     *value = T->value + (size_t)F->row * (size_t)T->cols;
  const char *at    = p;
  PetscInt    j     = 0;

  PetscFunctionBegin;
  T->line[F->row] = line;
  if (F->form.names) {
    const GpAppField f = GpAppFieldGet(at, eol, T->delimiter);

    T->name[F->row] = F->to;
    F->to += GpAppFieldCopy(&f, F->to);
    if (f.quoted) T->quoted_names = PETSC_TRUE;
    at = f.next;
  }
  for (; at && j < T->cols && !C->code; j++) {
    const GpAppField f = GpAppFieldGet(at, eol, T->delimiter);
    GpAppFieldKind   kind;

    at = f.next;
    if (F->where[j] >= 0) {
      T->word[F->row * T->ntext + F->where[j]] = F->to;
      F->to += GpAppFieldCopy(&f, F->to);
      value[j] = NAN;
      continue;
    }
    kind = GpAppFieldClassify(&f, T->decimal_comma, &value[j]);
    if (kind == GP_FIELD_NUMBER && f.quoted) T->quoted_numbers = PETSC_TRUE;
    if (kind == GP_FIELD_NUMBER && T->decimal_comma && memchr(f.begin, '.', (size_t)(f.end - f.begin))) kind = GP_FIELD_WORD;
    if (kind == GP_FIELD_MISSING || (kind == GP_FIELD_NAN && F->spec->nan_missing)) T->missing++;
    else if (kind != GP_FIELD_NUMBER) TableComplain(T, F, kind, j, &f, p, eol, line, C);
  }
  for (; j < T->cols; j++) { /* above the diagonal of a triangle */
    value[j] = NAN;
    if (F->where[j] >= 0) T->word[F->row * T->ntext + F->where[j]] = "";
  }
  F->row++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Combines the results of the ranks: lines of the rows, quotes, missing values. */
static PetscErrorCode TableAgree(GpAppTable *T, const GpAppText *X)
{
  PetscInt64 sum[] = {T->missing, T->quoted_names, T->quoted_numbers};

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sum, 3, MPIU_INT64, MPI_SUM, T->comm));
  T->missing        = sum[0];
  T->quoted_names   = (PetscBool)(sum[1] > 0);
  T->quoted_numbers = (PetscBool)(sum[2] > 0);
  for (PetscInt i = 0; i < T->rows; i++) T->line[i] += X->before;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Frees everything and raises the first complaint on all ranks, if any rank has one. */
static PetscErrorCode TableRaise(GpAppText *X, GpAppComplaint *C, Filler *F, GpAppTableSurvey *S, GpAppTable *T)
{
  PetscBool bad;

  PetscFunctionBegin;
  PetscCall(GpAppFindAny(X->comm, (PetscBool)(C->code || X->unreadable.code), &bad));
  if (!bad) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(GpAppTableSurveyDestroy(S));
  PetscCall(PetscFree(F->where));
  PetscCall(GpAppTableDestroy(T));
  PetscCall(GpAppTextRaise(X, C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Counts the rows and columns of all ranks, and refuses a table without any. */
static PetscErrorCode TableMeasure(const GpAppText *X, Filler *F, GpAppTable *T, GpAppComplaint *C)
{
  const GpAppTableSurvey *S    = F->S;
  const PetscInt64        rows = S->lines - (F->form.header ? 1 : 0);
  GpAppLines              L    = {X->text, X->text + X->length};
  PetscInt64              here = 0;

  PetscFunctionBegin;
  for (const char *p; (p = GpAppLinesNext(&L, GP_TABLE_COMMENT));) here += p != S->here || !F->form.header;
  T->rows          = (PetscInt)here;
  T->first         = (PetscInt)PetscMax(S->offset - (F->form.header ? 1 : 0), 0);
  T->N             = (PetscInt)rows;
  T->cols          = (PetscInt)PetscMax(S->kmax, F->form.header && S->lines > 1 ? 0 : S->kfirst) - (F->form.names ? 1 : 0);
  T->shape         = F->form.shape;
  T->named         = F->form.names;
  T->delimiter     = S->delimiter;
  T->comments      = S->comments;
  T->decimal_comma = S->comma;
  if (rows > PETSC_MPI_INT_MAX - 1) GpAppComplain(C, 0, "", "", "expected at most 2147483646 rows");
  else if (rows < 1 || (T->cols < 1 && !F->form.names)) GpAppComplainAbout(C, PETSC_ERR_FILE_UNEXPECTED, 0, "the file holds no %s", S->lines ? "rows under its headings" : "numbers");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads a table from the lines of a text of GpAppTextRead(), which is destroyed in any case. Collective.
   The same table is read, or refused with the same words, on any number of ranks. A refusal frees all memory first. */
PetscErrorCode GpAppTableParse(GpAppText *X, const GpAppTableSpec *spec, GpAppTable *T)
{
  GpAppLines       L = {X->text, X->text + X->length};
  GpAppTableSurvey S;
  Filler           F = {.spec = spec, .S = &S};
  GpAppComplaint   C = {0};

  PetscFunctionBegin;
  PetscCall(PetscMemzero(T, sizeof(*T)));
  T->comm  = X->comm;
  T->label = -1;
  PetscCall(PetscStrncpy(T->file, X->file, sizeof(T->file)));
  if (!X->before && X->length >= 3 && !memcmp(X->text, "\357\273\277", 3)) memset(X->text, ' ', 3); /* byte-order mark of UTF-8 */
  PetscCall(GpAppTableSurveyLines(X, spec, &S, &C));
  PetscCall(TableRaise(X, &C, &F, &S, T));
  if (S.lines) PetscCall(GpAppTableGuessForm(spec, &S, &F.form));
  if (TableNamesAreLabels(&F)) {
    GpAppTableSpec plain = *spec;

    plain.names = GP_TABLE_NO;
    PetscCall(GpAppTableGuessForm(&plain, &S, &F.form));
  }
  PetscCall(TableCheckFields(X, &F, &C));
  PetscCall(TableMeasure(X, &F, T, &C));
  PetscCall(TableRaise(X, &C, &F, &S, T));
  PetscCall(TableHeadings(&F, T));
  PetscCall(TableChooseText(&F, T));
  PetscCall(TableAllocate(X, &F, T));
  for (const char *p; !C.code && (p = GpAppLinesNext(&L, GP_TABLE_COMMENT));)
    if (p != S.here || !F.form.header) PetscCall(TableFillRow(T, &F, p, L.eol, L.line, &C));
  if (spec->label && T->label < 0) {
    C.code = 0; /* this is the cause of any complaint about words */
    GpAppComplainAbout(&C, PETSC_ERR_USER_INPUT, 0, "no column '%.80s': expected a heading, or a number from 1 to %" PetscInt_FMT, spec->label, T->cols);
  }
  PetscCall(TableRaise(X, &C, &F, &S, T));
  PetscCall(TableAgree(T, X));
  PetscCall(PetscFree(F.where));
  PetscCall(GpAppTableSurveyDestroy(&S));
  PetscCall(GpAppTextDestroy(X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* GpAppTableRead - Reads a table from a file, which GpAppTextOpen() opens; otherwise as GpAppTableParse() */
PetscErrorCode GpAppTableRead(MPI_Comm comm, const char file[], const GpAppTableSpec *spec, GpAppTable *T)
{
  GpAppText X;

  PetscFunctionBegin;
  PetscCall(GpAppTextRead(comm, file, &X));
  PetscCall(GpAppTableParse(&X, spec, T));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GpAppTableDestroy(GpAppTable *T)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(T->value));
  PetscCall(PetscFree(T->line));
  PetscCall(PetscFree(T->name));
  PetscCall(PetscFree(T->heading));
  PetscCall(PetscFree(T->text));
  PetscCall(PetscFree(T->word));
  PetscCall(PetscFree(T->headings));
  PetscCall(PetscFree(T->words));
  T->ntext = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}
