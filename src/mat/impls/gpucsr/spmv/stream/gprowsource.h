/* Sources of rows, for matrices that need not be in host memory as a whole, and files of chunks that are written from them. These functions call neither
   PETSc nor the device. */
#ifndef GPROWSOURCE_H
#define GPROWSOURCE_H

#include "mat/impls/gpucsr/spmv/stream/gpchunk.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* The rows of a matrix, which get() gives piece by piece: rows first to end - 1. Without `entries` only the row pointers are needed. The arrays are valid until the
   next call. One thread calls get(), which may be called several times for each row. After a failure it returns a code other than GP_SUCCESS and writes the reason. */
typedef struct {
  int64_t m;    /* number of rows */
  int32_t n;    /* number of columns */
  GpPrec  prec; /* precision to which values are rounded */
  void   *context;
  GpErr (*get)(void *context, int64_t first, int64_t end, int entries, GpChunkSource *rows, char why[GP_CHUNK_WHY]);
  const char *name; /* of the source, for errors in columns and values; NULL: none */
} GpRowSource;

/* Encodes all rows and writes a file of chunks (gpchunkfile.h). bytes: size of the compressed rows of a chunk, at most; the chunks are those of GpChunkCut(). `threads` threads
   encode as many chunks at once; with 0 the calling thread encodes. loss: rounding error of single precision; its positions count from the first nonzero of the matrix. */
GpErr GpRowSourceWriteChunks(const GpRowSource *rows, size_t bytes, int threads, const char *path, GpLoss *loss, char *why, size_t whylen);

/* --- sparse matrices in PETSc's binary format --- */

typedef struct GpRowFile_ *GpRowFile;

/* Opens the matrix that begins at an offset of the file. Integers of 32 and of 64 bits are recognised by the first one. All row lengths are read and checked against the
   header and the size of the file. */
GpErr GpRowFileOpen(const char *path, uint64_t offset, GpRowFile *file, char *why, size_t whylen);
void  GpRowFileClose(GpRowFile *file);

/* The rows of the file, until it is closed. Pieces are read by pread() and converted to the byte order of the machine. */
void    GpRowFileGetRows(GpRowFile file, GpPrec prec, GpRowSource *rows);
int64_t GpRowFileNonzeros(GpRowFile file);

#if defined(__cplusplus)
}
#endif
#endif
