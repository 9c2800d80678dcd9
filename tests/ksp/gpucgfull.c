static char help[] = "KSPGPUCG with a full device: an error, and a successful solve after memory was freed.\n\n";

#include "gpucsr.h"
#include "gpucsrcompat.h"
#include "sys/gpucsrsys.h"
#include <petscksp.h>

#define N 500

static PetscErrorCode Unlock(Vec x)
{
  PetscInt locks;

  PetscFunctionBeginUser;
  PetscCall(VecLockGet(x, &locks));
  for (; locks > 0; locks--) PetscCall(VecLockReadPop(x)); /* a failed solve leaves its locks */
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const double       vectors = 8.0 * N * sizeof(double);
  const double       left[]  = {vectors - 8, vectors + 8}; /* free bytes with which the first allocation fails, and with which a later one fails */
  Mat                A;
  Vec                b, x;
  KSP                ksp;
  PC                 pc;
  GpDev              dev;
  PetscReal          limit;
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-gpucsr_device_memory", &limit, NULL));
  PetscCall(PetscGPUCSRGetDevice(&dev));
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, N, N, 3, NULL, &A));
  for (PetscInt i = 0; i < N; i++) {
    if (i) PetscCall(MatSetValue(A, i, i - 1, -1, INSERT_VALUES));
    PetscCall(MatSetValue(A, i, i, 3, INSERT_VALUES));
    if (i < N - 1) PetscCall(MatSetValue(A, i, i + 1, -1, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatConvert(A, MATGPUCSR, MAT_INPLACE_MATRIX, &A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(MatMult(A, b, x)); /* creates the image and the device memory of the vectors */
  for (int k = 0; k < 2; k++) {
    const size_t   bytes = (size_t)((double)limit - GpDevBytesHeld(dev) - left[k]);
    void          *memory;
    PetscErrorCode err;

    PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(KSPSetType(ksp, KSPGPUCG));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCSetType(pc, PCNONE));
    PetscCall(PetscGPUCSRDeviceMalloc(dev, "memory of others", bytes, &memory));
    PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
    err = KSPSolve(ksp, b, x);
    PetscCall(PetscPopErrorHandler());
    PetscCheck(err == PETSC_ERR_MEM, PETSC_COMM_SELF, PETSC_ERR_PLIB, "A solve with %g free bytes gave the error code %d", left[k], (int)err);
    PetscCall(Unlock(b));
    PetscCall(Unlock(x));
    PetscCheck((double)limit - GpDevBytesHeld(dev) == left[k], PETSC_COMM_SELF, PETSC_ERR_PLIB, "A failed solve leaked %g bytes", left[k] - ((double)limit - GpDevBytesHeld(dev)));
    PetscCall(PetscGPUCSRDeviceFree(dev, bytes, &memory));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(KSPGetConvergedReason(ksp, &reason));
    PetscCheck(reason > 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "With enough memory the solve ended with %s", KSPConvergedReasons[reason]);
    PetscCall(KSPDestroy(&ksp));
  }
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "device memory full: an error, and a solve after memory was freed\n"));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   test:
      suffix: 1
      args: -gpucsr_device_memory 10000000

TEST*/
