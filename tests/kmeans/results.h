/* Results of solves, for tests that compare bits. */
#ifndef GPUCSR_TESTS_KMEANS_RESULTS_H
#define GPUCSR_TESTS_KMEANS_RESULTS_H

#include <gpucsrcompat.h>
#include <gpucsrkmeans.h>
#include "points.h"

/* The results of a solve. */
typedef struct {
  IS                    labels;
  Mat                   centroids;
  PetscReal             inertia;
  PetscInt              it, best;
  PetscInt64            distances, rechecked;
  KMeansConvergedReason reason;
} Result;

static inline PetscErrorCode GetResult(KMeans km, Result *r)
{
  PetscFunctionBegin;
  PetscCall(KMeansGetLabels(km, &r->labels));
  PetscCall(PetscObjectReference((PetscObject)r->labels));
  PetscCall(KMeansGetCentroids(km, &r->centroids));
  PetscCall(KMeansGetInertia(km, &r->inertia));
  PetscCall(KMeansGetIterationNumber(km, &r->it));
  PetscCall(KMeansGetRestarts(km, NULL, &r->best));
  PetscCall(KMeansGetDistances(km, &r->distances, &r->rechecked));
  PetscCall(KMeansGetConvergedReason(km, &r->reason));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Raises an error unless two results have the same bits and, if `again` is set, as many distances were evaluated again. */
static inline PetscErrorCode CompareResults(const char what[], const Result *a, const Result *b, PetscBool again)
{
  PetscBool labels, centroids;

  PetscFunctionBegin;
  PetscCall(ISEqual(a->labels, b->labels, &labels));
  PetscCall(MatEqual(a->centroids, b->centroids, &centroids));
  PetscCheck(labels && centroids, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: %s labels, %s centroids", what, labels ? "the same" : "other", centroids ? "the same" : "other");
  PetscCheck(a->inertia == b->inertia && a->it == b->it && a->best == b->best && a->reason == b->reason, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
             "%s: restart %" PetscInt_FMT ", inertia %.17g, %s after %" PetscInt_FMT " iterations, not restart %" PetscInt_FMT ", inertia %.17g, %s after %" PetscInt_FMT " iterations", what, b->best, (double)b->inertia,
             KMeansConvergedReasons[b->reason], b->it, a->best, (double)a->inertia, KMeansConvergedReasons[a->reason], a->it);
  PetscCheck(a->distances == b->distances && (!again || a->rechecked == b->rechecked), PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: %" PetscInt64_FMT " distances, %" PetscInt64_FMT " evaluated again, not %" PetscInt64_FMT " and %" PetscInt64_FMT, what,
             b->distances, b->rechecked, a->distances, a->rechecked);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode ResultsDestroy(int n, Result result[])
{
  PetscFunctionBegin;
  for (int s = 0; s < n; s++) {
    PetscCall(ISDestroy(&result[s].labels));
    PetscCall(MatDestroy(&result[s].centroids));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif
