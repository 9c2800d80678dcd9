/* The matrix type MATSEQAIJGPUCSR, which derives from MATSEQAIJ and computes products on the device; and the functions that
   MATMPIAIJGPUCSR shares with it: attaching to and detaching from the parent type, duplication, upload. */
#include "mat/impls/gpucsr/image/gpucsrimpl.h"
#include "vec/gpuvecimpl.h"

PetscLogEvent MAT_GPUCSR_Upload, MAT_GPUCSR_Transpose, MAT_GPUCSR_HaloBegin, MAT_GPUCSR_HaloEnd, MAT_GPUCSR_Update, MAT_GPUCSR_MultMany;

/* Operations of the parent types, copied from the matrix that was attached last.  MatGPUCSRBase_Private() uses them for a matrix without
   spptr: MatHeaderMerge() can call our operations on such a matrix, and can leave them in one. */
static struct _MatOps MatOpsBase_Seq, MatOpsBase_MPI;

static PetscErrorCode MatDestroy_SeqAIJGPUCSR(Mat);
static PetscErrorCode MatDestroy_MPIAIJGPUCSR(Mat);
static PetscErrorCode MatDuplicate_GPUCSR(Mat, MatDuplicateOption, Mat *);

/* Tests the duplicate operation instead of the type name, because MatGPUCSRPresent_Private() exchanges the name for some time.  The destroy
   operation would not do: MatCreateSubMatrices() replaces it in its results. */
