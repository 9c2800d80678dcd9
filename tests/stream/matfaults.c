static char help[] = "Faults of a streamed Mat: refused pinning, too little memory, failing copies; resident chunks; special values; sequences of calls.\n\n";

#include "device/gpdeviceimpl.h"
#include "gpucsr.h"
#include "gpucsrcompat.h"
#include "mat/refused.h"
#include "sys/gpucsrsys.h"

#include <string.h>

#define CHUNK 16384
#define ROWS  2000
#define LONG  5000 /* nonzeros of a long row; in compressed rows they take more bytes than a chunk */
#define COLS  9000

#define Check(condition, ...) PetscCheck(condition, PETSC_COMM_SELF, PETSC_ERR_PLIB, __VA_ARGS__)

static GpDevOps        Ops; /* operations of the device, with those that tests replace */
static const GpDevOps *Real;
static int64_t         Allocations = -1, Copies = -1; /* number of calls until one fails; negative: none fails */

static GpErr RefusePin(GpDev dev, void *memory, size_t bytes)
{
  return GpDevFail(dev, GP_ERR_MEMORY, "%zu bytes of host memory cannot be pinned: the test refuses", bytes);
}

/* Makes the host backend keep device memory apart from host memory, so that chunks are copied as on a GPU. */
static GpErr Holds(GpDev dev, const void *pointer, int *holds)
{
  *holds = 0;
  return GP_SUCCESS;
}

static GpErr FailAllocation(GpDev dev, size_t bytes, void **pointer)
{
  return Allocations-- == 0 ? GpDevFail(dev, GP_ERR_MEMORY, "the test refuses %zu bytes", bytes) : Real->alloc(dev, bytes, pointer);
}

static GpErr FailAllocationShared(GpDev dev, size_t bytes, void **pointer)
{
  return Allocations-- == 0 ? GpDevFail(dev, GP_ERR_MEMORY, "the test refuses %zu bytes", bytes) : Real->alloc_shared(dev, bytes, pointer);
}

static GpErr FailCopy(GpDev dev, void *to, const void *from, size_t bytes)
{
  return Copies-- == 0 ? GpDevFail(dev, GP_ERR_DEVICE, "the test refuses to copy %zu bytes", bytes) : Real->copy_in(dev, to, from, bytes);
}

