static char help[] = "The device image of a MATGPUCSR: rounding errors and overflow of the conversion, refills and new uploads, information about the image.\n\n";

#include "gpucsr.h"
#include "gpucsrcompat.h"
#include "refused.h"
#include <math.h>

/* Creates a tridiagonal n x n matrix. */
static PetscErrorCode Create(PetscInt n, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_SELF, A));
  PetscCall(MatSetSizes(*A, n, n, n, n));
  PetscCall(MatSetType(*A, MATGPUCSR));
  PetscCall(MatSeqAIJSetPreallocation(*A, 3, NULL));
  for (PetscInt i = 0; i < n; i++) {
    for (PetscInt j = PetscMax(i - 1, 0); j <= PetscMin(i + 1, n - 1); j++) PetscCall(MatSetValue(*A, i, j, i == j ? 2 : -1 - 0.25 * (j > i), INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Set(Mat A, PetscInt i, PetscInt j, PetscScalar v)
{
  PetscFunctionBeginUser;
  PetscCall(MatSetValue(A, i, j, v, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rounding error of single storage is measured and located. Double storage has none. An overflow is an error and leaves the host's values
   unchanged. */
static PetscErrorCode TestConversion(void)
{
  Mat           A;
  Vec           x, y;
  MatGPUCSRInfo info;
  PetscScalar   v;
  PetscInt      i = 7, j = 6;

  PetscFunctionBeginUser;
  PetscCall(Create(10, &A));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecSet(x, 1));
  PetscCall(MatGPUCSRGetInfo(A, &info));
  PetscCheck(info.lossless && info.loss == 0 && info.loss_row == -1, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Multiples of 1/4 are exact, but a rounding error is reported");
  PetscCall(Set(A, 3, 4, 0.1));
  PetscCall(Set(A, 5, 5, 1.0 / 3));
  PetscCall(MatGPUCSRGetInfo(A, &info));
  PetscCheck(!info.lossless && info.loss_row == 5 && info.loss_column == 5 && PetscAbsReal(info.loss - PetscAbsReal(1.0 / 3 - (double)(float)(1.0 / 3)) * 3) < 1e-15, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "The rounding error is %g at %" PetscInt_FMT ",%" PetscInt_FMT, (double)info.loss, info.loss_row, info.loss_column);
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "rounding error measured and located\n"));
  PetscCall(Set(A, i, j, 1e300));
  Refused("-mat_gpucsr_storage single: the value 1e+300 in row 7, column 6 overflows single precision; use auto or double", MatMult(A, x, y));
  PetscCall(MatGetValues(A, 1, &i, 1, &j, &v));
  PetscCheck(v == 1e300, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The value on the host changed");
  PetscCall(MatGPUCSRSetStorage(A, MAT_GPUCSR_STORAGE_DOUBLE));
  PetscCall(MatMult(A, x, y));
  PetscCall(MatGPUCSRGetInfo(A, &info));
  PetscCheck(info.lossless && info.storage == MAT_GPUCSR_STORAGE_DOUBLE, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Double storage reports a rounding error or another storage");
  PetscCall(MatGPUCSRSetStorage(A, MAT_GPUCSR_STORAGE_SINGLE));
  Refused("row 7, column 6", MatMult(A, x, y));
  PetscCall(Set(A, i, j, -1e-60)); /* becomes zero: the relative rounding error is 1, but this is not an error */
  PetscCall(MatGPUCSRGetInfo(A, &info));
  PetscCheck(info.loss == 1 && info.loss_row == i && info.loss_column == j, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The relative rounding error of an underflow is %g", (double)info.loss);
  PetscCall(Set(A, i, j, INFINITY)); /* stays infinite, as in AIJ */
  PetscCall(MatMult(A, x, y));
  PetscCall(VecGetValues(y, 1, &i, &v));
  PetscCheck(isinf(v), PETSC_COMM_SELF, PETSC_ERR_PLIB, "Infinity became %g", (double)v);
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "infinity stays infinite\n"));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Row(Mat A, PetscBool transpose, PetscInt i, PetscScalar expected)
{
  Vec         x, y;
  PetscScalar v;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecSet(x, 1));
  PetscCall(transpose ? MatMultTranspose(A, x, y) : MatMult(A, x, y));
  PetscCall(VecGetValues(y, 1, &i, &v));
  PetscCheck(PetscAbsScalar(v - expected) < 1e-6, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Entry %" PetscInt_FMT " of the product is %g, not %g", i, (double)PetscRealPart(v), (double)PetscRealPart(expected));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Values change several times, then the pattern, then the kernel. Both products must use the new values. */
static PetscErrorCode TestRefresh(void)
{
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(Create(50, &A));
  for (int k = 1; k < 5; k++) {
    PetscCall(Set(A, 20, 21, k));
    PetscCall(Row(A, PETSC_FALSE, 20, 1 + k));
    PetscCall(Row(A, PETSC_TRUE, 21, 1 + k));
  }
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(Set(A, 20, 40, 100));
  PetscCall(Row(A, PETSC_FALSE, 20, 105));
  PetscCall(Row(A, PETSC_TRUE, 40, 100 + 2 - 1 - 1.25));
  PetscCall(MatGPUCSRSetKernel(A, "csrsplit"));
  PetscCall(Row(A, PETSC_FALSE, 20, 105));
  PetscCall(Row(A, PETSC_TRUE, 40, 100 + 2 - 1 - 1.25));
  PetscCall(MatGPUCSRSetKernel(A, "auto"));
  PetscCall(MatGPUCSRSetTranspose(A, MAT_GPUCSR_TRANSPOSE_LAZY));
  PetscCall(Set(A, 0, 0, 9));
  PetscCall(Row(A, PETSC_FALSE, 0, 9 - 1.25));
  PetscCall(Row(A, PETSC_TRUE, 0, 8));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "the image is updated\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestTranspose(void)
{
  Mat           A;
  MatGPUCSRInfo info;
  double        bytes;

  PetscFunctionBeginUser;
  PetscCall(Create(50, &A));
  PetscCall(MatGPUCSRGetInfo(A, &info));
  PetscCheck(info.kernel_transpose, PETSC_COMM_SELF, PETSC_ERR_PLIB, "An eager transpose was not built");
  bytes = info.bytes;
  PetscCall(MatDestroy(&A));
  PetscCall(Create(50, &A));
  PetscCall(MatGPUCSRSetTranspose(A, MAT_GPUCSR_TRANSPOSE_LAZY));
  PetscCall(MatGPUCSRGetInfo(A, &info));
  PetscCheck(!info.kernel_transpose && info.bytes * 2 == bytes, PETSC_COMM_SELF, PETSC_ERR_PLIB, "A lazy transpose was built before it is needed");
  PetscCall(Row(A, PETSC_TRUE, 1, 2 - 1 - 1.25));
  PetscCall(MatGPUCSRGetInfo(A, &info));
  PetscCheck(info.kernel_transpose, PETSC_COMM_SELF, PETSC_ERR_PLIB, "A lazy transpose was not kept");
  PetscCall(MatDestroy(&A));
  PetscCall(Create(50, &A));
  for (PetscInt i = 0; i < 49; i++) PetscCall(MatSetValue(A, i, i + 1, -1, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatSetOption(A, MAT_SYMMETRIC, PETSC_TRUE));
  PetscCall(Row(A, PETSC_TRUE, 0, 1));
  PetscCall(MatGPUCSRGetInfo(A, &info));
  PetscCheck(info.symmetric && !info.kernel_transpose, PETSC_COMM_SELF, PETSC_ERR_PLIB, "A transpose was built for a symmetric matrix");
  PetscCall(MatDestroy(&A));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "transpose eager, lazy, symmetric: right\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestRefusals(void)
{
  Mat           A, B;
  MatGPUCSRInfo info;

  PetscFunctionBeginUser;
  PetscCall(Create(5, &A));
  Refused("Unknown kernel nonsense; choose one of auto, csrscalar, csrvector2", MatGPUCSRSetKernel(A, "nonsense"));
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, 5, 5, 1, NULL, &B));
  Refused("Matrix of type seqaij is not a gpucsr matrix; use MatSetType(A, MATGPUCSR) or -mat_type gpucsr", MatGPUCSRGetInfo(B, &info));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(PetscGPUCSRInitialize()); /* a second call has no effect */
  PetscCall(TestConversion());
  PetscCall(TestRefresh());
  PetscCall(TestTranspose());
  PetscCall(TestRefusals());
  PetscCall(Create(4, &A));
  PetscCall(MatViewFromOptions(A, NULL, "-image_view"));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   testset:
      args: -image_view ::ascii_info
      filter: sed -e "s@: [0-9]* bytes on .*, converted in .* s@: BYTES on DEVICE, converted in TIME@" -e "s@kernel [a-z0-9]*, format [a-z]* (.*@kernel, format, (WHY)@" -e "/streamed from host memory/d" -e "/gpucsr: encoding:/d"
      output_file: output/image_1.out
      test:
         suffix: 1
      test:
         suffix: stream
         args: -gpucsr_stream always -gpucsr_stream_resident {{0 60}} -gpucsr_stream_chunk 40

TEST*/
