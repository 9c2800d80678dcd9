/* Writes files of chunks. A file has a temporary name until it is complete, so that an incomplete file never has the name of the result. */
#include "mat/impls/gpucsr/spmv/stream/gpchunkfilecode.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define GP_CHUNK_WRITER_SUFFIX 32 /* size in bytes of the suffix of a temporary name */

struct GpChunkWriter_ {
  int               fd;       /* descriptor of the temporary file; -1: a write failed, and the file has been removed */
  GpChunkFileHeader head;     /* m, nnz and chunks: numbers of what has been written; index: offset of the next chunk */
  GpChunkHeader    *chunk;    /* [capacity] index */
  int64_t           capacity; /* number of entries for which chunk[] has memory */
  char             *path, *temporary;
  char              name[GP_CHUNK_FILE_NAME];
};

/* Removes the temporary file. */
static void GpChunkWriterRemove(GpChunkWriter w)
{
  if (w->fd < 0) return;
  (void)close(w->fd);
  (void)unlink(w->temporary);
  w->fd = -1;
}

void GpChunkWriterDiscard(GpChunkWriter *writer)
{
  GpChunkWriter w = *writer;

  if (!w) return;
  GpChunkWriterRemove(w);
  free(w->chunk);
  free(w->path);
  free(w->temporary);
  free(w);
  *writer = NULL;
}

