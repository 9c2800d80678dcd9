/* The new centroids of an iteration, from the tally; clusters without points. */
#include "solvers/kmeans/kmeansimpl.h"
#include "kmeansmean.h"

/* Sets *cluster to the cluster with the largest inertia. Sums are integers, so that all ranks agree. */
static PetscErrorCode KMeansFindCostliest(KMeans km, const int32_t label[], const double cost[], PetscInt *cluster)
{
  const KMeansData *A = &km->points.data;
  int64_t          *sum;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(km->kept, &sum));
  for (int32_t i = 0; i < A->n; i++) sum[label[i]] += (int64_t)llrint(PetscMax(cost[i], 0) * A->cost.first);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sum, (PetscMPIInt)km->kept, MPIU_INT64, MPI_SUM, PetscObjectComm((PetscObject)km)));
  *cluster = 0;
  for (PetscInt c = 1; c < km->kept; c++)
    if (sum[c] > sum[*cluster]) *cluster = c;
  PetscCall(PetscFree(sum));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Moves the centroids of empty clusters to points. cost: weight times distance of each local point, which becomes 0 for points that are used. */
static PetscErrorCode KMeansFillEmpty(KMeans km, const int32_t label[], double cost[])
{
  const KMeansData *A    = &km->points.data;
  const MPI_Comm    comm = PetscObjectComm((PetscObject)km);

  PetscFunctionBegin;
  for (PetscInt c = 0; c < km->kept; c++) {
    PetscInt point = PETSC_MAX_INT, costliest = -1;
    double   most = 0, largest;

    if (km->tally[KMEANS_TALLY + c]) continue;
    if (km->empty == KMEANS_EMPTY_SPLIT) PetscCall(KMeansFindCostliest(km, label, cost, &costliest));
    for (int32_t i = 0; i < A->n; i++)
      if (cost[i] > most && (costliest < 0 || label[i] == costliest)) most = cost[i];
    PetscCallMPI(MPI_Allreduce(&most, &largest, 1, MPI_DOUBLE, MPI_MAX, comm));
    PetscCheck(largest > 0, comm, PETSC_ERR_USER_INPUT, "KMeans: there are fewer distinct points than %" PetscInt_FMT " clusters; ask for fewer clusters, or use -kmeans_empty keep or drop", km->k);
    for (int32_t i = 0; i < A->n && point == PETSC_MAX_INT; i++)
      if (cost[i] == largest && (costliest < 0 || label[i] == costliest)) point = km->points.first + i;
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &point, 1, MPIU_INT, MPI_MIN, comm));
    if (point >= km->points.first && point < km->points.first + A->n) cost[point - km->points.first] = 0;
    PetscCall(KMeansPointsGetRow_Private(km, point, km->centroid + c * A->d));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Removes the centroids of empty clusters. */
static PetscErrorCode KMeansDropEmpty(KMeans km)
{
  const PetscInt d    = km->points.data.d;
  PetscInt       kept = 0;

  PetscFunctionBegin;
  for (PetscInt c = 0; c < km->kept; c++) {
    if (!km->tally[KMEANS_TALLY + c]) continue;
    if (kept < c) PetscCall(PetscArraymove(km->centroid + kept * d, km->centroid + c * d, d));
    kept++;
  }
  km->kept = kept;
  PetscCall(KMeansPointsForgetLabels_Private(&km->points)); /* the clusters have new numbers */
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KMeansHandleEmpty(KMeans km)
{
  const KMeansData *A = &km->points.data;
  int32_t          *label;
  double           *cost, *weight;

  PetscFunctionBegin;
  if (km->empty == KMEANS_EMPTY_KEEP) PetscFunctionReturn(PETSC_SUCCESS);
  if (km->empty == KMEANS_EMPTY_DROP) {
    PetscCall(KMeansDropEmpty(km));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt c = 0; c < km->kept; c++)
    PetscCheck(km->empty != KMEANS_EMPTY_ERROR || km->tally[KMEANS_TALLY + c], PetscObjectComm((PetscObject)km), PETSC_ERR_USER_INPUT, "KMeans: cluster %" PetscInt_FMT " has no points; ask for fewer clusters, or use another -kmeans_empty", c);
  PetscCall(PetscMalloc3(A->n, &label, A->n, &cost, A->weight ? A->n : 0, &weight));
  PetscCallGp(A->dev, "Labels", GpDevDownload(A->dev, label, A->label, (size_t)A->n * sizeof(*label)));
  PetscCallGp(A->dev, "Distances", GpDevDownload(A->dev, cost, A->distance, (size_t)A->n * sizeof(*cost)));
  if (A->weight) {
    PetscCallGp(A->dev, "Weights", GpDevDownload(A->dev, weight, A->weight, (size_t)A->n * sizeof(*weight)));
    for (int32_t i = 0; i < A->n; i++) cost[i] *= weight[i];
  }
  PetscCall(KMeansFillEmpty(km, label, cost));
  PetscCall(PetscFree3(label, cost, weight));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Replaces the centroids by the means of their points. shift: the Frobenius norm of the change; replaced: clusters without points were treated. */
PetscErrorCode KMeansMoveCentroids_Private(KMeans km, PetscReal *shift, PetscBool *replaced)
{
  KMeansData  host = km->points.data;
  KMeansMoved moved;

  PetscFunctionBegin;
  host.k        = (int32_t)km->kept;
  host.feature  = km->points.feature;
  host.reduced  = km->tally;
  host.centroid = km->centroid;
  host.square   = NULL;                         /* the next pass sets it */
  (void)KMeansMoveMeans_Host(&host, 1, &moved); /* it cannot fail */
  *shift = sqrt(moved.square);
  PetscCall(KMeansTreatEmpty_Private(km, replaced));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Replaces or drops centroids without points after an assignment, as the settings say. */
PetscErrorCode KMeansTreatEmpty_Private(KMeans km, PetscBool *replaced)
{
  PetscInt empty = 0;

  PetscFunctionBegin;
  for (PetscInt c = 0; c < km->kept; c++) empty += !km->tally[KMEANS_TALLY + c];
  if (empty) PetscCall(KMeansHandleEmpty(km));
  *replaced = (PetscBool)(empty && km->empty != KMEANS_EMPTY_KEEP);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Moves each centroid by the sum of the differences of its points from it, divided by count: the weight of all points that it has had. For the cosine
   metric the result is scaled to norm 1. */
PetscErrorCode KMeansMoveByRates_Private(KMeans km, double count[])
{
  const KMeansData *A = &km->points.data;

  PetscFunctionBegin;
  for (PetscInt c = 0; c < km->kept; c++) {
    const double weight = (double)km->tally[KMEANS_TALLY + c] / A->mass.first;
    double      *m = km->centroid + c * A->d, square = 0;

    if (!km->tally[KMEANS_TALLY + c]) continue;
    count[c] += weight;
    for (PetscInt j = 0; j < A->d; j++) {
      m[j] += (KMeansMeanSum(A, km->points.feature, km->tally, km->kept, c, (int32_t)j) - weight * m[j]) / count[c];
      square += m[j] * m[j];
    }
    for (PetscInt j = 0; j < A->d && A->cosine && square > 0; j++) m[j] /= sqrt(square);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
