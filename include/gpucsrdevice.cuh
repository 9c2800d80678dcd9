/* Kernels and their launches, for files that nvcc compiles: early launches, the end of a repeating graph, reductions over a grid, numbers that the
   host polls.

   A kernel is launched early (programmatic dependent launch) while its predecessor on the stream still runs, so that its blocks are resident when
   their input is ready. This halves the launch latency of a small product. The predecessor calls GpNextMayStart() to allow it. The successor calls
   GpWait() in all threads before it reads or writes anything that the predecessor reads or writes. Devices before compute capability 9.0 launch the
   successor when the predecessor has finished.

   Data that the predecessor may write must be read by plain loads, not by read-only loads (ld.global.nc, __ldg): the assembler moves read-only
   loads ahead of GpWait(). */
#ifndef GPUCSRDEVICE_CUH
#define GPUCSRDEVICE_CUH

#include "gpucsrdevicetypes.h"

#include <cuda_runtime.h>

__device__ static inline void GpNextMayStart(void)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

__device__ static inline void GpWait(void)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
}

/* Ends the repetition of a graph after the current pass. `loop` is the handle of PetscGPUCSRGraphGetLoop(). If it is 0, nothing repeats, and the host
   decides whether to launch again. */
__device__ static inline void GpLoopEnd(uint64_t loop)
{
#if CUDART_VERSION >= 12040
  if (loop) cudaGraphSetConditional(loop, 0);
#endif
}

/* Writes a number to a place in pinned memory that the host waits for in PetscGPUCSRWatchWait(). A place holds GP_WATCH_EMPTY until then. */
__device__ static inline void GpWatchWrite(volatile double *place, double number)
{
  *place = __double_as_longlong(number) == GP_WATCH_EMPTY ? __longlong_as_double(GP_WATCH_EMPTY ^ 1) : number;
}

/* --- launches ------------------------------------------------------------------------------------------------------------------ */

/* Grid of a launch. `shared`: dynamic shared memory of a block in bytes. `cluster`: number of blocks in a thread block cluster, which divides the
   number of blocks; 1 means no clusters. `brief`: all blocks take a short time, and about the same time. */
struct GpGrid {
  dim3     blocks;
  unsigned threads;
  size_t   shared  = 0;
  unsigned cluster = 1;
  bool     brief   = false;
};

/* Returns the number of blocks of `threads` threads for n threads. */
static inline unsigned GpBlocks(int64_t n, unsigned threads)
{
  return (unsigned)((n + threads - 1) / threads);
}

/* Returns the error of a CUDA call, with its message in the device object. `what` begins the message. */
static inline GpErr GpCheckCuda(GpDev dev, cudaError_t code, const char *what)
{
  if (code == cudaSuccess) return GP_SUCCESS;
  (void)cudaGetLastError(); /* clears the error, so that no later check reports it */
  return GpDevFail(dev, GP_ERR_DEVICE, "%s: %s (%s)", what, cudaGetErrorString(code), cudaGetErrorName(code));
}

template <class... Parameters, class... Arguments>
static GpErr GpLaunchOnStream(GpDev dev, const char *name, void *stream, bool early, void (*kernel)(Parameters...), const GpGrid &grid, const Arguments &...arguments)
{
  cudaLaunchAttribute with[2] = {};
  cudaLaunchConfig_t  config  = {};

  config.gridDim          = grid.blocks;
  config.blockDim         = dim3(grid.threads);
  config.dynamicSmemBytes = grid.shared;
  config.stream           = (cudaStream_t)stream;
  config.attrs            = with;
  if (early) {
    cudaLaunchAttribute *attribute = &with[config.numAttrs++];

    attribute->id                                         = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute->val.programmaticStreamSerializationAllowed = 1;
  }
  if (grid.cluster > 1) {
    cudaLaunchAttribute *attribute = &with[config.numAttrs++];

    attribute->id               = cudaLaunchAttributeClusterDimension;
    attribute->val.clusterDim.x = grid.cluster;
    attribute->val.clusterDim.y = attribute->val.clusterDim.z = 1;
  }
  return GpCheckCuda(dev, cudaLaunchKernelEx(&config, kernel, arguments...), name);
}

template <class... Parameters, class... Arguments>
static GpErr GpLaunchBy(GpLaunchRule rule, GpDev dev, const char *name, void (*kernel)(Parameters...), const GpGrid &grid, const Arguments &...arguments)
{
  void       *stream;
  const GpHow how = GpDevPlanLaunch(dev, rule, grid.blocks.x, grid.brief, &stream);

  return GpLaunchOnStream(dev, name, stream, how != GP_ALONE, kernel, grid, arguments...);
}

/* Launches a kernel after all earlier work. The kernel may write a matrix. `name` begins the message of a failure. */
template <class... Parameters, class... Arguments>
static GpErr GpLaunch(GpDev dev, const char *name, void (*kernel)(Parameters...), const GpGrid &grid, const Arguments &...arguments)
{
  return GpLaunchBy(GP_LAUNCH_ANY, dev, name, kernel, grid, arguments...);
}

