/* Thread block clusters (compute capability 9.0 or higher): blocks that run at the same time and access each other's shared memory. A block may rely
   on another one only after GpClusterWait(), which must follow GpClusterEnter() or GpClusterArrive() of all threads of the cluster. */
#ifndef GPCLUSTER_H
#define GPCLUSTER_H

#include "device/gpdevice.h"

/* The first arrival, before any shared memory is written. It only tells the other blocks that this block runs. */
__device__ static inline void GpClusterEnter(void)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  __cluster_barrier_arrive_relaxed();
#endif
}

__device__ static inline void GpClusterArrive(void)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  __syncwarp(); /* all threads of a warp arrive and wait together */
  __cluster_barrier_arrive();
#endif
}

/* afterwards, everything that the other blocks wrote before their arrival is visible */
__device__ static inline void GpClusterWait(void)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  __syncwarp();
  __cluster_barrier_wait();
#endif
}

/* writes to *mine in the shared memory of the block whose rank in the cluster is lower by `before` */
__device__ static inline void GpClusterPut(double *mine, unsigned before, double value)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  *(double *)__cluster_map_shared_rank(mine, __clusterRelativeBlockRank() - before) = value;
#endif
}

#endif
