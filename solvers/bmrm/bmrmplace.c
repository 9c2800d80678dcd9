/* Where the kernels of a loss run: on the device where the vectors are, if it has kernels for that, else on the host. */
#include "bmrmimpl.h"
#include <gpucsr.h>

/* The work area on a device, made at first need; device memory for sums, and results that kernels write to the host. */
static PetscErrorCode UseDevice(BMRMPlace *at, GpDev dev)
{
  PetscFunctionBegin;
  if (at->work.dev) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallDevice(dev, "The loss", GpDevAlloc(dev, 2 * BMRM_SLOPES * BMRM_PARTS * sizeof(double), &at->work.partial));
  PetscCallDevice(dev, "The loss", dev->ops->alloc_pinned(dev, 2 * BMRM_SLOPES * sizeof(double), (void **)&at->work.result));
  at->work.dev = dev;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GetArray(PetscBool device, Vec v, const PetscScalar **a)
{
  PetscFunctionBegin;
  if (device) PetscCall(VecGPUGetDeviceArrayRead(v, a));
  else PetscCall(VecGetArrayRead(v, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RestoreArray(PetscBool device, Vec v, const PetscScalar **a)
{
  PetscFunctionBegin;
  if (device) PetscCall(VecGPURestoreDeviceArrayRead(v, a));
  else PetscCall(VecRestoreArrayRead(v, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The arrays of scores, their derivatives along a line, and labels; twins says whether there are kernels for a GPU. */
PetscErrorCode BMRMPlaceGet_Private(BMRMPlace *at, PetscBool twins, Vec f, Vec e, Vec y)
{
  GpDev dev = NULL;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(y, &at->n));
  PetscCall(VecGetOwnershipRange(y, &at->start, NULL));
  PetscCall(VecGPUGetRuntime(y, &dev));
  at->device = (PetscBool)(dev && (dev->kind == GP_DEV_HOST || twins));
  at->gpu    = (PetscBool)(at->device && dev->kind != GP_DEV_HOST);
  if (at->device) PetscCall(UseDevice(at, dev));
  else if (!at->work.dev) at->work.result = at->result;
  PetscCall(GetArray(at->device, f, &at->f));
  PetscCall(GetArray(at->device, e, &at->e));
  PetscCall(GetArray(at->device, y, &at->y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Waits for the results, too. */
PetscErrorCode BMRMPlaceRestore_Private(BMRMPlace *at, Vec f, Vec e, Vec y, PetscLogDouble flops)
{
  PetscFunctionBegin;
  if (at->device) PetscCallDevice(at->work.dev, "The loss", at->work.dev->ops->sync(at->work.dev));
  PetscCall(RestoreArray(at->device, y, &at->y));
  PetscCall(RestoreArray(at->device, e, &at->e));
  PetscCall(RestoreArray(at->device, f, &at->f));
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
  GpDevFree(dev, &at->work.partial, 2 * BMRM_SLOPES * BMRM_PARTS * sizeof(double));
  dev->ops->release_pinned(dev, at->work.result);
  PetscFunctionReturn(PETSC_SUCCESS);
}
