/* Upload of a sequential matrix: the whole matrix, or only the values if the image has the pattern already. */
#include "mat/impls/gpucsr/image/gpucsrimpl.h"

/* Tells whether single precision holds every value of a sequential matrix exactly.  The answer is stored until the matrix changes. */
PetscErrorCode MatSeqAIJGPUCSRFitsSingle_Private(Mat A, PetscBool *fits)
{
  Mat_GPUCSR      *g = (Mat_GPUCSR *)A->spptr;
  PetscObjectState state;

  PetscFunctionBegin;
  PetscCall(PetscObjectStateGet((PetscObject)A, &state));
  if (g->fits.owner != A || g->fits.state != state || g->fits.nonzerostate != A->nonzerostate) {
    const PetscInt *rowptr;
    PetscScalar    *val;
    GpDev           dev;

    PetscCall(PetscGPUCSRGetDevice(&dev));
    PetscCall(MatSeqAIJGetCSRAndMemType(A, &rowptr, NULL, &val, NULL));
    g->fits = (MatGPUCSRFits){A, state, A->nonzerostate, (PetscBool)(!rowptr || GpCsrFitsSingle(dev, (size_t)rowptr[A->rmap->n], val))};
  }
  *fits = g->fits.fits;
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define MAT_GPUCSR_PROBED 65536 /* number of values that are read before storage auto tries single precision */

/* Tells whether storage auto should try single precision, because it holds the first values, and whether it holds all of them is unknown.  The upload then checks all values while it converts them. */
static PetscErrorCode MatSeqAIJGPUCSRMayFitSingle(Mat A, PetscInt nnz, const PetscScalar val[], PetscBool *may)
{
  const Mat_GPUCSR *g = (const Mat_GPUCSR *)A->spptr;
  PetscObjectState  state;

  PetscFunctionBegin;
  PetscCall(PetscObjectStateGet((PetscObject)A, &state));
  *may = (PetscBool)(nnz > MAT_GPUCSR_PROBED && (g->fits.owner != A || g->fits.state != state || g->fits.nonzerostate != A->nonzerostate) && GpCsrFitsSingle(g->dev, MAT_GPUCSR_PROBED, val));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the precision of the next upload of a sequential matrix.  On one pattern, storage auto changes from single to double but never back;
   otherwise values that fit only sometimes would cost new formats at every change.
   refill: the image has the pattern of the matrix; probe: storage auto tries single precision */
static PetscErrorCode MatSeqAIJGPUCSRGetPrecision(Mat A, PetscBool refill, PetscInt nnz, const PetscScalar val[], GpPrec *prec, PetscBool *probe)
{
  Mat_SeqAIJGPUCSR *s      = (Mat_SeqAIJGPUCSR *)A->spptr;
  Mat_GPUCSR       *g      = &s->common;
  PetscBool         single = (PetscBool)(g->options.storage == MAT_GPUCSR_STORAGE_SINGLE);

  PetscFunctionBegin;
  *probe = PETSC_FALSE;
  if (g->options.storage == MAT_GPUCSR_STORAGE_AUTO && !g->wide && !(refill && s->op->options.prec == GP_F64)) {
    if (!refill) PetscCall(MatSeqAIJGPUCSRMayFitSingle(A, nnz, val, probe));
    if (*probe) single = PETSC_TRUE;
    else PetscCall(MatSeqAIJGPUCSRFitsSingle_Private(A, &single));
  }
  *prec = single ? GP_F32 : GP_F64;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Translates the options of the matrix to those of its operator.  transpose: whether the transpose is needed */
static GpOpOptions MatSeqAIJGPUCSRGetOperatorOptions(Mat A, PetscBool transpose)
{
  const Mat_SeqAIJGPUCSR *s        = (Mat_SeqAIJGPUCSR *)A->spptr;
  const MatGPUCSROptions *o        = &s->common.options;
  const double            resident = o->stream_resident < 0 ? -1 : PetscMax(o->stream_resident - s->held_by_other, 0);

  return (GpOpOptions){.kernel    = (int)o->kernel - 1,
                       .mode      = (GpSelMode)o->select,
                       .limit     = o->memory_limit,
                       .adds      = (PetscBool)(s->place.columns != NULL) /* an off-diagonal block, whose products add to y */,
                       .exact     = (PetscBool)(o->storage == MAT_GPUCSR_STORAGE_AUTO),
                       .streaming = (GpOpStreaming)o->stream,
                       .chunks    = {o->stream_chunk, resident, (int)o->stream_buffers, (int)o->stream_threads, o->stream_encode == MAT_GPUCSR_STREAM_ENCODE_NONE, o->stream_transpose == MAT_GPUCSR_STREAM_TRANSPOSE_SHARED},
                       .reserved  = s->reserved_for_other,
                       .transpose = transpose,
                       .shared    = (PetscBool)(o->stream_transpose == MAT_GPUCSR_STREAM_TRANSPOSE_SHARED)};
}

/* Uploads the host arrays: only the values (a refill) if the image has their pattern and their precision, otherwise everything.
   transpose: whether the transpose is needed; lacked: device memory was too small for the matrix and its transpose, so the matrix is streamed */
static PetscErrorCode MatSeqAIJGPUCSRUploadArrays(Mat A, PetscBool transpose, PetscBool lacked)
{
  Mat_SeqAIJGPUCSR *s       = (Mat_SeqAIJGPUCSR *)A->spptr;
  MatGPUCSRKey      key     = {.owner = A, .nonzerostate = A->nonzerostate};
  const PetscInt    none[]  = {0};
  GpOpOptions       options = MatSeqAIJGPUCSRGetOperatorOptions(A, transpose);
  PetscScalar      *val;
  PetscBool         refill, fits;

  PetscFunctionBegin;
  PetscCall(PetscGPUCSRGetDevice(&s->common.dev));
  PetscCall(PetscObjectStateGet((PetscObject)A, &key.state));
  PetscCall(MatSeqAIJGetCSRAndMemType(A, &key.rowptr, &key.col, &val, NULL));
  key.nnz = key.rowptr ? key.rowptr[A->rmap->n] : 0;
  refill  = (PetscBool)(s->op && s->key.owner == A && key.nonzerostate == s->key.nonzerostate && key.rowptr == s->key.rowptr && key.col == s->key.col && key.nnz == s->key.nnz);
  PetscCall(MatSeqAIJGPUCSRGetPrecision(A, refill, key.nnz, val, &options.prec, &options.probe));
  if (refill && (options.prec != s->op->options.prec || lacked)) refill = PETSC_FALSE;
  options.lacked = lacked;
  s->key         = (MatGPUCSRKey){0}; /* if the upload fails, the image is invalid */
  PetscCall(PetscLogEventBegin(MAT_GPUCSR_Upload, A, 0, 0, 0));
  if (!s->op) PetscCall(GpOpCreate(s->common.dev, &s->op));
  if (refill) PetscCall(GpOpRefill(s->op, key.rowptr, key.col, val, &s->place));
  else PetscCall(GpOpSetUp(s->op, &options, key.rowptr ? A->rmap->n : 0, A->cmap->n, key.rowptr ? key.rowptr : none, key.col, val, &s->place));
  if (options.probe && s->op->unfit) {
    options.probe = PETSC_FALSE;
    PetscCall(MatSeqAIJGPUCSRFitsSingle_Private(A, &fits));
    options.prec = fits ? GP_F32 : GP_F64;
    PetscCall(GpOpSetUp(s->op, &options, A->rmap->n, A->cmap->n, key.rowptr, key.col, val, &s->place));
  } else if (options.probe) s->common.fits = (MatGPUCSRFits){A, key.state, A->nonzerostate, PETSC_TRUE};
  PetscCall(PetscLogEventEnd(MAT_GPUCSR_Upload, A, 0, 0, 0));
  if (!GpOpIsStreamed(s->op)) PetscCall(PetscLogCpuToGpu((PetscLogDouble)key.nnz * (refill ? 0 : sizeof(int32_t)) + (PetscLogDouble)key.nnz * GpPrecBytes(options.prec)));
  s->key = key;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Tells whether the host values have not changed since the upload. */
static PetscErrorCode MatSeqAIJGPUCSRIsCurrent(Mat A, PetscBool *current)
{
  Mat_SeqAIJGPUCSR *s = (Mat_SeqAIJGPUCSR *)A->spptr;
  PetscObjectState  state;

  PetscFunctionBegin;
  *current = PETSC_FALSE;
  if (!s || s->common.mpi || !s->op || A->factortype) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectStateGet((PetscObject)A, &state));
  if (s->key.owner != A || state != s->key.state || A->nonzerostate != s->key.nonzerostate) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscGPUCSRGetDevice(&s->common.dev));
  *current = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the device image if the host values have not changed since the upload and the device holds the compressed rows, else NULL. */
PetscErrorCode MatSeqAIJGPUCSRGetCurrent_Private(Mat A, GpOp *op)
{
  PetscBool current;

  PetscFunctionBegin;
  PetscCall(MatSeqAIJGPUCSRIsCurrent(A, &current));
  *op = current && !GpOpIsStreamed(((Mat_SeqAIJGPUCSR *)A->spptr)->op) ? ((Mat_SeqAIJGPUCSR *)A->spptr)->op : NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Builds the transpose.  If the matrix is on the device and its transpose does not fit in addition, both are streamed instead, unless the options forbid it. */
static PetscErrorCode MatSeqAIJGPUCSRUploadTranspose(Mat A)
{
  Mat_SeqAIJGPUCSR *s  = (Mat_SeqAIJGPUCSR *)A->spptr;
  GpOp              op = s->op;
  PetscScalar      *val;
  PetscBool         streams = PETSC_FALSE, fits = PETSC_TRUE;

  PetscFunctionBegin;
  if (!GpOpIsStreamed(op)) PetscCall(GpOpMustStreamTranspose(op, &streams));
  PetscCall(PetscLogEventBegin(MAT_GPUCSR_Transpose, A, 0, 0, 0));
  PetscCall(PetscGPUCSRLogTimeBegin_Private(op->dev));
  if (!streams && !GpOpIsStreamed(op)) PetscCall(GpOpSetUpTranspose(op, GpOpMayStream(op) ? &fits : NULL));
  if (streams || !fits) PetscCall(MatSeqAIJGPUCSRUploadArrays(A, PETSC_TRUE, PETSC_TRUE));
  if (GpOpIsStreamed(op)) {
    PetscCall(MatSeqAIJGetCSRAndMemType(A, NULL, NULL, &val, NULL));
    PetscCall(GpOpSetUpTransposeStream(op, s->key.rowptr, s->key.col, val));
  }
  PetscCall(PetscGPUCSRLogTimeEnd_Private(op->dev));
  PetscCall(PetscLogEventEnd(MAT_GPUCSR_Transpose, A, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the device image.  Uploads the matrix if the host arrays have changed. */
PetscErrorCode MatSeqAIJGPUCSRUpload_Private(Mat A, PetscBool transpose, GpOp *op)
{
  Mat_SeqAIJGPUCSR *s = (Mat_SeqAIJGPUCSR *)A->spptr;
  PetscBool         current, symmetric;

  PetscFunctionBegin;
  PetscCall(MatSeqAIJGPUCSRIsCurrent(A, &current));
  if (!transpose && s->common.options.transpose == MAT_GPUCSR_TRANSPOSE_EAGER && !(current && s->op->has[1])) {
    PetscCall(MatGPUCSRIsSymmetric_Private(A, &symmetric));
    transpose = (PetscBool)!symmetric;
  }
  if (!current) PetscCall(MatSeqAIJGPUCSRUploadArrays(A, transpose, PETSC_FALSE));
  if (transpose && !s->op->has[1]) PetscCall(MatSeqAIJGPUCSRUploadTranspose(A));
  *op = s->op;
  PetscFunctionReturn(PETSC_SUCCESS);
}
