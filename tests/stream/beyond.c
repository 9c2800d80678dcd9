static char help[] = "A matrix of type gpucsrstream whose rows a function returns: products have the values of formulas, also with more than 2^31 nonzeros.\n\n\
  -rows n : number of rows, each of 64 nonzeros. 33600000 rows have more than 2^31\n\n";

#include "sys/gpucsrsys.h"
#include "gpucsr.h"

#define COLUMNS 100000
#define LENGTH  64
#define STEP    17     /* the nonzeros of row i begin at column STEP * i */
#define SAME    100000 /* number of consecutive rows whose nonzeros have one value */

static PetscInt Start(PetscInt i)
{
  return (PetscInt)(((PetscInt64)STEP * i) % COLUMNS);
}

static PetscReal Value(PetscInt i)
{
  return 1 + (PetscReal)(i / SAME % 3);
}

static PetscErrorCode GetRows(Mat A, PetscInt first, PetscInt n, PetscInt length[], PetscInt col[], PetscScalar val[], void *ctx)
{
  PetscFunctionBeginUser;
  (void)A;
  (void)ctx;
  for (PetscInt i = 0; i < n; i++) {
    const PetscInt  start = Start(first + i);
    const PetscReal value = Value(first + i);

    length[i] = LENGTH;
    for (PetscInt k = 0; col && k < LENGTH; k++) {
      col[(size_t)i * LENGTH + (size_t)k] = start + k < COLUMNS ? start + k : start + k - COLUMNS;
      val[(size_t)i * LENGTH + (size_t)k] = value;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y = A x with x_j = j. All sums are integers below 2^53, so the result is exact. */
static PetscErrorCode TestProduct(Mat A)
{
  Vec                x, y;
  PetscInt           first, end;
  PetscScalar       *a;
  const PetscScalar *b;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecGetOwnershipRange(x, &first, &end));
  PetscCall(VecGetArrayWrite(x, &a));
  for (PetscInt j = first; j < end; j++) a[j - first] = (PetscReal)j;
  PetscCall(VecRestoreArrayWrite(x, &a));
  PetscCall(MatMult(A, x, y));
  PetscCall(VecGetOwnershipRange(y, &first, &end));
  PetscCall(VecGetArrayRead(y, &b));
  for (PetscInt i = first; i < end; i++) {
    const PetscInt start = Start(i), wrapped = PetscMax(0, start + LENGTH - COLUMNS); /* number of nonzeros that continue at column 0 */
    PetscReal      right = (PetscReal)LENGTH * (PetscReal)start + LENGTH * (LENGTH - 1) / 2 - (PetscReal)wrapped * COLUMNS;

    right *= Value(i);
    PetscCheck(b[i - first] == right, PETSC_COMM_SELF, PETSC_ERR_PLIB, "row %" PetscInt_FMT " of the product is %g, not %g", i, (double)b[i - first], (double)right);
  }
  PetscCall(VecRestoreArrayRead(y, &b));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x = A' y with y = 1: the sums of the columns. They are the partial sums of the changes between neighbouring columns. */
static PetscErrorCode TestTranspose(Mat A, PetscInt rows)
{
  Vec                x, y;
  PetscInt           first, end;
  PetscReal         *change, sum = 0;
  const PetscScalar *b;

  PetscFunctionBeginUser;
  PetscCall(PetscCalloc1(COLUMNS + LENGTH + 1, &change));
  for (PetscInt i = 0; i < rows; i++) {
    change[Start(i)] += Value(i);
    change[Start(i) + LENGTH] -= Value(i);
  }
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecSet(y, 1));
  PetscCall(MatMultTranspose(A, y, x));
  for (PetscInt j = 0; j < COLUMNS + LENGTH; j++) {
    sum += change[j];
    change[j] = sum;
  }
  for (PetscInt j = 0; j < LENGTH; j++) change[j] += change[COLUMNS + j];
  PetscCall(VecGetOwnershipRange(x, &first, &end));
  PetscCall(VecGetArrayRead(x, &b));
  for (PetscInt j = first; j < end; j++) PetscCheck(b[j - first] == change[j], PETSC_COMM_SELF, PETSC_ERR_PLIB, "column %" PetscInt_FMT " of the product with the transpose is %g, not %g", j, (double)b[j - first], (double)change[j]);
  PetscCall(VecRestoreArrayRead(x, &b));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(PetscFree(change));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  MatGPUCSRStreamInfo info;
  PetscInt            rows = 250000;
  Mat                 A;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-rows", &rows, NULL));
  PetscCall(MatCreateGPUCSRStream(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, rows, COLUMNS, GetRows, NULL, &A));
  PetscCall(MatSetFromOptions(A));
  PetscCall(TestProduct(A));
  PetscCall(TestTranspose(A, rows));
  PetscCall(TestProduct(A)); /* with resident chunks */
  PetscCall(MatGPUCSRGetStreamInfo(A, &info));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "the products are those of the formulas\n"));
  if ((double)rows * LENGTH > 2147483648.0)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%.0f nonzeros, %.0f bytes in %.0f chunks, %.0f bytes resident, encoded in %.1f s\n", (double)rows * LENGTH, info.bytes, (double)info.chunks, info.resident_bytes, info.encode_seconds));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   test:
     suffix: 1
     nsize: {{1 2}}
     args: -mat_gpucsr_stream_chunk 1M -mat_gpucsr_stream_resident {{0 200000}}

TEST*/
