/* Loads in inline assembly, which the compiler keeps in their place. It otherwise moves each load to its use, so that too few loads are in flight.

   - GpStream reads matrix data that no thread reads again; allowed before GpWait().
   - GpRead reads matrix data that other threads may read again; allowed before GpWait().
   - GpGather reads an entry of a vector; only after GpWait().

   In a kernel for ordinary launches they are read-only loads (ld.global.nc). In the variant for early launches (EARLY) they are plain loads, because
   the assembler moves read-only loads across GpWait() in either direction. */
#ifndef GPLOAD_H
#define GPLOAD_H

#include <stdint.h>

#define GP_LOAD(name, type, value, alone, early, constraint) \
  template <bool EARLY = false> \
  __device__ static inline type name(const type *p) \
  { \
    value v; \
\
    if (EARLY) asm volatile("ld.global." early " %0, [%1];" : constraint(v) : "l"(p)); \
    else asm volatile("ld.global.nc." alone " %0, [%1];" : constraint(v) : "l"(p)); \
    return (type)v; \
  }
GP_LOAD(GpStream, float, float, "L1::no_allocate.f32", "f32", "=f")
GP_LOAD(GpStream, double, double, "L1::no_allocate.f64", "f64", "=d")
GP_LOAD(GpStream, int, int, "L1::no_allocate.s32", "s32", "=r")
GP_LOAD(GpStream, uint32_t, uint32_t, "L1::no_allocate.u32", "u32", "=r")
GP_LOAD(GpStream, uint16_t, uint16_t, "L1::no_allocate.u16", "u16", "=h")
GP_LOAD(GpRead, float, float, "f32", "f32", "=f")
GP_LOAD(GpRead, double, double, "f64", "f64", "=d")
GP_LOAD(GpRead, int, int, "s32", "s32", "=r")
GP_LOAD(GpRead, uint32_t, uint32_t, "u32", "u32", "=r")
GP_LOAD(GpRead, uint16_t, uint16_t, "u16", "u16", "=h")
GP_LOAD(GpRead, uint8_t, uint32_t, "u8", "u8", "=r")
GP_LOAD(GpGather, double, double, "f64", "f64", "=d")
#undef GP_LOAD
template <bool EARLY = false>
__device__ static inline int4 GpRead(const int4 *p)
{
  int4 v;

  if (EARLY) asm volatile("ld.global.v4.s32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p));
  else asm volatile("ld.global.nc.v4.s32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p));
  return v;
}
#endif
