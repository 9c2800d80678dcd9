/* CUDA implementation of `direct`: dense points with up to KMEANS_DIRECT features, Euclidean metric. screen/kmeansframe.cuh has the scores and the proof of
   their bound.

   A thread holds P points in registers, D features each. The centroids lie in shared memory in groups of KMEANS_DIRECT_GROUP, feature by feature, so that
   a load of 16 bytes broadcasts a feature of four centroids to all threads of a warp. A centroid costs D fused multiply-adds and about 1.5 other
   instructions for a point: the least score of each group, then the least of all groups, the number of its group, and the least of the other groups.

   If the least score of the other groups is beyond the bound, only the centroids of one group can be the nearest. Their scores are computed again, and
   the distances of those within the bound are evaluated by the definition. Otherwise the warp evaluates the distances of all centroids. */
#include "solvers/kmeans/screen/kmeansframe.cuh"
#include "solvers/kmeans/kmeanstotals.cuh"
#include "solvers/kmeans/update/kmeanstally.cuh"

#define KMEANS_DIRECT_THREADS 128
#define KMEANS_DIRECT_GROUP   8
#define KMEANS_DIRECT_SHARED  ((size_t)64 << 10) /* bytes of centroids in shared memory, at most: several blocks fit a multiprocessor */
#define KMEANS_DIRECT_SUMS    ((size_t)16 << 10) /* bytes of sums for which they are copied, at most */

/* Number of points of a thread: as many as the registers hold, because each load of centroids serves all of them. */
#define KMeansDirectPoints(D) ((D) <= 8 ? 8 : (D) <= 12 ? 6 : (D) <= 16 ? 5 : 4)

/* Number of blocks that a multiprocessor runs at least, which bounds the number of registers. */
#define KMeansDirectBlocks(D) ((D) <= 4 ? 4 : (D) <= 24 ? 3 : 2)

/* Number of floats of a group in shared memory: half the squared norms, then the features. */
#define KMeansDirectRow(D) (KMEANS_DIRECT_GROUP * ((D) + 1))

/* Half the squared norm of the coordinates m' of centroid c, before they are rounded. *most becomes an upper bound on the norms; the bits of nonnegative numbers
   are ordered like the numbers. m: where coordinate j goes to m[j * KMEANS_DIRECT_GROUP], or NULL. Coordinates beyond the last one are 0. */
template <int D>
__device__ static double KMeansDirectConvert(const KMeansData &A, double scale, int32_t c, float *m, unsigned *most)
{
  double square = 0;

#pragma unroll
  for (int j = 0; j < D; j++) {
    const double value = j < A.d ? (A.centroid[(int64_t)c * A.d + j] - A.frame.centre[j]) * scale : 0;

    if (m) m[j * KMEANS_DIRECT_GROUP] = (float)value;
    square += value * value;
  }
  atomicMax(most, __float_as_uint(__double2float_ru(sqrt(square) * (1 + 0x1p-40) + 0x1p-140)));
  return square / 2;
}

/* Writes the centroids of groups `first` to `last` - 1 to shared memory. Centroids beyond the last one have infinite scores. */
template <int D>
__device__ static void KMeansDirectLoad(const KMeansData &A, double scale, int32_t first, int32_t last, float *centroids, unsigned *most)
{
  for (int32_t c = threadIdx.x; c < (last - first) * KMEANS_DIRECT_GROUP; c += KMEANS_DIRECT_THREADS) {
    const int32_t number = first * KMEANS_DIRECT_GROUP + c;
    float        *group  = centroids + c / KMEANS_DIRECT_GROUP * KMeansDirectRow(D) + c % KMEANS_DIRECT_GROUP;

    if (number < A.k) group[0] = (float)KMeansDirectConvert<D>(A, scale, number, group + KMEANS_DIRECT_GROUP, most);
    else {
      group[0] = INFINITY;
      for (int j = 0; j < D; j++) group[(j + 1) * KMEANS_DIRECT_GROUP] = 0;
    }
  }
}

/* The negative x' of coordinate j. */
__device__ static inline float KMeansDirectCoordinate(const KMeansData &A, double scale, int32_t j, double x)
{
  return A.single ? -KMeansFrameCoordinate((float)x, (float)A.frame.centre[j], (float)scale) : -KMeansFrameCoordinate(x, A.frame.centre[j], scale);
}

/* Number of features of a point that is added to the sums, which take four at a time. */
#define KMeansDirectWidth(D) (((D) + 3) / 4 * 4)

