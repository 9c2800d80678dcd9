static char help[] = "Failures of a VECGPU: the memory of the device is full, values are NaN or infinite.\n\n";

#include <gpucsrdevice.h>
#include "gpucsr.h"
#include "gpucsrcompat.h"

static PetscErrorCode Code;
static char           Words[1024];

static PetscErrorCode Remember(MPI_Comm comm, int line, const char *function, const char *file, PetscErrorCode code, PetscErrorType type, const char *words, void *context)
{
  if (type == PETSC_ERROR_INITIAL) {
    Code = code;
    (void)PetscStrncpy(Words, words, sizeof(Words));
  }
  return code;
}

/* The call must fail because of memory, with a message that states the requested and the free bytes. */
#define Full(bytes, call) \
  do { \
    char           wanted_[64]; \
    PetscErrorCode code_; \
    const char    *asked_; \
\
    Code     = PETSC_SUCCESS; \
    Words[0] = 0; \
    PetscCall(PetscPushErrorHandler(Remember, NULL)); \
    code_ = call; \
    PetscCall(PetscPopErrorHandler()); \
    PetscCheck(code_ &&Code == PETSC_ERR_MEM, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s gives %d, %d", #call, (int)code_, (int)Code); \
    PetscCall(PetscSNPrintf(wanted_, sizeof(wanted_), "%d bytes asked for, ", (int)(bytes))); \
    asked_ = strstr(Words, wanted_); \
    PetscCheck(asked_ &&strstr(asked_, " free"), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s says: %s", #call, Words); \
  } while (0)

static PetscErrorCode All(Vec x, PetscScalar value)
{
  const PetscScalar *a;
  PetscInt           n;

  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(VecGetArrayRead(x, &a));
  for (PetscInt i = 0; i < n; i++) PetscCheck(a[i] == value, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Entry %" PetscInt_FMT " is %g, not %g", i, (double)a[i], (double)value);
  PetscCall(VecRestoreArrayRead(x, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* In PETSc a failed operation leaves its operands locked against writing. */
static PetscErrorCode Unlock(Vec x)
{
  PetscInt locks;

  PetscFunctionBeginUser;
  PetscCall(VecLockGet(x, &locks));
  for (; locks > 0; locks--) PetscCall(VecLockReadPop(x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The device has memory for two vectors, not for three. */
static PetscErrorCode TestMemory(void)
{
  const PetscInt n = 5000;
  Vec            x, y, z;
  PetscScalar   *a;
  GpDev          dev;
  void          *memory;

  PetscFunctionBeginUser;
  PetscCall(VecCreate(PETSC_COMM_SELF, &x));
  PetscCall(VecSetSizes(x, n, n));
  PetscCall(VecSetType(x, VECGPU));
  PetscCall(VecSet(x, 1));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(VecSet(y, 2));
  PetscCall(VecDuplicate(x, &z));
  Full(n * 8, VecSet(z, 3));
  Full(n * 8, VecCopy(x, z));
  Full(n * 8, VecWAXPY(z, 1, x, y));
  PetscCall(Unlock(x));
  PetscCall(Unlock(y));
  PetscCall(VecGetArray(z, &a)); /* the vector can still be used on the host */
  for (PetscInt i = 0; i < n; i++) a[i] = 4;
  PetscCall(VecRestoreArray(z, &a));
  Full(n * 8, VecAXPY(x, 1, z));
  PetscCall(Unlock(z));
  Full(n * 8, VecScale(z, 2));
  PetscCall(All(x, 1));
  PetscCall(All(y, 2));
  PetscCall(All(z, 4));
  PetscCall(VecAXPY(x, 10, y));
  PetscCall(All(x, 21));
  PetscCall(VecDestroy(&y)); /* frees device memory */
  PetscCall(VecAXPY(x, 1, z));
  PetscCall(All(x, 25));
  PetscCall(VecDestroy(&z));
  PetscCall(VecDuplicate(x, &z)); /* allocates no device memory yet */
  PetscCall(VecGPUGetRuntime(x, &dev));
  Full(51000, PetscGPUCSRDeviceMalloc(dev, "memory of the program", 51000, &memory));
  PetscCheck(!memory && strstr(Words, "memory of the program: "), PETSC_COMM_SELF, PETSC_ERR_PLIB, "PetscGPUCSRDeviceMalloc() failed with the message: %s", Words);
  PetscCall(PetscGPUCSRDeviceMalloc(dev, "memory of the program", 45000, &memory)); /* counts against -gpucsr_device_memory like a vector */
  Full(n * 8, VecSet(z, 5));
  PetscCall(PetscGPUCSRDeviceFree(dev, 45000, &memory));
  PetscCheck(!memory, PETSC_COMM_SELF, PETSC_ERR_PLIB, "PetscGPUCSRDeviceFree() did not set the pointer to NULL");
  PetscCall(VecSet(z, 5));
  PetscCall(All(z, 5));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&z));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "device memory full: an error with a message, and no values are lost\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* NaN and infinity give the same results as with AIJ and standard vectors. */
static PetscErrorCode TestNaN(void)
{
  const PetscInt n = 300;
  PetscReal      norm[2], one[2];
  PetscScalar    dot[2];
  Vec            x[2], y[2];
  Mat            A;

  PetscFunctionBeginUser;
  for (int ours = 0; ours < 2; ours++) {
    PetscCall(MatCreate(PETSC_COMM_SELF, &A));
    PetscCall(MatSetSizes(A, n, n, n, n));
    PetscCall(MatSetType(A, ours ? MATGPUCSR : MATAIJ));
    PetscCall(MatSeqAIJSetPreallocation(A, 2, NULL));
    for (PetscInt i = 0; i < n; i++) {
      PetscCall(MatSetValue(A, i, i, 2, INSERT_VALUES));
      PetscCall(MatSetValue(A, i, (i + 7) % n, -1, INSERT_VALUES));
    }
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    if (ours) PetscCall(MatGPUCSRSetVecType(A, VECGPU));
    PetscCall(MatCreateVecs(A, &x[ours], &y[ours]));
    PetscCall(VecSet(x[ours], 0.5));
    PetscCall(VecSetValue(x[ours], 40, NAN, INSERT_VALUES));
    PetscCall(VecSetValue(x[ours], 90, INFINITY, INSERT_VALUES));
    PetscCall(VecAssemblyBegin(x[ours]));
    PetscCall(VecAssemblyEnd(x[ours]));
    PetscCall(MatMult(A, x[ours], y[ours]));
    PetscCall(VecNorm(x[ours], NORM_2, &norm[ours]));
    PetscCall(VecNorm(x[ours], NORM_1, &one[ours]));
    PetscCall(VecDot(x[ours], y[ours], &dot[ours]));
    PetscCall(MatDestroy(&A));
  }
  for (int k = 0; k < 2; k++) PetscCheck(PetscIsNanReal(norm[k]) && PetscIsNanReal(one[k]) && PetscIsNanScalar(dot[k]), PETSC_COMM_SELF, PETSC_ERR_PLIB, "A NaN gives %g %g %g", (double)norm[k], (double)one[k], (double)PetscRealPart(dot[k]));
  {
    const PetscScalar *a[2];
    PetscInt           nans = 0;

    for (int k = 0; k < 2; k++) PetscCall(VecGetArrayRead(y[k], &a[k]));
    for (PetscInt i = 0; i < n; i++) {
      nans += PetscIsNanScalar(a[0][i]);
      PetscCheck(a[0][i] == a[1][i] || (PetscIsNanScalar(a[0][i]) && PetscIsNanScalar(a[1][i])), PETSC_COMM_SELF, PETSC_ERR_PLIB, "Entry %" PetscInt_FMT " is %g, not %g", i, (double)a[1][i], (double)a[0][i]);
    }
    PetscCheck(nans == 2, PETSC_COMM_SELF, PETSC_ERR_PLIB, "A NaN in x made %" PetscInt_FMT " in y", nans);
    for (int k = 0; k < 2; k++) PetscCall(VecRestoreArrayRead(y[k], &a[k]));
  }
  for (int k = 0; k < 2; k++) {
    PetscCall(VecDestroy(&x[k]));
    PetscCall(VecDestroy(&y[k]));
  }
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "NaN appears in the same entries as with AIJ\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscBool nan;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(PetscOptionsHasName(NULL, NULL, "-not_a_number", &nan));
  if (nan) PetscCall(TestNaN());
  else PetscCall(TestMemory());
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   test:
      suffix: 1
      args: -vec_gpu_separate -gpucsr_device_memory 90000

   test:
      suffix: nan
      args: -vec_gpu_separate -not_a_number

TEST*/
