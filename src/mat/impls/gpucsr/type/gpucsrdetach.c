/* Destruction of a matrix, and its conversion to the parent type in place. */
#include "mat/impls/gpucsr/type/gpucsrtype.h"

PetscInt MatGPUCSRKeepPlain_Private = 0;

/* Frees the data that all types have.  Restores the vector type and the binding to the CPU that a matrix without our type has, because MatSetType() keeps both when it
   changes the type. */
PetscErrorCode MatGPUCSRFreeData_Private(Mat A)
{
  Mat_GPUCSR *g = (Mat_GPUCSR *)A->spptr;

  PetscFunctionBegin;
#if PetscDefined(HAVE_DEVICE)
  A->boundtocpu = PETSC_TRUE;
#endif
  if (g->setvectype) {
    PetscCall(PetscFree(A->defaultvectype));
    PetscCall(PetscStrallocpy(VECSTANDARD, &A->defaultvectype));
  }
  for (int k = 0; k < 6; k++) {
    MatGPUCSRBuffer *buffer = k < 2 ? &g->vector[k] : &g->batch[k / 2 - 1][k % 2];

    GpDevFree(g->dev, &buffer->array, buffer->n * sizeof(double));
  }
  PetscCall(PetscFree(A->spptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Frees the data and restores the type name. */
static PetscErrorCode MatGPUCSRReset(Mat A, PetscBool mpi)
{
  Mat_GPUCSR *g = (Mat_GPUCSR *)A->spptr;

  PetscFunctionBegin;
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatProductSetFromOptions_anytype_C", NULL));
  PetscCall(PetscObjectChangeTypeName((PetscObject)A, mpi ? MATMPIAIJ : MATSEQAIJ));
  if (!g) PetscFunctionReturn(PETSC_SUCCESS);
  if (g->mpi) {
    PetscCall(MatGPUCSRHaloDestroy_Private(&((Mat_MPIAIJGPUCSR *)g)->halo));
    PetscCall(MatGPUCSRHaloDestroy_Private(&((Mat_MPIAIJGPUCSR *)g)->coohalo));
  } else {
    PetscCall(GpOpDestroy(&((Mat_SeqAIJGPUCSR *)g)->op));
    PetscCall(MatGPUCSRSORDestroy_Private(&((Mat_SeqAIJGPUCSR *)g)->sor));
    GpDevFree(g->dev, &((Mat_SeqAIJGPUCSR *)g)->lent.val, ((Mat_SeqAIJGPUCSR *)g)->lent.bytes);
    PetscCall(MatGPUCSRNodesDestroy_Private(g->dev, &((Mat_SeqAIJGPUCSR *)g)->nodes));
  }
  PetscCall(MatGPUCSRCooDestroy_Private(&g->coo));
  PetscCall(MatGPUCSRFreeData_Private(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatDestroy_SeqAIJGPUCSR(Mat A)
{
  PetscFunctionBegin;
  PetscCall(MatGPUCSRReset(A, PETSC_FALSE));
  PetscCall((*MatGPUCSRParentOps_Private[0].destroy)(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatDestroy_MPIAIJGPUCSR(Mat A)
{
  PetscFunctionBegin;
  PetscCall(MatGPUCSRReset(A, PETSC_TRUE));
  PetscCall((*MatGPUCSRParentOps_Private[1].destroy)(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Turns A, and the blocks of a parallel A, into plain AIJ again.  Restores the operations of the parent type, except those that PETSc has set since
   the matrix got our type. */
PetscErrorCode MatGPUCSRDetach_Private(Mat A)
{
  Mat_GPUCSR     *g   = (Mat_GPUCSR *)A->spptr;
  const PetscBool mpi = g->mpi;
  void (**now)(void)  = (void (**)(void))A->ops;
  void (**own)(void)  = (void (**)(void)) & g->own;
  void (**base)(void) = (void (**)(void)) & g->base;

  PetscFunctionBegin;
  if (mpi) {
    Mat_MPIAIJGPUCSR *m        = (Mat_MPIAIJGPUCSR *)A->spptr;
    Mat               block[2] = {NULL, NULL};

    if (A->preallocated) PetscCall(MatMPIAIJGetSeqAIJ(A, &block[0], &block[1], NULL));
    for (int b = 0; b < 2; b++) {
      if (block[b] && MatGPUCSRIs_Private(block[b])) PetscCall(MatGPUCSRDetach_Private(block[b]));
    }
    PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatMPIAIJSetPreallocation_C", m->preallocate));
    PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatMPIAIJSetPreallocationCSR_C", m->preallocatecsr));
  } else {
    PetscCall(MatGPUCSRResetUpdates_Private(A));
    PetscCall(MatGPUCSRResetDiagonalBlock_Private(A));
  }
  for (size_t k = 0; k < sizeof(struct _MatOps) / sizeof(*now); k++) {
    if (now[k] == own[k]) now[k] = base[k];
  }
  PetscCall(MatGPUCSRResetCOO_Private(A));
  PetscCall(MatGPUCSRReset(A, mpi));
  PetscFunctionReturn(PETSC_SUCCESS);
}
