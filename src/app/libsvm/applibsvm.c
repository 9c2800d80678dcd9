/* Parallel reader of LIBSVM text: every rank parses its own lines, block by block. */
#include "app/libsvm/applibsvm.h"
#include "app/text/appcollective.h"
#include "app/text/appscan.h"
#include <stdint.h>
#include <string.h>

#define LIBSVM_MOST_ENTRIES(bytes) ((PetscInt64)(bytes) / 4 + 1) /* upper bound on the entries of a text of this length: the shortest entry is "1:1 " */

/* The parser on one rank, and the rows that it has parsed */
typedef struct {
  GpAppRows        *R;
  GpAppText        *T;
  GpAppComplaint    wrong;
  GpAppLibsvmLabels labels;
  PetscInt          mcap, nzcap, nz;
  size_t            namescap;
} LibsvmParser;

/* Records an error at p. The line must end with a newline character. */
static void LibsvmComplain(LibsvmParser *ps, const char *line, const char *p, int code, const char what[])
{
  GpAppComplainAt(&ps->wrong, code, ps->T->lines, p - line + 1, p, (const char *)memchr(p, '\n', (size_t)(ps->T->text + ps->T->length - p)), what);
}

/* Allocates memory for the given numbers of rows and entries, if they fit PetscInt. */
static PetscErrorCode LibsvmReserve(LibsvmParser *ps, PetscInt64 rows, PetscInt64 entries)
{
  GpAppRows *R = ps->R;

  PetscFunctionBegin;
  if (rows > ps->mcap && ps->mcap < PETSC_MAX_INT) {
    ps->mcap = (PetscInt)PetscMin((PetscInt64)PETSC_MAX_INT, PetscMax(rows, 2 * (PetscInt64)ps->mcap));
    PetscCall(GpAppGrowArray(R->i ? (size_t)(R->m + 1) * sizeof(*R->i) : 0, (size_t)ps->mcap * sizeof(*R->i), &R->i));
    if (ps->labels == GP_LIBSVM_NUMBERS) PetscCall(GpAppGrowArray((size_t)R->m * sizeof(*R->label), (size_t)ps->mcap * sizeof(*R->label), &R->label));
    if (ps->labels == GP_LIBSVM_NUMBERS) PetscCall(GpAppGrowArray((size_t)R->m * sizeof(*R->query), (size_t)ps->mcap * sizeof(*R->query), &R->query));
  }
  if (entries > ps->nzcap && ps->nzcap < PETSC_MAX_INT) {
    ps->nzcap = (PetscInt)PetscMin((PetscInt64)PETSC_MAX_INT, PetscMax(entries, 2 * (PetscInt64)ps->nzcap));
    PetscCall(GpAppGrowArray((size_t)ps->nz * sizeof(*R->j), (size_t)ps->nzcap * sizeof(*R->j), &R->j));
    PetscCall(GpAppGrowArray((size_t)ps->nz * sizeof(*R->a), (size_t)ps->nzcap * sizeof(*R->a), &R->a));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscBool LibsvmEndsToken(char c)
{
  return (PetscBool)(GpAppIsBlank(c) || c == '\n' || c == '#');
}

/* Parses the features from p to the end of the line or to its comment. Returns the end of the features, or NULL after an error. */
static const char *LibsvmParseFeatures(LibsvmParser *ps, const char *line, const char *p)
{
  const PetscInt cap  = ps->nzcap;
  PetscInt       nz   = ps->nz;
  uint64_t       last = 0;
  PetscInt      *j    = ps->R->j;
  PetscScalar   *a    = ps->R->a;

  while (1) {
    const char *token, *end;
    uint64_t    index = 0;
    double      value;

    while (GpAppIsBlank(*p)) p++;
    if (*p == '\n' || *p == '#') break;
    for (token = p; GpAppIsDigit(*p); p++) index = 10 * index + (uint64_t)(*p - '0');
    if (*p != ':') end = NULL;
    else if (GpAppIsDigit(p[1]) && LibsvmEndsToken(p[2])) {
      value = p[1] - '0'; /* fast path: counts and indicators are mostly a single digit */
      end   = p + 2;
    } else end = GpAppScanReal(p + 1, &value);
    if (PetscLikely(end && index > last && index <= (uint64_t)PETSC_MAX_INT && p - token < 20 && LibsvmEndsToken(*end) && PetscAbsReal((PetscReal)value) <= PETSC_MAX_REAL && nz < cap)) {
      j[nz]   = (PetscInt)(index - 1);
      a[nz++] = (PetscReal)value;
      last    = index;
      p       = end;
      continue;
    }
    if (p == token) LibsvmComplain(ps, line, token, PETSC_ERR_FILE_UNEXPECTED, "expected <index>:<value>");
    else if (index > (uint64_t)PETSC_MAX_INT || p - token > 19) LibsvmComplain(ps, line, token, PETSC_ERR_FILE_UNEXPECTED, "the index does not fit PetscInt (is this PETSc built with 32-bit indices?)");
    else if (*p != ':') LibsvmComplain(ps, line, token, PETSC_ERR_FILE_UNEXPECTED, "expected <index>:<value>");
    else if (index == 0) LibsvmComplain(ps, line, token, PETSC_ERR_FILE_UNEXPECTED, "indices are counted from 1");
    else if (index <= last) LibsvmComplain(ps, line, token, PETSC_ERR_FILE_UNEXPECTED, "indices must ascend within a line");
    else if (!end || !LibsvmEndsToken(*end)) LibsvmComplain(ps, line, p + 1, PETSC_ERR_FILE_UNEXPECTED, "expected a finite number as value");
    else if (nz == cap) LibsvmComplain(ps, line, token, PETSC_ERR_FILE_UNEXPECTED, "the number of entries on a rank exceeds PetscInt: use more ranks or a PETSc with 64-bit indices");
    else LibsvmComplain(ps, line, p + 1, PETSC_ERR_FILE_UNEXPECTED, "the value is too large for double precision");
    return NULL;
  }
  if ((PetscInt)last > ps->R->N) {
    ps->R->N      = (PetscInt)last;
    ps->R->widest = ps->T->lines;
  }
  ps->nz = nz;
  return p;
}

/* Tells whether <index>: is at p. */
static PetscBool LibsvmIsItem(const char *p)
{
  const char *q = p;

  while (GpAppIsDigit(*q)) q++;
  return (PetscBool)(q > p && *q == ':');
}

/* Parses the first word of a line. Returns the position after it, or NULL after an error. */
static const char *LibsvmParseLabel(LibsvmParser *ps, const char *line, const char *p, double *label)
{
  const char *q = p;

  if (ps->labels == GP_LIBSVM_NUMBERS) {
    q = GpAppScanReal(p, label);
    if (!q || !LibsvmEndsToken(*q)) LibsvmComplain(ps, line, p, PETSC_ERR_FILE_UNEXPECTED, "expected a finite number as label");
    else if (PetscAbsReal((PetscReal)*label) > PETSC_MAX_REAL) LibsvmComplain(ps, line, p, PETSC_ERR_FILE_UNEXPECTED, "the label is too large for double precision");
  } else if (!LibsvmIsItem(p)) {
    while (!GpAppIsEnd(*q)) q++;
  } else if (ps->labels == GP_LIBSVM_NAMES) LibsvmComplain(ps, line, p, PETSC_ERR_FILE_UNEXPECTED, "expected a label before <index>:<value>");
  if (ps->labels == GP_LIBSVM_NAMES && !ps->wrong.code) {
    memcpy(ps->R->names + ps->R->named, p, (size_t)(q - p));
    ps->R->named += (size_t)(q - p);
    ps->R->names[ps->R->named++] = 0;
  }
  return ps->wrong.code ? NULL : q;
}

/* Parses "qid:<number>", if it is the next word. Returns the position after it, or NULL after an error. */
static const char *LibsvmParseQuery(LibsvmParser *ps, const char *line, const char *p, double *query)
{
  const char *q = GpAppSkipBlanks(p);

  if (strncmp(q, "qid:", 4)) return q;
  ps->R->ranked = PETSC_TRUE;
  for (p = q, q += 4, *query = 0; GpAppIsDigit(*q); q++) *query = 10 * *query + (*q - '0');
  if (q > p + 4 && LibsvmEndsToken(*q)) return q;
  LibsvmComplain(ps, line, p, PETSC_ERR_FILE_UNEXPECTED, "expected qid:<number>");
  return NULL;
}

/* Parses a line with a row. *at: its first word; afterwards the end of what was parsed, or NULL after an error. */
static PetscErrorCode LibsvmParseRow(LibsvmParser *ps, const char *line, const char **at)
{
  GpAppRows  *R     = ps->R;
  double      label = 0, query = -1;
  const char *p = *at;

  PetscFunctionBegin;
  PetscCall(LibsvmReserve(ps, (PetscInt64)R->m + 2, 0));
  p = LibsvmParseLabel(ps, line, p, &label);
  if (p) p = LibsvmParseQuery(ps, line, p, &query);
  if (p && R->m + 1 >= ps->mcap) LibsvmComplain(ps, line, line, PETSC_ERR_FILE_UNEXPECTED, "the number of examples on a rank exceeds PetscInt: use more ranks or a PETSc with 64-bit indices");
  p   = p && !ps->wrong.code ? LibsvmParseFeatures(ps, line, p) : NULL;
  *at = p;
  if (!p) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(GpAppRowLinesNote(&R->lines, R->m, ps->T->lines));
  if (ps->labels == GP_LIBSVM_NUMBERS) {
    R->label[R->m] = (PetscReal)label;
    R->query[R->m] = (PetscReal)query;
  }
  R->i[++R->m] = ps->nz;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Appends the rows of the lines in memory. An error in a line is recorded in ps->wrong. The return value reports other failures. */
static PetscErrorCode LibsvmParseLines(LibsvmParser *ps)
{
  const char  *end  = ps->T->text + ps->T->length;
  const size_t want = ps->R->named + ps->T->length; /* a name takes no more bytes than its word and the character behind it */

  PetscFunctionBegin;
  PetscCall(LibsvmReserve(ps, 0, ps->nz + LIBSVM_MOST_ENTRIES(ps->T->length)));
  if (ps->labels == GP_LIBSVM_NAMES && want > ps->namescap) {
    ps->namescap = PetscMax(want, 2 * ps->namescap);
    PetscCall(GpAppGrowArray(ps->R->named, ps->namescap, &ps->R->names));
  }
  for (const char *line = ps->T->text, *p; line < end; line = p + 1) {
    ps->T->lines++;
    p = GpAppSkipBlanks(line);
    if (*p != '\n' && *p != '#' && !(ps->labels != GP_LIBSVM_NUMBERS && *p == '%')) PetscCall(LibsvmParseRow(ps, line, &p));
    if (!p) break;
    if (*p != '\n') p = (const char *)memchr(p, '\n', (size_t)(end - p));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the sizes over all ranks. Refuses numbers of rows that exceed PetscInt. */
static PetscErrorCode LibsvmSumSizes(GpAppRows *R, PetscInt nz)
{
  PetscInt64 rows, widest;
  PetscInt   N = R->N;

  PetscFunctionBegin;
  PetscCall(GpAppFindAny(R->comm, R->ranked, &R->ranked));
  PetscCall(GpAppSumBefore(R->comm, R->m, NULL, &rows));
  PetscCall(GpAppSumBefore(R->comm, nz, NULL, &R->nnz));
  PetscCall(GpAppSumBefore(R->comm, R->bytes, NULL, &R->bytes));
  PetscCallMPI(MPI_Allreduce(&N, &R->N, 1, MPIU_INT, MPI_MAX, R->comm));
  widest = N && N == R->N ? R->widest + R->lines.before : INT64_MAX;
  PetscCallMPI(MPI_Allreduce(&widest, &R->widest, 1, MPIU_INT64, MPI_MIN, R->comm));
  if (!R->N) R->widest = 0;
  PetscCheck(rows > 0, R->comm, PETSC_ERR_FILE_UNEXPECTED, "%s: the file holds no examples, expected lines of the form: <label> <index>:<value> ...", R->file);
  PetscCheck(rows <= PETSC_MAX_INT, R->comm, PETSC_ERR_FILE_UNEXPECTED, "%s: %" PetscInt64_FMT " examples do not fit PetscInt: use a PETSc with 64-bit indices", R->file, rows);
  R->M = (PetscInt)rows;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Parses the lines of this rank. If the length of the text is known, memory for the largest possible content is reserved at the start: the system supplies only pages that are written. */
static PetscErrorCode LibsvmParseText(LibsvmParser *ps)
{
  const size_t     block = (size_t)1 << 20; /* small enough for the cache */
  const PetscInt64 bytes = ps->T->left + (PetscInt64)ps->T->ahead;

  PetscFunctionBegin;
  PetscCall(LibsvmReserve(ps, 1024 + bytes / 32, 1 + LIBSVM_MOST_ENTRIES(bytes))); /* few rows take less than 32 bytes of text */
  ps->R->i[0] = 0;
  do {
    PetscCall(GpAppTextNext(ps->T, block));
    PetscCall(LibsvmParseLines(ps));
    ps->R->bytes += (PetscInt64)ps->T->length;
  } while (ps->T->length && !ps->wrong.code);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Tells whether the first lines of a text are LIBSVM. Positive: most lines have <index>: or qid: behind the first word, or another colon and no delimiter of tables.
   Negative: most lines are those of a table. 0: all lines have one word. Collective. */
PetscErrorCode GpAppTextGuessLibsvm(const GpAppText *T, int *votes)
{
  char begin[4097];

  PetscFunctionBegin;
  *votes = 0;
  PetscCall(GpAppTextBeginning(T, begin, sizeof(begin)));
  for (char *p = begin, *end; *p; p = end) {
    const char *q;

    end = p + strcspn(p, "\n");
    if (!*end && *votes) break; /* this line may be incomplete */
    if (*end) *end++ = 0;
    p += strspn(p, " \t\r");
    if (*p == '%') continue;
    p[strcspn(p, "#")] = 0;
    q                  = p + strcspn(p, " \t\r");
    q += strspn(q, " \t\r");
    if (LibsvmIsItem(q) || (!strncmp(q, "qid:", 4) && q[4]) || (strchr(q, ':') && !strpbrk(p, ",;"))) ++*votes;
    else if (*q || strpbrk(p, ",;")) --*votes;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  GpAppLibsvmParse - Reads sparse rows from LIBSVM text

  Collective

  Input Parameters:
+ T      - the text, just opened by GpAppTextOpen(); it is destroyed in any case
- labels - what the first word of a line has to be

  Output Parameter:
. R - the rows, to be freed by GpAppRowsDestroy(). Nothing is left to free after an error.

  Notes:
  A line holds a label, qid:<number> or nothing, and features as <index>:<value>. Indices are counted from 1 and ascend. Blank lines, comments from # to
  the end of a line and carriage returns are ignored. Unless labels are numbers, lines that begin with % are comments too. A label that is ignored may be missing.

  Anything else is an error that names the line and the column, raised on all ranks.
*/
PetscErrorCode GpAppLibsvmParse(GpAppText *T, GpAppLibsvmLabels labels, GpAppRows *R)
{
  LibsvmParser   ps = {.R = R, .T = T, .labels = labels};
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(R, sizeof(*R)));
  R->comm = T->comm;
  PetscCall(PetscStrncpy(R->file, T->file, sizeof(R->file)));
  PetscCall(LibsvmParseText(&ps));
  ierr = GpAppTextRaise(T, &ps.wrong);
  if (!ierr) {
    R->lines.before = T->before;
    PetscCall(GpAppTextDestroy(T));
    ierr = LibsvmSumSizes(R, ps.nz);
  }
  if (ierr) PetscCall(GpAppRowsDestroy(R));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}
