/* The public interface for loops on the device (gpucsrdevice.h): errors, streams, memory and copies. */
/* MANSEC = Sys */
#include "sys/gpucsrsys.h"

/*@C
  PetscGPUCSRErrorClass - Returns PETSc's error class for a `GpErr`

  Not Collective

  Input Parameter:
. err - the error

  Level: developer

.seealso: `GpErr`, `PetscCallGp()`
@*/
PetscErrorCode PetscGPUCSRErrorClass(GpErr err)
{
  switch (err) {
  case GP_ERR_MEMORY:
    return PETSC_ERR_MEM;
  case GP_ERR_NOT_BUILT:
    return PETSC_ERR_SUP_SYS;
  case GP_ERR_ARGUMENT:
    return PETSC_ERR_ARG_OUTOFRANGE;
  case GP_ERR_FILE:
    return PETSC_ERR_FILE_READ;
  default:
    return PETSC_ERR_GPU;
  }
}

/*@C
  PetscGPUCSRDevicePushStream - Orders all later work on the device's own stream, which a graph can capture, instead of PETSc's stream

  Not Collective

  Input Parameter:
. dev - the device

  Level: developer

  Note:
  Waits until the work on the current stream is done. Every call needs one call of `PetscGPUCSRDevicePopStream()`, also if the work in between fails. At most
  4 calls can be nested.

.seealso: `PetscGPUCSRDevicePopStream()`, `PetscGPUCSRGraphCreate()`, `GpDev`
@*/
PetscErrorCode PetscGPUCSRDevicePushStream(GpDev dev)
{
  PetscFunctionBegin;
  PetscGPUCSRCheckDevice(dev);
  PetscCall(PetscGPUCSRDeviceSynchronize(dev));
  PetscCallGp(dev, "changing the stream", GpDevPushStream(dev, GP_DEV_STREAM_OWN));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PetscGPUCSRDevicePopStream - Orders all later work on the stream that was in effect before `PetscGPUCSRDevicePushStream()`

  Not Collective

  Input Parameter:
. dev - the device

  Level: developer

  Note:
  Waits until the work on the current stream is done.

.seealso: `PetscGPUCSRDevicePushStream()`
@*/
PetscErrorCode PetscGPUCSRDevicePopStream(GpDev dev)
{
  GpErr err;

  PetscFunctionBegin;
  PetscGPUCSRCheckDevice(dev);
  err = GpDevSync(dev);
  if (err) (void)GpDevPopStream(dev); /* the message of the first error stays */
  PetscCallGp(dev, "waiting for the device", err);
  PetscCallGp(dev, "returning to the previous stream", GpDevPopStream(dev));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PetscGPUCSRDeviceSynchronize - Waits until all work on the stream of a device is done

  Not Collective

  Input Parameter:
. dev - the device

  Level: developer

.seealso: `GpDev`, `PetscGPUCSRWatchWait()`
@*/
PetscErrorCode PetscGPUCSRDeviceSynchronize(GpDev dev)
{
  PetscFunctionBegin;
  PetscGPUCSRCheckDevice(dev);
  PetscCallGp(dev, "waiting for the device", GpDevSync(dev));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PetscGPUCSRDeviceMalloc - Allocates device memory for the kernels of a program

  Not Collective

  Input Parameters:
+ dev   - the device, from `PetscGPUCSRGetDevice()` or `VecGPUGetRuntime()`
. what  - purpose of the memory, and a remedy if there is one: the error message of a failed allocation begins with it
- bytes - size in bytes; 0 gives `NULL`

  Output Parameter:
. ptr - address of the pointer to the memory. Kernels on every stream may use it

  Options Database Key:
. -gpucsr_device_memory <bytes> - upper bound on the device memory of this process

  Level: developer

.seealso: `PetscGPUCSRDeviceFree()`, `VecGPUGetRuntime()`, `MatGPUCSRMultArray()`
@*/
PetscErrorCode PetscGPUCSRDeviceMalloc(GpDev dev, const char what[], size_t bytes, void *ptr)
{
  PetscFunctionBegin;
  PetscGPUCSRCheckDevice(dev);
  PetscCallGp(dev, what, GpDevAlloc(dev, bytes, ptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PetscGPUCSRDeviceFree - Frees device memory once the kernels that were launched before this call have finished

  Not Collective

  Input Parameters:
+ dev   - the device
. bytes - the size given to `PetscGPUCSRDeviceMalloc()`
- ptr   - address of the pointer, which becomes `NULL`; if it is `NULL` already, nothing is done

  Level: developer

.seealso: `PetscGPUCSRDeviceMalloc()`
@*/
PetscErrorCode PetscGPUCSRDeviceFree(GpDev dev, size_t bytes, void *ptr)
{
  PetscFunctionBegin;
  if (!*(void **)ptr) PetscFunctionReturn(PETSC_SUCCESS);
  PetscGPUCSRCheckDevice(dev);
  GpDevFree(dev, ptr, bytes);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PetscGPUCSRDeviceMallocPinned - Allocates pinned host memory, which kernels can access

  Not Collective

  Input Parameters:
+ dev   - the device
- bytes - size in bytes

  Output Parameter:
. ptr - address of the pointer to the memory

  Level: developer

.seealso: `PetscGPUCSRDeviceFreePinned()`, `PetscGPUCSRWatchWait()`, `PetscGPUCSRDeviceCopyOut()`
@*/
PetscErrorCode PetscGPUCSRDeviceMallocPinned(GpDev dev, size_t bytes, void *ptr)
{
  PetscFunctionBegin;
  PetscGPUCSRCheckDevice(dev);
  PetscCallGp(dev, "allocating pinned memory", GpDevAllocPinned(dev, bytes, ptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PetscGPUCSRDeviceFreePinned - Frees memory of `PetscGPUCSRDeviceMallocPinned()`

  Not Collective

  Input Parameters:
+ dev - the device
- ptr - address of the pointer, which becomes `NULL`; if it is `NULL` already, nothing is done

  Level: developer

.seealso: `PetscGPUCSRDeviceMallocPinned()`
@*/
PetscErrorCode PetscGPUCSRDeviceFreePinned(GpDev dev, void *ptr)
{
  PetscFunctionBegin;
  if (!*(void **)ptr) PetscFunctionReturn(PETSC_SUCCESS);
  PetscGPUCSRCheckDevice(dev);
  GpDevFreePinned(dev, *(void **)ptr);
  *(void **)ptr = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PetscGPUCSRDeviceCopyIn - Copies from the host to the device, in the order of its stream

  Not Collective

  Input Parameters:
+ dev   - the device
. to    - device memory
. from  - host memory, which must not change until the copy is done
- bytes - size in bytes

  Level: developer

.seealso: `PetscGPUCSRDeviceCopyOut()`, `PetscGPUCSRDeviceZero()`, `PetscGPUCSRDeviceSynchronize()`
@*/
PetscErrorCode PetscGPUCSRDeviceCopyIn(GpDev dev, void *to, const void *from, size_t bytes)
{
  PetscFunctionBegin;
  PetscGPUCSRCheckDevice(dev);
  PetscCallGp(dev, "copying to the device", GpDevCopyIn(dev, to, from, bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PetscGPUCSRDeviceCopyOut - Copies from the device to the host, in the order of its stream

  Not Collective

  Input Parameters:
+ dev   - the device
. to    - host memory, valid after `PetscGPUCSRDeviceSynchronize()`. If it is pinned, the function does not wait for the copy
. from  - device memory
- bytes - size in bytes

  Level: developer

.seealso: `PetscGPUCSRDeviceCopyIn()`, `PetscGPUCSRDeviceMallocPinned()`, `PetscGPUCSRDeviceSynchronize()`
@*/
PetscErrorCode PetscGPUCSRDeviceCopyOut(GpDev dev, void *to, const void *from, size_t bytes)
{
  PetscFunctionBegin;
  PetscGPUCSRCheckDevice(dev);
  PetscCallGp(dev, "copying from the device", GpDevCopyOut(dev, to, from, bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PetscGPUCSRDeviceZero - Sets device memory to zero, in the order of the stream

  Not Collective

  Input Parameters:
+ dev   - the device
. ptr   - device memory
- bytes - size in bytes

  Level: developer

.seealso: `PetscGPUCSRDeviceMalloc()`, `PetscGPUCSRDeviceCopyIn()`
@*/
PetscErrorCode PetscGPUCSRDeviceZero(GpDev dev, void *ptr, size_t bytes)
{
  PetscFunctionBegin;
  PetscGPUCSRCheckDevice(dev);
  PetscCallGp(dev, "zeroing device memory", GpDevZero(dev, ptr, bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}
