/* Iterations whose centroids stay on the device. The host reads only the totals and the movement, unless there are clusters without points,
   or MPI sums the tally over the ranks. */
#include "solvers/kmeans/kmeansimpl.h"

#include <petsctime.h>

/* Returns true if the centroids can stay on the device: neither the update nor a monitor nor a checkpoint needs the data of each iteration on the host. */
PetscBool KMeansCanReside_Private(KMeans km)
{
  return (PetscBool)(!(KMeansUpdateTable[km->now[1]].properties & KMEANS_ON_HOST) && !km->nmonitors && !km->checkpoint[0]);
}

/* Copies the centroids to the host if those on the device are newer. */
PetscErrorCode KMeansResidentEnd_Private(KMeans km)
{
  KMeansPoints     *P = &km->points;
  const KMeansData *A = &P->data;

  PetscFunctionBegin;
  if (P->resident) PetscCallGp(A->dev, "Centroids", GpDevDownload(A->dev, km->centroid, A->centroid, (size_t)A->k * A->d * sizeof(double)));
  P->resident = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Moves the centroids on the device. Sets *moved to false if the host must treat clusters without points. Then no centroid has moved, and km->tally and
   km->centroid have been copied from the device. */
static PetscErrorCode KMeansResidentMove(KMeans km, PetscReal *shift, PetscBool *moved)
{
  KMeansPoints     *P    = &km->points;
  const KMeansData *A    = &P->data;
  const int         keep = km->empty == KMEANS_EMPTY_KEEP;
  KMeansMoved      *device, host;

  PetscFunctionBegin;
  PetscCallGp(A->dev, "Centroids", GpDevBorrow(A->dev, sizeof(*device), &device));
  PetscCallGp(A->dev, "Centroids", GP_ON_DEVICE(A->dev, KMeansMoveMeans, A, keep, device));
  PetscCallGp(A->dev, "Centroids", GpDevDownload(A->dev, &host, device, sizeof(host)));
  GpDevReturn(A->dev, &device, sizeof(*device));
  *moved = (PetscBool)(!host.empty || keep);
  PetscCall(PetscArraycpy(km->tally, host.total, KMEANS_TALLY));
  if (*moved) {
    P->resident = PETSC_TRUE;
    *shift      = sqrt(host.square);
  } else {
    PetscCallGp(A->dev, "Sums", GpDevDownload(A->dev, km->tally, A->reduced, (size_t)KMeansTallySize(A->k, A->d, A->words) * sizeof(int64_t)));
    PetscCall(KMeansResidentEnd_Private(km));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Executes one iteration: assignment, sums and new centroids. If the centroids cannot stay on the device, does nothing and sets *stepped to false. Sets
   *replaced to whether clusters without points were treated. */
PetscErrorCode KMeansResidentStep_Private(KMeans km, PetscBool *stepped, PetscReal *shift, PetscBool *replaced)
{
  KMeansPoints  *P = &km->points;
  PetscLogDouble begin;
  PetscBool      moved;

  PetscFunctionBegin;
  *stepped = KMeansCanReside_Private(km);
  if (!*stepped) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscTime(&begin));
  if (!P->resident) PetscCall(KMeansPointsSetCentroids_Private(P, km->kept, km->centroid));
  PetscCall(KMeansPassBegin_Private(km, P, PETSC_TRUE));
  PetscCall(KMeansReduceOnDevice_Private(km, &P->data));
  PetscCall(KMeansResidentMove(km, shift, &moved));
  *replaced = PETSC_FALSE;
  if (!moved) PetscCall(KMeansMoveCentroids_Private(km, shift, replaced));
  PetscCall(KMeansPassEnd_Private(km, P, begin));
  PetscFunctionReturn(PETSC_SUCCESS);
}
