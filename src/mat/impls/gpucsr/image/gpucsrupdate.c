/* Operations that change values in place: MatScale(), MatDiagonalScale(), MatShift(), MatZeroEntries(), MatAXPY(), MatRetrieveValues().
   The host arrays change as in AIJ.  The device image is changed in the same way if the result has the same bits as an upload; nothing is
   copied then.  Otherwise the image becomes invalid and the next product uploads. */
#include "mat/impls/gpucsr/image/gpucsrimpl.h"

/* Gets the device image of a seq matrix, or NULL if there is none or if the host values have changed since the upload. */
PetscErrorCode MatGPUCSRGetCurrent_Private(Mat A, GpOp *op)
{
  Mat_GPUCSR      *g = (Mat_GPUCSR *)A->spptr;
  PetscObjectState state;

  PetscFunctionBegin;
  *op = NULL;
  if (!g || !g->op || A->factortype) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectStateGet((PetscObject)A, &state));
  if (g->key.owner != A || state != g->key.state || A->nonzerostate != g->key.nonzerostate) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscGPUCSRGetDevice_Private(&g->dev));
  *op = g->op;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatGPUCSRUpdateImage(Mat A, const GpCsrUpdate *update, GpOp other, PetscInt raises)
{
  Mat_GPUCSR     *g   = (Mat_GPUCSR *)A->spptr;
  MatGPUCSRKey    key = g->key;
  const PetscInt *rowptr, *col;
  PetscScalar    *val;
  PetscMemType    memtype;
  PetscBool       done = PETSC_TRUE;

  PetscFunctionBegin;
  g->key = (MatGPUCSRKey){0}; /* if anything fails below, the image is invalid */
  PetscCall(MatSeqAIJGetCSRAndMemType(A, &rowptr, &col, &val, &memtype));
  if (A->nonzerostate != key.nonzerostate || rowptr != key.rowptr || col != key.col || !rowptr || rowptr[A->rmap->n] != key.nnz) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscLogEventBegin(MAT_GPUCSR_Update, A, 0, 0, 0));
  if (update) PetscCall(GpOpUpdate(g->op, update, other, rowptr, col, val, &done));
  else PetscCall(GpOpZeroEntries(g->op));
  PetscCall(PetscLogEventEnd(MAT_GPUCSR_Update, A, 0, 0, 0));
  if (!done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectStateGet((PetscObject)A, &key.state));
  key.state += raises;
  g->key = key;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Changes the device image in the same way as the host values have just been changed, or invalidates it.  It must have been current before.
   update: the change, or NULL: all values became zero;
   raises: by how much PETSc will increase the object state after this call */
