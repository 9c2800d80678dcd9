/* The parallel product with several vectors: a message holds a batch of columns, by rows, for what is sent is gathered row by row. */
#include "mat/impls/gpucsr/gpucsrmany.h"
#include "vec/kernels/gpveckernel.h"

PetscErrorCode MatGPUCSRManyExchangeDestroy_Private(GpDev dev, MatGPUCSRMany *M)
{
  PetscFunctionBegin;
  if (M->boundary) dev->ops->release_pinned(dev, M->boundary);
  if (M->ghosts) dev->ops->release_pinned(dev, M->ghosts);
  M->boundary = M->ghosts = NULL;
  GpDevFree(dev, &M->device_boundary, M->nboundary * sizeof(double));
  GpDevFree(dev, &M->device_ghosts, M->nghosts * sizeof(double));
  if (M->copied) dev->ops->event_destroy(dev, M->copied);
  M->copied = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* buffers for this exchange, free to be written */
static PetscErrorCode MatGPUCSRManyExchange(Mat_GPUCSR *g, const MatGPUCSRHalo *H, MatGPUCSRMany **many)
{
  const size_t   nb = (size_t)H->nboundary * MAT_GPUCSR_BATCH, ng = (size_t)H->nghosts * MAT_GPUCSR_BATCH;
  GpDev          dev = H->dev;
  MatGPUCSRMany *M;

  PetscFunctionBegin;
  if (!g->many) PetscCall(PetscNew(&g->many));
  *many = M = g->many;
  if (M->copied) PetscCallGp(dev, "waiting for the last exchange", dev->ops->event_wait(dev, M->copied));
  if (M->copied && M->nboundary == nb && M->nghosts == ng) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGPUCSRManyExchangeDestroy_Private(dev, M));
  M->nboundary = nb;
  M->nghosts   = ng;
  PetscCallGp(dev, "making room for boundary entries", dev->ops->alloc_pinned(dev, (nb + 1) * sizeof(double), (void **)&M->boundary));
  PetscCallGp(dev, "making room for ghost entries", dev->ops->alloc_pinned(dev, (ng + 1) * sizeof(double), (void **)&M->ghosts));
  PetscCallGp(dev, "making room for boundary entries", GpDevAlloc(dev, nb * sizeof(double), &M->device_boundary));
  PetscCallGp(dev, "making room for ghost entries", GpDevAlloc(dev, ng * sizeof(double), &M->device_ghosts));
  PetscCallGp(dev, "creating an event", dev->ops->event_create(dev, &M->copied));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y_c = Ad x_c, then y_c += Ao ghosts_c */
static PetscErrorCode MatGPUCSRMultManyForward(MatGPUCSRHalo *H, MatGPUCSRMany *M, MPI_Datatype unit, GpOp diagonal, GpOp offdiagonal, PetscInt k, const MatGPUCSRVec x[], double *const dx[], double *const dy[])
{
  GpDev         dev = H->dev;
  const double *column[MAT_GPUCSR_BATCH];
  PetscBool     here = PETSC_TRUE;

  PetscFunctionBegin;
  for (PetscInt c = 0; c < k; c++) here = (PetscBool)(here && x[c].host);
  for (PetscInt c = 0; c < k; c++) column[c] = here ? x[c].host : dx[c];
  if (here) {
    PetscCallGp(dev, "packing the boundary", GpVecKernelsHost.gatherrows(dev, (int32_t)H->nboundary, H->index, (int)k, column, M->boundary));
    PetscCall(PetscSFBcastWithMemTypeBegin(H->sf, unit, PETSC_MEMTYPE_HOST, M->boundary, PETSC_MEMTYPE_HOST, M->ghosts, MPI_REPLACE));
  } else {
    PetscCallGp(dev, "packing the boundary", GpVecKernelsOf(dev)->gatherrows(dev, (int32_t)H->nboundary, H->device_index, (int)k, column, M->device_boundary));
    PetscCallGp(dev, "downloading the boundary", dev->ops->copy_out(dev, M->boundary, M->device_boundary, (size_t)H->nboundary * k * sizeof(double)));
    PetscCallGp(dev, "downloading the boundary", dev->ops->event_record(dev, M->copied));
  }
  PetscCall(GpOpMultMany(diagonal, PETSC_FALSE, k, PETSC_FALSE, 1, (const double *const *)dx, 1, dy));
  if (!here) {
    PetscCallGp(dev, "downloading the boundary", dev->ops->event_wait(dev, M->copied));
    PetscCall(PetscSFBcastWithMemTypeBegin(H->sf, unit, PETSC_MEMTYPE_HOST, M->boundary, PETSC_MEMTYPE_HOST, M->ghosts, MPI_REPLACE));
  }
  PetscCall(PetscSFBcastEnd(H->sf, unit, M->boundary, M->ghosts, MPI_REPLACE));
  if (offdiagonal->side[0].csr.nnz) {
    for (PetscInt c = 0; c < k; c++) column[c] = M->device_ghosts + c;
    PetscCallGp(dev, "uploading the ghosts", dev->ops->copy_in(dev, M->device_ghosts, M->ghosts, (size_t)H->nghosts * k * sizeof(double)));
    PetscCallGp(dev, "recording the ghosts' copy", dev->ops->event_record(dev, M->copied));
    PetscCall(GpOpMultMany(offdiagonal, PETSC_FALSE, k, PETSC_TRUE, k, column, 1, dy));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ghosts_c = Ao' x_c, sent to their owners while y_c = Ad' x_c; then what arrives from others is added */
static PetscErrorCode MatGPUCSRMultManyTranspose(MatGPUCSRHalo *H, MatGPUCSRMany *M, MPI_Datatype unit, GpOp diagonal, GpOp offdiagonal, PetscInt k, double *const dx[], double *const dy[])
{
  GpDev   dev = H->dev;
  double *column[MAT_GPUCSR_BATCH];

  PetscFunctionBegin;
  for (PetscInt c = 0; c < k; c++) column[c] = M->device_ghosts + c;
  if (H->nghosts) PetscCall(GpOpMultMany(offdiagonal, PETSC_TRUE, k, PETSC_FALSE, 1, (const double *const *)dx, k, column));
  PetscCallGp(dev, "downloading the ghosts", dev->ops->copy_out(dev, M->ghosts, M->device_ghosts, (size_t)H->nghosts * k * sizeof(double)));
  PetscCallGp(dev, "downloading the ghosts", dev->ops->event_record(dev, M->copied));
  PetscCall(GpOpMultMany(diagonal, PETSC_TRUE, k, PETSC_FALSE, 1, (const double *const *)dx, 1, dy));
  PetscCallGp(dev, "downloading the ghosts", dev->ops->event_wait(dev, M->copied));
  PetscCall(PetscArrayzero(M->boundary, H->nboundary * k));
  PetscCall(PetscSFReduceWithMemTypeBegin(H->sf, unit, PETSC_MEMTYPE_HOST, M->ghosts, PETSC_MEMTYPE_HOST, M->boundary, MPIU_SUM));
  PetscCall(PetscSFReduceEnd(H->sf, unit, M->ghosts, M->boundary, MPIU_SUM));
  PetscCallGp(dev, "uploading the boundary", dev->ops->copy_in(dev, M->device_boundary, M->boundary, (size_t)H->nboundary * k * sizeof(double)));
  PetscCallGp(dev, "recording the boundary's copy", dev->ops->event_record(dev, M->copied));
  PetscCallGp(dev, "adding the boundary", GpVecKernelsOf(dev)->scatteraddrows(dev, (int32_t)H->nboundary, H->device_index, (int)k, M->device_boundary, dy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatGPUCSRMultMany_MPI_Private(Mat A, PetscBool transpose, PetscInt k, const MatGPUCSRVec x[], double *const dx[], double *const dy[])
{
  Mat_GPUCSR     *g = (Mat_GPUCSR *)A->spptr;
  Mat             Ad, Ao;
  const PetscInt *columns;
  MatGPUCSRHalo  *halo = NULL;
  MatGPUCSRMany  *many = NULL;
  GpOp            diagonal, offdiagonal;
  MPI_Datatype    unit = MPIU_SCALAR; /* PetscSF has no sum for a derived type of one scalar */

  PetscFunctionBegin;
  PetscCall(MatGPUCSRGetBlocks_Private(A, &Ad, &Ao, &columns));
  PetscCall(MatGPUCSRGetHalo_Private(A, Ao, columns, &halo));
  PetscCall(MatGPUCSRGetOperator_Private(Ad, transpose, &diagonal));
  PetscCall(MatGPUCSRGetOperator_Private(Ao, transpose, &offdiagonal));
  PetscCall(MatGPUCSRManyExchange(g, halo, &many));
  if (k > 1) {
    PetscCallMPI(MPI_Type_contiguous((PetscMPIInt)k, MPIU_SCALAR, &unit));
    PetscCallMPI(MPI_Type_commit(&unit));
  }
  if (transpose) PetscCall(MatGPUCSRMultManyTranspose(halo, many, unit, diagonal, offdiagonal, k, dx, dy));
  else PetscCall(MatGPUCSRMultManyForward(halo, many, unit, diagonal, offdiagonal, k, x, dx, dy));
  if (k > 1) PetscCallMPI(MPI_Type_free(&unit));
  PetscCall(MatGPUCSRLogFlops_Private(halo->dev, PetscMax(2.0 * diagonal->side[0].csr.nnz + 2.0 * offdiagonal->side[0].csr.nnz - A->rmap->n, 0.0) * k));
  PetscFunctionReturn(PETSC_SUCCESS);
}
