/* ELL: all rows padded to the longest, stored column by column of these rows. */
#ifndef GPELL_H
#define GPELL_H

#include "mat/impls/gpucsr/formats/gpformat.h"

#define GP_ELL_WHOLE 32 /* rows are padded to a multiple, so that every column begins a line of memory */

typedef struct {
  int32_t  width;  /* of the longest row */
  int64_t  stride; /* rows, padded */
  int32_t *col;    /* [stride*width] entry c of row i at c*stride + i; -1: the row has ended */
  void    *val;    /* [stride*width] */
} GpEll;

#endif
