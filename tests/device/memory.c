static char help[] = "A full device: the error message states the bytes, the matrix on the host stays valid, and no device memory is leaked.\n\n\
  -full : also fills the memory of the GPU; not while other processes use it\n\n";

#include "device/gpdeviceimpl.h"
#include "gpucsr.h"
#include "sys/gpucsrsys.h"

#include <limits.h>

#define N 300

static GpDevOps        Ops; /* operations of the device, with an allocation that fails after a given number of calls */
static const GpDevOps *Real;
static int             Left;
static char            Message[4096];

static GpErr Take(GpDev dev, GpErr (*take)(GpDev, size_t, void **), size_t bytes, void **pointer)
{
  if (Left-- > 0) return take(dev, bytes, pointer);
  return GpDevFail(dev, GP_ERR_MEMORY, "out of device memory on %s: %zu bytes asked for, %d of %d free", GpDevName(dev), bytes, 1, 2);
}

static GpErr Allocate(GpDev dev, size_t bytes, void **pointer)
{
  return Take(dev, Real->alloc, bytes, pointer);
}

static GpErr AllocateShared(GpDev dev, size_t bytes, void **pointer)
{
  return Take(dev, Real->alloc_shared, bytes, pointer);
}

static GpErr Borrow(GpDev dev, size_t bytes, void **pointer)
{
  return Take(dev, Real->borrow, bytes, pointer);
}

/* Error handler that stores the message of the initial error. */
static PetscErrorCode Catch(MPI_Comm comm, int line, const char *function, const char *file, PetscErrorCode code, PetscErrorType type, const char *message, void *context)
{
  if (type == PETSC_ERROR_INITIAL && message) (void)PetscStrncpy(Message, message, sizeof(Message));
  return code;
}

/* Sets full if the call failed because of memory. Any other error fails the test. */
#define Full(full, ...) \
  do { \
    PetscErrorCode code_; \
    char          *asked_, *free_; \
    Message[0] = 0; \
    PetscCall(PetscPushErrorHandler(Catch, NULL)); \
    code_ = (__VA_ARGS__); \
    PetscCall(PetscPopErrorHandler()); \
    PetscCall(PetscStrstr(Message, "bytes asked for", &asked_)); \
    PetscCall(PetscStrstr(Message, " free", &free_)); \
    PetscCheck(!code_ || (code_ == PETSC_ERR_MEM && asked_ && free_), PETSC_COMM_SELF, PETSC_ERR_PLIB, "Error %d: %s", (int)code_, Message); \
    full = (PetscBool)(code_ != 0); \
  } while (0)

