/* Measures products with a matrix that is streamed from host memory.

     bench_streammat [-matrix text] [-equal] [-repeats 20] [-mult] [-aij] [-write file]     Without a GPU the host backend is timed, to test the program
     mpiexec -n 16 bench_streammat -read file
     bench_streammat -read file -bounded -mat_gpucsr_stream auto -gpucsr_device_memory bytes

     -matrix   a name of tests/bench/matrices.h
     -equal    all nonzeros are 1
     -mult     times only y = A x
     -aij      also times PETSc's type aij
     -pass     times only A'(A x): two products, with stored and shared transposes, against one pass over the chunks
     -write    writes the matrix to a file for -read and for stream_cupy.py: 64-bit numbers of rows, of columns and of nonzeros; 32-bit row pointers and columns; values
               in double precision, from a multiple of 8 bytes on
     -read     reads this file. Times only PETSc's type aij, on all ranks, and opens no device
     -bounded  times only a matrix that the other options stream because it exceeds the device memory. The product is compared with that of PETSc's type aij

   First line: the rate of plain copies of pinned memory to the device. Then CSV, in which times are medians:
     storage, encode, buffers   options of the matrix. encode none: not encoded; on the device: not streamed. buffers 1 and 2: single and double buffering; 0: the default
     resident                   fraction of the encoded chunks that may stay on the device
     product                    mult; transpose: from chunks of the transpose; shared: transpose, from the chunks of the matrix; many: 16 vectors at once;
                                manytranspose: transpose, 16 vectors at once
     bytes                      bytes of all chunks
     moved                      bytes transferred in a product
     ms                         milliseconds of a product; products follow each other without a wait
     GB/s                       bytes transferred over this time
     link                       GB/s over the rate of plain copies
     transfer                   rate of the single transfers in GB/s, timed by events
     encode_s, pin_s            seconds to encode and to allocate pinned memory */
#include "bench/matrices.h"
#include "bench/streampass.h"
#include "sys/gpucsrsys.h"
#include "gpucsr.h"

#include <petsctime.h>
#include <stdio.h>

#define COLUMNS 16
#define PLAIN   ((size_t)256 << 20) /* bytes of a plain copy */
#define ROUNDS  5

typedef struct {
  MatGPUCSRStream       stream;
  MatGPUCSRStorage      storage;
  MatGPUCSRStreamEncode encode;
  PetscInt              buffers;
  PetscReal             resident;
  int                   product; /* 0: mult; 1: transpose; 2: several vectors; 3: transpose, from the chunks of the matrix; 4: transpose, several vectors */
} Case;

static const Case Cases[] = {
  {MAT_GPUCSR_STREAM_NEVER, MAT_GPUCSR_STORAGE_SINGLE, MAT_GPUCSR_STREAM_ENCODE_AUTO, 0, 0, 0},    {MAT_GPUCSR_STREAM_NEVER, MAT_GPUCSR_STORAGE_SINGLE, MAT_GPUCSR_STREAM_ENCODE_AUTO, 0, 0, 1},
  {MAT_GPUCSR_STREAM_NEVER, MAT_GPUCSR_STORAGE_SINGLE, MAT_GPUCSR_STREAM_ENCODE_AUTO, 0, 0, 2},    {MAT_GPUCSR_STREAM_ALWAYS, MAT_GPUCSR_STORAGE_SINGLE, MAT_GPUCSR_STREAM_ENCODE_AUTO, 0, 0, 0},
  {MAT_GPUCSR_STREAM_ALWAYS, MAT_GPUCSR_STORAGE_SINGLE, MAT_GPUCSR_STREAM_ENCODE_AUTO, 0, 0.5, 0}, {MAT_GPUCSR_STREAM_ALWAYS, MAT_GPUCSR_STORAGE_SINGLE, MAT_GPUCSR_STREAM_ENCODE_AUTO, 0, 1, 0},
  {MAT_GPUCSR_STREAM_ALWAYS, MAT_GPUCSR_STORAGE_SINGLE, MAT_GPUCSR_STREAM_ENCODE_AUTO, 0, 0, 1},   {MAT_GPUCSR_STREAM_ALWAYS, MAT_GPUCSR_STORAGE_SINGLE, MAT_GPUCSR_STREAM_ENCODE_AUTO, 0, 0, 2},
  {MAT_GPUCSR_STREAM_ALWAYS, MAT_GPUCSR_STORAGE_SINGLE, MAT_GPUCSR_STREAM_ENCODE_AUTO, 0, 1, 2},   {MAT_GPUCSR_STREAM_ALWAYS, MAT_GPUCSR_STORAGE_SINGLE, MAT_GPUCSR_STREAM_ENCODE_AUTO, 0, 0, 3},
  {MAT_GPUCSR_STREAM_ALWAYS, MAT_GPUCSR_STORAGE_SINGLE, MAT_GPUCSR_STREAM_ENCODE_AUTO, 0, 1, 1},   {MAT_GPUCSR_STREAM_ALWAYS, MAT_GPUCSR_STORAGE_SINGLE, MAT_GPUCSR_STREAM_ENCODE_AUTO, 0, 0, 4},
  {MAT_GPUCSR_STREAM_ALWAYS, MAT_GPUCSR_STORAGE_DOUBLE, MAT_GPUCSR_STREAM_ENCODE_AUTO, 0, 0, 0},   {MAT_GPUCSR_STREAM_ALWAYS, MAT_GPUCSR_STORAGE_SINGLE, MAT_GPUCSR_STREAM_ENCODE_NONE, 2, 0, 0},
  {MAT_GPUCSR_STREAM_ALWAYS, MAT_GPUCSR_STORAGE_DOUBLE, MAT_GPUCSR_STREAM_ENCODE_NONE, 2, 0, 0},   {MAT_GPUCSR_STREAM_ALWAYS, MAT_GPUCSR_STORAGE_DOUBLE, MAT_GPUCSR_STREAM_ENCODE_NONE, 1, 0, 0},
};

