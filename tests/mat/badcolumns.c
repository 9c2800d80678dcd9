static char help[] = "Column indices out of range, in files and in arrays, are errors and never corrupt memory.\n\n";

#include <gpucsr.h>
#include "gpucsrcompat.h"
#include <petscmat.h>
#include <petscviewer.h>
#include <stdio.h>
#include <string.h>

#define FILENAME "badcolumns-test.bin"

static char message[1024]; /* message of the last error */

static PetscErrorCode KeepMessage(MPI_Comm comm, int line, const char *fun, const char *file, PetscErrorCode n, PetscErrorType p, const char *mess, void *ctx)
{
  if (p == PETSC_ERROR_INITIAL) (void)snprintf(message, sizeof(message), "%s", mess);
  return n;
}

static PetscErrorCode Report(const char name[], PetscErrorCode err, const char words[])
{
  int mine = !(err == PETSC_ERR_ARG_OUTOFRANGE && strstr(message, words)), all;

  PetscFunctionBegin;
  if (mine) (void)fprintf(stderr, "%s: code %d, '%s'\n", name, (int)err, message);
  PetscCallMPI(MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, PETSC_COMM_WORLD));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %s\n", name, all ? "FAILED" : "refused"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes a 4 x 4 matrix with one nonzero in each row. The nonzero of row 2 is in the given column. */
static PetscErrorCode WriteMatrix(PetscInt column)
{
  PetscInt    integers[] = {MAT_FILE_CLASSID, 4, 4, 4, 1, 1, 1, 1, 0, 1, column, 3};
  PetscScalar values[]   = {1, 2, 3, 4};
  PetscViewer viewer;

  PetscFunctionBegin;
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, FILENAME, FILE_MODE_WRITE, &viewer));
  PetscCall(PetscViewerBinaryWrite(viewer, integers, 12, PETSC_INT));
  PetscCall(PetscViewerBinaryWrite(viewer, values, 4, PETSC_SCALAR));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Returns the error of MatLoad(). The matrix is not used afterwards. */
static PetscErrorCode TryLoad(Mat A)
{
  PetscErrorCode err;
  PetscViewer    viewer;

  PetscFunctionBegin;
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, FILENAME, FILE_MODE_READ, &viewer));
  err = MatLoad(A, viewer);
  PetscCall(PetscViewerDestroy(&viewer));
  PetscFunctionReturn(err);
}

static PetscErrorCode TestLoad(PetscInt column)
{
  PetscErrorCode err;
  char           name[64], words[64];
  Mat            A;

  PetscFunctionBegin;
  PetscCall(WriteMatrix(column));
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetType(A, MATGPUCSR));
  PetscCall(PetscPushErrorHandler(KeepMessage, NULL));
  err = TryLoad(A);
  PetscCall(PetscPopErrorHandler());
  PetscCall(PetscSNPrintf(name, sizeof(name), "MatLoad(), column %" PetscInt_FMT " of 4", column));
  PetscCall(PetscSNPrintf(words, sizeof(words), "row 2: column index %" PetscInt_FMT " of a 4 x 4 matrix", column));
  PetscCall(Report(name, err, words));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A matrix on arrays of the caller. One entry is changed after the creation, because a PETSc with debugging checks the arrays then. */
static PetscErrorCode TestArrays(const char name[], PetscBool rows, PetscInt at, PetscInt value, const char words[])
{
  PetscInt       i[] = {0, 1, 2, 3, 4}, j[] = {0, 1, 2, 3};
  PetscScalar    a[] = {1, 2, 3, 4};
  PetscErrorCode err;
  Mat            A;

  PetscFunctionBegin;
  PetscCall(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, 4, 4, i, j, a, &A));
  PetscCall(MatConvert(A, MATSEQAIJGPUCSR, MAT_INPLACE_MATRIX, &A));
  if (rows) i[at] = value;
  else j[at] = value;
  PetscCall(PetscPushErrorHandler(KeepMessage, NULL));
  err = MatGPUCSRUpload(A);
  PetscCall(PetscPopErrorHandler());
  PetscCall(Report(name, err, words));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscMPIInt rank;
  Mat         A;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(TestLoad(4));
  PetscCall(TestLoad(100000000));
  PetscCall(TestLoad(-5));
  PetscCall(WriteMatrix(2));
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetType(A, MATGPUCSR));
  PetscCall(TryLoad(A));
  PetscCall(MatGPUCSRUpload(A));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "MatLoad(), good columns: loaded\n"));
  PetscCall(TestArrays("an array with column 7 of 4", PETSC_FALSE, 2, 7, "row 2: column index 7 of a matrix with 4 columns"));
  PetscCall(TestArrays("an array with column 4 of 4", PETSC_FALSE, 0, 4, "row 0: column index 4 of a matrix with 4 columns"));
  PetscCall(TestArrays("an array with column -1", PETSC_FALSE, 3, -1, "row 3: column index -1 of a matrix with 4 columns"));
  PetscCall(TestArrays("row pointers that descend", PETSC_TRUE, 1, 3, "row pointers 3 and 2"));
  PetscCall(TestArrays("row pointers that begin with 1", PETSC_TRUE, 0, 1, "first row pointer is 1"));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (!rank) (void)remove(FILENAME), (void)remove(FILENAME ".info");
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST
  testset:
    nsize: {{1 2 3}}
    output_file: output/badcolumns_1.out
    test:
      suffix: 1
    test:
      suffix: stream
      args: -gpucsr_stream always
TEST*/