static PetscErrorCode Create(Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_SELF, A));
  PetscCall(MatSetSizes(*A, N, N, N, N));
  PetscCall(MatSetType(*A, MATGPUCSR));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, 20, NULL));
  for (PetscInt i = 0; i < N; i++) {
    for (PetscInt d = 0; d < 20; d++) PetscCall(MatSetValue(*A, i, (i + d * d) % N, 1 + d, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The matrix on the host is unchanged, whatever happened to the image. */
static PetscErrorCode CheckHost(Mat A, Vec x, Vec y, Vec expected, PetscReal norm)
{
  Mat       B;
  PetscReal there;
  PetscBool same;

  PetscFunctionBeginUser;
  PetscCall(MatNorm(A, NORM_FROBENIUS, &there));
  PetscCheck(there == norm, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The norm of the matrix changed to %g", (double)there);
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &B));
  PetscCall(MatMultTranspose(B, x, y));
  PetscCall(VecEqual(y, expected, &same));
  PetscCheck(same, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The product on the host changed");
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckDevice(Mat A, Vec x, Vec y, Vec expected)
{
  PetscReal error, norm;

  PetscFunctionBeginUser;
  PetscCall(MatMultTranspose(A, x, y));
  PetscCall(VecNorm(expected, NORM_2, &norm));
  PetscCall(VecAXPY(y, -1, expected));
  PetscCall(VecNorm(y, NORM_2, &error));
  PetscCheck(error <= 1e-14 * norm, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The product is wrong by %g of %g", (double)error, (double)norm);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Lets each allocation fail in turn: in a first product, in a product after the values changed, and in MatScale(). */
static PetscErrorCode TestEveryAllocation(GpDev dev, Vec x, Vec y, Vec expected, PetscReal norm)
{
  const char *const what[] = {"a first product", "one with new values", "one after MatScale"};

  PetscFunctionBeginUser;
  for (int scenario = 0; scenario < 3; scenario++) {
    PetscBool full   = PETSC_TRUE;
    PetscInt  faults = -1;

    for (int allowed = 0; full; allowed++) {
      const double held = GpDevBytesHeld(dev);
      Mat          A;

      PetscCall(Create(&A));
      if (scenario) PetscCall(MatMult(A, x, y));
      if (scenario == 1) {
        PetscCall(MatSetValue(A, 0, 0, 1, INSERT_VALUES));
        PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
        PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
      }
      Left = allowed;
      if (scenario == 2) {
        Full(full, MatScale(A, 4));
        Left = INT_MAX;
        PetscCall(MatScale(A, 0.25));
      } else Full(full, MatMultTranspose(A, x, y));
      Left = INT_MAX;
      faults++;
      PetscCall(CheckHost(A, x, y, expected, norm));
      PetscCall(CheckDevice(A, x, y, expected));
      PetscCall(MatDestroy(&A));
      PetscCheck(GpDevBytesHeld(dev) == held, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%g bytes of device memory were leaked when allocation %d failed", GpDevBytesHeld(dev) - held, allowed);
    }
    PetscCheck(scenario || faults > 1, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Only %" PetscInt_FMT " allocations failed, more were expected in a first product", faults);
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s: every failed allocation is reported and recovered from\n", what[scenario]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Fills the memory of the GPU. */
static PetscErrorCode TestFullDevice(GpDev dev)
{
  const size_t spare = (size_t)64 << 20; /* bytes left for the CUDA runtime */
  size_t       available, total;
  PetscInt     n = 6000000;
  void        *hog;
  Mat          A;
  Vec          x, y;
  PetscBool    full;

  PetscFunctionBeginUser;
  if (GpDevKindOf(dev) == GP_DEV_HOST) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatCreate(PETSC_COMM_SELF, &A));
  PetscCall(MatSetSizes(A, n, n, n, n));
  PetscCall(MatSetType(A, MATGPUCSR));
  PetscCall(MatSeqAIJSetPreallocation(A, 2, NULL));
  for (PetscInt i = 0; i < n; i++) PetscCall(MatSetValue(A, i, i, 2, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, n, &x));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(VecSet(x, 1));
  PetscCallGp(dev, "memory", GpDevGetMemory(dev, &available, &total));
  PetscCallGp(dev, "allocation of nearly all memory", GpDevAlloc(dev, available - spare, &hog));
  Full(full, MatMult(A, x, y));
  PetscCheck(full, PETSC_COMM_SELF, PETSC_ERR_PLIB, "A product succeeded on a full GPU");
  GpDevFree(dev, &hog, available - spare);
  PetscCall(MatMult(A, x, y));
  PetscCall(MatDestroy(&A));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  GpDev     dev;
  Mat       A, B;
  Vec       x, y, expected;
  PetscReal norm;
  PetscBool full = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(PetscGPUCSRGetDevice(&dev));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-full", &full, NULL));
  if (full) PetscCall(TestFullDevice(dev));
  Real             = dev->ops;
  Ops              = *Real;
  Ops.alloc        = Allocate;
  Ops.alloc_shared = AllocateShared;
  Ops.borrow       = Borrow;
  dev->ops         = &Ops;
  Left             = INT_MAX;
  PetscCall(Create(&A));
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &B));
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, N, &x));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(VecDuplicate(x, &expected));
  PetscCall(VecSet(x, 1.5));
  PetscCall(MatMultTranspose(B, x, expected));
  PetscCall(MatNorm(B, NORM_FROBENIUS, &norm));
  PetscCall(TestEveryAllocation(dev, x, y, expected, norm));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&expected));
  dev->ops = Real;
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   test:
      suffix: 1
      args: -mat_gpucsr_storage {{single double}} -mat_gpucsr_kernel {{auto csrsplit}}

TEST*/
