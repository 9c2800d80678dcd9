/* Update by sorting on a GPU. The numbers of the points are sorted by label. Then each team of threads sums a run of sorted points, and adds the sums to the
   tally where the label changes and at the end of the run. So each run, cluster in it, and feature needs one global atomic, and every value is read once.

   A team has 1 to 32 threads, and a thread up to KMEANS_SORT_FEATURES features, whose sums are in registers. If a team of 32 threads does not
   suffice, the features are divided into slabs, one for each row of blocks of the grid.

   The integers are those of KMeansToFixed(), without a conversion, which a GPU executes at a quarter of the rate of double-precision sums or less:
   KMEANS_SORT_SHIFT + x is rounded to the nearest integer, ties to even, if |x| <= 2^51, and its bits minus those of KMEANS_SORT_SHIFT are this integer.
   |x| is below 2^(61 - b) for N <= 2^b points on all ranks (KMeansScale()), thus below 2^51 if a rank has more than 512 points. */
#include "solvers/kmeans/kmeanssteps.h"

enum {
  KMEANS_SORT_BLOCK    = 256, /* number of threads of a block */
  KMEANS_SORT_FEATURES = 4,   /* number of features of a thread */
  KMEANS_SORT_POINTS   = 4,   /* number of points that a team loads at once */
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
  if (A->d % KMEANS_SORT_FEATURES == 0 && (uintptr_t)A->value % 16 == 0) return GpLaunch(A->dev, "adding sorted points", KMeansSortKernel<Value, true>, grid, *A, *S);
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
