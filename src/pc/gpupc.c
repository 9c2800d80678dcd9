/* Registers the preconditioner types. */
#include "pc/gpupc.h"
#include "pc/impls/gpupoly/gpupoly.h"

PetscErrorCode PCGPURegister_Private(void)
{
  PetscFunctionBegin;
  PetscCall(PCInitializePackage());
  PetscCall(PCRegister(PCGPUPOLY, PCCreate_GPUPoly));
  PetscCall(PetscLogEventRegister("GPUPolyBounds", PC_CLASSID, &PC_GPUPoly_Bounds));
  PetscFunctionReturn(PETSC_SUCCESS);
}
