/* Adds a point to the sums of its cluster on the host, for the updates that add all points. */
#ifndef KMEANSADD_H
#define KMEANSADD_H

#include "solvers/kmeans/kmeanssteps.h"

static inline void KMeansAddPoint(const KMeansData *A, int32_t i)
{
  const int32_t c      = A->label[i];
  const double  weight = KMeansWeight(A, i);
  int64_t      *sum    = A->tally + KMEANS_TALLY + A->k + (int64_t)c * A->words * A->d;

  A->tally[KMEANS_TALLY + c] += KMeansToFixed(weight, A->mass.first);
  if (A->row) {
    for (int32_t e = A->row[i]; e < A->row[i + 1]; e++) KMeansAddFixed(sum + (int64_t)A->words * A->col[e], A->words, &A->feature[A->col[e]], weight * KMeansValue(A, e));
  } else {
    for (int32_t j = 0; j < A->d; j++) KMeansAddFixed(sum + (int64_t)A->words * j, A->words, &A->feature[j], weight * KMeansValue(A, (int64_t)i * A->d + j));
  }
}

#endif
