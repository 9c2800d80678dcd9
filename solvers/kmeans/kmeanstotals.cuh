/* Totals of the tally on a GPU. Each thread sums the points that it assigns, and each block adds one number to every total, because atomics of all points
   on the same address run one after the other. The totals are integers, so their bits do not depend on the order. */
#ifndef KMEANSTOTALS_CUH
#define KMEANSTOTALS_CUH

#include "kmeanssteps.h"

/* Totals of a thread, in the order of the tally. */
typedef struct {
  int64_t total[KMEANS_TALLY];
} KMeansTotals;

/* Stores the distance of point i, whose label was `old`, and adds label and distance to the totals, as KMeansPut() does. The caller stores the label. counted,
   rechecked: number of distances that were evaluated, and of those that were evaluated again in double precision. */
__device__ static inline void KMeansTotalsCount(const KMeansData *A, int64_t i, int32_t old, int32_t label, double compared, int64_t counted, int64_t rechecked, KMeansTotals *T)
{
  const double distance = KMeansDistance(A, i, compared);

  T->total[KMEANS_CHANGED] += old != label;
  T->total[KMEANS_INERTIA] += KMeansToFixed(KMeansWeight(A, i) * distance, A->cost.first);
  T->total[KMEANS_COUNTED] += counted;
  T->total[KMEANS_RECHECK] += rechecked;
  if (A->distance) A->distance[i] = distance;
}

__device__ static inline void KMeansTotalsPut(const KMeansData *A, int64_t i, int32_t label, double compared, int64_t counted, int64_t rechecked, KMeansTotals *T)
{
  const int32_t old = A->label[i];

  if (old != label) A->label[i] = label;
  KMeansTotalsCount(A, i, old, label, compared, counted, rechecked, T);
}

/* Adds the totals of all threads of a block to the tally. All threads of the block must call it; the number of threads is a multiple of 32. */
__device__ static inline void KMeansTotalsAdd(const KMeansData *A, const KMeansTotals *T)
{
  __shared__ unsigned long long sum[KMEANS_TALLY];

  if (threadIdx.x < KMEANS_TALLY) sum[threadIdx.x] = 0;
  __syncthreads();
#pragma unroll
  for (int t = 0; t < KMEANS_TALLY; t++) {
    int64_t mine = T->total[t];

    for (int half = 16; half > 0; half /= 2) mine += __shfl_down_sync(0xffffffffu, mine, half);
    if (threadIdx.x % 32 == 0 && mine) atomicAdd(&sum[t], (unsigned long long)mine);
  }
  __syncthreads();
  if (threadIdx.x < KMEANS_TALLY && sum[threadIdx.x]) KMEANS_ADD(&A->tally[threadIdx.x], sum[threadIdx.x]);
}

#endif
