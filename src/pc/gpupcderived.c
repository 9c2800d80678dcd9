/* Preconditioner types that derive from a type of PETSc: see gpupcderived.h. */
#include "pc/gpupcderived.h"

typedef struct {
  const PCGPUDerivedOps *ops;
  struct _PCOps          petscs; /* PETSc's operations; its set-up may change them */
  void                  *data;
} PC_GPUDerived;

static const char Attached[] = "PCGPUDerived"; /* name of the object composed with the preconditioner: a container of the PC_GPUDerived */

static PetscErrorCode PCGPUDerivedFind(PC pc, PC_GPUDerived **d)
{
  PetscContainer container;

  PetscFunctionBegin;
  PetscCall(PetscObjectQuery((PetscObject)pc, Attached, (PetscObject *)&container));
  PetscCheck(container, PetscObjectComm((PetscObject)pc), PETSC_ERR_PLIB, "The preconditioner of type %s has lost the data that gpucsr attached to it", ((PetscObject)pc)->type_name);
  PetscCall(PetscContainerGetPointer(container, (void **)d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGPUDerivedGet_Private(PC pc, void *data, const struct _PCOps **petscs)
{
  PC_GPUDerived *d;

  PetscFunctionBegin;
  PetscCall(PCGPUDerivedFind(pc, &d));
  *(void **)data = d->data;
  *petscs        = &d->petscs;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCReset_GPUDerived(PC pc)
{
  PC_GPUDerived *d;

  PetscFunctionBegin;
  PetscCall(PCGPUDerivedFind(pc, &d));
  PetscCall((*d->ops->reset)(d->data));
  if (d->petscs.reset) PetscCall((*d->petscs.reset)(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCDestroy_GPUDerived(PC pc)
{
  PC_GPUDerived *d;

  PetscFunctionBegin;
  PetscCall(PCGPUDerivedFind(pc, &d));
  PetscCall((*d->ops->reset)(d->data));
  if (d->petscs.destroy) PetscCall((*d->petscs.destroy)(pc));
  PetscCall(PetscFree(d->data));
  PetscCall(PetscObjectCompose((PetscObject)pc, Attached, NULL)); /* frees d */
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetUp_GPUDerived(PC);

/* Remembers the operations that PETSc has set, and replaces those that every derived type replaces. */
static void PCGPUDerivedTakeOver(PC pc, PC_GPUDerived *d)
{
  d->petscs        = *pc->ops;
  pc->ops->setup   = PCSetUp_GPUDerived;
  pc->ops->reset   = PCReset_GPUDerived;
  pc->ops->destroy = PCDestroy_GPUDerived;
}

/* PETSc's set-up finds its own operations in place, and may replace them. */
static PetscErrorCode PCSetUp_GPUDerived(PC pc)
{
  PC_GPUDerived *d;
  PetscErrorCode error = PETSC_SUCCESS;

  PetscFunctionBegin;
  PetscCall(PCGPUDerivedFind(pc, &d));
  *pc->ops = d->petscs;
  if (d->petscs.setup) error = (*d->petscs.setup)(pc);
  PCGPUDerivedTakeOver(pc, d);
  PetscCall(error);
  PetscCall((*d->ops->setup)(pc, d->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGPUDerive_Private(PC pc, const PCGPUDerivedOps *ops)
{
  PC_GPUDerived *d;
  PetscContainer container;

  PetscFunctionBegin;
  PetscCall(PetscNew(&d));
  PetscCall(PetscCalloc1(ops->size, (char **)&d->data));
  d->ops = ops;
  PCGPUDerivedTakeOver(pc, d);
  PetscCall(PetscContainerCreate(PETSC_COMM_SELF, &container));
  PetscCall(PetscContainerSetPointer(container, d));
  PetscCall(GpCompatContainerSetFree(container));
  PetscCall(PetscObjectCompose((PetscObject)pc, Attached, (PetscObject)container));
  PetscCall(PetscContainerDestroy(&container));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGPURegisterDerived_Private(const char type[], PetscErrorCode (**petscs)(PC), PetscErrorCode (*ours)(PC))
{
  PetscErrorCode (*found)(PC) = NULL;

  PetscFunctionBegin;
  PetscCall(PetscFunctionListFind(PCList, type, &found));
  if (!found || found == ours) PetscFunctionReturn(PETSC_SUCCESS);
  *petscs = found;
  PetscCall(PCRegister(type, ours));
  PetscFunctionReturn(PETSC_SUCCESS);
}
