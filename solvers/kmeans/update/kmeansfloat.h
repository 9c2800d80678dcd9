/* Sums of parts of the points in single precision on the host, for the updates rank, rankstable and onehot. The parts are added in double precision, and the
   integers of the results are added to the tally. */
#ifndef KMEANSFLOAT_H
#define KMEANSFLOAT_H

#include "solvers/kmeans/kmeanssteps.h"

/* Returns column q of point i: its weight, or a weighted feature. */
static inline float KMeansFloatValue(const KMeansData *A, int32_t i, int32_t q)
{
  const float weight = (float)KMeansWeight(A, i);

  return q ? weight * (float)KMeansValue(A, (int64_t)i * A->d + q - 1) : weight;
}

/* Adds sums [k][d + 1] to the tally. */
static inline void KMeansFloatAdd(const KMeansData *A, const double *sum)
{
  for (int32_t c = 0; c < A->k; c++) {
    const double *row = sum + (int64_t)c * (A->d + 1);

    A->tally[KMEANS_TALLY + c] += KMeansToFixed(row[0], A->mass.first);
    for (int32_t j = 0; j < A->d; j++) A->tally[KMEANS_TALLY + A->k + ((int64_t)c * A->d + j) * A->words] += KMeansToFixed(row[j + 1], A->feature[j].first);
  }
}

#endif
