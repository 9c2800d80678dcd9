/* Operations that change values in place: MatScale(), MatDiagonalScale(), MatShift(), MatZeroEntries(), MatAXPY(), MatRetrieveValues().
   The host arrays change as in AIJ.  The device image is changed in the same way if the result has the same bits as an upload; nothing is
   copied then.  Otherwise the image becomes invalid and the next product uploads. */
#include "mat/impls/gpucsr/image/gpucsrimpl.h"

/* Changes the device image in the same way as the host values have just been changed, or invalidates it.  It must have been current before.
   update: the change, or NULL: all values became zero;
   other: image of the matrix that GP_UPDATE_AXPY adds, otherwise NULL;
   raises: by how much PETSc will increase the object state after this call */
PetscErrorCode MatSeqAIJGPUCSRUpdate_Private(Mat A, const GpCsrUpdate *update, GpOp other, PetscInt raises)
{
  Mat_SeqAIJGPUCSR *s   = (Mat_SeqAIJGPUCSR *)A->spptr;
  MatGPUCSRKey      key = s->key;
  const PetscInt   *rowptr, *col;
  PetscScalar      *val;
  PetscBool         done = PETSC_TRUE;

  PetscFunctionBegin;
  if (GpOpIsStreamed(s->op)) PetscFunctionReturn(PETSC_SUCCESS); /* the next product encodes the values again */
  s->key = (MatGPUCSRKey){0};                                    /* if anything fails below, the image is invalid */
  PetscCall(MatSeqAIJGetCSRAndMemType(A, &rowptr, &col, &val, NULL));
  if (A->nonzerostate != key.nonzerostate || rowptr != key.rowptr || col != key.col || !rowptr || rowptr[A->rmap->n] != key.nnz) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscLogEventBegin(MAT_GPUCSR_Update, A, 0, 0, 0));
  if (update) PetscCall(GpOpUpdate(s->op, update, other, rowptr, col, val, &done));
  else PetscCall(GpOpZeroEntries(s->op));
  PetscCall(PetscLogEventEnd(MAT_GPUCSR_Update, A, 0, 0, 0));
  if (!done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectStateGet((PetscObject)A, &key.state));
  key.state += raises;
  s->key = key;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Defines an operation: changes the host arrays by the operation of the parent type, and then the image if it was current.  After the operation
   PETSc increases the object state by 1.  The last argument is the change of the image. */
#define UPDATE_IN_PLACE(Name, operation, parameters, arguments, condition, ...) \
  static PetscErrorCode Mat##Name##_SeqAIJGPUCSR parameters \
  { \
    GpOp op; \
\
    PetscFunctionBegin; \
    PetscCall(MatSeqAIJGPUCSRGetCurrent_Private(A, &op)); \
    PetscCall((*MatGPUCSRBase_Private(A)->operation)arguments); \
    if (op && A->spptr && (condition)) PetscCall(MatSeqAIJGPUCSRUpdate_Private(A, __VA_ARGS__, NULL, 1)); \
    PetscFunctionReturn(PETSC_SUCCESS); \
  }

/* not for a = 0: BLAS implementations differ in the result of 0 times infinity */
UPDATE_IN_PLACE(Scale, scale, (Mat A, PetscScalar a), (A, a), a != 0, &(GpCsrUpdate){.kind = GP_UPDATE_SCALE, .factor = a})
UPDATE_IN_PLACE(Shift, shift, (Mat A, PetscScalar a), (A, a), PETSC_TRUE, &(GpCsrUpdate){.kind = GP_UPDATE_SHIFT, .factor = a})
UPDATE_IN_PLACE(ZeroEntries, zeroentries, (Mat A), (A), PETSC_TRUE, NULL)

