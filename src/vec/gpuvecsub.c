/* Subvectors of a gpu Vec: a contiguous one is a window on the memory where the values are, on the device or on the host; any other
   is gathered and put back by a VecScatter, as PETSc does it. */
#include "vec/gpuvecimpl.h"

/* PETSc's own way, which asks the vector first: the operation's slot is empty meanwhile */
static PetscErrorCode GetThroughScatter(Vec v, IS is, Vec *sub)
{
  PetscErrorCode (*const own)(Vec, IS, Vec *) = v->ops->getsubvector;

  PetscFunctionBegin;
  v->ops->getsubvector = NULL;
  PetscCall(VecGetSubVector(v, is, sub));
  v->ops->getsubvector = own;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RestoreThroughScatter(Vec v, IS is, Vec *sub)
{
  PetscErrorCode (*const own)(Vec, IS, Vec *) = v->ops->restoresubvector;
  Vec again                                   = *sub;

  PetscFunctionBegin;
  PetscCall(PetscObjectReference((PetscObject)again)); /* VecRestoreSubVector() destroys it, and whoever called us will do so again */
  v->ops->restoresubvector = NULL;
  PetscCall(VecRestoreSubVector(v, is, &again));
  v->ops->restoresubvector = own;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether on all ranks the entries follow each other, from where, and the block size: that of the index set, else that of the
   vector where it fits everywhere. */
static PetscErrorCode Contiguous(Vec v, IS is, PetscBool *contiguous, PetscInt *start, PetscInt *bs)
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

PetscErrorCode VecGetSubVector_GPU(Vec v, IS is, Vec *sub)
{
  Vec_GPU  *g = VecGPUState(v), *s;
  PetscInt  n, N, start, bs, locked;
  PetscBool contiguous;

  PetscFunctionBegin;
  PetscCall(Contiguous(v, is, &contiguous, &start, &bs));
  if (!contiguous) {
    PetscCall(GetThroughScatter(v, is, sub));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(ISGetLocalSize(is, &n));
  PetscCall(ISGetSize(is, &N));
  PetscCall(VecCreate(PetscObjectComm((PetscObject)v), sub));
  PetscCall(VecSetSizes(*sub, n, N));
  PetscCall(VecSetBlockSize(*sub, bs));
  PetscCall(VecSetType(*sub, ((PetscObject)v)->type_name));
  s = VecGPUState(*sub);
  if (g->shared || g->valid == VEC_GPU_HOST) {
    PetscCall(VecGPUToHost_Private(v));
    PetscCall(VecPlaceArray(*sub, VecGPUHeader(v)->array ? VecGPUHeader(v)->array + start : NULL));
    s->window = VEC_GPU_HOST;
  } else {
    const double *values;

    PetscCall(VecGPUGetDeviceRead_Private(v, &values));
    s->device = values ? (double *)values + start : NULL;
    s->window = VEC_GPU_DEVICE;
    VecGPUSetValid(*sub, VEC_GPU_DEVICE);
    PetscCall(PetscObjectStateIncrease((PetscObject)*sub)); /* a new vector's norm is remembered to be zero */
  }
  s->start = start;
  g->windows++;
  PetscCall(VecLockGet(v, &locked));
  if (locked) PetscCall(VecLockReadPush(*sub));
  (*sub)->ops->placearray   = NULL;
  (*sub)->ops->replacearray = NULL;
  PetscCall(PetscObjectStateGet((PetscObject)*sub, &s->got));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Brings a changed window to where its vector's values are.  Most often it is there; the vector may have moved, by another window
   put back or by being read, since this one was got. */
static PetscErrorCode PutBack(Vec v, Vec sub)
{
  Vec_GPU     *g = VecGPUState(v), *s = VecGPUState(sub);
  const size_t bytes = (size_t)sub->map->n * sizeof(double);

  PetscFunctionBegin;
  if (s->window == VEC_GPU_HOST ? g->shared || (g->valid & VEC_GPU_HOST) : !(g->valid & VEC_GPU_DEVICE)) {
    PetscCall(VecGPUToHost_Private(sub));
    if (s->window == VEC_GPU_DEVICE) PetscCall(PetscArraycpy(VecGPUHeader(v)->array + s->start, VecGPUHeader(sub)->array, sub->map->n));
    PetscCall(VecGPUHostWritten_Private(v));
    PetscCall(PetscObjectStateIncrease((PetscObject)v));
  } else {
    const double *values;

    PetscCall(VecGPUGetDeviceRead_Private(sub, &values));
    if (s->window == VEC_GPU_HOST && bytes) PetscCallGp(g->dev, "putting a subvector back", g->dev->ops->copy_within(g->dev, g->device + s->start, values, bytes));
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
    PetscCall(RestoreThroughScatter(v, is, sub));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  VecGPUState(v)->windows--;
  PetscCall(PetscObjectStateGet((PetscObject)*sub, &now));
  if (now == VecGPUState(*sub)->got) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecLockGet(v, &locked));
  PetscCheck(!locked, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE, "The vector is locked, for reading or for writing, and its subvector was changed");
  PetscCall(PutBack(v, *sub));
  PetscFunctionReturn(PETSC_SUCCESS);
}
