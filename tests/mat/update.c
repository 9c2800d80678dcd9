static char help[] = "Operations that change the values of a MATGPUCSR in place: the device image is bitwise equal to a new upload, but was updated without an upload.\n\n\
  -lossy   : values that single precision rounds\n\
  -step    : compares every n-th column and row; default 1, all\n\
  -uploads : allowed uploads of the operations, in the order of the table; default 0, but 1 for MatDiagonalScale() from the right\n\n";

#include "gpucsr.h"
#include "gpucsrcompat.h"

#define N 31

static PetscBool Lossy = PETSC_FALSE;
static PetscInt  First = 0, Step = 1; /* first column and row to compare, and the step to the next */

/* Creates the matrix. If diagonal is false, row 7 has no diagonal entry. */
static PetscErrorCode Create(PetscBool diagonal, Mat *A)
{
  PetscInt start, end;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, N, N));
  PetscCall(MatSetType(*A, MATGPUCSR));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, 9, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, 9, NULL, 9, NULL));
  PetscCall(MatGetOwnershipRange(*A, &start, &end));
  for (PetscInt i = start; i < end; i++) {
    for (PetscInt d = -3; d <= 3; d++) {
      const PetscInt    j = (i + d * d * d + N) % N;
      const PetscScalar v = (d ? -0.25 * d : 8 + (i % 4)) + (Lossy && (i + d) % 7 == 0 ? 0.1 : 0.0);

      if (d || diagonal || i != 7) PetscCall(MatSetValue(*A, i, j, v, INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Factors(Mat A, Vec *left, Vec *right)
{
  PetscInt start, end;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, right, left));
  PetscCall(VecGetOwnershipRange(*left, &start, &end));
  for (PetscInt i = start; i < end; i++) {
    PetscCall(VecSetValue(*left, i, 1 + 0.37 * (PetscReal)(i % 5), INSERT_VALUES));
    PetscCall(VecSetValue(*right, i, 1 / (3 + (PetscReal)(i % 11)), INSERT_VALUES));
  }
  PetscCall(VecAssemblyBegin(*left));
  PetscCall(VecAssemblyEnd(*left));
  PetscCall(VecAssemblyBegin(*right));
  PetscCall(VecAssemblyEnd(*right));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares columns and rows of the image, computed by products with unit vectors, with those of a newly uploaded copy. */
static PetscErrorCode SameAsUpload(const char what[], Mat A)
{
  Mat       B;
  Vec       x, y, z;
  PetscBool same, ours;

  PetscFunctionBeginUser;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)A, &ours, MATSEQAIJGPUCSR, MATMPIAIJGPUCSR, ""));
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecDuplicate(y, &z));
  for (PetscInt j = First; j < N; j += Step) {
    PetscCall(VecSet(x, 0));
    PetscCall(VecSetValue(x, j, 1, INSERT_VALUES));
    PetscCall(VecAssemblyBegin(x));
    PetscCall(VecAssemblyEnd(x));
    for (int t = 0; t < 2; t++) {
      PetscCall(t ? MatMultTranspose(A, x, y) : MatMult(A, x, y));
      PetscCall(t ? MatMultTranspose(B, x, z) : MatMult(B, x, z));
      PetscCall(VecEqual(y, z, &same));
      PetscCheck(same, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: %s %" PetscInt_FMT " of the image differs from an upload", what, t ? "row" : "column", j);
    }
  }
  if (ours && !Lossy) { /* an update must measure the same rounding error as an upload */
    MatGPUCSRInfo a, b;

    PetscCall(MatGPUCSRGetInfo(A, &a));
    PetscCall(MatGPUCSRGetInfo(B, &b));
    PetscCheck(a.lossless == b.lossless && PetscAbsReal(a.loss - b.loss) <= 1e-6 * b.loss, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: the rounding error is %g, that of an upload %g", what, (double)a.loss, (double)b.loss);
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Uploads(PetscInt *count)
{
  PetscLogEvent      event;
  PetscEventPerfInfo info;

  PetscFunctionBeginUser;
  PetscCall(PetscLogEventGetId("GPUCSRUpload", &event));
  PetscCall(PetscLogEventGetPerfInfo(0, event, &info));
  *count = info.count;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Changes one value such that only the object state shows it: the state increases by one. */
static PetscErrorCode Poke(Mat A)
{
  Mat          local = A;
  PetscBool    mpi;
  PetscScalar *v;

  PetscFunctionBeginUser;
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATMPIAIJGPUCSR, &mpi));
  if (!mpi) PetscCall(PetscObjectTypeCompare((PetscObject)A, MATMPIAIJ, &mpi));
  if (mpi) PetscCall(MatMPIAIJGetSeqAIJ(A, &local, NULL, NULL));
  PetscCall(MatSeqAIJGetArray(local, &v));
  v[1] += 16;
  PetscCall(MatSeqAIJRestoreArray(local, &v));
  if (mpi) {
    PetscCall(MatMPIAIJGetSeqAIJ(A, NULL, &local, NULL));
    PetscCall(MatSeqAIJGetArray(local, &v));
    v[1] += 16;
    PetscCall(MatSeqAIJRestoreArray(local, &v));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef enum {
  SCALE,
  FLIP,
  ZERO,
  LEFT,
  RIGHT,
  BOTH,
  SHIFT,
  AXPY,
  OPERATIONS
} Operation;

static const char *const Names[] = {"MatScale", "MatScale by -1", "MatZeroEntries", "MatDiagonalScale from the left", "MatDiagonalScale from the right", "MatDiagonalScale from both sides", "MatShift", "MatAXPY"};

static PetscErrorCode Apply(Operation operation, Mat A, Mat X, Vec left, Vec right)
{
  PetscFunctionBeginUser;
  switch (operation) {
  case SCALE:
    PetscCall(MatScale(A, 0.3));
    break;
  case FLIP:
    PetscCall(MatScale(A, -1));
    break;
  case ZERO:
    PetscCall(MatZeroEntries(A));
    break;
  case SHIFT:
    PetscCall(MatShift(A, 0.7));
    break;
  case AXPY:
    PetscCall(MatAXPY(A, 0.3, X, SAME_NONZERO_PATTERN));
    break;
  default:
    PetscCall(MatDiagonalScale(A, operation == RIGHT ? NULL : left, operation == LEFT ? NULL : right));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* With a transpose that was just built, with one that is updated through its permutation, and with values that change between updates. */
static PetscErrorCode TestOperation(Operation operation, PetscInt allowed)
{
  Mat      A, X;
  Vec      left, right, x, y;
  PetscInt before, after;

  PetscFunctionBeginUser;
  PetscCall(Create(PETSC_TRUE, &A));
  PetscCall(Create(PETSC_TRUE, &X));
  PetscCall(Factors(A, &left, &right));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(MatScale(X, -0.5));
  PetscCall(MatMult(X, x, y));
  for (int round = 0; round < 3; round++) {
    PetscCall(MatMultTranspose(A, x, y));
    PetscCall(Uploads(&before));
    PetscCall(Apply(operation, A, X, left, right));
    PetscCall(MatMultTranspose(A, x, y));
    PetscCall(Uploads(&after));
    PetscCheck(after - before <= allowed, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s uploaded %" PetscInt_FMT " times, not %" PetscInt_FMT, Names[operation], after - before, allowed);
    PetscCall(SameAsUpload(Names[operation], A));
    PetscCall(Apply(operation, A, X, left, right));
    PetscCall(Poke(A));
    PetscCall(SameAsUpload("A change between updates", A));
    PetscCall(MatDestroy(&A));
    PetscCall(Create(PETSC_TRUE, &A));
    if (round) { /* leads to a refill */
      PetscCall(MatMultTranspose(A, x, y));
      PetscCall(Poke(A));
    }
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: equal to an upload\n", Names[operation]));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&left));
  PetscCall(VecDestroy(&right));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Checks that the values on the host are equal within rounding errors. */
static PetscErrorCode Near(const char what[], Mat A, Mat B)
{
  Mat       C, D;
  PetscReal norm, error;

  PetscFunctionBeginUser;
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &C));
  PetscCall(MatConvert(B, MATAIJ, MAT_INITIAL_MATRIX, &D));
  PetscCall(MatNorm(D, NORM_FROBENIUS, &norm));
  PetscCall(MatAXPY(C, -1, D, DIFFERENT_NONZERO_PATTERN));
  PetscCall(MatNorm(C, NORM_FROBENIUS, &error));
  PetscCheck(error <= 1e-15 * norm, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: the values on the host differ by %g of %g", what, (double)error, (double)norm);
  PetscCall(MatDestroy(&C));
  PetscCall(MatDestroy(&D));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* MatAXPY() for all relations of the patterns and all places of the values: equal to AIJ and to an upload. */
static PetscErrorCode TestAXPY(void)
{
  const char *const what[] = {"current", "without an image", "without a transpose", "in double storage", "plain AIJ", "on another pattern"};

  PetscFunctionBeginUser;
  Step *= 4;
  for (int kind = 0; kind < 6; kind++) {
    for (int unknown = 0; unknown < 2; unknown++) {
      Mat Y, X, plain[2];
      Vec x, y;

      PetscCall(Create(PETSC_TRUE, &Y));
      PetscCall(Create((PetscBool)(kind != 5), &X));
      PetscCall(MatCreateVecs(Y, &x, &y));
      PetscCall(VecSet(x, 1));
      PetscCall(MatScale(X, 0.75));
      PetscCall(MatConvert(Y, MATAIJ, MAT_INITIAL_MATRIX, &plain[0]));
      PetscCall(MatConvert(X, MATAIJ, MAT_INITIAL_MATRIX, &plain[1]));
      if (kind == 2) PetscCall(MatGPUCSRSetTranspose(X, MAT_GPUCSR_TRANSPOSE_LAZY));
      if (kind == 3) PetscCall(MatGPUCSRSetStorage(X, MAT_GPUCSR_STORAGE_DOUBLE));
      if (kind == 4) PetscCall(MatConvert(X, MATAIJ, MAT_INPLACE_MATRIX, &X));
      PetscCall(MatMultTranspose(Y, x, y));
      if (kind != 1) PetscCall(MatMult(X, x, y));
      for (int round = 0; round < 2; round++) {
        const MatStructure structure = unknown ? UNKNOWN_NONZERO_PATTERN : kind == 5 ? SUBSET_NONZERO_PATTERN : SAME_NONZERO_PATTERN;

        PetscCall(MatAXPY(Y, 0.5, X, structure));
        PetscCall(MatAXPY(plain[0], 0.5, plain[1], structure));
        First = (First + 1) % Step;
        PetscCall(Near(what[kind], Y, plain[0]));
        PetscCall(SameAsUpload(what[kind], Y));
      }
      PetscCall(MatAYPX(Y, -2, X, kind == 5 ? SUBSET_NONZERO_PATTERN : SAME_NONZERO_PATTERN));
      PetscCall(MatAYPX(plain[0], -2, plain[1], kind == 5 ? SUBSET_NONZERO_PATTERN : SAME_NONZERO_PATTERN));
      PetscCall(Near("MatAYPX", Y, plain[0]));
      PetscCall(SameAsUpload("MatAYPX", Y));
      for (int k = 0; k < 2; k++) PetscCall(MatDestroy(&plain[k]));
      PetscCall(VecDestroy(&x));
      PetscCall(VecDestroy(&y));
      PetscCall(MatDestroy(&X));
      PetscCall(MatDestroy(&Y));
    }
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "MatAXPY of a matrix %s: equal to AIJ\n", what[kind]));
  }
  First = 0;
  Step /= 4;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* MatGetDiagonal() equals that of AIJ in every storage, before and after an upload, and for a missing entry. */
static PetscErrorCode TestDiagonal(void)
{
  for (int complete = 0; complete < 2; complete++) {
    Mat       A, B;
    Vec       d, e, x, y;
    PetscBool same;

    PetscFunctionBeginUser;
    PetscCall(Create((PetscBool)complete, &A));
    PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &B));
    PetscCall(MatCreateVecs(A, &x, &y));
    PetscCall(VecDuplicate(y, &d));
    PetscCall(VecDuplicate(y, &e));
    PetscCall(MatGetDiagonal(B, e));
    for (int round = 0; round < 3; round++) {
      PetscCall(VecSet(d, 5));
      PetscCall(MatGetDiagonal(A, d));
      PetscCall(VecEqual(d, e, &same));
      PetscCheck(same, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "The diagonal differs from AIJ");
      if (round == 1) {
        PetscCall(MatScale(A, 0.3));
        PetscCall(VecScale(e, 0.3));
      } else PetscCall(MatMult(A, x, y));
    }
    PetscCall(VecDestroy(&d));
    PetscCall(VecDestroy(&e));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&y));
    PetscCall(MatDestroy(&A));
    PetscCall(MatDestroy(&B));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "MatGetDiagonal: equal to AIJ\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* If a value exceeds single precision, the next product fails with its row and column, as an upload does. */
static PetscErrorCode TestOverflow(void)
{
  Mat           A;
  Vec           x, y;
  MatGPUCSRInfo info;

  PetscFunctionBeginUser;
  PetscCall(Create(PETSC_TRUE, &A));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecSet(x, 1));
  PetscCall(MatMult(A, x, y));
  PetscCall(MatScale(A, 1e38));
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  PetscErrorCode code = MatMult(A, x, y);
  PetscCall(PetscPopErrorHandler());
  PetscCall(MatGPUCSRGetStorage(A, &info.storage));
  PetscCheck((code == PETSC_ERR_ARG_OUTOFRANGE) == (info.storage == MAT_GPUCSR_STORAGE_SINGLE), PETSC_COMM_SELF, PETSC_ERR_PLIB, "A product with values that overflow gave the error code %d", (int)code);
  PetscCall(MatScale(A, 1e-38));
  PetscCall(SameAsUpload("After an overflow", A));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "overflow is an error\n"));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscInt uploads[OPERATIONS] = {[RIGHT] = 1}, n = OPERATIONS;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(PetscLogDefaultBegin());
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-lossy", &Lossy, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-step", &Step, NULL));
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-uploads", uploads, &n, NULL));
  for (int operation = 0; operation < OPERATIONS; operation++) PetscCall(TestOperation((Operation)operation, uploads[operation]));
  PetscCall(TestDiagonal());
  if (!Lossy) {
    PetscCall(TestAXPY());
    PetscCall(TestOverflow());
  }
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   testset:
      nsize: {{1 2 3}}
      args: -mat_gpucsr_vec_type gpu -mat_gpucsr_storage {{single double}}
      output_file: output/update_1.out
      test:
         suffix: eager
      test:
         suffix: lazy
         args: -mat_gpucsr_transpose lazy

   # a streamed matrix is encoded again after each change
   test:
      suffix: stream
      nsize: {{1 2}}
      args: -mat_gpucsr_vec_type gpu -mat_gpucsr_storage double -uploads 2,2,2,2,2,2,2,2,2 -gpucsr_stream always -gpucsr_stream_chunk 16384 -gpucsr_stream_resident {{0 20000}}
      output_file: output/update_1.out

   test:
      suffix: stream_4
      nsize: 4
      args: -mat_gpucsr_vec_type gpu -mat_gpucsr_storage double -uploads 2,2,2,2,2,2,2,2,2 -gpucsr_stream always -gpucsr_stream_chunk 16384 -gpucsr_stream_resident 20000
      output_file: output/update_1.out

   # vectors on the host; values that single storage rounds are uploaded; a parallel matrix that is not ours and blocks that are
   testset:
      nsize: {{1 2}}
      output_file: output/update_lossy.out
      test:
         suffix: lossy
         args: -lossy -uploads 2,0,0,2,2,2,2,2,2
      test:
         suffix: blocks
         args: -mat_type aij -mat_seqaij_type seqaijgpucsr -lossy -mat_gpucsr_storage double -uploads 2,2,2,2,2,2,2,2,2

TEST*/
