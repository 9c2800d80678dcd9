/* Creation and destruction of a matrix of type gpucsrstream, which has no AIJ arrays and is read-only. */
/* MANSEC = Mat */
#include "mat/impls/gpucsr/type/gpucsrtype.h"
#include "mat/impls/gpucsr/type/streamed.h"

/* The message of calls that set values of a matrix without rows. MatConvert() to the type makes such calls. */
#define MAT_GPUCSR_READ_ONLY "A matrix of type " MATGPUCSRSTREAM " is read-only: its values cannot be set, and no matrix can be converted to this type. Give its rows by MatLoad() or MatGPUCSRStreamSetRows(), or use the type " MATGPUCSR

/* MatGPUCSRHasData_Private() recognises the type gpucsrstream by the address of this function. */
PetscErrorCode MatDuplicate_GPUCSRStream(Mat A, MatDuplicateOption option, Mat *B)
{
  PetscFunctionBegin;
  (void)option;
  (void)B;
  SETERRQ(PetscObjectComm((PetscObject)A), PETSC_ERR_SUP, "A matrix of type %s cannot be duplicated; share it by PetscObjectReference(), or use MatConvert() to MATAIJ", MATGPUCSRSTREAM);
}

static PetscErrorCode MatSetValues_GPUCSRStream(Mat A, PetscInt m, const PetscInt rows[], PetscInt n, const PetscInt columns[], const PetscScalar values[], InsertMode mode)
{
  PetscFunctionBegin;
  (void)m;
  (void)rows;
  (void)n;
  (void)columns;
  (void)values;
  (void)mode;
  /* MatSetValues() has cleared A->assembled before this call; restoring it keeps the matrix usable after the error */
  A->assembled  = (PetscBool)(((Mat_GPUCSRStream *)A->spptr)->rows.A != NULL);
  A->insertmode = NOT_SET_VALUES;
  PetscCheck(A->assembled, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP, MAT_GPUCSR_READ_ONLY);
  SETERRQ(PetscObjectComm((PetscObject)A), PETSC_ERR_SUP, "A matrix of type %s is read-only; its rows come from MatLoad() or MatGPUCSRStreamSetRows(). Use MatConvert() to MATAIJ to change values", MATGPUCSRSTREAM);
}

/* Programs that set values preallocate first, and so does MatConvert(). Without these functions PETSc would ignore the call, and an optimised PETSc then gives the process no rows. */
static PetscErrorCode MatSeqAIJSetPreallocation_GPUCSRStream(Mat A, PetscInt nz, const PetscInt nnz[])
{
  PetscFunctionBegin;
  (void)nz;
  (void)nnz;
  SETERRQ(PetscObjectComm((PetscObject)A), PETSC_ERR_SUP, MAT_GPUCSR_READ_ONLY);
}

static PetscErrorCode MatMPIAIJSetPreallocation_GPUCSRStream(Mat A, PetscInt dnz, const PetscInt dnnz[], PetscInt onz, const PetscInt onnz[])
{
  PetscFunctionBegin;
  (void)dnz;
  (void)dnnz;
  (void)onz;
  (void)onnz;
  SETERRQ(PetscObjectComm((PetscObject)A), PETSC_ERR_SUP, MAT_GPUCSR_READ_ONLY);
}

/* PETSc calls the operation without testing that it is set, for example in MatAXPY(). */
static PetscErrorCode MatGetRow_GPUCSRStream(Mat A, PetscInt row, PetscInt *n, PetscInt **columns, PetscScalar **values)
{
  PetscFunctionBegin;
  (void)n;
  (void)columns;
  (void)values;
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_SUP, "MatGetRow() of row %" PetscInt_FMT ": a matrix of type %s does not return single rows; use MatConvert() to MATAIJ", row, ((PetscObject)A)->type_name);
}

