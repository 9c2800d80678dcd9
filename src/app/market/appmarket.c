/* The reader of the Matrix Market exchange format (R. Boisvert, R. Pozo, K. Remington 1996).  All ranks parse their own lines. */
#include "app/market/appmarket.h"
#include "app/text/appscan.h"
#include <string.h>
#include <strings.h>

enum {
  PER_BYTE = 64,     /* a file with more than ANYWAY rows or columns may have at most PER_BYTE of them for each of its bytes */
  ANYWAY   = 1 << 20 /* vectors of this size always fit in memory */
};

/* the lines of a rank while they are parsed; `line` counts them from 1 */
typedef struct {
  const char    *p, *end;
  PetscInt64     line;
  GpAppComplaint wrong;
} Lines;

static const char *SkipBlanks(const char *p)
{
  while (GpAppIsBlank(*p)) p++;
  return p;
}

static const char *EndOfLine(const char *p, const char *end)
{
  return (const char *)memchr(p, '\n', (size_t)(end - p));
}

/* steps to the next line that holds data, and sets its end; NULL: there is none */
static const char *NextData(Lines *L, const char **eol)
{
  while (L->p < L->end) {
    const char *p = L->p, *q = SkipBlanks(p);

    *eol = EndOfLine(p, L->end);
    L->p = *eol + 1;
    L->line++;
    if (*q != '\n' && *q != '%') return q;
  }
  return NULL;
}

/* a whole number that is not negative, with a blank or the end of the line after it; NULL: there is none */
static inline const char *ScanIndex(const char *p, PetscInt64 *v)
{
  const char *begin = p;
  PetscInt64  value = 0;

  for (; GpAppIsDigit(*p); p++) {
    if (p - begin > 17) return NULL;
    value = 10 * value + (*p - '0');
  }
  *v = value;
  return p > begin && (unsigned char)*p <= ' ' ? p : NULL;
}

/* a value; NULL: there is none, or the caller does not want it */
static inline const char *ScanValue(const char *p, const GpAppMarket *mk, int wants, double *v)
{
  const char *end = GpAppScanReal(p, v);

  if (!end && (wants & GP_MARKET_NAN) && !strncasecmp(p, "nan", 3)) {
    *v  = NAN;
    end = p + 3;
  }
  if (!end || (unsigned char)*end > ' ' || PetscIsInfReal((PetscReal)*v)) return NULL;
  if (((wants & GP_MARKET_NONNEGATIVE) && *v < 0) || (mk->integer && *v != PetscFloorReal((PetscReal)*v))) return NULL;
  return end;
}

static const char *ExpectedValue(const GpAppMarket *mk, int wants)
{
  if (wants & GP_MARKET_NONNEGATIVE) return mk->integer ? "expected a whole number that is not negative" : "expected a value that is finite and not negative";
  return mk->integer ? "expected a whole number" : "expected a finite value";
}

/* "%%MatrixMarket matrix <coordinate|array> <real|integer|pattern> <general|symmetric|skew-symmetric>", in capital letters or not */
static void ReadBanner(const char line[], int wants, GpAppMarket *mk, GpAppComplaint *C)
{
  char        object[16] = "", format[16] = "", field[16] = "", symmetry[20] = "";
  const char *good = "expected %%MatrixMarket matrix <coordinate|array> <real|integer|pattern> <general|symmetric|skew-symmetric>";

  (void)sscanf(line + 14, "%15s %15s %15s %19s", object, format, field, symmetry);
  mk->array     = (PetscBool)!strcasecmp(format, "array");
  mk->pattern   = (PetscBool)!strcasecmp(field, "pattern");
  mk->integer   = (PetscBool)!strcasecmp(field, "integer");
  mk->symmetric = (PetscBool)!strcasecmp(symmetry, "symmetric");
  mk->skew      = (PetscBool)!strcasecmp(symmetry, "skew-symmetric");
  if (!strcasecmp(field, "complex") || !strcasecmp(symmetry, "hermitian")) GpAppComplain(C, 1, "complex", "complex" + 7, "expected a real matrix");
  else if (mk->skew && (wants & GP_MARKET_NONNEGATIVE)) GpAppComplain(C, 1, "skew-symmetric", "skew-symmetric" + 14, "expected a general or symmetric matrix, whose values can all be not negative");
  else if (strcasecmp(object, "matrix") || (!mk->array && strcasecmp(format, "coordinate")) || (!mk->pattern && !mk->integer && strcasecmp(field, "real") && strcasecmp(field, "double")) ||
           (!mk->symmetric && !mk->skew && strcasecmp(symmetry, "general")) || (mk->pattern && (mk->array || mk->skew)))
    GpAppComplain(C, 1, line + 14 + strspn(line + 14, " \t"), line + strlen(line), good);
}

