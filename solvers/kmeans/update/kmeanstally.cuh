/* Sums over points in the shared memory of a block of threads.

   A block adds its points to weights and sums of features in shared memory, and finally adds these sums to the tally. All sums are integers, so their bits do not
   depend on the order of the points and of the blocks.

   - Shared memory has fast atomics for 32-bit words only. A sum is stored as two of them. atomicAdd() on the low word returns its old value, from which
     the carry into the high word follows.
   - A plane holds one number of every cluster: plane 0 the weights, plane 1 + w * features + j the word w of feature j. The distance of two planes is
     odd, so that the sums of consecutive features of a cluster are in different banks.
   - Each sum has several copies if there is space for them. Point i uses copy i modulo the number of copies, so that neighbouring points of one cluster
     add to different addresses.

   A kernel calls KMeansTallyClear(), then KMeansTallyAddValues(), or KMeansTallyAdd() and KMeansTallyAddPoint(), for its points, then KMeansTallyFlush(). */
#ifndef KMEANSTALLY_CUH
#define KMEANSTALLY_CUH

#include "solvers/kmeans/kmeanssteps.h"

#define KMEANS_TALLY_COPIES 32 /* the largest useful number of copies: the points of a warp then never share a sum */

/* The arrangement of the sums in shared memory, for a slab of consecutive features. */
typedef struct {
  int32_t k;        /* number of clusters */
  int32_t first;    /* number of the first feature */
  int32_t features; /* number of features from the first one on */
  int32_t words;    /* number of words of the sum of a feature */
  int32_t stride;   /* distance of two planes in sums: k, or k + 1 if k is even */
  int32_t shift;    /* binary logarithm of the number of copies */
} KMeansTallyShape;

/* The sums of a block. */
typedef struct {
  KMeansTallyShape shape;
  uint32_t        *low, *high; /* shared memory: [planes][stride][copies] the low and the high words */
} KMeansBlockTally;

/* Returns the number of sums, including all copies. */
__host__ __device__ static inline int32_t KMeansTallySums(const KMeansTallyShape *S)
{
  return ((1 + S->words * S->features) * S->stride) << S->shift;
}

/* Returns the bytes of shared memory of the sums. */
static inline size_t KMeansTallyBytes(const KMeansTallyShape *S)
{
  return (size_t)KMeansTallySums(S) * 2 * sizeof(uint32_t);
}

/* Arranges the sums of some features in at most `bytes` of shared memory, with the largest possible number of copies up to `copies`, a power of 2. Returns 0
   if not even one copy fits. */
static inline int KMeansTallyFit(const KMeansData *A, int32_t first, int32_t features, int copies, size_t bytes, KMeansTallyShape *S)
{
  const double once = 2.0 * sizeof(uint32_t) * (1 + (double)A->words * features) * (A->k | 1);

  S->k        = A->k;
  S->first    = first;
  S->features = features;
  S->words    = A->words;
  S->stride   = A->k | 1;
  S->shift    = 0;
  if (once > (double)bytes) return 0;
  while (2 << S->shift <= copies && once * (2 << S->shift) <= (double)bytes) S->shift++;
  return 1;
}

#define KMEANS_TALLY_SLAB 8 /* least number of features in a slab: the single-precision values of a memory sector of 32 bytes */

/* Number of slabs of `width` features. */
static inline int32_t KMeansTallySlabs(const KMeansData *A, int32_t width)
{
  return (A->d + width - 1) / width;
}

/* Divides the features into slabs of equal width, as few as possible, so that the sums of one fit `bytes` of shared memory. The shape is that of the first slab,
   of at most `widest` features. Returns 0 if the sums of KMEANS_TALLY_SLAB features do not fit; then the shape has the widest slabs. */
static inline int KMeansTallyArrange(const KMeansData *A, int32_t widest, size_t bytes, KMeansTallyShape *S)
{
  const int32_t fewest = KMeansTallySlabs(A, widest);

  for (int32_t slabs = fewest;; slabs++) {
    const int32_t width = (A->d + slabs - 1) / slabs;

    if (KMeansTallyFit(A, 0, width, KMEANS_TALLY_COPIES, bytes, S)) return 1;
    if (width <= KMEANS_TALLY_SLAB) break;
  }
  (void)KMeansTallyFit(A, 0, (A->d + fewest - 1) / fewest, 1, bytes, S);
  return 0;
}

