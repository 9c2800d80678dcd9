/* Reads files of chunks. */
#include "mat/impls/gpucsr/spmv/stream/gpchunkfilecode.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct GpChunkFile_ {
  int               fd;
  GpChunkFileHeader head;
  GpChunkHeader    *chunk;  /* [chunks] index */
  uint64_t         *offset; /* [chunks] offset in bytes of each chunk in the file */
  int64_t           item;   /* item of the pipeline that is chunk 0 */
  char              name[GP_CHUNK_FILE_NAME];
};

int GpChunkFilePread(int fd, void *to, size_t bytes, uint64_t offset, size_t *done)
{
  *done = 0;
  while (*done < bytes) {
    const ssize_t n = pread(fd, (char *)to + *done, bytes - *done, (off_t)(offset + *done));

    if (!n) break;
    if (n > 0) *done += (size_t)n;
    else if (errno != EINTR) return errno;
  }
  return 0;
}

GpErr GpChunkFileOpenRegular(const char *path, const char *name, int *fd, uint64_t *size, char *why, size_t whylen)
{
  struct stat st;

  *fd = open(path, O_RDONLY | O_CLOEXEC);
  if (*fd < 0 || fstat(*fd, &st)) (void)snprintf(why, whylen, "cannot open %s: %s; check its name and permissions", name, strerror(errno));
  else if (!S_ISREG(st.st_mode)) (void)snprintf(why, whylen, "%s is not a regular file and cannot be read at offsets; copy it to a file", name);
  else {
    *size = (uint64_t)st.st_size;
    return GP_SUCCESS;
  }
  if (*fd >= 0) (void)close(*fd);
  *fd = -1;
  return GP_ERR_FILE;
}

/* Reads the header or the index when the file is opened. */
static GpErr GpChunkFileGetPart(GpChunkFile f, const char *what, void *to, size_t bytes, uint64_t offset, char *why, size_t whylen)
{
  size_t    done;
  const int code = GpChunkFilePread(f->fd, to, bytes, offset, &done);

  if (!code && done == bytes) return GP_SUCCESS;
  (void)snprintf(why, whylen, "cannot read %s of %s: %zu bytes at offset %" PRIu64 ": %s; create it again", what, f->name, bytes - done, offset + done, code ? strerror(code) : "the file ends there");
  return GP_ERR_FILE;
}

/* If `holds` is 0, writes to `why` that the file is damaged and what is wrong, and returns 1. Otherwise returns 0. */
static int GpChunkFileRefuse(GpChunkFile f, int holds, const char *what, char *why, size_t whylen)
{
  if (!holds) (void)snprintf(why, whylen, "%s is damaged: %s; create it again", f->name, what);
  return !holds;
}

/* --- header -------------------------------------------------------------------------------------------------------------------------- */

static GpErr GpChunkFileReadHeader(GpChunkFile f, char *why, size_t whylen)
{
  GpChunkFileHeader h;
  const GpErr       err = GpChunkFileGetPart(f, "the header", &f->head, sizeof(f->head), 0, why, whylen);

  if (err) return err;
  h = f->head;
  if (h.magic == __builtin_bswap64(GP_CHUNK_FILE_MAGIC)) (void)snprintf(why, whylen, "%s was written by a machine of the other byte order; create it again on this one", f->name);
  else if (h.magic != GP_CHUNK_FILE_MAGIC) (void)snprintf(why, whylen, "%s is not a file of chunks: it does not begin with GPCHUNKS; check its name", f->name);
  else if (h.version != 1) (void)snprintf(why, whylen, "%s has version %" PRIu32 "; this library reads version 1: create it again", f->name, h.version);
  else {
    h.checksum = 0;
    if (!GpChunkFileRefuse(f, f->head.checksum == GpChunkSum(&h, sizeof(h)), "checksum of the header", why, whylen)) return GP_SUCCESS;
  }
  return GP_ERR_FILE;
}

/* Checks the sizes in the header against each other and against the size of the file, so that a damaged size never determines how much memory is allocated. Returns 1 if one is
   wrong. */
