/* Parser of LIBSVM text. A line holds a label, features in ascending order, and optionally a comment. */
#include "app/text/appscan.h"
#include "examples.h"
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Records an error at p. The line must end with a newline character. */
static void BMRMParserComplain(BMRMParser *ps, const char *line, const char *p, int code, const char what[])
{
  GpAppComplainAt(&ps->wrong, code, ps->text.lines, p - line + 1, p, (const char *)memchr(p, '\n', (size_t)(ps->text.text + ps->text.length - p)), what);
}

#if defined(MADV_HUGEPAGE) || defined(MADV_DONTNEED)
/* Calls madvise() for the whole pages of a range of memory. Failure is ignored. */
static void BMRMAdvisePages(void *start, size_t bytes, int advice)
{
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = ((uintptr_t)start + page - 1) / page * page, end = ((uintptr_t)start + bytes) / page * page;

  if (first < end) (void)madvise((void *)first, end - first, advice);
}
#endif

/* Requests huge pages for memory that will be written from end to end. Page faults of small pages would take a third of the time.
   Small ranges are left out: on average, half of the last huge page is wasted. */
void BMRMWantLargePages(void *start, size_t bytes)
{
#if defined(MADV_HUGEPAGE)
  if (bytes >= (size_t)1 << 22) BMRMAdvisePages(start, bytes, MADV_HUGEPAGE);
#endif
}

/* Returns the pages of memory to the system before the memory itself is freed. The content is lost. */
void BMRMGiveBackPages(void *start, size_t bytes)
{
#if defined(MADV_DONTNEED)
  BMRMAdvisePages(start, bytes, MADV_DONTNEED);
#endif
}

