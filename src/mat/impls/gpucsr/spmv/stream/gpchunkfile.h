/* Files of encoded chunks, for matrices that exceed host memory: a header, the chunks in the order of their rows, and an index. The index holds the
   header of each chunk, so that the sizes of all chunks and the parameters of decoding are known before a chunk is read. docs/dev/streaming.md has the layout.

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
  int64_t  first;    /* index in the matrix of the first row of the file */
  int64_t  m, n;     /* number of rows in the file, and of columns of the matrix */
  int64_t  nnz;      /* number of nonzeros in the file */
  int64_t  chunks;   /* number of chunks */
  uint64_t index;    /* offset of the index: one GpChunkHeader a chunk */
  uint64_t bytes;    /* size of the file */
  uint64_t indexsum; /* checksum of the index */
  uint64_t checksum; /* checksum of this header, computed with checksum 0 */
  uint8_t  rest[40]; /* reserved */
} GpChunkFileHeader;

/* --- writing; only one thread at a time may use a writer --- */

typedef struct GpChunkWriter_ *GpChunkWriter;

/* Creates a temporary file in the folder of `path`, for a matrix of n columns. The first row of the file is row `first` of the matrix. If a regular file `path` exists,
   GpChunkWriterFinish() replaces it; until then it does not change. */
GpErr GpChunkWriterCreate(const char *path, GpPrec prec, int64_t first, int64_t n, GpChunkWriter *writer, char *why, size_t whylen);

/* Appends an encoded chunk. Its first row must follow the last row of the preceding chunk. After a failed write the temporary file is removed. */
GpErr GpChunkWriterAppend(GpChunkWriter writer, const void *chunk, char *why, size_t whylen);

/* Writes the index and the header, waits until the disk has stored the file, and gives the file its name. After a failure the temporary file is removed. Frees the writer in
   both cases. */
GpErr GpChunkWriterFinish(GpChunkWriter *writer, char *why, size_t whylen);

void GpChunkWriterDiscard(GpChunkWriter *writer); /* removes the temporary file and frees the writer */

/* --- reading --- */

typedef struct GpChunkFile_ *GpChunkFile;

/* Opens a file and checks its header, its size, the index and the headers of all chunks. GpChunkFileRead() checks the chunks themselves. If another file replaces this one later,
   reads continue from the file that was opened. */
GpErr GpChunkFileOpen(const char *path, GpChunkFile *file, char *why, size_t whylen);
void  GpChunkFileClose(GpChunkFile *file);

const GpChunkFileHeader *GpChunkFileGetHeader(GpChunkFile file);
const GpChunkHeader     *GpChunkFileGetChunk(GpChunkFile file, int64_t chunk); /* the header of a chunk, from the index */

/* Reads a chunk to memory of the size of the chunk, and checks that its header is that of the index and its checksum is right. Several threads may call this function at once.
   The checksum finds accidental damage. GpChunkVerify() also finds forged chunks that cannot be decoded safely. */
GpErr GpChunkFileRead(GpChunkFile file, int64_t chunk, void *destination, char *why, size_t whylen);

/* GpChunkFileFill() is a GpStreamFill whose context is the file. GpChunkFileSetFirstItem() sets the item of the pipeline that is chunk 0 (default 0); the following items are the
   following chunks. */
GpErr GpChunkFileFill(void *file, int64_t item, void *destination, char *why, size_t whylen);
void  GpChunkFileSetFirstItem(GpChunkFile file, int64_t item);

#if defined(__cplusplus)
}
#endif
#endif
