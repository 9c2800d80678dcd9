static char help[] = "Chunks of a matrix: every encoding of rows, columns and values is decoded to the bits of the matrix; wrong matrices and damaged chunks are refused.\n\n";

#include "bench/matrices.h"
#include "mat/impls/gpucsr/spmv/stream/gpchunk.h"
#include "sys/gpucsrsys.h"

#include <inttypes.h>

/* A matrix in host memory, with 64-bit integers; narrow copies of them are made for some sources. */
typedef struct {
  int64_t  m, nnz, capacity;
  int32_t  n;
  int64_t *rowptr, *col;
  double  *val;
  uint64_t seed;
} Rows;

static PetscErrorCode RowsCreate(int64_t m, int32_t n, int64_t capacity, uint64_t seed, Rows *R)
{
  PetscFunctionBegin;
  *R = (Rows){.m = m, .n = n, .capacity = capacity, .seed = seed};
  PetscCall(PetscMalloc3(m + 1, &R->rowptr, capacity, &R->col, capacity, &R->val));
  R->rowptr[0] = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RowsDestroy(Rows *R)
{
  PetscFunctionBegin;
  PetscCall(PetscFree3(R->rowptr, R->col, R->val));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void Push(Rows *R, int64_t col, double val)
{
  if (R->nnz == R->capacity) abort();
  R->col[R->nnz]   = col;
  R->val[R->nnz++] = val;
}

static int64_t Draw(Rows *R, int64_t n)
{
  return (int64_t)(BenchUniform(&R->seed) * (double)n);
}

/* --- patterns: row i gets its columns --------------------------------------------------------------------------------------------- */

typedef enum {
  ANYWHERE,   /* unsorted columns of the whole matrix */
  CONTIGUOUS, /* a few columns beside the diagonal */
  BAND,       /* columns within 10,000 of the diagonal */
  BAND_FAR,   /* columns near each other, some far away */
  EMPTY,
  ONE,   /* one column */
  MIXED, /* rows of 0, 1, many and very many columns */
  LONG,  /* one row of 70,000 columns */
  PATTERNS
} Pattern;

static void PushRow(Rows *R, Pattern pattern, int64_t i)
{
  const int64_t length = pattern == EMPTY ? 0 : pattern == ONE ? 1 : pattern == MIXED ? (i % 7 == 0 ? 0 : i % 11 == 0 ? 300 : i % 5) : pattern == LONG ? (i == 2 ? 70000 : i % 2 ? 300 : i % 3) : 1 + Draw(R, 20);
  const int64_t near   = pattern == BAND_FAR ? 30 * i % R->n : (int64_t)((double)i / (double)R->m * R->n);
  int64_t       col    = near;

  for (int64_t k = 0; k < length; k++) {
    if (pattern == CONTIGUOUS || pattern == LONG) col = (col + 1 + (k % 9 == 8 ? 40 : 0)) % R->n;
    else if (pattern == BAND || (pattern == BAND_FAR && Draw(R, 10))) col = (near + Draw(R, 10000)) % R->n;
    else col = Draw(R, R->n);
    Push(R, col, BenchValue(&R->seed));
  }
  R->rowptr[i + 1] = R->nnz;
}

static PetscErrorCode RowsFill(Pattern pattern, int64_t m, int32_t n, uint64_t seed, Rows *R)
{
  PetscFunctionBegin;
  PetscCall(RowsCreate(m, n, pattern == LONG ? 70000 + 160 * m : 40 * m + 300, seed, R));
  for (int64_t i = 0; i < m; i++) PushRow(R, pattern, i);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --- values -------------------------------------------------------------------------------------------------------------------------- */

static double FromBits(uint64_t bits)
{
  double d;

  memcpy(&d, &bits, sizeof(d));
  return d;
}

/* kinds of values: the number of distinct ones, and whether single precision holds them */
typedef enum {
  VALUES_FLOATS,
  VALUES_DOUBLES,
  VALUES_EQUAL,
  VALUES_FEW,     /* 256 distinct values, NaNs with different payloads, zeros of both signs and infinities among them */
  VALUES_257,     /* one more */
  VALUES_SPECIAL, /* floats, NaNs with different payloads, zeros of both signs and infinities */
  VALUES_KINDS
} Values;

static void SetValues(Rows *R, Values kind)
{
  const double special[] = {FromBits(0x7ff8000000000000), FromBits(0xfff8000012345678), FromBits(0x7ff8f00000000000), 0.0, -0.0, INFINITY, -INFINITY, 1e-310};

  for (int64_t k = 0; k < R->nnz; k++) {
    const int64_t few = k % (kind == VALUES_257 ? 257 : 256);

    if (kind == VALUES_FLOATS) R->val[k] = BenchValue(&R->seed);
    else if (kind == VALUES_DOUBLES) R->val[k] = BenchUniform(&R->seed) + 0.1;
    else if (kind == VALUES_EQUAL) R->val[k] = -0.0;
    else if (kind == VALUES_SPECIAL) R->val[k] = k % 10 < 8 ? special[k % 10] : BenchValue(&R->seed);
    else R->val[k] = few < 7 ? special[few] : 1.0 / (double)few;
  }
}

/* --- encode, decode, compare ------------------------------------------------------------------------------------------------------------ */

/* encodings that were reached, to prove that the test covers all */
static int reachedvalues[GP_PRECISIONS][GP_CHUNK_VALUES], reachedplain[5], reachedescapes[GP_CHUNK_COLUMNS][5], reachedrows[5], reachedlong[5], reachednone;

static void Reach(const GpChunkHeader *h)
{
  reachedvalues[h->prec][h->values] = 1;
  reachedrows[h->rowbytes]          = 1;
  if (h->nlong) reachedlong[h->rowbytes] = 1;
  if (h->columns == GP_CHUNK_PLAIN) reachedplain[h->colbytes] = 1;
  else reachedescapes[h->columns][h->escapebytes] = 1;
  if (h->columns == GP_CHUNK_OFFSET && !h->nescapes) reachednone = 1;
}

static PetscErrorCode CompareDecoded(const GpChunkSource *A, const GpChunkPlan *P, const GpChunkHeader *h, const int32_t *rowptr, const int32_t *col, const void *val, const char *name)
{
  const int64_t *rows = (const int64_t *)A->rowptr, *cols = (const int64_t *)A->col; /* the source with 64-bit integers */

  PetscFunctionBegin;
  for (int32_t i = 0; i <= h->m; i++) PetscCheck(rowptr[i] == rows[P->first + i] - rows[P->first], PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: row %d of the chunk starts at %d", name, i, rowptr[i]);
  for (int32_t k = 0; k < h->nnz; k++) {
    const int64_t from  = P->nonzero + k;
    const float   small = (float)A->val[from];

    PetscCheck(col[k] == cols[from], PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: nonzero %d of the chunk has column %d, not %d", name, k, col[k], (int)cols[from]);
    PetscCheck(A->prec == GP_F32 ? !memcmp((const float *)val + k, &small, sizeof(small)) : !memcmp((const double *)val + k, A->val + from, sizeof(double)), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: nonzero %d of the chunk, %g, has other bits", name, k,
               A->val[from]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Decode(GpDev dev, const GpChunkSource *A, const GpChunkPlan *P, const void *chunk, const char *name)
{
  GpChunkHeader h;
  GpCsr         C;
  void         *device, *work, *val;
  int32_t      *rowptr, *col;
  size_t        bytes;

  PetscFunctionBegin;
  memcpy(&h, chunk, sizeof(h));
  bytes = GpChunkWorkspace(&h);
  PetscCallGp(dev, "chunk", GpDevAlloc(dev, h.bytes, &device));
  PetscCallGp(dev, "workspace", GpDevAlloc(dev, bytes, &work));
  PetscCallGp(dev, "chunk", GpDevUpload(dev, device, chunk, h.bytes));
  PetscCallGp(dev, "decoding", GpChunkDecode(dev, &h, device, work, &C));
  PetscCheck(C.m == h.m && C.n == A->n && C.nnz == h.nnz && C.prec == A->prec && h.first == A->start + P->first, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: wrong sizes", name);
  PetscCall(PetscMalloc3(h.m + 1, &rowptr, h.nnz, &col, 8 * (size_t)h.nnz, (char **)&val));
  PetscCallGp(dev, "rows", GpDevDownload(dev, rowptr, C.rowptr, ((size_t)h.m + 1) * sizeof(int32_t)));
  PetscCallGp(dev, "columns", GpDevDownload(dev, col, C.col, (size_t)h.nnz * sizeof(int32_t)));
  PetscCallGp(dev, "values", GpDevDownload(dev, val, C.val, (size_t)h.nnz * GpPrecBytes(C.prec)));
  PetscCall(CompareDecoded(A, P, &h, rowptr, col, val, name));
  PetscCall(PetscFree3(rowptr, col, val));
  GpDevFree(dev, &device, h.bytes);
  GpDevFree(dev, &work, bytes);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode EncodeRows(const GpChunkSource *A, int64_t first, int64_t end, GpChunkPlan *P, void **chunk)
{
  char why[GP_CHUNK_WHY];

  PetscFunctionBegin;
  PetscCheck(!GpChunkPlanRows(A, first, end, P, why), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s", why);
  PetscCall(PetscMalloc(P->head.bytes, chunk));
  GpChunkEncode(A, P, *chunk);
  PetscCheck(!GpChunkVerify(*chunk, P->head.bytes, why), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s", why);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Checks that the same rows with 32-bit integers give the same bytes. */
static PetscErrorCode CompareNarrow(const GpChunkSource *A, int64_t nnz, const GpChunkPlan *P, const void *chunk, const char *name)
{
  const int64_t *rows = (const int64_t *)A->rowptr, *cols = (const int64_t *)A->col;
  GpChunkSource  N = *A;
  GpChunkPlan    Q;
  int32_t       *rowptr, *col;
  void          *other;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(A->m + 1, &rowptr, nnz, &col));
  for (int64_t i = 0; i <= A->m; i++) rowptr[i] = (int32_t)(rows[i] - rows[0]);
  for (int64_t k = 0; k < nnz; k++) col[k] = (int32_t)cols[k];
  N.rowptr   = rowptr;
  N.col      = col;
  N.rowbytes = N.colbytes = 4;
  PetscCall(EncodeRows(&N, P->first, P->end, &Q, &other));
  PetscCheck(Q.head.bytes == P->head.bytes && !memcmp(chunk, other, P->head.bytes), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: 32-bit integers give another chunk", name);
  PetscCall(PetscFree(other));
  PetscCall(PetscFree2(rowptr, col));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Cuts, encodes and decodes a matrix. Its rows begin at row `start` of a larger matrix and at nonzero `offset`. */
static PetscErrorCode CheckRows(GpDev dev, const char *name, Rows *R, GpPrec prec, int64_t start, int64_t offset, size_t bytes)
{
  GpChunkSource A = {.start = start, .m = R->m, .n = R->n, .prec = prec, .rowbytes = 8, .colbytes = 8, .rowptr = R->rowptr, .col = R->col, .val = R->val};
  char          why[GP_CHUNK_WHY];
  int64_t       n, *first;

  PetscFunctionBegin;
  for (int64_t i = 0; i <= R->m; i++) R->rowptr[i] += offset;
  PetscCheck(!GpChunkCut(&A, bytes, &n, &first, why), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s", why);
  for (int64_t c = 0; c < n; c++) {
    const int64_t rows = first[c + 1] - first[c], nnz = R->rowptr[first[c + 1]] - R->rowptr[first[c]];
    const double  size = 4.0 * (double)rows + (double)nnz * (4.0 + (double)GpPrecBytes(prec));
    GpChunkPlan   P;
    void         *chunk;

    PetscCheck(rows >= 1 && (rows == 1 || size <= (double)bytes), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: chunk %d has %d rows of %g bytes", name, (int)c, (int)rows, size);
    PetscCall(EncodeRows(&A, first[c], first[c + 1], &P, &chunk));
    Reach(&P.head);
    PetscCall(Decode(dev, &A, &P, chunk, name));
    if (c == n / 2) PetscCall(CompareNarrow(&A, R->nnz, &P, chunk, name));
    PetscCall(PetscFree(chunk));
  }
  free(first);
  for (int64_t i = 0; i <= R->m; i++) R->rowptr[i] -= offset;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All patterns, numbers of columns and values, in chunks of several sizes. */
static PetscErrorCode CheckEncodings(GpDev dev, PetscInt every)
{
  const int32_t widths[] = {200, 3000, 60000, 1000000, 100000000, 2147483647};
  const char   *names[]  = {"columns anywhere", "contiguous columns", "band", "band and far columns", "empty rows", "rows of one", "mixed rows", "a long row"};
  const size_t  sizes[]  = {16 << 10, 2048, 1 << 20};
  PetscInt      which    = 0;

  PetscFunctionBegin;
  for (int pattern = 0; pattern < PATTERNS; pattern++) {
    for (int w = 0; w < 6; w++) {
      for (int v = 0; v < VALUES_KINDS; v++) {
        Rows R;

        if (which++ % every) continue;
        PetscCall(RowsFill((Pattern)pattern, 1500, widths[w], 1 + (uint64_t)which, &R));
        SetValues(&R, (Values)v);
        for (int prec = 0; prec < GP_PRECISIONS; prec++) PetscCall(CheckRows(dev, names[pattern], &R, (GpPrec)prec, 0, 0, sizes[(which / every + prec) % 3]));
        PetscCall(RowsDestroy(&R));
      }
    }
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s: decoded without loss\n", names[pattern]));
  }
  if (every > 1) PetscFunctionReturn(PETSC_SUCCESS);
  for (int prec = 0; prec < GP_PRECISIONS; prec++)
    for (int v = 0; v < GP_CHUNK_VALUES; v++) PetscCheck(reachedvalues[prec][v] || (prec == GP_F32 && v == GP_CHUNK_DOUBLE), PETSC_COMM_SELF, PETSC_ERR_PLIB, "precision %d: no chunk has values encoded by %d", prec, v);
  for (int w = 1; w <= 4; w++) {
    PetscCheck(reachedplain[w], PETSC_COMM_SELF, PETSC_ERR_PLIB, "no chunk has plain columns of %d bytes", w);
    PetscCheck(w < 2 || reachedescapes[GP_CHUNK_DIFFERENCE][w], PETSC_COMM_SELF, PETSC_ERR_PLIB, "no chunk has differences with escapes of %d bytes", w);
    PetscCheck(w < 3 || reachedescapes[GP_CHUNK_OFFSET][w], PETSC_COMM_SELF, PETSC_ERR_PLIB, "no chunk has offsets with escapes of %d bytes", w);
    PetscCheck(w == 3 || reachedrows[w], PETSC_COMM_SELF, PETSC_ERR_PLIB, "no chunk has row lengths of %d bytes", w);
    PetscCheck(w > 2 || reachedlong[w], PETSC_COMM_SELF, PETSC_ERR_PLIB, "no chunk has long rows beside row lengths of %d bytes", w);
  }
  PetscCheck(reachednone, PETSC_COMM_SELF, PETSC_ERR_PLIB, "no chunk has offsets without escapes");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows far inside a matrix of more than 2^31 rows and nonzeros, and cuts of matrices that no memory holds. */
static PetscErrorCode CheckTotals(GpDev dev)
{
  const int64_t row = (int64_t)1 << 30;
  int64_t       rowptr[12], n, *first;
  char          why[GP_CHUNK_WHY];
  GpChunkSource A = {.m = 11, .n = INT32_MAX, .prec = GP_F32, .rowbytes = 8, .colbytes = 8, .rowptr = rowptr};
  GpChunkPlan   P;
  Rows          R;

  PetscFunctionBegin;
  PetscCall(RowsFill(MIXED, 2000, 50000, 77, &R));
  PetscCall(CheckRows(dev, "64-bit totals", &R, GP_F64, (int64_t)1 << 33, (int64_t)1 << 40, 4096));
  PetscCall(RowsDestroy(&R));
  for (int i = 0; i <= 11; i++) rowptr[i] = i * row;
  PetscCheck(!GpChunkCut(&A, (size_t)1 << 45, &n, &first, why) && n == 11, PETSC_COMM_SELF, PETSC_ERR_PLIB, "rows of 2^30 nonzeros are not cut into single rows");
  free(first);
  for (int i = 0; i <= 11; i++) rowptr[i] = i * (row - 32768);
  PetscCheck(!GpChunkCut(&A, (size_t)1 << 45, &n, &first, why) && n == 6, PETSC_COMM_SELF, PETSC_ERR_PLIB, "two rows with 2^31 - 2^16 nonzeros are not one chunk");
  free(first);
  rowptr[3] += 2 * row;
  PetscCheck(GpChunkPlanRows(&A, 2, 3, &P, why) == GP_ERR_ARGUMENT && strstr(why, "rows 2 to 2 have"), PETSC_COMM_SELF, PETSC_ERR_PLIB, "a row with too many nonzeros is accepted");
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "64-bit totals: decoded without loss\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Each wrong matrix is refused with a message that names row and column. */
static PetscErrorCode CheckWrong(void)
{
  Rows R;

  PetscFunctionBegin;
  PetscCall(RowsFill(CONTIGUOUS, 50, 1000, 5, &R));
  for (int which = 0; which < 6; which++) {
    GpChunkSource A    = {.start = 1000, .m = R.m, .n = R.n, .prec = GP_F32, .rowbytes = 8, .colbytes = 8, .rowptr = R.rowptr, .col = R.col, .val = R.val};
    const char   *want = which == 0 ? "row 1007 has a nonzero in column -1"
                       : which == 1 ? "row 1007 has a nonzero in column 1000"
                       : which == 2 ? "row 1007 has a nonzero in column 4294967296"
                       : which == 3 ? "value 1e+300 in row 1007"
                                    : "row pointer of row 1007";
    const int64_t at = R.rowptr[7], col = R.col[at];
    const double  val               = R.val[at];
    char          why[GP_CHUNK_WHY] = "";
    GpChunkPlan   P;

    if (which < 3) R.col[at] = which == 0 ? -1 : which == 1 ? 1000 : 4294967296;
    else if (which == 3) R.val[at] = 1e300;
    else if (which == 4) R.rowptr[7] = R.rowptr[6] - 1;
    if (which < 5) PetscCheck(GpChunkPlanRows(&A, 0, A.m, &P, why) == GP_ERR_ARGUMENT && strstr(why, want), PETSC_COMM_SELF, PETSC_ERR_PLIB, "\"%s\", not \"%s\"", why, want);
    R.col[at]   = col;
    R.val[at]   = val;
    R.rowptr[7] = at;
    if (which == 5) { /* the rounding errors of single precision */
      SetValues(&R, VALUES_DOUBLES);
      PetscCheck(!GpChunkPlanRows(&A, 0, A.m, &P, why) && P.loss.rounded > R.nnz / 2 && P.loss.worst > 0 && P.loss.worst < 6e-8 && P.loss.at >= 0 && P.loss.at < R.nnz, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%g of %d values", P.loss.worst,
                 (int)P.loss.rounded);
    }
  }
  PetscCall(RowsDestroy(&R));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "wrong matrices: refused\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --- damaged chunks --------------------------------------------------------------------------------------------------------------------- */

/* Decodes a chunk that was accepted in spite of the damage. Its columns must be in range; valgrind and the sanitizers see accesses outside the chunk. */
static PetscErrorCode DecodeDamaged(GpDev host, const void *chunk, size_t bytes)
{
  GpChunkHeader h;
  GpCsr         C;
  void         *work;

  PetscFunctionBegin;
  memcpy(&h, chunk, sizeof(h));
  PetscCheck(h.bytes <= bytes, PETSC_COMM_SELF, PETSC_ERR_PLIB, "a chunk of %" PRIu64 " bytes is accepted in %zu bytes", h.bytes, bytes);
  PetscCall(PetscMalloc(GpChunkWorkspace(&h), &work));
  PetscCallGp(host, "decoding", GpChunkDecode(host, &h, chunk, work, &C));
  PetscCheck(C.rowptr[C.m] == C.nnz, PETSC_COMM_SELF, PETSC_ERR_PLIB, "the rows have %d nonzeros, not %d", C.rowptr[C.m], C.nnz);
  for (int32_t k = 0; k < C.nnz; k++) PetscCheck(C.col[k] >= 0 && C.col[k] < C.n, PETSC_COMM_SELF, PETSC_ERR_PLIB, "nonzero %d has column %d", k, C.col[k]);
  PetscCall(PetscFree(work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Damages every byte of a chunk, with the old checksum and with one that fits, and truncates it. */
static PetscErrorCode DamageChunk(GpDev host, const void *good, size_t bytes)
{
  const uint8_t flips[] = {0x01, 0x80, 0xff};
  char          why[GP_CHUNK_WHY];
  uint8_t      *chunk;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(bytes, &chunk));
  for (size_t at = 0; at < bytes; at++) {
    for (int f = 0; f < 3; f++) {
      GpChunkHeader h;

      memcpy(chunk, good, bytes);
      chunk[at] ^= flips[f];
      PetscCheck(GpChunkVerify(chunk, bytes, why), PETSC_COMM_SELF, PETSC_ERR_PLIB, "byte %zu is damaged, but the chunk is accepted", at);
      PetscCheck(!strncmp(why, "the chunk ", 10), PETSC_COMM_SELF, PETSC_ERR_PLIB, "\"%s\"", why);
      if (GpChunkCheck(chunk, bytes, why)) continue;
      memcpy(&h, chunk, sizeof(h));
      h.checksum = GpChunkChecksum(chunk);
      memcpy(chunk, &h, sizeof(h));
      if (!GpChunkVerify(chunk, bytes, why)) PetscCall(DecodeDamaged(host, chunk, bytes));
    }
  }
  memcpy(chunk, good, bytes);
  for (size_t n = 0; n < bytes; n++) PetscCheck(GpChunkCheck(chunk, n, why) == GP_ERR_ARGUMENT, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%zu of %zu bytes are accepted", n, bytes);
  PetscCall(PetscFree(chunk));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckDamage(void)
{
  const Pattern patterns[] = {MIXED, BAND_FAR, CONTIGUOUS, ANYWHERE, EMPTY};
  const int32_t widths[]   = {200, 1000000, 1000000, 2147483647, 7};
  const Values  values[]   = {VALUES_FEW, VALUES_FLOATS, VALUES_EQUAL, VALUES_DOUBLES, VALUES_FLOATS};
  GpDev         host;

  PetscFunctionBegin;
  PetscCheck(!GpDevOpen(GP_DEV_HOST, 0, &host, NULL, 0), PETSC_COMM_SELF, PETSC_ERR_LIB, "no host device");
  for (int c = 0; c < 5; c++) {
    Rows        R;
    GpChunkPlan P;
    void       *chunk;

    PetscCall(RowsFill(patterns[c], 70, widths[c], 3, &R));
    SetValues(&R, values[c]);
    GpChunkSource A = {.m = R.m, .n = R.n, .prec = GP_F64, .rowbytes = 8, .colbytes = 8, .rowptr = R.rowptr, .col = R.col, .val = R.val};
    PetscCall(EncodeRows(&A, 0, R.m, &P, &chunk));
    PetscCall(DamageChunk(host, chunk, P.head.bytes));
    PetscCall(PetscFree(chunk));
    PetscCall(RowsDestroy(&R));
  }
  GpDevClose(&host);
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "damaged chunks: refused\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  GpDev    dev;
  PetscInt every = 1; /* sanitizers are slow and run every n-th case only */

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRSetUpDevice_Private());
  PetscCall(PetscGPUCSRGetDevice(&dev));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-every", &every, NULL));
  PetscCall(CheckEncodings(dev, every));
  PetscCall(CheckTotals(dev));
  PetscCall(CheckWrong());
  if (every == 1) PetscCall(CheckDamage());
  PetscCheck(GpDevBytesHeld(dev) == 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%g bytes of device memory were not freed", GpDevBytesHeld(dev));
  PetscCall(PetscGPUCSRCloseDevice_Private());
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   test:
     suffix: all

TEST*/
