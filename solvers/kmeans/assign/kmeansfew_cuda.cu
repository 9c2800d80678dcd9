/* The kernel of `direct` for up to KMEANS_FEW clusters and KMEANS_FEW_FEATURES features, for iterations on a GPU without the host (KMeansData.loop). With so few clusters, the kernel of
   kmeansdirect.cuh spends most of its time on work for each point after the search. This kernel keeps the points in registers, and writes the number of a centroid to the lowest bits of its score, so
   that no score is computed again.

   Scores here are the negative scores of screen/kmeansframe.cuh. The lowest bits change a score by less than KMEANS_FEW_MARK times its value. The value is at most the bound P of that file, so
   KMEANS_FEW_MARK is added to the relative error r of that file. If the second least score is above the limit of the error bound, the centroid with the least score is the nearest. Otherwise the thread evaluates the distances
   of all centroids by the definition. */
#include "kmeansfew.h"
#include "kmeanswarp.cuh"
#include "solvers/kmeans/kmeanstotals.cuh"
#include "solvers/kmeans/screen/kmeansbest.cuh"

#include <gpucsrdevice.cuh>

#define KMEANS_FEW_BITS 4 /* KMEANS_FEW is 2 to this power */
#define KMEANS_FEW_MARK (0x1p-19 * (1 + 0x1p-8))

template <class Real, int D>
struct KMeansFew {
  static constexpr int THREADS = D <= 2 ? 768 : D <= 4 ? 640 : 576;     /* number of threads of a block. A multiprocessor runs one block, whose threads share all registers */
  static constexpr int POINTS  = (D <= 4 ? 16 : 8) / (int)sizeof(Real); /* number of points of a thread. Each load of a centroid serves all of them */
  static constexpr int FLOATS  = (D + 4) / 4 * 4;                       /* number of values in a row of `single` */

  float                single[KMEANS_FEW][FLOATS];            /* for each centroid its coordinates, then half its squared norm */
  double               exact[KMEANS_FEW][KMeansDirectRow(D)]; /* the centroids in double precision */
  KMeansDirectFrame<D> frame;

  /* Sets all members but `frame.most` to those of the present centroids. All threads of the block call it. */
  __device__ void load(const KMeansData &A)
  {
    for (int e = threadIdx.x; e < A.k * D; e += blockDim.x) exact[e / D][e % D] = e % D < A.d ? A.centroid[((int64_t)blockIdx.y * A.k + e / D) * A.d + e % D] : 0;
    if (threadIdx.x < D) {
      frame.centre[threadIdx.x]       = (int)threadIdx.x < A.d ? A.frame.centre[(int64_t)blockIdx.y * A.d + threadIdx.x] : 0;
      frame.centresingle[threadIdx.x] = (float)frame.centre[threadIdx.x];
    }
    if (threadIdx.x == 0) {
      frame.scale       = KMeansFrameScale(A.frame.numbers + blockIdx.y, A.single);
      frame.scalesingle = (float)frame.scale;
      frame.most        = 0;
      frame.centroid    = A.centroid + (int64_t)blockIdx.y * A.k * A.d;
    }
    __syncthreads();
    if ((int)threadIdx.x < A.k) single[threadIdx.x][D] = (float)KMeansDirectConvert(A, frame, threadIdx.x, [this](int j, double value) { single[threadIdx.x][j] = (float)value; });
    __syncthreads();
    if (threadIdx.x == 0) {
      KMeansFrameNumbers numbers = {};

      numbers.largest = __uint_as_float(frame.most);
      numbers.error   = KMeansFrameRounding(A.d, numbers.largest);
      KMeansFrameErrorTerms(&numbers, A.d, frame.scale, KMeansFrameRelative(D) + KMEANS_FEW_MARK, frame.term);
      frame.term[0] += 0x1p-143f; /* the lowest bits of numbers that are not normal */
    }
    __syncthreads();
  }

  /* Returns KMeansCompare() of centroid c. Features beyond the last one add 0, which changes no sum. */
  __device__ double compare(int32_t c, const Real (&x)[D]) const
  {
    double m[D + D % 2], sum = 0;

#pragma unroll
    for (int q = 0; q < (D + 1) / 2; q++) {
      const double2 two = ((const double2 *)exact[c])[q];

      m[2 * q]     = two.x;
      m[2 * q + 1] = two.y;
    }
#pragma unroll
    for (int j = 0; j < D; j++) sum += ((double)x[j] - m[j]) * ((double)x[j] - m[j]);
    return sum;
  }

