/* The kernel of `direct` and `tensor` for dense points with up to KMEANS_DIRECT features, Euclidean metric. screen/kmeansframe.cuh has the scores and the proof
   of their bound.

   A warp takes 32 P points and copies them to shared memory. A search (kmeanssingle.cuh, kmeanssplit.cuh) computes the scores of all centroids, which are in shared
   memory too. It finds the least score, its group of centroids, and the least score of the other groups.

   If the least score of the other groups is above the limit of the error bound, only the centroids of the one group are candidates. One thread computes their scores again in
   single precision, because the search has not kept them. It evaluates the distances of the centroids with scores within the limit by the definition. If other groups have
   candidates too, the threads of the warp divide all centroids and do the same. If the centroids do not all fit shared memory, no scores are computed again, and all of
   these distances are evaluated.

   If KMeansData.fuse is set, the warp then adds points to the sums of clusters (kmeansmoves.cuh): all points if the sums contain none yet, otherwise the points whose
   labels changed. */
#ifndef KMEANSDIRECT_CUH
#define KMEANSDIRECT_CUH

#include "kmeanswarp.cuh"
#include "solvers/kmeans/kmeanstotals.cuh"
#include "solvers/kmeans/update/kmeanstally.cuh"

/* Totals of a thread. It has fewer than 2^31 points. */
typedef struct {
  int32_t changed;            /* KMEANS_CHANGED */
  int64_t inertia, rechecked; /* KMEANS_INERTIA, KMEANS_RECHECK */
} KMeansDirectTotals;

/* The nearest centroid of a point by the definition, found by a warp: lane l takes the centroids l, l + 32, ... If all centroids are in shared memory, it computes
   their scores in single precision, and evaluates only the centroids with scores near the least one. slot: the slot of the point in W. All lanes receive label and
   compared. Returns the number of distances that were evaluated. */
template <class Search, class Real, int D, int P>
__device__ __noinline__ static int KMeansDirectEvaluateAll(const KMeansData &A, const KMeansDirectFrame<D> &F, const KMeansDirectExact &E, int slot, const float *centroids, KMeansDirectWarp<Real, D, P> *W, int32_t *label, double *compared)
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
    place.evaluate(A, F, E, c);
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

/* Reads the point in slot `slot` and finds its candidates. Returns them as a set of the centroids of the group *group, one bit for each. The set is empty if centroids of
   other groups are candidates too; then *group is -1. It is also empty if valid is 0, for a slot without a point. centroids: all centroids, or NULL if they do not fit shared memory. Then all centroids of the group are candidates. */
template <class Search, class Real, int D, int P>
__device__ static unsigned KMeansDirectCandidates(const KMeansData &A, const KMeansDirectFrame<D> &F, const float *centroids, KMeansDirectWarp<Real, D, P> *W, int slot, int valid, KMeansDirectPlace<D> *place, int32_t *group)
{
  Real  x[D];
  float limit;

  W->get(slot, x);
#pragma unroll
  for (int j = 0; j < D; j++) {
    place->x[j] = x[j];
    place->y[j] = KMeansDirectCoordinate(F, j, x[j]);
  }
  *group = Search::decide(A, F, W, slot, place->y, &limit);
  if (!centroids) return *group < 0 || !valid ? 0 : (1u << Search::GROUP) - 1;

  const unsigned near = Search::near(centroids, *group < 0 ? 0 : *group, place->y, limit);

  return *group < 0 || !valid ? 0 : near;
}

/* Evaluates the candidates of a point except the first one, for all points of a warp together. If candidates are in several groups, the warp evaluates all centroids. */
template <class Search, class Real, int D, int P>
__device__ static void KMeansDirectOthers(const KMeansData &A, const KMeansDirectFrame<D> &F, const KMeansDirectExact &E, const float *centroids, KMeansDirectWarp<Real, D, P> *W, int slot, int valid, int32_t group, unsigned near,
                                          KMeansDirectPlace<D> *place, KMeansDirectTotals *T)
{
  for (near &= near - 1; near; near &= near - 1) {
    const int32_t c = Search::centroid(group, __ffs((int)near) - 1);

    if (c >= A.k) continue;
    place->evaluate(A, F, E, c);
    T->rechecked++;
  }
  for (unsigned open = __ballot_sync(0xffffffffu, valid && group < 0); open; open &= open - 1) {
    const int from = __ffs((int)open) - 1;
    int32_t   label;
    double    compared;
    const int count = KMeansDirectEvaluateAll<Search>(A, F, E, __shfl_sync(0xffffffffu, slot, from), centroids, W, &label, &compared);

    if ((int)threadIdx.x % 32 != from) continue;
    place->label    = label;
    place->compared = compared;
    T->rechecked += count - 1; /* the distance to the centroid of the label is needed in any case, and does not count as evaluated again */
  }
}