/* Without rows, an assembled matrix would be multiplied as a matrix of zeros. */
static PetscErrorCode MatAssemblyBegin_GPUCSRStream(Mat A, MatAssemblyType type)
{
  PetscFunctionBegin;
  (void)type;
  PetscCheck(((Mat_GPUCSRStream *)A->spptr)->rows.A, PetscObjectComm((PetscObject)A), PETSC_ERR_ORDER, "The matrix of type %s has no rows to assemble; call MatLoad() or MatGPUCSRStreamSetRows() before", MATGPUCSRSTREAM);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The assembly does nothing, but PETSc obeys -mat_view after it. */
static PetscErrorCode MatAssemblyEnd_GPUCSRStream(Mat A, MatAssemblyType type)
{
  PetscFunctionBegin;
  if (type == MAT_FINAL_ASSEMBLY) ((Mat_GPUCSRStream *)A->spptr)->viewed = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatView_GPUCSRStream(Mat A, PetscViewer viewer)
{
  Mat_GPUCSRStream *s = (Mat_GPUCSRStream *)A->spptr;
  PetscBool         ascii;
  PetscViewerFormat format;
  PetscErrorCode    err;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  PetscCall(PetscViewerGetFormat(viewer, &format));
  PetscCheck(ascii && (format == PETSC_VIEWER_ASCII_INFO || format == PETSC_VIEWER_ASCII_INFO_DETAIL), PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
             "The values of a matrix of type %s cannot be viewed; use the format ::ascii_info, or MatConvert() to MATAIJ first", MATGPUCSRSTREAM);
  if (!A->assembled) PetscFunctionReturn(PETSC_SUCCESS);
  s->viewing = PETSC_TRUE;
  err        = MatGPUCSRViewInfo_Private(A, viewer);
  s->viewing = PETSC_FALSE;
  PetscCall(err);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatProductSetFromOptions_GPUCSRStream(Mat C)
{
  PetscBool found;

  PetscFunctionBegin;
  PetscCall(MatProductSetFromOptions_GPUCSR_Dense(C, &found));
  PetscCheck(found || C->product->type == MATPRODUCT_ABC, PetscObjectComm((PetscObject)C), PETSC_ERR_SUP,
             "MatProduct %s of types %s and %s is not supported: a matrix A of type %s can be multiplied by a dense matrix B as A B and A' B, and on one process as A B'; use MatConvert() to MATAIJ", MatProductTypes[C->product->type],
             ((PetscObject)C->product->A)->type_name, ((PetscObject)C->product->B)->type_name, MATGPUCSRSTREAM);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatDestroy_GPUCSRStream(Mat A)
{
  PetscFunctionBegin;
  PetscCall(MatGPUCSRStreamReset_Private(A));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatProductSetFromOptions_anytype_C", NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatSeqAIJSetPreallocation_C", NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatMPIAIJSetPreallocation_C", NULL));
  PetscCall(MatGPUCSRFreeData_Private(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCreate_GPUCSRStream(Mat A)
{
  Mat_GPUCSRStream *s;
  Mat_GPUCSR       *g;
  PetscMPIInt       size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)A), &size));
  PetscCall(PetscNew(&s));
  A->spptr = s;
  g        = &s->common;
  PetscCall(PetscGPUCSRGetDevice(&g->dev));
  PetscCall(MatGPUCSRSetProducts_Private(A));
  A->ops->bindtocpu = NULL; /* there are no products on the host */
  g->fromrows       = PETSC_TRUE;
  g->getoperators   = MatGPUCSRStreamGetOperators_Private;
  g->mpi            = (PetscBool)(size > 1);
  if (g->mpi) {
    g->mult      = MatMPIGPUCSRMult_Private;
    g->multbatch = MatMPIGPUCSRMultBatch_Private;
  }
  A->ops->duplicate      = MatDuplicate_GPUCSRStream;
  A->ops->destroy        = MatDestroy_GPUCSRStream;
  A->ops->view           = MatView_GPUCSRStream;
  A->ops->load           = MatLoad_GPUCSRStream;
  A->ops->convert        = MatConvert_GPUCSRStream;
  A->ops->setfromoptions = MatSetFromOptions_GPUCSR;
  A->ops->setvalues      = MatSetValues_GPUCSRStream;
  A->ops->getrow         = MatGetRow_GPUCSRStream;
  A->ops->assemblybegin  = MatAssemblyBegin_GPUCSRStream;
  A->ops->assemblyend    = MatAssemblyEnd_GPUCSRStream;
  A->ops->getdiagonal    = MatGetDiagonal_GPUCSRStream;
  A->ops->getrowmaxabs   = MatGetRowMaxAbs_GPUCSRStream;
  A->ops->norm           = MatNorm_GPUCSRStream;
  A->ops->getinfo        = MatGetInfo_GPUCSRStream;
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatProductSetFromOptions_anytype_C", MatProductSetFromOptions_GPUCSRStream));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatSeqAIJSetPreallocation_C", MatSeqAIJSetPreallocation_GPUCSRStream));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatMPIAIJSetPreallocation_C", MatMPIAIJSetPreallocation_GPUCSRStream));
  PetscCall(PetscObjectChangeTypeName((PetscObject)A, MATGPUCSRSTREAM));
  PetscCall(MatGPUCSRUseDeviceVectors_Private(A));
  PetscCall(MatGPUCSRReadOptions_Private(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  MatGPUCSRStreamSetRows - Sets the function that returns the rows of a matrix of type `MATGPUCSRSTREAM`

  Logically Collective

  Input Parameters:
+ A   - the matrix, whose sizes are set
. fn  - the function, see `MatGPUCSRRowsFn`
- ctx - its context

  Level: intermediate

  Notes:
  The first product calls `fn` and encodes the rows. If an option changes that affects the chunks, the next product calls `fn` again and encodes the rows again. `MatGPUCSRGetStreamInfo()` and `MatView()` with
  `::ascii_info` do the same if no product has done so.

  `MatGetDiagonal()`, `MatNorm()`, `MatGetRowMaxAbs()`, `MatGetInfo()` and `MatConvert()` call `fn` too. So `ctx` must stay valid, and `fn` must return the same rows, until the matrix is destroyed or gets
  other rows.

  Rows that were set or loaded before are replaced.

.seealso: `MATGPUCSRSTREAM`, `MatGPUCSRRowsFn`, `MatCreateGPUCSRStream()`, `MatLoad()`
@*/
PetscErrorCode MatGPUCSRStreamSetRows(Mat A, MatGPUCSRRowsFn *fn, void *ctx)
{
  Mat_GPUCSRStream *s;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscCheck(fn, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_NULL, "The function that returns rows is NULL; give a function, see MatGPUCSRRowsFn");
  PetscCheck(A->ops->duplicate == MatDuplicate_GPUCSRStream, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONG, "Matrix of type %s does not take rows from a function; use MatSetType(A, MATGPUCSRSTREAM)",
             ((PetscObject)A)->type_name ? ((PetscObject)A)->type_name : "(not set)");
  PetscCall(PetscLayoutSetUp(A->rmap));
  PetscCall(PetscLayoutSetUp(A->cmap));
  s = (Mat_GPUCSRStream *)A->spptr;
  PetscCall(MatGPUCSRStreamReset_Private(A));
  s->rows.fn  = fn;
  s->rows.ctx = ctx;
  PetscCall(MatGPUCSRStreamBegin_Private(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  MatCreateGPUCSRStream - Creates a matrix of type `MATGPUCSRSTREAM` whose rows a function returns

  Collective

  Input Parameters:
+ comm - the communicator
. m    - number of rows of this process, or `PETSC_DECIDE`
. n    - number of columns of this process, or `PETSC_DECIDE`
. M    - number of rows, or `PETSC_DETERMINE`
. N    - number of columns, or `PETSC_DETERMINE`
. fn   - the function, see `MatGPUCSRRowsFn`
- ctx  - its context

  Output Parameter:
. A - the matrix

  Level: intermediate

.seealso: `MATGPUCSRSTREAM`, `MatGPUCSRRowsFn`, `MatGPUCSRStreamSetRows()`
@*/
PetscErrorCode MatCreateGPUCSRStream(MPI_Comm comm, PetscInt m, PetscInt n, PetscInt M, PetscInt N, MatGPUCSRRowsFn *fn, void *ctx, Mat *A)
{
  PetscFunctionBegin;
  PetscCall(MatCreate(comm, A));
  PetscCall(MatSetSizes(*A, m, n, M, N));
  PetscCall(MatSetType(*A, MATGPUCSRSTREAM));
  PetscCall(MatGPUCSRStreamSetRows(*A, fn, ctx));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
  MATGPUCSRSTREAM - MATGPUCSRSTREAM = "gpucsrstream" - A sparse matrix for products only, which is streamed to the GPU and has no AIJ arrays

  Options Database Keys:
+ -mat_type gpucsrstream                 - sets the type in `MatSetFromOptions()`
. -mat_gpucsr_storage <single,double,auto> - precision of the values in products. With `auto` it is double precision; a chunk whose values single precision represents exactly takes 4 bytes a value
. -mat_gpucsr_stream_chunk <bytes>       - upper bound on the size of a chunk as compressed rows
. -mat_gpucsr_stream_resident <bytes>    - upper bound on the chunks that stay on the device
. -mat_gpucsr_stream_buffers <n>         - number of device buffers
. -mat_gpucsr_stream_threads <n>         - number of threads that encode the matrix, and that read chunks from files in each product
. -mat_gpucsr_stream_file <prefix>        - files that hold the chunks instead of host memory
. -mat_gpucsr_stream_encode <auto,none>  - encodes chunks, or stores them as compressed rows
. -mat_gpucsr_kernel <auto,name>         - kernel of the products
- -mat_gpucsr_halo_type <type>           - how the ranks of a parallel product exchange boundary entries

  Level: intermediate

  Notes:
  The rows come from a file (`MatLoad()`) or from a function (`MatGPUCSRStreamSetRows()`). Only their encoded chunks are in host memory. They take 1 to 7 bytes per nonzero in single precision, an
  AIJ matrix 12 to 16.

  A process can have more than 2^31 nonzeros.

  Products: `MatMult()`, `MatMultAdd()`, `MatMultTranspose()`, `MatMultTransposeAdd()` and `MatGPUCSRMultMany()`; `MatMatMult()` and `MatTransposeMatMult()` with dense matrices;
  on one process also `MatMatTransposeMult()` with dense matrices and `MatGPUCSRPass()`.

  Other operations: `MatGetDiagonal()`, `MatNorm()`, `MatGetRowMaxAbs()`, `MatGetInfo()`, and `MatConvert()` to `MATAIJ` and to other types. Values cannot be set.

  Preconditioners that need only products and the diagonal work with this type, such as `PCNONE` and `PCJACOBI`. Factorisations, `PCSOR`, `PCASM` and `PCGAMG` are errors.

  Products with the transpose use the chunks of the matrix, as with `MAT_GPUCSR_STREAM_TRANSPOSE_SHARED`, and the matrix is always streamed. So `-mat_gpucsr_stream never`,
  `-mat_gpucsr_stream_transpose stored` and the same settings by functions are errors. The defaults of all matrices (`-gpucsr_stream`, `-gpucsr_stream_transpose`) have no effect on this type, and neither
  have `-mat_gpucsr_transpose`, `-mat_gpucsr_select` and `-mat_gpucsr_memory_limit`.

  `-mat_view ::ascii_info` prints the chunks when the rows have been encoded: in `MatLoad()`, or in the first product if a function returns the rows.

  A file must not change as long as the matrix exists, because `MatGetDiagonal()`, `MatNorm()`, `MatGetRowMaxAbs()`, `MatGetInfo()`, `MatConvert()` and a new encoding read it again. If its size or the time of its last change differs, they return an error. All but the new encoding use
  the values of the file, which are not rounded.

.seealso: `MATGPUCSR`, `MatCreateGPUCSRStream()`, `MatGPUCSRStreamSetRows()`, `MatLoad()`, `MatGPUCSRGetStreamInfo()`
M*/
