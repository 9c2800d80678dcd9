/* The best scores of each point on a GPU, and the candidates that follow from them. Kernels that compute scores keep these for each point:

   - the greatest score and its centroid
   - the second greatest score and its centroid
   - an upper bound on all other scores

   A thread computes the scores of a group of centroids for a point. It writes the number of the centroid within the group to the lowest bits of the score,
   so that minima and maxima carry it along. This changes a score by less than 2^(bits - 23) times its value. */
#ifndef KMEANSBEST_CUH
#define KMEANSBEST_CUH

#include "kmeansframe.cuh"

#define KMEANS_ONE  -1 /* value of KMeansScores.second: the only candidate is `first` */
#define KMEANS_MANY -2 /* value of KMeansScores.second: more than two centroids are candidates, or the scores exclude none */

/* The points and centroids of a kernel that computes scores, and its results. All arrays are device memory. */
typedef struct {
  KMeansData           A;
  KMeansFrame          F;
  KMeansFrameCentroids C;
  double               relative; /* r in kmeansframe.cuh */
  const int32_t       *points;   /* numbers of the points, or NULL: all points */
  const int32_t       *many;     /* [1] number of `points` */
  int32_t             *first;    /* [n] candidate */
  int32_t             *second;   /* [n] another candidate, or KMEANS_ONE or KMEANS_MANY */
  int32_t             *list;     /* [n] the points with KMEANS_MANY, in any order */
  int32_t             *count;    /* [1] number of these points */
} KMeansScores;

/* Best scores of a thread for a point, as in KMeansBest. `group` has the numbers of the groups of the two best centroids. The lowest bits of their scores are the
   numbers of these centroids within the groups. */
typedef struct {
  float   score[3];
  int32_t group[2];
} KMeansBestGroups;

/* Best scores of a point. */
typedef struct {
  float   score[3]; /* descending; score[2] is an upper bound on all other scores */
  int32_t c[2];     /* the centroids of score[0] and score[1] */
} KMeansBest;

/* Returns the score with `place` in its lowest BITS bits. */
template <int BITS>
__device__ static inline float KMeansMark(float score, int place)
{
#ifdef __CUDA_ARCH__
  int marked;

  asm("lop3.b32 %0, %1, %2, %3, 0xea;" : "=r"(marked) : "r"(__float_as_int(score)), "r"(~((1 << BITS) - 1)), "r"(place)); /* one instruction. The compiler would emit two for a mask and a place that are constants */
  return __int_as_float(marked);
#else
  return __int_as_float((__float_as_int(score) & ~((1 << BITS) - 1)) | place);
#endif
}

/* Merges the scores of COUNT centroids, a power of 2, of group `group` into the best scores. KMeansMark() has marked the scores. */
template <int COUNT>
__device__ static inline void KMeansBestAdd(KMeansBestGroups &B, float (&score)[COUNT], int32_t group)
{
  float most[COUNT / 2], next[COUNT / 2];

#pragma unroll
  for (int p = 0; p < COUNT / 2; p++) {
    most[p] = fmaxf(score[2 * p], score[2 * p + 1]);
    next[p] = fminf(score[2 * p], score[2 * p + 1]);
  }
#pragma unroll
  for (int half = COUNT / 4; half > 0; half /= 2) {
#pragma unroll
    for (int p = 0; p < half; p++) {
      next[p] = fmaxf(fminf(most[p], most[p + half]), fmaxf(next[p], next[p + half]));
      most[p] = fmaxf(most[p], most[p + half]);
    }
  }
  {
    const bool    better = most[0] > B.score[0];
    const float   loser = fminf(most[0], B.score[0]), other = better ? next[0] : B.score[1];
    const int32_t which = better ? B.group[0] : group, owner = better ? group : B.group[1];

    B.score[2] = fmaxf(fmaxf(fminf(most[0], B.score[1]), B.score[2]), next[0]); /* next[0] bounds the scores of the group other than most[0]. If next[0] becomes the second score, the bound equals that score */
    B.score[0] = fmaxf(most[0], B.score[0]);
    B.group[0] = better ? group : B.group[0];
    B.score[1] = fmaxf(loser, other);
    B.group[1] = loser > other ? which : owner;
  }
}

