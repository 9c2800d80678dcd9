/* The new centroid of a cluster, from the tally. The host and the CUDA implementation of the iteration share this arithmetic. */
#ifndef KMEANSMEAN_H
#define KMEANSMEAN_H

#include "solvers/kmeans/kmeanssteps.h"

/* Returns the sum of feature j over the points of cluster c of k. The scales are powers of 2, so the products are exact. */
GP_INLINE double KMeansMeanSum(const KMeansData *A, const KMeansFixed feature[], const int64_t tally[], int64_t k, int64_t c, int32_t j)
{
  const int64_t *sum = tally + KMEANS_TALLY + k + (c * A->d + j) * A->words;

  return (double)sum[0] * KMeansReciprocal(feature[j].first) + (A->words > 1 ? (double)sum[1] * KMeansReciprocal(feature[j].second) : 0.0);
}

/* Sets a coordinate of a centroid to `sum`, the sum of its feature, divided by `factor`, or times `factor` for the cosine metric. Adds the squared movement to *moved. */
GP_INLINE void KMeansMeanSet(const KMeansData *A, double sum, double factor, double old, double *coordinate, double *moved)
{
  const double now = A->cosine ? factor * sum : sum / factor, difference = now - old;

  *moved += difference * difference;
  *coordinate = now;
}

#if !defined(__CUDACC__)
/* Does the same as KMeansMeanMove() for more than KMEANS_SQUARE_PARTS features. kmeansmeans_cuda.cu is its CUDA implementation. */
static inline double KMeansMeanMoveWide(const KMeansData *A, const KMeansFixed feature[], const int64_t tally[], int64_t k, int64_t c, double centroid[])
{
  double part[KMEANS_SQUARE_PARTS] = {0}, *m = centroid + c * A->d, factor = (double)tally[KMEANS_TALLY + c] / A->mass.first;

  if (A->cosine) {
    for (int32_t j = 0; j < A->d; j++) {
      const double sum = KMeansMeanSum(A, feature, tally, k, c, j);

      part[j % KMEANS_SQUARE_PARTS] += sum * sum;
    }
    factor = KMeansSquareOfParts(part);
    if (factor == 0) return 0;
    factor = 1 / sqrt(factor);
    memset(part, 0, sizeof(part));
  }
  for (int32_t j = 0; j < A->d; j++) KMeansMeanSet(A, KMeansMeanSum(A, feature, tally, k, c, j), factor, m[j], &m[j], &part[j % KMEANS_SQUARE_PARTS]);
  return KMeansSquareOfParts(part);
}
#endif

/* Sets centroid c of k to the weighted mean of its points, of which there must be at least one. For the cosine metric it is their sum, scaled to norm 1; if the sum is
   zero, the centroid stays. Returns the squared length of the movement. Sums of squares over features have KMEANS_SQUARE_PARTS partial sums, as |m|^2 has. */
GP_INLINE double KMeansMeanMove(const KMeansData *A, const KMeansFixed feature[], const int64_t tally[], int64_t k, int64_t c, double centroid[])
{
  double *m = centroid + c * A->d, factor = (double)tally[KMEANS_TALLY + c] / A->mass.first, square = 0, moved = 0;

#if !defined(__CUDACC__)
  if (A->d > KMEANS_SQUARE_PARTS) return KMeansMeanMoveWide(A, feature, tally, k, c, centroid);
#endif
  if (A->cosine) {
    for (int32_t j = 0; j < A->d; j++) {
      const double sum = KMeansMeanSum(A, feature, tally, k, c, j);

      square += sum * sum;
    }
    if (square == 0) return 0;
    factor = 1 / sqrt(square);
  }
  for (int32_t j = 0; j < A->d; j++) KMeansMeanSet(A, KMeansMeanSum(A, feature, tally, k, c, j), factor, m[j], &m[j], &moved);
  return moved;
}

/* Number of partial sums of the squared movements of all centroids. Partial sum l adds the centroids l, l + KMEANS_MEAN_LANES, ... in ascending order. A binary tree
   adds the partial sums. */
#define KMEANS_MEAN_LANES 32

#if defined(__CUDACC__)
/* Returns the sum of the partial sums of a warp in its first lane. */
__device__ static inline double KMeansMeanAddLanes(double mine)
{
  for (int half = KMEANS_MEAN_LANES / 2; half > 0; half /= 2) mine += __shfl_down_sync(0xffffffffu, mine, half);
  return mine;
}
#endif

#endif
