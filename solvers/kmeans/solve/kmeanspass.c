/* A pass over points: assignment to the centroids, and sums of each cluster. */
#include "solvers/kmeans/kmeansimpl.h"

#include <petsctime.h>

/* Records an event before (0) or after (1) an assignment. */
static PetscErrorCode KMeansRecordEvent(KMeansPoints *P, int e)
{
  const GpDev dev = P->data.dev;

  PetscFunctionBegin;
  if (!P->event[e]) PetscCallGp(dev, "Timer", GpDevEventCreate(dev, &P->event[e]));
  PetscCallGp(dev, "Timer", GpDevEventRecord(dev, P->event[e]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Assigns all points of P to the centroids on the device and, if asked, adds them to the tally on the device. The device may still work on both afterwards. */
PetscErrorCode KMeansPassBegin_Private(KMeans km, KMeansPoints *P, PetscBool update)
{
  KMeansData *A = &P->data;

  PetscFunctionBegin;
  PetscCall(KMeansPointsSetBounds_Private(P, KMeansAssignTable[km->now[0]].group));
  PetscCall(KMeansPointsSetColumns_Private(P, km->now[0]));
  PetscCall(KMeansPointsClearTally_Private(P, (PetscBool) !!(KMeansUpdateTable[km->now[1]].properties & KMEANS_DIFFERENCES)));
  PetscCall(PetscLogEventBegin(KMEANS_AssignEvent, km, 0, 0, 0));
  PetscCall(KMeansRecordEvent(P, 0));
  A->fuse = update && km->now[1] == KMEANS_UPDATE_fixed && GP_ON_DEVICE(A->dev, KMeansFuses, A, km->now[0]);
  PetscCall(KMeansPointsAssign_Private(P, km->now[0], update && KMeansIsStreamed(P) ? km->now[1] : KMEANS_AUTO)); /* a streamed block is added while it is on the device */
  PetscCall(KMeansRecordEvent(P, 1));
  PetscCall(PetscLogEventEnd(KMEANS_AssignEvent, km, 0, 0, 0));
  PetscCall(PetscLogEventBegin(KMEANS_UpdateEvent, km, 0, 0, 0));
  if (A->host) A->host->tally = km->tally;
  if (update && !A->fuse && !KMeansIsStreamed(P)) PetscCallGp(A->dev, "Update", KMeansUpdateTable[km->now[1]].run[GpDevKindOf(A->dev)](A));
  PetscCall(PetscLogEventEnd(KMEANS_UpdateEvent, km, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds times and totals of a pass to the statistics. The totals are in km->tally, and the device has finished. begin: time when the pass began. */
PetscErrorCode KMeansPassEnd_Private(KMeans km, KMeansPoints *P, PetscLogDouble begin)
{
  const KMeansData *A = &P->data;
  PetscLogDouble    end;
  double            assign;

  PetscFunctionBegin;
  PetscCallGp(A->dev, "Timer", GpDevEventSeconds(A->dev, P->event[0], P->event[1], &assign));
  PetscCall(PetscTime(&end));
  km->statistics.assign += assign;
  km->statistics.update += end - begin - assign;
  km->inertia = (double)km->tally[KMEANS_INERTIA] / A->cost.first;
  km->distances += km->tally[KMEANS_COUNTED];
  km->rechecked += km->tally[KMEANS_RECHECK];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the centroids to the device, assigns all points of P and, if asked, adds them to the tally. Sums the tally over all ranks to km->tally. */
PetscErrorCode KMeansPass_Private(KMeans km, KMeansPoints *P, PetscBool update)
{
  PetscLogDouble begin;

  PetscFunctionBegin;
  PetscCall(PetscTime(&begin));
  PetscCall(KMeansPointsSetCentroids_Private(P, km->kept, km->centroid));
  PetscCall(KMeansPassBegin_Private(km, P, update));
  PetscCall(KMeansReduceOnHost_Private(km, &P->data, (PetscBool)(P->data.host && update))); /* the update on the host sets all entries but the totals */
  PetscCall(KMeansPassEnd_Private(km, P, begin));
  PetscFunctionReturn(PETSC_SUCCESS);
}
