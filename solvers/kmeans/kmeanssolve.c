/* The iteration of Lloyd: assign every point to the nearest centroid, move every centroid to the mean of its points. */
#include "kmeansimpl.h"

#include <petsctime.h>

/* Sets the variant of a stage: the one of the option, or else `standard`. */
static PetscErrorCode KMeansChooseVariant(KMeans km, const char option[], const KMeansVariant table[], PetscInt asked, PetscInt standard, PetscInt *chosen)
{
  PetscFunctionBegin;
  *chosen = asked == KMEANS_AUTO ? standard : asked;
  PetscCheck(table[*chosen].run[GpDevKindOf(km->points.data.dev)], PetscObjectComm((PetscObject)km), PETSC_ERR_USER_INPUT, "%s %s: this algorithm runs on the host only; add -gpucsr_device host, or use %s auto", option, table[*chosen].name, option);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KMeansSetUp - Copies the points to the device and chooses the variants of assignment and update

  Collective

  Input Parameter:
. km - the solver

  Level: advanced

  Note:
  `KMeansSolve()` calls it.

.seealso: `KMeansSetPoints()`, `KMeansSolve()`
@*/
PetscErrorCode KMeansSetUp(KMeans km)
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)km);
  PetscInt       N, d;
  double        *given = NULL;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(km, KMEANS_CLASSID, 1);
  if (km->setup) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(km->X, comm, PETSC_ERR_ORDER, "KMeans: there are no points: call KMeansSetPoints()");
  PetscCall(MatGetSize(km->X, &N, &d));
  PetscCheck(km->k <= N, comm, PETSC_ERR_USER_INPUT, "KMeans: %" PetscInt_FMT " clusters of %" PetscInt_FMT " points; ask for at most as many clusters as points", km->k, N);
  PetscCall(KMeansPointsDestroy_Private(&km->points));
  PetscCall(PetscFree3(km->centroid, km->best, km->tally));
  PetscCall(KMeansStatisticsSetUp_Private(km));
  if (km->start == KMEANS_START_GIVEN) PetscCall(KMeansGetGiven_Private(km, &given));
  PetscCall(KMeansPointsCreate_Private(km, km->X, km->weights, given ? km->k : 0, given, &km->points));
  PetscCall(PetscFree(given));
  PetscCall(PetscMalloc3(km->k * d, &km->centroid, km->k * d, &km->best, KMeansTallySize(km->k, d, km->points.data.words), &km->tally));
  PetscCall(KMeansChooseVariant(km, "-kmeans_assign", KMeansAssignTable, km->assign, KMEANS_ASSIGN_brute, &km->now[0]));
  PetscCall(KMeansChooseVariant(km, "-kmeans_update", KMeansUpdateTable, km->update, KMEANS_UPDATE_fixed, &km->now[1]));
  km->setup = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Records an event before (0) or after (1) an assignment. */
