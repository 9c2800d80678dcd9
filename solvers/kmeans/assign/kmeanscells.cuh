/* The kernel of `cells`, which assigns the points. kmeanscells.h describes the method.

   A warp assigns tiles of 32 KMEANS_CELLS_POINTS points, one point of each 32 in a thread. If shared memory suffices (LOCAL), it holds the first candidates of all cells and the
   centroids. Threads read both at random places, which is faster there than in the L1 cache.

   If KMeansData.fuse is set, the warp queues the points that are added to a sum or move from one to another (kmeansmoves.cuh). */
#ifndef KMEANSCELLS_CUH
#define KMEANSCELLS_CUH

#include "kmeanscells.h"
#include "solvers/kmeans/kmeanstotals.cuh"
#include "solvers/kmeans/update/kmeansmoves.cuh"

#define KMEANS_CELLS_POINTS 4                          /* number of points of a thread in a tile */
#define KMEANS_CELLS_PAIR   2                          /* number of points that a thread evaluates at the same time */
#define KMEANS_CELLS_TILE   (32 * KMEANS_CELLS_POINTS) /* number of points of a tile */

/* Number of threads of a block. A multiprocessor runs one block, whose threads share all registers. */
#define KMeansCellsThreads(D) ((D) <= 2 ? 768 : (D) == 3 ? 640 : 512)

/* Number of values in the row of a centroid in shared memory, so that rows are whole vectors. */
#define KMeansCellsRow(D) ((D) == 3 ? 4 : (D))

/* Where a block finds the candidates and centroids of its solve. */
template <int D, bool LOCAL>
struct KMeansCellsTables {
  const uint4    *few;
  const uint16_t *more;
  const double   *centroid;

  /* Copies the tables to shared memory. Returns the memory behind them. All threads of the block must call it. */
  __device__ void *load(const KMeansData &A, uint4 *shared)
  {
    const KMeansCells *cells = A.cells + blockIdx.y;
    const double      *from  = A.centroid + (int64_t)blockIdx.y * A.k * D;
    double            *to    = (double *)(shared + KMEANS_CELLS);

    few      = (const uint4 *)cells->few;
    more     = cells->more[0];
    centroid = from;
    if (LOCAL) {
      for (unsigned cell = threadIdx.x; cell < KMEANS_CELLS; cell += blockDim.x) shared[cell] = few[cell];
      for (int32_t e = threadIdx.x; e < A.k * D; e += blockDim.x) to[e / D * KMeansCellsRow(D) + e % D] = from[e];
      few      = shared;
      centroid = to;
      return to + ((int64_t)A.k * KMeansCellsRow(D) + 1) / 2 * 2;
    }
    return shared;
  }

  /* Computes KMeansCompare() of centroid c. */
  __device__ double compare(int32_t c, const double (&x)[D]) const
  {
    const double *m = centroid + c * (LOCAL ? KMeansCellsRow(D) : D);
    double        v[KMeansCellsRow(D)], sum = 0;

    if (D == 1 || (!LOCAL && D == 3)) {
#pragma unroll
      for (int j = 0; j < D; j++) v[j] = m[j];
    } else {
#pragma unroll
      for (int q = 0; q < KMeansCellsRow(D) / 2; q++) {
        const double2 two = ((const double2 *)m)[q];

        v[2 * q]                           = two.x;
        v[(2 * q + 1) % KMeansCellsRow(D)] = two.y;
      }
    }
#pragma unroll
    for (int j = 0; j < D; j++) sum += (x[j] - v[j]) * (x[j] - v[j]);
    return sum;
  }

  /* Returns the first candidate of a cell whose entry of `few` is `now`. If all centroids are candidates, it is 0. */
  __device__ static int32_t first(const uint4 &now)
  {
    return (now.x & 0xffff) == KMEANS_CELLS_ALL ? 0 : (int32_t)(now.x >> 16);
  }

  /* Evaluates the other candidates of the cell of a point x. label, compared: first candidate and its distance, replaced by those of the nearest candidate. Returns the number
     of candidates. */
  template <class Places, class Real>
  __device__ int32_t find(int32_t k, const Places &places, const Real (&point)[D], uint4 now, const double (&x)[D], int32_t *label, double *compared) const
  {
    const int32_t many = now.x & 0xffff, here = many == KMEANS_CELLS_ALL ? 0 : min(many, KMEANS_CELLS_FEW);

    for (int32_t q = 1; q < here; q++) {
      now = {__funnelshift_r(now.x, now.y, 16), __funnelshift_r(now.y, now.z, 16), __funnelshift_r(now.z, now.w, 16), now.w >> 16};
      keep((int32_t)(now.x >> 16), x, label, compared);
    }
    if (many <= KMEANS_CELLS_FEW) return many;
    if (many == KMEANS_CELLS_ALL) {
      for (int32_t c = 1; c < k; c++) keep(c, x, label, compared);
      return k;
    }
    for (int32_t q = 0; q < many - KMEANS_CELLS_FEW; q++) keep(more[places.cell(point) * KMEANS_CELLS_MORE + q], x, label, compared);
    return many;
  }

  __device__ void keep(int32_t c, const double (&x)[D], int32_t *label, double *compared) const
  {
    const double now = compare(c, x);

    if (!(now < *compared)) return;
    *compared = now;
    *label    = c;
  }
};

