/* The end of an iteration on a GPU: new centroids and stopping criteria. One block executes it for each solve of a batch. The kernel is launched early, and so is the
   assignment by `direct` or `tensor` that follows it. */
#include "kmeansmean.h"

#include <gpucsrdevice.cuh>
#include <gpucsrkmeanstypes.h>

#define KMEANS_MOVE_THREADS 1024

/* Tests the criteria of KMeansIterate_Private(), in the same order. */
__device__ static int32_t KMeansMoveTest(const KMeansLoop *L, int64_t changed, double inertia, double shift)
{
  if (!changed) return KMEANS_CONVERGED_LABELS;
  if (L->previous - inertia < L->rtol * L->previous) return KMEANS_CONVERGED_INERTIA;
  if (shift <= L->stol && L->stol > 0) return KMEANS_CONVERGED_SHIFT;
  return L->it >= L->max_it ? KMEANS_DIVERGED_MAX_IT : KMEANS_CONVERGED_ITERATING;
}

/* Prefetches sums and centroids, which the kernel reads only after it has waited for other loads. */
__device__ static void KMeansMovePrefetch(const KMeansData &A, const int64_t *reduced, const double *centroid)
{
  for (int32_t c = threadIdx.x; c < A.k; c += KMEANS_MOVE_THREADS) {
    asm volatile("prefetch.global.L1 [%0];" ::"l"(reduced + KMEANS_TALLY + A.k + (int64_t)c * A.d * A.words));
    asm volatile("prefetch.global.L1 [%0];" ::"l"(centroid + (int64_t)c * A.d));
  }
}

/* Moves centroids. Every thread computes coordinates of its own. It does not compute the movement, and does the arithmetic of KMeansMeanMove() for the Euclidean metric. */
__device__ static void KMeansMoveCoordinates(const KMeansData &A, const int64_t *reduced, double *centroid)
{
  for (int32_t e = threadIdx.x; e < A.k * A.d; e += KMEANS_MOVE_THREADS) {
    const int32_t c     = e / A.d;
    const int64_t mass  = reduced[KMEANS_TALLY + c];
    double        moved = 0;

    if (mass) KMeansMeanSet(&A, KMeansMeanSum(&A, A.feature, reduced, A.k, c, e % A.d), (double)mass / A.mass.first, 0, &centroid[e], &moved);
  }
}

/* Moves centroids, and returns the squared movement in thread 0. In each round every thread moves one centroid. Partial sum l of the movement adds the centroids
   l, l + 32, ... in ascending order (KMEANS_MEAN_LANES), so that the threads store the movements of a round in shared memory. */
__device__ static double KMeansMoveAll(const KMeansData &A, const int64_t *reduced, double *centroid, double (&moved)[KMEANS_MOVE_THREADS])
{
  double mine = 0;

  for (int32_t round = 0; round < A.k; round += KMEANS_MOVE_THREADS) {
    const int32_t c = round + (int32_t)threadIdx.x;

    moved[threadIdx.x] = c < A.k && reduced[KMEANS_TALLY + c] ? KMeansMeanMove(&A, A.feature, reduced, A.k, c, centroid) : 0;
    __syncthreads();
    if (threadIdx.x < KMEANS_MEAN_LANES)
      for (int t = threadIdx.x; t < KMEANS_MOVE_THREADS; t += KMEANS_MEAN_LANES) mine += moved[t];
    __syncthreads();
  }
  return threadIdx.x < KMEANS_MEAN_LANES ? KMeansMeanAddLanes(mine) : 0;
}

/* Counts a solve that has stopped. The graph ends with the last solve of the batch. first: state of the first solve. */
__device__ static void KMeansMoveStop(KMeansLoop *first, uint64_t loop)
{
  if (atomicSub(&first->running, 1) == 1) GpLoopEnd(loop);
}

__global__ __launch_bounds__(KMEANS_MOVE_THREADS) static void KMeansMoveKernel(const __grid_constant__ KMeansData A)
{
  __shared__ double  moved[KMEANS_MOVE_THREADS];
  __shared__ int64_t total[KMEANS_TALLY];
  KMeansLoop *const  L        = A.loop + blockIdx.x;
  const int64_t      size     = KMeansTallySize(A.k, A.d, A.words);
  const int64_t     *reduced  = A.reduced + blockIdx.x * size;
  double            *centroid = A.centroid + (int64_t)blockIdx.x * A.k * A.d;
  int                empty    = 0;
  double             mine     = 0;

  GpWait();
  GpNextMayStart();

  const KMeansLoop state = *L;

  KMeansMovePrefetch(A, reduced, centroid);
  if (threadIdx.x < KMEANS_TALLY) total[threadIdx.x] = reduced[threadIdx.x];
  for (int32_t c = threadIdx.x; c < A.k; c += KMEANS_MOVE_THREADS) empty |= !reduced[KMEANS_TALLY + c];
  if (state.reason) return;                     /* not before, so that the loads of all these numbers are in flight together */
  if (__syncthreads_or(empty) && !state.keep) { /* the host repeats the assignment, which then finds no changed labels */
    if (threadIdx.x == 0) {
      L->reason = KMEANS_LOOP_EMPTY;
      KMeansMoveStop(A.loop, state.loop);
    }
    return;
  }
  if (state.stol > 0) mine = KMeansMoveAll(A, reduced, centroid, moved);
  else KMeansMoveCoordinates(A, reduced, centroid);
  if (threadIdx.x == 0) {
    const double inertia = (double)total[KMEANS_INERTIA] / A.cost.first;

    const int32_t reason = KMeansMoveTest(&state, total[KMEANS_CHANGED], inertia, sqrt(mine));
    L->counted           = state.counted + total[KMEANS_COUNTED];
    L->rechecked         = state.rechecked + total[KMEANS_RECHECK];
    L->inertia = L->previous = inertia;
    if (reason) KMeansMoveStop(A.loop, state.loop);
    else L->it = state.it + 1;
    L->reason = reason;
    L->fresh  = !state.differences;
  }
  __syncthreads();
  for (int64_t e = threadIdx.x; e < (state.differences ? KMEANS_TALLY : size); e += KMEANS_MOVE_THREADS) A.tally[blockIdx.x * size + e] = 0;
}

extern "C" GpErr KMeansMove_CUDA(const KMeansData *A)
{
  return GpLaunchEarlyStep(A->dev, "KMeansMove", KMeansMoveKernel, GpGrid{A->solves > 1 ? (unsigned)A->solves : 1, KMEANS_MOVE_THREADS}, *A);
}
