/* The settings of the solver, and their options. */
#include "solvers/kmeans/kmeansimpl.h"

const char *const KMeansMetrics[]  = {"euclidean", "cosine", "KMeansMetric", "KMEANS_METRIC_", NULL};
const char *const KMeansStarts[]   = {"random", "kmeans++", "parallel", "given", "KMeansStart", "KMEANS_START_", NULL};
const char *const KMeansEmpties[]  = {"farthest", "split", "keep", "drop", "error", "KMeansEmpty", "KMEANS_EMPTY_", NULL};
const char *const KMeansStorages[] = {"auto", "single", "double", "KMeansStorage", "KMEANS_STORAGE_", NULL};
const char *const KMeansReduces[]  = {"auto", "nccl", "mpi", "KMeansReduce", "KMEANS_REDUCE_", NULL};

/*@
  KMeansSetClusters - Sets the number of clusters

  Logically Collective

  Input Parameters:
+ km - the solver
- k  - the number, 8 by default

  Options Database Key:
. -kmeans_clusters <8> - the number

  Level: beginner

.seealso: `KMeansSetPoints()`, `KMeansSolve()`
@*/
PetscErrorCode KMeansSetClusters(KMeans km, PetscInt k)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(km, KMEANS_CLASSID, 1);
  PetscValidLogicalCollectiveInt(km, k, 2);
  PetscCheck(k >= 1, PetscObjectComm((PetscObject)km), PETSC_ERR_USER_INPUT, "KMeans: %" PetscInt_FMT " clusters; ask for at least one", k);
  if (k != km->k) km->setup = PETSC_FALSE;
  km->k = k;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KMeansSetMetric - Sets the distance of points and centroids

  Logically Collective

  Input Parameters:
+ km     - the solver
- metric - the metric, Euclidean by default

  Options Database Key:
. -kmeans_metric <euclidean> - euclidean or cosine

  Level: beginner

