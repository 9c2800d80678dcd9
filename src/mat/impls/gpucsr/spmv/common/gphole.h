/* Holes: positions of a padded array of values that hold no nonzero. A hole is a reserved NaN. Products skip holes instead of adding zero times
   an entry of x, because that product is NaN if the entry is infinite or NaN. */
#ifndef GPHOLE_H
#define GPHOLE_H

#include "mat/impls/gpucsr/spmv/common/gpformat.h"

#define GP_HOLE_F32 0x7fd0c5a1u
#define GP_HOLE_F64 0x7ffac5a1c5a1c5a1ull

/* Writes nonzero k, or a hole if k < 0, at position `to`. A value with the same bits as a hole is replaced by the next NaN. */
GP_INLINE void GpPutOrHole(int single, void *value, int64_t to, const void *source, int64_t k)
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
/* Returns sum + v x, or sum for a hole. This is a select and not a branch, because the compiler would move the load of x into the branch. */
template <typename T>
__device__ static inline double GpAdd(double sum, T v, double x)
{
  const double more = fma((double)v, x, sum);

  return GpIsHole(v) ? sum : more;
}
#else
static inline int GpIsHole(double v, int single) /* v is the value, converted to double */
{
  union {
    double   d;
    uint64_t u;
  } wide             = {v};
  const uint64_t f32 = ((uint64_t)0x7ff << 52) | ((uint64_t)(GP_HOLE_F32 & 0x7fffff) << 29); /* the conversion to double shifts the payload of a NaN */

  return wide.u == (single ? f32 : GP_HOLE_F64);
}
#endif
#endif
