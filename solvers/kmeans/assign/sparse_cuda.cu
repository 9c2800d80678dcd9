/* Assignment of sparse points on a GPU. A kernel multiplies the nonzeros with dense centroids. It reduces the scores of a point immediately, so that no n x k matrix
   is stored. Then the distances of all centroids that may be the nearest are evaluated in double precision. kmeanssparse.cuh has the scores and their bound.

   The centroids are rounded to half or single precision and stored by features, in panels. A group of lanes of a warp takes one point. Each lane has 16 bytes of
   the centroids of a feature, so that a nonzero costs one load for each lane. The groups load the nonzeros of their points together and broadcast them by
   shuffles. A launch computes the scores of all points for one panel, so that the panel stays in the L2 cache.

   Loads of centroids take most of the time. Half precision halves them, but leaves more candidates than single precision. KMeansData.coarse selects half precision. */
#include "kmeanssparse.cuh"

static constexpr int     KMEANS_THREADS  = 256;
static constexpr int     KMEANS_FLIGHT   = 4;    /* number of nonzeros whose loads are in flight together */
static constexpr int     KMEANS_TOGETHER = 4;    /* largest number of candidates that all lanes of a group evaluate together, one candidate at a time. If there are more, each lane evaluates its own one */
static constexpr int32_t KMEANS_LONG     = 4096; /* a point with more nonzeros is a long point, which a whole block of threads assigns */

/* Inner products of the nonzeros of a point, from number `from` until `to`, with the centroids of this lane. The group takes LANES consecutive nonzeros
   of each `step` nonzeros. `most` is the largest to - from in the warp, or in the group if only its lanes are in the mask. All lanes of the mask
   call the function together. */
template <class Lane, int LANES>
__device__ __forceinline__ static KMeansSparseSums<Lane::COUNT> KMeansSparseDots(const KMeansSparse &S, int32_t panel, int64_t from, int64_t to, int64_t most, int32_t step, unsigned mask)
{
  const KMeansData             &A    = S.data;
  const int                     lane = threadIdx.x % LANES;
  const uint4                  *m    = (const uint4 *)((const typename Lane::Real *)S.feature + (int64_t)panel * A.d * S.width) + lane;
  KMeansSparseSums<Lane::COUNT> sums = {};

  for (; most > 0; most -= step, from += step) {
    const int64_t e      = from + lane;
    const int     count  = most < LANES ? (int)most : LANES;
    int32_t       column = 0; /* a lane without a nonzero adds zero times the first feature */
    float         x      = 0;

    if (e < to) {
      column = A.col[e];
      x      = A.single ? ((const float *)A.value)[e] : (float)((const double *)A.value)[e];
    }
    for (int j = 0; j < count; j += KMEANS_FLIGHT) {
      uint4 words[KMEANS_FLIGHT];

#pragma unroll
      for (int q = 0; q < KMEANS_FLIGHT; q++) words[q] = __ldg(m + (int64_t)__shfl_sync(mask, column, j + q, LANES) * LANES);
#pragma unroll
      for (int q = 0; q < KMEANS_FLIGHT; q++) {
        const float value = __shfl_sync(mask, x, j + q, LANES);
        float       row[Lane::COUNT];

        Lane::get(words[q], row);
#pragma unroll
        for (int c = 0; c < Lane::COUNT; c++) sums.dot[c] = fmaf(value, row[c], sums.dot[c]);
      }
    }
  }
  return sums;
}

/* Returns KMeansCompare() of point i and centroid c in all lanes of a group. Each lane computes some products, then every lane adds all products in the order of the definition.
   product: [LANES] shared memory of the group. */
template <int LANES>
__device__ static double KMeansSparseCompare(const KMeansData &A, int64_t i, int32_t c, unsigned mask, double *product)
{
  const int     lane = threadIdx.x % LANES;
  const int64_t to   = A.row[i + 1];
  const double *m    = A.centroid + (int64_t)c * A.d;
  double        sum  = 0;

  for (int64_t from = A.row[i]; from < to; from += LANES) {
    const int64_t e     = from + lane;
    const int     count = to - from < LANES ? (int)(to - from) : LANES;

    __syncwarp(mask); /* all lanes have added the previous products */
    product[lane] = e < to ? KMeansValue(&A, e) * m[A.col[e]] : 0.0;
    __syncwarp(mask);
    for (int j = 0; j < count; j += KMEANS_FLIGHT) { /* the sum is never -0, so that it does not change if zeros are added */
#pragma unroll
      for (int q = 0; q < KMEANS_FLIGHT; q++) sum += product[j + q];
    }
  }
  return A.cosine ? -sum : A.square[c] - 2 * sum;
}

