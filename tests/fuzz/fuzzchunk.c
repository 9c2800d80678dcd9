/* The readers of chunks, which are whole rows of a matrix, encoded for transfers and files, of files of chunks, and of the rows of PETSc's binary files. */
#include "mat/impls/gpucsr/spmv/stream/gpchunkfilecode.h"
#include "mat/impls/gpucsr/spmv/stream/gprowsource.h"
#include "fuzz.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 60

/* Fills the rows of a seed. kind 0: columns that need 16-bit offsets and escapes; 1: near columns, one value; 2: columns anywhere, few values, a long row. */
static void FillRows(int kind, int32_t rowptr[], int32_t col[], double val[])
{
  uint64_t state = (uint64_t)kind + 1;

  rowptr[0] = 0;
  for (int32_t i = 0; i < ROWS; i++) {
    const int32_t length = kind == 2 && i == 7 ? 300 : (int32_t)(FuzzRandom(&state) % 30);

    rowptr[i + 1] = rowptr[i] + length;
    for (int32_t k = rowptr[i]; k < rowptr[i + 1]; k++) {
      col[k] = kind == 1 ? 3 * (k - rowptr[i]) : (int32_t)(FuzzRandom(&state) % (kind == 0 && k % 50 ? 60000 : 2000000));
      val[k] = kind == 1 ? 1.0 : kind == 2 ? (double)(k % 5) : (double)(FuzzRandom(&state) % 100000) / 7;
    }
  }
}

