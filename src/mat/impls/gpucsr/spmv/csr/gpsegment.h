/* Segments of long rows (kernels csrsegment and mmsegment16). A row of at least two segments is cut into segments of GP_SEGMENT nonzeros, counted from the start of the row; the last
   segment takes the remainder too. A second kernel adds the sums of the segments. Where a row is cut, and the order of its additions, depend on its length alone.

   Row i has position rowptr[i] + i, and segment s of row i has position rowptr[i] + i + s * GP_SEGMENT. A thread block takes the rows and segments at GP_SEGMENT consecutive positions.
   These include at most one segment of each row, and at most GP_SEGMENT rows. So neither a long row nor many empty rows make a block slow, and no table of tiles is needed. */
#ifndef GPSEGMENT_H
#define GPSEGMENT_H

#include "mat/impls/gpucsr/spmv/common/gpformat.h"

#if defined(__cplusplus)
extern "C" {
#endif

#define GP_SEGMENT      1024 /* products with one vector */
#define GP_SEGMENT_MANY 256  /* products with several vectors, whose rows are more work */

/* Format csrsegment: workspace. The sum of the segment that begins at nonzero k has index k / GP_SEGMENT. No two segments of long rows have the same index, because they begin at least
   GP_SEGMENT nonzeros apart. */
typedef struct {
  int32_t longest; /* upper bound on the row lengths. If no row has two segments, there are no sums of segments */
  int     keep;    /* products with several vectors. 1: the packed columns stay valid for the next product, because it has the same columns */
  int     packed;  /* 1: the workspace holds the packed columns. If keep is 1, the caller sets this to 0 before it passes other columns */
  size_t  nwork;
  double *work; /* [nwork] device memory: packed columns, then sums of segments */
} GpCsrSegment;

size_t GpCsrSegmentSize(const GpCsrSegment *G, int32_t nnz); /* returns the number of doubles that a product with one vector needs */

/* Makes the workspace hold at least n doubles. If it is too small, its contents are lost. */
GpErr GpCsrSegmentReserve(GpDev dev, GpCsrSegment *G, size_t n);
void  GpCsrSegmentFree(GpDev dev, GpCsrSegment *G);

#if defined(__cplusplus)
}
#endif
#endif
