/* Encodes the chunks of a matrix of type gpucsrstream, and creates its halo exchange. */
#include "mat/impls/gpucsr/type/streamed.h"

/* Translates the options of the matrix to those of the operator of block b. Both blocks share the bound on resident chunks. */
static PetscErrorCode MatGPUCSRStreamGetOptions(const Mat_GPUCSRStream *s, int b, GpOpOptions *options)
{
  const MatGPUCSROptions *o        = &s->common.options;
  double                  resident = o->stream_resident;
  PetscLogDouble          held     = 0;

  PetscFunctionBegin;
  if (b) PetscCall(GpOpGetBytes(s->op[0], &held));
  if (resident >= 0) resident = PetscMax(resident - held, 0);
  *options = (GpOpOptions){.prec      = o->storage == MAT_GPUCSR_STORAGE_SINGLE ? GP_F32 : GP_F64,
                           .kernel    = (int)o->kernel - 1,
                           .mode      = (GpSelMode)o->select,
                           .limit     = -1,
                           .adds      = (PetscBool)b,
                           .streaming = GP_OP_STREAM_ALWAYS,
                           .chunks    = {o->stream_chunk, resident, (int)o->stream_buffers, (int)o->stream_threads, o->stream_encode == MAT_GPUCSR_STREAM_ENCODE_NONE, 1}};
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Encodes the rows of a block in host memory, or into a file if a file name is set. */
static PetscErrorCode MatGPUCSRStreamSetUpBlock(Mat A, int b, const GpOpOptions *options, const GpRowSource *rows)
{
  Mat_GPUCSRStream *s = (Mat_GPUCSRStream *)A->spptr;
  GpOpFile          file;

  PetscFunctionBegin;
  if (s->common.options.stream_file[0]) PetscCall(MatGPUCSRStreamWriteFile_Private(A, b, rows, options, &file));
  PetscCall(GpOpSetUpRows(s->op[b], options, rows, s->common.options.stream_file[0] ? &file : NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatGPUCSRStreamEncodeBlock(Mat A, int b)
{
  Mat_GPUCSRStream *s    = (Mat_GPUCSRStream *)A->spptr;
  GpRowSource      *rows = s->common.mpi ? &s->block[b].source : &s->rows.source;
  GpOpOptions       options;
  PetscErrorCode    err;

  PetscFunctionBegin;
  PetscCall(MatGPUCSRStreamGetOptions(s, b, &options));
  rows->prec     = options.prec;
  s->rows.narrow = (PetscBool)(options.prec == GP_F32);
  s->rows.plain  = (PetscBool)options.chunks.plain;
  if (!s->op[b]) PetscCall(GpOpCreate(s->common.dev, &s->op[b]));
  err = MatGPUCSRStreamSetUpBlock(A, b, &options, rows);
  if (err && s->rows.code) err = s->rows.code; /* an error of the user's function keeps its code */
  s->rows.code = PETSC_SUCCESS;
  PetscCall(err);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Encodes the rows of this process. */
static PetscErrorCode MatGPUCSRStreamEncodeRows(Mat A)
{
  Mat_GPUCSRStream *s = (Mat_GPUCSRStream *)A->spptr;

  PetscFunctionBegin;
  PetscCheck(s->common.mpi || (PetscInt64)A->cmap->N < GP_CHUNK_LIMIT, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "The matrix has %" PetscInt_FMT " columns; on one process the number must be less than %" PetscInt64_FMT "; use more MPI ranks",
             A->cmap->N, (PetscInt64)GP_CHUNK_LIMIT);
  PetscCall(MatGPUCSRStreamRemoveFiles_Private(A));
  if (s->common.mpi) PetscCall(MatGPUCSRBlocksSetUp_Private(A));
  for (int b = 0; b < (s->common.mpi ? 2 : 1); b++) PetscCall(MatGPUCSRStreamEncodeBlock(A, b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Prints the notice about rounded values on the first rank, for all ranks. */
static PetscErrorCode MatGPUCSRStreamPrintNotice(Mat A)
{
  Mat_GPUCSRStream *s    = (Mat_GPUCSRStream *)A->spptr;
  MPI_Comm          comm = PetscObjectComm((PetscObject)A);
  MatGPUCSRRounding r    = {0};
  PetscBool         due;
  PetscMPIInt       rank;

  PetscFunctionBegin;
  PetscCall(MatGPUCSRIsNoticeDue_Private(A, &due));
  if (!due) PetscFunctionReturn(PETSC_SUCCESS);
  for (int b = 0; b < (s->common.mpi ? 2 : 1); b++) PetscCall(MatGPUCSRAddRounding_Private(A, s->op[b], &r));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &r, 3, MPI_DOUBLE, MPI_SUM, comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &r.worst, 1, MPI_DOUBLE, MPI_MAX, comm));
  if (!(r.rounded > 0)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCall(MatGPUCSRPrintNotice_Private(A, (PetscBool)!rank, "", &r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatGPUCSRStreamSetUp(Mat A)
{
  Mat_GPUCSRStream *s = (Mat_GPUCSRStream *)A->spptr;
  PetscErrorCode    err;

  PetscFunctionBegin;
  s->current       = PETSC_FALSE;
  s->common.agrees = (PetscBool)(s->common.mpi && s->common.options.stream_file[0]);
  PetscCall(PetscLogEventBegin(MAT_GPUCSR_Upload, A, 0, 0, 0));
  err = MatGPUCSRStreamEncodeRows(A);
  PetscCall(PetscLogEventEnd(MAT_GPUCSR_Upload, A, 0, 0, 0));
  PetscCall(MatGPUCSRAgree_Private(A, err, "Encoding the matrix"));
  s->current      = PETSC_TRUE;
  s->common.stale = PETSC_FALSE;
  PetscCall(MatGPUCSRStreamPrintNotice(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the operators of this process, and the exchange. Encodes the matrix if that has not been done with the current options. */
PetscErrorCode MatGPUCSRStreamGetOperators_Private(Mat A, PetscBool transpose, GpOp op[2], MatGPUCSRHalo **halo)
{
  Mat_GPUCSRStream *s = (Mat_GPUCSRStream *)A->spptr;
  Mat_GPUCSR       *g = &s->common;

  PetscFunctionBegin;
  PetscCall(PetscGPUCSRGetDevice(&g->dev));
  if (!s->current || g->stale) PetscCall(MatGPUCSRStreamSetUp(A));
  if (g->mpi && (!s->halo || s->halo->wanted != g->options.halo_type)) {
    PetscCall(MatGPUCSRHaloDestroy_Private(&s->halo));
    PetscCall(MatGPUCSRHaloCreateFromColumns_Private(A, s->block[1].n, s->columns, &s->halo));
  }
  for (int b = 0; b < (g->mpi ? 2 : 1); b++) {
    op[b] = s->op[b];
    if (transpose && !op[b]->has[1]) PetscCall(GpOpSetUpTransposeStream(op[b], NULL, NULL, NULL));
  }
  if (halo) *halo = s->halo;
  if (!s->viewed && !s->viewing) {
    s->viewed = PETSC_TRUE;
    PetscCall(MatViewFromOptions(A, NULL, "-mat_view"));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatGPUCSRStreamReset_Private(Mat A)
{
  Mat_GPUCSRStream *s = (Mat_GPUCSRStream *)A->spptr;

  PetscFunctionBegin;
  for (int b = 0; b < 2; b++) PetscCall(GpOpDestroy(&s->op[b]));
  PetscCall(MatGPUCSRStreamRemoveFiles_Private(A));
  PetscCall(MatGPUCSRHaloDestroy_Private(&s->halo));
  PetscCall(MatGPUCSRBlocksReset_Private(A));
  MatGPUCSRRowsReset_Private(&s->rows);
  s->current = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatGPUCSRStreamBegin_Private(Mat A)
{
  PetscFunctionBegin;
  MatGPUCSRRowsInit_Private(A, &((Mat_GPUCSRStream *)A->spptr)->rows);
  ((Mat_GPUCSRStream *)A->spptr)->viewed = PETSC_FALSE;
  A->preallocated = A->assembled = PETSC_TRUE;
  A->nonzerostate++;
  PetscCall(PetscObjectStateIncrease((PetscObject)A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
