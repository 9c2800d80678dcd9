/* Exact assignment of dense points on the host, Euclidean metric: scores in single precision, then a second evaluation in double precision of every
   centroid whose score is near the least. Used by direct.c and tiled.c.

   The score of point x and centroid m is the sum of (x'_j - m'_j)^2 in single precision. Here x' = (x - centre) * 2^e and m' = (m - centre) * 2^e,
   rounded to single precision. `centre` is a median of centroids, so that points far from the origin lose no digits. The factor 2^e moves
   large and small values to a range in which scores neither overflow nor underflow.

   Notation: u = 2^-24, increased a little for the rounding errors in double precision; g = (d + 16) u bounds the relative error of a sum of d squares,
   with or without fused multiply-adds; t and h bound the absolute errors by underflow of a score and of x' or m'. |.| is the Euclidean norm. The
   rounding errors of x' and m' are at most u |x'| + h and u |m'| + h. All that follows is in units of x'.

   Let b be the centroid with the least score f_b, and r its exact distance from x. As |x'| <= |m'_b| + r,

       r <= sqrt(f_b (1 + 2g) + t) + u (2 |m'_b| + r) + 2h.

   Let c be a centroid whose distance by the definition is at most that of b. Its exact distance is at most R = r (1 + 3E) + 2H, where E and H^2 bound
   the relative error and the underflow of the definition. As |x'| + |m'_c| <= 2 |x'| + R <= 2 |m'_b| + 3 R, its score is at most

       T = (R + u (2 |m'_b| + 3 R) + 2h)^2 (1 + 2g) + t.

   So the label by the definition is one of the centroids with scores of at most T. Usually that is b alone. If T is not far below the largest number of
   single precision, or g is not small, T is infinite: all centroids are evaluated in double precision. Points whose x' overflows are such points. */
#ifndef KMEANSSCREEN_H
#define KMEANSSCREEN_H

#include "solvers/kmeans/kmeansdata.h"

#define KMEANS_BLOCK 64  /* number of points that are assigned together */
#define KMEANS_GROUP 32  /* number of points that lie side by side in memory: two vectors of AVX-512 */
#define KMEANS_TILE  4   /* number of centroids whose scores are in registers together */
#define KMEANS_STRIP 512 /* number of features of a block of points that are in the cache together */

/* The constants of the bound T. */
typedef struct {
  double grow;       /* 1 + 2g; infinite if g is not small */
  double unit;       /* u */
  double score;      /* t */
  double coordinate; /* h */
  double definition; /* 1 + 3E */
  double underflow;  /* H */
} KMeansLimits;

/* The functions in single precision, which are compiled for several instruction sets. Points lie in the lanes of a vector. In these arrays point p of the
   block has the index p.

   Score adds the squares of `count` features to the scores of a tile of centroids, or sets the scores if first is not 0. Shapes: x is [KMEANS_BLOCK /
   KMEANS_GROUP][count][KMEANS_GROUP], m is [count][KMEANS_TILE], score is [KMEANS_TILE][KMEANS_BLOCK]. x and score begin at multiples of 64 bytes.

   Reduce takes the centroids of a tile, whose first number is c, into the least score, its label, and the least score of all other centroids.

   Limit sets limit to T. norm: |m'_b| of each point. */
typedef struct {
  void (*Score)(int32_t count, const float *x, const float *m, int first, float *score);
  void (*Reduce)(int32_t c, const float *score, float *least, float *second, int32_t *label);
  void (*Limit)(const KMeansLimits *limits, const float *least, const double *norm, double *limit);
} KMeansScoreKernels;

const KMeansScoreKernels *KMeansGetScoreKernels(void); /* those of the widest vectors of this processor */

/* Assigns all points. keep: 1 to store the scores of a block of points with all centroids, which more than KMEANS_STRIP features require; 0 to store those
   of one tile of centroids. */
GpErr KMeansScreen(const KMeansData *A, int keep);

#endif
