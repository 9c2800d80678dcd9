/* Block Jacobi without copies of vectors: the type bjacobi.

   If a rank has one block, PCApply() of PETSc passes the values to the block by VecGetLocalVector(), and gpu vectors then share their memory.
   With several blocks on a rank, and for the transpose and the symmetric parts, PETSc places parts of host arrays in the vectors of the blocks:
   each application copies two vectors to the host and two back.  For gpu vectors, these operations are replaced by ones that use local vectors.
   Everything else is PETSc's, also the application of one block on several ranks, whose matrix is a plain AIJ matrix. */
#include "pc/impls/bjacobi/gpubjacobi.h"
#include "pc/gpupcderived.h"
#include "vec/gpuvecimpl.h"
#include <petscksp.h>

typedef struct {
  PetscInt  n; /* number of blocks on this rank; 0 until the first application after a set-up */
  KSP      *ksp;
  Vec      *x, *y; /* local vectors of the blocks */
  PetscBool gpu;   /* all of them are of type gpu */
} PC_GPUBJacobi;

/* What is applied to each block. */
typedef enum {
  PC_GPU_BLOCK_SOLVE,
  PC_GPU_BLOCK_TRANSPOSE,
  PC_GPU_BLOCK_LEFT,
  PC_GPU_BLOCK_RIGHT
} PCGPUBlock;

static PetscErrorCode (*CreateBJacobi)(PC); /* PETSc's constructor */

static PetscErrorCode PCReset_GPUBJacobi(void *data)
{
  PC_GPUBJacobi *b = (PC_GPUBJacobi *)data;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < b->n; k++) {
    PetscCall(VecDestroy(&b->x[k]));
    PetscCall(VecDestroy(&b->y[k]));
  }
  PetscCall(PetscFree2(b->x, b->y));
  b->n = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCGPUBJacobiCreateVecs(PC pc, PC_GPUBJacobi *b)
{
  PetscFunctionBegin;
  PetscCall(PCBJacobiGetSubKSP(pc, &b->n, NULL, &b->ksp));
  PetscCall(PetscMalloc2(b->n, &b->x, b->n, &b->y));
  b->gpu = PETSC_TRUE;
  for (PetscInt k = 0; k < b->n; k++) {
    Mat A;

    PetscCall(KSPGetOperators(b->ksp[k], NULL, &A));
    PetscCall(MatCreateVecs(A, &b->y[k], &b->x[k]));
    b->gpu = (PetscBool)(b->gpu && VecGPUIs(b->x[k]) && VecGPUIs(b->y[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCGPUBJacobiApplyBlock(PC pc, PCGPUBlock what, KSP ksp, Vec x, Vec y)
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
static PetscErrorCode PCGPUBJacobiApply(PC pc, PCGPUBlock what, PetscErrorCode (*petscs)(PC, Vec, Vec), PC_GPUBJacobi *b, Vec x, Vec y)
{
  PetscInt start = 0, n;

  PetscFunctionBegin;
  if (!b->n) PetscCall(PCGPUBJacobiCreateVecs(pc, b));
  if (!b->gpu || !VecGPUIs(x) || !VecGPUIs(y)) {
    PetscCall((*petscs)(pc, x, y));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt k = 0; k < b->n; k++) {
    PetscCall(VecGPUBeginLocal_Private(x, start, b->x[k]));
    PetscCall(VecLockReadPush(b->x[k]));
    PetscCall(VecGPUBeginLocal_Private(y, start, b->y[k]));
    PetscCall(PCGPUBJacobiApplyBlock(pc, what, b->ksp[k], b->x[k], b->y[k]));
    PetscCall(VecGetLocalSize(b->x[k], &n));
    start += n;
    PetscCall(VecLockReadPop(b->x[k]));
    PetscCall(VecGPUEndLocal_Private(b->x[k]));
    PetscCall(VecGPUEndLocal_Private(b->y[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Defines an operation of the type: Name is that of the operation, op the member of struct _PCOps. */
#define PC_GPU_BJACOBI(Name, op, what) \
  static PetscErrorCode PC##Name##_GPUBJacobi(PC pc, Vec x, Vec y) \
  { \
    PC_GPUBJacobi       *b; \
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
  static const PCGPUDerivedOps ops = {PCSetUp_GPUBJacobi, PCReset_GPUBJacobi, sizeof(PC_GPUBJacobi)};

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
