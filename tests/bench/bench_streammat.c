/* Measures products with a matrix that is streamed from host memory.

     bench_streammat [-matrix text] [-equal] [-repeats 20] [-aij]     Without a GPU the host backend is timed, to test the program

     -matrix  a name of tests/bench/matrices.h
     -equal   all nonzeros are 1
     -aij     also times PETSc's type aij on one core

   First line: the rate of plain copies of pinned memory to the device. Then CSV, in which times are medians:
     storage, encode, buffers   options of the matrix. encode none: not encoded; on the device: not streamed. buffers 1 and 2: single and double buffering; 0: the default
     resident                   fraction of the encoded chunks that may stay on the device
     product                    mult; transpose: from chunks of the transpose; shared: transpose, from the chunks of the matrix; many: 16 vectors at once
     bytes                      bytes of all chunks
     moved                      bytes transferred in a product
     ms                         milliseconds of a product; products follow each other without a wait
     GB/s                       bytes transferred over this time
     link                       GB/s over the rate of plain copies
     transfer                   rate of the single transfers in GB/s, timed by events
     encode_s, pin_s            seconds to encode and to allocate pinned memory */
#include "bench/matrices.h"
#include "sys/gpucsrsys.h"
#include "gpucsr.h"

#include <petsctime.h>

#define COLUMNS 16
#define PLAIN   ((size_t)256 << 20) /* bytes of a plain copy */
#define ROUNDS  5

typedef struct {
  MatGPUCSRStream       stream;
  MatGPUCSRStorage      storage;
  MatGPUCSRStreamEncode encode;
  PetscInt              buffers;
  PetscReal             resident;
  int                   product; /* 0: mult; 1: transpose; 2: several vectors; 3: transpose, from the chunks of the matrix */
} Case;

static const Case Cases[] = {
  {MAT_GPUCSR_STREAM_NEVER, MAT_GPUCSR_STORAGE_SINGLE, MAT_GPUCSR_STREAM_ENCODE_AUTO, 0, 0, 0},    {MAT_GPUCSR_STREAM_NEVER, MAT_GPUCSR_STORAGE_SINGLE, MAT_GPUCSR_STREAM_ENCODE_AUTO, 0, 0, 1},
  {MAT_GPUCSR_STREAM_NEVER, MAT_GPUCSR_STORAGE_SINGLE, MAT_GPUCSR_STREAM_ENCODE_AUTO, 0, 0, 2},    {MAT_GPUCSR_STREAM_ALWAYS, MAT_GPUCSR_STORAGE_SINGLE, MAT_GPUCSR_STREAM_ENCODE_AUTO, 0, 0, 0},
  {MAT_GPUCSR_STREAM_ALWAYS, MAT_GPUCSR_STORAGE_SINGLE, MAT_GPUCSR_STREAM_ENCODE_AUTO, 0, 0.5, 0}, {MAT_GPUCSR_STREAM_ALWAYS, MAT_GPUCSR_STORAGE_SINGLE, MAT_GPUCSR_STREAM_ENCODE_AUTO, 0, 1, 0},
  {MAT_GPUCSR_STREAM_ALWAYS, MAT_GPUCSR_STORAGE_SINGLE, MAT_GPUCSR_STREAM_ENCODE_AUTO, 0, 0, 1},   {MAT_GPUCSR_STREAM_ALWAYS, MAT_GPUCSR_STORAGE_SINGLE, MAT_GPUCSR_STREAM_ENCODE_AUTO, 0, 0, 2},
  {MAT_GPUCSR_STREAM_ALWAYS, MAT_GPUCSR_STORAGE_SINGLE, MAT_GPUCSR_STREAM_ENCODE_AUTO, 0, 1, 2},   {MAT_GPUCSR_STREAM_ALWAYS, MAT_GPUCSR_STORAGE_SINGLE, MAT_GPUCSR_STREAM_ENCODE_AUTO, 0, 0, 3},
  {MAT_GPUCSR_STREAM_ALWAYS, MAT_GPUCSR_STORAGE_DOUBLE, MAT_GPUCSR_STREAM_ENCODE_AUTO, 0, 0, 0},   {MAT_GPUCSR_STREAM_ALWAYS, MAT_GPUCSR_STORAGE_SINGLE, MAT_GPUCSR_STREAM_ENCODE_NONE, 2, 0, 0},
  {MAT_GPUCSR_STREAM_ALWAYS, MAT_GPUCSR_STORAGE_DOUBLE, MAT_GPUCSR_STREAM_ENCODE_NONE, 2, 0, 0},   {MAT_GPUCSR_STREAM_ALWAYS, MAT_GPUCSR_STORAGE_DOUBLE, MAT_GPUCSR_STREAM_ENCODE_NONE, 1, 0, 0},
};

