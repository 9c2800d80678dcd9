static char help[] = "Storage auto of a MATGPUCSR, on several numbers of ranks: single precision if and only if every value is exact in it.\n\n";

#include "gpucsr.h"
#include "gpucsrcompat.h"

/* An n x n matrix with entries at the column distances 1 and n/2, so that all ranks have an off-diagonal block. The values are multiples of 1/4,
   which are exact. */
static PetscErrorCode Create(PetscInt n, const char prefix[], Mat *A)
{
  PetscInt start, end;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, n, n));
  PetscCall(MatSetOptionsPrefix(*A, prefix));
  PetscCall(MatSetType(*A, MATGPUCSR));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, 4, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, 4, NULL, 4, NULL));
  PetscCall(MatGetOwnershipRange(*A, &start, &end));
  for (PetscInt i = start; i < end; i++) {
    PetscCall(MatSetValue(*A, i, i, 2 + 0.25 * (PetscReal)(i % 3), INSERT_VALUES));
    PetscCall(MatSetValue(*A, i, (i + 1) % n, -1, INSERT_VALUES));
    PetscCall(MatSetValue(*A, i, (i + n / 2) % n, -0.75, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets one value, on the first rank. */
static PetscErrorCode Set(Mat A, PetscInt i, PetscInt j, PetscScalar v)
{
  PetscMPIInt rank;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (!rank) PetscCall(MatSetValue(A, i, j, v, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Checks that this storage is in effect on all ranks. Unless values were rounded, products must equal those of AIJ up to the order of the sums, and
   the image of every row and column of the diagonal block must be bitwise equal to the host's values. */
static PetscErrorCode Expect(const char what[], Mat A, MatGPUCSRStorage storage)
{
  MatGPUCSRInfo    info;
  MatGPUCSRStorage asked;
  Mat              B;
  Vec              x, y, z;
  PetscReal        error, norm;
  int              mine[2], all[2];

  PetscFunctionBeginUser;
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &B));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(VecSetRandom(x, NULL));
  for (int t = 0; t < 2; t++) {
    PetscCall(t ? MatMultTranspose(A, x, y) : MatMult(A, x, y));
    PetscCall(t ? MatMultTranspose(B, x, z) : MatMult(B, x, z));
    PetscCall(VecNorm(z, NORM_2, &norm));
    PetscCall(VecAXPY(z, -1, y));
    PetscCall(VecNorm(z, NORM_2, &error));
    PetscCheck(error <= 1e-14 * norm, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: %s differs by %g of %g", what, t ? "MatMultTranspose()" : "MatMult()", (double)error, (double)norm);
  }
  PetscCall(MatGPUCSRGetInfo(A, &info));
  mine[0] = (int)info.storage;
  mine[1] = -(int)info.storage;
  PetscCallMPI(MPI_Allreduce(mine, all, 2, MPI_INT, MPI_MAX, PETSC_COMM_WORLD));
  PetscCheck(all[0] == (int)storage && all[1] == -(int)storage, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: storage %d to %d, not %d", what, -all[1], all[0], (int)storage);
  PetscCheck(info.lossless && !info.rounded && !info.lost, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: values were rounded", what);
  PetscCall(MatGPUCSRGetStorage(A, &asked));
  PetscCheck(asked == MAT_GPUCSR_STORAGE_AUTO, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: storage auto became %d", what, (int)asked);
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(MatDestroy(&B));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %s\n", what, storage ? "double" : "single"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define Single(what, A) PetscCall(Expect(what, A, MAT_GPUCSR_STORAGE_SINGLE))
#define Double(what, A) PetscCall(Expect(what, A, MAT_GPUCSR_STORAGE_DOUBLE))

/* Sets values one by one, in each of the two blocks, that are inexact, too small or too large for single precision. */
static PetscErrorCode TestRefill(void)
{
  const PetscInt    n        = 40;
  const PetscScalar value[]  = {0.1, 1e300, 1e-300, 1e-40};
  const char *const names[]  = {"0.1", "1e300", "1e-300", "1e-40"};
  const PetscInt    column[] = {0, 20, 0, 20};
  Mat               A;

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(value); k++) {
    PetscCall(Create(n, NULL, &A));
    Single("quarters", A);
    PetscCall(Set(A, 0, column[k], 0.5));
    Single("other quarters", A);
    PetscCall(Set(A, 0, column[k], value[k]));
    Double(names[k], A);
    PetscCall(Set(A, 0, column[k], 0.5)); /* the pattern is the same: double storage stays, because the values might change again */
    Double("quarters again, on this pattern", A);
    PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
    PetscCall(Set(A, 0, 7, 8));
    Single("another pattern", A);
    PetscCall(Set(A, 0, 7, 1.0 / 3));
    Double("a third", A);
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Operations that change the values on the device. */
static PetscErrorCode TestUpdates(void)
{
  Mat A, X;
  Vec d, e;

  PetscFunctionBeginUser;
  for (int operation = 0; operation < 6; operation++) {
    PetscCall(Create(36, NULL, &A));
    PetscCall(Create(36, NULL, &X));
    PetscCall(MatCreateVecs(A, &d, &e));
    PetscCall(VecSet(d, 2));
    Single("before", A);
    Single("the other", X);
    for (int round = 0; round < 2; round++) {
      const PetscScalar a = round ? 0.3 : 0.5;

      PetscCall(VecSet(e, a));
      if (operation == 0) PetscCall(MatScale(A, a));
      else if (operation == 1) PetscCall(MatShift(A, a));
      else if (operation == 2) PetscCall(MatAXPY(A, a, X, SAME_NONZERO_PATTERN));
      else if (operation == 3) PetscCall(MatDiagonalScale(A, e, NULL));
      else if (operation == 4) PetscCall(MatDiagonalScale(A, d, e));
      else PetscCall(MatDiagonalSet(A, e, ADD_VALUES));
      PetscCall(Expect(((const char *[]){"MatScale", "MatShift", "MatAXPY", "MatDiagonalScale from the left", "MatDiagonalScale", "MatDiagonalSet"})[operation], A, round ? MAT_GPUCSR_STORAGE_DOUBLE : MAT_GPUCSR_STORAGE_SINGLE));
    }
    PetscCall(MatScale(A, -1));
    Double("MatScale by -1", A);
    PetscCall(MatZeroEntries(A));
    Double("MatZeroEntries", A);
    PetscCall(VecDestroy(&d));
    PetscCall(VecDestroy(&e));
    PetscCall(MatDestroy(&A));
    PetscCall(MatDestroy(&X));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Every rank adds to all rows, with sums that are exact in single precision or not. */
static PetscErrorCode TestCOO(void)
{
  const PetscInt n = 12;
  Mat            A;
  PetscInt       i[36], j[36];
  PetscScalar    v[36];

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetSizes(A, PETSC_DECIDE, PETSC_DECIDE, n, n));
  PetscCall(MatSetType(A, MATGPUCSR));
  PetscCall(MatSetFromOptions(A));
  for (PetscInt k = 0; k < 36; k++) {
    i[k] = k % n;
    j[k] = (k % n + 5 * (k / n)) % n;
  }
  PetscCall(MatSetPreallocationCOO(A, 36, i, j));
  for (int round = 0; round < 2; round++) {
    for (PetscInt k = 0; k < 36; k++) v[k] = round && k == 35 ? 0.1 : 1 + (PetscReal)k;
    PetscCall(MatSetValuesCOO(A, v, INSERT_VALUES));
    PetscCall(Expect("MatSetValuesCOO", A, round ? MAT_GPUCSR_STORAGE_DOUBLE : MAT_GPUCSR_STORAGE_SINGLE));
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The program changes a block of a parallel matrix, or multiplies by a block alone. The values must stay exact. */
static PetscErrorCode TestBlock(void)
{
  Mat          A, block;
  PetscMPIInt  rank, size;
  PetscScalar *v;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(Create(24, NULL, &A));
  Single("before", A);
  if (size == 1) block = A;
  else PetscCall(MatMPIAIJGetSeqAIJ(A, &block, NULL, NULL));
  if (rank == size - 1) {
    Vec x, y;

    PetscCall(MatSeqAIJGetArray(block, &v));
    v[0] = 0.1;
    PetscCall(MatSeqAIJRestoreArray(block, &v));
    PetscCall(MatCreateVecs(block, &x, &y));
    PetscCall(VecSet(x, 1));
    PetscCall(MatMult(block, x, y));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&y));
  }
  PetscCall(MatScale(A, 2));
  Double("a block", A);
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Matrices created from others inherit their storage. */
static PetscErrorCode TestDerived(void)
{
  Mat              A, B;
  IS               rows;
  MatGPUCSRStorage storage;
  PetscInt         start, end;

  PetscFunctionBeginUser;
  for (int kind = 0; kind < 5; kind++) {
    PetscCall(Create(20, "other_", &A)); /* the options set no storage for this prefix */
    PetscCall(MatGPUCSRGetStorage(A, &storage));
    PetscCheck(storage == MAT_GPUCSR_STORAGE_SINGLE, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "An unprefixed option applied to a matrix with a prefix");
    PetscCall(MatGPUCSRSetStorage(A, MAT_GPUCSR_STORAGE_DOUBLE));
    PetscCall(MatGetOwnershipRange(A, &start, &end));
    PetscCall(ISCreateStride(PETSC_COMM_WORLD, (end - start) / 2, start, 2, &rows));
    if (kind == 0) PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
    else if (kind == 1) PetscCall(MatTranspose(A, MAT_INITIAL_MATRIX, &B));
    else if (kind == 2) PetscCall(MatCreateSubMatrix(A, rows, rows, MAT_INITIAL_MATRIX, &B));
    else if (kind == 3) PetscCall(MatConvert(A, MATGPUCSR, MAT_INITIAL_MATRIX, &B));
    else {
      PetscCall(MatTranspose(A, MAT_INPLACE_MATRIX, &A));
      PetscCall(PetscObjectReference((PetscObject)A));
      B = A;
    }
    PetscCall(MatGPUCSRGetStorage(B, &storage));
    PetscCheck(storage == MAT_GPUCSR_STORAGE_DOUBLE, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Matrix %d does not have the storage of the matrix it was created from", kind);
    PetscCall(ISDestroy(&rows));
    PetscCall(MatDestroy(&A));
    PetscCall(MatDestroy(&B));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "derived matrices keep the storage\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Matrices with more values than are read before single precision is tried. One value, the first or the last, decides. */
static PetscErrorCode TestLarge(void)
{
  const PetscInt    n       = 210000;
  const PetscScalar value[] = {0.25, 0.1, 1e300, 1e-300};

  PetscFunctionBeginUser;
  for (int place = 0; place < 2; place++) {
    for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(value); k++) {
      const PetscInt at = place ? n - 1 : 0;
      PetscInt       start, end;
      Mat            A;

      PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
      PetscCall(MatSetSizes(A, PETSC_DECIDE, PETSC_DECIDE, n, n));
      PetscCall(MatSetType(A, MATGPUCSR));
      PetscCall(MatSetFromOptions(A));
      PetscCall(MatSeqAIJSetPreallocation(A, 1, NULL));
      PetscCall(MatMPIAIJSetPreallocation(A, 1, NULL, 0, NULL));
      PetscCall(MatGetOwnershipRange(A, &start, &end));
      for (PetscInt i = start; i < end; i++) PetscCall(MatSetValue(A, i, i, i == at ? value[k] : 0.5, INSERT_VALUES));
      PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
      PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
      PetscCall(Expect(place ? "large, last value" : "large, first value", A, k ? MAT_GPUCSR_STORAGE_DOUBLE : MAT_GPUCSR_STORAGE_SINGLE));
      PetscCall(MatScale(A, 0.3)); /* from single to double on one pattern */
      Double("large, scaled", A);
      PetscCall(MatDestroy(&A));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(TestRefill());
  PetscCall(TestUpdates());
  PetscCall(TestCOO());
  PetscCall(TestBlock());
  PetscCall(TestDerived());
  PetscCall(TestLarge());
  PetscCall(Create(10, NULL, &A));
  PetscCall(MatViewFromOptions(A, NULL, "-storage_view"));
  PetscCall(MatScale(A, 0.1));
  PetscCall(MatViewFromOptions(A, NULL, "-storage_view"));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   testset:
      args: -mat_gpucsr_storage auto -storage_view ::ascii_info
      filter: sed -n -e "/values.*auto/p" -e "/^[^ ]/{/^Mat Object/!p}"
      test:
         suffix: auto
         nsize: {{1 2 3}}
         args: -mat_gpucsr_transpose {{eager lazy}}
         output_file: output/storage_auto.out
      test:
         suffix: stream
         nsize: {{1 2}}
         args: -gpucsr_stream always -gpucsr_stream_chunk 16384 -gpucsr_stream_resident 0
         output_file: output/storage_auto.out

TEST*/
