/* Arithmetic of k-means that the host and CUDA implementations share. The files that include it are compiled without contraction of a product and
   a sum, so that both round alike. */
#ifndef KMEANSSTEPS_H
#define KMEANSSTEPS_H

#include "kmeansdata.h"

#include <math.h>
#include <string.h>

#if defined(__CUDACC__)
  #define KMEANS_ADD(p, v) ((void)atomicAdd((unsigned long long *)(p), (unsigned long long)(v)))
  #define KMEANS_MIN(p, v) ((void)(*(volatile int64_t *)(p) > (v) && atomicMin((long long *)(p), (long long)(v))))
#else
  #define KMEANS_ADD(p, v) ((void)(*(p) += (v)))
  #define KMEANS_MIN(p, v) ((void)(*(p) > (v) ? *(p) = (v) : 0))
#endif

/* The points with the centroids, labels, tally, frame and loop of solve s. The arrays of A hold those of all solves of a batch, one solve after another. */
GP_INLINE KMeansData KMeansOfSolve(const KMeansData *A, int64_t s)
{
  const int64_t sums = KMeansTallySize(A->k, A->d, A->words);
  KMeansData    own  = *A;

  own.centroid += s * A->k * A->d;
  own.label += s * A->n;
  own.tally += s * sums;
  own.reduced += s * sums;
  own.frame.centre += s * A->d;
  own.frame.numbers += s;
  own.loop += s;
  own.solves = 1;
  return own;
}

/* A random number in (0, 1): the finaliser of SplitMix64 (Steele, Lea and Flood, 2014) of stream and point. */
GP_INLINE double KMeansRandom(uint64_t stream, uint64_t point)
{
  uint64_t z = stream + 0x9e3779b97f4a7c15 * (point + 1);

  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  z ^= z >> 31;
  return ((double)(z >> 11) + 0.5) * 0x1p-53;
}

GP_INLINE double KMeansValue(const KMeansData *A, int64_t at)
{
  return A->single ? (double)((const float *)A->value)[at] : ((const double *)A->value)[at];
}

GP_INLINE double KMeansWeight(const KMeansData *A, int64_t i)
{
  return A->weight ? A->weight[i] : 1.0;
}

GP_INLINE int64_t KMeansToFixed(double value, double scale)
{
#if defined(__CUDACC__)
  /* The sum with 1.5 2^52 is rounded as llrint() rounds, and its lowest bits are the integer. A GPU converts doubles to integers slowly. */
  const double product = value * scale, shifted = product + 0x1.8p52;

  if (fabs(product) < 0x1p51) return __double_as_longlong(shifted) - __double_as_longlong(0x1.8p52);
#endif
  return (int64_t)llrint(value * scale);
}

/* The reciprocal of a power of 2 whose exponent is between -1022 and 1022. It is exact, and costs no division. */
GP_INLINE double KMeansReciprocal(double power)
{
  int64_t bits;

  memcpy(&bits, &power, sizeof(bits));
  bits = ((int64_t)2046 << 52) - bits; /* the exponent field is the exponent plus 1023 */
  memcpy(&power, &bits, sizeof(bits));
  return power;
}

/* The second integer of a value whose first one is known. */
GP_INLINE int64_t KMeansToFixedRest(double value, int64_t first, const KMeansFixed *scale)
{
  return KMeansToFixed(value - (double)first * KMeansReciprocal(scale->first), scale->second);
}

/* Inner product of point i and centroid c. */
GP_INLINE double KMeansDot(const KMeansData *A, int64_t i, int32_t c)
{
  const double *m   = A->centroid + (int64_t)c * A->d;
  double        sum = 0;

  if (A->row) {
    for (int32_t e = A->row[i]; e < A->row[i + 1]; e++) sum += KMeansValue(A, e) * m[A->col[e]];
  } else {
    for (int32_t j = 0; j < A->d; j++) sum += KMeansValue(A, i * A->d + j) * m[j];
  }
  return sum;
}

/* The value by which point i is compared with centroid c: the squared distance, up to a term that is the same for all centroids, or minus the inner product.
   The centroid with the least value gets the point. */
GP_INLINE double KMeansCompare(const KMeansData *A, int64_t i, int32_t c)
{
  const double *m   = A->centroid + (int64_t)c * A->d;
  double        sum = 0;

  if (A->cosine) return -KMeansDot(A, i, c);
  if (A->row) return A->square[c] - 2 * KMeansDot(A, i, c);
  for (int32_t j = 0; j < A->d; j++) {
    const double difference = KMeansValue(A, i * A->d + j) - m[j];

    sum += difference * difference;
  }
  return sum;
}

/* |m|^2 from its partial sums. */
GP_INLINE double KMeansSquareOfParts(const double part[KMEANS_SQUARE_PARTS])
{
  double sum = part[0];

  for (int t = 1; t < KMEANS_SQUARE_PARTS; t++) sum += part[t];
  return sum;
}

/* The label of point i by its definition, from the distances of all centroids. */
GP_INLINE int32_t KMeansFindNearest(const KMeansData *A, int64_t i, double *compared)
{
  int32_t label = 0;

  *compared = KMeansCompare(A, i, 0);
  for (int32_t c = 1; c < A->k; c++) {
    const double now = KMeansCompare(A, i, c);

    if (now < *compared) {
      *compared = now;
      label     = c;
    }
  }
  return label;
}

/* The distance of point i to a centroid whose KMeansCompare() is known. */
GP_INLINE double KMeansDistance(const KMeansData *A, int64_t i, double compared)
{
  const double sum = A->cosine ? 1 + compared : A->row ? A->pointsquare[i] + compared : compared;

  return sum > 0 ? sum : 0; /* rounding may give a small negative number */
}

/* Stores label and distance of point i, and adds them to the totals of the tally. counted: number of distances evaluated for this point. */
GP_INLINE void KMeansPut(const KMeansData *A, int64_t i, int32_t label, double compared, int64_t counted)
{
  const double distance = KMeansDistance(A, i, compared);

  if (A->label[i] != label) KMEANS_ADD(&A->tally[KMEANS_CHANGED], 1);
  KMEANS_ADD(&A->tally[KMEANS_INERTIA], KMeansToFixed(KMeansWeight(A, i) * distance, A->cost.first));
  KMEANS_ADD(&A->tally[KMEANS_COUNTED], counted);
  A->label[i]    = label;
  A->distance[i] = distance;
}

/* Adds v to a sum of one or two integers. */
GP_INLINE void KMeansAddFixed(int64_t *sum, int words, const KMeansFixed *scale, double v)
{
  const int64_t first = KMeansToFixed(v, scale->first);

  KMEANS_ADD(sum, first);
  if (words > 1) KMEANS_ADD(sum + 1, KMeansToFixedRest(v, first, scale));
}

#endif
