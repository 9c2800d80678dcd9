/* Checks that the listed pairs connect all points.  Otherwise components of the map could move without a change of the stress. */
#include "solvers/smacof/smacofimpl.h"
#include "app/program/appforest.h"
#include "app/text/appcollective.h"

/* Raises an error that lists the size and one point of up to six components. */
static PetscErrorCode SMACOFRaiseDisconnected(MPI_Comm comm, PetscInt N, PetscInt parent[], PetscInt size[], PetscBool fixed)
{
  PetscInt count     = 0;
  char     list[256] = "";

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(size, N));
  for (PetscInt i = 0; i < N; i++) size[GpAppForestFindRoot(parent, i)]++;
  for (PetscInt i = 0; i < N; i++) {
    if (size[i] && ++count <= 6) PetscCall(PetscSNPrintf(list + strlen(list), sizeof(list) - strlen(list), "%s%" PetscInt_FMT " with point %" PetscInt_FMT, count > 1 ? ", " : "", size[i], i));
  }
  PetscCall(PetscFree2(parent, size));
  SETERRQ(comm, PETSC_ERR_USER_INPUT, "The pairs leave the points in %" PetscInt_FMT " components%s. Numbers of points: %s%s (counted from 0). Scale each component by itself, or list pairs between them", count,
          fixed ? " (fixed points are connected)" : "", list, count > 6 ? ", ..." : "");
}

/* Raises an error unless the listed pairs connect all points.  Fixed points count as connected with each other.  Collective. */
PetscErrorCode SMACOFPairsCheckConnected_Private(const SMACOFPairs *D, const SMACOFFixed *fixed)
{
  PetscInt   *parent, *other;
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(D->comm, &size));
  PetscCall(PetscMalloc2(D->N, &parent, D->N, &other));
  for (PetscInt i = 0; i < D->N; i++) parent[i] = i;
  for (PetscInt i = D->first; i < D->last; i++)
    for (int64_t k = D->start[i - D->first]; k < D->start[i - D->first + 1]; k++) GpAppForestJoin(parent, i, D->column[k]);
  for (PetscInt k = 1; fixed && k < fixed->n; k++) GpAppForestJoin(parent, fixed->point[0], fixed->point[k]);
  for (PetscMPIInt rank = 0; rank < size; rank++) { /* every rank joins the forests of all ranks */
    PetscCall(PetscArraycpy(other, parent, D->N));
    PetscCall(GpAppBroadcast(D->comm, other, sizeof(*other) * (size_t)D->N, rank));
    for (PetscInt i = 0; i < D->N; i++) GpAppForestJoin(parent, i, other[i]);
  }
  for (PetscInt i = 0; i < D->N; i++)
    if (GpAppForestFindRoot(parent, i) != 0) PetscCall(SMACOFRaiseDisconnected(D->comm, D->N, parent, other, (PetscBool)(fixed != NULL)));
  PetscCall(PetscFree2(parent, other));
  PetscFunctionReturn(PETSC_SUCCESS);
}
