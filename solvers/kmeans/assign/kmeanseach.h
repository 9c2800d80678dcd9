/* Runs an assignment that is a function of one point. The host calls the function for one point after another; a GPU calls it in one thread for each point.

       GP_INLINE KMeansFound KMeansBruteFind(const KMeansData *A, int64_t i) { ... }
       err = KMEANS_EACH(A, KMeansBruteFind); */
#ifndef KMEANSEACH_H
#define KMEANSEACH_H

#if defined(__CUDACC__)
  #include "solvers/kmeans/kmeanstotals.cuh"
#else
  #include "solvers/kmeans/kmeanssteps.h"
#endif

/* The label of a point, KMeansCompare() of the point and the centroid of its label, and the number of distances evaluated for the point. */
typedef struct {
  int32_t label;
  double  compared;
  int64_t counted;
} KMeansFound;

#if defined(__CUDACC__)
  #define KMEANS_EACH_BLOCK 256

template <KMeansFound (*Find)(const KMeansData *, int64_t)>
__global__ static void KMeansEachKernel(KMeansData A)
{
  const int64_t i = (int64_t)blockIdx.x * KMEANS_EACH_BLOCK + threadIdx.x;
  KMeansTotals  T = {};

  if (i < A.n) {
    const KMeansFound found = Find(&A, i);

    KMeansTotalsPut(&A, i, found.label, found.compared, found.counted, 0, &T);
  }
  KMeansTotalsAdd(&A, &T);
}

template <KMeansFound (*Find)(const KMeansData *, int64_t)>
static GpErr KMeansEachLaunch(const char *name, const KMeansData *A)
{
  return A->n > 0 ? GpLaunch(A->dev, name, KMeansEachKernel<Find>, GpGrid{GpBlocks(A->n, KMEANS_EACH_BLOCK), KMEANS_EACH_BLOCK}, *A) : GP_SUCCESS;
}

  #define KMEANS_EACH(A, Find) KMeansEachLaunch<Find>(#Find, A)
#else
static inline GpErr KMeansEachLoop(const KMeansData *A, KMeansFound (*Find)(const KMeansData *, int64_t))
{
  for (int64_t i = 0; i < A->n; i++) {
    const KMeansFound found = Find(A, i);

    KMeansPut(A, i, found.label, found.compared, found.counted);
  }
  return GP_SUCCESS;
}

  #define KMEANS_EACH(A, Find) KMeansEachLoop(A, Find)
#endif

#endif
