/* A copy of dense points by columns. */
#include "solvers/kmeans/kmeanssteps.h"

GP_STEP(KMeansColumnStep)
{
  const KMeansData *A  = (const KMeansData *)args;
  const int64_t     at = i % A->n * A->d + i / A->n, to = i / A->n * A->stride + i % A->n;

  if (A->single) ((float *)A->column)[to] = ((const float *)A->value)[at];
  else ((double *)A->column)[to] = ((const double *)A->value)[at];
}

GP_EXTERN GpErr GP_IMPL(KMeansCopyColumns)(const KMeansData *A)
{
  return GP_EACH(A->dev, KMeansData, KMeansColumnStep, (int64_t)A->n * A->d, A);
}
