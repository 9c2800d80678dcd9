/* Reader of feature vectors in LIBSVM format.  A line has a label and items <feature>:<value> with ascending features, counted from 1.  Features
   that are not listed are 0. */
#include "smacof.h"
#include "app/text/appscan.h"
#include <stdlib.h>
#include <string.h>

#define DENSE_FREE  ((double)(1 << 28)) /* size of the dense vectors in bytes that is always accepted */
#define DENSE_RATIO 1024.0              /* larger dense vectors may have at most this many bytes for each byte of the file */

/* Returns the start of the next line of data, skipping blank lines and comments. */
static const char *LibsvmNextLine(const char *p, const char *end, PetscInt64 *line)
{
  for (; p < end; p = (const char *)memchr(p, '\n', (size_t)(end - p)) + 1) {
    const char *q = p;

    ++*line;
    while (GpAppIsBlank(*q)) q++;
    if (*q != '\n' && *q != '#' && *q != '%') return q;
  }
  return NULL;
}

static const char *LibsvmSkipWord(const char *p)
{
  while (!GpAppIsBlank(*p) && *p != '\n') p++;
  return p;
}

static const char *LibsvmSkipBlanks(const char *p)
{
  while (GpAppIsBlank(*p)) p++;
  return p;
}

/* Returns the position after "<digits>:" at p, or NULL if p does not start so. */
static const char *LibsvmSkipIndex(const char *p)
{
  const char *q = p;

  while (GpAppIsDigit(*q)) q++;
  return q > p && *q == ':' ? q + 1 : NULL;
}

/* Tells whether most lines of the text end with <digits>:<value>.  Collective. */
PetscErrorCode LibsvmIs(const GpAppText *X, PetscBool *is)
{
  PetscInt64 count[2] = {0, 0}, line = 0;

  PetscFunctionBegin;
  for (const char *p = X->text, *end = X->text + X->length, *eol; (p = LibsvmNextLine(p, end, &line)); p = eol + 1) {
    const char *last;

    eol = last = (const char *)memchr(p, '\n', (size_t)(end - p));
    while (last > p && GpAppIsBlank(last[-1])) last--;
    while (last > p && !GpAppIsBlank(last[-1])) last--;
    count[0]++;
    count[1] += last > p && LibsvmSkipIndex(last);
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, count, 2, MPIU_INT64, MPI_SUM, X->comm));
  *is = (PetscBool)(2 * count[1] > count[0]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Counts the local rows, bytes of names, and features.  largest is the line with the largest feature, for messages. */
static void LibsvmMeasure(const GpAppText *X, GpAppTable *T, size_t *bytes, PetscInt64 *largest, GpAppComplaint *C)
{
  PetscInt64 line = 0;

  for (const char *p = X->text, *end = X->text + X->length, *q; (p = LibsvmNextLine(p, end, &line)) && !C->code; p = (const char *)memchr(p, '\n', (size_t)(end - p)) + 1) {
    PetscInt64 before = 0;
    double     value;

    q = LibsvmSkipWord(p);
    *bytes += (size_t)(q - p) + 1;
    for (q = LibsvmSkipBlanks(q); *q != '\n' && !C->code; q = LibsvmSkipBlanks(LibsvmSkipWord(q))) {
      const char *colon = LibsvmSkipIndex(q), *after = colon ? GpAppScanReal(colon, &value) : NULL;
      const long  index = colon ? strtol(q, NULL, 10) : 0;

      if (!colon || index < 1 || index >= PETSC_MPI_INT_MAX) GpAppComplain(C, line, q, LibsvmSkipWord(q), "expected <feature>:<value>, features counted from 1");
      else if (index <= before) GpAppComplain(C, line, q, LibsvmSkipWord(q), "expected features in ascending order");
      else if (!after || after != LibsvmSkipWord(q) || PetscIsInfReal(value)) GpAppComplain(C, line, colon, LibsvmSkipWord(q), "expected a finite number");
      before = index;
      if (index <= T->cols) continue;
      T->cols  = (PetscInt)index;
      *largest = line;
    }
    T->rows++;
  }
}

static void LibsvmFill(const GpAppText *X, GpAppTable *T)
{
  PetscInt64 line = 0;
  PetscInt   row  = 0;
  char      *to   = T->words;

  for (const char *p = X->text, *end = X->text + X->length, *q; (p = LibsvmNextLine(p, end, &line)); p = (const char *)memchr(p, '\n', (size_t)(end - p)) + 1, row++) {
    q            = LibsvmSkipWord(p);
    T->line[row] = line + X->before;
    T->name[row] = to;
    memcpy(to, p, (size_t)(q - p));
    to += q - p;
    *to++ = 0;
    for (q = LibsvmSkipBlanks(q); *q != '\n'; q = LibsvmSkipBlanks(LibsvmSkipWord(q))) (void)GpAppScanReal(LibsvmSkipIndex(q), &T->value[(size_t)row * (size_t)T->cols + (size_t)strtol(q, NULL, 10) - 1]);
  }
}

/*
  LibsvmParse - Reads feature vectors in LIBSVM's format as a table; labels are row names

  Collective

  Input Parameter:
. X - all lines of the file; destroyed also if an error is raised

  Output Parameter:
. T - the table, to be freed with GpAppTableDestroy()
*/
PetscErrorCode LibsvmParse(GpAppText *X, GpAppTable *T)
{
  GpAppComplaint C       = {0};
  PetscInt64     largest = 0, file = (PetscInt64)X->length, sum[2];
  size_t         bytes = 1;
  PetscInt       cols;
  int            bad;
  PetscMPIInt    rank;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(T, sizeof(*T)));
  T->comm = X->comm;
  PetscCall(PetscStrncpy(T->file, X->file, sizeof(T->file)));
  LibsvmMeasure(X, T, &bytes, &largest, &C);
  sum[0] = T->rows;
  sum[1] = file;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sum, 2, MPIU_INT64, MPI_SUM, X->comm));
  PetscCallMPI(MPI_Allreduce(&T->cols, &cols, 1, MPIU_INT, MPI_MAX, X->comm));
  PetscCallMPI(MPI_Exscan(&T->rows, &T->first, 1, MPIU_INT, MPI_SUM, X->comm));
  PetscCallMPI(MPI_Comm_rank(X->comm, &rank));
  if (!rank) T->first = 0;
  bad = (double)cols * (double)sum[0] * sizeof(double) > PetscMax(DENSE_FREE, DENSE_RATIO * (double)sum[1]);
  if (bad && T->cols == cols && !C.code) {
    C.code = PETSC_ERR_FILE_UNEXPECTED;
    C.line = largest;
    (void)snprintf(C.what, sizeof(C.what), "with feature %" PetscInt_FMT ", %" PetscInt64_FMT " dense vectors take %.3g GB, too much for a file of %" PetscInt64_FMT " bytes: check the feature number", cols, sum[0],
                   (double)cols * (double)sum[0] * 8e-9, sum[1]);
  }
  PetscCall(GpAppTextRaise(X, &C));
  T->cols      = cols;
  T->N         = (PetscInt)sum[0];
  T->named     = PETSC_TRUE;
  T->delimiter = ' ';
  T->label     = -1;
  PetscCall(PetscCalloc1((size_t)T->rows * (size_t)cols, &T->value));
  PetscCall(PetscMalloc1(T->rows, &T->line));
  PetscCall(PetscMalloc1(T->rows, &T->name));
  PetscCall(PetscMalloc1(bytes, &T->words));
  LibsvmFill(X, T);
  PetscCall(GpAppTextDestroy(X));
  PetscFunctionReturn(PETSC_SUCCESS);
}
