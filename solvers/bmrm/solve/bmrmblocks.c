/* The matrix from weights to scores if an example has one score per class: a shell matrix that applies X to the weights of every class, as a
   product with a dense matrix with one column per class.

   On every rank a vector holds its part of the first column, then of the second column, and so on, which is the storage of such a dense matrix.
   The rest of the solver therefore needs only matrices and vectors, whatever the number of classes. If the vectors are on a device and X is of
   type gpucsr, the columns are multiplied on the device. */
#include "solvers/bmrm/bmrmimpl.h"
#include <gpucsr.h>

typedef struct {
  Mat       X;
  Mat       W, F; /* dense matrices of the product F = X W */
  Mat       R, G; /* dense matrices of the product G = X' R */
  PetscBool gpucsr;
  PetscInt  k;
  IS       *features, *examples; /* for each class: its entries in a vector of weights, and in a vector of scores */
  Vec      *column;              /* subvectors of the classes, valid during a product */
} Blocks;

/* Creates the dense matrices on first use. Their own arrays are never used. */
static PetscErrorCode BlocksGetProduct(Mat X, MatProductType type, PetscInt k, Mat *B, Mat *C)
{
  const PetscBool transpose = (PetscBool)(type == MATPRODUCT_AtB);
  PetscInt        m, n, M, N;

  PetscFunctionBegin;
  if (*C) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetLocalSize(X, &m, &n));
  PetscCall(MatGetSize(X, &M, &N));
  PetscCall(MatCreateDense(PetscObjectComm((PetscObject)X), transpose ? m : n, PETSC_DECIDE, transpose ? M : N, k, NULL, B));
  PetscCall(MatAssemblyBegin(*B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatProductCreate(X, *B, NULL, C));
  PetscCall(MatProductSetType(*C, type));
  PetscCall(MatProductSetFromOptions(*C));
  PetscCall(MatProductSymbolic(*C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes C = X B or X' B, where the arrays of B and C are replaced by those of x and y. */
static PetscErrorCode BlocksMultiplyDense(Mat B, Mat C, Vec x, Vec y)
{
  const PetscScalar *xa;
  PetscScalar       *ya;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(x, &xa));
  PetscCall(VecGetArrayWrite(y, &ya));
  PetscCall(MatDensePlaceArray(B, xa));
  PetscCall(MatDensePlaceArray(C, ya));
  PetscCall(MatProductNumeric(C));
  PetscCall(MatDenseResetArray(C));
  PetscCall(MatDenseResetArray(B));
  PetscCall(VecRestoreArrayWrite(y, &ya));
  PetscCall(VecRestoreArrayRead(x, &xa));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates the index sets of the classes in vectors with the layout of v. */
static PetscErrorCode BlocksGetParts(Vec v, PetscInt k, IS **part)
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
static PetscErrorCode BlocksMultiplyOnDevice(Blocks *bl, PetscBool transpose, Vec x, Vec y)
{
  const PetscInt k     = bl->k;
  IS           **xpart = transpose ? &bl->examples : &bl->features, **ypart = transpose ? &bl->features : &bl->examples;

  PetscFunctionBegin;
  PetscCall(BlocksGetParts(x, k, xpart));
  PetscCall(BlocksGetParts(y, k, ypart));
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

static PetscErrorCode BlocksAreOnDevice(const Blocks *bl, Vec x, Vec y, PetscBool *there)
{
  struct GpDev_ *dx, *dy;

  PetscFunctionBegin;
  PetscCall(VecGPUGetRuntime(x, &dx));
  PetscCall(VecGPUGetRuntime(y, &dy));
  *there = (PetscBool)(bl->gpucsr && dx && dy);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMult_Blocks(Mat A, Vec w, Vec f)
{
  Blocks   *bl;
  PetscBool there = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(A, &bl));
  PetscCall(BlocksAreOnDevice(bl, w, f, &there));
  if (there) PetscCall(BlocksMultiplyOnDevice(bl, PETSC_FALSE, w, f));
  else {
    PetscCall(BlocksGetProduct(bl->X, MATPRODUCT_AB, bl->k, &bl->W, &bl->F));
    PetscCall(BlocksMultiplyDense(bl->W, bl->F, w, f));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMultTranspose_Blocks(Mat A, Vec r, Vec g)
{
  Blocks   *bl;
  PetscBool there = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(A, &bl));
  PetscCall(BlocksAreOnDevice(bl, r, g, &there));
  if (there) PetscCall(BlocksMultiplyOnDevice(bl, PETSC_TRUE, r, g));
  else {
    PetscCall(BlocksGetProduct(bl->X, MATPRODUCT_AtB, bl->k, &bl->R, &bl->G));
    PetscCall(BlocksMultiplyDense(bl->R, bl->G, r, g));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatDestroy_Blocks(Mat A)
{
  Blocks *bl;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(A, &bl));
  PetscCall(MatDestroy(&bl->F));
  PetscCall(MatDestroy(&bl->W));
  PetscCall(MatDestroy(&bl->G));
  PetscCall(MatDestroy(&bl->R));
  PetscCall(MatDestroy(&bl->X));
  for (PetscInt c = 0; c < bl->k; c++) {
    if (bl->features) PetscCall(ISDestroy(&bl->features[c]));
    if (bl->examples) PetscCall(ISDestroy(&bl->examples[c]));
  }
  PetscCall(PetscFree(bl->features));
  PetscCall(PetscFree(bl->examples));
  PetscCall(PetscFree(bl->column));
  PetscCall(PetscFree(bl));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates the shell matrix that applies X for each of k classes, with vectors of the type of X. */
PetscErrorCode BMRMBlocksCreate_Private(Mat X, PetscInt k, Mat *A)
{
  Blocks  *bl;
  PetscInt m, n, M, N;
  VecType  type;
  Vec      x;

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
  PetscCall(MatShellSetOperation(*A, MATOP_MULT, (void (*)(void))MatMult_Blocks));
  PetscCall(MatShellSetOperation(*A, MATOP_MULT_TRANSPOSE, (void (*)(void))MatMultTranspose_Blocks));
  PetscCall(MatShellSetOperation(*A, MATOP_DESTROY, (void (*)(void))MatDestroy_Blocks));
  PetscFunctionReturn(PETSC_SUCCESS);
}
