/* The frame of scores on a GPU: dense points and centroids, shifted and scaled, in single or half precision, for the Euclidean metric.

   A frame has a centre o and a scale s, a power of 2. Let x* = (x - o) s and m* = (m - o) s without rounding, and x', m' the rounded coordinates.
   |.| is the Euclidean norm. The centroid nearest to x has the greatest value of

       F(c) = x*.m*_c - |m*_c|^2 / 2 = (|x*|^2 - |x* - m*_c|^2) / 2.

   The score f(c) is F(c) as computed from x', m' and half(c), which is |m*_c|^2 / 2 in single precision. Any centre and any scale give exact labels. They
   affect the time alone, by the number of centroids with nearly equal scores.

   Error of a score. Let N >= |x*|, M >= |m*_c|, X >= |x' - x*| and D >= |m'_c - m*_c| for all centroids c. Then

       |x'.m'_c - x*.m*_c| <= |x' - x*| |m'_c| + |x*| |m'_c - m*_c| <= X (M + D) + N D,

   and P = (N + X) (M + D) + M^2 / 2 bounds the sum of the absolute values of all products and of half(c). Let r P be a bound on the errors of the additions,
   which depends on the kernel. Half(c) has the error 2^-24 M^2 / 2 <= 2^-24 P. Hence |f(c) - F(c)| <= e with

       e = X (M + D) + N D + (r + 2^-24) P + t,

   where t = d 2^-148 (1 + N + M) covers products that underflow.

   Error of the definition. Its squared distance has a relative error of at most E = (d + 4) 2^-53 and an absolute error of at most d 2^-1074 by underflow.
   Let a be the centroid that the definition chooses, and b any other. As |x* - m*_c| <= N + M,

       F(a) >= F(b) - E (N + M)^2 - s^2 d 2^-1074.

   So f(a) >= f(b) - 2 KMeansFrameError() for all b. A centroid is therefore excluded if its score is less than the greatest score minus 2 KMeansFrameError(). If the
   definition may overflow, that is if (N + M) / s is not below 2^500, KMeansFrameError() is infinite. If a coordinate overflows, it is infinite or NaN. As comparisons with
   NaN are false, tests must exclude a centroid only if a comparison is true.

   Far centroids. One centroid far from all others makes M large, and with it the error bound of all scores. But this centroid is no candidate for a point that is near
   another centroid. Let b be the centroid with the greatest score, and e_b the value of KMeansFrameError() with the norm of m*_b in the place of M. Then

       |x* - m*_b|^2 = |x*|^2 - 2 F(b) <= N^2 - 2 f(b) + 2 e_b.

   Let a be the centroid that the definition chooses. By the error of the definition, |x* - m*_a|^2 <= R^2 with

       R^2 = (N^2 - 2 f(b) + 2 e_b) (1 + 3 E) + 3 s^2 d 2^-1074.

   So |m*_a| <= N + R, and |m*_b| <= N + R too. The proof above needs M and D for a and b alone. Hence it holds for b with M = N + R, and a has a score of
   at least f(b) - 2 KMeansFrameError(). Distances to centroids beyond N + R may overflow. Then they are infinite, so that the definition does not choose
   these centroids. But all m' must be finite, because otherwise f(a) may be no number. */
#ifndef KMEANSFRAME_CUH
#define KMEANSFRAME_CUH

#include "solvers/kmeans/kmeanssteps.h"

#include <cuda_fp16.h>

/* Converted centroids: `rows` >= k centroids and `columns` >= d features. Coordinate j of centroid c is at c * rowstep + j * columnstep. The coordinates
   beyond k and d are 0. The value `half` of a centroid beyond k is KMEANS_FRAME_NONE, so that no other centroid has a lower score. */
typedef struct {
  void   *m; /* float, or __half if `halved` */
  float  *half;
  int     halved;
  int32_t rows, columns;
  int64_t rowstep, columnstep;
} KMeansFrameCentroids;

#define KMEANS_FRAME_NONE  0x1p126f
#define KMEANS_FRAME_RANGE 10 /* |m'_j| < 2^KMEANS_FRAME_RANGE. Half precision then holds coordinates of points that are 63 times as large. Its smallest normal number is at most 2^-23 of the largest |m'_j| */

GpErr KMeansFrameConvert(const KMeansData *A, const KMeansFrame *F, const KMeansFrameCentroids *C); /* sets C->m, C->half, and M and D of the frame */

/* Returns the scale s. For points in single precision it is a normal number of single precision. */
__device__ static inline double KMeansFrameScale(const KMeansFrameNumbers *numbers, int single)
{
  const int most     = single ? 126 : 1000;
  const int exponent = KMEANS_FRAME_RANGE + 1022 - (int)((uint64_t)__double_as_longlong(numbers->spread) >> 52 & 0x7ff); /* spread < 2^(RANGE - exponent) */
  const int clamped  = exponent < -most ? -most : exponent > most ? most : exponent;

  return __longlong_as_double((int64_t)(1023 + clamped) << 52);
}

/* Returns the coordinate x', in single precision. The difference from x* is at most u |x*| + 2^-149 with u = 2^-24 (1 + 2^-20): products with s are exact unless they
   underflow, and the difference is rounded in the precision of the points. */
__device__ static inline float KMeansFrameCoordinate(float x, float centre, float scale)
{
  return __fmul_rn(__fsub_rn(x, centre), scale);
}

