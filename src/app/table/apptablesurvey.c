/* The first two passes over a table: they find its delimiter and the common properties of its lines and columns. */
#define _POSIX_C_SOURCE 200809L
#include "app/table/apptablefield.h"
#include "app/text/appscan.h"
#include <string.h>

/* Counts which of ; tab , occur outside quotes. A tab after a comma or a semicolon is padding. */
static void SurveyDelimiters(const char *p, const char *eol, PetscInt64 count[3])
{
  PetscBool inside = PETSC_FALSE, have[3] = {PETSC_FALSE, PETSC_FALSE, PETSC_FALSE};
  char      before = ',';

  for (; p < eol; p++) {
    if (*p == '"' && (inside || before == ',' || before == ';' || before == '\t' || before == ' ')) inside = (PetscBool)!inside;
    else if (!inside) {
      if (*p == ';') have[0] = PETSC_TRUE;
      if (*p == '\t' && before != ',' && before != ';') have[1] = PETSC_TRUE;
      if (*p == ',') have[2] = PETSC_TRUE;
    }
    before = *p;
  }
  for (int d = 0; d < 3; d++) count[d] += have[d];
}

/* Chooses the delimiter that occurs on all lines, else on most. The fields of an earlier one may contain later ones, for example decimal commas. */
static char SurveyChooseDelimiter(const PetscInt64 count[3], PetscInt64 lines)
{
  for (int d = 0; d < 3; d++)
    if (count[d] == lines) return ";\t,"[d];
  for (int d = 0; d < 3; d++)
    if (2 * count[d] > lines) return ";\t,"[d];
  return ' ';
}

