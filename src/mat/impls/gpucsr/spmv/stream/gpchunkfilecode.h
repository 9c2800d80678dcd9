/* Functions that the source files for files of chunks and files of rows share. */
#ifndef GPCHUNKFILECODE_H
#define GPCHUNKFILECODE_H

#include "mat/impls/gpucsr/spmv/stream/gpchunkcode.h"
#include "mat/impls/gpucsr/spmv/stream/gpchunkfile.h"

#include <stdio.h>
#include <string.h>

#define GP_CHUNK_FILE_NAME 80 /* size in bytes of a file name in a message */

#if defined(__cplusplus)
extern "C" {
#endif

/* Reads bytes at an offset until all are read or the file ends. *done is the number of bytes read. Returns 0 or an errno. */
int GpChunkFilePread(int fd, void *to, size_t bytes, uint64_t offset, size_t *done);

/* Opens a regular file for reading and gets its size. `name` is the name of the file in messages. After a failure *fd is -1. */
GpErr GpChunkFileOpenRegular(const char *path, const char *name, int *fd, uint64_t *size, char *why, size_t whylen);

#if defined(__cplusplus)
}
#endif

/* Copies a path, or only the end of a long path, so that the rest of a message has space. */
static inline void GpChunkFileShorten(const char *path, char name[GP_CHUNK_FILE_NAME])
{
  const size_t length = strlen(path), kept = GP_CHUNK_FILE_NAME - 4;

  if (length <= kept) (void)snprintf(name, GP_CHUNK_FILE_NAME, "%s", path);
  else (void)snprintf(name, GP_CHUNK_FILE_NAME, "...%s", path + length - kept);
}

#endif
