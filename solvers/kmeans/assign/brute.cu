/* Assignment by its definition: every distance of every point. One thread a point. */
#include "solvers/kmeans/kmeanssteps.h"

GP_STEP(KMeansBruteStep)
{
  const KMeansData *A = (const KMeansData *)args;
  double            least;
  const int32_t     label = KMeansFindNearest(A, i, &least);

  KMeansPut(A, i, label, least, A->k);
}

GP_EXTERN GpErr GP_IMPL(KMeansAssign_brute)(const KMeansData *A)
{
  return GP_EACH(A->dev, KMeansData, KMeansBruteStep, A->n, A);
}
