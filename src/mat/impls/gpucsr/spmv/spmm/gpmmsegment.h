/* The workspace of kernel mmsegment16: packed columns, then the sums of segments. */
#ifndef GPMMSEGMENT_H
#define GPMMSEGMENT_H

#include "mat/impls/gpucsr/spmv/csr/gpsegment.h"
#include "mat/impls/gpucsr/spmv/spmm/gppacked.h"

#define GP_SEGMENT_WIDE 16 /* columns of the widest panel */

/* Returns the number of doubles that a product with k vectors needs. n: number of columns of the matrix. */
static inline size_t GpCsrSegmentSizeMany(const GpCsrSegment *G, int32_t nnz, int32_t n, int32_t k)
{
  const size_t sums = G->longest < 2 * GP_SEGMENT_MANY ? 0 : (size_t)(nnz / GP_SEGMENT_MANY) + 1;

  return (size_t)n * GpPackedColumns(k, GP_SEGMENT_WIDE) + sums * GP_SEGMENT_WIDE;
}

#endif
