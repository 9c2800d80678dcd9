/* How boundary entries cross: through the host, from device to device by NCCL, or by an MPI that reads device memory.  They are
   packed before the local product is launched and set out after it, so that it need not wait for the calls that this takes. */
#include "mat/impls/gpucsr/gpucsrimpl.h"
#include "vec/kernels/gpveckernel.h"

/* needed: the mark orders the streams */
static GpErr MatGPUCSRHaloRecord(MatGPUCSRHalo *H, MatGPUCSRMark mark)
{
  return H->dev->ops->event_record(H->dev, H->mark[mark]);
}

/* a mark that only a timeline wants */
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

/* of the second stream, which is idle then: when the host came by */
static GpErr MatGPUCSRHaloRecordAside(MatGPUCSRHalo *H, MatGPUCSRMark mark)
{
  GpErr err;

  GpDevSwapStreams(H->dev);
  err = MatGPUCSRHaloRecord(H, mark);
  GpDevSwapStreams(H->dev);
  return err;
}

/* the second stream's part of a way; errors leave it with the streams as they were */
static GpErr MatGPUCSRHaloCopyOut(MatGPUCSRHalo *H)
{
  GpDev              dev = H->dev;
  MatGPUCSRHaloSide *S   = H->from;
  GpErr              err;

  GpDevSwapStreams(dev);
  err = dev->ops->event_order(dev, H->mark[MAT_GPUCSR_MARK_PACKED]);
  if (!err) err = dev->ops->copy_out(dev, S->host, S->device, (size_t)S->n * (size_t)H->many * sizeof(double));
  if (!err) err = MatGPUCSRHaloRecord(H, MAT_GPUCSR_MARK_OUT);
  GpDevSwapStreams(dev);
  return err;
}

static GpErr MatGPUCSRHaloCopyIn(MatGPUCSRHalo *H)
{
  GpDev              dev = H->dev;
  MatGPUCSRHaloSide *S   = H->to;
  GpErr              err;

  GpDevSwapStreams(dev);
  err = dev->ops->event_order(dev, H->mark[MAT_GPUCSR_MARK_PACKED]); /* the last product has used what this overwrites */
  if (!err) err = dev->ops->copy_in(dev, S->device, S->host, (size_t)S->n * (size_t)H->many * sizeof(double));
  if (!err) err = MatGPUCSRHaloRecord(H, MAT_GPUCSR_MARK_ARRIVED);
  GpDevSwapStreams(dev);
  return err;
}

static GpErr MatGPUCSRHaloConnect(MatGPUCSRHalo *H)
{
  GpDev dev = H->dev;
  GpErr err;

  GpDevSwapStreams(dev);
  err = dev->ops->event_order(dev, H->mark[MAT_GPUCSR_MARK_PACKED]);
  if (!err) err = GpNcclExchange(dev, H->nccl, (int)H->many, &H->from->peers, H->from->device, &H->to->peers, H->to->device);
  if (!err) err = MatGPUCSRHaloRecord(H, MAT_GPUCSR_MARK_ARRIVED);
  GpDevSwapStreams(dev);
  return err;
}

