/* Collective operations of the readers and solvers. */
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

/* Raises an error on all ranks if the local size of an object is not as expected on one of them. The message has the sizes of the first such rank.
   what: the object; remedy: what the user can do. Collective. */
PetscErrorCode GpAppCheckLocalSize(MPI_Comm comm, const char what[], PetscInt size, PetscInt expected, const char remedy[])
{
  PetscInt    sizes[2] = {size, expected};
  PetscMPIInt first;
  PetscBool   found;

  PetscFunctionBegin;
  PetscCall(GpAppFindFirst(comm, (PetscBool)(size != expected), &first, &found));
  if (!found) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Bcast(sizes, 2, MPIU_INT, first, comm));
  SETERRQ(comm, PETSC_ERR_ARG_SIZ, "The local size of the %s is %" PetscInt_FMT " on rank %d, expected %" PetscInt_FMT ": %s", what, sizes[0], (int)first, sizes[1], remedy);
}

/* Broadcasts any number of bytes; MPI counts them in int. */
PetscErrorCode GpAppBroadcast(MPI_Comm comm, void *data, size_t bytes, PetscMPIInt root)
{
  const size_t most = (size_t)1 << 30;

  PetscFunctionBegin;
  for (size_t at = 0; at < bytes; at += most) PetscCallMPI(MPI_Bcast((char *)data + at, (PetscMPIInt)PetscMin(bytes - at, most), MPI_BYTE, root, comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gathers arrays of all ranks, n values of `each` bytes here, on every rank, in the order of the ranks. all: pointer to the array, which has a 0 byte after the values, and which
   the caller frees with PetscFree(); total: its number of values, or NULL. Collective. */
PetscErrorCode GpAppAllgather(MPI_Comm comm, const void *mine, PetscInt64 n, size_t each, void *all, PetscInt64 *total)
{
  PetscMPIInt size;
  PetscInt64  before, sum;
  char       *array;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(GpAppSumBefore(comm, n, &before, &sum));
  PetscCall(PetscMalloc1((size_t)sum * each + 1, &array));
  PetscCall(PetscMemcpy(array + (size_t)before * each, mine, (size_t)n * each));
  for (PetscMPIInt r = 0; r < size; r++) {
    PetscInt64 part[2] = {before, n};

    PetscCallMPI(MPI_Bcast(part, 2, MPIU_INT64, r, comm));
    PetscCall(GpAppBroadcast(comm, array + (size_t)part[0] * each, (size_t)part[1] * each, r));
  }
  array[(size_t)sum * each] = 0;
  *(void **)all             = array;
  if (total) *total = sum;
  PetscFunctionReturn(PETSC_SUCCESS);
}
