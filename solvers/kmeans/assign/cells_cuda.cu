/* CUDA implementation of `cells`: the candidates of all cells, and the launch of the kernel in kmeanscells.cuh. kmeanscells.h describes the method, kmeansgrid_cuda.cu
   makes the grid. */
#include "kmeanscells.cuh"

enum {
  KMEANS_CELLS_LISTS  = 256,  /* number of threads of a block that lists candidates */
  KMEANS_CELLS_STATIC = 2048, /* bytes of static shared memory of KMeansCellsKernel(), rounded up */
  KMEANS_CELLS_COPIES = 32768 /* largest number of bytes for several copies of the sums */
};

/* Lists the candidates of all cells, one warp a cell. */
template <int D>
__global__ __launch_bounds__(KMEANS_CELLS_LISTS) static void KMeansCellsListKernel(KMeansData A)
{
  const int32_t cell = blockIdx.x * (KMEANS_CELLS_LISTS / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  const double *centroid = A.centroid + (int64_t)blockIdx.y * A.k * D, *z;
  KMeansCells  *cells    = A.cells + blockIdx.y;
  double        centre[D], width[D], square, least = HUGE_VAL;
  int32_t       nearest = INT32_MAX, many = 0;

  if (A.loop && A.loop[blockIdx.y].reason) return;
  square = KMeansCellBox(A.grid, D, cell, centre, width);
  for (int32_t c = lane; c < A.k; c += 32) {
    const double sum = KMeansCellSquare(D, centre, centroid + (int64_t)c * D);

    if (!(sum < least)) continue;
    least   = sum;
    nearest = c;
  }
  for (int half = 16; half > 0; half /= 2) {
    const double  sum   = __shfl_xor_sync(0xffffffffu, least, half);
    const int32_t other = __shfl_xor_sync(0xffffffffu, nearest, half);

    if (!(sum < least || (sum == least && other < nearest))) continue;
    least   = sum;
    nearest = other;
  }
  z = centroid + (int64_t)nearest * D; /* not read if no distance is a number */
  for (int32_t from = 0; nearest != INT32_MAX && from < A.k; from += 32) {
    const int32_t  c     = from + lane;
    const double  *m     = centroid + (int64_t)c * D;
    const bool     keeps = c < A.k && KMeansCellKeeps(D, m, z, KMeansCellSquare(D, centre, m), least, width, square);
    const unsigned votes = __ballot_sync(0xffffffffu, keeps);
    const int32_t  at    = many + __popc(votes & ((1u << lane) - 1));

    if (keeps && at < KMEANS_CELLS_FEW) cells->few[cell][1 + at] = (uint16_t)c;
    else if (keeps && at < KMEANS_CELLS_FEW + KMEANS_CELLS_MORE) cells->more[cell][at - KMEANS_CELLS_FEW] = (uint16_t)c;
    many += __popc(votes);
  }
  if (lane == 0) cells->few[cell][0] = many && many <= KMEANS_CELLS_FEW + KMEANS_CELLS_MORE ? (uint16_t)many : KMEANS_CELLS_ALL;
}

/* The shared memory of a launch. */
typedef struct {
  int              local; /* 1: candidates and centroids are in shared memory */
  size_t           bytes;
  KMeansTallyShape shape; /* arrangement of the sums, if A->fuse is set */
} KMeansCellsPlan;

/* Returns 0 if A->fuse is set and shared memory does not suffice. */
static int KMeansCellsPlanLaunch(const KMeansData *A, KMeansCellsPlan *plan)
{
  const size_t most = GpDevSharedBytes(A->dev) - KMEANS_CELLS_STATIC, moves = KMeansCellsThreads(A->d) / 32 * sizeof(KMeansMoves);
  const size_t tables = KMEANS_CELLS * sizeof(uint4) + ((size_t)A->k * KMeansCellsRow(A->d) + 1) / 2 * 2 * sizeof(double);

  plan->shape = {};
  plan->local = tables + (A->fuse ? moves : 0) <= most;
  plan->bytes = plan->local ? tables : 0;
  if (!A->fuse) return 1;
  if (!plan->local) return 0;
  plan->bytes += moves;

  const size_t rest = most - plan->bytes;

  if (!KMeansTallyFit(A, 0, A->d, KMEANS_TALLY_COPIES, rest < KMEANS_CELLS_COPIES ? rest : KMEANS_CELLS_COPIES, &plan->shape) && !KMeansTallyFit(A, 0, A->d, 1, rest, &plan->shape)) return 0;
  plan->bytes += KMeansTallyBytes(&plan->shape);
  return 1;
}

int KMeansCellsFuses_CUDA(const KMeansData *A)
{
  KMeansData      fused = *A;
  KMeansCellsPlan plan;

  fused.fuse = 1;
  return A->d <= KMEANS_CELLS_FEATURES && A->k <= KMEANS_CELLS_CLUSTERS && KMeansCellsPlanLaunch(&fused, &plan);
}

/* Launches a block for each multiprocessor. The solves of a batch share the multiprocessors. */
template <class Real, int D, bool LOCAL>
static GpErr KMeansCellsLaunch(const KMeansData *A, const KMeansCellsPlan *plan)
{
  const auto    kernel = KMeansCellsKernel<Real, D, LOCAL>;
  const int64_t tiles = ((int64_t)A->n + KMEANS_CELLS_TILE - 1) / KMEANS_CELLS_TILE, units = GpDevComputeUnits(A->dev), solves = A->solves > 1 ? A->solves : 1;
  const int64_t share = solves < units ? units / solves : 1;
  GpErr         err   = GpLaunch(A->dev, "KMeansCellsList", KMeansCellsListKernel<D>, GpGrid{dim3(KMEANS_CELLS / (KMEANS_CELLS_LISTS / 32), (unsigned)solves), KMEANS_CELLS_LISTS}, *A);

  if (!err) err = GpCheckCuda(A->dev, cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)plan->bytes), "KMeansCells");
  if (!err) err = GpLaunch(A->dev, "KMeansCells", kernel, GpGrid{dim3((unsigned)(tiles < share ? tiles : share), (unsigned)solves), KMeansCellsThreads(D), plan->bytes}, *A, plan->shape);
  return err;
}

template <class Real, bool LOCAL>
static GpErr KMeansCellsDispatch(const KMeansData *A, const KMeansCellsPlan *plan)
{
  switch (A->d) {
  case 1:
    return KMeansCellsLaunch<Real, 1, LOCAL>(A, plan);
  case 2:
    return KMeansCellsLaunch<Real, 2, LOCAL>(A, plan);
  case 3:
    return KMeansCellsLaunch<Real, 3, LOCAL>(A, plan);
  default:
    return KMeansCellsLaunch<Real, 4, LOCAL>(A, plan);
  }
}

extern "C" GpErr KMeansAssign_cells_CUDA(const KMeansData *A)
{
  KMeansCellsPlan plan;

  if (!A->n) return GP_SUCCESS;
  if (!KMeansCellsPlanLaunch(A, &plan)) return GpDevFail(A->dev, GP_ERR_DEVICE, "KMeansCells: %d clusters do not fit shared memory", (int)A->k);
  if (plan.local) return A->single ? KMeansCellsDispatch<float, true>(A, &plan) : KMeansCellsDispatch<double, true>(A, &plan);
  return A->single ? KMeansCellsDispatch<float, false>(A, &plan) : KMeansCellsDispatch<double, false>(A, &plan);
}
