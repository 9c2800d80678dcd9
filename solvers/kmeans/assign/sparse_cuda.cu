/* Assignment of sparse points on a GPU. A kernel multiplies the nonzeros with dense centroids in single precision, and reduces the scores of a point at once, so
   that no n x k matrix is stored. Then every centroid that may be the nearest is evaluated in double precision.

   The centroids are rounded to single precision and stored by features, in panels of 16, 32, 64 or 128 centroids. A group of lanes of a warp takes one point. Each lane
   has 4 centroids of the panel, so that a nonzero costs one load of 16 bytes for each lane. The groups load the nonzeros of their points together and broadcast
   them by shuffles. A launch computes the scores of all points for one panel, so that the panel stays in the L2 cache.

   The score of point x and centroid m is s = |m|^2 / 2 - x.m. Notation: f is its exact value for the stored |m|^2, z the number of nonzeros, u = 2^-24,
   h = 2^-150 the largest error of a result below the normal range, and |.| the Euclidean norm, so that the sum of all |x_j m_j| is at most |x| |m|. The relative
   errors that act on a product x_j m_j are those of rounding x_j and m_j, of at most z additions by fmaf(), and of the subtraction in s. Those that act on
   |m|^2 / 2 are its rounding and the subtraction. The underflow of x_j, m_j and of the sums adds at most h (z + 1) (|x| + |m| + 1). So

       |s - f| <= g |x| |m| + 4 u |m|^2 / 2 + 4 h (z + 8) (|x| + |m| + 1) = e,    g = (z + 8) u / (1 - (z + 8) u).

   The bound e covers three more roundings of each product: that of s - e and s + e, and the errors of the definition, which are far smaller as it is
   in double precision. Then 2 (s - e) and 2 (s + e) are bounds on what the definition compares. Let U be the least s + e of all centroids. The label by the
   definition is a centroid with s - e <= U. Usually there is one. If a bound may overflow, or g is not small, the interval of the centroid is infinite. */
#include "solvers/kmeans/kmeanstotals.cuh"

static constexpr int     KMEANS_THREADS  = 256;
static constexpr int     KMEANS_FLIGHT   = 4;    /* number of nonzeros whose loads are in flight together */
static constexpr int     KMEANS_TOGETHER = 4;    /* largest number of candidates that a group evaluates together, one after another */
static constexpr int32_t KMEANS_LONG     = 4096; /* points with more nonzeros have a block of threads each */

/* Bounds on the scores of a point, over all centroids so far. */
struct alignas(16) KMeansLeaders {
  float   upper;         /* least upper bound on a score */
  float   least, second; /* the two least lower bounds */
  int32_t label;         /* centroid of the least lower bound */
};

/* Norms of a centroid. square: |m|^2 / 2, or 0 for the cosine metric. norm: upper bound on |m|. */
struct alignas(8) KMeansHalf {
  float square, norm;
};

struct KMeansSparse {
  KMeansData     data;
  int32_t        width, panels; /* number of centroids of a panel, and number of panels */
  int32_t        panel;         /* the panel of this launch */
  int32_t        points;        /* number of points that a group of lanes takes one after another */
  float         *feature;       /* [panels][d][width] the centroids; 0 beyond the last one */
  KMeansHalf    *half;          /* [panels][width] */
  KMeansLeaders *leaders;       /* [n] leaders over the previous panels; only if there are several panels */
  int32_t       *many;          /* [1] number of long points, NULL: there are none */
  int32_t       *longer;        /* [n] numbers of the long points */
};

/* The bound e of a point is norm |m| + 4 u |m|^2 / 2 + constant. */
struct KMeansSparseError {
  float size; /* upper bound on |x|; infinite if g is not small */
  float norm, constant;
};

/* Transposes blocks of 32 features and 32 centroids in shared memory, so that loads along features and stores along centroids are both contiguous. */
__global__ static void KMeansSparseStoreKernel(KMeansSparse S)
{
  __shared__ float  tile[32][33];
  const KMeansData &A = S.data;
  const int         x = threadIdx.x % 32, y = threadIdx.x / 32, rows = KMEANS_THREADS / 32;
  const int32_t     feature = blockIdx.x * 32, centroid = blockIdx.y * 32, c = centroid + x;

  for (int r = y; r < 32; r += rows) tile[r][x] = centroid + r < A.k && feature + x < A.d ? (float)A.centroid[(int64_t)(centroid + r) * A.d + feature + x] : 0.0f;
  __syncthreads();
  if (c >= S.panels * S.width) return;
  for (int r = y; r < 32; r += rows)
    if (feature + r < A.d) S.feature[((int64_t)(c / S.width) * A.d + feature + r) * S.width + c % S.width] = tile[x][r];
  if (blockIdx.x == 0 && y == 0) {
    const double square = A.cosine || c >= A.k ? 0 : A.square[c];

    S.half[c].square = (float)(square / 2);
    S.half[c].norm   = A.cosine ? 1.001f : __double2float_ru(sqrt(square) * (1 + 0x1p-20));
  }
}