/* Finds the labels of the points of a warp. centroids: all centroids, or NULL if they do not fit shared memory. fresh: 1 if the sums contain no point yet. If A.fuse is set,
   adds the points to the queue that must be added to sums. queued: number of points in the queue. Returns the new number. */
template <class Search, class Real, int D, int P>
__device__ static int KMeansDirectFinish(const KMeansData &A, const KMeansDirectFrame<D> &F, const KMeansDirectExact &E, int64_t first, const float *centroids, int fresh, int queued, KMeansDirectWarp<Real, D, P> *W, const KMeansBlockTally *sums,
                                         KMeansDirectTotals *T)
{
  constexpr int U = P % 2 == 0 && D <= 8 && Search::THREADS <= 512 ? 2 : 1; /* number of points that a thread evaluates at the same time, because an addition in double precision waits for the previous one */

#pragma unroll 1
  for (int begin = threadIdx.x % 32; begin < 32 * P; begin += 32 * U) {
    KMeansDirectPlace<D> place[U];
    unsigned             near[U];
    int32_t              group[U];

#pragma unroll
    for (int u = 0; u < U; u++) near[u] = KMeansDirectCandidates<Search>(A, F, centroids, W, begin + 32 * u, first + begin + 32 * u < A.n, &place[u], &group[u]);
#pragma unroll
    for (int u = 0; u < U; u++) {
      place[u].label    = near[u] ? Search::centroid(group[u], __ffs((int)near[u]) - 1) : 0;
      place[u].compared = place[u].compare(A, F, E, place[u].label);
    }
#pragma unroll
    for (int u = 0; u < U; u++) {
      const int     slot = begin + 32 * u, valid = first + slot < A.n;
      const int64_t i   = first + slot;
      const int32_t old = W->old[slot];

      KMeansDirectOthers<Search>(A, F, E, centroids, W, slot, valid, group[u], near[u], &place[u], T);
      if (valid) {
        if (old != place[u].label) A.label[(int64_t)blockIdx.y * A.n + i] = place[u].label;
        if (A.distance) A.distance[i] = place[u].compared;
        T->changed += old != place[u].label;
        T->inertia += KMeansToFixed(KMeansWeight(&A, i) * place[u].compared, A.cost.first); /* for dense points and the Euclidean metric the distance is KMeansCompare() */
      }
      if (A.fuse) queued = KMeansMovesAdd<Real, D>(A, queued, valid && (fresh || old != place[u].label), (int32_t)i, place[u].label, fresh ? -1 : old, &W->moves, sums);
    }
  }
  return queued;
}

/* Assigns all points, and adds them to the tally if A.fuse is set. panel: number of units of centroids in shared memory at once. If it is less than the number of
   all units, the search loads the centroids in panels. */
