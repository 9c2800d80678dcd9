/* The kernel of `direct` and `tensor` for dense points with up to KMEANS_DIRECT features, Euclidean metric. screen/kmeansframe.cuh has the scores and the proof
   of their bound.

   A warp takes 32 P points and copies them to shared memory. A search (kmeanssingle.cuh, kmeanssplit.cuh) computes the scores of all centroids, which are in shared
   memory too. It finds the least score, its group of centroids, and the least score of the other groups.

   If the least score of the other groups is above the limit of the error bound, only the centroids of the one group are candidates. One thread computes their scores again in
   single precision, because the search has not kept them. It evaluates the distances of the centroids with scores within the limit by the definition. If other groups have
   candidates too, the threads of the warp divide all centroids and do the same. If the centroids do not all fit shared memory, no scores are computed again, and all of
   these distances are evaluated.

   If KMeansData.fuse is set, the warp then adds points to the sums of clusters: all points if the sums contain none yet, otherwise the points whose labels changed.
   The warp first lists these points. Usually few threads have such a point, and the list lets all threads of the warp add at the same time. */
#ifndef KMEANSDIRECT_CUH
#define KMEANSDIRECT_CUH

#include "kmeanswarp.cuh"
#include "solvers/kmeans/kmeanstotals.cuh"
#include "solvers/kmeans/update/kmeanstally.cuh"

/* The nearest centroid of point i by the definition, found by a warp: lane l takes the centroids l, l + 32, ... If all centroids are in shared memory, it computes
   their scores in single precision, and evaluates only the centroids with scores near the least one. slot: the slot of the point in W. All lanes receive label and
   compared. Returns the number of distances that were evaluated. */
template <class Search, class Real, int D, int P>
__device__ static int KMeansDirectEvaluateAll(const KMeansData &A, const KMeansDirectFrame<D> &F, int64_t i, int slot, const float *centroids, KMeansDirectWarp<Real, D, P> *W, int32_t *label, double *compared)
{
  const int            lane  = threadIdx.x % 32;
  float                limit = INFINITY, square = 0;
  int                  count = 0;
  KMeansDirectPlace<D> place;
  Real                 x[D];

  W->get(slot, x);
#pragma unroll
  for (int j = 0; j < D; j++) {
    place.x[j] = x[j];
    place.y[j] = KMeansDirectCoordinate(F, j, x[j]);
    square     = __fmaf_rn(place.y[j], place.y[j], square);
  }
  place.label    = INT32_MAX;
  place.compared = HUGE_VAL;
  if (centroids) {
    for (int32_t c = lane; c < A.k; c += 32) limit = fminf(limit, Search::score(centroids, c, place.y));
    for (int half = 16; half > 0; half /= 2) limit = fminf(limit, __shfl_xor_sync(0xffffffffu, limit, half));
    limit += KMeansDirectError(F.again, KMeansFrameNormSingle(A.d, square));
  }
  for (int32_t c = lane; c < A.k; c += 32) {
    if (centroids && Search::score(centroids, c, place.y) > limit) continue;
    place.evaluate(A, F, c);
    count++;
  }
  for (int half = 16; half > 0; half /= 2) {
    const int32_t other = __shfl_xor_sync(0xffffffffu, place.label, half);
    const double  sum   = __shfl_xor_sync(0xffffffffu, place.compared, half);

    count += __shfl_xor_sync(0xffffffffu, count, half);
    if (other != INT32_MAX && (place.label == INT32_MAX || sum < place.compared || (sum == place.compared && other < place.label))) {
      place.compared = sum;
      place.label    = other;
    }
  }
  *label    = place.label;
  *compared = place.compared;
  return count;
}

/* Finds the labels of the points of a warp. centroids: all centroids, or NULL if they do not fit shared memory. fresh: 1 if the sums contain no point yet. If A.fuse is set,
   lists the slots of the points to add or to move in W->slot, with their new labels in W->limit and their old ones in W->group. Returns the number of listed points. */
