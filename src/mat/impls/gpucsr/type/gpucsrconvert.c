/* MatConvert() from the types gpucsr.  It is a matrix operation, not a composed function: PETSc copies composed functions to factors, which may exist
   longer than the matrix. */
#include "mat/impls/gpucsr/type/gpucsrtype.h"

/* Converts any matrix to plain AIJ. */
PetscErrorCode MatGPUCSRConvertToPlain_Private(Mat A, MatType base, MatReuse reuse, Mat *B)
{
  PetscErrorCode err;

  PetscFunctionBegin;
  MatGPUCSRKeepPlain_Private++;
  err = MatConvert(A, base, reuse, B);
  MatGPUCSRKeepPlain_Private--; /* must be reset before an error returns */
  PetscCall(err);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Converts to plain AIJ by detaching.  Conversions to other types are done by PETSc, to which the matrix is presented as plain AIJ. */
PetscErrorCode MatConvert_GPUCSR(Mat A, MatType type, MatReuse reuse, Mat *B)
{
  PetscErrorCode (*convert)(Mat, MatType, MatReuse, Mat *) = A->ops->convert;
  const PetscBool mpi                                      = ((Mat_GPUCSR *)A->spptr)->mpi;
  PetscBool       aij, base = PETSC_FALSE, is;
  char           *own;
  PetscErrorCode  err;

  PetscFunctionBegin;
  PetscCall(PetscStrcmp(type, MATAIJ, &aij));
  PetscCall(PetscStrcmp(type, mpi ? MATMPIAIJ : MATSEQAIJ, &base));
  if (aij || base) {
    if (reuse == MAT_REUSE_MATRIX) PetscCall(MatCopy(A, *B, SAME_NONZERO_PATTERN));
    if (reuse == MAT_INITIAL_MATRIX) PetscCall(MatDuplicate(A, MAT_COPY_VALUES, B));
    if (reuse != MAT_REUSE_MATRIX) PetscCall(MatGPUCSRDetach_Private(*B));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  A->ops->convert = MatGPUCSRBase_Private(A)->convert;
  if (reuse == MAT_INPLACE_MATRIX) { /* PETSc frees the type name together with the replaced contents, so it must own the name */
    PetscCall(PetscObjectChangeTypeName((PetscObject)A, mpi ? MATMPIAIJ : MATSEQAIJ));
    err = MatConvert(A, type, reuse, B); /* an error returns after A has its name again */
    is  = MatGPUCSRIs_Private(A);
    if (is) PetscCall(PetscObjectChangeTypeName((PetscObject)A, mpi ? MATMPIAIJGPUCSR : MATSEQAIJGPUCSR));
  } else {
    own = MatGPUCSRExchangeTypeName_Private(A, NULL);
    err = MatConvert(A, type, reuse, B);
    (void)MatGPUCSRExchangeTypeName_Private(A, own);
    is = PETSC_TRUE;
  }
  if (is) A->ops->convert = convert;
  PetscCall(err);
  PetscFunctionReturn(PETSC_SUCCESS);
}
