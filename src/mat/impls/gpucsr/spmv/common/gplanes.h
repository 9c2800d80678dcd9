/* Code for a warp, written once for both backends: the device runs it in a warp, the host in loops over 32 lanes. Both build the same slices.

   Code of each lane stands in GP_LANES(l) { ... } and keeps its state in arrays of size GP_PER_LANE, at index [GP_AT(l)]. Lanes exchange data by
   the functions below, which all lanes call together. */
#ifndef GPLANES_H
#define GPLANES_H

#include <stdint.h>

#define GP_WARP 32

#if defined(__CUDACC__)
  #define GP_WARPFN      static __device__ inline
  #define GP_LANEFN      static __device__ inline
  #define GP_PER_LANE    1
  #define GP_LANES(l)    for (int l = threadIdx.x % GP_WARP, once_ = 1; once_; once_ = l < 0)
  #define GP_AT(l)       ((void)(l), 0)
  #define GP_ONE_LANE(l) if (threadIdx.x % GP_WARP == (l))
  #define GP_LANESYNC()  __syncwarp()

GP_WARPFN int32_t GpLanesMin(const int32_t v[])
{
  return __reduce_min_sync(0xffffffffu, v[0]);
}
GP_WARPFN int32_t GpLanesMax(const int32_t v[])
{
  return __reduce_max_sync(0xffffffffu, v[0]);
}
GP_WARPFN uint32_t GpLanesBallot(const int32_t v[])
{
  return __ballot_sync(0xffffffffu, v[0]);
}
GP_WARPFN int GpLanesCount(uint32_t mask)
{
  return __popc(mask);
}
#else
  #define GP_WARPFN   static inline
  #define GP_LANEFN   static inline
  #define GP_PER_LANE GP_WARP
  #define GP_LANES(l) for (int l = 0; l < GP_WARP; l++)
  #define GP_AT(l)    l
  #define GP_ONE_LANE(l)
  #define GP_LANESYNC()

GP_WARPFN int32_t GpLanesMin(const int32_t v[])
{
  int32_t min = v[0];

  for (int l = 1; l < GP_WARP; l++) min = v[l] < min ? v[l] : min;
  return min;
}
GP_WARPFN int32_t GpLanesMax(const int32_t v[])
{
  int32_t max = v[0];

  for (int l = 1; l < GP_WARP; l++) max = v[l] > max ? v[l] : max;
  return max;
}
GP_WARPFN uint32_t GpLanesBallot(const int32_t v[])
{
  uint32_t mask = 0;

  for (int l = 0; l < GP_WARP; l++) mask |= (uint32_t)(v[l] != 0) << l;
  return mask;
}
GP_WARPFN int GpLanesCount(uint32_t mask)
{
  int n = 0;

  for (; mask; mask &= mask - 1) n++;
  return n;
}
#endif
#endif
