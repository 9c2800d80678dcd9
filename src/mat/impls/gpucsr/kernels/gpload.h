/* Loads that stay where they are written: the compiler otherwise moves each to its use, which leaves too few on their way.
   GpStream reads what no one reads again, of a matrix, before GpWait() too; GpGather an entry of a vector, behind it.  Neither is a
   load of a constant (ld.global.nc), which the assembler moves across GpWait() in either direction. */
#ifndef GPLOAD_H
#define GPLOAD_H

#include <stdint.h>

#if defined(__CUDACC__)
__device__ static inline float GpStream(const float *p)
{
  float v;

  asm volatile("ld.global.L1::no_allocate.f32 %0, [%1];" : "=f"(v) : "l"(p));
  return v;
}
__device__ static inline double GpStream(const double *p)
{
  double v;

  asm volatile("ld.global.L1::no_allocate.f64 %0, [%1];" : "=d"(v) : "l"(p));
  return v;
}
__device__ static inline uint32_t GpStream(const uint32_t *p)
{
  uint32_t v;

  asm volatile("ld.global.L1::no_allocate.u32 %0, [%1];" : "=r"(v) : "l"(p));
  return v;
}
__device__ static inline uint16_t GpStream(const uint16_t *p)
{
  uint16_t v;

  asm volatile("ld.global.L1::no_allocate.u16 %0, [%1];" : "=h"(v) : "l"(p));
  return v;
}
__device__ static inline uint8_t GpStream(const uint8_t *p)
{
  uint32_t v;

  asm volatile("ld.global.L1::no_allocate.u8 %0, [%1];" : "=r"(v) : "l"(p));
  return (uint8_t)v;
}
__device__ static inline int GpStream(const int *p)
{
  int v;

  asm volatile("ld.global.L1::no_allocate.s32 %0, [%1];" : "=r"(v) : "l"(p));
  return v;
}
__device__ static inline int GpGather(const int *p)
{
  int v;

  asm volatile("ld.global.nc.s32 %0, [%1];" : "=r"(v) : "l"(p));
  return v;
}
__device__ static inline float GpGather(const float *p)
{
  float v;

  asm volatile("ld.global.nc.f32 %0, [%1];" : "=f"(v) : "l"(p));
  return v;
}
__device__ static inline int4 GpGather(const int4 *p)
{
  int4 v;

  asm volatile("ld.global.nc.v4.s32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p));
  return v;
}
__device__ static inline double GpGather(const double *p)
{
  double v;

  asm volatile("ld.global.f64 %0, [%1];" : "=d"(v) : "l"(p));
  return v;
}
#endif
#endif
