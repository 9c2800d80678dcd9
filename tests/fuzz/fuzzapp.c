/* The readers of src/app: text, tables, Matrix Market, PETSc's binary format. */
#include "app/checkpoint/appcheckpoint.h"
#include "app/market/appmarket.h"
#include "app/table/apptable.h"
#include "fuzz.h"
#include <petscviewer.h>
#include <string.h>

static PetscErrorCode ReadText(const char file[], uint64_t choice, char wrong[FUZZ_WRONG])
{
  GpAppText  text;
  PetscInt64 lines = 0;
  char       begin[64];

  PetscFunctionBegin;
  if (choice % 3 == 2) PetscCall(GpAppTextReadAll(PETSC_COMM_SELF, file, &text));
  else if (choice % 3) PetscCall(GpAppTextRead(PETSC_COMM_SELF, file, &text));
  else {
    const size_t block = 1 + (size_t)(choice / 3 % 100);

    PetscCall(GpAppTextOpen(PETSC_COMM_SELF, file, &text));
    do {
      PetscCall(GpAppTextNext(&text, block));
      for (size_t k = 0; k < text.length; k++) text.lines += text.text[k] == '\n';
      FUZZ_EXPECT(!text.length || text.text[text.length - 1] == '\n', "a block does not end with a newline");
      FUZZ_EXPECT(!text.length || !memchr(text.text, 0, text.length), "a block holds a NUL byte");
    } while (text.length);
    PetscCall(GpAppTextRaise(&text, NULL));
    PetscCall(GpAppTextDestroy(&text));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(GpAppTextBeginning(&text, begin, sizeof(begin)));
  for (size_t k = 0; k < text.length; k++) lines += text.text[k] == '\n';
  FUZZ_EXPECT(lines == text.lines, "%lld lines are counted as %lld", (long long)lines, (long long)text.lines);
  FUZZ_EXPECT(!text.length || text.text[text.length - 1] == '\n', "the text does not end with a newline");
  FUZZ_EXPECT(!text.length || !memchr(text.text, 0, text.length), "the text holds a NUL byte");
  PetscCall(GpAppTextDestroy(&text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReadTable(const char file[], uint64_t choice, char wrong[FUZZ_WRONG])
{
  const char     delimiters[] = {0, 0, 0, 0, ',', ';', '\t', ' '};
  GpAppTableSpec spec         = {0};
  GpAppTable     T;
  char           what[512], *names;

  PetscFunctionBegin;
  spec.square      = (PetscBool)(choice & 1);
  spec.nan_missing = (PetscBool)(choice >> 1 & 1);
  spec.header      = (GpAppTableChoice)PetscMax(0, (int)(choice >> 2 & 7) - 5);
  spec.names       = (GpAppTableChoice)PetscMax(0, (int)(choice >> 5 & 7) - 5);
  spec.delimiter   = delimiters[choice >> 8 & 7];
  spec.text_first  = (PetscInt)PetscMax(0, (int)(choice >> 11 & 7) - 5);
  spec.label       = (choice >> 14 & 3) == 3 ? "class" : (choice >> 14 & 3) == 2 ? "1" : NULL;
  PetscCall(GpAppTableRead(PETSC_COMM_SELF, file, &spec, &T));
  FUZZ_EXPECT(T.rows == T.N && T.first == 0 && T.cols >= 0 && T.rows >= 1, "%lld rows of %lld, %lld columns", (long long)T.rows, (long long)T.N, (long long)T.cols);
  for (PetscInt k = 0; k < T.rows * T.cols; k++) FUZZ_EXPECT(!PetscIsInfReal(T.value[k]), "value %lld is infinite", (long long)k);
  for (PetscInt k = 0; k < T.rows; k++) {
    FUZZ_EXPECT(T.line[k] >= 1 && (!k || T.line[k] > T.line[k - 1]), "row %lld is in line %lld", (long long)k, (long long)T.line[k]);
    FUZZ_EXPECT(!T.named || strlen(T.name[k]) < FUZZ_MOST, "a name without end");
    for (PetscInt t = 0; t < T.ntext; t++) FUZZ_EXPECT(strlen(T.word[k * T.ntext + t]) < FUZZ_MOST && PetscIsNanReal(T.value[k * T.cols + T.text[t]]), "row %lld: a word beside a number", (long long)k);
  }
  for (PetscInt j = 0; T.heading && j < T.cols; j++) FUZZ_EXPECT(strlen(T.heading[j]) < FUZZ_MOST, "a heading without end");
  for (PetscInt t = 0; t < T.ntext; t++) FUZZ_EXPECT(T.text[t] >= 0 && T.text[t] < T.cols && (!t || T.text[t] > T.text[t - 1]), "text in column %lld", (long long)T.text[t]);
  PetscCall(GpAppTableDescribe(&T, what, sizeof(what)));
  PetscCall(GpAppTableGatherNames(&T, &names));
  PetscCall(PetscFree(names));
  PetscCall(GpAppTableDestroy(&T));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReadMarket(const char file[], uint64_t choice, char wrong[FUZZ_WRONG])
{
  const int   wants = (int)(choice & 15);
  GpAppMarket M;
  char        what[512];

  PetscFunctionBegin;
  PetscCall(GpAppMarketRead(PETSC_COMM_SELF, file, wants, &M));
  PetscCall(GpAppMarketDescribe(&M, what, sizeof(what)));
  if (choice & 16) PetscCall(GpAppMarketExpand(&M));
  FUZZ_EXPECT(M.M >= 0 && M.N >= 0 && M.M <= PETSC_MAX_INT && M.N <= PETSC_MAX_INT && M.n >= 0, "%lld x %lld with %lld entries", (long long)M.M, (long long)M.N, (long long)M.n);
  FUZZ_EXPECT(!(wants & GP_MARKET_SQUARE) || M.M == M.N, "%lld x %lld is not square", (long long)M.M, (long long)M.N);
  for (PetscInt64 k = 0; k < M.n; k++) {
    FUZZ_EXPECT(M.i[k] >= 0 && M.i[k] < M.M && M.j[k] >= 0 && M.j[k] < M.N, "entry %lld is at %lld, %lld", (long long)k, (long long)M.i[k], (long long)M.j[k]);
    if (!M.a) continue;
    FUZZ_EXPECT(!PetscIsInfReal(M.a[k]) && ((wants & GP_MARKET_NAN) || !PetscIsNanReal(M.a[k])), "entry %lld is not finite", (long long)k);
    FUZZ_EXPECT(!(wants & GP_MARKET_NONNEGATIVE) || !(M.a[k] < 0), "entry %lld is negative", (long long)k);
  }
  PetscCall(GpAppMarketDestroy(&M));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes a matrix, or vectors, by PETSc. */
static PetscErrorCode PrepareBinary(const char folder[], PetscBool matrix, MatType type, const char name[])
{
  char        file[PETSC_MAX_PATH_LEN];
  PetscViewer viewer;
  Mat         A;
  Vec         x;

  PetscFunctionBegin;
  (void)snprintf(file, sizeof(file), "%s/%s", folder, name);
  PetscCall(PetscViewerCreate(PETSC_COMM_SELF, &viewer));
  PetscCall(PetscViewerSetType(viewer, PETSCVIEWERBINARY));
  PetscCall(PetscViewerBinarySetSkipInfo(viewer, PETSC_TRUE));
  PetscCall(PetscViewerFileSetMode(viewer, FILE_MODE_WRITE));
  PetscCall(PetscViewerFileSetName(viewer, file));
  PetscCall(MatCreate(PETSC_COMM_SELF, &A));
  PetscCall(MatSetSizes(A, 5, 5, 5, 5));
  PetscCall(MatSetType(A, type));
  PetscCall(MatSetUp(A));
  for (PetscInt i = 0; i < 5; i++)
    for (PetscInt j = 0; j < 5; j++)
      if ((i * j) % 3 != 1) PetscCall(MatSetValue(A, i, j, i == j ? 0.0 : 1.0 + PetscAbs((PetscReal)(i - j)), INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatCreateVecs(A, &x, NULL));
  PetscCall(VecSet(x, 0.5));
  if (matrix) PetscCall(MatView(A, viewer));
  else
    for (int k = 0; k < 2; k++) PetscCall(VecView(x, viewer));
  PetscCall(VecDestroy(&x));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PrepareMatrices(const char folder[])
{
  PetscFunctionBegin;
  PetscCall(PrepareBinary(folder, PETSC_TRUE, MATAIJ, "seed-sparse"));
  PetscCall(PrepareBinary(folder, PETSC_TRUE, MATDENSE, "seed-dense"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PrepareVectors(const char folder[])
{
  PetscFunctionBegin;
  PetscCall(PrepareBinary(folder, PETSC_FALSE, MATAIJ, "seed-vectors"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReadMat(const char file[], uint64_t choice, char wrong[FUZZ_WRONG])
{
  Mat                A;
  Vec                x, y;
  PetscInt           m, n, N;
  const PetscInt    *j;
  const PetscScalar *a;

  PetscFunctionBegin;
  PetscCall(GpAppMatLoad(PETSC_COMM_SELF, file, choice % 2 ? NULL : MATAIJ, &A));
  PetscCall(MatGetSize(A, &m, &N));
  for (PetscInt i = 0; i < m; i++) {
    PetscCall(MatGetRow(A, i, &n, &j, &a));
    for (PetscInt k = 0; k < n; k++) FUZZ_EXPECT(j[k] >= 0 && j[k] < N && (!k || j[k] > j[k - 1]), "row %lld, column %lld", (long long)i, (long long)j[k]);
    PetscCall(MatRestoreRow(A, i, &n, &j, &a));
  }
  if (m < 100000 && N < 100000) { /* a product reads what the columns name */
    PetscCall(MatCreateVecs(A, &x, &y));
    PetscCall(VecSet(x, 1.0));
    PetscCall(MatMult(A, x, y));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&y));
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReadVecs(const char file[], uint64_t choice, char wrong[FUZZ_WRONG])
{
  Vec            x[2];
  PetscErrorCode ierr;

  PetscFunctionBegin;
  for (int k = 0; k < 2; k++) PetscCall(VecCreateSeq(PETSC_COMM_SELF, 5, &x[k]));
  ierr = GpAppVecLoad(file, 1 + (PetscInt)(choice % 2), x);
  for (int k = 0; k < 2; k++) PetscCall(VecDestroy(&x[k]));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The end of a checkpoint is the number of bytes of its values, and a checksum of all before that. */
void FuzzRepairCheckpoint(unsigned char *bytes, size_t n)
{
  const size_t header = 32;
  uint64_t     values = n - header - 16, crc;

  if (n < header + 16) return;
  memcpy(bytes + n - 16, &values, sizeof(values));
  crc = GpAppChecksum(0, bytes, n - 8);
  memcpy(bytes + n - 8, &crc, sizeof(crc));
}

const FuzzReader FuzzApp[] = {{.name = "text", .suffix = ".txt", .read = ReadText, .rare = 4},
                              {.name = "table", .suffix = ".csv", .read = ReadTable},
                              {.name = "market", .suffix = ".mtx", .read = ReadMarket},
                              {.name = "petscmat", .suffix = ".bin", .prepare = PrepareMatrices, .read = ReadMat},
                              {.name = "petscvec", .suffix = ".bin", .prepare = PrepareVectors, .read = ReadVecs},
                              {.name = NULL}};
