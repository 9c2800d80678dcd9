/* Assignment of dense points by one thread for each point, Euclidean metric: the five steps of Gunarathne, Salpitikorala, Chauhan and Fox (2013), "Iterative
   statistical kernels on contemporary GPUs". The steps differ in the memories of points and centroids, and in the order of the features there. They are
   kept for comparison.

   Every distance reads all features from these memories. The compiler does not know the number of features, and therefore keeps no feature in
   registers.

   The code is written once. A block has KMEANS_THREADS points. On the GPU each point has a thread, and local memory is shared memory. The host runs the
   threads of a block one after the other between two barriers, and local memory is an array.

   The score of a point x and a centroid m is the sum of (x_j - m_j)^2. Points in double precision have the score of the definition. For points in single
   precision m is rounded to m' and the score is computed in single precision. Then the proof is that of screen/kmeansscreen.h, with the same notation, without
   centre and scale, and without a rounding error of x. The rounding error of m' is at most u |m| + h. For the centroid b with the least score f_b

       r <= sqrt(f_b (1 + 2g) + t) + u |m_b| + h.

   A centroid c whose distance by the definition is at most that of b has an exact distance of at most R = r (1 + 3E) + 2H. As |m_c| <= |x| + R <=
   |m_b| + 2R, its score is at most

       T = (R + u (|m_b| + 2R) + h)^2 (1 + 2g) + t.

   So b is the label if the second least score is above T. Otherwise the definition is evaluated for all centroids. T is infinite if it is not below 2^120
   or if g is not small. If T < 2^120, neither m' nor the score of a centroid c overflows, because |m_c| < 2^86. A score that overflows is infinite, and no
   score is NaN. */
#ifndef KMEANSMEMORY_H
#define KMEANSMEMORY_H

#include "solvers/kmeans/kmeansbounds.h"
#if defined(__CUDACC__)
  #include "solvers/kmeans/kmeanstotals.cuh"
#endif

/* Where a step reads points and centroids. Without flags: from global memory, the points by rows. */
enum {
  KMEANS_LOCAL_POINTS    = 1, /* a thread copies its point to local memory first, at most KMEANS_DIRECT features */
  KMEANS_LOCAL_CENTROIDS = 2, /* the block copies centroids to local memory, as many as fit KMEANS_CENTROID_BYTES */
  KMEANS_COLUMNS         = 4, /* points are read by columns from global memory; only with KMEANS_LOCAL_POINTS */
  KMEANS_LOCAL_COLUMNS   = 8  /* points lie by columns in local memory; only with KMEANS_LOCAL_POINTS */
};

#define KMEANS_THREADS        128
#define KMEANS_CENTROID_BYTES 8192
#define KMEANS_LOCAL_BYTES    (KMEANS_THREADS * KMEANS_DIRECT * (int)sizeof(double) + KMEANS_CENTROID_BYTES) /* fits the 48 KiB of shared memory that every GPU has */

#if defined(__CUDACC__)
  #define KMEANS_OWN             1 /* number of points of the block that this thread assigns */
  #define KMEANS_EACH_THREAD(t)  for (int t = threadIdx.x, once = 1; once; once = 0)
  #define KMEANS_AT_THREAD(a, t) a[0]
  #define KMEANS_BARRIER()       __syncthreads()
#else
  #define KMEANS_OWN             KMEANS_THREADS
  #define KMEANS_EACH_THREAD(t)  for (int t = 0; t < KMEANS_THREADS; t++)
  #define KMEANS_AT_THREAD(a, t) a[t]
  #define KMEANS_BARRIER()       ((void)0)
#endif

typedef struct {
  KMeansData data;
  int32_t    many; /* number of centroids in local memory */
  void      *m;    /* [k][d] centroids in the precision of the points */
  double    *norm; /* [k] upper bounds on |m|, for points in single precision */
} KMeansMemoryArgs;

#if defined(__CUDACC__)
  #define KMEANS_ADD_SQUARE(sum, v) fmaf(v, v, sum)
#else
  #define KMEANS_ADD_SQUARE(sum, v) ((sum) + (v) * (v))
