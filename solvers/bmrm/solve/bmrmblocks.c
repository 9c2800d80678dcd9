/* The matrix from weights to scores if an example has one score per class: a shell matrix that applies X to the weights of every class, as a
   product with a dense matrix with one column per class.

   On every rank a vector holds its part of the first column, then of the second column, and so on, which is the storage of such a dense matrix.
   The rest of the solver therefore needs only matrices and vectors, whatever the number of classes. If the vectors are on a device and X is of
   type gpucsr, the columns are multiplied on the device. */
#include "solvers/bmrm/bmrmimpl.h"
#include <gpucsr.h>

typedef struct {
  Mat       X;
  Mat       B[2], C[2]; /* dense matrices of the product C = X B, and of the product with the transpose of X */
  PetscBool gpucsr;
  PetscInt  k;
  IS       *part[2]; /* for each class: its entries in a vector of weights, and in a vector of scores */
  Vec      *column;  /* subvectors of the classes, valid during a product */
} BMRMBlocks;

/* Creates the dense matrices on first use. Their own arrays are never used. */
static PetscErrorCode BMRMBlocksCreateProduct(BMRMBlocks *bl, PetscBool transpose)
{
  Mat     *B = &bl->B[transpose], *C = &bl->C[transpose];
  PetscInt m, n, M, N;

  PetscFunctionBegin;
  if (*C) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetLocalSize(bl->X, &m, &n));
  PetscCall(MatGetSize(bl->X, &M, &N));
  PetscCall(MatCreateDense(PetscObjectComm((PetscObject)bl->X), transpose ? m : n, PETSC_DECIDE, transpose ? M : N, bl->k, NULL, B));
  PetscCall(MatAssemblyBegin(*B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatProductCreate(bl->X, *B, NULL, C));
  PetscCall(MatProductSetType(*C, transpose ? MATPRODUCT_AtB : MATPRODUCT_AB));
  PetscCall(MatProductSetFromOptions(*C));
  PetscCall(MatProductSymbolic(*C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the product with the dense matrices, whose arrays are replaced by those of x and y. */
static PetscErrorCode BMRMBlocksMultiplyDense(BMRMBlocks *bl, PetscBool transpose, Vec x, Vec y)
{
  const PetscScalar *xa;
  PetscScalar       *ya;

  PetscFunctionBegin;
  PetscCall(BMRMBlocksCreateProduct(bl, transpose));
  PetscCall(VecGetArrayRead(x, &xa));
  PetscCall(VecGetArrayWrite(y, &ya));
  PetscCall(MatDensePlaceArray(bl->B[transpose], xa));
  PetscCall(MatDensePlaceArray(bl->C[transpose], ya));
  PetscCall(MatProductNumeric(bl->C[transpose]));
  PetscCall(MatDenseResetArray(bl->C[transpose]));
  PetscCall(MatDenseResetArray(bl->B[transpose]));
  PetscCall(VecRestoreArrayWrite(y, &ya));
  PetscCall(VecRestoreArrayRead(x, &xa));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates the index sets of the classes in vectors with the layout of v. */
static PetscErrorCode BMRMBlocksCreateParts(Vec v, PetscInt k, IS **part)
{
  PetscInt n, start;

  PetscFunctionBegin;
  if (*part) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGetLocalSize(v, &n));
  PetscCall(VecGetOwnershipRange(v, &start, NULL));
  PetscCall(PetscMalloc1(k, part));
  for (PetscInt c = 0; c < k; c++) PetscCall(ISCreateStride(PetscObjectComm((PetscObject)v), n / k, start + c * (n / k), 1, &(*part)[c]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y = X x, or with the transpose of X, for the columns of all classes, on the device that holds the vectors. */
static PetscErrorCode BMRMBlocksMultiplyOnDevice(BMRMBlocks *bl, PetscBool transpose, Vec x, Vec y)
{
  const PetscInt k     = bl->k;
  IS           **xpart = &bl->part[transpose], **ypart = &bl->part[!transpose];

  PetscFunctionBegin;
  PetscCall(BMRMBlocksCreateParts(x, k, xpart));
  PetscCall(BMRMBlocksCreateParts(y, k, ypart));
  if (!bl->column) PetscCall(PetscMalloc1(2 * k, &bl->column));
  for (PetscInt c = 0; c < k; c++) {
    PetscCall(VecGetSubVector(x, (*xpart)[c], &bl->column[c]));
    PetscCall(VecGetSubVector(y, (*ypart)[c], &bl->column[k + c]));
  }
  PetscCall(MatGPUCSRMultMany(bl->X, transpose, k, bl->column, bl->column + k));
  for (PetscInt c = 0; c < k; c++) {
    PetscCall(VecRestoreSubVector(y, (*ypart)[c], &bl->column[k + c]));
    PetscCall(VecRestoreSubVector(x, (*xpart)[c], &bl->column[c]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BMRMBlocksMultiply(Mat A, PetscBool transpose, Vec x, Vec y)
{
  BMRMBlocks    *bl;
  struct GpDev_ *dx, *dy;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(A, &bl));
  PetscCall(VecGPUGetRuntime(x, &dx));
  PetscCall(VecGPUGetRuntime(y, &dy));
  if (bl->gpucsr && dx && dy) PetscCall(BMRMBlocksMultiplyOnDevice(bl, transpose, x, y));
  else PetscCall(BMRMBlocksMultiplyDense(bl, transpose, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMult_BMRMBlocks(Mat A, Vec w, Vec f)
{
  PetscFunctionBegin;
  PetscCall(BMRMBlocksMultiply(A, PETSC_FALSE, w, f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMultTranspose_BMRMBlocks(Mat A, Vec r, Vec g)
{
  PetscFunctionBegin;
  PetscCall(BMRMBlocksMultiply(A, PETSC_TRUE, r, g));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatDestroy_BMRMBlocks(Mat A)
{
  BMRMBlocks *bl;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(A, &bl));
  for (int s = 0; s < 2; s++) {
    PetscCall(MatDestroy(&bl->C[s]));
    PetscCall(MatDestroy(&bl->B[s]));
    for (PetscInt c = 0; bl->part[s] && c < bl->k; c++) PetscCall(ISDestroy(&bl->part[s][c]));
    PetscCall(PetscFree(bl->part[s]));
  }
  PetscCall(MatDestroy(&bl->X));
  PetscCall(PetscFree(bl->column));
  PetscCall(PetscFree(bl));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates the shell matrix that applies X for each of k classes, with vectors of the type of X. */
PetscErrorCode BMRMBlocksCreate_Private(Mat X, PetscInt k, Mat *A)
{
  BMRMBlocks *bl;
  PetscInt    m, n, M, N;
  VecType     type;
  Vec         x;

  PetscFunctionBegin;
  PetscCall(MatGetSize(X, &M, &N));
  PetscCheck((PetscInt64)k * PetscMax(M, N) < PETSC_MAX_INT, PetscObjectComm((PetscObject)X), PETSC_ERR_ARG_OUTOFRANGE, "%" PetscInt_FMT " classes times %" PetscInt_FMT " examples or features exceed PetscInt: use a PETSc with 64-bit indices", k,
             PetscMax(M, N));
  PetscCall(PetscNew(&bl));
  PetscCall(PetscObjectReference((PetscObject)X));
  bl->X = X;
  bl->k = k;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)X, &bl->gpucsr, MATSEQAIJGPUCSR, MATMPIAIJGPUCSR, ""));
  PetscCall(MatGetLocalSize(X, &m, &n));
  PetscCall(MatCreateShell(PetscObjectComm((PetscObject)X), k * m, k * n, PETSC_DETERMINE, PETSC_DETERMINE, bl, A));
  PetscCall(MatCreateVecs(X, &x, NULL));
  PetscCall(VecGetType(x, &type));
  PetscCall(MatShellSetVecType(*A, type));
  PetscCall(VecDestroy(&x));
  PetscCall(MatShellSetOperation(*A, MATOP_MULT, (void (*)(void))MatMult_BMRMBlocks));
  PetscCall(MatShellSetOperation(*A, MATOP_MULT_TRANSPOSE, (void (*)(void))MatMultTranspose_BMRMBlocks));
  PetscCall(MatShellSetOperation(*A, MATOP_DESTROY, (void (*)(void))MatDestroy_BMRMBlocks));
  PetscFunctionReturn(PETSC_SUCCESS);
}
