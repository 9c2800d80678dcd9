/* Setup of the halo exchange of a parallel product: lists of boundary and ghost entries, buffers, and the halo type. */
#include "mat/impls/gpucsr/parallel/mpigpucsr.h"

static PetscErrorCode MatGPUCSRHaloFreeBuffers(MatGPUCSRHalo *H)
{
  PetscFunctionBegin;
  for (int s = 0; s < 2; s++) {
    MatGPUCSRHaloSide *S = &H->side[s];

    PetscCall(PetscGPUCSRDeviceFreePinned(H->dev, &S->host));
    GpDevFreeShared(H->dev, &S->device, (size_t)S->n * (size_t)H->capacity * sizeof(double));
  }
  H->capacity = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatGPUCSRHaloDestroy_Private(MatGPUCSRHalo **halo)
{
  MatGPUCSRHalo *H = *halo;
  GpDev          dev;

  PetscFunctionBegin;
  if (!H) PetscFunctionReturn(PETSC_SUCCESS);
  dev = H->dev;
  for (int m = 0; m < MAT_GPUCSR_MARKS; m++) {
    if (H->mark[m]) GpDevEventDestroy(dev, H->mark[m]);
  }
  PetscCall(MatGPUCSRHaloFreeBuffers(H));
  for (int s = 0; s < 2; s++) PetscCall(PetscFree2(H->side[s].peers.rank, H->side[s].peers.offset));
  GpDevFree(dev, &H->device_index, (size_t)H->side[0].n * sizeof(int32_t));
  PetscCall(PetscFree(H->index));
  PetscCall(PetscFree(H->request));
  PetscCall(PetscFree(*halo));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets one side of the exchange: peers by ascending rank, and the entries of each in the order of the PetscSF.
   n, ranks, offset, entries: number of peers, their ranks, offset of the first entry of each, local index of each entry;
   index: receives the local indices in the new order */
static PetscErrorCode MatGPUCSRHaloSetSide(MatGPUCSRHaloSide *S, PetscInt n, const PetscMPIInt ranks[], const PetscInt offset[], const PetscInt entries[], int32_t index[])
{
  PetscMPIInt *order;
  PetscInt    *place;

  PetscFunctionBegin;
  S->n       = 0;
  S->peers.n = (int)n;
  PetscCall(PetscMalloc2(n, &S->peers.rank, n + 1, &S->peers.offset));
  PetscCall(PetscMalloc2(n, &order, n, &place));
  for (PetscInt p = 0; p < n; p++) {
    order[p] = ranks[p];
    place[p] = p;
  }
  PetscCall(PetscSortMPIIntWithIntArray((PetscMPIInt)n, order, place));
  S->peers.offset[0] = 0;
  for (PetscInt p = 0; p < n; p++) {
    S->peers.rank[p] = order[p];
    for (PetscInt k = offset[place[p]]; k < offset[place[p] + 1]; k++) index[S->n++] = (int32_t)entries[k];
    S->peers.offset[p + 1] = (int32_t)S->n;
  }
  PetscCall(PetscFree2(order, place));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ghost entries are sorted by global column and therefore by owner; each owner sends its entries in this order. */
static PetscErrorCode MatGPUCSRHaloSetPeers(Mat A, MatGPUCSRHalo *H, PetscInt nghosts, const PetscInt columns[])
{
  PetscSF            sf;
  GpSFRanks          nowners, nusers;
  const PetscMPIInt *owners, *users;
  const PetscInt    *offset, *entries;
  int32_t           *ghosts;

  PetscFunctionBegin;
  PetscCall(PetscSFCreate(H->comm, &sf));
  PetscCall(PetscSFSetGraphLayout(sf, A->cmap, nghosts, NULL, PETSC_COPY_VALUES, (PetscInt *)columns));
  PetscCall(PetscSFSetUp(sf));
  PetscCall(PetscSFGetRootRanks(sf, &nowners, &owners, &offset, &entries, NULL));
  PetscCall(PetscMalloc1(nghosts, &ghosts));
  PetscCall(MatGPUCSRHaloSetSide(&H->side[1], nowners, owners, offset, entries, ghosts));
  for (PetscInt k = 0; k < nghosts; k++) PetscCheck(ghosts[k] == k, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Ghost %" PetscInt_FMT " of the off-diagonal block is not in the order of the ranks that own the ghosts", k);
  PetscCall(PetscFree(ghosts));
  PetscCall(PetscSFGetLeafRanks(sf, &nusers, &users, &offset, &entries));
  PetscCall(PetscMalloc1(nusers ? offset[nusers] : 0, &H->index));
  PetscCall(MatGPUCSRHaloSetSide(&H->side[0], nusers, users, offset, entries, H->index));
  PetscCall(PetscSFDestroy(&sf));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatGPUCSRHaloAllocateBuffers(MatGPUCSRHalo *H)
{
  GpDev dev = H->dev;

  PetscFunctionBegin;
  for (int s = 0; s < 2; s++) {
    MatGPUCSRHaloSide *S     = &H->side[s];
    const char        *what  = s ? "allocating memory for ghost entries" : "allocating memory for boundary entries";
    const size_t       bytes = (size_t)S->n * (size_t)H->capacity * sizeof(double);

    if (H->type == MAT_GPUCSR_HALO_HOST && S->n) PetscCallGp(dev, what, GpDevAllocPinned(dev, bytes, (void **)&S->host));
    PetscCallGp(dev, what, GpDevAllocShared(dev, bytes, &S->device));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ensures that the buffers hold `many` values per entry and may be overwritten, which needs the last upload from the host buffers to have
   finished.  No buffers are left after a failure. */
PetscErrorCode MatGPUCSRHaloReserve_Private(MatGPUCSRHalo *H, PetscInt many, PetscBool onhost)
{
  GpDev          dev = H->dev;
  PetscErrorCode err;

  PetscFunctionBegin;
  if (onhost || many > H->capacity) PetscCallGp(dev, "waiting for the last exchange", GpDevEventWait(dev, H->mark[MAT_GPUCSR_MARK_ARRIVED]));
  if (many <= H->capacity) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGPUCSRHaloFreeBuffers(H));
  H->capacity = many;
  err         = MatGPUCSRHaloAllocateBuffers(H);
  if (err) PetscCall(MatGPUCSRHaloFreeBuffers(H));
  PetscCall(err);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Uploads the boundary indices and allocates what an exchange needs, when both sides are set. */
static PetscErrorCode MatGPUCSRHaloSetUp(MatGPUCSRHalo *H)
{
  GpDev        dev   = H->dev;
  const size_t bytes = (size_t)H->side[0].n * sizeof(int32_t);

  PetscFunctionBegin;
  PetscCallGp(dev, "allocating memory for boundary indices", GpDevAlloc(dev, bytes, &H->device_index));
  PetscCallGp(dev, "uploading boundary indices", GpDevUpload(dev, H->device_index, H->index, bytes));
  for (int m = 0; m < MAT_GPUCSR_MARKS; m++) PetscCallGp(dev, "creating an event", GpDevEventCreate(dev, &H->mark[m]));
  PetscCall(PetscMalloc1(H->side[0].peers.n + H->side[1].peers.n, &H->request));
  PetscCall(MatGPUCSRHaloReserve_Private(H, 1, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Selects the halo type, the same on all ranks.  auto: the first of nccl, mpi, host that works on all ranks. */
static PetscErrorCode MatGPUCSRHaloSelectType(Mat A, MatGPUCSRHalo *H)
{
  const PetscBool automatic = (PetscBool)(H->wanted == MAT_GPUCSR_HALO_AUTO);
  const char     *nccl = "", *mpi = "";
  PetscBool       aware = PETSC_FALSE, look;
  int             mine, all;
  PetscMPIInt     size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(H->comm, &size));
  look    = (PetscBool)(automatic && GpDevKindOf(H->dev) != GP_DEV_HOST && size > 1);
  H->type = MAT_GPUCSR_HALO_HOST;
  if (look || H->wanted == MAT_GPUCSR_HALO_NCCL) {
    PetscCall(PetscGPUCSRGetNCCL_Private(H->comm, H->dev, &H->nccl, &nccl));
    PetscCheck(H->nccl || automatic, H->comm, PETSC_ERR_SUP_SYS, "-mat_gpucsr_halo_type nccl: %s. Use host or auto, or install NCCL: libnccl.so.2 must be in the loader's search path, for example in LD_LIBRARY_PATH", nccl);
    if (H->nccl) H->type = MAT_GPUCSR_HALO_NCCL;
  }
  if ((look && !H->nccl) || H->wanted == MAT_GPUCSR_HALO_MPI) {
    PetscCall(PetscGPUCSRIsMPIAware_Private(H->dev, &aware, &mpi));
    mine = (int)aware;
    PetscCallMPI(MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_LAND, H->comm));
    PetscCheck(all || automatic, H->comm, PETSC_ERR_SUP_SYS, "-mat_gpucsr_halo_type mpi: %s. Use host or auto; if this MPI does accept device memory, add -use_gpu_aware_mpi 1", mpi);
    if (all) H->type = MAT_GPUCSR_HALO_MPI;
  }
  if (H->type == MAT_GPUCSR_HALO_NCCL) PetscCall(PetscStrncpy(H->why, nccl, sizeof(H->why)));
  else if (H->type == MAT_GPUCSR_HALO_MPI) PetscCall(PetscStrncpy(H->why, mpi, sizeof(H->why)));
  else if (!automatic) PetscCall(PetscStrncpy(H->why, "as requested", sizeof(H->why)));
  else if (!look) PetscCall(PetscStrncpy(H->why, size > 1 ? "the device is the host backend" : "there is only one rank", sizeof(H->why)));
  else PetscCall(PetscSNPrintf(H->why, sizeof(H->why), "%s; %s", nccl, mpi));
  PetscCall(PetscInfo(A, "gpucsr: halo type %s (%s)\n", MatGPUCSRHaloTypes[H->type], H->why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates an exchange and selects its halo type. */
static PetscErrorCode MatGPUCSRHaloCreate(Mat A, MatGPUCSRHalo **halo)
{
  Mat_GPUCSR    *g = (Mat_GPUCSR *)A->spptr;
  MatGPUCSRHalo *H;

  PetscFunctionBegin;
  PetscCall(PetscNew(&H));
  *halo     = H;
  H->wanted = g->options.halo_type;
  H->dev    = g->dev;
  PetscCall(PetscObjectGetComm((PetscObject)A, &H->comm));
  PetscCall(PetscObjectGetNewTag((PetscObject)A, &H->tag));
  PetscCall(MatGPUCSRHaloSelectType(A, H));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatGPUCSRHaloCreateFromPeers_Private(Mat A, GpPeers peers[2], int32_t **index, MatGPUCSRHalo **halo)
{
  MatGPUCSRHalo *H;

  PetscFunctionBegin;
  PetscCall(MatGPUCSRHaloCreate(A, halo));
  H = *halo;
  for (int s = 0; s < 2; s++) {
    H->side[s] = (MatGPUCSRHaloSide){.n = peers[s].offset[peers[s].n], .peers = peers[s]};
    peers[s]   = (GpPeers){0};
  }
  H->index = *index;
  *index   = NULL;
  PetscCall(MatGPUCSRHaloSetUp(H));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatGPUCSRHaloCreateFromColumns_Private(Mat A, PetscInt nghosts, const PetscInt columns[], MatGPUCSRHalo **halo)
{
  PetscFunctionBegin;
  PetscCall(MatGPUCSRHaloCreate(A, halo));
  PetscCall(MatGPUCSRHaloSetPeers(A, *halo, nghosts, columns));
  PetscCall(MatGPUCSRHaloSetUp(*halo));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the exchange of a matrix.  Creates it anew if the pattern, the off-diagonal block or the option has changed.  Collective, as these changes
   are. */
PetscErrorCode MatGPUCSRHaloGet_Private(Mat A, Mat offdiagonal, const PetscInt columns[], PetscBool *created, MatGPUCSRHalo **halo)
{
  Mat_MPIAIJGPUCSR *g = (Mat_MPIAIJGPUCSR *)A->spptr;
  MatGPUCSRHalo    *H = g->halo;
  PetscObjectId     id;

  PetscFunctionBegin;
  PetscCall(PetscObjectGetId((PetscObject)offdiagonal, &id));
  *created = (PetscBool)(!H || H->nonzerostate != A->nonzerostate || H->offdiagonal != id || H->wanted != g->common.options.halo_type);
  if (*created) {
    PetscCall(MatGPUCSRHaloDestroy_Private(&g->halo));
    PetscCall(MatGPUCSRHaloCreateFromColumns_Private(A, offdiagonal->cmap->n, columns, &g->halo));
    H               = g->halo;
    H->nonzerostate = A->nonzerostate; /* set last, so that the next product tries again after a failure above */
    H->offdiagonal  = id;
  }
  *halo = H;
  PetscFunctionReturn(PETSC_SUCCESS);
}