/* Zeroes the sums. All threads of the block must call it. shared: KMeansTallyBytes() of shared memory. */
__device__ static inline void KMeansTallyClear(KMeansBlockTally *T, const KMeansTallyShape *S, uint32_t *shared)
{
  const int32_t sums = KMeansTallySums(S);

  T->shape = *S;
  T->low   = shared;
  T->high  = shared + sums;
  for (int32_t e = threadIdx.x; e < 2 * sums; e += blockDim.x) shared[e] = 0;
  __syncthreads();
}

/* Sets the shape to that of the slab blockIdx.y, and zeroes its sums if they are in shared memory. All threads of the block must call it. S: shape of the first slab. */
template <bool SHARED>
__device__ static inline void KMeansTallySlab(const KMeansData *A, KMeansTallyShape *S, KMeansBlockTally *T, uint32_t *shared)
{
  const int32_t width = S->features;

  S->first    = (int32_t)blockIdx.y * width;
  S->features = min(width, A->d - S->first);
  if (SHARED) KMeansTallyClear(T, S, shared);
}

/* What a thread adds. Consecutive threads have the consecutive columns of a point, followed by those of the next point. A column is a feature of the slab or, in the
   first slab, the weight. */
typedef struct {
  int32_t     rows;  /* number of points that the block loads at the same time */
  int32_t     row;   /* number of the point of this thread among them; above them if this thread adds nothing */
  int32_t     j;     /* feature, or -1: the weight */
  int32_t     plane; /* plane of the sums of this column */
  KMeansFixed scale;
} KMeansTallyColumn;

/* Returns the column of this thread of `threads`. S: shape of the slab of the block. */
__device__ static inline KMeansTallyColumn KMeansTallyThread(const KMeansData *A, const KMeansTallyShape *S, int32_t threads)
{
  const int32_t columns = S->features + (S->first == 0), own = (int32_t)threadIdx.x % columns, j = own < S->features ? S->first + own : -1;

  return {threads / columns, (int32_t)threadIdx.x / columns, j, j < 0 ? 0 : 1 + own, j < 0 ? A->mass : A->feature[j]};
}

/* Returns a grid with a row of blocks for each slab. most: number of blocks in a row that have points; busy: number of blocks that the GPU executes at the same time. */
static inline GpGrid KMeansTallyGrid(const KMeansData *A, const KMeansTallyShape *S, unsigned threads, int64_t most, int64_t busy)
{
  const int64_t slabs = KMeansTallySlabs(A, S->features), want = slabs < busy ? busy / slabs : 1;
  GpGrid        grid{1, threads};

  grid.blocks.x = (unsigned)(most < want ? most : want);
  grid.blocks.y = (unsigned)slabs;
  return grid;
}

/* Launches a kernel whose sums are in shared memory. */
template <class Kernel>
static GpErr KMeansTallyLaunch(const KMeansData *A, const char what[], Kernel kernel, GpGrid grid, const KMeansTallyShape &S)
{
  GpErr err;

  grid.shared = KMeansTallyBytes(&S);
  err         = GpCheckCuda(A->dev, cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)grid.shared), "shared memory of the sums of points");
  return err ? err : GpLaunch(A->dev, what, kernel, grid, *A, S);
}

/* Returns the position of the sum of a plane and a cluster that point i uses. */
__device__ static inline int32_t KMeansTallyAt(const KMeansBlockTally *T, int32_t plane, int32_t c, int64_t i)
{
  const KMeansTallyShape *S = &T->shape;

  return ((plane * S->stride + c) << S->shift) + ((int32_t)i & ((1 << S->shift) - 1));
}

/* Adds v to the sums at some positions; a negative position is left out. All low words are added before the high ones, so that the atomics on the low words
   are in flight together. */
template <int MANY>
__device__ static inline void KMeansTallyAdd(const KMeansBlockTally *T, const int32_t (&at)[MANY], const int64_t (&v)[MANY])
{
  uint32_t high[MANY];

#pragma unroll
  for (int u = 0; u < MANY; u++) {
    const uint32_t low = (uint32_t)v[u];

    high[u] = (uint32_t)((uint64_t)v[u] >> 32);
    if (at[u] >= 0) {
      const uint32_t sum = atomicAdd(&T->low[at[u]], low) + low;

      high[u] += sum < low;
    }
  }
#pragma unroll
  for (int u = 0; u < MANY; u++)
    if (at[u] >= 0 && high[u]) atomicAdd(&T->high[at[u]], high[u]);
}