  /* Finds the two least scores of each point, and sets `limit` to the largest score of a candidate. */
  __device__ void search(const KMeansData &A, const Real (&x)[POINTS][D], float (&best)[POINTS], float (&second)[POINTS], float (&limit)[POINTS]) const
  {
    float y[POINTS][D];

#pragma unroll
    for (int p = 0; p < POINTS; p++) {
      float square = 0;

#pragma unroll
      for (int j = 0; j < D; j++) {
        y[p][j] = KMeansDirectCoordinate(frame, j, x[p][j]);
        square  = __fmaf_rn(y[p][j], y[p][j], square);
      }
      limit[p] = KMeansDirectError(frame.term, KMeansFrameNormSingle(A.d, square));
      best[p] = second[p] = INFINITY;
    }
#pragma unroll 2
    for (int32_t c = 0; c < A.k; c++) {
      float m[FLOATS];

#pragma unroll
      for (int q = 0; q < FLOATS; q++) m[q] = single[c][q];
#pragma unroll
      for (int p = 0; p < POINTS; p++) {
        float score = m[D];

#pragma unroll
        for (int j = 0; j < D; j++) score = __fmaf_rn(y[p][j], m[j], score);
        score     = KMeansMark<KMEANS_FEW_BITS>(score, c);
        second[p] = fminf(second[p], fmaxf(best[p], score));
        best[p]   = fminf(best[p], score);
      }
    }
#pragma unroll
    for (int p = 0; p < POINTS; p++) limit[p] += best[p];
  }
};

/* Reads a point. Features from A.d on are 0. WHOLE: A.d is D. */
template <class Real, int D, bool WHOLE>
__device__ static void KMeansFewRead(const KMeansData &A, int64_t i, Real (&x)[D])
{
  constexpr int SIZE = D * sizeof(Real);
  struct alignas(SIZE % 16 == 0 ? 16 : SIZE % 8 == 0 ? 8 : 4) Row {
    Real v[D];
  };

  if (WHOLE) {
    const Row row = ((const Row *)A.value)[i];

#pragma unroll
    for (int j = 0; j < D; j++) x[j] = row.v[j];
  } else {
#pragma unroll
    for (int j = 0; j < D; j++) x[j] = j < A.d ? ((const Real *)A.value)[i * A.d + j] : 0;
  }
}

/* Prefetches the first points of a warp and their labels, which arrive while the block prepares the centroids. */
template <class Real, int POINTS>
__device__ static void KMeansFewPrefetch(const KMeansData &A, const int32_t *labels, int64_t first)
{
  const int   lane = threadIdx.x % 32, points = A.n - first < POINTS ? (int)(A.n - first) : POINTS;
  const char *row = (const char *)((const Real *)A.value + first * A.d), *label = (const char *)(labels + first);

  for (int byte = 128 * lane; byte < points * A.d * (int)sizeof(Real); byte += 128 * 32) asm volatile("prefetch.global.L2 [%0];" ::"l"(row + byte));
  if (128 * lane < points * 4) asm volatile("prefetch.global.L2 [%0];" ::"l"(label + 128 * lane));
}

