/* MatProduct with a dense matrix B on the device: C = A B, C = A' B and, on one rank, C = A B'. */
#include "mat/impls/gpucsr/product/gpucsrproduct.h"

/* Gets the columns of the local array of a dense matrix.  The array may be in device memory if PETSc was built with CUDA. */
static PetscErrorCode MatGPUCSRDenseGet(GpDev dev, Mat D, PetscBool write, MatGPUCSRVec column[])
{
  const PetscBool memtype = (PetscBool)(PetscDefined(HAVE_CUDA) && GpDevKindOf(dev) == GP_DEV_CUDA);
  PetscMemType    where   = PETSC_MEMTYPE_HOST;
  PetscScalar    *array   = NULL;
  PetscInt        lda;

  PetscFunctionBegin;
  if (memtype) PetscCall(GpCompatDenseGetArray(D, write, &array, &where));
  else if (write) PetscCall(MatDenseGetArrayWrite(D, &array));
  else PetscCall(MatDenseGetArrayRead(D, (const PetscScalar **)&array));
  PetscCall(MatDenseGetLDA(D, &lda));
  for (PetscInt c = 0; c < D->cmap->N; c++) {
    PetscScalar *at = array ? array + (size_t)c * lda : NULL;

    column[c] = (MatGPUCSRVec){.host = PetscMemTypeHost(where) ? at : NULL, .device = PetscMemTypeHost(where) && GpDevKindOf(dev) != GP_DEV_HOST ? NULL : at, .memtype = memtype};
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatGPUCSRDenseRestore(Mat D, PetscBool write, const MatGPUCSRVec column[])
{
  PetscScalar *array = column[0].host ? column[0].host : column[0].device;

  PetscFunctionBegin;
  if (column[0].memtype) PetscCall(GpCompatDenseRestoreArray(D, write, &array));
  else if (write) PetscCall(MatDenseRestoreArrayWrite(D, &array));
  else PetscCall(MatDenseRestoreArrayRead(D, (const PetscScalar **)&array));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes C = A B or C = A' B. */
static PetscErrorCode MatGPUCSRMultDense(Mat A, PetscBool transpose, Mat B, Mat C)
{
  Mat_GPUCSR    *g = (Mat_GPUCSR *)A->spptr;
  const PetscInt k = B->cmap->N;
  MatGPUCSRVec  *column;
  PetscErrorCode err;

  PetscFunctionBegin;
  if (k) {
    PetscCall(PetscGPUCSRGetDevice(&g->dev));
    PetscCall(PetscMalloc1(2 * k, &column));
    PetscCall(MatGPUCSRDenseGet(g->dev, B, PETSC_FALSE, column));
    PetscCall(MatGPUCSRDenseGet(g->dev, C, PETSC_TRUE, column + k));
    err = MatGPUCSRMultColumns_Private(A, transpose, k, column, column + k);
    PetscCall(MatGPUCSRDenseRestore(C, PETSC_TRUE, column + k));
    PetscCall(MatGPUCSRDenseRestore(B, PETSC_FALSE, column));
    PetscCall(PetscFree(column));
    PetscCall(err);
  }
  PetscCall(MatSetOption(C, MAT_NO_OFF_PROC_ENTRIES, PETSC_TRUE));
  PetscCall(MatAssemblyBegin(C, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(C, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatProductNumeric_GPUCSR_Dense(Mat C)
{
  Mat_Product *product = C->product;
  Mat          B       = product->B;

  PetscFunctionBegin;
  PetscCheck(product->A->assembled && B->assembled, PetscObjectComm((PetscObject)C), PETSC_ERR_ARG_WRONGSTATE, "Not for unassembled matrix");
  if (product->type == MATPRODUCT_ABt) {
    PetscCall(MatTranspose(B, MAT_INITIAL_MATRIX, &B));
    PetscCall(MatGPUCSRMultDense(product->A, PETSC_FALSE, B, C));
    PetscCall(MatDestroy(&B));
  } else PetscCall(MatGPUCSRMultDense(product->A, (PetscBool)(product->type == MATPRODUCT_AtB), B, C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatProductSymbolic_GPUCSR_Dense(Mat C)
{
  Mat_Product *product = C->product;
  Mat          A = product->A, B = product->B;
  PetscLayout  rows    = product->type == MATPRODUCT_AtB ? A->cmap : A->rmap;
  PetscLayout  columns = product->type == MATPRODUCT_ABt ? B->rmap : B->cmap;
  PetscLayout  inner   = product->type == MATPRODUCT_ABt ? B->cmap : B->rmap; /* layout of the dimension of B over which the product sums */
  PetscLayout  summed  = product->type == MATPRODUCT_AtB ? A->rmap : A->cmap;
  PetscBool    dense;

  PetscFunctionBegin;
  PetscCheck(summed->n == inner->n, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ, "Matrix local dimensions are incompatible, %" PetscInt_FMT " of A and %" PetscInt_FMT " of B", summed->n, inner->n);
  PetscCall(MatSetSizes(C, rows->n, columns->n, rows->N, columns->N));
  PetscCall(PetscObjectBaseTypeCompareAny((PetscObject)C, &dense, MATSEQDENSE, MATMPIDENSE, ""));
  if (!dense) {
    PetscCall(MatSetType(C, ((PetscObject)B)->type_name));
    PetscCall(MatSetVecType(C, B->defaultvectype));
    C->ops->productsymbolic = MatProductSymbolic_GPUCSR_Dense; /* MatSetType() has reset it */
  }
  C->ops->productnumeric = MatProductNumeric_GPUCSR_Dense;
  PetscCall(MatSetUp(C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the functions of C if it is a product of a gpucsr matrix and a dense one.  A B' on several ranks, and products of three matrices, are
   left to PETSc, which computes the latter from products of two. */
PetscErrorCode MatProductSetFromOptions_GPUCSR_Dense(Mat C, PetscBool *found)
{
  Mat_Product *product = C->product;
  PetscMPIInt  size;

  PetscFunctionBegin;
  *found = PETSC_FALSE;
  if (product->type != MATPRODUCT_AB && product->type != MATPRODUCT_AtB && product->type != MATPRODUCT_ABt) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)product->B), &size));
  if (product->type == MATPRODUCT_ABt && size > 1) PetscFunctionReturn(PETSC_SUCCESS);
  if (MatGPUCSRHasData_Private(product->A)) PetscCall(PetscObjectBaseTypeCompareAny((PetscObject)product->B, found, MATSEQDENSE, MATMPIDENSE, ""));
  if (*found) C->ops->productsymbolic = MatProductSymbolic_GPUCSR_Dense;
  PetscFunctionReturn(PETSC_SUCCESS);
}
