/* MATMPIAIJGPUCSR: MATMPIAIJ whose two local blocks are MATSEQAIJGPUCSR, and the exchange between ranks. */
#include "mat/impls/gpucsr/gpucsrimpl.h"

/* the blocks follow the options of the whole */
static PetscErrorCode MatGPUCSRInherit(Mat A, Mat block, PetscInt row, PetscInt column, const PetscInt *columns)
{
  Mat_GPUCSR      *g = (Mat_GPUCSR *)A->spptr, *b = (Mat_GPUCSR *)block->spptr;
  MatGPUCSROptions want = g->options;
  PetscBool        symmetric;

  PetscFunctionBegin;
  PetscCall(MatGPUCSRIsSymmetric_Private(A, &symmetric));
  if (symmetric) want.transpose = MAT_GPUCSR_TRANSPOSE_LAZY; /* the product by A serves for both */
  PetscCall(MatGPUCSRSetOptions_Private(block, &want));
  b->place = (GpOpPlace){row, column, columns};
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The two local blocks, made ours where they are not yet: after preallocation, assembly, or PETSc's own replacement of them
   (MatSetPreallocationCOO() makes new ones).  Any of the outputs may be NULL. */
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
      PetscCheck(aij, PETSC_COMM_SELF, PETSC_ERR_SUP, "A local block is of type %s, not seqaij: -mat_type gpucsr does not combine with another -mat_seqaij_type", ((PetscObject)block[b])->type_name);
      PetscCall(MatGPUCSRAttach_Private(block[b], MATSEQAIJ));
    }
    PetscCall(MatGPUCSRInherit(A, block[b], A->rmap->rstart, b ? 0 : A->cmap->rstart, b ? garray : NULL));
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

/* makes a parallel AIJ ours */
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

/* the way back, for the blocks too */
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
