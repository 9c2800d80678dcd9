/* Parts of the kernel of `direct`: centroids and points in shared memory, points in registers, and the evaluation of candidates by the definition.
   direct_cuda.cu describes the method. */
#ifndef KMEANSDIRECT_CUH
#define KMEANSDIRECT_CUH

#include "solvers/kmeans/screen/kmeansframe.cuh"

#define KMEANS_DIRECT_GROUP 4 /* number of centroids whose features are loaded together */

/* Number of points of a thread. It is as large as the registers permit, because each load of centroids serves all points of a thread. In double precision it is
   half as large, because shared memory holds fewer points. */
#define KMeansDirectPoints(Real, D) ((D) <= 8 ? 32 / (int)sizeof(Real) : (D) <= 12 ? 24 / (int)sizeof(Real) : (D) <= 16 ? 20 / (int)sizeof(Real) : 16 / (int)sizeof(Real))

/* Maximum number of threads of a block. A multiprocessor runs one block, so that these threads share all its registers. */
#define KMeansDirectThreads(D) ((D) <= 4 ? 512 : (D) <= 24 ? 384 : 256)

/* Number of floats of a group of centroids in shared memory: half the squared norms, then the features. */
#define KMeansDirectRow(D) (KMEANS_DIRECT_GROUP * ((D) + 1))

/* Number of features of a point when it is added to the sums: KMeansTallyAddPoint() takes a multiple of four. */
#define KMeansDirectWidth(D) (((D) + 3) / 4 * 4)

/* Centre and scale in shared memory. */
template <int D>
struct KMeansDirectFrame {
  double scale, centre[D];
  float  scalesingle, centresingle[D];
};

/* The points of a warp in shared memory. Slot s holds point first + s. Features beyond the last one are 0. If the number of vectors in a row is a power of 2,
   the vectors are permuted, so that the threads of a warp read different banks. */
template <class Real, int D, int P>
struct KMeansDirectWarp {
  static constexpr int VECTOR = sizeof(Real) == 4 ? (D % 4 ? D % 2 ? 1 : 2 : 4) : D % 2 ? 1 : 2; /* number of values in a vector of at most 16 bytes */
  static constexpr int COUNT  = D / VECTOR;                                                      /* number of vectors in a row */

  struct alignas(VECTOR * sizeof(Real)) Vector {
    Real v[VECTOR];
  };

  Vector   row[32 * P * COUNT];
  float    limit[32 * P]; /* a centroid with a score above it is not a candidate; later the bits of the new label */
  int32_t  group[32 * P]; /* the group of all candidates, -1: several groups have candidates; later the old label, -1: none */
  uint16_t slot[32 * P];  /* list of the slots of points that move from one sum to another */

  __device__ Vector &at(int slot, int vector)
  {
    constexpr int permuted = (COUNT & (COUNT - 1)) == 0 && COUNT <= 8 && VECTOR * sizeof(Real) == 16;

    return row[slot * COUNT + (permuted ? vector ^ (slot * COUNT / 8 & (COUNT - 1)) : vector)];
  }

  /* Copies points from global memory. All threads of the warp must call it. */
  __device__ void load(const KMeansData &A, int64_t first)
  {
    const int   lane = threadIdx.x % 32, points = A.n - first < 32 * P ? (int)(A.n - first) : 32 * P;
    const Real *from = (const Real *)A.value + first * A.d;

    __syncwarp();
    if (A.d == D) {
#pragma unroll
      for (int q = 0; q < P * COUNT; q++) {
        const int e = lane + 32 * q;

        if (e < points * COUNT) at(e / COUNT, e % COUNT) = ((const Vector *)from)[e];
      }
    } else {
      for (int slot = lane; slot < points; slot += 32)
        for (int j = 0; j < D; j++) at(slot, j / VECTOR).v[j % VECTOR] = j < A.d ? from[(int64_t)slot * A.d + j] : 0;
    }
    __syncwarp();
  }

  /* Sets x to the features of a point. Features from D on are 0. */
  template <class Value, int WIDTH>
  __device__ void get(int slot, Value (&x)[WIDTH])
  {
#pragma unroll
    for (int q = 0; q < COUNT; q++) {
      const Vector part = at(slot, q);

#pragma unroll
      for (int v = 0; v < VECTOR; v++) x[VECTOR * q + v] = (Value)part.v[v];
    }
#pragma unroll
    for (int j = D; j < WIDTH; j++) x[j] = 0;
  }
};

/* Returns half the squared norm of the shifted and scaled centroid c, before its coordinates are rounded. Raises *most to the bits of an upper bound on the norm; the
   bits of nonnegative numbers are ordered like the numbers. Stores the rounded coordinate j to m[j * KMEANS_DIRECT_GROUP] unless m is NULL. Coordinates beyond the
   last one are 0. */
template <int D>
__device__ static double KMeansDirectConvert(const KMeansData &A, const KMeansDirectFrame<D> &F, int32_t c, float *m, unsigned *most)
{
  double square = 0;

#pragma unroll
  for (int j = 0; j < D; j++) {
    const double value = j < A.d ? (A.centroid[(int64_t)c * A.d + j] - F.centre[j]) * F.scale : 0;

    if (m) m[j * KMEANS_DIRECT_GROUP] = (float)value;
    square += value * value;
  }
  atomicMax(most, __float_as_uint(__double2float_ru(sqrt(square) * (1 + 0x1p-40) + 0x1p-140)));
  return square / 2;
}

