/* Operations that derive a matrix from another one.  The new matrix inherits the options; the options database is not read again. */
#include "mat/impls/gpucsr/type/gpucsrtype.h"

PetscErrorCode MatDuplicate_GPUCSR(Mat A, MatDuplicateOption option, Mat *B)
{
  Mat_GPUCSR *g = (Mat_GPUCSR *)A->spptr;

  PetscFunctionBegin;
  PetscCall((*MatGPUCSRBase_Private(A)->duplicate)(A, option, B)); /* creates a matrix of type gpucsr and copies the values */
  if (!g || !MatGPUCSRIs_Private(*B)) PetscFunctionReturn(PETSC_SUCCESS);
  ((Mat_GPUCSR *)(*B)->spptr)->options = g->options;
  if (g->setvectype) PetscCall(MatGPUCSRSetVecType(*B, A->defaultvectype));
  if (!g->mpi) {
    ((Mat_SeqAIJGPUCSR *)(*B)->spptr)->typed = ((Mat_SeqAIJGPUCSR *)g)->typed;
    PetscCall(MatGPUCSRSetDiagonalBlock_Private(*B)); /* duplication has set the function of the parent type */
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* MAT_INPLACE_MATRIX replaces the contents of A, including its options, by those of a new matrix; so the options are saved before. */
static PetscErrorCode MatTranspose_GPUCSR(Mat A, MatReuse reuse, Mat *B)
{
  Mat_GPUCSR      *g       = (Mat_GPUCSR *)A->spptr;
  MatGPUCSROptions options = {0};

  PetscFunctionBegin;
  if (g) options = g->options;
  PetscCall((*MatGPUCSRBase_Private(A)->transpose)(A, reuse, B));
  if (g && reuse != MAT_REUSE_MATRIX) PetscCall(MatGPUCSRApplyOptions_Private(&options, *B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatCreateSubMatrix_GPUCSR(Mat A, IS rows, IS columns, MatReuse reuse, Mat *B)
{
  PetscFunctionBegin;
  PetscCall((*MatGPUCSRBase_Private(A)->createsubmatrix)(A, rows, columns, reuse, B));
  if (A->spptr && reuse == MAT_INITIAL_MATRIX) PetscCall(MatGPUCSRApplyOptions_Private(&((Mat_GPUCSR *)A->spptr)->options, *B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* MatCreateSubMatrix() of a sequential matrix calls this function. */
static PetscErrorCode MatCreateSubMatrices_GPUCSR(Mat A, PetscInt n, const IS rows[], const IS columns[], MatReuse reuse, Mat *B[])
{
  PetscFunctionBegin;
  PetscCall((*MatGPUCSRBase_Private(A)->createsubmatrices)(A, n, rows, columns, reuse, B));
  for (PetscInt k = 0; A->spptr && reuse == MAT_INITIAL_MATRIX && k < n; k++) PetscCall(MatGPUCSRApplyOptions_Private(&((Mat_GPUCSR *)A->spptr)->options, (*B)[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Replaces the operations that derive a new matrix, if the parent type has them. */
PetscErrorCode MatGPUCSRSetDerived_Private(Mat A)
{
  PetscFunctionBegin;
  A->ops->duplicate = MatDuplicate_GPUCSR;
  if (A->ops->transpose) A->ops->transpose = MatTranspose_GPUCSR;
  if (A->ops->createsubmatrix) A->ops->createsubmatrix = MatCreateSubMatrix_GPUCSR;
  if (A->ops->createsubmatrices) A->ops->createsubmatrices = MatCreateSubMatrices_GPUCSR;
  PetscFunctionReturn(PETSC_SUCCESS);
}
