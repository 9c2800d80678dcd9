/* Ghosted vectors of the type mpigpu, where PETSc's functions for ghosts take types that derive from VECMPI.

   VECMPI keeps ghosts behind the values in one host array, and the local form is a VECSEQ on that array.  Ours leave it so: the
   device has the values alone, ghosts live on the host, and the local form asks its vector for the array, so that it is current.

   VecSetType() and VecMPISetGhost() take a VECMPI apart before they call the constructor of the new type: no ghosts are left
   for that to find.  But VecDestroy_MPI() begins by telling log handlers of the vector.  One of ours, which does nothing else, puts ghosts
   aside on the vector itself if that is not to die. */
#include "vec/gpuvecimpl.h"

#if GP_COMPAT_GHOSTS

static const char      Aside[] = "VecGPUGhosts";  /* on a vector between two types: a copy of its local form ... */
static const char      Which[] = "VecGPUIndices"; /* ... and on that, the ghosts' global indices */
static PetscLogHandler Watch;
static struct _VecOps  VecOpsBase_Local; /* of a local form */

typedef struct {
  Vec global;
} Vec_GPULocal;

static inline Vec GlobalOf(Vec local)
{
  return ((Vec_GPULocal *)VecGPUGetAttached(local))->global;
}

static PetscErrorCode PutAside(PetscLogHandler handler, PetscObject object, const char format[], va_list values)
{
  Vec             v = (Vec)object, local, copy;
  IS              global, indices;
  PetscInt        n, all;
  const PetscInt *ghosts;
  PetscBool       mpi;

  PetscFunctionBegin;
  (void)handler;
  (void)format;
  (void)values;
  if (object->classid != VEC_CLASSID || object->refct <= 0 || !v->data) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectTypeCompare(object, VECMPI, &mpi));
  if (!mpi) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectCompose(object, Aside, NULL));
  PetscCall(VecGhostGetLocalForm(v, &local));
  if (!local) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGetLocalSize(v, &n));
  PetscCall(VecGetLocalSize(local, &all));
  PetscCall(VecDuplicate(local, &copy));
  PetscCall(VecCopy(local, copy));
  PetscCall(VecGhostGetGhostIS(v, &global));
  if (global) {
    PetscCall(ISGetIndices(global, &ghosts));
    PetscCall(ISCreateGeneral(PETSC_COMM_SELF, all - n, ghosts, PETSC_COPY_VALUES, &indices));
    PetscCall(ISRestoreIndices(global, &ghosts));
  } else { /* VecCreateGhostBlock() */
    ISLocalToGlobalMapping mapping;

    PetscCall(VecGetLocalToGlobalMapping(v, &mapping));
    PetscCall(ISLocalToGlobalMappingGetIndices(mapping, &ghosts));
    PetscCall(ISCreateGeneral(PETSC_COMM_SELF, all - n, ghosts + n, PETSC_COPY_VALUES, &indices));
    PetscCall(ISLocalToGlobalMappingRestoreIndices(mapping, &ghosts));
  }
  PetscCall(PetscObjectCompose((PetscObject)copy, Which, (PetscObject)indices));
  PetscCall(PetscObjectCompose(object, Aside, (PetscObject)copy));
  PetscCall(ISDestroy(&indices));
  PetscCall(VecDestroy(&copy));
  PetscCall(VecGhostRestoreLocalForm(v, &local));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecGPUHasGhostsAside_Private(Vec v, PetscBool *has)
{
  PetscObject copy;

  PetscFunctionBegin;
  PetscCall(PetscObjectQuery((PetscObject)v, Aside, &copy));
  *has = (PetscBool) !!copy;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* gives a fresh VECMPI the ghosts that it had as another type */
PetscErrorCode VecGPUKeepGhosts_Private(Vec v)
{
  Vec             copy, local;
  IS              indices;
  PetscInt        many, bs;
  const PetscInt *ghosts;

  PetscFunctionBegin;
  PetscCall(PetscObjectQuery((PetscObject)v, Aside, (PetscObject *)&copy));
  if (!copy) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectReference((PetscObject)copy));
  PetscCall(PetscObjectCompose((PetscObject)v, Aside, NULL));
  PetscCall(PetscObjectQuery((PetscObject)copy, Which, (PetscObject *)&indices));
  PetscCall(ISGetLocalSize(indices, &many));
  PetscCall(ISGetIndices(indices, &ghosts));
  PetscCall(VecMPISetGhost(v, many, ghosts));
  PetscCall(ISRestoreIndices(indices, &ghosts));
  PetscCall(VecGhostGetLocalForm(v, &local));
  PetscCall(VecGetBlockSize(copy, &bs));
  PetscCall(VecSetBlockSize(local, bs));
  PetscCall(VecCopy(copy, local));
  PetscCall(VecGhostRestoreLocalForm(v, &local));
  PetscCall(VecDestroy(&copy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecGetArray_GPULocal(Vec local, PetscScalar **array)
{
  PetscFunctionBegin;
  PetscCall(VecGPUToHost_Private(GlobalOf(local)));
  PetscCall(VecGPUHostWritten_Private(GlobalOf(local)));
  *array = VecGPUHeader(local)->array;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecRestoreArray_GPULocal(Vec local, PetscScalar **array)
{
  PetscFunctionBegin;
  (void)array;
  PetscCall(VecGPUHostWritten_Private(GlobalOf(local)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecGetArrayRead_GPULocal(Vec local, const PetscScalar **array)
{
  PetscFunctionBegin;
  PetscCall(VecGPUToHost_Private(GlobalOf(local)));
  *array = VecGPUHeader(local)->array;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecRestoreArrayRead_GPULocal(Vec local, const PetscScalar **array)
{
  PetscFunctionBegin;
  (void)local;
  (void)array;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a plain VECSEQ */
static PetscErrorCode VecDuplicate_GPULocal(Vec local, Vec *copy)
{
  PetscFunctionBegin;
  PetscCall((*VecOpsBase_Local.duplicate)(local, copy));
  (*copy)->ops[0] = VecOpsBase_Local;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* of a vector that is still a VECMPI by name */
PetscErrorCode VecGPUAttachGhosts_Private(Vec v)
{
  Vec           local;
  Vec_GPULocal *l;

  PetscFunctionBegin;
  PetscCall(VecGhostGetLocalForm(v, &local));
  if (!local || local == v) PetscFunctionReturn(PETSC_SUCCESS); /* VECSEQ is its own local form */
  VecGPUState(v)->ghosted = PETSC_TRUE;
  if (VecGPUState(v)->shared) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscNew(&l));
  l->global = v;
  PetscCall(VecGPUAttachData_Private(local, l));
  /* that of a duplicate comes with the original's operations */
  if (local->ops->getarray != VecGetArray_GPULocal) VecOpsBase_Local = *local->ops;
  local->ops->getarray         = VecGetArray_GPULocal;
  local->ops->restorearray     = VecRestoreArray_GPULocal;
  local->ops->getarrayread     = VecGetArrayRead_GPULocal;
  local->ops->restorearrayread = VecRestoreArrayRead_GPULocal;
  local->ops->duplicate        = VecDuplicate_GPULocal;
  local->petscnative           = PETSC_FALSE;
  PetscCall(VecGhostRestoreLocalForm(v, &local));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecGPUGhostInitialize_Private(void)
{
  PetscFunctionBegin;
  PetscCall(PetscLogHandlerCreate(PETSC_COMM_WORLD, &Watch));
  PetscCall(PetscObjectComposeFunction((PetscObject)Watch, "PetscLogHandlerLogObjectState_C", PutAside));
  PetscCall(PetscLogHandlerStart(Watch));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecGPUGhostFinalize_Private(void)
{
  PetscFunctionBegin;
  PetscCall(PetscLogHandlerStop(Watch));
  PetscCall(PetscObjectComposeFunction((PetscObject)Watch, "PetscLogHandlerLogObjectState_C", NULL));
  PetscCall(PetscLogHandlerDestroy(&Watch));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#else /* VecGhostUpdateBegin() and its kin say of such a vector that it has no ghosts */

PetscErrorCode VecGPUHasGhostsAside_Private(Vec v, PetscBool *has)
{
  PetscFunctionBegin;
  (void)v;
  *has = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecGPUKeepGhosts_Private(Vec v)
{
  PetscFunctionBegin;
  (void)v;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecGPUAttachGhosts_Private(Vec v)
{
  PetscFunctionBegin;
  (void)v;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecGPUGhostInitialize_Private(void)
{
  PetscFunctionBegin;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecGPUGhostFinalize_Private(void)
{
  PetscFunctionBegin;
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif
