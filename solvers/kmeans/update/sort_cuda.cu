/* Update by sorting on a GPU. The numbers of the points are sorted by label. Then each team of threads sums a run of sorted points, and adds the sums to the
   tally where the label changes and at the end of the run. So each run, cluster in it, and feature needs one global atomic, and every value is read once.

   A team has 1 to 32 threads, and a thread up to KMEANS_SORT_FEATURES features, whose sums are in registers. If a team of 32 threads does not
   suffice, the features are divided into slabs, one for each row of blocks of the grid.

   The integers are those of KMeansToFixed(), without a conversion, which a GPU executes at a quarter of the rate of double-precision sums or less:
   KMEANS_SORT_SHIFT + x is rounded to the nearest integer, ties to even, if |x| <= 2^51, and its bits minus those of KMEANS_SORT_SHIFT are this integer.
   |x| is below 2^(61 - b) for N <= 2^b points on all ranks (KMeansScale()), thus below 2^51 if a rank has more than 512 points.

   For points in single precision without weights even that takes longer than to read the points. KMeansSortFastKernel() computes the same integers in single precision. Let
   t = v * scale, whose factor is a power of 2, and H an integer such that |t| <= 2^(22 + H):

   - 1.5 2^(23 + H) + t is rounded to a multiple of 2^H. Its bits minus those of 1.5 2^(23 + H) are that multiple, and their sums fit 32 bits.
   - The rest of t is exact in single precision, and at most 2^(H - 1). If H <= 23, the sum of 1.5 2^23 and the rest gives its integer in the same way.

   If t is an integer, which holds for all values above 2^-15 of the largest one with N <= 2^23 points, nothing is rounded away. Otherwise KMeansSortExact() computes both words in double
   precision, and corrects the sums. */
#include "solvers/kmeans/kmeanssteps.h"

enum {
  KMEANS_SORT_BLOCK    = 256, /* number of threads of a block */
  KMEANS_SORT_FEATURES = 4,   /* number of features of a thread */
  KMEANS_SORT_POINTS   = 4,   /* number of points that a team loads at once */
  KMEANS_SORT_FLIGHT   = 8,   /* the same for KMeansSortFastKernel() */
  KMEANS_SORT_RUN      = 64,  /* least number of points in a run */
  KMEANS_SORT_LEAST    = 1024 /* the update `fixed` adds fewer points than this, because it is faster then; must be above 512 */
};

#define KMEANS_SORT_SHIFT 0x1.8p52

typedef struct {
  const int32_t *label;    /* [n] the labels of A */
  uint32_t      *sorted;   /* [n] labels in ascending order */
  int32_t       *point;    /* [n] numbers of the points in this order */
  int64_t        run;      /* number of points in a run */
  int32_t        lanes;    /* number of threads of a team: a power of 2, at most 32 */
  int32_t        features; /* number of features of a slab */
} KMeansSorting;

GP_STEP(KMeansSortNumberStep)
{
  const KMeansSorting *S = (const KMeansSorting *)args;

  S->sorted[i] = (uint32_t)S->label[i];
  S->point[i]  = (int32_t)i;
}

template <class Value>
struct alignas(16) KMeansSortValues {
  Value x[KMEANS_SORT_FEATURES];
};

/* Sums of a thread. Each integer includes the bits of KMEANS_SORT_SHIFT, `many` times. */
struct KMeansSortSums {
  int64_t  first[KMEANS_SORT_FEATURES], second[KMEANS_SORT_FEATURES], mass;
  uint32_t many;
};

/* Adds x, rounded to an integer, to a sum. Returns the integer. */
__device__ static inline double KMeansSortRound(double x, int64_t *sum)
{
  const double shifted = x + KMEANS_SORT_SHIFT;

  *sum += __double_as_longlong(shifted);
  return shifted - KMEANS_SORT_SHIFT;
}

/* Sums of a thread in single precision. */
struct KMeansSortFast {
  uint32_t high[KMEANS_SORT_FEATURES], low[KMEANS_SORT_FEATURES]; /* each includes the bits of the constant, `many` times */
  uint32_t many;
};

#define KMEANS_SORT_COLLECT 256 /* the sums of so many points fit 32 bits */
#define KMEANS_SORT_LOW     0x1.8p23f

