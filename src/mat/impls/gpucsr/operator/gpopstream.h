/* A matrix that is larger than device memory. Its encoded chunks stay in host memory or in a file. Each product transfers the chunks to the device, decodes them there and multiplies by
   their rows. Chunks that are resident on the device stay encoded, and each product decodes them too. A product therefore has the same bits whichever chunks are resident.

   The kernel adds the nonzeros of a row in an order that depends on this row alone (SPMV_BYROW in kernels.def). If the kernel is the same, a product with one vector therefore has the
   same bits as a product with a matrix that is not streamed. */
#ifndef GPOPSTREAM_H
#define GPOPSTREAM_H

#include "device/gpstream.h"
#include "mat/impls/gpucsr/operator/gpopchunks.h"
#include "mat/impls/gpucsr/spmv/spmm/gpspmm.h"

typedef struct {
  double chunk;    /* upper bound in bytes on the size of a chunk as compressed rows; 0 or less: GP_CHUNK_BYTES */
  double resident; /* upper bound in bytes on the resident chunks; negative: 90 % of the free device memory, less the buffers */
  int    buffers;  /* number of device buffers; 0: GP_STREAM_BUFFERS */
  int    threads;  /* number of threads that encode, copy chunks in pageable memory, and read chunks from a file; 0: one for each core that the process may use, at most 8 */
  int    plain;    /* 1: chunks are not encoded */
  int    fixed;    /* 1: the size of chunks is never reduced, because results depend on it. 0: the default size is reduced if device memory is too small for the buffers */
} GpOpStreamOptions;

typedef struct _n_GpOpStream *GpOpStream;

/* Encodes a matrix and allocates the device memory of its products.

   kernel: index in GpKernelTable. If it is -1, or if this kernel cannot multiply chunks, the fixed rule of the selector chooses the kernel.
   file: NULL, or a file of chunks, which each product reads; rows are then not encoded. Its chunks must have been cut for GpStreamGetItemBytes(options->chunk) bytes. The operator closes
   the file; after a failure this function closes it.
   loss: receives the rounding error. If a value overflows single precision, loss->overflow is its position. */
GpErr GpOpStreamCreate(GpDev dev, const GpOpStreamOptions *options, int kernel, const GpRowSource *rows, const GpOpFile *file, GpOpStream *stream, GpLoss *loss);
void  GpOpStreamDestroy(GpOpStream *stream);

/* Encodes new values on the same pattern. After a failure the operator must be destroyed. */
GpErr GpOpStreamRefill(GpOpStream stream, const GpRowSource *rows, GpLoss *loss);

GpErr GpOpStreamMult(GpOpStream stream, const double *x, const double *z, double *y); /* y = A x, or y = A x + z; z may be y */

/* Computes y_c = A x_c, or y_c += A x_c, for k columns; entries of a column are incx or incy apart. Each chunk is transferred once. */
GpErr GpOpStreamMultMany(GpOpStream stream, int64_t k, int add, int64_t incx, const double *const x[], int64_t incy, double *const y[]);

/* Multiply by the transpose without chunks of the transpose. The device transposes each chunk of the matrix and adds the products of the chunks in the order of the chunks. If incy
   is not 1, y must be one row-major array with incy columns, and y[0] its first column. If add is 0, all of this array is set to zero first. */
GpErr GpOpStreamMultTransposed(GpOpStream stream, const double *x, const double *z, double *y);
GpErr GpOpStreamMultManyTransposed(GpOpStream stream, int64_t k, int add, int64_t incx, const double *const x[], int64_t incy, double *const y[]);

/* A chunk C in GpOpStreamPass(). The pass calls use() once for each chunk, in the order of the rows. use() may call GpOpStreamChunkMult(), y = C x, and GpOpStreamChunkMultTransposeAdd(),
   y += C' x. One of the vectors has an entry for each column of the matrix, the other one an entry for each row of the chunk. */
typedef struct {
  GpOpStream S;
  int64_t    first, m; /* first row and number of rows */
  GpCsr      rows, transpose;
  int        transposed; /* 1: `transpose` has been computed */
} GpOpStreamChunk;

typedef GpErr (*GpOpStreamUse)(void *context, GpOpStreamChunk *chunk);

GpErr GpOpStreamPass(GpOpStream stream, GpOpStreamUse use, void *context);
GpErr GpOpStreamChunkMult(GpOpStreamChunk *chunk, const double *x, double *y);
GpErr GpOpStreamChunkMultTransposeAdd(GpOpStreamChunk *chunk, const double *x, double *y);

typedef struct {
  GpStreamInfo stream;
  GpLoss       loss;
  double       chunk;                       /* upper bound in bytes on the size of a chunk as compressed rows */
  double       row_bytes;                   /* size of the matrix as compressed rows */
  double       device_bytes;                /* device memory of resident chunks, buffers and workspace */
  double       encode_seconds, pin_seconds; /* duration in seconds of the last encoding, and of allocating pinned memory */
} GpOpStreamInfo;

int64_t           GpOpStreamGetNonzeros(GpOpStream stream);
void              GpOpStreamGetInfo(GpOpStream stream, GpOpStreamInfo *info);
const GpFeatures *GpOpStreamGetFeatures(GpOpStream stream); /* only the sizes and row lengths are set; sizes above 2^31 - 1 are set to 2^31 - 1 */
const GpChoice   *GpOpStreamGetChoice(GpOpStream stream);
const GpChoice   *GpOpStreamGetTransposedChoice(GpOpStream stream); /* the kernel of GpOpStreamMultTransposed() */

#endif
