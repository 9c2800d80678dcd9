static char help[] = "A program outside gpucsr that clusters points and sees the installed headers only.\n\n";

#include <gpucsr.h>
#include <gpucsrkmeans.h>

/* The features of point i: one of four well separated places, and a small deviation. */
static PetscReal Feature(PetscInt i, PetscInt j)
{
  return (i % 4 == j ? 10 : 1) + (PetscReal)((i * 13 + j * 5) % 7) / 16;
}

/* Creates N points with d >= 4 features, dense or sparse. */
static PetscErrorCode CreatePoints(PetscInt N, PetscInt d, PetscBool dense, Mat *X)
{
  PetscInt first, last;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, X));
  PetscCall(MatSetSizes(*X, PETSC_DECIDE, PETSC_DECIDE, N, d));
  PetscCall(MatSetType(*X, dense ? MATDENSE : MATAIJ));
  PetscCall(MatSetUp(*X));
  PetscCall(MatGetOwnershipRange(*X, &first, &last));
  for (PetscInt i = first; i < last; i++)
    for (PetscInt j = 0; j < d; j++)
      if (dense || (i + j) % 5) PetscCall(MatSetValue(*X, i, j, Feature(i, j), INSERT_VALUES));
  PetscCall(MatAssemblyBegin(*X, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*X, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

/* Checks that points have the label of the nearest returned centroid, that prediction agrees, and that the inertia is the sum of the distances. */
static PetscErrorCode Check(KMeans km, Mat X, const char way[])
{
  KMeansConvergedReason reason;
  PetscReal             inertia, sum = 0, total;
  PetscInt              it, k, d, lda, first, last;
  const PetscInt       *label;
  const PetscScalar    *m;
  PetscBool             same;
  IS                    labels, predicted;
  Mat                   M;

  PetscFunctionBeginUser;
  PetscCall(KMeansGetConvergedReason(km, &reason));
  PetscCall(KMeansGetIterationNumber(km, &it));
  PetscCall(KMeansGetInertia(km, &inertia));
  PetscCall(KMeansGetLabels(km, &labels));
  PetscCall(KMeansGetCentroids(km, &M));
  PetscCall(MatGetSize(M, &k, &d));
  PetscCall(MatDenseGetLDA(M, &lda));
  PetscCall(MatDenseGetArrayRead(M, &m));
  PetscCall(MatGetOwnershipRange(X, &first, &last));
  PetscCall(ISGetIndices(labels, &label));
  for (PetscInt i = first; i < last; i++) {
    const PetscInt    *col;
    const PetscScalar *value;
    PetscInt           n;
    PetscReal          least = PETSC_MAX_REAL, mine = 0;

    PetscCall(MatGetRow(X, i, &n, &col, &value));
    for (PetscInt c = 0; c < k; c++) {
      PetscReal distance = 0;

      for (PetscInt j = 0, e = 0; j < d; j++) {
        const PetscReal x = e < n && col[e] == j ? PetscRealPart(value[e++]) : 0;

        distance += PetscSqr(x - PetscRealPart(m[c + j * lda]));
      }
      least = PetscMin(least, distance);
      if (c == label[i - first]) mine = distance;
    }
    PetscCall(MatRestoreRow(X, i, &n, &col, &value));
    PetscCheck(mine <= least + 1e-9, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: point %d has the distance %g, and %g to another centroid", way, (int)i, (double)mine, (double)least);
    sum += mine;
  }
  PetscCall(ISRestoreIndices(labels, &label));
  PetscCall(MatDenseRestoreArrayRead(M, &m));
  PetscCall(MatDestroy(&M));
  PetscCallMPI(MPI_Allreduce(&sum, &total, 1, MPIU_REAL, MPIU_SUM, PETSC_COMM_WORLD));
  PetscCheck(reason > 0 && it > 0 && PetscAbsReal(total - inertia) <= 1e-9 * (1 + total), PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: %s after %d iterations, inertia %g, distances sum to %g", way, KMeansConvergedReasons[reason], (int)it, (double)inertia,
             (double)total);
  PetscCall(KMeansPredict(km, X, &predicted));
  PetscCall(ISEqual(labels, predicted, &same));
  PetscCheck(same, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: prediction gives other labels", way);
  PetscCall(ISDestroy(&predicted));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %d clusters at the optimum\n", way, (int)k));
  PetscFunctionReturn(0);
}

/* Counts its calls. */
static PetscErrorCode Count(KMeans km, PetscInt it, PetscReal inertia, PetscInt64 changed, void *ctx)
{
  PetscFunctionBeginUser;
  ++*(PetscInt *)ctx;
  PetscFunctionReturn(0);
}

/* Calls out of order and null arguments. */
static PetscErrorCode CheckErrors(Mat X)
{
  KMeans         km;
  IS             labels;
  PetscErrorCode err[14];
  int            n = 0;

  PetscFunctionBeginUser;
  PetscCall(KMeansCreate(PETSC_COMM_WORLD, &km));
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  err[n++] = KMeansSolve(km);
  err[n++] = KMeansGetLabels(km, &labels);
  err[n++] = KMeansCreate(PETSC_COMM_WORLD, NULL);
  err[n++] = KMeansSetClusters(km, 0);
  err[n++] = KMeansSetAssign(km, "nosuch");
  err[n++] = KMeansSetAssign(km, NULL);
  err[n++] = KMeansMonitorSet(km, NULL, NULL, NULL);
  err[n++] = KMeansSetCheckpoint(km, "file", 0);
  PetscCall(KMeansSetPoints(km, X));
  PetscCall(KMeansSolve(km));
  err[n++] = KMeansPredict(km, NULL, &labels);
  err[n++] = KMeansPredict(km, X, NULL);
  err[n++] = KMeansGetInertia(km, NULL);
  err[n++] = KMeansGetCentroids(km, NULL);
  PetscCall(KMeansSetRestart(km, "/no/such/checkpoint"));
  err[n++] = KMeansSolve(km);
  PetscCall(KMeansSetRestart(km, NULL));
  PetscCall(KMeansReset(km));
  err[n++] = KMeansPredict(km, X, &labels);
  PetscCall(PetscPopErrorHandler());
  for (int e = 0; e < n; e++) PetscCheck(err[e], PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Wrong call %d raises no error", e);
  PetscCall(KMeansSetPoints(km, X));
  PetscCall(KMeansSolve(km));
  PetscCall(Check(km, X, "after errors"));
  PetscCall(KMeansDestroy(&km));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  PetscInt       calls = 0, before, done, best, size;
  PetscLogDouble start, assign, update, bytes;
  PetscInt64     distances;
  const char    *names[2];
  PetscBool      used, set;
  KMeansStorage  storage;
  KMeansStart    how;
  KMeans         km, never;
  Mat            A, B;
  Vec            w;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(CreatePoints(80, 4, PETSC_TRUE, &A));
  PetscCall(CreatePoints(130, 9, PETSC_FALSE, &B));
  PetscCall(KMeansCreate(PETSC_COMM_WORLD, &never)); /* destroyed before and after it has data */
  PetscCall(KMeansDestroy(&never));
  PetscCall(KMeansCreate(PETSC_COMM_WORLD, &never));
  PetscCall(KMeansSetPoints(never, A));
  PetscCall(KMeansSetUp(never));
  PetscCall(KMeansDestroy(&never));
  PetscCall(KMeansDestroy(&never));

  PetscCall(KMeansCreate(PETSC_COMM_WORLD, &km));
  PetscCall(KMeansSetClusters(km, 4));
  PetscCall(KMeansSetFromOptions(km));
  PetscCall(KMeansSetFromOptions(km));
  PetscCall(KMeansMonitorSet(km, Count, &calls, NULL));
  PetscCall(KMeansSetPoints(km, B)); /* replaced before use */
  PetscCall(KMeansSetPoints(km, A));
  PetscCall(KMeansSolve(km));
  PetscCall(Check(km, A, "dense"));
  PetscCall(PetscOptionsUsed(NULL, "gpucsr_device", &used));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-gpucsr_device", &set));
  PetscCheck(used || !set, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "The solver does not read the options of the library");
  before = calls;
  PetscCall(KMeansSolve(km));
  PetscCheck(before && calls == 2 * before, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%d calls of the monitor, %d before", (int)calls, (int)before);
  PetscCall(KMeansMonitorCancel(km));
  PetscCall(KMeansSetStart(km, KMEANS_START_PARALLEL));
  PetscCall(KMeansSetSeed(km, 5));
  PetscCall(KMeansSetRestarts(km, 3));
  PetscCall(KMeansSetEmpty(km, KMEANS_EMPTY_SPLIT));
  PetscCall(KMeansSetStorage(km, KMEANS_STORAGE_DOUBLE));
  PetscCall(KMeansSetAssign(km, "elkan"));
  PetscCall(KMeansSetUpdate(km, "fixed"));
  PetscCall(KMeansSetTolerances(km, 0, 0, 50));
  PetscCall(KMeansSolve(km));
  PetscCall(Check(km, A, "other settings"));
  PetscCall(KMeansGetTimes(km, &start, &assign, &update));
  PetscCall(KMeansGetBytesCopied(km, &bytes));
  PetscCall(KMeansGetDistances(km, &distances, NULL));
  PetscCall(KMeansGetRestarts(km, &done, &best));
  PetscCall(KMeansGetAssign(km, &names[0]));
  PetscCall(KMeansGetUpdate(km, &names[1]));
  PetscCall(KMeansGetStart(km, &how));
  PetscCall(KMeansGetStorage(km, &storage));
  PetscCall(KMeansGetBatchSize(km, &size));
  PetscCheck(calls == 2 * before && start > 0 && assign > 0 && update > 0 && bytes >= 0 && distances > 0 && done == 3 && best >= 0 && best < 3 && how == KMEANS_START_PARALLEL && storage == KMEANS_STORAGE_DOUBLE && !size, PETSC_COMM_WORLD,
             PETSC_ERR_PLIB, "The statistics are wrong, or a cancelled monitor was called");
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s, %s, start %s\n", names[0], names[1], KMeansStarts[how]));
  PetscCall(KMeansReset(km));
  PetscCall(KMeansReset(km));
  PetscCall(KMeansSetAssign(km, "auto"));
  PetscCall(KMeansSetPoints(km, B));
  PetscCall(KMeansSetClusters(km, 11));
  PetscCall(KMeansSolve(km));
  PetscCall(Check(km, B, "another matrix, sparse"));
  PetscCall(MatCreateVecs(B, NULL, &w));
  PetscCall(VecSet(w, 1));
  PetscCall(KMeansSetWeights(km, w));
  PetscCall(KMeansSetBatchSize(km, 50));
  PetscCall(KMeansSetTolerances(km, 1e-3, 0, 500));
  PetscCall(KMeansSolve(km));
  PetscCall(Check(km, B, "weights and batches"));
  PetscCall(KMeansView(km, NULL));
  PetscCall(KMeansDestroy(&km));
  PetscCall(CheckErrors(A));
  PetscCall(VecDestroy(&w));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscCall(PetscFinalize());
  return 0;
}
