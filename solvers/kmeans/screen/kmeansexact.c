/* Squared distances by the definition. The sum of a point adds its features one after the other; the sums of eight points are independent, so that the
   processor overlaps them. Compiled without contraction, like all files that evaluate the definition. */
#include "kmeansexact.h"
#include "device/gpclones.h"

#define KMEANS_TEAM 8 /* number of points whose sums run together, in the lanes of two vectors */
#define KMEANS_FEW  4 /* number of features below which points are computed one by one */

/* The compiler splits vectors that are longer than the registers. */
typedef double KMeansFour __attribute__((vector_size(4 * sizeof(double))));

#if defined(__clang__)
  #define KMEANS_SHUFFLE(a, b, i, j, k, l) __builtin_shufflevector(a, b, i, j, k, l)
#else
  #define KMEANS_SHUFFLE(a, b, i, j, k, l) __builtin_shuffle(a, b, __extension__(int64_t __attribute__((vector_size(32)))){i, j, k, l})
#endif

/* Distances of KMEANS_TEAM points, rows of x. m: their centroids. The squares of 4 points and 4 features are transposed in registers. */
#define KMEANS_EXACT(type) \
  GP_CLONES static void KMeansExactTeam_##type(int64_t d, const type *x, const double *const *m, double *sum) \
  { \
    typedef type   Load __attribute__((vector_size(4 * sizeof(type)), aligned(sizeof(type)))); \
    typedef double Centroid __attribute__((vector_size(4 * sizeof(double)), aligned(sizeof(double)))); \
    const int64_t  whole                 = d & ~(int64_t)3; \
    KMeansFour     sums[KMEANS_TEAM / 4] = {{0}}; \
\
    for (int64_t j = 0; j < whole; j += 4) { \
      for (int t = 0; t < KMEANS_TEAM / 4; t++) { \
        KMeansFour s[4], a, b, e, f; \
\
        for (int p = 0; p < 4; p++) { \
          s[p] = __builtin_convertvector(*(const Load *)(x + (4 * t + p) * d + j), KMeansFour) - *(const Centroid *)(m[4 * t + p] + j); \
          s[p] *= s[p]; \
        } \
        a = KMEANS_SHUFFLE(s[0], s[1], 0, 4, 2, 6); \
        b = KMEANS_SHUFFLE(s[0], s[1], 1, 5, 3, 7); \
        e = KMEANS_SHUFFLE(s[2], s[3], 0, 4, 2, 6); \
        f = KMEANS_SHUFFLE(s[2], s[3], 1, 5, 3, 7); \
        sums[t] += KMEANS_SHUFFLE(a, e, 0, 1, 4, 5); \
        sums[t] += KMEANS_SHUFFLE(b, f, 0, 1, 4, 5); \
        sums[t] += KMEANS_SHUFFLE(a, e, 2, 3, 6, 7); \
        sums[t] += KMEANS_SHUFFLE(b, f, 2, 3, 6, 7); \
      } \
    } \
    for (int p = 0; p < KMEANS_TEAM; p++) { \
      sum[p] = sums[p / 4][p % 4]; \
      for (int64_t j = whole; j < d; j++) { \
        const double difference = (double)x[p * d + j] - m[p][j]; \
\
        sum[p] += difference * difference; \
      } \
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
