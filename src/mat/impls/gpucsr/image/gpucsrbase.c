/* Data, options and buffers that both matrix types have. */
#include "mat/impls/gpucsr/image/gpucsrimpl.h"

#include <string.h>

PetscLogEvent  MAT_GPUCSR_Upload, MAT_GPUCSR_Transpose, MAT_GPUCSR_HaloBegin, MAT_GPUCSR_HaloEnd, MAT_GPUCSR_Update, MAT_GPUCSR_MultMany, MAT_GPUCSR_Factor, MAT_GPUCSR_Numeric, MAT_GPUCSR_Sparse;
struct _MatOps MatGPUCSRParentOps_Private[2];

const char *const MatGPUCSRStorages[]           = {"single", "double", "auto", "MatGPUCSRStorage", "MAT_GPUCSR_STORAGE_", NULL};
const char *const MatGPUCSRTransposes[]         = {"eager", "lazy", "MatGPUCSRTranspose", "MAT_GPUCSR_TRANSPOSE_", NULL};
const char *const MatGPUCSRSelects[]            = {"model", "measure", "fixed", "MatGPUCSRSelect", "MAT_GPUCSR_SELECT_", NULL}; /* in the order of GpSelMode */
const char *const MatGPUCSRStreams[]            = {"auto", "always", "never", "MatGPUCSRStream", "MAT_GPUCSR_STREAM_", NULL};   /* in the order of GpOpStreaming */
const char *const MatGPUCSRStreamEncodes[]      = {"auto", "none", "MatGPUCSRStreamEncode", "MAT_GPUCSR_STREAM_ENCODE_", NULL};
const char *const MatGPUCSRStreamTransposes[]   = {"stored", "shared", "MatGPUCSRStreamTranspose", "MAT_GPUCSR_STREAM_TRANSPOSE_", NULL};
const char *const MatGPUCSRFactorStorages[]     = {"matrix", "single", "double", "MatGPUCSRFactorStorage", "MAT_GPUCSR_FACTOR_STORAGE_", NULL};
const char *const MatGPUCSRFactorNumericTypes[] = {"device", "host", "MatGPUCSRFactorNumericType", "MAT_GPUCSR_FACTOR_NUMERIC_", NULL};
const char *const MatGPUCSRTrisolves[]          = {"exact", "jacobi", "isai", "MatGPUCSRTrisolve", "MAT_GPUCSR_TRISOLVE_", NULL};
const char *const MatGPUCSRSORTypes[]           = {"host", "multicolor", "MatGPUCSRSORType", "MAT_GPUCSR_SOR_", NULL};
const char *const MatGPUCSRHaloTypes[]          = {"auto", "host", "nccl", "mpi", "MatGPUCSRHaloType", "MAT_GPUCSR_HALO_", NULL};

/* Checks the argument of a public function and gets its data. */
PetscErrorCode MatGPUCSRGetData_Private(Mat A, Mat_GPUCSR **g)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscCheck(MatGPUCSRHasData_Private(A), PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONG, "Matrix of type %s is not a gpucsr matrix; use MatSetType(A, MATGPUCSR) or -mat_type gpucsr",
             ((PetscObject)A)->type_name ? ((PetscObject)A)->type_name : "(not set)");
  *g = (Mat_GPUCSR *)A->spptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatGPUCSRCheckAssembled_Private(Mat A)
{
  PetscFunctionBegin;
  PetscCheck(A->assembled, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONGSTATE, "Matrix is not assembled; call MatAssemblyBegin() and MatAssemblyEnd() first");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatGPUCSRIsSymmetric_Private(Mat A, PetscBool *symmetric)
{
  PetscBool known, is = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(MatIsSymmetricKnown(A, &known, &is));
  *symmetric = (PetscBool)(known && is);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Tells whether the image depends on an option that differs. */
static PetscBool MatGPUCSRDiffer(const MatGPUCSROptions *a, const MatGPUCSROptions *b)
{
  const PetscBool streams = (PetscBool)(a->stream != b->stream || a->stream_chunk != b->stream_chunk || a->stream_resident != b->stream_resident || a->stream_buffers != b->stream_buffers || a->stream_threads != b->stream_threads ||
                                        a->stream_encode != b->stream_encode || a->stream_transpose != b->stream_transpose || strcmp(a->stream_file, b->stream_file));

  return (PetscBool)(streams || a->storage != b->storage || a->kernel != b->kernel || a->select != b->select || a->memory_limit != b->memory_limit);
}

/* Stores the options.  Invalidates the image if an option has changed on which it depends. */
PetscErrorCode MatGPUCSRSetOptions_Private(Mat A, const MatGPUCSROptions *options)
{
  Mat_GPUCSR *g = (Mat_GPUCSR *)A->spptr;

  PetscFunctionBegin;
  if (options->storage != g->options.storage) {
    g->fits.owner = NULL;
    g->wide       = PETSC_FALSE;
  }
  if (g->fromrows) g->stale = (PetscBool)(g->stale || MatGPUCSRDiffer(options, &g->options));
  else if (!g->mpi && MatGPUCSRDiffer(options, &g->options)) ((Mat_SeqAIJGPUCSR *)g)->key = (MatGPUCSRKey){0};
  g->uploaded.owner = NULL;
  g->options        = *options; /* the blocks of a parallel matrix inherit the options at the next product */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ensures that a buffer has at least n entries.  what: beginning of the error message. */
PetscErrorCode MatGPUCSRReserve_Private(GpDev dev, const char what[], size_t n, MatGPUCSRBuffer *buffer)
{
  PetscFunctionBegin;
  if (n <= buffer->n) PetscFunctionReturn(PETSC_SUCCESS);
  GpDevFree(dev, &buffer->array, buffer->n * sizeof(double));
  buffer->n = 0;
  PetscCallGp(dev, what, GpDevAlloc(dev, n * sizeof(double), &buffer->array));
  buffer->n = n;
  PetscFunctionReturn(PETSC_SUCCESS);
}
