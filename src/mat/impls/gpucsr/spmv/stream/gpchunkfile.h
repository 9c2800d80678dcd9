/* Files of encoded chunks, for matrices that exceed host memory: a header, the chunks in the order of their rows, and an index. The index holds the
   header of each chunk, so that a pipeline can be planned and a chunk be decoded without a second look at the file. docs/streaming.md has the layout.

   These functions call neither PETSc nor the device. After a failure they write one line to `why`: what is wrong, the file, the chunk, the place and the remedy.
   GP_ERR_FILE: the operating system refused a read or a write, or the file is damaged. */
#ifndef GPCHUNKFILE_H
#define GPCHUNKFILE_H

#include "device/gpstream.h"
#include "mat/impls/gpucsr/spmv/stream/gpchunk.h"

#if defined(__cplusplus)
extern "C" {
#endif

#define GP_CHUNK_FILE_MAGIC 0x534b4e5548435047ull /* "GPCHUNKS"; a big-endian machine reads another number */
#define GP_CHUNK_FILE_WHY   256                   /* bytes of the reason of an error */

/* The first bytes of a file. The index begins after the last chunk and ends the file. Checksums are those of GpChunkSum(). */
typedef struct {
  uint64_t magic;
  uint32_t version;
  uint32_t prec;     /* GpPrec of all chunks */
  int64_t  first;    /* number of the first row in the matrix */
  int64_t  m, n;     /* number of rows in the file, and of columns of the matrix */
  int64_t  nnz;      /* number of nonzeros in the file */
  int64_t  chunks;   /* number of chunks */
  uint64_t index;    /* offset of the index: one GpChunkHeader a chunk */
  uint64_t bytes;    /* size of the file */
  uint64_t indexsum; /* checksum of the index */
  uint64_t checksum; /* checksum of this header with 0 in this place */
  uint8_t  rest[40]; /* reserved */
} GpChunkFileHeader;

/* --- writing: one thread at a time --- */

typedef struct GpChunkWriter_ *GpChunkWriter;

/* Creates a temporary file beside `path`, for a matrix of n columns whose first row in the file is row `first`. If a regular file `path` exists, it stays as it is
   until GpChunkWriterFinish(), which replaces it. */
GpErr GpChunkWriterCreate(const char *path, GpPrec prec, int64_t first, int64_t n, GpChunkWriter *writer, char *why, size_t whylen);

/* Appends an encoded chunk, which begins at the row after the last one. After a failed write the temporary file is removed. */
GpErr GpChunkWriterAppend(GpChunkWriter writer, const void *chunk, char *why, size_t whylen);

/* Writes index and header, waits until the disk has stored all, and gives the file its name. Frees the writer, after a failure too; the temporary file is removed then. */
GpErr GpChunkWriterFinish(GpChunkWriter *writer, char *why, size_t whylen);

void GpChunkWriterDiscard(GpChunkWriter *writer); /* removes the temporary file and frees the writer */

/* --- reading --- */

typedef struct GpChunkFile_ *GpChunkFile;

/* Opens a file and checks its header, its size, the index and the headers of all chunks. The chunks themselves are checked when they are read. If another file takes the name later,
   reads continue from the file that was opened. */
GpErr GpChunkFileOpen(const char *path, GpChunkFile *file, char *why, size_t whylen);
void  GpChunkFileClose(GpChunkFile *file);

const GpChunkFileHeader *GpChunkFileGetHeader(GpChunkFile file);
const GpChunkHeader     *GpChunkFileGetChunk(GpChunkFile file, int64_t chunk); /* a checked header, which gives the size of the chunk */

/* Reads a chunk to memory of the size of the chunk and checks it: header and checksum are those of the index. Any thread may call it. The checksum
   finds damage by accident. GpChunkVerify() also finds what a program has forged. */
GpErr GpChunkFileRead(GpChunkFile file, int64_t chunk, void *destination, char *why, size_t whylen);

/* A GpStreamFill with the file as context. Item `item` of the pipeline is chunk 0, by default item 0; the following items are the following chunks. */
GpErr GpChunkFileFill(void *file, int64_t item, void *destination, char *why, size_t whylen);
void  GpChunkFileSetFirstItem(GpChunkFile file, int64_t item);

#if defined(__cplusplus)
}
#endif
#endif
