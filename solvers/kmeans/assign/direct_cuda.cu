/* CUDA implementation of `direct`: dense points with up to KMEANS_DIRECT features, Euclidean metric. screen/kmeansframe.cuh has the scores and the proof of
   their bound.

   A warp takes 32 P points, and a thread holds P of them in registers, D features each. The centroids lie in shared memory in groups of KMEANS_DIRECT_GROUP,
   feature by feature, so that a load of 16 bytes broadcasts a feature of four centroids to all threads of a warp. A centroid costs D fused
   multiply-adds and about 1.5 other instructions for a point: the least score of each group, then the least of all groups, the number of its group, and
   the least of the other groups. Scores here are the negative scores of the frame.

   If the least score of the other groups is beyond the bound, only the centroids of one group can be the nearest. Their scores are computed again, and
   the distances of those within the bound are evaluated by the definition. Otherwise the warp evaluates the distances of all centroids.

   Sums of clusters (KMeansData.fuse) change only by the points whose labels change. The warp lists these first, because threads that add to sums in
   shared memory collide, and few threads of a warp have such points. */
#include "solvers/kmeans/screen/kmeansframe.cuh"
#include "solvers/kmeans/kmeanstotals.cuh"
#include "solvers/kmeans/update/kmeanstally.cuh"

#define KMEANS_DIRECT_GROUP 8

/* Number of points of a thread: as many as the registers hold, because each load of centroids serves all of them. */
#define KMeansDirectPoints(D) ((D) <= 8 ? 8 : (D) <= 12 ? 6 : (D) <= 16 ? 5 : 4)

/* Number of threads of a block, of which a multiprocessor runs one: its registers are divided among them. */
#define KMeansDirectThreads(D) ((D) <= 4 ? 512 : (D) <= 24 ? 384 : 256)

/* Number of floats of a group in shared memory: half the squared norms, then the features. */
#define KMeansDirectRow(D) (KMEANS_DIRECT_GROUP * ((D) + 1))

/* Number of features of a point that is added to the sums, which take four at a time. */
#define KMeansDirectWidth(D) (((D) + 3) / 4 * 4)

/* Centre and scale in shared memory. */
template <int D>
struct KMeansDirectFrame {
  double scale, centre[D];
  float  scalesingle, centresingle[D];
};

/* What a warp keeps in shared memory of its points. Point `slot` is point first + slot. */
template <int P>
struct KMeansDirectWarp {
  float    limit[32 * P]; /* scores above it exclude a centroid; later the bits of the new label */
  int32_t  group[32 * P]; /* group of all candidates, -1: they are in several groups; later the old label, -1: none */
  uint16_t slot[32 * P];  /* points that move from one sum to another */
};

/* Half the squared norm of the coordinates m' of centroid c, before they are rounded. *most becomes an upper bound on the norms; the bits of nonnegative numbers
   are ordered like the numbers. m: where coordinate j goes to m[j * KMEANS_DIRECT_GROUP], or NULL. Coordinates beyond the last one are 0. */
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

/* The features x of point i, and the negative coordinates y = -x'. Both are 0 beyond the last feature and the last point. */
template <int D, int WIDTH>
__device__ static void KMeansDirectPoint(const KMeansData &A, const KMeansDirectFrame<D> &F, int64_t i, float (&y)[D], double (&x)[WIDTH])
{
#pragma unroll
  for (int j = D; j < WIDTH; j++) x[j] = 0;
  if (A.single) {
    const float *from = (const float *)A.value + i * A.d;
    float        v[D];

    if (A.d == D && D % 4 == 0 && i < A.n) { /* rows are aligned to a vector */
#pragma unroll
      for (int j = 0; j < D / 4; j++) {
        const float4 four = ((const float4 *)from)[j];

        v[4 * j]           = four.x;
        v[(4 * j + 1) % D] = four.y;
        v[(4 * j + 2) % D] = four.z;
        v[(4 * j + 3) % D] = four.w;
      }
    } else if (A.d == D && D % 2 == 0 && i < A.n) {
#pragma unroll
      for (int j = 0; j < D / 2; j++) {
        const float2 two = ((const float2 *)from)[j];

        v[2 * j]           = two.x;
        v[(2 * j + 1) % D] = two.y;
      }
    } else {
#pragma unroll
      for (int j = 0; j < D; j++) v[j] = i < A.n && j < A.d ? from[j] : 0;
    }
#pragma unroll
    for (int j = 0; j < D; j++) {
      x[j] = v[j];
      y[j] = j < A.d ? -KMeansFrameCoordinate(v[j], F.centresingle[j], F.scalesingle) : 0;
    }
  } else {
#pragma unroll
    for (int j = 0; j < D; j++) {
      x[j] = i < A.n && j < A.d ? ((const double *)A.value)[i * A.d + j] : 0;
      y[j] = j < A.d ? -KMeansFrameCoordinate(x[j], F.centre[j], F.scale) : 0;
    }
  }
}

