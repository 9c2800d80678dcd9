/* Exact assignment by scores in single precision: kmeansscreen.h has the method and the proof of its bound. */
#include "kmeansscreen.h"
#include "kmeansexact.h"
#include "solvers/kmeans/kmeansbounds.h"

#include <float.h>
#include <stdlib.h>

#define KMEANS_HALF   (KMEANS_GROUP / 2)
#define KMEANS_MEDIAN 63 /* largest number of centroids in a median */
#define KMEANS_RANGE  48 /* e is such that the largest |m'_j| is below 2^KMEANS_RANGE: distances of 2^-61 to 2^60 have useful scores */

typedef float KMeansFloat __attribute__((vector_size(16)));

#if defined(__clang__)
  #define KMEANS_SHUFFLE(a, b, i, j, k, l) __builtin_shufflevector(a, b, i, j, k, l)
#else
  #define KMEANS_SHUFFLE(a, b, i, j, k, l) __builtin_shuffle(a, b, __extension__(int32_t __attribute__((vector_size(16)))){i, j, k, l})
#endif

/* The centroids, and the workspace of a block of points. */
typedef struct {
  const KMeansData         *A;
  const KMeansScoreKernels *kernels;
  int                       keep;
  int32_t                   tiles, strip; /* number of tiles of centroids, number of features in x */
  KMeansLimits              limits;
  double                    scale;  /* 2^e */
  void                     *centre; /* [d] in the precision of the points */
  float                    *m;      /* [tiles][d][KMEANS_TILE] the centroids; infinite beyond the last one */
  float                    *x;      /* [KMEANS_BLOCK / KMEANS_GROUP][strip][KMEANS_GROUP]; the last strip may have fewer features */
  float                    *score;  /* [tiles, or 1 if !keep][KMEANS_TILE][KMEANS_BLOCK] */
  double                   *norm;   /* [k] norms of the centroids in m */
  float                     least[KMEANS_BLOCK], second[KMEANS_BLOCK];
  double                    nearest[KMEANS_BLOCK]; /* norms of the centroids `label` */
  double                    limit[KMEANS_BLOCK], compared[KMEANS_BLOCK];
  int32_t                   label[KMEANS_BLOCK];
} KMeansScreenData;

static void *KMeansScreenAlloc(size_t bytes)
{
  void *p;

  return posix_memalign(&p, 64, bytes ? bytes : 1) ? NULL : p;
}

static GpErr KMeansScreenCreate(const KMeansData *A, int keep, KMeansScreenData *S)
{
  S->A       = A;
  S->kernels = KMeansGetScoreKernels();
  S->keep    = keep;
  S->tiles   = (A->k + KMEANS_TILE - 1) / KMEANS_TILE;
  S->strip   = A->d < KMEANS_STRIP ? A->d : KMEANS_STRIP;
  S->centre  = KMeansScreenAlloc((size_t)A->d * sizeof(double));
  S->m       = (float *)KMeansScreenAlloc((size_t)S->tiles * A->d * KMEANS_TILE * sizeof(float));
  S->norm    = (double *)KMeansScreenAlloc((size_t)A->k * sizeof(double));
  S->x       = (float *)KMeansScreenAlloc((size_t)S->strip * KMEANS_BLOCK * sizeof(float));
  S->score   = (float *)KMeansScreenAlloc((size_t)(keep ? S->tiles : 1) * KMEANS_TILE * KMEANS_BLOCK * sizeof(float));
  return S->centre && S->m && S->norm && S->x && S->score ? GP_SUCCESS : GP_ERR_MEMORY;
}

static void KMeansScreenDestroy(KMeansScreenData *S)
{
  free(S->centre);
  free(S->m);
  free(S->norm);
  free(S->x);
  free(S->score);
  free(S);
}

