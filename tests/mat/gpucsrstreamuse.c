static char help[] = "Type gpucsrstream: -mat_view, options, failed conversions, files that change, duplicates, row maxima, calls that set values.\n\n";

#include <gpucsrdevice.h>
#include "gpucsr.h"
#include "gpucsrcompat.h"
#include "refused.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SIZE      300
#define VIEW      "gpucsrstreamuse.txt"
#define FILE_NAME "gpucsrstreamuse.petsc"

typedef struct {
  PetscInt left;     /* number of calls until one fails; -1: none */
  PetscInt repeated; /* row whose second column is its first one; -1: none */
  PetscInt descends; /* row whose columns descend; -1: none */
} Rows;

static const Rows Normal = {-1, -1, -1};

/* Row i has nonzeros in i, i + 1, i + 5 and i + 7 modulo SIZE. All values are 2 or -2, so that row maxima are equal. */
static PetscErrorCode GetRows(Mat A, PetscInt first, PetscInt n, PetscInt length[], PetscInt col[], PetscScalar val[], void *ctx)
{
  static const PetscInt step[] = {0, 1, 5, 7};
  Rows                 *R      = (Rows *)ctx;

  PetscFunctionBeginUser;
  (void)A;
  PetscCheck(R->left < 0 || R->left--, PETSC_COMM_SELF, PETSC_ERR_USER, "the rows cannot be computed");
  for (PetscInt i = first; i < first + n; i++) {
    PetscInt *c = col ? col + 4 * (i - first) : NULL;

    length[i - first] = 4;
    for (PetscInt j = 0; c && j < 4; j++) {
      c[j]                     = (i + step[i == R->descends ? 3 - j : j]) % SIZE;
      val[4 * (i - first) + j] = j % 2 ? 2 : -2;
    }
    if (c && i == R->repeated) c[1] = c[0];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create(const char prefix[], Rows *R, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetOptionsPrefix(*A, prefix));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, SIZE, SIZE));
  PetscCall(MatSetType(*A, MATGPUCSRSTREAM));
  if (R) PetscCall(MatGPUCSRStreamSetRows(*A, GetRows, R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --- -mat_view -------------------------------------------------------------------------------------------------------------------------- */

/* Multiplies twice, destroys the matrix, and checks how often it has been viewed by the option. */
static PetscErrorCode Finish(const char *what, int views, Mat *A)
{
  PetscMPIInt rank;
  Vec         x, y;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(*A, &x, &y));
  PetscCall(VecSet(x, 1));
  for (int k = 0; k < 2; k++) PetscCall(MatMult(*A, x, y));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(A));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (!rank) {
    char  text[65536];
    FILE *file  = fopen(VIEW, "r");
    int   found = 0;

    text[file ? fread(text, 1, sizeof(text) - 1, file) : 0] = 0;
    if (file) (void)fclose(file);
    (void)unlink(VIEW);
    for (const char *c = text; (c = strstr(c, "type: gpucsrstream")); c++) found++;
    PetscCheck(found == views, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: viewed %d times, not %d: %s", what, found, views, text);
    PetscCheck(strstr(text, " chunks"), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: no chunks in %s", what, text);
  }
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Load(const char prefix[], Mat *A)
{
  PetscViewer viewer;

  PetscFunctionBeginUser;
  if (!*A) PetscCall(Create(prefix, NULL, A));
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, FILE_NAME, FILE_MODE_READ, &viewer));
  PetscCall(MatLoad(*A, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestView(void)
{
  Rows        R = Normal;
  Mat         A = NULL;
  PetscViewer viewer;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsSetValue(NULL, "-v_mat_view", "ascii:" VIEW ":ascii_info:append"));
  PetscCall(Load("v_", &A));
  PetscCall(Finish("MatLoad()", 1, &A));
  PetscCall(Load("v_", &A));
  PetscCall(Load("v_", &A));
  PetscCall(Finish("MatLoad() twice", 2, &A));
  PetscCall(Create("v_", &R, &A));
  PetscCall(Finish("rows of a function", 1, &A));
  PetscCall(Create("v_", &R, &A));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(Finish("assembled", 1, &A));
  PetscCall(Create("v_", &R, &A));
  PetscCall(PetscViewerASCIIOpen(PETSC_COMM_WORLD, "/dev/null", &viewer));
  PetscCall(PetscViewerPushFormat(viewer, PETSC_VIEWER_ASCII_INFO));
  PetscCall(MatView(A, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(Finish("after MatView()", 1, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --- rows that are read again ------------------------------------------------------------------------------------------------------------ */

/* The last rank fails in each call of the function in turn: memory that MatConvert() does not free is printed at the end. */
static PetscErrorCode TestConvert(void)
{
  Rows           R = Normal;
  PetscMPIInt    rank, size;
  PetscErrorCode err = PETSC_ERR_USER;
  Mat            A, B;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(Create(NULL, &R, &A));
  for (PetscInt k = 0; err; k++) {
    R.left = rank == size - 1 ? k : -1;
    PetscCheck(k < 20, PETSC_COMM_SELF, PETSC_ERR_PLIB, "the conversion still fails after 20 calls");
    PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
    err = MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &B);
    PetscCall(PetscPopErrorHandler());
    PetscCheck(!err || err == PETSC_ERR_USER, PETSC_COMM_SELF, PETSC_ERR_PLIB, "call %" PetscInt_FMT ": error %d", k, (int)err);
    PetscCheck(err || k > 3, PETSC_COMM_SELF, PETSC_ERR_PLIB, "the conversion needs %" PetscInt_FMT " calls only", k);
  }
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes 4 bytes at the end of the file without a change of its size, or appends them. */
static PetscErrorCode Change(PetscBool append)
{
  PetscMPIInt rank;
  struct stat st;
  FILE       *file;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  (void)usleep(50000); /* more than a tick of the clock of the file system */
  if (!rank) {
    file = fopen(FILE_NAME, "r+b");
    PetscCheck(file && !fstat(fileno(file), &st) && pwrite(fileno(file), "1234", 4, append ? st.st_size : st.st_size - 4) == 4, PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE, FILE_NAME);
    (void)fclose(file);
  }
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestChange(void)
{
  Mat       A = NULL, B;
  Vec       x, y;
  PetscReal norm;

  PetscFunctionBeginUser;
  PetscCall(Load(NULL, &A));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecSet(x, 1));
  for (int append = 0; append < 2; append++) {
    PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &B));
    PetscCall(MatDestroy(&B));
    PetscCall(Change((PetscBool)append));
    Refused("has changed since it was opened; load the matrix again", MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &B));
    Refused("has changed since it was opened", MatGetDiagonal(A, y));
    Refused("has changed since it was opened", MatNorm(A, NORM_1, &norm));
    PetscCall(MatMult(A, x, y)); /* the chunks are those of the old file */
    PetscCall(Load(NULL, &A));
  }
  PetscCall(MatNorm(A, NORM_1, &norm));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The process of the row has the message, and all have an error. */
static PetscErrorCode TestDuplicates(void)
{
  const PetscInt row = SIZE - 2; /* its columns are SIZE - 2, SIZE - 1, 3 and 5 */
  PetscInt       first, end;
  Vec            x, y;

  PetscFunctionBeginUser;
  for (int descends = 0; descends < 2; descends++) {
    Rows           R = Normal;
    char           words[80], *found;
    Mat            A;
    PetscErrorCode err;

    R.repeated = row;
    R.descends = descends ? row : -1;
    PetscCall(Create(NULL, &R, &A));
    PetscCall(MatCreateVecs(A, &x, &y));
    PetscCall(VecSet(x, 1));
    PetscCall(PetscSNPrintf(words, sizeof(words), "row %" PetscInt_FMT " has several nonzeros in column %d", row, descends ? 5 : SIZE - 2));
    for (int convert = 0; convert < 2; convert++) {
      Mat B = NULL;

      PetscCall(PetscPushErrorHandler(RefusedCatch, NULL));
      RefusedMessage[0] = 0;
      err               = convert ? MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &B) : MatMult(A, x, y);
      PetscCall(PetscPopErrorHandler());
      PetscCall(MatGetOwnershipRange(A, &first, &end));
      PetscCall(PetscStrstr(RefusedMessage, words, &found));
      PetscCheck(err && (found || row < first || row >= end), PETSC_COMM_SELF, PETSC_ERR_PLIB, "expected \"%s\", got %d, \"%s\"", words, (int)err, RefusedMessage);
    }
    PetscCall(VecDestroy(&x)); /* PETSc leaves the operand of a failed product locked */
    PetscCall(VecDestroy(&y));
    R.repeated = -1;
    PetscCall(MatCreateVecs(A, &x, &y));
    PetscCall(VecSet(x, 1));
    PetscCall(MatMult(A, x, y));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&y));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestRowMaxima(void)
{
  Rows     R = Normal;
  Mat      A, B;
  Vec      u, v;
  PetscInt first, end, *at[2];

  PetscFunctionBeginUser;
  R.descends = 4;
  PetscCall(Create(NULL, &R, &A));
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &B));
  PetscCall(MatCreateVecs(B, NULL, &u));
  PetscCall(VecDuplicate(u, &v));
  PetscCall(MatGetOwnershipRange(A, &first, &end));
  PetscCall(PetscMalloc2(end - first, &at[0], end - first, &at[1]));
  PetscCall(MatGetRowMaxAbs(A, u, at[0]));
  PetscCall(MatGetRowMaxAbs(B, v, at[1]));
  for (PetscInt i = first; i < end; i++)
    PetscCheck(at[0][i - first] == at[1][i - first], PETSC_COMM_SELF, PETSC_ERR_PLIB, "row %" PetscInt_FMT ": the maximum is in column %" PetscInt_FMT ", not %" PetscInt_FMT, i, at[1][i - first], at[0][i - first]);
  PetscCall(PetscFree2(at[0], at[1]));
  PetscCall(VecDestroy(&u));
  PetscCall(VecDestroy(&v));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --- calls and options that the type refuses --------------------------------------------------------------------------------------------- */

static PetscErrorCode TestValues(void)
{
  Rows R = Normal;
  Mat  A, B, C;

  PetscFunctionBeginUser;
  PetscCall(Create(NULL, NULL, &A));
  Refused("is read-only: its values cannot be set, and no matrix can be converted to this type. Give its rows by MatLoad()", MatSeqAIJSetPreallocation(A, 3, NULL));
  Refused("is read-only: its values cannot be set", MatMPIAIJSetPreallocation(A, 3, NULL, 3, NULL));
  PetscCall(MatSetUp(A));
  Refused("is read-only: its values cannot be set", MatSetValue(A, 0, 0, 1, INSERT_VALUES));
  PetscCall(MatGPUCSRStreamSetRows(A, GetRows, &R)); /* the matrix is still usable */
  Refused("Use MatConvert() to MATAIJ to change values", MatSetValue(A, 0, 0, 1, INSERT_VALUES));
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &B));
  PetscCall(MatProductCreate(A, B, NULL, &C));
  PetscCall(MatProductSetType(C, MATPRODUCT_AB));
  Refused("can be multiplied by a dense matrix B as A B and A' B, and on one process as A B'", MatProductSetFromOptions(C));
  PetscCall(MatDestroy(&C));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A matrix cannot be created with this option, given without a value if it is NULL. */
#define RefusedOption(words, name, value) \
  do { \
    Mat A_ = NULL; \
    PetscCall(PetscOptionsSetValue(NULL, name, value)); \
    Refused(words, Create("o_", NULL, &A_)); \
    PetscCall(MatDestroy(&A_)); \
    PetscCall(PetscOptionsClearValue(NULL, name)); \
  } while (0)

static PetscErrorCode TestOptions(void)
{
  Rows R = Normal;
  Mat  A;

  PetscFunctionBeginUser;
  RefusedOption("-o_mat_gpucsr_stream never: a matrix of type gpucsrstream is always streamed; use the type gpucsr", "-o_mat_gpucsr_stream", "never");
  RefusedOption("-o_mat_gpucsr_stream_transpose stored: a matrix of type gpucsrstream stores no transpose", "-o_mat_gpucsr_stream_transpose", "stored");
  RefusedOption("-o_mat_gpucsr_stream_file: give the beginning of a file name", "-o_mat_gpucsr_stream_file", NULL);
  RefusedOption("-gpucsr_stream_file: give the beginning of a file name", "-gpucsr_stream_file", NULL);
  RefusedOption("-o_mat_gpucsr_stream_chunk 1e-5: give a number of bytes", "-o_mat_gpucsr_stream_chunk", "1e-5");
  PetscCall(PetscOptionsSetValue(NULL, "-gpucsr_stream", "never")); /* for other matrices */
  PetscCall(PetscOptionsSetValue(NULL, "-gpucsr_stream_transpose", "stored"));
  PetscCall(PetscOptionsSetValue(NULL, "-a_mat_gpucsr_stream", "always"));
  PetscCall(PetscOptionsSetValue(NULL, "-a_mat_gpucsr_stream_transpose", "shared"));
  PetscCall(Create("a_", &R, &A));
  PetscCall(MatSetFromOptions(A));
  PetscCall(MatGPUCSRSetStream(A, MAT_GPUCSR_STREAM_AUTO));
  PetscCall(MatGPUCSRSetStreamTranspose(A, MAT_GPUCSR_STREAM_TRANSPOSE_SHARED));
  Refused("MatGPUCSRSetStream never: a matrix of type gpucsrstream is always streamed", MatGPUCSRSetStream(A, MAT_GPUCSR_STREAM_NEVER));
  Refused("MatGPUCSRSetStreamTranspose stored: a matrix of type gpucsrstream stores no transpose", MatGPUCSRSetStreamTranspose(A, MAT_GPUCSR_STREAM_TRANSPOSE_STORED));
  Refused("MatGPUCSRSetStreamChunk(): 0.5: give a number of bytes", MatGPUCSRSetStreamChunk(A, 0.5));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscOptionsClearValue(NULL, "-gpucsr_stream"));
  PetscCall(PetscOptionsClearValue(NULL, "-gpucsr_stream_transpose"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestDevice(void)
{
  GpDev  dev    = NULL;
  void  *memory = NULL;
  double value  = 0;

  PetscFunctionBeginUser;
  Refused("The device is NULL; get it by PetscGPUCSRGetDevice()", PetscGPUCSRDeviceMalloc(dev, "memory", 8, &memory));
  Refused("The device is NULL", PetscGPUCSRDeviceMallocPinned(dev, 8, &memory));
  Refused("The device is NULL", PetscGPUCSRDeviceCopyIn(dev, &value, &value, 8));
  Refused("The device is NULL", PetscGPUCSRDeviceCopyOut(dev, &value, &value, 8));
  Refused("The device is NULL", PetscGPUCSRDeviceZero(dev, &value, 8));
  Refused("The device is NULL", PetscGPUCSRDeviceSynchronize(dev));
  Refused("The device is NULL", PetscGPUCSRDevicePushStream(dev));
  Refused("The device is NULL", PetscGPUCSRDevicePopStream(dev));
  Refused("The device is NULL", PetscGPUCSRWatchWait(dev, 1, &value));
  PetscCall(PetscGPUCSRDeviceFree(dev, 8, &memory)); /* nothing to free */
  PetscCall(PetscGPUCSRDeviceFreePinned(dev, &memory));
  memory = &value;
  Refused("The device is NULL", PetscGPUCSRDeviceFree(dev, 8, &memory));
  Refused("The device is NULL", PetscGPUCSRDeviceFreePinned(dev, &memory));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Rows        R = Normal;
  Mat         A, B;
  PetscViewer viewer;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(Create(NULL, &R, &A));
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &B));
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, FILE_NAME, FILE_MODE_WRITE, &viewer));
  PetscCall(MatView(B, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscCall(TestView());
  PetscCall(TestConvert());
  PetscCall(TestChange());
  PetscCall(TestDuplicates());
  PetscCall(TestRowMaxima());
  PetscCall(TestValues());
  PetscCall(TestOptions());
  PetscCall(TestDevice());
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "ok\n"));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST
  test:
    suffix: 1
    nsize: {{1 2 4}}
TEST*/
