static char help[] = "A full device: an error that tells the bytes, a matrix that goes on living on the host, and nothing lost.\n\n\
  -full : fill the GPU really, too; not while others use it\n\n";

#include "gpucsr.h"
#include "sys/gpucsrsys.h"

#include <limits.h>

#define N 300

static GpDevOps        Ops; /* the device's, with an allocation that fails when none is left */
static const GpDevOps *Real;
static int             Left;
static char            Message[4096];

static GpErr Take(GpDev dev, GpErr (*take)(GpDev, size_t, void **), size_t bytes, void **pointer)
{
  if (Left-- > 0) return take(dev, bytes, pointer);
  return GpDevFail(dev, GP_ERR_MEMORY, "out of device memory on %s: %zu bytes asked for, %d of %d free", dev->name, bytes, 1, 2);
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

/* keeps the words of the first error of a chain */
static PetscErrorCode Catch(MPI_Comm comm, int line, const char *function, const char *file, PetscErrorCode code, PetscErrorType type, const char *message, void *context)
{
  if (type == PETSC_ERROR_INITIAL && message) (void)PetscStrncpy(Message, message, sizeof(Message));
  return code;
}

/* did it fail for memory?  Everything else is an error. */
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

/* the host's matrix is all there, whatever became of the image */
static PetscErrorCode CheckHost(Mat A, Vec x, Vec y, Vec expected, PetscReal norm)
{
  Mat       B;
  PetscReal there;
  PetscBool same;

  PetscFunctionBeginUser;
  PetscCall(MatNorm(A, NORM_FROBENIUS, &there));
  PetscCheck(there == norm, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The norm became %g", (double)there);
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &B));
  PetscCall(MatMultTranspose(B, x, y));
  PetscCall(VecEqual(y, expected, &same));
  PetscCheck(same, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The host's product changed");
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

/* Every allocation in turn is the one that fails: of a first product, of one after the values changed, of one after MatScale(). */
static PetscErrorCode TestEveryAllocation(GpDev dev, Vec x, Vec y, Vec expected, PetscReal norm)
{
  const char *const what[] = {"a first product", "one with new values", "one after MatScale"};

  PetscFunctionBeginUser;
  for (int scenario = 0; scenario < 3; scenario++) {
    PetscBool full   = PETSC_TRUE;
    PetscInt  faults = -1;

    for (int allowed = 0; full; allowed++) {
      const double held = dev->bytes_held;
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
      PetscCheck(dev->bytes_held == held, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%g bytes of the device were lost when allocation %d failed", dev->bytes_held - held, allowed);
    }
    PetscCheck(scenario || faults > 1, PETSC_COMM_SELF, PETSC_ERR_PLIB, "A first product needs more than %" PetscInt_FMT " allocations", faults);
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s: every failed allocation is told and survived\n", what[scenario]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a GPU that is really full */
static PetscErrorCode TestFullDevice(GpDev dev)
{
  const size_t spare = (size_t)64 << 20; /* for the runtime itself */
  size_t       available, total;
  PetscInt     n = 6000000;
  void        *hog;
  Mat          A;
  Vec          x, y;
  PetscBool    full;

  PetscFunctionBeginUser;
  if (dev->kind == GP_DEV_HOST) PetscFunctionReturn(PETSC_SUCCESS);
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
  PetscCallGp(dev, "memory", dev->ops->memory(dev, &available, &total));
  PetscCallGp(dev, "taking nearly all", GpDevAlloc(dev, available - spare, &hog));
  Full(full, MatMult(A, x, y));
  PetscCheck(full, PETSC_COMM_SELF, PETSC_ERR_PLIB, "A product ran on a full GPU");
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
  PetscCall(PetscGPUCSRGetDevice_Private(&dev));
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
