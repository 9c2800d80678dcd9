/* Set-up, solve and prediction. */
#include "kmeansimpl.h"

#include <petsctime.h>

/* Forgets the set-up if points, weights or start centroids have changed since. */
static PetscErrorCode KMeansCheckStates(KMeans km)
{
  const PetscObject data[3] = {(PetscObject)km->X, (PetscObject)km->weights, (PetscObject)(km->start == KMEANS_START_GIVEN ? km->given : NULL)};

  PetscFunctionBegin;
  for (int o = 0; o < 3; o++) {
    PetscObjectState state = 0;

    if (data[o]) PetscCall(PetscObjectStateGet(data[o], &state));
    if (state != km->states[o]) km->setup = PETSC_FALSE;
    km->states[o] = state;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KMeansSetUp - Copies the points to the device and chooses the variants of assignment and update

  Collective

  Input Parameter:
. km - the solver

  Level: advanced

  Note:
  `KMeansSolve()` calls it. The points are copied again if they, their weights or relevant settings have changed. Results of an earlier solve are freed then.

.seealso: `KMeansSetPoints()`, `KMeansSolve()`
@*/
PetscErrorCode KMeansSetUp(KMeans km)
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)km);
  PetscInt       N, d, many;
  double        *given = NULL;
  PetscErrorCode err;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(km, KMEANS_CLASSID, 1);
  PetscCall(KMeansCheckStates(km));
  if (km->setup) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(km->X, comm, PETSC_ERR_ORDER, "KMeans: there are no points: call KMeansSetPoints()");
  PetscCall(MatGetSize(km->X, &N, &d));
  PetscCheck(km->k <= N, comm, PETSC_ERR_USER_INPUT, "KMeans: %" PetscInt_FMT " clusters of %" PetscInt_FMT " points; ask for at most as many clusters as points", km->k, N);
  PetscCall(KMeansCheckSize_Private(comm, km->k, d));
  PetscCheck(km->batch <= N, comm, PETSC_ERR_USER_INPUT, "KMeans: batches of %" PetscInt_FMT " points from %" PetscInt_FMT " points; use smaller batches, or -kmeans_batch 0 for all points", km->batch, N);
  PetscCall(KMeansLabelsDestroy_Private(km));
  PetscCall(KMeansPointsDestroy_Private(&km->points));
  PetscCall(KMeansBatchesDestroy_Private(&km->batches));
  PetscCall(KMeansRestartsDestroy_Private(&km->ahead));
  PetscCall(PetscFree3(km->centroid, km->best, km->tally));
  PetscCall(KMeansStatisticsSetUp_Private(km));
  if (km->start == KMEANS_START_GIVEN) {
    PetscCall(KMeansGetGiven_Private(km, km->X, &many, &given));
    PetscCheck(many == km->k, comm, PETSC_ERR_USER_INPUT, "Start centroids: %" PetscInt_FMT " x %" PetscInt_FMT ", but %" PetscInt_FMT " clusters are wanted; use -kmeans_clusters %" PetscInt_FMT, many, d, km->k, many);
  }
  err = KMeansPointsCreate_Private(km, km->X, km->weights, NULL, given ? km->k : 0, given, &km->points);
  if (!err && km->batch) err = KMeansBatchesCreate_Private(km, given ? km->k : 0, given);
  PetscCall(PetscFree(given));
  PetscCall(err);
  PetscCall(PetscMalloc3(km->k * d, &km->centroid, km->k * d, &km->best, KMeansTallySize(km->k, d, km->points.data.words), &km->tally));
  km->points.data.k = (int32_t)km->k;
  PetscCall(KMeansChooseVariants_Private(km));
  PetscCall(KMeansReduceSetUp_Private(km));
  km->setup = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the centroids to those of a k-means of weighted candidates. All ranks do the same. */
