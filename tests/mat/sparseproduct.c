static char help[] = "Sparse products of MATGPUCSR agree with those of MATAIJ: patterns, values, new values, and operations on the results.\n\n";

#include "gpucsr.h"
#include "gpucsrcompat.h"
#include "refused.h"

static PetscBool onhost; /* options select the host */

/* m x n, with about `each` entries in a row and no zero on the diagonal.  Every ninth row is empty if `holes` is set. */
static PetscErrorCode Create(PetscInt m, PetscInt n, PetscInt each, PetscBool holes, Mat pair[2])
{
  PetscFunctionBeginUser;
  for (int k = 0; k < 2; k++) {
    PetscInt start, end;

    PetscCall(MatCreate(PETSC_COMM_WORLD, &pair[k]));
    PetscCall(MatSetSizes(pair[k], PETSC_DECIDE, PETSC_DECIDE, m, n));
    PetscCall(MatSetType(pair[k], k ? MATGPUCSR : MATAIJ));
    if (k) PetscCall(MatSetFromOptions(pair[k]));
    PetscCall(MatSeqAIJSetPreallocation(pair[k], each + 1, NULL));
    PetscCall(MatMPIAIJSetPreallocation(pair[k], each + 1, NULL, each + 1, NULL));
    PetscCall(MatGetOwnershipRange(pair[k], &start, &end));
    for (PetscInt i = start; i < end; i++) {
      if (holes && i % 9 == 4) continue;
      if (i < n) PetscCall(MatSetValue(pair[k], i, i, 3 + i % 5, INSERT_VALUES));
      for (PetscInt e = 0; e < each; e++) PetscCall(MatSetValue(pair[k], i, (i * (e + 3) + 7 * e * e) % n, e % 4 == 1 ? 0 : 0.1 * (e + 1) - 1 / (1. + i), INSERT_VALUES));
    }
    PetscCall(MatAssemblyBegin(pair[k], MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(pair[k], MAT_FINAL_ASSEMBLY));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DestroyPair(Mat pair[2])
{
  PetscFunctionBeginUser;
  for (int k = 0; k < 2; k++) PetscCall(MatDestroy(&pair[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares the rows of both matrices exactly in the pattern.  A sum of the sizes of these tests is accurate to `tolerance` of the largest value of the matrix. */
static PetscErrorCode Compare(const char what[], const Mat pair[2])
{
  PetscInt  start, end;
  PetscReal norm;

  PetscFunctionBeginUser;
  PetscCall(MatNorm(pair[0], NORM_INFINITY, &norm));
  PetscCall(MatGetOwnershipRange(pair[0], &start, &end));
  for (PetscInt i = start; i < end; i++) {
    const PetscInt    *col[2];
    const PetscScalar *val[2];
    PetscInt           n[2];

    for (int k = 0; k < 2; k++) PetscCall(MatGetRow(pair[k], i, &n[k], &col[k], &val[k]));
    PetscCheck(n[0] == n[1], PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: row %" PetscInt_FMT " has %" PetscInt_FMT " nonzeros, not %" PetscInt_FMT, what, i, n[1], n[0]);
    for (PetscInt e = 0; e < n[0]; e++) {
      PetscCheck(col[0][e] == col[1][e], PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: row %" PetscInt_FMT " has an entry in column %" PetscInt_FMT ", not %" PetscInt_FMT, what, i, col[1][e], col[0][e]);
      PetscCheck(PetscAbsScalar(val[0][e] - val[1][e]) <= 1e-14 * norm, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: (%" PetscInt_FMT ", %" PetscInt_FMT ") is %.17g, not %.17g", what, i, col[0][e], (double)val[1][e], (double)val[0][e]);
    }
    for (int k = 0; k < 2; k++) PetscCall(MatRestoreRow(pair[k], i, &n[k], &col[k], &val[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares MatMult(), which uses the device image of the second matrix. */
static PetscErrorCode CompareMult(const char what[], const Mat pair[2])
{
  Vec       x, y, z;
  PetscReal norm, error;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(pair[0], &x, &y));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(VecSet(x, 1));
  PetscCall(MatMult(pair[0], x, y));
  PetscCall(MatMult(pair[1], x, z));
  PetscCall(VecNorm(y, NORM_INFINITY, &norm));
  PetscCall(VecAXPY(z, -1, y));
  PetscCall(VecNorm(z, NORM_INFINITY, &error));
  PetscCheck(error <= 1e-5 * norm, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: MatMult() differs by %g of %g", what, (double)error, (double)norm);
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Changes values in a way that differs from row to row.  The pattern stays. */
static PetscErrorCode ChangeValues(Mat pair[2], PetscReal by)
{
  PetscFunctionBeginUser;
  for (int k = 0; k < 2; k++) {
    PetscInt start, end;

    PetscCall(MatGetOwnershipRange(pair[k], &start, &end));
    for (PetscInt i = start; i < end; i++) {
      PetscInt        n, *own;
      const PetscInt *col;

      PetscCall(MatGetRow(pair[k], i, &n, &col, NULL));
      PetscCall(PetscMalloc1(n, &own));
      PetscCall(PetscArraycpy(own, col, n));
      PetscCall(MatRestoreRow(pair[k], i, &n, &col, NULL));
      for (PetscInt e = 0; e < n; e++) PetscCall(MatSetValue(pair[k], i, own[e], by * (1 + e) - 0.3 * (i % 11), INSERT_VALUES));
      PetscCall(PetscFree(own));
    }
    PetscCall(MatAssemblyBegin(pair[k], MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(pair[k], MAT_FINAL_ASSEMBLY));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Call(MatProductType type, Mat A, Mat B, MatReuse reuse, Mat *C)
{
  PetscFunctionBeginUser;
  if (type == MATPRODUCT_AB) PetscCall(MatMatMult(A, B, reuse, PETSC_DEFAULT, C));
  else if (type == MATPRODUCT_AtB) PetscCall(MatTransposeMatMult(A, B, reuse, PETSC_DEFAULT, C));
  else if (type == MATPRODUCT_ABt) PetscCall(MatMatTransposeMult(A, B, reuse, PETSC_DEFAULT, C));
  else if (type == MATPRODUCT_PtAP) PetscCall(MatPtAP(A, B, reuse, PETSC_DEFAULT, C));
  else PetscCall(MatRARt(A, B, reuse, PETSC_DEFAULT, C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One product: new values of each operand, of the result, and of the operands again. */
static PetscErrorCode Sequence(const char what[], MatProductType type, Mat A[2], Mat B[2], PetscBool mult)
{
  Mat       C[2], D;
  PetscBool gpucsr;

  PetscFunctionBeginUser;
  if (mult) PetscCall(CompareMult(what, A)); /* creates an image */
  for (int k = 0; k < 2; k++) PetscCall(Call(type, A[k], B[k], MAT_INITIAL_MATRIX, &C[k]));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)C[1], &gpucsr, MATSEQAIJGPUCSR, MATMPIAIJGPUCSR, ""));
  PetscCheck(gpucsr, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: the type of the result is another one", what);
  PetscCall(Compare(what, C));
  for (int round = 0; round < 5; round++) {
    if (round % 2 == 0) PetscCall(ChangeValues(A, 0.7 + round));
    if (round > 0 && A != B) PetscCall(ChangeValues(B, 0.2 - round));
    for (int k = 0; k < 2; k++) PetscCall(Call(type, A[k], B[k], MAT_REUSE_MATRIX, &C[k]));
    PetscCall(Compare(what, C));
    if (round > 0) PetscCall(CompareMult(what, C)); /* the image exists from the second time */
    if (round == 3) {                               /* the image must not be taken for current */
      for (int k = 0; k < 2; k++) PetscCall(MatScale(C[k], 3));
      PetscCall(CompareMult(what, C));
      PetscCall(ChangeValues(C, 5));
      PetscCall(CompareMult(what, C));
    }
  }
  for (int k = 0; k < 2; k++) PetscCall(MatProductNumeric(C[k]));
  PetscCall(Compare(what, C));
  for (int k = 0; k < 2; k++) PetscCall(MatScale(C[k], 3)); /* directly after a numeric phase: the image must not be taken for one of the scaled matrix */
  PetscCall(CompareMult(what, C));
  PetscCall(MatDuplicate(C[1], MAT_COPY_VALUES, &D));
  PetscCall(MatProductClear(C[1]));
  PetscCall(CompareMult(what, C));
  PetscCall(MatDestroy(&C[1]));
  C[1] = D;
  PetscCall(CompareMult(what, C));
  PetscCall(DestroyPair(C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An event of -log_view tells where a product is computed. */
static PetscErrorCode CheckPlace(Mat A)
{
  PetscMPIInt        size;
  PetscLogEvent      event;
  PetscEventPerfInfo before, after;
  Mat                C;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(PetscLogDefaultBegin());
  PetscCall(PetscLogEventGetId("GPUCSRSparse", &event));
  PetscCall(PetscLogEventGetPerfInfo(PETSC_DETERMINE, event, &before));
  PetscCall(MatMatMult(A, A, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
  PetscCall(PetscLogEventGetPerfInfo(PETSC_DETERMINE, event, &after));
  PetscCheck((after.count > before.count) == !onhost, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "A product is computed on the wrong side");
  PetscCall(MatDestroy(&C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The operands get more nonzeros after the symbolic phase, or are replaced. */
static PetscErrorCode ChangePattern(void)
{
  Mat         A[2], B[2], C[2], other[2];
  PetscMPIInt size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(Create(50, 50, 4, PETSC_FALSE, A));
  PetscCall(Create(50, 50, 4, PETSC_FALSE, other));
  PetscCall(Create(50, 30, 0, PETSC_TRUE, B));
  PetscCall(ChangeValues(other, 0.4));
  for (int k = 0; k < 2; k++) PetscCall(MatMatMult(A[k], B[k], MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C[k]));
  for (int k = 0; k < 2; k++) {
    PetscCall(MatProductReplaceMats(other[k], NULL, NULL, C[k]));
    PetscCall(MatProductNumeric(C[k]));
  }
  PetscCall(Compare("replaced operand", C));
  PetscCall(MatConvert(other[1], size > 1 ? MATMPIAIJ : MATSEQAIJ, MAT_INPLACE_MATRIX, &other[1]));
  PetscCall(ChangeValues(other, 0.9));
  for (int k = 0; k < 2; k++) PetscCall(MatProductNumeric(C[k]));
  PetscCall(Compare("converted operand", C));
  PetscCall(MatConvert(C[1], size > 1 ? MATMPIAIJ : MATSEQAIJ, MAT_INPLACE_MATRIX, &C[1]));
  PetscCall(ChangeValues(B, 1.9));
  for (int k = 0; k < 2; k++) PetscCall(MatProductNumeric(C[k]));
  PetscCall(Compare("converted result", C));
  if (size > 1) PetscCall(MatConvert(other[1], MATMPIAIJGPUCSR, MAT_INPLACE_MATRIX, &other[1])); /* a plain operand cannot get another pattern */
  if (!onhost) {
    PetscCall(MatSetOption(other[1], MAT_NEW_NONZERO_LOCATION_ERR, PETSC_FALSE));
    PetscCall(MatSetValue(other[1], 2, 44, 1, INSERT_VALUES)); /* row 44 of B is not empty: it has no entry, because B has 30 columns */
    PetscCall(MatAssemblyBegin(other[1], MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(other[1], MAT_FINAL_ASSEMBLY));
    PetscCall(MatProductNumeric(C[1]));
    PetscCall(Compare("new entry without products", C));
    PetscCall(MatSetOption(other[1], MAT_NEW_NONZERO_LOCATION_ERR, PETSC_FALSE));
    PetscCall(MatSetValue(other[1], 2, 20, 1, INSERT_VALUES));
    PetscCall(MatAssemblyBegin(other[1], MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(other[1], MAT_FINAL_ASSEMBLY));
    for (int k = 0; k < 2; k++) Refused("create the product again", MatProductNumeric(C[1]));
  }
  PetscCall(DestroyPair(A));
  PetscCall(DestroyPair(B));
  PetscCall(DestroyPair(C));
  PetscCall(DestroyPair(other));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A B C, with new values of each operand */
static PetscErrorCode MultiplyThree(Mat A[2], Mat B[2])
{
  Mat C[2], D[2];

  PetscFunctionBeginUser;
  PetscCall(Create(70, 40, 3, PETSC_FALSE, C));
  for (int k = 0; k < 2; k++) PetscCall(MatMatMatMult(A[k], B[k], C[k], MAT_INITIAL_MATRIX, PETSC_DEFAULT, &D[k]));
  PetscCall(Compare("A B C", D));
  for (int round = 0; round < 4; round++) {
    PetscCall(ChangeValues(round == 0 ? A : round == 1 ? B : C, 0.4 + round));
    for (int k = 0; k < 2; k++) PetscCall(MatMatMatMult(A[k], B[k], C[k], MAT_REUSE_MATRIX, PETSC_DEFAULT, &D[k]));
    PetscCall(Compare("A B C", D));
    PetscCall(CompareMult("A B C", D));
  }
  PetscCall(DestroyPair(C));
  PetscCall(DestroyPair(D));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* With 4 processes, at least one has no rows and no columns. */
static PetscErrorCode MultiplyFew(void)
{
  Mat A[2], B[2], P[2];

  PetscFunctionBeginUser;
  PetscCall(Create(3, 3, 2, PETSC_FALSE, A));
  PetscCall(Create(3, 200, 3, PETSC_FALSE, B));
  PetscCall(Create(3, 1, 1, PETSC_FALSE, P));
  PetscCall(Sequence("3 x 3: A A", MATPRODUCT_AB, A, A, PETSC_TRUE));
  PetscCall(Sequence("3 x 200: A B", MATPRODUCT_AB, A, B, PETSC_FALSE));
  PetscCall(Sequence("200 x 200: B' B", MATPRODUCT_AtB, B, B, PETSC_FALSE));
  PetscCall(Sequence("1 x 1: P' A P", MATPRODUCT_PtAP, A, P, PETSC_FALSE));
  PetscCall(Sequence("200 x 200: B' A B", MATPRODUCT_PtAP, A, B, PETSC_FALSE));
  PetscCall(DestroyPair(A));
  PetscCall(DestroyPair(B));
  PetscCall(DestroyPair(P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Mat         A[2], B[2], P[2], R[2];
  PetscMPIInt size;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-onhost", &onhost, NULL));
  PetscCall(Create(90, 90, 6, PETSC_FALSE, A));
  PetscCall(Create(90, 70, 5, PETSC_TRUE, B));
  PetscCall(Create(90, 25, 1, PETSC_FALSE, P));
  PetscCall(Create(30, 90, 2, PETSC_FALSE, R));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(CheckPlace(A[1]));
  for (int mult = 0; mult < 2; mult++) {
    PetscCall(Sequence("A A", MATPRODUCT_AB, A, A, (PetscBool)mult));
    PetscCall(Sequence("A B", MATPRODUCT_AB, A, B, (PetscBool)mult));
    PetscCall(Sequence("A' B", MATPRODUCT_AtB, A, B, (PetscBool)mult));
    PetscCall(Sequence("B' B", MATPRODUCT_AtB, B, B, (PetscBool)mult));
    if (size == 1) { /* PETSc's MPIAIJ has no such products */
      PetscCall(Sequence("A A'", MATPRODUCT_ABt, A, A, (PetscBool)mult));
      PetscCall(Sequence("R A'", MATPRODUCT_ABt, R, A, (PetscBool)mult));
      PetscCall(Sequence("R A R'", MATPRODUCT_RARt, A, R, (PetscBool)mult));
      PetscCall(MultiplyThree(A, B));
    }
    PetscCall(Sequence("P' A P", MATPRODUCT_PtAP, A, P, (PetscBool)mult));
    PetscCall(Sequence("A' A A", MATPRODUCT_PtAP, A, A, (PetscBool)mult));
  }
  PetscCall(DestroyPair(A));
  PetscCall(DestroyPair(B));
  PetscCall(DestroyPair(P));
  PetscCall(DestroyPair(R));
  PetscCall(MultiplyFew());
  PetscCall(ChangePattern());
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "all products agree\n"));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    output_file: output/sparseproduct_all.out
    filter: grep -v refused
    test:
      suffix: single
      args: -mat_gpucsr_storage single -gpucsr_notice 0
    test:
      suffix: double
      args: -mat_gpucsr_storage {{double auto}} -mat_gpucsr_vec_type gpu -vec_gpu_separate
    test:
      suffix: transpose
      args: -mat_gpucsr_storage double -mat_gpucsr_transpose lazy
    test:
      suffix: host
      args: -onhost -matmatmult_backend_cpu -mattransposematmult_backend_cpu -matmattransmult_backend_cpu -matptap_backend_cpu -matrart_backend_cpu -matmatmatmult_backend_cpu -gpucsr_notice 0
    test:
      suffix: via
      args: -onhost -matmatmult_via sorted -mattransposematmult_via outerproduct -matmattransmult_via default -matptap_via scalable -matrart_via r*a*rt -gpucsr_notice 0
    test:
      suffix: stream
      args: -onhost -mat_gpucsr_stream always -mat_gpucsr_storage double
    test:
      suffix: ranks
      nsize: {{2 4}}
      args: -mat_gpucsr_storage {{single double}} -gpucsr_notice 0
    test:
      suffix: ranks_host
      nsize: 2
      args: -onhost -matmatmult_backend_cpu -mattransposematmult_backend_cpu -matptap_backend_cpu -mat_gpucsr_storage double

TEST*/
