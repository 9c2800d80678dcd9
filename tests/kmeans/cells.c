static char help[] = "KMeans: the assignment cells gives the bits of brute, for points in all kinds of places; the lists of candidates exclude centroids.\n\n\
  -every n : tests one of n cases\n\n";

#include <gpucsr.h>
#include <gpucsrcompat.h>
#include <gpucsrkmeans.h>
#include "solvers/kmeans/kmeansdata.h"
#include "results.h"

typedef PetscReal (*Value)(PetscInt, PetscInt);

typedef struct {
  const char   *name;
  PetscInt      n, d, k;
  Value         value;
  PetscReal     most; /* upper bound on the candidates of a point, as a part of all centroids; 1: no bound */
  PetscBool     weights;
  KMeansStorage storage;
  KMeansEmpty   empty;
  PetscInt      batch, restarts;
} Case;

static PetscReal Clustered(PetscInt i, PetscInt j)
{
  return i % 9 ? 100 + 1e-3 * Uniform(i, j) : 100 * Uniform(i, j);
}
static PetscReal Outlier(PetscInt i, PetscInt j)
{
  return i == 5 ? 1e6 : Uniform(i, j);
}
static PetscReal Lattice(PetscInt i, PetscInt j)
{
  return 0.25 * PetscFloorReal(9 * Uniform(i, j));
}
static PetscReal Far(PetscInt i, PetscInt j)
{
  return 1e9 + Uniform(i, j) + 1e-7 * Uniform(i, j + 50);
}
static PetscReal FarSingle(PetscInt i, PetscInt j)
{
  return (PetscReal)(float)(1e4 + Uniform(i, j));
}
static PetscReal OneFeature(PetscInt i, PetscInt j)
{
  return j ? 3 : Uniform(i, j);
}
static PetscReal OnePoint(PetscInt i, PetscInt j)
{
  return 1.5 + j;
}
static PetscReal Flat(PetscInt i, PetscInt j)
{
  return j ? 1e-12 * Uniform(i, j) : Uniform(i, j);
}
static PetscReal Huge(PetscInt i, PetscInt j)
{
  return 1e140 * (Uniform(i, j) - 0.5);
}
static PetscReal HugeSingle(PetscInt i, PetscInt j)
{
  return (PetscReal)(float)(6e38 * (Uniform(i, j) - 0.5));
}
static PetscReal Tiny(PetscInt i, PetscInt j)
{
  return 1e-200 * Uniform(i, j);
}
static PetscReal Wide(PetscInt i, PetscInt j)
{
  return (j % 2 ? 1e-30 : 1e30) * (Uniform(i, j) - 0.5);
}