template <class Search, class Real, int D, int P>
__device__ static int KMeansDirectFinish(const KMeansData &A, const KMeansDirectFrame<D> &F, int64_t first, const float *centroids, int fresh, KMeansDirectWarp<Real, D, P> *W, KMeansTotals *T)
{
  const int lane  = threadIdx.x % 32;
  int       moved = 0;

#pragma unroll 1
  for (int slot = lane; slot < 32 * P; slot += 32) {
    const int64_t        i     = first + slot;
    const int            valid = i < A.n;
    const int32_t        old   = valid ? F.label[i] : -1;
    KMeansDirectPlace<D> place;
    Real                 x[D];
    int32_t              group;
    int                  evaluated = 1, moves;
    float                limit;
    unsigned             open;

    W->get(slot, x);
#pragma unroll
    for (int j = 0; j < D; j++) {
      place.x[j] = x[j];
      place.y[j] = KMeansDirectCoordinate(F, j, x[j]);
    }
    place.label    = INT32_MAX;
    place.compared = HUGE_VAL;
    group          = Search::decide(A, F, W, slot, place.y, &limit);
    open           = __ballot_sync(0xffffffffu, valid && group < 0);
    if (valid && group >= 0) {
      evaluated = 0;
      for (unsigned near = centroids ? Search::near(centroids, group, place.y, limit) : (1u << Search::GROUP) - 1; near; near &= near - 1) {
        const int32_t c = Search::centroid(group, __ffs((int)near) - 1);

        if (c >= A.k) continue;
        place.evaluate(A, F, c);
        evaluated++;
      }
    }
    for (; open; open &= open - 1) {
      const int from = __ffs((int)open) - 1;
      int32_t   label;
      double    compared;
      const int count = KMeansDirectEvaluateAll<Search>(A, F, __shfl_sync(0xffffffffu, i, from), __shfl_sync(0xffffffffu, slot, from), centroids, W, &label, &compared);

      if (lane == from) {
        place.label    = label;
        place.compared = compared;
        evaluated      = count;
      }
    }
    if (valid && old != place.label) F.label[i] = place.label;
    if (valid) KMeansTotalsCount(&A, i, old, place.label, place.compared, A.k, evaluated - 1, T); /* `evaluated - 1`: the distance to the centroid of the label is needed in any case, and does not count as evaluated again */
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

/* Adds the points of the first `moved` slots in W->slot to the sums of their new labels, and subtracts them from the sums of their old labels, if they have any. */
template <class Real, int D, int P>
__device__ static void KMeansDirectMove(const KMeansData &A, int64_t first, int moved, KMeansDirectWarp<Real, D, P> *W, const KMeansBlockTally *sums)
{
  for (int e = threadIdx.x % 32; e < moved; e += 32) {
    const int     slot       = W->slot[e];
    const int64_t i          = first + slot;
    const int32_t cluster[2] = {__float_as_int(W->limit[slot]), W->group[slot]};
    double        x[KMeansDirectWidth(D)];

    W->get(slot, x);
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

/* Assigns all points, and adds them to the tally if A.fuse is set. panel: number of units of centroids in shared memory at once. If it is less than the number of
   all units, the search loads the centroids in panels. */
template <class Search, class Real, int D, int P>
__global__ __launch_bounds__(Search::THREADS, 1) static void KMeansDirectKernel(const __grid_constant__ KMeansData A, int32_t panel, const __grid_constant__ KMeansTallyShape shape)
{
  extern __shared__ float4 shared[];
  __shared__ KMeansDirectFrame<D> F;
  const int32_t                   units = (A.k + Search::UNIT - 1) / Search::UNIT, warps = blockDim.x / 32, warp = threadIdx.x / 32;
  KMeansDirectWarp<Real, D, P>   *W         = (KMeansDirectWarp<Real, D, P> *)shared + warp;
  float                          *centroids = (float *)((KMeansDirectWarp<Real, D, P> *)shared + warps);
  const KMeansLoop               *loop      = A.loop ? A.loop + blockIdx.y : NULL;
  const int                       fresh     = !loop || loop->fresh;
  KMeansTotals                    T         = {};
  KMeansBlockTally                sums      = {};

  if (loop && loop->reason) return;
  if (A.fuse) KMeansTallyClear(&sums, &shape, (uint32_t *)(centroids + (int64_t)panel * Search::FLOATS));
  if (threadIdx.x < D) {
    F.centre[threadIdx.x]       = (int)threadIdx.x < A.d ? A.frame.centre[(int64_t)blockIdx.y * A.d + threadIdx.x] : 0;
    F.centresingle[threadIdx.x] = (float)F.centre[threadIdx.x];
  }
  if (threadIdx.x == 0) {
    F.scale       = KMeansFrameScale(A.frame.numbers + blockIdx.y, A.single);
    F.scalesingle = (float)F.scale;
    F.most        = 0;
    F.centroid    = A.centroid + (int64_t)blockIdx.y * A.k * A.d;
    F.label       = A.label + (int64_t)blockIdx.y * A.n;
  }
  __syncthreads();
  if (panel == units) Search::load(A, F, 0, units, centroids);
  else
    for (int32_t c = threadIdx.x; c < A.k; c += blockDim.x) (void)KMeansDirectConvert(A, F, c, [](int, double) {}); /* sets F.most, because the bound of the first panel already needs the norms of all centroids */
  __syncthreads();
  if (threadIdx.x == 0) Search::bound(A, F);
  __syncthreads();
  for (int64_t round = 0; round * 32 * P * warps * gridDim.x < A.n; round++) {
    const int64_t first = ((round * warps + warp) * gridDim.x + blockIdx.x) * 32 * P;
    int           moved;

    if (panel == units && first >= A.n) break; /* with several panels, all warps take part in the loads */

    {
      typename Search::template Tile<Real, P> tile;

      W->load(A, first);
      tile.load(F, A.d, W);
      if (panel == units) tile.search(A.k, 0, units, centroids);
      else
        for (int32_t from = 0; from < units; from += panel) {
          const int32_t to = units - from < panel ? units : from + panel;

          __syncthreads();
          Search::load(A, F, from, to, centroids);
          __syncthreads();
          tile.search(A.k, from, to, centroids);
        }
      tile.store(F, W);
      __syncwarp();
    }
    moved = KMeansDirectFinish<Search>(A, F, first, panel == units ? centroids : NULL, fresh, W, &T);
    __syncwarp();
    if (moved) KMeansDirectMove(A, first, moved, W, &sums);
    __syncwarp();
  }

  const KMeansData own = KMeansOfSolve(&A, blockIdx.y);

  KMeansTotalsAdd(&own, &T);
  if (A.fuse) KMeansTallyFlush(&own, &sums);
}

/* How a launch divides the shared memory of a block. */
typedef struct {
  int32_t          panel; /* number of units of centroids in shared memory at once */
  int              warps;
  size_t           bytes;
  KMeansTallyShape shape; /* arrangement of the sums, if A->fuse is set */
} KMeansDirectPlan;

#define KMEANS_DIRECT_STATIC ((size_t)2 << 10)  /* bytes of static shared memory, rounded up */
#define KMEANS_DIRECT_LEAST  ((size_t)16 << 10) /* least number of bytes for centroids, unless all centroids need less. With less space a panel is too small, so that fewer warps are better */
#define KMEANS_DIRECT_WARPS  8                  /* least number of warps of a block that adds to the sums. With fewer warps, a separate kernel for the sums takes less time */
#define KMEANS_DIRECT_COPIES ((size_t)32 << 10) /* largest number of bytes for several copies of the sums */

/* Finds the largest number of warps whose points fit `most` bytes of shared memory: together with the sums and all centroids if A->fuse is set, otherwise with at least some
   centroids. Returns 0 if there is no such number, or if it is below the least one. */
template <class Search, class Real, int D>
static int KMeansDirectDivide(const KMeansData *A, size_t most, KMeansDirectPlan *plan)
{
  constexpr size_t each = sizeof(KMeansDirectWarp<Real, D, Search::template POINTS<Real>>), row = Search::FLOATS * sizeof(float);
  const size_t     units = (size_t)(A->k + Search::UNIT - 1) / Search::UNIT, all = units * row;

  for (plan->warps = Search::THREADS / 32; plan->warps >= (A->fuse ? KMEANS_DIRECT_WARPS : 1); plan->warps -= plan->warps > 4 ? 2 : 1) {
    const size_t own = plan->warps * each, rest = own < most ? most - own : 0, sums = rest > all ? rest - all : 0;

    if (A->fuse ? !sums || !(KMeansTallyFit(A, 0, A->d, KMEANS_TALLY_COPIES, sums < KMEANS_DIRECT_COPIES ? sums : KMEANS_DIRECT_COPIES, &plan->shape) || KMeansTallyFit(A, 0, A->d, 1, sums, &plan->shape))
                : rest < (all < KMEANS_DIRECT_LEAST ? all : KMEANS_DIRECT_LEAST))
      continue;
    plan->panel = (int32_t)(rest / row < units ? rest / row : units);
    plan->bytes = own + plan->panel * row + (A->fuse ? KMeansTallyBytes(&plan->shape) : 0);
    return 1;
  }
  return 0;
}

template <template <int> class Search, class Real, int D>
struct KMeansDirectRun {
  /* Launches a block for each multiprocessor, or sets *fits to 1 if the arrays of a block fit shared memory. The solves of a batch share the multiprocessors. */
  static GpErr run(const KMeansData *A, size_t most, int *fits)
  {
    constexpr int    P      = Search<D>::template POINTS<Real>;
    const auto       kernel = KMeansDirectKernel<Search<D>, Real, D, P>;
    const int64_t    tiles = ((int64_t)A->n + 32 * P - 1) / (32 * P), units = GpDevComputeUnits(A->dev), solves = A->solves > 1 ? A->solves : 1;
    const int64_t    share = solves < units ? units / solves : 1; /* number of multiprocessors of a solve */
    KMeansDirectPlan plan  = {};
    GpErr            err;

    static_assert(sizeof(KMeansDirectFrame<D>) + 256 <= KMEANS_DIRECT_STATIC, "static shared memory");
    if (!KMeansDirectDivide<Search<D>, Real, D>(A, most, &plan)) return fits ? GP_SUCCESS : GpDevFail(A->dev, GP_ERR_DEVICE, "KMeansDirect: %d features do not fit shared memory", (int)A->d);
    if (fits) {
      *fits = 1;
      return GP_SUCCESS;
    }
    err = GpCheckCuda(A->dev, cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)plan.bytes), "KMeansDirect");
    if (!err) err = GpLaunch(A->dev, "KMeansDirect", kernel, GpGrid{dim3((unsigned)(tiles < share ? tiles : share), (unsigned)solves), 32u * plan.warps, plan.bytes}, *A, plan.panel, plan.shape);
    return err;
  }
};

template <template <int> class Search, class Real>
static GpErr KMeansDirectDispatch(const KMeansData *A, size_t most, int *fits)
{
  if (A->d <= 2) return KMeansDirectRun<Search, Real, 2>::run(A, most, fits);
  if (A->d <= 3) return KMeansDirectRun<Search, Real, 3>::run(A, most, fits);
  if (A->d <= 4) return KMeansDirectRun<Search, Real, 4>::run(A, most, fits);
  if (A->d <= 6) return KMeansDirectRun<Search, Real, 6>::run(A, most, fits);
  if (A->d <= 8) return KMeansDirectRun<Search, Real, 8>::run(A, most, fits);
  if (A->d <= 10) return KMeansDirectRun<Search, Real, 10>::run(A, most, fits);
  if (A->d <= 12) return KMeansDirectRun<Search, Real, 12>::run(A, most, fits);
  if (A->d <= 16) return KMeansDirectRun<Search, Real, 16>::run(A, most, fits);
  if (A->d <= 20) return KMeansDirectRun<Search, Real, 20>::run(A, most, fits);
  if (A->d <= 24) return KMeansDirectRun<Search, Real, 24>::run(A, most, fits);
  return A->d <= 28 ? KMeansDirectRun<Search, Real, 28>::run(A, most, fits) : KMeansDirectRun<Search, Real, 32>::run(A, most, fits);
}

/* Launches the kernel for the features of A, or sets *fits to 1 if the arrays of a block fit shared memory. */
template <template <int> class Search>
static GpErr KMeansDirectSelect(const KMeansData *A, int *fits)
{
  int    most = 0;
  GpErr  err  = GpCheckCuda(A->dev, cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, GpDevOrdinal(A->dev)), "KMeansDirect");
  size_t rest = (size_t)most - KMEANS_DIRECT_STATIC;

  if (err) return err;
  return A->single ? KMeansDirectDispatch<Search, float>(A, rest, fits) : KMeansDirectDispatch<Search, double>(A, rest, fits);
}

/* The result of KMeansFuses() for the kernel. */
template <template <int> class Search>
static int KMeansDirectFuses(const KMeansData *A)
{
  KMeansData fused = *A;
  int        fits  = 0;

  fused.fuse = 1;
  return A->d <= KMEANS_DIRECT && !KMeansDirectSelect<Search>(&fused, &fits) && fits;
}

/* Assigns all points. If A has no frame, a temporary one is chosen. */
template <template <int> class Search>
static GpErr KMeansDirectAssign(const KMeansData *A)
{
  KMeansData own = *A;
  GpErr      err;

  if (!A->n) return GP_SUCCESS;
  if (A->frame.numbers) return KMeansDirectSelect<Search>(A, NULL);
  err = KMeansFrameCreate(A, &own.frame);
  if (!err) err = KMeansFrameChoose(A, &own.frame);
  if (!err) err = KMeansDirectSelect<Search>(&own, NULL);
  KMeansFrameDestroy(A, &own.frame);
  return err;
}

int KMeansDirectFuses_CUDA(const KMeansData *A); /* KMeansFuses() of `direct` */
int KMeansCellsFuses_CUDA(const KMeansData *A);  /* the same of `cells` */

#endif
