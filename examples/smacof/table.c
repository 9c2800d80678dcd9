/* Tables of numbers from text: CSV, blanks, LIBSVM, Matrix Market; a word before the numbers of a row is its name. */
#include "smacof.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef enum {
  FIELD_NUMBER,
  FIELD_NONE, /* empty, or NA */
  FIELD_WORD
} FieldKind;

typedef struct {
  const char *begin, *end; /* without blanks and quotes around it */
  const char *next;        /* where the next one begins; NULL: this is the last */
} Field;

static PetscBool IsBlank(char c)
{
  return (PetscBool)(c == ' ' || c == '\t' || c == '\r');
}

static const char *SkipBlanks(const char *p)
{
  while (IsBlank(*p)) p++;
  return p;
}

/* the field that begins at p, of a line whose fields are separated by commas or by blanks */
static Field GetField(const char *p, const char *eol, PetscBool commas)
{
  Field f;

  p       = SkipBlanks(p);
  f.begin = p;
  while (p < eol && !(commas ? *p == ',' : IsBlank(*p))) p++;
  f.end = p;
  while (f.end > f.begin && IsBlank(f.end[-1])) f.end--;
  if (f.end - f.begin >= 2 && *f.begin == '"' && f.end[-1] == '"') {
    f.begin++;
    f.end--;
  }
  p      = SkipBlanks(p);
  f.next = p == eol ? NULL : p + (commas ? 1 : 0);
  return f;
}

static FieldKind GetNumber(const Field *f, PetscReal *value)
{
  char *end;

  *value = NAN;
  if (f->begin == f->end || (f->end - f->begin == 2 && !strncmp(f->begin, "NA", 2))) return FIELD_NONE;
  *value = (PetscReal)strtod(f->begin, &end);
  return end == f->end ? FIELD_NUMBER : FIELD_WORD;
}

/* what the lines of a file have in common */
typedef struct {
  PetscBool   sparse, heading, named; /* LIBSVM; the first line is one; rows begin with a word */
  PetscBool   nan_allowed;
  PetscInt64  headerlines; /* of a Matrix Market file, comments and sizes */
  const char *first;       /* the first line of data, where this rank has it */
} Form;

/* "%%MatrixMarket matrix <coordinate|array> <real|integer> <general|symmetric>", comments, a line of sizes; on the first rank */
static void ReadHeader(const GpAppText *X, Table *T, Form *form, GpAppComplaint *C)
{
  const char *p = X->text, *end = X->text + X->length;
  char        line[96], object[16], format[16], field[16], symmetry[20];
  int         n;

  if (X->length < 14 || strncmp(p, "%%MatrixMarket", 14)) return;
  GpAppTextLine(p + 14, end, line, sizeof(line));
  if (sscanf(line, "%15s %15s %15s %19s", object, format, field, symmetry) != 4 || strcmp(object, "matrix") || (strcmp(format, "coordinate") && strcmp(format, "array")) || (strcmp(field, "real") && strcmp(field, "integer")) ||
      (strcmp(symmetry, "general") && strcmp(symmetry, "symmetric"))) {
    GpAppComplain(C, 1, p + 15, end, "expected: %%MatrixMarket matrix <coordinate|array> <real|integer> <general|symmetric>");
    return;
  }
  T->market      = PETSC_TRUE;
  T->coordinates = (PetscBool)!strcmp(format, "coordinate");
  T->symmetric   = (PetscBool)!strcmp(symmetry, "symmetric");
  for (; p < end && (*p == '%' || *SkipBlanks(p) == '\n'); form->headerlines++) p = (const char *)memchr(p, '\n', (size_t)(end - p)) + 1;
  form->headerlines++;
  GpAppTextLine(p, end, line, sizeof(line));
  n = sscanf(line, "%" PetscInt64_FMT " %" PetscInt64_FMT " %" PetscInt64_FMT, &T->sizes[0], &T->sizes[1], &T->sizes[2]);
  if (n < (T->coordinates ? 3 : 2)) GpAppComplain(C, form->headerlines, p < end ? p : end, end, T->coordinates ? "expected <rows> <columns> <entries>" : "expected <rows> <columns>");
  else if (T->sizes[0] != T->sizes[1]) GpAppComplain(C, form->headerlines, p, end, "expected as many rows as columns");
  else if (T->sizes[0] < 1 || T->sizes[0] >= PETSC_MPI_INT_MAX) GpAppComplain(C, form->headerlines, p, end, "expected from 1 to 2147483646 rows");
}

/* looks at the first line of data */
static void ReadForm(const Table *T, const char *p, const char *eol, Form *form)
{
  const PetscBool commas = (PetscBool)(memchr(p, ',', (size_t)(eol - p)) != NULL);
  Field           f      = GetField(p, eol, commas), last;
  PetscReal       value;

  form->named = (PetscBool)(!T->market && (GetNumber(&f, &value) == FIELD_WORD));
  for (last = f; last.next;) last = GetField(last.next, eol, commas);
  form->sparse  = (PetscBool)(memchr(last.begin, ':', (size_t)(last.end - last.begin)) != NULL);
  form->heading = (PetscBool)(f.next && !T->market && !form->sparse && GetNumber(&last, &value) == FIELD_WORD); /* a word alone is a name */
}

/* the next line of data of a rank; NULL: there is none */
static const char *NextData(const char *p, const char *end, PetscInt64 *line, PetscInt64 headerlines)
{
  for (; p < end; p = (const char *)memchr(p, '\n', (size_t)(end - p)) + 1) {
    const char *q = SkipBlanks(p);

    if (++*line > headerlines && *q != '\n' && *q != '#' && *q != '%') return q;
  }
  return NULL;
}

/* calls for each line of data of this rank, in order; the number of lines is for complaints */
static PetscErrorCode EachLine(const GpAppText *X, Table *T, const Form *form, PetscErrorCode (*what)(Table *, const Form *, const char *, const char *, PetscInt64, GpAppComplaint *), GpAppComplaint *C)
{
  PetscInt64 line = 0;

  PetscFunctionBegin;
  T->rows = 0;
  for (const char *p = X->text, *end = X->text + X->length, *eol; (p = NextData(p, end, &line, form->headerlines - X->before)) && !C->line; p = eol + 1) {
    eol = (const char *)memchr(p, '\n', (size_t)(end - p));
    if (p == form->first && form->heading) continue;
    PetscCall(what(T, form, p, eol, line, C));
    T->rows++;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* counts columns: of every line the same, or of LIBSVM the largest index */
static PetscErrorCode MeasureLine(Table *T, const Form *form, const char *p, const char *eol, PetscInt64 line, GpAppComplaint *C)
{
  const PetscBool commas = (PetscBool)(memchr(p, ',', (size_t)(eol - p)) != NULL);
  Field           f      = GetField(p, eol, commas);
  PetscInt        n      = form->named ? 0 : 1;

  PetscFunctionBegin;
  if (form->named || form->sparse) T->names_length += (size_t)(f.end - f.begin) + 1;
  if (form->sparse) {
    while (f.next && !C->line) {
      char *end;
      long  index;

      f     = GetField(f.next, eol, PETSC_FALSE);
      index = strtol(f.begin, &end, 10);
      if (end == f.begin || *end != ':' || index < 1 || index > PETSC_MPI_INT_MAX) GpAppComplain(C, line, f.begin, eol, "expected <feature>:<value>, features counted from 1");
      else T->cols = PetscMax(T->cols, (PetscInt)index);
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  while (f.next) {
    f = GetField(f.next, eol, commas);
    n++;
  }
  if (T->cols && n != T->cols) {
    char expected[64];

    (void)snprintf(expected, sizeof(expected), "expected %d numbers as in the lines before, not %d", (int)T->cols, (int)n);
    GpAppComplain(C, line, p, eol, expected);
  }
  T->cols = n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FillLine(Table *T, const Form *form, const char *p, const char *eol, PetscInt64 line, GpAppComplaint *C)
{
  const PetscBool commas = (PetscBool)(!form->sparse && memchr(p, ',', (size_t)(eol - p)));
  PetscReal      *row    = T->value + (size_t)T->rows * T->cols;
  Field           f      = GetField(p, eol, commas);
  PetscInt        c      = 0;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < T->cols; k++) row[k] = form->sparse ? 0 : NAN;
  if (T->names) {
    PetscCall(PetscArraycpy(T->names + T->names_length, f.begin, f.end - f.begin));
    T->names_length += (size_t)(f.end - f.begin) + 1;
    f = f.next ? GetField(f.next, eol, commas) : (Field){eol, eol, NULL};
  }
  for (; f.begin < eol && !C->line; f = f.next ? GetField(f.next, eol, commas) : (Field){eol, eol, NULL}) {
    FieldKind kind;

    if (form->sparse) {
      const char *colon = strchr(f.begin, ':');

      c       = (PetscInt)strtol(f.begin, NULL, 10) - 1;
      f.begin = colon + 1;
    }
    kind = GetNumber(&f, &row[c]);
    if (kind == FIELD_WORD || (kind == FIELD_NUMBER && (PetscIsInfReal(row[c]) || (PetscIsNanReal(row[c]) && !form->nan_allowed)))) GpAppComplain(C, line, f.begin, eol, "expected a finite number");
    if (form->sparse && kind == FIELD_NONE) GpAppComplain(C, line, f.begin, eol, "expected a value");
    if (++c == T->cols && !form->sparse) break;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* what the first line of data tells, or the second when that is a heading; on the first rank */
static void FindForm(const GpAppText *X, const Table *T, Form *form)
{
  const char *end  = X->text + X->length, *eol;
  PetscInt64  line = 0;

  form->first = NextData(X->text, end, &line, form->headerlines);
  if (!form->first) return;
  eol = (const char *)memchr(form->first, '\n', (size_t)(end - form->first));
  ReadForm(T, form->first, eol, form);
  if (form->heading) {
    const char *next = NextData(eol + 1, end, &line, form->headerlines);

    if (next) ReadForm(T, next, (const char *)memchr(next, '\n', (size_t)(end - next)), form);
    form->heading = PETSC_TRUE;
  }
}

/* what the first rank found out becomes known to all */
static PetscErrorCode AgreeOnForm(Table *T, Form *form)
{
  const char *first = form->first;
  PetscMPIInt rank;
  PetscInt64  facts[] = {form->sparse, form->heading, form->named, form->headerlines, T->market, T->coordinates, T->symmetric, T->sizes[0], T->sizes[1], T->sizes[2]};

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(T->comm, &rank));
  PetscCallMPI(MPI_Bcast(facts, sizeof(facts) / sizeof(facts[0]), MPIU_INT64, 0, T->comm));
  *form          = (Form){(PetscBool)facts[0], (PetscBool)facts[1], (PetscBool)facts[2], PETSC_FALSE, facts[3], rank ? NULL : first};
  T->market      = (PetscBool)facts[4];
  T->coordinates = (PetscBool)facts[5];
  T->symmetric   = (PetscBool)facts[6];
  PetscCall(PetscArraycpy(T->sizes, facts + 7, 3));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* and on how many columns there are */
static PetscErrorCode AgreeOnCols(Table *T, PetscBool sparse)
{
  PetscInt mine[2], all[2];

  PetscFunctionBegin;
  mine[0] = T->cols;
  mine[1] = T->rows ? -T->cols : -PETSC_MAX_INT;
  PetscCallMPI(MPI_Allreduce(mine, all, 2, MPIU_INT, MPI_MAX, T->comm));
  PetscCheck(sparse || !all[0] || all[0] == -all[1], T->comm, PETSC_ERR_FILE_UNEXPECTED, "%s: some lines have %" PetscInt_FMT " numbers, others %" PetscInt_FMT, T->file, -all[1], all[0]);
  T->cols = all[0];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  TableRead - Reads rows of numbers from a text file; every rank keeps those of its lines

  Collective

  Input Parameters:
+ comm        - the communicator
. file        - numbers separated by commas or blanks; # and % begin comments, the first line may be a heading, rows may begin with a word. Or LIBSVM, or
                Matrix Market without its two header lines
- nan_allowed - whether a number may be nan; empty fields and NA always may

  Output Parameter:
. T - the numbers; those that are missing are NaN in dense rows
*/
PetscErrorCode TableRead(MPI_Comm comm, const char file[], PetscBool nan_allowed, Table *T)
{
  GpAppText      X;
  GpAppComplaint C    = {0};
  Form           form = {0};
  PetscMPIInt    rank;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(T, sizeof(*T)));
  T->comm = comm;
  PetscCall(PetscStrncpy(T->file, file, sizeof(T->file)));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCall(GpAppTextRead(comm, file, &X));
  if (!rank) {
    ReadHeader(&X, T, &form, &C);
    FindForm(&X, T, &form);
  }
  PetscCall(GpAppTextRaise(&X, &C));
  PetscCall(AgreeOnForm(T, &form));
  form.nan_allowed = nan_allowed;
  PetscCall(EachLine(&X, T, &form, MeasureLine, &C));
  PetscCall(GpAppTextRaise(&X, &C));
  PetscCall(AgreeOnCols(T, form.sparse));
  PetscCallMPI(MPI_Exscan(&T->rows, &T->first, 1, MPIU_INT, MPI_SUM, comm));
  if (!rank) T->first = 0;
  PetscCallMPI(MPI_Allreduce(&T->rows, &T->N, 1, MPIU_INT, MPI_SUM, comm));
  PetscCheck(T->N > 0 && (T->cols > 0 || form.named), comm, PETSC_ERR_FILE_UNEXPECTED, "%s: the file holds no numbers", file);
  PetscCall(PetscMalloc1((size_t)T->rows * T->cols, &T->value));
  if (form.named || form.sparse) PetscCall(PetscCalloc1(T->names_length + 1, &T->names));
  T->names_length = 0;
  PetscCall(EachLine(&X, T, &form, FillLine, &C));
  PetscCall(GpAppTextRaise(&X, &C));
  PetscCall(GpAppTextDestroy(&X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* how much of something each rank has, for gathers; bytes beyond what a message counts are refused */
static PetscErrorCode Counts(MPI_Comm comm, PetscInt64 mine, PetscMPIInt **counts, PetscMPIInt **displs)
{
  PetscMPIInt size, n;
  PetscInt64  total = 0;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(PetscMalloc2(size + 1, counts, size + 1, displs));
  PetscCall(GpCompatMPIIntCast(mine, &n));
  PetscCallMPI(MPI_Allgather(&n, 1, MPI_INT, *counts, 1, MPI_INT, comm));
  for (PetscMPIInt r = 0; r <= size; r++) {
    PetscCall(GpCompatMPIIntCast(total, &(*displs)[r]));
    if (r < size) total += (*counts)[r];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TableGather(const Table *T, PetscReal **all)
{
  PetscMPIInt *counts, *displs, n;
  MPI_Datatype row;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1((size_t)T->N * T->cols, all));
  PetscCall(Counts(T->comm, T->rows, &counts, &displs));
  PetscCall(PetscMPIIntCast(T->cols, &n));
  PetscCallMPI(MPI_Type_contiguous(n, MPIU_REAL, &row));
  PetscCallMPI(MPI_Type_commit(&row));
  PetscCall(PetscMPIIntCast(T->rows, &n));
  PetscCallMPI(MPI_Allgatherv(T->value, n, row, *all, counts, displs, row, T->comm));
  PetscCallMPI(MPI_Type_free(&row));
  PetscCall(PetscFree2(counts, displs));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TableNames(const Table *T, char **names)
{
  PetscMPIInt *counts, *displs, rank, size;

  PetscFunctionBegin;
  *names = NULL;
  if (!T->names) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Comm_rank(T->comm, &rank));
  PetscCallMPI(MPI_Comm_size(T->comm, &size));
  PetscCall(Counts(T->comm, (PetscInt64)T->names_length, &counts, &displs));
  if (!rank) PetscCall(PetscMalloc1((size_t)displs[size] + 1, names));
  PetscCallMPI(MPI_Gatherv(T->names, counts[rank], MPI_CHAR, *names, counts, displs, MPI_CHAR, 0, T->comm));
  PetscCall(PetscFree2(counts, displs));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a label for each point, the first word or number of its line; on the first rank */
PetscErrorCode LabelsRead(MPI_Comm comm, const char file[], PetscInt N, char **labels)
{
  PetscReal  *all;
  PetscMPIInt rank;
  Table       T;

  PetscFunctionBegin;
  PetscCall(TableRead(comm, file, PETSC_FALSE, &T));
  PetscCheck(T.N == N, comm, PETSC_ERR_FILE_UNEXPECTED, "%s: %" PetscInt_FMT " labels for %" PetscInt_FMT " points", file, T.N, N);
  PetscCall(TableNames(&T, labels));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  if (!T.names) {
    PetscCall(TableGather(&T, &all));
    if (!rank) {
      char *to;

      PetscCall(PetscMalloc1(32 * N, labels));
      to = *labels;
      for (PetscInt i = 0; i < N; i++) to += snprintf(to, 32, "%g", (double)all[(size_t)i * T.cols]) + 1;
    }
    PetscCall(PetscFree(all));
  }
  PetscCall(TableDestroy(&T));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TableDestroy(Table *T)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(T->value));
  PetscCall(PetscFree(T->names));
  PetscFunctionReturn(PETSC_SUCCESS);
}