static PetscErrorCode CreatePoints(const Case *test, Mat *X, Vec *w)
{
  PetscInt start, end;

  PetscFunctionBegin;
  PetscCall(MatCreateDense(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, test->n, test->d, NULL, X));
  PetscCall(MatGetOwnershipRange(*X, &start, &end));
  for (PetscInt i = start; i < end; i++)
    for (PetscInt j = 0; j < test->d; j++) PetscCall(MatSetValue(*X, i, j, test->value(i, j), INSERT_VALUES));
  PetscCall(MatAssemblyBegin(*X, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*X, MAT_FINAL_ASSEMBLY));
  *w = NULL;
  if (test->weights) PetscCall(CreateWeights(*X, w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves, with the update `changed` twice with one object. M: start centroids, or NULL for a random start. */
static PetscErrorCode Solve(const Case *test, Mat X, Vec w, Mat M, const char assign[], const char update[], Result *result)
{
  KMeans km;

  PetscFunctionBegin;
  PetscCall(KMeansCreate(PETSC_COMM_WORLD, &km));
  PetscCall(KMeansSetPoints(km, X));
  PetscCall(KMeansSetWeights(km, w));
  PetscCall(KMeansSetClusters(km, test->k));
  PetscCall(KMeansSetStorage(km, test->storage));
  PetscCall(KMeansSetStart(km, KMEANS_START_RANDOM));
  if (M) PetscCall(KMeansSetStartCentroids(km, M));
  PetscCall(KMeansSetEmpty(km, test->empty));
  PetscCall(KMeansSetTolerances(km, 0, 0, test->batch ? 9 : 25));
  PetscCall(KMeansSetAssign(km, assign));
  PetscCall(KMeansSetUpdate(km, update));
  PetscCall(KMeansSetBatchSize(km, test->batch));
  PetscCall(KMeansSetRestarts(km, PetscMax(test->restarts, 1)));
  PetscCall(KMeansSetFromOptions(km)); /* -kmeans_monitor: on a GPU the host takes part in each iteration */
  PetscCall(KMeansSolve(km));
  if (!strcmp(update, "changed")) PetscCall(KMeansSolve(km));
  PetscCall(GetResult(km, result));
  PetscCall(KMeansDestroy(&km));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares `cells` and several updates with `brute`. */
static PetscErrorCode Compare(const Case *test, Mat X, Vec w, Mat M, int nupdates, const char *const updates[])
{
  Result result[2];
  char   what[128];

  PetscFunctionBegin;
  PetscCall(Solve(test, X, w, M, "brute", "fixed", &result[0]));
  for (int u = 0; u < nupdates; u++) {
    PetscCall(PetscSNPrintf(what, sizeof(what), "%s, %s, %s", test->name, updates[u], M ? "given start" : "random start"));
    PetscCall(Solve(test, X, w, M, "cells", updates[u], &result[1]));
    PetscCheck((PetscReal)result[1].distances <= test->most * (PetscReal)result[0].distances, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: %" PetscInt64_FMT " of %" PetscInt64_FMT " distances evaluated, more than the part %g", what, result[1].distances,
               result[0].distances, (double)test->most);
    result[1].distances = result[0].distances;
    PetscCall(CompareResults(what, &result[0], &result[1], PETSC_TRUE));
    PetscCall(ResultsDestroy(1, &result[1]));
  }
  PetscCall(ResultsDestroy(1, result));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Centroids inside and outside the box of the points, two of them equal. */
static PetscErrorCode CreateStart(const Case *test, Mat *M)
{
  PetscFunctionBegin;
  PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, test->k, test->d, NULL, M));
  for (PetscInt c = 0; c < test->k; c++)
    for (PetscInt j = 0; j < test->d; j++) PetscCall(MatSetValue(*M, c, j, (c == test->k - 1 ? 2 : c % 3 ? 1 : 3) * test->value(c == 4 ? 1 : c, j), INSERT_VALUES));
  PetscCall(MatAssemblyBegin(*M, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*M, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckCase(const Case *test)
{
  const char *const updates[] = {"fixed", "changed", "sort", "host"}; /* `changed` does not support batches */
  const int         nupdates  = test->batch ? 1 : test->weights || test->k == 100 ? 4 : 2;
  Mat               X, M;
  Vec               w;

  PetscFunctionBegin;
  PetscCall(CreatePoints(test, &X, &w));
  PetscCall(Compare(test, X, w, NULL, nupdates, updates));
  if (test->empty == KMEANS_EMPTY_KEEP) {
    Case given = *test;

    given.most = 1;
    PetscCall(CreateStart(test, &M));
    PetscCall(Compare(&given, X, w, M, nupdates, updates));
    PetscCall(MatDestroy(&M));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: equal\n", test->name));
  PetscCall(MatDestroy(&X));
  PetscCall(VecDestroy(&w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Points and settings that `cells` refuses. */
static PetscErrorCode CheckRefusals(void)
{
  static const char *const why[] = {"5 features", "4097 clusters", "cosine", "streamed"};

  PetscFunctionBegin;
  for (int r = 0; r < 4; r++) {
    const Case     test = {.name = "refused", .n = r == 1 ? 4100 : 50, .d = r == 0 ? 5 : 2, .value = Uniform};
    Mat            X;
    Vec            w;
    KMeans         km;
    PetscErrorCode err;

    PetscCall(CreatePoints(&test, &X, &w));
    PetscCall(KMeansCreate(PETSC_COMM_WORLD, &km));
    PetscCall(KMeansSetPoints(km, X));
    PetscCall(KMeansSetClusters(km, r == 1 ? KMEANS_CELLS_CLUSTERS + 1 : 3));
    if (r == 2) PetscCall(KMeansSetMetric(km, KMEANS_METRIC_COSINE));
    if (r == 3) PetscCall(KMeansSetStream(km, KMEANS_STREAM_ALWAYS));
    PetscCall(KMeansSetAssign(km, "cells"));
    PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
    err = KMeansSetUp(km);
    PetscCall(PetscPopErrorHandler());
    PetscCheck(err == PETSC_ERR_USER_INPUT, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: error %d", why[r], (int)err);
    PetscCall(KMeansSetAssign(km, "auto"));
    PetscCall(KMeansSetUp(km));
    PetscCall(KMeansDestroy(&km));
    PetscCall(MatDestroy(&X));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "refusals: as expected\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const Case cases[] = {{.name = "1 feature", .n = 2000, .d = 1, .k = 50, .value = Uniform, .most = 0.1, .empty = KMEANS_EMPTY_KEEP},
                        {.name = "2 features", .n = 5000, .d = 2, .k = 100, .value = Uniform, .most = 0.05, .empty = KMEANS_EMPTY_KEEP},
                        {.name = "3 features", .n = 3000, .d = 3, .k = 60, .value = Uniform, .most = 0.1, .empty = KMEANS_EMPTY_KEEP},
                        {.name = "4 features", .n = 3001, .d = 4, .k = 60, .value = Uniform, .most = 0.2, .empty = KMEANS_EMPTY_KEEP},
                        {.name = "4 features, weights, double precision", .n = 1500, .d = 4, .k = 40, .value = Uniform, .most = 0.3, .weights = PETSC_TRUE, .storage = KMEANS_STORAGE_DOUBLE},
                        {.name = "many clusters", .n = 2500, .d = 4, .k = 1100, .value = Uniform, .most = 0.2},
                        {.name = "most clusters", .n = 4100, .d = 2, .k = 4096, .value = Uniform, .most = 0.1, .storage = KMEANS_STORAGE_DOUBLE},
                        {.name = "one cluster", .n = 300, .d = 3, .k = 1, .value = Uniform, .most = 1, .empty = KMEANS_EMPTY_KEEP},
                        {.name = "one point", .n = 1, .d = 2, .k = 1, .value = Uniform, .most = 1},
                        {.name = "a cluster for each", .n = 37, .d = 3, .k = 37, .value = Uniform, .most = 1},
                        {.name = "most points in one cell", .n = 2000, .d = 2, .k = 90, .value = Clustered, .most = 1, .empty = KMEANS_EMPTY_KEEP},
                        {.name = "an outlier", .n = 1000, .d = 3, .k = 20, .value = Outlier, .most = 1, .empty = KMEANS_EMPTY_KEEP},
                        {.name = "lattice with ties", .n = 1500, .d = 2, .k = 30, .value = Lattice, .most = 0.3, .empty = KMEANS_EMPTY_KEEP},
                        {.name = "lattice, empty clusters farthest", .n = 700, .d = 2, .k = 60, .value = Lattice, .most = 1, .empty = KMEANS_EMPTY_FARTHEST},
                        {.name = "lattice, empty clusters drop", .n = 700, .d = 2, .k = 60, .value = Lattice, .most = 1, .empty = KMEANS_EMPTY_DROP},
                        {.name = "far from the origin", .n = 900, .d = 3, .k = 20, .value = Far, .most = 0.3, .empty = KMEANS_EMPTY_KEEP},
                        {.name = "far, single precision", .n = 900, .d = 2, .k = 20, .value = FarSingle, .most = 0.3},
                        {.name = "one feature varies", .n = 500, .d = 3, .k = 9, .value = OneFeature, .most = 0.5},
                        {.name = "coinciding points", .n = 100, .d = 2, .k = 1, .value = OnePoint, .most = 1},
                        {.name = "flat box", .n = 500, .d = 2, .k = 15, .value = Flat, .most = 0.5},
                        {.name = "huge", .n = 300, .d = 2, .k = 7, .value = Huge, .most = 1, .empty = KMEANS_EMPTY_KEEP},
                        {.name = "huge, single precision", .n = 300, .d = 2, .k = 7, .value = HugeSingle, .most = 1},
                        {.name = "tiny", .n = 300, .d = 2, .k = 7, .value = Tiny, .most = 1, .empty = KMEANS_EMPTY_KEEP},
                        {.name = "features of all sizes", .n = 300, .d = 4, .k = 12, .value = Wide, .most = 1},
                        {.name = "mini-batches", .n = 1000, .d = 2, .k = 20, .value = Uniform, .most = 0.3, .batch = 128},
                        {.name = "restarts", .n = 2000, .d = 2, .k = 30, .value = Uniform, .most = 0.2, .restarts = 5}};
  PetscInt   every   = 1;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-every", &every, NULL));
  for (size_t c = 0; c < PETSC_STATIC_ARRAY_LENGTH(cases); c += (size_t)every) PetscCall(CheckCase(&cases[c]));
  PetscCall(CheckRefusals());
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   test:
     suffix: 1
     nsize: {{1 2}}

   test:
     suffix: ranks
     nsize: 4
     args: -every 5

TEST*/
