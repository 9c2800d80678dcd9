/* MatMult(), MatMultAdd(), their transposed and Hermitian variants, and the product of a sequential matrix. */
#include "mat/impls/gpucsr/product/gpucsrproduct.h"

/* Computes y = A x, or y = A x + z, or the same with the transpose. */
static PetscErrorCode MatGPUCSRMult(Mat A, PetscBool transpose, Vec x, Vec z, Vec y)
{
  Mat_GPUCSR *g = (Mat_GPUCSR *)A->spptr;

  PetscFunctionBegin;
  PetscCheck(g, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONGSTATE, "The contents of the matrix were replaced by those of a matrix of another type, for example by MatHeaderMerge(); convert it to %s again", MATGPUCSR);
  if (transpose) {
    PetscBool symmetric = PETSC_FALSE;

    PetscCall(MatGPUCSRIsSymmetric_Private(A, &symmetric));
    if (symmetric) transpose = PETSC_FALSE;
  }
  PetscCall((*g->mult)(A, transpose, x, z, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Multiplies and logs the device time. */
PetscErrorCode MatGPUCSRMultOperator_Private(GpOp op, PetscBool transpose, const double *x, const double *z, double *y)
{
  PetscFunctionBegin;
  PetscCall(PetscGPUCSRLogTimeBegin_Private(op->dev));
  PetscCall(GpOpMult(op, transpose, x, z, y));
  PetscCall(PetscGPUCSRLogTimeEnd_Private(op->dev));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatSeqAIJGPUCSRGetOperators(Mat A, PetscBool transpose, GpOp op[2], struct _n_MatGPUCSRHalo **halo)
{
  PetscFunctionBegin;
  if (halo) *halo = NULL;
  PetscCall(MatGPUCSRGetOperator_Private(A, transpose, op));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes a product of a matrix on one process. */
static PetscErrorCode MatSeqGPUCSRMult(Mat A, PetscBool transpose, Vec x, Vec z, Vec y)
{
  GpOp           op;
  MatGPUCSRVec   xa, ya, za;
  PetscErrorCode err, restored;

  PetscFunctionBegin;
  PetscCall((*((Mat_GPUCSR *)A->spptr)->getoperators)(A, transpose, &op, NULL));
  PetscCall(MatGPUCSRVecGetRead_Private(A, transpose ? 1 : 0, x, &xa));
  PetscCall(MatGPUCSRVecGetResult_Private(A, transpose ? 0 : 1, y, z, &ya, &za));
  err      = MatGPUCSRMultOperator_Private(op, transpose, xa.device, z ? za.device : NULL, ya.device);
  restored = MatGPUCSRVecRestoreResult_Private(A, y, z, &ya, &za);
  PetscCall(MatGPUCSRVecRestoreArray_Private(x, 'r', &xa));
  PetscCall(err);
  PetscCall(restored);
  PetscCall(PetscGPUCSRLogFlops_Private(op->dev, 2.0 * (PetscLogDouble)op->nnz - (z ? 0.0 : (PetscLogDouble)(op->side[0].csr.m - op->side[0].features.empty))));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Defines the operation without and the one with a vector that is added. */
#define MULT(Name, transpose) \
  static PetscErrorCode Mat##Name##_GPUCSR(Mat A, Vec x, Vec y) \
  { \
    PetscFunctionBegin; \
    PetscCall(MatGPUCSRMult(A, transpose, x, NULL, y)); \
    PetscFunctionReturn(PETSC_SUCCESS); \
  } \
  static PetscErrorCode Mat##Name##Add_GPUCSR(Mat A, Vec x, Vec z, Vec y) \
  { \
    PetscFunctionBegin; \
    PetscCall(MatGPUCSRMult(A, transpose, x, z, y)); \
    PetscFunctionReturn(PETSC_SUCCESS); \
  }
MULT(Mult, PETSC_FALSE)
MULT(MultTranspose, PETSC_TRUE)

/* Sets the products of the parent type, which run on the host (bind), or those on the device.  MatBindToCPU() calls this function only in a PETSc
   with device support.  Scalars are real (gpucsrcompat.h), so the Hermitian transpose is the transpose. */
PetscErrorCode MatBindToCPU_GPUCSR(Mat A, PetscBool bind)
{
  const struct _MatOps *base = MatGPUCSRBase_Private(A);

  PetscFunctionBegin;
  A->ops->mult                      = bind ? base->mult : MatMult_GPUCSR;
  A->ops->multadd                   = bind ? base->multadd : MatMultAdd_GPUCSR;
  A->ops->multtranspose             = bind ? base->multtranspose : MatMultTranspose_GPUCSR;
  A->ops->multtransposeadd          = bind ? base->multtransposeadd : MatMultTransposeAdd_GPUCSR;
  A->ops->multhermitiantranspose    = bind ? base->multhermitiantranspose : MatMultTranspose_GPUCSR;
  A->ops->multhermitiantransposeadd = bind ? base->multhermitiantransposeadd : MatMultTransposeAdd_GPUCSR;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the products of a sequential matrix.  A parallel matrix then replaces some of them. */
PetscErrorCode MatGPUCSRSetProducts_Private(Mat A)
{
  Mat_GPUCSR *g = (Mat_GPUCSR *)A->spptr;

  PetscFunctionBegin;
  g->mult           = MatSeqGPUCSRMult;
  g->getoperators   = MatSeqAIJGPUCSRGetOperators;
  g->multbatch      = MatSeqGPUCSRMultBatch_Private;
  A->ops->bindtocpu = MatBindToCPU_GPUCSR;
  PetscCall(MatBindToCPU_GPUCSR(A, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  MatGPUCSRMultArray - Multiplies a matrix, or its transpose, by an array on the device

  Not Collective

  Input Parameters:
+ A         - the matrix, of type `MATSEQAIJGPUCSR`, or of type `MATGPUCSRSTREAM` on one process
. transpose - `PETSC_TRUE` for the product with the transpose
- x         - the array to multiply by, in device memory

  Output Parameter:
. y - the product, in device memory; must not overlap x

  Level: developer

  Note:
  The product is launched on `GpDevStream()`, which after `PetscGPUCSRDevicePushStream()` is not PETSc's stream. From the second product on, only kernels are launched, so that a solver can record the product in a graph.
  A product with a streamed matrix (`MatGPUCSRSetStream()`) cannot be recorded. `PetscGPUCSRGraphCreate()` then creates a graph whose work the host launches each time.

.seealso: `MATGPUCSR`, `MatGPUCSRUpload()`, `VecGPUGetRuntime()`, `VecGPUGetDeviceArrayRead()`
@*/
PetscErrorCode MatGPUCSRMultArray(Mat A, PetscBool transpose, const PetscScalar x[], PetscScalar y[])
{
  Mat_GPUCSR *g;
  PetscBool   symmetric = PETSC_FALSE;
  GpOp        op;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscCall(MatGPUCSRGetData_Private(A, &g));
  PetscCheck(!g->mpi, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP, "MatGPUCSRMultArray() supports one process only; use MatMult()");
  if (transpose) PetscCall(MatGPUCSRIsSymmetric_Private(A, &symmetric));
  if (symmetric) transpose = PETSC_FALSE;
  PetscCall((*g->getoperators)(A, transpose, &op, NULL));
  PetscCall(GpOpMult(op, transpose, x, NULL, y));
  PetscCall(PetscGPUCSRLogFlops_Private(op->dev, 2.0 * (PetscLogDouble)op->nnz - (PetscLogDouble)(op->side[0].csr.m - op->side[0].features.empty)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
