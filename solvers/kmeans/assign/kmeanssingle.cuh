/* The search of `direct`: scores in single precision. Scores here are the negative scores of kmeansframe.cuh.

   The centroids are in shared memory in groups of four, feature by feature, so that a load of 16 bytes broadcasts a feature of a group to all threads of a warp.
   A thread holds P points in registers. A score costs D fused multiply-adds. Then a thread finds the least score of the group, and updates the least score of
   all groups, its group, and the least score of the other groups. That costs two instructions for each centroid. */
#ifndef KMEANSSINGLE_CUH
#define KMEANSSINGLE_CUH

#include "kmeanswarp.cuh"

template <int D>
struct KMeansSingle {
  static constexpr int GROUP = 4;                                                                   /* number of centroids whose features are loaded together. A group often has all candidates of a point */
  static constexpr int UNIT = GROUP, FLOATS = GROUP * (D + 1);                                      /* UNIT: number of centroids in a unit of shared memory. FLOATS: its size. It has half the squared norms of the centroids, then their features */
  static constexpr int THREADS = D <= 2 ? 1024 : D == 3 ? 768 : D <= 8 ? 640 : D <= 24 ? 384 : 256; /* maximum number of threads of a block. A multiprocessor runs one block, whose threads share all registers */

  /* Number of points of a thread, because each load of centroids serves all points of a thread. With up to 8 features it is smaller than the registers permit: more
     threads hide the latency of the work beside the search. In double precision it is half as large, because shared memory holds fewer points. */
  template <class Real>
  static constexpr int POINTS = (D <= 8    ? 16
                                 : D <= 12 ? 24
                                 : D <= 16 ? 20
                                           : 16) /
                                (int)sizeof(Real);

  /* Writes the units `first` to `last` - 1 of the centroids to shared memory. Centroids with numbers from k on have infinite scores. */
  __device__ static void load(const KMeansData &A, KMeansDirectFrame<D> &F, int32_t first, int32_t last, float *centroids)
  {
    for (int32_t c = threadIdx.x; c < (last - first) * GROUP; c += blockDim.x) {
      const int32_t number = first * GROUP + c;
      float        *group  = centroids + c / GROUP * FLOATS + c % GROUP;

      if (number < A.k) group[0] = (float)KMeansDirectConvert(A, F, number, [=](int j, double value) { group[(j + 1) * GROUP] = (float)value; });
      else {
        group[0] = INFINITY;
        for (int j = 0; j < D; j++) group[(j + 1) * GROUP] = 0;
      }
    }
  }

  /* Sets F.term and F.again from F.most. Both are equal, because the search and the second evaluation compute the same scores. */
  __device__ static void bound(const KMeansData &A, KMeansDirectFrame<D> &F)
  {
    KMeansFrameNumbers numbers = {};

    numbers.largest = __uint_as_float(F.most);
    numbers.error   = KMeansFrameRounding(A.d, numbers.largest);
    KMeansFrameErrorTerms(&numbers, A.d, F.scale, KMeansFrameRelative(D), F.term);
    for (int t = 0; t < 3; t++) F.again[t] = F.term[t];
  }

  /* Number of centroid b of a group. */
  __device__ static int32_t centroid(int32_t group, int b) { return group * GROUP + b; }

  /* Computes the score of centroid c. centroids: all centroids. */
  __device__ static float score(const float *centroids, int32_t c, const float (&y)[D])
  {
    const float *m   = centroids + c / GROUP * FLOATS + c % GROUP;
    float        sum = m[0];

#pragma unroll
    for (int j = 0; j < D; j++) sum = __fmaf_rn(y[j], m[(j + 1) * GROUP], sum);
    return sum;
  }

