/* Hamerly (2010), Making k-means even faster: one lower bound for each point. One thread a point. */
#include "solvers/kmeans/kmeansbounds.h"

GP_EXTERN GpErr GP_IMPL(KMeansAssign_hamerly)(const KMeansData *A)
{
  return KMEANS_EACH(A, KMeansFindBounded);
}
