/* Scores of sparse points on a GPU: centroids in half or single precision, error bounds, and the best scores of a point.

   The score of point x and centroid m is s = |m|^2 / 2 - x.m. Notation: f is its exact value for the stored |m|^2, z the number of nonzeros, u = 2^-24,
   h = 2^-150 the largest error of a result below the normal range of single precision, and |.| the Euclidean norm, so that the sum of all |x_j m_j| is at most
   |x| |m|. In single precision the relative errors that act on a product x_j m_j are those of rounding x_j and m_j, of at most z additions by fmaf(), and of the
   subtraction in s. The relative errors of |m|^2 / 2 are those of its rounding and of the subtraction. The underflow of x_j, m_j and of the sums adds at most
   2 h (z + 8) (|x| + |m| + 1). So

       |s - f| <= (g + q) |x| |m| + 4 u |m|^2 / 2 + 4 h (z + 8) (|x| + |m| + 1) = e,    g = (1 + 2^-10) (z + 8) u / (1 - (z + 8) u),

   with q = 0. In half precision a centroid is multiplied by a power of 2, its scale, such that its norm is at least 8 and below 16. Rounding adds a relative error
   of at most 2^-11 (1 + 2^-12) to m_j, and underflow at most 2^-25 before the scale is removed, or 2^-28 |m|. As z < 2^22 if g is small, and the sum of all |x_j| is at most
   sqrt(z) |x|, underflow adds less than 2^-17 |x| |m|. Therefore q = 2^-11 (1 + 2^-4). The factor 1 + 2^-10 in g covers errors of rounded m_j.

   The bound e has a reserve of three more roundings of each product. It covers the roundings of s - e and of s + e, and the errors of the definition. The latter are far
   smaller, because the definition is in double precision. Then 2 (s - e) and 2 (s + e) are bounds on the value that the definition compares. Let U be the least s + e of all
   centroids. The label by the definition is a centroid with s - e <= U. Usually there is only one such centroid. If a bound may overflow, or g is not small, the
   interval of the centroid is infinite. */
#ifndef KMEANSSPARSE_CUH
#define KMEANSSPARSE_CUH

#include "solvers/kmeans/kmeanstotals.cuh"

#include <cuda_fp16.h>

/* Bounds on the scores of a point, over all centroids so far. */
struct alignas(16) KMeansLeaders {
  float   upper;         /* least upper bound on a score */
  float   least, second; /* the two least lower bounds */
  int32_t label;         /* centroid of the least lower bound */
};

/* Norms of a centroid. */
struct alignas(16) KMeansHalf {
  float square;  /* |m|^2 / 2, or 0 for the cosine metric */
  float norm;    /* upper bound on |m|, at least KMEANS_SPARSE_LEAST */
  float unscale; /* 1 over the scale */
};

#define KMEANS_SPARSE_LEAST 0x1p-90f /* a centroid with a smaller norm has the scale of this norm */

struct KMeansSparse {
  KMeansData     data;
  int            halved;        /* 1: half precision, 0: single precision */
  int32_t        width, panels; /* number of centroids of a panel, and number of panels */
  int32_t        panel;         /* the panel of this launch */
  int32_t        points;        /* number of points that a group of lanes takes one after another */
  void          *feature;       /* [panels][d][width] the centroids, float or __half; 0 beyond the last one */
  KMeansHalf    *half;          /* [panels][width] */
  KMeansLeaders *leaders;       /* [n] leaders over the previous panels; only if there are several panels */
  int32_t       *many;          /* [1] number of long points, NULL: there are none */
  int32_t       *longer;        /* [n] numbers of the long points */
};

/* The bound e of a point is norm |m| + 4 u |m|^2 / 2 + constant. */
struct KMeansSparseError {
  float size; /* upper bound on |x|; infinite if g is not small */
  float norm, constant;
};

/* Values of a feature of the centroids of a lane: 16 bytes with four floats. */
struct KMeansSparseFour {
  typedef float        Real;
  static constexpr int COUNT = 4;

  __device__ __forceinline__ static void get(const uint4 &words, float (&m)[COUNT])
  {
    m[0] = __uint_as_float(words.x);
    m[1] = __uint_as_float(words.y);
    m[2] = __uint_as_float(words.z);
    m[3] = __uint_as_float(words.w);
  }
};

/* Values of a feature of the centroids of a lane: 16 bytes with eight numbers of half precision. */
struct KMeansSparseEight {
  typedef __half       Real;
  static constexpr int COUNT = 8;

  __device__ __forceinline__ static void get(const uint4 &words, float (&m)[COUNT])
  {
    const uint32_t word[4] = {words.x, words.y, words.z, words.w};

#pragma unroll
    for (int w = 0; w < 4; w++) {
      const float2 two = __half22float2(*(const __half2 *)&word[w]);

      m[2 * w]     = two.x;
      m[2 * w + 1] = two.y;
    }
  }
};

/* Inner products of a point with the centroids of a lane. The centroids are multiplied by their scales. */
template <int COUNT>
struct KMeansSparseSums {
  float dot[COUNT];
};

/* Returns the scale of centroid c: a power of 2 in half precision, 1 in single precision. */
__device__ __forceinline__ static float KMeansSparseScale(const KMeansSparse &S, int32_t c)
{
  const KMeansData &A      = S.data;
  const double      square = A.cosine || c >= A.k ? 1.0 : A.square[c];
  const int         norm   = ((int)((uint64_t)__double_as_longlong(square) >> 52 & 0x7ff) - 1023) >> 1; /* 2^norm <= |m| < 2^(norm + 1) */

  return S.halved ? __int_as_float((127 + 3 - (norm < -90 ? -90 : norm > 120 ? 120 : norm)) << 23) : 1.0f;
}

