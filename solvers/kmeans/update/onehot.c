/* Update by a matrix product on the host: the k x n matrix of indicators, which has a 1 where the point has the label, times the n x (d+1) matrix of weights and
   weighted features. All nkd products are computed, for a tile of points and one cluster at a time. */
#include "device/gpclones.h"
#include "kmeansfloat.h"

enum {
  KMEANS_ONEHOT_POINTS = 64, /* number of points of a tile */
  KMEANS_ONEHOT_TILES  = 64  /* number of tiles whose sums are added in single precision */
};

/* Adds the products of a tile. x: [points][columns] the columns of the points; sum: [k][columns] */
GP_CLONES static void KMeansOnehotTile(const KMeansData *A, int32_t first, int32_t points, int32_t columns, const float *x, float *sum)
{
  for (int32_t c = 0; c < A->k; c++, sum += columns) {
    for (int32_t p = 0; p < points; p++) {
      const float indicator = A->label[first + p] == c;

      for (int32_t q = 0; q < columns; q++) sum[q] += indicator * x[(int64_t)p * columns + q];
    }
  }
}

GpErr KMeansUpdate_onehot_Host(const KMeansData *A)
{
  const int32_t columns = A->d + 1, part = KMEANS_ONEHOT_POINTS * KMEANS_ONEHOT_TILES;
  const int64_t size = (int64_t)A->k * columns;
  const size_t  tile = (size_t)KMEANS_ONEHOT_POINTS * columns * sizeof(float);
  float        *x = NULL, *partial = NULL;
  double       *sum = NULL;
  GpErr         err = GpDevAlloc(A->dev, tile, &x);

  if (!err) err = GpDevAlloc(A->dev, size * sizeof(*partial), &partial);
  if (!err) err = GpDevAlloc(A->dev, size * sizeof(*sum), &sum);
  if (!err) memset(sum, 0, size * sizeof(*sum));
  for (int32_t first = 0; !err && first < A->n; first += KMEANS_ONEHOT_POINTS) {
    const int32_t points = A->n - first < KMEANS_ONEHOT_POINTS ? A->n - first : KMEANS_ONEHOT_POINTS;

    if (first % part == 0) memset(partial, 0, size * sizeof(*partial));
    for (int32_t p = 0; p < points; p++)
      for (int32_t q = 0; q < columns; q++) x[(int64_t)p * columns + q] = KMeansFloatValue(A, first + p, q);
    KMeansOnehotTile(A, first, points, columns, x, partial);
    if (first + points == A->n || (first + points) % part == 0)
      for (int64_t e = 0; e < size; e++) sum[e] += (double)partial[e];
  }
  if (!err) KMeansFloatAdd(A, sum);
  GpDevFree(A->dev, &sum, size * sizeof(*sum));
  GpDevFree(A->dev, &partial, size * sizeof(*partial));
  GpDevFree(A->dev, &x, tile);
  return err;
}
