/* The operator: upload, transpose, selection and building of formats, refill, product. */
#include "mat/impls/gpucsr/operator/gpoperator.h"
#include "device/gpupload.h"

static PetscInt64 GpOpVersions = 0; /* A new operator often has the address of a destroyed one, so only a number distinguishes them. */

PetscErrorCode GpOpCreate(GpDev dev, GpOp *op)
{
  PetscFunctionBegin;
  PetscCall(PetscNew(op));
  (*op)->dev = dev;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void GpOpResetSide(GpOp op, int t)
{
  GpOpSide *S = &op->side[t];

  GpOpStreamDestroy(&S->stream);
  if (t) GpDevFree(op->dev, &op->perm, (size_t)op->side[0].csr.nnz * sizeof(int32_t));
  GpFmtDestroy(&S->fmt);
  for (int k = 0; k < GP_SPMM_KERNELS; k++) GpFmtDestroy(&S->many[k]);
  S->spread = 0;
  S->logged = (GpOpLogged){.fill = {.bytes = 0}};
  GpCsrDestroy(&S->csr);
  op->has[t] = PETSC_FALSE;
}

static void GpOpReset(GpOp op)
{
  for (int t = 1; t >= 0; t--) GpOpResetSide(op, t); /* the transpose first: its permutation has one entry for each nonzero of A */
}

PetscErrorCode GpOpDestroy(GpOp *op)
{
  PetscFunctionBegin;
  if (!*op) PetscFunctionReturn(PETSC_SUCCESS);
  GpOpReset(*op);
  PetscCall(PetscFree(*op));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Checks the result of a step that needs device memory. If memory is too small and the caller can stream the matrix instead, sets *fits to PETSC_FALSE and returns from the function.
   fits is NULL if the caller cannot. */
#define GpOpCallFits(op, fits, what, ...) \
  do { \
    const GpErr err_fits_ = (__VA_ARGS__); \
\
    if (err_fits_ == GP_ERR_MEMORY && (fits)) { \
      PetscCall(PetscInfo(NULL, "gpucsr: a matrix is streamed because device memory is too small (%s: %s)\n", what, GpDevError((op)->dev))); \
      *(fits) = PETSC_FALSE; \
      PetscFunctionReturn(PETSC_SUCCESS); \
    } \
    PetscCallGp((op)->dev, what, err_fits_); \
  } while (0)

/* Tells whether a matrix whose compressed rows do not fit the device may be streamed. */
PetscBool GpOpMayStream(GpOp op)
{
  return (PetscBool)(op->options.streaming == GP_OP_STREAM_AUTO);
}

/* Selects the kernel of one side and builds its format within the part of the memory limit that is left. rowptr: the row pointers, or NULL if they are in device memory only. */
static PetscErrorCode GpOpBuildSide(GpOp op, int t, const int32_t rowptr[], PetscBool *fits)
{
  GpOpSide      *S       = &op->side[t];
  GpSelOptions   options = {op->options.mode, op->options.kernel, -1, !t && op->options.adds};
  PetscLogDouble held;

  PetscFunctionBegin;
  if (op->options.limit >= 0) {
    PetscCall(GpOpGetBytes(op, &held));
    options.budget = PetscMax(op->options.limit - held, 0);
  }
  GpOpCallFits(op, fits, t ? "selecting a kernel for the transpose" : "selecting a kernel", GpSelBuild(&options, &S->csr, rowptr, &S->features, &S->choice, &S->fmt));
  op->has[t] = PETSC_TRUE;
  PetscCall(PetscInfo(NULL, "gpucsr: %s %d x %d, %d nonzeros: kernel %s (%s)\n", t ? "transpose" : "matrix", (int)S->csr.m, (int)S->csr.n, (int)S->csr.nnz, GpKernelTable[S->choice.kernel].name, S->choice.why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Allocates an array and copies the row pointers of a side to it. */
PetscErrorCode GpOpDownloadRows_Private(GpOp op, int t, int32_t **rows)
{
  const GpCsr *C = &op->side[t].csr;
  GpErr        err;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1((size_t)C->m + 1, rows));
  err = GpDevDownloadByThreads(op->dev, 0, *rows, C->rowptr, ((size_t)C->m + 1) * sizeof(int32_t));
  if (err) PetscCall(PetscFree(*rows));
  PetscCallGp(op->dev, t ? "copying the row pointers of the transpose to the host" : "copying the row pointers to the host", err);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Refills the format with new values. A format that depends on the values, for example on a limited number of distinct values, may refuse them. Then
   another kernel is selected, in new memory. */
PetscErrorCode GpOpRefillSide_Private(GpOp op, int t)
{
  GpOpSide   *S       = &op->side[t];
  const GpErr refused = GpFmtRefill(&S->fmt);

  PetscFunctionBegin;
  if (!refused) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(refused == GP_ERR_ARGUMENT || refused == GP_ERR_MEMORY, PETSC_COMM_SELF, PetscGPUCSRErrorClass(refused), "refilling the format of kernel %s: %s", GpKernelTable[S->choice.kernel].name, GpDevError(op->dev));
  PetscCall(PetscInfo(NULL, "gpucsr: format %s refuses the new values (%s); selecting another kernel\n", GpFmtTable[S->fmt.id].name, GpDevError(op->dev)));
  GpFmtDestroy(&S->fmt);
  op->has[t]  = PETSC_FALSE;
  op->version = ++GpOpVersions;
  PetscCall(GpOpBuildSide(op, t, NULL, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Checks the upload of values, whose result is err, and records their rounding error. */
static PetscErrorCode GpOpTakeLoss(GpOp op, GpErr err, const PetscInt rowptr[], const PetscInt col[], const double val[], const GpOpPlace *place, PetscBool *fits)
{
  PetscFunctionBegin;
  if (op->loss.overflow >= 0) PetscCall(GpOpRefuseValue_Private(op, rowptr, col, val, place));
  GpOpCallFits(op, fits, "uploading the matrix", err);
  op->loss_row = op->loss_column = -1;
  if (op->loss.at >= 0) PetscCall(GpOpLocate_Private(op, op->loss.at, rowptr, col, &op->loss_row, &op->loss_column));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GpOpBuild(GpOp op, PetscInt m, PetscInt n, const PetscInt rowptr[], const PetscInt col[], const double val[], const GpOpPlace *place, PetscBool *fits)
{
  GpErr err;
  int   wrong;

  PetscFunctionBegin;
  GpOpCallFits(op, fits, "allocating device memory for the matrix", GpCsrCreate(op->dev, op->options.prec, (int32_t)m, (int32_t)n, (int32_t)rowptr[m], &op->side[0].csr));
  err = GpCsrSetArrays(&op->side[0].csr, rowptr, col, val, op->options.probe, &op->loss, &wrong);
  if (wrong) PetscCall(GpOpRefusePattern_Private(m, n, rowptr, col, place));
  op->unfit = (PetscBool)(op->options.probe && (op->loss.rounded || op->loss.overflow >= 0));
  if (op->unfit) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(GpOpTakeLoss(op, err, rowptr, col, val, place, fits));
  if (!fits || *fits) PetscCall(GpOpBuildSide(op, 0, sizeof(PetscInt) == sizeof(int32_t) ? (const int32_t *)rowptr : NULL, fits));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A failure, for example too little device memory, frees everything. */
PetscErrorCode GpOpSetUp(GpOp op, const GpOpOptions *options, PetscInt m, PetscInt n, const PetscInt rowptr[], const PetscInt col[], const double val[], const GpOpPlace *place)
{
  const PetscBool probe = options->probe;
  PetscBool       streams, fits = PETSC_TRUE;
  PetscErrorCode  err = PETSC_SUCCESS;

  PetscFunctionBegin;
  op->seconds = 0;
  PetscCall(PetscTimeSubtract(&op->seconds));
  PetscCheck((PetscInt64)m <= GP_OP_MOST && (PetscInt64)n <= GP_OP_MOST && (PetscInt64)rowptr[m] <= GP_OP_MOST, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "local part of %" PetscInt_FMT " rows, %" PetscInt_FMT " columns, %" PetscInt_FMT " nonzeros: the limit for each is %d, because indices on the device have 32 bits; use more MPI ranks", m, n, rowptr[m], GP_OP_MOST);
  GpOpReset(op);
  op->options = *options;
  op->nnz     = rowptr[m];
  op->refills = op->unfit = PETSC_FALSE;
  op->version             = ++GpOpVersions;
  PetscCall(GpOpMustStream_Private(op, options, m, n, rowptr[m], &streams));
  if (!streams) err = GpOpBuild(op, m, n, rowptr, col, val, place, GpOpMayStream(op) ? &fits : NULL);
  op->options.probe = PETSC_FALSE;
  if (probe && (streams || !fits)) op->unfit = PETSC_TRUE;
  if (!fits || op->unfit) GpOpReset(op);
  if (op->unfit) PetscFunctionReturn(PETSC_SUCCESS);
  op->options.lacked = (PetscBool)(!fits || (streams && options->streaming == GP_OP_STREAM_AUTO));
  if (streams || !fits) err = GpOpSetUpStream_Private(op, m, n, rowptr, col, val, place);
  if (err) GpOpReset(op);
  PetscCall(err);
  PetscCall(PetscTimeAdd(&op->seconds));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the values of another operator to side 0. */
static PetscErrorCode GpOpCopyValues(GpOp op, GpOp source, PetscBool *fits)
{
  PetscFunctionBegin;
  PetscCallGp(op->dev, "copying the values of a matrix", GpCsrUpdateValues(&op->side[0].csr, &(GpCsrUpdate){.kind = GP_UPDATE_SET, .values = (const double *)source->side[0].csr.val}, &op->loss));
  op->loss_row = op->loss_column = -1;
  *fits                          = (PetscBool)(op->loss.overflow < 0);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GpOpBuildCopy(GpOp op, GpOp source, const int32_t rows[], PetscBool *fits)
{
  const GpCsr *from = &source->side[0].csr;
  GpCsr       *to   = &op->side[0].csr;

  PetscFunctionBegin;
  PetscCallGp(op->dev, "allocating device memory for a copy of a matrix", GpCsrCreate(op->dev, op->options.prec, from->m, from->n, from->nnz, to));
  PetscCallGp(op->dev, "copying the pattern of a matrix", GpDevCopyWithin(op->dev, to->rowptr, from->rowptr, ((size_t)from->m + 1) * sizeof(int32_t)));
  PetscCallGp(op->dev, "copying the pattern of a matrix", GpDevCopyWithin(op->dev, to->col, from->col, (size_t)from->nnz * sizeof(int32_t)));
  PetscCall(GpOpCopyValues(op, source, fits));
  if (*fits) PetscCall(GpOpBuildSide(op, 0, rows, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GpOpSetUpCopy(GpOp op, const GpOpOptions *options, GpOp source, const PetscInt rowptr[], PetscBool *fits)
{
  const PetscInt m    = source->side[0].csr.m;
  int32_t       *rows = NULL;
  PetscErrorCode err;

  PetscFunctionBegin;
  GpOpReset(op);
  op->options           = *options;
  op->options.streaming = GP_OP_STREAM_NEVER;
  op->nnz               = source->nnz;
  op->refills           = PETSC_FALSE;
  op->version           = ++GpOpVersions;
  if (sizeof(PetscInt) != sizeof(int32_t)) {
    PetscCall(PetscMalloc1(m + 1, &rows));
    for (PetscInt i = 0; i <= m; i++) rows[i] = (int32_t)rowptr[i];
  }
  err = GpOpBuildCopy(op, source, rows ? rows : (const int32_t *)rowptr, fits);
  PetscCall(PetscFree(rows));
  if (err || !*fits) GpOpReset(op);
  PetscCall(err);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GpOpRefillCopy(GpOp op, GpOp source, PetscBool *fits)
{
  PetscFunctionBegin;
  PetscCall(GpOpCopyValues(op, source, fits));
  if (*fits) PetscCall(GpOpRefillSide_Private(op, 0));
  else GpOpReset(op);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A failure frees everything. */
PetscErrorCode GpOpSetUpRows(GpOp op, const GpOpOptions *options, const GpRowSource *rows, const GpOpFile *file)
{
  PetscErrorCode err;

  PetscFunctionBegin;
  op->seconds = 0;
  PetscCall(PetscTimeSubtract(&op->seconds));
  GpOpReset(op);
  op->options        = *options;
  op->options.shared = PETSC_TRUE;
  op->refills        = PETSC_FALSE;
  op->version        = ++GpOpVersions;
  err                = GpOpSetUpStreamRows_Private(op, rows, file);
  PetscCall(PetscTimeAdd(&op->seconds));
  if (err) GpOpReset(op);
  PetscCall(err);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The permutation, 4 bytes a nonzero, only saves time when values change. Without memory for it, each change of values builds the transpose anew. */
static PetscErrorCode GpOpBuildTranspose(GpOp op, PetscBool *fits)
{
  GpCsr *A = &op->side[0].csr, *At = &op->side[1].csr;
  GpErr  err;

  PetscFunctionBegin;
  if (op->refills && GpDevTryAlloc(op->dev, (size_t)A->nnz * sizeof(int32_t), &op->perm)) op->perm = NULL;
  err = GpCsrTranspose(A, At, op->perm);
  if (err == GP_ERR_MEMORY && op->perm) {
    GpDevFree(op->dev, &op->perm, (size_t)A->nnz * sizeof(int32_t));
    err = GpCsrTranspose(A, At, NULL);
  }
  GpOpCallFits(op, fits, "building the transpose (-mat_gpucsr_transpose lazy builds it only if it is needed)", err);
  PetscCall(GpOpBuildSide(op, 1, NULL, fits));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A failure leaves the matrix itself unchanged. */
PetscErrorCode GpOpSetUpTranspose(GpOp op, PetscBool *fits)
{
  PetscErrorCode err;

  PetscFunctionBegin;
  if (fits) *fits = PETSC_TRUE;
  if (op->has[1]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscTimeSubtract(&op->seconds));
  err = GpOpBuildTranspose(op, fits);
  PetscCall(PetscTimeAdd(&op->seconds));
  if (err || (fits && !*fits)) GpOpResetSide(op, 1);
  PetscCall(err);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The first call builds the transpose anew and keeps its permutation. Later calls gather the values. If the transpose no longer fits and the matrix may be streamed, the transpose is
   dropped: the next product that needs it streams the matrix. */
PetscErrorCode GpOpRefreshTranspose(GpOp op)
{
  PetscBool fits = PETSC_TRUE;

  PetscFunctionBegin;
  op->refills = PETSC_TRUE;
  if (!op->has[1]) PetscFunctionReturn(PETSC_SUCCESS);
  if (op->perm) {
    PetscCallGp(op->dev, "updating the values of the transpose", GpCsrTransposeValues(&op->side[0].csr, op->perm, &op->side[1].csr));
    PetscCall(GpOpRefillSide_Private(op, 1));
  } else {
    GpOpResetSide(op, 1);
    op->version = ++GpOpVersions; /* the transpose gets other memory */
    PetscCall(GpOpSetUpTranspose(op, GpOpMayStream(op) ? &fits : NULL));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Uploads new values on the same pattern. */
PetscErrorCode GpOpRefill(GpOp op, const PetscInt rowptr[], const PetscInt col[], const double val[], const GpOpPlace *place)
{
  GpErr err;

  PetscFunctionBegin;
  op->seconds = 0;
  PetscCall(PetscTimeSubtract(&op->seconds));
  if (GpOpIsStreamed(op)) {
    PetscErrorCode failed = GpOpRefillStream_Private(op, rowptr, col, val, place);

    PetscCall(PetscTimeAdd(&op->seconds));
    if (failed) GpOpReset(op);
    PetscCall(failed);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  err = GpCsrSetValues(&op->side[0].csr, val, &op->loss);
  PetscCall(GpOpTakeLoss(op, err, rowptr, col, val, place, NULL));
  PetscCall(GpOpRefillSide_Private(op, 0));
  PetscCall(PetscTimeAdd(&op->seconds));
  PetscCall(GpOpRefreshTranspose(op));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GpOpMult(GpOp op, PetscBool transpose, const double x[], const double z[], double y[])
{
  const int          t = transpose ? 1 : 0;
  const GpOpSide    *S = &op->side[t];
  const GpKernelRow *kernel;
  GpErr              err;

  PetscFunctionBegin;
  PetscCheck(op->has[t], PETSC_COMM_SELF, PETSC_ERR_PLIB, "The %s is not on the device", t ? "transpose" : "matrix");
  if (GpOpIsStreamed(op)) {
    PetscCall(GpOpMultStream_Private(op, t, x, z, y));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  kernel = &GpKernelTable[S->choice.kernel];
  err    = kernel->mult[GpDevKindOf(op->dev)][S->csr.prec](&S->fmt, x, z, y);
  PetscCheck(!err, PETSC_COMM_SELF, PetscGPUCSRErrorClass(err), "kernel %s on %d x %d with %d nonzeros: %s", kernel->name, (int)S->csr.m, (int)S->csr.n, (int)S->csr.nnz, GpDevError(op->dev));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GpOpGetBytes(GpOp op, PetscLogDouble *bytes)
{
  PetscFunctionBegin;
  *bytes = op->perm ? (double)op->side[0].csr.nnz * sizeof(int32_t) : 0.0;
  for (int t = 0; t < 2; t++) {
    GpOpStreamInfo info;

    if (op->side[t].stream) {
      GpOpStreamGetInfo(op->side[t].stream, &info);
      *bytes += info.device_bytes;
      continue;
    }
    *bytes += GpCsrBytes(&op->side[t].csr) + GpFmtBytes(&op->side[t].fmt);
    for (int k = 0; k < GP_SPMM_KERNELS; k++) *bytes += GpFmtBytes(&op->side[t].many[k]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
