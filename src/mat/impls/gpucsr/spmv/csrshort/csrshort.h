/* Format csrshort: compressed rows with 16-bit columns. A column is an offset from the base of its row, or GP_SHORT_ESCAPE if it is in the list
   of exceptions. */
#ifndef GPCSRSHORT_H
#define GPCSRSHORT_H

#include "mat/impls/gpucsr/spmv/common/gpformat.h"

#define GP_SHORT_ESCAPE 65535

typedef struct {
  int32_t   nescapes; /* number of exceptions */
  int32_t  *base;     /* [m] the column with offset 0 */
  uint16_t *off;      /* [nnz] offsets */
  int32_t  *escape;   /* [2*nescapes] the nonzeros that are exceptions, ascending, then their columns */
} GpCsrShort;

#endif
