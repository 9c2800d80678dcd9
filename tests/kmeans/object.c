static char help[] = "The object KMeans: statistics of a solve, sequences of calls, errors of the caller.\n\n";

#include <gpucsr.h>
#include <gpucsrcompat.h>
#include <gpucsrdevice.h>
#include <gpucsrkmeans.h>

/* Creates n points with d features in five groups. */
static PetscErrorCode CreatePoints(MPI_Comm comm, PetscInt n, PetscInt d, PetscBool sparse, Mat *X)
{
  PetscInt start, end;

  PetscFunctionBegin;
  PetscCall(MatCreate(comm, X));
  PetscCall(MatSetSizes(*X, PETSC_DECIDE, PETSC_DECIDE, n, d));
  PetscCall(MatSetType(*X, sparse ? MATAIJ : MATDENSE));
  PetscCall(MatSetUp(*X));
  PetscCall(MatGetOwnershipRange(*X, &start, &end));
  for (PetscInt i = start; i < end; i++)
    for (PetscInt j = 0; j < d; j++)
      if (!sparse || j == i % d || (i + j) % 3) PetscCall(MatSetValue(*X, i, j, (PetscScalar)(8 * ((i * 7 + j) % 5) + (i * (j + 3) * 37) % 101 / 32.), INSERT_VALUES));
  PetscCall(MatAssemblyBegin(*X, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*X, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The statistics of solves. */
static PetscErrorCode CheckStatistics(MPI_Comm comm)
{
  const PetscInt n = 600, d = 3;
  Mat            X;
  KMeans         km;
  PetscLogDouble start, assign, update, first, second;
  PetscInt       done, best, least = 0;
  PetscReal      inertia, each[6];
  KMeansStorage  storage;
  KMeansStart    how;
  const char    *name;
  GpDev          dev;

  PetscFunctionBegin;
  PetscCall(CreatePoints(comm, n, d, PETSC_FALSE, &X));
  PetscCall(KMeansCreate(comm, &km));
  PetscCall(KMeansSetPoints(km, X));
  PetscCall(KMeansSetClusters(km, 7));
  PetscCall(KMeansSetStart(km, KMEANS_START_RANDOM));
  PetscCall(KMeansSetSeed(km, 2));
  PetscCall(KMeansGetAssign(km, &name));
  PetscCall(PetscPrintf(comm, "assignment %s before the set-up", name));
  PetscCall(KMeansSetAssign(km, "yinyang"));
  PetscCall(KMeansSetUpdate(km, "fixed")); /* auto depends on the device */
  PetscCall(KMeansSetUp(km));
  PetscCall(KMeansGetAssign(km, &name));
  PetscCall(PetscPrintf(comm, ", %s after it, update ", name));
  PetscCall(KMeansGetUpdate(km, &name));
  PetscCall(KMeansGetStart(km, &how));
  PetscCall(KMeansGetStorage(km, &storage));
  PetscCall(PetscPrintf(comm, "%s, start %s, storage %s\n", name, KMeansStarts[how], KMeansStorages[storage]));
  PetscCall(KMeansSolve(km));
  PetscCall(KMeansGetTimes(km, &start, &assign, &update));
  PetscCall(KMeansGetBytesCopied(km, &first));
  PetscCheck(start > 0 && assign > 0 && update > 0, comm, PETSC_ERR_PLIB, "seconds of start %g, assignment %g, update %g", start, assign, update);
  PetscCall(KMeansSolve(km));
  PetscCall(KMeansGetBytesCopied(km, &second));
  PetscCall(PetscGPUCSRGetDevice(&dev));
  if (GpDevKindOf(dev) == GP_DEV_HOST) PetscCheck(first == 0 && second == 0, comm, PETSC_ERR_PLIB, "%g and %g bytes copied on the host", first, second);
  else PetscCheck(first - second >= n * d * 4 && second >= n * 4, comm, PETSC_ERR_PLIB, "%g bytes copied by the solve that copies the points, %g by the next", first, second);
  PetscCall(KMeansSetRestarts(km, 6));
  PetscCall(KMeansSolve(km));
  PetscCall(KMeansGetRestarts(km, &done, &best));
  for (PetscInt r = 0; r < 6; r++) { /* restart r is the last of r + 1 restarts */
    PetscInt now;

    PetscCall(KMeansSetRestarts(km, r + 1));
    PetscCall(KMeansSolve(km));
    PetscCall(KMeansGetInertia(km, &each[r]));
    PetscCall(KMeansGetRestarts(km, NULL, &now));
    PetscCheck(r == 0 ? now == 0 : now == (each[r] < each[r - 1] ? r : least), comm, PETSC_ERR_PLIB, "restart %" PetscInt_FMT " of %" PetscInt_FMT " is called the best", now, r + 1);
    least = now;
  }
  PetscCheck(done == 6 && best == least, comm, PETSC_ERR_PLIB, "%" PetscInt_FMT " restarts, the best %" PetscInt_FMT " and not %" PetscInt_FMT, done, best, least);
  PetscCall(KMeansGetInertia(km, &inertia));
  PetscCall(PetscPrintf(comm, "the best of %" PetscInt_FMT " restarts is number %" PetscInt_FMT ", inertia %.10g\n", done, best, (double)inertia));
  PetscCall(KMeansDestroy(&km));
  PetscCall(MatDestroy(&X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Checks that the result of a solver is that of a new solver with the same points and settings. */
static PetscErrorCode CheckFresh(KMeans km, const char name[], Mat X, Vec w, PetscInt k, KMeansMetric metric, KMeansStart start, KMeansStorage storage, PetscInt batch)
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)km);
  KMeans         fresh;
  PetscReal      is, want;
  Mat            centroids[2];
  IS             labels[2];
  PetscBool      same[2];

  PetscFunctionBegin;
  PetscCall(KMeansCreate(comm, &fresh));
  PetscCall(KMeansSetPoints(fresh, X));
  PetscCall(KMeansSetWeights(fresh, w));
  PetscCall(KMeansSetClusters(fresh, k));
  PetscCall(KMeansSetMetric(fresh, metric));
  PetscCall(KMeansSetStart(fresh, start));
  PetscCall(KMeansSetStorage(fresh, storage));
  PetscCall(KMeansSetBatchSize(fresh, batch));
  PetscCall(KMeansSolve(fresh));
  PetscCall(KMeansSolve(km));
  PetscCall(KMeansGetInertia(km, &is));
  PetscCall(KMeansGetInertia(fresh, &want));
  PetscCall(KMeansGetCentroids(km, &centroids[0]));
  PetscCall(KMeansGetCentroids(fresh, &centroids[1]));
  PetscCall(KMeansGetLabels(km, &labels[0]));
  PetscCall(KMeansGetLabels(fresh, &labels[1]));
  PetscCall(MatEqual(centroids[0], centroids[1], &same[0]));
  PetscCall(ISEqual(labels[0], labels[1], &same[1]));
  PetscCheck(same[0] && same[1] && is == want, comm, PETSC_ERR_PLIB, "%s: %s centroids, %s labels, inertia %.17g and not %.17g", name, same[0] ? "same" : "other", same[1] ? "same" : "other", (double)is, (double)want);
  for (int m = 0; m < 2; m++) PetscCall(MatDestroy(&centroids[m]));
  PetscCall(KMeansDestroy(&fresh));
  PetscCall(PetscPrintf(comm, "%s: as a new solver, inertia %.10g\n", name, (double)is));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A monitor that counts its calls, and the function that frees its context. */
static PetscErrorCode Count(KMeans km, PetscInt it, PetscReal inertia, PetscInt64 changed, void *ctx)
{
  PetscFunctionBegin;
  ((PetscInt *)ctx)[0]++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CountDestroyed(void **ctx)
{
  PetscFunctionBegin;
  ((PetscInt *)*ctx)[1]++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Settings, points and weights that change between solves. */
static PetscErrorCode CheckSequences(MPI_Comm comm)
{
  Mat         X, Y;
  Vec         w;
  KMeans      km;
  PetscInt    calls[2] = {0, 0}, once, done, best;
  const char *name;

  PetscFunctionBegin;
  PetscCall(CreatePoints(comm, 300, 4, PETSC_FALSE, &X));
  PetscCall(CreatePoints(comm, 210, 6, PETSC_TRUE, &Y));
  PetscCall(MatCreateVecs(X, NULL, &w));
  PetscCall(VecSet(w, 0.75));
  PetscCall(KMeansCreate(comm, &km));
  PetscCall(KMeansSetOptionsPrefix(km, "test_"));
  PetscCall(PetscOptionsSetValue(NULL, "-kmeans_clusters", "3")); /* without the prefix: not for this solver */
  PetscCall(PetscOptionsSetValue(NULL, "-test_kmeans_clusters", "6"));
  PetscCall(PetscOptionsSetValue(NULL, "-test_kmeans_update", "fixed"));
  PetscCall(KMeansSetPoints(km, Y));
  PetscCall(KMeansSetUp(km));
  PetscCall(KMeansSetPoints(km, X));
  PetscCall(KMeansSetUp(km));
  PetscCall(KMeansSetFromOptions(km)); /* after the set-up */
  PetscCall(KMeansMonitorSet(km, Count, calls, CountDestroyed));
  PetscCall(CheckFresh(km, "options after the set-up", X, NULL, 6, KMEANS_METRIC_EUCLIDEAN, KMEANS_START_PLUSPLUS, KMEANS_STORAGE_AUTO, 0));
  PetscCall(KMeansGetUpdate(km, &name));
  PetscCheck(!strcmp(name, "fixed"), comm, PETSC_ERR_PLIB, "update %s", name);
  once = calls[0];
  PetscCall(CheckFresh(km, "solved twice", X, NULL, 6, KMEANS_METRIC_EUCLIDEAN, KMEANS_START_PLUSPLUS, KMEANS_STORAGE_AUTO, 0));
  PetscCheck(once > 0 && calls[0] == 2 * once, comm, PETSC_ERR_PLIB, "%" PetscInt_FMT " calls of the monitor by two solves, %" PetscInt_FMT " by the first", calls[0], once);
  PetscCall(KMeansMonitorCancel(km));
  PetscCall(KMeansSetClusters(km, 9));
  PetscCall(CheckFresh(km, "more clusters", X, NULL, 9, KMEANS_METRIC_EUCLIDEAN, KMEANS_START_PLUSPLUS, KMEANS_STORAGE_AUTO, 0));
  PetscCheck(calls[0] == 2 * once && calls[1] == 1, comm, PETSC_ERR_PLIB, "a cancelled monitor was called, or its context was freed %" PetscInt_FMT " times", calls[1]);
  PetscCall(KMeansSetStart(km, KMEANS_START_PARALLEL));
  PetscCall(KMeansSetStorage(km, KMEANS_STORAGE_DOUBLE));
  PetscCall(CheckFresh(km, "start and storage", X, NULL, 9, KMEANS_METRIC_EUCLIDEAN, KMEANS_START_PARALLEL, KMEANS_STORAGE_DOUBLE, 0));
  PetscCall(KMeansSetMetric(km, KMEANS_METRIC_COSINE));
  PetscCall(CheckFresh(km, "metric", X, NULL, 9, KMEANS_METRIC_COSINE, KMEANS_START_PARALLEL, KMEANS_STORAGE_DOUBLE, 0));
  PetscCall(KMeansSetMetric(km, KMEANS_METRIC_EUCLIDEAN));
  PetscCall(KMeansSetStart(km, KMEANS_START_RANDOM));
  PetscCall(MatScale(X, 3));
  PetscCall(CheckFresh(km, "points changed in place", X, NULL, 9, KMEANS_METRIC_EUCLIDEAN, KMEANS_START_RANDOM, KMEANS_STORAGE_DOUBLE, 0));
  PetscCall(KMeansSetWeights(km, w));
  PetscCall(CheckFresh(km, "weights", X, w, 9, KMEANS_METRIC_EUCLIDEAN, KMEANS_START_RANDOM, KMEANS_STORAGE_DOUBLE, 0));
  PetscCall(VecScale(w, 4));
  PetscCall(CheckFresh(km, "weights changed in place", X, w, 9, KMEANS_METRIC_EUCLIDEAN, KMEANS_START_RANDOM, KMEANS_STORAGE_DOUBLE, 0));
  PetscCall(KMeansSetWeights(km, NULL));
  PetscCall(KMeansSetUpdate(km, "auto"));
  PetscCall(KMeansSetBatchSize(km, 100));
  PetscCall(CheckFresh(km, "batches", X, NULL, 9, KMEANS_METRIC_EUCLIDEAN, KMEANS_START_RANDOM, KMEANS_STORAGE_DOUBLE, 100));
  PetscCall(KMeansSetPoints(km, Y));
  PetscCall(CheckFresh(km, "batches of other points", Y, NULL, 9, KMEANS_METRIC_EUCLIDEAN, KMEANS_START_RANDOM, KMEANS_STORAGE_DOUBLE, 100));
  PetscCall(KMeansSetBatchSize(km, 0));
  PetscCall(CheckFresh(km, "all points again", Y, NULL, 9, KMEANS_METRIC_EUCLIDEAN, KMEANS_START_RANDOM, KMEANS_STORAGE_DOUBLE, 0));
  PetscCall(KMeansSetRestarts(km, 3));
  PetscCall(KMeansSetClusters(km, 1)); /* all restarts have one inertia */
  PetscCall(KMeansSolve(km));
  PetscCall(KMeansGetRestarts(km, &done, &best));
  PetscCheck(done == 3 && best == 0, comm, PETSC_ERR_PLIB, "of %" PetscInt_FMT " equal restarts number %" PetscInt_FMT " is kept", done, best);
  PetscCall(KMeansDestroy(&km));
  PetscCall(MatDestroy(&X));
  PetscCall(MatDestroy(&Y));
  PetscCall(VecDestroy(&w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Two solvers whose calls alternate, and errors, after which a solver can be used. */
static PetscErrorCode CheckErrors(MPI_Comm comm)
{
  Mat            X, Y;
  KMeans         a, b;
  IS             labels;
  Vec            w;
  PetscErrorCode err[7];

  PetscFunctionBegin;
  PetscCall(CreatePoints(comm, 200, 3, PETSC_FALSE, &X));
  PetscCall(CreatePoints(comm, 260, 5, PETSC_TRUE, &Y));
  PetscCall(KMeansCreate(comm, &a));
  PetscCall(KMeansCreate(comm, &b));
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  err[0] = KMeansSolve(a);
  PetscCall(KMeansSetPoints(a, X));
  PetscCall(KMeansSetPoints(b, Y));
  PetscCall(KMeansSetClusters(a, 201));
  err[1] = KMeansSetUp(a);
  PetscCall(KMeansSetClusters(a, 5));
  PetscCall(KMeansSetClusters(b, 4));
  PetscCall(KMeansSetUp(a));
  PetscCall(KMeansSetUp(b));
  err[2] = KMeansGetLabels(a, &labels);
  err[3] = KMeansPredict(a, X, &labels);
  PetscCall(MatCreateVecs(X, NULL, &w));
  PetscCall(VecSet(w, -1));
  PetscCall(KMeansSetWeights(b, w));
  err[4] = KMeansSolve(b); /* weights of other points */
  PetscCall(KMeansSetWeights(b, NULL));
  PetscCall(KMeansSetWeights(a, w));
  err[5] = KMeansSolve(a); /* negative weights */
  PetscCall(KMeansSetWeights(a, NULL));
  PetscCall(KMeansSolve(a));
  PetscCall(KMeansSolve(b));
  PetscCall(CheckFresh(a, "the first of two solvers", X, NULL, 5, KMEANS_METRIC_EUCLIDEAN, KMEANS_START_PLUSPLUS, KMEANS_STORAGE_AUTO, 0));
  PetscCall(CheckFresh(b, "the second of two solvers", Y, NULL, 4, KMEANS_METRIC_EUCLIDEAN, KMEANS_START_PLUSPLUS, KMEANS_STORAGE_AUTO, 0));
  PetscCall(KMeansReset(a));
  err[6] = KMeansPredict(a, X, &labels);
  PetscCall(PetscPopErrorHandler());
  PetscCheck(err[0] == PETSC_ERR_ORDER && err[1] == PETSC_ERR_USER_INPUT && err[2] == PETSC_ERR_ARG_WRONGSTATE && err[3] == PETSC_ERR_ARG_WRONGSTATE && err[4] == PETSC_ERR_ARG_SIZ && err[5] == PETSC_ERR_USER_INPUT &&
               err[6] == PETSC_ERR_ARG_WRONGSTATE,
             comm, PETSC_ERR_PLIB, "errors %d %d %d %d %d %d %d", (int)err[0], (int)err[1], (int)err[2], (int)err[3], (int)err[4], (int)err[5], (int)err[6]);
  PetscCall(VecDestroy(&w));
  PetscCall(KMeansDestroy(&a));
  PetscCall(KMeansDestroy(&b));
  PetscCall(MatDestroy(&X));
  PetscCall(MatDestroy(&Y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A solver that has start centroids predicts the labels of the solver that computed these centroids. */
static PetscErrorCode CheckPredictions(MPI_Comm comm)
{
  PetscFunctionBegin;
  for (int cosine = 0; cosine < 2; cosine++) {
    KMeans             km, other;
    Mat                X, M;
    IS                 labels, predicted;
    const PetscInt    *a, *b;
    PetscInt           n;
    KMeansMetric       metric;
    const KMeansMetric asked = cosine ? KMEANS_METRIC_COSINE : KMEANS_METRIC_EUCLIDEAN;

    PetscCall(CreatePoints(comm, 200, 4, PETSC_FALSE, &X));
    PetscCall(KMeansCreate(comm, &km));
    PetscCall(KMeansSetPoints(km, X));
    PetscCall(KMeansSetMetric(km, asked));
    PetscCall(KMeansGetMetric(km, &metric));
    PetscCheck(metric == asked, comm, PETSC_ERR_PLIB, "metric %s, not %s", KMeansMetrics[metric], KMeansMetrics[asked]);
    PetscCall(KMeansSolve(km));
    PetscCall(KMeansGetCentroids(km, &M));
    PetscCall(KMeansCreate(comm, &other));
    PetscCall(KMeansSetMetric(other, asked));
    PetscCall(KMeansSetStartCentroids(other, M));
    PetscCall(KMeansPredict(other, X, &predicted));
    PetscCall(KMeansGetLabels(km, &labels));
    PetscCall(ISGetLocalSize(labels, &n));
    PetscCall(ISGetIndices(labels, &a));
    PetscCall(ISGetIndices(predicted, &b));
    for (PetscInt i = 0; i < n; i++) PetscCheck(a[i] == b[i], PETSC_COMM_SELF, PETSC_ERR_PLIB, "local point %" PetscInt_FMT " has label %" PetscInt_FMT ", predicted %" PetscInt_FMT, i, a[i], b[i]);
    PetscCall(ISRestoreIndices(labels, &a));
    PetscCall(ISRestoreIndices(predicted, &b));
    PetscCall(ISDestroy(&predicted));
    PetscCall(MatDestroy(&M));
    PetscCall(MatDestroy(&X));
    PetscCall(KMeansDestroy(&km));
    PetscCall(KMeansDestroy(&other));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(CheckStatistics(PETSC_COMM_WORLD));
  PetscCall(CheckSequences(PETSC_COMM_WORLD));
  PetscCall(CheckErrors(PETSC_COMM_WORLD));
  PetscCall(CheckPredictions(PETSC_COMM_WORLD));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   test:
     suffix: 1
     nsize: {{1 2 4}}

TEST*/
