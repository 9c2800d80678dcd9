/* Public functions for solvers with kernels of their own: the device of a vector, its values there, and sums over ranks. */
/* MANSEC = Vec */
#include "vec/gpuvecimpl.h"
#include "sys/gpucsrexchange.h"

/*@C
  VecGPUGetRuntime - Gets the device on which kernels can use the values of a vector in place

  Not Collective

  Input Parameter:
. v - any vector

  Output Parameter:
. dev - the device, or `NULL` if kernels cannot use the values of this vector in place

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
  if (!there) PetscFunctionReturn(PETSC_SUCCESS); /* without opening a device */
  PetscCall(PetscGPUCSRGetDevice(dev));
  if (!VecGPUIs(v) && GpDevKindOf((*dev)) != GP_DEV_CUDA) *dev = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  VecGPUGetDeviceArrayRead - Gets read access to the local values in device memory, for kernels on the stream of the device

  Not Collective

  Input Parameter:
. v - a vector for which `VecGPUGetRuntime()` returns a device

  Output Parameter:
. a - device memory with the local values; valid until the next operation on `v`

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
  VecGPURestoreDeviceArrayRead - Ends the access that `VecGPUGetDeviceArrayRead()` began

  Not Collective

  Input Parameters:
+ v - the vector
- a - the pointer from `VecGPUGetDeviceArrayRead()`; set to `NULL`

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
  VecGPUGetDeviceArrayWrite - Gets write access to the local values in device memory, for kernels on the stream of the device

  Not Collective

  Input Parameter:
. v - a vector for which `VecGPUGetRuntime()` returns a device

  Output Parameter:
. a - device memory of undefined contents; the kernels must write all local values

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
  VecGPURestoreDeviceArrayWrite - Ends the access that `VecGPUGetDeviceArrayWrite()` began, and marks the values in device memory as current

  Not Collective

  Input Parameters:
+ v - the vector
- a - the pointer from `VecGPUGetDeviceArrayWrite()`; set to `NULL`

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

/*@C
  VecGPUGetDeviceArray - Gets read and write access to the local values in device memory, for kernels on the stream of the device

  Not Collective

  Input Parameter:
. v - a vector for which `VecGPUGetRuntime()` returns a device

  Output Parameter:
. a - device memory with the local values

  Level: developer

.seealso: `VecGPURestoreDeviceArray()`, `VecGPUGetDeviceArrayRead()`, `VecGPUGetDeviceArrayWrite()`
@*/
PetscErrorCode VecGPUGetDeviceArray(Vec v, PetscScalar **a)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(v, VEC_CLASSID, 1);
  if (VecGPUIs(v)) PetscCall(VecGPUGetDevice_Private(v, a));
  else PetscCall(VecGetArrayAndMemType(v, a, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  VecGPURestoreDeviceArray - Ends the access that `VecGPUGetDeviceArray()` began, and marks the values in device memory as current

  Not Collective

  Input Parameters:
+ v - the vector
- a - the pointer from `VecGPUGetDeviceArray()`; set to `NULL`

  Level: developer

.seealso: `VecGPUGetDeviceArray()`
@*/
PetscErrorCode VecGPURestoreDeviceArray(Vec v, PetscScalar **a)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(v, VEC_CLASSID, 1);
  if (VecGPUIs(v)) PetscCall(VecGPURestoreDevice_Private(v));
  else PetscCall(VecRestoreArrayAndMemType(v, a));
  *a = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sums vectors over the ranks in device memory by NCCL. */
static PetscErrorCode VecGPUSumByNCCL(GpDev dev, GpNccl nccl, PetscInt n, Vec v[])
{
  double **a;
  size_t  *count;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(n, &a, n, &count));
  for (PetscInt k = 0; k < n; k++) {
    PetscInt size;

    PetscCall(VecGetLocalSize(v[k], &size));
    count[k] = (size_t)size;
    PetscCall(VecGPUGetDeviceArray(v[k], &a[k]));
  }
  PetscCallGp(dev, "sum over the ranks", GpNcclSum(dev, nccl, (int)n, a, count));
  for (PetscInt k = 0; k < n; k++) PetscCall(VecGPURestoreDeviceArray(v[k], &a[k]));
  PetscCall(PetscFree2(a, count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  VecGPUSumRanks - Sums sequential vectors entry by entry over the ranks of a communicator

  Collective

  Input Parameters:
+ comm - the communicator
. n    - number of vectors on each rank
- v    - sequential vectors, of the same sizes and types on all ranks; on return they hold the sums

  Level: developer

  Notes:
  All ranks get the same sums, bit by bit. If NCCL connects the devices of the ranks, the values stay in device memory. Otherwise, and for vectors of other types, the
  values are copied to the host and summed by `MPI_Allreduce()`.

.seealso: `VECGPU`, `VecGPUGetDeviceArrayRead()`, `VecGPUGetRuntime()`
@*/
PetscErrorCode VecGPUSumRanks(MPI_Comm comm, PetscInt n, Vec v[])
{
  GpNccl      nccl = NULL;
  GpDev       dev;
  const char *why;
  PetscMPIInt size, count;
  PetscInt    local, global;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  if (size == 1 || !n) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt k = 0; k < n; k++) {
    PetscValidHeaderSpecific(v[k], VEC_CLASSID, 3);
    PetscCall(VecGetLocalSize(v[k], &local));
    PetscCall(VecGetSize(v[k], &global));
    PetscCheck(local == global, comm, PETSC_ERR_ARG_WRONG, "Vector %" PetscInt_FMT " is distributed over ranks; pass a sequential vector on each rank", k);
  }
  PetscCall(VecGPUGetRuntime(v[0], &dev));
  if (dev && GpDevKindOf(dev) == GP_DEV_CUDA) PetscCall(PetscGPUCSRGetNCCL_Private(comm, dev, &nccl, &why));
  if (nccl) PetscCall(VecGPUSumByNCCL(dev, nccl, n, v));
  for (PetscInt k = 0; !nccl && k < n; k++) {
    PetscScalar *a;

    PetscCall(VecGetLocalSize(v[k], &local));
    PetscCall(PetscMPIIntCast(local, &count));
    PetscCall(VecGetArray(v[k], &a));
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, a, count, MPIU_SCALAR, MPIU_SUM, comm));
    PetscCall(VecRestoreArray(v[k], &a));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