  /* Returns the set of the centroids of a group whose scores are not above the limit, one bit for each. */
  __device__ static unsigned near(const float *centroids, int32_t group, const float (&y)[D], float limit)
  {
    const float4 *m = (const float4 *)(centroids + (int64_t)group * FLOATS), h = m[0];
    float         sum[GROUP] = {h.x, h.y, h.z, h.w};
    unsigned      set        = 0;

#pragma unroll
    for (int j = 0; j < D; j++) {
      const float4 v = m[j + 1];

      sum[0] = __fmaf_rn(y[j], v.x, sum[0]);
      sum[1] = __fmaf_rn(y[j], v.y, sum[1]);
      sum[2] = __fmaf_rn(y[j], v.z, sum[2]);
      sum[3] = __fmaf_rn(y[j], v.w, sum[3]);
    }
#pragma unroll
    for (int q = 0; q < GROUP; q++) set |= (unsigned)!(sum[q] > limit) << q;
    return set;
  }

  /* The points of a thread. y holds the negative coordinates, so that a score is a chain of fused multiply-adds. */
  template <class Real, int P>
  struct Tile {
    float   y[P][D];
    float   norm[P];
    float   best[P], second[P]; /* the least score of all groups, and the least score outside the group of `best` */
    int32_t group[P];           /* the group of `best` */

    __device__ void load(const KMeansDirectFrame<D> &F, int32_t d, KMeansDirectWarp<Real, D, P> *W)
    {
#pragma unroll
      for (int p = 0; p < P; p++) {
        float sum = 0;
        Real  x[D];

        W->get(32 * p + threadIdx.x % 32, x);
#pragma unroll
        for (int j = 0; j < D; j++) {
          y[p][j] = KMeansDirectCoordinate(F, j, x[j]);
          sum     = __fmaf_rn(y[p][j], y[p][j], sum);
        }
        norm[p] = KMeansFrameNormSingle(d, sum);
        best[p] = second[p] = INFINITY;
        group[p]            = 0;
      }
    }

    /* Searches the units `first` to `last` - 1, the first of which is at `centroids`. */
    __device__ void search(int32_t k, int32_t first, int32_t last, const float *centroids)
    {
      (void)k; /* the last unit is complete */
      for (int32_t g = first; g < last; g++, centroids += FLOATS) {
        const float4 *m = (const float4 *)centroids, h = m[0];
        float         sum[P][GROUP];

#pragma unroll
        for (int p = 0; p < P; p++) {
          sum[p][0] = h.x;
          sum[p][1] = h.y;
          sum[p][2] = h.z;
          sum[p][3] = h.w;
        }
#pragma unroll
        for (int j = 0; j < D; j++) {
          const float4 v = m[j + 1];

#pragma unroll
          for (int p = 0; p < P; p++) {
            sum[p][0] = __fmaf_rn(y[p][j], v.x, sum[p][0]);
            sum[p][1] = __fmaf_rn(y[p][j], v.y, sum[p][1]);
            sum[p][2] = __fmaf_rn(y[p][j], v.z, sum[p][2]);
            sum[p][3] = __fmaf_rn(y[p][j], v.w, sum[p][3]);
          }
        }
#pragma unroll
        for (int p = 0; p < P; p++) {
          const float least = fminf(fminf(sum[p][0], sum[p][1]), fminf(sum[p][2], sum[p][3]));

          second[p] = fminf(second[p], fmaxf(best[p], least));
          group[p]  = least < best[p] ? g : group[p];
          best[p]   = fminf(best[p], least);
        }
      }
    }

    /* Stores the largest score of a candidate of each point, and the group that contains all candidates, or -1 if there is none. */
    __device__ void store(const KMeansDirectFrame<D> &F, KMeansDirectWarp<Real, D, P> *W) const
    {
#pragma unroll
      for (int p = 0; p < P; p++) {
        const int   slot  = 32 * p + threadIdx.x % 32;
        const float limit = best[p] + KMeansDirectError(F.term, norm[p]);

        W->limit[slot] = limit;
        W->group[slot] = second[p] > limit ? group[p] : -1;
      }
    }
  };

  /* Returns the group that contains all candidates of a point, or -1 if there is none. limit: receives the largest score of a candidate. */
  template <class Real, int P>
  __device__ static int32_t decide(const KMeansData &, const KMeansDirectFrame<D> &, const KMeansDirectWarp<Real, D, P> *W, int slot, const float (&)[D], float *limit)
  {
    *limit = W->limit[slot];
    return W->group[slot];
  }
};

#endif