static const char *const Products[] = {"mult", "transpose", "many", "shared", "manytranspose"};
static const char        Columns[]  = "storage,encode,buffers,resident,product,bytes,moved,ms,GB/s,link,transfer,encode_s,pin_s\n";
static PetscInt          repeats    = 20;

static int Compare(const void *a, const void *b)
{
  const double d = *(const double *)a - *(const double *)b;

  return (d > 0) - (d < 0);
}

/* Measures plain copies of pinned memory to the device, in bytes a second. */
static PetscErrorCode MeasureLink(GpDev dev, double *rate)
{
  double seconds[ROUNDS];
  void  *to, *from;

  PetscFunctionBeginUser;
  PetscCallGp(dev, "device memory", GpDevAlloc(dev, PLAIN, &to));
  PetscCallGp(dev, "pinned memory", GpDevAllocPinned(dev, PLAIN, &from));
  memset(from, 1, PLAIN);
  for (int r = 0; r < ROUNDS; r++) {
    PetscCallGp(dev, "waiting", GpDevSync(dev));
    seconds[r] = 0;
    PetscCall(PetscTimeSubtract(&seconds[r]));
    for (int k = 0; k < 4; k++) PetscCallGp(dev, "a copy", GpDevCopyIn(dev, to, from, PLAIN));
    PetscCallGp(dev, "waiting", GpDevSync(dev));
    PetscCall(PetscTimeAdd(&seconds[r]));
  }
  qsort(seconds, ROUNDS, sizeof(*seconds), Compare);
  *rate = 4.0 * (double)PLAIN / seconds[ROUNDS / 2];
  GpDevFreePinned(dev, from);
  GpDevFree(dev, &to, PLAIN);
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "# %s: plain copies of pinned memory: %.2f GB/s\n", GpDevName(dev), 1e-9 * *rate));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Waits until the work of all ranks is done. dev is NULL for matrices on the host. */
static PetscErrorCode Wait(GpDev dev)
{
  PetscFunctionBeginUser;
  if (dev) PetscCallGp(dev, "waiting", GpDevSync(dev));
  else PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Multiply(Mat A, int product, Vec x[], Vec y[])
{
  PetscFunctionBeginUser;
  if (product == 0) PetscCall(MatMult(A, x[0], y[0]));
  else if (product == 1) PetscCall(MatMultTranspose(A, x[0], y[0]));
  else PetscCall(MatGPUCSRMultMany(A, (PetscBool)(product == 4), COLUMNS, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Measures the median of the time of a product, and the bytes that it transfers; moved is NULL for a matrix of another type. */
static PetscErrorCode TimeProducts(GpDev dev, Mat A, int product, double *median, double *moved)
{
  const PetscBool     transpose = (PetscBool)(product == 1 || product == 4);
  MatGPUCSRStreamInfo before, after;
  Vec                 x[COLUMNS], y[COLUMNS];
  double              seconds[ROUNDS];

  PetscFunctionBeginUser;
  for (int c = 0; c < COLUMNS; c++) {
    PetscCall(MatCreateVecs(A, transpose ? &y[c] : &x[c], transpose ? &x[c] : &y[c]));
    PetscCall(VecSet(x[c], 1.0 / (1 + c)));
  }
  for (int k = 0; k < 2; k++) PetscCall(Multiply(A, product, x, y));
  if (moved) PetscCall(MatGPUCSRGetStreamInfo(A, &before));
  for (int r = 0; r < ROUNDS; r++) {
    PetscCall(Wait(dev));
    seconds[r] = 0;
    PetscCall(PetscTimeSubtract(&seconds[r]));
    for (PetscInt k = 0; k < repeats; k++) PetscCall(Multiply(A, product, x, y));
    PetscCall(Wait(dev));
    PetscCall(PetscTimeAdd(&seconds[r]));
  }
  qsort(seconds, ROUNDS, sizeof(*seconds), Compare);
  *median = seconds[ROUNDS / 2] / (double)repeats;
  if (moved) {
    PetscCall(MatGPUCSRGetStreamInfo(A, &after));
    *moved = (after.moved - before.moved) / (ROUNDS * (double)repeats);
  }
  for (int c = 0; c < COLUMNS; c++) {
    PetscCall(VecDestroy(&x[c]));
    PetscCall(VecDestroy(&y[c]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* bytes: size of the encoded matrix, from which the bound on resident chunks is computed; a case without resident chunks sets it */
static PetscErrorCode TimeCase(GpDev dev, Mat A, const Case *c, double link, double *bytes)
{
  MatGPUCSRStreamInfo info;
  double              seconds, moved;

  PetscFunctionBeginUser;
  PetscCall(MatGPUCSRSetStorage(A, c->storage));
  PetscCall(MatGPUCSRSetStream(A, c->stream));
  PetscCall(MatGPUCSRSetStreamEncode(A, c->encode));
  PetscCall(MatGPUCSRSetStreamBuffers(A, c->buffers));
  PetscCall(MatGPUCSRSetStreamTranspose(A, c->product == 3 ? MAT_GPUCSR_STREAM_TRANSPOSE_SHARED : MAT_GPUCSR_STREAM_TRANSPOSE_STORED));
  PetscCall(MatGPUCSRSetStreamResident(A, c->resident == 1 ? 1e15 : c->resident * *bytes));
  PetscCall(TimeProducts(dev, A, c->product == 3 ? 1 : c->product, &seconds, &moved));
  PetscCall(MatGPUCSRGetStreamInfo(A, &info));
  if (c->product == 0) *bytes = info.bytes;
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s,%s,%d,%.1f,%s,%.0f,%.0f,%.4f,%.2f,%.3f,%.2f,%.2f,%.2f\n", MatGPUCSRStorages[c->storage], c->stream == MAT_GPUCSR_STREAM_NEVER ? "on the device" : MatGPUCSRStreamEncodes[c->encode], (int)c->buffers,
                        (double)c->resident, Products[c->product], info.bytes, moved, 1e3 * seconds, 1e-9 * moved / seconds, moved / seconds / link, info.timed_seconds > 0 ? 1e-9 * info.timed_bytes / info.timed_seconds : 0, info.encode_seconds,
                        info.pin_seconds));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --- files, so that a matrix is generated once for several programs ---------------------------------------------------------------- */

static size_t ValuesOffset(const int64_t size[3])
{
  return (3 * sizeof(int64_t) + ((size_t)size[0] + 1 + (size_t)size[2]) * sizeof(int32_t) + 7) / 8 * 8;
}

static PetscErrorCode WriteMatrix(const char *name, const BenchMatrix *B)
{
  const int64_t size[3] = {B->m, B->n, B->nnz};
  FILE         *file    = fopen(name, "wb");
  size_t        written;

  PetscFunctionBeginUser;
  PetscCheck(file, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "-write %s: the file cannot be created", name);
  written = fwrite(size, sizeof(*size), 3, file) + fwrite(B->rowptr, sizeof(*B->rowptr), (size_t)B->m + 1, file) + fwrite(B->col, sizeof(*B->col), (size_t)B->nnz, file);
  if (!fseek(file, (long)ValuesOffset(size), SEEK_SET)) written += fwrite(B->val, sizeof(*B->val), (size_t)B->nnz, file);
  PetscCheck(!fclose(file) && written == 4 + (size_t)B->m + 2 * (size_t)B->nnz, PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE, "-write %s: the disk is full, or writing failed", name);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReadPart(const char *name, FILE *file, size_t offset, void *to, size_t bytes)
{
  PetscFunctionBeginUser;
  PetscCheck(!fseek(file, (long)offset, SEEK_SET) && fread(to, 1, bytes, file) == bytes, PETSC_COMM_SELF, PETSC_ERR_FILE_READ, "-read %s: %zu bytes at offset %zu cannot be read", name, bytes, offset);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Each rank reads its own rows. */
static PetscErrorCode ReadMatrix(const char *name, Mat *A)
{
  FILE       *file = fopen(name, "rb");
  int64_t     size[3];
  PetscMPIInt rank;
  PetscInt   *i, *j, m = PETSC_DECIDE, M, first = 0;
  int32_t    *rowptr, *col, from, nnz;
  double     *val;

  PetscFunctionBeginUser;
  PetscCheck(file, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "-read %s: the file cannot be opened", name);
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(ReadPart(name, file, 0, size, sizeof(size)));
  M = (PetscInt)size[0];
  PetscCall(PetscSplitOwnership(PETSC_COMM_WORLD, &m, &M));
  PetscCallMPI(MPI_Exscan(&m, &first, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  if (rank == 0) first = 0; /* MPI_Exscan() leaves it undefined there */
  PetscCall(PetscMalloc2(m + 1, &rowptr, m + 1, &i));
  PetscCall(ReadPart(name, file, sizeof(size) + (size_t)first * sizeof(*rowptr), rowptr, ((size_t)m + 1) * sizeof(*rowptr)));
  from = rowptr[0];
  nnz  = rowptr[m] - from;
  for (PetscInt k = 0; k <= m; k++) i[k] = rowptr[k] - from;
  PetscCall(PetscMalloc3(nnz, &col, nnz, &j, nnz, &val));
  PetscCall(ReadPart(name, file, sizeof(size) + ((size_t)size[0] + 1 + (size_t)from) * sizeof(*col), col, (size_t)nnz * sizeof(*col)));
  PetscCall(ReadPart(name, file, ValuesOffset(size) + (size_t)from * sizeof(*val), val, (size_t)nnz * sizeof(*val)));
  for (int32_t k = 0; k < nnz; k++) j[k] = col[k];
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, m, PETSC_DECIDE, M, (PetscInt)size[1]));
  PetscCall(MatSetType(*A, MATAIJ));
  PetscCall(MatSeqAIJSetPreallocationCSR(*A, i, j, val));
  PetscCall(MatMPIAIJSetPreallocationCSR(*A, i, j, val));
  PetscCall(PetscFree2(rowptr, i));
  PetscCall(PetscFree3(col, j, val));
  (void)fclose(file);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateMatrix(const char *name, PetscBool equal, const char *write, Mat *A)
{
  BenchMatrix B;
  PetscInt   *i, *j;

  PetscFunctionBeginUser;
  PetscCheck(BenchNamed(name, &B), PETSC_COMM_SELF, PETSC_ERR_USER_INPUT, "-matrix %s: there is no such matrix in matrices.h", name);
  for (int32_t k = 0; equal && k < B.nnz; k++) B.val[k] = 1;
  if (write[0]) PetscCall(WriteMatrix(write, &B));
  PetscCall(PetscMalloc2(B.m + 1, &i, B.nnz, &j));
  for (int32_t k = 0; k <= B.m; k++) i[k] = B.rowptr[k];
  for (int32_t k = 0; k < B.nnz; k++) j[k] = B.col[k];
  PetscCall(MatCreate(PETSC_COMM_SELF, A));
  PetscCall(MatSetSizes(*A, B.m, B.n, B.m, B.n));
  PetscCall(MatSetType(*A, MATSEQAIJGPUCSR));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocationCSR(*A, i, j, B.val));
  PetscCall(PetscFree2(i, j));
  PetscCall(MatGPUCSRSetTranspose(*A, MAT_GPUCSR_TRANSPOSE_LAZY));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "# %s: %d x %d, %d nonzeros%s\n", name, (int)B.m, (int)B.n, (int)B.nnz, equal ? ", all equal" : ""));
  BenchMatrixDestroy(&B);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Times the products of a matrix of PETSc's type aij. */
static PetscErrorCode TimeAIJ(Mat A)
{
  PetscMPIInt ranks;
  double      seconds;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)A), &ranks));
  for (int product = 0; product < 2; product++) {
    PetscCall(TimeProducts(NULL, A, product, &seconds, NULL));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "double,aij on %d cores,0,0.0,%s,0,0,%.4f,0,0,0,0,0\n", (int)ranks, Products[product], 1e3 * seconds));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Times a matrix that the bound on device memory forces to be streamed, and compares a product with that of B, the same matrix of PETSc's type aij. */
static PetscErrorCode TimeBounded(Mat B)
{
  MatGPUCSRStreamInfo info;
  PetscReal           error, norm;
  double              seconds, moved;
  GpDev               dev;
  Mat                 A;
  Vec                 x, y, z;

  PetscFunctionBeginUser;
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(PetscGPUCSRGetDevice(&dev));
  PetscCall(MatConvert(B, MATSEQAIJGPUCSR, MAT_INITIAL_MATRIX, &A));
  PetscCall(MatGPUCSRSetTranspose(A, MAT_GPUCSR_TRANSPOSE_LAZY));
  PetscCall(MatSetFromOptions(A));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecSetRandom(x, NULL));
  PetscCall(MatMult(A, x, y));
  PetscCall(MatCreateVecs(B, NULL, &z));
  PetscCall(MatMult(B, x, z));
  PetscCall(VecNorm(z, NORM_INFINITY, &norm));
  PetscCall(VecAXPY(z, -1, y));
  PetscCall(VecNorm(z, NORM_INFINITY, &error));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(TimeProducts(dev, A, 0, &seconds, &moved));
  PetscCall(MatGPUCSRGetStreamInfo(A, &info));
  PetscCall(
    PetscPrintf(PETSC_COMM_SELF, "bound,bytes,resident,moved,ms,GB/s,difference\n%.0f,%.0f,%.0f,%.0f,%.4f,%.2f,%.2g\n", GpDevMemoryLimit(dev), info.bytes, info.resident_bytes, moved, 1e3 * seconds, 1e-9 * moved / seconds, (double)(error / norm)));
  PetscCheck(error <= 1e-12 * norm, PETSC_COMM_SELF, PETSC_ERR_PLIB, "the product differs from that of type aij");
  PetscCheck(info.bytes > 0, PETSC_COMM_SELF, PETSC_ERR_USER_INPUT, "the matrix fits into device memory and is not streamed; give a smaller -gpucsr_device_memory");
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TimeAll(const char *name, PetscBool equal, PetscBool mult, PetscBool aij, PetscBool pass, const char *write)
{
  double link, bytes = 0;
  Mat    A, B;
  GpDev  dev;

  PetscFunctionBeginUser;
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(PetscGPUCSRGetDevice(&dev));
  PetscCall(MeasureLink(dev, &link));
  PetscCall(CreateMatrix(name, equal, write, &A));
  if (pass) PetscCall(BenchNormalCompare(dev, A, repeats));
  else PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s", Columns));
  for (size_t c = 0; !pass && c < PETSC_STATIC_ARRAY_LENGTH(Cases); c++) {
    if (!mult || !Cases[c].product) PetscCall(TimeCase(dev, A, &Cases[c], link, &bytes));
  }
  if (aij) {
    PetscCall(MatConvert(A, MATSEQAIJ, MAT_INITIAL_MATRIX, &B));
    PetscCall(TimeAIJ(B));
    PetscCall(MatDestroy(&B));
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  char        name[64] = "text", read[PETSC_MAX_PATH_LEN] = "", write[PETSC_MAX_PATH_LEN] = "";
  PetscBool   equal = PETSC_FALSE, mult = PETSC_FALSE, aij = PETSC_FALSE, pass = PETSC_FALSE, bounded = PETSC_FALSE;
  PetscMPIInt ranks;
  Mat         A;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-matrix", name, sizeof(name), NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-equal", &equal, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-mult", &mult, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-aij", &aij, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-pass", &pass, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-bounded", &bounded, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-repeats", &repeats, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-read", read, sizeof(read), NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-write", write, sizeof(write), NULL));
  PetscCheck(read[0] || (ranks == 1 && !bounded), PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "several ranks and -bounded need -read <file>, which -write creates");
  PetscCheck(ranks == 1 || !bounded, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-bounded needs one rank");
  if (read[0]) {
    PetscCall(ReadMatrix(read, &A));
    if (bounded) PetscCall(TimeBounded(A));
    else {
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s", Columns));
      PetscCall(TimeAIJ(A));
    }
    PetscCall(MatDestroy(&A));
  } else PetscCall(TimeAll(name, equal, mult, aij, pass, write));
  PetscCall(PetscFinalize());
  return 0;
}