/* Enlarges the array whose address is at `array`. PetscRealloc() may copy the array, and the heap may never return the pages of the old one to the system. */
static PetscErrorCode BMRMGrowArray(size_t used, size_t bytes, void *array)
{
  const size_t piece = (size_t)1 << 20;
  char        *from  = *(char **)array, *to;

  PetscFunctionBegin;
  PetscCall(PetscMalloc(bytes, &to));
  BMRMWantLargePages(to, bytes);
  for (size_t done = 0, now; done < used; done += now) {
    now = PetscMin(piece, used - done);
    memcpy(to + done, from + done, now);
    BMRMGiveBackPages(from + done, now);
  }
  PetscCall(PetscFree(from));
  *(char **)array = to;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Allocates memory for the given numbers of rows and entries, if they fit PetscInt. */
PetscErrorCode BMRMParserReserve(BMRMParser *ps, PetscInt64 rows, PetscInt64 entries)
{
  BMRMExamples *ex = ps->ex;

  PetscFunctionBegin;
  if (rows > ps->mcap && ps->mcap < PETSC_MAX_INT) {
    ps->mcap = (PetscInt)PetscMin((PetscInt64)PETSC_MAX_INT, PetscMax(rows, 2 * (PetscInt64)ps->mcap));
    PetscCall(BMRMGrowArray(ex->i ? (size_t)(ex->m + 1) * sizeof(*ex->i) : 0, (size_t)ps->mcap * sizeof(*ex->i), &ex->i));
    PetscCall(BMRMGrowArray((size_t)ex->m * sizeof(*ex->label), (size_t)ps->mcap * sizeof(*ex->label), &ex->label));
    PetscCall(BMRMGrowArray((size_t)ex->m * sizeof(*ex->query), (size_t)ps->mcap * sizeof(*ex->query), &ex->query));
  }
  if (entries > ps->nzcap && ps->nzcap < PETSC_MAX_INT) {
    ps->nzcap = (PetscInt)PetscMin((PetscInt64)PETSC_MAX_INT, PetscMax(entries, 2 * (PetscInt64)ps->nzcap));
    PetscCall(BMRMGrowArray((size_t)ps->nz * sizeof(*ex->j), (size_t)ps->nzcap * sizeof(*ex->j), &ex->j));
    PetscCall(BMRMGrowArray((size_t)ps->nz * sizeof(*ex->a), (size_t)ps->nzcap * sizeof(*ex->a), &ex->a));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscBool BMRMEndsToken(char c)
{
  return (PetscBool)(GpAppIsBlank(c) || c == '\n' || c == '#');
}

/* Parses the features from p to the end of the line or to its comment. Returns the end of the features, or NULL after an error. */
static const char *BMRMParseFeatures(BMRMParser *ps, const char *line, const char *p)
{
  const PetscInt cap  = ps->nzcap;
  PetscInt       nz   = ps->nz;
  uint64_t       last = 0;
  PetscInt      *j    = ps->ex->j;
  PetscScalar   *a    = ps->ex->a;

  while (1) {
    const char *token, *end;
    uint64_t    index = 0;
    double      value;

    while (GpAppIsBlank(*p)) p++;
    if (*p == '\n' || *p == '#') break;
    for (token = p; GpAppIsDigit(*p); p++) index = 10 * index + (uint64_t)(*p - '0');
    if (*p != ':') end = NULL;
    else if (GpAppIsDigit(p[1]) && BMRMEndsToken(p[2])) {
      value = p[1] - '0'; /* fast path: counts and indicators are mostly a single digit */
      end   = p + 2;
    } else end = GpAppScanReal(p + 1, &value);
    if (PetscLikely(end && index > last && index <= (uint64_t)PETSC_MAX_INT && p - token < 20 && BMRMEndsToken(*end) && PetscAbsReal((PetscReal)value) <= PETSC_MAX_REAL && nz < cap)) {
      j[nz]   = (PetscInt)(index - 1);
      a[nz++] = (PetscReal)value;
      last    = index;
      p       = end;
      continue;
    }
    if (p == token) BMRMParserComplain(ps, line, token, PETSC_ERR_FILE_UNEXPECTED, "expected <index>:<value>");
    else if (index > (uint64_t)PETSC_MAX_INT || p - token > 19) BMRMParserComplain(ps, line, token, PETSC_ERR_FILE_UNEXPECTED, "the index does not fit PetscInt (is this PETSc built with 32-bit indices?)");
    else if (*p != ':') BMRMParserComplain(ps, line, token, PETSC_ERR_FILE_UNEXPECTED, "expected <index>:<value>");
    else if (index == 0) BMRMParserComplain(ps, line, token, PETSC_ERR_FILE_UNEXPECTED, "indices are counted from 1");
    else if (index <= last) BMRMParserComplain(ps, line, token, PETSC_ERR_FILE_UNEXPECTED, "indices must ascend within a line");
    else if (!end || !BMRMEndsToken(*end)) BMRMParserComplain(ps, line, p + 1, PETSC_ERR_FILE_UNEXPECTED, "expected a finite number as value");
    else if (nz == cap) BMRMParserComplain(ps, line, token, PETSC_ERR_FILE_UNEXPECTED, "the number of entries on a rank exceeds PetscInt: use more ranks or a PETSc with 64-bit indices");
    else BMRMParserComplain(ps, line, p + 1, PETSC_ERR_FILE_UNEXPECTED, "the value is too large for double precision");
    return NULL;
  }
  if ((PetscInt)last > ps->ex->N) {
    ps->ex->N      = (PetscInt)last;
    ps->ex->widest = ps->text.lines;
  }
  ps->nz = nz;
  return p;
}

/* Parses a label and an optional "qid:" token. Returns the position after them, or NULL after an error. */
static const char *BMRMParseLabel(BMRMParser *ps, const char *line, const char *p, double *label, double *query)
{
  const char *q = GpAppScanReal(p, label);

  if (!q || !BMRMEndsToken(*q)) BMRMParserComplain(ps, line, p, PETSC_ERR_FILE_UNEXPECTED, "expected a finite number as label");
  else if (PetscAbsReal((PetscReal)*label) > PETSC_MAX_REAL) BMRMParserComplain(ps, line, p, PETSC_ERR_FILE_UNEXPECTED, "the label is too large for double precision");
  if (ps->wrong.code) return NULL;
  while (GpAppIsBlank(*q)) q++;
  if (strncmp(q, "qid:", 4)) return q;
  ps->ex->ranked = PETSC_TRUE;
  for (p = q, q += 4, *query = 0; GpAppIsDigit(*q); q++) *query = 10 * *query + (*q - '0');
  if (q > p + 4 && BMRMEndsToken(*q)) return q;
  BMRMParserComplain(ps, line, p, PETSC_ERR_FILE_UNEXPECTED, "expected qid:<number>");
  return NULL;
}

/*
  BMRMParseLines - Appends the examples of the lines in memory

  Input Parameter:
. ps - the text and the rows so far

  Note:
  An error in a line is recorded in ps->wrong. The return value reports other failures.
*/
PetscErrorCode BMRMParseLines(BMRMParser *ps)
{
  BMRMExamples *ex  = ps->ex;
  const char   *end = ps->text.text + ps->text.length;

  PetscFunctionBegin;
  PetscCall(BMRMParserReserve(ps, 0, ps->nz + BMRM_MOST_ENTRIES(ps->text.length)));
  for (const char *line = ps->text.text, *p; line < end; line = p + 1) {
    double label = 0, query = -1;

    ps->text.lines++;
    for (p = line; GpAppIsBlank(*p);) p++;
    if (*p != '\n' && *p != '#') {
      PetscCall(BMRMParserReserve(ps, (PetscInt64)ex->m + 2, 0));
      p = BMRMParseLabel(ps, line, p, &label, &query);
      if (p && ex->m + 1 >= ps->mcap) BMRMParserComplain(ps, line, line, PETSC_ERR_FILE_UNEXPECTED, "the number of examples on a rank exceeds PetscInt: use more ranks or a PETSc with 64-bit indices");
      p = p && !ps->wrong.code ? BMRMParseFeatures(ps, line, p) : NULL;
      if (!p) break;
      BMRMExamplesNoteClass(ex, (PetscReal)label, ps->text.lines);
      PetscCall(BMRMExamplesNoteLine(ex, ps->text.lines));
      ex->query[ex->m]   = (PetscReal)query;
      ex->label[ex->m++] = (PetscReal)label;
      ex->i[ex->m]       = ps->nz;
    }
    if (*p != '\n') p = (const char *)memchr(p, '\n', (size_t)(end - p));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
