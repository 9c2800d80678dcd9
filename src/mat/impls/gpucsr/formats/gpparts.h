/* How many threads share a row (formats block and dia) where there are too few rows to keep a GPU busy with one each: decided when the
   format is built, for it says in which order a row is added up. */
#ifndef GPPARTS_H
#define GPPARTS_H

#include "device/gpdevice.h"
#include "mat/impls/gpucsr/formats/gplanes.h"

#define GP_PARTS_MOST 16

/* a power of two: each has more than half of `least` entries of a row, and together they are at most so many warps on a multiprocessor */
static inline int32_t GpParts(GpDev dev, int32_t rows, double entries, double least, int warps)
{
  int32_t parts = 1;

  while (parts < GP_PARTS_MOST && entries > parts * least && 2.0 * parts * rows <= (double)warps * GP_WARP * dev->compute_units) parts *= 2;
  return parts;
}

#endif
