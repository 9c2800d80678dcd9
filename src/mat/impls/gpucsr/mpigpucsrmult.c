/* The parallel product: only the boundary entries of x (or the ghosts' share of y) cross between device and host and
   between ranks, and they travel while the diagonal block multiplies. */
#include "mat/impls/gpucsr/gpucsrimpl.h"
#include "vec/kernels/gpveckernel.h"

PetscErrorCode MatGPUCSRHaloDestroy_Private(MatGPUCSRHalo **halo)
{
  MatGPUCSRHalo *H = *halo;

  PetscFunctionBegin;
  if (!H) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscSFDestroy(&H->sf));
  PetscCall(PetscFree(H->index));
  if (H->boundary) H->dev->ops->release_pinned(H->dev, H->boundary);
  if (H->ghosts) H->dev->ops->release_pinned(H->dev, H->ghosts);
  GpDevFree(H->dev, &H->device_index, (size_t)H->nboundary * sizeof(int32_t));
  GpDevFree(H->dev, &H->device_boundary, (size_t)H->nboundary * sizeof(double));
  GpDevFree(H->dev, &H->device_ghosts, (size_t)H->nghosts * sizeof(double));
  if (H->packed) H->dev->ops->event_destroy(H->dev, H->packed);
  PetscCall(PetscFree(*halo));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The graph from packed boundary entries to ghosts.  Its roots are compact: a boundary buffer is all that travels, never the
   whole vector. */
