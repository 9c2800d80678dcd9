#include "pc/gpupcblocks.h"
#include "vec/gpuvecimpl.h"

PetscErrorCode PCGPUBlocksCreate_Private(PetscInt n, KSP ksp[], PCGPUBlocks *b)
{
  PetscFunctionBegin;
  b->n   = n;
  b->ksp = ksp;
  b->gpu = PETSC_TRUE;
  PetscCall(PetscMalloc2(n, &b->x, n, &b->y));
  for (PetscInt k = 0; k < n; k++) {
    Mat A;

    PetscCall(KSPGetOperators(ksp[k], NULL, &A));
    PetscCall(MatCreateVecs(A, &b->y[k], &b->x[k]));
    b->gpu = (PetscBool)(b->gpu && VecGPUIs(b->x[k]) && VecGPUIs(b->y[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGPUBlocksDestroy_Private(PCGPUBlocks *b)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < b->n; k++) {
    PetscCall(VecDestroy(&b->x[k]));
    PetscCall(VecDestroy(&b->y[k]));
  }
  PetscCall(PetscFree2(b->x, b->y));
  *b = (PCGPUBlocks){0};
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGPUBlocksApply_Private(PC pc, const PCGPUBlocks *b, PCGPUBlockFn apply, int what, Vec x, Vec y)
{
  PetscInt start = 0, n;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < b->n; k++) {
    PetscCall(VecGPUBeginLocal_Private(x, start, b->x[k]));
    PetscCall(VecLockReadPush(b->x[k]));
    PetscCall(VecGPUBeginLocal_Private(y, start, b->y[k]));
    PetscCall((*apply)(pc, what, b->ksp[k], b->x[k], b->y[k]));
    PetscCall(VecGetLocalSize(b->x[k], &n));
    start += n;
    PetscCall(VecLockReadPop(b->x[k]));
    PetscCall(VecGPUEndLocal_Private(b->x[k]));
    PetscCall(VecGPUEndLocal_Private(b->y[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