/* Writes a chunk of each kind in each precision. */
static PetscErrorCode PrepareChunks(const char folder[])
{
  char file[PETSC_MAX_PATH_LEN], why[GP_CHUNK_WHY];

  PetscFunctionBegin;
  for (int seed = 0; seed < 6; seed++) {
    int32_t       *rowptr, *col;
    double        *val;
    unsigned char *chunk;
    GpChunkPlan    P;

    PetscCall(PetscMalloc3(ROWS + 1, &rowptr, 40 * ROWS, &col, 40 * ROWS, &val));
    FillRows(seed / 2, rowptr, col, val);
    const GpChunkSource A = {.m = ROWS, .n = 2000000, .prec = (GpPrec)(seed % 2), .rowbytes = 4, .colbytes = 4, .rowptr = rowptr, .col = col, .val = val};
    PetscCheck(!GpChunkPlanRows(&A, 0, ROWS, &P, why), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s", why);
    PetscCall(PetscMalloc1(P.head.bytes, &chunk));
    GpChunkEncode(&A, &P, chunk);
    (void)snprintf(file, sizeof(file), "%s/seed-%d", folder, seed);
    PetscCall(FuzzWrite(file, chunk, P.head.bytes));
    PetscCall(PetscFree(chunk));
    PetscCall(PetscFree3(rowptr, col, val));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes offsets and checksum fit the other members of the header. */
static void RepairChunk(unsigned char *bytes, size_t n)
{
  GpChunkHeader head;
  char          why[GP_CHUNK_WHY];

  if (n < sizeof(head)) return;
  memcpy(&head, bytes, sizeof(head));
  GpChunkPlace(&head);
  memcpy(bytes, &head, sizeof(head));
  if (GpChunkCheck(bytes, n, why)) return;
  head.checksum = GpChunkChecksum(bytes);
  memcpy(bytes, &head, sizeof(head));
}

static double GetValue(const GpCsr *A, int32_t k)
{
  return A->prec == GP_F32 ? (double)((const float *)A->val)[k] : ((const double *)A->val)[k];
}

/* Encodes decoded rows again and compares what is decoded of them. */
static PetscErrorCode CompareAgain(GpDev host, const GpCsr *A, char wrong[FUZZ_WRONG])
{
  GpChunkSource S = {.m = A->m, .n = A->n, .prec = A->prec, .rowbytes = 4, .colbytes = 4, .rowptr = A->rowptr, .col = A->col};
  char          why[GP_CHUNK_WHY];
  double       *val;
  void         *chunk, *work;
  GpChunkPlan   P;
  GpCsr         B;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(A->nnz, &val));
  for (int32_t k = 0; k < A->nnz; k++) val[k] = GetValue(A, k);
  S.val = val;
  PetscCheck(!GpChunkPlanRows(&S, 0, S.m, &P, why), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s", why);
  PetscCall(PetscMalloc(P.head.bytes, &chunk));
  PetscCall(PetscMalloc(GpChunkWorkspace(&P.head), &work));
  GpChunkEncode(&S, &P, chunk);
  FUZZ_EXPECT(!GpChunkVerify(chunk, P.head.bytes, why), "what was written is refused: %s", why);
  FUZZ_EXPECT(!GpChunkDecode(host, &P.head, chunk, work, &B) && B.m == A->m && B.nnz == A->nnz && !memcmp(B.rowptr, A->rowptr, ((size_t)A->m + 1) * sizeof(int32_t)), "the rows that were written are read as others");
  for (int32_t k = 0; k < A->nnz && !wrong[0]; k++) {
    const double a = val[k], b = GetValue(&B, k);

    FUZZ_EXPECT(B.col[k] == A->col[k] && (isnan(a) ? isnan(b) : !memcmp(&a, &b, sizeof(a))), "nonzero %d that was written is read as another", (int)k);
  }
  PetscCall(PetscFree(chunk));
  PetscCall(PetscFree(work));
  PetscCall(PetscFree(val));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DecodeChunk(const void *chunk, size_t n, char wrong[FUZZ_WRONG])
{
  GpChunkHeader head;
  GpDev         host;
  GpCsr         A;
  void         *work;

  PetscFunctionBegin;
  memcpy(&head, chunk, sizeof(head));
  FUZZ_EXPECT(head.bytes <= n, "a chunk of %llu bytes in %zu bytes", (unsigned long long)head.bytes, n);
  PetscCheck(!GpDevOpen(GP_DEV_HOST, 0, &host, NULL, 0), PETSC_COMM_SELF, PETSC_ERR_LIB, "no host device");
  PetscCall(PetscMalloc(GpChunkWorkspace(&head), &work));
  FUZZ_EXPECT(!GpChunkDecode(host, &head, chunk, work, &A), "the chunk is not decoded");
  FUZZ_EXPECT(A.rowptr[A.m] == A.nnz, "%d rows with %d nonzeros, not %d", A.m, A.rowptr[A.m], A.nnz);
  for (int32_t i = 0; i < A.m; i++) FUZZ_EXPECT(A.rowptr[i + 1] >= A.rowptr[i], "row %d has a negative length", i);
  for (int32_t k = 0; k < A.nnz; k++) FUZZ_EXPECT(A.col[k] >= 0 && A.col[k] < A.n, "nonzero %d has column %d of %d", k, A.col[k], A.n);
  if (!wrong[0]) PetscCall(CompareAgain(host, &A, wrong));
  PetscCall(PetscFree(work));
  GpDevClose(&host);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReadChunk(const char file[], uint64_t choice, char wrong[FUZZ_WRONG])
{
  static unsigned char b[FUZZ_MOST];
  char                 why[GP_CHUNK_WHY] = "";
  FILE                *fp                = fopen(file, "rb");
  const size_t         n                 = fp ? fread(b, 1, sizeof(b), fp) : 0;
  unsigned char       *chunk             = (unsigned char *)malloc(n ? n : 1); /* of this size, so that a read beyond the end is reported */
  GpErr                err;

  PetscFunctionBegin;
  if (fp) (void)fclose(fp);
  PetscCheck(fp && chunk, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "%s", file);
  memcpy(chunk, b, n);
  err = GpChunkVerify(chunk, n, why);
  if (!err) PetscCall(DecodeChunk(chunk, n, wrong));
  free(chunk);
  PetscCheck(!err, PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED, "%s: %s", file, why);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --- files of chunks ----------------------------------------------------------------------------------------------------------------------- */

/* Writes a file of each precision, with chunks of few rows. */
static PetscErrorCode PrepareFiles(const char folder[])
{
  char file[PETSC_MAX_PATH_LEN], why[GP_CHUNK_FILE_WHY];

  PetscFunctionBegin;
  for (int seed = 0; seed < GP_PRECISIONS; seed++) {
    int32_t      *rowptr, *col;
    double       *val;
    GpChunkWriter w;
    GpErr         err;

    PetscCall(PetscMalloc3(ROWS + 1, &rowptr, 40 * ROWS, &col, 40 * ROWS, &val));
    FillRows(1, rowptr, col, val);
    const GpChunkSource A = {.start = 1000, .m = ROWS, .n = 2000, .prec = (GpPrec)seed, .rowbytes = 4, .colbytes = 4, .rowptr = rowptr, .col = col, .val = val};
    (void)snprintf(file, sizeof(file), "%s/seed-%d", folder, seed);
    err = GpChunkWriterCreate(file, (GpPrec)seed, 1000, 2000, &w, why, sizeof(why));
    for (int64_t row = 0; !err && row < 9; row += 3) {
      GpChunkPlan P;
      void       *chunk;

      PetscCheck(!GpChunkPlanRows(&A, row, row + 3, &P, why), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s", why);
      PetscCall(PetscMalloc(P.head.bytes, &chunk));
      GpChunkEncode(&A, &P, chunk);
      err = GpChunkWriterAppend(w, chunk, why, sizeof(why));
      PetscCall(PetscFree(chunk));
    }
    if (!err) err = GpChunkWriterFinish(&w, why, sizeof(why));
    PetscCheck(!err, PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE, "%s", why);
    PetscCall(PetscFree3(rowptr, col, val));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes the size of the file and the checksums fit the other members of the headers. */
static void RepairFile(unsigned char *bytes, size_t n)
{
  GpChunkFileHeader h;

  if (n < sizeof(h)) return;
  memcpy(&h, bytes, sizeof(h));
  h.bytes = n;
  for (uint64_t c = 0, at = sizeof(h); h.index <= n && c < (n - h.index) / sizeof(GpChunkHeader); c++) {
    unsigned char *entry = bytes + h.index + c * sizeof(GpChunkHeader);
    GpChunkHeader  head;

    if (at > n || n - at < sizeof(head)) break;
    RepairChunk(bytes + at, n - at);
    memcpy(&head, bytes + at, sizeof(head));
    memmove(entry, &head, sizeof(head));
    at = head.bytes > n ? n : at + head.bytes;
  }
  if (h.index <= n) h.indexsum = GpChunkSum(bytes + h.index, (n - h.index) / 32 * 32);
  h.checksum = 0;
  h.checksum = GpChunkSum(&h, sizeof(h));
  memcpy(bytes, &h, sizeof(h));
}

/* Reads all chunks and copies them to another file. Returns the error of the reader. */
static PetscErrorCode CopyChunks(GpChunkFile f, const char copy[], GpErr *err, char why[GP_CHUNK_FILE_WHY], char wrong[FUZZ_WRONG])
{
  const GpChunkFileHeader *h = GpChunkFileGetHeader(f);
  GpChunkWriter            w;
  int64_t                  rows = 0, nnz = 0;

  PetscFunctionBegin;
  PetscCheck(!GpChunkWriterCreate(copy, (GpPrec)h->prec, h->first, h->n, &w, why, GP_CHUNK_FILE_WHY), PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE, "%s", why);
  for (int64_t c = 0; !*err && c < h->chunks; c++) {
    const GpChunkHeader *head  = GpChunkFileGetChunk(f, c);
    unsigned char       *chunk = (unsigned char *)malloc(head->bytes); /* of this size, so that a write beyond the end is reported */

    PetscCheck(chunk, PETSC_COMM_SELF, PETSC_ERR_MEM, "a chunk of %llu bytes", (unsigned long long)head->bytes);
    *err = GpChunkFileRead(f, c, chunk, why, GP_CHUNK_FILE_WHY);
    if (!*err) FUZZ_EXPECT(!GpChunkWriterAppend(w, chunk, why, GP_CHUNK_FILE_WHY), "chunk %d is not written again: %.150s", (int)c, why);
    rows += head->m;
    nnz += head->nnz;
    free(chunk);
  }
  FUZZ_EXPECT(*err || (rows == h->m && nnz == h->nnz), "the chunks have other rows and nonzeros than the header");
  if (*err || wrong[0]) GpChunkWriterDiscard(&w);
  else FUZZ_EXPECT(!GpChunkWriterFinish(&w, why, GP_CHUNK_FILE_WHY), "the file is not written again: %.150s", why);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static size_t LoadBytes(const char file[], unsigned char to[FUZZ_MOST])
{
  FILE        *fp = fopen(file, "rb");
  const size_t n  = fp ? fread(to, 1, FUZZ_MOST, fp) : 0;

  if (fp) (void)fclose(fp);
  return n;
}

static PetscErrorCode ReadFile(const char file[], uint64_t choice, char wrong[FUZZ_WRONG])
{
  static unsigned char a[FUZZ_MOST], b[FUZZ_MOST];
  char                 why[GP_CHUNK_FILE_WHY] = "", copy[PETSC_MAX_PATH_LEN];
  GpChunkFile          f;
  GpErr                err = GpChunkFileOpen(file, &f, why, sizeof(why));

  PetscFunctionBegin;
  (void)snprintf(copy, sizeof(copy), "%s.again", file);
  if (!err) PetscCall(CopyChunks(f, copy, &err, why, wrong));
  GpChunkFileClose(&f);
  if (!err && !wrong[0]) {
    const size_t n = LoadBytes(file, a);

    FUZZ_EXPECT(LoadBytes(copy, b) == n && !memcmp(a, b, n), "the file that was written again differs");
  }
  (void)remove(copy);
  PetscCheck(!err, PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED, "%s", why);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --- rows of PETSc's binary files ---------------------------------------------------------------------------------------------------------- */

static void PutNumber(unsigned char bytes[], size_t *n, uint64_t v, int width)
{
  for (int b = width - 1; b >= 0; b--) bytes[(*n)++] = (unsigned char)(v >> 8 * b);
}

/* Writes a matrix with integers of 32 bits, and one with integers of 64 bits. */
static PetscErrorCode PrepareRows(const char folder[])
{
  PetscFunctionBegin;
  for (int width = 4; width <= 8; width += 4) {
    const int     rows = 9, nnz = rows * (rows - 1) / 2;
    char          file[PETSC_MAX_PATH_LEN];
    unsigned char bytes[1024];
    size_t        n     = 0;
    const double  value = 1.5;
    uint64_t      bits;

    memcpy(&bits, &value, sizeof(bits));
    PutNumber(bytes, &n, 1211216, width);
    PutNumber(bytes, &n, (uint64_t)rows, width);
    PutNumber(bytes, &n, (uint64_t)rows, width);
    PutNumber(bytes, &n, (uint64_t)nnz, width);
    for (int i = 0; i < rows; i++) PutNumber(bytes, &n, (uint64_t)i, width);
    for (int i = 0; i < rows; i++)
      for (int k = 0; k < i; k++) PutNumber(bytes, &n, (uint64_t)k, width);
    for (int k = 0; k < nnz; k++) PutNumber(bytes, &n, bits, 8);
    (void)snprintf(file, sizeof(file), "%s/seed-%d", folder, width);
    PetscCall(FuzzWrite(file, bytes, n));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads all rows, in one piece or in two. */
static PetscErrorCode ReadRows(const char file[], uint64_t choice, char wrong[FUZZ_WRONG])
{
  char        why[GP_CHUNK_FILE_WHY] = "", unused[GP_CHUNK_WHY];
  GpRowFile   f;
  GpRowSource rows;
  int64_t     nnz = 0, cut;
  GpErr       err = GpRowFileOpen(file, 0, &f, why, sizeof(why));

  PetscFunctionBegin;
  PetscCheck(!err, PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED, "%s", why);
  GpRowFileGetRows(f, (GpPrec)(choice % 2), &rows);
  cut = rows.m ? (int64_t)(choice / 2) % rows.m : 0;
  for (int piece = 0; !err && piece < 2; piece++) {
    const int64_t first = piece ? cut : 0, end = piece ? rows.m : cut;
    GpChunkSource S;
    GpChunkPlan   P;

    err = rows.get(f, first, end, 1, &S, unused);
    if (err) break;
    nnz += ((const int64_t *)S.rowptr)[S.m] - ((const int64_t *)S.rowptr)[0];
    FUZZ_EXPECT(S.start == first && S.m == end - first && S.n == rows.n, "other rows than requested");
    if (S.m) (void)GpChunkPlanRows(&S, 0, S.m, &P, unused);
  }
  FUZZ_EXPECT(err || nnz == GpRowFileNonzeros(f), "the rows have %d nonzeros", (int)nnz);
  FUZZ_EXPECT(!err, "rows of an accepted file cannot be read: %s", unused);
  GpRowFileClose(&f);
  PetscFunctionReturn(PETSC_SUCCESS);
}

const FuzzReader FuzzChunk[] = {{.name = "chunk", .suffix = ".chunk", .prepare = PrepareChunks, .read = ReadChunk, .repair = RepairChunk},
                                {.name = "chunkfile", .suffix = ".chunks", .prepare = PrepareFiles, .read = ReadFile, .repair = RepairFile, .rare = 4},
                                {.name = "rowfile", .suffix = ".petsc", .prepare = PrepareRows, .read = ReadRows},
                                {.name = NULL}};
