/* Loads that stay where they are written: the compiler otherwise moves each to its use, which leaves too few on their way.
   Before GpWait(), of a matrix: GpStream reads what no one reads again, GpRead what may be read again, or what stays in the last cache from one product
   to the next.  Behind it: GpGather reads an entry of a vector.  None is a load of a constant (ld.global.nc), which the assembler moves across
   GpWait() in either direction. */
#ifndef GPLOAD_H
#define GPLOAD_H

#include <stdint.h>

#if defined(__CUDACC__)
  #define GP_LOAD(name, type, how, constraint) \
    __device__ static inline type name(const type *p) \
    { \
      type v; \
\
      asm volatile("ld.global" how " %0, [%1];" : constraint(v) : "l"(p)); \
      return v; \
    }
GP_LOAD(GpStream, float, ".L1::no_allocate.f32", "=f")
GP_LOAD(GpStream, double, ".L1::no_allocate.f64", "=d")
GP_LOAD(GpStream, int, ".L1::no_allocate.s32", "=r")
GP_LOAD(GpStream, uint32_t, ".L1::no_allocate.u32", "=r")
GP_LOAD(GpStream, uint16_t, ".L1::no_allocate.u16", "=h")
GP_LOAD(GpRead, float, ".f32", "=f")
GP_LOAD(GpRead, double, ".f64", "=d")
GP_LOAD(GpRead, int, ".s32", "=r")
GP_LOAD(GpRead, uint32_t, ".u32", "=r")
GP_LOAD(GpRead, uint16_t, ".u16", "=h")
GP_LOAD(GpGather, double, ".f64", "=d")
  #undef GP_LOAD
__device__ static inline uint8_t GpRead(const uint8_t *p)
{
  uint32_t v;

  asm volatile("ld.global.u8 %0, [%1];" : "=r"(v) : "l"(p));
  return (uint8_t)v;
}
__device__ static inline int4 GpRead(const int4 *p)
{
  int4 v;

  asm volatile("ld.global.v4.s32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p));
  return v;
}
#endif
#endif
