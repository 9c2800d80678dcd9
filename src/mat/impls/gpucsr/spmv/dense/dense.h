/* Dense rows without indices, for matrices that are nearly full. Positions without a nonzero are holes (gphole.h). */
#ifndef GPDENSE_H
#define GPDENSE_H

#include "mat/impls/gpucsr/spmv/common/gpformat.h"
#include "mat/impls/gpucsr/spmv/common/gphole.h"

#define GP_DENSE_ROWS 4 /* number of rows that a warp multiplies together, so that it reads x once for all of them */

typedef struct {
  int64_t stride;  /* number of columns, rounded up to a multiple of 32 */
  void   *value;   /* [m * stride] float or double */
  int32_t parts;   /* number of parts into which the columns are divided, so that few rows fill the GPU */
  double *partial; /* [parts * m] partial sums, NULL for one part */
} GpDense;

#endif
