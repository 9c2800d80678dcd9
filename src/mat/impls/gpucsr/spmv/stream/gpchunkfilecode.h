/* What the files that write and read files of chunks share. */
#ifndef GPCHUNKFILECODE_H
#define GPCHUNKFILECODE_H

#include "mat/impls/gpucsr/spmv/stream/gpchunkcode.h"
#include "mat/impls/gpucsr/spmv/stream/gpchunkfile.h"

#include <stdio.h>
#include <string.h>

#define GP_CHUNK_FILE_NAME 88 /* bytes of a file name in a message */

/* Copies the end of a path, so that a long path leaves space for the rest of a message. */
static inline void GpChunkFileShorten(const char *path, char name[GP_CHUNK_FILE_NAME])
{
  const size_t length = strlen(path), kept = GP_CHUNK_FILE_NAME - 4;

  if (length <= kept) (void)snprintf(name, GP_CHUNK_FILE_NAME, "%s", path);
  else (void)snprintf(name, GP_CHUNK_FILE_NAME, "...%s", path + length - kept);
}

#endif
