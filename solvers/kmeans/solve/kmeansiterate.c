/* The iteration of Lloyd: assign every point to the nearest centroid, move every centroid to the mean of its points. */
#include "solvers/kmeans/kmeansimpl.h"

#include <petsctime.h>

/* Iterates from the start centroids. Afterwards labels and inertia belong to the centroids. */
PetscErrorCode KMeansIterate_Private(KMeans km)
{
  PetscReal previous = PETSC_INFINITY;

  PetscFunctionBegin;
  PetscCall(KMeansPointsForgetLabels_Private(&km->points));
  km->reason = KMEANS_CONVERGED_ITERATING;
  for (km->it = 1; !km->reason; km->it++) {
    PetscReal      shift;
    PetscInt64     changed;
    PetscBool      replaced;
    PetscLogDouble begin, end;

    PetscCall(KMeansPass_Private(km, &km->points, PETSC_TRUE));
    changed = km->tally[KMEANS_CHANGED];
    PetscCall(KMeansMonitor_Private(km, changed));
    PetscCall(PetscTime(&begin));
    PetscCall(KMeansMoveCentroids_Private(km, &shift, &replaced));
    PetscCall(PetscTime(&end));
    km->statistics.update += end - begin;
    if (replaced) previous = PETSC_INFINITY;
    else if (!changed) km->reason = KMEANS_CONVERGED_LABELS;
    else if (previous - km->inertia < km->rtol * previous) km->reason = KMEANS_CONVERGED_INERTIA;
    else if (shift <= km->stol && km->stol > 0) km->reason = KMEANS_CONVERGED_SHIFT;
    else previous = km->inertia;
    if (!km->reason && km->it >= km->max_it) km->reason = KMEANS_DIVERGED_MAX_IT;
  }
  km->it--;
  if (km->reason != KMEANS_CONVERGED_LABELS) PetscCall(KMeansPass_Private(km, &km->points, PETSC_FALSE)); /* the centroids have moved since the last assignment */
  PetscFunctionReturn(PETSC_SUCCESS);
}
