/* The encoded chunks of a matrix in host memory. Threads encode them; the memory is pinned if the system permits. docs/streaming.md describes chunks.

   The rows come from a function, so that the matrix need not be in host memory as a whole. Totals have 64 bits. */
#ifndef GPOPCHUNKS_H
#define GPOPCHUNKS_H

#include "mat/impls/gpucsr/selector/gpselect.h"
#include "mat/impls/gpucsr/spmv/stream/gpchunk.h"

/* The rows of a matrix, which get() gives piece by piece: rows first to end - 1 of the matrix. Without `entries` only the row pointers are needed. The arrays are
   valid until the next call. One thread calls get(), which may be called several times for each row. After a failure it returns a code other than GP_SUCCESS and writes the reason. */
typedef struct {
  int64_t m;    /* number of rows */
  int32_t n;    /* number of columns */
  GpPrec  prec; /* precision to which values are rounded */
  void   *context;
  GpErr (*get)(void *context, int64_t first, int64_t end, int entries, GpChunkSource *rows, char why[GP_CHUNK_WHY]);
} GpOpRows;

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
GpErr GpOpChunksCreate(GpDev dev, const GpOpRows *rows, size_t bytes, int plain, int threads, GpOpChunks *C);
void  GpOpChunksDestroy(GpOpChunks *C);

/* Encodes new values on the same pattern in the memory of the old ones. *same is 0 if a chunk has another size than before: the chunks are not usable then. */
GpErr GpOpChunksRefill(GpOpChunks *C, const GpOpRows *rows, int *same);

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

GpErr GpOpTransposedCreate(GpDev dev, const GpChunkSource *A, GpOpTransposed *T, GpOpRows *rows);
void  GpOpTransposedDestroy(GpOpTransposed *T);

/* Rows of arrays in host memory; `rows` refers to A. */
void GpOpRowsOfArrays(const GpChunkSource *A, GpOpRows *rows);

#endif
