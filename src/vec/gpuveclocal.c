/* Local vectors of a gpu Vec: VecGetLocalVector() and VecGetLocalVectorRead(), through which block preconditioners pass the values of a parallel
   vector to a solver of one rank.

   While a vector of type gpu is the local vector of another one, it has no values of its own.  Every access to its values is an access to the
   memory of the original, on the host or on the device.  It updates the state of the original: which copy (host or device) is up to date, and the
   object state.  So both vectors show the same values at any time, and nothing is copied that the original would not copy.  The former values of
   the local vector are saved and return when VecRestoreLocalVector() is called. */
#include "vec/gpuvecimpl.h"

static PetscErrorCode VecGPUCheckLocal(Vec v, Vec w)
{
  Vec_GPU *s = VecGPUState(w);

  PetscFunctionBegin;
  PetscCheck(v != w, PETSC_COMM_SELF, PETSC_ERR_ARG_IDN, "A vector cannot be its own local vector; pass another vector, for example from VecCreateLocalVector()");
  PetscCheck(!s->original, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE, "The vector is in use as a local vector; call VecRestoreLocalVector() or VecRestoreLocalVectorRead() first");
  PetscCheck(!s->placed, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE, "VecPlaceArray() was called on the local vector; call VecResetArray() first");
  PetscCheck(!s->windows && !s->locals, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE, "The local vector has subvectors or local vectors in use; restore them before");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes w the local vector of v: its entries are those of v from the local index offset on.  Both are of type gpu. */
PetscErrorCode VecGPUBeginLocal_Private(Vec v, PetscInt offset, Vec w)
{
  Vec_GPU     *s     = VecGPUState(w);
  PetscScalar *array = VecGPUHeader(v)->array;

  PetscFunctionBegin;
  PetscCall(VecGPUCheckLocal(v, w));
  PetscCheck(offset >= 0 && offset + w->map->n <= v->map->n, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
             "A local vector of %" PetscInt_FMT " entries from entry %" PetscInt_FMT " on does not fit into a vector with %" PetscInt_FMT " local entries; create the local vector with VecCreateLocalVector()", w->map->n, offset, v->map->n);
  PetscCall(PetscObjectReference((PetscObject)v));
  s->original            = v;
  s->offset              = offset;
  s->own                 = VecGPUHeader(w)->array;
  VecGPUHeader(w)->array = array ? array + offset : NULL;
  w->offloadmask         = v->offloadmask;
  VecGPUState(v)->locals++;
  PetscCall(PetscObjectStateIncrease((PetscObject)w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gives w its own values back. */
PetscErrorCode VecGPUEndLocal_Private(Vec w)
{
  Vec_GPU *s = VecGPUState(w);
  Vec      v = s->original;

  PetscFunctionBegin;
  PetscCheck(!s->windows && !s->locals, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE, "The local vector has subvectors or local vectors in use; restore them before");
  VecGPUState(v)->locals--;
  s->original            = NULL;
  VecGPUHeader(w)->array = s->own;
  VecGPUSetValid(w, s->valid);
  PetscCall(PetscObjectStateIncrease((PetscObject)w));
  PetscCall(PetscObjectDereference((PetscObject)v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A local vector of another type gets the host array, as VecGetLocalVector() of PETSc does for types without this operation. */
static PetscErrorCode VecGetLocalVector_GPU(Vec v, Vec w)
{
  PetscFunctionBegin;
  if (VecGPUIs(w)) PetscCall(VecGPUBeginLocal_Private(v, 0, w));
  else {
    PetscScalar *array;

    PetscCall(VecGetArray(v, &array));
    PetscCall(VecPlaceArray(w, array));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecGetLocalVectorRead_GPU(Vec v, Vec w)
{
  PetscFunctionBegin;
  if (VecGPUIs(w)) PetscCall(VecGPUBeginLocal_Private(v, 0, w));
  else {
    const PetscScalar *array;

    PetscCall(VecGetArrayRead(v, &array));
    PetscCall(VecPlaceArray(w, array));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecGPURestoreLocal(Vec v, Vec w)
{
  PetscFunctionBegin;
  PetscCheck(VecGPUState(w)->original == v, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE, "The second vector is not a local vector of the first one; pass the vectors that were passed to VecGetLocalVector() or VecGetLocalVectorRead()");
  PetscCall(VecGPUEndLocal_Private(w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecRestoreLocalVector_GPU(Vec v, Vec w)
{
  PetscFunctionBegin;
  if (VecGPUIs(w)) PetscCall(VecGPURestoreLocal(v, w));
  else {
    PetscScalar *array;

    PetscCall(VecGetArray(w, &array)); /* a vector with device memory of its own brings its values to the array */
    PetscCall(VecRestoreArray(v, &array));
    PetscCall(VecResetArray(w));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecRestoreLocalVectorRead_GPU(Vec v, Vec w)
{
  PetscFunctionBegin;
  if (VecGPUIs(w)) PetscCall(VecGPURestoreLocal(v, w));
  else {
    const PetscScalar *array;

    PetscCall(VecGetArrayRead(w, &array));
    PetscCall(VecRestoreArrayRead(v, &array));
    PetscCall(VecResetArray(w));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* VecCreateLocalVector() of PETSc would create a standard vector, because it knows the names of PETSc's own types only. */
static PetscErrorCode VecCreateLocalVector_GPU(Vec v, Vec *w)
{
  PetscInt bs;

  PetscFunctionBegin;
  PetscCall(VecCreate(PETSC_COMM_SELF, w));
  PetscCall(VecSetSizes(*w, v->map->n, v->map->n));
  PetscCall(VecGetBlockSize(v, &bs));
  PetscCall(VecSetBlockSize(*w, bs));
  PetscCall(VecSetType(*w, VECSEQGPU));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecGPUSetLocals_Private(Vec v)
{
  PetscFunctionBegin;
  v->ops->createlocalvector      = VecCreateLocalVector_GPU;
  v->ops->getlocalvector         = VecGetLocalVector_GPU;
  v->ops->restorelocalvector     = VecRestoreLocalVector_GPU;
  v->ops->getlocalvectorread     = VecGetLocalVectorRead_GPU;
  v->ops->restorelocalvectorread = VecRestoreLocalVectorRead_GPU;
  PetscFunctionReturn(PETSC_SUCCESS);
}
