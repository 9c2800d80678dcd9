/* Factorisation in the matrix's own place: its values are given up, so it first becomes the plain AIJ it is underneath. */
#include "mat/impls/gpucsr/gpucsrimpl.h"

static PetscErrorCode MatLUFactor_SeqAIJGPUCSR(Mat A, IS row, IS column, const MatFactorInfo *info)
{
  PetscFunctionBegin;
  PetscCall(MatGPUCSRDetach_Private(A, MATSEQAIJ));
  PetscCall((*A->ops->lufactor)(A, row, column, info));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatILUFactor_SeqAIJGPUCSR(Mat A, IS row, IS column, const MatFactorInfo *info)
{
  PetscFunctionBegin;
  PetscCall(MatGPUCSRDetach_Private(A, MATSEQAIJ));
  PetscCall((*A->ops->ilufactor)(A, row, column, info));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatCholeskyFactor_SeqAIJGPUCSR(Mat A, IS permutation, const MatFactorInfo *info)
{
  PetscFunctionBegin;
  PetscCall(MatGPUCSRDetach_Private(A, MATSEQAIJ));
  PetscCall((*A->ops->choleskyfactor)(A, permutation, info));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatICCFactor_SeqAIJGPUCSR(Mat A, IS permutation, const MatFactorInfo *info)
{
  PetscFunctionBegin;
  PetscCall(MatGPUCSRDetach_Private(A, MATSEQAIJ));
  PetscCall((*A->ops->iccfactor)(A, permutation, info));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* where the parent has the operation (parallel AIJ has none of them) */
PetscErrorCode MatGPUCSRSetFactors_Private(Mat A)
{
  PetscFunctionBegin;
  if (A->ops->lufactor) A->ops->lufactor = MatLUFactor_SeqAIJGPUCSR;
  if (A->ops->ilufactor) A->ops->ilufactor = MatILUFactor_SeqAIJGPUCSR;
  if (A->ops->choleskyfactor) A->ops->choleskyfactor = MatCholeskyFactor_SeqAIJGPUCSR;
  if (A->ops->iccfactor) A->ops->iccfactor = MatICCFactor_SeqAIJGPUCSR;
  PetscFunctionReturn(PETSC_SUCCESS);
}
