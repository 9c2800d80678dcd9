/* A hash of 64 bits for random numbers that depend on a position alone, so that they are the same on any number of processes. */
#ifndef GPUCSR_APPHASH_H
#define GPUCSR_APPHASH_H

#include <stdint.h>

/* SplitMix64 (G. L. Steele, D. Lea and C. H. Flood, 2014) */
static inline uint64_t GpAppHash64(uint64_t x)
{
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

#endif
