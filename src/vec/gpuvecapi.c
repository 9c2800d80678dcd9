/* Vectors for solvers that bring kernels of their own: the device, and the values there. */
#include "vec/gpuvecimpl.h"

/*@C
  VecGPUGetRuntime - Gets the device on which kernels can use the values of a vector in place

  Not Collective

  Input Parameter:
. v - any vector

  Output Parameter:
. dev - the GpDev of `device/gpdevice.h`, or `NULL` when the values of this vector are not there

  Level: developer

.seealso: `VECGPU`, `VecGPUGetDeviceArrayRead()`, `VecGPUGetDeviceArrayWrite()`
@*/
PetscErrorCode VecGPUGetRuntime(Vec v, struct GpDev_ **dev)
{
  PetscBool there;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(v, VEC_CLASSID, 1);
  *dev  = NULL;
  there = VecGPUIs(v);
#if defined(PETSC_HAVE_CUDA)
  if (!there) PetscCall(PetscObjectTypeCompareAny((PetscObject)v, &there, VECSEQCUDA, VECMPICUDA, ""));
#endif
  if (!there) PetscFunctionReturn(PETSC_SUCCESS); /* and open no device for it */
  PetscCall(PetscGPUCSRGetDevice_Private(dev));
  if (!VecGPUIs(v) && (*dev)->kind != GP_DEV_CUDA) *dev = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  VecGPUGetDeviceArrayRead - Gets the values of this process on the device, to be read by kernels on its stream

  Not Collective

  Input Parameter:
. v - a vector for which `VecGPUGetRuntime()` gives a device

  Output Parameter:
. a - the values

  Level: developer

.seealso: `VecGPURestoreDeviceArrayRead()`, `VecGPUGetDeviceArrayWrite()`
@*/
PetscErrorCode VecGPUGetDeviceArrayRead(Vec v, const PetscScalar **a)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(v, VEC_CLASSID, 1);
  if (VecGPUIs(v)) PetscCall(VecGPUGetDeviceRead_Private(v, a));
  else PetscCall(VecGetArrayReadAndMemType(v, a, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  VecGPURestoreDeviceArrayRead - Ends what `VecGPUGetDeviceArrayRead()` began

  Not Collective

  Input Parameters:
+ v - the vector
- a - the values

  Level: developer

.seealso: `VecGPUGetDeviceArrayRead()`
@*/
PetscErrorCode VecGPURestoreDeviceArrayRead(Vec v, const PetscScalar **a)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(v, VEC_CLASSID, 1);
  if (!VecGPUIs(v)) PetscCall(VecRestoreArrayReadAndMemType(v, a));
  *a = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  VecGPUGetDeviceArrayWrite - Gets room on the device for new values of this process, all of which kernels on its stream will write

  Not Collective

  Input Parameter:
. v - a vector for which `VecGPUGetRuntime()` gives a device

  Output Parameter:
. a - the room

  Level: developer

.seealso: `VecGPURestoreDeviceArrayWrite()`, `VecGPUGetDeviceArrayRead()`
@*/
PetscErrorCode VecGPUGetDeviceArrayWrite(Vec v, PetscScalar **a)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(v, VEC_CLASSID, 1);
  if (VecGPUIs(v)) PetscCall(VecGPUGetDeviceWrite_Private(v, a));
  else PetscCall(VecGetArrayWriteAndMemType(v, a, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  VecGPURestoreDeviceArrayWrite - Tells that the values on the device are the newest

  Not Collective

  Input Parameters:
+ v - the vector
- a - the values

  Level: developer

.seealso: `VecGPUGetDeviceArrayWrite()`
@*/
PetscErrorCode VecGPURestoreDeviceArrayWrite(Vec v, PetscScalar **a)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(v, VEC_CLASSID, 1);
  if (VecGPUIs(v)) PetscCall(VecGPURestoreDevice_Private(v));
  else PetscCall(VecRestoreArrayWriteAndMemType(v, a));
  *a = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}
