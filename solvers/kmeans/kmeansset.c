/* The settings of the solver, and their options. */
#include "kmeansimpl.h"

const char *const KMeansMetrics[]  = {"euclidean", "cosine", "KMeansMetric", "KMEANS_METRIC_", NULL};
const char *const KMeansStarts[]   = {"random", "kmeans++", "parallel", "given", "KMeansStart", "KMEANS_START_", NULL};
const char *const KMeansEmpties[]  = {"farthest", "split", "keep", "drop", "error", "KMeansEmpty", "KMEANS_EMPTY_", NULL};
const char *const KMeansStorages[] = {"auto", "single", "double", "KMeansStorage", "KMEANS_STORAGE_", NULL};

/*@
  KMeansSetClusters - Sets the number of clusters

  Logically Collective

  Input Parameters:
+ km - the solver
- k  - the number, 8 by default

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
  KMeansSetMetric - Sets what points are compared with centroids by

  Logically Collective

  Input Parameters:
+ km     - the solver
- metric - the metric, Euclidean by default

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

  Level: beginner

  Note:
  Points are drawn by numbers that depend on the seed and on the number of the point alone, so that the result does not depend on the number of ranks.

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
  KMeansSetSeed - Sets the seed of the random numbers

  Logically Collective

  Input Parameters:
+ km   - the solver
- seed - the seed, 0 by default

  Level: intermediate

  Note:
  Equal seeds give equal results.

.seealso: `KMeansSetStart()`, `KMeansSetRestarts()`
@*/
PetscErrorCode KMeansSetSeed(KMeans km, PetscInt64 seed)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(km, KMEANS_CLASSID, 1);
  km->seed = seed;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KMeansSetRestarts - Sets how many starts are tried

  Logically Collective

  Input Parameters:
+ km       - the solver
- restarts - the number, 1 by default

  Level: intermediate

  Note:
  The result with the least inertia is kept. Given start centroids are tried once.

.seealso: `KMeansSetStart()`, `KMeansSetSeed()`
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
  KMeansSetStartCentroids - Sets the first centroids, and the start to `KMEANS_START_GIVEN`

  Collective

  Input Parameters:
+ km - the solver
- M  - the centroids, one per row: a matrix of the solver's communicator, or a sequential one that is equal on all ranks

  Level: intermediate

.seealso: `KMeansSetStart()`
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
. rtol   - stop if the inertia falls by less than this fraction in an iteration; 0, the default, disables the test
. stol   - stop if the Frobenius norm of the change of all centroids is at most this length; 0, the default, disables the test
- max_it - maximum number of iterations, 300 by default

  Level: intermediate

  Note:
  The iteration always stops when no label changes.

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
- name - the algorithm, or `auto`, the default

  Level: intermediate

  Note:
  All algorithms return the same labels. They differ in time and memory.

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
- name - the algorithm, or `auto`, the default

  Level: intermediate

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

/*@C
  KMeansSetOptionsPrefix - Sets the prefix of the solver's options

  Logically Collective

  Input Parameters:
+ km     - the solver
- prefix - the prefix of the names of all options, without a leading hyphen

  Level: advanced

.seealso: `KMeansSetFromOptions()`
@*/
PetscErrorCode KMeansSetOptionsPrefix(KMeans km, const char prefix[])
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(km, KMEANS_CLASSID, 1);
  PetscCall(PetscObjectSetOptionsPrefix((PetscObject)km, prefix));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads the option of a variant. */
