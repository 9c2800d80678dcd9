/* Mini-batches (Sculley, "Web-scale k-means clustering", 2010): an iteration assigns a batch of points, and moves each centroid towards the mean of
   its points in the batch. The rate is the weight of these points divided by the weight of all points that the centroid has had.

   A pseudorandom permutation of the numbers of the points puts them in an order. A batch is a range of this order, so it depends neither on the ranks nor
   on the device. The device holds a second copy of the points in which a batch is a range of each rank's points. */
#include "solvers/kmeans/kmeansimpl.h"
#include "app/program/apphash.h"

#include <petsctime.h>

/* Permutes the numbers 0 to n - 1: a Feistel network of four rounds on the least even number of bits, repeated until the result is below n (Black and
   Rogaway, "Ciphers with arbitrary finite domains", 2002). */
static uint64_t KMeansPermute(uint64_t number, uint64_t n, uint64_t seed)
{
  int      half = 0;
  uint64_t mask;

  while (half < 32 && n > (uint64_t)1 << 2 * half) half++;
  mask = ((uint64_t)1 << half) - 1;
  do {
    uint64_t left = number >> half, right = number & mask;

    for (uint64_t round = 0; round < 4; round++) {
      const uint64_t next = left ^ (GpAppHash64(GpAppHash64(seed + round) + right) & mask);

      left  = right;
      right = next;
    }
    number = left << half | right;
  } while (number >= n);
  return number;
}

/* Copies the points to the device in the order of the batches. */
PetscErrorCode KMeansBatchesCreate_Private(KMeans km, PetscInt many, const double outside[])
{
  KMeansBatches *B = &km->batches;
  const PetscInt n = km->points.data.n, N = km->points.N;
  PetscInt      *batch, *next, *order;
  PetscErrorCode err;

  PetscFunctionBegin;
  B->n = (N + km->batch - 1) / km->batch;
  PetscCall(PetscCalloc1(B->n + 1, &B->start));
  PetscCall(PetscMalloc2(km->k, &B->count, km->k * km->points.data.d, &B->origin));
  PetscCall(PetscMalloc3(n, &batch, n, &order, B->n, &next));
  for (PetscInt i = 0; i < n; i++) {
    batch[i] = (PetscInt)(KMeansPermute((uint64_t)(km->points.first + i), (uint64_t)N, (uint64_t)km->seed) / (uint64_t)km->batch);
    B->start[batch[i] + 1]++;
  }
  for (PetscInt m = 0; m < B->n; m++) {
    B->start[m + 1] += B->start[m];
    next[m] = B->start[m];
  }
  for (PetscInt i = 0; i < n; i++) order[next[batch[i]]++] = i;
  err = KMeansPointsCreate_Private(km, km->X, km->weights, order, many, outside, &B->points);
  PetscCall(PetscFree3(batch, order, next));
  PetscCall(err);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KMeansBatchesDestroy_Private(KMeansBatches *B)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(B->start));
  PetscCall(PetscFree2(B->count, B->origin));
  PetscCall(KMeansPointsDestroy_Private(&B->points));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Assigns the points of batch m and adds them to km->tally. */
