static char help[] = "Operations of MATAIJ on MATGPUCSR: the same operation on both types, then a comparison of entries and products.\n\n";

#include "gpucsr.h"
#include "gpucsrcompat.h"

static PetscErrorCode Create(MatType type, Mat *A)
{
  PetscInt start, end, n = 60;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, n, n));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, 9, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, 9, NULL, 9, NULL));
  PetscCall(MatGetOwnershipRange(*A, &start, &end));
  for (PetscInt i = start; i < end; i++) {
    for (PetscInt d = -2; d <= 2; d++) {
      const PetscInt j = (i + d * d * d + n) % n;

      PetscCall(MatSetValue(*A, i, j, d ? -0.25 * d : 8 + (i % 4), ADD_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscReal Tolerance = 1e-13; /* relative tolerance for products; larger with single storage, which rounds values */

/* Compares the entries by the norm of the difference, and the products MatMult() and MatMultTranspose() of a fixed vector. */
static PetscErrorCode Same(const char what[], Mat A, Mat G)
{
  Vec       x, y, z;
  PetscReal scale, error;
  Mat       D;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(VecSet(x, 1));
  PetscCall(VecSetValue(x, 0, 3, INSERT_VALUES));
  PetscCall(VecAssemblyBegin(x));
  PetscCall(VecAssemblyEnd(x));
  for (int t = 0; t < 2; t++) {
    PetscCall(t ? MatMultTranspose(A, x, y) : MatMult(A, x, y));
    PetscCall(t ? MatMultTranspose(G, x, z) : MatMult(G, x, z));
    PetscCall(VecNorm(y, NORM_INFINITY, &scale));
    PetscCall(VecAXPY(z, -1, y));
    PetscCall(VecNorm(z, NORM_INFINITY, &error));
    PetscCheck(error <= Tolerance * (1 + scale), PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: %s differs by %g of %g", what, t ? "MatMultTranspose" : "MatMult", (double)error, (double)scale);
  }
  PetscCall(MatConvert(G, MATAIJ, MAT_INITIAL_MATRIX, &D));
  PetscCall(MatAXPY(D, -1, A, DIFFERENT_NONZERO_PATTERN));
  PetscCall(MatNorm(D, NORM_FROBENIUS, &error));
  PetscCheck(error <= 1e-12, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: entries differ by %g", what, (double)error);
  PetscCall(MatDestroy(&D));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: same\n", what));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode IsOurs(const char what[], Mat G)
{
  PetscBool is;
  MatType   type;

  PetscFunctionBeginUser;
  PetscCall(MatGetType(G, &type));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)G, &is, MATSEQAIJGPUCSR, MATMPIAIJGPUCSR, ""));
  PetscCheck(is, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s created a matrix of type %s", what, type);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Operations that change the values in place. The device image must be updated. */
static PetscErrorCode TestValues(Mat A, Mat G)
{
  Vec      left, right;
  PetscInt row = 5, column = 6;
  Mat      pair[2] = {A, G};

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &right, &left));
  PetscCall(VecSet(right, 0.5));
  PetscCall(VecSet(left, 2));
  PetscCall(VecSetValue(left, 3, 4, INSERT_VALUES));
  PetscCall(VecAssemblyBegin(left));
  PetscCall(VecAssemblyEnd(left));
  for (int k = 0; k < 2; k++) PetscCall(MatScale(pair[k], 0.5));
  PetscCall(Same("MatScale", A, G));
  for (int k = 0; k < 2; k++) PetscCall(MatDiagonalScale(pair[k], left, right));
  PetscCall(Same("MatDiagonalScale", A, G));
  for (int k = 0; k < 2; k++) PetscCall(MatShift(pair[k], 1.5));
  PetscCall(Same("MatShift", A, G));
  for (int k = 0; k < 2; k++) PetscCall(MatDiagonalSet(pair[k], left, ADD_VALUES));
  PetscCall(Same("MatDiagonalSet", A, G));
  for (int k = 0; k < 2; k++) {
    PetscCall(MatSetValue(pair[k], row, column, -3, INSERT_VALUES));
    PetscCall(MatAssemblyBegin(pair[k], MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(pair[k], MAT_FINAL_ASSEMBLY));
  }
  PetscCall(Same("MatSetValue", A, G));
  for (int k = 0; k < 2; k++) PetscCall(MatZeroRows(pair[k], 1, &row, 2, NULL, NULL));
  PetscCall(Same("MatZeroRows", A, G));
  for (int k = 0; k < 2; k++) {
    PetscCall(MatSetOption(pair[k], MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
    PetscCall(MatSetOption(pair[k], MAT_NEW_NONZERO_LOCATIONS, PETSC_TRUE));
    PetscCall(MatSetValue(pair[k], 2, 40, 7, INSERT_VALUES));
    PetscCall(MatAssemblyBegin(pair[k], MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(pair[k], MAT_FINAL_ASSEMBLY));
  }
  PetscCall(Same("A new nonzero", A, G));
  PetscCall(VecDestroy(&left));
  PetscCall(VecDestroy(&right));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestPairs(Mat A, Mat G)
{
  Mat B, H, C, K;

  PetscFunctionBeginUser;
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  PetscCall(MatDuplicate(G, MAT_COPY_VALUES, &H));
  PetscCall(IsOurs("MatDuplicate", H));
  PetscCall(Same("MatDuplicate", B, H));
  PetscCall(MatScale(B, 3));
  PetscCall(MatScale(H, 3));
  PetscCall(MatAXPY(B, 2, A, SAME_NONZERO_PATTERN));
  PetscCall(MatAXPY(H, 2, G, SAME_NONZERO_PATTERN));
  PetscCall(Same("MatAXPY on one pattern", B, H));
  PetscCall(MatTranspose(A, MAT_INITIAL_MATRIX, &C));
  PetscCall(MatTranspose(G, MAT_INITIAL_MATRIX, &K));
  PetscCall(IsOurs("MatTranspose", K));
  PetscCall(Same("MatTranspose", C, K));
  PetscCall(MatAXPY(B, -1, C, DIFFERENT_NONZERO_PATTERN));
  PetscCall(MatAXPY(H, -1, K, DIFFERENT_NONZERO_PATTERN));
  PetscCall(Same("MatAXPY on two patterns", B, H));
  PetscCall(MatTranspose(C, MAT_INPLACE_MATRIX, &C));
  PetscCall(MatTranspose(K, MAT_INPLACE_MATRIX, &K));
  PetscCall(Same("MatTranspose in place", C, K));
  PetscCall(MatCopy(B, C, DIFFERENT_NONZERO_PATTERN));
  PetscCall(MatCopy(H, K, DIFFERENT_NONZERO_PATTERN));
  PetscCall(Same("MatCopy", C, K));
  PetscCall(MatZeroEntries(B));
  PetscCall(MatZeroEntries(H));
  PetscCall(Same("MatZeroEntries", B, H));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&H));
  PetscCall(MatDestroy(&C));
  PetscCall(MatDestroy(&K));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestConvert(Mat A, Mat G)
{
  Mat B, C, D;

  PetscFunctionBeginUser;
  PetscCall(MatConvert(A, MATGPUCSR, MAT_INITIAL_MATRIX, &B));
  PetscCall(IsOurs("MatConvert", B));
  PetscCall(Same("MatConvert from aij", A, B));
  PetscCall(MatScale(A, 2));
  PetscCall(MatConvert(A, MATGPUCSR, MAT_REUSE_MATRIX, &B));
  PetscCall(Same("MatConvert into an old one", A, B));
  PetscCall(MatConvert(B, MATAIJ, MAT_INPLACE_MATRIX, &B));
  PetscCall(Same("MatConvert in place to aij", A, B));
  PetscCall(MatConvert(B, MATGPUCSR, MAT_INPLACE_MATRIX, &B));
  PetscCall(IsOurs("MatConvert in place", B));
  PetscCall(Same("MatConvert in place from aij", A, B));
  PetscCall(MatScale(A, 0.5));
  PetscCall(MatConvert(G, MATDENSE, MAT_INITIAL_MATRIX, &C));
  PetscCall(Same("MatConvert to dense", A, C));
  PetscCall(MatConvert(G, MATBAIJ, MAT_INITIAL_MATRIX, &D));
  PetscCall(Same("MatConvert to baij", A, D));
  PetscCall(MatDestroy(&D));
  PetscCall(MatConvert(C, MATGPUCSR, MAT_INITIAL_MATRIX, &D));
  PetscCall(IsOurs("MatConvert from dense", D));
  PetscCall(Same("MatConvert from dense", A, D));
  PetscCall(MatConvert(C, MATGPUCSR, MAT_REUSE_MATRIX, &D));
  PetscCall(Same("MatConvert from dense into an old one", A, D));
  PetscCall(MatConvert(C, MATAIJGPUCSR, MAT_INPLACE_MATRIX, &C));
  PetscCall(IsOurs("MatConvert in place from dense", C));
  PetscCall(Same("MatConvert in place from dense", A, C));
  PetscCall(MatScale(B, 0.5));
  PetscCall(MatConvert(B, MATDENSE, MAT_INPLACE_MATRIX, &B));
  PetscCall(Same("MatConvert in place to dense", A, B));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&C));
  PetscCall(MatDestroy(&D));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestFile(Mat A, Mat G)
{
  PetscViewer viewer;
  Mat         B;
  char        name[PETSC_MAX_PATH_LEN];

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(name, sizeof(name), "ops_matrix.bin"));
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, name, FILE_MODE_WRITE, &viewer));
  PetscCall(MatView(G, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(MatCreate(PETSC_COMM_WORLD, &B));
  PetscCall(MatSetType(B, MATGPUCSR));
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, name, FILE_MODE_READ, &viewer));
  PetscCall(MatLoad(B, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(IsOurs("MatLoad", B));
  PetscCall(Same("MatView and MatLoad", A, B));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PreallocateCOO(Mat A, PetscInt first)
{
  PetscInt    i[] = {first, 5, 5, 17, 0, 58}, j[] = {3, 5, 20, 0, 3, 59}; /* not const, since PETSc may change them */
  PetscMPIInt rank;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(MatSetPreallocationCOO(A, rank ? 0 : 6, i, j));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestCOO(void)
{
  Mat         pair[2];
  PetscScalar v[] = {1, 2, 3, 4, 5, 6};

  PetscFunctionBeginUser;
  for (int k = 0; k < 2; k++) {
    PetscCall(MatCreate(PETSC_COMM_WORLD, &pair[k]));
    PetscCall(MatSetSizes(pair[k], PETSC_DECIDE, PETSC_DECIDE, 60, 60));
    PetscCall(MatSetType(pair[k], k ? MATGPUCSR : MATAIJ));
    PetscCall(PreallocateCOO(pair[k], 0));
    PetscCall(MatSetValuesCOO(pair[k], v, INSERT_VALUES));
  }
  PetscCall(Same("MatSetValuesCOO", pair[0], pair[1]));
  v[2] = -7;
  for (int k = 0; k < 2; k++) PetscCall(MatSetValuesCOO(pair[k], v, ADD_VALUES));
  PetscCall(Same("MatSetValuesCOO again", pair[0], pair[1]));
  for (int k = 0; k < 2; k++) {
    PetscCall(PreallocateCOO(pair[k], 30));
    PetscCall(MatSetValuesCOO(pair[k], v, INSERT_VALUES));
  }
  PetscCall(Same("MatSetPreallocationCOO again", pair[0], pair[1]));
  PetscCall(MatDestroy(&pair[0]));
  PetscCall(MatDestroy(&pair[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestProducts(Mat A, Mat G)
{
  Mat D, P, Q, R, S;

  PetscFunctionBeginUser;
  PetscCall(MatConvert(A, MATDENSE, MAT_INITIAL_MATRIX, &D));
  PetscCall(MatMatMult(A, A, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &P));
  PetscCall(MatMatMult(G, G, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &Q));
  PetscCall(IsOurs("MatMatMult", Q));
  PetscCall(Same("MatMatMult", P, Q));
  PetscCall(MatScale(A, 2));
  PetscCall(MatScale(G, 2));
  PetscCall(MatMatMult(A, A, MAT_REUSE_MATRIX, PETSC_DEFAULT, &P));
  PetscCall(MatMatMult(G, G, MAT_REUSE_MATRIX, PETSC_DEFAULT, &Q));
  PetscCall(Same("MatMatMult again", P, Q));
  PetscCall(MatScale(A, 0.5));
  PetscCall(MatScale(G, 0.5));
  PetscCall(MatPtAP(A, P, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &R));
  PetscCall(MatPtAP(G, Q, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &S));
  PetscCall(Same("MatPtAP", R, S));
  PetscCall(MatDestroy(&R));
  PetscCall(MatDestroy(&S));
  PetscCall(MatTransposeMatMult(A, P, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &R));
  PetscCall(MatTransposeMatMult(G, Q, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &S));
  PetscCall(Same("MatTransposeMatMult", R, S));
  PetscCall(MatDestroy(&P));
  PetscCall(MatDestroy(&Q));
  PetscCall(MatDestroy(&R));
  PetscCall(MatDestroy(&S));
  PetscCall(MatMatMult(A, D, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &P));
  PetscCall(MatMatMult(G, D, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &Q));
  PetscCall(Same("MatMatMult with dense", P, Q));
  PetscCall(MatTransposeMatMult(A, D, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &R));
  PetscCall(MatTransposeMatMult(G, D, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &S));
  PetscCall(Same("MatTransposeMatMult with dense", R, S));
  PetscCall(MatDestroy(&P));
  PetscCall(MatDestroy(&Q));
  PetscCall(MatDestroy(&R));
  PetscCall(MatDestroy(&S));
  PetscCall(MatDestroy(&D));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solve(const char what[], Mat A, Mat G, MatFactorType type)
{
  Mat           pair[2] = {A, G}, F;
  Vec           b, x[2];
  IS            rows, columns;
  MatFactorInfo info;
  PetscReal     error;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &b, NULL));
  PetscCall(VecSet(b, 1));
  for (int k = 0; k < 2; k++) {
    PetscCall(VecDuplicate(b, &x[k]));
    PetscCall(MatGetOrdering(pair[k], MATORDERINGNATURAL, &rows, &columns));
    PetscCall(MatGetFactor(pair[k], MATSOLVERPETSC, type, &F));
    PetscCall(MatFactorInfoInitialize(&info));
    info.fill = 2;
    if (type == MAT_FACTOR_ILU) PetscCall(MatILUFactorSymbolic(F, pair[k], rows, columns, &info));
    else PetscCall(MatLUFactorSymbolic(F, pair[k], rows, columns, &info));
    PetscCall(MatLUFactorNumeric(F, pair[k], &info));
    PetscCall(MatSolve(F, b, x[k]));
    PetscCall(MatDestroy(&F));
    PetscCall(ISDestroy(&rows));
    PetscCall(ISDestroy(&columns));
  }
  PetscCall(VecAXPY(x[0], -1, x[1]));
  PetscCall(VecNorm(x[0], NORM_INFINITY, &error));
  PetscCheck(error == 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: solutions differ by %g", what, (double)error);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: same\n", what));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x[0]));
  PetscCall(VecDestroy(&x[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A matrix that was factored in place becomes a plain AIJ matrix. */
static PetscErrorCode FactorInPlace(Mat G)
{
  Mat           F;
  IS            rows, columns;
  MatFactorInfo info;

  PetscFunctionBeginUser;
  PetscCall(MatDuplicate(G, MAT_COPY_VALUES, &F));
  PetscCall(MatGetOrdering(F, MATORDERINGNATURAL, &rows, &columns));
  PetscCall(MatFactorInfoInitialize(&info));
  info.fill = 2;
  PetscCall(MatLUFactor(F, rows, columns, &info));
  PetscCall(MatViewFromOptions(F, NULL, "-factor_view"));
  PetscCall(MatDestroy(&F));
  PetscCall(ISDestroy(&rows));
  PetscCall(ISDestroy(&columns));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Mat         A, G;
  PetscMPIInt size;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-tolerance", &Tolerance, NULL));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(Create(MATAIJ, &A));
  PetscCall(Create(MATGPUCSR, &G));
  PetscCall(Same("assembly", A, G));
  PetscCall(TestPairs(A, G));
  PetscCall(TestConvert(A, G));
  PetscCall(TestFile(A, G));
  PetscCall(TestCOO());
  PetscCall(TestProducts(A, G));
  if (size == 1) {
    PetscCall(Solve("LU", A, G, MAT_FACTOR_LU));
    PetscCall(Solve("ILU", A, G, MAT_FACTOR_ILU));
    PetscCall(FactorInPlace(G));
  }
  PetscCall(TestValues(A, G));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&G));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   testset:
      filter: grep -v -e "^LU" -e "^ILU" -e "^  " -e "^Mat Object"
      output_file: output/ops.out
      test:
         suffix: 1
         args: -mat_gpucsr_storage double -factor_view ::ascii_info
      test:
         suffix: 2
         nsize: 2
         args: -mat_gpucsr_storage double
      test:
         suffix: 3
         nsize: 3
         args: -mat_gpucsr_storage double
      test:
         suffix: stream
         nsize: {{1 2 4}}
         args: -mat_gpucsr_storage double -gpucsr_stream always -gpucsr_stream_chunk 16384 -gpucsr_stream_resident 20000
      test:
         suffix: seqaij
         nsize: {{1 2}}
         args: -mat_gpucsr_storage double -mat_seqaij_type seqaijgpucsr
      test:
         suffix: single
         args: -mat_gpucsr_storage single -tolerance 1e-7

TEST*/