/* The constants of the bound e for a point with z nonzeros. */
__device__ static KMeansSparseError KMeansSparseBound(const KMeansData &A, int64_t i, int32_t z)
{
  const float       g = __fmul_ru(__int2float_ru(z) + 8, 0x1p-24f), tiny = __fmul_ru(__int2float_ru(z) + 8, 0x1p-148f);
  KMeansSparseError E;

  E.size     = g > 0.25f ? INFINITY : A.cosine ? 1.001f : __fsqrt_ru(__double2float_ru(A.pointsquare[i] * (1 + 0x1p-20)));
  E.norm     = __fmaf_ru(E.size, __fmaf_ru(2 * g, g, g), tiny); /* g (1 + 2 g) >= g / (1 - g) */
  E.constant = __fmaf_ru(E.size, tiny, tiny);
  return E;
}

/* Inner products of the nonzeros of a point, from number `from` until `to`, with the 4 centroids of this lane. The group takes LANES consecutive nonzeros
   of each `step` nonzeros. `most` is the largest to - from in the warp, or in the group if only its lanes are in the mask. All lanes of the mask
   call the function together. */
template <int LANES>
__device__ __forceinline__ static float4 KMeansSparseDots(const KMeansSparse &S, int32_t panel, int64_t from, int64_t to, int64_t most, int32_t step, unsigned mask)
{
  const KMeansData &A    = S.data;
  const int         lane = threadIdx.x % LANES;
  const float4     *m    = (const float4 *)(S.feature + (int64_t)panel * A.d * S.width) + lane;
  float4            sum  = {0, 0, 0, 0};

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
#pragma unroll
      for (int q = 0; q < KMEANS_FLIGHT; q++) {
        const int32_t feature = __shfl_sync(mask, column, j + q, LANES);
        const float   value   = __shfl_sync(mask, x, j + q, LANES);
        const float4  row     = __ldg(m + (int64_t)feature * LANES);

        sum.x = fmaf(value, row.x, sum.x);
        sum.y = fmaf(value, row.y, sum.y);
        sum.z = fmaf(value, row.z, sum.z);
        sum.w = fmaf(value, row.w, sum.w);
      }
    }
  }
  return sum;
}

/* Lower and upper bounds on the score of a centroid. */
__device__ __forceinline__ static void KMeansSparseInterval(const KMeansSparseError &E, KMeansHalf half, float dot, float *lower, float *upper)
{
  const float score = half.square - dot, error = fmaf(E.norm, half.norm, fmaf(0x1p-22f, half.square, E.constant));
  const bool  finite = E.size * half.norm + half.square < 0x1p120f; /* false for NaN */

  *lower = finite ? score - error : -INFINITY;
  *upper = finite ? score + error : INFINITY;
}

/* Merges the leaders over other centroids into L. Of equal lower bounds the lowest label wins. */
__device__ __forceinline__ static void KMeansLeadersMerge(KMeansLeaders *L, const KMeansLeaders &other)
{
  const bool nearer = other.least < L->least || (other.least == L->least && other.label < L->label);

  L->second = nearer ? fminf(L->least, other.second) : fminf(L->second, other.least);
  L->least  = nearer ? other.least : L->least;
  L->label  = nearer ? other.label : L->label;
  L->upper  = fminf(L->upper, other.upper);
}

/* Returns the leaders of a panel, in all lanes of the group. dot: inner products with the centroids of this lane. */
template <int LANES>
__device__ __forceinline__ static KMeansLeaders KMeansSparseLead(const KMeansSparse &S, int32_t panel, const KMeansSparseError &E, const float4 &dot, unsigned mask)
{
  const int32_t     first  = panel * S.width + 4 * (threadIdx.x % LANES);
  const float       dots[] = {dot.x, dot.y, dot.z, dot.w};
  KMeansLeaders     L      = {INFINITY, INFINITY, INFINITY, first};
  const KMeansHalf *half   = S.half + first;

#pragma unroll
  for (int q = 0; q < 4; q++) {
    KMeansLeaders one = {INFINITY, INFINITY, INFINITY, first + q};

    if (first + q < S.data.k) KMeansSparseInterval(E, half[q], dots[q], &one.least, &one.upper);
    KMeansLeadersMerge(&L, one);
  }
#pragma unroll
  for (int step = LANES / 2; step > 0; step /= 2) {
    const KMeansLeaders other = {__shfl_xor_sync(mask, L.upper, step), __shfl_xor_sync(mask, L.least, step), __shfl_xor_sync(mask, L.second, step), __shfl_xor_sync(mask, L.label, step)};

    KMeansLeadersMerge(&L, other);
  }
  return L;
}