/* Assigns all points of a solve, and adds them to the tally or moves them. */
template <class Real, int D, bool WHOLE>
__global__ __launch_bounds__(KMeansFew<Real, D>::THREADS, 1) static void KMeansFewKernel(const __grid_constant__ KMeansData A, const __grid_constant__ KMeansTallyShape shape)
{
  extern __shared__ uint4 shared[];
  __shared__ KMeansFew<Real, D> few;
  constexpr int                 P = KMeansFew<Real, D>::POINTS, WARPS = KMeansFew<Real, D>::THREADS / 32;
  const uint32_t                lane = threadIdx.x % 32, warp = threadIdx.x / 32, step = gridDim.x * WARPS * 32 * P;
  KMeansMoves *const            queue   = (KMeansMoves *)shared + warp;
  int32_t *const                labels  = A.label + (int64_t)blockIdx.y * A.n;
  const KMeansLoop *const       loop    = A.loop + blockIdx.y;
  KMeansTotals                  T       = {};
  KMeansBlockTally              sums    = {};
  int32_t                       changed = 0; /* of this thread, which has fewer than 2^31 points */
  int                           queued  = 0;

  KMeansFewPrefetch<Real, 32 * P>(A, labels, (int64_t)(warp * gridDim.x + blockIdx.x) * 32 * P);
  KMeansTallyClear(&sums, &shape, (uint32_t *)((KMeansMoves *)shared + WARPS));
  GpNextMayStart();
  GpWait(); /* the kernel is launched early, while its predecessor moves the centroids. The predecessor writes neither points nor labels */

  const int stopped = loop->reason, fresh = loop->fresh;

  few.load(A);
  if (stopped) return;
  for (uint32_t first = (warp * gridDim.x + blockIdx.x) * 32 * P; first < (uint32_t)A.n; first += step) { /* below 2^32, as n is below 2^31 */
    Real    x[P][D];
    int32_t old[P];
    float   best[P], second[P], limit[P];

#pragma unroll
    for (int p = 0; p < P; p++) {
      const uint32_t i = min(first + 32 * p + lane, (uint32_t)A.n - 1);

      KMeansFewRead<Real, D, WHOLE>(A, i, x[p]);
      old[p] = labels[i];
    }
    few.search(A, x, best, second, limit);
#pragma unroll
    for (int p = 0; p < P; p++) {
      const uint32_t i        = first + 32 * p + lane;
      const bool     valid    = i < (uint32_t)A.n;
      int32_t        label    = __float_as_int(best[p]) & (KMEANS_FEW - 1);
      double         compared = few.compare(label, x[p]);

      if (valid && !(second[p] > limit[p])) {
        label    = 0;
        compared = few.compare(0, x[p]);
        for (int32_t c = 1; c < A.k; c++) {
          const double now = few.compare(c, x[p]);

          if (!(now < compared)) continue;
          compared = now;
          label    = c;
        }
        T.total[KMEANS_RECHECK] += A.k - 1;
      }
      if (valid) {
        changed += old[p] != label;
        if (old[p] != label) labels[i] = label;
        T.total[KMEANS_INERTIA] += KMeansToFixed(compared, A.cost.first);
      }
      queued = KMeansMovesAdd<Real, D>(A, queued, valid && (fresh || old[p] != label), (int32_t)i, label, fresh ? -1 : old[p], queue, &sums);
    }
  }
  if (queued) KMeansMovesApply<Real, D>(A, queued, queue, &sums);

  const KMeansData own = KMeansOfSolve(&A, blockIdx.y);

  T.total[KMEANS_CHANGED] = changed;
  T.total[KMEANS_COUNTED] = blockIdx.x == 0 && threadIdx.x == 0 ? (int64_t)A.n * A.k : 0; /* one thread counts the distances of all points */
  KMeansTotalsAdd(&own, &T);
  KMeansTallyFlush(&own, &sums);
}

/* Launches a block for each multiprocessor. The solves of a batch share the multiprocessors. */
template <class Real, int D, bool WHOLE>
static GpErr KMeansFewLaunch(const KMeansData *A)
{
  constexpr int    WARPS = KMeansFew<Real, D>::THREADS / 32, TILE = 32 * KMeansFew<Real, D>::POINTS;
  const auto       kernel = KMeansFewKernel<Real, D, WHOLE>;
  const int64_t    tiles = ((int64_t)A->n + TILE - 1) / TILE, units = GpDevComputeUnits(A->dev), solves = A->solves > 1 ? A->solves : 1;
  const int64_t    share = solves < units ? units / solves : 1; /* number of multiprocessors of a solve */
  GpGrid           grid{dim3((unsigned)(tiles < share ? tiles : share), (unsigned)solves), 32 * WARPS};
  KMeansTallyShape shape;
  GpErr            err;

  (void)KMeansTallyFit(A, 0, A->d, KMEANS_TALLY_COPIES, KMEANS_FEW_SUMS, &shape); /* the sums of KMEANS_FEW clusters always fit */
  grid.shared = WARPS * sizeof(KMeansMoves) + KMeansTallyBytes(&shape);
  err         = GpCheckCuda(A->dev, cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)grid.shared), "KMeansFew");
  return err ? err : GpLaunchEarlyStep(A->dev, "KMeansFew", kernel, grid, *A, shape);
}

template <class Real>
static GpErr KMeansFewDispatch(const KMeansData *A)
{
  if (A->d <= 2) return A->d == 2 ? KMeansFewLaunch<Real, 2, true>(A) : KMeansFewLaunch<Real, 2, false>(A);
  if (A->d <= 4) return A->d == 4 ? KMeansFewLaunch<Real, 4, true>(A) : KMeansFewLaunch<Real, 4, false>(A);
  if (A->d <= 6) return A->d == 6 ? KMeansFewLaunch<Real, 6, true>(A) : KMeansFewLaunch<Real, 6, false>(A);
  return A->d == 8 ? KMeansFewLaunch<Real, 8, true>(A) : KMeansFewLaunch<Real, 8, false>(A);
}

GpErr KMeansFewAssign(const KMeansData *A)
{
  return A->single ? KMeansFewDispatch<float>(A) : KMeansFewDispatch<double>(A);
}
