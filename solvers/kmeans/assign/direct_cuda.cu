/* CUDA implementation of `direct`. kmeansdirect.cuh describes the method. */
#include "kmeansdirect.cuh"
#include "kmeansfew.h"
#include "kmeanssingle.cuh"

#define KMEANS_LEAN_FEATURES 8    /* largest number of features for KMeansSingleLean */
#define KMEANS_LEAN_CLUSTERS 32   /* with up to this number of clusters the search takes less time than the other work for a point */
#define KMEANS_LEAN_POINTS   4096 /* number of points of the warps of a multiprocessor: 16 warps of KMeansSingle have 256 points each */

int KMeansDirectFuses_CUDA(const KMeansData *A)
{
  return KMeansDirectFuses<KMeansSingle>(A);
}

/* Whether to use KMeansSingleLean: there are few clusters, or not enough points to give all warps of KMeansSingle some. */
static int KMeansDirectIsLean(const KMeansData *A)
{
  return A->d <= KMEANS_LEAN_FEATURES && (A->k <= KMEANS_LEAN_CLUSTERS || (double)A->n * (A->solves > 1 ? A->solves : 1) < (double)KMEANS_LEAN_POINTS * GpDevComputeUnits(A->dev));
}

extern "C" GpErr KMeansAssign_direct_CUDA(const KMeansData *A)
{
  if (A->n && KMeansFewIsPossible(A)) return KMeansFewAssign(A);
  return KMeansDirectIsLean(A) ? KMeansDirectAssign<KMeansSingleLean, KMEANS_LEAN_FEATURES>(A) : KMeansDirectAssign<KMeansSingle>(A);
}
