/* A matrix that is larger than device memory: its encoded chunks stay in host memory, and each product transfers them to the device, decodes them there and
   multiplies the rows of each. Chunks that are resident on the device stay encoded and are decoded by each product too, so that all have the same bits.

   The kernel adds the nonzeros of a row in an order that depends on this row alone (SPMV_BYROW in kernels.def). A product therefore has the bits of an ordinary
   product with this kernel. */
#ifndef GPOPSTREAM_H
#define GPOPSTREAM_H

#include "device/gpstream.h"
#include "mat/impls/gpucsr/operator/gpopchunks.h"
#include "mat/impls/gpucsr/spmv/spmm/gpspmm.h"

typedef struct {
  double chunk;    /* size in bytes of the compressed rows of a chunk, at most; not above 0: GP_CHUNK_BYTES */
  double resident; /* upper bound in bytes on the resident chunks; negative: free memory less a tenth of it and the buffers */
  int    buffers;  /* device buffers; 0: the default of gpstream.h */
  int    threads;  /* threads that encode, and that copy chunks in pageable memory; 0: one for each core, at most 8 */
  int    plain;    /* 1: chunks are not encoded */
} GpOpStreamOptions;

typedef struct _n_GpOpStream *GpOpStream;

/* Encodes a matrix and allocates the device memory of its products. kernel: index of a kernel that is wanted, or -1; if it cannot multiply chunks, the fixed rule
   of the selector chooses one. If a value overflows single precision, loss->overflow is its position. */
GpErr GpOpStreamCreate(GpDev dev, const GpOpStreamOptions *options, int kernel, const GpRowSource *rows, GpOpStream *stream, GpLoss *loss);
void  GpOpStreamDestroy(GpOpStream *stream);

/* Encodes new values on the same pattern. After a failure the operator must be destroyed. */
GpErr GpOpStreamRefill(GpOpStream stream, const GpRowSource *rows, GpLoss *loss);

GpErr GpOpStreamMult(GpOpStream stream, const double *x, const double *z, double *y); /* y = A x, or y = A x + z; z may be y */

/* Computes y_c = A x_c, or y_c += A x_c, for k columns; entries of a column are incx or incy apart. Each chunk is transferred once. */
GpErr GpOpStreamMultMany(GpOpStream stream, int64_t k, int add, int64_t incx, const double *const x[], int64_t incy, double *const y[]);

/* The same with the transpose, from the chunks of the matrix itself: each is transposed on the device, and the products of the chunks are added in their order.
   If entries of a column of y are incy apart, the columns must be stored row by row. */
GpErr GpOpStreamMultTransposed(GpOpStream stream, const double *x, const double *z, double *y);
GpErr GpOpStreamMultManyTransposed(GpOpStream stream, int64_t k, int add, int64_t incx, const double *const x[], int64_t incy, double *const y[]);

typedef struct {
  GpStreamInfo stream;
  GpLoss       loss;
  double       row_bytes;                   /* size of the matrix as compressed rows */
  double       device_bytes;                /* device memory with resident chunks, buffers and workspace */
  double       encode_seconds, pin_seconds; /* durations of encoding and of allocating pinned memory */
} GpOpStreamInfo;

void              GpOpStreamGetInfo(GpOpStream stream, GpOpStreamInfo *info);
const GpFeatures *GpOpStreamGetFeatures(GpOpStream stream); /* row lengths only; sizes above 2^31 - 1 are reported as this number */
const GpChoice   *GpOpStreamGetChoice(GpOpStream stream);

#endif
