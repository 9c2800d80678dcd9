static char help[] = "KMeans: the assignment `sparse` and the update `changed` beside the definition, for all types of matrices.\n\n";

#include <gpucsr.h>
#include <gpucsrcompat.h>
#include <gpucsrkmeans.h>

#define N 150

typedef struct {
  const char   *assign, *update;
  KMeansMetric  metric;
  KMeansEmpty   empty;
  KMeansStorage storage;
  PetscInt      k, restarts;
  PetscBool     far; /* start with distant centroids, of which some attract no point */
} Settings;

/* Symmetric points, so that they exist as a symmetric matrix too: values on a grid of quarters, so that distances tie; explicit zeros; some rows
   without nonzeros. Every row that a cosine can be computed of has a value of its own on the diagonal. */
static PetscErrorCode CreatePoints(MPI_Comm comm, MatType type, PetscBool zeros, Mat *X)
{
  PetscInt  start, end;
  PetscBool triangle;

  PetscFunctionBegin;
  PetscCall(MatCreate(comm, X));
  PetscCall(MatSetSizes(*X, PETSC_DECIDE, PETSC_DECIDE, N, N));
  PetscCall(MatSetType(*X, type));
  PetscCall(MatSetUp(*X));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)*X, &triangle, MATSEQSBAIJ, MATMPISBAIJ, ""));
  if (triangle) PetscCall(MatSetOption(*X, MAT_IGNORE_LOWER_TRIANGULAR, PETSC_TRUE));
  PetscCall(MatGetOwnershipRange(*X, &start, &end));
  for (PetscInt i = start; i < end; i++) {
    for (PetscInt j = 0; j < N; j++) {
      const PetscInt low = PetscMin(i, j), high = PetscMax(i, j), random = (low * 7919 + high * 104729 + (low * high) % 31) % 97;

      if (zeros && (i % 50 == 7 || j % 50 == 7)) continue;
      if (i == j) PetscCall(MatSetValue(*X, i, j, 0.25 * (1 + i % 3), INSERT_VALUES));
      else if (random < 9) PetscCall(MatSetValue(*X, i, j, 0.25 * (random - 3), INSERT_VALUES)); /* 0 for one in nine */
    }
  }
  PetscCall(MatAssemblyBegin(*X, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*X, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Start centroids near the points; with `far`, every third is too far away to attract any. */
static PetscErrorCode CreateStart(PetscInt k, PetscInt d, PetscBool far, Mat *M)
{
  PetscScalar *a;

  PetscFunctionBegin;
  PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, k, d, NULL, M));
  PetscCall(MatDenseGetArrayWrite(*M, &a));
  for (PetscInt c = 0; c < k; c++)
    for (PetscInt j = 0; j < d; j++) a[c + j * k] = (far && c % 3 == 1 ? 100 : 0) + 0.125 * ((c * 31 + j * 17 + (c * j) % 7) % 5) - 0.1875;
  PetscCall(MatDenseRestoreArrayWrite(*M, &a));
  PetscCall(MatAssemblyBegin(*M, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*M, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves. The caller destroys labels and centroids. */
static PetscErrorCode Solve(MPI_Comm comm, Mat X, Vec w, const Settings *s, IS *labels, Mat *centroids, PetscReal *inertia)
{
  KMeans    km;
  IS        predicted;
  Mat       M = NULL;
  PetscInt  d;
  PetscBool same;

  PetscFunctionBegin;
  PetscCall(KMeansCreate(comm, &km));
  PetscCall(KMeansSetPoints(km, X));
  PetscCall(KMeansSetWeights(km, w));
  PetscCall(KMeansSetClusters(km, s->k));
  PetscCall(KMeansSetMetric(km, s->metric));
  PetscCall(KMeansSetEmpty(km, s->empty));
  PetscCall(KMeansSetStorage(km, s->storage));
  PetscCall(KMeansSetRestarts(km, PetscMax(s->restarts, 1)));
  PetscCall(KMeansSetAssign(km, s->assign));
  PetscCall(KMeansSetUpdate(km, s->update));
  if (s->far) {
    PetscCall(MatGetSize(X, NULL, &d));
    PetscCall(CreateStart(s->k, d, PETSC_TRUE, &M));
    PetscCall(KMeansSetStartCentroids(km, M));
    PetscCall(MatDestroy(&M));
  } else if (s->restarts > 2) PetscCall(KMeansSetStart(km, KMEANS_START_PARALLEL));
  else PetscCall(KMeansSetStart(km, KMEANS_START_RANDOM));
  PetscCall(KMeansSolve(km));
  PetscCall(KMeansGetLabels(km, labels));
  PetscCall(PetscObjectReference((PetscObject)*labels));
  PetscCall(KMeansGetCentroids(km, centroids));
  PetscCall(KMeansGetInertia(km, inertia));
  PetscCall(KMeansPredict(km, X, &predicted));
  PetscCall(ISEqual(*labels, predicted, &same));
  PetscCheck(same, comm, PETSC_ERR_PLIB, "KMeansPredict() of the points differs from their labels");
  PetscCall(ISDestroy(&predicted));
  PetscCall(KMeansDestroy(&km));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves with both settings. Labels, and the bits of centroids and inertia, must be the same. */
static PetscErrorCode Compare(MPI_Comm comm, const char what[], Mat X, Mat Y, Vec w, const Settings *a, const Settings *b)
{
  IS        labels[2];
  Mat       centroids[2];
  PetscReal inertia[2];
  PetscBool same, equal;

  PetscFunctionBegin;
  PetscCall(Solve(comm, X, w, a, &labels[0], &centroids[0], &inertia[0]));
  PetscCall(Solve(comm, Y, w, b, &labels[1], &centroids[1], &inertia[1]));
  PetscCall(ISEqual(labels[0], labels[1], &same));
  PetscCall(MatEqual(centroids[0], centroids[1], &equal));
  PetscCheck(same && equal && inertia[0] == inertia[1], comm, PETSC_ERR_PLIB, "%s, %" PetscInt_FMT " clusters: %s and %s: %s labels, %s centroids, inertia %.17g and %.17g", what, a->k, a->assign, b->assign, same ? "the same" : "other",
             equal ? "the same" : "other", (double)inertia[0], (double)inertia[1]);
  for (int s = 0; s < 2; s++) {
    PetscCall(ISDestroy(&labels[s]));
    PetscCall(MatDestroy(&centroids[s]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* `sparse` and `brute`, with numbers of clusters around the sizes of vectors and blocks. */
static PetscErrorCode CheckWidths(MPI_Comm comm, Mat X, Mat nonzero, Vec w)
{
  const PetscInt sizes[] = {1, 2, 3, 4, 5, 8, 9, 12, 13, 17, 20, 21, 25, 29, 31, 32, 33, 36, 64, 65, 100, 149};

  PetscFunctionBegin;
  for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(sizes); s++) {
    Settings a = {.assign = "brute", .update = "fixed", .k = sizes[s], .empty = KMEANS_EMPTY_KEEP}, b = a;

    b.assign = "sparse";
    PetscCall(Compare(comm, "Euclidean", X, X, NULL, &a, &b));
    a.metric = b.metric = KMEANS_METRIC_COSINE;
    a.storage = b.storage = s % 2 ? KMEANS_STORAGE_SINGLE : KMEANS_STORAGE_AUTO;
    PetscCall(Compare(comm, "cosine", nonzero, nonzero, w, &a, &b));
    a.metric = b.metric = KMEANS_METRIC_EUCLIDEAN;
    a.storage = b.storage = KMEANS_STORAGE_DOUBLE;
    PetscCall(Compare(comm, "weights, double precision", nonzero, nonzero, w, &a, &b));
  }
  PetscCall(PetscPrintf(comm, "sparse: as brute for %d numbers of clusters\n", (int)PETSC_STATIC_ARRAY_LENGTH(sizes)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* `sparse` and `brute` for points with many nonzeros, which a GPU treats apart, and for values near the ends of single precision. */
static PetscErrorCode CheckLong(MPI_Comm comm)
{
  const PetscScalar scales[] = {1, 1e-25, 1e25};
  const PetscInt    n = 30, d = 4500;

  PetscFunctionBegin;
  for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(scales); s++) {
    Settings a = {.assign = "brute", .update = "fixed", .k = s ? 5 : 20, .empty = KMEANS_EMPTY_KEEP}, b = a;
    Mat      X;
    PetscInt start, end;

    PetscCall(MatCreateAIJ(comm, PETSC_DECIDE, PETSC_DECIDE, n, d, d, NULL, d, NULL, &X));
    PetscCall(MatGetOwnershipRange(X, &start, &end));
    for (PetscInt i = start; i < end; i++)
      for (PetscInt j = 0; j < d; j += i % 9 == 4 ? 1 : 97) PetscCall(MatSetValue(X, i, j, scales[s] * ((i * 7919 + j * 104729) % 97 - 40), INSERT_VALUES));
    PetscCall(MatAssemblyBegin(X, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(X, MAT_FINAL_ASSEMBLY));
    b.assign = "sparse";
    PetscCall(Compare(comm, "long rows", X, X, NULL, &a, &b));
    a.metric = b.metric = KMEANS_METRIC_COSINE;
    PetscCall(Compare(comm, "long rows, cosine", X, X, NULL, &a, &b));
    PetscCall(MatDestroy(&X));
  }
  PetscCall(PetscPrintf(comm, "long rows: as brute for values of several magnitudes\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* `sparse` and `brute` with so many clusters that a GPU divides the centroids into panels, and values without ties. */
static PetscErrorCode CheckPanels(MPI_Comm comm)
{
  const PetscInt n = 900, d = 300;
  Settings       a = {.assign = "brute", .update = "fixed", .k = 290, .empty = KMEANS_EMPTY_KEEP}, b = a;
  Mat            X;
  PetscInt       start, end;

  PetscFunctionBegin;
  PetscCall(MatCreateAIJ(comm, PETSC_DECIDE, PETSC_DECIDE, n, d, 14, NULL, 14, NULL, &X));
  PetscCall(MatGetOwnershipRange(X, &start, &end));
  for (PetscInt i = start; i < end; i++)
    for (PetscInt e = 0; e < 14; e++) {
      const PetscReal v = (PetscReal)(i + 1) * 0.6180339887498949 + (PetscReal)((i + 3) * (e + 1) % 1009) * 0.4142135623730951;

      PetscCall(MatSetValue(X, i, (i % 40 * 31 + e * (e + i % 3)) % d, v - PetscFloorReal(v) + 0.1, INSERT_VALUES));
    }
  PetscCall(MatAssemblyBegin(X, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(X, MAT_FINAL_ASSEMBLY));
  b.assign = "sparse";
  for (PetscInt k = 290; k > 20; k -= 90) {
    a.k = b.k = k;
    a.metric = b.metric = KMEANS_METRIC_EUCLIDEAN;
    PetscCall(Compare(comm, "panels", X, X, NULL, &a, &b));
    a.metric = b.metric = KMEANS_METRIC_COSINE;
    PetscCall(Compare(comm, "panels, cosine", X, X, NULL, &a, &b));
  }
  PetscCall(MatDestroy(&X));
  PetscCall(PetscPrintf(comm, "panels: as brute\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same points as matrices of several types. */
static PetscErrorCode CheckTypes(MPI_Comm comm, Mat X)
{
  const MatType  types[] = {MATAIJ, MATGPUCSR, MATBAIJ, MATSBAIJ};
  const Settings s       = {.assign = "sparse", .update = "changed", .k = 12, .empty = KMEANS_EMPTY_SPLIT};

  PetscFunctionBegin;
  for (size_t t = 0; t < PETSC_STATIC_ARRAY_LENGTH(types); t++) {
    Mat Y;

    PetscCall(CreatePoints(comm, types[t], PETSC_TRUE, &Y));
    PetscCall(Compare(comm, types[t], X, Y, NULL, &s, &s));
    PetscCall(MatDestroy(&Y));
  }
  PetscCall(PetscPrintf(comm, "types: aij, gpucsr, baij and sbaij agree\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* `changed` and `fixed` with every assignment and treatment of empty clusters, and with several restarts. */
static PetscErrorCode CheckChanged(MPI_Comm comm, Mat sparse, Mat dense, Vec w)
{
  const char *const assigns[] = {"brute", "hamerly", "yinyang", "elkan", "sparse"};

  PetscFunctionBegin;
  for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(assigns); s++) {
    Settings a = {.assign = assigns[s], .update = "fixed", .k = 14, .far = PETSC_TRUE}, b = a;

    b.update = "changed";
    for (int e = KMEANS_EMPTY_FARTHEST; e <= KMEANS_EMPTY_DROP; e++) {
      a.empty = b.empty = (KMeansEmpty)e;
      PetscCall(Compare(comm, KMeansEmpties[e], sparse, sparse, w, &a, &b));
      if (strcmp(assigns[s], "sparse")) PetscCall(Compare(comm, KMeansEmpties[e], dense, dense, NULL, &a, &b));
    }
    a.far = b.far = PETSC_FALSE;
    for (a.restarts = 2; a.restarts <= 4; a.restarts += 2) {
      b.restarts = a.restarts;
      PetscCall(Compare(comm, "restarts", sparse, sparse, NULL, &a, &b));
    }
  }
  PetscCall(PetscPrintf(comm, "changed: as fixed for all assignments, treatments of empty clusters, and restarts\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Changes of settings between solves of one object must not leave sums behind. */
static PetscErrorCode CheckReuse(MPI_Comm comm, Mat X)
{
  KMeans    km;
  PetscReal inertia[4];

  PetscFunctionBegin;
  PetscCall(KMeansCreate(comm, &km));
  PetscCall(KMeansSetPoints(km, X));
  PetscCall(KMeansSetClusters(km, 9));
  for (int s = 0; s < 4; s++) {
    PetscCall(KMeansSetUpdate(km, s % 2 ? "fixed" : "changed"));
    PetscCall(KMeansSolve(km));
    PetscCall(KMeansGetInertia(km, &inertia[s]));
    PetscCheck(inertia[s] == inertia[0], comm, PETSC_ERR_PLIB, "Solve %d gives %.17g, the first %.17g", s, (double)inertia[s], (double)inertia[0]);
  }
  PetscCall(KMeansDestroy(&km));
  PetscCall(PetscPrintf(comm, "reuse: inertia %.10g\n", (double)inertia[0]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A column that occurs twice in a row of the last rank is an error on all ranks. */
static PetscErrorCode CheckTwice(MPI_Comm comm)
{
  Mat             X, local;
  KMeans          km;
  const PetscInt *rows, *col;
  PetscMPIInt     rank, size;
  PetscBool       parallel;
  PetscErrorCode  err;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(CreatePoints(comm, MATAIJ, PETSC_FALSE, &X));
  PetscCall(PetscObjectTypeCompare((PetscObject)X, MATMPIAIJ, &parallel));
  if (parallel) PetscCall(MatMPIAIJGetSeqAIJ(X, &local, NULL, NULL));
  else local = X;
  PetscCall(MatSeqAIJGetCSRAndMemType(local, &rows, &col, NULL, NULL));
  if (rank == size - 1) ((PetscInt *)col)[rows[3]] = col[rows[3] + 1];
  PetscCall(KMeansCreate(comm, &km));
  PetscCall(KMeansSetPoints(km, X));
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  err = KMeansSolve(km);
  PetscCall(PetscPopErrorHandler());
  PetscCheck(err == PETSC_ERR_USER_INPUT, comm, PETSC_ERR_PLIB, "Error %d, not that of a wrong input", (int)err);
  PetscCall(KMeansDestroy(&km));
  PetscCall(MatDestroy(&X));
  PetscCall(PetscPrintf(comm, "a column that occurs twice: refused\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Mat      X, nonzero, dense;
  Vec      w;
  PetscInt start, end;
  MPI_Comm comm;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  comm = PETSC_COMM_WORLD;
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(CreatePoints(comm, MATAIJ, PETSC_TRUE, &X));
  PetscCall(CreatePoints(comm, MATAIJ, PETSC_FALSE, &nonzero));
  PetscCall(MatConvert(X, MATDENSE, MAT_INITIAL_MATRIX, &dense));
  PetscCall(MatCreateVecs(X, NULL, &w));
  PetscCall(VecGetOwnershipRange(w, &start, &end));
  for (PetscInt i = start; i < end; i++) PetscCall(VecSetValue(w, i, (PetscScalar)((i * 31) % 7 + 1) / 3, INSERT_VALUES));
  PetscCall(VecAssemblyBegin(w));
  PetscCall(VecAssemblyEnd(w));
  PetscCall(CheckWidths(comm, X, nonzero, w));
  PetscCall(CheckLong(comm));
  PetscCall(CheckPanels(comm));
  PetscCall(CheckTypes(comm, X));
  PetscCall(CheckChanged(comm, X, dense, w));
  PetscCall(CheckReuse(comm, X));
  PetscCall(CheckTwice(comm));
  PetscCall(VecDestroy(&w));
  PetscCall(MatDestroy(&X));
  PetscCall(MatDestroy(&nonzero));
  PetscCall(MatDestroy(&dense));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   test:
     suffix: 1
     nsize: {{1 3}}

TEST*/
