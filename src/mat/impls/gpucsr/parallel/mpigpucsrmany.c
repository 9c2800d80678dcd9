/* Parallel products with several vectors.  A message contains the boundary entries of a batch of columns, row by row: all values of one
   entry are adjacent. */
#include "mat/impls/gpucsr/parallel/mpigpucsr.h"

/* Computes y_c = Ad x_c while the boundary entries are exchanged, then y_c += Ao ghosts_c.  Ad: diagonal block; Ao: off-diagonal block. */
static PetscErrorCode MatMPIAIJGPUCSRMultBatchForward(MatGPUCSRHalo *H, GpOp diagonal, GpOp offdiagonal, PetscInt k, const MatGPUCSRVec x[], double *const dx[], double *const dy[])
{
  GpDev         dev = H->dev;
  const double *column[MAT_GPUCSR_BATCH];
  PetscBool     onhost = (PetscBool)(H->type == MAT_GPUCSR_HALO_HOST);

  PetscFunctionBegin;
  for (PetscInt c = 0; c < k; c++) onhost = (PetscBool)(onhost && x[c].host);
  for (PetscInt c = 0; c < k; c++) column[c] = onhost ? x[c].host : dx[c];
  PetscCall(MatGPUCSRHaloReserve_Private(H, k, onhost));
  if (onhost) PetscCallGp(dev, "packing boundary entries", GpVecKernels_Host.gatherrows(dev, (int32_t)H->side[0].n, H->index, (int)k, column, H->side[0].host));
  else PetscCallGp(dev, "packing boundary entries", GpVecKernelsOf(dev)->gatherrows(dev, (int32_t)H->side[0].n, H->device_index, (int)k, column, H->side[0].device));
  PetscCall(MatGPUCSRHaloStart_Private(H, 0, k, onhost));
  PetscCall(MatGPUCSRMultOperatorMany_Private(diagonal, PETSC_FALSE, k, PETSC_FALSE, 1, (const double *const *)dx, 1, dy));
  PetscCall(MatGPUCSRHaloEnd_Private(H));
  if (offdiagonal->side[0].csr.nnz) {
    for (PetscInt c = 0; c < k; c++) column[c] = H->side[1].device + c;
    PetscCall(MatGPUCSRMultOperatorMany_Private(offdiagonal, PETSC_FALSE, k, PETSC_TRUE, k, column, 1, dy));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes ghosts_c = Ao' x_c, then y_c = Ad' x_c while the ghost entries are sent to their owners.  Then adds the received entries to y_c
   in rank order. */
static PetscErrorCode MatMPIAIJGPUCSRMultBatchTranspose(MatGPUCSRHalo *H, GpOp diagonal, GpOp offdiagonal, PetscInt k, double *const dx[], double *const dy[])
{
  GpDev          dev   = H->dev;
  const GpPeers *peers = &H->side[0].peers;
  double        *column[MAT_GPUCSR_BATCH];

  PetscFunctionBegin;
  PetscCall(MatGPUCSRHaloReserve_Private(H, k, PETSC_FALSE));
  for (PetscInt c = 0; c < k; c++) column[c] = H->side[1].device + c;
  if (H->side[1].n) PetscCall(MatGPUCSRMultOperatorMany_Private(offdiagonal, PETSC_TRUE, k, PETSC_FALSE, 1, (const double *const *)dx, k, column));
  PetscCall(MatGPUCSRHaloStart_Private(H, 1, k, PETSC_FALSE));
  PetscCall(MatGPUCSRMultOperatorMany_Private(diagonal, PETSC_TRUE, k, PETSC_FALSE, 1, (const double *const *)dx, 1, dy));
  PetscCall(MatGPUCSRHaloEnd_Private(H));
  for (int p = 0; p < peers->n; p++) {
    const int32_t from = peers->offset[p], n = peers->offset[p + 1] - from;

    PetscCallGp(dev, "adding boundary entries", GpVecKernelsOf(dev)->scatteraddrows(dev, n, H->device_index + from, (int)k, H->side[0].device + (size_t)from * (size_t)k, dy));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatMPIAIJGPUCSRMultBatch_Private(Mat A, PetscBool transpose, PetscInt k, const MatGPUCSRVec x[], double *const dx[], double *const dy[])
{
  Mat            block[2];
  MatGPUCSRHalo *halo = NULL;
  GpOp           op[2];

  PetscFunctionBegin;
  PetscCall(MatMPIAIJGPUCSRGetHalo_Private(A, block, &halo));
  PetscCall(MatMPIAIJGPUCSRGetOperators_Private(A, block, transpose, op));
  if (transpose) PetscCall(MatMPIAIJGPUCSRMultBatchTranspose(halo, op[0], op[1], k, dx, dy));
  else PetscCall(MatMPIAIJGPUCSRMultBatchForward(halo, op[0], op[1], k, x, dx, dy));
  PetscCall(PetscGPUCSRLogFlops_Private(halo->dev, (2.0 * op[0]->side[0].csr.nnz + 2.0 * op[1]->side[0].csr.nnz) * k));
  PetscFunctionReturn(PETSC_SUCCESS);
}
