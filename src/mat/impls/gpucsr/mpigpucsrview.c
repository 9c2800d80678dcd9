/* What a parallel matrix says of its exchange: the way, the amount, and a timeline of one product. */
#include "mat/impls/gpucsr/gpucsrimpl.h"

#define PRODUCTS 5 /* of which the last is told */

/* microseconds from the beginning of a product to every mark */
static PetscErrorCode MatGPUCSRHaloTime(Mat A, MatGPUCSRHalo *H, double microseconds[MAT_GPUCSR_MARKS])
{
  GpDev dev = H->dev;
  Vec   x, y;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecSet(x, 1));
  H->timed = PETSC_TRUE;
  for (int k = 0; k < PRODUCTS; k++) {
    PetscCallGp(dev, "waiting for a product", dev->ops->sync(dev));
    PetscCallMPI(MPI_Barrier(H->comm));
    PetscCall(MatMult(A, x, y));
  }
  H->timed = PETSC_FALSE;
  PetscCallGp(dev, "waiting for a product", dev->ops->sync(dev));
  for (int m = 0; m < MAT_GPUCSR_MARKS; m++) {
    double seconds = 0;

    if (m != MAT_GPUCSR_MARK_OUT || (H->type == MAT_GPUCSR_HALO_HOST && !H->onhost)) {
      PetscCallGp(dev, "timing a product", dev->ops->event_wait(dev, H->mark[m]));
      PetscCallGp(dev, "timing a product", dev->ops->event_seconds(dev, H->mark[MAT_GPUCSR_MARK_BEGIN], H->mark[m], &seconds));
    }
    microseconds[m] = 1e6 * seconds;
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatGPUCSRHaloView_Private(Mat A, PetscViewer viewer, PetscBool detail)
{
  MatGPUCSRHalo *H = NULL;
  PetscMPIInt    rank;
  PetscInt64     n, sum, most;
  double         t[MAT_GPUCSR_MARKS];
  char           out[64] = "";

  PetscFunctionBegin;
  PetscCall(MatGPUCSRGetHalo_Private(A, &H));
  n = H->side[0].n;
  PetscCallMPI(MPI_Allreduce(&n, &sum, 1, MPIU_INT64, MPI_SUM, H->comm));
  PetscCallMPI(MPI_Allreduce(&n, &most, 1, MPIU_INT64, MPI_MAX, H->comm));
  PetscCall(PetscViewerASCIIPrintf(viewer, "gpucsr: boundary entries cross by %s (%s): %" PetscInt64_FMT ", at most %" PetscInt64_FMT " from one rank\n", MatGPUCSRHaloTypes_Private[H->type], H->why, sum, most));
  if (!detail) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Comm_rank(H->comm, &rank));
  PetscCall(MatGPUCSRHaloTime(A, H, t));
  PetscCall(PetscViewerASCIIPushSynchronized(viewer));
  if (t[MAT_GPUCSR_MARK_OUT] > 0) PetscCall(PetscSNPrintf(out, sizeof(out), "on the host %.1f, ", t[MAT_GPUCSR_MARK_OUT]));
  PetscCall(PetscViewerASCIISynchronizedPrintf(viewer, "gpucsr: [%d] sends %" PetscInt_FMT " entries to %d ranks, receives %" PetscInt_FMT " from %d; microseconds from the start: packed %.1f, %sarrived %.1f, local product %.1f, done %.1f\n", rank,
                                               H->side[0].n, H->side[0].peers.n, H->side[1].n, H->side[1].peers.n, t[MAT_GPUCSR_MARK_PACKED], out, t[MAT_GPUCSR_MARK_ARRIVED], t[MAT_GPUCSR_MARK_LOCAL], t[MAT_GPUCSR_MARK_END]));
  PetscCall(PetscViewerFlush(viewer));
  PetscCall(PetscViewerASCIIPopSynchronized(viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}