/* Launches a kernel after all earlier work. The kernel writes vectors only. */
template <class... Parameters, class... Arguments>
static GpErr GpLaunchVector(GpDev dev, const char *name, void (*kernel)(Parameters...), const GpGrid &grid, const Arguments &...arguments)
{
  return GpLaunchBy(GP_LAUNCH_VECTOR, dev, name, kernel, grid, arguments...);
}

/* Launches a kernel early. The kernel writes vectors only, and calls GpWait() before it touches anything that its predecessor may write. */
template <class... Parameters, class... Arguments>
static GpErr GpLaunchEarly(GpDev dev, const char *name, void (*kernel)(Parameters...), const GpGrid &grid, const Arguments &...arguments)
{
  return GpLaunchBy(GP_LAUNCH_EARLY, dev, name, kernel, grid, arguments...);
}

/* Launches a kernel early that reads, before GpWait(), what the kernel before its predecessor wrote. The next product is launched after all earlier
   work, so that this holds for the next such kernel too. */
template <class... Parameters, class... Arguments>
static GpErr GpLaunchEarlyStep(GpDev dev, const char *name, void (*kernel)(Parameters...), const GpGrid &grid, const Arguments &...arguments)
{
  return GpLaunchBy(GP_LAUNCH_EARLY_ANY, dev, name, kernel, grid, arguments...);
}

/* --- reductions ---------------------------------------------------------------------------------------------------------------- */

/* Reductions over the threads of a block, then over the blocks of a grid. The order of the operations is fixed. R has start(), which sets K results
   to the neutral element, and merge(), which merges K results into K others; see GpReduceSums. */
static constexpr int GP_REDUCE_BLOCK = 256; /* number of threads of a block */

/* Reduces the K results of all threads of a block into thread 0, by a tree of fixed shape. */
template <class R, int K, int THREADS>
__device__ static void GpReduceBlock(double (&mine)[K])
{
  constexpr int     WARPS = THREADS / 32;
  __shared__ double warps[WARPS][K];
  const int         lane = threadIdx.x % 32, warp = threadIdx.x / 32;

  for (int half = 16; half > 0; half /= 2) {
    double other[K];
#pragma unroll
    for (int k = 0; k < K; k++) other[k] = __shfl_down_sync(0xffffffffu, mine[k], half);
    R::merge(mine, other);
  }
  __syncthreads(); /* the shared array may still be read for the previous call */
  if (lane == 0) {
#pragma unroll
    for (int k = 0; k < K; k++) warps[warp][k] = mine[k];
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < WARPS; w++) R::merge(mine, warps[w]);
  }
}

/* Reduces the K results of the block and stores them in the partial results of this block. */
template <class R, int K>
__device__ static void GpReduceToPart(double (&mine)[K], double *partial)
{
  GpReduceBlock<R, K, GP_REDUCE_BLOCK>(mine);
  if (threadIdx.x == 0) {
    for (int k = 0; k < K; k++) partial[(int64_t)k * GP_DEV_PARTS + blockIdx.x] = mine[k];
  }
}

/* Reduces over all blocks of GP_REDUCE_BLOCK threads. Each block stores its partial results. The block that finishes last merges them in a fixed
   order: there the function returns true in all threads, and `mine` of thread 0 holds the result. `partial` holds K times GP_DEV_PARTS values; `ticket` is zero before and after the launch. */
template <class R, int K>
__device__ static bool GpReduceAllBlocks(double (&mine)[K], double *partial, uint32_t *ticket)
{
  __shared__ bool last;

  GpReduceToPart<R, K>(mine, partial);
  if (threadIdx.x == 0) {
    __threadfence(); /* the partial results must be visible before the ticket */
    last = atomicAdd(ticket, 1u) == gridDim.x - 1;
    __threadfence(); /* the ticket must be read before the partial results of other blocks */
  }
  __syncthreads();
  if (!last) return false;
  R::start(mine);
  for (unsigned b = threadIdx.x; b < gridDim.x; b += GP_REDUCE_BLOCK) {
    double other[K];
#pragma unroll
    for (int k = 0; k < K; k++) other[k] = __ldcg(partial + (int64_t)k * GP_DEV_PARTS + b);
    R::merge(mine, other);
  }
  GpReduceBlock<R, K, GP_REDUCE_BLOCK>(mine);
  if (threadIdx.x == 0) *ticket = 0; /* zero again for the next launch */
  return true;
}

/* Number of blocks of a reduction: as many as the GPU runs at once, fewer for a short vector. It depends only on n and on the GPU, so that results are
   reproducible. n must be positive, because a grid of 0 blocks cannot be launched. */
static inline unsigned GpReduceGrid(GpDev dev, int64_t n)
{
  const int64_t units = GpDevComputeUnits(dev), most = 8 * units < GP_DEV_PARTS ? 8 * units : GP_DEV_PARTS;
  const int64_t want = (n + 4 * GP_REDUCE_BLOCK - 1) / (4 * GP_REDUCE_BLOCK);

  return (unsigned)(want < most ? want : most);
}

struct GpReduceSums {
  template <int K>
  __device__ static void start(double (&sum)[K])
  {
    for (int k = 0; k < K; k++) sum[k] = 0;
  }
  template <int K>
  __device__ static void merge(double (&sum)[K], const double (&other)[K])
  {
#pragma unroll
    for (int k = 0; k < K; k++) sum[k] += other[k];
  }
};

#endif
