/* MatProduct looks for functions by the exact type names of the matrices: here ours are presented as the plain AIJ they are
   underneath, and the work is PETSc's. */
#include "mat/impls/gpucsr/gpucsrimpl.h"

/* puts the parent's type name on one of our matrices, or ours back; leaves others alone */
PetscErrorCode MatGPUCSRPresent_Private(Mat A, PetscBool plain)
{
  PetscBool is, mpi;

  PetscFunctionBegin;
  if (!A) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGPUCSRIs_Private(A, &is));
  if (!is) PetscFunctionReturn(PETSC_SUCCESS);
  mpi = ((Mat_GPUCSR *)A->spptr)->mpi;
  PetscCall(PetscObjectChangeTypeName((PetscObject)A, plain ? (mpi ? MATMPIAIJ : MATSEQAIJ) : (mpi ? MATMPIAIJGPUCSR : MATSEQAIJGPUCSR)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* C = product of matrices some of which are ours */
PetscErrorCode MatProductSetFromOptions_GPUCSR_AnyType(Mat C)
{
  Mat_Product *product    = C->product;
  Mat          operand[3] = {product->A, product->B, product->type == MATPRODUCT_ABC ? product->C : NULL};
  PetscBool    is[3]      = {PETSC_FALSE, PETSC_FALSE, PETSC_FALSE};

  PetscFunctionBegin;
  for (int k = 0; k < 3; k++) {
    if (!operand[k]) continue;
    PetscCall(MatGPUCSRIs_Private(operand[k], &is[k]));
    /* ours would hide another operand's function of this name, and call itself */
    if (is[k]) PetscCall(PetscObjectComposeFunction((PetscObject)operand[k], "MatProductSetFromOptions_anytype_C", NULL));
  }
  for (int k = 0; k < 3; k++) PetscCall(MatGPUCSRPresent_Private(operand[k], PETSC_TRUE));
  PetscCall(MatProductSetFromOptions(C));
  for (int k = 0; k < 3; k++) {
    PetscCall(MatGPUCSRPresent_Private(operand[k], PETSC_FALSE));
    if (is[k]) PetscCall(PetscObjectComposeFunction((PetscObject)operand[k], "MatProductSetFromOptions_anytype_C", MatProductSetFromOptions_GPUCSR_AnyType));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
