/* Sources of rows, which return the rows of a matrix piece by piece, so that the matrix need not fit into host memory. Files of chunks are written from such sources.
   These functions call neither PETSc nor the device. */
#ifndef GPROWSOURCE_H
#define GPROWSOURCE_H

#include "mat/impls/gpucsr/spmv/stream/gpchunk.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* A source of rows. get() sets *rows to rows first to end - 1 of the matrix. If `entries` is 0, the caller needs only the row pointers, and col and val need not be set. The
   arrays are valid until the next call. Only one thread calls get(); it may request a row several times. After a failure get() returns a code other than GP_SUCCESS and writes
   the reason to `why`. */
typedef struct {
  int64_t m;    /* number of rows */
  int32_t n;    /* number of columns */
  GpPrec  prec; /* precision to which values are rounded */
  void   *context;
  GpErr (*get)(void *context, int64_t first, int64_t end, int entries, GpChunkSource *rows, char why[GP_CHUNK_WHY]);
  const char *name; /* name of the source, with which errors in columns and values begin; NULL: none */
} GpRowSource;

/* Encodes all rows and writes a file of chunks (gpchunkfile.h). `bytes` is the upper bound on the size of a chunk as compressed rows; the chunks are those of GpChunkCut().
   Each of `threads` threads encodes one chunk at a time; with 0 the calling thread encodes. `loss` is the rounding error of single precision; its positions count from the first
   nonzero of the matrix. */
GpErr GpRowSourceWriteChunks(const GpRowSource *rows, size_t bytes, int threads, const char *path, GpLoss *loss, char *why, size_t whylen);

/* --- sparse matrices in PETSc's binary format --- */

typedef struct GpRowFile_ *GpRowFile;

/* Opens the matrix that begins at an offset of the file. Integers may have 32 or 64 bits; the first integer shows which. All row lengths are read and checked against the
   header and the size of the file. */
GpErr GpRowFileOpen(const char *path, uint64_t offset, GpRowFile *file, char *why, size_t whylen);
void  GpRowFileClose(GpRowFile *file);

/* Makes the file a source of rows, which is valid until the file is closed. Pieces are read by pread() and converted to the byte order of the machine. */
void     GpRowFileGetRows(GpRowFile file, GpPrec prec, GpRowSource *rows);
int64_t  GpRowFileNonzeros(GpRowFile file);
uint64_t GpRowFileGetEnd(GpRowFile file); /* offset of the first byte after the matrix */

#if defined(__cplusplus)
}
#endif
#endif
