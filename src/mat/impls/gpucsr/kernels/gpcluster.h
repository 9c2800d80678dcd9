/* Thread blocks in clusters, which run at the same time and reach each other's shared memory, from compute capability 9.0 on.  Nothing is sure
   of another block before a GpClusterWait() that follows a GpClusterEnter(), or GpClusterArrive(), of all threads of the cluster. */
#ifndef GPCLUSTER_H
#define GPCLUSTER_H

#include "device/gpdevice.h"

/* the first arrival, before anything was written: what the others need to know is that this block is there */
__device__ static inline void GpClusterEnter(void)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  __cluster_barrier_arrive_relaxed();
#endif
}

__device__ static inline void GpClusterArrive(void)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  __syncwarp(); /* the threads of a warp arrive together, and wait together */
  __cluster_barrier_arrive();
#endif
}

/* what the others wrote before they arrived is there */
__device__ static inline void GpClusterWait(void)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  __syncwarp();
  __cluster_barrier_wait();
#endif
}

/* writes to *mine of a block `before` places before this one in its cluster */
__device__ static inline void GpClusterPut(double *mine, unsigned before, double value)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  *(double *)__cluster_map_shared_rank(mine, __clusterRelativeBlockRank() - before) = value;
#endif
}

#endif
