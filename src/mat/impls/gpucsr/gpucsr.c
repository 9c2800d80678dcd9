/* MATSEQAIJGPUCSR: MATSEQAIJ with its products on the device.  What both types share also stands here. */
#include "mat/impls/gpucsr/gpucsrimpl.h"
#include "vec/gpuvecimpl.h"

PetscLogEvent MAT_GPUCSR_Upload, MAT_GPUCSR_Transpose, MAT_GPUCSR_HaloBegin, MAT_GPUCSR_HaloEnd, MAT_GPUCSR_Update, MAT_GPUCSR_MultMany;

/* The parents' operations, as the latest matrix had them: MatHeaderMerge() calls ours on a matrix that has no type name, and
   may leave them on one that has no spptr. */
static struct _MatOps MatOpsBase_Seq, MatOpsBase_MPI;

static PetscErrorCode MatDestroy_SeqAIJGPUCSR(Mat);
static PetscErrorCode MatDestroy_MPIAIJGPUCSR(Mat);
static PetscErrorCode MatDuplicate_GPUCSR(Mat, MatDuplicateOption, Mat *);

/* told by an operation, for type names change when a matrix is presented as another; not by destroy, which
   MatCreateSubMatrices() replaces in what it makes */
PetscErrorCode MatGPUCSRIs_Private(Mat A, PetscBool *is)
{
  PetscFunctionBegin;
  *is = (PetscBool)(A->ops->duplicate == MatDuplicate_GPUCSR && A->spptr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* what the functions that a user calls begin with */
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

/* the vectors that the parent type makes, and where its products run; MatSetType() keeps both when it changes the type */
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
  PetscCall((*MatGPUCSRBase_Private(A)->duplicate)(A, option, B)); /* makes a matrix of our type and fills it */
  PetscCall(MatGPUCSRIs_Private(*B, &is));
  if (is && g) {
    ((Mat_GPUCSR *)(*B)->spptr)->options = g->options;
    ((Mat_GPUCSR *)(*B)->spptr)->typed   = g->typed;
    if (g->setvectype) PetscCall(MatGPUCSRSetVecType(*B, A->defaultvectype));
    if (!g->mpi) PetscCall(MatGPUCSRSetDiagonalBlock_Private(*B)); /* PETSc has copied its own */
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a matrix that is made of another one has the other's options, not those of the database */
PetscErrorCode MatGPUCSRCopyOptions_Private(const MatGPUCSROptions *options, Mat B)
{
  PetscBool is;

  PetscFunctionBegin;
  PetscCall(MatGPUCSRIs_Private(B, &is));
  if (is && options->given & MAT_GPUCSR_GIVEN(vec_type)) PetscCall(MatGPUCSRSetVecType(B, options->vec_type));
  if (is) PetscCall(MatGPUCSRSetOptions_Private(B, options));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* in place, the matrix receives the contents of a new one, options included */
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

/* of sequential matrices, MatCreateSubMatrix() is one of these */
static PetscErrorCode MatCreateSubMatrices_GPUCSR(Mat A, PetscInt n, const IS rows[], const IS columns[], MatReuse reuse, Mat *B[])
{
  PetscFunctionBegin;
  PetscCall((*MatGPUCSRBase_Private(A)->createsubmatrices)(A, n, rows, columns, reuse, B));
  for (PetscInt k = 0; A->spptr && reuse == MAT_INITIAL_MATRIX && k < n; k++) PetscCall(MatGPUCSRCopyOptions_Private(&((Mat_GPUCSR *)A->spptr)->options, (*B)[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* where the parent has the operation */
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

/* makes a (seq or mpi) AIJ ours: swaps the operations that differ and keeps the others */
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
  if (g->dev->kind == GP_DEV_CUDA) { /* vectors that live where the products are */
    PetscCall(MatGPUCSRSetVecType(A, PetscDefined(HAVE_CUDA) ? VECCUDA : VECGPU));
#if PetscDefined(HAVE_DEVICE)
    A->boundtocpu = PETSC_FALSE; /* else multigrid binds its vectors to the host */
#endif
  }
  PetscCall(VecGPUSLEPcCheck()); /* before a solver of SLEPc chooses basis vectors for this matrix */
  PetscCall(MatGPUCSRGetOptions_Private(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the way back: the parent's operations where ours stand */
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

/* The host's arrays go to the device: the values alone if the image has their pattern and their precision, else all. */
static PetscErrorCode MatGPUCSRUploadArrays(Mat A, PetscObjectState state)
{
  Mat_GPUCSR    *g       = (Mat_GPUCSR *)A->spptr;
  MatGPUCSRKey   key     = {.owner = A, .state = state, .nonzerostate = A->nonzerostate};
  const PetscInt none[]  = {0};
  GpOpOptions    options = {.kernel = (int)g->options.kernel - 1, .mode = (GpSelMode)g->options.select, .limit = g->options.memory_limit, .adds = (PetscBool)(g->place.columns != NULL)}; /* of columns that are not consecutive: an off-diagonal block */
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
  g->key = (MatGPUCSRKey){0}; /* should the upload fail, there is no image */
  PetscCall(PetscLogEventBegin(MAT_GPUCSR_Upload, A, 0, 0, 0));
  if (!g->op) PetscCall(GpOpCreate(g->dev, &g->op));
  if (refill) PetscCall(GpOpRefill(g->op, key.rowptr, key.col, val, &g->place));
  else PetscCall(GpOpSetUp(g->op, &options, key.rowptr ? A->rmap->n : 0, A->cmap->n, key.rowptr ? key.rowptr : none, key.col, val, &g->place));
  PetscCall(PetscLogEventEnd(MAT_GPUCSR_Upload, A, 0, 0, 0));
  PetscCall(PetscLogCpuToGpu((PetscLogDouble)key.nnz * (refill ? 0 : sizeof(int32_t)) + (PetscLogDouble)key.nnz * GpPrecBytes(options.prec)));
  g->key = key;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The device image of a seq matrix, made or refreshed when the host's arrays have changed since; with transpose, that of the transpose too. */
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
  MATGPUCSR - MATGPUCSR = "gpucsr" - A sparse matrix that keeps itself and its transpose on the GPU, with values in single
  precision unless another storage is set, and multiplies double vectors in double precision

  Options Database Keys:
+ -mat_type gpucsr                           - sets the type in `MatSetFromOptions()`; `-mat_seqaij_type seqaijgpucsr` turns even matrices made as `MATSEQAIJ` into this type
. -mat_gpucsr_storage <single,double,auto>   - precision of the values on the device
. -mat_gpucsr_transpose <eager,lazy>         - build the transpose with the upload, or when a product first needs it
. -mat_gpucsr_kernel <auto,name>             - kernel of the products
. -mat_gpucsr_select <model,measure,fixed>   - how the kernel is chosen when none is named
. -mat_gpucsr_memory_limit <bytes>           - memory on the device that no compressed format may pass
. -mat_gpucsr_vec_type <type>                - type of the vectors that `MatCreateVecs()` makes
. -mat_gpucsr_halo_type <auto,host,nccl,mpi> - how boundary entries cross between the GPUs of a parallel product
. -mat_gpucsr_halo_view                      - prints a timeline of a parallel product
. -mat_view ::ascii_info                     - tells storage, rounding, memory, kernels and why they were chosen
. -gpucsr_device <auto,cuda,host>            - where matrices of this type live
. -gpucsr_storage, -gpucsr_kernel, ...       - defaults of the -mat_gpucsr_ options for all matrices, whatever their prefix
- -gpucsr_notice <bool>                      - whether the default single storage tells on stderr that it rounds values

  Level: beginner

  Notes:
  An option -mat_gpucsr_ applies to matrices without an options prefix; one with the prefix A_ has -A_mat_gpucsr_. A process-wide default -gpucsr_ applies to
  both. The option of the matrix is stronger than the functions, such as `MatGPUCSRSetStorage()`, and these are stronger than the process-wide default.

  `MATSEQAIJGPUCSR` on one process, `MATMPIAIJGPUCSR` on several. Both derive from `MATAIJ`: whatever that can do, they can. The
  host's values are the truth; the device holds an image that is refreshed when they change.

  `MatMult()`, `MatMultAdd()`, `MatMultTranspose()`, `MatMultTransposeAdd()` and their Hermitian kin run on the device, in a fixed
  order of summation. So do `MatMatMult()`, `MatTransposeMatMult()` and, on one process, `MatMatTransposeMult()` with a dense matrix, and `MatGPUCSRMultMany()`.
  Without a GPU they run on the host, in the same formats.

  `MatScale()`, `MatDiagonalScale()`, `MatShift()`, `MatZeroEntries()` and `MatAXPY()` of two matrices of this type on one pattern change the image where it stands
  when that gives bit by bit what an upload would give: in double storage, or when single storage has not rounded a value so far. Else the
  next product uploads the values. `MatGetDiagonal()` gives the diagonal of the host's matrix, never a rounded one; it is read from the image when that is exact and
  the vector lives on the device. So it is with `MatMultDiagonalBlock()`, for a vector whose values are there.

  `MatSetValuesCOO()` takes values on the host or in the memory of the GPU. The latter are summed there, in the order in which
  `MatSetPreallocationCOO()` was given their places, those of other ranks after a rank's own, rank by rank. With `ADD_VALUES`, or when only some ranks have theirs on the GPU,
  they are brought to the host first.

  Multigrid keeps its operators and interpolations in this type. A `DMDA` makes interpolations of types whose names begin with aij, so say `-dm_mat_type aijgpucsr`.

  On a GPU `MatCreateVecs()` gives vectors that live there: `VECCUDA` where PETSc has it, `VECGPU` where not. Code that accepts only types of
  vectors that it knows wants `-mat_gpucsr_vec_type standard`; these are copied to the device and back by every product.

.seealso: `VECGPU`, `PetscGPUCSRInitialize()`, `MatGPUCSRSetStorage()`, `MatGPUCSRSetTranspose()`, `MatGPUCSRSetKernel()`, `MatGPUCSRSetSelect()`, `MatGPUCSRSetMemoryLimit()`, `MatGPUCSRUpload()`, `MatGPUCSRGetInfo()`, `MatGPUCSRMultMany()`
M*/
