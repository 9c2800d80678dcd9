/* The encoded chunks of a matrix in host memory. Threads encode them; the memory is pinned if the system permits. docs/streaming.md describes chunks.

   The rows come from a function, so that the matrix need not be in host memory as a whole. Totals have 64 bits. */
#ifndef GPOPCHUNKS_H
#define GPOPCHUNKS_H

#include "mat/impls/gpucsr/selector/gpselect.h"
#include "mat/impls/gpucsr/spmv/stream/gprowsource.h"

/* Memory that holds the chunks of a group. */
typedef struct {
  void *memory;
  int   pinned;
} GpOpPiece;

typedef struct {
  GpDev          dev;
  size_t         limit;   /* size in bytes of the compressed rows of a chunk, at most */
  int            plain;   /* 1: chunks are not encoded */
  int            threads; /* number of threads that encode */
  int64_t        m, nnz, n, longest, empty;
  GpPrec         prec;
  int64_t        nchunks, capacity;
  int64_t       *first;  /* [nchunks + 1] first row of each chunk */
  GpChunkHeader *head;   /* [nchunks] */
  void         **chunk;  /* [nchunks] addresses of the chunks */
  int           *pinned; /* [nchunks] */
  int64_t        npieces;
  GpOpPiece     *piece;
  double         bytes;                       /* size of all chunks */
  size_t         largest, work;               /* size of the largest chunk, and of the workspace that any chunk needs */
  GpLoss         loss;                        /* rounding error of all values; positions count from the first nonzero of the matrix */
  double         encode_seconds, pin_seconds; /* durations of encoding, with get(), and of allocating pinned memory */
} GpOpChunks;

/* Cuts and encodes a matrix. bytes: size of the compressed rows of a chunk, at most. After a failure everything is freed; if a value overflows single precision,
   C->loss.overflow is its position. threads 0: one for each core of this process, at most 8. */
GpErr GpOpChunksCreate(GpDev dev, const GpRowSource *rows, size_t bytes, int plain, int threads, GpOpChunks *C);
void  GpOpChunksDestroy(GpOpChunks *C);

/* Encodes new values on the same pattern in the memory of the old ones. *same is 0 if a chunk has another size than before: the chunks are not usable then. */
GpErr GpOpChunksRefill(GpOpChunks *C, const GpRowSource *rows, int *same);

/* Bytes of the whole matrix as compressed rows with 32-bit row starts. */
double GpOpChunksRowBytes(const GpOpChunks *C);

/* Rows of the transpose, which are gathered from arrays of compressed rows in host memory. A piece of the transpose is gathered in one pass over all columns. */
typedef struct {
  GpChunkSource A;      /* all rows of the matrix */
  int64_t      *rowptr; /* [n + 1] row pointers of the transpose */
  int32_t      *col;    /* columns and values of the piece that was gathered last */
  double       *val;
  int64_t       capacity; /* number of entries that col and val can hold */
  int64_t      *at;       /* [n] next place of each row of the piece */
} GpOpTransposed;

GpErr GpOpTransposedCreate(GpDev dev, const GpChunkSource *A, GpOpTransposed *T, GpRowSource *rows);
void  GpOpTransposedDestroy(GpOpTransposed *T);

/* Rows of arrays in host memory; `rows` refers to A. */
void GpOpRowsOfArrays(const GpChunkSource *A, GpRowSource *rows);

#endif
