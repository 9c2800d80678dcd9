/* Assignment by its definition: every distance of every point. One thread a point. */
#include "solvers/kmeans/assign/kmeanseach.h"

GP_INLINE KMeansFound KMeansBruteFind(const KMeansData *A, int64_t i)
{
  double        least;
  const int32_t label = KMeansFindNearest(A, i, &least);

  return (KMeansFound){label, least, A->k};
}

GP_EXTERN GpErr GP_IMPL(KMeansAssign_brute)(const KMeansData *A)
{
  return KMEANS_EACH(A, KMeansBruteFind);
}