static int GpChunkFileRefuseSizes(GpChunkFile f, uint64_t size, char *why, size_t whylen)
{
  const GpChunkFileHeader *h    = &f->head;
  const size_t             each = sizeof(GpChunkHeader);
  int                      rest = 0;

  for (size_t i = 0; i < sizeof(h->rest); i++) rest |= h->rest[i];
  if (h->bytes != size) {
    (void)snprintf(why, whylen, "%s has %" PRIu64 " bytes, not the %" PRIu64 " that its header says; copy it again or create it again", f->name, size, h->bytes);
    return 1;
  }
  return GpChunkFileRefuse(f, h->prec < GP_PRECISIONS && !rest, "precision or reserved bytes", why, whylen) ||
         GpChunkFileRefuse(f, h->first >= 0 && h->m >= 0 && h->n >= 0 && h->nnz >= 0 && h->first <= INT64_MAX - h->m, "size of the matrix", why, whylen) ||
         GpChunkFileRefuse(f, h->index >= sizeof(*h) && h->index <= size && h->chunks >= 0 && (size - h->index) % each == 0 && (size - h->index) / each == (uint64_t)h->chunks, "size of the index", why, whylen);
}

/* --- index --------------------------------------------------------------------------------------------------------------------------- */

/* Checks the header of a chunk that must begin at this row of the matrix and at this offset of the file. Returns 1 if it is wrong. */
static int GpChunkFileRefuseChunk(GpChunkFile f, int64_t chunk, int64_t row, uint64_t offset, char *why, size_t whylen)
{
  const GpChunkHeader *h                    = &f->chunk[chunk];
  char                 reason[GP_CHUNK_WHY] = "it does not continue the one before it";

  if (!GpChunkCheck(h, SIZE_MAX, reason) && h->prec == f->head.prec && h->n == f->head.n && h->first == row && h->bytes <= f->head.index - offset) return 0;
  (void)snprintf(why, whylen, "%s is damaged: entry %" PRId64 " of the index: %s; create it again", f->name, chunk, reason);
  return 1;
}

static GpErr GpChunkFileReadIndex(GpChunkFile f, char *why, size_t whylen)
{
  const size_t bytes = (size_t)f->head.chunks * sizeof(*f->chunk);
  uint64_t     at    = sizeof(f->head);
  int64_t      row = f->head.first, nnz = 0;
  GpErr        err;

  f->chunk  = (GpChunkHeader *)malloc(bytes + 1);
  f->offset = (uint64_t *)malloc((size_t)f->head.chunks * sizeof(*f->offset) + 1);
  if (!f->chunk || !f->offset) {
    (void)snprintf(why, whylen, "no memory for the index of %s: %zu bytes; create the file with larger chunks", f->name, bytes);
    return GP_ERR_MEMORY;
  }
  err = GpChunkFileGetPart(f, "the index", f->chunk, bytes, f->head.index, why, whylen);
  if (err) return err;
  if (GpChunkFileRefuse(f, f->head.indexsum == GpChunkSum(f->chunk, bytes), "checksum of the index", why, whylen)) return GP_ERR_FILE;
  for (int64_t c = 0; c < f->head.chunks; c++) {
    if (GpChunkFileRefuseChunk(f, c, row, at, why, whylen)) return GP_ERR_FILE;
    f->offset[c] = at;
    at += f->chunk[c].bytes;
    row += f->chunk[c].m;
    nnz += f->chunk[c].nnz;
  }
  return GpChunkFileRefuse(f, at == f->head.index && row == f->head.first + f->head.m && nnz == f->head.nnz, "its chunks have other sizes than the header says", why, whylen) ? GP_ERR_FILE : GP_SUCCESS;
}

/* --- open and close ---------------------------------------------------------------------------------------------------------------------- */

