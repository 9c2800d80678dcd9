/* An operator whose matrix is streamed: set-up from the arrays of an AIJ matrix on the host, refills, products. */
#include "mat/impls/gpucsr/operator/gpoperator.h"

#define GP_OP_SMALL ((double)(64 << 20)) /* size in bytes below which a matrix is assumed to fit, because a query of the free device memory takes as long as a small upload */

static double GpOpRowBytes(GpPrec prec, double rows, double nnz)
{
  return (rows + 1) * sizeof(int32_t) + nnz * (double)(sizeof(int32_t) + GpPrecBytes(prec));
}

/* Sets *streams if `bytes` bytes of compressed rows exceed the free device memory. On the host backend, memory is bounded only by -gpucsr_device_memory. */
static PetscErrorCode GpOpExceeds(GpOp op, double bytes, PetscBool *streams)
{
  size_t available = 0, total = 0;

  PetscFunctionBegin;
  *streams = PETSC_FALSE;
  if (GpDevMemoryLimit(op->dev) <= 0 && (!GpDevHasMemory(op->dev) || bytes < GP_OP_SMALL)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallGp(op->dev, "asking for the free device memory", GpDevGetMemory(op->dev, &available, &total));
  *streams = (PetscBool)(bytes > (double)available);
  if (*streams) PetscCall(PetscInfo(NULL, "gpucsr: a matrix is streamed: its compressed rows take %.0f bytes, and %zu are free on the device\n", bytes, available));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets *streams if the options require streaming, or if they permit it and the compressed rows do not fit. */
PetscErrorCode GpOpMustStream_Private(GpOp op, const GpOpOptions *options, PetscInt m, PetscInt n, PetscInt nnz, PetscBool *streams)
{
  const double bytes = GpOpRowBytes(options->prec, (double)m, (double)nnz) + (options->transpose ? GpOpRowBytes(options->prec, (double)n, (double)nnz) : 0) + options->beside;

  PetscFunctionBegin;
  *streams = (PetscBool)(options->streaming == GP_OP_STREAM_ALWAYS);
  if (options->streaming == GP_OP_STREAM_AUTO) PetscCall(GpOpExceeds(op, bytes, streams));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GpOpMustStreamTranspose(GpOp op, PetscBool *streams)
{
  const GpCsr *A = &op->side[0].csr;

  PetscFunctionBegin;
  *streams = PETSC_FALSE;
  if (op->options.streaming == GP_OP_STREAM_AUTO && !op->options.transpose) PetscCall(GpOpExceeds(op, GpOpRowBytes(A->prec, A->n, A->nnz), streams));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static GpChunkSource GpOpSource(GpOp op, const PetscInt rowptr[], const PetscInt col[], const double val[])
{
  return (GpChunkSource){.m = op->side[0].csr.m, .n = op->side[0].csr.n, .prec = op->options.prec, .rowbytes = sizeof(PetscInt), .colbytes = sizeof(PetscInt), .rowptr = rowptr, .col = col, .val = val};
}

/* Encodes one side. The bound on resident chunks is shared: the transpose gets what is left after the device memory of the matrix (resident chunks, buffers and workspace). */
static GpErr GpOpCreateSide(GpOp op, int t, const GpRowSource *rows, GpLoss *loss)
{
  GpOpSide         *S       = &op->side[t];
  GpOpStreamOptions options = op->options.chunks;
  GpOpStreamInfo    info    = {.device_bytes = 0};
  GpErr             err;

  if (t) GpOpStreamGetInfo(op->side[0].stream, &info);
  if (options.resident >= 0) options.resident = PetscMax(options.resident - info.device_bytes, 0);
  err = GpOpStreamCreate(op->dev, &options, op->options.kernel, rows, &S->stream, loss);
  if (err) return err;
  S->features = *GpOpStreamGetFeatures(S->stream);
  S->choice   = *GpOpStreamGetChoice(S->stream);
  op->has[t]  = PETSC_TRUE;
  return GP_SUCCESS;
}

/* Sets the position of the largest rounding error. If encoding failed, raises an error; a refused value or pattern is named by row and column. */
static PetscErrorCode GpOpSetStreamLoss(GpOp op, GpErr err, const PetscInt rowptr[], const PetscInt col[], const double val[], const GpOpPlace *place)
{
  PetscFunctionBegin;
  if (op->loss.overflow >= 0) PetscCall(GpOpRefuseValue_Private(op, rowptr, col, val, place));
  if (err == GP_ERR_ARGUMENT) PetscCall(GpOpRefusePattern_Private(op->side[0].csr.m, op->side[0].csr.n, rowptr, col, place));
  PetscCallGp(op->dev, err == GP_ERR_MEMORY ? "streaming the matrix (a smaller -mat_gpucsr_stream_chunk or fewer -mat_gpucsr_stream_buffers take less memory)" : "encoding the matrix for streaming", err);
  op->loss_row = op->loss_column = -1;
  if (op->loss.at >= 0) PetscCall(GpOpLocate_Private(op, op->loss.at, rowptr, col, &op->loss_row, &op->loss_column));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GpOpSetUpStream_Private(GpOp op, PetscInt m, PetscInt n, const PetscInt rowptr[], const PetscInt col[], const double val[], const GpOpPlace *place)
{
  GpChunkSource source;
  GpRowSource   rows;
  GpErr         err;

  PetscFunctionBegin;
  op->side[0].csr = (GpCsr){.prec = op->options.prec, .m = (int32_t)m, .n = (int32_t)n, .nnz = (int32_t)rowptr[m]};
  if (rowptr[0]) PetscCall(GpOpRefusePattern_Private(m, n, rowptr, col, place));
  source = GpOpSource(op, rowptr, col, val);
  GpOpRowsOfArrays(&source, &rows);
  err = GpOpCreateSide(op, 0, &rows, &op->loss);
  PetscCall(GpOpSetStreamLoss(op, err, rowptr, col, val, place));
  PetscCall(PetscInfo(NULL, "gpucsr: matrix %d x %d, %d nonzeros: streamed, kernel %s (%s)\n", (int)m, (int)n, (int)rowptr[m], GpKernelTable[op->side[0].choice.kernel].name, op->side[0].choice.why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Encodes the transpose, or its new values if it has been encoded before. */
static PetscErrorCode GpOpStreamTranspose(GpOp op, const PetscInt rowptr[], const PetscInt col[], const double val[])
{
  const GpCsr   *A      = &op->side[0].csr;
  GpChunkSource  source = GpOpSource(op, rowptr, col, val);
  GpOpTransposed T;
  GpRowSource    rows;
  GpLoss         loss; /* not used: the rounding error is that of the matrix itself */
  GpErr          err;

  PetscFunctionBegin;
  PetscCallGp(op->dev, "transposing the matrix on the host", GpOpTransposedCreate(op->dev, &source, &T, &rows));
  err = op->side[1].stream ? GpOpStreamRefill(op->side[1].stream, &rows, &loss) : GpOpCreateSide(op, 1, &rows, &loss);
  GpOpTransposedDestroy(&T);
  PetscCallGp(op->dev, err == GP_ERR_MEMORY ? "streaming the transpose (a smaller -mat_gpucsr_stream_chunk, fewer -mat_gpucsr_stream_buffers or -mat_gpucsr_transpose lazy take less memory)" : "encoding the transpose for streaming", err);
  op->side[1].csr = (GpCsr){.prec = A->prec, .m = A->n, .n = A->m, .nnz = A->nnz};
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GpOpSetUpTransposeStream(GpOp op, const PetscInt rowptr[], const PetscInt col[], const double val[])
{
  PetscFunctionBegin;
  if (op->options.shared) { /* the chunks of the matrix serve both products */
    op->side[1].csr      = (GpCsr){.prec = op->side[0].csr.prec, .m = op->side[0].csr.n, .n = op->side[0].csr.m, .nnz = op->side[0].csr.nnz};
    op->side[1].features = op->side[0].features;
    op->side[1].choice   = *GpOpStreamGetTransposedChoice(op->side[0].stream);
    op->has[1]           = PETSC_TRUE;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscTimeSubtract(&op->seconds));
  PetscCall(GpOpStreamTranspose(op, rowptr, col, val));
  PetscCall(PetscTimeAdd(&op->seconds));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GpOpRefillStream_Private(GpOp op, const PetscInt rowptr[], const PetscInt col[], const double val[], const GpOpPlace *place)
{
  GpChunkSource source = GpOpSource(op, rowptr, col, val);
  GpRowSource   rows;
  GpErr         err;

  PetscFunctionBegin;
  GpOpRowsOfArrays(&source, &rows);
  err = GpOpStreamRefill(op->side[0].stream, &rows, &op->loss);
  PetscCall(GpOpSetStreamLoss(op, err, rowptr, col, val, place));
  if (op->side[1].stream) PetscCall(GpOpStreamTranspose(op, rowptr, col, val));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Logs the bytes that a product has transferred. */
static PetscErrorCode GpOpLogStream(GpOpStream S)
{
  GpOpStreamInfo info;

  PetscFunctionBegin;
  GpOpStreamGetInfo(S, &info);
  PetscCall(PetscLogCpuToGpu(info.stream.moved_last));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A visit of the chunks cannot be captured in a graph, because the host takes part in it. */
PetscErrorCode GpOpMultStream_Private(GpOp op, int t, const double x[], const double z[], double y[])
{
  const PetscBool  turned = (PetscBool)(t && op->options.shared);
  const GpOpStream S      = op->side[turned ? 0 : t].stream;

  PetscFunctionBegin;
  if (GpGraphRefuse(op->dev)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallGp(op->dev, "multiplying by streaming the matrix", turned ? GpOpStreamMultTransposed(S, x, z, y) : GpOpStreamMult(S, x, z, y));
  PetscCall(GpOpLogStream(S));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GpOpMultManyStream_Private(GpOp op, int t, PetscInt k, PetscBool add, PetscInt incx, const double *const x[], PetscInt incy, double *const y[])
{
  const PetscBool  turned = (PetscBool)(t && op->options.shared);
  const GpOpStream S      = op->side[turned ? 0 : t].stream;

  PetscFunctionBegin;
  if (GpGraphRefuse(op->dev)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallGp(op->dev, "multiplying by streaming the matrix", turned ? GpOpStreamMultManyTransposed(S, k, add, incx, x, incy, y) : GpOpStreamMultMany(S, k, add, incx, x, incy, y));
  PetscCall(GpOpLogStream(S));
  PetscFunctionReturn(PETSC_SUCCESS);
}
