/* MatConvert() from and to the types gpucsr.  The functions are matrix operations, not composed functions: PETSc copies composed functions to
   factors, which may exist longer than the matrix. */
#include "mat/impls/gpucsr/image/gpucsrimpl.h"

/* Gets the parent type of the type name, and whether A is of that type.  MATMPIAIJGPUCSR can be requested on one process too. */
static PetscErrorCode MatGPUCSRPlainOf(Mat A, MatType type, MatType *base, PetscBool *plain)
{
  PetscBool seq, mpi;

  PetscFunctionBegin;
  PetscCall(PetscStrcmp(type, MATSEQAIJGPUCSR, &seq));
  PetscCall(PetscStrcmp(type, MATMPIAIJGPUCSR, &mpi));
  *base = seq ? MATSEQAIJ : mpi ? MATMPIAIJ : MATAIJ;
  if (seq || mpi) PetscCall(PetscObjectTypeCompare((PetscObject)A, *base, plain));
  else PetscCall(PetscObjectTypeCompareAny((PetscObject)A, plain, MATSEQAIJ, MATMPIAIJ, ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscInt MatGPUCSRStayPlain = 0;

static PetscErrorCode MatGPUCSRConvertToPlain(Mat A, MatType base, MatReuse reuse, Mat *B)
{
  PetscErrorCode err;

  PetscFunctionBegin;
  MatGPUCSRStayPlain++;
  err = MatConvert(A, base, reuse, B);
  MatGPUCSRStayPlain--; /* must be reset before an error returns */
  PetscCall(err);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Turns a plain AIJ matrix into one of type gpucsr.  Does nothing if it is one: -mat_seqaij_type may have converted it. */
PetscErrorCode MatGPUCSRAttachTo_Private(Mat A)
{
  PetscBool is, mpi;

  PetscFunctionBegin;
  PetscCall(MatGPUCSRIs_Private(A, &is));
  if (is) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATMPIAIJ, &mpi));
  PetscCall(mpi ? MatGPUCSRAttach_MPI_Private(A) : MatGPUCSRAttach_Private(A, MATSEQAIJ));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Converts a matrix of any type to gpucsr, through plain AIJ. */
PetscErrorCode MatConvertFrom_GPUCSR(Mat A, MatType type, MatReuse reuse, Mat *B)
{
  MatType   base = MATAIJ;
  PetscBool plain, ours;

  PetscFunctionBegin;
  PetscCall(MatGPUCSRPlainOf(A, type, &base, &plain));
  PetscCall(MatGPUCSRIs_Private(A, &ours));
  if (reuse == MAT_REUSE_MATRIX) {
    Mat aij = A;

    if (!plain) PetscCall(MatGPUCSRConvertToPlain(A, base, MAT_INITIAL_MATRIX, &aij));
    PetscCall(MatCopy(aij, *B, SAME_NONZERO_PATTERN));
    if (!plain) PetscCall(MatDestroy(&aij));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!plain) PetscCall(MatGPUCSRConvertToPlain(A, base, reuse, B));
  else if (reuse == MAT_INITIAL_MATRIX) PetscCall(MatDuplicate(A, MAT_COPY_VALUES, B));
  PetscCall(MatGPUCSRAttachTo_Private(*B));
  if (ours && reuse == MAT_INITIAL_MATRIX) PetscCall(MatGPUCSRCopyOptions_Private(&((Mat_GPUCSR *)A->spptr)->options, *B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatConvert_GPUCSR_AIJ(Mat A, MatReuse reuse, Mat *B)
{
  PetscFunctionBegin;
  if (reuse == MAT_REUSE_MATRIX) {
    PetscCall(MatCopy(A, *B, SAME_NONZERO_PATTERN));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (reuse == MAT_INITIAL_MATRIX) PetscCall(MatDuplicate(A, MAT_COPY_VALUES, B));
  PetscCall(((Mat_GPUCSR *)(*B)->spptr)->mpi ? MatGPUCSRDetach_MPI_Private(*B) : MatGPUCSRDetach_Private(*B, MATSEQAIJ));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Converts to plain AIJ by detaching.  Conversions to other types are done by PETSc, to which the matrix is presented as plain AIJ. */
PetscErrorCode MatConvert_GPUCSR(Mat A, MatType type, MatReuse reuse, Mat *B)
{
  PetscErrorCode (*convert)(Mat, MatType, MatReuse, Mat *) = A->ops->convert;
  const PetscBool mpi                                      = ((Mat_GPUCSR *)A->spptr)->mpi;
  PetscBool       aij, base = PETSC_FALSE, is;
  char           *own;

  PetscFunctionBegin;
  PetscCall(PetscStrcmp(type, MATAIJ, &aij));
  PetscCall(PetscStrcmp(type, mpi ? MATMPIAIJ : MATSEQAIJ, &base));
  if (aij || base) {
    PetscCall(MatConvert_GPUCSR_AIJ(A, reuse, B));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  A->ops->convert = MatGPUCSRBase_Private(A)->convert;
  if (reuse == MAT_INPLACE_MATRIX) { /* PETSc frees the type name together with the replaced contents, so it must own the name */
    PetscCall(PetscObjectChangeTypeName((PetscObject)A, mpi ? MATMPIAIJ : MATSEQAIJ));
    PetscCall(MatConvert(A, type, reuse, B));
    PetscCall(MatGPUCSRIs_Private(A, &is));
    if (is) PetscCall(PetscObjectChangeTypeName((PetscObject)A, mpi ? MATMPIAIJGPUCSR : MATSEQAIJGPUCSR));
  } else {
    PetscCall(MatGPUCSRPresent_Private(A, &own));
    PetscCall(MatConvert(A, type, reuse, B));
    PetscCall(MatGPUCSRPresentAgain_Private(A, own));
    is = PETSC_TRUE;
  }
  if (is) A->ops->convert = convert;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* -mat_seqaij_type seqaijgpucsr calls this function for every new MATSEQAIJ.  MatGPUCSRStayPlain is set while gpucsr needs a plain one. */
PetscErrorCode MatConvert_SeqAIJ_SeqAIJGPUCSR(Mat A, MatType type, MatReuse reuse, Mat *B)
{
  PetscFunctionBegin;
  if (MatGPUCSRStayPlain && reuse == MAT_INPLACE_MATRIX) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatConvertFrom_GPUCSR(A, type, reuse, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}