/* the line of sizes, checked against the length of the file */
static void ReadSizes(const char *p, const char *eol, PetscInt64 line, PetscInt64 bytes, int wants, GpAppMarket *mk, GpAppComplaint *C)
{
  const char *q    = ScanIndex(p, &mk->M);
  const int   both = mk->symmetric || mk->skew || (wants & GP_MARKET_SQUARE);

  if (q) q = ScanIndex(SkipBlanks(q), &mk->N);
  if (q && !mk->array) q = ScanIndex(SkipBlanks(q), &mk->entries);
  if (!q || *SkipBlanks(q) != '\n') {
    GpAppComplain(C, line, p, eol, mk->array ? "expected the sizes <rows> <columns>" : "expected the sizes <rows> <columns> <entries>");
    return;
  }
  C->line = line;
  C->code = PETSC_ERR_FILE_UNEXPECTED;
  if (mk->M < 1 || mk->N < 1) (void)snprintf(C->what, sizeof(C->what), "a matrix of %" PetscInt64_FMT " x %" PetscInt64_FMT ": expected at least one row and one column", mk->M, mk->N);
  else if (both && mk->M != mk->N) (void)snprintf(C->what, sizeof(C->what), "expected as many rows as columns, got %" PetscInt64_FMT " x %" PetscInt64_FMT, mk->M, mk->N);
  else if (mk->M > PETSC_MAX_INT - 1 || mk->N > PETSC_MAX_INT - 1) (void)snprintf(C->what, sizeof(C->what), "%" PetscInt64_FMT " rows and %" PetscInt64_FMT " columns do not fit PetscInt: use a PETSc with 64-bit indices", mk->M, mk->N);
  else if (PetscMax(mk->M, mk->N) > ANYWAY && PetscMax(mk->M, mk->N) / PER_BYTE > bytes)
    (void)snprintf(C->what, sizeof(C->what), "%" PetscInt64_FMT " rows and %" PetscInt64_FMT " columns in a file of %" PetscInt64_FMT " bytes: vectors of that size would take %.2g GB", mk->M, mk->N, bytes, 8e-9 * (double)PetscMax(mk->M, mk->N));
  else if (mk->array && mk->M > bytes / mk->N) (void)snprintf(C->what, sizeof(C->what), "an array of %" PetscInt64_FMT " x %" PetscInt64_FMT " in a file of %" PetscInt64_FMT " bytes: it is truncated or damaged", mk->M, mk->N, bytes);
  else if (mk->entries > bytes) (void)snprintf(C->what, sizeof(C->what), "%" PetscInt64_FMT " entries in a file of %" PetscInt64_FMT " bytes: it is truncated or damaged", mk->entries, bytes);
  else C->code = 0;
  if (C->code) return;
  C->line = 0;
  if (mk->array) mk->entries = mk->symmetric ? mk->N * (mk->N + 1) / 2 : mk->skew ? mk->N * (mk->N - 1) / 2 : mk->M * mk->N;
}

