/* Loading matrices and vectors in PETSc's binary format, once they have been checked. */
#define _POSIX_C_SOURCE   200809L
#define _FILE_OFFSET_BITS 64
#include "app/binary/appbinary.h"
#include <petscviewer.h>
#include <sys/stat.h>

/* Creates a viewer that reads only the file: by default PETSc also reads options from a file of the same name with .info. */
static PetscErrorCode BinaryOpenViewer(MPI_Comm comm, const char file[], PetscViewer *viewer)
{
  PetscFunctionBegin;
  PetscCall(PetscViewerCreate(comm, viewer));
  PetscCall(PetscViewerSetType(*viewer, PETSCVIEWERBINARY));
  PetscCall(PetscViewerBinarySetSkipInfo(*viewer, PETSC_TRUE));
  PetscCall(PetscViewerFileSetMode(*viewer, FILE_MODE_READ));
  PetscCall(PetscViewerFileSetName(*viewer, file));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads a matrix in PETSc's binary format, after all of it has been checked. type NULL: MATDENSE for the dense format, else MATAIJ. Collective.
   The message of an error names the file and the row. */
PetscErrorCode GpAppMatLoad(MPI_Comm comm, const char file[], MatType type, Mat *A)
{
  GpAppMatHeader H;
  PetscViewer    viewer;
  PetscBool      dense = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(GpAppMatReadHeader(comm, file, &H));
  if (type) PetscCall(PetscStrcmp(type, MATDENSE, &dense));
  PetscCheck(!type || dense || H.nnz >= 0, comm, PETSC_ERR_FILE_UNEXPECTED, "%s: a matrix in PETSc's dense format where a sparse one is expected: convert it to MATAIJ before writing it", file);
  PetscCall(GpAppMatCheck(comm, file, &H));
  PetscCall(BinaryOpenViewer(comm, file, &viewer));
  PetscCall(MatCreate(comm, A));
  PetscCall(MatSetType(*A, type ? type : H.nnz < 0 ? MATDENSE : MATAIJ));
  PetscCall(MatLoad(*A, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Checks on the first rank whether the file holds n vectors of N entries, one after another. */
static PetscErrorCode BinaryExamineVectors(const char file[], PetscInt n, PetscInt64 N, GpAppComplaint *C)
{
  const PetscInt64 each = 2 * (PetscInt64)sizeof(PetscInt) + N * (PetscInt64)sizeof(PetscScalar); /* cannot overflow, because vectors of N entries exist in memory */
  struct stat      st;
  FILE            *fp = GpAppBinaryOpenAt_Private(file, 0, C);

  PetscFunctionBegin;
  if (!fp) PetscFunctionReturn(PETSC_SUCCESS);
  if (fstat(fileno(fp), &st)) st.st_size = 0;
  for (PetscInt k = 0; k < n && !C->code; k++) {
    PetscInt  header[2] = {0};
    PetscBool whole     = PETSC_FALSE;

    if (!fseeko(fp, (off_t)(k * each), SEEK_SET)) PetscCall(GpAppBinaryReadInts_Private(fp, 2, header, &whole));
    if (!whole) GpAppComplainAbout(C, PETSC_ERR_FILE_UNEXPECTED, 0, "the file ends before vector %" PetscInt_FMT " of %" PetscInt_FMT, k + 1, n);
    else if (header[0] != VEC_FILE_CLASSID) GpAppComplainAbout(C, PETSC_ERR_FILE_UNEXPECTED, 0, "expected vector %" PetscInt_FMT " of %" PetscInt_FMT " in PETSc's binary format, found other data", k + 1, n);
    else if (header[1] != N) GpAppComplainAbout(C, PETSC_ERR_FILE_UNEXPECTED, 0, "vector %" PetscInt_FMT " has %" PetscInt_FMT " entries, expected %" PetscInt64_FMT, k + 1, header[1], N);
    else if (st.st_size < k * each + each) GpAppComplainAbout(C, PETSC_ERR_FILE_UNEXPECTED, 0, "the file has %" PetscInt64_FMT " bytes and ends within vector %" PetscInt_FMT ": it is truncated", (PetscInt64)st.st_size, k + 1);
  }
  (void)fclose(fp);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads n >= 1 vectors in PETSc's binary format from the beginning of a file, which must have the sizes of x[]. Collective. */
PetscErrorCode GpAppVecLoad(const char file[], PetscInt n, Vec x[])
{
  MPI_Comm       comm = PetscObjectComm((PetscObject)x[0]);
  GpAppComplaint C    = {0};
  PetscViewer    viewer;
  PetscMPIInt    rank;
  PetscBool      binary;
  PetscInt       N;

  PetscFunctionBegin;
  PetscCall(GpAppIsBinary(comm, file, VEC_FILE_CLASSID, &binary, NULL)); /* refuses integers of another width */
  PetscCall(VecGetSize(x[0], &N));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  if (!rank) PetscCall(BinaryExamineVectors(file, n, N, &C));
  PetscCall(GpAppComplaintRaise(comm, file, &C));
  PetscCall(BinaryOpenViewer(comm, file, &viewer));
  for (PetscInt k = 0; k < n; k++) PetscCall(VecLoad(x[k], viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}
