/* The arrays of a gpu Vec as PETSc's host code sees them: get and restore, place, reset and replace. */
#include "vec/gpuvecimpl.h"

/* The device falls behind at once, not only when the array is restored: not everyone restores before the next use.  Also the way
   of VecGetArrayWrite(), with the current values: 3.18's PCApply_HYPRE() reads through it what VecSet() wrote. */
PetscErrorCode VecGetArray_GPU(Vec v, PetscScalar **array)
{
  PetscFunctionBegin;
  PetscCall(VecGPUToHost_Private(v));
  PetscCall(VecGPUHostWritten_Private(v));
  *array = VecGPUHeader(v)->array;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecRestoreArray_GPU(Vec v, PetscScalar **array)
{
  PetscFunctionBegin;
  (void)array;
  PetscCall(VecGPUHostWritten_Private(v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecGetArrayRead_GPU(Vec v, const PetscScalar **array)
{
  PetscFunctionBegin;
  PetscCall(VecGPUToHost_Private(v));
  *array = VecGPUHeader(v)->array;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* without it PETSc would take VecRestoreArray_GPU(), and the device would fall behind */
static PetscErrorCode VecRestoreArrayRead_GPU(Vec v, const PetscScalar **array)
{
  PetscFunctionBegin;
  (void)v;
  (void)array;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the device memory goes on to serve the placed array, so the present values must be on the host */
static PetscErrorCode VecPlaceArray_GPU(Vec v, const PetscScalar *array)
{
  Vec_GPU *g = VecGPUState(v);

  PetscFunctionBegin;
  PetscCheck(!g->placed, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE, "VecPlaceArray() was already called on this vector, without a call to VecResetArray()");
  PetscCheck(!g->windows, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE, "VecPlaceArray() on a vector of which subvectors are still out; call VecRestoreSubVector() before");
  if (g->valid) PetscCall(VecGPUToHost_Private(v));
  PetscCall((*g->base->placearray)(v, array));
  g->placed   = PETSC_TRUE;
  g->unplaced = g->valid & VEC_GPU_HOST;
  if (!g->shared) VecGPUSetValid(v, VEC_GPU_HOST);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* what was computed into the placed array belongs there */
static PetscErrorCode VecResetArray_GPU(Vec v)
{
  Vec_GPU *g = VecGPUState(v);

  PetscFunctionBegin;
  if (!g->placed) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGPUToHost_Private(v));
  PetscCall((*g->base->resetarray)(v));
  g->placed = PETSC_FALSE;
  VecGPUSetValid(v, g->unplaced);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the new array is PETSc's to free, as the parent's would be; it takes the mirror's place for good */
static PetscErrorCode VecReplaceArray_GPU(Vec v, const PetscScalar *array)
{
  Vec_GPU *g = VecGPUState(v);

  PetscFunctionBegin;
  PetscCheck(!g->windows, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE, "VecReplaceArray() on a vector of which subvectors are still out; call VecRestoreSubVector() before");
  if (g->ghosted) { /* VecSetType() comes with values alone, and the ghosts and the local form stay where they are */
    PetscCall(VecGPUToHost_Private(v));
    PetscCall(VecGPUHostWritten_Private(v));
    if (array) PetscCall(PetscArraycpy(VecGPUHeader(v)->array, array, v->map->n));
    PetscCall(PetscFree(array));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecGPUFree_Private(v));
  PetscCall((*g->base->replacearray)(v, array));
  if (!g->shared) VecGPUSetValid(v, array ? VEC_GPU_HOST : 0);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecGPUSetArrays_Private(Vec v)
{
  PetscFunctionBegin;
  v->ops->getarray         = VecGetArray_GPU;
  v->ops->restorearray     = VecRestoreArray_GPU;
  v->ops->getarrayread     = VecGetArrayRead_GPU;
  v->ops->restorearrayread = VecRestoreArrayRead_GPU;
  v->ops->placearray       = VecPlaceArray_GPU;
  v->ops->resetarray       = VecResetArray_GPU;
  v->ops->replacearray     = VecReplaceArray_GPU;
  v->ops->getsubvector     = VecGetSubVector_GPU;
  v->ops->restoresubvector = VecRestoreSubVector_GPU;
  PetscCall(VecGPUSetScatters_Private(v));
  PetscFunctionReturn(PETSC_SUCCESS);
}