#endif
#define KMEANS_REAL       float
#define KMEANS_NAME(name) name##_float
#include "kmeansmemoryblock.h"
#undef KMEANS_ADD_SQUARE
#undef KMEANS_REAL
#undef KMEANS_NAME

#define KMEANS_ADD_SQUARE(sum, v) ((sum) + (v) * (v))
#define KMEANS_REAL               double
#define KMEANS_NAME(name)         name##_double
#include "kmeansmemoryblock.h"

/* Returns T for the least score. norm: an upper bound on |m_b|. The factor 1 + 2^-40 covers the rounding errors of this function. */
GP_INLINE double KMeansMemoryLimit(int32_t d, double least, double norm)
{
  const double g = (d + 16) * 0x1p-24, grow = 1 + 2 * g, unit = 0x1p-24 * (1 + 0x1p-20), t = d * 0x1p-124, h = d * 0x1p-124;
  const double r = sqrt(least * grow + t) + unit * norm + h, R = r * (1 + 3 * KMeansRelativeError(d)) + d * 0x1p-510;
  const double root = (R * (1 + 2 * unit) + unit * norm + h) * (1 + 0x1p-40), T = root * root * grow + t;

  return g < 0.125 && T < 0x1p120 ? T : HUGE_VAL;
}

/* Decides the label of point i from the two least scores. rechecked: number of distances that were evaluated again, without that of the label, which is needed in any case. */
GP_INLINE int32_t KMeansMemoryDecide_float(const KMeansMemoryArgs *a, int64_t i, const KMeansFound_float *found, double *compared, int64_t *rechecked)
{
  const KMeansData *A = &a->data;

  *rechecked = 0;
  if (found->second > KMeansMemoryLimit(A->d, found->least, a->norm[found->label])) {
    *compared = KMeansCompare(A, i, found->label);
    return found->label;
  }
  *rechecked = A->k - 1;
  return KMeansFindNearest(A, i, compared);
}

GP_INLINE int32_t KMeansMemoryDecide_double(const KMeansMemoryArgs *a, int64_t i, const KMeansFound_double *found, double *compared, int64_t *rechecked)
{
  *rechecked = 0;
  *compared  = found->least;
  return found->label;
}

#if defined(__CUDACC__)
  /* The kernel of a block of KMEANS_THREADS points. */
  #define KMEANS_MEMORY_KERNEL(real) \
    template <int PLACES> \
    __global__ static void __launch_bounds__(KMEANS_THREADS) KMeansMemoryKernel_##real(const KMeansMemoryArgs a) \
    { \
      extern __shared__ double local[]; \
      const int64_t            first = (int64_t)blockIdx.x * KMEANS_THREADS, i = first + threadIdx.x; \
      KMeansTotals             T = {}; \
      KMeansFound_##real       found[KMEANS_OWN]; \
\
      KMeansMemoryBlock_##real(&a, PLACES, first, (real *)local, found); \
      if (i < a.data.n) { \
        double        compared; \
        int64_t       rechecked; \
        const int32_t label = KMeansMemoryDecide_##real(&a, i, found, &compared, &rechecked); \
\
        KMeansTotalsPut(&a.data, i, label, compared, a.data.k, rechecked, &T); \
      } \
      KMeansTotalsAdd(&a.data, &T); \
    }
KMEANS_MEMORY_KERNEL(float)
KMEANS_MEMORY_KERNEL(double)

template <int PLACES>
static GpErr KMeansMemoryRun(const KMeansMemoryArgs *a)
{
  const KMeansData *A    = &a->data;
  const size_t      size = A->single ? sizeof(float) : sizeof(double);
  const int64_t     kept = (PLACES & KMEANS_LOCAL_POINTS ? KMEANS_THREADS : 0) + (PLACES & KMEANS_LOCAL_CENTROIDS ? a->many : 0);
  const GpGrid      grid = {GpBlocks(A->n, KMEANS_THREADS), KMEANS_THREADS, (size_t)(kept * A->d) * size};

  if (A->single) return GpLaunch(A->dev, "KMeansMemoryKernel", KMeansMemoryKernel_float<PLACES>, grid, *a);
  return GpLaunch(A->dev, "KMeansMemoryKernel", KMeansMemoryKernel_double<PLACES>, grid, *a);
}

  #define KMEANS_MEMORY_RUN(a, places) KMeansMemoryRun<(places)>(a)
