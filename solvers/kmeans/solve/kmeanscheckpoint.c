/* Checkpoints. A checkpoint of Lloyd's iteration holds the centroids before an iteration. A restart repeats that iteration, which gives the labels on any
   number of ranks, and continues. Batches need no labels, so their checkpoint holds the state after an iteration. */
#include "solvers/kmeans/kmeansimpl.h"
#include "app/checkpoint/appcheckpoint.h"
#include "app/program/apphash.h"
#include <string.h>

static const GpAppCheckpointKind Kind = {"kmeans", 1};

/* The numbers that a run and its checkpoint have in common. */
enum {
  KMEANS_RUN_POINTS,
  KMEANS_RUN_FEATURES,
  KMEANS_RUN_VALUES,
  KMEANS_RUN_SPARSE,
  KMEANS_RUN_CLUSTERS,
  KMEANS_RUN_METRIC,
  KMEANS_RUN_START,
  KMEANS_RUN_EMPTY,
  KMEANS_RUN_SINGLE,
  KMEANS_RUN_SEED,
  KMEANS_RUN_BATCH,
  KMEANS_RUN_HASH_POINTS,
  KMEANS_RUN_HASH_WEIGHTS,
  KMEANS_RUN_HASH_GIVEN,
  KMEANS_RUN_NUMBERS
};

static const char *const KMeansForms[]      = {"dense", "sparse"};
static const char *const KMeansPrecisions[] = {"double", "single"};

/* What the numbers are called, and the names of their values if they are not numbers. */
static const struct {
  const char        *what;
  const char *const *names;
  int64_t            many; /* number of names */
} RunNumbers[KMEANS_RUN_NUMBERS] = {
  [KMEANS_RUN_POINTS]       = {"number of points"},
  [KMEANS_RUN_FEATURES]     = {"number of features"},
  [KMEANS_RUN_VALUES]       = {"number of stored values"},
  [KMEANS_RUN_SPARSE]       = {"form of the points", KMeansForms, 2},
  [KMEANS_RUN_CLUSTERS]     = {"-kmeans_clusters"},
  [KMEANS_RUN_METRIC]       = {"-kmeans_metric", KMeansMetrics, KMEANS_METRIC_COSINE + 1},
  [KMEANS_RUN_START]        = {"-kmeans_start", KMeansStarts, KMEANS_START_GIVEN + 1},
  [KMEANS_RUN_EMPTY]        = {"-kmeans_empty", KMeansEmpties, KMEANS_EMPTY_ERROR + 1},
  [KMEANS_RUN_SINGLE]       = {"-kmeans_storage", KMeansPrecisions, 2},
  [KMEANS_RUN_SEED]         = {"-kmeans_seed"},
  [KMEANS_RUN_BATCH]        = {"-kmeans_batch"},
  [KMEANS_RUN_HASH_POINTS]  = {"values of the points"},
  [KMEANS_RUN_HASH_WEIGHTS] = {"weights of the points"},
  [KMEANS_RUN_HASH_GIVEN]   = {"start centroids"},
};

/* The state but for its arrays. It is written as it is in memory, and therefore has no padding. */
typedef struct {
  int64_t restart, it, kept, distances, rechecked;
  int64_t best, bestit, bestkept, bestreason; /* best: -1 if no restart has stopped yet */
  double  bestinertia;
  int64_t cost; /* members of KMeansBatches */
  double  previous;
} KMeansSaved;

/* Adds a hash of the local rows of X. The sum over all rows depends on the place of each value, but not on the number of ranks. */
static PetscErrorCode KMeansHashMat(Mat X, uint64_t *sum)
{
  PetscInt start, end;

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(X, &start, &end));
  PetscCall(MatGetRowUpperTriangular(X)); /* for the types of symmetric matrices; others ignore it */
  for (PetscInt i = start; i < end; i++) {
    const uint64_t     row = GpAppHash64((uint64_t)i);
    PetscInt           n;
    const PetscInt    *col;
    const PetscScalar *value;

    PetscCall(MatGetRow(X, i, &n, &col, &value));
    for (PetscInt e = 0; e < n; e++) {
      const double v = value[e] + 0.0; /* both zeros are the same value */
      uint64_t     bits;

      memcpy(&bits, &v, sizeof(bits));
      *sum += GpAppHash64(GpAppHash64(row + (uint64_t)col[e]) ^ bits);
    }
    PetscCall(MatRestoreRow(X, i, &n, &col, &value));
  }
  PetscCall(MatRestoreRowUpperTriangular(X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds a hash of the local entries of w. */
static PetscErrorCode KMeansHashVec(Vec w, uint64_t *sum)
{
  const PetscScalar *a;
  PetscInt           start, end;

  PetscFunctionBegin;
  PetscCall(VecGetOwnershipRange(w, &start, &end));
  PetscCall(VecGetArrayRead(w, &a));
  for (PetscInt i = start; i < end; i++) {
    const double v = a[i - start] + 0.0;
    uint64_t     bits;

    memcpy(&bits, &v, sizeof(bits));
    *sum += GpAppHash64(GpAppHash64((uint64_t)i) ^ bits);
  }
  PetscCall(VecRestoreArrayRead(w, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the numbers of this run. */
static PetscErrorCode KMeansDescribeRun(KMeans km, int64_t run[KMEANS_RUN_NUMBERS])
{
  const KMeansData *A       = &km->points.data;
  const MPI_Comm    comm    = PetscObjectComm((PetscObject)km);
  uint64_t          hash[3] = {0};
  int64_t           values  = (int64_t)km->points.values;
  PetscMPIInt       rank, size = 0;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCall(KMeansHashMat(km->X, &hash[0]));
  if (km->weights) PetscCall(KMeansHashVec(km->weights, &hash[1]));
  if (km->start == KMEANS_START_GIVEN) PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)km->given), &size));
  if (size > 1 || (size == 1 && !rank)) PetscCall(KMeansHashMat(km->given, &hash[2])); /* on one process: every rank has the same matrix */
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, hash, 3, MPI_UINT64_T, MPI_SUM, comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &values, 1, MPIU_INT64, MPI_SUM, comm));
  run[KMEANS_RUN_POINTS]   = km->points.N;
  run[KMEANS_RUN_FEATURES] = A->d;
  run[KMEANS_RUN_VALUES]   = values;
  run[KMEANS_RUN_SPARSE]   = A->row != NULL;
  run[KMEANS_RUN_CLUSTERS] = km->k;
  run[KMEANS_RUN_METRIC]   = km->metric;
  run[KMEANS_RUN_START]    = km->start;
  run[KMEANS_RUN_EMPTY]    = km->empty;
  run[KMEANS_RUN_SINGLE]   = A->single != 0;
  run[KMEANS_RUN_SEED]     = km->seed;
  run[KMEANS_RUN_BATCH]    = km->batch;
  for (int h = 0; h < 3; h++) run[KMEANS_RUN_HASH_POINTS + h] = (int64_t)hash[h];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Prepares checkpoints of a solve: describes the run, and checks that the file can be written. */
