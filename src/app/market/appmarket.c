/* The reader of the Matrix Market exchange format (R. Boisvert, R. Pozo, K. Remington 1996).  All ranks parse their own lines. */
#include "app/market/appmarket.h"
#include "app/text/appscan.h"
#include <string.h>
#include <strings.h>

enum {
  PER_BYTE = 64,     /* a file with more than ANYWAY rows or columns may have at most PER_BYTE of them for each of its bytes */
  ANYWAY   = 1 << 20 /* vectors of this size always fit in memory */
};

/* Reads a whole number of at most 18 digits, with a blank or the end of the line after it. Returns where it ends; NULL: there is none. */
static inline const char *MarketScanIndex(const char *p, PetscInt64 *v)
{
  const char *end = GpAppScanId(p, v);

  return end && end - p <= 18 && (unsigned char)*end <= ' ' ? end : NULL;
}

/* Reads a value and returns where it ends. NULL: there is none, or the caller refuses it. */
static inline const char *MarketScanValue(const char *p, const GpAppMarket *mk, int wants, double *v)
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

static const char *MarketExpectedValue(const GpAppMarket *mk, int wants)
{
  if (wants & GP_MARKET_NONNEGATIVE) return mk->integer ? "expected a whole number that is not negative" : "expected a value that is finite and not negative";
  return mk->integer ? "expected a whole number" : "expected a finite value";
}

