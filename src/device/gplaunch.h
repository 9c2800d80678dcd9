/* A kernel that needs what the one before it on the stream wrote, launched while that one runs (programmatic dependent launch): its
   blocks are in place when their input is, which saves a small product half a launch.  The first kernel says early that the
   next may come, GpNextMayStart(); the next calls GpWait(), all of its threads, before it touches what that one does.  Devices before
   compute capability 9.0 launch it when the other has ended.  And how a kernel ends a graph that repeats itself. */
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

/* an error is the runtime's last, as of every launch */
template <class... Parameters, class... Arguments>
static void GpLaunchNext(GpDev dev, void (*kernel)(Parameters...), unsigned blocks, unsigned threads, size_t shared, Arguments... arguments)
{
  cudaLaunchAttribute early  = {};
  cudaLaunchConfig_t  config = {};

  early.id                                         = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;

  config.gridDim          = dim3(blocks);
  config.blockDim         = dim3(threads);
  config.dynamicSmemBytes = shared;
  config.stream           = (cudaStream_t)dev->stream;
  config.attrs            = &early;
  config.numAttrs         = dev->launches_early ? 1 : 0;
  cudaLaunchKernelEx(&config, kernel, arguments...);
}

#endif