/* Moves sums to those of 64 bits. The weight of each point is 1. */
__device__ static inline void KMeansSortCollect(KMeansSortFast *fast, int shift, float constant, KMeansSortSums *sums)
{
  const int64_t shifts = (int64_t)((uint64_t)fast->many * (uint64_t)__double_as_longlong(KMEANS_SORT_SHIFT));

#pragma unroll
  for (int v = 0; v < KMEANS_SORT_FEATURES; v++) {
    const int32_t high = (int32_t)(fast->high[v] - fast->many * __float_as_uint(constant)), low = (int32_t)(fast->low[v] - fast->many * __float_as_uint(KMEANS_SORT_LOW));

    sums->first[v] += (int64_t)high * ((int64_t)1 << shift) + low + shifts;
    sums->second[v] += shifts;
    fast->high[v] = fast->low[v] = 0;
  }
  sums->mass += fast->many + shifts;
  sums->many += fast->many;
  fast->many = 0;
}

/* Adds what a value adds beyond the integer `found` that has been added in single precision. */
__device__ static inline void KMeansSortExact(const KMeansData *A, int32_t j, float x, double found, int64_t *first, int64_t *second)
{
  const KMeansFixed scale  = A->feature[j];
  const double      number = (double)x * scale.first + KMEANS_SORT_SHIFT - KMEANS_SORT_SHIFT;

  *first += (int64_t)(number - found);
  if (A->words > 1) *second += KMeansToFixed((double)x - number * KMeansReciprocal(scale.first), scale.second);
}

/* Adds the sums of cluster c to the tally, and zeroes them. j: the features of the thread; those from A->d on do not exist. mass: this thread adds the weight of
   the cluster. */
__device__ static inline void KMeansSortFlush(const KMeansData *A, int32_t c, const int32_t (&j)[KMEANS_SORT_FEATURES], bool mass, KMeansSortSums *sums)
{
  const int64_t shifts = (int64_t)((uint64_t)sums->many * (uint64_t)__double_as_longlong(KMEANS_SORT_SHIFT));
  int64_t      *sum    = A->tally + KMEANS_TALLY + A->k + (int64_t)c * A->d * A->words;

#pragma unroll
  for (int v = 0; v < KMEANS_SORT_FEATURES; v++) {
    if (j[v] < A->d && sums->many) {
      KMEANS_ADD(sum + (int64_t)j[v] * A->words, sums->first[v] - shifts);
      if (A->words > 1) KMEANS_ADD(sum + (int64_t)j[v] * A->words + 1, sums->second[v] - shifts);
    }
    sums->first[v] = sums->second[v] = 0;
  }
  if (mass && sums->many) KMEANS_ADD(&A->tally[KMEANS_TALLY + c], sums->mass - shifts);
  sums->mass = 0;
  sums->many = 0;
}

/* VECTOR: the features of a thread are consecutive and aligned, so that one or two loads of 16 bytes fetch them; otherwise those of neighbouring threads are
   consecutive. */
