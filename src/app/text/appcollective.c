/* Collective operations that readers of files need. */
#include "app/text/appcollective.h"

/* Sums a number over the ranks before this one, and over all ranks. Either result may be NULL. */
PetscErrorCode GpAppSumBefore(MPI_Comm comm, PetscInt64 mine, PetscInt64 *before, PetscInt64 *all)
{
  PetscInt64 until;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Scan(&mine, &until, 1, MPIU_INT64, MPI_SUM, comm));
  if (before) *before = until - mine;
  if (all) PetscCallMPI(MPI_Allreduce(&mine, all, 1, MPIU_INT64, MPI_SUM, comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finds the lowest rank on which mine is true; if there is none, *found is false and *first is the number of ranks. */
PetscErrorCode GpAppFindFirst(MPI_Comm comm, PetscBool mine, PetscMPIInt *first, PetscBool *found)
{
  PetscMPIInt rank, size, candidate;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  candidate = mine ? rank : size;
  PetscCallMPI(MPI_Allreduce(&candidate, first, 1, MPI_INT, MPI_MIN, comm));
  *found = (PetscBool)(*first < size);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Returns whether mine is true on any rank. */
PetscErrorCode GpAppFindAny(MPI_Comm comm, PetscBool mine, PetscBool *any)
{
  PetscMPIInt first;

  PetscFunctionBegin;
  PetscCall(GpAppFindFirst(comm, mine, &first, any));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Broadcasts any number of bytes; MPI counts them in int. */
PetscErrorCode GpAppBroadcast(MPI_Comm comm, void *data, size_t bytes, PetscMPIInt root)
{
  const size_t most = (size_t)1 << 30;

  PetscFunctionBegin;
  for (size_t at = 0; at < bytes; at += most) PetscCallMPI(MPI_Bcast((char *)data + at, (PetscMPIInt)PetscMin(bytes - at, most), MPI_BYTE, root, comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gathers arrays of all ranks, n values of `each` bytes here, on every rank. all: pointer to the array, which the caller frees with PetscFree(); total: its number of values, or
   NULL. Collective. */
PetscErrorCode GpAppAllgather(MPI_Comm comm, const void *mine, PetscInt64 n, size_t each, void *all, PetscInt64 *total)
{
  PetscMPIInt  size, count, bytes, *counts, *starts;
  PetscInt64   sum;
  MPI_Datatype type;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(GpAppSumBefore(comm, n, NULL, &sum));
  PetscCheck(sum <= PETSC_MPI_INT_MAX, comm, PETSC_ERR_FILE_UNEXPECTED, "%" PetscInt64_FMT " rows, or bytes of names, in a file; at most %d are read", sum, PETSC_MPI_INT_MAX);
  PetscCall(GpCompatMPIIntCast(n, &count));
  PetscCall(GpCompatMPIIntCast((PetscInt64)each, &bytes));
  PetscCall(PetscMalloc2(size, &counts, size + 1, &starts));
  PetscCallMPI(MPI_Allgather(&count, 1, MPI_INT, counts, 1, MPI_INT, comm));
  starts[0] = 0;
  for (PetscMPIInt r = 0; r < size; r++) starts[r + 1] = starts[r] + counts[r];
  PetscCall(PetscMalloc((size_t)sum * each, all));
  PetscCallMPI(MPI_Type_contiguous(bytes, MPI_BYTE, &type));
  PetscCallMPI(MPI_Type_commit(&type));
  PetscCallMPI(MPI_Allgatherv(mine, count, type, *(void **)all, counts, starts, type, comm));
  PetscCallMPI(MPI_Type_free(&type));
  PetscCall(PetscFree2(counts, starts));
  if (total) *total = sum;
  PetscFunctionReturn(PETSC_SUCCESS);
}
