static char help[] = "Type gpucsrstream with chunks in files: products, options, full disk, a file that is shortened or changed between products.\n\n";

#include "gpucsr.h"
#include "gpucsrcompat.h"

#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROWS    601
#define COLUMNS 401
#define VECTORS 37 /* more than one batch of a product with several vectors */
#define PREFIX  "gpucsrstreamfile"

static PetscErrorCode GetRows(Mat A, PetscInt first, PetscInt n, PetscInt length[], PetscInt col[], PetscScalar val[], void *ctx)
{
  PetscInt k = 0;

  PetscFunctionBeginUser;
  (void)A;
  (void)ctx;
  for (PetscInt i = first; i < first + n; i++) {
    length[i - first] = i % 5 == 3 ? 0 : 1 + i % 29;
    for (PetscInt j = 0; col && j < length[i - first]; j++, k++) {
      col[k] = (i + 7 * j) % COLUMNS;
      val[k] = 1 + (i * 31 + j * 17) % 64 / 32.0;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef struct {
  Vec x[VECTORS], y[VECTORS], z[VECTORS]; /* columns, rows, columns */
} Vectors;

static PetscErrorCode VectorsCreate(Mat A, Vectors *V)
{
  PetscFunctionBeginUser;
  for (int c = 0; c < VECTORS; c++) {
    PetscCall(MatCreateVecs(A, &V->x[c], &V->y[c]));
    PetscCall(VecDuplicate(V->x[c], &V->z[c]));
    PetscCall(VecSetRandom(V->x[c], NULL));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VectorsDestroy(Vectors *V)
{
  PetscFunctionBeginUser;
  for (int c = 0; c < VECTORS; c++) {
    PetscCall(VecDestroy(&V->x[c]));
    PetscCall(VecDestroy(&V->y[c]));
    PetscCall(VecDestroy(&V->z[c]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Product number `kind`: 0: A x, 1: A' y, 2: A x + y, 3: several vectors, 4: several vectors, transpose. */
static PetscErrorCode Multiply(Mat A, int kind, Vectors *V)
{
  PetscFunctionBeginUser;
  if (kind == 0) PetscCall(MatMult(A, V->x[0], V->y[0]));
  else if (kind == 1) PetscCall(MatMultTranspose(A, V->y[0], V->z[0]));
  else if (kind == 2) PetscCall(MatMultAdd(A, V->x[0], V->y[0], V->y[1]));
  else if (kind == 3) PetscCall(MatGPUCSRMultMany(A, PETSC_FALSE, VECTORS, V->x, V->y));
  else PetscCall(MatGPUCSRMultMany(A, PETSC_TRUE, VECTORS, V->y, V->z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares the bits of products with those of the matrix B, whose chunks are in host memory. */
static PetscErrorCode Compare(const char *what, Mat A, Mat B)
{
  Vectors   U, V;
  PetscBool same[3];

  PetscFunctionBeginUser;
  PetscCall(VectorsCreate(A, &U));
  PetscCall(VectorsCreate(B, &V));
  for (int c = 0; c < VECTORS; c++) PetscCall(VecCopy(U.x[c], V.x[c]));
  for (int kind = 0; kind < 5; kind++) {
    PetscCall(Multiply(A, kind, &U));
    PetscCall(Multiply(B, kind, &V));
    PetscCall(VecEqual(U.y[0], V.y[0], &same[0]));
    PetscCall(VecEqual(U.y[VECTORS - 1], V.y[VECTORS - 1], &same[1]));
    PetscCall(VecEqual(U.z[0], V.z[0], &same[2]));
    PetscCheck(same[0] && same[1] && same[2], PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: product %d differs", what, kind);
  }
  PetscCall(VectorsDestroy(&U));
  PetscCall(VectorsDestroy(&V));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the name of the file of a block on a rank, and whether it exists. */
static PetscErrorCode GetFile(PetscMPIInt rank, PetscBool off, char name[256], PetscBool *exists)
{
  PetscMPIInt size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(PetscSNPrintf(name, 256, PREFIX "-%dof%d-%s.chunks", (int)rank, (int)size, off ? "offdiagonal" : "diagonal"));
  *exists = (PetscBool)!access(name, F_OK);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Every product must be an error on all ranks. The vectors are new for each product, because PETSc leaves the operand of a failed product locked. */
static PetscErrorCode Refuse(const char *what, Mat A)
{
  PetscFunctionBeginUser;
  for (int kind = 0; kind < 5; kind++) {
    Vectors        V;
    PetscErrorCode err;

    PetscCall(VectorsCreate(A, &V));
    PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
    err = Multiply(A, kind, &V);
    PetscCall(PetscPopErrorHandler());
    PetscCheck(err, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: product %d is no error", what, kind);
    PetscCall(VectorsDestroy(&V));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Shortens or changes the file of a block of the last rank, and restores it. */
static PetscErrorCode Damage(Mat A, Mat B, PetscBool off, PetscBool shorten)
{
  const char *what = shorten ? "a shortened file" : "a changed file";
  char        name[256], byte = 0;
  PetscMPIInt rank, size;
  PetscBool   mine, exists;
  FILE       *file = NULL;
  char       *copy = NULL;
  struct stat st   = {0};

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  mine = (PetscBool)(rank == size - 1);
  PetscCall(GetFile(rank, off, name, &exists));
  PetscCheck(exists, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s does not exist", name);
  if (mine) {
    file = fopen(name, "r+b");
    PetscCheck(file && !fstat(fileno(file), &st), PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "%s", name);
    PetscCall(PetscMalloc1(st.st_size, &copy));
    PetscCheck(pread(fileno(file), copy, (size_t)st.st_size, 0) == st.st_size, PETSC_COMM_SELF, PETSC_ERR_FILE_READ, "%s", name);
    byte = (char)~copy[600];
    if (shorten) PetscCheck(!ftruncate(fileno(file), st.st_size / 2), PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE, "%s", name);
    else PetscCheck(pwrite(fileno(file), &byte, 1, 600) == 1, PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE, "%s", name);
  }
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  PetscCall(Refuse(what, A));
  if (mine) {
    PetscCheck(pwrite(fileno(file), copy, (size_t)st.st_size, 0) == st.st_size, PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE, "%s", name);
    PetscCall(PetscFree(copy));
    (void)fclose(file);
  }
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  PetscCall(Compare(what, A, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A bound on the size of files, as on a full disk, on the last rank. */
static PetscErrorCode TestFull(Mat B)
{
  struct rlimit limit, small;
  PetscMPIInt   rank, size;
  char          name[256];
  PetscBool     exists;
  Mat           A;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(MatCreateGPUCSRStream(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, ROWS, COLUMNS, GetRows, NULL, &A));
  PetscCall(MatGPUCSRSetStreamFile(A, PREFIX));
  (void)signal(SIGXFSZ, SIG_IGN);
  PetscCheck(!getrlimit(RLIMIT_FSIZE, &limit), PETSC_COMM_SELF, PETSC_ERR_SYS, "getrlimit()");
  small          = limit;
  small.rlim_cur = 1000;
  if (rank == size - 1) PetscCheck(!setrlimit(RLIMIT_FSIZE, &small), PETSC_COMM_SELF, PETSC_ERR_SYS, "setrlimit()");
  PetscCall(Refuse("a full disk", A));
  if (rank == size - 1) {
    PetscCheck(!setrlimit(RLIMIT_FSIZE, &limit), PETSC_COMM_SELF, PETSC_ERR_SYS, "setrlimit()");
    PetscCall(GetFile(rank, PETSC_FALSE, name, &exists));
    PetscCheck(!exists, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s exists though it could not be written", name);
  }
  PetscCall(Compare("after a full disk", A, B));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Mat                 A, B, C;
  MatGPUCSRStreamInfo info;
  PetscMPIInt         rank, size;
  PetscBool           exists;
  PetscErrorCode      err;
  Vectors             V;
  char                name[256];

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(MatCreateGPUCSRStream(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, ROWS, COLUMNS, GetRows, NULL, &B));
  PetscCall(MatCreateGPUCSRStream(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, ROWS, COLUMNS, GetRows, NULL, &A));
  PetscCall(MatGPUCSRSetStreamFile(A, PREFIX));
  PetscCall(Compare("chunks in files", A, B));
  PetscCall(MatGPUCSRGetStreamInfo(A, &info));
  PetscCheck(info.chunks > 2 && info.bytes > 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%d chunks", (int)info.chunks);
  for (int off = 0; off < (size > 1 ? 2 : 1); off++) {
    PetscCall(Damage(A, B, (PetscBool)off, PETSC_TRUE));
    PetscCall(Damage(A, B, (PetscBool)off, PETSC_FALSE));
  }
  PetscCall(MatGPUCSRSetStreamEncode(A, MAT_GPUCSR_STREAM_ENCODE_NONE)); /* encoded again */
  PetscCall(Compare("not encoded", A, B));
  PetscCall(MatGPUCSRSetStreamResident(A, 5000));
  PetscCall(Compare("partly resident", A, B));
  PetscCall(MatGPUCSRStreamSetRows(A, GetRows, NULL));
  PetscCall(Compare("rows set twice", A, B));
  PetscCall(MatGPUCSRSetStreamFile(A, NULL));
  PetscCall(Compare("in memory again", A, B));
  PetscCall(GetFile(rank, PETSC_FALSE, name, &exists));
  PetscCheck(!exists, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s exists though chunks are in memory", name);
  PetscCall(MatGPUCSRSetStreamFile(A, PREFIX));
  PetscCall(Compare("in files again", A, B));
  PetscCall(GetFile(rank, PETSC_FALSE, name, &exists));
  PetscCheck(exists, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s does not exist", name);
  PetscCall(MatDestroy(&A));
  PetscCall(GetFile(rank, PETSC_FALSE, name, &exists));
  PetscCheck(!exists, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s exists after MatDestroy()", name);
  PetscCall(TestFull(B));
  PetscCall(MatCreateGPUCSRStream(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, ROWS, COLUMNS, GetRows, NULL, &A));
  PetscCall(MatGPUCSRSetStreamFile(A, "/no/such/folder/matrix"));
  PetscCall(Refuse("no folder", A));
  PetscCall(MatGPUCSRSetStreamFile(A, PREFIX));
  PetscCall(Compare("after a wrong name", A, B));
  PetscCall(MatDestroy(&A));
  PetscCall(MatConvert(B, MATGPUCSR, MAT_INITIAL_MATRIX, &C));
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  err = MatGPUCSRSetStreamFile(C, PREFIX);
  PetscCall(PetscPopErrorHandler());
  PetscCheck(err == PETSC_ERR_SUP, PETSC_COMM_SELF, PETSC_ERR_PLIB, "type gpucsr: error %d", (int)err);
  PetscCall(VectorsCreate(C, &V));
  PetscCall(Multiply(C, 3, &V));
  PetscCall(VectorsDestroy(&V));
  PetscCall(MatDestroy(&C));
  PetscCall(MatDestroy(&B));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "ok\n"));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST
  test:
    suffix: 1
    nsize: {{1 2 4}}
    args: -mat_gpucsr_stream_chunk 4000 -mat_gpucsr_stream_resident 0
TEST*/
