/* The matrix of several scores an example: X applied to the weights of every class at once, as a product with a dense matrix of one column a class.

   On every rank a vector holds its part of the first column, then of the second, and so on: the memory of such a dense matrix. So the
   solver sees nothing but a matrix and vectors, whatever the number of classes. */
#include "bmrmimpl.h"

typedef struct {
  Mat X;
  Mat W, F; /* F = X W */
  Mat R, G; /* G = X' R */
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

static PetscErrorCode Columns(Mat A, Blocks **bl, PetscInt *k)
{
  PetscInt M, m;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(A, bl));
  PetscCall(MatGetSize(A, &M, NULL));
  PetscCall(MatGetSize((*bl)->X, &m, NULL));
  *k = M / m;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMult_Blocks(Mat A, Vec w, Vec f)
{
  Blocks  *bl;
  PetscInt k;

  PetscFunctionBegin;
  PetscCall(Columns(A, &bl, &k));
  PetscCall(GetProduct(bl->X, MATPRODUCT_AB, k, &bl->W, &bl->F));
  PetscCall(Multiply(bl->W, bl->F, w, f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMultTranspose_Blocks(Mat A, Vec r, Vec g)
{
  Blocks  *bl;
  PetscInt k;

  PetscFunctionBegin;
  PetscCall(Columns(A, &bl, &k));
  PetscCall(GetProduct(bl->X, MATPRODUCT_AtB, k, &bl->R, &bl->G));
  PetscCall(Multiply(bl->R, bl->G, r, g));
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
