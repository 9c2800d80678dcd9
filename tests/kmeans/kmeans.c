static char help[] = "KMeans: labels against their definition, every assignment, update, start, metric, storage and treatment of empty clusters.\n\n";

#include <gpucsr.h>
#include <gpucsrcompat.h>
#include <gpucsrkmeans.h>

#define N 600

/* Points around five centres on a grid of quarters, so that points coincide and distances tie. Rows are divided over the ranks by PETSc. */
static PetscErrorCode CreatePoints(MPI_Comm comm, PetscInt n, PetscInt d, PetscBool sparse, Mat *X)
{
  PetscInt start, end;

  PetscFunctionBegin;
  if (sparse) PetscCall(MatCreateAIJ(comm, PETSC_DECIDE, PETSC_DECIDE, n, d, d, NULL, d, NULL, X));
  else PetscCall(MatCreateDense(comm, PETSC_DECIDE, PETSC_DECIDE, n, d, NULL, X));
  PetscCall(MatGetOwnershipRange(*X, &start, &end));
  for (PetscInt i = start; i < end; i++) {
    for (PetscInt j = 0; j < d; j++) {
      const PetscInt    noise = (i * 7919 + j * 104729 + (i * j) % 13) % 9;
      const PetscScalar value = ((i % 5 + j) % 3) * 4.0 + noise * 0.25;

      if (!sparse || (i + j) % 3) PetscCall(MatSetValue(*X, i, j, value + (d > 4 && noise == 1 ? 1e-9 : 0), INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(*X, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*X, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The label of a row by the definition. Products and sums are rounded one by one (volatile prevents contraction). */
static PetscInt FindLabel(PetscInt d, PetscInt k, const double x[], const PetscScalar m[], PetscInt lda, PetscBool sparse, KMeansMetric metric, const double present[])
{
  PetscInt label = 0;
  double   least = PETSC_INFINITY;

  for (PetscInt c = 0; c < k; c++) {
    volatile double dot = 0, square = 0, distance = 0, product;
    double          compared;

    for (PetscInt j = 0; j < d; j++) {
      product = m[c + j * lda] * m[c + j * lda];
      square += product;
      product = (x[j] - m[c + j * lda]) * (x[j] - m[c + j * lda]);
      distance += product;
      if (!present[j]) continue;
      product = x[j] * m[c + j * lda];
      dot += product;
    }
    compared = metric == KMEANS_METRIC_COSINE ? -dot : sparse ? square - 2 * dot : distance;
    if (compared < least) {
      least = compared;
      label = c;
    }
  }
  return label;
}

/* Checks the labels of all local points against the definition, for the centroids that the solver returns. */
static PetscErrorCode CheckLabels(KMeans km, Mat X, PetscBool sparse, KMeansMetric metric, PetscBool single)
{
  Mat                M;
  IS                 labels;
  const PetscInt    *label;
  const PetscScalar *m;
  PetscInt           k, d, lda, start, end;
  double            *x, *present;

  PetscFunctionBegin;
  PetscCall(KMeansGetCentroids(km, &M));
  PetscCall(KMeansGetLabels(km, &labels));
  PetscCall(MatGetSize(M, &k, &d));
  PetscCall(MatDenseGetLDA(M, &lda));
  PetscCall(MatDenseGetArrayRead(M, &m));
  PetscCall(ISGetIndices(labels, &label));
  PetscCall(MatGetOwnershipRange(X, &start, &end));
  PetscCall(PetscMalloc2(d, &x, d, &present));
  for (PetscInt i = start; i < end; i++) {
    PetscInt           n, expected;
    const PetscInt    *col;
    const PetscScalar *value;
    double             largest = 0, sum = 0;

    PetscCall(PetscArrayzero(x, d));
    PetscCall(PetscArrayzero(present, d));
    PetscCall(MatGetRow(X, i, &n, &col, &value));
    for (PetscInt e = 0; e < n; e++) largest = PetscMax(largest, PetscAbsScalar(value[e]));
    for (PetscInt e = 0; e < n; e++) {
      x[col[e]]       = metric == KMEANS_METRIC_COSINE ? value[e] / largest : value[e];
      present[col[e]] = 1;
      sum += x[col[e]] * x[col[e]];
    }
    for (PetscInt j = 0; j < d; j++) {
      if (metric == KMEANS_METRIC_COSINE) x[j] /= PetscSqrtReal(sum);
      if (single) x[j] = (float)x[j];
    }
    PetscCall(MatRestoreRow(X, i, &n, &col, &value));
    expected = FindLabel(d, k, x, m, lda, sparse, metric, present);
    PetscCheck(label[i - start] == expected, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Point %" PetscInt_FMT " has label %" PetscInt_FMT ", not %" PetscInt_FMT, i, label[i - start], expected);
  }
  PetscCall(PetscFree2(x, present));
  PetscCall(ISRestoreIndices(labels, &label));
  PetscCall(MatDenseRestoreArrayRead(M, &m));
  PetscCall(MatDestroy(&M));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A monitor that checks that the inertia does not rise. */
static PetscErrorCode CheckDescent(KMeans km, PetscInt it, PetscReal inertia, PetscInt64 changed, void *ctx)
{
  PetscReal *last = (PetscReal *)ctx;

  PetscFunctionBegin;
  PetscCheck(it == 1 || inertia <= *last * (1 + 1e-12), PETSC_COMM_SELF, PETSC_ERR_PLIB, "The inertia rises from %.17g to %.17g in iteration %" PetscInt_FMT, (double)*last, (double)inertia, it);
  *last = inertia;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves by every assignment. All must give the same labels and the same bits of the inertia; those of the first are checked and printed. */
static PetscErrorCode Compare(MPI_Comm comm, const char name[], Mat X, Vec w, PetscBool sparse, KMeansMetric metric, KMeansStart start, KMeansStorage storage, PetscInt k)
{
  const char *const assigns[] = {"brute", "hamerly", "yinyang", "elkan"};
  PetscReal         inertia   = 0, last;
  IS                first     = NULL;

  PetscFunctionBegin;
  for (size_t a = 0; a < PETSC_STATIC_ARRAY_LENGTH(assigns); a++) {
    KMeans                km;
    IS                    labels, predicted;
    PetscReal             now;
    PetscInt              it;
    PetscInt64            distances;
    PetscBool             same;
    KMeansConvergedReason reason;

    PetscCall(KMeansCreate(comm, &km));
    PetscCall(KMeansSetPoints(km, X));
    PetscCall(KMeansSetWeights(km, w));
    PetscCall(KMeansSetClusters(km, k));
    PetscCall(KMeansSetMetric(km, metric));
    PetscCall(KMeansSetStart(km, start));
    PetscCall(KMeansSetStorage(km, storage));
    PetscCall(KMeansSetAssign(km, assigns[a]));
    PetscCall(KMeansMonitorSet(km, CheckDescent, &last, NULL));
    PetscCall(KMeansSolve(km));
    PetscCall(CheckLabels(km, X, sparse, metric, (PetscBool)(storage == KMEANS_STORAGE_SINGLE)));
    PetscCall(KMeansGetInertia(km, &now));
    PetscCall(KMeansGetIterationNumber(km, &it));
    PetscCall(KMeansGetConvergedReason(km, &reason));
    PetscCall(KMeansGetDistances(km, &distances, NULL));
    PetscCall(KMeansGetLabels(km, &labels));
    PetscCall(KMeansPredict(km, X, &predicted));
    PetscCall(ISEqual(labels, predicted, &same));
    PetscCheck(same, comm, PETSC_ERR_PLIB, "%s: KMeansPredict() of the points differs from their labels", name);
    PetscCall(ISDestroy(&predicted));
    if (!first) {
      PetscInt64 all = (PetscInt64)N * k * it;

      PetscCheck(reason == KMEANS_CONVERGED_LABELS && distances == all, comm, PETSC_ERR_PLIB, "%s: %s, %" PetscInt64_FMT " distances", name, KMeansConvergedReasons[reason], distances);
      PetscCall(PetscPrintf(comm, "%s: inertia %.10g after %" PetscInt_FMT " iterations\n", name, (double)now, it));
      PetscCall(PetscObjectReference((PetscObject)labels));
      first   = labels;
      inertia = now;
    } else {
      PetscCall(ISEqual(labels, first, &same));
      PetscCheck(same && now == inertia, comm, PETSC_ERR_PLIB, "%s: %s has %s labels and the inertia %.17g, not %.17g", name, assigns[a], same ? "the same" : "other", (double)now, (double)inertia);
    }
    PetscCall(KMeansDestroy(&km));
  }
  PetscCall(ISDestroy(&first));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Far apart start centroids, of which one attracts no point. */
static PetscErrorCode CheckEmpty(MPI_Comm comm, Mat X)
{
  Mat      M;
  PetscInt d;

  PetscFunctionBegin;
  PetscCall(MatGetSize(X, NULL, &d));
  PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, 3, d, NULL, &M));
  for (PetscInt j = 0; j < d; j++) {
    PetscCall(MatSetValue(M, 0, j, 1, INSERT_VALUES));
    PetscCall(MatSetValue(M, 1, j, 1e3, INSERT_VALUES));
    PetscCall(MatSetValue(M, 2, j, 9, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(M, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(M, MAT_FINAL_ASSEMBLY));
  for (int e = KMEANS_EMPTY_FARTHEST; e <= KMEANS_EMPTY_DROP; e++) {
    KMeans    km;
    Mat       C;
    PetscInt  kept;
    PetscReal inertia;

    PetscCall(KMeansCreate(comm, &km));
    PetscCall(KMeansSetPoints(km, X));
    PetscCall(KMeansSetClusters(km, 3));
    PetscCall(KMeansSetStartCentroids(km, M));
    PetscCall(KMeansSetEmpty(km, (KMeansEmpty)e));
    PetscCall(KMeansSetAssign(km, "elkan"));
    PetscCall(KMeansSolve(km));
    PetscCall(CheckLabels(km, X, PETSC_FALSE, KMEANS_METRIC_EUCLIDEAN, PETSC_FALSE));
    PetscCall(KMeansGetCentroids(km, &C));
    PetscCall(MatGetSize(C, &kept, NULL));
    PetscCall(KMeansGetInertia(km, &inertia));
    PetscCall(PetscPrintf(comm, "empty cluster, %s: %" PetscInt_FMT " clusters, inertia %.10g\n", KMeansEmpties[e], kept, (double)inertia));
    PetscCall(MatDestroy(&C));
    PetscCall(KMeansDestroy(&km));
  }
  PetscCall(MatDestroy(&M));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Settings changed between solves, the object reused for other points, reset, destroyed before a solve. */
static PetscErrorCode CheckSequences(MPI_Comm comm, Mat X, Mat other)
{
  KMeans    km;
  PetscReal first, now;

  PetscFunctionBegin;
  PetscCall(KMeansCreate(comm, &km));
  PetscCall(KMeansDestroy(&km));
  PetscCall(KMeansCreate(comm, &km));
  PetscCall(KMeansSetPoints(km, X));
  PetscCall(KMeansSetUp(km));
  PetscCall(KMeansDestroy(&km));
  PetscCall(KMeansCreate(comm, &km));
  PetscCall(KMeansSetPoints(km, other));
  PetscCall(KMeansSetPoints(km, X));
  PetscCall(KMeansSetClusters(km, 5));
  PetscCall(KMeansSetFromOptions(km));
  PetscCall(KMeansSetFromOptions(km));
  PetscCall(KMeansSolve(km));
  PetscCall(KMeansGetInertia(km, &first));
  PetscCall(KMeansSolve(km));
  PetscCall(KMeansGetInertia(km, &now));
  PetscCheck(now == first, comm, PETSC_ERR_PLIB, "The second solve gives %.17g, the first %.17g", (double)now, (double)first);
  PetscCall(KMeansSetClusters(km, 9));
  PetscCall(KMeansSetMetric(km, KMEANS_METRIC_COSINE));
  PetscCall(KMeansSolve(km));
  PetscCall(CheckLabels(km, X, PETSC_FALSE, KMEANS_METRIC_COSINE, PETSC_FALSE));
  PetscCall(KMeansSetPoints(km, other));
  PetscCall(KMeansSolve(km));
  PetscCall(CheckLabels(km, other, PETSC_TRUE, KMEANS_METRIC_COSINE, PETSC_FALSE));
  PetscCall(KMeansReset(km));
  PetscCall(KMeansSetPoints(km, X));
  PetscCall(KMeansSetMetric(km, KMEANS_METRIC_EUCLIDEAN));
  PetscCall(KMeansSetClusters(km, 5));
  PetscCall(KMeansSetRestarts(km, 4));
  PetscCall(KMeansSolve(km));
  PetscCall(CheckLabels(km, X, PETSC_FALSE, KMEANS_METRIC_EUCLIDEAN, PETSC_FALSE));
  PetscCall(KMeansGetInertia(km, &now));
  PetscCheck(now <= first, comm, PETSC_ERR_PLIB, "The best of four starts gives %.17g, the first %.17g", (double)now, (double)first);
  PetscCall(PetscPrintf(comm, "sequences: inertia %.10g, best of four starts %.10g\n", (double)first, (double)now));
  PetscCall(KMeansDestroy(&km));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const char *const starts[] = {"random", "k-means++", "k-means||"};
  Mat               dense, sparse, wide;
  Vec               w;
  PetscInt          start, end;
  char              name[96];
  MPI_Comm          comm;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  comm = PETSC_COMM_WORLD;
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(CreatePoints(comm, N, 4, PETSC_FALSE, &dense));
  PetscCall(CreatePoints(comm, N, 7, PETSC_FALSE, &wide));
  PetscCall(CreatePoints(comm, N, 7, PETSC_TRUE, &sparse));
  PetscCall(MatCreateVecs(dense, NULL, &w));
  PetscCall(VecGetOwnershipRange(w, &start, &end));
  for (PetscInt i = start; i < end; i++) PetscCall(VecSetValue(w, i, (PetscScalar)((i * 31) % 7) / 3, INSERT_VALUES));
  PetscCall(VecAssemblyBegin(w));
  PetscCall(VecAssemblyEnd(w));
  for (int s = KMEANS_START_RANDOM; s <= KMEANS_START_PARALLEL; s++) {
    PetscCall(PetscSNPrintf(name, sizeof(name), "dense, %s", starts[s]));
    PetscCall(Compare(comm, name, dense, NULL, PETSC_FALSE, KMEANS_METRIC_EUCLIDEAN, (KMeansStart)s, KMEANS_STORAGE_AUTO, 23));
    PetscCall(PetscSNPrintf(name, sizeof(name), "dense, weights, %s", starts[s]));
    PetscCall(Compare(comm, name, wide, w, PETSC_FALSE, KMEANS_METRIC_EUCLIDEAN, (KMeansStart)s, KMEANS_STORAGE_AUTO, 17));
    PetscCall(PetscSNPrintf(name, sizeof(name), "sparse, %s", starts[s]));
    PetscCall(Compare(comm, name, sparse, NULL, PETSC_TRUE, KMEANS_METRIC_EUCLIDEAN, (KMeansStart)s, KMEANS_STORAGE_AUTO, 23));
    PetscCall(PetscSNPrintf(name, sizeof(name), "sparse, cosine, %s", starts[s]));
    PetscCall(Compare(comm, name, sparse, NULL, PETSC_TRUE, KMEANS_METRIC_COSINE, (KMeansStart)s, KMEANS_STORAGE_DOUBLE, 12));
  }
  PetscCall(Compare(comm, "dense, cosine, single", wide, NULL, PETSC_FALSE, KMEANS_METRIC_COSINE, KMEANS_START_PLUSPLUS, KMEANS_STORAGE_SINGLE, 12));
  PetscCall(Compare(comm, "sparse, single", sparse, NULL, PETSC_TRUE, KMEANS_METRIC_EUCLIDEAN, KMEANS_START_PLUSPLUS, KMEANS_STORAGE_SINGLE, 12));
  PetscCall(Compare(comm, "one cluster", dense, NULL, PETSC_FALSE, KMEANS_METRIC_EUCLIDEAN, KMEANS_START_RANDOM, KMEANS_STORAGE_AUTO, 1));
  PetscCall(CheckEmpty(comm, dense));
  PetscCall(CheckSequences(comm, dense, sparse));
  PetscCall(VecDestroy(&w));
  PetscCall(MatDestroy(&dense));
  PetscCall(MatDestroy(&wide));
  PetscCall(MatDestroy(&sparse));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   test:
     nsize: {{1 2 4}}

TEST*/