/* Merges the best scores Y of other centroids into X. */
__device__ static inline void KMeansBestMerge(KMeansBest &X, const KMeansBest &Y)
{
  const bool       swap = Y.score[0] > X.score[0];
  const KMeansBest U = swap ? Y : X, V = swap ? X : Y;
  const bool       both = V.score[0] > U.score[1];

  X.score[0] = U.score[0];
  X.c[0]     = U.c[0];
  X.score[1] = both ? V.score[0] : U.score[1];
  X.c[1]     = both ? V.c[0] : U.c[1];
  X.score[2] = both ? fmaxf(U.score[1], V.score[1]) : fmaxf(U.score[2], V.score[0]);
}

/* Merges the best scores of `lanes` adjacent lanes, a power of 2. All of these lanes receive the result. */
template <int lanes>
__device__ static inline void KMeansBestReduce(KMeansBest &X)
{
#pragma unroll
  for (int half = 1; half < lanes; half *= 2) {
    KMeansBest Y;

#pragma unroll
    for (int s = 0; s < 3; s++) Y.score[s] = __shfl_xor_sync(0xffffffffu, X.score[s], half);
#pragma unroll
    for (int s = 0; s < 2; s++) Y.c[s] = __shfl_xor_sync(0xffffffffu, X.c[s], half);
    KMeansBestMerge(X, Y);
  }
}

/* Returns the score below which a centroid is excluded. The error bound with the norms of all centroids is computed first. If it leaves several candidates, a bound without
   far centroids (kmeansframe.cuh) may exclude more. */
__device__ static inline double KMeansBestLimit(const KMeansScores &S, const KMeansBest &X, double norm, double rounding)
{
  const double           M = S.F.numbers->largest, D = S.F.numbers->error;
  const KMeansFramePoint point = {S.A.d, KMeansFrameScale(S.F.numbers, S.A.single), norm, rounding, S.relative};
  double                 limit = (double)X.score[0] - 2 * KMeansFrameError(&point, M, D);

  if (!((double)X.score[1] < limit) && X.c[0] < S.A.k && D < HUGE_VAL) {
    const double reach = KMeansFrameReach(&point, S.C.halved, X.score[0], S.C.half[X.c[0]]);

    if (reach < M) limit = (double)X.score[0] - 2 * KMeansFrameError(&point, reach, fmin(D, KMeansFrameCentroidRounding(S.C.halved, S.A.d, reach)));
  }
  return limit;
}

/* Stores the candidates of point i that its best scores leave. norm, rounding: N and X in kmeansframe.cuh. All lanes of a warp must call it; lanes without a point pass i < 0. */
__device__ static inline void KMeansDecide(const KMeansScores &S, int32_t i, const KMeansBest &X, double norm, double rounding)
{
  const double   limit = KMeansBestLimit(S, X, norm, rounding);
  const bool     one = X.c[0] < S.A.k && (double)X.score[1] < limit, two = X.c[0] < S.A.k && X.c[1] < S.A.k && (double)X.score[2] < limit;
  const bool     many  = i >= 0 && !one && !two;
  const unsigned votes = __ballot_sync(0xffffffffu, many), lane = threadIdx.x % 32;
  int32_t        at = 0;

  if (votes && lane == 0) at = atomicAdd(S.count, __popc(votes));
  at = __shfl_sync(0xffffffffu, at, 0) + __popc(votes & ((1u << lane) - 1));
  if (many) S.list[at] = i;
  if (i >= 0) {
    S.first[i]  = X.c[0];
    S.second[i] = one ? KMEANS_ONE : two ? X.c[1] : KMEANS_MANY;
  }
}

/* Loads four values of a row of `count` values, from number j on. Values beyond the row are set to those of `centre`, so that their coordinates in the frame are 0. vector: true if
   rows begin at multiples of 16 bytes and have a length that is a multiple of 4. */
