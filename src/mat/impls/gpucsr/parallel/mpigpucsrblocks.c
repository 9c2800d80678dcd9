/* The local blocks of a parallel matrix and their device images.  The blocks have the type MATSEQAIJGPUCSR. */
#include "mat/impls/gpucsr/parallel/mpigpucsr.h"

/* Gets the two local blocks, and the global columns of the off-diagonal one unless columns is NULL.  Converts the blocks to MATSEQAIJGPUCSR if
   necessary: preallocation, assembly and MatSetPreallocationCOO() can replace them by plain blocks.  The blocks get the options of the matrix. */
PetscErrorCode MatMPIAIJGPUCSRGetBlocks_Private(Mat A, Mat block[2], const PetscInt *columns[])
{
  MatGPUCSROptions want = ((Mat_GPUCSR *)A->spptr)->options;
  const PetscInt  *garray;
  PetscBool        symmetric;

  PetscFunctionBegin;
  PetscCall(MatGPUCSRIsSymmetric_Private(A, &symmetric));
  if (symmetric) want.transpose = MAT_GPUCSR_TRANSPOSE_LAZY; /* products with the transpose use A itself */
  PetscCall(MatMPIAIJGetSeqAIJ(A, &block[0], &block[1], &garray));
  for (int b = 0; b < 2; b++) {
    PetscBool aij;

    if (!MatGPUCSRIs_Private(block[b])) {
      PetscCall(PetscObjectTypeCompare((PetscObject)block[b], MATSEQAIJ, &aij));
      PetscCheck(aij, PETSC_COMM_SELF, PETSC_ERR_SUP, "A local block has type %s instead of seqaij; -mat_type gpucsr cannot be combined with another -mat_seqaij_type, remove that option", ((PetscObject)block[b])->type_name);
      PetscCall((*((Mat_MPIAIJGPUCSR *)A->spptr)->attachblock)(block[b]));
    }
    PetscCall(MatGPUCSRSetOptions_Private(block[b], &want));
    ((Mat_SeqAIJGPUCSR *)block[b]->spptr)->place = (GpOpPlace){A->rmap->rstart, b ? 0 : A->cmap->rstart, b ? garray : NULL, PETSC_TRUE};
  }
  if (columns) *columns = garray;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Decides storage auto of a parallel matrix: all blocks of all ranks use double precision if a value on one of them needs it.
   The ranks reduce only if the object state of the parallel matrix has changed, which is the same on all ranks.  A block that was changed through
   MatSeqAIJGetArray(), which leaves that state, decides for itself until the state changes. */
static PetscErrorCode MatMPIAIJGPUCSRAgreeOnPrecision(Mat A, Mat const block[2])
{
  Mat_GPUCSR      *g = (Mat_GPUCSR *)A->spptr;
  PetscObjectState state;
  int              mine = 0, any;

  PetscFunctionBegin;
  if (g->options.storage != MAT_GPUCSR_STORAGE_AUTO) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectStateGet((PetscObject)A, &state));
  if (g->fits.owner == A && g->fits.state == state && g->fits.nonzerostate == A->nonzerostate) PetscFunctionReturn(PETSC_SUCCESS);
  if (g->fits.owner != A || g->fits.nonzerostate != A->nonzerostate || !g->wide) {
    for (int b = 0; b < 2 && !mine; b++) {
      PetscBool fits;

      PetscCall(MatSeqAIJGPUCSRFitsSingle_Private(block[b], &fits));
      mine = !fits;
    }
    PetscCallMPI(MPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)A)));
    g->wide = (PetscBool)any;
  }
  g->fits = (MatGPUCSRFits){A, state, A->nonzerostate, (PetscBool)!g->wide};
  for (int b = 0; b < 2; b++) {
    Mat_SeqAIJGPUCSR *s = (Mat_SeqAIJGPUCSR *)block[b]->spptr;

    s->common.wide = g->wide;
    if (s->op && s->op->options.prec != (g->wide ? GP_F64 : GP_F32)) s->key = (MatGPUCSRKey){0}; /* invalidates the image of the block */
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Prints the notice of a parallel matrix on its first rank, for all ranks.  Collective if the object state of the matrix has changed. */
static PetscErrorCode MatMPIAIJGPUCSRPrintNotice(Mat A, Mat const block[2], GpOp const op[2])
{
  Mat_GPUCSR       *g    = (Mat_GPUCSR *)A->spptr;
  MPI_Comm          comm = PetscObjectComm((PetscObject)A);
  MatGPUCSRRounding r    = {0};
  PetscObjectState  state;
  PetscBool         due;
  PetscMPIInt       rank;

  PetscFunctionBegin;
  PetscCall(PetscObjectStateGet((PetscObject)A, &state));
  if (g->fits.owner == A && g->fits.state == state) PetscFunctionReturn(PETSC_SUCCESS); /* this state was examined before and no value was rounded */
  PetscCall(MatGPUCSRIsNoticeDue_Private(A, &due));
  if (!due) PetscFunctionReturn(PETSC_SUCCESS);
  for (int b = 0; b < 2; b++) PetscCall(MatGPUCSRAddRounding_Private(block[b], op[b], &r));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &r, 3, MPI_DOUBLE, MPI_SUM, comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &r.worst, 1, MPI_DOUBLE, MPI_MAX, comm));
  g->fits = (MatGPUCSRFits){A, state, A->nonzerostate, (PetscBool) !(r.rounded > 0)};
  if (!(r.rounded > 0)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCall(MatGPUCSRPrintNotice_Private(A, (PetscBool)!rank, "", &r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Raises an error on all ranks if the upload failed on one of them: only there a value may overflow in single precision, or device memory be too small.
   Otherwise the other ranks would wait for that rank in the product.  mine: the error of this rank.
   The ranks reduce after a change of the pattern and before the first product with the transpose.  For storage single they also reduce after a change
   of the values.  Each of these is the same on all ranks. */
static PetscErrorCode MatMPIAIJGPUCSRAgreeOnUpload(Mat A, PetscBool transpose, PetscErrorCode mine)
{
  Mat_GPUCSR             *g        = (Mat_GPUCSR *)A->spptr;
  const MatGPUCSRUploaded uploaded = g->uploaded;
  PetscObjectState        state;
  PetscMPIInt             rank;
  PetscErrorCode          worst;

  PetscFunctionBegin;
  PetscCall(PetscObjectStateGet((PetscObject)A, &state));
  if (uploaded.owner == A && uploaded.nonzerostate == A->nonzerostate && (uploaded.transpose || !transpose) && (uploaded.state == state || g->options.storage != MAT_GPUCSR_STORAGE_SINGLE)) {
    PetscCall(mine);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatGPUCSRReduceError_Private(A, mine, &worst, &rank));
  PetscCall(mine);
  PetscCheck(worst != PETSC_ERR_ARG_OUTOFRANGE, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "-mat_gpucsr_storage single: a value on rank %d overflows single precision; use auto or double", rank);
  PetscCheck(!worst, PETSC_COMM_SELF, worst, "The upload of the matrix failed on rank %d of its communicator; the message of that rank says why", rank);
  g->uploaded = (MatGPUCSRUploaded){A, state, A->nonzerostate, transpose};
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Tells whether a block has an image that the next upload replaces as a whole, because its pattern or its options have changed. */
static PetscBool MatMPIAIJGPUCSRIsObsolete(Mat B)
{
  const Mat_SeqAIJGPUCSR *s = (const Mat_SeqAIJGPUCSR *)B->spptr;

  return (PetscBool)(s->op && (s->key.owner != B || s->key.nonzerostate != B->nonzerostate));
}

/* Sets, for block b, how much device memory the other block of this rank holds and needs.  Both blocks share the bound on resident chunks, so what the other block holds is
   subtracted from it.  The diagonal block is uploaded first and must leave space for the off-diagonal block: what that needs counts when the diagonal block decides whether it is
   streamed. An obsolete image of the off-diagonal block is destroyed first, so that the diagonal block does not leave memory for both images. */
static PetscErrorCode MatMPIAIJGPUCSRShareMemory(Mat const block[2], int b)
{
  Mat_SeqAIJGPUCSR *s = (Mat_SeqAIJGPUCSR *)block[b]->spptr, *other = (Mat_SeqAIJGPUCSR *)block[1 - b]->spptr;
  const PetscInt   *rowptr;

  PetscFunctionBegin;
  s->held_by_other = s->reserved_for_other = 0;
  if (!b && MatMPIAIJGPUCSRIsObsolete(block[1])) PetscCall(GpOpDestroy(&other->op));
  if (other->op && s->common.options.stream != MAT_GPUCSR_STREAM_NEVER) PetscCall(GpOpGetBytes(other->op, &s->held_by_other));
  if (b || s->common.options.stream != MAT_GPUCSR_STREAM_AUTO) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatSeqAIJGetCSRAndMemType(block[1], &rowptr, NULL, NULL, NULL));
  PetscCall(PetscGPUCSRGetDevice(&s->common.dev));
  if (rowptr) {
    const PetscBool wide  = (PetscBool)(s->common.options.storage == MAT_GPUCSR_STORAGE_DOUBLE || (s->common.options.storage == MAT_GPUCSR_STORAGE_AUTO && s->common.wide));
    const double    bytes = GpOpEstimateBytes(s->common.dev, wide ? GP_F64 : GP_F32, block[1]->rmap->n, block[1]->cmap->n, rowptr[block[1]->rmap->n], (PetscBool)(s->common.options.transpose == MAT_GPUCSR_TRANSPOSE_EAGER));

    s->reserved_for_other = PetscMax(bytes - s->held_by_other, 0);
  }
  if (!other->op || !GpOpIsStreamed(other->op)) s->held_by_other = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the current device images of both blocks.  Collective if the object state of the matrix has changed. */
PetscErrorCode MatMPIAIJGPUCSRGetOperators_Private(Mat A, Mat const block[2], PetscBool transpose, GpOp op[2])
{
  PetscErrorCode err = PETSC_SUCCESS;

  PetscFunctionBegin;
  PetscCall(MatMPIAIJGPUCSRAgreeOnPrecision(A, block));
  for (int b = 0; b < 2 && !err; b++) {
    PetscCall(MatMPIAIJGPUCSRShareMemory(block, b));
    err = MatSeqAIJGPUCSRUpload_Private(block[b], transpose, &op[b]);
  }
  PetscCall(MatMPIAIJGPUCSRAgreeOnUpload(A, transpose, err));
  PetscCall(MatMPIAIJGPUCSRPrintNotice(A, block, op));
  PetscFunctionReturn(PETSC_SUCCESS);
}
