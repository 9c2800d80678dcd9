/* Flops and times of device operations in -log_view. */
#include "sys/gpucsrsys.h"

static PetscBool LogWait; /* -log_view_gpu_time is set, and PETSc itself has no GPU times */

/* -log_view_gpu_time is PETSc's option, which a PETSc without CUDA ignores. gpucsr then waits for the device after every operation, so that the
   operation's event holds its time. */
PetscErrorCode PetscGPUCSRLogInitialize_Private(void)
{
  PetscFunctionBegin;
  LogWait = PETSC_FALSE;
  if (!PetscDefined(HAVE_CUDA)) PetscCall(PetscOptionsHasName(NULL, NULL, "-log_view_gpu_time", &LogWait));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* logs flops as GPU flops if PETSc counts these */
PetscErrorCode PetscGPUCSRLogFlops_Private(GpDev dev, PetscLogDouble flops)
{
  PetscFunctionBegin;
  if (PetscDefined(HAVE_DEVICE) && GpDevKindOf(dev) == GP_DEV_CUDA) PetscCall(PetscLogGpuFlops(flops));
  else PetscCall(PetscLogFlops(flops));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Begin and End enclose launches on the device's stream. PETSc's timers cannot be nested, so no PETSc operation may be between them. They wait only
   with -log_view_gpu_time. */
PetscErrorCode PetscGPUCSRLogTimeBegin_Private(GpDev dev)
{
  PetscFunctionBegin;
  if (PetscDefined(HAVE_CUDA) && GpDevKindOf(dev) == GP_DEV_CUDA) PetscCall(PetscLogGpuTimeBegin());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscGPUCSRLogTimeEnd_Private(GpDev dev)
{
  PetscFunctionBegin;
  if (PetscDefined(HAVE_CUDA) && GpDevKindOf(dev) == GP_DEV_CUDA) PetscCall(PetscLogGpuTimeEnd());
  else if (LogWait) PetscCallGp(dev, "waiting for the device (-log_view_gpu_time)", GpDevSync(dev));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds one call to an event. seconds: duration that was measured elsewhere, such as by events of the device; bytes: bytes copied to the device */
PetscErrorCode PetscGPUCSRLogStage_Private(PetscLogEvent event, PetscLogDouble seconds, PetscLogDouble bytes)
{
  PetscEventPerfInfo *info;

  PetscFunctionBegin;
  PetscCall(GpCompatGetEventInfo(event, &info));
  if (!info) PetscFunctionReturn(PETSC_SUCCESS);
  info->count++;
  info->time += seconds;
  info->time2 += seconds * seconds;
#if defined(PETSC_HAVE_DEVICE)
  info->CpuToGpuCount += bytes > 0;
  info->CpuToGpuSize += bytes;
#else
  (void)bytes; /* a PETSc without devices prints no bytes */
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}
