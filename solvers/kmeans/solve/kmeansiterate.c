/* The iteration of Lloyd: assign every point to the nearest centroid, move every centroid to the mean of its points. */
#include "solvers/kmeans/kmeansimpl.h"

#include <petsctime.h>

/* One iteration. shift: movement of the centroids; replaced: clusters without points were treated. */
static PetscErrorCode KMeansStep(KMeans km, PetscBool monitor, PetscReal *shift, PetscBool *replaced)
{
  PetscLogDouble begin, end;
  PetscBool      stepped;

  PetscFunctionBegin;
  PetscCall(KMeansResidentStep_Private(km, &stepped, shift, replaced));
  if (stepped) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KMeansPass_Private(km, &km->points, PETSC_TRUE));
  if (monitor) PetscCall(KMeansMonitor_Private(km, km->tally[KMEANS_CHANGED]));
  PetscCall(PetscTime(&begin));
  PetscCall(KMeansMoveCentroids_Private(km, shift, replaced));
  PetscCall(PetscTime(&end));
  km->statistics.update += end - begin;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Iterates from the start centroids, or repeats iteration km->it of a checkpoint and continues. Afterwards labels and inertia belong to the centroids.
   restarts: number of restarts of the solve. */
PetscErrorCode KMeansIterate_Private(KMeans km, PetscInt restarts, PetscBool resumed)
{
  PetscReal previous = PETSC_INFINITY;

  PetscFunctionBegin;
  PetscCall(KMeansPointsForgetLabels_Private(&km->points));
  km->reason          = KMEANS_CONVERGED_ITERATING;
  km->points.resident = PETSC_FALSE;
  if (km->change.before == KMEANS_AUTO) km->change.passes = km->change.rechecked = 0;
  for (km->it = resumed ? km->it : 1; !km->reason; km->it++) {
    PetscReal shift;
    PetscBool replaced, taken;

    if (!resumed && !km->points.resident) {
      PetscCall(KMeansRestartsTake_Private(km, &previous, &taken));
      if (!taken) PetscCall(KMeansLoop_Private(km, &previous));
    }
    if (km->reason) continue; /* iterations on a GPU have stopped; otherwise they have left clusters without points, or there were none */
    PetscCall(KMeansCheckpointBegin_Private(km, (PetscBool)(km->it >= km->max_it && km->done == restarts - 1)));
    PetscCall(KMeansStep(km, (PetscBool)!resumed, &shift, &replaced));
    if (replaced) previous = PETSC_INFINITY;
    else if (resumed) previous = km->inertia; /* the iteration did not converge before the checkpoint was written */
    else if (!km->tally[KMEANS_CHANGED]) km->reason = KMEANS_CONVERGED_LABELS;
    else if (previous - km->inertia < km->rtol * previous) km->reason = KMEANS_CONVERGED_INERTIA;
    else if (shift <= km->stol && km->stol > 0) km->reason = KMEANS_CONVERGED_SHIFT;
    else previous = km->inertia;
    if (!km->reason && km->it >= km->max_it) km->reason = KMEANS_DIVERGED_MAX_IT;
    PetscCall(KMeansCheckpointEnd_Private(km));
    if (!km->reason) PetscCall(KMeansAdaptAssign_Private(km));
    resumed = PETSC_FALSE;
  }
  km->it--;
  PetscCall(KMeansResidentEnd_Private(km));
  if (km->reason != KMEANS_CONVERGED_LABELS) PetscCall(KMeansPass_Private(km, &km->points, PETSC_FALSE)); /* the centroids have moved since the last assignment */
  PetscFunctionReturn(PETSC_SUCCESS);
}
