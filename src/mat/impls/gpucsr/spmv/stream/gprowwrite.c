/* Encodes the rows of a source and writes them as a file of chunks. Memory is needed for as many chunks as there are threads, not for the matrix. */
#include "mat/impls/gpucsr/spmv/csr/csrnarrow.h"
#include "mat/impls/gpucsr/spmv/stream/gpchunkfile.h"
#include "mat/impls/gpucsr/spmv/stream/gprowchunks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A chunk of the group of chunks that are encoded at the same time. */
typedef struct {
  GpChunkPlan plan;
  void       *chunk;
} GpRowChunk;

typedef struct {
  const GpRowSource *rows;
  GpChunkSource      source; /* rows of the group */
  size_t             limit;  /* upper bound on the size of a chunk as compressed rows */
  GpRowChunks        table;
  int64_t            begin; /* first chunk of the group */
  int                most;  /* maximum number of chunks of a group */
  GpRowChunk        *chunk; /* [most] */
  GpFillers          threads;
  GpChunkWriter      writer;
  GpLoss            *loss;
  int64_t            nonzeros; /* number of nonzeros in the chunks that have been written */
  char              *why;
  size_t             whylen;
} GpRowWriter;

static GpErr GpRowFail(GpRowWriter *w, GpErr err, const char *reason)
{
  (void)snprintf(w->why, w->whylen, "%s", reason);
  return err;
}

/* A GpStreamFill: plans and encodes a chunk in memory of its size. */
static GpErr GpRowEncodeChunk(void *context, int64_t item, void *destination, char *why, size_t whylen)
{
  GpRowWriter   *w     = (GpRowWriter *)context;
  GpRowChunk    *c     = &w->chunk[item];
  const int64_t *first = w->table.first + w->begin + item;
  char           reason[GP_CHUNK_WHY];
  const GpErr    err = GpChunkPlanRows(&w->source, first[0] - w->source.start, first[1] - w->source.start, &c->plan, reason);

  (void)destination;
  if (err) (void)snprintf(why, whylen, "%s%s%s", w->rows->name ? w->rows->name : "", w->rows->name ? ": " : "", reason);
  else {
    c->chunk = malloc(c->plan.head.bytes);
    if (c->chunk) GpChunkEncode(&w->source, &c->plan, c->chunk);
    else (void)snprintf(why, whylen, "no memory for a chunk of %zu bytes; choose smaller chunks or fewer threads", (size_t)c->plan.head.bytes);
  }
  return err ? err : c->chunk ? GP_SUCCESS : GP_ERR_MEMORY;
}

/* A GpRowTake: appends an encoded chunk to the file and frees its memory. If a value overflowed, the position of the value is in the rounding error of the failed chunk. */
static GpErr GpRowWriteChunk(void *context, int64_t item, GpErr err, char *why, size_t whylen)
{
  GpRowWriter *w = (GpRowWriter *)context;
  GpRowChunk  *c = &w->chunk[item];

  GpCsrAddLoss(w->loss, &c->plan.loss, w->nonzeros);
  w->nonzeros += c->plan.head.nnz;
  if (!err) err = GpChunkWriterAppend(w->writer, c->chunk, why, whylen);
  free(c->chunk);
  c->chunk = NULL;
  return err;
}

/* Encodes the chunks of a group on the threads and appends them to the file in the order of their rows. */
static GpErr GpRowWriteGroup(GpRowWriter *w, int count)
{
  const int64_t *first = w->table.first + w->begin;
  char           reason[GP_CHUNK_WHY];
  const GpErr    err = w->rows->get(w->rows->context, first[0], first[count], 1, &w->source, reason);

  if (err) return GpRowFail(w, err, reason);
  w->source.prec = w->rows->prec;
  return GpRowRunThreads(w->threads, count, GpRowEncodeChunk, GpRowWriteChunk, w, w->why, w->whylen);
}

static GpErr GpRowWriteAll(GpRowWriter *w)
{
  char  reason[GP_CHUNK_WHY];
  GpErr err = GpRowSourceCut(w->rows, w->limit, &w->table, reason);

  if (err) return GpRowFail(w, err, reason);
  for (w->begin = 0; !err && w->begin < w->table.nchunks; w->begin += w->most) err = GpRowWriteGroup(w, w->table.nchunks - w->begin < w->most ? (int)(w->table.nchunks - w->begin) : w->most);
  return err;
}

GpErr GpRowSourceWriteChunks(const GpRowSource *rows, size_t bytes, int threads, const char *path, GpLoss *loss, char *why, size_t whylen)
{
  GpRowWriter w    = {.rows = rows, .limit = bytes, .most = threads > 1 ? threads : 1, .loss = loss, .why = why, .whylen = whylen};
  GpErr       err  = GpChunkWriterCreate(path, rows->prec, 0, rows->n, &w.writer, why, whylen);
  int         code = 0;

  if (err) return err;
  *loss   = (GpLoss){.worst = 0, .at = -1, .overflow = -1};
  w.chunk = (GpRowChunk *)calloc((size_t)w.most, sizeof(*w.chunk));
  code    = w.chunk ? GpFillersCreate(threads, w.most, &w.threads) : -1;
  if (code) {
    err = GP_ERR_MEMORY;
    (void)snprintf(why, whylen, "no memory for %d threads that encode; use fewer", threads);
  }
  if (!err) err = GpRowWriteAll(&w);
  if (err) GpChunkWriterDiscard(&w.writer);
  else err = GpChunkWriterFinish(&w.writer, why, whylen);
  GpFillersDestroy(&w.threads);
  free(w.table.first);
  free(w.chunk);
  return err;
}