template <class Real>
__device__ static inline void KMeansLoadFour(Real (&v)[4], const Real *row, int32_t j, int32_t count, bool vector, const Real *centre)
{
  constexpr int WIDE = 16 / sizeof(Real);

  if (vector && j < count) {
    int4 words[4 / WIDE];

#pragma unroll
    for (int w = 0; w < 4 / WIDE; w++) words[w] = __ldg((const int4 *)(row + j) + w);
    memcpy(v, words, sizeof(v));
  } else {
#pragma unroll
    for (int e = 0; e < 4; e++) v[e] = j + e < count ? __ldg(row + j + e) : centre[j + e];
  }
}

/* Converts a panel to shared memory: features `from` to from + width - 1 of `rows` points, whose places in S.points begin at `place`. Eight lanes share a
   point. store(row, j, y) stores four coordinates and returns the sum of the squares of their rounding errors. The sums of the squares of the coordinates and
   of their rounding errors go to square[row] and error[row] if `sum` is set; panels with from > 0 add to them. centre: shared memory of `width` values.
   Points and features that do not exist have the coordinate 0. width is a multiple of 4. */
template <class Real, class Store>
__device__ static inline void KMeansConvertPanel(const KMeansScores &S, int64_t place, int64_t many, int rows, int32_t from, int32_t width, Real *centre, bool sum, float *square, float *error, Store store)
{
  const int     lane = threadIdx.x % 32, part = 4 * (lane % 8), warp = threadIdx.x / 32, warps = blockDim.x / 32;
  const int32_t d      = S.A.d;
  const bool    vector = d % 4 == 0 && (uintptr_t)S.A.value % 16 == 0;
  const Real    scale  = (Real)KMeansFrameScale(S.F.numbers, S.A.single);

  __syncthreads(); /* threads may still read the previous panel */
  for (int32_t j = threadIdx.x; j < width; j += blockDim.x) centre[j] = from + j < d ? (Real)S.F.centre[from + j] : 0;
  __syncthreads();
  for (int first = 8 * warp; first < rows; first += 8 * warps) {
    const Real *x[2];
    int32_t     count[2];
    float       squares[2] = {0, 0}, errors[2] = {0, 0};

#pragma unroll
    for (int p = 0; p < 2; p++) {
      const int64_t at = place + first + 4 * p + lane / 8, i = at < many ? (S.points ? S.points[at] : at) : 0;

      x[p]     = (const Real *)S.A.value + i * d + from;
      count[p] = at < many ? d - from : 0;
    }
    for (int32_t q = part; q < width; q += 128) {
      Real v[2][4][4];

#pragma unroll
      for (int p = 0; p < 2; p++) {
#pragma unroll
        for (int u = 0; u < 4; u++) {
          if (q + 32 * u < width) KMeansLoadFour(v[p][u], x[p], q + 32 * u, count[p], vector, centre);
        }
      }
#pragma unroll
      for (int p = 0; p < 2; p++) {
#pragma unroll
        for (int u = 0; u < 4; u++) {
          float y[4];

          if (q + 32 * u < width) {
#pragma unroll
            for (int e = 0; e < 4; e++) {
              y[e]       = KMeansFrameCoordinate(v[p][u][e], centre[q + 32 * u + e], scale);
              squares[p] = fmaf(y[e], y[e], squares[p]);
            }
            errors[p] += store(first + 4 * p + lane / 8, q + 32 * u, y);
          }
        }
      }
    }
#pragma unroll
    for (int p = 0; p < 2; p++) {
      const int row = first + 4 * p + lane / 8;

#pragma unroll
      for (int half = 1; half < 8; half *= 2) {
        squares[p] += __shfl_xor_sync(0xffffffffu, squares[p], half);
        errors[p] += __shfl_xor_sync(0xffffffffu, errors[p], half);
      }
      if (sum && lane % 8 == 0) {
        square[row] = from ? square[row] + squares[p] : squares[p];
        error[row]  = from ? error[row] + errors[p] : errors[p];
      }
    }
  }
  __syncthreads();
}

#endif
