/* Squared distances by the definition. The sum of a point adds its features one after the other; the sums of eight points are independent, so that the
   processor overlaps them. Compiled without contraction, like all files that evaluate the definition. */
#include "kmeansexact.h"
#include "device/gpclones.h"

#define KMEANS_TEAM    8  /* number of points whose sums run together */
#define KMEANS_FEW     16 /* number of features below which the processor overlaps the sums of single points */
#define KMEANS_SQUARES 64 /* number of features whose squares are computed ahead */

/* Distances of KMEANS_TEAM points, rows of x. m: their centroids. */
#define KMEANS_EXACT(type) \
  GP_CLONES static void KMeansExactTeam_##type(int32_t d, const type *x, const double *const *m, double *sum) \
  { \
    double square[KMEANS_TEAM][KMEANS_SQUARES]; \
\
    for (int32_t p = 0; p < KMEANS_TEAM; p++) sum[p] = 0; \
    for (int32_t j = 0; j < d; j += KMEANS_SQUARES) { \
      const int32_t count = d - j < KMEANS_SQUARES ? d - j : KMEANS_SQUARES; \
\
      for (int32_t p = 0; p < KMEANS_TEAM; p++) { \
        for (int32_t q = 0; q < count; q++) { \
          const double difference = (double)x[(int64_t)p * d + j + q] - m[p][j + q]; \
\
          square[p][q] = difference * difference; \
        } \
      } \
      for (int32_t q = 0; q < count; q++) \
        for (int32_t p = 0; p < KMEANS_TEAM; p++) sum[p] += square[p][q]; \
    } \
  }
KMEANS_EXACT(float)
KMEANS_EXACT(double)

/* The distance of one point. */
#define KMEANS_EXACT_ONE(type) \
  static inline double KMeansExactOne_##type(int32_t d, const type *x, const double *m) \
  { \
    double sum = 0; \
\
    for (int32_t j = 0; j < d; j++) { \
      const double difference = (double)x[j] - m[j]; \
\
      sum += difference * difference; \
    } \
    return sum; \
  }
KMEANS_EXACT_ONE(float)
KMEANS_EXACT_ONE(double)

#define KMEANS_EXACT_ALL(type) \
  static void KMeansExactAll_##type(const KMeansData *A, const type *x, int32_t points, const int32_t label[], double compared[]) \
  { \
    int32_t p = 0; \
\
    if (A->d >= KMEANS_FEW) { \
      for (; p + KMEANS_TEAM <= points; p += KMEANS_TEAM) { \
        const double *m[KMEANS_TEAM]; \
\
        for (int32_t q = 0; q < KMEANS_TEAM; q++) m[q] = A->centroid + (int64_t)label[p + q] * A->d; \
        KMeansExactTeam_##type(A->d, x + (int64_t)p * A->d, m, compared + p); \
      } \
    } \
    for (; p < points; p++) compared[p] = KMeansExactOne_##type(A->d, x + (int64_t)p * A->d, A->centroid + (int64_t)label[p] * A->d); \
  }
KMEANS_EXACT_ALL(float)
KMEANS_EXACT_ALL(double)

void KMeansExact(const KMeansData *A, int64_t first, int32_t points, const int32_t label[], double compared[])
{
  if (A->single) KMeansExactAll_float(A, (const float *)A->value + first * A->d, points, label, compared);
  else KMeansExactAll_double(A, (const double *)A->value + first * A->d, points, label, compared);
}
