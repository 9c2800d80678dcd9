/* Ding et al. (2015), Yinyang k-means: a lower bound for each point and group of centroids. The groups hold consecutive numbers. One thread a point. */
#include "solvers/kmeans/kmeansbounds.h"

GP_EXTERN GpErr GP_IMPL(KMeansAssign_yinyang)(const KMeansData *A)
{
  return KMEANS_EACH(A, KMeansFindBounded);
}