__device__ static inline float KMeansFrameCoordinate(double x, double centre, double scale)
{
  return (float)__dmul_rn(__dsub_rn(x, centre), scale);
}

/* Returns a relative bound on the error of a sum of d products in single precision, in any order, with or without fused multiply-adds. The bound also covers 4 more
   operations. */
__host__ __device__ static inline double KMeansFrameRelative(int32_t d)
{
  const double g = (d + 8) * 0x1p-24;

  return g < 0.125 ? 1.25 * g : HUGE_VAL;
}

/* Returns N of a point. square: the sum of the squares of x'_j in single precision. */
__device__ static inline double KMeansFrameNorm(int32_t d, float square)
{
  return (sqrt((double)square * (1 + 2 * KMeansFrameRelative(d)) + d * 0x1p-148) + d * 0x1p-148) * (1 + 0x1p-21);
}

/* Returns X of a point whose coordinates are rounded to single precision. norm: N. */
__device__ static inline double KMeansFrameRounding(int32_t d, double norm)
{
  return 0x1p-24 * (1 + 0x1p-19) * norm + d * 0x1p-148;
}

/* A point in the frame, and the bound on the errors of additions. */
typedef struct {
  int32_t d;
  double  scale;    /* s */
  double  norm;     /* N */
  double  rounding; /* X */
  double  relative; /* r */
} KMeansFramePoint;

/* Returns half the difference of scores that excludes a centroid. */
__device__ static inline double KMeansFrameError(const KMeansFramePoint *point, double M, double D)
{
  const int32_t d    = point->d;
  const double  norm = point->norm, scale = point->scale, rounding = point->rounding, relative = point->relative;
  const double  P = (norm + rounding) * (M + D) + 0.5 * M * M, under = scale * 0x1p-537;
  const double  e = rounding * (M + D) + norm * D + (relative + 0x1p-24) * P + (d + 6) * 0x1p-53 * (norm + M) * (norm + M) + d * 0x1p-148 * (1 + norm + M) + d * under * under;

  return norm + M < scale * 0x1p500 ? e * (1 + 0x1p-40) : HUGE_VAL;
}

/* Returns D for centroids of norms up to M. Tensor cores may treat numbers below 2^-14, the smallest normal number of half precision, as 0. */
__device__ static inline double KMeansFrameCentroidRounding(int halved, int32_t d, double M)
{
  return halved ? 0x1p-11 * (1 + 0x1p-9) * M + sqrt((double)d) * (0x1p-14 + 0x1p-23) : 0x1p-24 * (1 + 0x1p-19) * M + d * 0x1p-147;
}

/* Returns N + R. score: f(b), the greatest score; half: value `half` of centroid b. The result is NaN if the scores are not finite. The terms 2^-40 cover the
   rounding errors of this function. Those of f(b) and of the centroid are small fractions of e_b. */
__device__ static inline double KMeansFrameReach(const KMeansFramePoint *point, int halved, double score, double half)
{
  const double norm = point->norm, own = sqrt(2 * (1 + 0x1p-20) * half + 0x1p-140), under = point->scale * 0x1p-537;
  const double e = KMeansFrameError(point, own, KMeansFrameCentroidRounding(halved, point->d, own));

  return norm + sqrt((norm * norm * (1 + 0x1p-40) - 2 * score + 2 * (1 + 0x1p-20) * e) * (1 + (point->d + 8) * 0x1p-51) + 4 * point->d * under * under) * (1 + 0x1p-40);
}

/* Sets the terms of twice KMeansFrameError() in single precision, for points whose coordinates are rounded to single precision. Twice the error is term[0] + N (term[1]
   + N term[2]), where N is KMeansFrameNormSingle(). The terms collect the powers of N, with (N + M)^2 <= 2 N^2 + 2 M^2. They are infinite if the definition may
   overflow for any N in the range of single precision. The factors 1 + 2^-9 cover the roundings in single precision. */
__device__ static inline void KMeansFrameErrorTerms(const KMeansFrameNumbers *numbers, int32_t d, double scale, double relative, float (&term)[3])
{
  const double M = numbers->largest, D = numbers->error, u = 0x1p-24 * (1 + 0x1p-19), r = relative + 0x1p-24, tiny = d * 0x1p-148, q = (d + 6) * 0x1p-53, under = scale * 0x1p-537;
  const double e[3] = {tiny * (M + D) * (1 + r) + r * 0.5 * M * M + 2 * q * M * M + tiny * (1 + M) + d * under * under, (u + r * (1 + u)) * (M + D) + D + tiny, 2 * q};

  for (int t = 0; t < 3; t++) term[t] = M + 0x1p130 < scale * 0x1p500 ? __double2float_ru(2 * (1 + 0x1p-9) * e[t]) : INFINITY;
}

/* Returns N of a point in single precision. square: the sum of the squares of x'_j in single precision. */
__device__ static inline float KMeansFrameNormSingle(int32_t d, float square)
{
  float root;

  asm("sqrt.approx.f32 %0, %1;" : "=f"(root) : "f"(__fmaf_rn(square, 1 + 0x1p-9f, d * 0x1p-146f))); /* its relative error is at most 2^-22, and it takes a third of the instructions of sqrtf() */
  return root * (1 + 0x1p-9f);
}

#endif
