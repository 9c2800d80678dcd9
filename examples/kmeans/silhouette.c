/* The silhouette (Rousseeuw, 1987): for a point, (b - a) / max(a, b), where a is its mean distance to the other points of its cluster and b the least mean
   distance to the points of another cluster. It is 0 for the only point of a cluster. */
#include "rows.h"
#include <math.h>

#define SILHOUETTE_BLOCK 256 /* largest number of sampled points whose distances are computed together */

/* Sampled points that are compared with all points. */
typedef struct {
  PetscInt  m, number[SILHOUETTE_BLOCK], label[SILHOUETTE_BLOCK];
  PointRows rows;
  double   *byfeature; /* [d][m] values of dense points */
  double   *row;       /* [d] for sparse points: the other point */
  double    distance[SILHOUETTE_BLOCK];
} SilhouetteBlock;

/* An upper bound on the distance of two points: the diagonal of a box around the origin that holds all points. Collective. */
static PetscErrorCode SilhouetteBoundDistance(const PointRows *R, KMeansMetric metric, double *bound)
{
  double     *side, square = 0;
  PetscMPIInt count;

  PetscFunctionBegin;
  *bound = 2;
  if (metric == KMEANS_METRIC_COSINE) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMPIIntCast(R->d, &count));
  PetscCall(PetscCalloc1(R->d, &side)); /* largest absolute value of each feature */
  for (PetscInt i = 0; i < R->n; i++) {
    for (PetscInt64 e = R->begin[i]; e < R->begin[i + 1]; e++) {
      const PetscInt j = R->col ? R->col[e] : (PetscInt)(e - R->begin[i]);

      side[j] = PetscMax(side[j], fabs(R->value[e]));
    }
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, side, count, MPI_DOUBLE, MPI_MAX, R->comm));
  for (PetscInt j = 0; j < R->d; j++) square += 4 * side[j] * side[j];
  *bound = sqrt(square);
  PetscCall(PetscFree(side));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The sum of squared differences of two sparse rows. */
static double SilhouetteMergeRows(PetscInt64 n, const PetscInt acol[], const double a[], PetscInt64 m, const PetscInt bcol[], const double b[])
{
  double sum = 0;

  for (PetscInt64 e = 0, f = 0; e < n || f < m;) {
    const PetscBool left = (PetscBool)(f == m || (e < n && acol[e] <= bcol[f])), right = (PetscBool)(e == n || (f < m && bcol[f] <= acol[e]));
    const double    x = left ? a[e] : 0, y = right ? b[f] : 0;

    sum += (x - y) * (x - y);
    e += left;
    f += right;
  }
  return sum;
}

/* Computes the inner products or squared distances of all points of the block and a sparse point. */
static void SilhouetteCompareSparse(SilhouetteBlock *B, PetscBool cosine, PetscInt64 n, const PetscInt col[], const double x[])
{
  double square = 0;

  for (PetscInt64 e = 0; e < n; e++) {
    B->row[col[e]] = x[e];
    square += x[e] * x[e];
  }
  for (PetscInt s = 0; s < B->m; s++) {
    const PetscInt64 from = B->rows.begin[s], to = B->rows.begin[s + 1];
    double           product = 0, sum = 0, common = 0, rest;
    PetscInt64       shared = 0;

    for (PetscInt64 f = from; f < to; f++) {
      const double xj = B->row[B->rows.col[f]], y = B->rows.value[f];

      product += xj * y;
      sum += (xj - y) * (xj - y);
      common += xj * xj;
      shared += xj != 0;
    }
    rest = square - common; /* of the columns that only x has */
    if (shared < n && rest >= 1e-4 * square) sum += rest;
    else if (shared < n && !cosine) sum = SilhouetteMergeRows(n, col, x, to - from, B->rows.col + from, B->rows.value + from); /* the subtraction has lost digits */
    B->distance[s] = cosine ? product : sum;
  }
  for (PetscInt64 e = 0; e < n; e++) B->row[col[e]] = 0;
}

/* Computes the distances of all points of the block to a point. */
static void SilhouetteComputeDistances(SilhouetteBlock *B, PetscBool cosine, PetscInt64 n, const PetscInt col[], const double x[])
{
  double *distance = B->distance;

  if (col) SilhouetteCompareSparse(B, cosine, n, col, x);
  else
    for (PetscInt s = 0; s < B->m; s++) distance[s] = 0;
  for (PetscInt64 j = 0; j < n && !col; j++) {
    const double *y = B->byfeature + j * B->m, xj = x[j];

    if (cosine)
      for (PetscInt s = 0; s < B->m; s++) distance[s] += xj * y[s];
    else
      for (PetscInt s = 0; s < B->m; s++) distance[s] += (xj - y[s]) * (xj - y[s]);
  }
  for (PetscInt s = 0; s < B->m; s++) distance[s] = cosine ? PetscMax(0, 1 - distance[s]) : sqrt(distance[s]);
}

