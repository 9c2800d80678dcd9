/* Update by fixed-point sums. One thread a point; its features are added to the tally of its cluster by integer atomics. */
#include "solvers/kmeans/kmeanssteps.h"

GP_STEP(KMeansFixedStep)
{
  const KMeansData *A      = (const KMeansData *)args;
  const int32_t     c      = A->label[i];
  const double      weight = KMeansWeight(A, i);
  int64_t          *sum    = A->tally + KMEANS_TALLY + A->k + (int64_t)c * A->words * A->d;

  KMEANS_ADD(&A->tally[KMEANS_TALLY + c], KMeansToFixed(weight, A->mass.first));
  if (A->row) {
    for (int32_t e = A->row[i]; e < A->row[i + 1]; e++) KMeansAddFixed(sum + (int64_t)A->words * A->col[e], A->words, &A->feature[A->col[e]], weight * KMeansValue(A, e));
  } else {
    for (int32_t j = 0; j < A->d; j++) KMeansAddFixed(sum + (int64_t)A->words * j, A->words, &A->feature[j], weight * KMeansValue(A, i * A->d + j));
  }
}

GP_EXTERN GpErr GP_IMPL(KMeansUpdate_fixed)(const KMeansData *A)
{
  return GP_EACH(A->dev, KMeansData, KMeansFixedStep, A->n, A);
}
