/* Products of a parallel matrix with one vector.  Only the boundary entries of x (for the transpose: contributions to y on other ranks) are
   communicated, while the diagonal block multiplies. */
#include "mat/impls/gpucsr/parallel/mpigpucsr.h"

/* Computes y = Ad x + z while the boundary entries are exchanged, then y += Ao ghosts.  Ad: diagonal block; Ao: off-diagonal block. */
static PetscErrorCode MatMPIAIJGPUCSRMultForward(MatGPUCSRHalo *H, GpOp diagonal, GpOp offdiagonal, const MatGPUCSRVec *x, const double *z, double *y)
{
  PetscFunctionBegin;
  PetscCall(MatGPUCSRHaloBegin_Private(H, x));
  PetscCall(MatGPUCSRMultOperator_Private(diagonal, PETSC_FALSE, x->device, z, y));
  PetscCall(MatGPUCSRHaloMark_Private(H, MAT_GPUCSR_MARK_LOCAL));
  PetscCall(MatGPUCSRHaloEnd_Private(H));
  if (offdiagonal->side[0].csr.nnz) PetscCall(MatGPUCSRMultOperator_Private(offdiagonal, PETSC_FALSE, H->side[1].device, y, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes ghosts = Ao' x, then y = Ad' x + z while the ghost entries are sent to their owners.  Then adds the received entries to y in rank
   order, so that results have the same bits in every run. */
static PetscErrorCode MatMPIAIJGPUCSRMultTranspose(MatGPUCSRHalo *H, GpOp diagonal, GpOp offdiagonal, const double *x, const double *z, double *y)
{
  const GpPeers *peers = &H->side[0].peers;

  PetscFunctionBegin;
  PetscCall(MatGPUCSRMultOperator_Private(offdiagonal, PETSC_TRUE, x, NULL, H->side[1].device));
  PetscCall(MatGPUCSRHaloBegin_Private(H, NULL));
  PetscCall(MatGPUCSRMultOperator_Private(diagonal, PETSC_TRUE, x, z, y));
  PetscCall(MatGPUCSRHaloMark_Private(H, MAT_GPUCSR_MARK_LOCAL));
  PetscCall(MatGPUCSRHaloEnd_Private(H));
  for (int p = 0; p < peers->n; p++) {
    const int32_t from = peers->offset[p], n = peers->offset[p + 1] - from;

    PetscCallGp(H->dev, "adding boundary entries", GpVecKernelsOf(H->dev)->scatteradd(H->dev, n, H->device_index + from, H->side[0].device + from, y));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatMPIAIJGPUCSRMult_Private(Mat A, PetscBool transpose, Vec x, Vec z, Vec y)
{
  Mat            block[2];
  MatGPUCSRHalo *halo = NULL;
  GpOp           op[2];
  MatGPUCSRVec   xa, ya, za;
  Mat_GPUCSR    *g = (Mat_GPUCSR *)A->spptr;

  PetscFunctionBegin;
  PetscCall(PetscGPUCSRGetDevice_Private(&g->dev));
  PetscCall(MatMPIAIJGPUCSRGetHalo_Private(A, block, &halo));
  PetscCall(MatMPIAIJGPUCSRGetOperators_Private(A, block, transpose, op));
  PetscCall(MatGPUCSRVecGetRead_Private(A, transpose ? 1 : 0, x, &xa));
  PetscCall(MatGPUCSRVecGetResult_Private(A, transpose ? 0 : 1, y, z, &ya, &za));
  PetscCall(MatGPUCSRHaloMark_Private(halo, MAT_GPUCSR_MARK_BEGIN));
  if (transpose) PetscCall(MatMPIAIJGPUCSRMultTranspose(halo, op[0], op[1], xa.device, z ? za.device : NULL, ya.device));
  else PetscCall(MatMPIAIJGPUCSRMultForward(halo, op[0], op[1], &xa, z ? za.device : NULL, ya.device));
  PetscCall(MatGPUCSRHaloMark_Private(halo, MAT_GPUCSR_MARK_END));
  PetscCall(MatGPUCSRVecRestoreResult_Private(A, y, z, &ya, &za));
  PetscCall(MatGPUCSRVecRestoreRead_Private(x, &xa));
  PetscCall(PetscGPUCSRLogFlops_Private(halo->dev, PetscMax(2.0 * op[0]->side[0].csr.nnz + 2.0 * op[1]->side[0].csr.nnz - (z ? 0.0 : (PetscLogDouble)(op[0]->side[0].csr.m - op[0]->side[0].features.empty)), 0.0)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
