/* Destruction of a matrix, and its conversion to the parent type in place. */
#include "mat/impls/gpucsr/type/gpucsrtype.h"

PetscInt MatGPUCSRKeepPlain_Private = 0;

static void MatGPUCSRFreeBuffer(GpDev dev, MatGPUCSRBuffer *buffer)
{
  GpDevFree(dev, &buffer->array, buffer->n * sizeof(double));
}

static PetscErrorCode MatGPUCSRFree(Mat A)
{
  Mat_GPUCSR *g = (Mat_GPUCSR *)A->spptr;

  PetscFunctionBegin;
  if (g->mpi) {
    PetscCall(MatGPUCSRHaloDestroy_Private(&((Mat_MPIAIJGPUCSR *)g)->halo));
    PetscCall(MatGPUCSRHaloDestroy_Private(&((Mat_MPIAIJGPUCSR *)g)->coohalo));
  } else {
    PetscCall(GpOpDestroy(&((Mat_SeqAIJGPUCSR *)g)->op));
    PetscCall(MatGPUCSRNodesDestroy_Private(g->dev, &((Mat_SeqAIJGPUCSR *)g)->nodes));
  }
  PetscCall(MatGPUCSRCooDestroy_Private(&g->coo));
  for (int k = 0; k < 2; k++) {
    MatGPUCSRFreeBuffer(g->dev, &g->vector[k]);
    for (int slot = 0; slot < 2; slot++) MatGPUCSRFreeBuffer(g->dev, &g->batch[k][slot]);
  }
  PetscCall(PetscFree(A->spptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Restores the vector type and the binding to the CPU of the parent type, because MatSetType() keeps both when it changes the type. */
static PetscErrorCode MatGPUCSRRestoreDefaults(Mat A)
{
  PetscFunctionBegin;
#if PetscDefined(HAVE_DEVICE)
  A->boundtocpu = PETSC_TRUE;
#endif
  if (!((Mat_GPUCSR *)A->spptr)->setvectype) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscFree(A->defaultvectype));
  PetscCall(PetscStrallocpy(VECSTANDARD, &A->defaultvectype));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatDestroy_GPUCSR(Mat A, PetscBool mpi)
{
  PetscFunctionBegin;
  if (A->spptr) {
    PetscCall(MatGPUCSRRestoreDefaults(A));
    PetscCall(MatGPUCSRFree(A));
  }
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatProductSetFromOptions_anytype_C", NULL));
  PetscCall(PetscObjectChangeTypeName((PetscObject)A, mpi ? MATMPIAIJ : MATSEQAIJ));
  PetscCall((*MatGPUCSRParentOps_Private[mpi].destroy)(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatDestroy_SeqAIJGPUCSR(Mat A)
{
  PetscFunctionBegin;
  PetscCall(MatDestroy_GPUCSR(A, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatDestroy_MPIAIJGPUCSR(Mat A)
{
  PetscFunctionBegin;
  PetscCall(MatDestroy_GPUCSR(A, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Restores the operations of the parent type, except those that PETSc has set since the matrix got our type. */
static PetscErrorCode MatGPUCSRRestoreOperations(Mat A)
{
  const Mat_GPUCSR *g = (Mat_GPUCSR *)A->spptr;
  void (**now)(void)  = (void (**)(void))A->ops;
  void (**own)(void)  = (void (**)(void)) & g->own;
  void (**base)(void) = (void (**)(void)) & g->base;

  PetscFunctionBegin;
  for (size_t k = 0; k < sizeof(struct _MatOps) / sizeof(*now); k++) {
    if (now[k] == own[k]) now[k] = base[k];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Turns A, and the blocks of a parallel A, into plain AIJ again. */
PetscErrorCode MatGPUCSRDetach_Private(Mat A)
{
  const PetscBool mpi = ((Mat_GPUCSR *)A->spptr)->mpi;

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
  PetscCall(MatGPUCSRRestoreOperations(A));
  PetscCall(MatGPUCSRResetCOO_Private(A));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatProductSetFromOptions_anytype_C", NULL));
  PetscCall(MatGPUCSRRestoreDefaults(A));
  PetscCall(MatGPUCSRFree(A));
  PetscCall(PetscObjectChangeTypeName((PetscObject)A, mpi ? MATMPIAIJ : MATSEQAIJ));
  PetscFunctionReturn(PETSC_SUCCESS);
}