static PetscErrorCode KMeansBatchPass(KMeans km, PetscInt m)
{
  KMeansBatches *B = &km->batches;
  KMeansPoints   part; /* shares the arrays of B->points */
  KMeansData     host;
  const PetscInt start = B->start[m], n = B->start[m + 1] - start;

  PetscFunctionBegin;
  PetscCall(KMeansPointsSetColumns_Private(&B->points, km->now[0]));
  part = B->points;
  KMeansSelectPoints_Private(&part.data, (size_t)start, n);
  if (part.data.host) {
    host = *part.data.host;
    KMeansSelectPoints_Private(&host, (size_t)start, n);
    part.data.host = &host;
  }
  PetscCall(KMeansPass_Private(km, &part, PETSC_TRUE));
  PetscCall(PetscArraycpy(B->points.event, part.event, 2));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Moves the centroids by a batch. The tolerances are tested after every epoch, in which each point was in one batch. */
static PetscErrorCode KMeansBatchStep(KMeans km, PetscInt first)
{
  KMeansBatches *B    = &km->batches;
  const size_t   size = (size_t)km->k * km->points.data.d;
  const PetscInt done = (km->it - 1) % B->n; /* batches of this epoch before this one */
  PetscReal      now, shift = 0;
  PetscLogDouble begin, end;

  PetscFunctionBegin;
  if (!done) {
    B->cost = 0;
    PetscCall(PetscArraycpy(B->origin, km->centroid, size));
  }
  PetscCall(KMeansBatchPass(km, (first + done) % B->n));
  PetscCall(KMeansMonitor_Private(km, km->tally[KMEANS_CHANGED]));
  PetscCall(PetscTime(&begin));
  B->cost += km->tally[KMEANS_INERTIA];
  PetscCall(KMeansMoveByRates_Private(km, B->count));
  PetscCall(PetscTime(&end));
  km->statistics.update += end - begin;
  if (done < B->n - 1) PetscFunctionReturn(PETSC_SUCCESS);
  now = (double)B->cost / km->points.data.cost.first;
  for (size_t e = 0; e < size; e++) shift += PetscSqr(km->centroid[e] - B->origin[e]);
  if (B->previous - now < km->rtol * B->previous) km->reason = KMEANS_CONVERGED_INERTIA;
  else if (km->stol > 0 && PetscSqrtReal(shift) <= km->stol) km->reason = KMEANS_CONVERGED_SHIFT;
  B->previous = now;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Assigns all points to the final centroids. Replaces or drops centroids that have no points, until all have some. */
static PetscErrorCode KMeansBatchFinish(KMeans km)
{
  PetscBool empty = PETSC_TRUE;

  PetscFunctionBegin;
  PetscCall(KMeansPointsForgetLabels_Private(&km->points));
  PetscCall(KMeansPass_Private(km, &km->points, PETSC_TRUE));
  for (PetscInt tries = 0; tries < km->k && empty; tries++) {
    PetscCall(KMeansTreatEmpty_Private(km, &empty));
    if (empty) PetscCall(KMeansPass_Private(km, &km->points, PETSC_TRUE));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Iterates over batches, from the start centroids or from the state of a checkpoint after iteration km->it. Afterwards labels and inertia of all points
   belong to the centroids. restarts: number of restarts of the solve. */
PetscErrorCode KMeansIterateBatches_Private(KMeans km, PetscInt restarts, PetscBool resumed)
{
  KMeansBatches *B     = &km->batches;
  const PetscInt first = (PetscInt)(GpAppHash64(KMeansRandomStream(km, km->done, 0)) % (uint64_t)B->n); /* every restart begins with another batch */

  PetscFunctionBegin;
  PetscCall(KMeansPointsForgetLabels_Private(&B->points));
  PetscCall(KMeansPointsSetCentroids_Private(&B->points, km->k, km->centroid));
  if (!resumed) {
    km->it      = 0;
    B->previous = PETSC_INFINITY;
    PetscCall(PetscArrayzero(B->count, km->k));
  }
  km->reason = km->it < km->max_it ? KMEANS_CONVERGED_ITERATING : KMEANS_DIVERGED_MAX_IT;
  while (!km->reason) {
    km->it++;
    PetscCall(KMeansBatchStep(km, first));
    if (!km->reason && km->it >= km->max_it) km->reason = KMEANS_DIVERGED_MAX_IT;
    PetscCall(KMeansCheckpointBegin_Private(km, (PetscBool)(km->it >= km->max_it && km->done == restarts - 1)));
    PetscCall(KMeansCheckpointEnd_Private(km));
  }
  PetscCall(KMeansBatchFinish(km));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KMeansSetBatchSize - Sets how many points an iteration uses

  Logically Collective

  Input Parameters:
+ km   - the solver
- size - number of points of a batch on all ranks; 0, the default: every iteration uses all points

  Options Database Key:
. -kmeans_batch <0> - the number

  Level: intermediate

  Notes:
  With batches an iteration assigns `size` points. It moves each centroid by the sum of their differences from it, divided by the weight of all points that the
  centroid has had so far. A last assignment of all points gives labels and inertia. The inertia is somewhat larger than with all points in every iteration, and
  far fewer distances are evaluated.

  The batches divide the points in an order that depends on the seed and on the numbers of the points alone. An epoch is one pass over all batches; the last
  batch has the remaining points. The result has the same bits on every device and number of ranks.

  The tolerances are tested at the end of each epoch. The inertia of an epoch is the sum of the inertias of its batches, each for the centroids that the batch was
  assigned to. The maximum number of iterations counts batches. Monitors receive the inertia of a batch.

  A centroid without points in a batch stays where it is. Clusters that are empty at the end are treated as `KMeansSetEmpty()` says.

  The device holds the points twice. Algorithms with lower bounds and the update `changed` need all points in every iteration, and are refused.

  Reference:
  D. Sculley, "Web-scale k-means clustering", WWW 2010.

.seealso: `KMeansSetTolerances()`, `KMeansSetEmpty()`, `KMeansSolve()`
@*/
PetscErrorCode KMeansSetBatchSize(KMeans km, PetscInt size)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(km, KMEANS_CLASSID, 1);
  PetscValidLogicalCollectiveInt(km, size, 2);
  PetscCheck(size >= 0, PetscObjectComm((PetscObject)km), PETSC_ERR_USER_INPUT, "KMeans: batches of %" PetscInt_FMT " points; use a positive number, or 0 for all points in every iteration", size);
  if (size != km->batch) km->setup = PETSC_FALSE;
  km->batch = size;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KMeansGetBatchSize - Gets how many points an iteration uses

  Not Collective

  Input Parameter:
. km - the solver

  Output Parameter:
. size - number of points of a batch on all ranks; 0: every iteration uses all points

  Level: intermediate

.seealso: `KMeansSetBatchSize()`
@*/
PetscErrorCode KMeansGetBatchSize(KMeans km, PetscInt *size)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(km, KMEANS_CLASSID, 1);
  KMeansCheckPointer(size, 2);
  *size = km->batch;
  PetscFunctionReturn(PETSC_SUCCESS);
}