static PetscErrorCode KMeansRecordEvent(KMeansPoints *P, int e)
{
  const GpDev dev = P->data.dev;

  PetscFunctionBegin;
  if (!P->event[e]) PetscCallGp(dev, "Timer", GpDevEventCreate(dev, &P->event[e]));
  PetscCallGp(dev, "Timer", GpDevEventRecord(dev, P->event[e]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the centroids to the device, assigns all points and, if asked, adds them to the tally. Sums the tally over all ranks. */
static PetscErrorCode KMeansPass(KMeans km, PetscBool update)
{
  KMeansData    *A    = &km->points.data;
  const size_t   size = (size_t)KMeansTallySize(km->kept, A->d, A->words);
  PetscMPIInt    count;
  PetscLogDouble begin, end;
  double         assign;

  PetscFunctionBegin;
  PetscCall(PetscTime(&begin));
  PetscCall(KMeansPointsSetCentroids_Private(&km->points, km->kept, km->centroid));
  PetscCall(KMeansPointsSetBounds_Private(&km->points, KMeansAssignTable[km->now[0]].group));
  PetscCallGp(A->dev, "Sums", GpDevZero(A->dev, A->tally, size * sizeof(int64_t)));
  PetscCall(PetscLogEventBegin(KMEANS_AssignEvent, km, 0, 0, 0));
  PetscCall(KMeansRecordEvent(&km->points, 0));
  PetscCallGp(A->dev, "Assignment", KMeansAssignTable[km->now[0]].run[GpDevKindOf(A->dev)](A));
  PetscCall(KMeansRecordEvent(&km->points, 1));
  PetscCall(PetscLogEventEnd(KMEANS_AssignEvent, km, 0, 0, 0));
  PetscCall(PetscLogEventBegin(KMEANS_UpdateEvent, km, 0, 0, 0));
  if (update) PetscCallGp(A->dev, "Update", KMeansUpdateTable[km->now[1]].run[GpDevKindOf(A->dev)](A));
  PetscCallGp(A->dev, "Sums", GpDevDownload(A->dev, km->tally, A->tally, size * sizeof(int64_t)));
  PetscCall(PetscLogEventEnd(KMEANS_UpdateEvent, km, 0, 0, 0));
  PetscCall(PetscMPIIntCast((PetscInt)size, &count));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, km->tally, count, MPIU_INT64, MPI_SUM, PetscObjectComm((PetscObject)km)));
  PetscCallGp(A->dev, "Timer", GpDevEventSeconds(A->dev, km->points.event[0], km->points.event[1], &assign)); /* the download has waited for both */
  PetscCall(PetscTime(&end));
  km->statistics.assign += assign;
  km->statistics.update += end - begin - assign;
  km->inertia = (double)km->tally[KMEANS_INERTIA] / A->cost.first;
  km->distances += km->tally[KMEANS_COUNTED];
  km->rechecked += km->tally[KMEANS_RECHECK];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Iterates from the start centroids. Afterwards labels and inertia belong to the centroids. */
static PetscErrorCode KMeansIterate(KMeans km)
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

    PetscCall(KMeansPass(km, PETSC_TRUE));
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
  if (km->reason != KMEANS_CONVERGED_LABELS) PetscCall(KMeansPass(km, PETSC_FALSE)); /* the centroids have moved since the last assignment */
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
    double *given;

    PetscCall(KMeansGetGiven_Private(km, &given));
    PetscCall(PetscArraycpy(km->centroid, given, km->k * km->points.data.d));
    PetscCall(PetscFree(given));
  } else if (km->start == KMEANS_START_PARALLEL) PetscCall(KMeansReduceCandidates(km, restart));
  else PetscCall(KMeansStartDrawn_Private(km, restart, (PetscBool)(km->start == KMEANS_START_PLUSPLUS)));
  PetscCall(PetscLogEventEnd(KMEANS_StartEvent, km, 0, 0, 0));
  PetscCall(PetscTime(&end));
  km->statistics.start += end - begin;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes an index set of the labels on the device. */
static PetscErrorCode KMeansCreateLabels(MPI_Comm comm, const KMeansData *A, IS *labels)
{
  int32_t  *label;
  PetscInt *wide;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(A->n, &label));
  PetscCall(PetscMalloc1(A->n, &wide));
  if (A->n) PetscCallGp(A->dev, "Labels", GpDevDownload(A->dev, label, A->label, (size_t)A->n * sizeof(*label)));
  for (int32_t i = 0; i < A->n; i++) wide[i] = label[i];
  PetscCall(PetscFree(label));
  PetscCall(ISCreateGeneral(comm, A->n, wide, PETSC_OWN_POINTER, labels));
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

.seealso: `KMeansSetPoints()`, `KMeansGetCentroids()`, `KMeansGetLabels()`, `KMeansGetInertia()`
@*/
PetscErrorCode KMeansSolve(KMeans km)
{
  PetscReal             inertia = PETSC_INFINITY;
  PetscInt              it = 0, kept = 0, last = -1, best = -1;
  KMeansConvergedReason reason = KMEANS_CONVERGED_ITERATING;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(km, KMEANS_CLASSID, 1);
  PetscCall(KMeansSetUp(km));
  PetscCall(PetscLogEventBegin(KMEANS_SolveEvent, km, 0, 0, 0));
  PetscCall(ISDestroy(&km->labels));
  PetscCall(KMeansStatisticsBegin_Private(km));
  for (PetscInt restart = 0; restart < (km->start == KMEANS_START_GIVEN ? 1 : km->restarts); restart++) {
    PetscCall(KMeansChooseStart(km, restart));
    PetscCall(KMeansIterate(km));
    last = restart;
    if (best >= 0 && km->inertia >= inertia) continue;
    best    = restart;
    inertia = km->inertia;
    it      = km->it;
    kept    = km->kept;
    reason  = km->reason;
    PetscCall(PetscArraycpy(km->best, km->centroid, kept * km->points.data.d));
  }
  if (best != last) { /* labels of the best restart */
    km->kept = kept;
    PetscCall(PetscArraycpy(km->centroid, km->best, kept * km->points.data.d));
    PetscCall(KMeansPass(km, PETSC_FALSE));
    km->it     = it;
    km->reason = reason;
  }
  PetscCall(KMeansCreateLabels(PetscObjectComm((PetscObject)km), &km->points.data, &km->labels));
  km->done        = last + 1;
  km->bestrestart = best;
  PetscCall(KMeansStatisticsEnd_Private(km));
  PetscCall(PetscLogEventEnd(KMEANS_SolveEvent, km, 0, 0, 0));
  PetscCall(KMeansViewFromOptions(km, NULL, "-kmeans_view"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KMeansPredict - Assigns other points to the centroids of the last solve

  Collective

  Input Parameters:
+ km - the solver, after `KMeansSolve()`
- X  - the points, one per row, with as many columns as those of the solve

  Output Parameter:
. labels - the number of the nearest centroid of each local row; the caller destroys it

  Level: beginner

.seealso: `KMeansSolve()`, `KMeansGetLabels()`
@*/
PetscErrorCode KMeansPredict(KMeans km, Mat X, IS *labels)
{
  KMeansPoints P;
  PetscInt     N, d;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(km, KMEANS_CLASSID, 1);
  PetscValidHeaderSpecific(X, MAT_CLASSID, 2);
  KMeansCheckPointer(labels, 3);
  PetscCheckSameComm(km, 1, X, 2);
  PetscCheck(km->labels, PetscObjectComm((PetscObject)km), PETSC_ERR_ARG_WRONGSTATE, "There are no centroids before KMeansSolve()");
  PetscCall(MatGetSize(X, &N, &d));
  PetscCheck(d == km->points.data.d, PetscObjectComm((PetscObject)km), PETSC_ERR_USER_INPUT, "Points have %" PetscInt_FMT " features, the centroids %d", d, (int)km->points.data.d);
  PetscCall(KMeansPointsCreate_Private(km, X, NULL, km->kept, km->centroid, &P));
  PetscCall(KMeansPointsSetCentroids_Private(&P, km->kept, km->centroid));
  PetscCall(KMeansPointsForgetLabels_Private(&P));
  PetscCallGp(P.data.dev, "Assignment", KMeansAssignTable[KMEANS_ASSIGN_brute].run[GpDevKindOf(P.data.dev)](&P.data));
  PetscCall(KMeansCreateLabels(PetscObjectComm((PetscObject)X), &P.data, labels));
  PetscCall(KMeansPointsDestroy_Private(&P));
  PetscFunctionReturn(PETSC_SUCCESS);
}