/* Converts the centroids to S.feature, and sets S.half. A block transposes 32 features of 32 centroids in shared memory, so that loads along features and stores along
   centroids are both contiguous. */
template <class Real>
__global__ static void KMeansSparseStoreKernel(KMeansSparse S)
{
  __shared__ float  tile[32][33];
  const KMeansData &A = S.data;
  const int         x = threadIdx.x % 32, y = threadIdx.x / 32, rows = blockDim.x / 32;
  const int32_t     feature = blockIdx.x * 32, centroid = blockIdx.y * 32, c = centroid + x;

  for (int r = y; r < 32; r += rows) tile[r][x] = centroid + r < A.k && feature + x < A.d ? (float)(A.centroid[(int64_t)(centroid + r) * A.d + feature + x] * KMeansSparseScale(S, centroid + r)) : 0.0f;
  __syncthreads();
  if (c >= S.panels * S.width) return;
  for (int r = y; r < 32; r += rows)
    if (feature + r < A.d) ((Real *)S.feature)[((int64_t)(c / S.width) * A.d + feature + r) * S.width + c % S.width] = (Real)tile[x][r];
  if (blockIdx.x == 0 && y == 0) {
    const double square = A.cosine || c >= A.k ? 0 : A.square[c];

    S.half[c].square  = (float)(square / 2);
    S.half[c].norm    = A.cosine ? 1.001f : fmaxf(__double2float_ru(sqrt(square) * (1 + 0x1p-20)), KMEANS_SPARSE_LEAST);
    S.half[c].unscale = 1 / KMeansSparseScale(S, c);
  }
}

/* Returns the constants of the bound e for point i with z nonzeros. */
__device__ static KMeansSparseError KMeansSparseBound(const KMeansSparse &S, int64_t i, int32_t z)
{
  const KMeansData &A = S.data;
  const float       g = __fmul_ru(__int2float_ru(z) + 8, 0x1p-24f), tiny = __fmul_ru(__int2float_ru(z) + 8, 0x1p-148f);
  KMeansSparseError E;

  E.size     = g > 0.25f ? INFINITY : A.cosine ? 1.001f : __fsqrt_ru(__double2float_ru(A.pointsquare[i] * (1 + 0x1p-20)));
  E.size     = E.size < 0x1p120f ? E.size : INFINITY;                                                                  /* products with scaled centroids do not overflow */
  E.norm     = __fmaf_ru(E.size, __fmaf_ru(__fmaf_ru(2 * g, g, g), 1 + 0x1p-10f, S.halved ? 0x1.1p-11f : 0.0f), tiny); /* the variable g is (z + 8) u here, and g (1 + 2 g) >= g / (1 - g) */
  E.constant = __fmaf_ru(E.size, tiny, tiny);
  return E;
}

/* Sets the lower and the upper bound on the score of a centroid. */
__device__ __forceinline__ static void KMeansSparseInterval(const KMeansSparseError &E, KMeansHalf half, float dot, float *lower, float *upper)
{
  const float score = half.square - dot * half.unscale, error = fmaf(E.norm, half.norm, fmaf(0x1p-22f, half.square, E.constant));
  const bool  finite = E.size * half.norm + half.square < 0x1p120f; /* false for NaN */

  *lower = finite ? score - error : -INFINITY;
  *upper = finite ? score + error : INFINITY;
}

/* Merges the leaders over other centroids into L. Of equal lower bounds the lowest label wins. */
__device__ __forceinline__ static void KMeansLeadersMerge(KMeansLeaders *L, const KMeansLeaders &other)
{
  const bool nearer = other.least < L->least || (other.least == L->least && other.label < L->label);

  L->second = nearer ? fminf(L->least, other.second) : fminf(L->second, other.least);
  L->least  = nearer ? other.least : L->least;
  L->label  = nearer ? other.label : L->label;
  L->upper  = fminf(L->upper, other.upper);
}

/* Returns the leaders of a panel, in all lanes of the group. dot: inner products with the centroids of this lane. */
template <int LANES, int COUNT>
__device__ __forceinline__ static KMeansLeaders KMeansSparseLead(const KMeansSparse &S, int32_t panel, const KMeansSparseError &E, const KMeansSparseSums<COUNT> &sums, unsigned mask)
{
  const int32_t     first = panel * S.width + COUNT * (threadIdx.x % LANES);
  KMeansLeaders     L     = {INFINITY, INFINITY, INFINITY, first};
  const KMeansHalf *half  = S.half + first;

#pragma unroll
  for (int q = 0; q < COUNT; q++) {
    KMeansLeaders one = {INFINITY, INFINITY, INFINITY, first + q};

    if (first + q < S.data.k) KMeansSparseInterval(E, half[q], sums.dot[q], &one.least, &one.upper);
    KMeansLeadersMerge(&L, one);
  }
#pragma unroll
  for (int step = LANES / 2; step > 0; step /= 2) {
    const KMeansLeaders other = {__shfl_xor_sync(mask, L.upper, step), __shfl_xor_sync(mask, L.least, step), __shfl_xor_sync(mask, L.second, step), __shfl_xor_sync(mask, L.label, step)};

    KMeansLeadersMerge(&L, other);
  }
  return L;
}

#endif
