/* The device in -log_view: flops and times of what runs there. */
#include "sys/gpucsrsys.h"

static PetscBool LogWait; /* -log_view_gpu_time in a PETSc that has no times of GPUs */

/* PETSc's own option.  A PETSc without CUDA does not know it; here every operation then waits for the device, so that the event it
   belongs to holds the time that it took. */
PetscErrorCode PetscGPUCSRLogInitialize_Private(void)
{
  PetscFunctionBegin;
  LogWait = PETSC_FALSE;
  if (!PetscDefined(HAVE_CUDA)) PetscCall(PetscOptionsHasName(NULL, NULL, "-log_view_gpu_time", &LogWait));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* flops on the device count as the GPU's, where PETSc keeps such a count */
PetscErrorCode PetscGPUCSRLogFlops_Private(GpDev dev, PetscLogDouble flops)
{
  PetscFunctionBegin;
  if (PetscDefined(HAVE_DEVICE) && dev->kind == GP_DEV_CUDA) PetscCall(PetscLogGpuFlops(flops));
  else PetscCall(PetscLogFlops(flops));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Begin and End stand around launches on the device's stream.  PETSc's timers cannot be nested: no operation of PETSc may come between.
   Nothing waits unless -log_view_gpu_time asks for it. */
PetscErrorCode PetscGPUCSRLogTimeBegin_Private(GpDev dev)
{
  PetscFunctionBegin;
  if (PetscDefined(HAVE_CUDA) && dev->kind == GP_DEV_CUDA) PetscCall(PetscLogGpuTimeBegin());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscGPUCSRLogTimeEnd_Private(GpDev dev)
{
  PetscFunctionBegin;
  if (PetscDefined(HAVE_CUDA) && dev->kind == GP_DEV_CUDA) PetscCall(PetscLogGpuTimeEnd());
  else if (LogWait) PetscCallGp(dev, "waiting for the device, as -log_view_gpu_time wants", dev->ops->sync(dev));
  PetscFunctionReturn(PETSC_SUCCESS);
}
