/* Examples in PETSc's binary format: the matrix, then the vector of labels. */
#include "app/text/appcollective.h"
#include "examples.h"
#include <petscviewer.h>

/* Writes examples in PETSc's binary format, which MatLoad() and VecLoad() read, too. */
PetscErrorCode BMRMExamplesSave(const BMRMExamples *ex, const char file[])
{
  const PetscInt matrix[] = {MAT_FILE_CLASSID, ex->M, ex->N, (PetscInt)ex->nnz}, vector[] = {VEC_FILE_CLASSID, ex->M};
  GpAppOutput    out;
  PetscMPIInt    rank;
  PetscInt      *length;

  PetscFunctionBegin;
  PetscCheck(ex->nnz <= PETSC_MAX_INT, ex->comm, PETSC_ERR_USER_INPUT, "%s: %" PetscInt64_FMT " entries do not fit the PetscInt of the binary format: use a PETSc with 64-bit indices", ex->file, ex->nnz);
  PetscCheck(!ex->ranked, ex->comm, PETSC_ERR_USER_INPUT, "%s: PETSc's binary format cannot store the queries of qid: keep the file in LIBSVM format", ex->file);
  PetscCallMPI(MPI_Comm_rank(ex->comm, &rank));
  PetscCall(PetscMalloc1(ex->m, &length));
  for (PetscInt i = 0; i < ex->m; i++) length[i] = ex->i[i + 1] - ex->i[i];
  PetscCall(GpAppOutputOpen(ex->comm, file, &out));
  PetscCall(GpAppOutputBinary(&out, matrix, rank ? 0 : 4, PETSC_INT));
  PetscCall(GpAppOutputBinary(&out, length, ex->m, PETSC_INT));
  PetscCall(GpAppOutputBinary(&out, ex->j, ex->i[ex->m], PETSC_INT));
  PetscCall(GpAppOutputBinary(&out, ex->a, ex->i[ex->m], PETSC_SCALAR));
  PetscCall(GpAppOutputBinary(&out, vector, rank ? 0 : 2, PETSC_INT));
  PetscCall(GpAppOutputBinary(&out, ex->label, ex->m, PETSC_REAL));
  PetscCall(GpAppOutputCommit(&out));
  PetscCall(PetscFree(length));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finds the first error in the rows of this rank. Rows are counted from 0, as in PETSc. */
static void BMRMBinaryCheckRows(const BMRMExamples *ex, const GpAppMatHeader *H, PetscInt start, GpAppComplaint *wrong)
{
  for (PetscInt row = 0; row < ex->m && GpAppMatCheckColumns(H, start + row, ex->i[row + 1] - ex->i[row], ex->j + ex->i[row], -1, wrong); row++) {
    PetscBool finite = PETSC_TRUE;

    for (PetscInt k = ex->i[row]; k < ex->i[row + 1]; k++) finite = (PetscBool)(finite && !PetscIsInfOrNanScalar(ex->a[k]));
    if (finite && !PetscIsInfOrNanReal(ex->label[row])) continue;
    GpAppComplainAbout(wrong, PETSC_ERR_FILE_UNEXPECTED, 0, finite ? "the label of row %" PetscInt_FMT " is not finite" : "row %" PetscInt_FMT " has a value that is not finite", start + row);
    break;
  }
}

/* Reads the lengths of the rows of this rank, and counts the nonzeros on lower ranks. */
static PetscErrorCode BMRMBinaryReadLengths(BMRMExamples *ex, PetscViewer viewer, const GpAppMatHeader *H, PetscInt start, PetscInt64 *before)
{
  GpAppComplaint wrong = {0};
  PetscInt64     mine;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(ex->m + 1, &ex->i));
  ex->i[0] = 0;
  PetscCall(PetscViewerBinaryReadAll(viewer, ex->i + 1, ex->m, start, ex->M, PETSC_INT));
  mine = GpAppMatCheckLengths(H, start, ex->m, ex->i + 1, &wrong);
  PetscCall(GpAppMatSumLengths(ex->comm, ex->file, H, mine, &wrong, before));
  for (PetscInt i = 0; i < ex->m; i++) ex->i[i + 1] += ex->i[i];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads the rows and the labels of this rank. The number of rows is known. */
static PetscErrorCode BMRMBinaryReadRows(BMRMExamples *ex, PetscViewer viewer, const GpAppMatHeader *H, PetscInt start, GpAppComplaint *wrong)
{
  PetscInt   vector[2], mine;
  PetscInt64 before;

  PetscFunctionBegin;
  PetscCall(BMRMBinaryReadLengths(ex, viewer, H, start, &before));
  mine = ex->i[ex->m];
  PetscCall(PetscMalloc1(ex->m, &ex->label));
  PetscCall(PetscMalloc1(mine, &ex->j));
  PetscCall(PetscMalloc1(mine, &ex->a));
  GpAppWantLargePages(ex->j, (size_t)mine * sizeof(*ex->j));
  GpAppWantLargePages(ex->a, (size_t)mine * sizeof(*ex->a));
  PetscCall(PetscViewerBinaryReadAll(viewer, ex->j, mine, (PetscInt)before, (PetscInt)H->nnz, PETSC_INT));
  PetscCall(PetscViewerBinaryReadAll(viewer, ex->a, mine, (PetscInt)before, (PetscInt)H->nnz, PETSC_SCALAR));
  PetscCall(PetscViewerBinaryRead(viewer, vector, 2, NULL, PETSC_INT));
  PetscCheck(vector[0] == VEC_FILE_CLASSID && vector[1] == ex->M, ex->comm, PETSC_ERR_FILE_UNEXPECTED, "%s: after the matrix, expected a vector with a label for each of its %" PetscInt_FMT " rows", ex->file, ex->M);
  PetscCall(PetscViewerBinaryReadAll(viewer, ex->label, ex->m, start, ex->M, PETSC_REAL));
  BMRMBinaryCheckRows(ex, H, start, wrong);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads a file after its header has been checked. An error is raised on all ranks. */
static PetscErrorCode BMRMBinaryReadBody(BMRMExamples *ex, const GpAppMatHeader *H, PetscInt start)
{
  GpAppComplaint wrong = {0};
  PetscViewer    viewer;
  PetscInt       header[4];
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(PetscViewerBinaryOpen(ex->comm, ex->file, FILE_MODE_READ, &viewer));
  PetscCall(PetscViewerBinaryRead(viewer, header, 4, NULL, PETSC_INT));
  ierr = BMRMBinaryReadRows(ex, viewer, H, start, &wrong);
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(ierr);
  PetscCall(GpAppComplaintRaise(ex->comm, ex->file, &wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads a matrix and a vector of labels. If the file is refused, all memory has been freed. */
PetscErrorCode BMRMExamplesLoadBinary(BMRMExamples *ex)
{
  GpAppMatHeader H;
  PetscInt64     want, start;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(GpAppMatReadHeader(ex->comm, ex->file, &H));
  PetscCheck(H.M > 0 && H.nnz >= 0, ex->comm, PETSC_ERR_FILE_UNEXPECTED, "%s: a %smatrix of %" PetscInt_FMT " x %" PetscInt_FMT " is no sparse matrix of examples", ex->file, H.nnz < 0 ? "dense " : "", H.M, H.N);
  want = H.end + 2 * (PetscInt64)sizeof(PetscInt) + H.M * (PetscInt64)sizeof(PetscScalar);
  PetscCheck(H.bytes >= want, ex->comm, PETSC_ERR_FILE_UNEXPECTED,
             "%s: %" PetscInt64_FMT " bytes where a matrix of %" PetscInt_FMT " x %" PetscInt_FMT " with %" PetscInt64_FMT " entries and the vector of its labels take %" PetscInt64_FMT ": the file is truncated or has no labels", ex->file, H.bytes,
             H.M, H.N, H.nnz, want);
  ex->M   = H.M;
  ex->N   = H.N;
  ex->nnz = H.nnz;
  ex->m   = PETSC_DECIDE;
  PetscCall(PetscSplitOwnership(ex->comm, &ex->m, &ex->M));
  PetscCall(GpAppSumBefore(ex->comm, ex->m, &start, NULL));
  ierr = BMRMBinaryReadBody(ex, &H, (PetscInt)start);
  if (ierr) PetscCall(BMRMExamplesDestroy(ex));
  PetscCall(ierr);
  for (PetscInt row = 0; row < ex->m; row++) BMRMExamplesNoteClass(ex, ex->label[row], row + 1);
  PetscCall(BMRMExamplesMergeClasses(ex, start));
  PetscFunctionReturn(PETSC_SUCCESS);
}
