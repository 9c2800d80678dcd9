/* Hamerly (2010), Making k-means even faster: one lower bound for each point. One thread a point. */
#include "solvers/kmeans/kmeansbounds.h"

GP_STEP(KMeansHamerlyStep)
{
  KMeansAssignBounded((const KMeansData *)args, i);
}

GP_EXTERN GpErr GP_IMPL(KMeansAssign_hamerly)(const KMeansData *A)
{
  return GP_EACH(A->dev, KMeansData, KMeansHamerlyStep, A->n, A);
}