PetscErrorCode MatGPUCSRIs_Private(Mat A, PetscBool *is)
{
  PetscFunctionBegin;
  *is = (PetscBool)(A->ops->duplicate == MatDuplicate_GPUCSR && A->spptr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Checks the argument of a public function and gets its data. */
PetscErrorCode MatGPUCSRGetData_Private(Mat A, Mat_GPUCSR **g)
{
  PetscBool is;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscCall(MatGPUCSRIs_Private(A, &is));
  PetscCheck(is, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONG, "Matrix of type %s is not a gpucsr matrix; use MatSetType(A, MATGPUCSR) or -mat_type gpucsr", ((PetscObject)A)->type_name ? ((PetscObject)A)->type_name : "(not set)");
  *g = (Mat_GPUCSR *)A->spptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

const struct _MatOps *MatGPUCSRBase_Private(Mat A)
{
  if (A->spptr) return &((Mat_GPUCSR *)A->spptr)->base;
  return A->ops->destroy == MatDestroy_MPIAIJGPUCSR ? &MatOpsBase_MPI : &MatOpsBase_Seq;
}

static PetscErrorCode MatGPUCSRFree(Mat A)
{
  Mat_GPUCSR *g = (Mat_GPUCSR *)A->spptr;

  PetscFunctionBegin;
  PetscCall(GpOpDestroy(&g->op));
  PetscCall(MatGPUCSRHaloDestroy_Private(&g->halo));
  PetscCall(MatGPUCSRCooDestroy_Private(&g->coo));
  PetscCall(MatGPUCSRNodesDestroy_Private(g->dev, &g->nodes));
  PetscCall(MatGPUCSRManyDestroy_Private(g->dev, &g->many));
  for (int s = 0; s < 2; s++) GpDevFree(g->dev, &g->staged[s], (size_t)g->nstaged[s] * sizeof(double));
  PetscCall(PetscFree(A->spptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Restores the vector type and the binding to the CPU of the parent type, because MatSetType() keeps both when it changes the type. */
static PetscErrorCode MatGPUCSRRestoreDefaults(Mat A)
{
  PetscFunctionBegin;
#if PetscDefined(HAVE_DEVICE)
  A->boundtocpu = PETSC_TRUE;
#endif
  if (!((Mat_GPUCSR *)A->spptr)->setvectype) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscFree(A->defaultvectype));
  PetscCall(PetscStrallocpy(VECSTANDARD, &A->defaultvectype));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatDestroy_SeqAIJGPUCSR(Mat A)
{
  PetscFunctionBegin;
  if (A->spptr) {
    PetscCall(MatGPUCSRRestoreDefaults(A));
    PetscCall(MatGPUCSRFree(A));
  }
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatProductSetFromOptions_anytype_C", NULL));
  PetscCall(PetscObjectChangeTypeName((PetscObject)A, MATSEQAIJ));
  PetscCall((*MatOpsBase_Seq.destroy)(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatDestroy_MPIAIJGPUCSR(Mat A)
{
  PetscFunctionBegin;
  if (A->spptr) {
    PetscCall(MatGPUCSRRestoreDefaults(A));
    PetscCall(MatGPUCSRFree(A));
  }
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatProductSetFromOptions_anytype_C", NULL));
  PetscCall(PetscObjectChangeTypeName((PetscObject)A, MATMPIAIJ));
  PetscCall((*MatOpsBase_MPI.destroy)(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatDuplicate_GPUCSR(Mat A, MatDuplicateOption option, Mat *B)
{
  Mat_GPUCSR *g = (Mat_GPUCSR *)A->spptr;
  PetscBool   is;

  PetscFunctionBegin;
  PetscCall((*MatGPUCSRBase_Private(A)->duplicate)(A, option, B)); /* creates a matrix of type gpucsr and copies the values */
  PetscCall(MatGPUCSRIs_Private(*B, &is));
  if (is && g) {
    ((Mat_GPUCSR *)(*B)->spptr)->options = g->options;
    ((Mat_GPUCSR *)(*B)->spptr)->typed   = g->typed;
    if (g->setvectype) PetscCall(MatGPUCSRSetVecType(*B, A->defaultvectype));
    if (!g->mpi) PetscCall(MatGPUCSRSetDiagonalBlock_Private(*B)); /* duplication has set the function of the parent type */
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A matrix that is derived from another one inherits its options; the options database is not read again. */
PetscErrorCode MatGPUCSRCopyOptions_Private(const MatGPUCSROptions *options, Mat B)
{
  PetscBool is;

  PetscFunctionBegin;
  PetscCall(MatGPUCSRIs_Private(B, &is));
  if (is && options->given & MAT_GPUCSR_GIVEN(vec_type)) PetscCall(MatGPUCSRSetVecType(B, options->vec_type));
  if (is) PetscCall(MatGPUCSRSetOptions_Private(B, options));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* MAT_INPLACE_MATRIX replaces the contents of A, including its options, by those of a new matrix; so the options are saved before. */
static PetscErrorCode MatTranspose_GPUCSR(Mat A, MatReuse reuse, Mat *B)
{
  Mat_GPUCSR      *g       = (Mat_GPUCSR *)A->spptr;
  MatGPUCSROptions options = {0};

  PetscFunctionBegin;
  if (g) options = g->options;
  PetscCall((*MatGPUCSRBase_Private(A)->transpose)(A, reuse, B));
  if (g && reuse != MAT_REUSE_MATRIX) PetscCall(MatGPUCSRCopyOptions_Private(&options, *B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatCreateSubMatrix_GPUCSR(Mat A, IS rows, IS columns, MatReuse reuse, Mat *B)
{
  PetscFunctionBegin;
  PetscCall((*MatGPUCSRBase_Private(A)->createsubmatrix)(A, rows, columns, reuse, B));
  if (A->spptr && reuse == MAT_INITIAL_MATRIX) PetscCall(MatGPUCSRCopyOptions_Private(&((Mat_GPUCSR *)A->spptr)->options, *B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* MatCreateSubMatrix() of a sequential matrix calls this function. */
static PetscErrorCode MatCreateSubMatrices_GPUCSR(Mat A, PetscInt n, const IS rows[], const IS columns[], MatReuse reuse, Mat *B[])
{
  PetscFunctionBegin;
  PetscCall((*MatGPUCSRBase_Private(A)->createsubmatrices)(A, n, rows, columns, reuse, B));
  for (PetscInt k = 0; A->spptr && reuse == MAT_INITIAL_MATRIX && k < n; k++) PetscCall(MatGPUCSRCopyOptions_Private(&((Mat_GPUCSR *)A->spptr)->options, (*B)[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Replaces the operations that derive a new matrix, if the parent type has them. */
static PetscErrorCode MatGPUCSRSetDerived(Mat A)
{
  PetscFunctionBegin;
  A->ops->duplicate = MatDuplicate_GPUCSR;
  if (A->ops->transpose) A->ops->transpose = MatTranspose_GPUCSR;
  if (A->ops->createsubmatrix) A->ops->createsubmatrix = MatCreateSubMatrix_GPUCSR;
  if (A->ops->createsubmatrices) A->ops->createsubmatrices = MatCreateSubMatrices_GPUCSR;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatAssemblyEnd_MPIAIJGPUCSR(Mat A, MatAssemblyType type)
{
  PetscFunctionBegin;
  PetscCall((*MatGPUCSRBase_Private(A)->assemblyend)(A, type));
  if (type == MAT_FINAL_ASSEMBLY && A->spptr) PetscCall(MatGPUCSRGetBlocks_Private(A, NULL, NULL, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Turns a matrix of the type base (MATSEQAIJ or MATMPIAIJ) into one of type gpucsr: replaces the operations that differ and keeps the
   others. */
PetscErrorCode MatGPUCSRAttach_Private(Mat A, MatType base)
{
  Mat_GPUCSR *g;
  PetscBool   mpi;

  PetscFunctionBegin;
  PetscCall(PetscStrcmp(base, MATMPIAIJ, &mpi));
  PetscCall(PetscNew(&g));
  PetscCall(PetscGPUCSRGetDevice_Private(&g->dev));
  g->base  = *A->ops;
  g->mpi   = mpi;
  A->spptr = g;
  if (mpi) MatOpsBase_MPI = g->base;
  else MatOpsBase_Seq = g->base;
  A->ops->destroy        = mpi ? MatDestroy_MPIAIJGPUCSR : MatDestroy_SeqAIJGPUCSR;
  A->ops->view           = MatView_GPUCSR;
  A->ops->load           = MatLoad_GPUCSR;
  A->ops->convert        = MatConvert_GPUCSR;
  A->ops->convertfrom    = MatConvertFrom_GPUCSR;
  A->ops->setfromoptions = MatSetFromOptions_GPUCSR;
  if (mpi) A->ops->assemblyend = MatAssemblyEnd_MPIAIJGPUCSR;
  PetscCall(MatGPUCSRSetDerived(A));
  PetscCall(MatGPUCSRSetProducts_Private(A));
  PetscCall(MatGPUCSRSetUpdates_Private(A));
  if (!mpi) PetscCall(MatGPUCSRSetDiagonals_Private(A));
  PetscCall(MatGPUCSRSetFactors_Private(A));
  PetscCall(MatGPUCSRSetCOO_Private(A));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatProductSetFromOptions_anytype_C", MatProductSetFromOptions_GPUCSR_AnyType));
  PetscCall(PetscObjectChangeTypeName((PetscObject)A, mpi ? MATMPIAIJGPUCSR : MATSEQAIJGPUCSR));
  if (g->dev->kind == GP_DEV_CUDA) { /* lets MatCreateVecs() create vectors in device memory */
    PetscCall(MatGPUCSRSetVecType(A, PetscDefined(HAVE_CUDA) ? VECCUDA : VECGPU));
#if PetscDefined(HAVE_DEVICE)
    A->boundtocpu = PETSC_FALSE; /* otherwise multigrid binds its vectors to the CPU */
#endif
  }
  PetscCall(VecGPUSLEPcCheck()); /* must run before a SLEPc solver selects basis vectors for this matrix */
  PetscCall(MatGPUCSRGetOptions_Private(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Turns A into a matrix of its parent type base again. */
PetscErrorCode MatGPUCSRDetach_Private(Mat A, MatType base)
{
  Mat_GPUCSR     *g   = (Mat_GPUCSR *)A->spptr;
  struct _MatOps  b   = g->base;
  const PetscBool mpi = g->mpi;

  PetscFunctionBegin;
  PetscCall(MatGPUCSRResetProducts_Private(A));
  PetscCall(MatGPUCSRResetUpdates_Private(A));
  PetscCall(MatGPUCSRResetDiagonals_Private(A));
  PetscCall(MatGPUCSRResetCOO_Private(A));
  A->ops->bindtocpu = b.bindtocpu;
  if (A->ops->destroy == MatDestroy_SeqAIJGPUCSR || A->ops->destroy == MatDestroy_MPIAIJGPUCSR) A->ops->destroy = b.destroy;
  A->ops->duplicate         = b.duplicate;
  A->ops->transpose         = b.transpose;
  A->ops->createsubmatrix   = b.createsubmatrix;
  A->ops->createsubmatrices = b.createsubmatrices;
  A->ops->view              = b.view;
  A->ops->load              = b.load;
  A->ops->convert           = b.convert;
  A->ops->convertfrom       = b.convertfrom;
  A->ops->setfromoptions    = b.setfromoptions;
  A->ops->axpy              = b.axpy;
  A->ops->scale             = b.scale;
  A->ops->zeroentries       = b.zeroentries;
  A->ops->shift             = b.shift;
  A->ops->diagonalscale     = b.diagonalscale;
  A->ops->lufactor          = b.lufactor;
  A->ops->ilufactor         = b.ilufactor;
  A->ops->choleskyfactor    = b.choleskyfactor;
  A->ops->iccfactor         = b.iccfactor;
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatProductSetFromOptions_anytype_C", NULL));
  if (mpi) {
    PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatMPIAIJSetPreallocation_C", g->preallocate));
    PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatMPIAIJSetPreallocationCSR_C", g->preallocatecsr));
  }
  PetscCall(MatGPUCSRRestoreDefaults(A));
  PetscCall(MatGPUCSRFree(A));
  PetscCall(PetscObjectChangeTypeName((PetscObject)A, base));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCreate_SeqAIJGPUCSR(Mat A)
{
  PetscFunctionBegin;
  PetscCall(MatSetType(A, MATSEQAIJ));
  PetscCall(MatGPUCSRAttachTo_Private(A));
  ((Mat_GPUCSR *)A->spptr)->typed = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Uploads the host arrays: only the values (a refill) if the image has their pattern and their precision, otherwise everything. */
static PetscErrorCode MatGPUCSRUploadArrays(Mat A, PetscObjectState state)
{
  Mat_GPUCSR    *g       = (Mat_GPUCSR *)A->spptr;
  MatGPUCSRKey   key     = {.owner = A, .state = state, .nonzerostate = A->nonzerostate};
  const PetscInt none[]  = {0};
  GpOpOptions    options = {.kernel = (int)g->options.kernel - 1, .mode = (GpSelMode)g->options.select, .limit = g->options.memory_limit, .adds = (PetscBool)(g->place.columns != NULL)}; /* an off-diagonal block, whose products add to y */
  PetscScalar   *val;
  PetscMemType   memtype;
  PetscBool      refill;

  PetscFunctionBegin;
  PetscCall(MatSeqAIJGetCSRAndMemType(A, &key.rowptr, &key.col, &val, &memtype));
  key.nnz = key.rowptr ? key.rowptr[A->rmap->n] : 0;
  refill  = (PetscBool)(g->op && g->key.owner == A && key.nonzerostate == g->key.nonzerostate && key.rowptr == g->key.rowptr && key.col == g->key.col && key.nnz == g->key.nnz);
  PetscCall(MatGPUCSRChoosePrecision_Private(A, refill, &options.prec));
  options.exact = (PetscBool)(g->options.storage == MAT_GPUCSR_STORAGE_AUTO);
  if (refill && options.prec != g->op->options.prec) refill = PETSC_FALSE;
  g->key = (MatGPUCSRKey){0}; /* if the upload fails, the image is invalid */
  PetscCall(PetscLogEventBegin(MAT_GPUCSR_Upload, A, 0, 0, 0));
  if (!g->op) PetscCall(GpOpCreate(g->dev, &g->op));
  if (refill) PetscCall(GpOpRefill(g->op, key.rowptr, key.col, val, &g->place));
  else PetscCall(GpOpSetUp(g->op, &options, key.rowptr ? A->rmap->n : 0, A->cmap->n, key.rowptr ? key.rowptr : none, key.col, val, &g->place));
  PetscCall(PetscLogEventEnd(MAT_GPUCSR_Upload, A, 0, 0, 0));
  PetscCall(PetscLogCpuToGpu((PetscLogDouble)key.nnz * (refill ? 0 : sizeof(int32_t)) + (PetscLogDouble)key.nnz * GpPrecBytes(options.prec)));
  g->key = key;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the device image of a seq matrix; uploads it if the host arrays have changed.  transpose: also builds the image of the transpose. */
PetscErrorCode MatGPUCSRRefresh_Private(Mat A, PetscBool transpose, GpOp *op)
{
  Mat_GPUCSR      *g = (Mat_GPUCSR *)A->spptr;
  PetscObjectState state;
  PetscBool        symmetric;

  PetscFunctionBegin;
  PetscCall(PetscObjectStateGet((PetscObject)A, &state));
  PetscCall(PetscGPUCSRGetDevice_Private(&g->dev));
  if (!g->op || g->key.owner != A || state != g->key.state || A->nonzerostate != g->key.nonzerostate) PetscCall(MatGPUCSRUploadArrays(A, state));
  if (!g->op->has[1] && !transpose && g->options.transpose == MAT_GPUCSR_TRANSPOSE_EAGER) {
    PetscCall(MatGPUCSRIsSymmetric_Private(A, &symmetric));
    transpose = (PetscBool)!symmetric;
  }
  if (!g->op->has[1] && transpose) {
    PetscCall(PetscLogEventBegin(MAT_GPUCSR_Transpose, A, 0, 0, 0));
    PetscCall(PetscGPUCSRLogTimeBegin_Private(g->dev));
    PetscCall(GpOpSetUpTranspose(g->op));
    PetscCall(PetscGPUCSRLogTimeEnd_Private(g->dev));
    PetscCall(PetscLogEventEnd(MAT_GPUCSR_Transpose, A, 0, 0, 0));
  }
  *op = g->op;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
  MATGPUCSR - MATGPUCSR = "gpucsr" - A sparse matrix whose products run on the GPU. The GPU holds the matrix and its transpose, by
  default with values in single precision; vectors and sums are in double precision

  Options Database Keys:
+ -mat_type gpucsr                           - sets the type in `MatSetFromOptions()`; `-mat_seqaij_type seqaijgpucsr` also converts matrices of type `MATSEQAIJ`
. -mat_gpucsr_storage <single,double,auto>   - precision of the values on the device
. -mat_gpucsr_transpose <eager,lazy>         - builds the transpose with the upload, or when a product first needs it
. -mat_gpucsr_kernel <auto,name>             - kernel of the products
. -mat_gpucsr_select <model,measure,fixed>   - how the kernel is selected if none is named
. -mat_gpucsr_memory_limit <bytes>           - upper bound on the device memory of the matrix; see `MatGPUCSRSetMemoryLimit()`
. -mat_gpucsr_vec_type <type>                - type of the vectors that `MatCreateVecs()` creates
. -mat_gpucsr_halo_type <auto,host,nccl,mpi> - how the ranks of a parallel product exchange boundary entries
. -mat_gpucsr_halo_view                      - prints a timeline of a parallel product
. -mat_view ::ascii_info                     - prints storage, rounding, device memory, the selected kernels and the reason for their selection
. -gpucsr_device <auto,cuda,host>            - backend on which matrices of this type are stored and multiplied
. -gpucsr_storage, -gpucsr_kernel, ...       - defaults of the -mat_gpucsr_ options for all matrices with any prefix
- -gpucsr_notice <bool>                      - whether a notice on stderr reports that the default single storage rounded values

  Level: beginner

  Notes:
  Option names. `-mat_gpucsr_storage` and the other `-mat_gpucsr_` options apply to matrices without an options prefix. A matrix with the
  prefix A_ reads `-A_mat_gpucsr_storage`. The process-wide default `-gpucsr_storage` applies to both. An option of the matrix takes precedence over
  a function such as `MatGPUCSRSetStorage()`, which takes precedence over the process-wide default.

  Type. `MATGPUCSR` is `MATSEQAIJGPUCSR` on one process and `MATMPIAIJGPUCSR` on several. Both derive from `MATAIJ` and support all its operations. The
  values on the host are authoritative. The device holds an image of them, which is updated when they change.

  Products. `MatMult()`, `MatMultAdd()`, `MatMultTranspose()`, `MatMultTransposeAdd()` and their Hermitian variants run on the device and add in a fixed
  order. `MatMatMult()` and `MatTransposeMatMult()` with a dense matrix, `MatMatTransposeMult()` with a dense matrix on one process, and
  `MatGPUCSRMultMany()` do so too. Without a GPU they run on the host in the same formats.

  Changes in place. `MatScale()`, `MatDiagonalScale()`, `MatShift()`, `MatZeroEntries()` and `MatAXPY()` of two matrices of this type with one pattern
  change the image on the device if the result has the same bits as an upload: in double storage, or in single storage as long as no value
  was rounded. Otherwise the next product uploads the values.

  Diagonal. `MatGetDiagonal()` returns the diagonal of the matrix on the host, never a rounded one. It is read from the image if the image is exact and the
  vector is in device memory. `MatMultDiagonalBlock()` follows the same rule for a vector whose newest values are in device memory.

  Assembly. `MatSetValuesCOO()` accepts values in host memory or in GPU memory. Values in GPU memory are added on the GPU, in the order of the
  indices given to `MatSetPreallocationCOO()`; values received from other ranks follow in rank order. With `ADD_VALUES`, or if only some
  ranks pass GPU memory, the values are first copied to the host.

  Multigrid. Operators and interpolations keep this type. `DMDA` creates interpolations only of types whose names begin with aij; use `-dm_mat_type aijgpucsr`.

  Vectors. On a GPU `MatCreateVecs()` creates vectors in device memory: `VECCUDA` if PETSc was built with CUDA, else `VECGPU`. Code that accepts only
  PETSc's own vector types needs `-mat_gpucsr_vec_type standard`. Every product then copies its vectors to the device and back.

.seealso: `VECGPU`, `PetscGPUCSRInitialize()`, `MatGPUCSRSetStorage()`, `MatGPUCSRSetTranspose()`, `MatGPUCSRSetKernel()`, `MatGPUCSRSetSelect()`, `MatGPUCSRSetMemoryLimit()`, `MatGPUCSRUpload()`, `MatGPUCSRGetInfo()`, `MatGPUCSRMultMany()`
M*/
