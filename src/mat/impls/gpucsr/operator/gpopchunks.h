/* The encoded chunks of a matrix in host memory. Threads encode them; the memory is pinned if the system permits. docs/dev/streaming.md describes chunks.

   The rows come from a GpRowSource, so that the matrix need not be in host memory as a whole. The numbers of rows and nonzeros have 64 bits. */
#ifndef GPOPCHUNKS_H
#define GPOPCHUNKS_H

#include "mat/impls/gpucsr/selector/gpselect.h"
#include "mat/impls/gpucsr/spmv/stream/gpchunkfile.h"
#include "mat/impls/gpucsr/spmv/stream/gprowchunks.h"

/* Host memory that holds the chunks of a group, which are encoded at the same time. */
typedef struct {
  void  *memory;
  size_t bytes;
  int    pinned; /* 0: the system refused to pin the memory, or an error occurred before */
} GpOpPiece;

/* A file of chunks, which has the matrix instead of host memory. */
typedef struct {
  GpChunkFile file;
  int64_t     longest, empty; /* length of the longest row, and number of rows without nonzeros */
  GpLoss      loss;           /* rounding error of the values */
  double      seconds;        /* duration in seconds of encoding and writing */
} GpOpFile;

typedef struct {
  GpDev          dev;
  size_t         limit;   /* upper bound in bytes on the size of a chunk as compressed rows */
  int            plain;   /* 1: chunks are not encoded */
  int            threads; /* number of threads that encode */
  int64_t        m, n;
  GpPrec         prec;
  GpRowChunks    table;
  GpChunkHeader *head;   /* [table.nchunks] copies of the headers of the chunks */
  GpChunkFile    file;   /* NULL: the chunks are in host memory */
  void         **chunk;  /* [table.nchunks] addresses of the chunks; NULL if they are in a file */
  int           *pinned; /* [table.nchunks] 1: the chunk is in pinned memory */
  int64_t        npieces;
  GpOpPiece     *piece;
  double         bytes;                       /* size of all chunks */
  size_t         largest, work;               /* size of the largest chunk, and largest workspace that the decoding of a chunk needs */
  GpLoss         loss;                        /* rounding error of all values; positions count from the first nonzero of the matrix */
  double         encode_seconds, pin_seconds; /* duration in seconds of the last encoding, including get() of the source, and of allocating pinned memory */
} GpOpChunks;

/* Cuts and encodes a matrix. bytes: upper bound on the size of a chunk as compressed rows. threads: number of threads that encode; 0: one for each core that this process may
   use, at most 8. After a failure everything is freed; if a value overflows single precision, C->loss.overflow is its position. */
GpErr GpOpChunksCreate(GpDev dev, const GpRowSource *rows, size_t bytes, int plain, int threads, GpOpChunks *C);
void  GpOpChunksDestroy(GpOpChunks *C);

/* Uses the chunks of a file, from which products read them on `threads` threads. The file is closed by GpOpChunksDestroy(), and after a failure too. */
GpErr GpOpChunksOpen(GpDev dev, const GpOpFile *F, size_t bytes, int threads, GpOpChunks *C);

/* Encodes new values on the same pattern in the memory of the old chunks. If a chunk has another size than before, *same is 0 and the chunks are not usable. */
GpErr GpOpChunksRefill(GpOpChunks *C, const GpRowSource *rows, int *same);

/* Returns the size in bytes of the whole matrix as compressed rows with 32-bit row starts. */
double GpOpChunksRowBytes(const GpOpChunks *C);

/* A source of the rows of the transpose. The matrix is compressed rows in host memory. One pass over all nonzeros of the matrix gathers a piece of the transpose. */
typedef struct {
  GpChunkSource A;        /* all rows of the matrix */
  int64_t      *rowptr;   /* [n + 1] row pointers of the transpose */
  int32_t      *col;      /* columns of the piece that was gathered last */
  double       *val;      /* values of this piece */
  int64_t       capacity; /* number of entries that col and val can hold */
  int64_t      *at;       /* [n] while a piece is gathered: position in col and val of the next nonzero of each row of the transpose */
} GpOpTransposed;

GpErr GpOpTransposedCreate(GpDev dev, const GpChunkSource *A, GpOpTransposed *T, GpRowSource *rows);
void  GpOpTransposedDestroy(GpOpTransposed *T);

/* Makes compressed rows in host memory a source of rows. `rows` refers to A, which must stay valid. */
void GpOpRowsOfArrays(const GpChunkSource *A, GpRowSource *rows);

#endif
