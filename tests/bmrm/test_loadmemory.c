static char help[] = "How much memory reading LIBSVM text takes: at most 1.5 times the matrix, on every rank.\n\n";

#include "libsvm.h"
#include <gpucsr.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#define BLOCK  ((size_t)1 << 20)
#define MATRIX 36.0 /* megabytes a rank: what every process has beside it counts little then */

/* short rows, whose columns are as many on one rank as on another */
static PetscErrorCode Write(const char file[], PetscMPIInt size)
{
  const PetscInt each = 14;
  char          *block;
  size_t         n = 0, entries = 0;
  FILE          *fp = fopen(file, "wb");

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(BLOCK, &block));
  for (PetscInt row = 0; n + (size_t)(each * 16) < BLOCK; row++, entries += (size_t)each) {
    n += (size_t)sprintf(block + n, row % 3 ? "1" : "-1");
    for (PetscInt k = 0; k < each; k++) n += (size_t)sprintf(block + n, " %d:0.%d", (int)(1 + 100 * k + (row * 7 + k * k) % 100), (int)(1 + row % 9));
    block[n++] = '\n';
  }
  for (double megabytes = 0; megabytes < MATRIX * size; megabytes += 1e-6 * (double)(entries * (sizeof(PetscInt) + sizeof(PetscScalar)))) PetscCheck(fp && fwrite(block, 1, n, fp) == n, PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE, "%s", file);
  PetscCheck(!fclose(fp), PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE, "%s", file);
  PetscCall(PetscFree(block));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the most that was resident so far, in bytes */
static PetscErrorCode Resident(double *bytes)
{
  struct rusage usage;

  PetscFunctionBegin;
  PetscCheck(!getrusage(RUSAGE_SELF, &usage), PETSC_COMM_SELF, PETSC_ERR_SYS, "getrusage() failed");
  *bytes = 1024.0 * (double)usage.ru_maxrss;
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const char  *file = "test_loadmemory.tmp";
  BMRMExamples ex;
  double       before, after, matrix;
  PetscMPIInt  rank, size;
  Mat          X;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  if (!rank) PetscCall(Write(file, size));
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  PetscCall(Resident(&before));
  PetscCall(BMRMExamplesLoad(PETSC_COMM_WORLD, file, &ex));
  matrix = (double)ex.i[ex.m] * (sizeof(PetscInt) + sizeof(PetscScalar)) + (double)ex.m * (sizeof(PetscInt) + sizeof(PetscReal)); /* and labels */
  PetscCall(BMRMExamplesCreateMat(&ex, PETSC_DECIDE, MATAIJ, &X));
  PetscCall(Resident(&after));
  PetscCheck(matrix > 1e6 * MATRIX * 0.95, PETSC_COMM_SELF, PETSC_ERR_PLIB, "the matrix has only %g bytes here", matrix);
  PetscCheck(after - before >= 0.9 * matrix && after - before <= 1.5 * matrix, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%g bytes were resident for a matrix of %g", after - before, matrix);
  PetscCall(PetscInfo(X, "%g times the matrix\n", (after - before) / matrix));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "at most 1.5 times the matrix\n"));
  PetscCall(MatDestroy(&X));
  PetscCall(BMRMExamplesDestroy(&ex));
  if (!rank) (void)remove(file);
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   # a debugging malloc() writes what nobody has asked for, and copies what grows
   test:
      suffix: 1
      requires: double
      nsize: {{1 2}}
      args: -malloc_debug 0
      env: MALLOC_PERTURB_=0

TEST*/