/* The points of a thread. y holds the negative coordinates, so that a score is a chain of fused multiply-adds. */
template <int D, int P>
struct KMeansDirectTile {
  float   y[P][D];
  float   norm[P];
  float   best[P], second[P]; /* least score of a group, and of all other groups */
  int32_t group[P];

  __device__ void load(const KMeansData &A, const KMeansDirectFrame<D> &F, int64_t first)
  {
#pragma unroll
    for (int p = 0; p < P; p++) {
      float  sum = 0;
      double x[D];

      KMeansDirectPoint(A, F, first + 32 * p, y[p], x);
#pragma unroll
      for (int j = 0; j < D; j++) sum = __fmaf_rn(y[p][j], y[p][j], sum);
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
  float   y[D];
  int32_t label;
  double  compared;

  /* What KMeansCompare() returns. Features beyond the last one add 0, which changes no sum. */
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

  /* Evaluates the centroids of a group in shared memory whose scores are not above the limit. Returns how many those are. */
  __device__ int evaluateGroup(const KMeansData &A, int32_t group, const float *centroids, float limit)
  {
    const float4 *m = (const float4 *)centroids;
    float         score[KMEANS_DIRECT_GROUP];
    unsigned      near = 0;

#pragma unroll
    for (int half = 0; half < KMEANS_DIRECT_GROUP / 4; half++) {
      const float4 h = m[half];

      score[4 * half]     = h.x;
      score[4 * half + 1] = h.y;
      score[4 * half + 2] = h.z;
      score[4 * half + 3] = h.w;
    }
#pragma unroll
    for (int j = 0; j < D; j++) {
#pragma unroll
      for (int half = 0; half < KMEANS_DIRECT_GROUP / 4; half++) {
        const float4 v = m[(j + 1) * (KMEANS_DIRECT_GROUP / 4) + half];

        score[4 * half]     = __fmaf_rn(y[j], v.x, score[4 * half]);
        score[4 * half + 1] = __fmaf_rn(y[j], v.y, score[4 * half + 1]);
        score[4 * half + 2] = __fmaf_rn(y[j], v.z, score[4 * half + 2]);
        score[4 * half + 3] = __fmaf_rn(y[j], v.w, score[4 * half + 3]);
      }
    }
#pragma unroll
    for (int q = 0; q < KMEANS_DIRECT_GROUP; q++) near |= (unsigned)!(score[q] > limit) << q;
    return evaluateMany(A, group, near);
  }

  /* Evaluates the centroids of a group whose bits are set. Returns how many those are. */
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

/* Finds the labels of the points of a warp. centroids: all of them, or NULL if they do not fit shared memory. fresh: the sums contain no point yet. Returns
   the number of slots of points that move to another sum. */
template <int D, int P>
__device__ static int KMeansDirectFinish(const KMeansData &A, const KMeansDirectFrame<D> &F, int64_t first, const float *centroids, int fresh, KMeansDirectWarp<P> *W, KMeansTotals *T)
{
  const int lane  = threadIdx.x % 32;
  int       moved = 0;

#pragma unroll 1
  for (int slot = lane; slot < 32 * P; slot += 32) {
    const int64_t        i     = first + slot;
    const int            valid = i < A.n;
    const int32_t        old = valid ? A.label[i] : -1, group = valid ? W->group[slot] : 0;
    KMeansDirectPlace<D> place;
    int                  evaluated = 1, moves;
    unsigned             open      = __ballot_sync(0xffffffffu, group < 0);

    KMeansDirectPoint(A, F, i, place.y, place.x);
    place.label    = INT32_MAX;
    place.compared = HUGE_VAL;
    if (valid && group >= 0) evaluated = centroids ? place.evaluateGroup(A, group, centroids + (int64_t)group * KMeansDirectRow(D), W->limit[slot]) : place.evaluateMany(A, group, (1u << KMEANS_DIRECT_GROUP) - 1);
    for (; open; open &= open - 1) {
      const int from = __ffs((int)open) - 1;
      int32_t   label;
      double    compared;

      KMeansDirectEvaluateAll(A, __shfl_sync(0xffffffffu, i, from), &label, &compared);
      if (lane == from) {
        place.label    = label;
        place.compared = compared;
        evaluated      = A.k + 1;
      }
    }
    if (valid) KMeansTotalsReplace(&A, i, old, place.label, place.compared, A.k, evaluated - 1, T); /* one of the candidates is not evaluated again */
    if (!A.fuse) continue;
    moves = valid && (fresh || old != place.label);
    open  = __ballot_sync(0xffffffffu, moves);
    if (moves) {
      W->slot[moved + __popc(open & ((1u << lane) - 1))] = (uint16_t)slot;
      W->limit[slot]                                     = __int_as_float(place.label);
      W->group[slot]                                     = fresh ? -1 : old;
    }
    moved += __popc(open);
  }
  return moved;
}

/* Moves the points of `moved` slots from one sum to another. */
template <int D, int P>
__device__ static void KMeansDirectMove(const KMeansData &A, const KMeansDirectFrame<D> &F, int64_t first, int moved, const KMeansDirectWarp<P> *W, const KMeansBlockTally *sums)
{
  for (int e = threadIdx.x % 32; e < moved; e += 32) {
    const int     slot       = W->slot[e];
    const int64_t i          = first + slot;
    const int32_t cluster[2] = {__float_as_int(W->limit[slot]), W->group[slot]};
    float         y[D];
    double        x[KMeansDirectWidth(D)];

    KMeansDirectPoint(A, F, i, y, x);
#pragma unroll 1
    for (int side = 0; side < 2 && cluster[side] >= 0; side++) {
      const int32_t at[1]    = {KMeansTallyAt(sums, 0, cluster[side], i)};
      const int64_t mass     = A.weight ? KMeansToFixed(A.weight[i], A.mass.first) : 1;
      const int64_t fixed[1] = {side ? -mass : mass};

      KMeansTallyAdd(sums, at, fixed);
      KMeansTallyAddPoint(&A, sums, i, cluster[side], x);
#pragma unroll
      for (int j = 0; j < D; j++) x[j] = -x[j];
    }
  }
}

template <int D, int P, int THREADS>
__global__ __launch_bounds__(THREADS, 1) static void KMeansDirectKernel(const __grid_constant__ KMeansData A, int32_t panel, const __grid_constant__ KMeansTallyShape shape)
{
  extern __shared__ float4 shared[];
  __shared__ KMeansDirectFrame<D> F;
  __shared__ KMeansDirectWarp<P> warps[THREADS / 32];
  __shared__ unsigned            most; /* upper bound on the norms of all centroids */
  float                         *centroids = (float *)shared;
  const int32_t                  groups = (A.k + KMEANS_DIRECT_GROUP - 1) / KMEANS_DIRECT_GROUP, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int                      fresh   = !A.loop || A.loop->fresh;
  KMeansFrameNumbers             numbers = {};
  KMeansTotals                   T       = {};
  KMeansBlockTally               sums    = {};
  float                          term[3];

  if (A.loop && A.loop->reason) return;
  if (A.fuse) KMeansTallyClear(&sums, &shape, (uint32_t *)(centroids + (int64_t)panel * KMeansDirectRow(D)));
  if (threadIdx.x < D) {
    F.centre[threadIdx.x]       = (int)threadIdx.x < A.d ? A.frame.centre[threadIdx.x] : 0;
    F.centresingle[threadIdx.x] = (float)F.centre[threadIdx.x];
  }
  if (threadIdx.x == 0) {
    F.scale       = KMeansFrameScale(A.frame.numbers, A.single);
    F.scalesingle = (float)F.scale;
    most          = 0;
  }
  __syncthreads();
  if (panel == groups) KMeansDirectLoad(A, F, 0, groups, centroids, &most);
  else
    for (int32_t c = threadIdx.x; c < A.k; c += THREADS) (void)KMeansDirectConvert(A, F, c, NULL, &most); /* the bound needs the norms of all panels */
  __syncthreads();
  numbers.largest = __uint_as_float(most);
  numbers.error   = KMeansFrameRounding(A.d, numbers.largest);
  KMeansFrameErrorTerms(&numbers, A.d, F.scale, KMeansFrameRelative(D), term);
  for (int64_t round = 0; round * 32 * P * (THREADS / 32) * gridDim.x < A.n; round++) {
    const int64_t first = ((round * (THREADS / 32) + warp) * gridDim.x + blockIdx.x) * 32 * P;
    int           moved;

    if (panel == groups && first >= A.n) break; /* with several panels, all warps take part in the loads */

    {
      KMeansDirectTile<D, P> tile;

      tile.load(A, F, first + lane);
      if (panel == groups) tile.search(0, groups, centroids);
      else
        for (int32_t from = 0; from < groups; from += panel) {
          const int32_t to = groups - from < panel ? groups : from + panel;

          __syncthreads();
          KMeansDirectLoad(A, F, from, to, centroids, &most);
          __syncthreads();
          tile.search(from, to - from, centroids);
        }
#pragma unroll
      for (int p = 0; p < P; p++) {
        const float limit = tile.best[p] + __fmaf_rn(tile.norm[p], __fmaf_rn(tile.norm[p], term[2], term[1]), term[0]);

        warps[warp].limit[32 * p + lane] = limit;
        warps[warp].group[32 * p + lane] = tile.second[p] > limit ? tile.group[p] : -1;
      }
    }
    moved = KMeansDirectFinish<D, P>(A, F, first, panel == groups ? centroids : NULL, fresh, &warps[warp], &T);
    __syncwarp();
    if (moved) KMeansDirectMove<D, P>(A, F, first, moved, &warps[warp], &sums);
    __syncwarp();
  }
  KMeansTotalsAdd(&A, &T);
  if (A.fuse) KMeansTallyFlush(&A, &sums);
}

/* Number of bytes of dynamic shared memory that a block may have. */
static GpErr KMeansDirectShared(GpDev dev, size_t fixed, size_t *bytes)
{
  int   most = 0;
  GpErr err  = GpCheckCuda(dev, cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, GpDevOrdinal(dev)), "KMeansDirect");

  *bytes = (size_t)most > fixed ? (size_t)most - fixed : 0;
  return err;
}

/* Arranges the sums in half the shared memory. Returns 0 if they do not fit. */
static int KMeansDirectArrange(const KMeansData *A, size_t bytes, KMeansTallyShape *shape)
{
  return KMeansTallyFit(A, 0, A->d, KMEANS_TALLY_COPIES, bytes / 4, shape) || KMeansTallyFit(A, 0, A->d, 1, bytes / 2, shape);
}

/* Bytes of static shared memory, rounded up. */
#define KMEANS_DIRECT_STATIC ((size_t)44 << 10)

extern "C" int KMeansFuses_CUDA(const KMeansData *A)
{
  KMeansTallyShape shape;
  size_t           bytes;

  return !KMeansDirectShared(A->dev, KMEANS_DIRECT_STATIC, &bytes) && KMeansDirectArrange(A, bytes, &shape);
}

/* Launches a block for each multiprocessor. */
template <int D>
static GpErr KMeansDirectLaunch(const KMeansData *A)
{
  constexpr int    P = KMeansDirectPoints(D), THREADS = KMeansDirectThreads(D);
  constexpr size_t row    = KMeansDirectRow(D) * sizeof(float);
  const int32_t    groups = (A->k + KMEANS_DIRECT_GROUP - 1) / KMEANS_DIRECT_GROUP;
  const int64_t    tiles = ((int64_t)A->n + 32 * P - 1) / (32 * P), units = GpDevComputeUnits(A->dev);
  KMeansTallyShape shape = {};
  size_t           bytes, sums = 0;
  int32_t          panel;
  GpErr            err = KMeansDirectShared(A->dev, KMEANS_DIRECT_STATIC, &bytes);

  static_assert(sizeof(KMeansDirectWarp<P>) * (THREADS / 32) + sizeof(KMeansDirectFrame<D>) + 256 <= KMEANS_DIRECT_STATIC, "static shared memory");
  if (err) return err;
  if (A->fuse && KMeansDirectArrange(A, bytes, &shape)) sums = KMeansTallyBytes(&shape);
  panel = (int32_t)((bytes - sums) / row);
  panel = panel < groups ? panel : groups;
  err   = GpCheckCuda(A->dev, cudaFuncSetAttribute(KMeansDirectKernel<D, P, THREADS>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)(panel * row + sums)), "KMeansDirect");
  if (!err) err = GpLaunch(A->dev, "KMeansDirect", KMeansDirectKernel<D, P, THREADS>, GpGrid{(unsigned)(tiles < units ? tiles : units), THREADS, panel * row + sums}, *A, panel, shape);
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
