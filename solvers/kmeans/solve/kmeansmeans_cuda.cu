/* The new centroids of an iteration on a GPU, for any number of features. The arithmetic is that of KMeansMeanMove(). */
#include "kmeansmean.h"

static constexpr int KMEANS_THREADS = KMEANS_SQUARE_PARTS; /* each thread has one partial sum over features */
static constexpr int KMEANS_FLIGHT  = 8;                   /* number of features of a thread whose loads are in flight together */

/* Counts the clusters without points, by one block. */
__global__ __launch_bounds__(KMEANS_THREADS) static void KMeansEmptyKernel(KMeansData A, KMeansMoved *moved)
{
  int empty = 0;

  for (int32_t from = 0; from < A.k; from += KMEANS_THREADS) {
    const int32_t c = from + (int32_t)threadIdx.x;

    empty += __syncthreads_count(c < A.k && !A.reduced[KMEANS_TALLY + c]);
  }
  if (threadIdx.x < KMEANS_TALLY) moved->total[threadIdx.x] = A.reduced[threadIdx.x];
  if (threadIdx.x == 0) moved->empty = empty;
}

/* Returns the sum of the partial sums of all threads, in each thread. */
__device__ static double KMeansSumOfBlock(double mine)
{
  __shared__ double part[KMEANS_THREADS];

  __syncthreads(); /* threads may still read the shared array for the previous call */
  part[threadIdx.x] = mine;
  __syncthreads();
  return KMeansSquareOfParts(part);
}

/* Moves centroids, one block for each, and sets |m|^2 of sparse Euclidean points. square: [k] their squared movements. */
__global__ __launch_bounds__(KMEANS_THREADS) static void KMeansMeansKernel(KMeansData A, int keep, const KMeansMoved *moved, double *square)
{
  const int32_t c    = blockIdx.x;
  const int64_t mass = A.reduced[KMEANS_TALLY + c];
  double       *m = A.centroid + (int64_t)c * A.d, factor = (double)mass / A.mass.first, mine = 0, norm = 0;

  if (moved->empty && !keep) return;
  if (A.cosine) {
    for (int32_t j = threadIdx.x; j < A.d; j += KMEANS_THREADS) {
      const double sum = KMeansMeanSum(&A, A.feature, A.reduced, A.k, c, j);

      mine += sum * sum;
    }
    factor = KMeansSumOfBlock(mine);
    mine   = 0;
  }
  if (!mass || (A.cosine && factor == 0)) {
    if (threadIdx.x == 0) square[c] = 0;
    return;
  }
  if (A.cosine) factor = 1 / sqrt(factor);
  for (int64_t from = threadIdx.x; from < A.d; from += KMEANS_FLIGHT * KMEANS_THREADS) {
    double sum[KMEANS_FLIGHT], old[KMEANS_FLIGHT];

#pragma unroll
    for (int q = 0; q < KMEANS_FLIGHT; q++) {
      const int64_t j = from + q * KMEANS_THREADS;

      if (j >= A.d) continue;
      sum[q] = KMeansMeanSum(&A, A.feature, A.reduced, A.k, c, (int32_t)j);
      old[q] = m[j];
    }
#pragma unroll
    for (int q = 0; q < KMEANS_FLIGHT; q++) {
      const int64_t j = from + q * KMEANS_THREADS;

      if (j >= A.d) continue;
      KMeansMeanSet(&A, sum[q], factor, old[q], &m[j], &mine);
      norm += m[j] * m[j];
    }
  }
  mine = KMeansSumOfBlock(mine);
  if (threadIdx.x == 0) square[c] = mine;
  if (!A.row || A.cosine) return;
  norm = KMeansSumOfBlock(norm);
  if (threadIdx.x == 0) A.square[c] = norm;
}

/* Adds the squared movements, by one warp, in the order of KMEANS_MEAN_LANES. */
__global__ static void KMeansMovedSumKernel(int32_t k, int keep, const double *square, KMeansMoved *moved)
{
  double mine = 0;

  if (moved->empty && !keep) return;
  for (int32_t c = threadIdx.x; c < k; c += KMEANS_MEAN_LANES) mine += square[c];
  mine = KMeansMeanAddLanes(mine);
  if (threadIdx.x == 0) moved->square = mine;
}

extern "C" GpErr KMeansMoveMeans_CUDA(const KMeansData *A, int keep, KMeansMoved *moved)
{
  const size_t bytes = (size_t)A->k * sizeof(double);
  double      *square;
  GpErr        err = GpDevBorrow(A->dev, bytes, &square);

  if (!err) err = GpLaunch(A->dev, "KMeansEmpty", KMeansEmptyKernel, GpGrid{1, KMEANS_THREADS}, *A, moved);
  if (!err) err = GpLaunch(A->dev, "KMeansMeans", KMeansMeansKernel, GpGrid{(unsigned)A->k, KMEANS_THREADS}, *A, keep, moved, square);
  if (!err) err = GpLaunch(A->dev, "KMeansMovedSum", KMeansMovedSumKernel, GpGrid{1, KMEANS_MEAN_LANES}, A->k, keep, square, moved);
  GpDevReturn(A->dev, &square, bytes);
  return err;
}