template <class Value, bool VECTOR>
__global__ __launch_bounds__(KMEANS_SORT_BLOCK) static void KMeansSortKernel(const KMeansData A, const KMeansSorting S)
{
  constexpr int  MANY = KMEANS_SORT_POINTS, FEATURES = KMEANS_SORT_FEATURES;
  const int32_t  lane  = (int32_t)threadIdx.x % S.lanes;
  const int64_t  begin = ((int64_t)blockIdx.x * (KMEANS_SORT_BLOCK / S.lanes) + threadIdx.x / S.lanes) * S.run, end = begin + S.run < A.n ? begin + S.run : A.n;
  const bool     mass = lane == 0 && blockIdx.y == 0;
  int32_t        j[FEATURES], id[MANY], c[MANY], now = -1;
  KMeansFixed    scale[FEATURES];
  KMeansSortSums sums = {};

  if (begin >= end) return;
#pragma unroll
  for (int v = 0; v < FEATURES; v++) {
    j[v]     = (int32_t)blockIdx.y * S.features + (VECTOR ? lane * FEATURES + v : lane + v * S.lanes);
    scale[v] = A.feature[j[v] < A.d ? j[v] : A.d - 1];
  }
#pragma unroll
  for (int u = 0; u < MANY; u++) {
    id[u] = begin + u < end ? S.point[begin + u] : -1;
    c[u]  = begin + u < end ? (int32_t)S.sorted[begin + u] : -1;
  }
  for (int64_t p = begin; p < end; p += MANY) {
    Value   x[MANY][FEATURES];
    double  weight[MANY];
    int32_t cluster[MANY];

#pragma unroll
    for (int u = 0; u < MANY; u++) {
      const Value *const row = (const Value *)A.value + (int64_t)id[u] * A.d;

      cluster[u] = c[u];
      weight[u]  = id[u] < 0 ? 0 : KMeansWeight(&A, id[u]);
      if (VECTOR) {
        const KMeansSortValues<Value> loaded = id[u] < 0 || j[0] >= A.d ? KMeansSortValues<Value>{} : *(const KMeansSortValues<Value> *)(row + j[0]);

#pragma unroll
        for (int v = 0; v < FEATURES; v++) x[u][v] = loaded.x[v];
      } else {
#pragma unroll
        for (int v = 0; v < FEATURES; v++) x[u][v] = id[u] < 0 || j[v] >= A.d ? 0 : row[j[v]];
      }
    }
#pragma unroll
    for (int u = 0; u < MANY; u++) { /* load the labels of the next points while the present points are added */
      const int64_t next = p + MANY + u;

      id[u] = next < end ? S.point[next] : -1;
      c[u]  = next < end ? (int32_t)S.sorted[next] : -1;
    }
#pragma unroll
    for (int u = 0; u < MANY; u++) {
      if (cluster[u] < 0) continue;
      if (cluster[u] != now) {
        KMeansSortFlush(&A, now, j, mass, &sums); /* before the first point it adds nothing */
        now = cluster[u];
      }
      sums.many++;
      KMeansSortRound(weight[u] * A.mass.first, &sums.mass);
#pragma unroll
      for (int v = 0; v < FEATURES; v++) {
        double value = (double)x[u][v], first;

        if (A.weight) value *= weight[u];
        first = KMeansSortRound(value * scale[v].first, &sums.first[v]);
        if (A.words > 1) KMeansSortRound((value - first * KMeansReciprocal(scale[v].first)) * scale[v].second, &sums.second[v]);
      }
    }
  }
  KMeansSortFlush(&A, now, j, mass, &sums);
}

/* The same for points in single precision without weights, whose features a thread loads by 16 bytes. shift: H. */
__global__ __launch_bounds__(KMEANS_SORT_BLOCK) static void KMeansSortFastKernel(const KMeansData A, const KMeansSorting S, int shift)
{
  constexpr int  MANY = KMEANS_SORT_FLIGHT, FEATURES = KMEANS_SORT_FEATURES;
  const int32_t  lane = (int32_t)threadIdx.x % S.lanes, first = (int32_t)blockIdx.y * S.features + lane * FEATURES;
  const int64_t  begin = ((int64_t)blockIdx.x * (KMEANS_SORT_BLOCK / S.lanes) + threadIdx.x / S.lanes) * S.run, end = begin + S.run < A.n ? begin + S.run : A.n;
  const bool     mass     = lane == 0 && blockIdx.y == 0;
  const float    constant = __int_as_float((127 + 23 + shift) << 23 | 1 << 22);
  int32_t        j[FEATURES], id[MANY], c[MANY], now = -1;
  float          scale[FEATURES];
  bool           invalid = false; /* a scale is beyond single precision */
  KMeansSortSums sums    = {};
  KMeansSortFast fast    = {};

  if (begin >= end) return;
#pragma unroll
  for (int v = 0; v < FEATURES; v++) {
    const double factor = A.feature[first + v < A.d ? first + v : A.d - 1].first;

    j[v]     = first + v;
    scale[v] = factor > 0x1p-100 && factor < 0x1p100 ? (float)factor : 0;
    invalid |= scale[v] == 0;
  }
#pragma unroll
  for (int u = 0; u < MANY; u++) {
    id[u] = begin + u < end ? S.point[begin + u] : -1;
    c[u]  = begin + u < end ? (int32_t)S.sorted[begin + u] : -1;
  }
  for (int64_t p = begin; p < end; p += MANY) {
    KMeansSortValues<float> x[MANY];
    int32_t                 cluster[MANY];

#pragma unroll
    for (int u = 0; u < MANY; u++) {
      cluster[u] = c[u];
      x[u]       = id[u] < 0 || first >= A.d ? KMeansSortValues<float>{} : *(const KMeansSortValues<float> *)((const float *)A.value + (int64_t)id[u] * A.d + first);
    }
#pragma unroll
    for (int u = 0; u < MANY; u++) {
      const int64_t next = p + MANY + u;

      id[u] = next < end ? S.point[next] : -1;
      c[u]  = next < end ? (int32_t)S.sorted[next] : -1;
    }
#pragma unroll
    for (int u = 0; u < MANY; u++) {
      float hi[FEATURES], lo[FEATURES];
      bool  exact = !invalid;

      if (cluster[u] < 0) continue;
      if (cluster[u] != now || fast.many == KMEANS_SORT_COLLECT) {
        KMeansSortCollect(&fast, shift, constant, &sums);
        if (cluster[u] != now) KMeansSortFlush(&A, now, j, mass, &sums); /* before the first point it adds nothing */
        now = cluster[u];
      }
      fast.many++;
#pragma unroll
      for (int v = 0; v < FEATURES; v++) {
        const float a = __fmaf_rn(x[u].x[v], scale[v], constant), high = __fsub_rn(a, constant), rest = __fmaf_rn(x[u].x[v], scale[v], -high), b = __fadd_rn(rest, KMEANS_SORT_LOW), low = __fsub_rn(b, KMEANS_SORT_LOW);

        fast.high[v] += __float_as_uint(a);
        fast.low[v] += __float_as_uint(b);
        hi[v] = high;
        lo[v] = low;
        exact &= low == rest;
      }
      if (exact) continue;
#pragma unroll
      for (int v = 0; v < FEATURES; v++)
        if (j[v] < A.d) KMeansSortExact(&A, j[v], x[u].x[v], (double)hi[v] + (double)lo[v], &sums.first[v], &sums.second[v]);
    }
  }
  KMeansSortCollect(&fast, shift, constant, &sums);
  KMeansSortFlush(&A, now, j, mass, &sums);
}