/* The features of point i, 0 beyond the last feature and the last point. */
template <int D, int WIDTH>
__device__ static void KMeansDirectPoint(const KMeansData &A, int64_t i, double (&x)[WIDTH])
{
#pragma unroll
  for (int j = D; j < WIDTH; j++) x[j] = 0;
  if (A.single && A.d == D && D % 2 == 0 && i < A.n) { /* rows are aligned to a vector */
    const float *from = (const float *)A.value + i * D;

#pragma unroll
    for (int j = 0; j < D / 2; j++) {
      float2 two;

      if (D % 4) two = ((const float2 *)from)[j];
      else {
        const float4 four = ((const float4 *)from)[j / 2]; /* the compiler loads it once for both halves */

        two = j % 2 ? make_float2(four.z, four.w) : make_float2(four.x, four.y);
      }
      x[2 * j]           = two.x;
      x[(2 * j + 1) % D] = two.y;
    }
    return;
  }
#pragma unroll
  for (int j = 0; j < D; j++) x[j] = i < A.n && j < A.d ? KMeansValue(&A, i * A.d + j) : 0;
}

/* The points of a thread. y holds the negative features, so that a score is a chain of fused multiply-adds. */
template <int D, int P>
struct KMeansDirectTile {
  float   y[P][D];
  float   norm[P];
  float   best[P], second[P]; /* least score of a group, and of all other groups */
  int32_t group[P];

  __device__ void load(const KMeansData &A, double scale, int64_t first)
  {
#pragma unroll
    for (int p = 0; p < P; p++) {
      const int64_t i   = first + (int64_t)p * KMEANS_DIRECT_THREADS;
      float         sum = 0;
      double        x[D];

      KMeansDirectPoint<D>(A, i, x);
#pragma unroll
      for (int j = 0; j < D; j++) {
        y[p][j] = j < A.d ? KMeansDirectCoordinate(A, scale, j, x[j]) : 0;
        sum     = __fmaf_rn(y[p][j], y[p][j], sum);
      }
      norm[p] = KMeansFrameNormSingle(A.d, sum);
      best[p] = second[p] = INFINITY;
      group[p]            = 0;
    }
  }

  __device__ void search(int32_t first, int32_t groups, const float *centroids)
  {
    for (int32_t g = 0; g < groups; g++, centroids += KMeansDirectRow(D)) {
      float least[P];

#pragma unroll
      for (int half = 0; half < KMEANS_DIRECT_GROUP / 4; half++) {
        const float4 *m = (const float4 *)centroids + half;
        const float4  h = m[0];
        float         score[P][4];

#pragma unroll
        for (int p = 0; p < P; p++) {
          score[p][0] = h.x;
          score[p][1] = h.y;
          score[p][2] = h.z;
          score[p][3] = h.w;
        }
#pragma unroll
        for (int j = 0; j < D; j++) {
          const float4 v = m[(j + 1) * (KMEANS_DIRECT_GROUP / 4)];

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
          const float four = fminf(fminf(score[p][0], score[p][1]), fminf(score[p][2], score[p][3]));

          least[p] = half ? fminf(least[p], four) : four;
        }
      }
#pragma unroll
      for (int p = 0; p < P; p++) {
        second[p] = fminf(second[p], fmaxf(best[p], least[p]));
        group[p]  = least[p] < best[p] ? first + g : group[p];
        best[p]   = fminf(best[p], least[p]);
      }
    }
  }
};

/* A point whose candidates are evaluated by the definition. */
template <int D>
struct KMeansDirectPlace {
  double  x[KMeansDirectWidth(D)];
  int32_t label;
  double  compared;

  /* What KMeansCompare() returns. Features beyond the last one add 0, which changes no sum. */
  __device__ void evaluate(const KMeansData &A, int32_t c)
  {
    const double *m   = A.centroid + (int64_t)c * A.d;
    double        sum = 0;

#pragma unroll
    for (int j = 0; j < D; j++) {
      const double difference = x[j] - (j < A.d ? m[j] : 0);

      sum += difference * difference;
    }
    if (sum < compared || label == INT32_MAX) {
      compared = sum;
      label    = c;
    }
  }
};

/* The nearest centroid of point i by the definition, found by a warp: lane l evaluates the centroids l, l + 32, ... All lanes get it. */
__device__ static void KMeansDirectEvaluateAll(const KMeansData &A, int64_t i, int32_t *label, double *compared)
{
  int32_t best  = INT32_MAX;
  double  least = HUGE_VAL;

  for (int32_t c = (int32_t)threadIdx.x % 32; c < A.k; c += 32) {
    const double sum = KMeansCompare(&A, i, c);

    if (sum < least || best == INT32_MAX) {
      least = sum;
      best  = c;
    }
  }
  for (int half = 16; half > 0; half /= 2) {
    const int32_t other = __shfl_xor_sync(0xffffffffu, best, half);
    const double  sum   = __shfl_xor_sync(0xffffffffu, least, half);

    if (other != INT32_MAX && (best == INT32_MAX || sum < least || (sum == least && other < best))) {
      least = sum;
      best  = other;
    }
  }
  *label    = best;
  *compared = least;
}

