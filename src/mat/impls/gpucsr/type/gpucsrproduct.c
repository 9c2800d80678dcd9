/* MatProduct with operands of type gpucsr.  Products with a dense matrix (gpucsrdense.c), and products of sparse matrices
   (gpucsrsparse.c, mpigpucsrsparse.c), run on the device.  PETSc computes all others on the host.
   PETSc finds its functions by the exact type names of the operands, so gpucsr matrices are presented as plain AIJ meanwhile. */
#include "mat/impls/gpucsr/parallel/mpigpucsrrows.h"
#include "mat/impls/gpucsr/type/gpucsrtype.h"

/* Hides the type gpucsr from PETSc: sets the type name of the parent type, or restores the given one, and returns the former name.  Exchanges the
   pointer, not the string, because a caller may hold the pointer returned by MatGetType(). */
char *MatGPUCSRExchangeTypeName_Private(Mat A, char *name)
{
  static char plain[2][sizeof(MATSEQAIJ)] = {MATSEQAIJ, MATMPIAIJ};
  char       *former                      = ((PetscObject)A)->type_name;

  ((PetscObject)A)->type_name = name ? name : plain[((Mat_GPUCSR *)A->spptr)->mpi];
  return former;
}

/* Sets the functions of the product C, of whose operands at least one is of type gpucsr. */
PetscErrorCode MatProductSetFromOptions_GPUCSR_AnyType(Mat C)
{
  Mat_Product   *product    = C->product;
  Mat            operand[3] = {product->A, product->B, product->type == MATPRODUCT_ABC ? product->C : NULL};
  PetscBool      is[3]      = {PETSC_FALSE, PETSC_FALSE, PETSC_FALSE};
  char          *own[3]     = {NULL, NULL, NULL};
  PetscBool      found;
  PetscErrorCode err;
  PetscErrorCode (*select[3])(Mat);

  PetscFunctionBegin;
  PetscCall(MatProductSetFromOptions_GPUCSR_Dense(C, &found));
  if (found) PetscFunctionReturn(PETSC_SUCCESS);
  for (int k = 0; k < 3; k++) {
    if (!operand[k] || (k > 0 && operand[k] == operand[0]) || (k > 1 && operand[k] == operand[1])) continue;
    is[k] = MatGPUCSRIs_Private(operand[k]);
    if (!is[k]) continue;
    /* while it is composed, PETSc would call this function again, and not that of another operand */
    PetscCall(PetscObjectComposeFunction((PetscObject)operand[k], "MatProductSetFromOptions_anytype_C", NULL));
    own[k]    = MatGPUCSRExchangeTypeName_Private(operand[k], NULL);
    select[k] = operand[k]->ops->productsetfromoptions;

    operand[k]->ops->productsetfromoptions = MatGPUCSRBase_Private(operand[k])->productsetfromoptions; /* PETSc compares those of the operands */
  }
  err = MatProductSetFromOptions(C); /* an error returns after the operands have their names again */
  for (int k = 0; k < 3; k++) {
    if (!is[k]) continue;
    (void)MatGPUCSRExchangeTypeName_Private(operand[k], own[k]);
    operand[k]->ops->productsetfromoptions = select[k];
    PetscCall(PetscObjectComposeFunction((PetscObject)operand[k], "MatProductSetFromOptions_anytype_C", MatProductSetFromOptions_GPUCSR_AnyType));
  }
  PetscCall(err);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the functions of the product C of parallel matrices of type gpucsr. */
PetscErrorCode MatProductSetFromOptions_MPIAIJGPUCSR(Mat C)
{
  PetscBool found;

  PetscFunctionBegin;
  PetscCall(MatProductSetFromOptions_MPIAIJGPUCSR_Sparse(C, &found));
  if (!found) PetscCall((*MatGPUCSRBase_Private(C->product->A)->productsetfromoptions)(C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the functions of the product C of sequential matrices of type gpucsr. */
PetscErrorCode MatProductSetFromOptions_SeqAIJGPUCSR(Mat C)
{
  PetscBool found;

  PetscFunctionBegin;
  PetscCall(MatProductSetFromOptions_GPUCSR_Sparse(C, &found));
  if (!found) PetscCall((*MatGPUCSRBase_Private(C->product->A)->productsetfromoptions)(C));
  PetscFunctionReturn(PETSC_SUCCESS);
}