/* Reads a point. Rows of 2 or 4 values are vectors. */
template <class Real, int D>
__device__ static void KMeansCellsRead(const KMeansData &A, int64_t i, Real (&x)[D])
{
  struct alignas(D == 3 ? sizeof(Real) : D * sizeof(Real) < 16 ? D * sizeof(Real) : 16) Row {
    Real v[D];
  };
  const Row row = ((const Row *)A.value)[i];

#pragma unroll
  for (int j = 0; j < D; j++) x[j] = row.v[j];
}

/* The grid in the registers of a thread. */
template <class Real, int D>
struct KMeansCellsPlaces {
  Real    low[D];
  float   inverse[D], last[D];
  int32_t bits[D];

  __device__ explicit KMeansCellsPlaces(const KMeansGrid &G)
  {
#pragma unroll
    for (int j = 0; j < D; j++) {
      low[j]     = (Real)G.low[j];
      inverse[j] = G.inverse[j];
      bits[j]    = G.bits[j];
      last[j]    = (float)((1 << G.bits[j]) - 1);
    }
  }

  __device__ static float place(float x, float low, float inverse)
  {
    return KMeansCellPlaceSingle(x, low, inverse);
  }

  __device__ static float place(double x, double low, float inverse)
  {
    return KMeansCellPlaceDouble(x, low, inverse);
  }

  /* Returns the number of the cell of a point. */
  __device__ int32_t cell(const Real (&x)[D]) const
  {
    int32_t number = 0;

#pragma unroll
    for (int j = 0; j < D; j++) number = KMeansCellAppend(number, place(x[j], low[j], inverse[j]), last[j], bits[j]);
    return number;
  }
};

template <class Real, int D, bool LOCAL>
__global__ __launch_bounds__(KMeansCellsThreads(D), 1) static void KMeansCellsKernel(const __grid_constant__ KMeansData A, const __grid_constant__ KMeansTallyShape shape)
{
  extern __shared__ uint4     shared[];
  const unsigned              lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = KMeansCellsThreads(D) / 32;
  const KMeansLoop *const     loop   = A.loop ? A.loop + blockIdx.y : NULL;
  const int                   fresh  = !loop || loop->fresh;
  int32_t *const              labels = A.label + (int64_t)blockIdx.y * A.n;
  KMeansCellsTables<D, LOCAL> tables;
  KMeansMoves                *Q;
  KMeansTotals                T       = {};
  int32_t                     changed = 0, counted = 0; /* of this thread, which has at most 2^31 / (32 units) points */
  int                         queued = 0;
  KMeansBlockTally            sums   = {};

  if (loop && loop->reason) return;
  Q = (KMeansMoves *)tables.load(A, shared);
  if (A.fuse) KMeansTallyClear(&sums, &shape, (uint32_t *)(Q + warps));
  Q += warp;
  __syncthreads();

  const KMeansCellsPlaces<Real, D> places(*A.grid);

  for (uint32_t first = (warp * gridDim.x + blockIdx.x) * KMEANS_CELLS_TILE; first < (uint32_t)A.n; first += gridDim.x * warps * KMEANS_CELLS_TILE) { /* below 2^32, as n is below 2^31 */
    Real    x[KMEANS_CELLS_POINTS][D];
    int32_t old[KMEANS_CELLS_POINTS];

#pragma unroll
    for (int u = 0; u < KMEANS_CELLS_POINTS; u++) {
      const uint32_t i = min(first + 32 * u + lane, (uint32_t)A.n - 1);

      KMeansCellsRead<Real, D>(A, i, x[u]);
      old[u] = labels[i];
    }
#pragma unroll
    for (int from = 0; from < KMEANS_CELLS_POINTS; from += KMEANS_CELLS_PAIR) {
      uint4   few[KMEANS_CELLS_PAIR];
      double  value[KMEANS_CELLS_PAIR][D], compared[KMEANS_CELLS_PAIR];
      int32_t label[KMEANS_CELLS_PAIR];

#pragma unroll
      for (int u = 0; u < KMEANS_CELLS_PAIR; u++) few[u] = tables.few[places.cell(x[from + u])];
#pragma unroll
      for (int u = 0; u < KMEANS_CELLS_PAIR; u++) {
#pragma unroll
        for (int j = 0; j < D; j++) value[u][j] = x[from + u][j];
        label[u]    = tables.first(few[u]);
        compared[u] = tables.compare(label[u], value[u]);
      }
#pragma unroll
      for (int u = 0; u < KMEANS_CELLS_PAIR; u++) {
        const uint32_t i     = first + 32 * (from + u) + lane;
        const bool     valid = i < (uint32_t)A.n;
        const int32_t  last  = old[from + u];

        if (valid) {
          counted += tables.find(A.k, places, x[from + u], few[u], value[u], &label[u], &compared[u]);
          changed += last != label[u];
          if (last != label[u]) labels[i] = label[u];
          if (A.distance) A.distance[i] = compared[u];
          T.total[KMEANS_INERTIA] += KMeansToFixed(KMeansWeight(&A, i) * compared[u], A.cost.first);
        }
        if (A.fuse) queued = KMeansMovesAdd<Real, D>(A, queued, valid && (fresh || last != label[u]), (int32_t)i, label[u], fresh ? -1 : last, Q, &sums);
      }
    }
  }
  if (queued) KMeansMovesApply<Real, D>(A, queued, Q, &sums);
  T.total[KMEANS_CHANGED] = changed;
  T.total[KMEANS_COUNTED] = counted;

  const KMeansData own = KMeansOfSolve(&A, blockIdx.y);

  KMeansTotalsAdd(&own, &T);
  if (A.fuse) KMeansTallyFlush(&own, &sums);
}

#endif
