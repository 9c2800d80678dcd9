/* Ghosted vectors of the type mpigpu, in a PETSc whose functions for ghosts accept types that derive from VECMPI.

   VECMPI stores ghosts after the values in one host array, and the local form is a VECSEQ on that array.  A gpu vector keeps this layout.
   The device holds the values only, ghosts stay on the host, and the array access of the local form first makes the host array current.

   VecSetType() and VecMPISetGhost() destroy the data of a VECMPI, with the ghosts, before they call the constructor of the new type.
   But VecDestroy_MPI() first notifies PETSc's log handlers of the vector.  A log handler of this file, which does nothing else, then
   attaches a copy of the ghosts to the vector, if only the data and not the vector itself is being destroyed. */
#include "vec/gpuvecimpl.h"

#if GP_COMPAT_GHOSTS

static const char      Aside[] = "VecGPUGhosts";  /* object composed with a vector between two types: a copy of its local form */
static const char      Which[] = "VecGPUIndices"; /* object composed with that copy: the global indices of the ghosts */
static PetscLogHandler Watch;
static struct _VecOps  VecOpsBase_Local; /* operations of a local form, before some are replaced */

static inline Vec VecGPULocalGetGlobal(Vec local)
{
  return *(Vec *)VecGPUGetAttached(local);
}

static PetscErrorCode VecGPUSaveGhosts(PetscLogHandler handler, PetscObject object, const char format[], va_list values)
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
  } else { /* a vector from VecCreateGhostBlock() has no index set of ghosts */
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

/* Restores the saved ghosts on a newly created VECMPI. */
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
  PetscCall(VecGPUToHost_Private(VecGPULocalGetGlobal(local)));
  PetscCall(VecGPUHostWritten_Private(VecGPULocalGetGlobal(local)));
  *array = VecGPUHeader(local)->array;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecRestoreArray_GPULocal(Vec local, PetscScalar **array)
{
  PetscFunctionBegin;
  (void)array;
  PetscCall(VecGPUHostWritten_Private(VecGPULocalGetGlobal(local)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecGetArrayRead_GPULocal(Vec local, const PetscScalar **array)
{
  PetscFunctionBegin;
  PetscCall(VecGPUToHost_Private(VecGPULocalGetGlobal(local)));
  *array = VecGPUHeader(local)->array;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The duplicate of a local form is a standard VECSEQ. */
static PetscErrorCode VecDuplicate_GPULocal(Vec local, Vec *copy)
{
  PetscFunctionBegin;
  PetscCall((*VecOpsBase_Local.duplicate)(local, copy));
  (*copy)->ops[0] = VecOpsBase_Local;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Replaces the array access of the local form.  v still has the type name of VECMPI. */
PetscErrorCode VecGPUAttachGhosts_Private(Vec v)
{
  Vec local, *global;

  PetscFunctionBegin;
  PetscCall(VecGhostGetLocalForm(v, &local));
  if (!local || local == v) PetscFunctionReturn(PETSC_SUCCESS); /* VECSEQ is its own local form */
  VecGPUState(v)->ghosted = PETSC_TRUE;
  if (VecGPUState(v)->shared) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscNew(&global));
  *global = v;
  PetscCall(VecGPUAttachData_Private(local, global));
  /* the local form of a duplicated vector already has the replaced operations */
  if (local->ops->getarray != VecGetArray_GPULocal) VecOpsBase_Local = *local->ops;
  local->ops->getarray         = VecGetArray_GPULocal;
  local->ops->restorearray     = VecRestoreArray_GPULocal;
  local->ops->getarrayread     = VecGetArrayRead_GPULocal;
  local->ops->restorearrayread = VecRestoreArrayRead_GPU;
  local->ops->duplicate        = VecDuplicate_GPULocal;
  local->petscnative           = PETSC_FALSE;
  PetscCall(VecGhostRestoreLocalForm(v, &local));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecGPUGhostInitialize_Private(void)
{
  PetscFunctionBegin;
  PetscCall(PetscLogHandlerCreate(PETSC_COMM_WORLD, &Watch));
  PetscCall(PetscObjectComposeFunction((PetscObject)Watch, "PetscLogHandlerLogObjectState_C", VecGPUSaveGhosts));
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

#endif