/* Counts lines, chooses the delimiter, and broadcasts the first data line. */
static PetscErrorCode SurveyLines(const GpAppText *X, GpAppTableSurvey *S, GpAppComplaint *C)
{
  GpAppLines  L        = {X->text, X->text + X->length};
  PetscInt64  count[5] = {0}, all[5], length = 0;
  PetscMPIInt holder, rank;
  PetscBool   found;

  PetscFunctionBegin;
  for (const char *p; (p = GpAppLinesNext(&L, GP_TABLE_COMMENT));) {
    if (!count[3]) {
      S->here = p;
      length  = L.eol - p + 1;
    }
    SurveyDelimiters(p, L.eol, count);
    count[3]++;
  }
  count[4] = L.comments;
  PetscCallMPI(MPI_Comm_rank(X->comm, &rank));
  PetscCallMPI(MPI_Allreduce(count, all, 5, MPIU_INT64, MPI_SUM, X->comm));
  PetscCall(GpAppSumBefore(X->comm, count[3], &S->offset, NULL));
  S->lines    = all[3];
  S->comments = all[4];
  if (!S->delimiter) S->delimiter = SurveyChooseDelimiter(all, S->lines);
  PetscCall(GpAppFindFirst(X->comm, (PetscBool)(count[3] > 0), &holder, &found));
  if (rank != holder) S->here = NULL;
  if (!found) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Bcast(&length, 1, MPIU_INT64, holder, X->comm));
  if (length >= PETSC_MPI_INT_MAX) {
    GpAppComplain(C, 0, "", "", "expected a first line of at most 2147483646 bytes");
    S->lines = 0;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscMalloc1(length + 1, &S->first));
  S->first[length] = 0;
  if (rank == holder) PetscCall(PetscArraycpy(S->first, S->here, length));
  PetscCallMPI(MPI_Bcast(S->first, (PetscMPIInt)length, MPI_CHAR, holder, X->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void SurveyField(GpAppTableSurvey *S, const GpAppField *f, GpAppFieldKind kind, GpAppTableColumn *c)
{
  c->bytes += f->end - f->begin + 1;
  c->words += kind == GP_FIELD_WORD;
  c->flags |= kind == GP_FIELD_WORD ? GP_COLUMN_WORD : kind == GP_FIELD_MISSING || kind == GP_FIELD_NAN ? GP_COLUMN_MISSING : GP_COLUMN_NUMBER;
  if (f->quoted) c->flags |= GP_COLUMN_QUOTED;
  else if (f->begin < f->end) c->flags |= GP_COLUMN_UNQUOTED;
  if (GpAppTableTakesCommas(S->delimiter) && kind == GP_FIELD_NUMBER && memchr(f->begin, ',', (size_t)(f->end - f->begin))) S->comma = PETSC_TRUE;
}

/* Surveys data line number `number`, counted from 0 over all ranks, which is not the first one. */
static PetscErrorCode SurveyLine(GpAppTableSurvey *S, PetscInt64 number, const char *p, const char *eol, PetscInt64 line, PetscInt64 *capacity, GpAppComplaint *C)
{
  const char    *at = p;
  PetscInt64     k  = 0;
  GpAppFieldKind kind;
  double         value;

  PetscFunctionBegin;
  for (; at; k++) {
    const GpAppField f = GpAppFieldGet(at, eol, S->delimiter);

    if (f.quotes != GP_QUOTES_GOOD) {
      GpAppComplainAt(C, PETSC_ERR_FILE_UNEXPECTED, line, f.begin - p, f.begin - 1, eol,
                      f.quotes == GP_QUOTES_OPEN ? "expected a closing quote on the same line (newlines in quotes are not understood)" : "expected a delimiter behind the closing quote (a quote in a quoted field is doubled)");
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    if (k == *capacity) {
      const PetscInt64 more = PetscMax(2 * *capacity, (PetscInt64)64);

      PetscCall(PetscRealloc((size_t)more * sizeof(GpAppTableColumn), &S->column));
      PetscCall(PetscArrayzero(S->column + *capacity, more - *capacity));
      *capacity = more;
    }
    kind = GpAppFieldClassify(&f, GpAppTableTakesCommas(S->delimiter), &value);
    SurveyField(S, &f, kind, &S->column[k]);
    if (!k) {
      S->repeats[0] = (PetscBool)(S->repeats[0] && number <= S->kfirst && GpAppFieldIsSame(&f, &S->field[number - 1].field));
      S->repeats[1] = (PetscBool)(S->repeats[1] && number < S->kfirst && GpAppFieldIsSame(&f, &S->field[number].field));
      S->seqmin     = PetscMin(S->seqmin, kind == GP_FIELD_NUMBER ? value - (double)number : -PETSC_MAX_REAL);
      S->seqmax     = PetscMax(S->seqmax, kind == GP_FIELD_NUMBER ? value - (double)number : PETSC_MAX_REAL);
    }
    if (k == number && kind != GP_FIELD_MISSING) S->diagonal = PETSC_FALSE;
    if (!f.next && kind != GP_FIELD_MISSING && value != 0) S->zeros = PETSC_FALSE;
    at = f.next;
  }
  if (k <= number) S->diagonal = PETSC_FALSE;
  S->kmin = PetscMin(S->kmin, k);
  S->kmax = PetscMax(S->kmax, k);
  S->smin = PetscMin(S->smin, k - number);
  S->smax = PetscMax(S->smax, k - number);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Combines the results of the ranks. */
static PetscErrorCode SurveyReduce(MPI_Comm comm, PetscInt64 capacity, GpAppTableSurvey *S, GpAppComplaint *C)
{
  PetscInt64  least[]   = {S->kmin, -S->kmax, S->smin, -S->smax, S->repeats[0], S->repeats[1], S->diagonal, S->zeros, !S->comma};
  double      extreme[] = {S->seqmin, -S->seqmax};
  PetscInt64 *both;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, least, sizeof(least) / sizeof(least[0]), MPIU_INT64, MPI_MIN, comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, extreme, 2, MPI_DOUBLE, MPI_MIN, comm));
  S->kmin       = least[0];
  S->kmax       = -least[1];
  S->smin       = least[2];
  S->smax       = -least[3];
  S->repeats[0] = (PetscBool)(least[4] && S->lines == S->kfirst + 1);
  S->repeats[1] = (PetscBool)(least[5] && S->lines == S->kfirst);
  S->diagonal   = (PetscBool)(least[6] && S->lines == S->kfirst);
  S->zeros      = (PetscBool)least[7];
  S->comma      = (PetscBool)!least[8];
  S->seqmin     = extreme[0];
  S->seqmax     = -extreme[1];
  if (S->kmax >= PETSC_MPI_INT_MAX) {
    GpAppComplain(C, 0, "", "", "expected lines of at most 2147483646 fields");
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscRealloc((size_t)PetscMax(S->kmax, 1) * sizeof(GpAppTableColumn), &S->column));
  if (capacity < S->kmax) PetscCall(PetscArrayzero(S->column + capacity, S->kmax - capacity));
  PetscCall(PetscMalloc1(S->kmax, &both));
  for (PetscInt64 j = 0; j < S->kmax; j++) both[j] = S->column[j].flags;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, both, (PetscMPIInt)S->kmax, MPIU_INT64, MPI_BOR, comm));
  for (PetscInt64 j = 0; j < S->kmax; j++) {
    S->column[j].flags = both[j];
    both[j]            = S->column[j].words;
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, both, (PetscMPIInt)S->kmax, MPIU_INT64, MPI_SUM, comm));
  for (PetscInt64 j = 0; j < S->kmax; j++) S->column[j].words = both[j];
  PetscCall(PetscFree(both));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Splits the first data line into its fields. */