/* The nearest centroid so far by the definition. */
struct KMeansSparseNearest {
  double  compared;
  int32_t label;
};

__device__ __forceinline__ static void KMeansSparseTake(KMeansSparseNearest *best, double compared, int32_t label)
{
  if (!(compared < best->compared || (compared == best->compared && label < best->label))) return;
  best->compared = compared;
  best->label    = label;
}

/* Evaluates all candidates by the definition. A candidate is a centroid whose lower bound does not exceed `upper`. Adds the number of candidates to *candidates. sums: inner
   products with the centroids of this lane if there is one panel; with several panels the function computes them again. */
template <class Lane, int LANES>
__device__ static KMeansSparseNearest KMeansSparseChoose(const KMeansSparse &S, int64_t i, const KMeansSparseError &E, float upper, KMeansSparseSums<Lane::COUNT> sums, unsigned mask, double *product, int64_t *candidates)
{
  const KMeansData   &A    = S.data;
  const int64_t       from = A.row[i], to = A.row[i + 1];
  KMeansSparseNearest best = {HUGE_VAL, 0};

  for (int32_t panel = 0; panel < S.panels; panel++) {
    const int32_t base = panel * S.width, first = base + Lane::COUNT * (threadIdx.x % LANES);

    if (S.panels > 1) sums = KMeansSparseDots<Lane, LANES>(S, panel, from, to, to - from, LANES, mask);
#pragma unroll
    for (int q = 0; q < Lane::COUNT; q++) {
      const int32_t c     = first + q;
      float         lower = INFINITY, unused;
      bool          candidate;
      unsigned      votes;

      if (c < A.k) KMeansSparseInterval(E, S.half[c], sums.dot[q], &lower, &unused);
      candidate = c < A.k && !(lower > upper);
      votes     = __ballot_sync(mask, candidate);
      *candidates += __popc(votes);
      if (__popc(votes) > KMEANS_TOGETHER) {
        if (candidate) KMeansSparseTake(&best, KMeansCompare(&A, i, c), c);
      } else {
        for (; votes; votes &= votes - 1) {
          const int32_t other = base + Lane::COUNT * ((__ffs(votes) - 1) % LANES) + q;

          KMeansSparseTake(&best, KMeansSparseCompare<LANES>(A, i, other, mask, product), other);
        }
      }
    }
  }
#pragma unroll
  for (int step = LANES / 2; step > 0; step /= 2) {
    const double  compared = __shfl_xor_sync(mask, best.compared, step);
    const int32_t label    = __shfl_xor_sync(mask, best.label, step);

    KMeansSparseTake(&best, compared, label);
  }
  return best;
}

/* Stores the label of point i. All lanes of a group, which are those of the mask, call it. */
template <class Lane, int LANES>
__device__ __forceinline__ static void KMeansSparsePut(const KMeansSparse &S, int64_t i, const KMeansSparseError &E, const KMeansLeaders &L, const KMeansSparseSums<Lane::COUNT> &sums, unsigned mask, double *product, KMeansTotals *T)
{
  KMeansSparseNearest best;
  int64_t             candidates = 1;

  if (L.second > L.upper) {
    best.label    = L.label;
    best.compared = KMeansSparseCompare<LANES>(S.data, i, L.label, mask, product);
  } else {
    candidates = 0;
    best       = KMeansSparseChoose<Lane, LANES>(S, i, E, L.upper, sums, mask, product, &candidates);
  }
  if (threadIdx.x % LANES == 0) KMeansTotalsPut(&S.data, i, best.label, best.compared, S.data.k, candidates - 1, T);
}

