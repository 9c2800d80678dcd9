/* MatProduct looks for functions by the exact type names of the matrices: here ours are presented as the plain AIJ they are
   underneath, and the work is PETSc's; unless it is a product with a dense matrix (gpucsrdense.c). */
#include "mat/impls/gpucsr/gpucsrimpl.h"

/* Lends one of our matrices its parent's type name and gives back its own, to be put back by MatGPUCSRPresentAgain_Private().
   The pointer is exchanged, not the string: someone may hold what MatGetType() gave. */
PetscErrorCode MatGPUCSRPresent_Private(Mat A, char **own)
{
  static char plain[2][sizeof(MATSEQAIJ)] = {MATSEQAIJ, MATMPIAIJ};

  PetscFunctionBegin;
  *own                        = ((PetscObject)A)->type_name;
  ((PetscObject)A)->type_name = plain[((Mat_GPUCSR *)A->spptr)->mpi ? 1 : 0];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatGPUCSRPresentAgain_Private(Mat A, char *own)
{
  PetscFunctionBegin;
  ((PetscObject)A)->type_name = own;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* C = product of matrices some of which are ours */
PetscErrorCode MatProductSetFromOptions_GPUCSR_AnyType(Mat C)
{
  Mat_Product *product    = C->product;
  Mat          operand[3] = {product->A, product->B, product->type == MATPRODUCT_ABC ? product->C : NULL};
  PetscBool    is[3]      = {PETSC_FALSE, PETSC_FALSE, PETSC_FALSE};
  char        *own[3]     = {NULL, NULL, NULL};
  PetscBool    found;

  PetscFunctionBegin;
  PetscCall(MatProductSetFromOptions_GPUCSR_Dense(C, &found));
  if (found) PetscFunctionReturn(PETSC_SUCCESS);
  for (int k = 0; k < 3; k++) {
    if (!operand[k] || (k > 0 && operand[k] == operand[0]) || (k > 1 && operand[k] == operand[1])) continue;
    PetscCall(MatGPUCSRIs_Private(operand[k], &is[k]));
    if (!is[k]) continue;
    /* ours would hide another operand's function of this name, and call itself */
    PetscCall(PetscObjectComposeFunction((PetscObject)operand[k], "MatProductSetFromOptions_anytype_C", NULL));
    PetscCall(MatGPUCSRPresent_Private(operand[k], &own[k]));
  }
  PetscCall(MatProductSetFromOptions(C));
  for (int k = 0; k < 3; k++) {
    if (!is[k]) continue;
    PetscCall(MatGPUCSRPresentAgain_Private(operand[k], own[k]));
    PetscCall(PetscObjectComposeFunction((PetscObject)operand[k], "MatProductSetFromOptions_anytype_C", MatProductSetFromOptions_GPUCSR_AnyType));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