/* Reads "%%MatrixMarket matrix <coordinate|array> <real|integer|pattern> <general|symmetric|skew-symmetric>", of upper or lower case. */
static void MarketReadBanner(const char line[], int wants, GpAppMarket *mk, GpAppComplaint *C)
{
  char        object[16] = "", format[16] = "", field[16] = "", symmetry[20] = "";
  const char *good = "expected %%MatrixMarket matrix <coordinate|array> <real|integer|pattern> <general|symmetric|skew-symmetric>";

  if (strncasecmp(line, "%%MatrixMarket", 14)) {
    GpAppComplain(C, 1, line, line + strlen(line), good);
    return;
  }
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

/* Reads the line of sizes and checks them against the length of the file. */
static void MarketReadSizes(const char *p, const char *eol, PetscInt64 line, PetscInt64 bytes, int wants, GpAppMarket *mk, GpAppComplaint *C)
{
  const char *q    = MarketScanIndex(p, &mk->M);
  const int   both = mk->symmetric || mk->skew || (wants & GP_MARKET_SQUARE), code = PETSC_ERR_FILE_UNEXPECTED;

  if (q) q = MarketScanIndex(GpAppSkipBlanks(q), &mk->N);
  if (q && !mk->array) q = MarketScanIndex(GpAppSkipBlanks(q), &mk->entries);
  if (!q || *GpAppSkipBlanks(q) != '\n') {
    GpAppComplain(C, line, p, eol, mk->array ? "expected the sizes <rows> <columns>" : "expected the sizes <rows> <columns> <entries>");
    return;
  }
  if (mk->M < 1 || mk->N < 1) GpAppComplainAbout(C, code, line, "a matrix of %" PetscInt64_FMT " x %" PetscInt64_FMT ": expected at least one row and one column", mk->M, mk->N);
  else if (both && mk->M != mk->N) GpAppComplainAbout(C, code, line, "expected as many rows as columns, got %" PetscInt64_FMT " x %" PetscInt64_FMT, mk->M, mk->N);
  else if (mk->M > PETSC_MAX_INT - 1 || mk->N > PETSC_MAX_INT - 1) GpAppComplainAbout(C, code, line, "%" PetscInt64_FMT " rows and %" PetscInt64_FMT " columns do not fit PetscInt: use a PETSc with 64-bit indices", mk->M, mk->N);
  else if (PetscMax(mk->M, mk->N) > ANYWAY && PetscMax(mk->M, mk->N) / PER_BYTE > bytes)
    GpAppComplainAbout(C, code, line, "%" PetscInt64_FMT " rows and %" PetscInt64_FMT " columns in a file of %" PetscInt64_FMT " bytes: vectors of that size would take %.2g GB", mk->M, mk->N, bytes, 8e-9 * (double)PetscMax(mk->M, mk->N));
  else if (mk->array && mk->M > bytes / mk->N) GpAppComplainAbout(C, code, line, "an array of %" PetscInt64_FMT " x %" PetscInt64_FMT " in a file of %" PetscInt64_FMT " bytes: it is truncated or damaged", mk->M, mk->N, bytes);
  else if (mk->entries > bytes) GpAppComplainAbout(C, code, line, "%" PetscInt64_FMT " entries in a file of %" PetscInt64_FMT " bytes: it is truncated or damaged", mk->entries, bytes);
  if (mk->array && !C->code) mk->entries = mk->symmetric ? mk->N * (mk->N + 1) / 2 : mk->skew ? mk->N * (mk->N - 1) / 2 : mk->M * mk->N;
}

/* Reads banner and sizes and tells them to all ranks. Afterwards the rank that has the line of sizes stands behind it. */
static PetscErrorCode MarketReadHead(const GpAppText *T, int wants, GpAppMarket *mk, GpAppLines *L, GpAppComplaint *wrong)
{
  const GpAppLines before = *L;
  char             begin[160];
  PetscMPIInt      rank, owner;
  PetscInt64       bytes;
  const char      *p;
  PetscBool        found;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(mk->comm, &rank));
  PetscCall(GpAppTextBeginning(T, begin, sizeof(begin)));
  begin[strcspn(begin, "\r\n")] = 0;
  MarketReadBanner(begin, wants, mk, wrong);
  if (wrong->code) { /* on all ranks; the first one reports it */
    if (rank) wrong->code = 0;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  p = GpAppLinesNext(L, "%");
  PetscCall(GpAppFindFirst(mk->comm, (PetscBool)(p != NULL), &owner, &found));
  PetscCall(GpAppSumBefore(mk->comm, (PetscInt64)T->length, NULL, &bytes));
  if (owner == rank) MarketReadSizes(GpAppSkipBlanks(p), L->eol, L->line, bytes, wants, mk, wrong);
  else *L = before;
  if (!found) {
    if (!rank) GpAppComplain(wrong, 0, "", "", "expected the sizes of the matrix");
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCallMPI(MPI_Bcast(&mk->M, 1, MPIU_INT64, owner, mk->comm));
  PetscCallMPI(MPI_Bcast(&mk->N, 1, MPIU_INT64, owner, mk->comm));
  PetscCallMPI(MPI_Bcast(&mk->entries, 1, MPIU_INT64, owner, mk->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads one entry of a matrix in coordinates. */
static inline void MarketReadEntry(const char *p, int wants, const GpAppLines *L, GpAppMarket *mk, GpAppComplaint *wrong)
{
  PetscInt64  i = 0, j = 0;
  double      a = 1;
  const char *q = MarketScanIndex(p, &i), *token = p, *expected = mk->pattern ? "expected <row> <column>" : "expected <row> <column> <value>";
  char        range[128];

  if (q) q = MarketScanIndex(token = GpAppSkipBlanks(q), &j);
  if (q && (i < 1 || i > mk->M || j < 1 || j > mk->N)) {
    (void)snprintf(range, sizeof(range), "expected a row from 1 to %" PetscInt64_FMT " and a column from 1 to %" PetscInt64_FMT, mk->M, mk->N);
    expected = range;
    if (i < 1 || i > mk->M) token = p;
    q = NULL;
  } else if (q && !mk->pattern) {
    q = MarketScanValue(token = GpAppSkipBlanks(q), mk, wants, &a);
    if (!q) expected = MarketExpectedValue(mk, wants);
  }
  if (q) {
    token = GpAppSkipBlanks(q);
    if (token < L->eol) expected = "expected the end of the line";
    else if (mk->skew && i == j && a != 0) expected = "the diagonal of a skew-symmetric matrix is zero";
    else {
      mk->i[mk->n] = i - 1;
      mk->j[mk->n] = j - 1;
      if (!mk->pattern) mk->a[mk->n] = a;
      mk->n++;
      return;
    }
  }
  GpAppComplain(wrong, L->line, token, L->eol, expected);
}

/* Reads all entries in the lines of this rank; numbers of an array get their places later. */
static void MarketReadEntries(int wants, GpAppLines *L, GpAppMarket *mk, GpAppComplaint *wrong)
{
  for (const char *p; !wrong->code && (p = GpAppLinesNext(L, "%"));) {
    p = GpAppSkipBlanks(p);
    if (!mk->array) MarketReadEntry(p, wants, L, mk, wrong);
    else {
      const char *q = MarketScanValue(p, mk, wants, &mk->a[mk->n]);

      if (!q) GpAppComplain(wrong, L->line, p, L->eol, MarketExpectedValue(mk, wants));
      else if (GpAppSkipBlanks(q) < L->eol) GpAppComplain(wrong, L->line, GpAppSkipBlanks(q), L->eol, "expected one number a line");
      else mk->n++;
    }
  }
}

/* Checks that the file holds as many entries as its header states. Reports the first excess entry, or the missing entries. */
static PetscErrorCode MarketCheckCount(GpAppLines from, const GpAppMarket *mk, PetscInt64 first, PetscInt64 total, GpAppComplaint *wrong)
{
  PetscMPIInt rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(mk->comm, &rank));
  if (total < mk->entries && !rank) GpAppComplainAbout(wrong, PETSC_ERR_FILE_UNEXPECTED, 0, "the header says %" PetscInt64_FMT " entries, the file holds %" PetscInt64_FMT ": it is truncated or damaged", mk->entries, total);
  if (total > mk->entries && first <= mk->entries && mk->entries < first + mk->n) {
    for (PetscInt64 k = first; k <= mk->entries; k++) (void)GpAppLinesNext(&from, "%");
    GpAppComplainAbout(wrong, PETSC_ERR_FILE_UNEXPECTED, from.line, "entry %" PetscInt64_FMT " of a matrix whose header says %" PetscInt64_FMT, mk->entries + 1, mk->entries);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the rows and columns of the numbers of an array, which are stored by columns; a symmetric array holds the lower triangle. */
static void MarketPlaceNumbers(PetscInt64 first, int wants, GpAppMarket *mk)
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

/* Returns whether a text begins as Matrix Market files do. Collective. */
PetscErrorCode GpAppTextIsMarket(const GpAppText *T, PetscBool *is)
{
  char begin[16];

  PetscFunctionBegin;
  PetscCall(GpAppTextBeginning(T, begin, sizeof(begin)));
  *is = (PetscBool)!strncasecmp(begin, "%%MatrixMarket", 14);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads a matrix in the Matrix Market format from a text of GpAppTextRead(). wants: GP_MARKET_SQUARE and others, or 0. Collective.
   If the file is refused, the text is destroyed and nothing is left to free. */
PetscErrorCode GpAppMarketParse(GpAppText *T, int wants, GpAppMarket *mk)
{
  PetscInt64     first, total, most;
  PetscErrorCode ierr;
  GpAppComplaint wrong = {0};
  GpAppLines     L     = {T->text, T->text + T->length}, from;
  PetscBool      bad;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(mk, sizeof(*mk)));
  mk->comm = T->comm;
  PetscCall(PetscStrncpy(mk->file, T->file, sizeof(mk->file)));
  PetscCall(MarketReadHead(T, wants, mk, &L, &wrong));
  PetscCall(GpAppTextRaise(T, &wrong));
  from = L;
  most = T->lines - L.line;
  PetscCall(PetscMalloc1(most, &mk->i));
  PetscCall(PetscMalloc1(most, &mk->j));
  if (!mk->pattern) PetscCall(PetscMalloc1(most, &mk->a));
  MarketReadEntries(wants, &L, mk, &wrong);
  PetscCall(GpAppSumBefore(mk->comm, mk->n, &first, &total));
  PetscCall(GpAppFindAny(mk->comm, (PetscBool)(wrong.code != 0), &bad));
  if (!bad) PetscCall(MarketCheckCount(from, mk, first, total, &wrong));
  ierr = GpAppTextRaise(T, &wrong);
  if (ierr) PetscCall(GpAppMarketDestroy(mk));
  PetscCall(ierr);
  if (mk->array) MarketPlaceNumbers(first, wants, mk);
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

/* Adds the entries that a symmetric or skew-symmetric file omits: (j,i) for every (i,j) off the diagonal. Not collective. */
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

/* Creates an AIJ matrix with the entries of all ranks; entries of a pattern are 1. Duplicate entries are added. Collective. */
PetscErrorCode GpAppMarketCreateAIJ(const GpAppMarket *mk, Mat *X)
{
  PetscInt    *i, *j;
  PetscScalar *a;

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(mk->n, &i, mk->n, &j, mk->n, &a));
  for (PetscInt64 k = 0; k < mk->n; k++) {
    i[k] = (PetscInt)mk->i[k];
    j[k] = (PetscInt)mk->j[k];
    a[k] = mk->pattern ? 1.0 : mk->a[k];
  }
  PetscCall(MatCreate(mk->comm, X));
  PetscCall(MatSetSizes(*X, PETSC_DECIDE, PETSC_DECIDE, (PetscInt)mk->M, (PetscInt)mk->N));
  PetscCall(MatSetType(*X, MATAIJ));
  PetscCall(MatSetPreallocationCOO(*X, mk->n, i, j));
  PetscCall(MatSetValuesCOO(*X, a, ADD_VALUES));
  PetscCall(PetscFree3(i, j, a));
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