/* Assigns points, one group of lanes for each point. */
template <class Lane, int LANES>
__global__ __launch_bounds__(KMEANS_THREADS, 4) static void KMeansSparseKernel(KMeansSparse S)
{
  constexpr int     GROUPS = KMEANS_THREADS / LANES;
  __shared__ double product[KMEANS_THREADS];
  const KMeansData &A     = S.data;
  const int         group = threadIdx.x / LANES, lane = threadIdx.x % LANES;
  const unsigned    mask = LANES == 32 ? 0xffffffffu : ((1u << LANES % 32) - 1) << threadIdx.x % 32 / LANES * LANES;
  KMeansTotals      T    = {};

  for (int32_t p = 0; p < S.points; p++) {
    const int64_t     i    = ((int64_t)blockIdx.x * S.points + p) * GROUPS + group;
    int64_t           from = 0, to = 0, most;
    bool              mine = i < A.n;
    KMeansSparseError E    = {};

    KMeansSparseSums<Lane::COUNT> sums;

    if (mine) {
      from = A.row[i];
      to   = A.row[i + 1];
      if (S.many && to - from > KMEANS_LONG) {
        if (S.panel == 0 && lane == 0) S.longer[atomicAdd(S.many, 1)] = (int32_t)i;
        to   = from;
        mine = false;
      } else E = KMeansSparseBound(S, i, (int32_t)(to - from));
    }
    most = to - from;
#pragma unroll
    for (int step = 16; step >= LANES; step /= 2) {
      const int64_t other = __shfl_xor_sync(0xffffffffu, most, step);

      most = other > most ? other : most;
    }
    sums = KMeansSparseDots<Lane, LANES>(S, S.panel, from, to, most, LANES, 0xffffffffu);
    if (mine) {
      KMeansLeaders L = KMeansSparseLead<LANES>(S, S.panel, E, sums, mask);

      if (S.panel > 0) KMeansLeadersMerge(&L, S.leaders[i]);
      if (S.panel == S.panels - 1) KMeansSparsePut<Lane, LANES>(S, i, E, L, sums, mask, product + group * LANES, &T);
      else if (lane == 0) S.leaders[i] = L;
    }
    __syncwarp();
  }
  if (S.panel == S.panels - 1) KMeansTotalsAdd(&A, &T);
}

/* Assigns the long points, one block for each point and all panels. The groups of lanes divide the nonzeros, and the first group adds the sums of all groups. A product
   passes through at most z / 8 + 32 additions in its group and 63 additions of groups. As z > KMEANS_LONG, these are fewer than z, so that the bound e holds. */
template <class Lane, int LANES>
__global__ __launch_bounds__(KMEANS_THREADS) static void KMeansSparseLongKernel(KMeansSparse S)
{
  constexpr int     GROUPS = KMEANS_THREADS / LANES;
  __shared__ double product[LANES];

  __shared__ KMeansSparseSums<Lane::COUNT> part[KMEANS_THREADS];

  const KMeansData &A     = S.data;
  const int         group = threadIdx.x / LANES;
  const unsigned    mask  = LANES == 32 ? 0xffffffffu : (1u << LANES % 32) - 1;
  KMeansTotals      T     = {};

  for (int32_t p = blockIdx.x; p < *S.many; p += gridDim.x) {
    const int64_t     i = S.longer[p], from = A.row[i], to = A.row[i + 1];
    KMeansSparseError E = KMeansSparseBound(S, i, (int32_t)(to - from));
    KMeansLeaders     L = {INFINITY, INFINITY, INFINITY, INT32_MAX};

    KMeansSparseSums<Lane::COUNT> sums = {};

    for (int32_t panel = 0; panel < S.panels; panel++) {
      part[threadIdx.x] = KMeansSparseDots<Lane, LANES>(S, panel, from + group * LANES, to, to - from - threadIdx.x / 32 * 32, KMEANS_THREADS, 0xffffffffu);
      __syncthreads();
      if (group == 0) {
        sums = part[threadIdx.x];
        for (int g = 1; g < GROUPS; g++) {
#pragma unroll
          for (int q = 0; q < Lane::COUNT; q++) sums.dot[q] += part[g * LANES + threadIdx.x].dot[q];
        }
        KMeansLeadersMerge(&L, KMeansSparseLead<LANES>(S, panel, E, sums, mask));
      }
      __syncthreads();
    }
    if (group == 0) KMeansSparsePut<Lane, LANES>(S, i, E, L, sums, mask, product, &T);
  }
  __syncthreads();
  KMeansTotalsAdd(&A, &T);
}