static const char *const Products[] = {"mult", "transpose", "many", "shared"};
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

static PetscErrorCode Multiply(Mat A, int product, Vec x[], Vec y[])
{
  PetscFunctionBeginUser;
  if (product == 0) PetscCall(MatMult(A, x[0], y[0]));
  else if (product == 1) PetscCall(MatMultTranspose(A, x[0], y[0]));
  else PetscCall(MatGPUCSRMultMany(A, PETSC_FALSE, COLUMNS, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Measures the median of the time of a product, and the bytes that it transfers; moved is NULL for a matrix of another type. */
static PetscErrorCode TimeProducts(GpDev dev, Mat A, int product, double *median, double *moved)
{
  MatGPUCSRStreamInfo before, after;

  Vec    x[COLUMNS], y[COLUMNS];
  double seconds[ROUNDS];

  PetscFunctionBeginUser;
  for (int c = 0; c < COLUMNS; c++) {
    PetscCall(MatCreateVecs(A, product == 1 ? &y[c] : &x[c], product == 1 ? &x[c] : &y[c]));
    PetscCall(VecSet(x[c], 1.0 / (1 + c)));
  }
  for (int k = 0; k < 2; k++) PetscCall(Multiply(A, product, x, y));
  if (moved) PetscCall(MatGPUCSRGetStreamInfo(A, &before));
  for (int r = 0; r < ROUNDS; r++) {
    PetscCallGp(dev, "waiting", GpDevSync(dev));
    seconds[r] = 0;
    PetscCall(PetscTimeSubtract(&seconds[r]));
    for (PetscInt k = 0; k < repeats; k++) PetscCall(Multiply(A, product, x, y));
    PetscCallGp(dev, "waiting", GpDevSync(dev));
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

static PetscErrorCode CreateMatrix(const char *name, PetscBool equal, Mat *A)
{
  BenchMatrix B;
  PetscInt   *i, *j;

  PetscFunctionBeginUser;
  PetscCheck(BenchNamed(name, &B), PETSC_COMM_SELF, PETSC_ERR_USER_INPUT, "-matrix %s: there is no such matrix in matrices.h", name);
  for (int32_t k = 0; equal && k < B.nnz; k++) B.val[k] = 1;
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

int main(int argc, char **argv)
{
  char      name[64] = "text";
  PetscBool equal = PETSC_FALSE, aij = PETSC_FALSE;
  double    link, bytes              = 0, seconds;
  Mat       A, B;
  GpDev     dev;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(PetscGPUCSRGetDevice(&dev));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-matrix", name, sizeof(name), NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-equal", &equal, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-aij", &aij, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-repeats", &repeats, NULL));
  PetscCall(MeasureLink(dev, &link));
  PetscCall(CreateMatrix(name, equal, &A));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "storage,encode,buffers,resident,product,bytes,moved,ms,GB/s,link,transfer,encode_s,pin_s\n"));
  for (size_t c = 0; c < PETSC_STATIC_ARRAY_LENGTH(Cases); c++) PetscCall(TimeCase(dev, A, &Cases[c], link, &bytes));
  if (aij) {
    PetscCall(MatConvert(A, MATSEQAIJ, MAT_INITIAL_MATRIX, &B));
    for (int product = 0; product < 2; product++) {
      PetscCall(TimeProducts(dev, B, product, &seconds, NULL));
      PetscCall(PetscPrintf(PETSC_COMM_SELF, "double,aij on the host,0,0.0,%s,0,0,%.4f,0,0,0,0,0\n", Products[product], 1e3 * seconds));
    }
    PetscCall(MatDestroy(&B));
  }
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}
