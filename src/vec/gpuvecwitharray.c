/* Vectors whose values are in device memory of the user. */
/* MANSEC = Vec */
#include "vec/gpuvecimpl.h"

/* Gives a newly created gpu vector the device memory of the user. */
static PetscErrorCode VecGPUBorrow(Vec v, PetscScalar *array)
{
  Vec_GPU *g = VecGPUState(v);

  PetscFunctionBegin;
  if (g->shared) { /* host memory serves as device memory */
    PetscCall((*g->base->replacearray)(v, NULL));
    VecGPUHeader(v)->array = array;
  } else g->device = array;
  g->borrowed = PETSC_TRUE;
  VecGPUSetValid(v, g->shared ? VEC_GPU_HOST : VEC_GPU_DEVICE);
  PetscCall(PetscObjectStateIncrease((PetscObject)v)); /* PETSc may have stored the norm of the new vector, 0 */
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecGPUCreateWithArray(MPI_Comm comm, VecType type, PetscInt bs, PetscInt n, PetscInt N, const PetscScalar array[], Vec *v)
{
  PetscFunctionBegin;
  *v = NULL;
  PetscCheck(array || !n, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "The array of the local values is NULL; pass device memory, or create a vector that allocates it by VecCreate()");
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(VecGPUCreateWithArrayCUDA_Private(comm, type, bs, n, N, array, v));
  if (*v) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecCreate(comm, v));
  PetscCall(VecSetSizes(*v, n, N));
  PetscCall(VecSetBlockSize(*v, bs));
  PetscCall(VecSetType(*v, type));
  PetscCall(VecGPUBorrow(*v, (PetscScalar *)array));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  VecCreateSeqGPUWithArray - Creates a sequential vector whose values are in device memory of the caller

  Collective

  Input Parameters:
+ comm  - a communicator of one process, usually `PETSC_COMM_SELF`
. bs    - block size
. n     - number of entries
- array - device memory of n entries; on the host backend, host memory

  Output Parameter:
. v - the vector, of type `VECSEQGPU`, or of type `VECSEQCUDA` if the name `gpu` stands for `VECCUDA`

  Level: intermediate

  Notes:
  The vector reads and writes `array`, and does not free it. The memory must exist until `VecDestroy()`. `VecDuplicate()` creates vectors with memory of their own.

  The caller may read `array` after `VecGPUGetDeviceArrayRead()`, which copies values that the host has written to `array`, and `PetscGPUCSRDeviceSynchronize()`. To change the values, write
  `array` between `VecGPUGetDeviceArrayWrite()` and `VecGPURestoreDeviceArrayWrite()`. Kernels on a stream of the caller must have finished before the second call.

  `VecPlaceArray()` and `VecReplaceArray()` take host memory, as for all vectors of this type. The vector then does not use `array`: after `VecPlaceArray()` until `VecResetArray()`, after `VecReplaceArray()` never again.

.seealso: `VECGPU`, `VecCreateMPIGPUWithArray()`, `VecGPUGetDeviceArrayRead()`, `PetscGPUCSRDeviceMalloc()`
@*/
PetscErrorCode VecCreateSeqGPUWithArray(MPI_Comm comm, PetscInt bs, PetscInt n, const PetscScalar array[], Vec *v)
{
  PetscFunctionBegin;
  PetscCall(VecGPUCreateWithArray(comm, VECSEQGPU, bs, n, n, array, v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  VecCreateMPIGPUWithArray - Creates a parallel vector whose local values are in device memory of the caller

  Collective

  Input Parameters:
+ comm  - the communicator
. bs    - block size
. n     - number of local entries, or `PETSC_DECIDE`
. N     - number of all entries, or `PETSC_DETERMINE`
- array - device memory of the local entries; on the host backend, host memory

  Output Parameter:
. v - the vector, of type `VECMPIGPU`, or of type `VECMPICUDA` if the name `gpu` stands for `VECCUDA`

  Level: intermediate

  Note:
  The notes of `VecCreateSeqGPUWithArray()` apply.

.seealso: `VECGPU`, `VecCreateSeqGPUWithArray()`, `VecGPUGetDeviceArrayRead()`
@*/
PetscErrorCode VecCreateMPIGPUWithArray(MPI_Comm comm, PetscInt bs, PetscInt n, PetscInt N, const PetscScalar array[], Vec *v)
{
  PetscFunctionBegin;
  PetscCall(VecGPUCreateWithArray(comm, VECMPIGPU, bs, n, N, array, v));
  PetscFunctionReturn(PETSC_SUCCESS);
}
