/* Host array access of a gpu Vec: get, restore, place, reset and replace. */
#include "vec/gpuvecimpl.h"

/* Marks the values on the device as out of date at once, because some callers use the vector again before they restore the array.
   VecGetArrayWrite() uses this function too and gets the current values, because PCApply_HYPRE() of PETSc 3.18 reads values through it. */
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

/* Without this operation PETSc would call VecRestoreArray_GPU(), which marks the values on the device as out of date. */
PetscErrorCode VecRestoreArrayRead_GPU(Vec v, const PetscScalar **array)
{
  PetscFunctionBegin;
  (void)v;
  (void)array;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The array of a vector may be exchanged only if no other vector uses it. */
static PetscErrorCode VecGPUCheckArrayFree(Vec v, const char function[])
{
  Vec_GPU *g = VecGPUState(v);

  PetscFunctionBegin;
  PetscCheck(!g->windows, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE, "%s() on a vector with subvectors in use; call VecRestoreSubVector() before", function);
  PetscCheck(!g->locals, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE, "%s() on a vector with local vectors in use; call VecRestoreLocalVector() or VecRestoreLocalVectorRead() before", function);
  PetscCheck(!g->original, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE, "%s() on a local vector in use; call VecRestoreLocalVector() or VecRestoreLocalVectorRead() before", function);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The device memory serves the placed array from now on, so the present values must be on the host. Memory of the caller keeps its values; other device memory is allocated at first need. */
static PetscErrorCode VecPlaceArray_GPU(Vec v, const PetscScalar *array)
{
  Vec_GPU *g = VecGPUState(v);

  PetscFunctionBegin;
  PetscCheck(!g->placed, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE, "VecPlaceArray() was already called on this vector; call VecResetArray() before");
  PetscCall(VecGPUCheckArrayFree(v, "VecPlaceArray"));
  if (g->valid) PetscCall(VecGPUToHost_Private(v));
  PetscCall((*g->base->placearray)(v, array));
  g->placed   = PETSC_TRUE;
  g->unplaced = g->valid & (g->borrowed ? VEC_GPU_HOST | VEC_GPU_DEVICE : VEC_GPU_HOST);
  if (g->shared) PetscFunctionReturn(PETSC_SUCCESS);
  if (g->borrowed) {
    g->lent   = g->device;
    g->device = NULL;
  }
  VecGPUSetValid(v, VEC_GPU_HOST);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Values that were computed on the device are copied to the placed array first. */
static PetscErrorCode VecResetArray_GPU(Vec v)
{
  Vec_GPU *g = VecGPUState(v);

  PetscFunctionBegin;
  if (!g->placed) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGPUCheckArrayFree(v, "VecResetArray"));
  PetscCall(VecGPUToHost_Private(v));
  PetscCall((*g->base->resetarray)(v));
  g->placed = PETSC_FALSE;
  if (g->lent) {
    GpDevFreeShared(g->dev, &g->device, (size_t)v->map->n * sizeof(double));
    g->device = g->lent;
    g->lent   = NULL;
  }
  VecGPUSetValid(v, g->unplaced);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc owns and frees the new array, as in the parent.  It replaces the mirror permanently. */
static PetscErrorCode VecReplaceArray_GPU(Vec v, const PetscScalar *array)
{
  Vec_GPU *g = VecGPUState(v);

  PetscFunctionBegin;
  PetscCall(VecGPUCheckArrayFree(v, "VecReplaceArray"));
  if (g->ghosted) { /* VecSetType() passes the values without ghosts: copy them, so that ghosts and local form stay in place */
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
  PetscFunctionReturn(PETSC_SUCCESS);
}