PetscErrorCode MatGPUCSRFollow_Private(Mat A, const GpCsrUpdate *update, PetscInt raises)
{
  PetscFunctionBegin;
  PetscCall(MatGPUCSRUpdateImage(A, update, NULL, raises));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatScale_SeqAIJGPUCSR(Mat A, PetscScalar a)
{
  GpOp op;

  PetscFunctionBegin;
  PetscCall(MatGPUCSRGetCurrent_Private(A, &op));
  PetscCall((*MatGPUCSRBase_Private(A)->scale)(A, a));
  /* not for a = 0: BLAS implementations differ in the result of 0 times infinity */
  if (op && a != 0) PetscCall(MatGPUCSRFollow_Private(A, &(GpCsrUpdate){.kind = GP_UPDATE_SCALE, .factor = a}, 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatZeroEntries_SeqAIJGPUCSR(Mat A)
{
  GpOp op;

  PetscFunctionBegin;
  PetscCall(MatGPUCSRGetCurrent_Private(A, &op));
  PetscCall((*MatGPUCSRBase_Private(A)->zeroentries)(A));
  if (op) PetscCall(MatGPUCSRFollow_Private(A, NULL, 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatShift_SeqAIJGPUCSR(Mat A, PetscScalar a)
{
  GpOp op;

  PetscFunctionBegin;
  PetscCall(MatGPUCSRGetCurrent_Private(A, &op));
  PetscCall((*MatGPUCSRBase_Private(A)->shift)(A, a));
  if (op && A->spptr) PetscCall(MatGPUCSRFollow_Private(A, &(GpCsrUpdate){.kind = GP_UPDATE_SHIFT, .factor = a}, 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Tells whether both matrices have one pattern.  For SAME_NONZERO_PATTERN the patterns are compared in debugging builds only, as in PETSc. */
static PetscErrorCode MatGPUCSRSamePattern(Mat X, Mat Y, MatStructure structure, PetscBool *same)
{
  const PetscInt *rowptr[2], *col[2];
  const PetscInt  m = Y->rmap->n;

  PetscFunctionBegin;
  *same = PETSC_FALSE;
  if (structure != SAME_NONZERO_PATTERN && structure != UNKNOWN_NONZERO_PATTERN) PetscFunctionReturn(PETSC_SUCCESS);
  for (int k = 0; k < 2; k++) {
    PetscScalar *val;
    PetscMemType memtype;

    PetscCall(MatSeqAIJGetCSRAndMemType(k ? Y : X, &rowptr[k], &col[k], &val, &memtype));
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
  GpOp               opx = NULL, opy = NULL;
  PetscBool          ours, same      = PETSC_FALSE;
  const PetscScalar *x;
  PetscScalar       *y;

  PetscFunctionBegin;
  PetscCall(MatGPUCSRIs_Private(X, &ours));
  if (ours) PetscCall(MatGPUCSRGetCurrent_Private(X, &opx));
  if (opx) PetscCall(MatGPUCSRGetCurrent_Private(Y, &opy));
  if (opy && opx->dev == opy->dev && GpOpIsExact(opx) && GpOpIsExact(opy)) PetscCall(MatGPUCSRSamePattern(X, Y, structure, &same));
  if (!same) {
    PetscCall((*MatGPUCSRBase_Private(Y)->axpy)(Y, a, X, structure));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatSeqAIJGetArrayRead(X, &x));
  PetscCall(MatSeqAIJGetArray(Y, &y));
  GpCsrAxpyHost(opy->side[0].csr.nnz, a, x, y);
  PetscCall(MatSeqAIJRestoreArray(Y, &y));
  PetscCall(MatSeqAIJRestoreArrayRead(X, &x));
  PetscCall(PetscLogFlops(2.0 * opy->side[0].csr.nnz));
  PetscCall(MatGPUCSRUpdateImage(Y, &(GpCsrUpdate){.kind = GP_UPDATE_AXPY, .factor = a}, opx, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc adds the diagonal entries one by one and assembles, which increases the object states of both blocks.  The values of the off-diagonal
   block do not change: its image is scaled by 1. */
static PetscErrorCode MatShift_MPIAIJGPUCSR(Mat A, PetscScalar a)
{
  Mat  block[2];
  GpOp op[2] = {NULL, NULL};

  PetscFunctionBegin;
  if (A->spptr && A->assembled && A->rmap->rstart == A->cmap->rstart && A->rmap->rend == A->cmap->rend) {
    PetscCall(MatGPUCSRGetBlocks_Private(A, &block[0], &block[1], NULL));
    for (int b = 0; b < 2; b++) PetscCall(MatGPUCSRGetCurrent_Private(block[b], &op[b]));
  }
  PetscCall((*MatGPUCSRBase_Private(A)->shift)(A, a));
  for (int b = 0; b < 2; b++) {
    if (op[b]) PetscCall(MatGPUCSRFollow_Private(block[b], &(GpCsrUpdate){.kind = b ? GP_UPDATE_SCALE : GP_UPDATE_SHIFT, .factor = b ? 1 : a}, 0));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Scales the image of a seq matrix or of a block.  Vectors in host memory are copied to the device. */
static PetscErrorCode MatGPUCSRUpdateImageDiagonalScale(Mat A, Vec left, Vec right, PetscInt raises)
{
  MatGPUCSRVec l = {0}, r = {0};

  PetscFunctionBegin;
  if (left) PetscCall(MatGPUCSRVecGetRead_Private(A, 1, left, &l));
  if (right) PetscCall(MatGPUCSRVecGetRead_Private(A, 0, right, &r));
  PetscCall(MatGPUCSRFollow_Private(A, &(GpCsrUpdate){.kind = GP_UPDATE_DIAGONAL, .row = l.device, .column = r.device}, raises));
  if (right) PetscCall(MatGPUCSRVecRestoreRead_Private(right, &r));
  if (left) PetscCall(MatGPUCSRVecRestoreRead_Private(left, &l));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The image is updated only if MatDiagonalScale() has called this function, because only then does the object state increase once more.
   A plain MATMPIAIJ, whose blocks have this type by -mat_seqaij_type, calls the operation of its blocks directly; then the vectors have its
   communicator, or only the right one is given. */
static PetscErrorCode MatDiagonalScale_SeqAIJGPUCSR(Mat A, Vec left, Vec right)
{
  Mat_GPUCSR *g       = (Mat_GPUCSR *)A->spptr;
  Vec        *factors = g ? g->factors : NULL;
  PetscMPIInt size    = 0;
  GpOp        op;

  PetscFunctionBegin;
  PetscCall(MatGPUCSRGetCurrent_Private(A, &op));
  PetscCall((*MatGPUCSRBase_Private(A)->diagonalscale)(A, left, right));
  if (factors) {
    if (left) factors[0] = left;
    if (right) factors[1] = right;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (op && g->typed && left) PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)left), &size));
  if (size == 1) PetscCall(MatGPUCSRUpdateImageDiagonalScale(A, left, right, 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc calls the operations of the blocks directly, so that their object states do not increase, and that of the off-diagonal block twice: with
   the left vector and with the ghost entries of the right one.  The blocks therefore only store the vectors; their images are updated here. */
static PetscErrorCode MatDiagonalScale_MPIAIJGPUCSR(Mat A, Vec left, Vec right)
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
  PetscCall(MatGPUCSRGetBlocks_Private(A, &block[0], &block[1], NULL));
  for (int b = 0; b < 2; b++) {
    PetscCall(MatGPUCSRGetCurrent_Private(block[b], &op[b]));
    ((Mat_GPUCSR *)block[b]->spptr)->factors = factors[b];
  }
  err = (*MatGPUCSRBase_Private(A)->diagonalscale)(A, left, right);
  for (int b = 0; b < 2; b++) ((Mat_GPUCSR *)block[b]->spptr)->factors = NULL;
  PetscCall(err);
  for (int b = 0; b < 2; b++) {
    if (op[b]) PetscCall(MatGPUCSRUpdateImageDiagonalScale(block[b], factors[b][0], factors[b][1], 0));
  }
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

/* Restores the composed functions of the parent type. */
PetscErrorCode MatGPUCSRResetUpdates_Private(Mat A)
{
  PetscFunctionBegin;
  if (!((Mat_GPUCSR *)A->spptr)->mpi) PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatRetrieveValues_C", MatRetrieveValues_Base));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the operations.  A parallel matrix needs only two, because MATMPIAIJ calls the others on its blocks. */
PetscErrorCode MatGPUCSRSetUpdates_Private(Mat A)
{
  PetscErrorCode (*retrieve)(Mat);

  PetscFunctionBegin;
  if (((Mat_GPUCSR *)A->spptr)->mpi) {
    A->ops->shift         = MatShift_MPIAIJGPUCSR;
    A->ops->diagonalscale = MatDiagonalScale_MPIAIJGPUCSR;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
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
