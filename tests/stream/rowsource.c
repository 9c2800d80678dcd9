static char help[] = "Rows from PETSc's binary files: the chunks that are written from them have the rows that MatLoad() reads, for both widths of integers; damaged files are refused.\n\n";

#include "chunkfile.h"
#include "mat/impls/gpucsr/spmv/stream/gprowsource.h"

#include <petscmat.h>

#define ROWS      70000 /* more than the rows between two known positions in the file */
#define COLUMNS   5000
#define OVERFLOWS 5000 /* nonzero whose value overflows in a test */

static const char File[] = "chunkfrows-test.petsc", Out[] = "chunkfrows-test.chunks", Other[] = "chunkfrows-test.other";

/* A matrix in PETSc's format with integers of a width, in memory. */
typedef struct {
  BenchMatrix    A;
  unsigned char *bytes;
  size_t         n, columns; /* bytes of the file, offset of the columns */
} Image;

static void PutNumber(Image *M, uint64_t v, int width)
{
  for (int b = width - 1; b >= 0; b--) M->bytes[M->n++] = (unsigned char)(v >> 8 * b);
}

/* Row i of the matrix has 0 to 8 nonzeros. */
static PetscErrorCode ImageCreate(int width, size_t offset, int64_t declared, Image *M)
{
  uint64_t seed = 5;
  int32_t  k    = 0;

  PetscFunctionBegin;
  BenchMatrixCreate(&M->A, ROWS, COLUMNS, 8 * ROWS);
  for (int32_t i = 0; i < ROWS; i++) {
    for (int32_t c = (int32_t)(BenchRandom(&seed) % 9), col = -1; c > 0; c--) {
      col += 1 + (int32_t)(BenchRandom(&seed) % 500);
      M->A.col[k]   = col;
      M->A.val[k++] = i < ROWS / 2 ? BenchValue(&seed) : BenchUniform(&seed) + 0.1;
    }
    M->A.rowptr[i + 1] = k;
  }
  PetscCall(PetscCalloc1(offset + (size_t)width * (4 + ROWS) + (size_t)k * (size_t)(width + 8), &M->bytes));
  M->n = offset;
  PutNumber(M, MAT_FILE_CLASSID, width);
  PutNumber(M, ROWS, width);
  PutNumber(M, COLUMNS, width);
  PutNumber(M, declared ? (uint64_t)declared : (uint64_t)k, width);
  for (int32_t i = 0; i < ROWS; i++) PutNumber(M, (uint64_t)(M->A.rowptr[i + 1] - M->A.rowptr[i]), width);
  M->columns = M->n;
  for (int32_t j = 0; j < k; j++) PutNumber(M, (uint64_t)M->A.col[j], width);
  for (int32_t j = 0; j < k; j++) {
    uint64_t bits;

    memcpy(&bits, &M->A.val[j], sizeof(bits));
    PutNumber(M, bits, 8);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ImageDestroy(Image *M)
{
  PetscFunctionBegin;
  BenchMatrixDestroy(&M->A);
  PetscCall(PetscFree(M->bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PutFile(const Image *M)
{
  FILE *fp = fopen(File, "wb");

  PetscFunctionBegin;
  Check(fp && fwrite(M->bytes, 1, M->n, fp) == M->n && !fclose(fp), "%s cannot be written", File);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Encodes the file. Returns the error, and its reason in `why`. */
static GpErr Encode(uint64_t offset, GpPrec prec, size_t bytes, int threads, GpLoss *loss, char *why)
{
  GpRowFile   f;
  GpRowSource rows;
  GpErr       err = GpRowFileOpen(File, offset, &f, why, GP_CHUNK_FILE_WHY);

  if (err) return err;
  GpRowFileGetRows(f, prec, &rows);
  err = GpRowSourceWriteChunks(&rows, bytes, threads, Out, loss, why, GP_CHUNK_FILE_WHY);
  GpRowFileClose(&f);
  return err;
}

/* Compares the chunks of the written file with those of the matrix in memory. */
static PetscErrorCode CompareChunksOf(const BenchMatrix *A, GpPrec prec, size_t bytes, const GpLoss *loss)
{
  const GpChunkSource S = {.m = ROWS, .n = COLUMNS, .prec = prec, .rowbytes = 4, .colbytes = 4, .rowptr = A->rowptr, .col = A->col, .val = A->val};
  char                why[GP_CHUNK_FILE_WHY];
  int64_t             n, *first, rounded = 0;
  double              worst = 0;
  GpChunkFile         f;

  PetscFunctionBegin;
  Check(!GpChunkFileOpen(Out, &f, why, sizeof(why)), "%s", why);
  Check(!GpChunkCut(&S, bytes, &n, &first, why) && GpChunkFileGetHeader(f)->chunks == n && n > 1, "there are %d chunks, not %d", (int)GpChunkFileGetHeader(f)->chunks, (int)n);
  Check(GpChunkFileGetHeader(f)->m == ROWS && GpChunkFileGetHeader(f)->nnz == A->rowptr[ROWS], "the file has another size");
  for (int64_t c = 0; c < n; c++) {
    GpChunkPlan P;
    void       *want, *got;

    Check(!GpChunkPlanRows(&S, first[c], first[c + 1], &P, why), "%s", why);
    PetscCall(PetscMalloc2(P.head.bytes, (char **)&want, P.head.bytes, (char **)&got));
    GpChunkEncode(&S, &P, want);
    Check(GpChunkFileGetChunk(f, c)->bytes == P.head.bytes && !GpChunkFileRead(f, c, got, why, sizeof(why)) && !memcmp(got, want, P.head.bytes), "chunk %d differs", (int)c);
    PetscCall(PetscFree2(want, got));
    rounded += P.loss.rounded;
    worst = PetscMax(worst, P.loss.worst);
  }
  Check(loss->rounded == rounded && loss->worst == worst && (prec == GP_F64 || PetscAbsReal((double)(float)A->val[loss->at] - A->val[loss->at]) / A->val[loss->at] == worst), "another rounding error");
  free(first);
  GpChunkFileClose(&f);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* MatLoad() must read the matrix in memory from the same file. */
static PetscErrorCode CompareLoaded(const BenchMatrix *B)
{
  PetscViewer viewer;
  Mat         A;

  PetscFunctionBegin;
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_SELF, File, FILE_MODE_READ, &viewer));
  PetscCall(MatCreate(PETSC_COMM_SELF, &A));
  PetscCall(MatSetType(A, MATSEQAIJ));
  PetscCall(MatLoad(A, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  for (PetscInt i = 0; i < ROWS; i++) {
    const PetscScalar *val;
    const PetscInt    *col;
    PetscInt           n;

    PetscCall(MatGetRow(A, i, &n, &col, &val));
    Check(n == B->rowptr[i + 1] - B->rowptr[i], "row %d has another length", (int)i);
    for (PetscInt k = 0; k < n; k++) Check(col[k] == B->col[B->rowptr[i] + k] && val[k] == B->val[B->rowptr[i] + k], "row %d differs", (int)i);
    PetscCall(MatRestoreRow(A, i, &n, &col, &val));
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckEqual(void)
{
  char why[GP_CHUNK_FILE_WHY];

  PetscFunctionBegin;
  for (int width = 4; width <= 8; width += 4) {
    for (int prec = 0; prec < GP_PRECISIONS; prec++) {
      const size_t offset = prec ? 24 : 0, bytes = prec ? 50000 : 4000;
      const int    threads = width == 4 ? 3 * prec : 1;
      GpLoss       loss;
      Image        M;

      PetscCall(ImageCreate(width, offset, width == 4 && prec ? INT32_MAX : 0, &M)); /* INT32_MAX: PETSc has more nonzeros than an integer can express */
      PetscCall(PutFile(&M));
      Check(!Encode(offset, (GpPrec)prec, bytes, threads, &loss, why), "%s", why);
      PetscCall(CompareChunksOf(&M.A, (GpPrec)prec, bytes, &loss));
      if (width == (int)sizeof(PetscInt) && !offset) PetscCall(CompareLoaded(&M.A));
      PetscCall(ImageDestroy(&M));
    }
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "integers of %d bits: equal rows\n", 8 * width));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --- damaged files ------------------------------------------------------------------------------------------------------------------------ */

static PetscErrorCode CheckDamage(void)
{
  static const struct {
    size_t      at; /* place of the changed 32-bit integer; SIZE_MAX: the file is truncated */
    uint32_t    v;  /* its new value, or the new length */
    const char *words;
  } faults[] = {
    {0, 1211214, "no matrix in PETSc's binary format"},
    {4, -1u, "header is damaged"},
    {4, 0x7fffffff, "header is damaged"},
    {8, 0x7fffffff, "too many columns"},
    {12, -1u, "matrix is dense"},
    {12, 5, "the header says 5 nonzeros"},
    {16 + 36, -1u, "row 9 of 5000 columns has -1 nonzeros"},
    {16 + 36, 5001, "row 9 of 5000 columns has 5001 nonzeros"},
    {SIZE_MAX, 3, "bytes at offset 3: the file ends there"},
    {SIZE_MAX, 15, "the file ends there"},
    {SIZE_MAX, 1000, "header is damaged or the file truncated"},
    {SIZE_MAX, 500000, "the file is truncated"},
    {0x40000, 0, NULL},
  };
  char   why[GP_CHUNK_FILE_WHY];
  GpLoss loss;
  Image  M;

  PetscFunctionBegin;
  PetscCall(ImageCreate(4, 0, 0, &M));
  for (int k = 0; faults[k].words; k++) {
    const size_t   n = M.n, at = faults[k].at;
    unsigned char *p = at == SIZE_MAX ? NULL : M.bytes + at, kept[4];

    if (p) {
      memcpy(kept, p, 4);
      for (int b = 0; b < 4; b++) p[b] = (unsigned char)(faults[k].v >> (24 - 8 * b));
    } else M.n = faults[k].v;
    PetscCall(PutFile(&M));
    Check(Encode(0, GP_F64, 4000, 0, &loss, why) == GP_ERR_FILE && strstr(why, faults[k].words) && strstr(why, File), "fault %d: \"%s\" has no \"%s\"", k, why, faults[k].words);
    if (p) memcpy(p, kept, 4);
    M.n = n;
  }
  M.bytes[M.columns + 4 * 100] = 0x70; /* the first byte of a column */
  PetscCall(PutFile(&M));
  Check(Encode(0, GP_F64, 4000, 2, &loss, why) == GP_ERR_ARGUMENT && strstr(why, File) && strstr(why, "has a nonzero in column 18790"), "\"%s\"", why);
  PetscCall(CheckNoPart());
  M.bytes[M.columns + 4 * 100] = 0;
  memset(M.bytes + M.columns + 4 * (size_t)M.A.rowptr[ROWS] + 8 * OVERFLOWS, 0x70, 8); /* a value of about 1e232 */
  PetscCall(PutFile(&M));
  for (int threads = 0; threads < 4; threads += 3) {
    Check(Encode(0, GP_F32, 4000, threads, &loss, why) == GP_ERR_ARGUMENT && strstr(why, File) && strstr(why, "overflows single precision"), "\"%s\"", why);
    Check(loss.overflow == OVERFLOWS, "nonzero %d overflows, not %d", OVERFLOWS, (int)loss.overflow);
  }
  PetscCall(CheckNoPart());
  PetscCall(ImageDestroy(&M));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "damaged files: refused\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A file that becomes shorter or changes after it was opened. */
static PetscErrorCode CheckChanged(void)
{
  char          why[GP_CHUNK_FILE_WHY];
  GpRowFile     f;
  GpRowSource   rows;
  GpChunkSource S;
  Image         M;

  PetscFunctionBegin;
  PetscCall(ImageCreate(4, 0, 0, &M));
  PetscCall(PutFile(&M));
  Check(!GpRowFileOpen(File, 0, &f, why, sizeof(why)) && GpRowFileNonzeros(f) == M.A.rowptr[ROWS], "the file is not opened");
  GpRowFileGetRows(f, GP_F64, &rows);
  Check(!rows.get(f, 66000, ROWS, 1, &S, why) && S.start == 66000 && ((const double *)S.val)[0] == M.A.val[M.A.rowptr[66000]], "rows inside the file differ");
  Check(!rows.get(f, 65536, 65536, 1, &S, why) && !S.m, "no rows cannot be read");
  Check(!rename(File, Other) && !rows.get(f, 10, 20, 1, &S, why) && !rename(Other, File), "a file that was renamed cannot be read: %s", why);
  Check(!truncate(File, 300000), "the file cannot be shortened");
  Check(rows.get(f, 10, 20, 1, &S, why) == GP_ERR_FILE && strstr(why, "has changed since"), "\"%s\"", why);
  GpRowFileClose(&f);
  PetscCall(PutFile(&M));
  Check(!GpRowFileOpen(File, 0, &f, why, sizeof(why)), "the file is not opened");
  GpRowFileGetRows(f, GP_F64, &rows);
  Check(!rows.get(f, 10, 20, 1, &S, why), "\"%s\"", why);
  (void)usleep(50000);    /* more than a tick of the clock of the file system */
  PetscCall(PutFile(&M)); /* the same size */
  Check(rows.get(f, 10, 20, 1, &S, why) == GP_ERR_FILE && strstr(why, "has changed since it was opened; load the matrix again"), "\"%s\"", why);
  M.bytes[16 + 4 * 3 + 3] += 1;
  PetscCall(PutFile(&M));
  Check(rows.get(f, 65530, 65540, 0, &S, why) == GP_ERR_FILE && strstr(why, "has changed since"), "\"%s\"", why);
  GpRowFileClose(&f);
  PetscCall(ImageDestroy(&M));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "changed files: refused\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(CheckEqual());
  PetscCall(CheckDamage());
  PetscCall(CheckChanged());
  (void)unlink(File);
  (void)unlink(Out);
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   test:
     suffix: all

TEST*/
