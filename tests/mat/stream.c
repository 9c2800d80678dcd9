static char help[] = "A matrix that is streamed to the device: its products have the bits of ordinary products with the same kernel; changes, options, state, failures.\n\n\
  -auto   : the matrix is streamed because it does not fit the device\n\
  -shared : products with the transpose may differ in the last bits\n\n";

#include "gpucsr.h"
#include "gpucsrcompat.h"
#include "refused.h"

#include <petscksp.h>

#include <string.h>

static PetscInt Longest = 800; /* number of entries that row 7 is given */

/* A matrix with long, short and empty rows. */
static PetscErrorCode Create(PetscInt m, PetscInt n, PetscBool integers, Mat *A)
{
  PetscRandom random;
  PetscInt    first, end;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, m, n));
  PetscCall(MatSetType(*A, MATGPUCSR));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, 900, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, 900, NULL, 900, NULL));
  PetscCall(MatSetOption(*A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE)); /* row 7 can need more */
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &random));
  PetscCall(PetscRandomSetType(random, PETSCRAND48));
  PetscCall(MatGetOwnershipRange(*A, &first, &end));
  for (PetscInt i = first; i < end; i++) {
    const PetscInt length = i == 7 ? Longest : i % 200 == 7 ? 800 : i % 5 == 3 ? 0 : 1 + (i * 7) % 23;

    PetscCall(PetscRandomSetSeed(random, (unsigned long)(1000 + i)));
    PetscCall(PetscRandomSeed(random));
    if (m == n) PetscCall(MatSetValue(*A, i, i, 3, INSERT_VALUES));
    for (PetscInt k = 0; k < length; k++) {
      PetscReal v, j;

      PetscCall(PetscRandomGetValueReal(random, &j));
      PetscCall(PetscRandomGetValueReal(random, &v));
      PetscCall(MatSetValue(*A, i, (PetscInt)(j * (PetscReal)n), integers ? PetscFloorReal(8 * v) - 4 : 2 * v - 1, INSERT_VALUES));
    }
  }
  PetscCall(PetscRandomDestroy(&random));
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Raises an error unless two vectors have the same bits on every rank, or, with a tolerance, differ by at most this relative to their norm. */
static PetscErrorCode Same(const char *what, Vec u, Vec v, PetscReal tolerance)
{
  const PetscScalar *a, *b;
  PetscInt           n;
  PetscReal          error, norm;

  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(u, &n));
  PetscCall(VecGetArrayRead(u, &a));
  PetscCall(VecGetArrayRead(v, &b));
  PetscCheck(tolerance > 0 || !memcmp(a, b, (size_t)n * sizeof(*a)), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: the streamed product has other bits", what);
  PetscCall(VecRestoreArrayRead(u, &a));
  PetscCall(VecRestoreArrayRead(v, &b));
  PetscCall(VecNorm(v, NORM_2, &norm));
  PetscCall(VecAXPY(u, -1, v));
  PetscCall(VecNorm(u, NORM_2, &error));
  PetscCheck(error <= tolerance * norm, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: error %g of %g", what, (double)error, (double)norm);
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define COLUMNS 5

static PetscReal TransposeTolerance; /* 0: products with the transpose must have the bits of ordinary ones */

/* Compares the products of two matrices. */
static PetscErrorCode Compare(const char *what, Mat A, Mat B, PetscReal tolerance)
{
  PetscInt m, n;
  Vec      x[2], z[2], y[2], many[2], result[2][COLUMNS], in[COLUMNS]; /* index 0: column space, 1: row space */

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(A, &m, &n));
  PetscCall(MatCreateVecs(A, &x[0], &x[1]));
  for (int s = 0; s < 2; s++) {
    PetscCall(VecDuplicate(x[s], &z[s]));
    PetscCall(VecDuplicate(x[s], &y[s]));
    PetscCall(VecDuplicate(x[s], &many[s]));
    PetscCall(VecSetRandom(x[s], NULL));
    PetscCall(VecSetRandom(z[s], NULL));
  }
  PetscCall(MatMult(A, x[0], y[1]));
  PetscCall(MatMult(B, x[0], many[1]));
  PetscCall(Same(what, y[1], many[1], tolerance));
  PetscCall(MatMultAdd(A, x[0], z[1], y[1]));
  PetscCall(MatMultAdd(B, x[0], z[1], many[1]));
  PetscCall(Same(what, y[1], many[1], tolerance));
  PetscCall(VecCopy(z[1], y[1]));
  PetscCall(MatMultAdd(A, x[0], y[1], y[1]));
  PetscCall(MatMultAdd(B, x[0], z[1], many[1]));
  PetscCall(Same(what, y[1], many[1], tolerance));
  PetscCall(MatMultTranspose(A, x[1], y[0]));
  PetscCall(MatMultTranspose(B, x[1], many[0]));
  PetscCall(Same(what, y[0], many[0], PetscMax(tolerance, TransposeTolerance)));
  PetscCall(MatMultTransposeAdd(A, x[1], z[0], y[0]));
  PetscCall(MatMultTransposeAdd(B, x[1], z[0], many[0]));
  PetscCall(Same(what, y[0], many[0], PetscMax(tolerance, TransposeTolerance)));
  for (int t = 0; t < 2; t++) {
    for (int c = 0; c < COLUMNS; c++) {
      PetscCall(VecDuplicate(x[t], &in[c]));
      PetscCall(VecSetRandom(in[c], NULL));
      for (int k = 0; k < 2; k++) PetscCall(VecDuplicate(x[1 - t], &result[k][c]));
    }
    PetscCall(MatGPUCSRMultMany(A, (PetscBool)t, COLUMNS, in, result[0]));
    PetscCall(MatGPUCSRMultMany(B, (PetscBool)t, COLUMNS, in, result[1]));
    for (int c = 0; c < COLUMNS; c++) {
      PetscCall(Same(what, result[0][c], result[1][c], 1e-13)); /* the kernels for several vectors can differ */
      PetscCall(VecDestroy(&in[c]));
      for (int k = 0; k < 2; k++) PetscCall(VecDestroy(&result[k][c]));
    }
  }
  if (m == n) {
    PetscCall(MatGetDiagonal(A, y[1]));
    PetscCall(MatGetDiagonal(B, many[1]));
    PetscCall(Same(what, y[1], many[1], 0));
  }
  for (int s = 0; s < 2; s++) {
    PetscCall(VecDestroy(&x[s]));
    PetscCall(VecDestroy(&z[s]));
    PetscCall(VecDestroy(&y[s]));
    PetscCall(VecDestroy(&many[s]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckInfo(Mat A, PetscBool streamed)
{
  MatGPUCSRStreamInfo info;

  PetscFunctionBeginUser;
  PetscCall(MatGPUCSRGetStreamInfo(A, &info));
  PetscCheck(info.streamed == streamed, PETSC_COMM_SELF, PETSC_ERR_PLIB, "the matrix is %sstreamed", info.streamed ? "" : "not ");
  if (!streamed) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(info.chunks > 1 && info.bytes > 0 && info.row_bytes > 0 && info.resident_bytes <= info.bytes && info.moved_last <= info.bytes, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%g chunks, %g of %g bytes, %g resident, %g moved", (double)info.chunks,
             info.bytes, info.row_bytes, info.resident_bytes, info.moved_last);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestProducts(PetscInt m, PetscInt n, PetscBool integers)
{
  const char *const kernels[] = {"csrscalar", "csrvector8", "csrsegment", "auto"};
  Mat               A, B, C;

  PetscFunctionBeginUser;
  PetscCall(Create(m, n, integers, &A));
  PetscCall(MatGPUCSRSetStream(A, MAT_GPUCSR_STREAM_ALWAYS));
  PetscCall(Create(m, n, integers, &B));
  PetscCall(MatGPUCSRSetStream(B, MAT_GPUCSR_STREAM_NEVER));
  for (int k = 0; k < 4; k++) {
    PetscCall(MatGPUCSRSetKernel(A, kernels[k]));
    PetscCall(MatGPUCSRSetKernel(B, kernels[k]));
    PetscCall(Compare(kernels[k], A, B, k < 3 ? 0 : 1e-13));
  }
  PetscCall(CheckInfo(A, PETSC_TRUE));
  PetscCall(CheckInfo(B, PETSC_FALSE));
  PetscCall(MatGPUCSRSetKernel(A, "csrvector2"));
  PetscCall(MatGPUCSRSetKernel(B, "csrvector2"));
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &C));
  PetscCall(MatScale(A, 0.37));
  PetscCall(MatScale(B, 0.37));
  PetscCall(Compare("MatScale()", A, B, 0));
  PetscCall(MatAXPY(A, -2, C, SAME_NONZERO_PATTERN));
  PetscCall(MatAXPY(B, -2, C, SAME_NONZERO_PATTERN));
  PetscCall(Compare("MatAXPY()", A, B, 0));
  if (m == n) {
    PetscCall(MatShift(A, 5));
    PetscCall(MatShift(B, 5));
    PetscCall(Compare("MatShift()", A, B, 0));
  }
  PetscCall(MatZeroEntries(A));
  PetscCall(MatZeroEntries(B));
  PetscCall(Compare("MatZeroEntries()", A, B, 0));
  PetscCall(MatCopy(C, B, SAME_NONZERO_PATTERN));
  PetscCall(Compare("MatDuplicate()", C, B, 0));
  PetscCall(CheckInfo(C, PETSC_TRUE));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Every setter has its option; wrong numbers are refused. */
static PetscErrorCode TestOptions(void)
{
  Mat A, B;

  PetscFunctionBeginUser;
  PetscCall(Create(700, 700, PETSC_FALSE, &A));
  PetscCall(Create(700, 700, PETSC_FALSE, &B));
  PetscCall(MatGPUCSRSetKernel(A, "csrvector4"));
  PetscCall(MatGPUCSRSetKernel(B, "csrvector4"));
  PetscCall(MatGPUCSRSetStream(A, MAT_GPUCSR_STREAM_ALWAYS));
  PetscCall(MatGPUCSRSetStream(B, MAT_GPUCSR_STREAM_NEVER));
  for (int encode = 0; encode < 2; encode++) {
    PetscCall(MatGPUCSRSetStreamEncode(A, (MatGPUCSRStreamEncode)encode));
    for (PetscInt buffers = 1; buffers < 4; buffers++) {
      PetscCall(MatGPUCSRSetStreamBuffers(A, buffers));
      PetscCall(MatGPUCSRSetStreamThreads(A, buffers));
      PetscCall(MatGPUCSRSetStreamResident(A, 5000 * (double)(buffers - 1)));
      PetscCall(MatGPUCSRSetStreamChunk(A, 3000 * (double)buffers));
      PetscCall(Compare("options", A, B, 0));
    }
  }
  Refused("MatGPUCSRSetStreamBuffers(): -1: give a number", MatGPUCSRSetStreamBuffers(A, -1));
  Refused("MatGPUCSRSetStreamThreads(): 100000: give a number", MatGPUCSRSetStreamThreads(A, 100000));
  Refused("MatGPUCSRSetStreamResident(): -2.5: give a number of bytes", MatGPUCSRSetStreamResident(A, -2.5));
  Refused("MatGPUCSRSetStreamChunk(): -2.5: give a number of bytes", MatGPUCSRSetStreamChunk(A, -2.5));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* KSPGPUCG multiplies once in each iteration, and transfers the matrix for no other product. */
static PetscErrorCode TestConjugateGradients(void)
{
  MatGPUCSRStreamInfo before, after;
  PetscMPIInt         size;
  PetscInt            its;
  Mat                 A;
  Vec                 x, b;
  KSP                 ksp;
  PC                  pc;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  if (size > 1) PetscFunctionReturn(PETSC_SUCCESS); /* KSPGPUCG has a loop on the device on one rank only */
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetSizes(A, 900, 900, 900, 900));
  PetscCall(MatSetType(A, MATGPUCSR));
  PetscCall(MatSetUp(A));
  PetscCall(MatGPUCSRSetStream(A, MAT_GPUCSR_STREAM_ALWAYS));
  for (PetscInt i = 0; i < 900; i++) {
    PetscCall(MatSetValue(A, i, i, 2.5 + 0.01 * (PetscReal)(i % 50), INSERT_VALUES));
    if (i) PetscCall(MatSetValue(A, i, i - 1, -1, INSERT_VALUES));
    if (i < 899) PetscCall(MatSetValue(A, i, i + 1, -1, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetType(ksp, KSPGPUCG));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCJACOBI));
  PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPSetUp(ksp));
  PetscCall(MatGPUCSRGetStreamInfo(A, &before));
  for (int solve = 1; solve < 3; solve++) {
    PetscCall(VecSet(x, 0));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(KSPGetIterationNumber(ksp, &its));
    PetscCall(MatGPUCSRGetStreamInfo(A, &after));
    PetscCheck(its > 5 && after.products - before.products == solve * its, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%d iterations, %d products in %d solves", (int)its, (int)(after.products - before.products), solve);
  }
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscBool automatic = PETSC_FALSE, shared = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-auto", &automatic, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-shared", &shared, NULL));
  if (shared) TransposeTolerance = 1e-13;
  if (automatic) { /* the options bound the device memory */
    Mat A, B;

    PetscCall(Create(24000, 24000, PETSC_FALSE, &A));
    PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &B));
    PetscCall(CheckInfo(A, PETSC_TRUE));
    PetscCall(MatDestroy(&A));
    PetscCall(MatDestroy(&B));
    PetscCall(Create(100, 100, PETSC_FALSE, &A));
    PetscCall(CheckInfo(A, PETSC_FALSE));
    PetscCall(MatDestroy(&A));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "a matrix is streamed if it does not fit\n"));
  } else {
    Longest = 4000; /* more than two segments of kernel csrsegment, without the entries that fall on the same column */
    PetscCall(TestProducts(3000, 3000, PETSC_FALSE));
    PetscCall(TestProducts(900, 5000, PETSC_TRUE));
    PetscCall(TestProducts(4000, 1, PETSC_TRUE));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "streamed products have the bits of ordinary ones\n"));
    PetscCall(TestOptions());
    PetscCall(TestConjugateGradients());
  }
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   testset:
      nsize: {{1 2}}
      args: -mat_gpucsr_stream_chunk 16384
      output_file: output/stream_products.out
      test:
         suffix: products
         args: -mat_gpucsr_storage {{single double}} -mat_gpucsr_stream_resident {{0 30000}}
      test:
         suffix: shared
         args: -shared -mat_gpucsr_stream_transpose shared -mat_gpucsr_storage {{single double}}
      test:
         suffix: lazy
         args: -mat_gpucsr_storage auto -mat_gpucsr_transpose lazy

   testset:
      nsize: 4
      args: -mat_gpucsr_stream_chunk 16384
      output_file: output/stream_products.out
      test:
         suffix: products_4
         args: -mat_gpucsr_storage double -mat_gpucsr_stream_resident 30000
      test:
         suffix: shared_4
         args: -shared -mat_gpucsr_stream_transpose shared -mat_gpucsr_storage single

   test:
      suffix: rows
      nsize: {{1 2}}
      args: -mat_gpucsr_stream_chunk {{1 1e30}}
      output_file: output/stream_products.out

   test:
      suffix: auto
      nsize: {{1 2}}
      args: -auto -mat_gpucsr_stream_chunk 4096 -gpucsr_device_memory {{3000000 2929.6875k}}
      output_file: output/stream_auto.out

TEST*/
