/* Update of the sums of the previous pass, on the host: a point whose label changed moves from the sums of its old cluster to those of the new one. The
   sums are integers, so they have the bits of a sum over all points. */
#include "solvers/kmeans/kmeanssteps.h"

/* Moves v, a weighted value of feature j, between sums. from: NULL if the point was in no sum. */
static inline void KMeansChangedMove(const KMeansData *A, double v, int32_t j, int64_t *from, int64_t *to)
{
  const KMeansFixed *scale = &A->feature[j];
  const int64_t      at = (int64_t)A->words * j, first = KMeansToFixed(v, scale->first);

  to[at] += first;
  if (from) from[at] -= first;
  if (A->words > 1) {
    const int64_t second = KMeansToFixedRest(v, first, scale);

    to[at + 1] += second;
    if (from) from[at + 1] -= second;
  }
}

GpErr KMeansUpdate_changed_Host(const KMeansData *A)
{
  int64_t      *mass = A->tally + KMEANS_TALLY, *sum = mass + A->k;
  const int64_t size = (int64_t)A->words * A->d;

  for (int32_t i = 0; i < A->n; i++) {
    const int32_t old = A->summed[i], now = A->label[i];
    const double  weight = KMeansWeight(A, i);
    const int64_t fixed  = KMeansToFixed(weight, A->mass.first);
    int64_t      *from = old < 0 ? NULL : sum + old * size, *to = sum + now * size;

    if (old == now) continue;
    mass[now] += fixed;
    if (from) mass[old] -= fixed;
    if (A->row) {
      for (int32_t e = A->row[i]; e < A->row[i + 1]; e++) KMeansChangedMove(A, weight * KMeansValue(A, e), A->col[e], from, to);
    } else {
      for (int32_t j = 0; j < A->d; j++) KMeansChangedMove(A, weight * KMeansValue(A, (int64_t)i * A->d + j), j, from, to);
    }
    A->summed[i] = now;
  }
  return GP_SUCCESS;
}