/* Sums the distances of the block's points to the points of each cluster: sum[k][m]. Collective. */
static PetscErrorCode SilhouetteSumDistances(const PointRows *R, PetscBool cosine, PetscInt k, const PetscInt label[], double scale, SilhouetteBlock *B, int64_t sum[])
{
  const PetscInt m = B->m;

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(sum, (size_t)k * m));
  for (PetscInt i = 0; i < R->n; i++) {
    int64_t *mine = sum + (size_t)label[i] * m;

    SilhouetteComputeDistances(B, cosine, R->begin[i + 1] - R->begin[i], R->col ? R->col + R->begin[i] : NULL, R->value + R->begin[i]);
    for (PetscInt s = 0; s < m; s++) mine[s] += B->number[s] == R->first + i ? 0 : (int64_t)(B->distance[s] * scale);
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sum, (PetscMPIInt)(k * m), MPIU_INT64, MPI_SUM, R->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the points of the sample with the numbers from `from` on. Collective. */
static PetscErrorCode SilhouetteBlockCreate(const PointRows *R, const PetscInt label[], PetscInt sample, PetscInt from, PetscInt m, SilhouetteBlock *B)
{
  PetscFunctionBegin;
  B->m = m;
  for (PetscInt s = 0; s < m; s++) {
    const PetscInt i = (B->number[s] = PointRowsFindSample(R->N, sample, from + s)) - R->first;

    B->label[s] = i >= 0 && i < R->n ? label[i] : -1;
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, B->label, (PetscMPIInt)m, MPIU_INT, MPI_MAX, R->comm));
  PetscCall(PointRowsGather(R, m, B->number, &B->rows));
  B->byfeature = B->row = NULL;
  if (R->col) PetscCall(PetscCalloc1(R->d, &B->row));
  if (R->col) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1((size_t)m * R->d, &B->byfeature));
  for (PetscInt s = 0; s < m; s++)
    for (PetscInt j = 0; j < R->d; j++) B->byfeature[(size_t)j * m + s] = B->rows.value[(size_t)s * R->d + j];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SilhouetteBlockDestroy(SilhouetteBlock *B)
{
  PetscFunctionBegin;
  PetscCall(PointRowsDestroy(&B->rows));
  PetscCall(PetscFree(B->byfeature));
  PetscCall(PetscFree(B->row));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The silhouette of point s of a block. */
static double SilhouetteEvaluate(PetscInt k, const PetscInt64 size[], const SilhouetteBlock *B, PetscInt s, double scale, const int64_t sum[])
{
  const PetscInt own = B->label[s];
  double         a, b = INFINITY;

  if (size[own] == 1) return 0;
  a = (double)sum[(size_t)own * B->m + s] / scale / (double)(size[own] - 1);
  for (PetscInt c = 0; c < k; c++)
    if (c != own && size[c]) b = fmin(b, (double)sum[(size_t)c * B->m + s] / scale / (double)size[c]);
  return fmax(a, b) > 0 ? (b - a) / fmax(a, b) : 0;
}

/* Computes the mean silhouette of a sample of m points, each compared with all points. It is NaN if fewer than two clusters have points. `label` has the
   local labels, `size` the points of the k clusters on all ranks. The result has the same bits on any number of ranks. Collective. */
PetscErrorCode SilhouetteCompute(const PointRows *R, KMeansMetric metric, PetscInt k, const PetscInt label[], const PetscInt64 size[], PetscInt m, PetscReal *silhouette)
{
  const PetscInt block  = PetscMax(1, PetscMin(SILHOUETTE_BLOCK, (1 << 24) / PetscMax(k, R->d)));
  PetscInt       filled = 0;
  double         bound, scale, sum = 0;
  int64_t       *distances;

  PetscFunctionBegin;
  *silhouette = NAN;
  for (PetscInt c = 0; c < k; c++) filled += size[c] > 0;
  if (filled < 2) PetscFunctionReturn(PETSC_SUCCESS);
  m = PetscMin(m, R->N);
  PetscCall(SilhouetteBoundDistance(R, metric, &bound));
  scale = PointRowsGetScale(R->N, bound);
  PetscCall(PetscMalloc1((size_t)k * block, &distances));
  for (PetscInt from = 0; from < m; from += block) {
    SilhouetteBlock B;

    PetscCall(SilhouetteBlockCreate(R, label, m, from, PetscMin(block, m - from), &B));
    PetscCall(SilhouetteSumDistances(R, (PetscBool)(metric == KMEANS_METRIC_COSINE), k, label, scale, &B, distances));
    for (PetscInt s = 0; s < B.m; s++) sum += SilhouetteEvaluate(k, size, &B, s, scale, distances);
    PetscCall(SilhouetteBlockDestroy(&B));
  }
  PetscCall(PetscFree(distances));
  *silhouette = sum / (double)m;
  PetscFunctionReturn(PETSC_SUCCESS);
}
