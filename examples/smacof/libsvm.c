/* Reader of feature vectors in LIBSVM format.  A line has a label and items <feature>:<value> with ascending features, counted from 1.  Features
   that are not listed are 0. */
#include "smacof.h"
#include "app/text/appcollective.h"
#include "app/text/appscan.h"
#include <stdlib.h>
#include <string.h>

#define DENSE_FREE  ((double)(1 << 28)) /* size of the dense vectors in bytes that is always accepted */
#define DENSE_RATIO 1024.0              /* larger dense vectors may have at most this many bytes for each byte of the file */

/* Returns the next line of data without its leading blanks. */
static const char *LibsvmNextLine(GpAppLines *L)
{
  const char *p = GpAppLinesNext(L, "#%");

  return p ? GpAppSkipBlanks(p) : NULL;
}

static const char *LibsvmSkipWord(const char *p)
{
  while (!GpAppIsEnd(*p)) p++;
  return p;
}

static const char *LibsvmNextWord(const char *p)
{
  return GpAppSkipBlanks(LibsvmSkipWord(p));
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
  GpAppLines L        = {.next = X->text, .end = X->text + X->length};
  PetscInt64 count[2] = {0, 0};

  PetscFunctionBegin;
  for (const char *p; (p = LibsvmNextLine(&L)); count[0]++) {
    const char *last = L.eol;

    while (last > p && GpAppIsBlank(last[-1])) last--;
    while (last > p && !GpAppIsBlank(last[-1])) last--;
    count[1] += last > p && LibsvmSkipIndex(last);
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, count, 2, MPIU_INT64, MPI_SUM, X->comm));
  *is = (PetscBool)(2 * count[1] > count[0]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Counts the local rows, bytes of names, and features.  largest is the line with the largest feature, for messages. */
static void LibsvmMeasure(const GpAppText *X, GpAppTable *T, size_t *bytes, PetscInt64 *largest, GpAppComplaint *C)
{
  GpAppLines L = {.next = X->text, .end = X->text + X->length};

  for (const char *p; (p = LibsvmNextLine(&L)) && !C->code; T->rows++) {
    PetscInt64 before = 0;
    double     value;

    *bytes += (size_t)(LibsvmSkipWord(p) - p) + 1;
    for (const char *q = LibsvmNextWord(p); *q != '\n' && !C->code; q = LibsvmNextWord(q)) {
      const char *colon = LibsvmSkipIndex(q), *after = colon ? GpAppScanReal(colon, &value) : NULL;
      const long  index = colon ? strtol(q, NULL, 10) : 0;

      if (!colon || index < 1 || index >= PETSC_MPI_INT_MAX) GpAppComplain(C, L.line, q, LibsvmSkipWord(q), "expected <feature>:<value>, features counted from 1");
      else if (index <= before) GpAppComplain(C, L.line, q, LibsvmSkipWord(q), "expected features in ascending order");
      else if (!after || after != LibsvmSkipWord(q) || PetscIsInfReal(value)) GpAppComplain(C, L.line, colon, LibsvmSkipWord(q), "expected a finite number");
      before = index;
      if (index <= T->cols) continue;
      T->cols  = (PetscInt)index;
      *largest = L.line;
    }
  }
}

static void LibsvmFill(const GpAppText *X, GpAppTable *T)
{
  GpAppLines L  = {.next = X->text, .end = X->text + X->length};
  char      *to = T->words;

  for (PetscInt row = 0; row < T->rows; row++) {
    const char  *p = LibsvmNextLine(&L);
    const size_t n = (size_t)(LibsvmSkipWord(p) - p);

    T->line[row] = L.line + X->before;
    T->name[row] = to;
    memcpy(to, p, n);
    to[n] = 0;
    to += n + 1;
    for (p = LibsvmNextWord(p); *p != '\n'; p = LibsvmNextWord(p)) (void)GpAppScanReal(LibsvmSkipIndex(p), &T->value[(size_t)row * (size_t)T->cols + (size_t)strtol(p, NULL, 10) - 1]);
  }
}

/* Reads feature vectors in LIBSVM's format as a table, to be freed with GpAppTableDestroy(); labels are row names.  X is destroyed also if an error is raised.  Collective. */
PetscErrorCode LibsvmParse(GpAppText *X, GpAppTable *T)
{
  GpAppComplaint C       = {0};
  PetscInt64     largest = 0, first, sum[2];
  size_t         bytes   = 1;
  PetscInt       cols;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(T, sizeof(*T)));
  T->comm = X->comm;
  PetscCall(PetscStrncpy(T->file, X->file, sizeof(T->file)));
  LibsvmMeasure(X, T, &bytes, &largest, &C);
  PetscCall(GpAppSumBefore(X->comm, T->rows, &first, &sum[0]));
  PetscCall(GpAppSumBefore(X->comm, (PetscInt64)X->length, NULL, &sum[1]));
  PetscCallMPI(MPI_Allreduce(&T->cols, &cols, 1, MPIU_INT, MPI_MAX, X->comm));
  if ((double)cols * (double)sum[0] * sizeof(double) > PetscMax(DENSE_FREE, DENSE_RATIO * (double)sum[1]) && T->cols == cols)
    GpAppComplainAbout(&C, PETSC_ERR_FILE_UNEXPECTED, largest, "with feature %" PetscInt_FMT ", %" PetscInt64_FMT " dense vectors take %.3g GB, too much for a file of %" PetscInt64_FMT " bytes: check the feature number", cols, sum[0],
                       (double)cols * (double)sum[0] * 8e-9, sum[1]);
  PetscCall(GpAppTextRaise(X, &C));
  T->first     = (PetscInt)first;
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
