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
