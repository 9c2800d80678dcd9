/* A kernel that needs what the one before it on the stream wrote, launched while that one runs (programmatic dependent launch): its
   blocks are in place when their input is, which saves a small product half a launch.  The first kernel says early that the
   next may come, GpNextMayStart(); the next calls GpWait(), all of its threads, before it touches what that one does.  Devices before
   compute capability 9.0 launch it when the other has ended.  And how a kernel ends a graph that repeats itself.

   What is written between the two launches is read by plain loads, not as a constant (ld.global.nc, __ldg): the assembler moves
   loads of constants ahead of GpWait(). */
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

/* the turn that runs is the last of a graph made by the runtime's graph_loop; with turn 0 the host sees to that */
__device__ static inline void GpLoopEnd(uint64_t turn)
{
#if CUDART_VERSION >= 12040
  if (turn) cudaGraphSetConditional(turn, 0);
#endif
}

/* the blocks of a launch; cluster: those that reach each other's shared memory, of which all are a multiple, 1: none do; brief: no block works long, and
   all for about as long */
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

/* a kernel that touches nothing that may be written before it waits; an error is the runtime's last, as of every launch */
template <class... Parameters, class... Arguments>
static void GpLaunchNext(GpDev dev, void (*kernel)(Parameters...), unsigned blocks, unsigned threads, size_t shared, Arguments... arguments)
{
  GpLaunchWhen(dev, dev->launches_early, kernel, GpGrid{blocks, threads, shared}, arguments...);
}

/* How a product's kernel is launched, which reads its matrix before it waits for its vectors.  Early only where no kernel that may have written a matrix
   is under way still: whatever else is launched says by GpDevCheckLaunch() that there may be one.  From when on its own successor may come: from the
   first when blocks are few or brief; else not before they are done, or those that come are spread unevenly over the multiprocessors. */
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

/* how: of a kernel that is launched so.  TELLS: also of one launched alone, which costs it a little when blocks are many: a step that a program puts behind the
   product may come at once, when all before the product has ended. */
template <bool TELLS = false>
__device__ static inline void GpBegin(GpHow how)
{
  if (how == GP_BRIEF || (TELLS && how == GP_ALONE)) GpNextMayStart();
}

/* The kernel has two makes, of which one waits, before it touches a vector, and is launched early where that may be; the first parameter tells it how
   it was launched. */
template <class... Parameters, class... Arguments>
static GpErr GpLaunchProduct(GpDev dev, const char *name, void (*alone)(GpHow, Parameters...), void (*early)(GpHow, Parameters...), const GpGrid &grid, Arguments... arguments)
{
  const GpHow how = GpHowToLaunch(dev, grid);

  GpLaunchWhen(dev, how != GP_ALONE, how != GP_ALONE ? early : alone, grid, how, arguments...);
  dev->settled = dev->stream;
  return GpDevLaunched(dev, name);
}

#endif
