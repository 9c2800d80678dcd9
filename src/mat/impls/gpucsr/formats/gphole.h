/* The place of no nonzero in an array of values: a NaN that no value has.  A product leaves holes out instead of adding zero times
   what stands in x, which would not be zero for an infinity or a NaN there. */
#ifndef GPHOLE_H
#define GPHOLE_H

#include "mat/impls/gpucsr/formats/gplanes.h"

#define GP_HOLE_F32 0x7fd0c5a1u
#define GP_HOLE_F64 0x7ffac5a1c5a1c5a1ull

/* writes nonzero k, or a hole for k < 0, at place `to`; the value that is the NaN of a hole becomes its neighbour */
GP_LANEFN void GpPutOrHole(int single, void *value, int64_t to, const void *source, int64_t k)
{
  if (single) {
    const uint32_t bits = k < 0 ? GP_HOLE_F32 : ((const uint32_t *)source)[k];

    ((uint32_t *)value)[to] = bits + (k >= 0 && bits == GP_HOLE_F32);
  } else {
    const uint64_t bits = k < 0 ? GP_HOLE_F64 : ((const uint64_t *)source)[k];

    ((uint64_t *)value)[to] = bits + (k >= 0 && bits == GP_HOLE_F64);
  }
}

#if defined(__CUDACC__)
__device__ static inline bool GpIsHole(float v)
{
  return __float_as_uint(v) == GP_HOLE_F32;
}
__device__ static inline bool GpIsHole(double v)
{
  return (unsigned long long)__double_as_longlong(v) == GP_HOLE_F64;
}
/* sum + v x, or sum for a hole: a choice, not a branch, into which the compiler would move the load of x */
template <typename T>
__device__ static inline double GpAdd(double sum, T v, double x)
{
  const double more = fma((double)v, x, sum);

  return GpIsHole(v) ? sum : more;
}
#else
static inline int GpIsHole(double v, int single) /* v: the value, widened */
{
  union {
    double   d;
    uint64_t u;
  } wide             = {v};
  const uint64_t f32 = ((uint64_t)0x7ff << 52) | ((uint64_t)(GP_HOLE_F32 & 0x7fffff) << 29); /* widening shifts the payload */

  return wide.u == (single ? f32 : GP_HOLE_F64);
}
#endif
#endif
