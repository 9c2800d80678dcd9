/* Registers the preconditioner types. */
#include "pc/gpupc.h"

PetscErrorCode PCGPURegister_Private(void)
{
  PetscFunctionBegin;
  PetscCall(PCInitializePackage());
  PetscFunctionReturn(PETSC_SUCCESS);
}
