static char help[] = "An error on one rank of a parallel matrix is raised on all ranks, none of which waits for another.\n\n";

#include "gpucsr.h"
#include "gpucsrcompat.h"

/* Every row has an entry on the diagonal and one in the next column. The rows of the last rank have `more` further entries. */
static PetscErrorCode Create(PetscInt n, PetscInt more, Mat *A)
{
  PetscMPIInt rank, size;
  PetscInt    N = PETSC_DECIDE, start, end;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  if (rank < size - 1) more = 0;
  PetscCall(PetscSplitOwnership(PETSC_COMM_WORLD, &n, &N));
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, n, n, N, N, 2 + more, NULL, 1, NULL, A));
  PetscCall(MatGetOwnershipRange(*A, &start, &end));
  for (PetscInt i = start; i < end; i++) {
    PetscCall(MatSetValue(*A, i, i, 2, INSERT_VALUES));
    PetscCall(MatSetValue(*A, i, (i + 1) % N, -1, INSERT_VALUES));
    for (PetscInt k = 0; k < more; k++) PetscCall(MatSetValue(*A, i, start + (i - start + 2 + k) % n, 1, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatConvert(*A, MATGPUCSR, MAT_INPLACE_MATRIX, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Multiplies by A, or by its transpose, and checks that all ranks get this error. */
static PetscErrorCode Expect(const char what[], PetscErrorCode code, Mat A, PetscBool transpose)
{
  PetscErrorCode err;
  Vec            x, y;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecSet(x, 1));
  if (code) PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  err = transpose ? MatMultTranspose(A, x, y) : MatMult(A, x, y);
  if (code) PetscCall(PetscPopErrorHandler());
  PetscCheck(err == code, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: error %d, expected %d", what, (int)err, (int)code);
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %s\n", what, code ? "an error on all ranks" : "multiplied"));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetLast(Mat A, PetscScalar value)
{
  PetscInt start, end;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  PetscCall(MatGetSize(A, &start, NULL));
  if (end == start) PetscCall(MatSetValue(A, end - 1, end - 1, value, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Values that overflow in single precision. */
static PetscErrorCode TestOverflow(void)
{
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(Create(20, 0, &A));
  PetscCall(MatGPUCSRSetStorage(A, MAT_GPUCSR_STORAGE_SINGLE));
  PetscCall(SetLast(A, 1e300));
  PetscCall(Expect("a value that overflows on the last rank", PETSC_ERR_ARG_OUTOFRANGE, A, PETSC_FALSE));
  PetscCall(Expect("the transpose of that matrix", PETSC_ERR_ARG_OUTOFRANGE, A, PETSC_TRUE));
  PetscCall(SetLast(A, 3));
  PetscCall(Expect("a value that fits", PETSC_SUCCESS, A, PETSC_FALSE));
  PetscCall(SetLast(A, -1e300));
  PetscCall(Expect("new values that overflow", PETSC_ERR_ARG_OUTOFRANGE, A, PETSC_FALSE));
  PetscCall(MatGPUCSRSetStorage(A, MAT_GPUCSR_STORAGE_DOUBLE));
  PetscCall(Expect("the same values in double precision", PETSC_SUCCESS, A, PETSC_FALSE));
  PetscCall(MatGPUCSRSetStorage(A, MAT_GPUCSR_STORAGE_SINGLE));
  PetscCall(Expect("single precision again", PETSC_ERR_ARG_OUTOFRANGE, A, PETSC_FALSE));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Device memory that suffices on all ranks but the last, as option -gpucsr_device_memory sets it. */
static PetscErrorCode TestMemory(void)
{
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(Create(400, 60, &A));
  PetscCall(Expect("too little device memory on the last rank", PETSC_ERR_MEM, A, PETSC_FALSE));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscBool limited;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(PetscOptionsHasName(NULL, NULL, "-gpucsr_device_memory", &limited));
  if (limited) PetscCall(TestMemory());
  else PetscCall(TestOverflow());
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST
  test:
    suffix: overflow
    nsize: {{2 3}}
  test:
    suffix: stream
    nsize: {{2 3}}
    args: -gpucsr_stream always
    output_file: output/onerank_overflow.out
  test:
    suffix: memory
    nsize: {{2 3}}
    args: -gpucsr_device host -gpucsr_device_memory 150000 -gpucsr_stream never
TEST*/