/* Adds v to the sum of column j of cluster c in the tally, in global memory: a feature, or the weight if j is negative. A negative cluster is left out. */
__device__ static inline void KMeansTallyAddGlobal(const KMeansData *A, int32_t c, int32_t j, const KMeansFixed *scale, double v)
{
  if (c < 0) return;
  if (j < 0) KMEANS_ADD(&A->tally[KMEANS_TALLY + c], KMeansToFixed(v, scale->first));
  else KMeansAddFixed(A->tally + KMEANS_TALLY + A->k + ((int64_t)c * A->d + j) * A->words, A->words, scale, v);
}

/* Adds values v of points i to the sums of a plane and of clusters c; values whose cluster is negative are left out. If a scale has a second factor, the
   sum has a second word, in the plane `features` after the first one. */
template <int MANY>
__device__ static inline void KMeansTallyAddValues(const KMeansBlockTally *T, const int64_t (&i)[MANY], const int32_t (&c)[MANY], const int32_t (&plane)[MANY], const double (&v)[MANY], const KMeansFixed (&scale)[MANY])
{
  int32_t at[MANY];
  int64_t fixed[MANY];

#pragma unroll
  for (int u = 0; u < MANY; u++) {
    at[u]    = c[u] < 0 ? -1 : KMeansTallyAt(T, plane[u], c[u], i[u]);
    fixed[u] = KMeansToFixed(v[u], scale[u].first);
  }
  KMeansTallyAdd(T, at, fixed);
  if (T->shape.words == 1) return;
#pragma unroll
  for (int u = 0; u < MANY; u++) {
    at[u]    = c[u] < 0 || scale[u].second == 0 ? -1 : KMeansTallyAt(T, plane[u] + T->shape.features, c[u], i[u]);
    fixed[u] = KMeansToFixedRest(v[u], fixed[u], &scale[u]);
  }
  KMeansTallyAdd(T, at, fixed);
}

/* Adds the features x of point i, at most MOST, to the sums of cluster c. MOST is a multiple of 4, or below 4. */
template <int MOST, class Value>
__device__ static inline void KMeansTallyAddPoint(const KMeansData *A, const KMeansBlockTally *T, int64_t i, int32_t c, const Value (&x)[MOST])
{
  constexpr int MANY   = MOST < 4 ? MOST : 4;
  const double  weight = KMeansWeight(A, i);

#pragma unroll
  for (int from = 0; from < MOST; from += MANY) {
    int64_t     point[MANY];
    int32_t     cluster[MANY], plane[MANY];
    double      v[MANY];
    KMeansFixed scale[MANY];

#pragma unroll
    for (int u = 0; u < MANY; u++) {
      const int32_t j = from + u < T->shape.features ? from + u : 0;

      point[u]   = i;
      cluster[u] = from + u < T->shape.features ? c : -1;
      plane[u]   = 1 + j;
      v[u]       = weight * (double)x[from + u];
      scale[u]   = A->feature[T->shape.first + j];
    }
    KMeansTallyAddValues(T, point, cluster, plane, v, scale);
  }
}

/* Adds the sums of the block to the tally. All threads of the block must call it. The blocks of a grid begin at different sums, so that their atomics
   rarely have the same address. Consecutive threads add to consecutive entries of the tally. */
__device__ static inline void KMeansTallyFlush(const KMeansData *A, const KMeansBlockTally *T)
{
  const KMeansTallyShape *S   = &T->shape;
  const int32_t           row = S->words * S->features, first = S->first ? S->k : 0, entries = S->k * (1 + row); /* only the first slab has the weights */
  const int32_t           from = (int32_t)((int64_t)blockIdx.x * entries / gridDim.x), copies = 1 << S->shift;
  int64_t *const          sum = A->tally + KMEANS_TALLY + A->k;

  __syncthreads();
  for (int32_t e = threadIdx.x; e < entries; e += blockDim.x) {
    const int32_t at = e + from < entries ? e + from : e + from - entries, c = at < S->k ? at : (at - S->k) / row, q = at < S->k ? 0 : (at - S->k) % row;
    const int32_t plane = at < S->k ? 0 : 1 + (q % S->words) * S->features + q / S->words;
    int64_t       value = 0;

    if (at < first) continue;
    for (int32_t copy = 0; copy < copies; copy++) {
      const int32_t own = KMeansTallyAt(T, plane, c, copy + (int32_t)threadIdx.x); /* the lanes of a warp read different banks */

      value += (int64_t)((uint64_t)T->high[own] << 32 | T->low[own]);
    }
    if (!value) continue;
    if (at < S->k) KMEANS_ADD(&A->tally[KMEANS_TALLY + c], value);
    else KMEANS_ADD(sum + ((int64_t)c * A->d + S->first) * S->words + q, value);
  }
}

#endif
