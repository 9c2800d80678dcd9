/* Examples as PETSc's binary format has them: the matrix, then the vector of labels. */
#include "libsvm.h"
#include <petscviewer.h>
#include <stdio.h>
#include <string.h>

/* Writes the values of all ranks in turn, in the byte order of the format; GpAppOutputCommit() looks at ferror(). */
static PetscErrorCode Put(GpAppOutput *out, const void *values, PetscInt n, PetscDataType type)
{
  const PetscInt most = 65536;
  size_t         each;
  PetscMPIInt    rank, size;
  char          *buffer;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(out->comm, &rank));
  PetscCallMPI(MPI_Comm_size(out->comm, &size));
  PetscCall(PetscDataTypeGetSize(type, &each));
  PetscCall(PetscMalloc1((size_t)most * each, &buffer));
  for (PetscMPIInt from = 0; from < size; from++) {
    PetscInt left = n;

    if (rank && rank != from) continue;
    if (from && rank) PetscCallMPI(MPI_Send(&left, 1, MPIU_INT, 0, 0, out->comm));
    if (from && !rank) PetscCallMPI(MPI_Recv(&left, 1, MPIU_INT, from, 0, out->comm, MPI_STATUS_IGNORE));
    for (PetscInt done = 0, now; done < left; done += now) {
      now = PetscMin(most, left - done);
      if (rank == from) PetscCall(PetscMemcpy(buffer, (const char *)values + (size_t)done * each, (size_t)now * each));
      if (from && rank) PetscCallMPI(MPI_Send(buffer, (PetscMPIInt)((size_t)now * each), MPI_BYTE, 0, 0, out->comm));
      if (from && !rank) PetscCallMPI(MPI_Recv(buffer, (PetscMPIInt)((size_t)now * each), MPI_BYTE, from, 0, out->comm, MPI_STATUS_IGNORE));
      if (rank) continue;
#if !defined(PETSC_WORDS_BIGENDIAN)
      PetscCall(PetscByteSwap(buffer, type, now));
#endif
      (void)fwrite(buffer, each, (size_t)now, out->fp);
    }
  }
  PetscCall(PetscFree(buffer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  BMRMExamplesSave - Writes examples in PETSc's binary format, a matrix and a vector, which PETSc and petsc4py read, too

  Collective

  Input Parameters:
+ ex   - the examples
- file - where to; it appears when it is complete

  Level: developer

  Note:
  `MatLoad()` and `VecLoad()` read the file, and so does `BMRMExamplesLoad()`.

.seealso: `BMRMExamplesLoad()`
@*/
PetscErrorCode BMRMExamplesSave(const BMRMExamples *ex, const char file[])
{
  const PetscInt matrix[] = {MAT_FILE_CLASSID, ex->M, ex->N, (PetscInt)ex->nnz}, vector[] = {VEC_FILE_CLASSID, ex->M};
  GpAppOutput    out;
  PetscMPIInt    rank;
  PetscInt      *length;

  PetscFunctionBegin;
  PetscCheck(ex->nnz <= PETSC_MAX_INT, ex->comm, PETSC_ERR_ARG_OUTOFRANGE, "%s: %" PetscInt64_FMT " entries do not fit the PetscInt of the binary format: use a PETSc with 64-bit indices", ex->file, ex->nnz);
  PetscCheck(!ex->ranked, ex->comm, PETSC_ERR_SUP, "%s: the binary format has no place for the queries of qid: keep the text", ex->file);
  PetscCallMPI(MPI_Comm_rank(ex->comm, &rank));
  PetscCall(PetscMalloc1(ex->m, &length));
  for (PetscInt i = 0; i < ex->m; i++) length[i] = ex->i[i + 1] - ex->i[i];
  PetscCall(GpAppOutputOpen(ex->comm, file, &out));
  PetscCall(Put(&out, matrix, rank ? 0 : 4, PETSC_INT));
  PetscCall(Put(&out, length, ex->m, PETSC_INT));
  PetscCall(Put(&out, ex->j, ex->i[ex->m], PETSC_INT));
  PetscCall(Put(&out, ex->a, ex->i[ex->m], PETSC_SCALAR));
  PetscCall(Put(&out, vector, rank ? 0 : 2, PETSC_INT));
  PetscCall(Put(&out, ex->label, ex->m, PETSC_REAL));
  PetscCall(GpAppOutputCommit(&out));
  PetscCall(PetscFree(length));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The first thing wrong in the rows of this rank: "" for nothing. Rows are counted from 0, as PETSc does. */
static PetscErrorCode CheckRows(const BMRMExamples *ex, PetscInt start, char what[128])
{
  PetscFunctionBegin;
  for (PetscInt row = 0; row < ex->m; row++) {
    for (PetscInt k = ex->i[row]; k < ex->i[row + 1]; k++) {
      const char *wrong = NULL;

      if (ex->j[k] < 0 || ex->j[k] >= ex->N || (k > ex->i[row] && ex->j[k] <= ex->j[k - 1])) wrong = "columns that do not rise or are out of range";
      else if (PetscIsInfOrNanScalar(ex->a[k])) wrong = "a value that is not finite";
      if (!wrong) continue;
      PetscCall(PetscSNPrintf(what, 128, "row %" PetscInt_FMT " has %s", start + row, wrong));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    if (!PetscIsInfOrNanReal(ex->label[row])) continue;
    PetscCall(PetscSNPrintf(what, 128, "the label of row %" PetscInt_FMT " is not finite", start + row));
    break;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads the rows and the labels of this rank, whose number is known. */
static PetscErrorCode ReadRows(BMRMExamples *ex, PetscViewer viewer, PetscInt start, PetscInt nz, char what[128])
{
  PetscInt  *length, vector[2];
  PetscInt64 before = 0, mine, sum = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(ex->m, &length));
  PetscCall(PetscMalloc1(ex->m + 1, &ex->i));
  PetscCall(PetscMalloc1(ex->m, &ex->label));
  PetscCall(PetscViewerBinaryReadAll(viewer, length, ex->m, start, ex->M, PETSC_INT));
  for (PetscInt i = 0; i < ex->m; i++) sum = length[i] < 0 || sum > nz ? (PetscInt64)nz + 1 : sum + length[i];
  mine = sum;
  PetscCallMPI(MPI_Allreduce(&mine, &sum, 1, MPIU_INT64, MPI_SUM, ex->comm));
  PetscCheck(sum == nz, ex->comm, PETSC_ERR_FILE_UNEXPECTED, "%s: the lengths of the rows do not add up to the %" PetscInt_FMT " entries of the matrix: the file is damaged", ex->file, nz);
  PetscCallMPI(MPI_Exscan(&mine, &before, 1, MPIU_INT64, MPI_SUM, ex->comm));
  if (!start) before = 0;
  ex->i[0] = 0;
  for (PetscInt i = 0; i < ex->m; i++) ex->i[i + 1] = ex->i[i] + length[i];
  PetscCall(PetscFree(length));
  PetscCall(PetscMalloc1(mine, &ex->j));
  PetscCall(PetscMalloc1(mine, &ex->a));
  BMRMWantLargePages_Private(ex->j, (size_t)mine * sizeof(*ex->j));
  BMRMWantLargePages_Private(ex->a, (size_t)mine * sizeof(*ex->a));
  PetscCall(PetscViewerBinaryReadAll(viewer, ex->j, (PetscInt)mine, (PetscInt)before, nz, PETSC_INT));
  PetscCall(PetscViewerBinaryReadAll(viewer, ex->a, (PetscInt)mine, (PetscInt)before, nz, PETSC_SCALAR));
  PetscCall(PetscViewerBinaryRead(viewer, vector, 2, NULL, PETSC_INT));
  PetscCheck(vector[0] == VEC_FILE_CLASSID && vector[1] == ex->M, ex->comm, PETSC_ERR_FILE_UNEXPECTED, "%s: after the matrix, expected a vector with a label for each of its %" PetscInt_FMT " rows", ex->file, ex->M);
  PetscCall(PetscViewerBinaryReadAll(viewer, ex->label, ex->m, start, ex->M, PETSC_REAL));
  PetscCall(CheckRows(ex, start, what));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads a matrix and a vector of labels, which must be all that the file holds: what is shorter is cut off. */
PetscErrorCode BMRMExamplesLoadBinary_Private(BMRMExamples *ex, PetscInt64 bytes)
{
  GpAppComplaint wrong = {0};
  GpAppText      place;
  PetscViewer    viewer;
  PetscInt       header[4], start = 0;
  PetscInt64     want;

  PetscFunctionBegin;
  PetscCheck(bytes >= (PetscInt64)sizeof(header), ex->comm, PETSC_ERR_FILE_UNEXPECTED, "%s: the file ends within its header: it is cut off", ex->file);
  PetscCall(PetscViewerBinaryOpen(ex->comm, ex->file, FILE_MODE_READ, &viewer));
  PetscCall(PetscViewerBinaryRead(viewer, header, 4, NULL, PETSC_INT));
  PetscCheck(header[1] > 0 && header[2] >= 0 && header[3] >= 0, ex->comm, PETSC_ERR_FILE_UNEXPECTED, "%s: a matrix of %" PetscInt_FMT " x %" PetscInt_FMT " with %" PetscInt_FMT " entries is no sparse matrix of examples", ex->file, header[1],
             header[2], header[3]);
  want = (PetscInt64)sizeof(PetscInt) * (6 + (PetscInt64)header[1] + header[3]) + (PetscInt64)sizeof(PetscScalar) * (header[1] + (PetscInt64)header[3]);
  PetscCheck(bytes >= want, ex->comm, PETSC_ERR_FILE_UNEXPECTED,
             "%s: %" PetscInt64_FMT " bytes where a matrix of %" PetscInt_FMT " x %" PetscInt_FMT " with %" PetscInt_FMT " entries and the vector of its labels take %" PetscInt64_FMT ": the file is cut off, or has no labels", ex->file, bytes,
             header[1], header[2], header[3], want);
  ex->M   = header[1];
  ex->N   = header[2];
  ex->nnz = header[3];
  ex->m   = PETSC_DECIDE;
  PetscCall(PetscSplitOwnership(ex->comm, &ex->m, &ex->M));
  PetscCallMPI(MPI_Scan(&ex->m, &start, 1, MPIU_INT, MPI_SUM, ex->comm));
  start -= ex->m;
  PetscCall(ReadRows(ex, viewer, start, header[3], wrong.what));
  PetscCall(PetscViewerDestroy(&viewer));
  if (wrong.what[0]) wrong.code = PETSC_ERR_FILE_UNEXPECTED;
  memset(&place, 0, sizeof(place));
  place.comm = ex->comm;
  PetscCall(PetscStrncpy(place.file, ex->file, sizeof(place.file)));
  PetscCall(GpAppTextRaise(&place, &wrong));
  for (PetscInt row = 0; row < ex->m; row++) BMRMExamplesNoteClass_Private(ex, ex->label[row], row + 1);
  PetscCall(BMRMExamplesMergeClasses_Private(ex, start));
  PetscFunctionReturn(PETSC_SUCCESS);
}
