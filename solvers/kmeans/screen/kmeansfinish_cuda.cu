/* Labels and distances by the definition, of points with a few candidates, and of points for which all centroids are candidates.

   A warp evaluates 32 distances together. All lanes read the features of a point and a centroid side by side, and store the squares of the differences to
   shared memory. Then each lane adds those of its own point one after the other, in the order of the definition. */
#include "kmeansscreen.cuh"
#include "solvers/kmeans/kmeanstotals.cuh"
#include <gpucsrdevice.cuh>

namespace {

constexpr int WARPS = 8, BLOCK = 32 * WARPS, STRIDE = 33; /* the squares of a lane begin in a bank of their own */
constexpr int BATCH = 8;                                  /* pairs of a point and a centroid that are loaded together */

struct KMeansFinishMemory {
  double square[WARPS][32][STRIDE];
};

/* The squared distance of point i and centroid c of each lane in `lanes`, or 0. */
template <class Real>
__device__ __forceinline__ double KMeansFinishDistance(const KMeansData &A, int32_t i, int32_t c, unsigned lanes, double (&square)[32][STRIDE])
{
  const int lane = threadIdx.x % 32;
  double    sum  = 0;

  for (int32_t from = 0; from < A.d; from += 32) {
    const int32_t count = A.d - from < 32 ? A.d - from : 32, j = from + (lane < count ? lane : count - 1);

    for (unsigned rest = lanes; rest;) {
      int    at[BATCH];
      Real   x[BATCH];
      double m[BATCH];

#pragma unroll
      for (int b = 0; b < BATCH; b++) {
        at[b] = rest ? __ffs(rest) - 1 : at[b ? b - 1 : 0]; /* after the last pair, again that pair */
        rest &= rest - 1;
        x[b] = ((const Real *)A.value)[(int64_t)__shfl_sync(0xffffffffu, i, at[b]) * A.d + j];
        m[b] = A.centroid[(int64_t)__shfl_sync(0xffffffffu, c, at[b]) * A.d + j];
      }
#pragma unroll
      for (int b = 0; b < BATCH; b++) square[at[b]][lane] = ((double)x[b] - m[b]) * ((double)x[b] - m[b]);
    }
    __syncwarp();
    if (lanes >> lane & 1) {
      for (int t = 0; t < count; t++) sum += square[lane][t];
    }
    __syncwarp();
  }
  return sum;
}

/* Points with one or two candidates. One lane a point. */
template <class Real>
__global__ void __launch_bounds__(BLOCK, 3) KMeansFinishKernel(KMeansScores S)
{
  extern __shared__ __align__(16) unsigned char KMeansFinishDynamic[];
  double(&square)[32][STRIDE] = ((KMeansFinishMemory *)KMeansFinishDynamic)->square[threadIdx.x / 32];

  const int64_t  i      = (int64_t)blockIdx.x * BLOCK + threadIdx.x;
  const int32_t  second = i < S.A.n ? S.second[i] : KMEANS_MANY, here = i < S.A.n ? (int32_t)i : 0;
  const unsigned some = __ballot_sync(0xffffffffu, second != KMEANS_MANY), pairs = __ballot_sync(0xffffffffu, second >= 0);
  int32_t        label = second != KMEANS_MANY ? S.first[here] : 0;
  double         least = KMeansFinishDistance<Real>(S.A, here, label, some, square);
  KMeansTotals   T     = {};

  if (pairs) {
    const double other = KMeansFinishDistance<Real>(S.A, here, second, pairs, square);

    if (second >= 0 && (other < least || (other == least && second < label))) {
      least = other;
      label = second;
    }
  }
  if (second != KMEANS_MANY) KMeansTotalsPut(&S.A, i, label, least, S.A.k, second >= 0, &T);
  KMeansTotalsAdd(&S.A, &T);
}

/* Points for which all centroids are candidates. One warp a point, one lane a centroid. */
template <class Real>
__global__ void __launch_bounds__(BLOCK, 3) KMeansFinishManyKernel(KMeansScores S)
{
  extern __shared__ __align__(16) unsigned char KMeansFinishDynamic[];
  double(&square)[32][STRIDE] = ((KMeansFinishMemory *)KMeansFinishDynamic)->square[threadIdx.x / 32];

  const int32_t lane = threadIdx.x % 32, many = *S.count;
  KMeansTotals  T = {};

  for (int64_t at = (int64_t)blockIdx.x * WARPS + threadIdx.x / 32; at < many; at += (int64_t)gridDim.x * WARPS) {
    const int32_t i     = S.list[at];
    double        least = HUGE_VAL;
    int32_t       label = lane < S.A.k ? lane : 0;

    for (int32_t c = 0; c < S.A.k; c += 32) {
      const bool   inside = lane < S.A.k - c;
      const double now    = KMeansFinishDistance<Real>(S.A, i, c + lane, __ballot_sync(0xffffffffu, inside), square);

      if (inside && now < least) {
        least = now;
        label = c + lane;
      }
    }
    for (int half = 16; half > 0; half /= 2) {
      const double  now   = __shfl_xor_sync(0xffffffffu, least, half);
      const int32_t other = __shfl_xor_sync(0xffffffffu, label, half);

      if (now < least || (now == least && other < label)) {
        least = now;
        label = other;
      }
    }
    if (lane == 0) KMeansTotalsPut(&S.A, i, label, least, S.A.k, S.A.k - 1, &T);
  }
  KMeansTotalsAdd(&S.A, &T);
}

template <class Real>
GpErr KMeansFinishLaunch(const KMeansScores *S)
{
  const size_t   bytes = sizeof(KMeansFinishMemory);
  const unsigned tiles = GpBlocks(S->A.n, WARPS), busy = 3 * (unsigned)GpDevComputeUnits(S->A.dev);
  GpErr          err = GpCheckCuda(S->A.dev, cudaFuncSetAttribute(KMeansFinishKernel<Real>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes), "distances: cannot set the shared memory of a thread block");

  if (!err) err = GpCheckCuda(S->A.dev, cudaFuncSetAttribute(KMeansFinishManyKernel<Real>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes), "distances: cannot set the shared memory of a thread block");
  if (!err) err = GpLaunch(S->A.dev, "distances of candidates", KMeansFinishKernel<Real>, GpGrid{GpBlocks(S->A.n, BLOCK), BLOCK, bytes}, *S);
  if (!err) err = GpLaunch(S->A.dev, "distances of all centroids", KMeansFinishManyKernel<Real>, GpGrid{busy < tiles ? busy : tiles, BLOCK, bytes}, *S);
  return err;
}

} // namespace

GpErr KMeansFinish(const KMeansScores *S)
{
  return S->A.single ? KMeansFinishLaunch<float>(S) : KMeansFinishLaunch<double>(S);
}
