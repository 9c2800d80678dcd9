/* Block CSR: one column index for a dense b x b block, b = 2, 3, 4 or 6, in slices of 32 block rows. Positions without a nonzero are holes
   (gphole.h). */
#ifndef GPBSR_H
#define GPBSR_H

#include "mat/impls/gpucsr/spmv/common/gpformat.h"
#include "mat/impls/gpucsr/spmv/common/gphole.h"

#define GP_BSR_CROWD 32 /* maximum number of warps per multiprocessor with which a thread has 64 registers for prefetched loads; as long as there are not more, several threads share a row */

typedef struct {
  int32_t  b, nslices, ncolumns; /* block size, number of slices, slice columns of all slices */
  int32_t  parts;                /* number of threads that share a row; thread p takes blocks p, p + parts, ... */
  int32_t  width;                /* common width of all slices; 0: each slice has its own width */
  int32_t  walk;                 /* 1: the columns of some row do not ascend, so the device walks the rows when it fills the format */
  int32_t *start;                /* [nslices+1] first slice column of each slice; start[nslices] = ncolumns; NULL if width is not 0 */
  int32_t *col;                  /* [32 ncolumns] block column */
  void    *value;                /* [32 b b ncolumns] for each slice column: the first column of all blocks (32 b values), then the second, ... */
} GpBsr;

/* Returns the first slice column of a slice. For slice + 1 this is the end of the slice. */
GP_INLINE int32_t GpBsrStart(const GpBsr *B, int32_t slice)
{
  return B->width ? slice * B->width : B->start[slice];
}

#endif
