static char help[] = "MatGPUCSRGetDeviceCSR(): the compressed rows in device memory, with values in double precision.\n\n";

#include "gpucsr.h"
#include "gpucsrcompat.h"
#include "gpucsrdevice.h"

/* A matrix with 1, 2, 3, 1, ... nonzeros a row, most of which single precision rounds */
static PetscErrorCode Create(PetscInt n, Mat *A)
{
  PetscInt first, end;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, n, n));
  PetscCall(MatSetType(*A, MATGPUCSR));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSetUp(*A));
  PetscCall(MatGetOwnershipRange(*A, &first, &end));
  for (PetscInt i = first; i < end; i++) {
    for (PetscInt k = 0; k <= i % 3; k++) PetscCall(MatSetValue(*A, i, (i + 5 * k) % n, 1.0 / (PetscReal)(3 + i + k), INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares device arrays with a sequential matrix. */
static PetscErrorCode Compare(const char *what, Mat A, const int32_t *rowptr, const int32_t *col, const PetscScalar *val)
{
  GpDev        dev;
  PetscInt     m;
  int32_t     *i, *j, nnz;
  PetscScalar *v;

  PetscFunctionBeginUser;
  PetscCall(PetscGPUCSRGetDevice(&dev));
  PetscCall(MatGetSize(A, &m, NULL));
  PetscCall(PetscMalloc1(m + 1, &i));
  PetscCall(PetscGPUCSRDeviceCopyOut(dev, i, rowptr, sizeof(*i) * (size_t)(m + 1)));
  PetscCall(PetscGPUCSRDeviceSynchronize(dev));
  nnz = i[m];
  PetscCall(PetscMalloc2(nnz, &j, nnz, &v));
  PetscCall(PetscGPUCSRDeviceCopyOut(dev, j, col, sizeof(*j) * (size_t)nnz));
  PetscCall(PetscGPUCSRDeviceCopyOut(dev, v, val, sizeof(*v) * (size_t)nnz));
  PetscCall(PetscGPUCSRDeviceSynchronize(dev));
  for (PetscInt row = 0; row < m; row++) {
    const PetscInt    *column;
    const PetscScalar *value;
    PetscInt           length;

    PetscCall(MatGetRow(A, row, &length, &column, &value));
    PetscCheck(length == i[row + 1] - i[row], PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: row %d has %d nonzeros, expected %d", what, (int)row, i[row + 1] - i[row], (int)length);
    for (PetscInt k = 0; k < length; k++) PetscCheck(column[k] == j[i[row] + k] && value[k] == v[i[row] + k], PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: nonzero %d of row %d", what, (int)k, (int)row);
    PetscCall(MatRestoreRow(A, row, &length, &column, &value));
  }
  PetscCall(PetscFree2(j, v));
  PetscCall(PetscFree(i));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Test(Mat A)
{
  const int32_t     *rowptr[2], *col[2];
  const PetscScalar *val[2];

  PetscFunctionBeginUser;
  PetscCall(MatGPUCSRGetDeviceCSR(A, &rowptr[0], &col[0], &val[0]));
  PetscCall(Compare("first call", A, rowptr[0], col[0], val[0]));
  PetscCall(MatGPUCSRGetDeviceCSR(A, &rowptr[1], &col[1], &val[1])); /* nested */
  PetscCall(MatGPUCSRRestoreDeviceCSR(A, &rowptr[0], &col[0], &val[0]));
  PetscCheck(!rowptr[0] && !col[0] && !val[0], PETSC_COMM_SELF, PETSC_ERR_PLIB, "pointers remain");
  PetscCall(Compare("nested call", A, rowptr[1], col[1], val[1]));
  PetscCall(MatGPUCSRRestoreDeviceCSR(A, &rowptr[1], &col[1], &val[1]));
  PetscCall(MatScale(A, 1.0 / 7));
  PetscCall(MatGPUCSRGetDeviceCSR(A, &rowptr[0], &col[0], &val[0]));
  PetscCall(Compare("new values", A, rowptr[0], col[0], val[0]));
  PetscCall(MatGPUCSRRestoreDeviceCSR(A, &rowptr[0], &col[0], &val[0]));
  PetscCall(MatGPUCSRGetDeviceCSR(A, &rowptr[0], &col[0], &val[0])); /* not restored: freed with the matrix */
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Refuse(Mat A, PetscErrorCode expected)
{
  const int32_t     *rowptr, *col;
  const PetscScalar *val;
  PetscErrorCode     err;

  PetscFunctionBeginUser;
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  err = MatGPUCSRGetDeviceCSR(A, &rowptr, &col, &val);
  PetscCall(PetscPopErrorHandler());
  PetscCheck(err == expected, PETSC_COMM_SELF, PETSC_ERR_PLIB, "error code %d, expected %d", (int)err, (int)expected);
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscMPIInt size;
  Mat         A, B, diagonal, off;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(Create(61, &A));
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  if (size == 1) PetscCall(Test(A));
  else {
    PetscCall(MatMPIAIJGetSeqAIJ(A, &diagonal, &off, NULL));
    PetscCall(Test(diagonal));
    PetscCall(Test(off));
    PetscCall(Refuse(A, PETSC_ERR_SUP));
  }
  PetscCall(MatDestroy(&A));
  PetscCall(MatGPUCSRSetStream(B, MAT_GPUCSR_STREAM_ALWAYS));
  PetscCall(Refuse(B, PETSC_ERR_SUP));
  PetscCall(MatDestroy(&B));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "the compressed rows are right\n"));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST
  test:
    suffix: 1
    nsize: {{1 2}}
    args: -mat_gpucsr_storage {{single double}}
TEST*/
