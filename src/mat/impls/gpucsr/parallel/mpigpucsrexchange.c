/* Communication of a halo exchange: through pinned host memory and MPI, by NCCL, or by an MPI that accepts device memory.
   Entries are packed before the product with the diagonal block is launched.  Communication is started after that launch, so that the launch is
   not delayed by the calls to MPI or NCCL. */
#include "mat/impls/gpucsr/parallel/mpigpucsr.h"

/* Records a mark on the current stream. */
static GpErr MatGPUCSRHaloRecord(MatGPUCSRHalo *H, MatGPUCSRMark mark)
{
  return GpDevEventRecord(H->dev, H->mark[mark]);
}

/* Records a mark that is needed only for the timeline. */
PetscErrorCode MatGPUCSRHaloMark_Private(MatGPUCSRHalo *H, MatGPUCSRMark mark)
{
  PetscFunctionBegin;
  if (H->timed) PetscCallGp(H->dev, "marking a place in the timeline", MatGPUCSRHaloRecord(H, mark));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatGPUCSRHaloReceive(MatGPUCSRHalo *H, double *buffer)
{
  const GpPeers *peers = &H->to->peers;

  PetscFunctionBegin;
  H->nreceives = peers->n;
  for (int p = 0; p < peers->n; p++) {
    PetscMPIInt n;

    PetscCall(GpCompatMPIIntCast((PetscInt64)H->many * (peers->offset[p + 1] - peers->offset[p]), &n));
    PetscCallMPI(MPI_Irecv(buffer + (size_t)H->many * (size_t)peers->offset[p], n, MPI_DOUBLE, peers->rank[p], H->tag, H->comm, &H->request[p]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatGPUCSRHaloSend(MatGPUCSRHalo *H, const double *buffer)
{
  const GpPeers *peers = &H->from->peers;

  PetscFunctionBegin;
  H->nsends = peers->n;
  for (int p = 0; p < peers->n; p++) {
    PetscMPIInt n;

    PetscCall(GpCompatMPIIntCast((PetscInt64)H->many * (peers->offset[p + 1] - peers->offset[p]), &n));
    PetscCallMPI(MPI_Isend(buffer + (size_t)H->many * (size_t)peers->offset[p], n, MPI_DOUBLE, peers->rank[p], H->tag, H->comm, &H->request[H->nreceives + p]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatGPUCSRHaloWait(MatGPUCSRHalo *H)
{
  PetscFunctionBegin;
  PetscCallMPI(MPI_Waitall(H->nreceives + H->nsends, H->request, MPI_STATUSES_IGNORE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Records a mark on the second stream.  The stream is idle here, so the mark has the time of this call. */
static GpErr MatGPUCSRHaloRecordSecondStream(MatGPUCSRHalo *H, MatGPUCSRMark mark)
{
  GpErr err;

  GpDevPushStream(H->dev, GP_DEV_STREAM_SIDE);
  err = MatGPUCSRHaloRecord(H, mark);
  GpDevPopStream(H->dev);
  return err;
}

/* Copies the packed entries to pinned memory on the second stream.  This function and the next two restore the streams after an error too. */
static GpErr MatGPUCSRHaloCopyOut(MatGPUCSRHalo *H)
{
  GpDev              dev = H->dev;
  MatGPUCSRHaloSide *S   = H->from;
  GpErr              err;

  GpDevPushStream(dev, GP_DEV_STREAM_SIDE);
  err = GpDevEventOrder(dev, H->mark[MAT_GPUCSR_MARK_PACKED]);
  if (!err) err = GpDevCopyOut(dev, S->host, S->device, (size_t)S->n * (size_t)H->many * sizeof(double));
  if (!err) err = MatGPUCSRHaloRecord(H, MAT_GPUCSR_MARK_OUT);
  GpDevPopStream(dev);
  return err;
}

static GpErr MatGPUCSRHaloCopyIn(MatGPUCSRHalo *H)
{
  GpDev              dev = H->dev;
  MatGPUCSRHaloSide *S   = H->to;
  GpErr              err;

  GpDevPushStream(dev, GP_DEV_STREAM_SIDE);
  err = GpDevEventOrder(dev, H->mark[MAT_GPUCSR_MARK_PACKED]); /* the previous product must have used the entries that this copy overwrites */
  if (!err) err = GpDevCopyIn(dev, S->device, S->host, (size_t)S->n * (size_t)H->many * sizeof(double));
  if (!err) err = MatGPUCSRHaloRecord(H, MAT_GPUCSR_MARK_ARRIVED);
  GpDevPopStream(dev);
  return err;
}

static GpErr MatGPUCSRHaloTransferNCCL(MatGPUCSRHalo *H)
{
  GpDev dev = H->dev;
  GpErr err;

  GpDevPushStream(dev, GP_DEV_STREAM_SIDE);
  err = GpDevEventOrder(dev, H->mark[MAT_GPUCSR_MARK_PACKED]);
  if (!err) err = GpNcclExchange(dev, H->nccl, (int)H->many, &H->from->peers, H->from->device, &H->to->peers, H->to->device);
  if (!err) err = MatGPUCSRHaloRecord(H, MAT_GPUCSR_MARK_ARRIVED);
  GpDevPopStream(dev);
  return err;
}

static PetscErrorCode MatGPUCSRHaloExchange_Host(MatGPUCSRHalo *H)
{
  GpDev dev = H->dev;

  PetscFunctionBegin;
  if (!H->onhost) { /* otherwise they were sent by MatGPUCSRHaloBegin_Private() */
    PetscCallGp(dev, "downloading boundary entries", MatGPUCSRHaloCopyOut(H));
    PetscCallGp(dev, "downloading boundary entries", GpDevEventWait(dev, H->mark[MAT_GPUCSR_MARK_OUT])); /* the upload of the previous exchange, on the same stream, has finished too */
    PetscCall(MatGPUCSRHaloReceive(H, H->to->host));
    PetscCall(MatGPUCSRHaloSend(H, H->from->host));
    PetscCall(PetscLogGpuToCpu((PetscLogDouble)(H->from->n * H->many) * sizeof(double)));
  }
  PetscCall(MatGPUCSRHaloWait(H));
  PetscCallGp(dev, "uploading boundary entries", MatGPUCSRHaloCopyIn(H));
  PetscCallGp(dev, "uploading boundary entries", GpDevEventOrder(dev, H->mark[MAT_GPUCSR_MARK_ARRIVED]));
  PetscCall(PetscLogCpuToGpu((PetscLogDouble)(H->to->n * H->many) * sizeof(double)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatGPUCSRHaloExchange_NCCL(MatGPUCSRHalo *H)
{
  PetscFunctionBegin;
  PetscCallGp(H->dev, "exchanging boundary entries", MatGPUCSRHaloTransferNCCL(H));
  PetscCallGp(H->dev, "exchanging boundary entries", GpDevEventOrder(H->dev, H->mark[MAT_GPUCSR_MARK_ARRIVED]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* MPI is not ordered by streams, so the host waits until the entries are packed. */
static PetscErrorCode MatGPUCSRHaloExchange_MPI(MatGPUCSRHalo *H)
{
  GpDev dev = H->dev;

  PetscFunctionBegin;
  PetscCallGp(dev, "packing boundary entries", GpDevEventWait(dev, H->mark[MAT_GPUCSR_MARK_PACKED]));
  PetscCall(MatGPUCSRHaloReceive(H, H->to->device));
  PetscCall(MatGPUCSRHaloSend(H, H->from->device));
  PetscCall(MatGPUCSRHaloWait(H));
  if (H->timed) PetscCallGp(dev, "marking a place in the timeline", MatGPUCSRHaloRecordSecondStream(H, MAT_GPUCSR_MARK_ARRIVED));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode (*const MatGPUCSRHaloExchange[])(MatGPUCSRHalo *) = {
  [MAT_GPUCSR_HALO_HOST] = MatGPUCSRHaloExchange_Host,
  [MAT_GPUCSR_HALO_NCCL] = MatGPUCSRHaloExchange_NCCL,
  [MAT_GPUCSR_HALO_MPI]  = MatGPUCSRHaloExchange_MPI,
};

/* Packs the boundary entries of `many` columns.  onhost: from the values on the host. */
static PetscErrorCode MatGPUCSRHaloPack(MatGPUCSRHalo *H, PetscInt many, const MatGPUCSRVec x[], double *const dx[], PetscBool onhost)
{
  const GpVecKernels *kernels = onhost ? &GpVecKernels_Host : GpVecKernelsOf(H->dev);
  const int32_t       n = (int32_t)H->side[0].n, *index = onhost ? H->index : H->device_index;
  double             *packed = onhost ? H->side[0].host : H->side[0].device;
  const double       *column[MAT_GPUCSR_BATCH];

  PetscFunctionBegin;
  for (PetscInt c = 0; c < many; c++) column[c] = onhost ? x[c].host : dx[c];
  if (many == 1) PetscCallGp(H->dev, "packing boundary entries", kernels->gather(H->dev, n, index, column[0], packed));
  else PetscCallGp(H->dev, "packing boundary entries", kernels->gatherrows(H->dev, n, index, (int)many, column, packed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Begins an exchange (mpigpucsr.h).  With the halo type host, entries are packed from the host values of x if these are current.  Entries packed on
   the host are sent at once, because on the host backend the product with the diagonal block, launched next, occupies the host. */
PetscErrorCode MatGPUCSRHaloBegin_Private(MatGPUCSRHalo *H, PetscInt many, const MatGPUCSRVec x[], double *const dx[])
{
  PetscBool onhost = (PetscBool)(x && H->type == MAT_GPUCSR_HALO_HOST);

  PetscFunctionBegin;
  for (PetscInt c = 0; c < many; c++) onhost = (PetscBool)(onhost && x[c].host);
  PetscCall(PetscLogEventBegin(MAT_GPUCSR_HaloBegin, 0, 0, 0, 0));
  PetscCall(MatGPUCSRHaloReserve_Private(H, many, onhost));
  if (x) PetscCall(MatGPUCSRHaloPack(H, many, x, dx, onhost));
  H->from   = &H->side[x ? 0 : 1];
  H->to     = &H->side[x ? 1 : 0];
  H->many   = many;
  H->onhost = onhost;
  if (onhost) {
    PetscCall(MatGPUCSRHaloReceive(H, H->to->host));
    PetscCall(MatGPUCSRHaloSend(H, H->from->host));
  }
  PetscCallGp(H->dev, "packing boundary entries", MatGPUCSRHaloRecord(H, MAT_GPUCSR_MARK_PACKED));
  PetscCall(PetscLogEventEnd(MAT_GPUCSR_HaloBegin, 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatGPUCSRHaloEnd_Private(MatGPUCSRHalo *H)
{
  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(MAT_GPUCSR_HaloEnd, 0, 0, 0, 0));
  PetscCall((*MatGPUCSRHaloExchange[H->type])(H));
  PetscCall(PetscLogEventEnd(MAT_GPUCSR_HaloEnd, 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}
