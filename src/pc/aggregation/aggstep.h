/* Functions that the steps of aggregation need in addition to gpsteps.h. Only files of this directory include this header. */
#ifndef AGGSTEP_H
#define AGGSTEP_H

#include "device/gpsteps.h"

/* Replaces a number that is not negative by a larger one. The maximum does not depend on the order of the calls. */
#if defined(__CUDACC__)
GP_INLINE void GP_AGG_RAISE(double *number, double by)
{
  if (by > *(volatile double *)number) (void)atomicMax((unsigned long long *)number, (unsigned long long)__double_as_longlong(by));
}

GP_INLINE void GP_AGG_ADD64(uint64_t *sum, uint64_t by)
{
  (void)atomicAdd((unsigned long long *)sum, (unsigned long long)by);
}
#else
GP_INLINE void GP_AGG_RAISE(double *number, double by)
{
  if (by > *number) *number = by;
}

GP_INLINE void GP_AGG_ADD64(uint64_t *sum, uint64_t by)
{
  *sum += by;
}
#endif

/* SplitMix64 (G. L. Steele, D. Lea and C. H. Flood, 2014). app/program/apphash.h has the same function. */
GP_INLINE uint64_t GpAggHash(uint64_t x)
{
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

#endif
