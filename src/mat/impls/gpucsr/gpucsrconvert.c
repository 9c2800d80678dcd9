/* MatConvert() from and to our types.  No composed converters: PETSc copies composed functions to factors, which outlive us. */
#include "mat/impls/gpucsr/gpucsrimpl.h"

/* the plain AIJ under one of our type names, and whether A is that already; mpi types exist on one process too */
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
  MatGPUCSRStayPlain--; /* whatever came of it: later matrices are to be ours */
  PetscCall(err);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* makes a plain AIJ ours; leaves what is ours already (-mat_seqaij_type may have been faster) */
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

/* from any type, by way of plain AIJ */
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

/* to plain AIJ; to all others as the plain AIJ that we are underneath */
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
  if (reuse == MAT_INPLACE_MATRIX) { /* the name goes with what is replaced, and is freed with it */
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

/* what -mat_seqaij_type seqaijgpucsr calls for every sequential AIJ that is made, also for one that we need plain */
PetscErrorCode MatConvert_SeqAIJ_SeqAIJGPUCSR(Mat A, MatType type, MatReuse reuse, Mat *B)
{
  PetscFunctionBegin;
  if (MatGPUCSRStayPlain && reuse == MAT_INPLACE_MATRIX) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatConvertFrom_GPUCSR(A, type, reuse, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}
