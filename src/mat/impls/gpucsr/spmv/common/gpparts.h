/* Number of threads that share a row in formats block and dia, if the rows are too few to keep a GPU busy with one thread each. It is decided
   when the format is built, because it determines the order of additions in a row. */
#ifndef GPPARTS_H
#define GPPARTS_H

#include "mat/impls/gpucsr/spmv/common/gpformat.h"

#define GP_PARTS_MOST 16

/* Returns a power of two. Each thread has more than half of `least` entries of a row, and all threads together need at most `warps` warps per
   multiprocessor. */
static inline int32_t GpParts(GpDev dev, int32_t rows, double entries, double least, int warps)
{
  int32_t parts = 1;

  while (parts < GP_PARTS_MOST && entries > parts * least && 2.0 * parts * rows <= (double)warps * GP_WARP * GpDevComputeUnits(dev)) parts *= 2;
  return parts;
}

#endif
