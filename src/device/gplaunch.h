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

/* cluster: thread blocks that reach each other's shared memory, of which the blocks are a multiple; 1: none do */
template <class... Parameters, class... Arguments>
static void GpLaunchWhen(GpDev dev, int early, void (*kernel)(Parameters...), unsigned cluster, unsigned blocks, unsigned threads, size_t shared, Arguments... arguments)
{
  cudaLaunchAttribute with[2] = {};
  cudaLaunchConfig_t  config  = {};

  config.gridDim          = dim3(blocks);
  config.blockDim         = dim3(threads);
  config.dynamicSmemBytes = shared;
  config.stream           = (cudaStream_t)dev->stream;
  config.attrs            = with;
  if (early) {
    cudaLaunchAttribute *attribute = &with[config.numAttrs++];

    attribute->id                                         = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute->val.programmaticStreamSerializationAllowed = 1;
  }
  if (cluster > 1) {
    cudaLaunchAttribute *attribute = &with[config.numAttrs++];

    attribute->id               = cudaLaunchAttributeClusterDimension;
    attribute->val.clusterDim.x = cluster;
    attribute->val.clusterDim.y = attribute->val.clusterDim.z = 1;
  }
  cudaLaunchKernelEx(&config, kernel, arguments...);
}

/* a kernel that touches nothing before it waits; an error is the runtime's last, as of every launch */
template <class... Parameters, class... Arguments>
static void GpLaunchNext(GpDev dev, void (*kernel)(Parameters...), unsigned blocks, unsigned threads, size_t shared, Arguments... arguments)
{
  GpLaunchWhen(dev, dev->launches_early, kernel, 1, blocks, threads, shared, arguments...);
}

/* Will GpLaunchProduct() launch the next kernel early?  One that is not need not wait. */
static inline int GpMayBeEarly(GpDev dev)
{
  return dev->launches_early && dev->settled == dev->stream;
}

/* A product's kernel, which reads its matrix before it waits for its vectors: early only where no kernel that may have written a matrix
   is under way still.  Whatever else is launched says by GpDevCheckLaunch() that there may be one. */
template <class... Parameters, class... Arguments>
static GpErr GpLaunchProduct(GpDev dev, const char *name, void (*kernel)(Parameters...), unsigned cluster, unsigned blocks, unsigned threads, size_t shared, Arguments... arguments)
{
  GpLaunchWhen(dev, GpMayBeEarly(dev), kernel, cluster, blocks, threads, shared, arguments...);
  dev->settled = dev->stream;
  return GpDevLaunched(dev, name);
}

#endif
