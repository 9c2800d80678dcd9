/* MatScale() and its kin, MatAXPY(): the host's arrays change as in AIJ, the device's beside them where that gives what an upload
   would give, and nothing travels. */
#include "mat/impls/gpucsr/gpucsrimpl.h"

/* the device image of a seq matrix, or NULL when there is none or it is behind the host's values */
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

static PetscErrorCode MatGPUCSRFollowOther(Mat A, const GpCsrUpdate *update, GpOp other, PetscInt raises)
{
  Mat_GPUCSR     *g   = (Mat_GPUCSR *)A->spptr;
  MatGPUCSRKey    key = g->key;
  const PetscInt *rowptr, *col;
  PetscScalar    *val;
  PetscMemType    memtype;
  PetscBool       done = PETSC_TRUE;

  PetscFunctionBegin;
  g->key = (MatGPUCSRKey){0}; /* should anything fail, there is no image */
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

/* The image, current before the host's values changed, is given the same change (NULL: all became zero), or left behind.  raises:
   by how much our caller will yet raise the object's state. */
PetscErrorCode MatGPUCSRFollow_Private(Mat A, const GpCsrUpdate *update, PetscInt raises)
{
  PetscFunctionBegin;
  PetscCall(MatGPUCSRFollowOther(A, update, NULL, raises));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatScale_SeqAIJGPUCSR(Mat A, PetscScalar a)
{
  GpOp op;

  PetscFunctionBegin;
  PetscCall(MatGPUCSRGetCurrent_Private(A, &op));
  PetscCall((*MatGPUCSRBase_Private(A)->scale)(A, a));
  /* 0 times infinity is BLAS's own affair */
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

/* Have both one pattern?  PETSc takes the user's word for it, and looks in a debugging build. */
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

/* Two images that are not rounded are added where they stand; the host's arrays not by BLAS then, whose sums may be fused or not, but by
   the formula of the device. */
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
  PetscCall(MatGPUCSRFollowOther(Y, &(GpCsrUpdate){.kind = GP_UPDATE_AXPY, .factor = a}, opx, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc adds entry by entry and assembles; the off-diagonal block does not change */
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

/* the image of a seq matrix or of a block, with the vectors where the device reaches them */
static PetscErrorCode MatGPUCSRFollowDiagonalScale(Mat A, Vec left, Vec right, PetscInt raises)
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

/* Plain MATMPIAIJ, whose blocks may be ours by -mat_seqaij_type, calls this past MatDiagonalScale(), which would raise the state once
   more: with vectors of its own communicator, or with the other ranks' entries of the right one alone. */
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
  if (size == 1) PetscCall(MatGPUCSRFollowDiagonalScale(A, left, right, 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc calls the blocks' operations past the functions that raise their states, and the off-diagonal block's twice: once with left,
   once with right's entries of other ranks.  The images follow afterwards, each once. */
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
    if (op[b]) PetscCall(MatGPUCSRFollowDiagonalScale(block[b], factors[b][0], factors[b][1], 0));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode (*MatRetrieveValues_Base)(Mat); /* of MATSEQAIJ */

/* MatRetrieveValues() writes the values without raising the state of the matrix, by which the image knows that it is stale.  ILU(0)
   copies this function to factors of type MATSEQAIJ. */
static PetscErrorCode MatRetrieveValues_SeqAIJGPUCSR(Mat A)
{
  PetscFunctionBegin;
  PetscCall((*MatRetrieveValues_Base)(A));
  PetscCall(PetscObjectStateIncrease((PetscObject)A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the parent's composed functions */
PetscErrorCode MatGPUCSRResetUpdates_Private(Mat A)
{
  PetscFunctionBegin;
  if (!((Mat_GPUCSR *)A->spptr)->mpi) PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatRetrieveValues_C", MatRetrieveValues_Base));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a parallel matrix calls the others on its blocks */
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
