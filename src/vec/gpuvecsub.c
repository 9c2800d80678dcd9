/* Subvectors of a gpu Vec.  A contiguous subvector shares the memory that holds the current values, on the device or on the host; the code
   calls it a window.  Any other subvector is gathered and written back by a VecScatter, as in PETSc. */
#include "vec/gpuvecimpl.h"

/* Calls PETSc's default implementation.  VecGetSubVector() uses it only if the vector has no such operation, so that is cleared meanwhile. */
static PetscErrorCode VecGPUGetSubVectorByScatter(Vec v, IS is, Vec *sub)
{
  PetscErrorCode (*const own)(Vec, IS, Vec *) = v->ops->getsubvector;

  PetscFunctionBegin;
  v->ops->getsubvector = NULL;
  PetscCall(VecGetSubVector(v, is, sub));
  v->ops->getsubvector = own;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecGPURestoreSubVectorByScatter(Vec v, IS is, Vec *sub)
{
  PetscErrorCode (*const own)(Vec, IS, Vec *) = v->ops->restoresubvector;
  Vec again                                   = *sub;

  PetscFunctionBegin;
  PetscCall(PetscObjectReference((PetscObject)again)); /* the inner VecRestoreSubVector() destroys one reference, the outer one another */
  v->ops->restoresubvector = NULL;
  PetscCall(VecRestoreSubVector(v, is, &again));
  v->ops->restoresubvector = own;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Tells whether the entries of the index set are contiguous on all ranks, and gets the local start and the block size of the subvector.
   The block size is that of the index set if larger than 1, else that of the vector if it divides the local sizes on all ranks, else 1. */
static PetscErrorCode VecGPUIsContiguous(Vec v, IS is, PetscBool *contiguous, PetscInt *start, PetscInt *bs)
{
  PetscInt  begin, end, n, blocks[2];
  PetscBool here;
  int       all[2];

  PetscFunctionBegin;
  PetscCall(ISGetLocalSize(is, &n));
  PetscCall(ISGetBlockSize(is, &blocks[0]));
  PetscCall(VecGetBlockSize(v, &blocks[1]));
  PetscCall(VecGetOwnershipRange(v, &begin, &end));
  PetscCall(ISContiguousLocal(is, begin, end, start, &here));
  if (!n) *start = 0;
  all[0] = here;
  all[1] = n % blocks[1] == 0;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, all, 2, MPI_INT, MPI_MIN, PetscObjectComm((PetscObject)is)));
  *contiguous = (PetscBool)all[0];
  *bs         = blocks[0] > 1 ? blocks[0] : all[1] ? blocks[1] : 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The memory of a local vector is that of its original, which then has the window too. */
static void VecGPUCountWindow(Vec v, int change)
{
  for (; v; v = VecGPUState(v)->original) VecGPUState(v)->windows += change;
}

PetscErrorCode VecGetSubVector_GPU(Vec v, IS is, Vec *sub)
{
  Vec_GPU  *g = VecGPUState(v), *s;
  PetscInt  n, N, start, bs, locked;
  PetscBool contiguous;

  PetscFunctionBegin;
  PetscCall(VecGPUIsContiguous(v, is, &contiguous, &start, &bs));
  if (!contiguous) {
    PetscCall(VecGPUGetSubVectorByScatter(v, is, sub));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(ISGetLocalSize(is, &n));
  PetscCall(ISGetSize(is, &N));
  PetscCall(VecCreate(PetscObjectComm((PetscObject)v), sub));
  PetscCall(VecSetSizes(*sub, n, N));
  PetscCall(VecSetBlockSize(*sub, bs));
  PetscCall(VecSetType(*sub, ((PetscObject)v)->type_name));
  s = VecGPUState(*sub);
  if (g->shared || VecGPUGetValid(v) == VEC_GPU_HOST) {
    PetscCall(VecGPUToHost_Private(v));
    PetscCall(VecPlaceArray(*sub, VecGPUHeader(v)->array ? VecGPUHeader(v)->array + start : NULL));
    s->window = VEC_GPU_HOST;
  } else {
    const double *values;

    PetscCall(VecGPUGetDeviceRead_Private(v, &values));
    s->device = values ? (double *)values + start : NULL;
    s->window = VEC_GPU_DEVICE;
    VecGPUSetValid(*sub, VEC_GPU_DEVICE);
    PetscCall(PetscObjectStateIncrease((PetscObject)*sub)); /* PETSc has cached a norm of zero for the new vector */
  }
  s->start = start;
  VecGPUCountWindow(v, 1);
  PetscCall(VecLockGet(v, &locked));
  if (locked) PetscCall(VecLockReadPush(*sub));
  (*sub)->ops->placearray   = NULL;
  (*sub)->ops->replacearray = NULL;
  PetscCall(PetscObjectStateGet((PetscObject)*sub, &s->got));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Brings a changed subvector to the memory that holds the current values of v.  Usually this is the shared memory.  Since the subvector was
   created, another subvector or a read access may have changed which memory is current. */
static PetscErrorCode VecGPUWriteBackSubVector(Vec v, Vec sub)
{
  Vec_GPU     *g = VecGPUState(v), *s = VecGPUState(sub);
  const size_t bytes = (size_t)sub->map->n * sizeof(double);

  PetscFunctionBegin;
  if (s->window == VEC_GPU_HOST ? g->shared || (VecGPUGetValid(v) & VEC_GPU_HOST) : !(VecGPUGetValid(v) & VEC_GPU_DEVICE)) {
    PetscCall(VecGPUToHost_Private(sub));
    if (s->window == VEC_GPU_DEVICE) PetscCall(PetscArraycpy(VecGPUHeader(v)->array + s->start, VecGPUHeader(sub)->array, sub->map->n));
    PetscCall(VecGPUHostWritten_Private(v));
    PetscCall(PetscObjectStateIncrease((PetscObject)v));
  } else {
    const double *values;
    double       *all;

    PetscCall(VecGPUGetDeviceRead_Private(sub, &values));
    PetscCall(VecGPUGetDevice_Private(v, &all));
    if (s->window == VEC_GPU_HOST && bytes) PetscCallGp(g->dev, "writing back a subvector", GpDevCopyWithin(g->dev, all + s->start, values, bytes));
    PetscCall(VecGPURestoreDevice_Private(v));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecRestoreSubVector_GPU(Vec v, IS is, Vec *sub)
{
  PetscObjectState now;
  PetscInt         locked;

  PetscFunctionBegin;
  if (!VecGPUIs(*sub) || !VecGPUState(*sub)->window) {
    PetscCall(VecGPURestoreSubVectorByScatter(v, is, sub));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  VecGPUCountWindow(v, -1);
  PetscCall(PetscObjectStateGet((PetscObject)*sub, &now));
  if (now == VecGPUState(*sub)->got) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecLockGet(v, &locked));
  PetscCheck(!locked, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE, "The vector is locked for reading or for writing, but its subvector was changed; restore the subvector while the vector is not locked");
  PetscCall(VecGPUWriteBackSubVector(v, *sub));
  PetscFunctionReturn(PETSC_SUCCESS);
}