/* The median of feature j of up to KMEANS_MEDIAN centroids: unlike a mean it ignores centroids far away. */
static double KMeansMedian(const KMeansData *A, int32_t j)
{
  const int32_t count = A->k < KMEANS_MEDIAN ? A->k : KMEANS_MEDIAN;
  double        sorted[KMEANS_MEDIAN];

  for (int32_t q = 0; q < count; q++) {
    const double value = A->centroid[(int64_t)q * A->k / count * A->d + j];
    int32_t      at    = q;

    for (; at > 0 && sorted[at - 1] > value; at--) sorted[at] = sorted[at - 1];
    sorted[at] = value;
  }
  return sorted[count / 2];
}

static double KMeansScreenCentre(const KMeansScreenData *S, int32_t j)
{
  return S->A->single ? (double)((float *)S->centre)[j] : ((double *)S->centre)[j];
}

/* Sets centre, scale, m and limits. The scale of points in single precision must be a normal number of single precision. */
static void KMeansScreenSetCentroids(KMeansScreenData *S)
{
  const KMeansData *A       = S->A;
  const double      g       = (A->d + 16) * 0x1p-24;
  const int         most    = A->single ? 126 : 1000;
  double            largest = 0;
  int               exponent;

  for (int32_t j = 0; j < A->d; j++) {
    const double median = KMeansMedian(A, j);

    if (A->single) ((float *)S->centre)[j] = fabs(median) < FLT_MAX ? (float)median : 0;
    else ((double *)S->centre)[j] = median;
  }
  for (int32_t c = 0; c < A->k; c++)
    for (int32_t j = 0; j < A->d; j++) {
      const double size = fabs(A->centroid[(int64_t)c * A->d + j] - KMeansScreenCentre(S, j));

      largest = size > largest ? size : largest;
    }
  (void)frexp(largest, &exponent);
  exponent = KMEANS_RANGE - exponent;
  exponent = exponent < -most ? -most : exponent > most ? most : exponent;
  S->scale = ldexp(1.0, exponent);
  for (int32_t c = 0; c < S->tiles * KMEANS_TILE; c++) {
    float *m   = S->m + (int64_t)(c / KMEANS_TILE) * A->d * KMEANS_TILE + c % KMEANS_TILE;
    double sum = 0;

    for (int32_t j = 0; j < A->d; j++) {
      const double value = c < A->k ? (A->centroid[(int64_t)c * A->d + j] - KMeansScreenCentre(S, j)) * S->scale : HUGE_VAL;

      m[j * KMEANS_TILE] = (float)value;
      sum += value * value;
    }
    if (c < A->k) S->norm[c] = sqrt(sum) * (1 + KMeansRelativeError(A->d));
  }
  S->limits = (KMeansLimits){
    .grow = g < 0.125 ? 1 + 2 * g : HUGE_VAL, .unit = 0x1p-24 * (1 + 0x1p-20), .score = A->d * 0x1p-124, .coordinate = sqrt(A->d) * 0x1p-124, .definition = 1 + 3 * KMeansRelativeError(A->d), .underflow = ldexp(sqrt(A->d), exponent - 511)};
}

/* Copies 16 points to a half of a group of x: `count` features, from feature j on. Squares of 4 points and 4 features are transposed in registers. The
   loops fill each cache line of x before the next. */
