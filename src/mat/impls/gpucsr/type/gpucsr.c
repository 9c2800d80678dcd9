/* Creation of the matrix types MATSEQAIJGPUCSR and MATMPIAIJGPUCSR, which derive from MATSEQAIJ and MATMPIAIJ.  They keep the data and the
   operations of the parent type, except the operations that are replaced here.  The blocks of a parallel matrix have the type MATSEQAIJGPUCSR. */
/* MANSEC = Mat */
#include "mat/impls/gpucsr/type/gpucsrtype.h"

static PetscErrorCode MatConvertFrom_GPUCSR(Mat, MatType, MatReuse, Mat *);

static PetscErrorCode MatAssemblyEnd_MPIAIJGPUCSR(Mat A, MatAssemblyType type)
{
  Mat block[2];

  PetscFunctionBegin;
  PetscCall((*MatGPUCSRBase_Private(A)->assemblyend)(A, type));
  if (type == MAT_FINAL_ASSEMBLY && A->spptr) PetscCall(MatMPIAIJGPUCSRGetBlocks_Private(A, block, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Preconditioners of blocks factorise the block, which needs the options that were set since the last assembly. */
static PetscErrorCode MatGetDiagonalBlock_MPIAIJGPUCSR(Mat A, Mat *B)
{
  Mat block[2];

  PetscFunctionBegin;
  if (A->spptr) PetscCall(MatMPIAIJGPUCSRGetBlocks_Private(A, block, NULL));
  PetscCall((*MatGPUCSRBase_Private(A)->getdiagonalblock)(A, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Replaces the operations and composed functions that both types replace, and then those of one type. */
static PetscErrorCode MatGPUCSRSetOperations(Mat A, PetscBool mpi)
{
  Mat_GPUCSR *g = (Mat_GPUCSR *)A->spptr;

  PetscFunctionBegin;
  A->ops->destroy        = mpi ? MatDestroy_MPIAIJGPUCSR : MatDestroy_SeqAIJGPUCSR;
  A->ops->view           = MatView_GPUCSR;
  A->ops->load           = MatLoad_GPUCSR;
  A->ops->convert        = MatConvert_GPUCSR;
  A->ops->convertfrom    = MatConvertFrom_GPUCSR;
  A->ops->setfromoptions = MatSetFromOptions_GPUCSR;
  PetscCall(MatGPUCSRSetDerived_Private(A));
  PetscCall(MatGPUCSRSetProducts_Private(A));
  PetscCall(MatGPUCSRSetFactors_Private(A));
  PetscCall(MatGPUCSRSetCOO_Private(A));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatProductSetFromOptions_anytype_C", MatProductSetFromOptions_GPUCSR_AnyType));
  if (mpi) {
    g->mult             = MatMPIGPUCSRMult_Private;
    g->multbatch        = MatMPIGPUCSRMultBatch_Private;
    g->getoperators     = MatMPIAIJGPUCSRGetOperatorsAndHalo_Private;
    g->assemblecoo      = MatSetValuesCOO_MPIAIJGPUCSR_Device;
    A->ops->assemblyend = MatAssemblyEnd_MPIAIJGPUCSR;

    A->ops->productsetfromoptions = MatProductSetFromOptions_MPIAIJGPUCSR;
    A->ops->bindtocpu             = MatBindToCPU_MPIAIJGPUCSR;
    A->ops->shift                 = MatShift_MPIAIJGPUCSR;
    if (A->ops->getdiagonalblock) A->ops->getdiagonalblock = MatGetDiagonalBlock_MPIAIJGPUCSR;
    A->ops->diagonalscale = MatDiagonalScale_MPIAIJGPUCSR;
    A->ops->sor           = MatSOR_MPIAIJGPUCSR;
    PetscCall(MatGPUCSRSetPreallocation_Private(A));
  } else {
    A->ops->productsetfromoptions = MatProductSetFromOptions_SeqAIJGPUCSR;
    PetscCall(MatGPUCSRSetUpdates_Private(A));
    PetscCall(MatGPUCSRSetDiagonals_Private(A));
    PetscCall(MatGPUCSRSetSOROperation_Private(A));
  }
  g->own = *A->ops;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Turns a plain AIJ matrix into one of type gpucsr.  Does nothing if it is one: -mat_seqaij_type may have converted it. */
static PetscErrorCode MatGPUCSRAttach(Mat A)
{
  Mat_SeqAIJGPUCSR *s = NULL;
  Mat_MPIAIJGPUCSR *m = NULL;
  Mat_GPUCSR       *g;
  Mat               block[2];
  PetscBool         mpi;

  PetscFunctionBegin;
  if (MatGPUCSRIs_Private(A)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATMPIAIJ, &mpi));
  if (mpi) {
    PetscCall(PetscNew(&m));
    m->attachblock = MatGPUCSRAttach;
  } else PetscCall(PetscNew(&s));
  g = mpi ? &m->common : &s->common;
  PetscCall(PetscGPUCSRGetDevice(&g->dev));
  g->base                         = *A->ops;
  g->mpi                          = mpi;
  A->spptr                        = g;
  MatGPUCSRParentOps_Private[mpi] = g->base;
  PetscCall(MatGPUCSRSetOperations(A, mpi));
  PetscCall(PetscObjectChangeTypeName((PetscObject)A, mpi ? MATMPIAIJGPUCSR : MATSEQAIJGPUCSR));
  PetscCall(MatGPUCSRUseDeviceVectors_Private(A));
  PetscCall(MatGPUCSRReadOptions_Private(A));
  if (mpi && A->preallocated && A->assembled) PetscCall(MatMPIAIJGPUCSRGetBlocks_Private(A, block, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCreate_SeqAIJGPUCSR(Mat A)
{
  PetscFunctionBegin;
  PetscCall(MatSetType(A, MATSEQAIJ));
  PetscCall(MatGPUCSRAttach(A));
  ((Mat_SeqAIJGPUCSR *)A->spptr)->typed = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCreate_MPIAIJGPUCSR(Mat A)
{
  PetscFunctionBegin;
  PetscCall(MatSetType(A, MATMPIAIJ));
  PetscCall(MatGPUCSRAttach(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Converts a matrix of any type to gpucsr, through plain AIJ.  MATMPIAIJGPUCSR can be requested on one process too. */
static PetscErrorCode MatConvertFrom_GPUCSR(Mat A, MatType type, MatReuse reuse, Mat *B)
{
  MatType   base;
  PetscBool plain, seq, mpi;

  PetscFunctionBegin;
  PetscCall(PetscStrcmp(type, MATSEQAIJGPUCSR, &seq));
  PetscCall(PetscStrcmp(type, MATMPIAIJGPUCSR, &mpi));
  base = seq ? MATSEQAIJ : mpi ? MATMPIAIJ : MATAIJ;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)A, &plain, mpi ? MATMPIAIJ : MATSEQAIJ, seq ? MATSEQAIJ : MATMPIAIJ, ""));
  if (reuse == MAT_REUSE_MATRIX) {
    Mat aij = A;

    if (!plain) PetscCall(MatGPUCSRConvertToPlain_Private(A, base, MAT_INITIAL_MATRIX, &aij));
    PetscCall(MatCopy(aij, *B, SAME_NONZERO_PATTERN));
    if (!plain) PetscCall(MatDestroy(&aij));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!plain) PetscCall(MatGPUCSRConvertToPlain_Private(A, base, reuse, B));
  else if (reuse == MAT_INITIAL_MATRIX) PetscCall(MatDuplicate(A, MAT_COPY_VALUES, B));
  PetscCall(MatGPUCSRAttach(*B));
  if (MatGPUCSRIs_Private(A) && reuse == MAT_INITIAL_MATRIX) PetscCall(MatGPUCSRApplyOptions_Private(&((Mat_GPUCSR *)A->spptr)->options, *B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* -mat_seqaij_type seqaijgpucsr calls this function for every new MATSEQAIJ.  MatGPUCSRKeepPlain_Private is set while gpucsr needs a plain one. */
PetscErrorCode MatConvert_SeqAIJ_SeqAIJGPUCSR(Mat A, MatType type, MatReuse reuse, Mat *B)
{
  PetscFunctionBegin;
  if (MatGPUCSRKeepPlain_Private && reuse == MAT_INPLACE_MATRIX) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatConvertFrom_GPUCSR(A, type, reuse, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
  MATGPUCSR - MATGPUCSR = "gpucsr" - A sparse matrix whose products run on the GPU. The GPU holds the matrix and its transpose, by
  default with values in single precision; vectors and sums are in double precision

  Options Database Keys:
+ -mat_type gpucsr                           - sets the type in `MatSetFromOptions()`; `-mat_seqaij_type seqaijgpucsr` also converts matrices of type `MATSEQAIJ`
. -mat_gpucsr_storage <single,double,auto>   - precision of the values on the device
. -mat_gpucsr_sor <host,multicolor>           - how `MatSOR()` and `PCSOR` sweep; see `MatGPUCSRSetSORType()`
. -mat_gpucsr_factor_storage <matrix,single,double> - precision of ILU and ICC factors on the device; see `MATSOLVERGPUCSR`
. -mat_gpucsr_factor_numeric <device,host>    - where ILU and ICC factors are computed; see `MatGPUCSRSetFactorNumeric()`
. -mat_gpucsr_factor_host <bool>              - solves on the host with a factor that does not fit the device memory; see `MatGPUCSRSetFactorHost()`
. -mat_gpucsr_trisolve <exact,jacobi,isai>   - how the device solves with the triangles of ILU and ICC factors; see `MatGPUCSRSetTrisolve()`
. -mat_gpucsr_trisolve_sweeps <n>            - number of sweeps of approximate solves; see `MatGPUCSRSetTrisolveSweeps()`
. -mat_gpucsr_transpose <eager,lazy>         - builds the transpose with the upload, or when a product first needs it
. -mat_gpucsr_kernel <auto,name>             - kernel of the products
. -mat_gpucsr_select <model,measure,fixed>   - how the kernel is selected if none is named
. -mat_gpucsr_memory_limit <bytes>           - upper bound on the device memory of the matrix; see `MatGPUCSRSetMemoryLimit()`
. -mat_gpucsr_stream <auto,always,never>     - whether the matrix stays in host memory, from which products stream it; see `MatGPUCSRSetStream()`
. -mat_gpucsr_vec_type <type>                - type of the vectors that `MatCreateVecs()` creates
. -mat_gpucsr_halo_type <auto,host,nccl,mpi> - how the ranks of a parallel product exchange boundary entries
. -mat_gpucsr_halo_view                      - prints a timeline of a parallel product
. -mat_view ::ascii_info                     - prints storage, rounding, device memory, the selected kernels and the reason for their selection
. -gpucsr_device <auto,cuda,host>            - backend on which matrices of this type are stored and multiplied
. -gpucsr_storage, -gpucsr_kernel, ...       - defaults of the -mat_gpucsr_ options for all matrices, whatever their options prefix
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

.seealso: `VECGPU`, `PetscGPUCSRInitialize()`, `MatGPUCSRSetStorage()`, `MatGPUCSRSetTranspose()`, `MatGPUCSRSetKernel()`, `MatGPUCSRSetSelect()`, `MatGPUCSRSetMemoryLimit()`, `MatGPUCSRSetStream()`, `MatGPUCSRUpload()`, `MatGPUCSRGetInfo()`, `MatGPUCSRMultMany()`
M*/
