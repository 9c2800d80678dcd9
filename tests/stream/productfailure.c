static char help[] = "A product of a parallel matrix that fails on one rank, without an agreement of the ranks: no rank waits for ever, and the matrix stays usable.\n\n";

#include "mat/impls/gpucsr/image/gpucsrimpl.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define N       400
#define VECTORS 37 /* more than one batch of a product with several vectors */
#define PREFIX  "productfailure"

static PetscErrorCode GetRows(Mat A, PetscInt first, PetscInt n, PetscInt length[], PetscInt col[], PetscScalar val[], void *ctx)
{
  PetscFunctionBeginUser;
  (void)A;
  (void)ctx;
  for (PetscInt i = 0; i < n; i++) {
    length[i] = 4;
    for (PetscInt j = 0; col && j < 4; j++) {
      col[4 * i + j] = (first + i + 101 * j) % N;
      val[4 * i + j] = 1 + (first + i + j) % 7;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Product number `kind` of the matrix with x = 1: 0: A x, 1: A' x, 2: A x for several vectors, 3: A' x for several vectors. *sum is the sum of the local entries of the last y. */
static PetscErrorCode Multiply(Mat A, int kind, PetscErrorCode *err, PetscScalar *sum)
{
  Vec                x[VECTORS], y[VECTORS];
  PetscInt           n;
  const PetscScalar *a;

  PetscFunctionBeginUser;
  for (int c = 0; c < VECTORS; c++) {
    PetscCall(MatCreateVecs(A, &x[c], &y[c]));
    PetscCall(VecSet(x[c], 1));
  }
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  if (kind == 0) *err = MatMult(A, x[0], y[0]);
  else if (kind == 1) *err = MatMultTranspose(A, x[0], y[0]);
  else *err = MatGPUCSRMultMany(A, (PetscBool)(kind == 3), VECTORS, x, y);
  PetscCall(PetscPopErrorHandler());
  *sum = 0;
  PetscCall(VecGetLocalSize(y[0], &n));
  PetscCall(VecGetArrayRead(y[kind < 2 ? 0 : VECTORS - 1], &a));
  for (PetscInt i = 0; i < n; i++) *sum += a[i];
  PetscCall(VecRestoreArrayRead(y[kind < 2 ? 0 : VECTORS - 1], &a));
  for (int c = 0; c < VECTORS; c++) {
    PetscCall(VecDestroy(&x[c]));
    PetscCall(VecDestroy(&y[c]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Shortens the file of a block of the last rank, so that only this rank fails. If its off-diagonal block fails in a product with the transpose, it has sent nothing yet: the other ranks,
   which all have boundary entries of it, get NaN. */
static PetscErrorCode TestBlock(Mat A, PetscBool off, PetscMPIInt rank, PetscMPIInt size)
{
  const PetscBool mine = (PetscBool)(rank == size - 1);
  PetscScalar     right[4], sum;
  PetscErrorCode  err;
  struct stat     st = {0};
  char            name[256], *copy = NULL;
  int             fd = -1;

  PetscFunctionBeginUser;
  for (int kind = 0; kind < 4; kind++) {
    PetscCall(Multiply(A, kind, &err, &right[kind]));
    PetscCall(err);
  }
  ((Mat_GPUCSR *)A->spptr)->agrees = PETSC_FALSE;
  if (mine) {
    PetscCall(PetscSNPrintf(name, sizeof(name), PREFIX "-%dof%d-%s.chunks", (int)rank, (int)size, off ? "offdiagonal" : "diagonal"));
    fd = open(name, O_RDWR);
    PetscCheck(fd >= 0 && !fstat(fd, &st), PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "%s", name);
    PetscCall(PetscMalloc1(st.st_size, &copy));
    PetscCheck(pread(fd, copy, (size_t)st.st_size, 0) == st.st_size && !ftruncate(fd, 300), PETSC_COMM_SELF, PETSC_ERR_FILE_READ, "%s", name);
  }
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  for (int kind = 0; kind < 4; kind++) {
    PetscCall(Multiply(A, kind, &err, &sum));
    PetscCheck(mine == (PetscBool)(err != 0), PETSC_COMM_SELF, PETSC_ERR_PLIB, "product %d: error %d", kind, (int)err);
    if (!mine && off && kind % 2) PetscCheck(PetscIsNanScalar(sum), PETSC_COMM_SELF, PETSC_ERR_PLIB, "product %d: the sum %g must be NaN", kind, (double)sum);
  }
  if (mine) {
    PetscCheck(pwrite(fd, copy, (size_t)st.st_size, 0) == st.st_size, PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE, "%s", name);
    PetscCall(PetscFree(copy));
    (void)close(fd);
  }
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  for (int kind = 0; kind < 4; kind++) {
    PetscCall(Multiply(A, kind, &err, &sum));
    PetscCheck(!err && sum == right[kind], PETSC_COMM_SELF, PETSC_ERR_PLIB, "product %d after the failure: error %d, sum %g, not %g", kind, (int)err, (double)sum, (double)right[kind]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscMPIInt rank, size;
  Mat         A;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  /* With debugging, PETSc reduces at the end of an event over all ranks, which the failed rank does not reach. */
  PetscCall(PetscLogEventSetCollective(MAT_Mult, PETSC_FALSE));
  PetscCall(PetscLogEventSetCollective(MAT_MultTranspose, PETSC_FALSE));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(MatCreateGPUCSRStream(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, N, N, GetRows, NULL, &A));
  PetscCall(MatGPUCSRSetStreamFile(A, PREFIX));
  for (int off = 0; off < 2; off++) PetscCall(TestBlock(A, (PetscBool)off, rank, size));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "ok\n"));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST
  # resident chunks are not read again
  test:
    suffix: 1
    nsize: {{2 4}}
    args: -mat_gpucsr_stream_chunk 2000 -mat_gpucsr_stream_resident 0
TEST*/