static PetscErrorCode MatGPUCSRHaloCross_Host(MatGPUCSRHalo *H)
{
  GpDev dev = H->dev;

  PetscFunctionBegin;
  if (!H->onhost) { /* else they have been sent before the local product */
    PetscCallGp(dev, "downloading boundary entries", MatGPUCSRHaloCopyOut(H));
    PetscCallGp(dev, "downloading boundary entries", dev->ops->event_wait(dev, H->mark[MAT_GPUCSR_MARK_OUT])); /* so the last exchange's upload is done, too */
    PetscCall(MatGPUCSRHaloReceive(H, H->to->host));
    PetscCall(MatGPUCSRHaloSend(H, H->from->host));
    PetscCall(PetscLogGpuToCpu((PetscLogDouble)(H->from->n * H->many) * sizeof(double)));
  }
  PetscCall(MatGPUCSRHaloWait(H));
  PetscCallGp(dev, "uploading boundary entries", MatGPUCSRHaloCopyIn(H));
  PetscCallGp(dev, "uploading boundary entries", dev->ops->event_order(dev, H->mark[MAT_GPUCSR_MARK_ARRIVED]));
  PetscCall(PetscLogCpuToGpu((PetscLogDouble)(H->to->n * H->many) * sizeof(double)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatGPUCSRHaloCross_NCCL(MatGPUCSRHalo *H)
{
  PetscFunctionBegin;
  PetscCallGp(H->dev, "exchanging boundary entries", MatGPUCSRHaloConnect(H));
  PetscCallGp(H->dev, "exchanging boundary entries", H->dev->ops->event_order(H->dev, H->mark[MAT_GPUCSR_MARK_ARRIVED]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* MPI knows nothing of streams: the host waits until the entries are packed */
static PetscErrorCode MatGPUCSRHaloCross_MPI(MatGPUCSRHalo *H)
{
  GpDev dev = H->dev;

  PetscFunctionBegin;
  PetscCallGp(dev, "packing boundary entries", dev->ops->event_wait(dev, H->mark[MAT_GPUCSR_MARK_PACKED]));
  PetscCall(MatGPUCSRHaloReceive(H, H->to->device));
  PetscCall(MatGPUCSRHaloSend(H, H->from->device));
  PetscCall(MatGPUCSRHaloWait(H));
  if (H->timed) PetscCallGp(dev, "marking a place in the timeline", MatGPUCSRHaloRecordAside(H, MAT_GPUCSR_MARK_ARRIVED));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode (*const MatGPUCSRHaloCross[])(MatGPUCSRHalo *) = {
  [MAT_GPUCSR_HALO_HOST] = MatGPUCSRHaloCross_Host,
  [MAT_GPUCSR_HALO_NCCL] = MatGPUCSRHaloCross_NCCL,
  [MAT_GPUCSR_HALO_MPI]  = MatGPUCSRHaloCross_MPI,
};

/* what stands packed in that side sets out; from the host at once, for there the local product may keep the host busy */
PetscErrorCode MatGPUCSRHaloStart_Private(MatGPUCSRHalo *H, int side, PetscInt many, PetscBool onhost)
{
  PetscFunctionBegin;
  H->from   = &H->side[side];
  H->to     = &H->side[1 - side];
  H->many   = many;
  H->onhost = onhost;
  if (onhost) {
    PetscCall(MatGPUCSRHaloReceive(H, H->to->host));
    PetscCall(MatGPUCSRHaloSend(H, H->from->host));
  }
  PetscCallGp(H->dev, "packing boundary entries", MatGPUCSRHaloRecord(H, MAT_GPUCSR_MARK_PACKED));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* boundary entries are taken from the host's values of x when they are to go to the host and are current there */
PetscErrorCode MatGPUCSRHaloBegin_Private(MatGPUCSRHalo *H, const MatGPUCSRVec *x)
{
  GpDev              dev    = H->dev;
  MatGPUCSRHaloSide *S      = &H->side[0];
  const int32_t      n      = (int32_t)S->n;
  const PetscBool    onhost = (PetscBool)(x && x->host && H->type == MAT_GPUCSR_HALO_HOST);

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(MAT_GPUCSR_HaloBegin, 0, 0, 0, 0));
  PetscCall(MatGPUCSRHaloReserve_Private(H, 1, onhost));
  if (onhost) PetscCallGp(dev, "packing boundary entries", GpVecKernelsHost.gather(dev, n, H->index, x->host, S->host));
  else if (x) PetscCallGp(dev, "packing boundary entries", GpVecKernelsOf(dev)->gather(dev, n, H->device_index, x->device, S->device));
  PetscCall(MatGPUCSRHaloStart_Private(H, x ? 0 : 1, 1, onhost));
  PetscCall(PetscLogEventEnd(MAT_GPUCSR_HaloBegin, 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatGPUCSRHaloEnd_Private(MatGPUCSRHalo *H)
{
  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(MAT_GPUCSR_HaloEnd, 0, 0, 0, 0));
  PetscCall((*MatGPUCSRHaloCross[H->type])(H));
  PetscCall(PetscLogEventEnd(MAT_GPUCSR_HaloEnd, 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}