.seealso: `KMeansMetric`, `KMeansSolve()`
@*/
PetscErrorCode KMeansSetMetric(KMeans km, KMeansMetric metric)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(km, KMEANS_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(km, metric, 2);
  if (metric != km->metric) km->setup = PETSC_FALSE;
  km->metric = metric;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KMeansSetStart - Sets how the first centroids are chosen

  Logically Collective

  Input Parameters:
+ km    - the solver
- start - the method, k-means++ by default

  Options Database Key:
. -kmeans_start <kmeans++> - random, kmeans++, parallel or given

  Level: beginner

  Note:
  The random numbers depend on the seed and on the number of the point alone. So the result does not depend on the number of ranks.

.seealso: `KMeansStart`, `KMeansSetStartCentroids()`, `KMeansSetSeed()`
@*/
PetscErrorCode KMeansSetStart(KMeans km, KMeansStart start)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(km, KMEANS_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(km, start, 2);
  if (start != km->start) km->setup = PETSC_FALSE;
  km->start = start;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KMeansSetEmpty - Sets what happens to a cluster without points

  Logically Collective

  Input Parameters:
+ km    - the solver
- empty - the treatment, `KMEANS_EMPTY_FARTHEST` by default

  Options Database Key:
. -kmeans_empty <farthest> - farthest, split, keep, drop or error

  Level: intermediate

.seealso: `KMeansEmpty`
@*/
PetscErrorCode KMeansSetEmpty(KMeans km, KMeansEmpty empty)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(km, KMEANS_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(km, empty, 2);
  km->empty = empty;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KMeansSetStorage - Sets the precision in which points are stored on the device

  Logically Collective

  Input Parameters:
+ km      - the solver
- storage - the precision, `KMEANS_STORAGE_AUTO` by default

  Options Database Key:
. -kmeans_storage <auto> - auto, single or double

  Level: intermediate

.seealso: `KMeansStorage`
@*/
PetscErrorCode KMeansSetStorage(KMeans km, KMeansStorage storage)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(km, KMEANS_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(km, storage, 2);
  if (storage != km->storage) km->setup = PETSC_FALSE;
  km->storage = storage;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KMeansSetReduce - Sets how several ranks add their sums of points

  Logically Collective

  Input Parameters:
+ km     - the solver
- reduce - the method, `KMEANS_REDUCE_AUTO` by default

  Options Database Key:
. -kmeans_reduce <auto> - auto, nccl or mpi

  Level: intermediate

  Notes:
  The sums are integers, so the result has the same bits with every method. With one rank the setting has no effect.

  With NCCL an iteration does not copy the sums to the host. NCCL needs one GPU for each rank. `KMEANS_REDUCE_NCCL` is an error if NCCL cannot be used, and with the
  update `host`, which adds the points on the host.

.seealso: `KMeansReduce`, `KMeansGetReduce()`, `KMeansSetUpdate()`
@*/
PetscErrorCode KMeansSetReduce(KMeans km, KMeansReduce reduce)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(km, KMEANS_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(km, reduce, 2);
  if (reduce != km->reduce) km->setup = PETSC_FALSE;
  km->reduce = reduce;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KMeansSetSeed - Sets the seed of the random numbers

  Logically Collective

  Input Parameters:
+ km   - the solver
- seed - the seed, 0 by default

  Options Database Key:
. -kmeans_seed <0> - the seed

  Level: intermediate

  Note:
  The seed selects the first centroids and the order of mini-batches. Equal seeds give equal results for equal points.

.seealso: `KMeansSetStart()`, `KMeansSetRestarts()`
@*/
PetscErrorCode KMeansSetSeed(KMeans km, PetscInt64 seed)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(km, KMEANS_CLASSID, 1);
  if (km->batch && seed != km->seed) km->setup = PETSC_FALSE; /* the seed orders the batches */
  km->seed = seed;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KMeansSetRestarts - Sets how many starts are tried

  Logically Collective

  Input Parameters:
+ km       - the solver
- restarts - the number, 1 by default

  Options Database Key:
. -kmeans_restarts <1> - the number

  Level: intermediate

  Note:
  The result with the least inertia is kept. With `KMEANS_START_GIVEN` there is one start. `KMeansSetRestart()` is another function: it continues from a
  checkpoint.

.seealso: `KMeansSetStart()`, `KMeansSetSeed()`, `KMeansSetRestartBatch()`
@*/
PetscErrorCode KMeansSetRestarts(KMeans km, PetscInt restarts)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(km, KMEANS_CLASSID, 1);
  PetscValidLogicalCollectiveInt(km, restarts, 2);
  PetscCheck(restarts >= 1, PetscObjectComm((PetscObject)km), PETSC_ERR_USER_INPUT, "KMeans: %" PetscInt_FMT " restarts; ask for at least one", restarts);
  km->restarts = restarts;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KMeansSetStartCentroids - Sets the first centroids, and sets the start to `KMEANS_START_GIVEN`

  Collective

  Input Parameters:
+ km - the solver
- M  - the centroids, one per row: a matrix of the solver's communicator, or a sequential one that is equal on all ranks

  Level: intermediate

  Notes:
  The number of rows must be that of `KMeansSetClusters()`.

  `KMeansSolve()` starts from these centroids. Without a solve, `KMeansPredict()` assigns points to them.

.seealso: `KMeansSetStart()`, `KMeansSetClusters()`, `KMeansPredict()`
@*/
PetscErrorCode KMeansSetStartCentroids(KMeans km, Mat M)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(km, KMEANS_CLASSID, 1);
  PetscValidHeaderSpecific(M, MAT_CLASSID, 2);
  PetscCall(PetscObjectReference((PetscObject)M));
  PetscCall(MatDestroy(&km->given));
  km->given = M;
  km->start = KMEANS_START_GIVEN;
  km->setup = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KMeansSetTolerances - Sets when the iteration stops

  Logically Collective

  Input Parameters:
+ km     - the solver
. rtol   - stop if the inertia falls by less than this fraction in an iteration; with 0, the default, only if it rises, by rounding errors
. stol   - stop if the Frobenius norm of the change of all centroids in an iteration is at most this length; 0, the default, disables the test
- max_it - maximum number of iterations, 300 by default

  Options Database Keys:
+ -kmeans_rtol <0>     - relative tolerance on the inertia
. -kmeans_stol <0>     - tolerance on the change of the centroids
- -kmeans_max_it <300> - maximum number of iterations

  Level: intermediate

  Note:
  Without mini-batches the iteration also stops when no label changes. `KMeansSetBatchSize()` describes the tolerances with mini-batches.

.seealso: `KMeansGetConvergedReason()`
@*/
PetscErrorCode KMeansSetTolerances(KMeans km, PetscReal rtol, PetscReal stol, PetscInt max_it)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(km, KMEANS_CLASSID, 1);
  PetscValidLogicalCollectiveReal(km, rtol, 2);
  PetscValidLogicalCollectiveReal(km, stol, 3);
  PetscValidLogicalCollectiveInt(km, max_it, 4);
  PetscCheck(rtol >= 0 && rtol < 1, PetscObjectComm((PetscObject)km), PETSC_ERR_USER_INPUT, "KMeans: the relative tolerance %g must be at least 0 and below 1", (double)rtol);
  PetscCheck(stol >= 0, PetscObjectComm((PetscObject)km), PETSC_ERR_USER_INPUT, "KMeans: the tolerance %g on the change of the centroids must not be negative", (double)stol);
  PetscCheck(max_it >= 1, PetscObjectComm((PetscObject)km), PETSC_ERR_USER_INPUT, "KMeans: %" PetscInt_FMT " iterations; ask for at least one", max_it);
  km->rtol   = rtol;
  km->stol   = stol;
  km->max_it = max_it;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finds a variant by name; `auto` gives KMEANS_AUTO. */
static PetscErrorCode KMeansFindVariant(KMeans km, const char what[], const KMeansVariant table[], PetscInt n, const char name[], PetscInt *found)
{
  char list[512] = "auto";

  PetscFunctionBegin;
  KMeansCheckPointer(name, 2);
  *found = KMEANS_AUTO;
  if (!strcmp(name, "auto")) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt v = 0; v < n; v++) {
    if (!strcmp(name, table[v].name)) {
      *found = v;
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    PetscCall(PetscStrlcat(list, ", ", sizeof(list)));
    PetscCall(PetscStrlcat(list, table[v].name, sizeof(list)));
  }
  SETERRQ(PetscObjectComm((PetscObject)km), PETSC_ERR_USER_INPUT, "KMeans: there is no %s %s; choose one of %s", what, name, list);
}

/*@C
  KMeansSetAssign - Sets the algorithm that finds the nearest centroid of each point

  Logically Collective

  Input Parameters:
+ km   - the solver
- name - `auto` (the default), `brute`, `direct`, `tiled`, `tensor`, `cells`, `hamerly`, `yinyang`, `elkan` or `sparse`

  Options Database Key:
. -kmeans_assign <auto> - the algorithm

  Level: intermediate

  Notes:
  All algorithms return the same labels. They differ in time and memory.

  `brute` computes every distance. `direct`, `tiled`, `tensor` (dense points) and `sparse` (sparse points) do the same in less time. `hamerly`, `yinyang` and `elkan` skip
  distances by lower bounds. `cells`, for dense points with up to 4 features, skips the centroids that are nearest to no point in the cell of a grid.

.seealso: `KMeansSetUpdate()`, `KMeansGetDistances()`
@*/
PetscErrorCode KMeansSetAssign(KMeans km, const char name[])
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(km, KMEANS_CLASSID, 1);
  PetscCall(KMeansFindVariant(km, "assignment", KMeansAssignTable, KMEANS_ASSIGNS, name, &km->assign));
  km->setup = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  KMeansSetUpdate - Sets the algorithm that adds up the points of each cluster

  Logically Collective

  Input Parameters:
+ km   - the solver
- name - `auto` (the default), `fixed`, `changed`, `sort`, `host`, `rank`, `rankstable` or `onehot`

  Options Database Key:
. -kmeans_update <auto> - the algorithm

  Level: intermediate

  Notes:
  `fixed` adds all points. `changed` moves points with a changed label from one sum to another. `sort` sorts dense points by label. `host` adds on the host what a GPU
  has assigned.

  These algorithms give the same bits. `rank`, `rankstable` and `onehot` round the sums to single precision, so that the result is not exact and depends on the
  device and on the ranks.

.seealso: `KMeansSetAssign()`
@*/
PetscErrorCode KMeansSetUpdate(KMeans km, const char name[])
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(km, KMEANS_CLASSID, 1);
  PetscCall(KMeansFindVariant(km, "update", KMeansUpdateTable, KMEANS_UPDATES, name, &km->update));
  km->setup = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
