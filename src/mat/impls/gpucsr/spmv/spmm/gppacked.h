/* Columns packed by rows, in panels: a nonzero reads the entries of all columns of a panel from contiguous memory. */
#ifndef GPPACKED_H
#define GPPACKED_H

#include "mat/impls/gpucsr/spmv/spmm/gpspmm.h"

/* Returns the number of columns of all panels, including those that pad the last one. The width of the last panel is a power of two, at least 2. */
static inline size_t GpPackedColumns(int32_t k, int width)
{
  const int rest = k % width;

  return (size_t)(k - rest) + (size_t)(!rest ? 0 : rest > 8 ? 16 : rest > 4 ? 8 : rest > 2 ? 4 : 2);
}

#if defined(__CUDACC__)
/* Packs panels of WIDTH columns, of which column `first` is the first; blockIdx.y is the number of the panel. A block packs GP_PACK_ROWS rows. */
constexpr int GP_PACK_ROWS = 64, GP_PACK_BLOCK = 256;

template <int WIDTH>
__global__ static void __launch_bounds__(GP_PACK_BLOCK) GpPackColumns(int32_t n, const __grid_constant__ GpColumns C, int first, double *packed)
{
  __shared__ double tile[GP_PACK_ROWS][WIDTH + 1];
  const int         panel = first + blockIdx.y * WIDTH;
  const int32_t     base  = blockIdx.x * GP_PACK_ROWS;

  for (int e = threadIdx.x; e < GP_PACK_ROWS * WIDTH; e += GP_PACK_BLOCK) { /* coalesced if entries are contiguous within a column, or within a row */
    const int r = C.incx == 1 ? e % GP_PACK_ROWS : e / WIDTH, c = C.incx == 1 ? e / GP_PACK_ROWS : e % WIDTH;

    tile[r][c] = base + r < n && panel + c < C.k ? C.x[panel + c][(base + r) * C.incx] : 0.0;
  }
  __syncthreads();
  packed += (size_t)blockIdx.y * n * WIDTH;
  for (int e = threadIdx.x; e < GP_PACK_ROWS * WIDTH; e += GP_PACK_BLOCK)
    if (base + e / WIDTH < n) packed[(size_t)base * WIDTH + e] = tile[e / WIDTH][e % WIDTH];
}
#endif

#endif