template <class Value>
static GpErr KMeansSortSum(const KMeansData *A, KMeansSorting *S)
{
  const int64_t wanted = 8 * (int64_t)GpDevComputeUnits(A->dev);
  GpGrid        grid{1, KMEANS_SORT_BLOCK};

  for (S->lanes = 1; S->lanes < 32 && S->lanes * KMEANS_SORT_FEATURES < A->d; S->lanes *= 2)
    ;
  S->features         = S->lanes * KMEANS_SORT_FEATURES;
  const int64_t teams = KMEANS_SORT_BLOCK / S->lanes, most = (A->n + teams * KMEANS_SORT_RUN - 1) / (teams * KMEANS_SORT_RUN);
  grid.blocks.x = (unsigned)(most < wanted ? most : wanted);
  grid.blocks.y = (unsigned)((A->d + S->features - 1) / S->features);
  S->run        = (A->n + teams * grid.blocks.x - 1) / (teams * grid.blocks.x);
  if (A->d % KMEANS_SORT_FEATURES == 0 && (uintptr_t)A->value % 16 == 0) {
    int shift = 39; /* |t| <= 2^(61 - b) = 2^(22 + shift) */

    while (A->n > (int64_t)1 << (39 - shift)) shift--;
    if (A->single && !A->weight && shift <= 23) return GpLaunch(A->dev, "adding sorted points", KMeansSortFastKernel, grid, *A, *S, shift);
    return GpLaunch(A->dev, "adding sorted points", KMeansSortKernel<Value, true>, grid, *A, *S);
  }
  return GpLaunch(A->dev, "adding sorted points", KMeansSortKernel<Value, false>, grid, *A, *S);
}

GP_PAIR(KMeansUpdate_fixed, const KMeansData *A);

extern "C" GpErr KMeansUpdate_sort_CUDA(const KMeansData *A)
{
  const size_t  bytes = (size_t)A->n * sizeof(int32_t);
  KMeansSorting S     = {A->label};
  int           bits  = 0;
  GpErr         err;

  if (A->n < KMEANS_SORT_LEAST) return KMeansUpdate_fixed_CUDA(A);
  while ((int64_t)1 << bits < A->k) bits++;
  err = GpDevBorrow(A->dev, bytes, &S.sorted);
  if (!err) err = GpDevBorrow(A->dev, bytes, &S.point);
  if (!err) err = GP_EACH(A->dev, KMeansSorting, KMeansSortNumberStep, A->n, &S);
  if (!err) err = GpSort_CUDA(A->dev, A->n, bits, S.sorted, S.point);
  if (!err) err = A->single ? KMeansSortSum<float>(A, &S) : KMeansSortSum<double>(A, &S);
  GpDevReturn(A->dev, &S.point, bytes);
  GpDevReturn(A->dev, &S.sorted, bytes);
  return err;
}