template <int D, int P>
__global__ __launch_bounds__(KMEANS_DIRECT_THREADS, KMeansDirectBlocks(D)) static void KMeansDirectKernel(const __grid_constant__ KMeansData A, int32_t panel, const __grid_constant__ KMeansTallyShape shape)
{
  extern __shared__ float4 shared[];
  __shared__ float         limit[P][KMEANS_DIRECT_THREADS];
  __shared__ int32_t       chosen[P][KMEANS_DIRECT_THREADS]; /* group of all candidates; -1: they are in several groups */
  __shared__ unsigned      most;                             /* upper bound on the norms of all centroids */
  float                   *centroids = (float *)shared;
  const int32_t            groups    = (A.k + KMEANS_DIRECT_GROUP - 1) / KMEANS_DIRECT_GROUP;
  const double             scale     = KMeansFrameScale(A.frame.numbers, A.single);
  KMeansFrameNumbers       numbers   = {};
  KMeansTotals             T         = {};
  float                    term[3];
  KMeansBlockTally         sums = {};

  if (A.stopped && *A.stopped) return;
  if (A.fuse) KMeansTallyClear(&sums, &shape, (uint32_t *)(centroids + (int64_t)panel * KMeansDirectRow(D)));
  if (threadIdx.x == 0) most = 0;
  __syncthreads();
  if (panel == groups) KMeansDirectLoad<D>(A, scale, 0, groups, centroids, &most);
  else
    for (int32_t c = threadIdx.x; c < A.k; c += KMEANS_DIRECT_THREADS) (void)KMeansDirectConvert<D>(A, scale, c, NULL, &most); /* the bound needs the norms of all panels */
  __syncthreads();
  numbers.largest = __uint_as_float(most);
  numbers.error   = KMeansFrameRounding(A.d, numbers.largest);
  KMeansFrameErrorTerms(&numbers, A.d, scale, KMeansFrameRelative(D), term);
  for (int64_t first = (int64_t)blockIdx.x * P * KMEANS_DIRECT_THREADS; first < A.n; first += (int64_t)gridDim.x * P * KMEANS_DIRECT_THREADS) {
    {
      KMeansDirectTile<D, P> tile;

      tile.load(A, scale, first + threadIdx.x);
      for (int32_t from = 0; from < groups; from += panel) {
        const int32_t to = groups - from < panel ? groups : from + panel;

        if (panel < groups) {
          __syncthreads();
          KMeansDirectLoad<D>(A, scale, from, to, centroids, &most);
          __syncthreads();
        }
        tile.search(from, to - from, centroids);
      }
#pragma unroll
      for (int p = 0; p < P; p++) {
        const float reach = tile.best[p] + __fmaf_rn(tile.norm[p], __fmaf_rn(tile.norm[p], term[2], term[1]), term[0]);

        limit[p][threadIdx.x]  = reach;
        chosen[p][threadIdx.x] = tile.second[p] > reach ? tile.group[p] : -1;
      }
    }
#pragma unroll 1
    for (int p = 0; p < P; p++) {
      const int64_t        i         = first + threadIdx.x + (int64_t)p * KMEANS_DIRECT_THREADS;
      const int32_t        group     = i < A.n ? chosen[p][threadIdx.x] : 0;
      int64_t              rechecked = -1; /* one of the candidates is not evaluated again */
      KMeansDirectPlace<D> place;
      unsigned             open = __ballot_sync(0xffffffffu, group < 0);

      KMeansDirectPoint<D>(A, i, place.x);
      place.label    = INT32_MAX;
      place.compared = HUGE_VAL;
      if (group >= 0 && i < A.n) {
        float    score[KMEANS_DIRECT_GROUP];
        unsigned near = 0;

        if (panel == groups) {
          const float4 *m = (const float4 *)(centroids + (int64_t)group * KMeansDirectRow(D));

#pragma unroll
          for (int half = 0; half < KMEANS_DIRECT_GROUP / 4; half++) *(float4 *)(score + 4 * half) = m[half];
#pragma unroll
          for (int j = 0; j < D; j++) {
            const float y = j < A.d ? KMeansDirectCoordinate(A, scale, j, place.x[j]) : 0;

#pragma unroll
            for (int half = 0; half < KMEANS_DIRECT_GROUP / 4; half++) {
              const float4 v = m[(j + 1) * (KMEANS_DIRECT_GROUP / 4) + half];

              score[4 * half]     = __fmaf_rn(y, v.x, score[4 * half]);
              score[4 * half + 1] = __fmaf_rn(y, v.y, score[4 * half + 1]);
              score[4 * half + 2] = __fmaf_rn(y, v.z, score[4 * half + 2]);
              score[4 * half + 3] = __fmaf_rn(y, v.w, score[4 * half + 3]);
            }
          }
#pragma unroll
          for (int q = 0; q < KMEANS_DIRECT_GROUP; q++) near |= (unsigned)!(score[q] > limit[p][threadIdx.x]) << q;
        } else near = (1u << KMEANS_DIRECT_GROUP) - 1;
        for (; near; near &= near - 1) {
          const int32_t c = group * KMEANS_DIRECT_GROUP + __ffs((int)near) - 1;

          if (c >= A.k) break;
          place.evaluate(A, c);
          rechecked++;
        }
      }
      for (; open; open &= open - 1) {
        const int lane = __ffs((int)open) - 1;
        int32_t   label;
        double    compared;

        KMeansDirectEvaluateAll(A, __shfl_sync(0xffffffffu, i, lane), &label, &compared);
        if ((int)threadIdx.x % 32 == lane) {
          place.label    = label;
          place.compared = compared;
          rechecked      = A.k;
        }
      }
      if (i < A.n) {
        KMeansTotalsPut(&A, i, place.label, place.compared, A.k, rechecked, &T);
        if (A.fuse) {
          KMeansTallyAddWeight(&A, &sums, i, place.label);
          KMeansTallyAddPoint(&A, &sums, i, place.label, place.x);
        }
      }
    }
  }
  KMeansTotalsAdd(&A, &T);
  if (A.fuse) KMeansTallyFlush(&A, &sums);
}

