/* Registers the preconditioner types. */
#include "pc/gpupc.h"
#include "pc/impls/gpupoly/gpupoly.h"
#include "pc/impls/bjacobi/gpubjacobi.h"
#include "pc/impls/gasm/gpugasm.h"
#include "pc/impls/pbjacobi/gpupbjacobi.h"
#include "pc/impls/gpufsai/gpufsai.h"
#include "pc/impls/gpuspai/gpuspai.h"

PetscErrorCode PCGPURegister_Private(void)
{
  PetscFunctionBegin;
  PetscCall(PCInitializePackage());
  PetscCall(PCRegister(PCGPUPOLY, PCCreate_GPUPoly));
  PetscCall(PetscLogEventRegister("GPUPolyBounds", PC_CLASSID, &PC_GPUPoly_Bounds));
  PetscCall(PCGPURegisterBJacobi_Private());
  PetscCall(PCGPURegisterGASM_Private());
  PetscCall(PCGPURegisterPBJacobi_Private());
  PetscCall(PCRegister(PCGPUFSAI, PCCreate_GPUFSAI));
  PetscCall(PCRegister(PCGPUSPAI, PCCreate_GPUSPAI));
  PetscCall(PetscLogEventRegister("GPUFSAISetUp", PC_CLASSID, &PC_GPUFSAI_SetUp));
  PetscCall(PetscLogEventRegister("GPUSPAISetUp", PC_CLASSID, &PC_GPUSPAI_SetUp));
  PetscFunctionReturn(PETSC_SUCCESS);
}