/* Tells whether both matrices have one pattern.  For SAME_NONZERO_PATTERN the patterns are compared in debugging builds only, as in PETSc. */
static PetscErrorCode MatGPUCSRSamePattern(Mat X, Mat Y, MatStructure structure, PetscBool *same)
{
  const PetscInt *rowptr[2], *col[2];
  const PetscInt  m = Y->rmap->n;

  PetscFunctionBegin;
  *same = PETSC_FALSE;
  if (structure != SAME_NONZERO_PATTERN && structure != UNKNOWN_NONZERO_PATTERN) PetscFunctionReturn(PETSC_SUCCESS);
  for (int k = 0; k < 2; k++) {
    PetscCall(MatSeqAIJGetCSRAndMemType(k ? Y : X, &rowptr[k], &col[k], NULL, NULL));
    if (!rowptr[k]) PetscFunctionReturn(PETSC_SUCCESS);
  }
  *same = (PetscBool)(rowptr[0][m] == rowptr[1][m]);
  if (*same && (PetscDefined(USE_DEBUG) || structure == UNKNOWN_NONZERO_PATTERN)) {
    PetscCall(PetscArraycmp(rowptr[0], rowptr[1], m + 1, same));
    if (*same) PetscCall(PetscArraycmp(col[0], col[1], rowptr[0][m], same));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds two exact images on the device.  The host arrays are then added by the formula of the device and not by BLAS, which may use fused
   multiply-add, so that both have the same bits. */
static PetscErrorCode MatAXPY_SeqAIJGPUCSR(Mat Y, PetscScalar a, Mat X, MatStructure structure)
{
  GpOp         opx = NULL, opy = NULL;
  PetscBool    same = PETSC_FALSE;
  PetscScalar *x, *y;

  PetscFunctionBegin;
  if (MatGPUCSRIs_Private(X)) PetscCall(MatSeqAIJGPUCSRGetCurrent_Private(X, &opx));
  if (opx) PetscCall(MatSeqAIJGPUCSRGetCurrent_Private(Y, &opy));
  if (opy && opx->dev == opy->dev && GpOpIsExact(opx) && GpOpIsExact(opy)) PetscCall(MatGPUCSRSamePattern(X, Y, structure, &same));
  if (!same) {
    PetscCall((*MatGPUCSRBase_Private(Y)->axpy)(Y, a, X, structure));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatSeqAIJGetCSRAndMemType(X, NULL, NULL, &x, NULL));
  PetscCall(MatSeqAIJGetArray(Y, &y));
  GpCsrAxpyHost(opy->side[0].csr.nnz, a, x, y);
  PetscCall(MatSeqAIJRestoreArray(Y, &y));
  PetscCall(PetscLogFlops(2.0 * opy->side[0].csr.nnz));
  PetscCall(MatSeqAIJGPUCSRUpdate_Private(Y, &(GpCsrUpdate){.kind = GP_UPDATE_AXPY, .factor = a}, opx, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Scales the image of a seq matrix or of a block.  Vectors in host memory are copied to the device. */
PetscErrorCode MatSeqAIJGPUCSRUpdateDiagonalScale_Private(Mat A, Vec left, Vec right, PetscInt raises)
{
  MatGPUCSRVec l = {0}, r = {0};

  PetscFunctionBegin;
  if (left) PetscCall(MatGPUCSRVecGetRead_Private(A, 1, left, &l));
  if (right) PetscCall(MatGPUCSRVecGetRead_Private(A, 0, right, &r));
  PetscCall(MatSeqAIJGPUCSRUpdate_Private(A, &(GpCsrUpdate){.kind = GP_UPDATE_DIAGONAL, .row = l.device, .column = r.device}, NULL, raises));
  if (right) PetscCall(MatGPUCSRVecRestoreArray_Private(right, 'r', &r));
  if (left) PetscCall(MatGPUCSRVecRestoreArray_Private(left, 'r', &l));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The image is updated only if MatDiagonalScale() has called this function, because only then does the object state increase once more.
   A plain MATMPIAIJ, whose blocks have this type by -mat_seqaij_type, calls the operation of its blocks directly; then the vectors have its
   communicator, or only the right one is given. */
static PetscErrorCode MatDiagonalScale_SeqAIJGPUCSR(Mat A, Vec left, Vec right)
{
  Mat_SeqAIJGPUCSR *s       = (Mat_SeqAIJGPUCSR *)A->spptr;
  Vec              *factors = s ? s->factors : NULL;
  PetscMPIInt       size    = 0;
  GpOp              op;

  PetscFunctionBegin;
  PetscCall(MatSeqAIJGPUCSRGetCurrent_Private(A, &op));
  PetscCall((*MatGPUCSRBase_Private(A)->diagonalscale)(A, left, right));
  if (factors) {
    if (left) factors[0] = left;
    if (right) factors[1] = right;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (op && s->typed && left) PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)left), &size));
  if (size == 1) PetscCall(MatSeqAIJGPUCSRUpdateDiagonalScale_Private(A, left, right, 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode (*MatRetrieveValues_Base)(Mat); /* function of MATSEQAIJ */

/* MatRetrieveValues() of MATSEQAIJ does not increase the object state, so that a stale image would not be detected.
   This function must not use A->spptr: ILU(0) copies it to factors of type MATSEQAIJ. */
static PetscErrorCode MatRetrieveValues_SeqAIJGPUCSR(Mat A)
{
  PetscFunctionBegin;
  PetscCall((*MatRetrieveValues_Base)(A));
  PetscCall(PetscObjectStateIncrease((PetscObject)A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Restores the composed function of the parent type. */
PetscErrorCode MatGPUCSRResetUpdates_Private(Mat A)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatRetrieveValues_C", MatRetrieveValues_Base));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the operations of a sequential matrix. */
PetscErrorCode MatGPUCSRSetUpdates_Private(Mat A)
{
  PetscErrorCode (*retrieve)(Mat);

  PetscFunctionBegin;
  A->ops->axpy          = MatAXPY_SeqAIJGPUCSR;
  A->ops->scale         = MatScale_SeqAIJGPUCSR;
  A->ops->zeroentries   = MatZeroEntries_SeqAIJGPUCSR;
  A->ops->shift         = MatShift_SeqAIJGPUCSR;
  A->ops->diagonalscale = MatDiagonalScale_SeqAIJGPUCSR;
  PetscCall(PetscObjectQueryFunction((PetscObject)A, "MatRetrieveValues_C", &retrieve));
  if (retrieve != MatRetrieveValues_SeqAIJGPUCSR) MatRetrieveValues_Base = retrieve;
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatRetrieveValues_C", MatRetrieveValues_SeqAIJGPUCSR));
  PetscFunctionReturn(PETSC_SUCCESS);
}
