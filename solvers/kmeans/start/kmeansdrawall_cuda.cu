/* All draws of a start on a GPU, for points of one process. Each draw is one kernel: it lowers the distances of the points to the nearest centroid, and finds
   the least key. The block that finishes last copies the drawn point to the centroids, so that the host takes no part until all points are drawn. The keys, and
   so the points, are those of KMeansDraw(). */
#include "solvers/kmeans/start/kmeansdraw.h"

#include <float.h>

static constexpr int KMEANS_THREADS = KMEANS_SQUARE_PARTS; /* threads of a block: each sums one part of |m|^2 */
static constexpr int KMEANS_WARPS   = KMEANS_THREADS / 32;

/* A point with its key. */
struct KMeansKeyed {
  int64_t bits, point;
};

/* A draw. data: `centroid` and `square` are those of the points drawn so far. */
struct KMeansStartDraw {
  KMeansData        data;
  KMeansDrawAllArgs starts;
  uint64_t          stream;
  int32_t           c;       /* number of the draw */
  double           *nearest; /* [n] as in KMeansDrawArgs; draw 0 sets it, or draw 1 if starts.distances is set */
  KMeansKeyed      *part;    /* [number of blocks] the least key of each block */
  uint32_t         *ticket;  /* number of blocks that have finished; zero before and after a draw */
};

/* Returns the least key, of equal keys that of the lowest point. */
__device__ static KMeansKeyed KMeansKeyedMin(KMeansKeyed a, KMeansKeyed b)
{
  return b.bits < a.bits || (b.bits == a.bits && b.point < a.point) ? b : a;
}

/* Returns the minimum of the block, in all threads. */
__device__ static KMeansKeyed KMeansKeyedMinOfBlock(KMeansKeyed mine)
{
  __shared__ KMeansKeyed warps[KMEANS_WARPS];

  for (int half = 16; half > 0; half /= 2) mine = KMeansKeyedMin(mine, KMeansKeyed{__shfl_xor_sync(0xffffffffu, mine.bits, half), __shfl_xor_sync(0xffffffffu, mine.point, half)});
  __syncthreads(); /* threads may still read the shared array for the previous call */
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = mine;
  __syncthreads();
  for (int w = 0; w < KMEANS_WARPS; w++) mine = KMeansKeyedMin(mine, warps[w]);
  return mine;
}

/* Returns `nearest` of point i for this draw, and stores it for the next draw. measure: the previous draw has found a point, which may be nearer. */
__device__ static double KMeansStartNearest(const KMeansStartDraw &a, int64_t i, bool measure)
{
  double nearest = 1; /* the first draw is by weight alone */

  if (!a.starts.distances) {
    if (a.c == 0) a.nearest[i] = nearest;
    return a.nearest[i];
  }
  if (a.c == 0) return nearest;
  nearest = a.c == 1 ? DBL_MAX : a.nearest[i];
  if (measure) {
    const double distance = KMeansDistance(&a.data, i, KMeansCompare(&a.data, i, a.c - 1));

    if (distance < nearest) nearest = distance;
  }
  a.nearest[i] = nearest;
  return nearest;
}

/* Copies point i to centroid c, whose features are zero. All threads of the block call it. */
__device__ static void KMeansStartCopy(const KMeansStartDraw &a, int64_t i, int32_t c)
{
  __shared__ double part[KMEANS_THREADS];
  const KMeansData *A   = &a.data;
  double           *m   = A->centroid + (int64_t)c * A->d;
  double            sum = 0;

  if (!A->row) {
    for (int32_t j = threadIdx.x; j < A->d; j += KMEANS_THREADS) m[j] = KMeansValue(A, i * A->d + j);
    return;
  }
  for (int32_t e = A->row[i]; e < A->row[i + 1]; e++) { /* zeros add nothing to |m|^2 */
    const int32_t j     = A->col[e];
    const double  value = KMeansValue(A, e);

    if ((unsigned)j % KMEANS_THREADS != threadIdx.x) continue;
    m[j] = value;
    sum += value * value;
  }
  part[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x == 0) A->square[c] = KMeansSquareOfParts(part);
}

