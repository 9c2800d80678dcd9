/* Assignment by its definition: every distance of every point. One thread a point. */
#include "solvers/kmeans/kmeanssteps.h"

GP_STEP(KMeansBruteStep)
{
  const KMeansData *A     = (const KMeansData *)args;
  double            least = KMeansCompare(A, i, 0);
  int32_t           label = 0;

  for (int32_t c = 1; c < A->k; c++) {
    const double compared = KMeansCompare(A, i, c);

    if (compared < least) {
      least = compared;
      label = c;
    }
  }
  KMeansPut(A, i, label, least, A->k);
}

GP_EXTERN GpErr GP_IMPL(KMeansAssign_brute)(const KMeansData *A)
{
  return GP_EACH(A->dev, KMeansData, KMeansBruteStep, A->n, A);
}
