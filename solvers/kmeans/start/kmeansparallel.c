/* The candidates of the start k-means|| (Bahmani, Moseley, Vattani, Kumar and Vassilvitskii, 2012): a few rounds draw many points at once. */
#include "solvers/kmeans/kmeansimpl.h"
#include "solvers/kmeans/kmeanssteps.h"

#define KMEANS_ROUNDS 5 /* rounds before the candidates are reduced; more follow until there are k candidates */
#define KMEANS_OVER   2 /* expected number of candidates drawn in a round, as a multiple of k */

typedef struct {
  PetscInt n, capacity, d;
  double  *x;       /* [n][d], equal on all ranks */
  double  *nearest; /* [local points] distance to the nearest candidate */
  double  *weight;  /* [local points] or NULL */
} KMeansCandidates;

/* Appends points to the candidates on all ranks, in ascending order of their numbers. */
static PetscErrorCode KMeansCandidatesAppend(KMeans km, PetscInt n, const PetscInt point[], KMeansCandidates *C)
{
  PetscFunctionBegin;
  if (C->n + n > C->capacity) {
    C->capacity = 2 * (C->n + n);
    PetscCall(PetscRealloc((size_t)C->capacity * C->d * sizeof(double), &C->x));
  }
  for (PetscInt c = 0; c < n; c++) PetscCall(KMeansPointsGetRow_Private(km, point[c], C->x + (C->n + c) * C->d));
  C->n += n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Assigns all points to the candidates from number `first` on, and lowers `nearest`. */
static PetscErrorCode KMeansCandidatesMeasure(KMeans km, PetscInt first, KMeansCandidates *C)
{
  KMeansData *A = &km->points.data;
  double     *distance;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(A->n, &distance));
  PetscCall(KMeansPointsSetCentroids_Private(&km->points, C->n - first, C->x + first * C->d));
  PetscCall(KMeansPointsAssign_Private(&km->points, KMeansChooseOnce_Private(&km->points), KMEANS_AUTO));
  if (A->n) PetscCallGp(A->dev, "Start", GpDevDownload(A->dev, distance, A->distance, (size_t)A->n * sizeof(double)));
  for (int32_t i = 0; i < A->n; i++) C->nearest[i] = PetscMin(C->nearest[i], distance[i]);
  PetscCall(PetscFree(distance));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Draws the candidates of a round: each point independently, with a probability proportional to weight times nearest. `drawn` is their number. */
static PetscErrorCode KMeansCandidatesDraw(KMeans km, uint64_t stream, KMeansCandidates *C, PetscInt *drawn)
{
  const KMeansData *A    = &km->points.data;
  const MPI_Comm    comm = PetscObjectComm((PetscObject)km);
  int64_t           sum  = 0;
  double            total;
  PetscInt          n = 0, *mine, *all;
  PetscMPIInt       size, count, *counts, *starts;

  PetscFunctionBegin;
  for (int32_t i = 0; i < A->n; i++) sum += KMeansToFixed((C->weight ? C->weight[i] : 1.0) * C->nearest[i], A->cost.first);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPIU_INT64, MPI_SUM, comm));
  total = (double)sum / A->cost.first;
  PetscCall(PetscMalloc1(A->n, &mine));
  for (int32_t i = 0; i < A->n; i++) {
    const PetscInt point = km->points.first + i;

    if (KMeansRandom(stream, (uint64_t)point) * total < KMEANS_OVER * (double)km->k * (C->weight ? C->weight[i] : 1.0) * C->nearest[i]) mine[n++] = point;
  }
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(PetscMalloc2(size, &counts, size + 1, &starts));
  PetscCall(PetscMPIIntCast(n, &count));
  PetscCallMPI(MPI_Allgather(&count, 1, MPI_INT, counts, 1, MPI_INT, comm));
  starts[0] = 0;
  for (PetscMPIInt r = 0; r < size; r++) starts[r + 1] = starts[r] + counts[r];
  PetscCall(PetscMalloc1(starts[size], &all));
  PetscCallMPI(MPI_Allgatherv(mine, count, MPIU_INT, all, counts, starts, MPIU_INT, comm));
  PetscCall(KMeansCandidatesAppend(km, starts[size], all, C));
  *drawn = starts[size];
  PetscCall(PetscFree(all));
  PetscCall(PetscFree2(counts, starts));
  PetscCall(PetscFree(mine));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates a matrix of the candidates. Those of sparse points are sparse. */
