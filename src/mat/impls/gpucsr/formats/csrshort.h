/* Compressed rows with columns of 16 bits: a distance from a column of the row's own, or a mark that says to look in a list. */
#ifndef GPCSRSHORT_H
#define GPCSRSHORT_H

#include "mat/impls/gpucsr/formats/gpformat.h"

#define GP_SHORT_ESCAPE 65535

typedef struct {
  int32_t   nescapes;
  int32_t  *base;   /* [m] the column that distance 0 means */
  uint16_t *off;    /* [nnz] */
  int32_t  *escape; /* [2*nescapes] ascending: the nonzeros whose column does not fit, then their columns */
} GpCsrShort;

#endif
