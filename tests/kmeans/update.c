static char help[] = "KMeans: every update with every kind of points. Integer sums have the same bits; sums in single precision give nearly the same inertia.\n\n\
  -few : compares fewer updates with each assignment\n\n";

#include <gpucsr.h>
#include <gpucsrcompat.h>
#include <gpucsrkmeans.h>
#include "points.h"

typedef struct {
  const char   *name;
  PetscInt      n, d, k, max_it, batch;
  PetscBool     sparse, weights;
  KMeansMetric  metric;
  KMeansStorage storage;
} Case;

/* Points around seven centres, in the order of the centres, so that neighbouring points have the same label, or the other way round. */
static PetscErrorCode CreatePoints(MPI_Comm comm, const Case *test, Mat *X, Vec *w)
{
  PetscInt start, end;

  PetscFunctionBegin;
  if (test->sparse) PetscCall(MatCreateAIJ(comm, PETSC_DECIDE, PETSC_DECIDE, test->n, test->d, test->d, NULL, test->d, NULL, X));
  else PetscCall(MatCreateDense(comm, PETSC_DECIDE, PETSC_DECIDE, test->n, test->d, NULL, X));
  PetscCall(MatGetOwnershipRange(*X, &start, &end));
  for (PetscInt i = start; i < end; i++) {
    const PetscInt centre = test->k % 2 ? i * 7 / test->n : i % 7;

    for (PetscInt j = 0; j < test->d; j++)
      if (!test->sparse || (i + j) % 3) PetscCall(MatSetValue(*X, i, j, Uniform(i, j) + 2 * Uniform(centre, j + test->d) - 1, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*X, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*X, MAT_FINAL_ASSEMBLY));
  *w = NULL;
  if (test->weights) PetscCall(CreateWeights(*X, w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef struct {
  IS        labels;
  Mat       centroids;
  PetscReal inertia;
} Result;

static PetscErrorCode Solve(MPI_Comm comm, const Case *test, Mat X, Vec w, const char assign[], const char update[], Result *result)
{
  KMeans   km;
  PetscInt most;

  PetscFunctionBegin;
  PetscCall(KMeansCreate(comm, &km));
  PetscCall(KMeansSetPoints(km, X));
  PetscCall(KMeansSetWeights(km, w));
  PetscCall(KMeansSetClusters(km, test->k));
  PetscCall(KMeansSetMetric(km, test->metric));
  PetscCall(KMeansSetStorage(km, test->storage));
  PetscCall(KMeansSetStart(km, KMEANS_START_RANDOM));
  PetscCall(KMeansSetEmpty(km, test->k % 2 ? KMEANS_EMPTY_DROP : KMEANS_EMPTY_KEEP));
  PetscCall(KMeansSetBatchSize(km, test->batch));
  PetscCall(KMeansSetTolerances(km, 0, 0, test->max_it));
  PetscCall(KMeansSetAssign(km, assign));
  PetscCall(KMeansSetUpdate(km, update));
  PetscCall(KMeansSetFromOptions(km)); /* -kmeans_monitor: on a GPU the host takes part in each iteration */
  PetscCall(KMeansSolve(km));
  if (!strcmp(update, "fixed") && !strcmp(assign, "auto")) PetscCall(KMeansSolve(km)); /* sums of an earlier solve do not matter */
  PetscCall(KMeansGetLabels(km, &result->labels));
  PetscCall(PetscObjectReference((PetscObject)result->labels));
  PetscCall(KMeansGetCentroids(km, &result->centroids));
  PetscCall(KMeansGetInertia(km, &result->inertia));
  PetscCall(KMeansGetIterationNumber(km, &most));
  PetscCheck(most > 1, comm, PETSC_ERR_PLIB, "%s: one iteration shows little", test->name);
  PetscCall(KMeansDestroy(&km));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ResultDestroy(Result *result)
{
  PetscFunctionBegin;
  PetscCall(ISDestroy(&result->labels));
  PetscCall(MatDestroy(&result->centroids));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves by updates with an assignment. turn: -1 for all updates; otherwise `fixed` is compared with one other update with integer sums, and with one in single precision if the assignment
   is auto. */
static PetscErrorCode CompareUpdates(MPI_Comm comm, const Case *test, Mat X, Vec w, const char assign[], PetscInt turn)
{
  const char *const exact[]   = {"fixed", "host", "changed", "sort"}; /* the first three are for sparse points too */
  const char *const rounded[] = {"rank", "rankstable", "onehot"};
  const size_t      most = test->sparse ? 3 : 4, one = turn < 0 ? 0 : test->batch ? 1 : 1 + (size_t)turn % (most - 1); /* small batches have no update `changed` */
  Result            first, now;

  PetscFunctionBegin;
  for (size_t u = 0; u < most; u++) {
    PetscBool labels, centroids;

    if (test->batch && !strcmp(exact[u], "changed")) continue;
    if (u && one && u != one) continue;
    PetscCall(Solve(comm, test, X, w, assign, exact[u], &now));
    if (!u) {
      first = now;
      continue;
    }
    PetscCall(ISEqual(first.labels, now.labels, &labels));
    PetscCall(MatEqual(first.centroids, now.centroids, &centroids));
    PetscCheck(labels && centroids && now.inertia == first.inertia, comm, PETSC_ERR_PLIB, "%s: %s with %s gives %s labels, %s centroids, inertia %.17g, not %.17g", test->name, exact[u], assign, labels ? "the same" : "other",
               centroids ? "the same" : "other", (double)now.inertia, (double)first.inertia);
    PetscCall(ResultDestroy(&now));
  }
  for (size_t u = 0; u < PETSC_STATIC_ARRAY_LENGTH(rounded) && !test->sparse; u++) {
    if (turn >= 0 && (strcmp(assign, "auto") || u != (size_t)turn % PETSC_STATIC_ARRAY_LENGTH(rounded))) continue;
    PetscCall(Solve(comm, test, X, w, assign, rounded[u], &now));
    PetscCheck(PetscAbsReal(now.inertia - first.inertia) <= 1e-5 * first.inertia, comm, PETSC_ERR_PLIB, "%s: %s with %s gives the inertia %.17g, not about %.17g", test->name, rounded[u], assign, (double)now.inertia, (double)first.inertia);
    PetscCall(ResultDestroy(&now));
  }
  PetscCall(ResultDestroy(&first));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* turn: different for each case, so that each assignment meets each update. */
static PetscErrorCode Compare(MPI_Comm comm, const Case *test, PetscInt turn, PetscBool few)
{
  const char *const assigns[] = {"brute", "hamerly", "yinyang", "elkan"};
  const size_t      most      = test->n > 1200 || test->batch ? 0 : PETSC_STATIC_ARRAY_LENGTH(assigns);
  Mat               X;
  Vec               w;

  PetscFunctionBegin;
  PetscCall(CreatePoints(comm, test, &X, &w));
  for (size_t a = 0; a < most; a++) PetscCall(CompareUpdates(comm, test, X, w, assigns[a], turn + (PetscInt)a));
  PetscCall(CompareUpdates(comm, test, X, w, "auto", few ? turn : -1));
  PetscCall(PetscPrintf(comm, "%s: equal\n", test->name));
  PetscCall(MatDestroy(&X));
  PetscCall(VecDestroy(&w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const Case cases[] = {{.name = "4 features", .n = 1200, .d = 4, .k = 24, .max_it = 6},
                        {.name = "one feature", .n = 1200, .d = 1, .k = 5, .max_it = 6},
                        {.name = "sums in several slabs on a GPU", .n = 1300, .d = 36, .k = 820, .max_it = 2},
                        {.name = "more clusters than sums in shared memory", .n = 3300, .d = 8, .k = 3251, .max_it = 2},
                        {.name = "33 features, weights", .n = 1100, .d = 33, .k = 9, .max_it = 6, .weights = PETSC_TRUE},
                        {.name = "200 features, double precision", .n = 1030, .d = 200, .k = 6, .max_it = 4, .storage = KMEANS_STORAGE_DOUBLE},
                        {.name = "one cluster", .n = 1030, .d = 3, .k = 1, .max_it = 3, .weights = PETSC_TRUE},
                        {.name = "few points", .n = 40, .d = 3, .k = 7, .max_it = 5},
                        {.name = "cosine", .n = 1100, .d = 5, .k = 12, .max_it = 6, .metric = KMEANS_METRIC_COSINE},
                        {.name = "sparse", .n = 1100, .d = 17, .k = 12, .max_it = 6, .sparse = PETSC_TRUE},
                        {.name = "sparse, weights, cosine", .n = 300, .d = 50, .k = 11, .max_it = 6, .sparse = PETSC_TRUE, .weights = PETSC_TRUE, .metric = KMEANS_METRIC_COSINE},
                        {.name = "batches", .n = 1800, .d = 8, .k = 6, .max_it = 9, .batch = 300},
                        {.name = "sparse batches, weights", .n = 900, .d = 8, .k = 5, .max_it = 9, .batch = 100, .sparse = PETSC_TRUE, .weights = PETSC_TRUE}};
  Case       large   = {.name = "large", .n = 0, .d = 2, .k = 10, .max_it = 2}; /* beyond 2097152 points a sum has two words */

  PetscBool few = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &large.n, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-d", &large.d, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-k", &large.k, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-weights", &large.weights, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-few", &few, NULL));
  if (large.n) PetscCall(Compare(PETSC_COMM_WORLD, &large, 0, few));
  for (size_t c = 0; c < PETSC_STATIC_ARRAY_LENGTH(cases) && !large.n; c++) PetscCall(Compare(PETSC_COMM_WORLD, &cases[c], (PetscInt)c, few));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   test:
     suffix: 1

   test:
     suffix: ranks
     nsize: 3
     args: -few
     output_file: output/update_1.out

TEST*/
