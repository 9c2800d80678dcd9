static char help[] = "Products of MATGPUCSR with dense matrices and with several vectors, compared with those of MATAIJ: shapes, kinds of reuse, numbers of ranks.\n\n";

#include "gpucsr.h"
#include "gpucsrcompat.h"
#include "refused.h"

static char DenseType[64] = MATDENSE;

#define GAP 12345.0 /* value in the gaps between the columns of a dense matrix */

/* An m x n matrix with a band, a few entries far from it, some empty rows and one full row. round: values are rounded to single precision. */
static PetscErrorCode Create(MatType type, PetscInt m, PetscInt n, PetscBool round, PetscInt change, Mat *A)
{
  PetscInt start, end;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, m, n));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, PetscMax(n, 6), NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, PetscMax(n, 6), NULL, PetscMax(n, 6), NULL));
  PetscCall(MatGetOwnershipRange(*A, &start, &end));
  for (PetscInt i = start; i < end && n; i++) {
    if (i % 7 == 3) continue;
    for (PetscInt k = 0; k < (i == m / 2 ? n : 6); k++) {
      const PetscInt    j = i == m / 2 ? k : (i + k * k * 5) % n;
      const PetscScalar v = (PetscScalar)(change + (i * 31 + j * 17) % 97) / 97.0;

      PetscCall(MatSetValue(*A, i, j, round ? (PetscScalar)(float)v : v, INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A dense matrix of N columns. Its rows have the layout of the rows of `like`, or of its columns with transpose. gap: the leading dimension is larger
   than the number of rows. */
static PetscErrorCode Dense(Mat like, PetscBool transpose, PetscInt N, PetscBool gap, PetscRandom random, Mat *D)
{
  PetscInt     m, n, M, lda;
  PetscScalar *array;

  PetscFunctionBeginUser;
  PetscCall(MatGetLocalSize(like, transpose ? NULL : &m, transpose ? &m : NULL));
  PetscCall(MatCreate(PETSC_COMM_WORLD, D));
  PetscCall(MatGetSize(like, transpose ? NULL : &M, transpose ? &M : NULL));
  PetscCall(MatSetSizes(*D, m, PETSC_DECIDE, M, N));
  PetscCall(MatSetType(*D, DenseType));
  if (gap) PetscCall(MatDenseSetLDA(*D, m + 3));
  PetscCall(MatSetUp(*D));
  PetscCall(MatDenseGetLDA(*D, &lda));
  PetscCall(MatGetSize(*D, NULL, &n));
  PetscCall(MatDenseGetArrayWrite(*D, &array));
  for (PetscInt j = 0; j < n; j++)
    for (PetscInt i = 0; i < lda; i++) {
      if (i < m) PetscCall(PetscRandomGetValue(random, &array[j * lda + i]));
      else array[j * lda + i] = GAP;
    }
  PetscCall(MatDenseRestoreArrayWrite(*D, &array));
  PetscCall(MatAssemblyBegin(*D, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*D, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Checks that the matrices are equal within rounding errors, and that the gaps of C are unchanged. */
static PetscErrorCode Same(const char what[], Mat expected, Mat C, PetscBool gap)
{
  PetscInt           m, N, lda, elda;
  const PetscScalar *c, *e;
  PetscReal          error = 0, scale = 1;

  PetscFunctionBeginUser;
  PetscCall(MatGetLocalSize(C, &m, NULL));
  PetscCall(MatGetSize(C, NULL, &N));
  PetscCall(MatDenseGetLDA(C, &lda));
  PetscCall(MatDenseGetLDA(expected, &elda));
  PetscCall(MatDenseGetArrayRead(C, &c));
  PetscCall(MatDenseGetArrayRead(expected, &e));
  for (PetscInt j = 0; j < N; j++) {
    for (PetscInt i = 0; i < m; i++) {
      PetscCheck(c[j * lda + i] == c[j * lda + i], PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: row %" PetscInt_FMT ", column %" PetscInt_FMT " is not a number", what, i, j);
      error = PetscMax(error, PetscAbsScalar(c[j * lda + i] - e[j * elda + i]));
      scale = PetscMax(scale, PetscAbsScalar(e[j * elda + i]));
    }
    for (PetscInt i = m; i < lda && gap; i++) PetscCheck(c[j * lda + i] == GAP, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s wrote into the gaps between the columns", what);
  }
  PetscCall(MatDenseRestoreArrayRead(expected, &e));
  PetscCall(MatDenseRestoreArrayRead(C, &c));
  PetscCheck(error <= 1e-14 * scale, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s differs by %g of %g", what, (double)error, (double)scale);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Number of products by gpucsr since the last call. */
static PetscErrorCode Count(PetscInt *count)
{
  static PetscInt    before = 0;
  PetscLogEvent      event;
  PetscEventPerfInfo info;

  PetscFunctionBeginUser;
  PetscCall(PetscLogEventGetId("GPUCSRMultMany", &event));
  PetscCall(PetscLogEventGetPerfInfo(0, event, &info));
  *count = info.count - before;
  before = info.count;
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef PetscErrorCode (*Multiply)(Mat, Mat, MatReuse, PetscReal, Mat *);

/* One kind of product with all kinds of reuse. A and G are the same matrix, A2 and G2 another one with the same pattern. */
static PetscErrorCode Ways(const char what[], Multiply multiply, MatProductType type, Mat A, Mat G, Mat A2, Mat G2, Mat B, Mat B2, Mat result, PetscBool gap)
{
  Mat       expected, again, C, P;
  PetscInt  count, N;
  PetscBool same;
  MatType   wanted, got;

  PetscFunctionBeginUser;
  PetscCall(Count(&count));
  PetscCall(MatGetSize(result, NULL, &N));
  if (N) {
    PetscCall(multiply(A, B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &expected));
    PetscCall(multiply(A2, B2, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &again));
  } else { /* some products of AIJ fail for zero columns */
    PetscCall(MatDuplicate(result, MAT_DO_NOT_COPY_VALUES, &expected));
    PetscCall(MatDuplicate(result, MAT_DO_NOT_COPY_VALUES, &again));
  }
  PetscCall(Count(&count));
  PetscCheck(!count, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "A product of plain AIJ was computed by gpucsr");
  PetscCall(multiply(G, B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
  PetscCall(MatGetType(B, &wanted));
  PetscCall(MatGetType(C, &got));
  PetscCall(PetscStrcmp(wanted, got, &same));
  PetscCheck(same, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s of B of type %s is of type %s", what, wanted, got);
  PetscCall(Same(what, expected, C, PETSC_FALSE));
  PetscCall(multiply(G2, B2, MAT_REUSE_MATRIX, PETSC_DEFAULT, &C));
  PetscCall(Same("with other matrices reused", again, C, PETSC_FALSE));
  PetscCall(multiply(G, B, MAT_REUSE_MATRIX, PETSC_DEFAULT, &C));
  PetscCall(Same("reused again", expected, C, PETSC_FALSE));
  PetscCall(MatDestroy(&C));
  PetscCall(multiply(G, B, MAT_REUSE_MATRIX, PETSC_DEFAULT, &result));
  PetscCall(Same("into the user's matrix", expected, result, gap));
  PetscCall(MatProductCreate(G, B, NULL, &P));
  PetscCall(MatProductSetType(P, type));
  PetscCall(MatProductSetFromOptions(P));
  PetscCall(MatProductSymbolic(P));
  for (int turn = 0; turn < 3; turn++) PetscCall(MatProductNumeric(P));
  PetscCall(Same("one symbolic phase, three numeric phases", expected, P, PETSC_FALSE));
  PetscCall(MatProductReplaceMats(G2, B2, NULL, P));
  PetscCall(MatProductNumeric(P));
  PetscCall(Same("with matrices replaced", again, P, PETSC_FALSE));
  PetscCall(MatDestroy(&P));
  PetscCall(Count(&count));
  PetscCheck(count == (N ? 8 : 0), PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: %" PetscInt_FMT " of 8 products were computed by gpucsr", what, count);
  PetscCall(MatDestroy(&expected));
  PetscCall(MatDestroy(&again));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Products with several vectors, compared with the columns of the product with a dense matrix. */
static PetscErrorCode Vectors(Mat A, Mat G, VecType type, PetscBool transpose, Mat B)
{
  Mat      expected, got;
  PetscInt k;
  Vec     *x, *y, in, out;

  PetscFunctionBeginUser;
  PetscCall(transpose ? MatTransposeMatMult(A, B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &expected) : MatMatMult(A, B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &expected));
  PetscCall(MatDuplicate(expected, MAT_DO_NOT_COPY_VALUES, &got));
  PetscCall(MatGetSize(B, NULL, &k));
  PetscCall(PetscMalloc2(k, &x, k, &y));
  for (PetscInt c = 0; c < k; c++) {
    Vec column;

    PetscCall(MatCreateVecs(A, transpose ? &out : &in, transpose ? &in : &out));
    PetscCall(VecSetType(in, type));
    PetscCall(VecSetType(out, type));
    PetscCall(MatDenseGetColumnVecRead(B, c, &column));
    PetscCall(VecCopy(column, in));
    PetscCall(MatDenseRestoreColumnVecRead(B, c, &column));
    x[c] = in;
    y[c] = out;
  }
  PetscCall(MatGPUCSRMultMany(G, transpose, k, x, y));
  for (PetscInt c = 0; c < k; c++) {
    Vec column;

    PetscCall(MatDenseGetColumnVecWrite(got, c, &column));
    PetscCall(VecCopy(y[c], column));
    PetscCall(MatDenseRestoreColumnVecWrite(got, c, &column));
    PetscCall(VecDestroy(&x[c]));
    PetscCall(VecDestroy(&y[c]));
  }
  PetscCall(Same(transpose ? "several vectors, transpose" : "several vectors", expected, got, PETSC_FALSE));
  PetscCall(PetscFree2(x, y));
  PetscCall(MatDestroy(&expected));
  PetscCall(MatDestroy(&got));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The matrix changes between two products. The second product must use the new values. */
static PetscErrorCode Change(Mat A, Mat G, Mat B)
{
  Mat expected, C;

  PetscFunctionBeginUser;
  PetscCall(MatMatMult(G, B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
  for (int turn = 0; turn < 2; turn++) { /* first new values, then another pattern */
    PetscInt row, last, n;

    PetscCall(MatGetOwnershipRange(A, &row, &last));
    PetscCall(MatGetSize(A, NULL, &n));
    for (int which = 0; which < 2; which++) {
      Mat M = which ? G : A;

      PetscCall(MatScale(M, 2.0));
      if (turn) {
        PetscCall(MatSetOption(M, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
        if (row < last && n) PetscCall(MatSetValue(M, row, n - 1, 5.0, INSERT_VALUES));
        PetscCall(MatAssemblyBegin(M, MAT_FINAL_ASSEMBLY));
        PetscCall(MatAssemblyEnd(M, MAT_FINAL_ASSEMBLY));
      }
    }
    PetscCall(MatMatMult(A, B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &expected));
    PetscCall(MatMatMult(G, B, MAT_REUSE_MATRIX, PETSC_DEFAULT, &C));
    PetscCall(Same(turn ? "another pattern" : "new values", expected, C, PETSC_FALSE));
    PetscCall(MatDestroy(&expected));
  }
  PetscCall(MatDestroy(&C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Shape(PetscInt m, PetscInt n, PetscInt k, PetscBool gap, PetscRandom random)
{
  Mat              A, G, A2, G2, B[2], D[2], result[2];
  MatGPUCSRStorage storage;
  PetscBool        round;
  PetscMPIInt      size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(Create(MATGPUCSR, m, n, PETSC_FALSE, 1, &G));
  PetscCall(Create(MATGPUCSR, m, n, PETSC_FALSE, 2, &G2));
  PetscCall(MatGPUCSRGetStorage(G, &storage));
  round = (PetscBool)(storage == MAT_GPUCSR_STORAGE_SINGLE);
  PetscCall(Create(MATAIJ, m, n, round, 1, &A));
  PetscCall(Create(MATAIJ, m, n, round, 2, &A2));
  for (int b = 0; b < 2; b++) {
    PetscCall(Dense(A, PETSC_TRUE, k, gap, random, &B[b]));  /* n x k */
    PetscCall(Dense(A, PETSC_FALSE, k, gap, random, &D[b])); /* m x k */
    PetscCall(Dense(A, (PetscBool)b, k, gap, random, &result[b]));
  }
  PetscCall(Ways("A B", MatMatMult, MATPRODUCT_AB, A, G, A2, G2, B[0], B[1], result[0], gap));
  PetscCall(Ways("A' B", MatTransposeMatMult, MATPRODUCT_AtB, A, G, A2, G2, D[0], D[1], result[1], gap));
  if (size == 1) {
    Mat Bt[2];

    for (int b = 0; b < 2; b++) PetscCall(MatTranspose(B[b], MAT_INITIAL_MATRIX, &Bt[b]));
    PetscCall(Ways("A B'", MatMatTransposeMult, MATPRODUCT_ABt, A, G, A2, G2, Bt[0], Bt[1], result[0], gap));
    for (int b = 0; b < 2; b++) PetscCall(MatDestroy(&Bt[b]));
  }
  for (int transpose = 0; transpose < 2 && k; transpose++) {
    PetscCall(Vectors(A, G, gap ? VECSTANDARD : VECGPU, (PetscBool)transpose, transpose ? D[0] : B[0]));
    if (k <= 3) PetscCall(Vectors(A, A, VECSTANDARD, (PetscBool)transpose, transpose ? D[0] : B[0])); /* vectors of every type */
  }
  if (m && n && k) PetscCall(Change(A, G, B[0]));
  for (int b = 0; b < 2; b++) {
    PetscCall(MatDestroy(&B[b]));
    PetscCall(MatDestroy(&D[b]));
    PetscCall(MatDestroy(&result[b]));
  }
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&A2));
  PetscCall(MatDestroy(&G));
  PetscCall(MatDestroy(&G2));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " x %" PetscInt_FMT ", %" PetscInt_FMT " columns%s: the products agree\n", m, n, k, gap ? " with gaps" : ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Products of three matrices, which PETSc computes by products of two, and a matrix that is known to be symmetric. */
static PetscErrorCode Others(PetscRandom random)
{
  Mat       A, G, P, expected, C;
  PetscBool round;

  PetscFunctionBeginUser;
  PetscCall(Create(MATGPUCSR, 60, 60, PETSC_FALSE, 1, &G));
  {
    MatGPUCSRStorage storage;

    PetscCall(MatGPUCSRGetStorage(G, &storage));
    round = (PetscBool)(storage == MAT_GPUCSR_STORAGE_SINGLE);
  }
  PetscCall(Create(MATAIJ, 60, 60, round, 1, &A));
  PetscCall(Dense(A, PETSC_FALSE, 5, PETSC_FALSE, random, &P));
  PetscCall(MatPtAP(A, P, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &expected));
  PetscCall(MatPtAP(G, P, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
  PetscCall(Same("P' A P", expected, C, PETSC_FALSE));
  PetscCall(MatDestroy(&expected));
  PetscCall(MatDestroy(&C));
  for (int which = 0; which < 2; which++) { /* A + A' is symmetric */
    Mat *M = which ? &G : &A, T;

    PetscCall(MatTranspose(*M, MAT_INITIAL_MATRIX, &T));
    PetscCall(MatAXPY(*M, 1.0, T, DIFFERENT_NONZERO_PATTERN));
    PetscCall(MatSetOption(*M, MAT_SYMMETRIC, PETSC_TRUE));
    PetscCall(MatDestroy(&T));
  }
  if (!round) { /* the sum of two rounded values differs from the rounded sum */
    PetscCall(MatTransposeMatMult(A, P, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &expected));
    PetscCall(MatTransposeMatMult(G, P, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
    PetscCall(Same("A' B of a symmetric A", expected, C, PETSC_FALSE));
    PetscCall(MatDestroy(&expected));
    PetscCall(MatDestroy(&C));
  }
  PetscCall(MatDestroy(&P));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&G));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "products of three and of a symmetric matrix agree\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Errors: results that are input vectors, or that share memory with an input vector or with each other. Input vectors may be the same vector. */
static PetscErrorCode Overlaps(void)
{
  const MatType types[] = {MATGPUCSR, MATAIJ};
  Mat           A;
  Vec           x[2], y[2], window[2];
  PetscScalar  *array;
  PetscInt      n;

  PetscFunctionBeginUser;
  for (int kind = 0; kind < 2; kind++) {
    PetscCall(Create(types[kind], 40, 40, PETSC_FALSE, 1, &A));
    PetscCall(MatCreateVecs(A, &x[0], &y[0]));
    PetscCall(VecDuplicate(x[0], &x[1]));
    PetscCall(VecDuplicate(y[0], &y[1]));
    for (int k = 0; k < 2; k++) PetscCall(VecSet(x[k], 1));
    PetscCall(VecGetLocalSize(y[0], &n));
    PetscCall(PetscMalloc1(2 * n, &array));
    for (int k = 0; k < 2; k++) PetscCall(VecCreateMPIWithArray(PETSC_COMM_WORLD, 1, n, PETSC_DECIDE, array + k * (n / 2), &window[k]));
    for (int transpose = 0; transpose < 2; transpose++) {
      Refused("are the same vector", MatGPUCSRMultMany(A, (PetscBool)transpose, 2, x, (Vec[]){y[0], x[0]}));
      Refused("are the same vector", MatGPUCSRMultMany(A, (PetscBool)transpose, 2, x, (Vec[]){x[1], y[0]}));
      Refused("are the same vector", MatGPUCSRMultMany(A, (PetscBool)transpose, 2, x, (Vec[]){y[1], y[1]}));
      Refused("overlap in memory", MatGPUCSRMultMany(A, (PetscBool)transpose, 2, (Vec[]){x[0], window[1]}, (Vec[]){window[0], y[0]}));
      Refused("overlap in memory", MatGPUCSRMultMany(A, (PetscBool)transpose, 2, (Vec[]){window[0], x[0]}, (Vec[]){y[0], window[1]}));
      Refused("overlap in memory", MatGPUCSRMultMany(A, (PetscBool)transpose, 2, x, window));
      PetscCall(MatGPUCSRMultMany(A, (PetscBool)transpose, 2, (Vec[]){x[0], x[0]}, y));
      PetscCall(MatGPUCSRMultMany(A, (PetscBool)transpose, 2, x, (Vec[]){y[0], window[0]}));
    }
    for (int k = 0; k < 2; k++) {
      PetscCall(VecDestroy(&x[k]));
      PetscCall(VecDestroy(&y[k]));
      PetscCall(VecDestroy(&window[k]));
    }
    PetscCall(PetscFree(array));
    PetscCall(MatDestroy(&A));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "overlapping vectors are rejected\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const PetscInt shapes[][3] = {{0, 0, 2}, {0, 5, 3}, {5, 0, 3}, {1, 1, 1}, {2, 9, 3}, {40, 40, 0}, {40, 40, 1}, {57, 23, 17}, {57, 23, 17}, {23, 57, 200}, {130, 2500, 3}, {130, 130, 33}};
  PetscRandom    random;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(PetscOptionsGetString(NULL, NULL, "-dense_type", DenseType, sizeof(DenseType), NULL));
  PetscCall(PetscLogDefaultBegin());
  PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &random));
  PetscCall(PetscRandomSetInterval(random, -1.0, 1.0));
  for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(shapes); s++) PetscCall(Shape(shapes[s][0], shapes[s][1], shapes[s][2], (PetscBool)(s % 2), random));
  PetscCall(Others(random));
  PetscCall(Overlaps());
  PetscCall(PetscRandomDestroy(&random));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   testset:
      output_file: output/spmm.out
      test:
         suffix: storage
         nsize: {{1 2 3}}
         args: -mat_gpucsr_storage {{single double}}
      test:
         suffix: stream
         nsize: {{1 2}}
         args: -mat_gpucsr_storage double -mat_gpucsr_stream always -mat_gpucsr_stream_chunk 16384 -mat_gpucsr_stream_resident {{0 20000}}
      test:
         suffix: lazy
         nsize: 2
         args: -mat_gpucsr_storage double -mat_gpucsr_transpose lazy
      test:
         suffix: densecuda
         requires: cuda
         nsize: {{1 2}}
         args: -mat_gpucsr_storage double -dense_type densecuda -use_gpu_aware_mpi 0

TEST*/
