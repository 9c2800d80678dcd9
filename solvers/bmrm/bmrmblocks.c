/* The matrix of several scores an example: X applied to the weights of every class at once, as a product with a dense matrix of one column a class.

   On every rank a vector holds its part of the first column, then of the second, and so on: the memory of such a dense matrix. So the
   solver sees nothing but a matrix and vectors, whatever the number of classes. Vectors on a device are multiplied there by a gpucsr matrix, as columns. */
#include "bmrmimpl.h"
#include <gpucsr.h>

typedef struct {
  Mat       X;
  Mat       W, F; /* F = X W */
  Mat       R, G; /* G = X' R */
  PetscBool gpucsr;
  PetscInt  k;
  IS       *features, *examples; /* where in a vector of weights, and of scores, the part of each class is */
  Vec      *column;              /* these parts, while a product runs */
} Blocks;

/* The dense matrices, at first need; their own memory is never touched. */
static PetscErrorCode GetProduct(Mat X, MatProductType type, PetscInt k, Mat *B, Mat *C)
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

/* C's memory is that of y and B's that of x while the product runs. */
static PetscErrorCode Multiply(Mat B, Mat C, Vec x, Vec y)
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

/* The parts of the classes in vectors like v. */
static PetscErrorCode GetParts(Vec v, PetscInt k, IS **part)
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

/* y = X x, or with the transpose, column by column on the device where the vectors are. */
static PetscErrorCode MultiplyThere(Blocks *bl, PetscBool transpose, Vec x, Vec y)
{
  const PetscInt k     = bl->k;
  IS           **xpart = transpose ? &bl->examples : &bl->features, **ypart = transpose ? &bl->features : &bl->examples;

  PetscFunctionBegin;
  PetscCall(GetParts(x, k, xpart));
  PetscCall(GetParts(y, k, ypart));
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

static PetscErrorCode AreThere(const Blocks *bl, Vec x, Vec y, PetscBool *there)
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
  PetscCall(AreThere(bl, w, f, &there));
  if (there) PetscCall(MultiplyThere(bl, PETSC_FALSE, w, f));
  else {
    PetscCall(GetProduct(bl->X, MATPRODUCT_AB, bl->k, &bl->W, &bl->F));
    PetscCall(Multiply(bl->W, bl->F, w, f));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMultTranspose_Blocks(Mat A, Vec r, Vec g)
{
  Blocks   *bl;
  PetscBool there = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(A, &bl));
  PetscCall(AreThere(bl, r, g, &there));
  if (there) PetscCall(MultiplyThere(bl, PETSC_TRUE, r, g));
  else {
    PetscCall(GetProduct(bl->X, MATPRODUCT_AtB, bl->k, &bl->R, &bl->G));
    PetscCall(Multiply(bl->R, bl->G, r, g));
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

/* The matrix that is X for each of k classes, with vectors of the type that X has. */
PetscErrorCode BMRMBlocksCreate_Private(Mat X, PetscInt k, Mat *A)
{
  Blocks  *bl;
  PetscInt m, n, M, N;
  VecType  type;
  Vec      x;

  PetscFunctionBegin;
  PetscCall(MatGetSize(X, &M, &N));
  PetscCheck((PetscInt64)k * PetscMax(M, N) < PETSC_MAX_INT, PetscObjectComm((PetscObject)X), PETSC_ERR_ARG_OUTOFRANGE, "%" PetscInt_FMT " classes of %" PetscInt_FMT " examples or features do not fit PetscInt: use a PETSc with 64-bit indices", k,
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