/* Launches the kernels for all panels. */
template <class Lane, int LANES>
static GpErr KMeansSparseLaunch(KMeansSparse S)
{
  const KMeansData *A      = &S.data;
  const int64_t     groups = KMEANS_THREADS / LANES, share = A->n / (groups * 32 * GpDevComputeUnits(A->dev));
  const unsigned    stored = ((unsigned)(S.panels * S.width) + 31) / 32;
  GpErr             err;

  S.points = share < 1 ? 1 : share > 8 ? 8 : (int32_t)share; /* enough blocks to balance rows of different lengths */
  err      = GpLaunch(A->dev, "KMeansSparseStore", KMeansSparseStoreKernel<typename Lane::Real>, GpGrid{dim3(GpBlocks(A->d, 32), stored), KMEANS_THREADS}, S);
  if (!err && S.many) err = GpDevZero(A->dev, S.many, sizeof(*S.many));
  for (; !err && S.panel < S.panels; S.panel++) err = GpLaunch(A->dev, "KMeansSparse", (KMeansSparseKernel<Lane, LANES>), GpGrid{GpBlocks(A->n, (unsigned)groups * S.points), KMEANS_THREADS}, S);
  if (!err && S.many) err = GpLaunch(A->dev, "KMeansSparseLong", (KMeansSparseLongKernel<Lane, LANES>), GpGrid{2 * (unsigned)GpDevComputeUnits(A->dev), KMEANS_THREADS}, S);
  return err;
}

/* Launches the kernels with groups of so many lanes that their centroids are those of a panel. */
template <class Lane>
static GpErr KMeansSparseRun(const KMeansSparse &S)
{
  switch (S.width / Lane::COUNT) {
  case 4:
    return KMeansSparseLaunch<Lane, 4>(S);
  case 8:
    return KMeansSparseLaunch<Lane, 8>(S);
  case 16:
    return KMeansSparseLaunch<Lane, 16>(S);
  default:
    return KMeansSparseLaunch<Lane, 32>(S);
  }
}

extern "C" GpErr KMeansAssign_sparse_CUDA(const KMeansData *A)
{
  KMeansSparse S = {*A};
  size_t       features, halves, leaders, numbers;
  GpErr        err;

  if (A->n <= 0) return GP_SUCCESS;
  S.halved = A->coarse;
  S.width  = S.halved ? 32 : 16;
  while (S.width < A->k && S.width < (S.halved ? 256 : 128)) S.width *= 2;
  S.panels = (A->k + S.width - 1) / S.width;
  features = (size_t)S.panels * S.width * A->d * (S.halved ? sizeof(__half) : sizeof(float));
  halves   = (size_t)S.panels * S.width * sizeof(KMeansHalf);
  leaders  = S.panels > 1 ? (size_t)A->n * sizeof(KMeansLeaders) : 0;
  numbers  = A->longest > KMEANS_LONG ? (size_t)A->n * sizeof(int32_t) : 0;
  err      = GpDevBorrow(A->dev, features, &S.feature);
  if (!err) err = GpDevBorrow(A->dev, halves, &S.half);
  if (!err) err = GpDevBorrow(A->dev, leaders, &S.leaders);
  if (!err && numbers) err = GpDevBorrow(A->dev, sizeof(*S.many), &S.many);
  if (!err) err = GpDevBorrow(A->dev, numbers, &S.longer);
  if (!err) err = S.halved ? KMeansSparseRun<KMeansSparseEight>(S) : KMeansSparseRun<KMeansSparseFour>(S);
  GpDevReturn(A->dev, &S.longer, numbers);
  GpDevReturn(A->dev, &S.many, S.many ? sizeof(*S.many) : 0);
  GpDevReturn(A->dev, &S.leaders, leaders);
  GpDevReturn(A->dev, &S.half, halves);
  GpDevReturn(A->dev, &S.feature, features);
  return err;
}
