/* The state of a matrix whose chunks are streamed. */
#ifndef GPOPSTREAMIMPL_H
#define GPOPSTREAMIMPL_H

#include "mat/impls/gpucsr/operator/gpopstream.h"
#include "mat/impls/gpucsr/spmv/spmm/gpmmsegment.h"

struct _n_GpOpStream {
  GpDev             dev;
  GpOpStreamOptions options;
  size_t            chunk_bytes; /* upper bound on the size of a chunk as compressed rows */
  GpOpChunks        chunks;
  GpFeatures        features;
  GpChoice          choice;
  GpStream          stream;
  void             *work; /* device memory for decoding. One suffices for all chunks, because GpDevStream() orders their decoding and products */
  size_t            work_bytes;
  void             *transposed; /* device memory for a transposed chunk; NULL before the first product with the transpose from the chunks of the matrix */
  size_t            transposed_bytes;
  size_t            sort_bytes;               /* upper bound on the workspace that transposes a chunk */
  GpChoice          transposed_choice;        /* kernel that multiplies transposed chunks */
  int32_t           most_rows, most_nonzeros; /* largest numbers of rows and of nonzeros of a chunk */
  GpCsrSegment      segment;                  /* workspace of the kernels of format csrsegment */
};

static inline int32_t GpOpStreamCap(int64_t n)
{
  return n < INT32_MAX ? (int32_t)n : INT32_MAX;
}

#endif
