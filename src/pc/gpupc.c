/* Registers the preconditioner types. */
#include "pc/gpupc.h"
#include "pc/impls/gpupoly/gpupoly.h"
#include "pc/impls/bjacobi/gpubjacobi.h"
#include "pc/impls/gasm/gpugasm.h"
#include "pc/impls/pbjacobi/gpupbjacobi.h"
#include "pc/impls/gpufsai/gpufsai.h"
#include "pc/impls/gpuspai/gpuspai.h"
#include "pc/impls/gpuamg/gpuamg.h"

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
  PetscCall(PCRegister(PCGPUAMG, PCCreate_GPUAMG));
  PetscCall(PetscLogEventRegister("GPUAMGSetUp", PC_CLASSID, &PC_GPUAMG_SetUp));
  PetscCall(PetscLogEventRegister("GPUAMGAggregate", PC_CLASSID, &PC_GPUAMG_Aggregate));
  PetscCall(PetscLogEventRegister("GPUAMGGalerkin", PC_CLASSID, &PC_GPUAMG_Galerkin));
  PetscCall(PetscLogEventRegister("GPUAMGCoarse", PC_CLASSID, &PC_GPUAMG_Coarse));
  PetscCall(PetscLogEventRegister("GPUAMGGraph", PC_CLASSID, &PC_GPUAMG_Graph));
  PetscCall(PetscLogEventRegister("GPUAMGProlong", PC_CLASSID, &PC_GPUAMG_Prolong));
  PetscCall(PetscLogEventRegister("GPUAMGEstimate", PC_CLASSID, &PC_GPUAMG_Estimate));
  PetscFunctionReturn(PETSC_SUCCESS);
}
