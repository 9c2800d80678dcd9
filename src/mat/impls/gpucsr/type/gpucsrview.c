/* MatGPUCSRUpload(), MatGPUCSRGetInfo(), and the lines of a gpucsr matrix in -mat_view ::ascii_info. */
#include "mat/impls/gpucsr/type/gpucsrtype.h"

/* Checks the matrix and gets the operators of this rank and their matrices: one for a seq matrix, two and the exchange for a parallel one. A matrix of type gpucsrstream has operators, but
   no block matrices. */
static PetscErrorCode MatGPUCSRGetOperators(Mat A, int *n, Mat block[2], GpOp op[2], MatGPUCSRHalo **halo)
{
  Mat_GPUCSR *g;

  PetscFunctionBegin;
  PetscCall(MatGPUCSRGetData_Private(A, &g));
  PetscCall(MatGPUCSRCheckAssembled_Private(A));
  *n       = g->mpi ? 2 : 1;
  block[0] = A;
  block[1] = NULL;
  PetscCall((*g->getoperators)(A, PETSC_FALSE, op, halo));
  if (g->mpi && !g->fromrows) PetscCall(MatMPIAIJGPUCSRGetBlocks_Private(A, block, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatGPUCSRUpload - Uploads a `MATGPUCSR` matrix to the device now, instead of before the next product

  Collective

  Input Parameter:
. A - the assembled matrix

  Level: intermediate

  Notes:
  Does nothing if the device image is current.

  An error is raised if a value is too large for single storage; the message contains its row and column. An error is also raised if there is too
  little device memory; the message contains the requested and the available bytes.

.seealso: `MATGPUCSR`, `MatGPUCSRGetInfo()`, `MatGPUCSRSetTranspose()`
@*/
PetscErrorCode MatGPUCSRUpload(Mat A)
{
  int            n;
  Mat            block[2];
  GpOp           op[2];
  MatGPUCSRHalo *halo;

  PetscFunctionBegin;
  PetscCall(MatGPUCSRGetOperators(A, &n, block, op, &halo));
  PetscCallGp(op[0]->dev, "waiting for the upload", GpDevSync(op[0]->dev));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatGPUCSRGetInfo - Gets the state of the device image of a `MATGPUCSR` matrix; uploads the matrix first if necessary

  Collective

  Input Parameter:
. A - the assembled matrix

  Output Parameter:
. info - the state on this rank, see `MatGPUCSRInfo`

  Level: intermediate

  Note:
  `storage` is the storage in effect, `MAT_GPUCSR_STORAGE_SINGLE` or `MAT_GPUCSR_STORAGE_DOUBLE`. `MatGPUCSRGetStorage()` gets the requested storage.

.seealso: `MATGPUCSR`, `MatGPUCSRInfo`, `MatGPUCSRUpload()`
@*/
PetscErrorCode MatGPUCSRGetInfo(Mat A, MatGPUCSRInfo *info)
{
  int               n;
  Mat               block[2];
  GpOp              op[2];
  MatGPUCSRHalo    *halo;
  MatGPUCSRRounding rounding = {0};

  PetscFunctionBegin;
  PetscCall(MatGPUCSRGetOperators(A, &n, block, op, &halo));
  PetscCall(PetscMemzero(info, sizeof(*info)));
  info->device   = GpDevName(op[0]->dev);
  info->storage  = MAT_GPUCSR_STORAGE_DOUBLE;
  info->loss_row = info->loss_column = -1;
  for (int b = 0; b < n; b++) {
    PetscLogDouble bytes;

    PetscCall(GpOpGetBytes(op[b], &bytes));
    PetscCall(MatGPUCSRAddRounding_Private(block[b], op[b], &rounding));
    if (op[b]->options.prec == GP_F32) info->storage = MAT_GPUCSR_STORAGE_SINGLE;
    info->bytes += bytes;
    info->seconds += op[b]->seconds;
    if (op[b]->loss.worst > info->loss) {
      info->loss        = op[b]->loss.worst;
      info->loss_row    = op[b]->loss_row;
      info->loss_column = op[b]->loss_column;
    }
  }
  info->values           = (PetscInt64)rounding.nnz;
  info->rounded          = (PetscInt64)rounding.rounded;
  info->lost             = (PetscInt64)rounding.lost;
  info->lossless         = (PetscBool)(info->loss == 0);
  info->kernel           = GpKernelTable[op[0]->side[0].choice.kernel].name;
  info->kernel_transpose = op[0]->has[1] ? GpKernelTable[op[0]->side[1].choice.kernel].name : NULL;
  PetscCall(MatGPUCSRIsSymmetric_Private(A, &info->symmetric));
  if (halo) info->halo = MatGPUCSRHaloTypes[halo->type];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatGPUCSRGetStreamInfo - Gets the state of a streamed matrix: chunks, bytes and times

  Collective

  Input Parameter:
. A - the assembled matrix

  Output Parameter:
. info - the state on this rank, see `MatGPUCSRStreamInfo`

  Level: intermediate

  Notes:
  The matrix has the type `MATGPUCSR` or `MATGPUCSRSTREAM`.

  If no product has encoded the matrix, this function does so. A matrix that is not streamed is uploaded instead, and `streamed` is `PETSC_FALSE`.

.seealso: `MATGPUCSR`, `MatGPUCSRStreamInfo`, `MatGPUCSRSetStream()`
@*/
PetscErrorCode MatGPUCSRGetStreamInfo(Mat A, MatGPUCSRStreamInfo *info)
{
  int            n = 0;
  Mat            block[2];
  GpOp           op[2];
  MatGPUCSRHalo *halo;

  PetscFunctionBegin;
  PetscCall(MatGPUCSRGetOperators(A, &n, block, op, &halo));
  MatGPUCSRGetStreamInfo_Private(n, op, info);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Prints the chunks of a streamed matrix and their sizes, summed over the ranks. Rates are those of one rank, on average. */
static PetscErrorCode MatGPUCSRViewStream(Mat A, PetscViewer viewer, int n, GpOp const op[])
{
  MatGPUCSRStreamInfo info;
  PetscBool           files;
  int                 lacked = 0;

  PetscFunctionBegin;
  MatGPUCSRGetStreamInfo_Private(n, op, &info);
  files = (PetscBool)(((Mat_GPUCSR *)A->spptr)->fromrows && ((Mat_GPUCSR *)A->spptr)->options.stream_file[0]);
  for (int b = 0; b < n; b++) lacked = lacked || (GpOpIsStreamed(op[b]) && op[b]->options.lacked);
  double sum[] = {(double)info.chunks, info.bytes,       info.row_bytes,   info.resident_bytes, info.pageable_bytes, (double)info.streamed, (double)lacked,
                  info.encode_seconds, info.pin_seconds, info.timed_bytes, info.timed_seconds,  info.used_bytes,     info.used_seconds};
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sum, 13, MPI_DOUBLE, MPI_SUM, PetscObjectComm((PetscObject)A)));
  if (sum[5] == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPrintf(viewer, "gpucsr: streamed from %s: %.0f chunks of %.0f bytes (%.0f as compressed rows), %.0f resident on the device\n", files ? "files" : "host memory", sum[0], sum[1], sum[2], sum[3]));
  PetscCall(PetscViewerASCIIPrintf(viewer, "gpucsr: encoding: %.2g s (%.3g GB/s of compressed rows); pinned memory: %.2g s; transfers: %.3g GB/s; decoding and multiplying: %.3g GB/s of chunks\n", sum[7], sum[7] > 0 ? 1e-9 * sum[2] / sum[7] : 0.0,
                                   sum[8], sum[10] > 0 ? 1e-9 * sum[9] / sum[10] : 0.0, sum[12] > 0 ? 1e-9 * sum[11] / sum[12] : 0.0));
  if (sum[6] > 0) PetscCall(PetscViewerASCIIPrintf(viewer, "gpucsr: streamed because the device memory is too small for compressed rows, or for building the transpose\n"));
  if (sum[4] > 0) PetscCall(PetscViewerASCIIPrintf(viewer, "gpucsr: %.0f bytes of the chunks could not be pinned and are copied in each product; raise the limit of locked memory (ulimit -l)\n", sum[4]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatGPUCSRViewSide(PetscViewer viewer, const char what[], GpOp op, int t, PetscBool symmetric)
{
  const GpOpSide *S = &op->side[t];

  PetscFunctionBegin;
  if (op->has[t]) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "gpucsr: %s: kernel %s, format %s (%s)%s%s\n", what, GpKernelTable[S->choice.kernel].name, GpOpIsStreamed(op) ? "chunks" : GpFmtTable[S->fmt.id].name, S->choice.why,
                                     S->choice.runner_up >= 0 ? "; second-best kernel " : "", S->choice.runner_up >= 0 ? GpKernelTable[S->choice.runner_up].name : ""));
  } else PetscCall(PetscViewerASCIIPrintf(viewer, "gpucsr: %s: %s\n", what, symmetric ? "the matrix itself, which is symmetric" : "built by the first product that needs it"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Prints bytes and counts summed over the ranks, the maxima of loss and seconds, and the kernels of the first rank. */
PetscErrorCode MatGPUCSRViewInfo_Private(Mat A, PetscViewer viewer)
{
  MatGPUCSRInfo  info;
  Mat            block[2];
  GpOp           op[2];
  int            n;
  MatGPUCSRHalo *halo;
  MPI_Comm       comm = PetscObjectComm((PetscObject)A);
  const char    *storage, *automatic;

  PetscFunctionBegin;
  PetscCall(MatGPUCSRGetInfo(A, &info));
  PetscCall(MatGPUCSRGetOperators(A, &n, block, op, &halo));
  double worst[] = {(double)info.loss, (double)info.seconds}, sum[] = {(double)info.bytes, (double)info.values, (double)info.rounded, (double)info.lost};
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, worst, 2, MPI_DOUBLE, MPI_MAX, comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sum, 4, MPI_DOUBLE, MPI_SUM, comm));
  storage   = MatGPUCSRStorages[info.storage];
  automatic = ((Mat_GPUCSR *)A->spptr)->options.storage == MAT_GPUCSR_STORAGE_AUTO ? ", chosen by storage auto" : "";
  if (worst[0] > 0) PetscCall(PetscViewerASCIIPrintf(viewer, "gpucsr: %s values, %.0f of %.0f rounded, %.0f lost, largest relative change %.2e\n", storage, sum[2], sum[1], sum[3], worst[0]));
  else PetscCall(PetscViewerASCIIPrintf(viewer, "gpucsr: %s values%s, lossless\n", storage, automatic));
  PetscCall(PetscViewerASCIIPrintf(viewer, "gpucsr: %.0f bytes on %s, converted in %.2g s\n", sum[0], info.device, worst[1]));
  for (int b = 0; b < n; b++) {
    PetscCall(MatGPUCSRViewSide(viewer, n == 1 ? "matrix" : b ? "off-diagonal block" : "diagonal block", op[b], 0, info.symmetric));
    PetscCall(MatGPUCSRViewSide(viewer, n == 1 ? "transpose" : "its transpose", op[b], 1, info.symmetric));
  }
  PetscCall(MatGPUCSRViewStream(A, viewer, n, op));
  if (halo) PetscCall(MatGPUCSRHaloViewLine_Private(halo, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatView_GPUCSR(Mat A, PetscViewer viewer)
{
  PetscBool         ascii;
  PetscViewerFormat format;

  PetscFunctionBegin;
  PetscCall((*MatGPUCSRBase_Private(A)->view)(A, viewer));
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii || !A->assembled || A->factortype || !A->spptr) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerGetFormat(viewer, &format));
  if (format == PETSC_VIEWER_ASCII_INFO || format == PETSC_VIEWER_ASCII_INFO_DETAIL) PetscCall(MatGPUCSRViewInfo_Private(A, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}