static PetscErrorCode MatGPUCSRHaloGraph(Mat A, MatGPUCSRHalo *H, const PetscInt columns[])
{
  PetscSF            whole; /* from all of x to the ghosts */
  const PetscInt    *degree;
  PetscInt          *packed, *place, n = A->cmap->n, nb = 0;
  const PetscSFNode *owners;
  PetscSFNode       *remote;

  PetscFunctionBegin;
  PetscCall(PetscSFCreate(PetscObjectComm((PetscObject)A), &whole));
  PetscCall(PetscSFSetGraphLayout(whole, A->cmap, H->nghosts, NULL, PETSC_COPY_VALUES, (PetscInt *)columns));
  PetscCall(PetscSFComputeDegreeBegin(whole, &degree));
  PetscCall(PetscSFComputeDegreeEnd(whole, &degree));
  for (PetscInt i = 0; i < n; i++) nb += degree[i] > 0;
  PetscCall(PetscMalloc1(nb, &H->index));
  PetscCall(PetscMalloc2(n, &packed, H->nghosts, &place));
  H->nboundary = 0;
  for (PetscInt i = 0; i < n; i++) {
    packed[i] = H->nboundary;
    if (degree[i] > 0) H->index[H->nboundary++] = (int32_t)i;
  }
  PetscCall(PetscSFBcastBegin(whole, MPIU_INT, packed, place, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(whole, MPIU_INT, packed, place, MPI_REPLACE));
  PetscCall(PetscSFGetGraph(whole, NULL, NULL, NULL, &owners));
  PetscCall(PetscMalloc1(H->nghosts, &remote));
  for (PetscInt k = 0; k < H->nghosts; k++) remote[k] = (PetscSFNode){.rank = owners[k].rank, .index = place[k]};
  PetscCall(PetscSFCreate(PetscObjectComm((PetscObject)A), &H->sf));
  PetscCall(PetscSFSetGraph(H->sf, H->nboundary, H->nghosts, NULL, PETSC_OWN_POINTER, remote, PETSC_OWN_POINTER));
  PetscCall(PetscSFSetUp(H->sf));
  PetscCall(PetscFree2(packed, place));
  PetscCall(PetscSFDestroy(&whole));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatGPUCSRHaloBuffers(MatGPUCSRHalo *H)
{
  GpDev  dev = H->dev;
  size_t nb = (size_t)H->nboundary, ng = (size_t)H->nghosts;

  PetscFunctionBegin;
  PetscCallGp(dev, "making room for boundary entries", dev->ops->alloc_pinned(dev, (nb + 1) * sizeof(double), (void **)&H->boundary));
  PetscCallGp(dev, "making room for ghost entries", dev->ops->alloc_pinned(dev, (ng + 1) * sizeof(double), (void **)&H->ghosts));
  PetscCallGp(dev, "making room for boundary indices", GpDevAlloc(dev, nb * sizeof(int32_t), &H->device_index));
  PetscCallGp(dev, "making room for boundary entries", GpDevAlloc(dev, nb * sizeof(double), &H->device_boundary));
  PetscCallGp(dev, "making room for ghost entries", GpDevAlloc(dev, ng * sizeof(double), &H->device_ghosts));
  PetscCallGp(dev, "uploading boundary indices", GpDevUpload(dev, H->device_index, H->index, nb * sizeof(int32_t)));
  PetscCallGp(dev, "creating an event", dev->ops->event_create(dev, &H->packed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* made anew when the pattern, or a block, is another; collective, as these changes are */
PetscErrorCode MatGPUCSRGetHalo_Private(Mat A, Mat offdiagonal, const PetscInt columns[], MatGPUCSRHalo **halo)
{
  Mat_GPUCSR   *g = (Mat_GPUCSR *)A->spptr;
  PetscObjectId id;

  PetscFunctionBegin;
  PetscCall(PetscObjectGetId((PetscObject)offdiagonal, &id));
  if (!g->halo || g->halo->nonzerostate != A->nonzerostate || g->halo->offdiagonal != id) {
    PetscCall(MatGPUCSRHaloDestroy_Private(&g->halo));
    PetscCall(PetscNew(&g->halo));
    g->halo->nonzerostate = A->nonzerostate;
    g->halo->offdiagonal  = id;
    g->halo->dev          = g->dev;
    g->halo->nghosts      = offdiagonal->cmap->n;
    PetscCall(MatGPUCSRHaloGraph(A, g->halo, columns));
    PetscCall(MatGPUCSRHaloBuffers(g->halo));
  }
  *halo = g->halo;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y = Ad x + z, then y += Ao ghosts */
static PetscErrorCode MatGPUCSRMult_MPI(MatGPUCSRHalo *H, GpOp diagonal, GpOp offdiagonal, const MatGPUCSRVec *x, const double *z, double *y)
{
  GpDev           dev  = H->dev;
  const PetscBool here = (PetscBool)(x->host != NULL);

  PetscFunctionBegin;
  if (here) {
    PetscCallGp(dev, "packing the boundary", GpVecKernelsHost.gather(dev, (int32_t)H->nboundary, H->index, x->host, H->boundary));
    PetscCall(PetscSFBcastWithMemTypeBegin(H->sf, MPIU_SCALAR, PETSC_MEMTYPE_HOST, H->boundary, PETSC_MEMTYPE_HOST, H->ghosts, MPI_REPLACE));
  } else {
    PetscCallGp(dev, "packing the boundary", GpVecKernelsOf(dev)->gather(dev, (int32_t)H->nboundary, H->device_index, x->device, H->device_boundary));
    PetscCallGp(dev, "downloading the boundary", dev->ops->copy_out(dev, H->boundary, H->device_boundary, (size_t)H->nboundary * sizeof(double)));
    PetscCallGp(dev, "downloading the boundary", dev->ops->event_record(dev, H->packed));
  }
  PetscCall(GpOpMult(diagonal, PETSC_FALSE, x->device, z, y));
  if (!here) {
    PetscCallGp(dev, "downloading the boundary", dev->ops->event_wait(dev, H->packed));
    PetscCall(PetscSFBcastWithMemTypeBegin(H->sf, MPIU_SCALAR, PETSC_MEMTYPE_HOST, H->boundary, PETSC_MEMTYPE_HOST, H->ghosts, MPI_REPLACE));
  }
  PetscCall(PetscSFBcastEnd(H->sf, MPIU_SCALAR, H->boundary, H->ghosts, MPI_REPLACE));
  if (offdiagonal->side[0].csr.nnz) {
    PetscCallGp(dev, "uploading the ghosts", dev->ops->copy_in(dev, H->device_ghosts, H->ghosts, (size_t)H->nghosts * sizeof(double)));
    PetscCall(GpOpMult(offdiagonal, PETSC_FALSE, H->device_ghosts, y, y));
    /* the ghosts' buffer is filled again by the next product, which must not overtake this copy */
    PetscCallGp(dev, "recording the ghosts' copy", dev->ops->event_record(dev, H->packed));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ghosts = Ao' x, sent to their owners while y = Ad' x + z; what arrives from others is added by MatGPUCSRAddBoundary() */
static PetscErrorCode MatGPUCSRMultTranspose_MPI(MatGPUCSRHalo *H, GpOp diagonal, GpOp offdiagonal, const double *x, const double *z, double *y)
{
  GpDev dev = H->dev;

  PetscFunctionBegin;
  PetscCall(GpOpMult(offdiagonal, PETSC_TRUE, x, NULL, H->device_ghosts));
  PetscCallGp(dev, "downloading the ghosts", dev->ops->copy_out(dev, H->ghosts, H->device_ghosts, (size_t)H->nghosts * sizeof(double)));
  PetscCallGp(dev, "downloading the ghosts", dev->ops->event_record(dev, H->packed));
  PetscCall(GpOpMult(diagonal, PETSC_TRUE, x, z, y));
  PetscCallGp(dev, "downloading the ghosts", dev->ops->event_wait(dev, H->packed));
  PetscCall(PetscArrayzero(H->boundary, H->nboundary));
  PetscCall(PetscSFReduceWithMemTypeBegin(H->sf, MPIU_SCALAR, PETSC_MEMTYPE_HOST, H->ghosts, PETSC_MEMTYPE_HOST, H->boundary, MPIU_SUM));
  PetscCall(PetscSFReduceEnd(H->sf, MPIU_SCALAR, H->ghosts, H->boundary, MPIU_SUM));
  PetscCallGp(dev, "uploading the boundary", dev->ops->copy_in(dev, H->device_boundary, H->boundary, (size_t)H->nboundary * sizeof(double)));
  PetscCallGp(dev, "adding the boundary", GpVecKernelsOf(dev)->scatteradd(dev, (int32_t)H->nboundary, H->device_index, H->device_boundary, y));
  PetscCallGp(dev, "recording the boundary's copy", dev->ops->event_record(dev, H->packed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatGPUCSRProduct_MPI(Mat A, PetscBool transpose, Vec x, Vec z, Vec y)
{
  Mat             Ad, Ao;
  const PetscInt *columns;
  MatGPUCSRHalo  *halo = NULL;
  GpOp            diagonal, offdiagonal;
  MatGPUCSRVec    xa, ya, za;
  Mat_GPUCSR     *g = (Mat_GPUCSR *)A->spptr;

  PetscFunctionBegin;
  PetscCall(PetscGPUCSRGetDevice_Private(&g->dev));
  PetscCall(MatGPUCSRGetBlocks_Private(A, &Ad, &Ao, &columns));
  PetscCall(MatGPUCSRGetHalo_Private(A, Ao, columns, &halo));
  PetscCall(MatGPUCSRGetOperator_Private(Ad, transpose, &diagonal));
  PetscCall(MatGPUCSRGetOperator_Private(Ao, transpose, &offdiagonal));
  PetscCallGp(halo->dev, "waiting for the last exchange", halo->dev->ops->event_wait(halo->dev, halo->packed));
  PetscCall(MatGPUCSRVecGetRead_Private(A, transpose ? 1 : 0, x, &xa));
  PetscCall(MatGPUCSRVecGetResult_Private(A, transpose ? 0 : 1, y, z, &ya, &za));
  if (transpose) PetscCall(MatGPUCSRMultTranspose_MPI(halo, diagonal, offdiagonal, xa.device, z ? za.device : NULL, ya.device));
  else PetscCall(MatGPUCSRMult_MPI(halo, diagonal, offdiagonal, &xa, z ? za.device : NULL, ya.device));
  PetscCall(MatGPUCSRVecRestoreResult_Private(A, y, z, &ya, &za));
  PetscCall(MatGPUCSRVecRestoreRead_Private(x, &xa));
  PetscCall(MatGPUCSRLogFlops_Private(halo->dev, PetscMax(2.0 * diagonal->side[0].csr.nnz + 2.0 * offdiagonal->side[0].csr.nnz - (z ? 0.0 : (PetscLogDouble)A->rmap->n), 0.0)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
