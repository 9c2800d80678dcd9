/* How far the centroids have moved, and how far they are from each other, for assignments with bounds. */
#include "solvers/kmeans/kmeansbounds.h"

/* Squared distance of two centroids, in arrays of rows of d. */
GP_INLINE double KMeansBetween(int32_t d, const double *a, const double *b)
{
  double sum = 0;

  for (int32_t j = 0; j < d; j++) sum += (a[j] - b[j]) * (a[j] - b[j]);
  return sum;
}

GP_STEP(KMeansMovedStep)
{
  const KMeansData *A     = (const KMeansData *)args;
  const double      error = KMeansRelativeError(A->d), *m = A->centroid + i * A->d;
  double            least = HUGE_VAL;

  A->bounds.moved[i] = sqrt(KMeansBetween(A->d, m, A->bounds.old + i * A->d)) * (1 + error);
  for (int32_t c = 0; c < A->k; c++) {
    const double between = c == i ? HUGE_VAL : KMeansBetween(A->d, m, A->centroid + (int64_t)c * A->d);

    if (between < least) least = between;
  }
  A->bounds.half[i] = least < HUGE_VAL ? 0.5 * sqrt(least) * (1 - error) : HUGE_VAL;
}

GP_STEP(KMeansGroupMovedStep)
{
  const KMeansData *A    = (const KMeansData *)args;
  const int64_t     from = i * A->bounds.group, to = A->k - from < A->bounds.group ? A->k : from + A->bounds.group;
  double            most = 0;

  for (int64_t c = from; c < to; c++) most = A->bounds.moved[c] > most ? A->bounds.moved[c] : most;
  A->bounds.groupmoved[i] = most;
}

GP_STEP(KMeansLargestStep)
{
  const KMeansData *A    = (const KMeansData *)args;
  double            most = 0;

  for (int32_t c = 0; c < A->k && A->row && !A->cosine; c++) most = A->square[c] > most ? A->square[c] : most;
  A->bounds.largest[i] = most;
}

GP_EXTERN GpErr GP_IMPL(KMeansMoveBounds)(const KMeansData *A)
{
  GpErr err = GP_EACH(A->dev, KMeansData, KMeansMovedStep, A->k, A);

  if (!err) err = GP_EACH(A->dev, KMeansData, KMeansGroupMovedStep, KMeansGroups(A->k, A->bounds.group), A);
  if (!err) err = GP_EACH(A->dev, KMeansData, KMeansLargestStep, 1, A);
  return err;
}