/* Stores the drawn point. The block that finishes last calls it. */
__device__ static void KMeansStartStore(const KMeansStartDraw &a, KMeansKeyed drawn)
{
  const bool    any = drawn.bits < __double_as_longlong(HUGE_VAL);
  const int64_t i   = drawn.point - a.starts.first;

  if (threadIdx.x == 0) {
    a.starts.point[a.c] = any ? drawn.point : -1;
    *a.ticket           = 0;
    if (any && !a.starts.distances) a.nearest[i] = 0;
  }
  if (any) KMeansStartCopy(a, i, a.c);
}

__global__ __launch_bounds__(KMEANS_THREADS) static void KMeansStartKernel(KMeansStartDraw a)
{
  __shared__ bool last;
  const bool      measure = a.c > 0 && a.starts.point[a.c - 1] >= 0;
  const int64_t   stride  = (int64_t)gridDim.x * KMEANS_THREADS;
  KMeansKeyed     least   = {INT64_MAX, INT64_MAX};

  for (int64_t i = (int64_t)blockIdx.x * KMEANS_THREADS + threadIdx.x; i < a.data.n; i += stride) {
    const double  share = KMeansWeight(&a.data, i) * KMeansStartNearest(a, i, measure);
    const int64_t point = a.starts.first + i;

    least = KMeansKeyedMin(least, KMeansKeyed{KMeansKeyBits(a.stream, point, share), point});
  }
  least = KMeansKeyedMinOfBlock(least);
  if (threadIdx.x == 0) {
    a.part[blockIdx.x] = least;
    __threadfence(); /* the minimum must be visible before the ticket */
    last = atomicAdd(a.ticket, 1u) == gridDim.x - 1;
    __threadfence(); /* the ticket must be read before the minima of other blocks */
  }
  __syncthreads();
  if (!last) return;
  least = KMeansKeyed{INT64_MAX, INT64_MAX};
  for (unsigned b = threadIdx.x; b < gridDim.x; b += KMEANS_THREADS) least = KMeansKeyedMin(least, KMeansKeyed{__ldcg((const long long *)&a.part[b].bits), __ldcg((const long long *)&a.part[b].point)});
  KMeansStartStore(a, KMeansKeyedMinOfBlock(least));
}

/* Launches one kernel for each draw. */
static GpErr KMeansStartLaunch(KMeansStartDraw *a, unsigned blocks)
{
  const KMeansData *A   = &a->data;
  GpErr             err = GpDevZero(A->dev, a->ticket, sizeof(*a->ticket));

  if (!err) err = GpDevZero(A->dev, A->centroid, (size_t)a->starts.many * A->d * sizeof(double));
  for (a->c = 0; !err && a->c < a->starts.many; a->c++) {
    a->stream = a->starts.stream[a->c];
    err       = GpLaunch(A->dev, "KMeansStart", KMeansStartKernel, GpGrid{blocks, KMEANS_THREADS}, *a);
  }
  return err;
}

extern "C" GpErr KMeansDrawAll_CUDA(const KMeansData *A, const KMeansDrawAllArgs *starts)
{
  const unsigned  most = 4 * (unsigned)GpDevComputeUnits(A->dev), want = GpBlocks(A->n, KMEANS_THREADS), blocks = want < most ? want : most;
  const size_t    parts = blocks * sizeof(KMeansKeyed), nearest = (size_t)A->n * sizeof(double), squares = (size_t)starts->many * sizeof(double);
  KMeansStartDraw a = {*A, *starts};
  GpErr           err;

  if (A->n <= 0) return GP_SUCCESS;
  a.data.centroid = starts->centroid;
  a.data.square   = NULL;
  err             = GpDevBorrow(A->dev, nearest, &a.nearest);
  if (!err) err = GpDevBorrow(A->dev, squares, &a.data.square);
  if (!err) err = GpDevBorrow(A->dev, parts, &a.part);
  if (!err) err = GpDevBorrow(A->dev, sizeof(*a.ticket), &a.ticket);
  if (!err) err = KMeansStartLaunch(&a, blocks);
  GpDevReturn(A->dev, &a.ticket, sizeof(*a.ticket));
  GpDevReturn(A->dev, &a.part, parts);
  GpDevReturn(A->dev, &a.data.square, squares);
  GpDevReturn(A->dev, &a.nearest, nearest);
  return err;
}