/* Launches as many blocks as the GPU runs at once. */
template <int D>
static GpErr KMeansDirectLaunch(const KMeansData *A)
{
  constexpr int    P      = KMeansDirectPoints(D);
  const int32_t    groups = (A->k + KMEANS_DIRECT_GROUP - 1) / KMEANS_DIRECT_GROUP, most = (int32_t)(KMEANS_DIRECT_SHARED / (KMeansDirectRow(D) * sizeof(float)));
  const int32_t    panel  = groups < most ? groups : most;
  const int64_t    tiles  = ((int64_t)A->n + P * KMEANS_DIRECT_THREADS - 1) / (P * KMEANS_DIRECT_THREADS);
  size_t           shared = (size_t)panel * KMeansDirectRow(D) * sizeof(float);
  KMeansTallyShape shape  = {};
  int              blocks = 1;
  GpErr            err;

  if (A->fuse) {
    if (!KMeansTallyFit(A, 0, A->d, KMEANS_TALLY_COPIES, KMEANS_DIRECT_SUMS, &shape)) (void)KMeansTallyFit(A, 0, A->d, 1, KMEANS_FUSED_TALLY * 2, &shape);
    shared += KMeansTallyBytes(&shape);
  }
  err = GpCheckCuda(A->dev, cudaFuncSetAttribute(KMeansDirectKernel<D, P>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared), "KMeansDirect");
  if (!err) err = GpCheckCuda(A->dev, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, KMeansDirectKernel<D, P>, KMEANS_DIRECT_THREADS, shared), "KMeansDirect");
  blocks *= GpDevComputeUnits(A->dev);
  if (!err) err = GpLaunch(A->dev, "KMeansDirect", KMeansDirectKernel<D, P>, GpGrid{(unsigned)(tiles < blocks ? tiles : blocks), KMEANS_DIRECT_THREADS, shared}, *A, panel, shape);
  return err;
}

static GpErr KMeansDirectDispatch(const KMeansData *A)
{
  if (A->d <= 2) return KMeansDirectLaunch<2>(A);
  if (A->d <= 3) return KMeansDirectLaunch<3>(A);
  if (A->d <= 4) return KMeansDirectLaunch<4>(A);
  if (A->d <= 6) return KMeansDirectLaunch<6>(A);
  if (A->d <= 8) return KMeansDirectLaunch<8>(A);
  if (A->d <= 10) return KMeansDirectLaunch<10>(A);
  if (A->d <= 12) return KMeansDirectLaunch<12>(A);
  if (A->d <= 16) return KMeansDirectLaunch<16>(A);
  if (A->d <= 20) return KMeansDirectLaunch<20>(A);
  if (A->d <= 24) return KMeansDirectLaunch<24>(A);
  return A->d <= 28 ? KMeansDirectLaunch<28>(A) : KMeansDirectLaunch<32>(A);
}

extern "C" GpErr KMeansAssign_direct_CUDA(const KMeansData *A)
{
  KMeansData own = *A;
  GpErr      err;

  if (!A->n) return GP_SUCCESS;
  if (A->frame.numbers) return KMeansDirectDispatch(A);
  err = KMeansFrameCreate(A, &own.frame);
  if (!err) err = KMeansFrameChoose(A, &own.frame);
  if (!err) err = KMeansDirectDispatch(&own);
  KMeansFrameDestroy(A, &own.frame);
  return err;
}
