/* What the sources that write and read files of chunks and of rows share. */
#ifndef GPCHUNKFILECODE_H
#define GPCHUNKFILECODE_H

#include "mat/impls/gpucsr/spmv/stream/gpchunkcode.h"
#include "mat/impls/gpucsr/spmv/stream/gpchunkfile.h"

#include <stdio.h>
#include <string.h>

#define GP_CHUNK_FILE_NAME 80 /* bytes of a file name in a message */

#if defined(__cplusplus)
extern "C" {
#endif

/* Reads bytes at an offset until all are read or the file ends; *done is their number. Returns an errno. */
int GpChunkFilePread(int fd, void *to, size_t bytes, uint64_t offset, size_t *done);

#if defined(__cplusplus)
}
#endif

/* Copies the end of a path, so that a long path leaves space for the rest of a message. */
static inline void GpChunkFileShorten(const char *path, char name[GP_CHUNK_FILE_NAME])
{
  const size_t length = strlen(path), kept = GP_CHUNK_FILE_NAME - 4;

  if (length <= kept) (void)snprintf(name, GP_CHUNK_FILE_NAME, "%s", path);
  else (void)snprintf(name, GP_CHUNK_FILE_NAME, "...%s", path + length - kept);
}

#endif
