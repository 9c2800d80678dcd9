/* Views of the halo exchange of a parallel matrix: its type and number of entries, and a timeline of a product. */
#include "mat/impls/gpucsr/parallel/mpigpucsr.h"

#define PRODUCTS 5 /* number of products of which the last is timed; the others warm up */

/* Measures the time in microseconds from the start of a product to each mark; 0 if the mark was not recorded. */
static PetscErrorCode MatGPUCSRHaloTime(Mat A, MatGPUCSRHalo *H, double microseconds[MAT_GPUCSR_MARKS])
{
  GpDev dev = H->dev;
  Vec   x, y;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecSet(x, 1));
  H->timed = PETSC_TRUE;
  for (int k = 0; k < PRODUCTS; k++) {
    PetscCallGp(dev, "waiting for a product", GpDevSync(dev));
    PetscCallMPI(MPI_Barrier(H->comm));
    PetscCall(MatMult(A, x, y));
  }
  H->timed = PETSC_FALSE;
  PetscCallGp(dev, "waiting for a product", GpDevSync(dev));
  for (int m = 0; m < MAT_GPUCSR_MARKS; m++) {
    double seconds = 0;

    if (m != MAT_GPUCSR_MARK_OUT || (H->type == MAT_GPUCSR_HALO_HOST && !H->onhost)) {
      PetscCallGp(dev, "timing a product", GpDevEventWait(dev, H->mark[m]));
      PetscCallGp(dev, "timing a product", GpDevEventSeconds(dev, H->mark[MAT_GPUCSR_MARK_BEGIN], H->mark[m], &seconds));
    }
    microseconds[m] = 1e6 * seconds;
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Prints the line of -mat_view ::ascii_info. */
PetscErrorCode MatGPUCSRHaloViewLine_Private(const MatGPUCSRHalo *H, PetscViewer viewer)
{
  PetscInt64 n = H->side[0].n, sum, most;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(&n, &sum, 1, MPIU_INT64, MPI_SUM, H->comm));
  PetscCallMPI(MPI_Allreduce(&n, &most, 1, MPIU_INT64, MPI_MAX, H->comm));
  PetscCall(PetscViewerASCIIPrintf(viewer, "gpucsr: halo type %s (%s): %" PetscInt64_FMT " boundary entries on all ranks, at most %" PetscInt64_FMT " on one rank\n", MatGPUCSRHaloTypes[H->type], H->why, sum, most));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatGPUCSRHaloView - Multiplies by a parallel `MATGPUCSR` matrix and prints a timeline of the product on every rank

  Collective

  Input Parameters:
+ A      - the assembled matrix
- viewer - an ASCII viewer, or NULL for the standard output

  Options Database Key:
. -mat_gpucsr_halo_view - prints the timeline before the first product

  Level: advanced

  Notes:
  The timeline tells when the boundary entries were packed, when the entries of other ranks arrived, when the product with the diagonal block ("local
  product") was complete, and when the whole product was complete. The times are measured by the device, in microseconds from the start of the product.

  The exchange is completely hidden if the entries arrive before the local product is complete.

  The function computes five products and prints the times of the last one.

.seealso: `MATGPUCSR`, `MatGPUCSRSetHaloType()`
@*/
PetscErrorCode MatGPUCSRHaloView(Mat A, PetscViewer viewer)
{
  Mat_GPUCSR    *g = NULL;
  GpOp           op[2];
  MatGPUCSRHalo *H = NULL;
  PetscMPIInt    rank;
  double         t[MAT_GPUCSR_MARKS];
  char           out[64] = "";

  PetscFunctionBegin;
  PetscCall(MatGPUCSRGetData_Private(A, &g));
  if (!viewer) PetscCall(PetscViewerASCIIGetStdout(PetscObjectComm((PetscObject)A), &viewer));
  PetscValidHeaderSpecific(viewer, PETSC_VIEWER_CLASSID, 2);
  PetscCheck(g->mpi, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONG, "A sequential matrix has no halo exchange; use a matrix of type %s", MATMPIAIJGPUCSR);
  PetscCall(MatGPUCSRCheckAssembled_Private(A));
  PetscCall((*g->getoperators)(A, PETSC_FALSE, op, &H));
  PetscCallMPI(MPI_Comm_rank(H->comm, &rank));
  PetscCall(MatGPUCSRHaloTime(A, H, t));
  if (t[MAT_GPUCSR_MARK_OUT] > 0) PetscCall(PetscSNPrintf(out, sizeof(out), "in host memory %.1f, ", t[MAT_GPUCSR_MARK_OUT]));
  PetscCall(PetscViewerASCIIPushSynchronized(viewer));
  PetscCall(PetscViewerASCIISynchronizedPrintf(
    viewer, "gpucsr: [%d] halo type %s, sends %" PetscInt_FMT " entries to %d rank(s), receives %" PetscInt_FMT " from %d; microseconds from the start: packed %.1f, %sarrived %.1f, local product %.1f, complete %.1f\n", rank,
    MatGPUCSRHaloTypes[H->type], H->side[0].n, H->side[0].peers.n, H->side[1].n, H->side[1].peers.n, t[MAT_GPUCSR_MARK_PACKED], out, t[MAT_GPUCSR_MARK_ARRIVED], t[MAT_GPUCSR_MARK_LOCAL], t[MAT_GPUCSR_MARK_END]));
  PetscCall(PetscViewerFlush(viewer));
  PetscCall(PetscViewerASCIIPopSynchronized(viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the blocks of a matrix and its halo exchange.  Processes -mat_gpucsr_halo_view if the exchange is new. */
PetscErrorCode MatMPIAIJGPUCSRGetHalo_Private(Mat A, Mat block[2], MatGPUCSRHalo **halo)
{
  const PetscInt   *columns;
  PetscViewer       viewer;
  PetscViewerFormat format;
  PetscBool         created, set;
  PetscErrorCode    err;

  PetscFunctionBegin;
  PetscCall(MatMPIAIJGPUCSRGetBlocks_Private(A, block, &columns));
  err = MatGPUCSRHaloGet_Private(A, block[1], columns, &created, halo);
  if (created) err = MatGPUCSRAgree_Private(A, err, "Setting up the exchange");            /* device memory may be too small on one rank only; the others would wait for it */
  if (err) PetscCall(MatGPUCSRHaloDestroy_Private(&((Mat_MPIAIJGPUCSR *)A->spptr)->halo)); /* all ranks create it again in the next product */
  PetscCall(err);
  if (!created) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(GpCompatOptionsViewer(PetscObjectComm((PetscObject)A), ((PetscObject)A)->options, ((PetscObject)A)->prefix, "-mat_gpucsr_halo_view", &viewer, &format, &set));
  if (set) {
    PetscCall(PetscViewerPushFormat(viewer, format));
    PetscCall(MatGPUCSRHaloView(A, viewer));
    PetscCall(PetscViewerPopFormat(viewer));
    PetscCall(PetscViewerDestroy(&viewer));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
