/* VecSetType() and VecSetFromOptions() with the name gpu on a vector that is of type seqgpu or mpigpu already: the values stay.

   Older releases of PETSc compare the names, find them different, destroy the vector's data and call the constructor again. */
#include "vec/gpuvecimpl.h"

#if GP_COMPAT_SETTYPE_KEEPS

PetscErrorCode VecGPUKeepValues_Private(Vec v)
{
  PetscFunctionBegin;
  (void)v;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecGPUBeginType_Private(Vec v, Vec *values)
{
  PetscFunctionBegin;
  *values = NULL;
  PetscCall(PetscObjectChangeTypeName((PetscObject)v, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecGPUEndType_Private(Vec v, Vec *values)
{
  PetscFunctionBegin;
  (void)v;
  (void)values;
  PetscFunctionReturn(PETSC_SUCCESS);
}

#else

static const char Aside[] = "VecGPUValues"; /* the name under which a vector between two types holds its values */

/* VecDestroy() has given up the last reference before it calls the destructor; VecSetType() has not */
PetscErrorCode VecGPUKeepValues_Private(Vec v)
{
  Vec                copy;
  const PetscScalar *from;
  PetscScalar       *to;

  PetscFunctionBegin;
  if (((PetscObject)v)->refct <= 0 || !VecGPUState(v)->valid) PetscFunctionReturn(PETSC_SUCCESS);
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

/* The name is still that of the former type: if it is one of ours, nothing else was the vector's type since its values were put aside. */
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