static PetscErrorCode KMeansVariantOption(GpOptionItems PetscOptionsObject, const char option[], const char text[], const char page[], const KMeansVariant table[], PetscInt n, PetscInt *variant)
{
  const char *names[KMEANS_ASSIGNS + KMEANS_UPDATES + 1] = {"auto"};
  PetscInt    chosen                                     = *variant + 1;

  PetscFunctionBegin;
  for (PetscInt v = 0; v < n; v++) names[v + 1] = table[v].name;
  PetscCall(PetscOptionsEList(option, text, page, names, n + 1, names[chosen], &chosen, NULL));
  *variant = chosen - 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KMeansSetFromOptions - Sets the solver's settings from the options database

  Collective

  Input Parameter:
. km - the solver

  Options Database Keys:
+ -kmeans_clusters <8>         - number of clusters
. -kmeans_assign <auto>        - algorithm that finds the nearest centroids
. -kmeans_update <auto>        - algorithm that adds up the points of each cluster
. -kmeans_metric <euclidean>   - euclidean or cosine
. -kmeans_start <kmeans++>     - random, kmeans++, parallel or given
. -kmeans_empty <farthest>     - what happens to a cluster without points: farthest, split, keep, drop or error
. -kmeans_storage <auto>       - precision of the points on the device: auto, single or double
. -kmeans_seed <0>             - seed of the random numbers
. -kmeans_restarts <1>         - number of starts, of which the best is kept
. -kmeans_rtol <0>             - stop if the inertia falls by less than this fraction
. -kmeans_stol <0>             - stop if the centroids move by at most this length
. -kmeans_max_it <300>         - maximum number of iterations
. -kmeans_monitor [viewer]     - print one line per iteration
- -kmeans_view [viewer]        - view the solver after the solve

  Level: beginner

.seealso: `KMeansCreate()`, `KMeansSolve()`
@*/
PetscErrorCode KMeansSetFromOptions(KMeans km)
{
  PetscReal     rtol = km->rtol, stol = km->stol;
  PetscInt      k = km->k, restarts = km->restarts, max_it = km->max_it, assign = km->assign, update = km->update, seed = (PetscInt)km->seed;
  KMeansMetric  metric  = km->metric;
  KMeansStart   start   = km->start;
  KMeansStorage storage = km->storage;
  PetscBool     set, seeded;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(km, KMEANS_CLASSID, 1);
  PetscObjectOptionsBegin((PetscObject)km);
  PetscCall(PetscOptionsInt("-kmeans_clusters", "number of clusters", "KMeansSetClusters", k, &k, NULL));
  PetscCall(KMeansVariantOption(PetscOptionsObject, "-kmeans_assign", "algorithm that finds the nearest centroids", "KMeansSetAssign", KMeansAssignTable, KMEANS_ASSIGNS, &assign));
  PetscCall(KMeansVariantOption(PetscOptionsObject, "-kmeans_update", "algorithm that adds up the points of each cluster", "KMeansSetUpdate", KMeansUpdateTable, KMEANS_UPDATES, &update));
  PetscCall(PetscOptionsEnum("-kmeans_metric", "what points are compared with centroids by", "KMeansSetMetric", KMeansMetrics, (PetscEnum)metric, (PetscEnum *)&metric, NULL));
  PetscCall(PetscOptionsEnum("-kmeans_start", "how the first centroids are chosen", "KMeansSetStart", KMeansStarts, (PetscEnum)start, (PetscEnum *)&start, NULL));
  PetscCall(PetscOptionsEnum("-kmeans_empty", "what happens to a cluster without points", "KMeansSetEmpty", KMeansEmpties, (PetscEnum)km->empty, (PetscEnum *)&km->empty, NULL));
  PetscCall(PetscOptionsEnum("-kmeans_storage", "precision of the points on the device", "KMeansSetStorage", KMeansStorages, (PetscEnum)storage, (PetscEnum *)&storage, NULL));
  PetscCall(PetscOptionsInt("-kmeans_seed", "seed of the random numbers", "KMeansSetSeed", seed, &seed, &seeded));
  PetscCall(PetscOptionsInt("-kmeans_restarts", "number of starts, of which the best is kept", "KMeansSetRestarts", restarts, &restarts, NULL));
  PetscCall(PetscOptionsReal("-kmeans_rtol", "stop if the inertia falls by less than this fraction", "KMeansSetTolerances", rtol, &rtol, NULL));
  PetscCall(PetscOptionsReal("-kmeans_stol", "stop if the centroids move by at most this length", "KMeansSetTolerances", stol, &stol, NULL));
  PetscCall(PetscOptionsInt("-kmeans_max_it", "maximum number of iterations", "KMeansSetTolerances", max_it, &max_it, NULL));
  PetscCall(KMeansMonitorSetFromOptions_Private(km, PetscOptionsObject));
  PetscCall(PetscOptionsName("-kmeans_view", "view the solver after the solve", "KMeansView", &set));
  PetscOptionsEnd();
  if (seeded) km->seed = seed;
  if (assign != km->assign || update != km->update) km->setup = PETSC_FALSE;
  km->assign = assign;
  km->update = update;
  PetscCall(KMeansSetClusters(km, k));
  PetscCall(KMeansSetMetric(km, metric));
  PetscCall(KMeansSetStart(km, start));
  PetscCall(KMeansSetStorage(km, storage));
  PetscCall(KMeansSetRestarts(km, restarts));
  PetscCall(KMeansSetTolerances(km, rtol, stol, max_it));
  PetscFunctionReturn(PETSC_SUCCESS);
}
