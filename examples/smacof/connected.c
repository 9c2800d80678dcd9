/* Whether the listed pairs hold all points together: else parts of the map could move without a change of the stress. */
#include "smacof.h"

/* the number that stands for the component of i; paths are halved on the way */
static PetscInt Find(PetscInt parent[], PetscInt i)
{
  while (parent[i] != i) i = parent[i] = parent[parent[i]];
  return i;
}

/* the lower number stands for both */
static void Join(PetscInt parent[], PetscInt i, PetscInt j)
{
  i                      = Find(parent, i);
  j                      = Find(parent, j);
  parent[PetscMax(i, j)] = PetscMin(i, j);
}

/* names the components: how large they are, and a point of each */
static PetscErrorCode Complain(MPI_Comm comm, PetscInt N, PetscInt parent[], PetscBool fixed)
{
  PetscInt *size, count = 0, told = 0;
  char      list[256] = "";

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(N, &size));
  for (PetscInt i = 0; i < N; i++) size[Find(parent, i)]++;
  for (PetscInt i = 0; i < N; i++) {
    if (!size[i]) continue;
    count++;
    if (told == 6) continue;
    told++;
    PetscCall(PetscSNPrintf(list + strlen(list), sizeof(list) - strlen(list), "%s%" PetscInt_FMT " with point %" PetscInt_FMT, told > 1 ? ", " : "", size[i], i));
  }
  PetscCall(PetscFree(size));
  SETERRQ(comm, PETSC_ERR_USER_INPUT, "The pairs leave %" PetscInt_FMT " components that nothing holds together%s, of so many points: %s%s (counted from 0); scale each by itself, or list pairs between them", count,
          fixed ? " (fixed points count as one)" : "", list, count > told ? ", ..." : "");
}

/* raises an error unless the pairs of positive weight, and points that are fixed, connect all points; collective */
PetscErrorCode CheckConnected(const Dissim *D, const Fixed *fixed)
{
  PetscInt   *parent, *other;
  PetscMPIInt rank, size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(D->comm, &rank));
  PetscCallMPI(MPI_Comm_size(D->comm, &size));
  PetscCall(PetscMalloc2(D->N, &parent, D->N, &other));
  for (PetscInt i = 0; i < D->N; i++) parent[i] = i;
  for (PetscInt i = D->first; i < D->last; i++)
    for (int64_t k = D->start[i - D->first]; k < D->start[i - D->first + 1]; k++) Join(parent, i, D->column[k]);
  for (PetscInt k = 1; fixed && k < fixed->n; k++) Join(parent, fixed->point[0], fixed->point[k]);
  for (PetscMPIInt reach = 1; reach < size; reach *= 2) { /* halves of the ranks tell the others what they know */
    if (rank % (2 * reach) == reach) PetscCallMPI(MPI_Send(parent, (PetscMPIInt)D->N, MPIU_INT, rank - reach, 0, D->comm));
    else if (rank % (2 * reach) == 0 && rank + reach < size) {
      PetscCallMPI(MPI_Recv(other, (PetscMPIInt)D->N, MPIU_INT, rank + reach, 0, D->comm, MPI_STATUS_IGNORE));
      for (PetscInt i = 0; i < D->N; i++) Join(parent, i, other[i]);
    }
  }
  PetscCallMPI(MPI_Bcast(parent, (PetscMPIInt)D->N, MPIU_INT, 0, D->comm));
  for (PetscInt i = 0; i < D->N; i++)
    if (Find(parent, i) != 0) PetscCall(Complain(D->comm, D->N, parent, (PetscBool)(fixed != NULL)));
  PetscCall(PetscFree2(parent, other));
  PetscFunctionReturn(PETSC_SUCCESS);
}