static PetscErrorCode SurveyFirst(GpAppTableSurvey *S)
{
  const char      *eol = strchr(S->first, '\n');
  GpAppTableColumn c   = {0};

  PetscFunctionBegin;
  for (const char *at = S->first; at; S->kfirst++) at = GpAppFieldGet(at, eol, S->delimiter).next;
  PetscCall(PetscMalloc1(S->kfirst, &S->field));
  S->field[0].field.next = S->first;
  for (PetscInt k = 0; k < S->kfirst; k++) {
    GpAppTableFirst *f = &S->field[k];

    f->field = GpAppFieldGet(S->field[PetscMax(k - 1, 0)].field.next, eol, S->delimiter);
    f->kind  = GpAppFieldClassify(&f->field, GpAppTableTakesCommas(S->delimiter), &f->value);
    f->empty = (PetscBool)(f->field.begin == f->field.end);
    SurveyField(S, &f->field, f->kind, &c);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finds out what the lines of a table have in common. Collective.
   The survey is the same on all ranks except offset, here and the bytes of columns. It is of no use if any rank has a complaint. */
PetscErrorCode GpAppTableSurveyLines(const GpAppText *X, const GpAppTableSpec *spec, GpAppTableSurvey *S, GpAppComplaint *C)
{
  GpAppLines L        = {X->text, X->text + X->length};
  PetscInt64 capacity = 0, number;

  PetscFunctionBegin;
  *S           = (GpAppTableSurvey){.kmin = INT64_MAX, .smin = INT64_MAX, .smax = -INT64_MAX, .repeats = {PETSC_TRUE, PETSC_TRUE}, .diagonal = PETSC_TRUE, .zeros = PETSC_TRUE, .seqmin = PETSC_MAX_REAL, .seqmax = -PETSC_MAX_REAL};
  S->delimiter = spec->delimiter;
  PetscCall(SurveyLines(X, S, C));
  if (spec->lines && S->delimiter == ' ' && !spec->delimiter) S->delimiter = '\n';
  if (!S->lines) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SurveyFirst(S));
  number = S->offset;
  for (const char *p; !C->code && (p = GpAppLinesNext(&L, GP_TABLE_COMMENT));) {
    if (p != S->here) PetscCall(SurveyLine(S, number, p, L.eol, L.line, &capacity, C));
    else
      for (PetscInt k = 0; k < S->kfirst; k++)
        if (S->field[k].field.quotes != GP_QUOTES_GOOD) GpAppComplain(C, L.line, S->field[k].field.begin - 1, L.eol, "expected a closing quote, and a delimiter behind it");
    number++;
  }
  PetscCall(SurveyReduce(X->comm, capacity, S, C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GpAppTableSurveyDestroy(GpAppTableSurvey *S)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(S->first));
  PetscCall(PetscFree(S->field));
  PetscCall(PetscFree(S->column));
  PetscFunctionReturn(PETSC_SUCCESS);
}