template <class Search, class Real, int D, int P>
__global__ __launch_bounds__(Search::THREADS, 1) static void KMeansDirectKernel(const __grid_constant__ KMeansData A, int32_t panel, int exact, const __grid_constant__ KMeansTallyShape shape)
{
  extern __shared__ float4 shared[];
  __shared__ KMeansDirectFrame<D> F;
  const int32_t                   units = (A.k + Search::UNIT - 1) / Search::UNIT, warps = blockDim.x / 32, warp = threadIdx.x / 32;
  KMeansDirectWarp<Real, D, P>   *W         = (KMeansDirectWarp<Real, D, P> *)shared + warp;
  float                          *centroids = (float *)((KMeansDirectWarp<Real, D, P> *)shared + warps);
  const KMeansLoop               *loop      = A.loop ? A.loop + blockIdx.y : NULL;
  double                         *row       = (double *)(centroids + (int64_t)panel * Search::FLOATS);
  const KMeansDirectExact         E         = {row, exact};
  KMeansDirectTotals              T         = {};
  KMeansBlockTally                sums      = {};
  int                             queued    = 0;

  W->load(A, ((int64_t)warp * gridDim.x + blockIdx.x) * 32 * P); /* the points of the first round, which arrive while the block prepares the centroids */
  if (A.fuse) KMeansTallyClear(&sums, &shape, (uint32_t *)(row + (exact ? (int64_t)A.k * KMeansDirectRow(D) : 0)));
  GpNextMayStart();
  GpWait(); /* with A.loop the kernel is launched early, while its predecessor moves the centroids. The predecessor writes neither points nor labels */

  const int stopped = loop && loop->reason, fresh = !loop || loop->fresh;

  for (int32_t e = threadIdx.x; exact && e < A.k * D; e += blockDim.x) row[e / D * KMeansDirectRow(D) + e % D] = e % D < A.d ? A.centroid[((int64_t)blockIdx.y * A.k + e / D) * A.d + e % D] : 0;
  if (threadIdx.x < D) {
    F.centre[threadIdx.x]       = (int)threadIdx.x < A.d ? A.frame.centre[(int64_t)blockIdx.y * A.d + threadIdx.x] : 0;
    F.centresingle[threadIdx.x] = (float)F.centre[threadIdx.x];
  }
  if (threadIdx.x == 0) {
    F.scale       = KMeansFrameScale(A.frame.numbers + blockIdx.y, A.single);
    F.scalesingle = (float)F.scale;
    F.most        = 0;
    F.centroid    = A.centroid + (int64_t)blockIdx.y * A.k * A.d;
  }
  __syncthreads();
  if (stopped) return; /* not before, so that the loads of all these numbers are in flight together */
  if (panel == units) Search::load(A, F, 0, units, centroids);
  else
    for (int32_t c = threadIdx.x; c < A.k; c += blockDim.x) (void)KMeansDirectConvert(A, F, c, [](int, double) {}); /* sets F.most, because the bound of the first panel already needs the norms of all centroids */
  __syncthreads();
  if (threadIdx.x == 0) Search::bound(A, F);
  __syncthreads();
  for (int64_t round = 0; round * 32 * P * warps * gridDim.x < A.n; round++) {
    const int64_t first = ((round * warps + warp) * gridDim.x + blockIdx.x) * 32 * P;

    if (panel == units && first >= A.n) break; /* with several panels, all warps take part in the loads */

    {
      typename Search::template Tile<Real, P> tile;

      if (round) W->load(A, first);
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
    queued = KMeansDirectFinish<Search>(A, F, E, first, panel == units ? centroids : NULL, fresh, queued, W, &sums, &T);
    __syncwarp();
  }
  if (queued) KMeansMovesApply<Real, D>(A, queued, &W->moves, &sums);

  const KMeansData own = KMeansOfSolve(&A, blockIdx.y);
  KMeansTotals     totals;

  totals.total[KMEANS_CHANGED] = T.changed;
  totals.total[KMEANS_INERTIA] = T.inertia;
  totals.total[KMEANS_COUNTED] = blockIdx.x == 0 && threadIdx.x == 0 ? (int64_t)A.n * A.k : 0; /* one thread counts the distances of all points */
  totals.total[KMEANS_RECHECK] = T.rechecked;
  KMeansTotalsAdd(&own, &totals);
  if (A.fuse) KMeansTallyFlush(&own, &sums);
}

/* How a launch divides the shared memory of a block. */
typedef struct {
  int32_t          panel; /* number of units of centroids in shared memory at once */
  int              exact; /* 1: shared memory has all centroids in double precision too */
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
  const size_t     units = (size_t)(A->k + Search::UNIT - 1) / Search::UNIT, all = units * row, exact = (size_t)A->k * KMeansDirectRow(D) * sizeof(double);
  KMeansTallyShape shape;

  for (plan->warps = Search::THREADS / 32; plan->warps >= (A->fuse ? KMEANS_DIRECT_WARPS : 1); plan->warps -= plan->warps > 4 ? 2 : 1) {
    const size_t own = plan->warps * each, rest = own < most ? most - own : 0;
    size_t       free = rest > all ? rest - all : 0; /* bytes beside points and centroids */

    if (A->fuse ? !KMeansTallyFit(A, 0, A->d, 1, free, &plan->shape) : rest < (all < KMEANS_DIRECT_LEAST ? all : KMEANS_DIRECT_LEAST)) continue;
    plan->panel = (int32_t)(rest / row < units ? rest / row : units);
    plan->exact = (A->fuse ? KMeansTallyBytes(&plan->shape) : 0) + exact <= free;
    if (plan->exact) free -= exact;
    if (A->fuse && KMeansTallyFit(A, 0, A->d, KMEANS_TALLY_COPIES, free < KMEANS_DIRECT_COPIES ? free : KMEANS_DIRECT_COPIES, &shape)) plan->shape = shape;
    plan->bytes = own + plan->panel * row + (plan->exact ? exact : 0) + (A->fuse ? KMeansTallyBytes(&plan->shape) : 0);
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
    if (err) return err;

    const GpGrid grid{dim3((unsigned)(tiles < share ? tiles : share), (unsigned)solves), 32u * plan.warps, plan.bytes};

    return A->loop ? GpLaunchEarlyStep(A->dev, "KMeansDirect", kernel, grid, *A, plan.panel, plan.exact, plan.shape) : GpLaunch(A->dev, "KMeansDirect", kernel, grid, *A, plan.panel, plan.exact, plan.shape);
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
