/* Operations of a parallel matrix that MATMPIAIJ does not compute by calling the same operation of its blocks. */
#include "mat/impls/gpucsr/parallel/mpigpucsr.h"

/* PETSc adds the diagonal entries one by one and assembles, which increases the object states of both blocks.  The values of the off-diagonal
   block do not change: its image is scaled by 1. */
PetscErrorCode MatShift_MPIAIJGPUCSR(Mat A, PetscScalar a)
{
  Mat  block[2];
  GpOp op[2] = {NULL, NULL};

  PetscFunctionBegin;
  if (A->spptr && A->assembled && A->rmap->rstart == A->cmap->rstart && A->rmap->rend == A->cmap->rend) {
    PetscCall(MatMPIAIJGPUCSRGetBlocks_Private(A, block, NULL));
    for (int b = 0; b < 2; b++) PetscCall(MatSeqAIJGPUCSRGetCurrent_Private(block[b], &op[b]));
  }
  PetscCall((*MatGPUCSRBase_Private(A)->shift)(A, a));
  for (int b = 0; b < 2; b++) {
    if (op[b]) PetscCall(MatSeqAIJGPUCSRUpdate_Private(block[b], &(GpCsrUpdate){.kind = b ? GP_UPDATE_SCALE : GP_UPDATE_SHIFT, .factor = b ? 1 : a}, NULL, 0));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc calls the operations of the blocks directly, so that their object states do not increase, and that of the off-diagonal block twice: with
   the left vector and with the ghost entries of the right one.  The blocks therefore only store the vectors; their images are updated here. */
PetscErrorCode MatDiagonalScale_MPIAIJGPUCSR(Mat A, Vec left, Vec right)
{
  Mat            block[2];
  GpOp           op[2];
  Vec            factors[2][2] = {{NULL, NULL}, {NULL, NULL}};
  PetscErrorCode err;

  PetscFunctionBegin;
  if (!A->spptr) {
    PetscCall((*MatGPUCSRBase_Private(A)->diagonalscale)(A, left, right));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatMPIAIJGPUCSRGetBlocks_Private(A, block, NULL));
  for (int b = 0; b < 2; b++) {
    PetscCall(MatSeqAIJGPUCSRGetCurrent_Private(block[b], &op[b]));
    ((Mat_SeqAIJGPUCSR *)block[b]->spptr)->factors = factors[b];
  }
  err = (*MatGPUCSRBase_Private(A)->diagonalscale)(A, left, right);
  for (int b = 0; b < 2; b++) ((Mat_SeqAIJGPUCSR *)block[b]->spptr)->factors = NULL;
  PetscCall(err);
  for (int b = 0; b < 2; b++) {
    if (op[b]) PetscCall(MatSeqAIJGPUCSRUpdateDiagonalScale_Private(block[b], factors[b][0], factors[b][1], 0));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatBindToCPU_MPIAIJGPUCSR(Mat A, PetscBool bind)
{
  Mat block[2];

  PetscFunctionBegin;
  if (A->spptr && A->assembled) {
    PetscCall(MatMPIAIJGPUCSRGetBlocks_Private(A, block, NULL));
    for (int b = 0; b < 2; b++) PetscCall(MatBindToCPU(block[b], bind));
  }
  PetscCall(MatBindToCPU_GPUCSR(A, bind));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc calls the operation of the diagonal block, which must have the options of the matrix. */
PetscErrorCode MatSOR_MPIAIJGPUCSR(Mat A, Vec b, PetscReal omega, MatSORType flag, PetscReal shift, PetscInt its, PetscInt lits, Vec x)
{
  Mat block[2];

  PetscFunctionBegin;
  if (A->spptr) PetscCall(MatMPIAIJGPUCSRGetBlocks_Private(A, block, NULL));
  PetscCall((*MatGPUCSRBase_Private(A)->sor)(A, b, omega, flag, shift, its, lits, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}
