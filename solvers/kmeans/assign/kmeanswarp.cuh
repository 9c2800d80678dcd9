/* Parts that `direct` and `tensor` share for points with up to KMEANS_DIRECT features: points of a warp in shared memory, and the evaluation of candidates by the
   definition. kmeansdirect.cuh describes the method. */
#ifndef KMEANSWARP_CUH
#define KMEANSWARP_CUH

#include "solvers/kmeans/screen/kmeansframe.cuh"
#include "solvers/kmeans/update/kmeansmoves.cuh"

/* Number of values in the row of a centroid in shared memory in double precision: an even number that is not a multiple of 4, so that rows are whole vectors, and the
   vectors of eight consecutive rows are in different banks. */
#define KMeansDirectRow(D) (((D) + 1) / 4 * 4 + 2)

/* The frame of a block, in shared memory. */
template <int D>
struct KMeansDirectFrame {
  double   scale, centre[D];
  float    scalesingle, centresingle[D];
  float    term[3];  /* terms of twice the error of a score of the search, for KMeansDirectError() */
  float    again[3]; /* terms of twice the error of a score that is computed again in single precision */
  unsigned most;     /* bits of an upper bound on the norms of all centroids */

  const double *centroid; /* the centroids of the solve of this block. The pointer is here because in a register it would displace points */
};

/* The centroids in double precision, for distances by the definition. */
typedef struct {
  const double *row;   /* [k][KMeansDirectRow(D)] shared memory */
  int           local; /* 1: `row` has the centroids; 0: they are read from global memory */
} KMeansDirectExact;

/* Returns twice the error of a score for a point of the norm N. */
__device__ static inline float KMeansDirectError(const float (&term)[3], float N)
{
  return __fmaf_rn(N, __fmaf_rn(N, term[2], term[1]), term[0]);
}

/* The points of a warp in shared memory. Slot s holds point first + s. Features beyond the last one are 0. If the number of vectors in a row is a power of 2,
   the vectors are permuted, so that the threads of a warp read different banks. */
template <class Real, int D, int P>
struct KMeansDirectWarp {
  static constexpr int VECTOR = sizeof(Real) == 4 ? (D % 4 ? D % 2 ? 1 : 2 : 4) : D % 2 ? 1 : 2; /* number of values in a vector of at most 16 bytes */
  static constexpr int COUNT  = D / VECTOR;                                                      /* number of vectors in a row */

  struct alignas(VECTOR * sizeof(Real)) Vector {
    Real v[VECTOR];
  };

  Vector      row[32 * P * COUNT];
  KMeansMoves moves;
  int32_t     old[32 * P];   /* the previous labels */
  float       limit[32 * P]; /* `direct`: the largest score of a candidate; `tensor`: the least score */
  int32_t     group[32 * P]; /* `direct`: the group that contains all candidates, or -1; `tensor`: bits of the least score of the other groups */
  uint16_t    shift[32 * P]; /* `tensor`: the shifts */

  __device__ Real value(int slot, int j) { return j < D ? at(slot, j / VECTOR).v[j % VECTOR] : 0; }

  __device__ Vector &at(int slot, int vector)
  {
    constexpr int permuted = (COUNT & (COUNT - 1)) == 0 && COUNT <= 8 && VECTOR * sizeof(Real) == 16;

    return row[slot * COUNT + (permuted ? vector ^ (slot * COUNT / 8 & (COUNT - 1)) : vector)];
  }

  /* Copies points and their labels from global memory. The labels are needed later, but loading them now hides the time that this takes. All threads of the
     warp must call it. */
  __device__ void load(const KMeansData &A, int64_t first)
  {
    const int      lane = threadIdx.x % 32, points = A.n - first < 32 * P ? (int)(A.n - first) : 32 * P;
    const Real    *from  = (const Real *)A.value + first * A.d;
    const int32_t *label = A.label + (int64_t)blockIdx.y * A.n + first;
    int32_t        own[P];

    __syncwarp();
#pragma unroll
    for (int p = 0; p < P; p++) own[p] = lane + 32 * p < points ? __ldcg(label + lane + 32 * p) : -1; /* not from the L1 cache, which may hold labels of the previous iteration */
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
#pragma unroll
    for (int p = 0; p < P; p++) old[lane + 32 * p] = own[p];
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

/* Returns half the squared norm of the shifted and scaled centroid c, before its coordinates are rounded, and raises F.most. Calls store(j, value) with the
   coordinate of feature j. Coordinates beyond the last one are 0. */
template <int D, class Store>
__device__ static double KMeansDirectConvert(const KMeansData &A, KMeansDirectFrame<D> &F, int32_t c, const Store &store)
{
  double m[D], square = 0;

#pragma unroll
  for (int j = 0; j < D; j++) m[j] = j < A.d ? F.centroid[(int64_t)c * A.d + j] : 0; /* all loads before the first call of store() */
#pragma unroll
  for (int j = 0; j < D; j++) {
    const double value = j < A.d ? (m[j] - F.centre[j]) * F.scale : 0;

    store(j, value);
    square += value * value;
  }
  atomicMax(&F.most, __float_as_uint(__double2float_ru(sqrt(square) * (1 + 0x1p-40) + 0x1p-140))); /* the bits of nonnegative numbers are ordered like the numbers */
  return square / 2;
}

/* Returns the negative coordinate -x' of feature j. */
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

template <int D>
__device__ static inline float KMeansDirectCentre(const KMeansDirectFrame<D> &F, int j, float)
{
  return F.centresingle[j];
}

template <int D>
__device__ static inline double KMeansDirectCentre(const KMeansDirectFrame<D> &F, int j, double)
{
  return F.centre[j];
}

template <int D>
__device__ static inline float KMeansDirectScale(const KMeansDirectFrame<D> &F, float)
{
  return F.scalesingle;
}

template <int D>
__device__ static inline double KMeansDirectScale(const KMeansDirectFrame<D> &F, double)
{
  return F.scale;
}

/* A point whose candidates are evaluated by the definition. */
template <int D>
struct KMeansDirectPlace {
  double  x[D];
  float   y[D]; /* negative coordinates */
  int32_t label;
  double  compared;

  /* Returns KMeansCompare() of centroid c. Features beyond the last one add 0, which changes no sum. */
  __device__ double compare(const KMeansData &A, const KMeansDirectFrame<D> &F, const KMeansDirectExact &E, int32_t c) const
  {
    double m[D + D % 2], sum = 0;

    if (E.local) {
#pragma unroll
      for (int q = 0; q < (D + 1) / 2; q++) {
        const double2 two = ((const double2 *)(E.row + c * KMeansDirectRow(D)))[q];

        m[2 * q]     = two.x;
        m[2 * q + 1] = two.y;
      }
    } else {
#pragma unroll
      for (int j = 0; j < D; j++) m[j] = j < A.d ? F.centroid[(int64_t)c * A.d + j] : 0;
    }
#pragma unroll
    for (int j = 0; j < D; j++) sum += (x[j] - m[j]) * (x[j] - m[j]);
    return sum;
  }

  /* Evaluates centroid c, and keeps it if it is the nearest so far. */
  __device__ void evaluate(const KMeansData &A, const KMeansDirectFrame<D> &F, const KMeansDirectExact &E, int32_t c)
  {
    const double now = compare(A, F, E, c);

    if (now < compared || label == INT32_MAX) {
      compared = now;
      label    = c;
    }
  }
};

#endif
