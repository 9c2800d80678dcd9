static char help[] = "Type gpucsrstream: rows from a function and from a file; products, diagonal, norms, conversion, options, failures.\n\n";

#include "gpucsr.h"
#include "gpucsrcompat.h"
#include "refused.h"

#include <unistd.h>

#define COLUMNS 5

typedef struct {
  PetscInt N;
  PetscInt fails; /* row for which the function fails; -1: none */
  PetscInt wrong; /* row that has a column out of range; -1: none */
  PetscInt huge;  /* row that has a value that single precision cannot hold; -1: none */
  PetscInt calls; /* number of calls */
} Rows;

static PetscInt Length(PetscInt i, PetscInt N)
{
  return PetscMin(i % 97 == 7 ? 300 : i % 5 == 3 ? 0 : 1 + (i * 7) % 23, N);
}

/* Row i has nonzeros in the columns i, i + s, i + 2 s, ... modulo N, which differ if s and N have no common divisor. */
static PetscErrorCode GetRows(Mat A, PetscInt first, PetscInt n, PetscInt length[], PetscInt col[], PetscScalar val[], void *ctx)
{
  Rows    *R = (Rows *)ctx;
  PetscInt k = 0, start, end;

  PetscFunctionBeginUser;
  R->calls++;
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  PetscCheck(first >= start && n > 0 && first + n <= end && !col == !val, PETSC_COMM_SELF, PETSC_ERR_PLIB, "rows %" PetscInt_FMT " to %" PetscInt_FMT " are not those of this process", first, first + n);
  for (PetscInt i = first; i < first + n; i++) {
    PetscCheck(i != R->fails, PETSC_COMM_SELF, PETSC_ERR_USER, "row %" PetscInt_FMT " cannot be computed", i);
    if (col) PetscCheck(length[i - first] == Length(i, R->N), PETSC_COMM_SELF, PETSC_ERR_PLIB, "the length of row %" PetscInt_FMT " was changed", i);
    length[i - first] = Length(i, R->N);
    for (PetscInt j = 0; col && j < length[i - first]; j++, k++) {
      col[k] = i == R->wrong ? R->N : (i + 7 * j) % R->N;
      val[k] = i == R->huge ? 1e300 : 1 + ((i * 31 + j * 17) % 64) / 32.0 - (j % 3);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateAIJ(PetscInt M, PetscInt N, Mat *B)
{
  Rows        R = {N, -1, -1, -1, 0};
  PetscInt    first, end, length, col[300];
  PetscScalar val[300];

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, B));
  PetscCall(MatSetSizes(*B, PETSC_DECIDE, PETSC_DECIDE, M, N));
  PetscCall(MatSetType(*B, MATAIJ));
  PetscCall(MatSeqAIJSetPreallocation(*B, 300, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*B, 300, NULL, 300, NULL));
  PetscCall(MatGetOwnershipRange(*B, &first, &end));
  for (PetscInt i = first; i < end; i++) {
    length = Length(i, N);
    PetscCall(GetRows(*B, i, 1, &length, col, val, &R));
    PetscCall(MatSetValues(*B, 1, &i, length, col, val, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*B, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Raises an error unless two vectors agree to 1e-13. Changes the first one. */
static PetscErrorCode Same(const char *what, Vec u, Vec v)
{
  PetscReal error, norm;

  PetscFunctionBeginUser;
  PetscCall(VecNorm(v, NORM_2, &norm));
  PetscCall(VecAXPY(u, -1, v));
  PetscCall(VecNorm(u, NORM_2, &error));
  PetscCheck(error <= 1e-13 * norm, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: error %g of %g", what, (double)error, (double)norm);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CompareMany(Mat A, Mat B, Vec const x[2])
{
  Vec      in[COLUMNS], result[2][COLUMNS];
  Mat      X, Y, Z;
  PetscInt n, N;

  PetscFunctionBeginUser;
  for (int t = 0; t < 2; t++) {
    for (int c = 0; c < COLUMNS; c++) {
      PetscCall(VecDuplicate(x[t], &in[c]));
      PetscCall(VecSetRandom(in[c], NULL));
      for (int k = 0; k < 2; k++) PetscCall(VecDuplicate(x[1 - t], &result[k][c]));
    }
    PetscCall(MatGPUCSRMultMany(A, (PetscBool)t, COLUMNS, in, result[0]));
    PetscCall(MatGPUCSRMultMany(B, (PetscBool)t, COLUMNS, in, result[1]));
    for (int c = 0; c < COLUMNS; c++) {
      PetscCall(Same("several vectors", result[0][c], result[1][c]));
      PetscCall(VecDestroy(&in[c]));
      for (int k = 0; k < 2; k++) PetscCall(VecDestroy(&result[k][c]));
    }
  }
  PetscCall(MatGetSize(A, NULL, &N));
  PetscCall(MatGetLocalSize(A, NULL, &n));
  PetscCall(MatCreateDense(PETSC_COMM_WORLD, n, PETSC_DECIDE, N, 3, NULL, &X));
  PetscCall(MatSetRandom(X, NULL));
  PetscCall(MatMatMult(A, X, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &Y));
  PetscCall(MatMatMult(B, X, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &Z));
  {
    PetscReal norm, error;

    PetscCall(MatNorm(Z, NORM_FROBENIUS, &norm));
    PetscCall(MatAXPY(Y, -1, Z, SAME_NONZERO_PATTERN));
    PetscCall(MatNorm(Y, NORM_FROBENIUS, &error));
    PetscCheck(error <= 1e-13 * norm, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "MatMatMult: error %g of %g", (double)error, (double)norm);
  }
  PetscCall(MatDestroy(&X));
  PetscCall(MatDestroy(&Y));
  PetscCall(MatDestroy(&Z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares the products of two matrices. */
static PetscErrorCode CompareProducts(const char *what, Mat A, Mat B)
{
  Vec x[2], z[2], y[2], w[2]; /* index 0: column space, 1: row space */

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x[0], &x[1]));
  for (int s = 0; s < 2; s++) {
    PetscCall(VecDuplicate(x[s], &z[s]));
    PetscCall(VecDuplicate(x[s], &y[s]));
    PetscCall(VecDuplicate(x[s], &w[s]));
    PetscCall(VecSetRandom(x[s], NULL));
    PetscCall(VecSetRandom(z[s], NULL));
  }
  PetscCall(MatMult(A, x[0], y[1]));
  PetscCall(MatMult(B, x[0], w[1]));
  PetscCall(Same(what, y[1], w[1]));
  PetscCall(MatMultAdd(A, x[0], z[1], y[1]));
  PetscCall(MatMultAdd(B, x[0], z[1], w[1]));
  PetscCall(Same(what, y[1], w[1]));
  PetscCall(VecCopy(z[1], y[1]));
  PetscCall(MatMultAdd(A, x[0], y[1], y[1]));
  PetscCall(Same(what, y[1], w[1]));
  PetscCall(MatMultTranspose(A, x[1], y[0]));
  PetscCall(MatMultTranspose(B, x[1], w[0]));
  PetscCall(Same(what, y[0], w[0]));
  PetscCall(MatMultTransposeAdd(A, x[1], z[0], y[0]));
  PetscCall(MatMultTransposeAdd(B, x[1], z[0], w[0]));
  PetscCall(Same(what, y[0], w[0]));
  PetscCall(CompareMany(A, B, x));
  for (int s = 0; s < 2; s++) {
    PetscCall(VecDestroy(&x[s]));
    PetscCall(VecDestroy(&z[s]));
    PetscCall(VecDestroy(&y[s]));
    PetscCall(VecDestroy(&w[s]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares diagonal, norms, numbers of nonzeros and the converted matrix. */
static PetscErrorCode CompareValues(Mat A, Mat B)
{
  const NormType norms[] = {NORM_1, NORM_FROBENIUS, NORM_INFINITY};
  MatReuse const reuse[] = {MAT_INITIAL_MATRIX, MAT_REUSE_MATRIX};
  Vec            u, v;
  MatInfo        info[2];
  Mat            C = NULL;
  PetscBool      same;
  PetscInt       M, N;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(B, &M, &N));
  PetscCall(MatCreateVecs(B, NULL, &u));
  PetscCall(VecDuplicate(u, &v));
  if (M == N) {
    PetscCall(MatGetDiagonal(A, u));
    PetscCall(MatGetDiagonal(B, v));
    PetscCall(Same("diagonal", u, v));
  }
  PetscCall(MatGetRowMaxAbs(A, u, NULL));
  PetscCall(MatGetRowMaxAbs(B, v, NULL));
  PetscCall(Same("row maxima", u, v));
  PetscCall(VecDestroy(&u));
  PetscCall(VecDestroy(&v));
  for (int k = 0; k < 3; k++) {
    PetscReal a, b;

    PetscCall(MatNorm(A, norms[k], &a));
    PetscCall(MatNorm(B, norms[k], &b));
    PetscCheck(PetscAbsReal(a - b) <= 1e-13 * b, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s norm %g, not %g", NormTypes[norms[k]], (double)a, (double)b);
  }
  PetscCall(MatGetInfo(A, MAT_GLOBAL_SUM, &info[0]));
  PetscCall(MatGetInfo(B, MAT_GLOBAL_SUM, &info[1]));
  PetscCheck(info[0].nz_used == info[1].nz_used, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%g nonzeros, not %g", info[0].nz_used, info[1].nz_used);
  for (int k = 0; k < 2; k++) {
    PetscCall(MatConvert(A, MATAIJ, reuse[k], &C));
    PetscCall(MatEqual(B, C, &same));
    PetscCheck(same, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "the converted matrix differs");
  }
  PetscCall(MatDestroy(&C));
  PetscCall(MatConvert(A, MATGPUCSR, MAT_INITIAL_MATRIX, &C));
  PetscCall(CompareProducts("converted to gpucsr", A, C));
  PetscCall(MatDestroy(&C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestFunction(PetscInt M, PetscInt N)
{
  const char *const   kernels[] = {"csrscalar", "csrvector8", "auto"};
  Rows                R = {N, -1, -1, -1, 0}, S = R;
  Mat                 A, B, E;
  MatGPUCSRStreamInfo info;
  MatGPUCSRInfo       state;
  PetscBool           same;

  PetscFunctionBeginUser;
  PetscCall(CreateAIJ(M, N, &B));
  PetscCall(MatCreateGPUCSRStream(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, M, N, GetRows, &R, &A));
  PetscCall(MatSetFromOptions(A));
  PetscCheck(!R.calls, PETSC_COMM_SELF, PETSC_ERR_PLIB, "the rows were read before the first product");
  PetscCall(CompareValues(A, B));
  PetscCall(CompareProducts("first products", A, B));
  PetscCall(MatGPUCSRSetStreamChunk(A, 3000));
  for (int k = 0; k < 3; k++) {
    PetscCall(MatGPUCSRSetKernel(A, kernels[k]));
    PetscCall(CompareProducts(kernels[k], A, B));
  }
  PetscCall(MatGPUCSRSetStorage(A, MAT_GPUCSR_STORAGE_DOUBLE));
  PetscCall(MatGPUCSRSetStreamResident(A, 4000));
  PetscCall(CompareProducts("double, partly resident", A, B));
  PetscCall(MatGPUCSRSetStorage(A, MAT_GPUCSR_STORAGE_AUTO));
  PetscCall(MatGPUCSRSetStreamEncode(A, MAT_GPUCSR_STREAM_ENCODE_NONE));
  PetscCall(CompareProducts("auto, not encoded", A, B));
  PetscCall(MatGPUCSRGetStreamInfo(A, &info));
  PetscCall(MatGPUCSRGetInfo(A, &state));
  PetscCheck(info.streamed && (info.chunks > 1 || M < 10) && (info.bytes > 0 || M < 10), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%d chunks of %g bytes", (int)info.chunks, info.bytes);
  PetscCheck(state.lossless && state.storage == MAT_GPUCSR_STORAGE_DOUBLE && (state.values > 0 || M < 10), PETSC_COMM_SELF, PETSC_ERR_PLIB, "state of the matrix");
  PetscCall(MatGPUCSRStreamSetRows(A, GetRows, &S)); /* set twice */
  PetscCall(CompareProducts("set twice", A, B));
  PetscCheck(S.calls || M < 10, PETSC_COMM_SELF, PETSC_ERR_PLIB, "the new rows were not read");
  PetscCall(MatConvert(A, MATAIJ, MAT_INPLACE_MATRIX, &A));
  PetscCall(MatEqual(A, B, &same));
  PetscCheck(same, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "the matrix converted in place differs");
  PetscCall(MatDestroy(&A));
  PetscCall(MatCreateGPUCSRStream(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, M, N, GetRows, &R, &E));
  PetscCall(MatDestroy(&E)); /* before any product */
  PetscCall(MatCreate(PETSC_COMM_WORLD, &E));
  PetscCall(MatSetType(E, MATGPUCSRSTREAM));
  PetscCall(MatDestroy(&E)); /* without rows */
  PetscCall(MatCreate(PETSC_COMM_WORLD, &E));
  PetscCall(MatSetSizes(E, PETSC_DECIDE, PETSC_DECIDE, M, N));
  PetscCall(MatSetType(E, MATGPUCSRSTREAM));
  PetscCall(MatSetType(E, MATAIJ)); /* another type */
  PetscCall(MatDestroy(&E));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes two matrices and a vector to a file, and loads them. */
static PetscErrorCode TestLoad(PetscInt M, PetscInt N)
{
  char        name[] = "gpucsrstream.petsc";
  Mat         A[2], B[2];
  Vec         v, w;
  PetscViewer viewer;
  PetscBool   same;
  PetscMPIInt rank;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, name, FILE_MODE_WRITE, &viewer));
  for (int k = 0; k < 2; k++) {
    PetscCall(CreateAIJ(M + k, N, &B[k]));
    PetscCall(MatView(B[k], viewer));
  }
  PetscCall(MatCreateVecs(B[0], &v, NULL));
  PetscCall(VecSetRandom(v, NULL));
  PetscCall(VecView(v, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, name, FILE_MODE_READ, &viewer));
  for (int k = 0; k < 2; k++) {
    PetscCall(MatCreate(PETSC_COMM_WORLD, &A[k]));
    if (k) PetscCall(MatSetSizes(A[k], PETSC_DECIDE, PETSC_DECIDE, M + k, N));
    PetscCall(MatSetFromOptions(A[k])); /* -mat_type gpucsrstream */
    PetscCall(MatLoad(A[k], viewer));
  }
  PetscCall(VecDuplicate(v, &w));
  PetscCall(VecLoad(w, viewer));
  PetscCall(VecEqual(v, w, &same));
  PetscCheck(same, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "the vector behind the matrices differs");
  for (int k = 0; k < 2; k++) {
    PetscCall(CompareProducts("loaded", A[k], B[k]));
    PetscCall(CompareValues(A[k], B[k]));
  }
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, name, FILE_MODE_READ, &viewer));
  PetscCall(MatLoad(A[0], viewer)); /* loaded twice */
  PetscCall(CompareProducts("loaded twice", A[0], B[0]));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, name, FILE_MODE_READ, &viewer));
  Refused("as set by MatSetSizes()", MatLoad(A[1], viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  if (!rank) PetscCheck(!truncate(name, 12000), PETSC_COMM_SELF, PETSC_ERR_SYS, "cannot truncate %s", name);
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, name, FILE_MODE_READ, &viewer));
  Refused("the file is truncated", MatLoad(A[0], viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  for (int k = 0; k < 2; k++) {
    PetscCall(MatDestroy(&A[k]));
    PetscCall(MatDestroy(&B[k]));
  }
  PetscCall(VecDestroy(&v));
  PetscCall(VecDestroy(&w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A failure of one rank must be an error on all, and the matrix usable afterwards. */
static PetscErrorCode TestFailures(PetscInt M, PetscInt N)
{
  Rows           R = {N, -1, -1, -1, 0};
  PetscInt       first;
  Mat            A, B, C;
  Vec            x, y;
  PetscViewer    viewer;
  PetscErrorCode err;

  PetscFunctionBeginUser;
  PetscCall(CreateAIJ(M, N, &B));
  PetscCall(MatCreateVecs(B, &x, &y));
  PetscCall(VecSet(x, 1));
  PetscCall(MatCreateGPUCSRStream(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, M, N, GetRows, &R, &A));
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  R.fails = M - 1;
  err     = MatMult(A, x, y);
  PetscCheck(err == PETSC_ERR_USER, PETSC_COMM_SELF, PETSC_ERR_PLIB, "a failing function: error %d", (int)err);
  for (int k = 0; k < 3; k++) { /* on several processes the function fails on the last one only */
    err = k ? MatGetInfo(A, k > 1 ? MAT_GLOBAL_MAX : MAT_GLOBAL_SUM, &(MatInfo){0}) : MatNorm(A, NORM_1, &(PetscReal){0});
    PetscCheck(err == PETSC_ERR_USER, PETSC_COMM_SELF, PETSC_ERR_PLIB, "a failing function: error %d of %s", (int)err, k ? "MatGetInfo()" : "MatNorm()");
  }
  R.fails = -1;
  R.wrong = M - 1;
  err     = MatMult(A, x, y);
  PetscCheck(err == PETSC_ERR_ARG_OUTOFRANGE, PETSC_COMM_SELF, PETSC_ERR_PLIB, "a wrong column: error %d", (int)err);
  R.wrong = -1;
  R.huge  = M - 1;
  err     = MatMult(A, x, y);
  PetscCheck(err == PETSC_ERR_ARG_OUTOFRANGE, PETSC_COMM_SELF, PETSC_ERR_PLIB, "a value that overflows: error %d", (int)err);
  PetscCall(PetscPopErrorHandler());
  R.huge = -1;
  PetscCall(CompareProducts("after failures", A, B));
  Refused("is read-only", MatSetValue(A, 0, 0, 1, INSERT_VALUES));
  PetscCall(CompareProducts("after a refused value", A, B));
  Refused("cannot be duplicated", MatDuplicate(A, MAT_COPY_VALUES, &C));
  PetscCall(MatGetOwnershipRange(A, &first, NULL));
  Refused("does not return single rows", MatGetRow(A, first, NULL, NULL, NULL));
  PetscCall(MatCreate(PETSC_COMM_WORLD, &C));
  PetscCall(MatSetSizes(C, PETSC_DECIDE, PETSC_DECIDE, M, N));
  PetscCall(MatSetType(C, MATGPUCSRSTREAM));
  PetscCall(MatSetUp(C));
  Refused("has no rows to assemble", MatAssemblyBegin(C, MAT_FINAL_ASSEMBLY));
  PetscCall(MatDestroy(&C));
  PetscCall(PetscViewerASCIIOpen(PETSC_COMM_WORLD, "/dev/null", &viewer));
  Refused("use the format ::ascii_info", MatView(A, viewer));
  PetscCall(PetscViewerPushFormat(viewer, PETSC_VIEWER_ASCII_INFO));
  PetscCall(MatView(A, viewer));
  PetscCall(PetscViewerPopFormat(viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  Refused("use MatSetType(A, MATGPUCSRSTREAM)", MatGPUCSRStreamSetRows(B, GetRows, &R));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(TestFunction(601, 601));
  PetscCall(TestFunction(500, 1201));
  PetscCall(TestFunction(3, 11)); /* processes without rows */
  PetscCall(TestLoad(601, 601));
  PetscCall(TestLoad(1201, 500 + 1));
  PetscCall(TestFailures(601, 601));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "ok\n"));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST
  test:
    suffix: 1
    nsize: {{1 2 4}}
    args: -mat_type gpucsrstream -mat_gpucsr_stream_chunk 4000
TEST*/
