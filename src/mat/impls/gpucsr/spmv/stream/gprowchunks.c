/* Cuts the rows of a source into chunks and runs threads that encode them. */
#include "mat/impls/gpucsr/spmv/stream/gprowchunks.h"
#include "mat/impls/gpucsr/spmv/stream/gpchunkcode.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define GP_ROW_WINDOW ((int64_t)1 << 22) /* rows whose row pointers are requested at once, unless a chunk can have more */

/* Checks and counts rows begin to end - 1 of `rows`, and appends them to the table as a chunk. */
static GpErr GpRowAppendChunk(GpRowChunks *C, const GpChunkSource *rows, int64_t begin, int64_t end, char why[GP_CHUNK_WHY])
{
  if (C->nchunks + 1 >= C->capacity) {
    const int64_t capacity = 2 * C->capacity + 64;
    int64_t      *first    = (int64_t *)realloc(C->first, (size_t)capacity * sizeof(*first));

    if (!first) {
      (void)snprintf(why, GP_CHUNK_WHY, "out of host memory for the list of %" PRId64 " chunks; choose larger chunks", capacity);
      return GP_ERR_MEMORY;
    }
    C->first    = first;
    C->capacity = capacity;
  }
  for (int64_t i = begin; i < end; i++) {
    const int64_t length = GpChunkRowPointer(rows, i + 1) - GpChunkRowPointer(rows, i);

    if (length < 0) {
      (void)snprintf(why, GP_CHUNK_WHY, "the row pointer of row %" PRId64 " is less than that of the row before it", rows->start + i + 1);
      return GP_ERR_ARGUMENT;
    }
    C->longest = length > C->longest ? length : C->longest;
    C->empty += !length;
    C->nnz += length;
  }
  C->first[C->nchunks++] = rows->start + begin;
  C->first[C->nchunks]   = rows->start + end;
  return GP_SUCCESS;
}

/* A chunk that ends with its window of row pointers, but not with the matrix, could be longer, so it is cut again from the next window. */
GpErr GpRowSourceCut(const GpRowSource *rows, size_t bytes, GpRowChunks *C, char why[GP_CHUNK_WHY])
{
  const int64_t least = (int64_t)(bytes / sizeof(int32_t)) + 2, window = least > GP_ROW_WINDOW ? least : GP_ROW_WINDOW;
  GpErr         err = GP_SUCCESS;

  *C = (GpRowChunks){.nchunks = 0};
  for (int64_t row = 0; !err && row < rows->m;) {
    const int64_t end = rows->m - row < window ? rows->m : row + window;
    GpChunkSource W   = {0};
    int64_t       at  = 0;

    err = rows->get(rows->context, row, end, 0, &W, why);
    while (!err && at < end - row) {
      const int64_t next = GpChunkEnd(&W, at, bytes);

      if (next == end - row && end < rows->m && at) break;
      err = GpRowAppendChunk(C, &W, at, next, why);
      at  = next;
    }
    row += at;
  }
  return err;
}

GpErr GpRowRunThreads(GpFillers threads, int64_t n, GpStreamFill encode, GpRowTake take, void *context, char *why, size_t whylen)
{
  int64_t job0 = 0;
  GpErr   err  = GP_SUCCESS;

  for (int64_t k = 0; k < n; k++) {
    const GpFillJob job    = {.fill = encode, .context = context, .item = k};
    const int64_t   number = GpFillersPost(threads, &job);

    if (!k) job0 = number;
  }
  for (int64_t k = 0; k < n; k++) {
    const char *reason;

    (void)GpFillersWait(threads, job0 + k, -1);
    if (!err) {
      err = GpFillersResult(threads, job0 + k, &reason);
      if (err) (void)snprintf(why, whylen, "%s", reason);
    }
    if (take) err = take(context, k, err, why, whylen);
  }
  return err;
}
