/* Labels and distances by the definition. One kernel is for points with one or two candidates, the other for points for which all centroids are candidates.

   A warp evaluates 32 distances together. For each pair of a point and a centroid, the lanes load 32 consecutive features, and store the squares of the differences
   to shared memory. Then each lane adds the squares of its own pair one after another, in the order of the definition. */
#include "kmeansscreen.cuh"
#include "solvers/kmeans/kmeanstotals.cuh"
#include <gpucsrdevice.cuh>

namespace {

constexpr int WARPS = 8, BLOCK = 32 * WARPS, STRIDE = 33; /* STRIDE is odd, so that the squares of different lanes begin in different banks */
constexpr int BATCH = 8;                                  /* number of pairs of a point and a centroid that are loaded together */

struct KMeansFinishMemory {
  double square[WARPS][32][STRIDE];
};

/* Stores the squares of the differences of feature j, which is the feature of this lane, for the pairs of the lanes in `at`. c: centroid of the pair of this lane. */
template <class Real>
__device__ __forceinline__ void KMeansFinishSquares(const KMeansData &A, int64_t first, int step, int32_t c, int32_t j, const int (&at)[BATCH], double (&square)[32][STRIDE])
{
  Real   x[BATCH];
  double m[BATCH];

#pragma unroll
  for (int b = 0; b < BATCH; b++) {
    const int64_t i = first + at[b] * step;

    x[b] = ((const Real *)A.value)[(i < A.n ? i : A.n - 1) * A.d + j];
    m[b] = A.centroid[(int64_t)__shfl_sync(0xffffffffu, c, at[b]) * A.d + j];
  }
#pragma unroll
  for (int b = 0; b < BATCH; b++) square[at[b]][threadIdx.x % 32] = ((double)x[b] - m[b]) * ((double)x[b] - m[b]);
}

/* Returns the squared distance of the pair of this lane, or 0 if the lane is not in `lanes`. The pair of lane l is point first + l * step and the centroid c of this
   lane. All lanes of the warp call it. */
template <class Real>
__device__ __forceinline__ double KMeansFinishDistance(const KMeansData &A, int64_t first, int step, int32_t c, unsigned lanes, double (&square)[32][STRIDE])
{
  const int  lane = threadIdx.x % 32;
  const bool mine = lanes >> lane & 1, most = __popc(lanes) > 16;
  double     sum = 0;

  if (!mine) c = 0;
  for (int32_t from = 0; from < A.d; from += 32) {
    const int32_t count = A.d - from < 32 ? A.d - from : 32, j = from + (lane < count ? lane : count - 1);
    int           at[BATCH];

    if (most) { /* loading all pairs takes less time than selecting those of `lanes` */
      for (int p = 0; p < 32; p += BATCH) {
#pragma unroll
        for (int b = 0; b < BATCH; b++) at[b] = p + b;
        KMeansFinishSquares<Real>(A, first, step, c, j, at, square);
      }
    } else {
      for (unsigned rest = lanes; rest;) {
#pragma unroll
        for (int b = 0; b < BATCH; b++) {
          at[b] = rest ? __ffs(rest) - 1 : at[b ? b - 1 : 0]; /* the last pair is repeated to fill the batch */
          rest &= rest - 1;
        }
        KMeansFinishSquares<Real>(A, first, step, c, j, at, square);
      }
    }
    __syncwarp();
    if (mine) {
      for (int t = 0; t < count; t++) sum += square[lane][t];
    }
    __syncwarp();
  }
  return sum;
}

/* Assigns the points with one or two candidates, one lane for each point. */
template <class Real>
__global__ void __launch_bounds__(BLOCK, 3) KMeansFinishKernel(KMeansScores S)
{
  extern __shared__ __align__(16) unsigned char KMeansFinishDynamic[];
  double(&square)[32][STRIDE] = ((KMeansFinishMemory *)KMeansFinishDynamic)->square[threadIdx.x / 32];

  const int64_t  i = (int64_t)blockIdx.x * BLOCK + threadIdx.x, first = i - threadIdx.x % 32;
  const int32_t  second = i < S.A.n ? S.second[i] : KMEANS_MANY;
  const unsigned some = __ballot_sync(0xffffffffu, second != KMEANS_MANY), pairs = __ballot_sync(0xffffffffu, second >= 0);
  int32_t        label = second != KMEANS_MANY ? S.first[i] : 0;
  double         least = KMeansFinishDistance<Real>(S.A, first, 1, label, some, square);
  KMeansTotals   T     = {};

  if (pairs) {
    const double other = KMeansFinishDistance<Real>(S.A, first, 1, second, pairs, square);

    if (second >= 0 && (other < least || (other == least && second < label))) {
      least = other;
      label = second;
    }
  }
  if (second != KMEANS_MANY) KMeansTotalsPut(&S.A, i, label, least, S.A.k, second >= 0, &T);
  KMeansTotalsAdd(&S.A, &T);
}

/* Replaces the nearest centroid by another if that is nearer. Of equal distances the lowest number wins. */
__device__ __forceinline__ void KMeansFinishLeast(double &least, int32_t &label, double now, int32_t other)
{
  if (now < least || (now == least && other < label)) {
    least = now;
    label = other;
  }
}

/* Assigns the points for which all centroids are candidates. There are few such points, so that a block takes one point at a time, with one thread for each centroid. */
template <class Real>
__global__ void __launch_bounds__(BLOCK, 3) KMeansFinishManyKernel(KMeansScores S)
{
  extern __shared__ __align__(16) unsigned char KMeansFinishDynamic[];
  __shared__ double                             leasts[WARPS];
  __shared__ int32_t                            labels[WARPS];
  double(&square)[32][STRIDE] = ((KMeansFinishMemory *)KMeansFinishDynamic)->square[threadIdx.x / 32];

  const int32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32, many = *S.count;
  KMeansTotals  T = {};

  for (int64_t at = blockIdx.x; at < many; at += gridDim.x) {
    const int32_t i     = S.list[at];
    double        least = HUGE_VAL;
    int32_t       label = (int32_t)threadIdx.x < S.A.k ? (int32_t)threadIdx.x : 0;

    for (int64_t c = 32 * warp; c < S.A.k; c += BLOCK) {
      const bool   inside = lane < S.A.k - c;
      const double now    = KMeansFinishDistance<Real>(S.A, i, 0, (int32_t)c + lane, __ballot_sync(0xffffffffu, inside), square);

      if (inside && now < least) {
        least = now;
        label = (int32_t)c + lane;
      }
    }
    for (int half = 16; half > 0; half /= 2) {
      const double  now   = __shfl_xor_sync(0xffffffffu, least, half);
      const int32_t other = __shfl_xor_sync(0xffffffffu, label, half);

      KMeansFinishLeast(least, label, now, other);
    }
    if (lane == 0) {
      leasts[warp] = least;
      labels[warp] = label;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      for (int w = 1; w < WARPS; w++) KMeansFinishLeast(least, label, leasts[w], labels[w]);
      KMeansTotalsPut(&S.A, i, label, least, S.A.k, S.A.k - 1, &T);
    }
    __syncthreads(); /* thread 0 has read the results of the warps */
  }
  KMeansTotalsAdd(&S.A, &T);
}

template <class Real>
GpErr KMeansFinishLaunch(const KMeansScores *S)
{
  const size_t   bytes  = sizeof(KMeansFinishMemory);
  const unsigned points = (unsigned)S->A.n, busy = 3 * (unsigned)GpDevComputeUnits(S->A.dev);
  GpErr          err = GpCheckCuda(S->A.dev, cudaFuncSetAttribute(KMeansFinishKernel<Real>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes), "distances: cannot set the shared memory of a thread block");

  if (!err) err = GpCheckCuda(S->A.dev, cudaFuncSetAttribute(KMeansFinishManyKernel<Real>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes), "distances: cannot set the shared memory of a thread block");
  if (!err) err = GpLaunch(S->A.dev, "distances of candidates", KMeansFinishKernel<Real>, GpGrid{GpBlocks(S->A.n, BLOCK), BLOCK, bytes}, *S);
  if (!err) err = GpLaunch(S->A.dev, "distances of all centroids", KMeansFinishManyKernel<Real>, GpGrid{busy < points ? busy : points, BLOCK, bytes}, *S);
  return err;
}

} // namespace

GpErr KMeansFinish(const KMeansScores *S)
{
  return S->A.single ? KMeansFinishLaunch<float>(S) : KMeansFinishLaunch<double>(S);
}