#else
  /* Assigns all blocks of points, one after the other. */
  #define KMEANS_MEMORY_LOOP(real) \
    static inline __attribute__((always_inline)) void KMeansMemoryLoop_##real(const KMeansMemoryArgs *a, const int places) \
    { \
      const KMeansData  *A = &a->data; \
      real               local[KMEANS_LOCAL_BYTES / sizeof(real)]; \
      KMeansFound_##real found[KMEANS_OWN]; \
\
      for (int64_t first = 0; first < A->n; first += KMEANS_THREADS) { \
        KMeansMemoryBlock_##real(a, places, first, local, found); \
        for (int64_t i = first; i < A->n && i < first + KMEANS_THREADS; i++) { \
          double        compared; \
          int64_t       rechecked; \
          const int32_t label = KMeansMemoryDecide_##real(a, i, &found[i - first], &compared, &rechecked); \
\
          KMeansPut(A, i, label, compared, A->k); \
          A->tally[KMEANS_RECHECK] += rechecked; \
        } \
      } \
    }
KMEANS_MEMORY_LOOP(float)
KMEANS_MEMORY_LOOP(double)

static inline __attribute__((always_inline)) GpErr KMeansMemoryRun(const KMeansMemoryArgs *a, const int places)
{
  if (a->data.single) KMeansMemoryLoop_float(a, places);
  else KMeansMemoryLoop_double(a, places);
  return GP_SUCCESS;
}

  #define KMEANS_MEMORY_RUN(a, places) KMeansMemoryRun(a, places)
#endif

/* Rounds centroid i to single precision. */
GP_STEP(KMeansMemoryRoundStep)
{
  const KMeansMemoryArgs *a   = (const KMeansMemoryArgs *)args;
  const int32_t           d   = a->data.d;
  const double           *m   = a->data.centroid + i * d;
  double                  sum = 0;

  for (int32_t j = 0; j < d; j++) {
    ((float *)a->m)[i * d + j] = (float)m[j];
    sum += m[j] * m[j];
  }
  a->norm[i] = sqrt(sum) * (1 + KMeansRelativeError(d));
}

/* Sets the arguments of all blocks. workspace: memory of `bytes` bytes, which the caller returns. */
static inline GpErr KMeansMemoryPrepare(const KMeansData *A, KMeansMemoryArgs *a, void **workspace, size_t *bytes)
{
  const size_t one = (size_t)A->d * (A->single ? sizeof(float) : sizeof(double)); /* bytes of a centroid */
  GpErr        err;

  *bytes     = A->single ? (size_t)A->k * sizeof(double) + (size_t)A->k * A->d * sizeof(float) : 0;
  *workspace = NULL;
  a->data    = *A;
  a->many    = one * (size_t)A->k <= KMEANS_CENTROID_BYTES ? A->k : (int32_t)(KMEANS_CENTROID_BYTES / one);
  a->m       = A->centroid;
  a->norm    = NULL;
  if (!A->single) return GP_SUCCESS;
  err = GpDevBorrow(A->dev, *bytes, workspace);
  if (err) return err;
  a->norm = (double *)*workspace;
  a->m    = a->norm + A->k;
  return GP_EACH(A->dev, KMeansMemoryArgs, KMeansMemoryRoundStep, A->k, a);
}

/* Defines the function of a variant. A variant without KMEANS_LOCAL_CENTROIDS ignores `many`. */
#define KMEANS_MEMORY_ASSIGN(name, places) \
  GP_EXTERN GpErr GP_IMPL(KMeansAssign_##name)(const KMeansData *A) \
  { \
    KMeansMemoryArgs a; \
    void            *workspace; \
    size_t           bytes; \
    GpErr            err; \
\
    if (!A->n) return GP_SUCCESS; \
    err = KMeansMemoryPrepare(A, &a, &workspace, &bytes); \
    if (!err) err = KMEANS_MEMORY_RUN(&a, places); \
    GpDevReturn(A->dev, &workspace, bytes); \
    return err; \
  }

#endif
