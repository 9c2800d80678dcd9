/* Communication of a halo exchange: through pinned host memory and MPI, by NCCL, or by an MPI that accepts device memory.
   Entries are packed before the product with the diagonal block is launched.  Communication is started after that launch, so that the launch is
   not delayed by the calls to MPI or NCCL. */
#include "mat/impls/gpucsr/parallel/mpigpucsr.h"

#include <math.h>

/* Records a mark that is needed only for the timeline. */
PetscErrorCode MatGPUCSRHaloMark_Private(MatGPUCSRHalo *H, MatGPUCSRMark mark)
{
  PetscFunctionBegin;
  if (H->timed) PetscCallGp(H->dev, "marking a place in the timeline", GpDevEventRecord(H->dev, H->mark[mark]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Begins to receive into one buffer and to send from another one. */
static PetscErrorCode MatGPUCSRHaloSendReceive(MatGPUCSRHalo *H, double *to, const double *from)
{
  MPI_Request *request = H->request;

  PetscFunctionBegin;
  H->progress = MAT_GPUCSR_EXCHANGE_POSTED;
  for (int s = 0; s < 2; s++) {
    const GpPeers *peers = s ? &H->from->peers : &H->to->peers;

    for (int p = 0; p < peers->n; p++) {
      const size_t first = (size_t)H->many * (size_t)peers->offset[p];
      PetscMPIInt  n;

      PetscCall(GpCompatMPIIntCast((PetscInt64)H->many * (peers->offset[p + 1] - peers->offset[p]), &n));
      if (s) PetscCallMPI(MPI_Isend(from + first, n, MPI_DOUBLE, peers->rank[p], H->tag, H->comm, request++));
      else PetscCallMPI(MPI_Irecv(to + first, n, MPI_DOUBLE, peers->rank[p], H->tag, H->comm, request++));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatGPUCSRHaloWait(MatGPUCSRHalo *H)
{
  PetscFunctionBegin;
  PetscCallMPI(MPI_Waitall(H->to->peers.n + H->from->peers.n, H->request, MPI_STATUSES_IGNORE));
  H->progress = MAT_GPUCSR_EXCHANGE_DONE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Runs a transfer on the second stream and records a mark after it.  MAT_GPUCSR_MARK_OUT: copies the packed entries to pinned memory.
   MAT_GPUCSR_MARK_ARRIVED: copies the received entries from pinned memory, or sends and receives by NCCL, or, with the halo type mpi, only records the
   mark.  The transfer waits until the entries are packed; then the previous product has used the entries that are overwritten. */
static GpErr MatGPUCSRHaloTransfer(MatGPUCSRHalo *H, MatGPUCSRMark mark)
{
  GpDev        dev   = H->dev;
  const size_t bytes = (size_t)H->many * sizeof(double);
  GpErr        err;

  err = GpDevPushStream(dev, GP_DEV_STREAM_SIDE);
  if (err) return err;
  err = GpDevEventOrder(dev, H->mark[MAT_GPUCSR_MARK_PACKED]);
  if (!err && mark == MAT_GPUCSR_MARK_OUT) err = GpDevCopyOut(dev, H->from->host, H->from->device, (size_t)H->from->n * bytes);
  else if (!err && H->type == MAT_GPUCSR_HALO_HOST) err = GpDevCopyIn(dev, H->to->device, H->to->host, (size_t)H->to->n * bytes);
  else if (!err && H->type == MAT_GPUCSR_HALO_NCCL) err = GpNcclExchange(dev, H->nccl, (int)H->many, &H->from->peers, H->from->device, &H->to->peers, H->to->device);
  if (!err) err = GpDevEventRecord(dev, H->mark[mark]);
  (void)GpDevPopStream(dev); /* after an error too */
  return err;
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
  if (x) {
    const GpVecKernels *kernels = onhost ? &GpVecKernels_Host : GpVecKernelsOf(H->dev);
    const int32_t       n = (int32_t)H->side[0].n, *index = onhost ? H->index : H->device_index;
    double             *packed = onhost ? H->side[0].host : H->side[0].device;
    const double       *column[MAT_GPUCSR_BATCH];

    for (PetscInt c = 0; c < many; c++) column[c] = onhost ? x[c].host : dx[c];
    if (many == 1) PetscCallGp(H->dev, "packing boundary entries", kernels->gather(H->dev, n, index, column[0], packed));
    else PetscCallGp(H->dev, "packing boundary entries", kernels->gatherrows(H->dev, n, index, (int)many, column, packed));
  }
  H->from   = &H->side[x ? 0 : 1];
  H->to     = &H->side[x ? 1 : 0];
  H->many   = many;
  H->onhost = onhost;
  if (onhost) PetscCall(MatGPUCSRHaloSendReceive(H, H->to->host, H->from->host));
  PetscCallGp(H->dev, "packing boundary entries", GpDevEventRecord(H->dev, H->mark[MAT_GPUCSR_MARK_PACKED]));
  PetscCall(PetscLogEventEnd(MAT_GPUCSR_HaloBegin, 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Completes an exchange.  MPI is not ordered by streams: with the halo type mpi the host waits until the entries are packed. */
PetscErrorCode MatGPUCSRHaloEnd_Private(MatGPUCSRHalo *H)
{
  GpDev           dev  = H->dev;
  const PetscBool host = (PetscBool)(H->type == MAT_GPUCSR_HALO_HOST), mpi = (PetscBool)(H->type == MAT_GPUCSR_HALO_MPI);
  const char     *what = host ? "uploading boundary entries" : "exchanging boundary entries";

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(MAT_GPUCSR_HaloEnd, 0, 0, 0, 0));
  if (host && !H->onhost) { /* otherwise they were sent by MatGPUCSRHaloBegin_Private() */
    PetscCallGp(dev, "downloading boundary entries", MatGPUCSRHaloTransfer(H, MAT_GPUCSR_MARK_OUT));
    PetscCallGp(dev, "downloading boundary entries", GpDevEventWait(dev, H->mark[MAT_GPUCSR_MARK_OUT])); /* the upload of the previous exchange, on the same stream, has finished too */
    PetscCall(MatGPUCSRHaloSendReceive(H, H->to->host, H->from->host));
    PetscCall(PetscLogGpuToCpu((PetscLogDouble)(H->from->n * H->many) * sizeof(double)));
  }
  if (mpi) {
    PetscCallGp(dev, "packing boundary entries", GpDevEventWait(dev, H->mark[MAT_GPUCSR_MARK_PACKED]));
    PetscCall(MatGPUCSRHaloSendReceive(H, H->to->device, H->from->device));
  }
  if (host || mpi) PetscCall(MatGPUCSRHaloWait(H));
  H->progress = MAT_GPUCSR_EXCHANGE_DONE;
  if (!mpi || H->timed) PetscCallGp(dev, what, MatGPUCSRHaloTransfer(H, MAT_GPUCSR_MARK_ARRIVED));
  if (!mpi) PetscCallGp(dev, what, GpDevEventOrder(dev, H->mark[MAT_GPUCSR_MARK_ARRIVED]));
  if (host) PetscCall(PetscLogCpuToGpu((PetscLogDouble)(H->to->n * H->many) * sizeof(double)));
  PetscCall(PetscLogEventEnd(MAT_GPUCSR_HaloEnd, 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Completes the exchange of a product that failed on this rank.  Entries that were not sent yet are sent as NaN, from memory of the host, because the device or its buffers may be what
   failed.  NCCL reads device memory only, so it sends what is there. */
PetscErrorCode MatGPUCSRHaloAbandon_Private(MatGPUCSRHalo *H, PetscInt many, PetscBool transpose)
{
  double *entries;
  size_t  sent;

  PetscFunctionBegin;
  if (H->progress == MAT_GPUCSR_EXCHANGE_POSTED) PetscCall(MatGPUCSRHaloWait(H));
  if (H->progress == MAT_GPUCSR_EXCHANGE_DONE) PetscFunctionReturn(PETSC_SUCCESS);
  H->from = &H->side[transpose ? 1 : 0];
  H->to   = &H->side[transpose ? 0 : 1];
  H->many = many;
  if (H->type == MAT_GPUCSR_HALO_NCCL) {
    if (many <= H->capacity) PetscCallGp(H->dev, "exchanging boundary entries after a failure", MatGPUCSRHaloTransfer(H, MAT_GPUCSR_MARK_ARRIVED));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  sent = (size_t)H->from->n * (size_t)many;
  PetscCall(PetscMalloc1(sent + (size_t)H->to->n * (size_t)many, &entries));
  for (size_t k = 0; k < sent; k++) entries[k] = NAN;
  PetscCall(MatGPUCSRHaloSendReceive(H, entries + sent, entries));
  PetscCall(MatGPUCSRHaloWait(H));
  PetscCall(PetscFree(entries));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the error of the ranks with the largest code, 0 if no rank has failed, and the first of these ranks. */
PetscErrorCode MatGPUCSRReduceError_Private(Mat A, PetscErrorCode mine, PetscErrorCode *worst, PetscMPIInt *where)
{
  PetscMPIInt rank;
  struct {
    int error, rank;
  } w;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)A), &rank));
  w.error = (int)mine;
  w.rank  = rank;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &w, 1, MPI_2INT, MPI_MAXLOC, PetscObjectComm((PetscObject)A)));
  *worst = (PetscErrorCode)w.error;
  *where = w.rank;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatGPUCSRAgree_Private(Mat A, PetscErrorCode mine, const char what[])
{
  PetscErrorCode worst;
  PetscMPIInt    rank;

  PetscFunctionBegin;
  PetscCall(MatGPUCSRReduceError_Private(A, mine, &worst, &rank));
  PetscCall(mine);
  PetscCheck(!worst, PETSC_COMM_SELF, worst, "%s failed on rank %d of its communicator; the message of that rank says why", what, rank);
  PetscFunctionReturn(PETSC_SUCCESS);
}
