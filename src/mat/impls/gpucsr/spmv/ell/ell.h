/* ELL: all rows are padded to the longest and stored column by column. */
#ifndef GPELL_H
#define GPELL_H

#include "mat/impls/gpucsr/spmv/common/gpformat.h"

#define GP_ELL_WHOLE 32 /* the number of rows is padded to a multiple of this, so that every column is aligned */

typedef struct {
  int32_t  width;  /* length of the longest row */
  int64_t  stride; /* number of rows, padded */
  int32_t *col;    /* [stride*width] entry c of row i is at c*stride + i; -1 behind the end of the row */
  void    *val;    /* [stride*width] */
} GpEll;

#endif
