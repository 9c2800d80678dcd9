/* Keeps the values if VecSetType() or VecSetFromOptions() sets the type gpu on a vector that is already of type seqgpu or mpigpu.

   Older releases of PETSc compare the names, find them different, destroy the data of the vector and call the constructor again.  The
   destructor then attaches a copy of the values to the object, and the constructor takes them back. */
#include "vec/gpuvecimpl.h"

#if !GP_COMPAT_SETTYPE_KEEPS

static const char Aside[] = "VecGPUValues"; /* name of the composed object that holds the values between destructor and constructor */

/* Called by the destructor.  VecDestroy() calls it with a reference count of zero, VecSetType() with a positive one. */
PetscErrorCode VecGPUKeepValues_Private(Vec v)
{
  Vec                copy;
  const PetscScalar *from;
  PetscScalar       *to;

  PetscFunctionBegin;
  if (((PetscObject)v)->refct <= 0 || !VecGPUGetValid(v)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, v->map->n, &copy));
  PetscCall(VecGPUToHost_Private(v));
  from = VecGPUHeader(v)->array;
  PetscCall(VecGetArrayWrite(copy, &to));
  PetscCall(PetscArraycpy(to, from, v->map->n));
  PetscCall(VecRestoreArrayWrite(copy, &to));
  PetscCall(PetscObjectCompose((PetscObject)v, Aside, (PetscObject)copy));
  PetscCall(VecDestroy(&copy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Called at the start of the constructor, when the type name is still the old one.  If that is a gpu type, the vector has had no other type
   since its values were saved, and they are used. */
PetscErrorCode VecGPUBeginType_Private(Vec v, Vec *values)
{
  PetscBool ours;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)v, &ours, VECSEQGPU, VECMPIGPU, ""));
  PetscCall(PetscObjectQuery((PetscObject)v, Aside, (PetscObject *)values));
  if (*values) {
    if (ours) PetscCall(PetscObjectReference((PetscObject)*values));
    PetscCall(PetscObjectCompose((PetscObject)v, Aside, NULL));
    if (!ours) *values = NULL;
  }
  PetscCall(PetscObjectChangeTypeName((PetscObject)v, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecGPUEndType_Private(Vec v, Vec *values)
{
  const PetscScalar *from;
  PetscScalar       *to;

  PetscFunctionBegin;
  if (!*values) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGetArrayRead(*values, &from));
  PetscCall(VecGetArrayWrite(v, &to));
  PetscCall(PetscArraycpy(to, from, v->map->n));
  PetscCall(VecRestoreArrayWrite(v, &to));
  PetscCall(VecRestoreArrayRead(*values, &from));
  PetscCall(VecDestroy(values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif
