static char help[] = "KMeans on several ranks: the bits of one rank, however the ranks add their sums. Options: -points n, -max_it n; -require_nccl fails if auto does not choose NCCL.\n\n";

#include <gpucsr.h>
#include <gpucsrcompat.h>
#include <gpucsrkmeans.h>
#include "points.h"

#define CLUSTERS    12
#define MOST_VALUES 2e7 /* largest number of values of a case. Larger cases are left out */

typedef struct {
  const char  *name, *assign, *update;
  PetscInt     d, batch, restarts, max_it;    /* max_it: 0 for the value of the option -max_it */
  PetscBool    sparse, weights, monitor, far; /* far: the solve starts from given centroids, three of which get no points */
  KMeansMetric metric;
  KMeansEmpty  empty;
  PetscReal    stol;
} Case;

static PetscInt most = 300; /* value of the option -max_it: largest number of iterations */

/* Creates points and weights, which are the same for every communicator. With more than two ranks, the first rank has no points. */
static PetscErrorCode CreatePoints(MPI_Comm comm, const Case *test, PetscInt n, Mat *X, Vec *w)
{
  PetscMPIInt rank, size;
  PetscInt    start, end, local;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  local = size == 1 ? n : !rank && size > 2 ? 0 : PETSC_DECIDE;
  if (size > 2 && rank) local = n / (size - 1) + (rank <= n % (size - 1));
  if (test->sparse) PetscCall(MatCreateAIJ(comm, local, PETSC_DECIDE, n, test->d, test->d, NULL, test->d, NULL, X));
  else PetscCall(MatCreateDense(comm, local, PETSC_DECIDE, n, test->d, NULL, X));
  PetscCall(MatGetOwnershipRange(*X, &start, &end));
  for (PetscInt i = start; i < end; i++)
    for (PetscInt j = 0; j < test->d; j++)
      if (!test->sparse || (i + j) % 3) PetscCall(MatSetValue(*X, i, j, Uniform(i, j) + 2 * Uniform(i % 7, j + test->d) - 1, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(*X, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*X, MAT_FINAL_ASSEMBLY));
  PetscCall(CreateWeights(*X, w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateStart(const Case *test, Mat *M)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, CLUSTERS, test->d, NULL, M));
  for (PetscInt c = 0; c < CLUSTERS; c++)
    for (PetscInt j = 0; j < test->d; j++) PetscCall(MatSetValue(*M, c, j, c % 4 ? Uniform(c, j) : 50 + c, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(*M, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*M, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A monitor that does nothing. With a monitor, the host reads the sums of every iteration. */
static PetscErrorCode Watch(KMeans km, PetscInt it, PetscReal inertia, PetscInt64 changed, void *ctx)
{
  PetscFunctionBeginUser;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates a solver and solves. `err` receives the error of the set-up. If it is not 0, there is no solve. */
static PetscErrorCode Solve(const Case *test, Mat X, Vec w, KMeansReduce reduce, KMeans *km, PetscErrorCode *err)
{
  PetscFunctionBeginUser;
  PetscCall(KMeansCreate(PetscObjectComm((PetscObject)X), km));
  PetscCall(KMeansSetPoints(*km, X));
  if (test->weights) PetscCall(KMeansSetWeights(*km, w));
  PetscCall(KMeansSetClusters(*km, CLUSTERS));
  PetscCall(KMeansSetMetric(*km, test->metric));
  PetscCall(KMeansSetEmpty(*km, test->empty));
  PetscCall(KMeansSetRestarts(*km, PetscMax(test->restarts, 1)));
  PetscCall(KMeansSetBatchSize(*km, test->batch));
  PetscCall(KMeansSetTolerances(*km, 0, test->stol, test->max_it ? test->max_it : most));
  PetscCall(KMeansSetAssign(*km, test->assign ? test->assign : "auto"));
  PetscCall(KMeansSetUpdate(*km, test->update ? test->update : "auto"));
  PetscCall(KMeansSetReduce(*km, reduce));
  if (test->monitor) PetscCall(KMeansMonitorSet(*km, Watch, NULL, NULL));
  if (test->far) {
    Mat M;

    PetscCall(CreateStart(test, &M));
    PetscCall(KMeansSetStartCentroids(*km, M));
    PetscCall(MatDestroy(&M));
  }
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  *err = KMeansSetUp(*km);
  PetscCall(PetscPopErrorHandler());
  if (!*err) PetscCall(KMeansSolve(*km));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares the results of a solver on all ranks with those of a solver that has all points on this rank. */
static PetscErrorCode Compare(const Case *test, const char how[], Mat X, KMeans all, KMeans one)
{
  KMeans          km[2] = {all, one};
  IS              labels[2];
  Mat             centroids[2];
  PetscReal       inertia[2];
  PetscInt        it[2], start, end;
  PetscInt64      distances[2];
  const PetscInt *l[2];
  PetscBool       same, equal;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(X, &start, &end));
  for (int s = 0; s < 2; s++) {
    PetscCall(KMeansGetLabels(km[s], &labels[s]));
    PetscCall(KMeansGetCentroids(km[s], &centroids[s]));
    PetscCall(KMeansGetInertia(km[s], &inertia[s]));
    PetscCall(KMeansGetIterationNumber(km[s], &it[s]));
    PetscCall(KMeansGetDistances(km[s], &distances[s], NULL));
    PetscCall(ISGetIndices(labels[s], &l[s]));
  }
  PetscCall(PetscArraycmp(l[0], l[1] + start, end - start, &same));
  PetscCall(MatEqual(centroids[0], centroids[1], &equal));
  PetscCheck(same && equal && inertia[0] == inertia[1] && it[0] == it[1], PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s, %s: %s labels, %s centroids; inertia %.17g after %" PetscInt_FMT " iterations, on one rank %.17g after %" PetscInt_FMT, test->name, how,
             same ? "the same" : "other", equal ? "the same" : "other", (double)inertia[0], it[0], (double)inertia[1], it[1]);
  PetscCheck(it[0] > 1, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: the case needs more than one iteration", test->name);
  PetscCheck(distances[0] == distances[1], PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s, %s: %" PetscInt64_FMT " distances, on one rank %" PetscInt64_FMT, test->name, how, distances[0], distances[1]);
  for (int s = 0; s < 2; s++) {
    PetscCall(ISRestoreIndices(labels[s], &l[s]));
    PetscCall(MatDestroy(&centroids[s]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves a case on one rank, then on all ranks with each value of -kmeans_reduce, and compares the results. nccl: receives whether `auto` uses NCCL. With several
   ranks, the value `nccl` must be accepted in this case only. */
static PetscErrorCode Check(const Case *test, PetscInt n, PetscBool *nccl)
{
  const MPI_Comm comm = PETSC_COMM_WORLD;
  PetscMPIInt    size;
  Mat            X[2];
  Vec            w[2];
  KMeans         one;
  PetscErrorCode err;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(CreatePoints(comm, test, n, &X[0], &w[0]));
  PetscCall(CreatePoints(PETSC_COMM_SELF, test, n, &X[1], &w[1]));
  PetscCall(Solve(test, X[1], w[1], KMEANS_REDUCE_AUTO, &one, &err));
  PetscCall(err);
  for (int r = KMEANS_REDUCE_AUTO; r <= KMEANS_REDUCE_MPI; r++) {
    const KMeansReduce wanted = (KMeansReduce)r;
    KMeansReduce       used;
    KMeans             km;

    PetscCall(Solve(test, X[0], w[0], wanted, &km, &err));
    PetscCall(KMeansGetReduce(km, &used));
    if (r == KMEANS_REDUCE_AUTO) *nccl = (PetscBool)(used == KMEANS_REDUCE_NCCL);
    PetscCheck(size == 1 || err || used == (*nccl && r != KMEANS_REDUCE_MPI ? KMEANS_REDUCE_NCCL : KMEANS_REDUCE_MPI), comm, PETSC_ERR_PLIB, "%s: -kmeans_reduce %s gives %s", test->name, KMeansReduces[r], KMeansReduces[used]);
    PetscCheck(!err == (size == 1 || *nccl || r != KMEANS_REDUCE_NCCL), comm, PETSC_ERR_PLIB, "%s: -kmeans_reduce %s gives error %d", test->name, KMeansReduces[r], (int)err);
    PetscCheck(!err || err == PETSC_ERR_USER_INPUT, comm, PETSC_ERR_PLIB, "%s: error %d is of another class", test->name, (int)err);
    if (!err) PetscCall(Compare(test, KMeansReduces[r], X[0], km, one));
    PetscCall(KMeansDestroy(&km));
  }
  PetscCall(PetscPrintf(comm, "%s: equal\n", test->name));
  PetscCall(KMeansDestroy(&one));
  for (int m = 0; m < 2; m++) {
    PetscCall(MatDestroy(&X[m]));
    PetscCall(VecDestroy(&w[m]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const Case cases[] = {{.name = "auto", .d = 4},
                        {.name = "auto, weights, restarts", .d = 3, .weights = PETSC_TRUE, .restarts = 3},
                        {.name = "direct and fixed, movement of the centroids", .d = 8, .assign = "direct", .update = "fixed", .stol = 0.05},
                        {.name = "direct and changed, few iterations", .d = 8, .assign = "direct", .update = "changed", .max_it = 6},
                        {.name = "direct and sort", .d = 8, .assign = "direct", .update = "sort"},
                        {.name = "brute and fixed", .d = 5, .assign = "brute", .update = "fixed"},
                        {.name = "tiled, 300 features", .d = 300, .assign = "tiled", .max_it = 4},
                        {.name = "yinyang and changed", .d = 6, .assign = "yinyang", .update = "changed"},
                        {.name = "direct and host", .d = 6, .assign = "direct", .update = "host"},
                        {.name = "cosine", .d = 9, .metric = KMEANS_METRIC_COSINE},
                        {.name = "sparse, weights", .d = 20, .sparse = PETSC_TRUE, .weights = PETSC_TRUE},
                        {.name = "clusters without points: farthest", .d = 4, .far = PETSC_TRUE},
                        {.name = "clusters without points: split", .d = 4, .far = PETSC_TRUE, .update = "fixed", .empty = KMEANS_EMPTY_SPLIT},
                        {.name = "clusters without points: keep", .d = 4, .far = PETSC_TRUE, .empty = KMEANS_EMPTY_KEEP},
                        {.name = "clusters without points: drop", .d = 4, .far = PETSC_TRUE, .empty = KMEANS_EMPTY_DROP},
                        {.name = "clusters without points: tiled, drop", .d = 40, .far = PETSC_TRUE, .empty = KMEANS_EMPTY_DROP},
                        {.name = "monitor", .d = 4, .monitor = PETSC_TRUE},
                        {.name = "batches", .d = 4, .batch = 100, .max_it = 12}};
  PetscInt   n       = 900;
  PetscBool  require = PETSC_FALSE, nccl = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-points", &n, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-max_it", &most, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-require_nccl", &require, NULL));
  for (size_t c = 0; c < PETSC_STATIC_ARRAY_LENGTH(cases); c++) {
    const PetscBool onhost = (PetscBool)(cases[c].update && !strcmp(cases[c].update, "host"));

    if ((double)n * (double)cases[c].d > MOST_VALUES) continue;
    PetscCall(Check(&cases[c], n, &nccl));
    PetscCheck(nccl || !require || onhost, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: -kmeans_reduce auto is mpi; -kmeans_view prints why", cases[c].name);
  }
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   test:
     nsize: {{1 2 4}}

TEST*/