/* Banner and sizes become known to all ranks; the rank that has the line of sizes stands behind it. */
static PetscErrorCode ReadHead(const GpAppText *T, int wants, GpAppMarket *mk, Lines *L)
{
  char        begin[160];
  PetscMPIInt rank, size, mine, owner;
  PetscInt64  sizes[3], bytes = (PetscInt64)T->length;
  const char *eol = NULL, *p;
  Lines       before;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(mk->comm, &rank));
  PetscCallMPI(MPI_Comm_size(mk->comm, &size));
  PetscCall(GpAppTextBeginning(T, begin, sizeof(begin)));
  begin[strcspn(begin, "\r\n")] = 0;
  {
    GpAppComplaint C = {0};

    ReadBanner(begin, wants, mk, &C);
    if (!rank) L->wrong = C; /* all ranks found the same */
    if (C.code) PetscFunctionReturn(PETSC_SUCCESS);
  }
  before = *L;
  p      = NextData(L, &eol);
  mine   = p ? rank : size;
  PetscCallMPI(MPI_Allreduce(&mine, &owner, 1, MPI_INT, MPI_MIN, mk->comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPIU_INT64, MPI_SUM, mk->comm));
  if (owner == rank) ReadSizes(p, eol, L->line, bytes, wants, mk, &L->wrong);
  else *L = before;
  if (owner == size) {
    if (!rank) GpAppComplain(&L->wrong, 0, "", "", "expected the sizes of the matrix");
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  sizes[0] = mk->M;
  sizes[1] = mk->N;
  sizes[2] = mk->entries;
  PetscCallMPI(MPI_Bcast(sizes, 3, MPIU_INT64, owner, mk->comm));
  mk->M       = sizes[0];
  mk->N       = sizes[1];
  mk->entries = sizes[2];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* one entry of a matrix in coordinates */
static inline PetscBool ReadEntry(const char *p, const char *eol, int wants, Lines *L, GpAppMarket *mk)
{
  PetscInt64  i = 0, j = 0;
  double      a = 1;
  const char *q = ScanIndex(p, &i), *token = p;

  if (q) q = ScanIndex(token = SkipBlanks(q), &j);
  if (!q) {
    GpAppComplain(&L->wrong, L->line, token, eol, mk->pattern ? "expected <row> <column>" : "expected <row> <column> <value>");
    return PETSC_FALSE;
  }
  if (i < 1 || i > mk->M || j < 1 || j > mk->N) {
    char expected[128];

    (void)snprintf(expected, sizeof(expected), "expected a row from 1 to %" PetscInt64_FMT " and a column from 1 to %" PetscInt64_FMT, mk->M, mk->N);
    GpAppComplain(&L->wrong, L->line, i < 1 || i > mk->M ? p : token, eol, expected);
    return PETSC_FALSE;
  }
  if (!mk->pattern) {
    q = ScanValue(token = SkipBlanks(q), mk, wants, &a);
    if (!q) {
      GpAppComplain(&L->wrong, L->line, token, eol, ExpectedValue(mk, wants));
      return PETSC_FALSE;
    }
  }
  token = SkipBlanks(q);
  if (token < eol || (mk->skew && i == j && a != 0)) {
    GpAppComplain(&L->wrong, L->line, token, eol, token < eol ? "expected the end of the line" : "the diagonal of a skew-symmetric matrix is zero");
    return PETSC_FALSE;
  }
  mk->i[mk->n] = i - 1;
  mk->j[mk->n] = j - 1;
  if (!mk->pattern) mk->a[mk->n] = a;
  mk->n++;
  return PETSC_TRUE;
}

/* all entries in the lines of this rank; numbers of an array get their places later */
static void ReadEntries(int wants, Lines *L, GpAppMarket *mk)
{
  const char *p, *eol = NULL;

  while ((p = NextData(L, &eol))) {
    if (!mk->array) {
      if (!ReadEntry(p, eol, wants, L, mk)) return;
    } else {
      const char *q = ScanValue(p, mk, wants, &mk->a[mk->n]);

      if (!q) GpAppComplain(&L->wrong, L->line, p, eol, ExpectedValue(mk, wants));
      else if (*SkipBlanks(q) != '\n') GpAppComplain(&L->wrong, L->line, SkipBlanks(q), eol, "expected one number a line");
      if (L->wrong.code) return;
      mk->n++;
    }
  }
}

/* Checks that the file holds as many entries as its header states. Reports the first excess entry, or the missing entries. */
static PetscErrorCode CheckCount(const GpAppText *T, Lines from, GpAppMarket *mk, PetscInt64 first, Lines *L)
{
  PetscInt64  total;
  PetscMPIInt rank;
  const char *eol;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(mk->comm, &rank));
  PetscCallMPI(MPI_Allreduce(&mk->n, &total, 1, MPIU_INT64, MPI_SUM, mk->comm));
  if (total == mk->entries) PetscFunctionReturn(PETSC_SUCCESS);
  if (total < mk->entries && !rank) {
    L->wrong.code = PETSC_ERR_FILE_UNEXPECTED;
    (void)snprintf(L->wrong.what, sizeof(L->wrong.what), "the header says %" PetscInt64_FMT " entries, the file holds %" PetscInt64_FMT ": it is truncated or damaged", mk->entries, total);
  }
  if (total > mk->entries && first <= mk->entries && mk->entries < first + mk->n) {
    for (PetscInt64 k = first; k <= mk->entries; k++) (void)NextData(&from, &eol);
    L->wrong.code = PETSC_ERR_FILE_UNEXPECTED;
    L->wrong.line = from.line;
    (void)snprintf(L->wrong.what, sizeof(L->wrong.what), "entry %" PetscInt64_FMT " of a matrix whose header says %" PetscInt64_FMT, mk->entries + 1, mk->entries);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* places for the numbers of an array, which stand by columns; of a symmetric one the lower triangle */
static void PlaceNumbers(PetscInt64 first, int wants, GpAppMarket *mk)
{
  const PetscInt64 below = mk->skew ? 1 : 0; /* the first row of a column is this much below the diagonal */
  PetscInt64       i, j = 0, kept = 0, at = first;

  if (mk->symmetric || mk->skew) {
    for (; j < mk->N && at >= mk->N - j - below; j++) at -= mk->N - j - below;
    i = j + below + at;
  } else {
    i = at % mk->M;
    j = at / mk->M;
  }
  for (PetscInt64 k = 0; k < mk->n; k++) {
    if (!(wants & GP_MARKET_NONZERO) || mk->a[k] != 0) {
      mk->i[kept]   = i;
      mk->j[kept]   = j;
      mk->a[kept++] = mk->a[k];
    }
    if (++i < mk->M) continue;
    j++;
    i = mk->symmetric || mk->skew ? j + below : 0;
  }
  mk->n = kept;
}

/* whether a text begins as Matrix Market files do; collective */
PetscErrorCode GpAppTextIsMarket(const GpAppText *T, PetscBool *is)
{
  char begin[16];

  PetscFunctionBegin;
  PetscCall(GpAppTextBeginning(T, begin, sizeof(begin)));
  *is = (PetscBool)!strncasecmp(begin, "%%MatrixMarket", 14);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  GpAppMarketParse - Reads a matrix in the Matrix Market format out of a text

  Collective

  Input Parameters:
+ T     - the text, from GpAppTextRead(); it is destroyed where the file is refused
- wants - what the caller needs, GP_MARKET_SQUARE and others, or 0

  Output Parameter:
. mk - the entries as they stand in the file, to be freed with GpAppMarketDestroy(); nothing is left to free where the file is refused
*/
PetscErrorCode GpAppMarketParse(GpAppText *T, int wants, GpAppMarket *mk)
{
  PetscInt64     first = 0, good, most;
  PetscErrorCode ierr;
  Lines          L = {T->text, T->text + T->length, 0, {0}}, from;
  PetscMPIInt    rank;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(mk, sizeof(*mk)));
  mk->comm = T->comm;
  PetscCall(PetscStrncpy(mk->file, T->file, sizeof(mk->file)));
  PetscCallMPI(MPI_Comm_rank(mk->comm, &rank));
  PetscCall(ReadHead(T, wants, mk, &L));
  PetscCall(GpAppTextRaise(T, &L.wrong));
  from = L;
  most = T->lines - L.line;
  PetscCall(PetscMalloc1(most, &mk->i));
  PetscCall(PetscMalloc1(most, &mk->j));
  if (!mk->pattern) PetscCall(PetscMalloc1(most, &mk->a));
  ReadEntries(wants, &L, mk);
  PetscCallMPI(MPI_Exscan(&mk->n, &first, 1, MPIU_INT64, MPI_SUM, mk->comm));
  if (!rank) first = 0;
  good = !L.wrong.code;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &good, 1, MPIU_INT64, MPI_MIN, mk->comm));
  if (good) PetscCall(CheckCount(T, from, mk, first, &L));
  ierr = GpAppTextRaise(T, &L.wrong);
  if (ierr) PetscCall(GpAppMarketDestroy(mk));
  PetscCall(ierr);
  if (mk->array) PlaceNumbers(first, wants, mk);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads a matrix in the Matrix Market format from a file; otherwise like GpAppMarketParse(). */
PetscErrorCode GpAppMarketRead(MPI_Comm comm, const char file[], int wants, GpAppMarket *mk)
{
  GpAppText T;
  PetscBool is;

  PetscFunctionBegin;
  PetscCall(GpAppTextRead(comm, file, &T));
  PetscCall(GpAppTextIsMarket(&T, &is));
  if (!is) PetscCall(GpAppTextDestroy(&T));
  PetscCheck(is, comm, PETSC_ERR_FILE_UNEXPECTED, "%s: expected a Matrix Market file, whose first line begins with %%%%MatrixMarket", file);
  PetscCall(GpAppMarketParse(&T, wants, mk));
  PetscCall(GpAppTextDestroy(&T));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* adds what a symmetric or skew-symmetric file leaves out: entry (j,i) for every entry (i,j) off the diagonal; not collective */
PetscErrorCode GpAppMarketExpand(GpAppMarket *mk)
{
  const PetscInt64 n    = mk->n;
  PetscInt64       more = 0;

  PetscFunctionBegin;
  if (!mk->symmetric && !mk->skew) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt64 k = 0; k < n; k++) more += mk->i[k] != mk->j[k];
  PetscCall(PetscRealloc((size_t)(n + more) * sizeof(*mk->i), &mk->i));
  PetscCall(PetscRealloc((size_t)(n + more) * sizeof(*mk->j), &mk->j));
  if (mk->a) PetscCall(PetscRealloc((size_t)(n + more) * sizeof(*mk->a), &mk->a));
  for (PetscInt64 k = 0; k < n; k++) {
    if (mk->i[k] == mk->j[k]) continue;
    mk->i[mk->n] = mk->j[k];
    mk->j[mk->n] = mk->i[k];
    if (mk->a) mk->a[mk->n] = mk->skew ? -mk->a[k] : mk->a[k];
    mk->n++;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes a description of the matrix. */
PetscErrorCode GpAppMarketDescribe(const GpAppMarket *mk, char words[], size_t size)
{
  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(words, size, "%" PetscInt64_FMT " rows, %" PetscInt64_FMT " columns, %" PetscInt64_FMT " entries, Matrix Market (%s, %s, %s)", mk->M, mk->N, mk->entries, mk->array ? "array" : "coordinate",
                          mk->pattern   ? "pattern"
                          : mk->integer ? "integer"
                                        : "real",
                          mk->symmetric ? "symmetric"
                          : mk->skew    ? "skew-symmetric"
                                        : "general"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GpAppMarketDestroy(GpAppMarket *mk)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(mk->i));
  PetscCall(PetscFree(mk->j));
  PetscCall(PetscFree(mk->a));
  mk->n = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}