static GpErr GpChunkFileOpenParts(GpChunkFile f, const char *path, char *why, size_t whylen)
{
  uint64_t size = 0;
  GpErr    err  = GpChunkFileOpenRegular(path, f->name, &f->fd, &size, why, whylen);

  if (!err) err = GpChunkFileReadHeader(f, why, whylen);
  if (err) return err;
  if (GpChunkFileRefuseSizes(f, size, why, whylen)) return GP_ERR_FILE;
  /* No hint is given to the operating system: POSIX_FADV_SEQUENTIAL, and POSIX_FADV_WILLNEED for each chunk, gave no gain with one to eight threads that read whole
     chunks (Linux 6.18, disk of 2.4 GB/s). */
  return GpChunkFileReadIndex(f, why, whylen);
}

GpErr GpChunkFileOpen(const char *path, GpChunkFile *file, char *why, size_t whylen)
{
  GpChunkFile f = (GpChunkFile)calloc(1, sizeof(*f));
  GpErr       err;

  *file = NULL;
  if (!f) {
    (void)snprintf(why, whylen, "no memory for %zu bytes to open a file of chunks", sizeof(*f));
    return GP_ERR_MEMORY;
  }
  GpChunkFileShorten(path, f->name);
  err = GpChunkFileOpenParts(f, path, why, whylen);
  if (err) GpChunkFileClose(&f);
  *file = f;
  return err;
}

void GpChunkFileClose(GpChunkFile *file)
{
  GpChunkFile f = *file;

  if (!f) return;
  if (f->fd >= 0) (void)close(f->fd);
  free(f->chunk);
  free(f->offset);
  free(f);
  *file = NULL;
}

const GpChunkFileHeader *GpChunkFileGetHeader(GpChunkFile f)
{
  return &f->head;
}

const GpChunkHeader *GpChunkFileGetChunk(GpChunkFile f, int64_t chunk)
{
  return &f->chunk[chunk];
}

/* --- read -------------------------------------------------------------------------------------------------------------------------------- */

/* The header of the chunk must be that of the index, which was checked when the file was opened. The checksum is that of GpChunkChecksum(). One core computes it at 12 GB/s (AMD
   EPYC, 2023), about as fast as it copies from the cache of the operating system, so that a faster checksum of a library is not needed. */
GpErr GpChunkFileRead(GpChunkFile f, int64_t chunk, void *destination, char *why, size_t whylen)
{
  const GpChunkHeader *h;
  size_t               done;
  int                  code;

  if (chunk < 0 || chunk >= f->head.chunks) {
    (void)snprintf(why, whylen, "%s has %" PRId64 " chunks; there is no chunk %" PRId64, f->name, f->head.chunks, chunk);
    return GP_ERR_ARGUMENT;
  }
  h    = &f->chunk[chunk];
  code = GpChunkFilePread(f->fd, destination, h->bytes, f->offset[chunk], &done);
  if (code) (void)snprintf(why, whylen, "chunk %" PRId64 " of %s: cannot read %" PRIu64 " bytes at offset %" PRIu64 ": %s; check the disk, then repeat", chunk, f->name, h->bytes - done, f->offset[chunk] + done, strerror(code));
  else if (done < h->bytes) (void)snprintf(why, whylen, "chunk %" PRId64 " of %s: the file was shortened and ends at offset %" PRIu64 ", inside the chunk; restore it", chunk, f->name, f->offset[chunk] + done);
  else if (memcmp(destination, h, sizeof(*h)) || GpChunkChecksum(destination) != h->checksum)
    (void)snprintf(why, whylen, "chunk %" PRId64 " of %s: the %" PRIu64 " bytes at offset %" PRIu64 " have another checksum than in the index: the file is damaged or was changed; restore it", chunk, f->name, h->bytes, f->offset[chunk]);
  else return GP_SUCCESS;
  return GP_ERR_FILE;
}

GpErr GpChunkFileFill(void *file, int64_t item, void *destination, char *why, size_t whylen)
{
  GpChunkFile f = (GpChunkFile)file;

  return GpChunkFileRead(f, item - f->item, destination, why, whylen);
}

void GpChunkFileSetFirstItem(GpChunkFile f, int64_t item)
{
  f->item = item;
}
