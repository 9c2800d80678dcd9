/* The new centroids of an iteration on the host. kmeansmeans_cuda.cu is the CUDA implementation. */
#include "kmeansmean.h"

GpErr KMeansMoveMeans_Host(const KMeansData *A, int keep, KMeansMoved *moved)
{
  const int64_t *mass                     = A->reduced + KMEANS_TALLY;
  double         lanes[KMEANS_MEAN_LANES] = {0};

  memcpy(moved->total, A->reduced, sizeof(moved->total));
  moved->empty = 0;
  for (int32_t c = 0; c < A->k; c++) moved->empty += !mass[c];
  if (moved->empty && !keep) return GP_SUCCESS;
  for (int32_t c = 0; c < A->k; c++)
    if (mass[c]) lanes[c % KMEANS_MEAN_LANES] += KMeansMeanMove(A, A->feature, A->reduced, A->k, c, A->centroid);
  for (int half = KMEANS_MEAN_LANES / 2; half > 0; half /= 2)
    for (int l = 0; l < half; l++) lanes[l] += lanes[l + half];
  moved->square = lanes[0];
  return A->square && A->row && !A->cosine ? KMeansSquares_Host(A) : GP_SUCCESS;
}
