/* Block Jacobi without copies of vectors: the type bjacobi.

   If a rank has one block, PCApply() of PETSc passes the values to the block by VecGetLocalVector(), and gpu vectors then share their memory.
   With several blocks on a rank, and for the transpose and the symmetric parts, PETSc places parts of host arrays in the vectors of the blocks:
   each application copies two vectors to the host and two back.  For gpu vectors, these operations are replaced by ones that use local vectors.
   Everything else is PETSc's, also the application of one block on several ranks, whose matrix is a plain AIJ matrix. */
#include "pc/impls/bjacobi/gpubjacobi.h"
#include "pc/gpupcblocks.h"
#include "pc/gpupcderived.h"
#include "vec/gpuvecimpl.h"

/* What is applied to each block. */
typedef enum {
  PC_GPU_BLOCK_SOLVE,
  PC_GPU_BLOCK_TRANSPOSE,
  PC_GPU_BLOCK_LEFT,
  PC_GPU_BLOCK_RIGHT
} PCGPUBlock;

static PetscErrorCode (*CreateBJacobi)(PC); /* PETSc's constructor */

/* The data are the blocks, which do not exist until the first application after a set-up. */
static PetscErrorCode PCReset_GPUBJacobi(void *data)
{
  PetscFunctionBegin;
  PetscCall(PCGPUBlocksDestroy_Private((PCGPUBlocks *)data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCGPUBJacobiApplyBlock(PC pc, int what, KSP ksp, Vec x, Vec y)
{
  const PetscLogEvent event = what == PC_GPU_BLOCK_TRANSPOSE ? PC_ApplyTransposeOnBlocks : PC_ApplyOnBlocks;
  PC                  inner;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(event, ksp, x, y, 0));
  PetscCall(KSPGetPC(ksp, &inner));
  if (what == PC_GPU_BLOCK_LEFT) PetscCall(PCApplySymmetricLeft(inner, x, y));
  else if (what == PC_GPU_BLOCK_RIGHT) PetscCall(PCApplySymmetricRight(inner, x, y));
  else {
    if (what == PC_GPU_BLOCK_TRANSPOSE) PetscCall(KSPSolveTranspose(ksp, x, y));
    else PetscCall(KSPSolve(ksp, x, y));
    PetscCall(KSPCheckSolve(ksp, pc, y));
  }
  PetscCall(PetscLogEventEnd(event, ksp, x, y, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Applies the blocks of this rank, which cover its rows one after the other. */
static PetscErrorCode PCGPUBJacobiApply(PC pc, PCGPUBlock what, PetscErrorCode (*petscs)(PC, Vec, Vec), PCGPUBlocks *b, Vec x, Vec y)
{
  PetscInt n;
  KSP     *ksp;

  PetscFunctionBegin;
  if (!b->n) {
    PetscCall(PCBJacobiGetSubKSP(pc, &n, NULL, &ksp));
    PetscCall(PCGPUBlocksCreate_Private(n, ksp, b));
  }
  if (b->gpu && VecGPUIs(x) && VecGPUIs(y)) PetscCall(PCGPUBlocksApply_Private(pc, b, PCGPUBJacobiApplyBlock, what, x, y));
  else PetscCall((*petscs)(pc, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Defines an operation of the type: Name is that of the operation, op the member of struct _PCOps. */
#define PC_GPU_BJACOBI(Name, op, what) \
  static PetscErrorCode PC##Name##_GPUBJacobi(PC pc, Vec x, Vec y) \
  { \
    PCGPUBlocks         *b; \
    const struct _PCOps *petscs; \
\
    PetscFunctionBegin; \
    PetscCall(PCGPUDerivedGet_Private(pc, &b, &petscs)); \
    PetscCall(PCGPUBJacobiApply(pc, what, petscs->op, b, x, y)); \
    PetscFunctionReturn(PETSC_SUCCESS); \
  }
PC_GPU_BJACOBI(Apply, apply, PC_GPU_BLOCK_SOLVE)
PC_GPU_BJACOBI(ApplyTranspose, applytranspose, PC_GPU_BLOCK_TRANSPOSE)
PC_GPU_BJACOBI(ApplySymmetricLeft, applysymmetricleft, PC_GPU_BLOCK_LEFT)
PC_GPU_BJACOBI(ApplySymmetricRight, applysymmetricright, PC_GPU_BLOCK_RIGHT)

static PetscErrorCode PCSetUp_GPUBJacobi(PC pc, void *data)
{
  PetscInt blocks;

  PetscFunctionBegin;
  PetscCall(PCReset_GPUBJacobi(data));
  PetscCall(PCBJacobiGetLocalBlocks(pc, &blocks, NULL));
  if (blocks > 1) pc->ops->apply = PCApply_GPUBJacobi;
  if (pc->ops->applytranspose) pc->ops->applytranspose = PCApplyTranspose_GPUBJacobi;
  if (pc->ops->applysymmetricleft) pc->ops->applysymmetricleft = PCApplySymmetricLeft_GPUBJacobi;
  if (pc->ops->applysymmetricright) pc->ops->applysymmetricright = PCApplySymmetricRight_GPUBJacobi;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCCreate_GPUBJacobi(PC pc)
{
  static const PCGPUDerivedOps ops = {PCSetUp_GPUBJacobi, PCReset_GPUBJacobi, sizeof(PCGPUBlocks)};

  PetscFunctionBegin;
  PetscCall((*CreateBJacobi)(pc));
  PetscCall(PCGPUDerive_Private(pc, &ops));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGPURegisterBJacobi_Private(void)
{
  PetscFunctionBegin;
  PetscCall(PCGPURegisterDerived_Private(PCBJACOBI, &CreateBJacobi, PCCreate_GPUBJacobi));
  PetscFunctionReturn(PETSC_SUCCESS);
}
