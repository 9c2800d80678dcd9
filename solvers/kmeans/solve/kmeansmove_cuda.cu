/* The end of an iteration on a GPU, by one block. */
#include "kmeansmean.h"

#include <gpucsrkmeanstypes.h>

#define KMEANS_MOVE_THREADS 1024

/* The criteria of KMeansIterate_Private(), in the same order. */
__device__ static int32_t KMeansMoveTest(const KMeansLoop *L, int64_t changed, double inertia, double shift)
{
  if (!changed) return KMEANS_CONVERGED_LABELS;
  if (L->previous - inertia < L->rtol * L->previous) return KMEANS_CONVERGED_INERTIA;
  if (shift <= L->stol && L->stol > 0) return KMEANS_CONVERGED_SHIFT;
  return L->it >= L->max_it ? KMEANS_DIVERGED_MAX_IT : KMEANS_CONVERGED_ITERATING;
}

__global__ __launch_bounds__(KMEANS_MOVE_THREADS) static void KMeansMoveKernel(const __grid_constant__ KMeansData A, KMeansLoop *L)
{
  __shared__ double moved[KMEANS_MOVE_THREADS];
  const int64_t     size  = KMeansTallySize(A.k, A.d, A.words);
  int               empty = 0;
  double            mine  = 0;

  if (L->reason) return;
  for (int32_t c = threadIdx.x; c < A.k; c += KMEANS_MOVE_THREADS) empty |= !A.tally[KMEANS_TALLY + c];
  if (__syncthreads_or(empty) && !L->keep) { /* the host repeats the assignment, which then finds no changed labels */
    if (threadIdx.x == 0) {
      L->reason = KMEANS_LOOP_EMPTY;
      GpLoopEnd(L->loop);
    }
    return;
  }
  /* Thread t moves the centroids t, t + 1024, ...; partial sum l of the movement needs the centroids l, l + 32, ... in ascending order, so the threads keep
     theirs apart for each round. */
  for (int32_t round = 0; round < A.k; round += KMEANS_MOVE_THREADS) {
    const int32_t c = round + (int32_t)threadIdx.x;

    moved[threadIdx.x] = c < A.k && A.tally[KMEANS_TALLY + c] ? KMeansMeanMove(&A, A.feature, A.tally, A.k, c, A.centroid) : 0;
    __syncthreads();
    if (threadIdx.x < KMEANS_MEAN_LANES)
      for (int t = threadIdx.x; t < KMEANS_MOVE_THREADS && L->stol > 0; t += KMEANS_MEAN_LANES) mine += moved[t];
    __syncthreads();
  }
  if (threadIdx.x < KMEANS_MEAN_LANES) {
    for (int half = KMEANS_MEAN_LANES / 2; half > 0; half /= 2) mine += __shfl_down_sync(0xffffffffu, mine, half);
  }
  if (threadIdx.x == 0) {
    const double inertia = (double)A.tally[KMEANS_INERTIA] / A.cost.first;

    L->reason = KMeansMoveTest(L, A.tally[KMEANS_CHANGED], inertia, sqrt(mine));
    L->counted += A.tally[KMEANS_COUNTED];
    L->rechecked += A.tally[KMEANS_RECHECK];
    L->inertia = L->previous = inertia;
    if (L->reason) GpLoopEnd(L->loop);
    else L->it++;
  }
  __syncthreads();
  for (int64_t e = threadIdx.x; e < (L->differences ? KMEANS_TALLY : size); e += KMEANS_MOVE_THREADS) A.tally[e] = 0;
  if (threadIdx.x == 0) L->fresh = !L->differences;
}

extern "C" GpErr KMeansMove_CUDA(const KMeansData *A)
{
  return GpLaunch(A->dev, "KMeansMove", KMeansMoveKernel, GpGrid{1, KMEANS_MOVE_THREADS}, *A, A->loop);
}