/* Sets long, short and empty rows. With `special`, some values are NaNs, infinities and negative zeros. */
static PetscErrorCode SetRows(Mat A, PetscInt shift, PetscBool special)
{
  PetscInt first, end, n;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(A, NULL, &n));
  PetscCall(MatGetOwnershipRange(A, &first, &end));
  for (PetscInt i = first; i < end; i++) {
    const PetscInt length = i % 500 == 77 ? LONG : i % 4 == 1 ? 0 : 1 + (i * 5) % 37;

    for (PetscInt k = 0; k < length; k++) {
      const PetscScalar strange = k % 3 == 0 ? NAN : k % 3 == 1 ? -INFINITY : -0.0;

      PetscCall(MatSetValue(A, i, (i * 31 + k + shift) % n, special && i % 100 == 8 ? strange : 1 / (PetscReal)(1 + (i * 7 + k * 3) % 1001) - 0.01, INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Preallocate(Mat A)
{
  PetscFunctionBeginUser;
  PetscCall(MatSeqAIJSetPreallocation(A, LONG, NULL));
  PetscCall(MatMPIAIJSetPreallocation(A, LONG, NULL, LONG, NULL));
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create(MatGPUCSRStream stream, PetscBool special, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, ROWS, COLS));
  PetscCall(MatSetType(*A, MATGPUCSR));
  PetscCall(MatGPUCSRSetKernel(*A, "csrvector8"));
  PetscCall(MatGPUCSRSetStream(*A, stream));
  PetscCall(MatGPUCSRSetStreamChunk(*A, CHUNK));
  PetscCall(Preallocate(*A));
  PetscCall(SetRows(*A, 0, special));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Raises an error unless the products of both matrices have the same bits. */
static PetscErrorCode Compare(const char *what, Mat A, Mat B)
{
  Vec                x, y, out[2], back[2];
  const PetscScalar *a, *b;
  PetscInt           m, n;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecSetRandom(x, NULL));
  PetscCall(VecSetRandom(y, NULL));
  for (int k = 0; k < 2; k++) {
    PetscCall(VecDuplicate(x, &back[k]));
    PetscCall(VecDuplicate(y, &out[k]));
    PetscCall(MatMult(k ? B : A, x, out[k]));
    PetscCall(MatMultTranspose(k ? B : A, y, back[k]));
  }
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(VecGetLocalSize(y, &m));
  for (int t = 0; t < 2; t++) {
    PetscCall(VecGetArrayRead(t ? back[0] : out[0], &a));
    PetscCall(VecGetArrayRead(t ? back[1] : out[1], &b));
    Check(!memcmp(a, b, (size_t)(t ? n : m) * sizeof(*a)), "%s: the streamed product%s has other bits", what, t ? " with the transpose" : "");
    PetscCall(VecRestoreArrayRead(t ? back[0] : out[0], &a));
    PetscCall(VecRestoreArrayRead(t ? back[1] : out[1], &b));
  }
  for (int k = 0; k < 2; k++) {
    PetscCall(VecDestroy(&out[k]));
    PetscCall(VecDestroy(&back[k]));
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestResident(Mat B)
{
  MatGPUCSRStreamInfo info;
  Mat                 A;
  double              share[] = {0, 100000, 1e15};

  PetscFunctionBeginUser;
  PetscCall(Create(MAT_GPUCSR_STREAM_ALWAYS, PETSC_TRUE, &A));
  for (int s = 0; s < 3; s++) {
    PetscCall(MatGPUCSRSetStreamResident(A, share[s]));
    for (int repeat = 0; repeat < 3; repeat++) PetscCall(Compare("resident chunks", A, B));
    PetscCall(MatGPUCSRGetStreamInfo(A, &info));
    Check(info.streamed && info.chunks > 4, "%d chunks", (int)info.chunks);
    Check(info.resident_bytes <= share[s] && info.moved_last == info.bytes - info.resident_bytes, "%g of %g bytes are resident, not at most %g; %g bytes moved", info.resident_bytes, info.bytes, share[s], info.moved_last);
    Check(s != 1 || info.resident_bytes > 0, "nothing is resident");
    Check(s != 2 || info.resident_bytes == info.bytes, "only %g of %g bytes are resident", info.resident_bytes, info.bytes);
  }
  PetscCall(MatDestroy(&A));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "resident chunks: right\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The system refuses to pin the chunks: threads copy them to pinned buffers, and the view says so. */
static PetscErrorCode TestPin(Mat B)
{
  MatGPUCSRStreamInfo info;
  Mat                 A;
  PetscViewer         viewer;
  char                text[16384], words[128];
  FILE               *file = tmpfile();

  PetscFunctionBeginUser;
  Check(file, "no temporary file");
  Ops.pin = RefusePin;
  PetscCall(Create(MAT_GPUCSR_STREAM_ALWAYS, PETSC_TRUE, &A));
  PetscCall(MatGPUCSRSetStreamResident(A, 50000));
  for (int repeat = 0; repeat < 2; repeat++) PetscCall(Compare("refused pinning", A, B));
  Ops.pin = Real->pin;
  PetscCall(MatGPUCSRGetStreamInfo(A, &info));
  Check(info.pageable_bytes == info.bytes, "%g of %g bytes are pageable", info.pageable_bytes, info.bytes);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &info.pageable_bytes, 1, MPI_DOUBLE, MPI_SUM, PETSC_COMM_WORLD));
  PetscCall(PetscViewerASCIIOpenWithFILE(PETSC_COMM_WORLD, file, &viewer));
  PetscCall(PetscViewerPushFormat(viewer, PETSC_VIEWER_ASCII_INFO));
  PetscCall(MatView(A, viewer));
  PetscCall(PetscViewerFlush(viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  rewind(file);
  text[fread(text, 1, sizeof(text) - 1, file)] = 0;
  (void)fclose(file);
  (void)snprintf(words, sizeof(words), "%.0f bytes of the chunks could not be pinned and are copied in each product; raise the limit of locked memory", info.pageable_bytes);
  if (text[0]) Check(strstr(text, words), "the view lacks \"%s\": %s", words, text); /* the first rank writes */
  PetscCall(MatDestroy(&A));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "refused pinning: right\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Too little device memory, from almost none to enough: all ranks have an error or none. If the buffers are what does not fit, the error names the bytes and the remedy. How much memory that
   takes depends on the backend and on the number of ranks. The matrix works once there is more. */
static PetscErrorCode TestBuffers(GpDev dev, Mat B)
{
  const double held    = GpDevBytesHeld(dev);
  int          code[2] = {1, 0}, buffers = 0;
  Mat          A;

  PetscFunctionBeginUser;
  PetscCall(Create(MAT_GPUCSR_STREAM_ALWAYS, PETSC_TRUE, &A));
  PetscCall(MatGPUCSRSetStreamResident(A, 0));
  PetscCall(MatGPUCSRSetStreamBuffers(A, 16));
  for (double more = 10000; code[0]; more *= 1.3) {
    Check(more < 1e8, "%g bytes of device memory are too little: \"%s\"", more, RefusedMessage);
    GpDevSetMemoryLimit(dev, held + more);
    RefusedMessage[0] = 0;
    PetscCall(PetscPushErrorHandler(RefusedCatch, NULL));
    code[0] = !!(int)MatGPUCSRUpload(A);
    PetscCall(PetscPopErrorHandler());
    code[1] = -code[0];
    Check(!code[0] || RefusedMessage[0], "an error without a message");
    if (strstr(RefusedMessage, "for a stream: ")) {
      buffers = 1;
      Check(strstr(RefusedMessage, " bytes asked for (16 buffers of ") && strstr(RefusedMessage, " free; use fewer buffers") && strstr(RefusedMessage, "-mat_gpucsr_stream_buffers"), "\"%s\"", RefusedMessage);
    }
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, code, 2, MPI_INT, MPI_MAX, PETSC_COMM_WORLD));
    Check(code[0] == -code[1], "%g bytes: an error on some ranks only", more);
  }
  Check(buffers, "the buffers were never what did not fit");
  GpDevSetMemoryLimit(dev, 1e15);
  PetscCall(Compare("after an error", A, B));
  PetscCall(MatDestroy(&A));
  GpDevSetMemoryLimit(dev, 0);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "too little memory for buffers: refused\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Each allocation in device memory fails once, on the last rank. Then all ranks have an error, or none because resident chunks were freed. The matrix works afterwards. */
static PetscErrorCode TestAllocations(Mat B)
{
  PetscMPIInt rank, size;
  int         failures = 0;
  Mat         A;
  Vec         x, y;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  for (int64_t k = 0; k < 12; k++) {
    int code[2];

    PetscCall(Create(MAT_GPUCSR_STREAM_ALWAYS, PETSC_TRUE, &A));
    PetscCall(MatGPUCSRSetStreamResident(A, 60000));
    PetscCall(MatCreateVecs(A, &x, &y));
    PetscCall(VecSet(x, 1));
    Allocations = rank == size - 1 ? k : -1;
    PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
    code[0] = (int)MatGPUCSRUpload(A);
    PetscCall(PetscPopErrorHandler());
    Allocations = -1;
    code[0]     = !!code[0];
    code[1]     = -code[0];
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, code, 2, MPI_INT, MPI_MAX, PETSC_COMM_WORLD));
    Check(code[0] == -code[1], "allocation %d: an error on some ranks only", (int)k);
    failures += code[0];
    PetscCall(Compare("after a failed allocation", A, B));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&y));
    PetscCall(MatDestroy(&A));
  }
  Check(failures > 1, "only %d uploads failed", failures);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "failed allocations: right\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A copy to the device fails in a product. One rank, because a failing device does not stop the other ranks. */
static PetscErrorCode TestCopies(Mat B)
{
  Mat A;
  Vec x, y;

  PetscFunctionBeginUser;
  PetscCall(Create(MAT_GPUCSR_STREAM_ALWAYS, PETSC_TRUE, &A));
  PetscCall(MatGPUCSRSetStreamResident(A, 60000));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecSet(x, 1));
  PetscCall(MatGPUCSRUpload(A));
  for (int k = 0; k < 5; k++) {
    PetscErrorCode code;

    Copies = k;
    PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
    code = MatMult(A, x, y);
    PetscCall(PetscPopErrorHandler());
    Check(Copies < 0 && code, "copy %d: no error", k);
    Copies = -1;
    PetscCall(Compare("after a failed copy", A, B));
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Other values, another pattern, other sizes of the memory, a matrix that was never multiplied. */
static PetscErrorCode TestSequences(void)
{
  Mat A, B, C;

  PetscFunctionBeginUser;
  PetscCall(Create(MAT_GPUCSR_STREAM_ALWAYS, PETSC_FALSE, &A));
  PetscCall(Create(MAT_GPUCSR_STREAM_NEVER, PETSC_FALSE, &B));
  PetscCall(Create(MAT_GPUCSR_STREAM_ALWAYS, PETSC_FALSE, &C));
  PetscCall(MatDestroy(&C)); /* before it was encoded */
  PetscCall(Create(MAT_GPUCSR_STREAM_ALWAYS, PETSC_FALSE, &C));
  PetscCall(MatGPUCSRUpload(C));
  PetscCall(MatDestroy(&C)); /* before it was multiplied */
  PetscCall(Compare("first values", A, B));
  for (int k = 0; k < 2; k++) {
    Mat M = k ? B : A;

    PetscCall(SetRows(M, 0, PETSC_TRUE));
  }
  PetscCall(Compare("other values", A, B));
  for (int k = 0; k < 2; k++) PetscCall(SetRows(k ? B : A, 400, PETSC_FALSE));
  PetscCall(Compare("more nonzeros", A, B));
  for (int k = 0; k < 2; k++) {
    PetscCall(Preallocate(k ? B : A)); /* all entries are gone */
    PetscCall(SetRows(k ? B : A, 1000, PETSC_FALSE));
  }
  PetscCall(Compare("the matrix for another pattern", A, B));
  PetscCall(MatGPUCSRSetStream(A, MAT_GPUCSR_STREAM_NEVER));
  PetscCall(Compare("no longer streamed", A, B));
  PetscCall(MatGPUCSRSetStream(A, MAT_GPUCSR_STREAM_ALWAYS));
  PetscCall(Compare("streamed again", A, B));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "sequences of calls: right\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The option of one matrix overrides what the code has set before, and a call after MatSetFromOptions() overrides the option. */
static PetscErrorCode TestOptions(void)
{
  MatGPUCSRStreamInfo info;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsSetValue(NULL, "-never_mat_gpucsr_stream", "never"));
  PetscCall(PetscOptionsSetValue(NULL, "-always_mat_gpucsr_stream", "always"));
  for (int k = 0; k < 4; k++) {
    const PetscBool option = (PetscBool)(k % 2), last = (PetscBool)(k / 2); /* last: code after the options says the opposite */
    Mat             A;

    PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
    PetscCall(MatSetOptionsPrefix(A, option ? "always_" : "never_"));
    PetscCall(MatSetSizes(A, PETSC_DECIDE, PETSC_DECIDE, ROWS, COLS));
    PetscCall(MatSetType(A, MATGPUCSR));
    PetscCall(MatGPUCSRSetStream(A, option ? MAT_GPUCSR_STREAM_NEVER : MAT_GPUCSR_STREAM_ALWAYS));
    PetscCall(MatSetFromOptions(A));
    if (last) PetscCall(MatGPUCSRSetStream(A, option ? MAT_GPUCSR_STREAM_NEVER : MAT_GPUCSR_STREAM_ALWAYS));
    PetscCall(Preallocate(A));
    PetscCall(SetRows(A, 0, PETSC_FALSE));
    PetscCall(MatGPUCSRGetStreamInfo(A, &info));
    Check(info.streamed == (PetscBool)(option != last), "option %s, then code %s: streamed %d", option ? "always" : "never", last ? "the opposite" : "nothing", (int)info.streamed);
    PetscCall(MatDestroy(&A));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "options: right\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscMPIInt size;
  GpDev       dev;
  Mat         B;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(PetscGPUCSRGetDevice(&dev));
  Real     = dev->ops;
  Ops      = *Real;
  dev->ops = &Ops;
  if (GpDevKindOf(dev) == GP_DEV_HOST) Ops.holds = Holds;
  Ops.alloc        = FailAllocation;
  Ops.alloc_shared = FailAllocationShared;
  Ops.copy_in      = FailCopy;
  PetscCall(Create(MAT_GPUCSR_STREAM_NEVER, PETSC_TRUE, &B));
  PetscCall(TestResident(B));
  PetscCall(TestPin(B));
  PetscCall(TestBuffers(dev, B));
  PetscCall(TestAllocations(B));
  if (size == 1) PetscCall(TestCopies(B));
  PetscCall(TestSequences());
  PetscCall(TestOptions());
  PetscCall(MatDestroy(&B));
  Check(GpDevKindOf(dev) != GP_DEV_HOST || GpDevBytesHeld(dev) == 0, "%g bytes of device memory were not freed", GpDevBytesHeld(dev));
  dev->ops = Real;
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   test:
     suffix: 1
     nsize: {{1 2 4}}

TEST*/
