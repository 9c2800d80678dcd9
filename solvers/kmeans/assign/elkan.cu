/* Elkan (2003), Using the triangle inequality to accelerate k-means: a lower bound for each point and centroid. One thread a point. */
#include "solvers/kmeans/kmeansbounds.h"

GP_EXTERN GpErr GP_IMPL(KMeansAssign_elkan)(const KMeansData *A)
{
  return KMEANS_EACH(A, KMeansFindBounded);
}
