/* How far the centroids have moved, and how far they are from each other, for assignments with bounds. */
#include "solvers/kmeans/kmeansbounds.h"

/* Squared distance of two centroids, in arrays of rows of d. */
GP_INLINE double KMeansBetween(int32_t d, const double *a, const double *b)
{
  double sum = 0;

  for (int32_t j = 0; j < d; j++) sum += (a[j] - b[j]) * (a[j] - b[j]);
  return sum;
}

/* Lower bound on half the distance of a centroid to the nearest other one, whose squared distance is `least`. */
GP_INLINE double KMeansHalfDistance(const KMeansData *A, double least)
{
  return least < HUGE_VAL ? 0.5 * sqrt(least) * (1 - KMeansRelativeError(A->d)) : HUGE_VAL;
}

/* Upper bound on the distance that centroid c has moved. */
GP_INLINE double KMeansMovedDistance(const KMeansData *A, int64_t c)
{
  return sqrt(KMeansBetween(A->d, A->centroid + c * A->d, A->bounds.old + c * A->d)) * (1 + KMeansRelativeError(A->d));
}

#if defined(__CUDACC__)
static constexpr int KMEANS_THREADS = 128;

/* The least, or the largest, value of all threads of a block, in thread 0. */
template <bool LEAST>
__device__ static double KMeansExtremeOfBlock(double mine)
{
  __shared__ double warps[KMEANS_THREADS / 32];

  for (int half = 16; half > 0; half /= 2) {
    const double other = __shfl_xor_sync(0xffffffffu, mine, half);

    mine = (LEAST ? other < mine : other > mine) ? other : mine;
  }
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = mine;
  __syncthreads();
  for (int w = 0; w < KMEANS_THREADS / 32; w++) mine = (LEAST ? warps[w] < mine : warps[w] > mine) ? warps[w] : mine;
  return mine;
}

/* One block a centroid. */
__global__ static void KMeansMovedKernel(KMeansData A)
{
  const int32_t i     = blockIdx.x;
  double        least = HUGE_VAL;

  for (int32_t c = threadIdx.x; c < A.k; c += KMEANS_THREADS) {
    const double between = c == i ? HUGE_VAL : KMeansBetween(A.d, A.centroid + (int64_t)i * A.d, A.centroid + (int64_t)c * A.d);

    if (between < least) least = between;
  }
  least = KMeansExtremeOfBlock<true>(least);
  if (threadIdx.x != 0) return;
  A.bounds.moved[i] = KMeansMovedDistance(&A, i);
  A.bounds.half[i]  = KMeansHalfDistance(&A, least);
}

/* One block a group of centroids, and a last one for the largest |m|^2. */
__global__ static void KMeansGroupMovedKernel(KMeansData A)
{
  const int32_t group = A.bounds.group, last = KMeansGroups(A.k, group);
  const bool    squares = blockIdx.x == (unsigned)last;
  const int32_t from = squares ? 0 : blockIdx.x * group, to = squares || A.k - from < group ? A.k : from + group;
  const double *value = squares ? A.square : A.bounds.moved;
  double        most  = 0;

  for (int32_t c = from + threadIdx.x; c < to; c += KMEANS_THREADS) most = value[c] > most ? value[c] : most;
  most = KMeansExtremeOfBlock<false>(most);
  if (threadIdx.x == 0) *(squares ? A.bounds.largest : A.bounds.groupmoved + blockIdx.x) = most;
}

extern "C" GpErr KMeansMoveBounds_CUDA(const KMeansData *A)
{
  const unsigned groups = (unsigned)KMeansGroups(A->k, A->bounds.group), squares = A->row && !A->cosine;
  GpErr          err;

  if (A->k <= 0) return GP_SUCCESS;
  err = GpLaunch(A->dev, "KMeansMoved", KMeansMovedKernel, GpGrid{(unsigned)A->k, KMEANS_THREADS}, *A);
  if (!err) err = GpLaunch(A->dev, "KMeansGroupMoved", KMeansGroupMovedKernel, GpGrid{groups + squares, KMEANS_THREADS}, *A);
  return err;
}
#else
GpErr KMeansMoveBounds_Host(const KMeansData *A)
{
  const KMeansBounds *B = &A->bounds;

  for (int32_t g = 0; g < KMeansGroups(A->k, B->group); g++) B->groupmoved[g] = 0;
  *B->largest = 0;
  for (int32_t i = 0; i < A->k; i++) {
    double least = HUGE_VAL, *most = B->groupmoved + i / B->group;

    B->moved[i] = KMeansMovedDistance(A, i);
    if (B->moved[i] > *most) *most = B->moved[i];
    if (A->row && !A->cosine && A->square[i] > *B->largest) *B->largest = A->square[i];
    for (int32_t c = 0; c < A->k; c++) {
      const double between = c == i ? HUGE_VAL : KMeansBetween(A->d, A->centroid + (int64_t)i * A->d, A->centroid + (int64_t)c * A->d);

      if (between < least) least = between;
    }
    B->half[i] = KMeansHalfDistance(A, least);
  }
  return GP_SUCCESS;
}
#endif