#define KMEANS_TRANSPOSE(type) \
  static void KMeansTranspose_##type(const KMeansScreenData *S, const type *value, int32_t points, int32_t j, int32_t count, float *x) \
  { \
    typedef type  Wide __attribute__((vector_size(4 * sizeof(type)), aligned(sizeof(type)))); \
    const int64_t d       = S->A->d; \
    const int32_t squares = count >= 4 ? points & ~3 : 0; \
    const type   *centre = (const type *)S->centre + j, scale = (type)S->scale; \
\
    for (int32_t next = 0; next < count; next += 4) { \
      const int32_t q = next + 4 <= count ? next : count - 4; /* the last square overlaps the one before */ \
      const Wide    m = squares ? *(const Wide *)(centre + q) : (Wide){0}; \
\
      for (int32_t p = 0; p < squares; p += 4) { \
        const type       *v  = value + p * d + q; \
        float            *to = x + q * KMEANS_GROUP + p; \
        const KMeansFloat a  = __builtin_convertvector((*(const Wide *)v - m) * scale, KMeansFloat); \
        const KMeansFloat b  = __builtin_convertvector((*(const Wide *)(v + d) - m) * scale, KMeansFloat); \
        const KMeansFloat e  = __builtin_convertvector((*(const Wide *)(v + 2 * d) - m) * scale, KMeansFloat); \
        const KMeansFloat f  = __builtin_convertvector((*(const Wide *)(v + 3 * d) - m) * scale, KMeansFloat); \
        const KMeansFloat s = KMEANS_SHUFFLE(a, b, 0, 4, 1, 5), t = KMEANS_SHUFFLE(e, f, 0, 4, 1, 5), u = KMEANS_SHUFFLE(a, b, 2, 6, 3, 7), w = KMEANS_SHUFFLE(e, f, 2, 6, 3, 7); \
\
        if (next % KMEANS_HALF == p) /* each cache line of the next points once; an address behind the last point does no harm */ \
          for (int l = 0; l < 4; l++) __builtin_prefetch((const void *)((uintptr_t)v + (KMEANS_HALF + l) * d * sizeof(type)), 0, 2); \
        *(KMeansFloat *)to                      = KMEANS_SHUFFLE(s, t, 0, 1, 4, 5); \
        *(KMeansFloat *)(to + KMEANS_GROUP)     = KMEANS_SHUFFLE(s, t, 2, 3, 6, 7); \
        *(KMeansFloat *)(to + 2 * KMEANS_GROUP) = KMEANS_SHUFFLE(u, w, 0, 1, 4, 5); \
        *(KMeansFloat *)(to + 3 * KMEANS_GROUP) = KMEANS_SHUFFLE(u, w, 2, 3, 6, 7); \
      } \
    } \
    for (int32_t p = squares; p < points; p++) \
      for (int32_t q = 0; q < count; q++) x[q * KMEANS_GROUP + p] = (float)((value[p * d + q] - centre[q]) * scale); \
  }
KMEANS_TRANSPOSE(float)
KMEANS_TRANSPOSE(double)

/* Copies `count` features of a block of points to x. */
static void KMeansScreenCopy(KMeansScreenData *S, int64_t first, int32_t points, int32_t j, int32_t count)
{
  for (int32_t p = 0; p < points; p += KMEANS_HALF) {
    const int32_t many = points - p < KMEANS_HALF ? points - p : KMEANS_HALF;
    const int64_t from = (first + p) * S->A->d + j;
    float        *x    = S->x + p / KMEANS_GROUP * count * KMEANS_GROUP + p % KMEANS_GROUP;

    if (S->A->single) KMeansTranspose_float(S, (const float *)S->A->value + from, many, j, count, x);
    else KMeansTranspose_double(S, (const double *)S->A->value + from, many, j, count, x);
  }
}

/* Sets least, second, label and limit of a block of points. Lanes without a point have finite values, which no function reads. */
static void KMeansScreenBlock(KMeansScreenData *S, int64_t first, int32_t points)
{
  const KMeansData *A = S->A;

  for (int32_t p = 0; p < KMEANS_BLOCK; p++) {
    S->least[p] = S->second[p] = INFINITY;
    S->label[p]                = 0;
  }
  for (int32_t j = 0; j < A->d; j += S->strip) {
    const int32_t count = A->d - j < S->strip ? A->d - j : S->strip;

    KMeansScreenCopy(S, first, points, j, count);
    for (int32_t t = 0; t < S->tiles; t++) {
      float *score = S->score + (S->keep ? (int64_t)t * KMEANS_TILE * KMEANS_BLOCK : 0);

      S->kernels->Score(count, S->x, S->m + ((int64_t)t * A->d + j) * KMEANS_TILE, !j, score);
      if (j + count == A->d) S->kernels->Reduce(t * KMEANS_TILE, score, S->least, S->second, S->label);
    }
  }
  for (int32_t p = 0; p < KMEANS_BLOCK; p++) S->nearest[p] = S->norm[S->label[p]];
  S->kernels->Limit(&S->limits, S->least, S->nearest, S->limit);
}