/* Writes the centroids of groups `first` to `last` - 1 to shared memory. Centroids beyond the last one have infinite scores. */
template <int D>
__device__ static void KMeansDirectLoad(const KMeansData &A, const KMeansDirectFrame<D> &F, int32_t first, int32_t last, float *centroids, unsigned *most)
{
  for (int32_t c = threadIdx.x; c < (last - first) * KMEANS_DIRECT_GROUP; c += blockDim.x) {
    const int32_t number = first * KMEANS_DIRECT_GROUP + c;
    float        *group  = centroids + c / KMEANS_DIRECT_GROUP * KMeansDirectRow(D) + c % KMEANS_DIRECT_GROUP;

    if (number < A.k) group[0] = (float)KMeansDirectConvert(A, F, number, group + KMEANS_DIRECT_GROUP, most);
    else {
      group[0] = INFINITY;
      for (int j = 0; j < D; j++) group[(j + 1) * KMEANS_DIRECT_GROUP] = 0;
    }
  }
}

/* The negative coordinate -x' of feature j. */
template <int D>
__device__ static inline float KMeansDirectCoordinate(const KMeansDirectFrame<D> &F, int j, float x)
{
  return -KMeansFrameCoordinate(x, F.centresingle[j], F.scalesingle);
}

template <int D>
__device__ static inline float KMeansDirectCoordinate(const KMeansDirectFrame<D> &F, int j, double x)
{
  return -KMeansFrameCoordinate(x, F.centre[j], F.scale);
}

/* The points of a thread. y holds the negative coordinates, so that a score is a chain of fused multiply-adds. */
template <int D, int P>
struct KMeansDirectTile {
  float   y[P][D];
  float   norm[P];
  float   best[P], second[P]; /* the least score of all groups, and the least score outside the group of `best` */
  int32_t group[P];           /* the group of `best` */

  template <class Real>
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

  __device__ void search(int32_t first, int32_t groups, const float *centroids)
  {
    for (int32_t g = 0; g < groups; g++, centroids += KMeansDirectRow(D)) {
      const float4 *m = (const float4 *)centroids, h = m[0];
      float         score[P][KMEANS_DIRECT_GROUP];

#pragma unroll
      for (int p = 0; p < P; p++) {
        score[p][0] = h.x;
        score[p][1] = h.y;
        score[p][2] = h.z;
        score[p][3] = h.w;
      }
#pragma unroll
      for (int j = 0; j < D; j++) {
        const float4 v = m[j + 1];

#pragma unroll
        for (int p = 0; p < P; p++) {
          score[p][0] = __fmaf_rn(y[p][j], v.x, score[p][0]);
          score[p][1] = __fmaf_rn(y[p][j], v.y, score[p][1]);
          score[p][2] = __fmaf_rn(y[p][j], v.z, score[p][2]);
          score[p][3] = __fmaf_rn(y[p][j], v.w, score[p][3]);
        }
      }
#pragma unroll
      for (int p = 0; p < P; p++) {
        const float least = fminf(fminf(score[p][0], score[p][1]), fminf(score[p][2], score[p][3]));

        second[p] = fminf(second[p], fmaxf(best[p], least));
        group[p]  = least < best[p] ? first + g : group[p];
        best[p]   = fminf(best[p], least);
      }
    }
  }
};

/* A point whose candidates are evaluated by the definition. */
template <int D>
struct KMeansDirectPlace {
  double  x[D];
  float   y[D];
  int32_t label;
  double  compared;

  /* Computes KMeansCompare() of centroid c, and keeps c if it is the nearest so far. Features beyond the last one add 0, which changes no sum. */
  __device__ void evaluate(const KMeansData &A, int32_t c)
  {
    const double *m   = A.centroid + (int64_t)c * A.d;
    double        sum = 0;

    if (A.d == D && D % 2 == 0) { /* rows are aligned to a vector */
#pragma unroll
      for (int j = 0; j < D / 2; j++) {
        const double2 two = ((const double2 *)m)[j];
        const double  a = x[2 * j] - two.x, b = x[(2 * j + 1) % D] - two.y;

        sum += a * a;
        sum += b * b;
      }
    } else {
#pragma unroll
      for (int j = 0; j < D; j++) {
        const double difference = x[j] - (j < A.d ? m[j] : 0);

        sum += difference * difference;
      }
    }
    if (sum < compared || label == INT32_MAX) {
      compared = sum;
      label    = c;
    }
  }

  /* Evaluates the centroids of a group in shared memory whose scores are not above the limit. Returns the number of these centroids. */
  __device__ int evaluateGroup(const KMeansData &A, int32_t group, const float *centroids, float limit)
  {
    const float4 *m = (const float4 *)centroids, h = m[0];
    float         score[KMEANS_DIRECT_GROUP] = {h.x, h.y, h.z, h.w};
    unsigned      near                       = 0;

#pragma unroll
    for (int j = 0; j < D; j++) {
      const float4 v = m[j + 1];

      score[0] = __fmaf_rn(y[j], v.x, score[0]);
      score[1] = __fmaf_rn(y[j], v.y, score[1]);
      score[2] = __fmaf_rn(y[j], v.z, score[2]);
      score[3] = __fmaf_rn(y[j], v.w, score[3]);
    }
#pragma unroll
    for (int q = 0; q < KMEANS_DIRECT_GROUP; q++) near |= (unsigned)!(score[q] > limit) << q;
    return evaluateMany(A, group, near);
  }

  /* Evaluates the centroids of a group whose bits in `near` are set. Returns the number of these centroids. */
  __device__ int evaluateMany(const KMeansData &A, int32_t group, unsigned near)
  {
    int count = 0;

    for (; near; near &= near - 1) {
      const int32_t c = group * KMEANS_DIRECT_GROUP + __ffs((int)near) - 1;

      if (c >= A.k) break;
      evaluate(A, c);
      count++;
    }
    return count;
  }
};

#endif
