static char help[] = "All pairs of operations on a gpucsr matrix, with and without products in between, compared with the same operations on a plain AIJ matrix.\n\n";

#include "gpucsr.h"
#include "gpucsrcompat.h"
#include <petsc/private/petscimpl.h>
#include <petscksp.h>

#define ROWS 24

/* A value that depends only on the position of the entry and on the round. */
static PetscScalar Entry(PetscInt i, PetscInt j, PetscInt round)
{
  return (i == j ? 9 : 0) + 0.125 * ((7 * i + 3 * j + 5 * round) % 11) - 0.5;
}

/* Three diagonals and one far from them, so that each of two ranks has entries in the columns of the other. */
static PetscErrorCode Fill(Mat A, PetscInt round)
{
  PetscInt from, to;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &from, &to));
  for (PetscInt i = from; i < to; i++) {
    for (PetscInt j = PetscMax(0, i - 1); j < PetscMin(ROWS, i + 2); j++) PetscCall(MatSetValue(A, i, j, Entry(i, j, round), INSERT_VALUES));
    PetscCall(MatSetValue(A, i, (i + ROWS / 2) % ROWS, Entry(i, ROWS, round), INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Preallocates one more entry in each row, which some operations add. */
static PetscErrorCode Preallocate(Mat A)
{
  PetscFunctionBeginUser;
  PetscCall(MatSeqAIJSetPreallocation(A, 6, NULL));
  PetscCall(MatMPIAIJSetPreallocation(A, 6, NULL, 4, NULL));
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create(PetscBool ours, PetscInt round, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, ROWS, ROWS));
  PetscCall(MatSetType(*A, ours ? MATGPUCSR : MATAIJ));
  PetscCall(Preallocate(*A));
  PetscCall(Fill(*A, round));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --- operations: each is done to both matrices --------------------------------------------------------------------------------*/

static PetscErrorCode DuplicateCopy(Mat *A, PetscBool ours)
{
  Mat B;

  PetscFunctionBeginUser;
  if (ours) PetscCall(MatGPUCSRSetVecType(*A, VECGPU));
  PetscCall(MatDuplicate(*A, MAT_COPY_VALUES, &B));
  if (ours) {
    VecType   type;
    PetscBool gpu;

    PetscCall(MatGetVecType(B, &type));
    PetscCall(PetscStrcmp(type, VECGPU, &gpu));
    PetscCheck(gpu, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "A duplicate creates vectors of type %s", type);
    PetscCall(MatGPUCSRSetVecType(B, VECSTANDARD));
  }
  PetscCall(MatDestroy(A));
  *A = B;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DuplicateEmpty(Mat *A, PetscBool ours)
{
  Mat B;

  PetscFunctionBeginUser;
  PetscCall(MatDuplicate(*A, MAT_DO_NOT_COPY_VALUES, &B));
  PetscCall(MatCopy(*A, B, SAME_NONZERO_PATTERN));
  PetscCall(MatDestroy(A));
  *A = B;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DuplicateZeros(Mat *A, PetscBool ours)
{
  Mat B;

  PetscFunctionBeginUser;
  PetscCall(MatDuplicate(*A, MAT_DO_NOT_COPY_VALUES, &B));
  PetscCall(MatSetOption(B, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(Fill(B, 1));
  PetscCall(MatDestroy(A));
  *A = B;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Objects that refer to the matrix keep a valid pointer. */
static PetscErrorCode ConvertInPlace(Mat *A, PetscBool ours)
{
  Mat held = *A;

  PetscFunctionBeginUser;
  PetscCall(PetscObjectReference((PetscObject)held));
  if (ours) PetscCall(MatConvert(*A, MATAIJ, MAT_INPLACE_MATRIX, A));
  PetscCall(MatScale(held, 2));
  if (ours) PetscCall(MatConvert(*A, MATGPUCSR, MAT_INPLACE_MATRIX, A));
  PetscCheck(held == *A, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "MatConvert() in place returned another pointer");
  PetscCall(MatDestroy(&held));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ConvertInPlaceDense(Mat *A, PetscBool ours)
{
  PetscFunctionBeginUser;
  PetscCall(MatConvert(*A, MATDENSE, MAT_INPLACE_MATRIX, A));
  PetscCall(MatScale(*A, -1));
  PetscCall(MatConvert(*A, ours ? MATGPUCSR : MATAIJ, MAT_INPLACE_MATRIX, A));
  PetscCall(MatSetOption(*A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ConvertInPlaceBlocks(Mat *A, PetscBool ours)
{
  PetscFunctionBeginUser;
  PetscCall(MatConvert(*A, MATBAIJ, MAT_INPLACE_MATRIX, A));
  PetscCall(MatConvert(*A, ours ? MATGPUCSR : MATAIJ, MAT_INPLACE_MATRIX, A));
  PetscCall(MatSetOption(*A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ConvertInitial(Mat *A, PetscBool ours)
{
  Mat B, C;

  PetscFunctionBeginUser;
  PetscCall(MatConvert(*A, MATAIJ, MAT_INITIAL_MATRIX, &B));
  PetscCall(MatScale(B, 0.5));
  PetscCall(MatConvert(B, ours ? MATGPUCSR : MATAIJ, MAT_INITIAL_MATRIX, &C));
  PetscCall(MatDestroy(A));
  PetscCall(MatDestroy(&B));
  *A = C;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ConvertReuse(Mat *A, PetscBool ours)
{
  Mat B;

  PetscFunctionBeginUser;
  PetscCall(MatConvert(*A, MATAIJ, MAT_INITIAL_MATRIX, &B));
  PetscCall(MatScale(*A, 3));
  PetscCall(MatConvert(*A, MATAIJ, MAT_REUSE_MATRIX, &B));
  PetscCall(MatScale(B, -0.25));
  PetscCall(MatConvert(B, ours ? MATGPUCSR : MATAIJ, MAT_REUSE_MATRIX, A));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ConvertToSame(Mat *A, PetscBool ours)
{
  Mat B;

  PetscFunctionBeginUser;
  PetscCall(MatConvert(*A, MATSAME, MAT_INITIAL_MATRIX, &B));
  PetscCall(MatConvert(B, ours ? MATGPUCSR : MATAIJ, MAT_INPLACE_MATRIX, &B));
  PetscCall(MatDestroy(A));
  *A = B;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Multiply(Mat A)
{
  Vec x, y;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecSet(x, 1));
  PetscCall(MatMult(A, x, y));
  PetscCall(MatMultTranspose(A, y, x));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The replacing matrix has an image of former values, created in the object state that the replaced matrix will have. */
static PetscErrorCode HeaderReplace(Mat *A, PetscBool ours)
{
  Mat              C;
  PetscObjectState a, c;

  PetscFunctionBeginUser;
  PetscCall(Create(ours, 2, &C));
  PetscCall(PetscObjectStateGet((PetscObject)*A, &a));
  PetscCall(PetscObjectStateGet((PetscObject)C, &c));
  for (; c <= a; c++) PetscCall(PetscObjectStateIncrease((PetscObject)C));
  for (; a + 1 < c; a++) PetscCall(PetscObjectStateIncrease((PetscObject)*A));
  PetscCall(Multiply(C));
  PetscCall(MatShift(C, 3));
  PetscCall(MatSetOption(C, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(MatHeaderReplace(*A, &C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HeaderReplacePlain(Mat *A, PetscBool ours)
{
  Mat C;

  PetscFunctionBeginUser;
  PetscCall(Create(PETSC_FALSE, 3, &C));
  PetscCall(MatHeaderReplace(*A, &C));
  if (ours) PetscCall(MatConvert(*A, MATGPUCSR, MAT_INPLACE_MATRIX, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TransposeInPlace(Mat *A, PetscBool ours)
{
  PetscFunctionBeginUser;
  PetscCall(MatTranspose(*A, MAT_INPLACE_MATRIX, A));
  PetscCall(MatSetOption(*A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TransposeReuse(Mat *A, PetscBool ours)
{
  Mat B;

  PetscFunctionBeginUser;
  PetscCall(MatTranspose(*A, MAT_INITIAL_MATRIX, &B));
  PetscCall(Multiply(B));
  PetscCall(MatScale(*A, 5));
  PetscCall(MatTranspose(*A, MAT_REUSE_MATRIX, &B));
  PetscCall(MatSetOption(B, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(MatDestroy(A));
  *A = B;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PreallocateAgain(Mat *A, PetscBool ours)
{
  PetscFunctionBeginUser;
  PetscCall(Preallocate(*A));
  PetscCall(Fill(*A, 5));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode COO(Mat *A, PetscBool ours)
{
  PetscInt     from, to, *i, *j;
  PetscScalar *v;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(*A, &from, &to));
  PetscCall(PetscMalloc3(2 * (to - from), &i, 2 * (to - from), &j, 2 * (to - from), &v));
  for (PetscInt k = 0; k < to - from; k++) {
    i[2 * k] = i[2 * k + 1] = from + k;
    j[2 * k]                = from + k;
    j[2 * k + 1]            = (from + k + 3) % ROWS;
    v[2 * k]                = 8;
    v[2 * k + 1]            = Entry(from + k, 1, 6);
  }
  PetscCall(MatSetPreallocationCOO(*A, 2 * (to - from), i, j));
  PetscCall(MatSetValuesCOO(*A, v, INSERT_VALUES));
  PetscCall(PetscFree3(i, j, v));
  PetscCall(MatSetOption(*A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode NewNonzero(Mat *A, PetscBool ours)
{
  PetscFunctionBeginUser;
  PetscCall(MatSetOption(*A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(MatSetOption(*A, MAT_NO_OFF_PROC_ENTRIES, PETSC_FALSE)); /* some conversions set this option */
  PetscCall(MatSetValue(*A, 2, ROWS - 2, 1.5, ADD_VALUES));          /* every rank adds */
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ZeroAndShift(Mat *A, PetscBool ours)
{
  PetscFunctionBeginUser;
  PetscCall(MatZeroEntries(*A));
  PetscCall(MatShift(*A, 2.25));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AddOther(Mat *A, PetscBool ours)
{
  Mat C;

  PetscFunctionBeginUser;
  PetscCall(Create(ours, 7, &C));
  PetscCall(MatAXPY(*A, 0.5, C, DIFFERENT_NONZERO_PATTERN));
  PetscCall(MatDestroy(&C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CopyOther(Mat *A, PetscBool ours)
{
  Mat C;

  PetscFunctionBeginUser;
  PetscCall(MatDuplicate(*A, MAT_COPY_VALUES, &C));
  PetscCall(MatScale(C, -2));
  PetscCall(Multiply(C));
  PetscCall(MatCopy(C, *A, SAME_NONZERO_PATTERN));
  PetscCall(MatDestroy(&C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SubMatrix(Mat *A, PetscBool ours)
{
  IS       rows;
  Mat      B;
  PetscInt from, to;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(*A, &from, &to));
  PetscCall(ISCreateStride(PETSC_COMM_WORLD, to - from, from, 1, &rows));
  PetscCall(MatCreateSubMatrix(*A, rows, rows, MAT_INITIAL_MATRIX, &B));
  PetscCall(Multiply(B));
  PetscCall(MatScale(*A, 1.5));
  PetscCall(MatCreateSubMatrix(*A, rows, rows, MAT_REUSE_MATRIX, &B));
  PetscCall(ISDestroy(&rows));
  PetscCall(MatDestroy(A));
  *A = B;
  PetscCall(MatSetOption(*A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Products(Mat *A, PetscBool ours)
{
  Mat C;

  PetscFunctionBeginUser;
  PetscCall(MatMatMult(*A, *A, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
  PetscCall(MatScale(*A, 0.25));
  PetscCall(MatMatMult(*A, *A, MAT_REUSE_MATRIX, PETSC_DEFAULT, &C));
  PetscCall(MatSetOption(C, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(MatAXPY(*A, 1. / 64, C, DIFFERENT_NONZERO_PATTERN));
  PetscCall(MatDestroy(&C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Factor(Mat *A, PetscBool ours)
{
  KSP ksp;
  PC  pc;
  Vec x, b;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(*A, &x, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, *A, *A));
  PetscCall(KSPSetTolerances(ksp, 1e-14, PETSC_DEFAULT, PETSC_DEFAULT, 100));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCBJACOBI));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(MatScale(*A, 2));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(MatDiagonalScale(*A, x, NULL));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode StoreAndRetrieve(Mat *A, PetscBool ours)
{
  PetscFunctionBeginUser;
  PetscCall(MatSetOption(*A, MAT_NEW_NONZERO_LOCATIONS, PETSC_FALSE));
  PetscCall(MatStoreValues(*A));
  PetscCall(MatScale(*A, 11));
  PetscCall(Multiply(*A));
  PetscCall(MatRetrieveValues(*A));
  PetscCall(MatSetOption(*A, MAT_NEW_NONZERO_LOCATIONS, PETSC_TRUE));
  PetscCall(MatSetOption(*A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OptionsTwice(Mat *A, PetscBool ours)
{
  PetscFunctionBeginUser;
  if (ours) PetscCall(PetscOptionsSetValue(NULL, "-mat_type", MATGPUCSR));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSetOptionsPrefix(*A, "other_"));
  if (ours) PetscCall(PetscOptionsSetValue(NULL, "-other_mat_type", MATAIJGPUCSR));
  if (ours) PetscCall(PetscOptionsSetValue(NULL, "-other_mat_gpucsr_kernel", "csrscalar"));
  if (ours) PetscCall(PetscOptionsSetValue(NULL, "-other_mat_gpucsr_storage", "double"));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(PetscOptionsClearValue(NULL, "-mat_type"));
  PetscCall(PetscOptionsClearValue(NULL, "-other_mat_type"));
  PetscCall(PetscOptionsClearValue(NULL, "-other_mat_gpucsr_kernel"));
  PetscCall(PetscOptionsClearValue(NULL, "-other_mat_gpucsr_storage"));
  PetscCall(MatSetOptionsPrefix(*A, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TypeTwice(Mat *A, PetscBool ours)
{
  PetscFunctionBeginUser;
  PetscCall(MatSetType(*A, ours ? MATGPUCSR : MATAIJ));
  PetscCall(MatSetType(*A, ours ? MATAIJGPUCSR : MATAIJ));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A change of the type deletes the entries, except from plain AIJ to a type derived from it. */
static PetscErrorCode TypeToParentAndBack(Mat *A, PetscBool ours)
{
  VecType   type;
  PetscBool standard;

  PetscFunctionBeginUser;
  if (ours) PetscCall(MatGPUCSRSetVecType(*A, VECGPU));
  if (ours) PetscCall(MatSetType(*A, MATAIJ));
  PetscCall(MatGetVecType(*A, &type));
  PetscCall(PetscStrcmp(type, VECSTANDARD, &standard));
  PetscCheck(standard, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "An AIJ matrix creates vectors of type %s", type);
  PetscCall(Preallocate(*A));
  PetscCall(Fill(*A, 8));
  PetscCall(MatSetType(*A, ours ? MATGPUCSR : MATAIJ));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TypeToSiblingAndBack(Mat *A, PetscBool ours)
{
  PetscFunctionBeginUser;
  PetscCall(MatSetType(*A, MATDENSE));
  PetscCall(MatSetUp(*A));
  PetscCall(Fill(*A, 9));
  PetscCall(MatSetType(*A, ours ? MATGPUCSR : MATAIJ));
  PetscCall(Preallocate(*A));
  PetscCall(Fill(*A, 9));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TypeOfEmpty(Mat *A, PetscBool ours)
{
  PetscFunctionBeginUser;
  PetscCall(MatDestroy(A));
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  if (ours) PetscCall(MatSetType(*A, MATGPUCSR));
  PetscCall(MatSetType(*A, MATAIJ));
  if (ours) PetscCall(MatSetType(*A, MATGPUCSR));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, ROWS, ROWS));
  PetscCall(MatSetUp(*A));
  PetscCall(MatSetOption(*A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(Fill(*A, 10));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TypeByOption(Mat *A, PetscBool ours)
{
  PetscFunctionBeginUser;
  PetscCall(MatDestroy(A));
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, ROWS, ROWS));
  PetscCall(MatSetType(*A, MATAIJ));
  if (ours) PetscCall(PetscOptionsSetValue(NULL, "-mat_type", MATGPUCSR));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(PetscOptionsClearValue(NULL, "-mat_type"));
  PetscCall(Preallocate(*A));
  PetscCall(Fill(*A, 11));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Destroys matrices in every state of set-up and use. */
static PetscErrorCode Abandon(Mat *A, PetscBool ours)
{
  PetscFunctionBeginUser;
  for (int moment = 0; moment < 6; moment++) {
    Mat B;

    PetscCall(MatCreate(PETSC_COMM_WORLD, &B));
    if (moment > 0) PetscCall(MatSetType(B, ours ? MATGPUCSR : MATAIJ));
    if (moment > 1) PetscCall(MatSetSizes(B, PETSC_DECIDE, PETSC_DECIDE, ROWS, ROWS));
    if (moment > 2) PetscCall(Preallocate(B));
    if (moment > 3) PetscCall(Fill(B, 0));
    if (moment > 4) PetscCall(Multiply(B));
    PetscCall(MatDestroy(&B));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MultiplyOnly(Mat *A, PetscBool ours)
{
  PetscFunctionBeginUser;
  PetscCall(Multiply(*A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const struct {
  const char *name;
  PetscErrorCode (*act)(Mat *, PetscBool ours);
} Actions[] = {
  {"products", MultiplyOnly},
  {"MatDuplicate()", DuplicateCopy},
  {"MatDuplicate() and MatCopy()", DuplicateEmpty},
  {"MatDuplicate() without values", DuplicateZeros},
  {"MatConvert() in place", ConvertInPlace},
  {"MatConvert() to dense", ConvertInPlaceDense},
  {"MatConvert() to baij", ConvertInPlaceBlocks},
  {"MatConvert()", ConvertInitial},
  {"MatConvert() with reuse", ConvertReuse},
  {"MatConvert() to the same", ConvertToSame},
  {"MatHeaderReplace()", HeaderReplace},
  {"MatHeaderReplace() by plain", HeaderReplacePlain},
  {"MatTranspose() in place", TransposeInPlace},
  {"MatTranspose() with reuse", TransposeReuse},
  {"preallocation again", PreallocateAgain},
  {"COO", COO},
  {"a new nonzero", NewNonzero},
  {"MatZeroEntries()", ZeroAndShift},
  {"MatAXPY()", AddOther},
  {"MatCopy()", CopyOther},
  {"MatCreateSubMatrix()", SubMatrix},
  {"MatMatMult()", Products},
  {"factorization", Factor},
  {"MatStoreValues()", StoreAndRetrieve},
  {"MatSetFromOptions() twice", OptionsTwice},
  {"MatSetType() twice", TypeTwice},
  {"MatSetType() to aij and back", TypeToParentAndBack},
  {"MatSetType() to dense", TypeToSiblingAndBack},
  {"MatSetType() before sizes", TypeOfEmpty},
  {"-mat_type over MatSetType()", TypeByOption},
  {"destruction", Abandon},
};

/* --- checks -------------------------------------------------------------------------------------------------------------------*/

static PetscErrorCode CheckVec(Vec y, Vec z, const char what[], const char product[])
{
  PetscReal scale, error;

  PetscFunctionBeginUser;
  PetscCall(VecNorm(z, NORM_INFINITY, &scale));
  PetscCall(VecAXPY(z, -1, y));
  PetscCall(VecNorm(z, NORM_INFINITY, &error));
  PetscCheck(error <= 1e-13 * (1 + scale), PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: %s differs by %g of %g", what, product, (double)error, (double)scale);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Check(Mat A, Mat P, const char what[])
{
  Vec         x, y, z;
  PetscRandom random;
  PetscBool   is;
  Mat         D, E;

  PetscFunctionBeginUser;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)A, &is, MATSEQAIJGPUCSR, MATMPIAIJGPUCSR, ""));
  PetscCheck(is, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: type %s", what, ((PetscObject)A)->type_name);
  PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &random));
  PetscCall(MatCreateVecs(P, &x, &y));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(VecSetRandom(x, random));
  PetscCall(MatMult(A, x, y));
  PetscCall(MatMult(P, x, z));
  PetscCall(CheckVec(y, z, what, "MatMult()"));
  PetscCall(MatMultTranspose(A, x, y));
  PetscCall(MatMultTranspose(P, x, z));
  PetscCall(CheckVec(y, z, what, "MatMultTranspose()"));
  PetscCall(MatMultAdd(A, x, x, y));
  PetscCall(MatMultAdd(P, x, x, z));
  PetscCall(CheckVec(y, z, what, "MatMultAdd()"));
  PetscCall(MatMultTransposeAdd(A, x, x, y));
  PetscCall(MatMultTransposeAdd(P, x, x, z));
  PetscCall(CheckVec(y, z, what, "MatMultTransposeAdd()"));
  PetscCall(MatGetDiagonal(A, y));
  PetscCall(MatGetDiagonal(P, z));
  PetscCall(CheckVec(y, z, what, "MatGetDiagonal()"));
  PetscCall(MatConvert(A, MATDENSE, MAT_INITIAL_MATRIX, &D));
  PetscCall(MatConvert(P, MATDENSE, MAT_INITIAL_MATRIX, &E));
  PetscCall(MatAXPY(D, -1, E, SAME_NONZERO_PATTERN));
  {
    PetscReal norm;

    PetscCall(MatNorm(D, NORM_1, &norm));
    PetscCheck(norm <= 1e-13, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: the entries differ by %g", what, (double)norm);
  }
  PetscCall(MatDestroy(&D));
  PetscCall(MatDestroy(&E));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(PetscRandomDestroy(&random));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Runs operation a, then b, with or without products after the first. */
static PetscErrorCode Pair(size_t a, size_t b, PetscBool between)
{
  Mat  A, P;
  char what[256];

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(what, sizeof(what), "%s%s then %s", Actions[a].name, between ? ", products" : "", Actions[b].name));
  PetscCall(PetscInfo(NULL, "%s\n", what));
  PetscCall(Create(PETSC_TRUE, 0, &A));
  PetscCall(Create(PETSC_FALSE, 0, &P));
  if (between) PetscCall(Multiply(A));
  PetscCall((*Actions[a].act)(&P, PETSC_FALSE));
  PetscCall((*Actions[a].act)(&A, PETSC_TRUE));
  if (between) PetscCall(Check(A, P, what));
  PetscCall((*Actions[b].act)(&P, PETSC_FALSE));
  PetscCall((*Actions[b].act)(&A, PETSC_TRUE));
  PetscCall(Check(A, P, what));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Pairs for which MATMPIAIJ itself corrupts memory: a new nonzero frees arrays that MatSetPreallocationCOO() allocated in another way (PETSc 3.18). */
static PetscBool Impossible(size_t a, size_t b, PetscMPIInt size)
{
  return (PetscBool)(size > 1 && Actions[a].act == COO && Actions[b].act == NewNonzero);
}

/* On several ranks only every other pair has products between its operations, to save time. */
int main(int argc, char **argv)
{
  const size_t n = PETSC_STATIC_ARRAY_LENGTH(Actions);
  PetscMPIInt  size;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  for (size_t a = 0; a < n; a++) {
    for (size_t b = 0; b < n; b++) {
      if (Impossible(a, b, size)) continue;
      if (size == 1 || (a + b) % 2 == 0) PetscCall(Pair(a, b, PETSC_FALSE));
      if (size == 1 || (a + b) % 2 == 1) PetscCall(Pair(a, b, PETSC_TRUE));
    }
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%d operations in pairs: equal to AIJ\n", (int)n));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   test:
      suffix: 1
      nsize: {{1 2}}
      args: -mat_gpucsr_storage double -sub_mat_gpucsr_storage double
      output_file: output/matsequences.out

   test:
      suffix: stream
      nsize: {{1 2}}
      args: -mat_gpucsr_storage double -sub_mat_gpucsr_storage double -gpucsr_stream always -gpucsr_stream_chunk 16384 -gpucsr_stream_resident 20000
      output_file: output/matsequences.out

TEST*/
