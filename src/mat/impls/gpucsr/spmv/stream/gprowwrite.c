/* Encodes the rows of a source and writes them as a file of chunks. Memory is needed for as many chunks as there are threads, not for the matrix. */
#include "device/gpfillers.h"
#include "mat/impls/gpucsr/spmv/stream/gpchunkfile.h"
#include "mat/impls/gpucsr/spmv/stream/gprowsource.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GP_ROW_WINDOW ((int64_t)1 << 22) /* rows whose row pointers are requested at once, unless a chunk can have more */

/* A chunk of the group of chunks that are encoded at the same time. */
typedef struct {
  GpChunkPlan plan;
  void       *chunk;
} GpRowChunk;

typedef struct {
  const GpRowSource *rows;
  GpChunkSource      source; /* rows of the group */
  size_t             limit;  /* upper bound on the size of a chunk as compressed rows */
  int64_t            nchunks, capacity;
  int64_t           *first; /* [capacity] first row of each chunk, and the end of the last one */
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

/* --- cutting ------------------------------------------------------------------------------------------------------------------------- */

/* Appends the end of a chunk to the table. */
static GpErr GpRowAppendEnd(GpRowWriter *w, int64_t end)
{
  if (w->nchunks + 2 > w->capacity) {
    const int64_t capacity = 2 * w->capacity + 64;
    int64_t      *first    = (int64_t *)realloc(w->first, (size_t)capacity * sizeof(*first));

    if (!first) return GpRowFail(w, GP_ERR_MEMORY, "no memory for the list of chunks; choose larger chunks");
    w->first    = first;
    w->capacity = capacity;
  }
  w->first[0]            = 0;
  w->first[++w->nchunks] = end;
  return GP_SUCCESS;
}

/* Cuts the matrix into chunks, from windows of row pointers. A chunk that ends with its window, but not with the matrix, could be longer, so it is cut again from the next window. */
static GpErr GpRowCut(GpRowWriter *w)
{
  const int64_t least = (int64_t)(w->limit / sizeof(int32_t)) + 2, window = least > GP_ROW_WINDOW ? least : GP_ROW_WINDOW, m = w->rows->m;
  char          reason[GP_CHUNK_WHY];
  GpErr         err = GP_SUCCESS;

  for (int64_t row = 0; !err && row < m;) {
    const int64_t begin = row, end = m - row < window ? m : row + window;
    GpChunkSource W = {0};

    err = w->rows->get(w->rows->context, row, end, 0, &W, reason);
    if (err) return GpRowFail(w, err, reason);
    while (!err && row < end) {
      const int64_t next = begin + GpChunkEnd(&W, row - begin, w->limit);

      if (next == end && end < m && row > begin) break;
      err = GpRowAppendEnd(w, next);
      row = next;
    }
  }
  return err;
}

/* --- encoding ------------------------------------------------------------------------------------------------------------------------ */

/* A GpStreamFill: plans and encodes a chunk in memory of its size. */
static GpErr GpRowEncodeChunk(void *context, int64_t item, void *destination, char *why, size_t whylen)
{
  GpRowWriter   *w     = (GpRowWriter *)context;
  GpRowChunk    *c     = &w->chunk[item];
  const int64_t *first = w->first + w->begin + item;
  char           reason[GP_CHUNK_WHY];
  const GpErr    err = GpChunkPlanRows(&w->source, first[0] - w->source.start, first[1] - w->source.start, &c->plan, reason);

  (void)destination;
  if (err) (void)snprintf(why, whylen, "%s", reason);
  else {
    c->chunk = malloc(c->plan.head.bytes);
    if (c->chunk) GpChunkEncode(&w->source, &c->plan, c->chunk);
    else (void)snprintf(why, whylen, "no memory for a chunk of %zu bytes; choose smaller chunks or fewer threads", (size_t)c->plan.head.bytes);
  }
  return err ? err : c->chunk ? GP_SUCCESS : GP_ERR_MEMORY;
}

static void GpRowAddLoss(GpRowWriter *w, const GpChunkPlan *P)
{
  GpLoss *sum = w->loss;

  sum->rounded += P->loss.rounded;
  sum->lost += P->loss.lost;
  if (P->loss.at >= 0 && P->loss.worst > sum->worst) {
    sum->worst = P->loss.worst;
    sum->at    = w->nonzeros + P->loss.at;
  }
  w->nonzeros += P->head.nnz;
}

/* Encodes the chunks of a group on the threads and appends them to the file in the order of their rows. */
static GpErr GpRowWriteGroup(GpRowWriter *w, int count)
{
  char    reason[GP_CHUNK_WHY];
  int64_t job = 0;
  GpErr   err = w->rows->get(w->rows->context, w->first[w->begin], w->first[w->begin + count], 1, &w->source, reason);

  if (err) return GpRowFail(w, err, reason);
  w->source.prec = w->rows->prec;
  for (int c = 0; c < count; c++) {
    const GpFillJob j    = {.fill = GpRowEncodeChunk, .context = w, .item = c};
    const int64_t   last = GpFillersPost(w->threads, &j);

    if (!c) job = last;
  }
  for (int c = 0; c < count; c++) {
    const char *failed;

    (void)GpFillersWait(w->threads, job + c, -1);
    if (!err) {
      err = GpFillersResult(w->threads, job + c, &failed);
      if (err) (void)snprintf(w->why, w->whylen, "%s%s%s", w->rows->name ? w->rows->name : "", w->rows->name ? ": " : "", failed);
    }
    if (!err) err = GpChunkWriterAppend(w->writer, w->chunk[c].chunk, w->why, w->whylen);
    if (!err) GpRowAddLoss(w, &w->chunk[c].plan);
    free(w->chunk[c].chunk);
    w->chunk[c].chunk = NULL;
  }
  return err;
}

static GpErr GpRowWriteAll(GpRowWriter *w)
{
  GpErr err = GpRowCut(w);

  for (w->begin = 0; !err && w->begin < w->nchunks; w->begin += w->most) err = GpRowWriteGroup(w, w->nchunks - w->begin < w->most ? (int)(w->nchunks - w->begin) : w->most);
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
  free(w.first);
  free(w.chunk);
  return err;
}
