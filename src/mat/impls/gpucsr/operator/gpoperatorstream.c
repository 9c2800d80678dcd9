/* An operator whose matrix is streamed: set-up from the arrays of an AIJ matrix on the host, refills, products. */
#include "mat/impls/gpucsr/operator/gpoperator.h"
#include "mat/impls/gpucsr/spmv/stream/gpchunkcode.h"

#define GP_OP_LOCATE (1 << 20) /* rows whose row pointers are requested at once while a nonzero is located */

PetscLogEvent GpOp_Encode, GpOp_Pin, GpOp_Fill, GpOp_Transfer, GpOp_Multiply;

static double GpOpRowBytes(GpPrec prec, double rows, double nnz)
{
  return (rows + 1) * sizeof(int32_t) + nnz * (double)(sizeof(int32_t) + GpPrecBytes(prec));
}

double GpOpEstimateBytes(GpDev dev, GpPrec prec, PetscInt m, PetscInt n, PetscInt nnz, PetscBool transpose)
{
  const double bytes = GpOpRowBytes(prec, (double)m, (double)nnz);

  return transpose ? bytes + GpOpRowBytes(prec, (double)n, (double)nnz) + GpCsrTransposeWorkspace(dev, (double)nnz) : bytes;
}

/* Sets *streams if `bytes` bytes of compressed rows exceed the free device memory. */
static PetscErrorCode GpOpExceeds(GpOp op, double bytes, PetscBool *streams)
{
  size_t available = 0;
  int    exceeds;

  PetscFunctionBegin;
  PetscCallGp(op->dev, "getting the free device memory", GpStreamIsNeeded(op->dev, bytes, &exceeds, &available));
  if (exceeds) PetscCall(PetscInfo(NULL, "gpucsr: a matrix is streamed: its compressed rows and the workspace of its transpose take %.0f bytes, and %zu are free on the device\n", bytes, available));
  *streams = (PetscBool)exceeds;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets *streams if the options require streaming, or if they permit it and the compressed rows do not fit. */
PetscErrorCode GpOpMustStream_Private(GpOp op, const GpOpOptions *options, PetscInt m, PetscInt n, PetscInt nnz, PetscBool *streams)
{
  const double bytes = GpOpEstimateBytes(op->dev, options->prec, m, n, nnz, options->transpose) + options->reserved;

  PetscFunctionBegin;
  *streams = (PetscBool)(options->streaming == GP_OP_STREAM_ALWAYS || options->lacked);
  if (options->streaming == GP_OP_STREAM_AUTO && !*streams) PetscCall(GpOpExceeds(op, bytes, streams));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GpOpMustStreamTranspose(GpOp op, PetscBool *streams)
{
  const GpCsr *A = &op->side[0].csr;

  PetscFunctionBegin;
  *streams = PETSC_FALSE;
  if (op->options.streaming == GP_OP_STREAM_AUTO && !op->options.transpose) PetscCall(GpOpExceeds(op, GpOpRowBytes(A->prec, A->n, A->nnz) + GpCsrTransposeWorkspace(op->dev, A->nnz), streams));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static GpChunkSource GpOpSource(GpOp op, const PetscInt rowptr[], const PetscInt col[], const double val[])
{
  return (GpChunkSource){.m = op->side[0].csr.m, .n = op->side[0].csr.n, .prec = op->options.prec, .rowbytes = sizeof(PetscInt), .colbytes = sizeof(PetscInt), .rowptr = rowptr, .col = col, .val = val};
}

/* Logs the encoding of one side and prints its kernel. */
static PetscErrorCode GpOpLogEncoding(GpOp op, int t)
{
  const GpOpSide *S = &op->side[t];
  GpOpStreamInfo  info;

  PetscFunctionBegin;
  GpOpStreamGetInfo(S->stream, &info);
  PetscCall(PetscGPUCSRLogStage_Private(GpOp_Encode, info.encode_seconds, 0));
  PetscCall(PetscGPUCSRLogStage_Private(GpOp_Pin, info.pin_seconds, 0));
  PetscCall(PetscInfo(NULL, "gpucsr: %s %d x %d, %d nonzeros: streamed, kernel %s (%s)\n", t ? "transpose" : "matrix", (int)S->csr.m, (int)S->csr.n, (int)S->csr.nnz, GpKernelTable[S->choice.kernel].name, S->choice.why));
  if (op->options.chunks.chunk <= 0 && info.chunk < (double)GP_CHUNK_BYTES) PetscCall(PetscInfo(NULL, "gpucsr: chunks have at most %.0f bytes as compressed rows, because device memory is too small for buffers of larger ones\n", info.chunk));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Encodes one side. The bound on resident chunks is shared: the transpose gets what is left after the device memory of the matrix (resident chunks, buffers and workspace). */
static GpErr GpOpCreateSide(GpOp op, int t, const GpRowSource *rows, const GpOpFile *file, GpLoss *loss)
{
  GpOpSide         *S       = &op->side[t];
  GpOpStreamOptions options = op->options.chunks;
  GpOpStreamInfo    info    = {.device_bytes = 0};
  GpErr             err;

  if (t) GpOpStreamGetInfo(op->side[0].stream, &info);
  if (options.resident >= 0) options.resident = PetscMax(options.resident - info.device_bytes, 0);
  err = GpOpStreamCreate(op->dev, &options, op->options.kernel, rows, file, &S->stream, loss);
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
  err = GpOpCreateSide(op, 0, &rows, NULL, &op->loss);
  PetscCall(GpOpSetStreamLoss(op, err, rowptr, col, val, place));
  PetscCall(GpOpLogEncoding(op, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the row and column of nonzero k of a row source. */
static GpErr GpOpLocateInRows(const GpRowSource *rows, int64_t k, PetscInt *row, PetscInt *column, char why[GP_CHUNK_WHY])
{
  int64_t       lo = 0, hi = rows->m;
  GpChunkSource piece;
  GpErr         err = GP_SUCCESS;

  for (int64_t before = 0, first = 0; !err && first < rows->m && hi - lo > 1; first += GP_OP_LOCATE) {
    const int64_t end = PetscMin(first + GP_OP_LOCATE, rows->m);

    err = rows->get(rows->context, first, end, 0, &piece, why);
    for (int64_t i = 0; !err && i < end - first && hi - lo > 1; i++) {
      const int64_t next = before + GpChunkRowPointer(&piece, i + 1) - GpChunkRowPointer(&piece, i);

      if (k < next) {
        lo = first + i;
        hi = lo + 1;
        k -= before;
      }
      before = next;
    }
  }
  if (!err) err = rows->get(rows->context, lo, lo + 1, 1, &piece, why);
  if (err) return err;
  *row    = (PetscInt)lo;
  *column = (PetscInt)GpChunkColumn(&piece, k);
  return GP_SUCCESS;
}

/* Encodes the rows of a source. The source has checked the columns and that no value overflows. */
PetscErrorCode GpOpSetUpStreamRows_Private(GpOp op, const GpRowSource *rows, const GpOpFile *file)
{
  char  why[GP_CHUNK_WHY] = "";
  GpErr err;

  PetscFunctionBegin;
  op->side[0].csr = (GpCsr){.prec = rows->prec, .m = (int32_t)PetscMin(rows->m, INT32_MAX), .n = rows->n};
  err             = GpOpCreateSide(op, 0, rows, file, &op->loss);
  PetscCallGp(op->dev, err == GP_ERR_MEMORY ? "streaming the matrix (a smaller -mat_gpucsr_stream_chunk or fewer -mat_gpucsr_stream_buffers take less memory)" : "encoding the matrix for streaming", err);
  op->nnz             = GpOpStreamGetNonzeros(op->side[0].stream);
  op->side[0].csr.nnz = (int32_t)PetscMin(op->nnz, INT32_MAX);
  op->loss_row = op->loss_column = -1;
  if (op->loss.at >= 0) {
    err = GpOpLocateInRows(rows, op->loss.at, &op->loss_row, &op->loss_column, why);
    PetscCheck(!err, PETSC_COMM_SELF, PetscGPUCSRErrorClass(err), "locating the value with the largest rounding error: %s", why);
  }
  PetscCall(GpOpLogEncoding(op, 0));
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
  err = op->side[1].stream ? GpOpStreamRefill(op->side[1].stream, &rows, &loss) : GpOpCreateSide(op, 1, &rows, NULL, &loss);
  GpOpTransposedDestroy(&T);
  PetscCallGp(op->dev, err == GP_ERR_MEMORY ? "streaming the transpose (a smaller -mat_gpucsr_stream_chunk, fewer -mat_gpucsr_stream_buffers or -mat_gpucsr_transpose lazy take less memory)" : "encoding the transpose for streaming", err);
  op->side[1].csr = (GpCsr){.prec = A->prec, .m = A->n, .n = A->m, .nnz = A->nnz};
  PetscCall(GpOpLogEncoding(op, 1));
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

/* Logs the duration of a stage for the bytes that have not been logged yet. The device times a sample of the items; all items take as long for each byte as those of the sample that were
   timed since the last call. If none was timed, a later call logs these bytes. */
static PetscErrorCode GpOpLogSample(PetscLogEvent event, GpOpLoggedStage now, GpOpLoggedStage *logged, PetscLogDouble moved)
{
  const PetscLogDouble timed = now.timed_bytes - logged->timed_bytes;

  PetscFunctionBegin;
  PetscCall(PetscGPUCSRLogStage_Private(event, timed > 0 ? (now.bytes - logged->bytes) * (now.timed_seconds - logged->timed_seconds) / timed : 0, moved));
  if (timed > 0) *logged = now;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Logs the stages of a product. The host does not wait for the timers of the device, so that a product may log what earlier ones took. */
static PetscErrorCode GpOpLogStream(GpOpSide *S)
{
  GpOpStreamInfo      info;
  const GpStreamInfo *i = &info.stream;

  PetscFunctionBegin;
  GpOpStreamGetInfo(S->stream, &info);
  PetscCall(PetscLogCpuToGpu(i->moved_last));
  if (i->staged_bytes > 0) PetscCall(GpOpLogSample(GpOp_Fill, (GpOpLoggedStage){(PetscLogDouble)i->visits, (PetscLogDouble)i->visits, i->fill_seconds}, &S->logged.fill, 0));
  if (i->moved_last > 0) PetscCall(GpOpLogSample(GpOp_Transfer, (GpOpLoggedStage){i->moved, i->timed_bytes, i->timed_seconds}, &S->logged.transfer, i->moved_last));
  PetscCall(GpOpLogSample(GpOp_Multiply, (GpOpLoggedStage){i->bytes * (double)i->visits, i->used_bytes, i->used_seconds}, &S->logged.multiply, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A visit of the chunks cannot be captured in a graph, because the host takes part in it. */
PetscErrorCode GpOpMultStream_Private(GpOp op, int t, const double x[], const double z[], double y[])
{
  const PetscBool  transposed = (PetscBool)(t && op->options.shared);
  GpOpSide        *side       = &op->side[transposed ? 0 : t];
  const GpOpStream S          = side->stream;

  PetscFunctionBegin;
  if (GpGraphRefuse(op->dev)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallGp(op->dev, "multiplying by streaming the matrix", transposed ? GpOpStreamMultTransposed(S, x, z, y) : GpOpStreamMult(S, x, z, y));
  PetscCall(GpOpLogStream(side));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GpOpMultManyStream_Private(GpOp op, int t, PetscInt k, PetscBool add, PetscInt incx, const double *const x[], PetscInt incy, double *const y[])
{
  const PetscBool  transposed = (PetscBool)(t && op->options.shared);
  GpOpSide        *side       = &op->side[transposed ? 0 : t];
  const GpOpStream S          = side->stream;

  PetscFunctionBegin;
  if (GpGraphRefuse(op->dev)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallGp(op->dev, "multiplying by streaming the matrix", transposed ? GpOpStreamMultManyTransposed(S, k, add, incx, x, incy, y) : GpOpStreamMultMany(S, k, add, incx, x, incy, y));
  PetscCall(GpOpLogStream(side));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GpOpPass(GpOp op, GpOpStreamUse use, void *context, GpErr *err)
{
  PetscFunctionBegin;
  *err = GP_SUCCESS;
  if (GpGraphRefuse(op->dev)) PetscFunctionReturn(PETSC_SUCCESS);
  *err = GpOpStreamPass(op->side[0].stream, use, context);
  if (!*err) PetscCall(GpOpLogStream(&op->side[0]));
  PetscFunctionReturn(PETSC_SUCCESS);
}