static PetscErrorCode KMeansCandidatesCreateMat(const KMeansCandidates *C, PetscBool sparse, Mat *X)
{
  PetscInt    *nonzeros, *col;
  PetscScalar *a;

  PetscFunctionBegin;
  if (sparse) {
    PetscCall(PetscMalloc3(C->n, &nonzeros, C->d, &col, C->d, &a));
    for (PetscInt c = 0; c < C->n; c++) {
      nonzeros[c] = 0;
      for (PetscInt j = 0; j < C->d; j++) nonzeros[c] += C->x[c * C->d + j] != 0;
    }
    PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, C->n, C->d, 0, nonzeros, X));
    for (PetscInt c = 0; c < C->n; c++) {
      PetscInt n = 0;

      for (PetscInt j = 0; j < C->d; j++) {
        if (C->x[c * C->d + j] == 0) continue;
        col[n] = j;
        a[n++] = C->x[c * C->d + j];
      }
      PetscCall(MatSetValues(*X, 1, &c, n, col, a, INSERT_VALUES));
    }
    PetscCall(PetscFree3(nonzeros, col, a));
  } else {
    PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, C->n, C->d, NULL, X));
    PetscCall(MatDenseGetArrayWrite(*X, &a));
    for (PetscInt c = 0; c < C->n; c++)
      for (PetscInt j = 0; j < C->d; j++) a[c + j * C->n] = C->x[c * C->d + j];
    PetscCall(MatDenseRestoreArrayWrite(*X, &a));
  }
  PetscCall(MatAssemblyBegin(*X, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*X, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates a matrix of the candidates, and a vector of their weights: those of the points that are nearest to each. Both are sequential, and equal on
   all ranks. */
static PetscErrorCode KMeansCandidatesWeigh(KMeans km, const KMeansCandidates *C, Mat *X, Vec *w)
{
  KMeansData  *A    = &km->points.data;
  const size_t size = (size_t)KMeansTallySize(C->n, A->d, A->words);
  int64_t     *tally;
  PetscScalar *a;
  PetscMPIInt  count;

  PetscFunctionBegin;
  PetscCall(KMeansPointsSetCentroids_Private(&km->points, C->n, C->x));
  PetscCall(PetscMalloc1(size, &tally));
  PetscCall(KMeansPointsClearTally_Private(&km->points, PETSC_FALSE));
  PetscCall(KMeansPointsAssign_Private(&km->points, KMeansChooseOnce_Private(&km->points), KMEANS_UPDATE_fixed));
  PetscCallGp(A->dev, "Start", GpDevDownload(A->dev, tally, A->tally, size * sizeof(int64_t)));
  PetscCall(PetscMPIIntCast(C->n, &count));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, tally + KMEANS_TALLY, count, MPIU_INT64, MPI_SUM, PetscObjectComm((PetscObject)km)));
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, C->n, w));
  PetscCall(VecGetArrayWrite(*w, &a));
  for (PetscInt c = 0; c < C->n; c++) a[c] = (double)tally[KMEANS_TALLY + c] / A->mass.first;
  PetscCall(VecRestoreArrayWrite(*w, &a));
  PetscCall(PetscFree(tally));
  PetscCall(KMeansCandidatesCreateMat(C, (PetscBool) !!A->row, X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Draws the candidates of a restart. */
PetscErrorCode KMeansDrawCandidates_Private(KMeans km, PetscInt restart, Mat *X, Vec *w)
{
  const KMeansData *A = &km->points.data;
  KMeansCandidates  C = {.d = A->d};
  PetscInt          drawn, first = 0;

  PetscFunctionBegin;
  PetscCall(KMeansPointsForgetLabels_Private(&km->points)); /* an assignment compares its labels with the previous ones */
  PetscCall(PetscMalloc1(A->n, &C.nearest));
  if (A->weight) {
    PetscCall(PetscMalloc1(A->n, &C.weight));
    PetscCallGp(A->dev, "Weights", GpDevDownload(A->dev, C.weight, A->weight, (size_t)A->n * sizeof(double)));
  }
  for (int32_t i = 0; i < A->n; i++) C.nearest[i] = ldexp(A->weight ? A->mass.first : 1.0, A->weight ? 20 - km->points.bits : 20) / A->cost.first; /* equal, so that the first round draws by weight alone; their sum fits the scale of the inertia */
  for (PetscInt round = 0; round < KMEANS_ROUNDS || C.n < km->k; round++) {
    PetscCall(KMeansCandidatesDraw(km, KMeansRandomStream(km, restart, round), &C, &drawn));
    PetscCheck(drawn || C.n >= km->k || !round || round < 100, PetscObjectComm((PetscObject)km), PETSC_ERR_USER_INPUT, "KMeans: there are only %" PetscInt_FMT " distinct points for %" PetscInt_FMT " clusters; ask for fewer clusters", C.n, km->k);
    if (!drawn) continue;
    for (int32_t i = 0; i < A->n && !first; i++) C.nearest[i] = PETSC_MAX_REAL;
    PetscCall(KMeansCandidatesMeasure(km, first, &C));
    first = C.n;
  }
  PetscCall(KMeansCandidatesWeigh(km, &C, X, w));
  PetscCall(PetscFree(C.x));
  PetscCall(PetscFree(C.nearest));
  PetscCall(PetscFree(C.weight));
  PetscFunctionReturn(PETSC_SUCCESS);
}
