/* The options of the solver. */
#include "solvers/kmeans/kmeansimpl.h"

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

/* Reads -kmeans_restart_batch. */
static PetscErrorCode KMeansRestartBatchOption(KMeans km, GpOptionItems PetscOptionsObject)
{
  char      now[32] = "auto", text[32], *end;
  long long many    = PETSC_DECIDE;
  PetscBool set;

  PetscFunctionBegin;
  if (km->together) PetscCall(PetscSNPrintf(now, sizeof(now), "%" PetscInt_FMT, km->together));
  PetscCall(PetscOptionsString("-kmeans_restart_batch", "largest number of restarts that a GPU iterates together, or auto", "KMeansSetRestartBatch", now, text, sizeof(text), &set));
  if (!set) PetscFunctionReturn(PETSC_SUCCESS);
  if (strcmp(text, "auto")) {
    many = strtoll(text, &end, 10);
    PetscCheck(end > text && !*end && many >= 1 && many <= PETSC_MAX_INT, PetscObjectComm((PetscObject)km), PETSC_ERR_USER_INPUT, "-kmeans_restart_batch %s: expected auto, or a number of at least 1", text);
  }
  PetscCall(KMeansSetRestartBatch(km, (PetscInt)many));
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
. -kmeans_metric <euclidean>   - distance of points and centroids: euclidean or cosine
. -kmeans_start <kmeans++>     - first centroids: random, kmeans++, parallel or given
. -kmeans_empty <farthest>     - what happens to a cluster without points: farthest, split, keep, drop or error
. -kmeans_storage <auto>       - precision of the points on the device: auto, single or double
. -kmeans_reduce <auto>        - how several ranks add their sums: auto, nccl or mpi
. -kmeans_stream <auto>        - whether dense points stay in host memory: auto, always or never
. -kmeans_stream_chunk <bytes> - upper bound on the size of a block of streamed points
. -kmeans_stream_resident <bytes> - upper bound on the blocks that stay on the device
. -kmeans_stream_buffers <n>   - number of device buffers
. -kmeans_stream_threads <n>   - number of threads that copy points to the blocks in host memory
. -kmeans_seed <0>             - seed of the random numbers
. -kmeans_restarts <1>         - number of starts, of which the best is kept
. -kmeans_restart_batch <auto> - largest number of restarts that a GPU iterates together
. -kmeans_batch <0>            - number of points in an iteration, 0 for all
. -kmeans_rtol <0>             - stop if the inertia falls by less than this fraction
. -kmeans_stol <0>             - stop if the centroids move by at most this length
. -kmeans_max_it <300>         - maximum number of iterations
. -kmeans_checkpoint <file>    - write checkpoints to this file
. -kmeans_checkpoint_every <10> - number of iterations between two checkpoints
. -kmeans_restart <file>       - continue from this checkpoint
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
  KMeansReduce  reduce  = km->reduce;
  PetscInt      every = km->checkpoint_every, batch = km->batch;
  PetscBool     set, seeded;
  char          file[PETSC_MAX_PATH_LEN];

  PetscFunctionBegin;
  PetscValidHeaderSpecific(km, KMEANS_CLASSID, 1);
  PetscObjectOptionsBegin((PetscObject)km);
  PetscCall(PetscOptionsInt("-kmeans_clusters", "number of clusters", "KMeansSetClusters", k, &k, NULL));
  PetscCall(KMeansVariantOption(PetscOptionsObject, "-kmeans_assign", "algorithm that finds the nearest centroids", "KMeansSetAssign", KMeansAssignTable, KMEANS_ASSIGNS, &assign));
  PetscCall(KMeansVariantOption(PetscOptionsObject, "-kmeans_update", "algorithm that adds up the points of each cluster", "KMeansSetUpdate", KMeansUpdateTable, KMEANS_UPDATES, &update));
  PetscCall(PetscOptionsEnum("-kmeans_metric", "distance of points and centroids", "KMeansSetMetric", KMeansMetrics, (PetscEnum)metric, (PetscEnum *)&metric, NULL));
  PetscCall(PetscOptionsEnum("-kmeans_start", "how the first centroids are chosen", "KMeansSetStart", KMeansStarts, (PetscEnum)start, (PetscEnum *)&start, NULL));
  PetscCall(PetscOptionsEnum("-kmeans_empty", "what happens to a cluster without points", "KMeansSetEmpty", KMeansEmpties, (PetscEnum)km->empty, (PetscEnum *)&km->empty, NULL));
  PetscCall(PetscOptionsEnum("-kmeans_storage", "precision of the points on the device", "KMeansSetStorage", KMeansStorages, (PetscEnum)storage, (PetscEnum *)&storage, NULL));
  PetscCall(PetscOptionsEnum("-kmeans_reduce", "how several ranks add their sums", "KMeansSetReduce", KMeansReduces, (PetscEnum)reduce, (PetscEnum *)&reduce, NULL));
  PetscCall(KMeansStreamSetFromOptions_Private(km, PetscOptionsObject));
  PetscCall(PetscOptionsInt("-kmeans_seed", "seed of the random numbers", "KMeansSetSeed", seed, &seed, &seeded));
  PetscCall(PetscOptionsInt("-kmeans_restarts", "number of starts, of which the best is kept", "KMeansSetRestarts", restarts, &restarts, NULL));
  PetscCall(KMeansRestartBatchOption(km, PetscOptionsObject));
  PetscCall(PetscOptionsInt("-kmeans_batch", "number of points in an iteration, 0 for all", "KMeansSetBatchSize", batch, &batch, NULL));
  PetscCall(PetscOptionsReal("-kmeans_rtol", "stop if the inertia falls by less than this fraction", "KMeansSetTolerances", rtol, &rtol, NULL));
  PetscCall(PetscOptionsReal("-kmeans_stol", "stop if the centroids move by at most this length", "KMeansSetTolerances", stol, &stol, NULL));
  PetscCall(PetscOptionsInt("-kmeans_max_it", "maximum number of iterations", "KMeansSetTolerances", max_it, &max_it, NULL));
  PetscCall(PetscOptionsString("-kmeans_restart", "continue from this checkpoint", "KMeansSetRestart", km->resume, file, sizeof(file), &set));
  if (set) PetscCall(KMeansSetRestart(km, file));
  PetscCall(PetscOptionsString("-kmeans_checkpoint", "write checkpoints to this file", "KMeansSetCheckpoint", km->checkpoint, file, sizeof(file), &set));
  if (!set) PetscCall(PetscStrncpy(file, km->checkpoint, sizeof(file)));
  PetscCall(PetscOptionsInt("-kmeans_checkpoint_every", "number of iterations between two checkpoints", "KMeansSetCheckpoint", every, &every, NULL));
  PetscCall(KMeansMonitorSetFromOptions_Private(km, PetscOptionsObject));
  PetscCall(PetscOptionsName("-kmeans_view", "view the solver after the solve", "KMeansView", &set));
  PetscOptionsEnd();
  if (seeded) PetscCall(KMeansSetSeed(km, seed));
  if (assign != km->assign || update != km->update) km->setup = PETSC_FALSE;
  km->assign = assign;
  km->update = update;
  PetscCall(KMeansSetClusters(km, k));
  PetscCall(KMeansSetMetric(km, metric));
  PetscCall(KMeansSetStart(km, start));
  PetscCall(KMeansSetStorage(km, storage));
  PetscCall(KMeansSetReduce(km, reduce));
  PetscCall(KMeansSetRestarts(km, restarts));
  PetscCall(KMeansSetBatchSize(km, batch));
  PetscCall(KMeansSetCheckpoint(km, file, every));
  PetscCall(KMeansSetTolerances(km, rtol, stol, max_it));
  PetscFunctionReturn(PETSC_SUCCESS);
}
