/* Dense rows, for matrices that are nearly full: no indices; places without a nonzero have a hole (gphole.h). */
#ifndef GPDENSE_H
#define GPDENSE_H

#include "mat/impls/gpucsr/formats/gpformat.h"
#include "mat/impls/gpucsr/formats/gphole.h"

#define GP_DENSE_ROWS 4 /* that a warp takes together, so that it reads x once for them */

typedef struct {
  int64_t stride;  /* columns, rounded up to whole lines of memory */
  void   *value;   /* [m * stride] */
  int32_t parts;   /* pieces that the columns are cut into, so that few rows fill the GPU */
  double *partial; /* [parts * m] sums of the pieces, NULL for one piece */
} GpDense;

#endif
