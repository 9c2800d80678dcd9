static char help[] = "KMeans: every assignment with every update and start, from the tables of variants.\n\n";

#include <gpucsr.h>
#include <gpucsrcompat.h>
#include <gpucsrkmeans.h>
#include "solvers/kmeans/kmeansdata.h"

#define N 330 /* more than a block of threads, and not a multiple of a warp */

typedef struct {
  const char *name;
  int         properties;
} Variant;

static const Variant assigns[] = {
#define KMEANS_VARIANT(name, properties, where, help) {#name, 0},
#include "solvers/kmeans/assign.def"
#undef KMEANS_VARIANT
};

static const Variant updates[] = {
#define KMEANS_VARIANT(name, properties, where, help) {#name, properties},
#include "solvers/kmeans/update.def"
#undef KMEANS_VARIANT
};

/* Points on a grid of quarters in five groups, so that distances tie and points coincide. No point is zero. */
static PetscErrorCode CreatePoints(MPI_Comm comm, MatType type, PetscInt d, Mat *X)
{
  PetscInt start, end;

  PetscFunctionBegin;
  PetscCall(MatCreate(comm, X));
  PetscCall(MatSetSizes(*X, PETSC_DECIDE, PETSC_DECIDE, N, d));
  PetscCall(MatSetType(*X, type));
  PetscCall(MatSetUp(*X));
  PetscCall(MatGetOwnershipRange(*X, &start, &end));
  for (PetscInt i = start; i < end; i++)
    for (PetscInt j = 0; j < d; j++)
      if ((i + j) % 3) PetscCall(MatSetValue(*X, i, j, ((i % 5 + j) % 3) * 4.0 + ((i * 7919 + j * 104729 + (i * j) % 13) % 9 + 1) * 0.25, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(*X, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*X, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves. *km is NULL if the variants refuse the points, the metric or the device. */
static PetscErrorCode Solve(Mat X, KMeansMetric metric, KMeansStart start, const char assign[], const char update[], KMeans *km)
{
  PetscErrorCode err;

  PetscFunctionBegin;
  PetscCall(KMeansCreate(PetscObjectComm((PetscObject)X), km));
  PetscCall(KMeansSetPoints(*km, X));
  PetscCall(KMeansSetClusters(*km, 11));
  PetscCall(KMeansSetMetric(*km, metric));
  PetscCall(KMeansSetStart(*km, start));
  PetscCall(KMeansSetAssign(*km, assign));
  PetscCall(KMeansSetUpdate(*km, update));
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  err = KMeansSetUp(*km);
  PetscCall(PetscPopErrorHandler());
  if (!err) PetscCall(KMeansSolve(*km));
  else {
    PetscCheck(err == PETSC_ERR_USER_INPUT || err == PETSC_ERR_SUP, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s and %s: error %d in the set-up", assign, update, (int)err);
    PetscCall(KMeansDestroy(km));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Checks the labels against those that KMeansPredict() gives for the centroids, and, if the sums are exact, bits against the first solver. */
static PetscErrorCode Check(KMeans km, KMeans first, Mat X, PetscBool exact, const char name[])
{
  IS        labels[2], predicted;
  Mat       centroids[2];
  PetscReal inertia[2];
  PetscBool same, equal;

  PetscFunctionBegin;
  PetscCall(KMeansGetLabels(km, &labels[0]));
  PetscCall(KMeansPredict(km, X, &predicted));
  PetscCall(ISEqual(labels[0], predicted, &same));
  PetscCheck(same, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: labels differ from those of KMeansPredict()", name);
  PetscCall(ISDestroy(&predicted));
  if (!exact) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KMeansGetLabels(first, &labels[1]));
  PetscCall(KMeansGetCentroids(km, &centroids[0]));
  PetscCall(KMeansGetCentroids(first, &centroids[1]));
  PetscCall(KMeansGetInertia(km, &inertia[0]));
  PetscCall(KMeansGetInertia(first, &inertia[1]));
  PetscCall(ISEqual(labels[0], labels[1], &same));
  PetscCall(MatEqual(centroids[0], centroids[1], &equal));
  PetscCheck(same && equal && inertia[0] == inertia[1], PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %s labels, %s centroids, inertia %.17g and not %.17g", name, same ? "the same" : "other", equal ? "the same" : "other", (double)inertia[0],
             (double)inertia[1]);
  for (int m = 0; m < 2; m++) PetscCall(MatDestroy(&centroids[m]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All variants beside brute and fixed. Requires that every assignment and every update runs with one of the points: ran[] counts solves. */
static PetscErrorCode CheckPoints(const char what[], Mat X, KMeansMetric metric, PetscInt ran[])
{
  char name[128];

  PetscFunctionBegin;
  for (int start = KMEANS_START_RANDOM; start <= KMEANS_START_PARALLEL; start++) {
    KMeans first, km;

    PetscCall(Solve(X, metric, (KMeansStart)start, "brute", "fixed", &first));
    PetscCheck(first, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: brute and fixed are refused", what);
    for (size_t a = 0; a < PETSC_STATIC_ARRAY_LENGTH(assigns); a++)
      for (size_t u = 0; u < PETSC_STATIC_ARRAY_LENGTH(updates); u++) {
        PetscCall(Solve(X, metric, (KMeansStart)start, assigns[a].name, updates[u].name, &km));
        if (!km) continue;
        PetscCall(PetscSNPrintf(name, sizeof(name), "%s, %s, %s and %s", what, KMeansStarts[start], assigns[a].name, updates[u].name));
        PetscCall(Check(km, first, X, (PetscBool) !(updates[u].properties & KMEANS_FLOAT), name));
        PetscCall(KMeansDestroy(&km));
        ran[a]++;
        ran[PETSC_STATIC_ARRAY_LENGTH(assigns) + u]++;
      }
    PetscCall(KMeansDestroy(&first));
  }
  PetscCall(PetscPrintf(PetscObjectComm((PetscObject)X), "%s: equal\n", what));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const size_t many                                                                         = PETSC_STATIC_ARRAY_LENGTH(assigns);
  PetscInt     ran[PETSC_STATIC_ARRAY_LENGTH(assigns) + PETSC_STATIC_ARRAY_LENGTH(updates)] = {0};
  Mat          X[4];

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(CreatePoints(PETSC_COMM_WORLD, MATDENSE, 5, &X[0]));
  PetscCall(CreatePoints(PETSC_COMM_WORLD, MATDENSE, 70, &X[1]));
  PetscCall(CreatePoints(PETSC_COMM_WORLD, MATAIJ, 17, &X[2]));
  PetscCall(CreatePoints(PETSC_COMM_WORLD, MATDENSE, 3, &X[3])); /* `cells` is for up to 4 features */
  PetscCall(CheckPoints("dense, 3 features", X[3], KMEANS_METRIC_EUCLIDEAN, ran));
  PetscCall(CheckPoints("dense, 5 features", X[0], KMEANS_METRIC_EUCLIDEAN, ran));
  PetscCall(CheckPoints("dense, 70 features", X[1], KMEANS_METRIC_EUCLIDEAN, ran));
  PetscCall(CheckPoints("dense, cosine", X[0], KMEANS_METRIC_COSINE, ran));
  PetscCall(CheckPoints("sparse", X[2], KMEANS_METRIC_EUCLIDEAN, ran));
  PetscCall(CheckPoints("sparse, cosine", X[2], KMEANS_METRIC_COSINE, ran));
  for (size_t v = 0; v < PETSC_STATIC_ARRAY_LENGTH(ran); v++) PetscCheck(ran[v], PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s is refused for all points", v < many ? assigns[v].name : updates[v - many].name);
  for (int m = 0; m < 4; m++) PetscCall(MatDestroy(&X[m]));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   test:
     nsize: {{1 3}}

TEST*/