PetscErrorCode KMeansCheckpointSetUp_Private(KMeans km)
{
  PetscFunctionBegin;
  km->saved.passes = 0;
  if (!km->checkpoint[0] && !km->resume[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscFree2(km->saved.run, km->saved.centroid));
  PetscCall(PetscMalloc2(KMEANS_RUN_NUMBERS, &km->saved.run, km->k * km->points.data.d, &km->saved.centroid));
  PetscCall(KMeansDescribeRun(km, km->saved.run));
  if (km->checkpoint[0]) PetscCall(GpAppOutputProbe(PetscObjectComm((PetscObject)km), km->checkpoint));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Keeps the state before an iteration if a checkpoint is due after it. last: this is the last iteration that the settings allow. */
PetscErrorCode KMeansCheckpointBegin_Private(KMeans km, PetscBool last)
{
  KMeansSavedState *s = &km->saved;

  PetscFunctionBegin;
  s->due = PETSC_FALSE;
  if (!km->checkpoint[0]) PetscFunctionReturn(PETSC_SUCCESS);
  s->passes++;
  s->due = (PetscBool)(last || s->passes >= km->checkpoint_every);
  if (!s->due) PetscFunctionReturn(PETSC_SUCCESS);
  s->kept      = km->kept;
  s->distances = km->distances;
  s->rechecked = km->rechecked;
  PetscCall(PetscArraycpy(s->centroid, km->centroid, km->kept * km->points.data.d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes a checkpoint if one is due and the iteration would go on. A failure is a warning, and the solve continues. */
PetscErrorCode KMeansCheckpointEnd_Private(KMeans km)
{
  const size_t         row  = (size_t)km->points.data.d * sizeof(double);
  const KMeansOutcome *best = &km->outcome;
  KMeansSaved          state;
  GpAppCheckpoint      ck;

  PetscFunctionBegin;
  if (!km->saved.due || km->reason > 0) PetscFunctionReturn(PETSC_SUCCESS);
  state = (KMeansSaved){km->done, km->it, km->saved.kept, km->saved.distances, km->saved.rechecked, best->restart, best->it, best->kept, best->reason, best->inertia, km->batches.cost, km->batches.previous};
  PetscCall(GpAppCheckpointCreate(PetscObjectComm((PetscObject)km), km->checkpoint, &Kind, &ck));
  PetscCall(GpAppCheckpointReplicated(&ck, km->saved.run, KMEANS_RUN_NUMBERS * sizeof(*km->saved.run)));
  PetscCall(GpAppCheckpointReplicated(&ck, &state, sizeof(state)));
  PetscCall(GpAppCheckpointReplicated(&ck, km->saved.centroid, (size_t)km->saved.kept * row));
  if (best->restart >= 0) PetscCall(GpAppCheckpointReplicated(&ck, km->best, (size_t)best->kept * row));
  if (km->batch) {
    PetscCall(GpAppCheckpointReplicated(&ck, km->batches.count, (size_t)km->k * sizeof(double)));
    PetscCall(GpAppCheckpointReplicated(&ck, km->batches.origin, (size_t)km->k * row));
  }
  PetscCall(GpAppCheckpointCommit(&ck, NULL));
  km->saved.passes = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Refuses a checkpoint of another run. */
static PetscErrorCode KMeansCompareRuns(KMeans km, GpAppCheckpoint *ck, const int64_t is[])
{
  const char *remedy = "restart with the points and settings of the run that wrote the checkpoint";

  PetscFunctionBegin;
  for (int r = 0; r < KMEANS_RUN_NUMBERS; r++) {
    const int64_t pair[2] = {is[r], km->saved.run[r]};
    char          text[2][32];

    if (pair[0] == pair[1]) continue;
    if (r >= KMEANS_RUN_HASH_POINTS) PetscCall(GpAppCheckpointRefuse(ck, PETSC_ERR_FILE_UNEXPECTED, "%s: others in the checkpoint than in this run; %s", RunNumbers[r].what, remedy));
    for (int t = 0; t < 2; t++) {
      if (pair[t] >= 0 && pair[t] < RunNumbers[r].many) (void)snprintf(text[t], sizeof(text[t]), "%s", RunNumbers[r].names[pair[t]]);
      else (void)snprintf(text[t], sizeof(text[t]), "%" PetscInt64_FMT, (PetscInt64)pair[t]);
    }
    PetscCall(GpAppCheckpointRefuse(ck, PETSC_ERR_FILE_UNEXPECTED, "%s: %s in the checkpoint, %s in this run; %s", RunNumbers[r].what, text[0], text[1], remedy));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Returns whether a number is in [low, high]. */
static PetscBool KMeansIsBetween(int64_t number, int64_t low, int64_t high)
{
  return (PetscBool)(number >= low && number <= high);
}

/* Returns what no run can have written into the state, or NULL. */
static const char *KMeansCheckState(KMeans km, const KMeansSaved *s)
{
  const int64_t fewest = km->empty == KMEANS_EMPTY_DROP ? 1 : km->k, fewestnow = km->batch ? km->k : fewest; /* the end of the batches drops clusters */

  if (!KMeansIsBetween(s->restart, 0, PETSC_MAX_INT - 1) || !KMeansIsBetween(s->best, -1, s->restart - 1)) return "number of a restart";
  if (!KMeansIsBetween(s->it, 1, PETSC_MAX_INT - 1)) return "number of iterations";
  if (!KMeansIsBetween(s->kept, fewestnow, km->k)) return "number of clusters";
  if (s->distances < 0 || !KMeansIsBetween(s->rechecked, 0, s->distances)) return "number of distances";
  if (km->batch && !(s->cost >= 0 && s->previous >= 0)) return "inertia of an epoch";
  if (s->best < 0) return NULL;
  if (!KMeansIsBetween(s->bestit, 1, PETSC_MAX_INT - 1)) return "number of iterations";
  if (!KMeansIsBetween(s->bestkept, fewest, km->k)) return "number of clusters";
  if (!KMeansIsBetween(s->bestreason, KMEANS_DIVERGED_MAX_IT, KMEANS_CONVERGED_SHIFT) || !s->bestreason) return "reason to stop";
  return s->bestinertia >= 0 && s->bestinertia <= PETSC_MAX_REAL ? NULL : "inertia";
}

/* Raises an error for a checkpoint with a value that no run can have written. */
static PetscErrorCode KMeansRefuseValue(GpAppCheckpoint *ck, const char what[])
{
  PetscFunctionBegin;
  PetscCall(GpAppCheckpointRefuse(ck, PETSC_ERR_FILE_UNEXPECTED, "holds a %s that is not valid; restart from another checkpoint", what));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads centroids. The scale of the inertia bounds their values: it was made from the largest possible distance and the largest weight. */
static PetscErrorCode KMeansReadCentroids(KMeans km, GpAppCheckpoint *ck, PetscInt k, double centroid[])
{
  const KMeansData *A      = &km->points.data;
  const double      weight = km->weights ? ldexp(1.0, km->points.bits - 1) / A->mass.first : 1.0, most = sqrt(ldexp(1.0, km->points.bits) / A->cost.first / weight);

  PetscFunctionBegin;
  PetscCall(GpAppCheckpointReplicated(ck, centroid, (size_t)k * A->d * sizeof(double)));
  for (PetscInt e = 0; e < k * A->d; e++)
    if (!(fabs(centroid[e]) <= most)) PetscCall(KMeansRefuseValue(ck, "centroid"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads the state of the batches. */
static PetscErrorCode KMeansReadBatches(KMeans km, GpAppCheckpoint *ck)
{
  PetscFunctionBegin;
  PetscCall(GpAppCheckpointReplicated(ck, km->batches.count, (size_t)km->k * sizeof(double)));
  for (PetscInt c = 0; c < km->k; c++)
    if (!(km->batches.count[c] >= 0 && km->batches.count[c] <= PETSC_MAX_REAL)) PetscCall(KMeansRefuseValue(ck, "weight of a cluster"));
  PetscCall(KMeansReadCentroids(km, ck, km->k, km->batches.origin));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the state of the solve to that of the checkpoint: km->done, km->it, centroids and the best result so far. */
PetscErrorCode KMeansCheckpointRead_Private(KMeans km)
{
  GpAppCheckpoint ck;
  KMeansSaved     s;
  int64_t         run[KMEANS_RUN_NUMBERS];
  const char     *wrong;

  PetscFunctionBegin;
  PetscCall(GpAppCheckpointOpen(PetscObjectComm((PetscObject)km), km->resume, &Kind, &ck));
  PetscCall(GpAppCheckpointReplicated(&ck, run, sizeof(run)));
  PetscCall(KMeansCompareRuns(km, &ck, run));
  PetscCall(GpAppCheckpointReplicated(&ck, &s, sizeof(s)));
  wrong = KMeansCheckState(km, &s);
  if (wrong) PetscCall(KMeansRefuseValue(&ck, wrong));
  if (s.restart >= km->restarts)
    PetscCall(GpAppCheckpointRefuse(&ck, PETSC_ERR_USER_INPUT, "a checkpoint of restart %" PetscInt64_FMT " (counted from 0), for which -kmeans_restarts %" PetscInt_FMT " is too small", (PetscInt64)s.restart, km->restarts));
  PetscCall(KMeansReadCentroids(km, &ck, (PetscInt)s.kept, km->centroid));
  if (s.best >= 0) PetscCall(KMeansReadCentroids(km, &ck, (PetscInt)s.bestkept, km->best));
  if (km->batch) PetscCall(KMeansReadBatches(km, &ck));
  PetscCall(GpAppCheckpointClose(&ck));
  km->batches.cost     = s.cost;
  km->batches.previous = s.previous;
  km->done             = (PetscInt)s.restart;
  km->it               = (PetscInt)s.it;
  km->kept             = (PetscInt)s.kept;
  km->distances        = s.distances;
  km->rechecked        = s.rechecked;
  if (s.best >= 0) km->outcome = (KMeansOutcome){(PetscInt)s.best, (PetscInt)s.bestit, (PetscInt)s.bestkept, (KMeansConvergedReason)s.bestreason, s.bestinertia};
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  KMeansSetCheckpoint - Makes `KMeansSolve()` write checkpoints of its state

  Logically Collective

  Input Parameters:
+ km    - the solver
. file  - the file, or `NULL` for none. It is replaced atomically, so that it always holds a complete checkpoint
- every - number of iterations between two checkpoints; 10 by default

  Options Database Keys:
+ -kmeans_checkpoint <file>     - the file
- -kmeans_checkpoint_every <10> - number of iterations between two checkpoints

  Level: intermediate

  Notes:
  A checkpoint is also written if the last restart stops at the maximum number of iterations. A restart with a larger maximum continues it.

  A failure to write a checkpoint is a warning, and the solve continues.

.seealso: `KMeansSetRestart()`, `KMeansSetTolerances()`, `KMeansSolve()`
@*/
PetscErrorCode KMeansSetCheckpoint(KMeans km, const char file[], PetscInt every)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(km, KMEANS_CLASSID, 1);
  PetscValidLogicalCollectiveInt(km, every, 3);
  PetscCheck(every >= 1, PetscObjectComm((PetscObject)km), PETSC_ERR_USER_INPUT, "KMeans: %" PetscInt_FMT " iterations between two checkpoints; the number must be positive", every);
  PetscCall(PetscStrncpy(km->checkpoint, file ? file : "", sizeof(km->checkpoint)));
  km->checkpoint_every = every;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  KMeansSetRestart - Makes the next `KMeansSolve()` continue from a checkpoint

  Logically Collective

  Input Parameters:
+ km   - the solver, with the points, weights and settings of the solve that wrote the checkpoint
- file - the checkpoint, or `NULL` for none

  Options Database Key:
. -kmeans_restart <file> - the checkpoint

  Level: intermediate

  Notes:
  The result has the same bits as that of a solve without interruption, on any number of ranks. Only the number of evaluated distances may differ.

  These settings may differ from those of the checkpoint: tolerances, maximum number of iterations, number of restarts, algorithms of assignment and update.
  A checkpoint of other points or other settings, and a damaged checkpoint, raise an error.

.seealso: `KMeansSetCheckpoint()`, `KMeansSetRestarts()`, `KMeansSolve()`
@*/
PetscErrorCode KMeansSetRestart(KMeans km, const char file[])
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(km, KMEANS_CLASSID, 1);
  PetscCall(PetscStrncpy(km->resume, file ? file : "", sizeof(km->resume)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
