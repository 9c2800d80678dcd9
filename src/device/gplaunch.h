/* Early launches (programmatic dependent launch) and the end of a repeating graph.

   A kernel is launched while its predecessor on the stream still runs, so that its blocks are resident when their input is ready. This saves a
   small product half of the launch latency. The predecessor calls GpNextMayStart() to allow it. The successor calls GpWait() in all threads
   before it reads or writes anything that the predecessor reads or writes. Devices before compute capability 9.0 launch the successor when the
   predecessor has finished.

   Data that the predecessor may write must be read by plain loads, not by read-only loads (ld.global.nc, __ldg): the assembler moves read-only
   loads ahead of GpWait(). */
#ifndef GPLAUNCH_H
#define GPLAUNCH_H

#include "device/gpdevice.h"

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

/* Ends the repetition of a graph from graph_loop() after the current pass. If turn is 0, nothing repeats, and the host decides whether to launch
   again. */
__device__ static inline void GpLoopEnd(uint64_t turn)
{
#if CUDART_VERSION >= 12040
  if (turn) cudaGraphSetConditional(turn, 0);
#endif
}

/* Grid of a launch. `cluster` is the number of blocks in a thread block cluster and divides `blocks`; 1 means no clusters. `brief` says that all
   blocks take a short time, and about the same time. */
struct GpGrid {
  unsigned blocks, threads;
  size_t   shared  = 0;
  unsigned cluster = 1;
  bool     brief   = false;
};

template <class... Parameters, class... Arguments>
static void GpLaunchWhen(GpDev dev, bool early, void (*kernel)(Parameters...), const GpGrid &grid, Arguments... arguments)
{
  cudaLaunchAttribute with[2] = {};
  cudaLaunchConfig_t  config  = {};

  config.gridDim          = dim3(grid.blocks);
  config.blockDim         = dim3(grid.threads);
  config.dynamicSmemBytes = grid.shared;
  config.stream           = (cudaStream_t)dev->stream;
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
  cudaLaunchKernelEx(&config, kernel, arguments...);
}

/* Launches a kernel that calls GpWait() before it touches anything that its predecessor may write. Errors are reported by cudaGetLastError(), as
   for every launch. */
template <class... Parameters, class... Arguments>
static void GpLaunchNext(GpDev dev, void (*kernel)(Parameters...), unsigned blocks, unsigned threads, size_t shared, Arguments... arguments)
{
  GpLaunchWhen(dev, dev->launches_early, kernel, GpGrid{blocks, threads, shared}, arguments...);
}

/* How the kernel of a product is launched. A product reads its matrix before GpWait(), so it is launched early only if no kernel that may write a
   matrix is still running. Every launch of such a kernel ends in GpDevCheckLaunch(), which makes the next product an ordinary launch.

   - GP_ALONE: ordinary launch, after all earlier work.
   - GP_EARLY: early launch. The successor is allowed after the main loop; otherwise its blocks are distributed unevenly over the multiprocessors.
   - GP_BRIEF: early launch of few or short blocks. The successor is allowed at the start. */
enum GpHow {
  GP_ALONE,
  GP_EARLY,
  GP_BRIEF
};

static inline GpHow GpHowToLaunch(GpDev dev, const GpGrid &grid)
{
  if (!dev->launches_early || dev->settled != dev->stream) return GP_ALONE;
  return grid.brief || grid.blocks <= (unsigned)dev->compute_units ? GP_BRIEF : GP_EARLY;
}

/* Allows the successor at the start of a kernel if `how` says so. With TELLS, ordinary launches allow it too: they begin after all earlier work,
   so a successor that a program launches early may start at once. This slows a kernel of many blocks a little. */
template <bool TELLS = false>
__device__ static inline void GpBegin(GpHow how)
{
  if (how == GP_BRIEF || (TELLS && how == GP_ALONE)) GpNextMayStart();
}

/* Launches a product. The kernel is compiled in two variants. Variant `early` calls GpWait() before it touches a vector; variant `alone` omits
   the wait and is for ordinary launches. The first parameter of both says how the kernel was launched. */
template <class... Parameters, class... Arguments>
static GpErr GpLaunchProduct(GpDev dev, const char *name, void (*alone)(GpHow, Parameters...), void (*early)(GpHow, Parameters...), const GpGrid &grid, Arguments... arguments)
{
  const GpHow how = GpHowToLaunch(dev, grid);

  GpLaunchWhen(dev, how != GP_ALONE, how != GP_ALONE ? early : alone, grid, how, arguments...);
  dev->settled = dev->stream;
  return GpDevLaunched(dev, name);
}

#endif
