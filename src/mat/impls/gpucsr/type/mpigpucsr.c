/* The matrix type MATMPIAIJGPUCSR, which derives from MATMPIAIJ.  Its local diagonal and off-diagonal blocks have the type MATSEQAIJGPUCSR. */
#include "mat/impls/gpucsr/image/gpucsrimpl.h"

/* Copies the options of the parallel matrix to a block.  row, column, columns: global position of the block, for error messages. */
static PetscErrorCode MatGPUCSRSetBlockOptions(Mat A, Mat block, PetscInt row, PetscInt column, const PetscInt *columns)
{
  Mat_GPUCSR      *g = (Mat_GPUCSR *)A->spptr, *b = (Mat_GPUCSR *)block->spptr;
  MatGPUCSROptions want = g->options;
  PetscBool        symmetric;

  PetscFunctionBegin;
  PetscCall(MatGPUCSRIsSymmetric_Private(A, &symmetric));
  if (symmetric) want.transpose = MAT_GPUCSR_TRANSPOSE_LAZY; /* products with the transpose use A itself */
  PetscCall(MatGPUCSRSetOptions_Private(block, &want));
  b->place = (GpOpPlace){row, column, columns};
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the two local blocks.  Converts them to MATSEQAIJGPUCSR if necessary: preallocation, assembly and MatSetPreallocationCOO() can replace
   them by plain blocks.  Any of the outputs may be NULL. */
PetscErrorCode MatGPUCSRGetBlocks_Private(Mat A, Mat *diagonal, Mat *offdiagonal, const PetscInt *columns[])
{
  Mat             block[2];
  const PetscInt *garray;

  PetscFunctionBegin;
  PetscCall(MatMPIAIJGetSeqAIJ(A, &block[0], &block[1], &garray));
  for (int b = 0; b < 2; b++) {
    PetscBool is, aij;

    PetscCall(MatGPUCSRIs_Private(block[b], &is));
    if (!is) {
      PetscCall(PetscObjectTypeCompare((PetscObject)block[b], MATSEQAIJ, &aij));
      PetscCheck(aij, PETSC_COMM_SELF, PETSC_ERR_SUP, "A local block has type %s instead of seqaij; -mat_type gpucsr cannot be combined with another -mat_seqaij_type, remove that option", ((PetscObject)block[b])->type_name);
      PetscCall(MatGPUCSRAttach_Private(block[b], MATSEQAIJ));
    }
    PetscCall(MatGPUCSRSetBlockOptions(A, block[b], A->rmap->rstart, b ? 0 : A->cmap->rstart, b ? garray : NULL));
  }
  if (diagonal) *diagonal = block[0];
  if (offdiagonal) *offdiagonal = block[1];
  if (columns) *columns = garray;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMPIAIJSetPreallocation_MPIAIJGPUCSR(Mat A, PetscInt dnz, const PetscInt dnnz[], PetscInt onz, const PetscInt onnz[])
{
  PetscFunctionBegin;
  PetscCall((*((Mat_GPUCSR *)A->spptr)->preallocate)(A, dnz, dnnz, onz, onnz));
  PetscCall(MatGPUCSRGetBlocks_Private(A, NULL, NULL, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Turns a MATMPIAIJ into a MATMPIAIJGPUCSR. */
PetscErrorCode MatGPUCSRAttach_MPI_Private(Mat A)
{
  Mat_GPUCSR *g;

  PetscFunctionBegin;
  PetscCall(MatGPUCSRAttach_Private(A, MATMPIAIJ));
  g = (Mat_GPUCSR *)A->spptr;
  PetscCall(PetscObjectQueryFunction((PetscObject)A, "MatMPIAIJSetPreallocation_C", &g->preallocate));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatMPIAIJSetPreallocation_C", MatMPIAIJSetPreallocation_MPIAIJGPUCSR));
  PetscCall(PetscObjectQueryFunction((PetscObject)A, "MatMPIAIJSetPreallocationCSR_C", &g->preallocatecsr));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatMPIAIJSetPreallocationCSR_C", MatMPIAIJSetPreallocationCSR_MPIAIJGPUCSR));
  if (A->preallocated && A->assembled) PetscCall(MatGPUCSRGetBlocks_Private(A, NULL, NULL, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Turns A and its blocks into plain AIJ matrices again. */
PetscErrorCode MatGPUCSRDetach_MPI_Private(Mat A)
{
  PetscFunctionBegin;
  if (A->preallocated) {
    Mat block[2];

    PetscCall(MatMPIAIJGetSeqAIJ(A, &block[0], &block[1], NULL));
    for (int b = 0; b < 2; b++) {
      PetscBool is;

      PetscCall(MatGPUCSRIs_Private(block[b], &is));
      if (is) PetscCall(MatGPUCSRDetach_Private(block[b], MATSEQAIJ));
    }
  }
  PetscCall(MatGPUCSRDetach_Private(A, MATMPIAIJ));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCreate_MPIAIJGPUCSR(Mat A)
{
  PetscFunctionBegin;
  PetscCall(MatSetType(A, MATMPIAIJ));
  PetscCall(MatGPUCSRAttachTo_Private(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
