/* The grid of the assignment `cells`, for dense points with few features and the Euclidean metric.

   A grid divides the box of all points into cells. For each cell a list holds the centroids that may be nearest to some point of the cell. The definition is evaluated
   for the centroids of the list, in ascending order. The test is that of the filtering algorithm (Kanungo et al., 2002):

   Let a point x of the cell be y + s, where y is the centre of the cell and |s_j| <= w_j / 2. For centroids c and z

       |x - c|^2 - |x - z|^2 = |y - c|^2 - |y - z|^2 - 2 s.(c - z) >= |y - c|^2 - |y - z|^2 - sum of w_j |c_j - z_j|.

   If the right side is positive, z is nearer than c to every point of the cell. Here z is the centroid nearest to the centre. Let C = |y - c|^2, Z = |y - z|^2 <= C and
   W = sum of w_j^2. Then |x - c|^2 <= 2 C + 2 W, and the sum of all terms of the right side is at most 4 C + 4 W. The rounding errors of the right side and those of the two
   distances of the definition are therefore below 2^-48 (C + W), for up to 4 features. The list leaves c out only if the right side exceeds 2^-40 (C + W) + 2^-1000;
   the last term covers underflow. A distance that overflows is infinite or no number, which leaves no centroid out.

   The number of the cell is computed in single precision. The position of a point in units of cells has an error of at most 2^-10, as there are at most 2^12 cells in a
   feature. Cells are therefore widened by KMEANS_CELLS_PAD on both sides, and by the rounding error of their centre. Points beyond the first or the last cell belong to that cell;
   as the box contains all points, they are beyond it by rounding errors only. */
#ifndef KMEANSCELLS_H
#define KMEANSCELLS_H

#include "solvers/kmeans/kmeanssteps.h"

#define KMEANS_CELLS_PAD 0x1p-8 /* in units of cells */

/* The position of a value above the lowest one, in single precision. */
GP_INLINE float KMeansCellPlaceSingle(float x, float low, float inverse)
{
  return (x - low) * inverse;
}

GP_INLINE float KMeansCellPlaceDouble(double x, double low, float inverse)
{
  return (float)(x - low) * inverse;
}

/* Appends the index in a feature to the number of a cell. place: the position; if it is not a number, the index is 0. last: the largest index, 2^bits - 1. */
GP_INLINE int32_t KMeansCellAppend(int32_t cell, float place, float last, int32_t bits)
{
  return cell << bits | (int32_t)fminf(fmaxf(place, 0), last);
}

/* Returns the number of the cell of point i. */
GP_INLINE int32_t KMeansCellFind(const KMeansData *A, const KMeansGrid *G, int64_t i)
{
  int32_t cell = 0;

  for (int32_t j = 0; j < A->d; j++) {
    const int64_t at    = i * A->d + j;
    const float   place = A->single ? KMeansCellPlaceSingle(((const float *)A->value)[at], (float)G->low[j], G->inverse[j]) : KMeansCellPlaceDouble(((const double *)A->value)[at], G->low[j], G->inverse[j]);

    cell = KMeansCellAppend(cell, place, (float)((1 << G->bits[j]) - 1), G->bits[j]);
  }
  return cell;
}

/* Sets the centre and the widths of a cell. Returns the sum of the squares of the widths. */
GP_INLINE double KMeansCellBox(const KMeansGrid *G, int32_t d, int32_t cell, double centre[], double width[])
{
  double square = 0;

  for (int32_t j = d - 1; j >= 0; j--) {
    const double index = cell & ((1 << G->bits[j]) - 1);

    cell >>= G->bits[j];
    centre[j] = G->low[j] + (index + 0.5) * G->width[j];
    width[j]  = G->width[j] * (1 + 2 * KMEANS_CELLS_PAD) + 0x1p-48 * fmax(fabs(G->low[j]), fabs(G->high[j]));
    square += width[j] * width[j];
  }
  return square;
}

GP_INLINE double KMeansCellSquare(int32_t d, const double *centre, const double *m)
{
  double sum = 0;

  for (int32_t j = 0; j < d; j++) sum += (centre[j] - m[j]) * (centre[j] - m[j]);
  return sum;
}

/* Returns whether centroid m may be nearest to a point of a cell. C, Z: squared distances of m and of the nearest centroid z to the centre. square: the result of
   KMeansCellBox(). */
GP_INLINE int KMeansCellKeeps(int32_t d, const double *m, const double *z, double C, double Z, const double *width, double square)
{
  double reach = 0;

  for (int32_t j = 0; j < d; j++) reach += width[j] * fabs(m[j] - z[j]);
  return !(C - Z - reach > 0x1p-40 * (C + square) + 0x1p-1000);
}

#endif