static PetscErrorCode KMeansReduceCandidates(KMeans km, PetscInt restart)
{
  KMeans sub;
  Mat    X;
  Vec    w;

  PetscFunctionBegin;
  PetscCall(KMeansDrawCandidates_Private(km, restart, &X, &w));
  PetscCall(KMeansCreate(PETSC_COMM_SELF, &sub));
  PetscCall(PetscObjectSetOptionsPrefix((PetscObject)sub, ((PetscObject)km)->prefix));
  PetscCall(PetscObjectAppendOptionsPrefix((PetscObject)sub, "kmeans_start_")); /* -kmeans_view is not for this solver */
  PetscCall(KMeansSetPoints(sub, X));
  PetscCall(KMeansSetWeights(sub, w));
  PetscCall(KMeansSetClusters(sub, km->k));
  PetscCall(KMeansSetMetric(sub, km->metric));
  PetscCall(KMeansSetSeed(sub, km->seed));
  PetscCall(KMeansSolve(sub));
  PetscCall(PetscArraycpy(km->centroid, sub->centroid, km->k * km->points.data.d));
  PetscCall(KMeansDestroy(&sub));
  PetscCall(MatDestroy(&X));
  PetscCall(VecDestroy(&w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the start centroids. */
static PetscErrorCode KMeansChooseStart(KMeans km, PetscInt restart)
{
  PetscLogDouble begin, end;

  PetscFunctionBegin;
  PetscCall(PetscTime(&begin));
  PetscCall(PetscLogEventBegin(KMEANS_StartEvent, km, 0, 0, 0));
  km->kept = km->k;
  if (km->start == KMEANS_START_GIVEN) {
    double  *given;
    PetscInt many;

    PetscCall(KMeansGetGiven_Private(km, km->X, &many, &given));
    PetscCall(PetscArraycpy(km->centroid, given, km->k * km->points.data.d));
    PetscCall(PetscFree(given));
  } else if (km->start == KMEANS_START_PARALLEL) PetscCall(KMeansReduceCandidates(km, restart));
  else PetscCall(KMeansStartDrawn_Private(km, restart, (PetscBool)(km->start == KMEANS_START_PLUSPLUS)));
  PetscCall(PetscLogEventEnd(KMEANS_StartEvent, km, 0, 0, 0));
  PetscCall(PetscTime(&end));
  km->statistics.start += end - begin;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the start centroids of restart km->done. If a GPU can iterate several restarts together, it iterates this one and the next ones now, unless it has done so
   before. left: number of restarts from this one on. */
static PetscErrorCode KMeansBeginRestart(KMeans km, PetscInt left)
{
  PetscInt count;

  PetscFunctionBegin;
  PetscCall(KMeansRestartsPrepare_Private(km, left, &count));
  for (PetscInt r = 0; r < count; r++) {
    PetscCall(KMeansChooseStart(km, km->done + r));
    if (count > 1) PetscCall(KMeansRestartsAdd_Private(km, r));
  }
  if (count > 1) PetscCall(KMeansRestartsIterate_Private(km));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Keeps the result of a restart if it is the best so far. The first of equals is kept. */
static PetscErrorCode KMeansKeepBest(KMeans km, PetscInt restart)
{
  PetscFunctionBegin;
  if (km->outcome.restart >= 0 && km->inertia >= km->outcome.inertia) PetscFunctionReturn(PETSC_SUCCESS);
  km->outcome = (KMeansOutcome){restart, km->it, km->kept, km->reason, km->inertia};
  PetscCall(PetscArraycpy(km->best, km->centroid, km->kept * km->points.data.d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Replaces the result of the last restart by that of the best. */
static PetscErrorCode KMeansRestoreBest(KMeans km)
{
  PetscFunctionBegin;
  km->kept = km->outcome.kept;
  PetscCall(PetscArraycpy(km->centroid, km->best, km->kept * km->points.data.d));
  PetscCall(KMeansPass_Private(km, &km->points, PETSC_FALSE));
  km->it     = km->outcome.it;
  km->reason = km->outcome.reason;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KMeansSolve - Divides the points into clusters

  Collective

  Input Parameter:
. km - the solver

  Level: beginner

  Note:
  With several restarts, the result with the least inertia is kept; the first one of equals.

.seealso: `KMeansSetPoints()`, `KMeansSetCheckpoint()`, `KMeansGetCentroids()`, `KMeansGetLabels()`, `KMeansGetInertia()`
@*/
PetscErrorCode KMeansSolve(KMeans km)
{
  PetscInt  restarts;
  PetscBool resumed;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(km, KMEANS_CLASSID, 1);
  PetscCall(KMeansSetUp(km));
  PetscCall(PetscLogEventBegin(KMEANS_SolveEvent, km, 0, 0, 0));
  PetscCall(ISDestroy(&km->labels));
  km->solved = PETSC_FALSE;
  PetscCall(KMeansStatisticsBegin_Private(km));
  PetscCall(KMeansResetAssign_Private(km));
  km->outcome     = (KMeansOutcome){.restart = -1};
  km->done        = 0;
  km->ahead.count = km->ahead.most = 0;
  restarts                         = km->start == KMEANS_START_GIVEN ? 1 : km->restarts;
  resumed                          = (PetscBool)(km->resume[0] != 0);
  PetscCall(KMeansCheckpointSetUp_Private(km));
  if (resumed) PetscCall(KMeansCheckpointRead_Private(km));
  PetscCall(KMeansSetRestart(km, NULL));
  for (; km->done < restarts; km->done++) {
    if (!resumed) PetscCall(KMeansBeginRestart(km, restarts - km->done));
    PetscCall(km->batch ? KMeansIterateBatches_Private(km, restarts, resumed) : KMeansIterate_Private(km, restarts, resumed));
    PetscCall(KMeansKeepBest(km, km->done));
    resumed = PETSC_FALSE;
  }
  if (km->outcome.restart != restarts - 1) PetscCall(KMeansRestoreBest(km));
  PetscCall(KMeansLabelsCreate_Private(km));
  PetscCall(KMeansStatisticsEnd_Private(km));
  PetscCall(PetscLogEventEnd(KMEANS_SolveEvent, km, 0, 0, 0));
  PetscCall(KMeansViewFromOptions(km, NULL, "-kmeans_view"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KMeansPredict - Assigns other points to the centroids of the last solve, or to the start centroids if there was no solve

  Collective

  Input Parameters:
+ km - the solver, after `KMeansSolve()` or `KMeansSetStartCentroids()`
- X  - the points, one per row, with as many columns as the centroids

  Output Parameter:
. labels - the number of the nearest centroid of each local row; the caller destroys it

  Level: beginner

.seealso: `KMeansSolve()`, `KMeansGetLabels()`, `KMeansSetStartCentroids()`
@*/
PetscErrorCode KMeansPredict(KMeans km, Mat X, IS *labels)
{
  KMeansPoints   P;
  PetscInt       N, d, k = km->kept, *label;
  double        *given = NULL;
  const double  *centroid;
  PetscErrorCode err;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(km, KMEANS_CLASSID, 1);
  KMeansCheckPointer(X, 2);
  PetscValidHeaderSpecific(X, MAT_CLASSID, 2);
  KMeansCheckPointer(labels, 3);
  PetscCheckSameComm(km, 1, X, 2);
  PetscCheck(km->solved || km->given, PetscObjectComm((PetscObject)km), PETSC_ERR_ARG_WRONGSTATE, "KMeans: there are no centroids; call KMeansSolve() or KMeansSetStartCentroids() first");
  PetscCall(MatGetSize(X, &N, &d));
  PetscCheck(!km->solved || d == km->points.data.d, PetscObjectComm((PetscObject)km), PETSC_ERR_USER_INPUT, "Points have %" PetscInt_FMT " features, the centroids %d", d, (int)km->points.data.d);
  PetscCheck(!km->solved || km->points.data.cosine == (km->metric == KMEANS_METRIC_COSINE), PetscObjectComm((PetscObject)km), PETSC_ERR_ARG_WRONGSTATE, "KMeans: the centroids were found with another metric; call KMeansSolve() first");
  if (!km->solved) PetscCall(KMeansGetGiven_Private(km, X, &k, &given));
  centroid = given ? given : km->centroid;
  err      = KMeansPointsCreate_Private(km, X, NULL, NULL, k, centroid, &P);
  if (err) PetscCall(PetscFree(given));
  PetscCall(err);
  PetscCall(KMeansPointsSetCentroids_Private(&P, k, centroid));
  PetscCall(KMeansPointsForgetLabels_Private(&P));
  PetscCall(KMeansPointsAssign_Private(&P, KMeansChooseOnce_Private(&P), KMEANS_AUTO));
  PetscCall(PetscMalloc1(P.data.n, &label));
  PetscCall(KMeansLabelsCopy_Private(&P.data, label));
  PetscCall(ISCreateGeneral(PetscObjectComm((PetscObject)X), P.data.n, label, PETSC_OWN_POINTER, labels));
  PetscCall(KMeansPointsDestroy_Private(&P));
  PetscCall(PetscFree(given));
  PetscFunctionReturn(PETSC_SUCCESS);
}