/* The score of point p of the block and centroid c. */
static float KMeansScreenScore(const KMeansScreenData *S, int32_t p, int32_t c)
{
  const float *m   = S->m + (int64_t)(c / KMEANS_TILE) * S->A->d * KMEANS_TILE + c % KMEANS_TILE;
  const float *x   = S->x + p / KMEANS_GROUP * S->strip * KMEANS_GROUP + p % KMEANS_GROUP;
  float        sum = 0;

  if (S->keep) return S->score[(int64_t)c * KMEANS_BLOCK + p];
  for (int32_t j = 0; j < S->A->d; j++) {
    const float difference = x[j * KMEANS_GROUP] - m[j * KMEANS_TILE];

    sum += difference * difference;
  }
  return sum;
}

/* Evaluates all other centroids of point p of the block, number i, whose scores do not exceed the limit. Their number goes to the tally. */
static void KMeansScreenRecheck(KMeansScreenData *S, int32_t p, int64_t i)
{
  const KMeansData *A     = S->A;
  const int32_t     least = S->label[p];

  for (int32_t c = 0; c < A->k; c++) {
    double compared;

    if (c == least || KMeansScreenScore(S, p, c) > S->limit[p]) continue;
    compared = KMeansCompare(A, i, c);
    A->tally[KMEANS_RECHECK]++;
    if (compared < S->compared[p] || (compared == S->compared[p] && c < S->label[p])) {
      S->compared[p] = compared;
      S->label[p]    = c;
    }
  }
}

/* What KMeansPut() does for each point of the block, with sums in registers. */
static void KMeansScreenPut(const KMeansScreenData *S, int64_t first, int32_t points)
{
  const KMeansData *A       = S->A;
  int32_t          *label   = A->label + first;
  int64_t           changed = 0, inertia = 0;

  for (int32_t p = 0; p < points; p++) {
    const double distance = KMeansDistance(A, first + p, S->compared[p]);

    changed += label[p] != S->label[p];
    inertia += KMeansToFixed(KMeansWeight(A, first + p) * distance, A->cost.first);
    label[p]               = S->label[p];
    A->distance[first + p] = distance;
  }
  A->tally[KMEANS_CHANGED] += changed;
  A->tally[KMEANS_INERTIA] += inertia;
  A->tally[KMEANS_COUNTED] += (int64_t)points * A->k;
}

GpErr KMeansScreen(const KMeansData *A, int keep)
{
  KMeansScreenData *S = (KMeansScreenData *)KMeansScreenAlloc(sizeof(*S));
  GpErr             err;

  if (!S) return GP_ERR_MEMORY;
  err = KMeansScreenCreate(A, keep, S);
  if (!err) {
    memset(S->x, 0, (size_t)S->strip * KMEANS_BLOCK * sizeof(float));
    KMeansScreenSetCentroids(S);
    for (int64_t first = 0; first < A->n; first += KMEANS_BLOCK) {
      const int32_t points = A->n - first < KMEANS_BLOCK ? (int32_t)(A->n - first) : KMEANS_BLOCK;

      KMeansScreenBlock(S, first, points);
      KMeansExact(A, first, points, S->label, S->compared);
      for (int32_t p = 0; p < points; p++)
        if (!(S->second[p] > S->limit[p])) KMeansScreenRecheck(S, p, first + p);
      KMeansScreenPut(S, first, points);
    }
  }
  KMeansScreenDestroy(S);
  return err;
}
