/* MatLoad() of a matrix of type gpucsrstream from a file in PETSc's binary format. Each process reads its own rows. */
#include "mat/impls/gpucsr/type/streamed.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Gets the name of the file, and the offset at which the matrix begins. Processes other than the first have no file descriptor. */
static PetscErrorCode MatGPUCSRLoadGetPlace(Mat A, PetscViewer viewer, const char **name, PetscInt64 *offset, int *fd)
{
  MPI_Comm    comm = PetscObjectComm((PetscObject)A);
  PetscMPIInt rank;
  PetscBool   binary, mpiio = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERBINARY, &binary));
  PetscCheck(binary, comm, PETSC_ERR_ARG_WRONG, "A matrix of type %s loads files in PETSc's binary format only, not from a viewer of type %s; use PetscViewerBinaryOpen()", MATGPUCSRSTREAM, ((PetscObject)viewer)->type_name);
  PetscCall(PetscViewerSetUp(viewer));
  PetscCall(PetscViewerBinaryGetUseMPIIO(viewer, &mpiio));
  PetscCheck(!mpiio, comm, PETSC_ERR_SUP, "A matrix of type %s cannot be loaded by MPI-IO; remove -viewer_binary_mpiio, each process reads its own rows", MATGPUCSRSTREAM);
  PetscCall(PetscViewerFileGetName(viewer, name));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  *fd     = -1;
  *offset = 0;
  if (!rank) {
    PetscCall(PetscViewerBinaryGetDescriptor(viewer, fd));
    *offset = (PetscInt64)lseek(*fd, 0, SEEK_CUR);
  }
  PetscCallMPI(MPI_Bcast(offset, 1, MPIU_INT64, 0, comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatGPUCSRLoadOpen(Mat_GPUCSRStream *s, const char name[], PetscInt64 offset)
{
  char  why[GP_CHUNK_WHY + 256] = "";
  GpErr err;

  PetscFunctionBegin;
  err = GpRowFileOpen(name, (uint64_t)offset, &s->rows.file, why, sizeof(why));
  PetscCheck(!err, PETSC_COMM_SELF, err == GP_ERR_FILE ? PETSC_ERR_FILE_UNEXPECTED : PetscGPUCSRErrorClass(err), "%s", why);
  GpRowFileGetRows(s->rows.file, GP_F64, &s->rows.all);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the sizes of the matrix to those of the file, or compares them. */
static PetscErrorCode MatGPUCSRLoadSetSizes(Mat A, const char name[], const GpRowSource *all)
{
  MPI_Comm comm = PetscObjectComm((PetscObject)A);

  PetscFunctionBegin;
  PetscCheck(all->m <= PETSC_MAX_INT, comm, PETSC_ERR_ARG_OUTOFRANGE, "%s: the matrix has %" PetscInt64_FMT " rows, too many for 32-bit indices; use a PETSc with 64-bit indices", name, (PetscInt64)all->m);
  if (A->rmap->N < 0) PetscCall(PetscLayoutSetSize(A->rmap, (PetscInt)all->m));
  if (A->cmap->N < 0) PetscCall(PetscLayoutSetSize(A->cmap, (PetscInt)all->n));
  PetscCall(PetscLayoutSetUp(A->rmap));
  PetscCall(PetscLayoutSetUp(A->cmap));
  PetscCheck(A->rmap->N == (PetscInt)all->m && A->cmap->N == (PetscInt)all->n, comm, PETSC_ERR_FILE_UNEXPECTED,
             "%s: the matrix of the file has %" PetscInt64_FMT " rows and %" PetscInt64_FMT " columns, not %" PetscInt_FMT " and %" PetscInt_FMT " as set by MatSetSizes()", name, (PetscInt64)all->m, (PetscInt64)all->n, A->rmap->N, A->cmap->N);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatLoad_GPUCSRStream(Mat A, PetscViewer viewer)
{
  Mat_GPUCSRStream *s = (Mat_GPUCSRStream *)A->spptr;
  const char       *name;
  PetscInt64        offset;
  int               fd;
  GpOp              op[2];
  MatGPUCSRHalo    *halo;

  PetscFunctionBegin;
  PetscCall(MatGPUCSRStreamReset_Private(A));
  PetscCall(MatGPUCSRLoadGetPlace(A, viewer, &name, &offset, &fd));
  PetscCall(MatGPUCSRAgree_Private(A, MatGPUCSRLoadOpen(s, name, offset), "Opening the file of the matrix"));
  PetscCall(MatGPUCSRLoadSetSizes(A, name, &s->rows.all));
  PetscCall(MatGPUCSRStreamBegin_Private(A));
  /* encode now, so that MatLoad() and not the first product reports a damaged file */
  PetscCall(MatGPUCSRStreamGetOperators_Private(A, PETSC_FALSE, op, &halo));
  /* the next object of the file follows the matrix */
  if (fd >= 0) PetscCheck(lseek(fd, (off_t)GpRowFileGetEnd(s->rows.file), SEEK_SET) >= 0, PETSC_COMM_SELF, PETSC_ERR_FILE_READ, "%s: cannot set the file position behind the matrix: %s; check the disk", name, strerror(errno));
  PetscFunctionReturn(PETSC_SUCCESS);
}
