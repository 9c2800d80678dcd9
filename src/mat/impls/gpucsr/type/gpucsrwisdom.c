/* The wisdom file of this process. */
/* MANSEC = Mat */
#include "mat/impls/gpucsr/image/gpucsrimpl.h"
#include "mat/impls/gpucsr/selector/gpselwisdom.h"

/*@C
  PetscGPUCSRSetWisdom - Sets the wisdom file, which stores the fastest kernels of measured matrices for later runs

  Not Collective

  Input Parameter:
. file - name of the file, which need not exist; `NULL`: no file

  Options Database Key:
. -gpucsr_wisdom <file> - the file

  Level: intermediate

  Notes:
  The file is used only for matrices with `MAT_GPUCSR_SELECT_MEASURE`. Each measurement appends a line. A matrix with the same features, on the same GPU and in the same storage, is not measured again, in this run or a later one,
  but uses the same kernel. Its products then have the same bits in every run.

  A line contains the GPU, the storage, the product (`mult`, or `multadd` if it adds to a vector), the size of the matrix, a hash of its features, the kernel and its time in microseconds. If lines differ in kernel and time only, the first one counts. Delete lines, or the file, to measure again. Processes can share a file.

.seealso: `MATGPUCSR`, `MatGPUCSRSetSelect()`, `MatGPUCSRSetKernel()`
@*/
PetscErrorCode PetscGPUCSRSetWisdom(const char file[])
{
  char  why[512];
  GpErr err;

  PetscFunctionBegin;
  err = GpSelWisdomOpen(file, why, sizeof(why));
  PetscCheck(!err, PETSC_COMM_SELF, PetscGPUCSRErrorClass(err), "-gpucsr_wisdom: %s", why);
  PetscFunctionReturn(PETSC_SUCCESS);
}