/* Creates the temporary file. Returns 0 or an errno. A name that exists is skipped, because another process or thread may write a file for the same path. */
static int GpChunkWriterOpen(GpChunkWriter w)
{
  struct stat st;

  if (!stat(w->path, &st) && !S_ISREG(st.st_mode)) return S_ISDIR(st.st_mode) ? EISDIR : EEXIST;
  for (int k = 0; k < 1000; k++) {
    (void)snprintf(w->temporary, strlen(w->path) + GP_CHUNK_WRITER_SUFFIX, "%s.%ld-%d.part", w->path, (long)getpid(), k);
    w->fd = open(w->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (w->fd >= 0 || errno != EEXIST) break;
  }
  return w->fd < 0 ? errno : 0;
}

/* Writes all bytes at an offset. After a failure it removes the temporary file. */
static GpErr GpChunkWriterPut(GpChunkWriter w, const char *what, const void *from, size_t bytes, uint64_t offset, char *why, size_t whylen)
{
  for (size_t done = 0; done < bytes;) {
    const ssize_t n = pwrite(w->fd, (const char *)from + done, bytes - done, (off_t)(offset + done));

    if (n > 0) done += (size_t)n;
    else if (!n || errno != EINTR) {
      (void)snprintf(why, whylen, "cannot write %s of %s: %zu bytes at offset %" PRIu64 ": %s; free space on this disk or choose another", what, w->name, bytes - done, offset + done, n ? strerror(errno) : "nothing is written");
      GpChunkWriterRemove(w);
      return GP_ERR_FILE;
    }
  }
  return GP_SUCCESS;
}

GpErr GpChunkWriterCreate(const char *path, GpPrec prec, int64_t first, int64_t n, GpChunkWriter *writer, char *why, size_t whylen)
{
  const size_t  length = strlen(path) + GP_CHUNK_WRITER_SUFFIX;
  GpChunkWriter w      = (GpChunkWriter)calloc(1, sizeof(*w));
  int           code   = ENOMEM;

  *writer = NULL;
  if (w) {
    w->head      = (GpChunkFileHeader){.magic = GP_CHUNK_FILE_MAGIC, .version = 1, .prec = (uint32_t)prec, .first = first, .n = n, .index = sizeof(w->head)};
    w->fd        = -1;
    w->path      = strdup(path);
    w->temporary = (char *)malloc(length);
    GpChunkFileShorten(path, w->name);
    code = w->path && w->temporary ? GpChunkWriterOpen(w) : ENOMEM;
  }
  if (code) {
    char name[GP_CHUNK_FILE_NAME];

    GpChunkFileShorten(path, name);
    if (code == ENOMEM) (void)snprintf(why, whylen, "no memory to create %s", name);
    else (void)snprintf(why, whylen, "cannot create %s: %s; choose a file in a folder that you may write to", name, code == EEXIST ? "there is something that is not a file" : strerror(code));
    GpChunkWriterDiscard(&w);
    return code == ENOMEM ? GP_ERR_MEMORY : GP_ERR_FILE;
  }
  *writer = w;
  return GP_SUCCESS;
}

/* Checks that a chunk begins at the row after the last one of the file, and has the number of columns and the precision of the file. */
static GpErr GpChunkWriterCheck(GpChunkWriter w, const GpChunkHeader *h, char *why, size_t whylen)
{
  char reason[GP_CHUNK_WHY];

  if (w->fd < 0) (void)snprintf(why, whylen, "chunk %" PRId64 " cannot be appended to %s: an earlier write failed; begin the file again", w->head.chunks, w->name);
  else if (GpChunkCheck(h, SIZE_MAX, reason)) (void)snprintf(why, whylen, "chunk %" PRId64 " cannot be appended to %s: %s; encode it again", w->head.chunks, w->name, reason);
  else if (h->prec != w->head.prec || h->n != w->head.n || h->first != w->head.first + w->head.m)
    (void)snprintf(why, whylen, "chunk %" PRId64 " of %s must begin at row %" PRId64 " and have %" PRId64 " columns in the storage of the file; it begins at row %" PRId64 " of %d columns", w->head.chunks, w->name, w->head.first + w->head.m,
                   w->head.n, h->first, (int)h->n);
  else return GP_SUCCESS;
  return GP_ERR_ARGUMENT;
}

GpErr GpChunkWriterAppend(GpChunkWriter w, const void *chunk, char *why, size_t whylen)
{
  char          what[32];
  GpChunkHeader h;
  GpErr         err;

  memcpy(&h, chunk, sizeof(h));
  err = GpChunkWriterCheck(w, &h, why, whylen);
  if (err) return err;
  if (w->head.chunks == w->capacity) {
    const int64_t  capacity = 2 * w->capacity + 64;
    GpChunkHeader *grown    = (GpChunkHeader *)realloc(w->chunk, (size_t)capacity * sizeof(h));

    if (!grown) {
      (void)snprintf(why, whylen, "no memory for the index of %s: %zu bytes; use larger chunks", w->name, (size_t)capacity * sizeof(h));
      return GP_ERR_MEMORY;
    }
    w->chunk    = grown;
    w->capacity = capacity;
  }
  (void)snprintf(what, sizeof(what), "chunk %" PRId64, w->head.chunks);
  err = GpChunkWriterPut(w, what, chunk, h.bytes, w->head.index, why, whylen);
  if (err) return err;
  w->chunk[w->head.chunks++] = h;
  w->head.index += h.bytes;
  w->head.m += h.m;
  w->head.nnz += h.nnz;
  return GP_SUCCESS;
}

/* Stores the file on the disk and renames it. Checks the results of fsync() and close(), because some file systems report a full disk only then. */
static GpErr GpChunkWriterStore(GpChunkWriter w, char *why, size_t whylen)
{
  int code = fsync(w->fd) ? errno : 0;

  if (close(w->fd) && !code) code = errno;
  w->fd = -1;
  if (!code && rename(w->temporary, w->path)) code = errno;
  if (!code) return GP_SUCCESS;
  (void)unlink(w->temporary);
  (void)snprintf(why, whylen, "cannot complete %s of %" PRIu64 " bytes: %s; free space on this disk or choose another", w->name, w->head.bytes, strerror(code));
  return GP_ERR_FILE;
}

GpErr GpChunkWriterFinish(GpChunkWriter *writer, char *why, size_t whylen)
{
  GpChunkWriter w     = *writer;
  const size_t  index = (size_t)w->head.chunks * sizeof(GpChunkHeader);
  GpErr         err   = w->fd < 0 ? GP_ERR_FILE : GP_SUCCESS;

  if (err) (void)snprintf(why, whylen, "%s cannot be completed: an earlier write failed; begin the file again", w->name);
  w->head.bytes    = w->head.index + index;
  w->head.indexsum = GpChunkSum(w->chunk, index);
  w->head.checksum = GpChunkSum(&w->head, sizeof(w->head));
  if (!err) err = GpChunkWriterPut(w, "the index", w->chunk, index, w->head.index, why, whylen);
  if (!err) err = GpChunkWriterPut(w, "the header", &w->head, sizeof(w->head), 0, why, whylen);
  if (!err) err = GpChunkWriterStore(w, why, whylen);
  GpChunkWriterDiscard(writer);
  return err;
}
