/* Statistics of a solve: seconds of its stages, bytes copied, restarts, variants in use. */
#include "solvers/kmeans/kmeansimpl.h"

/* Bytes that this process has copied between host and device so far; 0 if both have the same memory. */
static PetscErrorCode KMeansStatisticsGetBytes(PetscLogDouble *bytes)
{
  GpDev dev;

  PetscFunctionBegin;
  PetscCall(PetscGPUCSRGetDevice(&dev));
  *bytes = GpDevHasMemory(dev) ? GpDevBytesIn(dev) + GpDevBytesOut(dev) : 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Called before points are copied to the device. The bytes from here on belong to the next solve. */
PetscErrorCode KMeansStatisticsSetUp_Private(KMeans km)
{
  PetscFunctionBegin;
  PetscCall(KMeansStatisticsGetBytes(&km->statistics.before));
  km->statistics.fresh = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Called at the beginning of a solve. */
PetscErrorCode KMeansStatisticsBegin_Private(KMeans km)
{
  KMeansStatistics *s = &km->statistics;

  PetscFunctionBegin;
  if (!s->fresh) PetscCall(KMeansStatisticsGetBytes(&s->before));
  s->fresh = PETSC_FALSE;
  s->start = s->assign = s->update = s->bytes = 0;
  km->distances = km->rechecked = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Called at the end of a solve. Combines the statistics of all ranks: the maximum of seconds, the sum of bytes. */
PetscErrorCode KMeansStatisticsEnd_Private(KMeans km)
{
  KMeansStatistics *s       = &km->statistics;
  double            most[3] = {s->start, s->assign, s->update}, bytes;

  PetscFunctionBegin;
  PetscCall(KMeansStatisticsGetBytes(&bytes));
  bytes -= s->before;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, most, 3, MPI_DOUBLE, MPI_MAX, PetscObjectComm((PetscObject)km)));
  PetscCallMPI(MPI_Allreduce(&bytes, &s->bytes, 1, MPI_DOUBLE, MPI_SUM, PetscObjectComm((PetscObject)km)));
  s->start  = most[0];
  s->assign = most[1];
  s->update = most[2];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KMeansGetTimes - Gets the seconds that the last solve spent in each of its stages, the maximum of all ranks

  Not Collective

  Input Parameter:
. km - the solver, after `KMeansSolve()`

  Output Parameters:
+ start  - seconds to choose the first centroids, in all restarts; `NULL` if not needed
. assign - seconds to find the nearest centroids, in all restarts; on a GPU those between two events; `NULL` if not needed
- update - seconds of the rest of the iterations: centroids copied, sums of the points, communication, new centroids; `NULL` if not needed

  Level: intermediate

.seealso: `KMeansGetDistances()`, `KMeansGetBytesCopied()`, `KMeansSolve()`
@*/
PetscErrorCode KMeansGetTimes(KMeans km, PetscLogDouble *start, PetscLogDouble *assign, PetscLogDouble *update)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(km, KMEANS_CLASSID, 1);
  if (start) *start = km->statistics.start;
  if (assign) *assign = km->statistics.assign;
  if (update) *update = km->statistics.update;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KMeansGetBytesCopied - Gets how many bytes the last solve copied between host and device, on all ranks

  Not Collective

  Input Parameter:
. km - the solver, after `KMeansSolve()`

  Output Parameter:
. bytes - the number of bytes in both directions

  Level: intermediate

  Notes:
  The bytes of the points count for the first solve after `KMeansSetUp()` has copied them.

  On the host backend the number is 0.

.seealso: `KMeansGetTimes()`, `KMeansSetUp()`, `KMeansSolve()`
@*/
PetscErrorCode KMeansGetBytesCopied(KMeans km, PetscLogDouble *bytes)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(km, KMEANS_CLASSID, 1);
  KMeansCheckPointer(bytes, 2);
  *bytes = km->statistics.bytes;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KMeansGetRestarts - Gets how many restarts the last solve made, and which one gave the result

  Not Collective

  Input Parameter:
. km - the solver, after `KMeansSolve()`

  Output Parameters:
+ done - number of restarts, 1 with given start centroids; `NULL` if not needed
- best - number of the restart with the least inertia, from 0; the first of equals; `NULL` if not needed

  Level: intermediate

.seealso: `KMeansSetRestarts()`, `KMeansGetInertia()`, `KMeansSolve()`
@*/
PetscErrorCode KMeansGetRestarts(KMeans km, PetscInt *done, PetscInt *best)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(km, KMEANS_CLASSID, 1);
  if (done) *done = km->done;
  if (best) *best = km->outcome.restart;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KMeansGetRestartBatch - Gets how many restarts of the last solve a GPU has iterated together

  Not Collective

  Input Parameter:
. km - the solver, after `KMeansSolve()`

  Output Parameter:
. together - the number of restarts in the largest batch; 1 if each restart was iterated alone

  Level: advanced

.seealso: `KMeansSetRestartBatch()`, `KMeansGetRestarts()`
@*/
PetscErrorCode KMeansGetRestartBatch(KMeans km, PetscInt *together)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(km, KMEANS_CLASSID, 1);
  KMeansCheckPointer(together, 2);
  *together = PetscMax(km->ahead.most, 1);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  KMeansGetAssign - Gets the algorithm that finds the nearest centroids

  Not Collective

  Input Parameter:
. km - the solver

  Output Parameter:
. name - the algorithm in use after `KMeansSetUp()`; before it the one that was asked for, which may be `auto`

  Level: intermediate

.seealso: `KMeansSetAssign()`, `KMeansGetAssignChange()`, `KMeansGetUpdate()`
@*/
PetscErrorCode KMeansGetAssign(KMeans km, const char *name[])
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(km, KMEANS_CLASSID, 1);
  KMeansCheckPointer(name, 2);
  if (km->setup) *name = KMeansAssignTable[km->now[0]].name;
  else *name = km->assign == KMEANS_AUTO ? "auto" : KMeansAssignTable[km->assign].name;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  KMeansGetAssignChange - Gets whether the last solve changed the algorithm that finds the nearest centroids

  Not Collective

  Input Parameter:
. km - the solver, after `KMeansSolve()`

  Output Parameters:
+ before  - the algorithm before the change, `NULL` if there was none
. restart - number of the restart, from 0, with the change; `NULL` if not needed
- it      - number of its first iteration with the algorithm of `KMeansGetAssign()`; `NULL` if not needed

  Level: advanced

  Note:
  With `-kmeans_assign auto`, `yinyang` replaces `tiled` and `tensor` if these have evaluated too many distances again in double precision. Later restarts of
  the solve use `yinyang` from their first iteration on. The labels do not depend on the algorithm.

.seealso: `KMeansGetAssign()`, `KMeansGetDistances()`, `KMeansSetAssign()`
@*/
PetscErrorCode KMeansGetAssignChange(KMeans km, const char *before[], PetscInt *restart, PetscInt *it)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(km, KMEANS_CLASSID, 1);
  KMeansCheckPointer(before, 2);
  *before = km->setup && km->change.before != KMEANS_AUTO ? KMeansAssignTable[km->change.before].name : NULL;
  if (restart) *restart = km->change.restart;
  if (it) *it = km->change.it;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  KMeansGetUpdate - Gets the algorithm that adds up the points of each cluster

  Not Collective

  Input Parameter:
. km - the solver

  Output Parameter:
. name - the algorithm in use after `KMeansSetUp()`; before it the one that was asked for, which may be `auto`

  Level: intermediate

.seealso: `KMeansSetUpdate()`, `KMeansGetAssign()`
@*/
PetscErrorCode KMeansGetUpdate(KMeans km, const char *name[])
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(km, KMEANS_CLASSID, 1);
  KMeansCheckPointer(name, 2);
  if (km->setup) *name = KMeansUpdateTable[km->now[1]].name;
  else *name = km->update == KMEANS_AUTO ? "auto" : KMeansUpdateTable[km->update].name;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KMeansGetStart - Gets how the first centroids are chosen

  Not Collective

  Input Parameter:
. km - the solver

  Output Parameter:
. start - the method

  Level: intermediate

.seealso: `KMeansSetStart()`, `KMeansStart`
@*/
PetscErrorCode KMeansGetStart(KMeans km, KMeansStart *start)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(km, KMEANS_CLASSID, 1);
  KMeansCheckPointer(start, 2);
  *start = km->start;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KMeansGetStorage - Gets the precision in which points are stored on the device

  Not Collective

  Input Parameter:
. km - the solver

  Output Parameter:
. storage - `KMEANS_STORAGE_SINGLE` or `KMEANS_STORAGE_DOUBLE` after `KMeansSetUp()`; before it the setting, which may be `KMEANS_STORAGE_AUTO`

  Level: intermediate

.seealso: `KMeansSetStorage()`, `KMeansStorage`
@*/
PetscErrorCode KMeansGetStorage(KMeans km, KMeansStorage *storage)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(km, KMEANS_CLASSID, 1);
  KMeansCheckPointer(storage, 2);
  *storage = km->storage;
  if (km->setup) *storage = km->points.data.single ? KMEANS_STORAGE_SINGLE : KMEANS_STORAGE_DOUBLE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KMeansGetReduce - Gets how several ranks add their sums of points

  Not Collective

  Input Parameter:
. km - the solver

  Output Parameter:
. reduce - `KMEANS_REDUCE_NCCL` or `KMEANS_REDUCE_MPI` with several ranks after `KMeansSetUp()`; otherwise the setting, which may be `KMEANS_REDUCE_AUTO`

  Level: intermediate

.seealso: `KMeansSetReduce()`, `KMeansReduce`
@*/
PetscErrorCode KMeansGetReduce(KMeans km, KMeansReduce *reduce)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(km, KMEANS_CLASSID, 1);
  KMeansCheckPointer(reduce, 2);
  *reduce = km->setup && km->points.ranks > 1 ? km->reducing : km->reduce;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KMeansGetMetric - Gets the distance of points and centroids

  Not Collective

  Input Parameter:
. km - the solver

  Output Parameter:
. metric - the metric

  Level: intermediate

.seealso: `KMeansSetMetric()`, `KMeansMetric`
@*/
PetscErrorCode KMeansGetMetric(KMeans km, KMeansMetric *metric)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(km, KMEANS_CLASSID, 1);
  KMeansCheckPointer(metric, 2);
  *metric = km->metric;
  PetscFunctionReturn(PETSC_SUCCESS);
}