/* Returns KMeansCompare() of point i and centroid c. The lanes of a group compute the products, then each lane adds all products in the order of the definition.
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

/* Evaluates all candidates by the definition: the centroids whose lower bounds do not exceed `upper`. `candidates` receives their number. dot: inner products
   with the centroids of this lane, if there is one panel. */
template <int LANES>
__device__ static KMeansSparseNearest KMeansSparseChoose(const KMeansSparse &S, int64_t i, const KMeansSparseError &E, float upper, float4 dot, unsigned mask, double *product, int64_t *candidates)
{
  const KMeansData   &A    = S.data;
  const int64_t       from = A.row[i], to = A.row[i + 1];
  KMeansSparseNearest best = {HUGE_VAL, 0};

  for (int32_t panel = 0; panel < S.panels; panel++) {
    const int32_t base = panel * S.width, first = base + 4 * (threadIdx.x % LANES);

    if (S.panels > 1) dot = KMeansSparseDots<LANES>(S, panel, from, to, to - from, LANES, mask);
#pragma unroll
    for (int q = 0; q < 4; q++) {
      const int32_t c     = first + q;
      float         lower = INFINITY, unused;
      bool          candidate;
      unsigned      votes;

      if (c < A.k) KMeansSparseInterval(E, S.half[c], q == 0 ? dot.x : q == 1 ? dot.y : q == 2 ? dot.z : dot.w, &lower, &unused);
      candidate = c < A.k && !(lower > upper);
      votes     = __ballot_sync(mask, candidate);
      *candidates += __popc(votes);
      if (__popc(votes) > KMEANS_TOGETHER) {
        if (candidate) KMeansSparseTake(&best, KMeansCompare(&A, i, c), c);
      } else {
        for (; votes; votes &= votes - 1) {
          const int32_t other = base + 4 * ((__ffs(votes) - 1) % LANES) + q;

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
template <int LANES>
__device__ __forceinline__ static void KMeansSparsePut(const KMeansSparse &S, int64_t i, const KMeansSparseError &E, const KMeansLeaders &L, float4 dot, unsigned mask, double *product, KMeansTotals *T)
{
  KMeansSparseNearest best;
  int64_t             candidates = 1;

  if (L.second > L.upper) {
    best.label    = L.label;
    best.compared = KMeansSparseCompare<LANES>(S.data, i, L.label, mask, product);
  } else {
    candidates = 0;
    best       = KMeansSparseChoose<LANES>(S, i, E, L.upper, dot, mask, product, &candidates);
  }
  if (threadIdx.x % LANES == 0) KMeansTotalsPut(&S.data, i, best.label, best.compared, S.data.k, candidates - 1, T);
}

/* Assigns points, one group of lanes for each point. */
template <int LANES>
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
    float4            dot;

    if (mine) {
      from = A.row[i];
      to   = A.row[i + 1];
      if (S.many && to - from > KMEANS_LONG) {
        if (S.panel == 0 && lane == 0) S.longer[atomicAdd(S.many, 1)] = (int32_t)i;
        to   = from;
        mine = false;
      } else E = KMeansSparseBound(A, i, (int32_t)(to - from));
    }
    most = to - from;
#pragma unroll
    for (int step = 16; step >= LANES; step /= 2) {
      const int64_t other = __shfl_xor_sync(0xffffffffu, most, step);

      most = other > most ? other : most;
    }
    dot = KMeansSparseDots<LANES>(S, S.panel, from, to, most, LANES, 0xffffffffu);
    if (mine) {
      KMeansLeaders L = KMeansSparseLead<LANES>(S, S.panel, E, dot, mask);

      if (S.panel > 0) KMeansLeadersMerge(&L, S.leaders[i]);
      if (S.panel == S.panels - 1) KMeansSparsePut<LANES>(S, i, E, L, dot, mask, product + group * LANES, &T);
      else if (lane == 0) S.leaders[i] = L;
    }
    __syncwarp();
  }
  if (S.panel == S.panels - 1) KMeansTotalsAdd(&A, &T);
}

/* Assigns the long points, one block for each point and all panels. The groups of lanes divide the nonzeros, and the first group adds the sums of all groups. A product
   passes through at most z / 8 + 32 additions in its group and 63 additions of groups. As z > KMEANS_LONG, these are fewer than z, so that the bound e holds. */
template <int LANES>
__global__ __launch_bounds__(KMEANS_THREADS) static void KMeansSparseLongKernel(KMeansSparse S)
{
  constexpr int     GROUPS = KMEANS_THREADS / LANES;
  __shared__ double product[LANES];
  __shared__ float4 part[KMEANS_THREADS];
  const KMeansData &A     = S.data;
  const int         group = threadIdx.x / LANES;
  const unsigned    mask  = LANES == 32 ? 0xffffffffu : (1u << LANES % 32) - 1;
  KMeansTotals      T     = {};

  for (int32_t p = blockIdx.x; p < *S.many; p += gridDim.x) {
    const int64_t     i = S.longer[p], from = A.row[i], to = A.row[i + 1];
    KMeansSparseError E   = KMeansSparseBound(A, i, (int32_t)(to - from));
    KMeansLeaders     L   = {INFINITY, INFINITY, INFINITY, INT32_MAX};
    float4            dot = {0, 0, 0, 0};

    for (int32_t panel = 0; panel < S.panels; panel++) {
      part[threadIdx.x] = KMeansSparseDots<LANES>(S, panel, from + group * LANES, to, to - from - threadIdx.x / 32 * 32, KMEANS_THREADS, 0xffffffffu);
      __syncthreads();
      if (group == 0) {
        dot = part[threadIdx.x];
        for (int g = 1; g < GROUPS; g++) {
          const float4 other = part[g * LANES + threadIdx.x];

          dot.x += other.x;
          dot.y += other.y;
          dot.z += other.z;
          dot.w += other.w;
        }
        KMeansLeadersMerge(&L, KMeansSparseLead<LANES>(S, panel, E, dot, mask));
      }
      __syncthreads();
    }
    if (group == 0) KMeansSparsePut<LANES>(S, i, E, L, dot, mask, product, &T);
  }
  __syncthreads();
  KMeansTotalsAdd(&A, &T);
}

/* Launches the kernels for all panels. */
template <int LANES>
static GpErr KMeansSparseLaunch(KMeansSparse S)
{
  const KMeansData *A      = &S.data;
  const int64_t     groups = KMEANS_THREADS / LANES, share = A->n / (groups * 32 * GpDevComputeUnits(A->dev));
  const unsigned    stored = ((unsigned)(S.panels * S.width) + 31) / 32;
  GpErr             err;

  S.points = share < 1 ? 1 : share > 8 ? 8 : (int32_t)share; /* enough blocks to balance rows of different lengths */
  err      = GpLaunch(A->dev, "KMeansSparseStore", KMeansSparseStoreKernel, GpGrid{dim3(GpBlocks(A->d, 32), stored), KMEANS_THREADS}, S);
  if (!err && S.many) err = GpDevZero(A->dev, S.many, sizeof(*S.many));
  for (; !err && S.panel < S.panels; S.panel++) err = GpLaunch(A->dev, "KMeansSparse", KMeansSparseKernel<LANES>, GpGrid{GpBlocks(A->n, (unsigned)groups * S.points), KMEANS_THREADS}, S);
  if (!err && S.many) err = GpLaunch(A->dev, "KMeansSparseLong", KMeansSparseLongKernel<LANES>, GpGrid{2 * (unsigned)GpDevComputeUnits(A->dev), KMEANS_THREADS}, S);
  return err;
}

extern "C" GpErr KMeansAssign_sparse_CUDA(const KMeansData *A)
{
  KMeansSparse S = {*A};
  size_t       features, halves, leaders, numbers;
  GpErr        err;

  if (A->n <= 0) return GP_SUCCESS;
  S.width  = A->k <= 16 ? 16 : A->k <= 32 ? 32 : A->k <= 64 ? 64 : 128;
  S.panels = (A->k + S.width - 1) / S.width;
  features = (size_t)S.panels * S.width * A->d * sizeof(float);
  halves   = (size_t)S.panels * S.width * sizeof(KMeansHalf);
  leaders  = S.panels > 1 ? (size_t)A->n * sizeof(KMeansLeaders) : 0;
  numbers  = A->longest > KMEANS_LONG ? (size_t)A->n * sizeof(int32_t) : 0;
  err      = GpDevBorrow(A->dev, features, &S.feature);
  if (!err) err = GpDevBorrow(A->dev, halves, &S.half);
  if (!err) err = GpDevBorrow(A->dev, leaders, &S.leaders);
  if (!err && numbers) err = GpDevBorrow(A->dev, sizeof(*S.many), &S.many);
  if (!err) err = GpDevBorrow(A->dev, numbers, &S.longer);
  if (!err) err = S.width == 16 ? KMeansSparseLaunch<4>(S) : S.width == 32 ? KMeansSparseLaunch<8>(S) : S.width == 64 ? KMeansSparseLaunch<16>(S) : KMeansSparseLaunch<32>(S);
  GpDevReturn(A->dev, &S.longer, numbers);
  GpDevReturn(A->dev, &S.many, S.many ? sizeof(*S.many) : 0);
  GpDevReturn(A->dev, &S.leaders, leaders);
  GpDevReturn(A->dev, &S.half, halves);
  GpDevReturn(A->dev, &S.feature, features);
  return err;
}
