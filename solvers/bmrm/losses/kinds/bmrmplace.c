/* Selects where the kernels of a loss run: on the device that holds the vectors if there are kernels for it, otherwise on the host. */
#include "bmrmkinds.h"
#include <gpucsr.h>

/* Allocates the workspace on first use: device memory for partial sums, and pinned host memory to which kernels write the results. */
static PetscErrorCode BMRMPlaceAllocate(BMRMPlace *at, GpDev dev)
{
  PetscFunctionBegin;
  if (at->work.dev) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscGPUCSRDeviceMalloc(dev, "The loss on the device", 2 * BMRM_SLOPES * BMRM_PARTS * sizeof(double), &at->work.partial));
  PetscCall(PetscGPUCSRDeviceMallocPinned(dev, 2 * BMRM_SLOPES * sizeof(double), &at->work.result));
  at->work.dev = dev;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BMRMPlaceGetArray(PetscBool device, Vec v, const PetscScalar **a)
{
  PetscFunctionBegin;
  if (device) PetscCall(VecGPUGetDeviceArrayRead(v, a));
  else PetscCall(VecGetArrayRead(v, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BMRMPlaceRestoreArray(PetscBool device, Vec v, const PetscScalar **a)
{
  PetscFunctionBegin;
  if (device) PetscCall(VecGPURestoreDeviceArrayRead(v, a));
  else PetscCall(VecRestoreArrayRead(v, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the arrays of scores f, directions e and labels y, in device memory if possible. The second argument says whether the loss has CUDA kernels. */
PetscErrorCode BMRMPlaceGet_Private(BMRMPlace *at, PetscBool cuda, Vec f, Vec e, Vec y)
{
  GpDev dev = NULL;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(y, &at->n));
  PetscCall(VecGetOwnershipRange(y, &at->start, NULL));
  PetscCall(VecGPUGetRuntime(y, &dev));
  at->device = (PetscBool)(dev && (GpDevKindOf(dev) == GP_DEV_HOST || cuda));
  at->gpu    = (PetscBool)(at->device && GpDevKindOf(dev) != GP_DEV_HOST);
  if (at->device) PetscCall(BMRMPlaceAllocate(at, dev));
  else if (!at->work.dev) at->work.result = at->result;
  PetscCall(BMRMPlaceGetArray(at->device, f, &at->f));
  PetscCall(BMRMPlaceGetArray(at->device, e, &at->e));
  PetscCall(BMRMPlaceGetArray(at->device, y, &at->y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Waits for the results of the kernels, and restores the arrays. */
PetscErrorCode BMRMPlaceRestore_Private(BMRMPlace *at, Vec f, Vec e, Vec y, PetscLogDouble flops)
{
  PetscFunctionBegin;
  if (at->device) PetscCall(PetscGPUCSRDeviceSynchronize(at->work.dev));
  PetscCall(BMRMPlaceRestoreArray(at->device, y, &at->y));
  PetscCall(BMRMPlaceRestoreArray(at->device, e, &at->e));
  PetscCall(BMRMPlaceRestoreArray(at->device, f, &at->f));
  if (at->gpu) PetscCall(PetscLogGpuFlops(flops * at->n));
  else PetscCall(PetscLogFlops(flops * at->n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BMRMPlaceGetWrite_Private(const BMRMPlace *at, Vec r, PetscScalar **a)
{
  PetscFunctionBegin;
  if (at->device) PetscCall(VecGPUGetDeviceArrayWrite(r, a));
  else PetscCall(VecGetArrayWrite(r, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BMRMPlaceRestoreWrite_Private(const BMRMPlace *at, Vec r, PetscScalar **a)
{
  PetscFunctionBegin;
  if (at->device) PetscCall(VecGPURestoreDeviceArrayWrite(r, a));
  else PetscCall(VecRestoreArrayWrite(r, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BMRMPlaceDestroy_Private(BMRMPlace *at)
{
  GpDev dev = at->work.dev;

  PetscFunctionBegin;
  if (!dev) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscGPUCSRDeviceFree(dev, 2 * BMRM_SLOPES * BMRM_PARTS * sizeof(double), &at->work.partial));
  PetscCall(PetscGPUCSRDeviceFreePinned(dev, &at->work.result));
  PetscFunctionReturn(PETSC_SUCCESS);
}
