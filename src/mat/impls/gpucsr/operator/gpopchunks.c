/* Cuts a matrix into chunks and encodes them in pinned host memory. */
#define _GNU_SOURCE
#include "mat/impls/gpucsr/operator/gpopchunks.h"
#include "device/gpfillers.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GP_OP_WINDOW  ((int64_t)1 << 22)  /* rows whose row pointers are requested at once, unless a chunk can have more */
#define GP_OP_GROUP   1024                /* maximum number of chunks of a group; a group is encoded at the same time, into one piece of memory */
#define GP_OP_BYTES   ((double)(1 << 30)) /* approximate size in bytes of a group as compressed rows */
#define GP_OP_THREADS 8                   /* upper bound on the default number of threads */

/* A group of chunks that threads plan and encode. */
typedef struct {
  GpOpChunks   *C;
  int64_t       begin;  /* first chunk of the group */
  GpChunkSource source; /* rows of the group */
  GpChunkPlan  *plan;   /* [GP_OP_GROUP] */
  GpFillers     threads;
} GpOpEncoder;

static GpErr GpOpChunksFail(GpOpChunks *C, GpErr err, const char *why)
{
  return GpDevFail(C->dev, err, "encoding the rows of a matrix: %s", why);
}

static int GpOpCountThreads(int wanted)
{
  cpu_set_t cores;
  int       n = 1;

  if (wanted > 0) return wanted;
  if (!sched_getaffinity(0, sizeof(cores), &cores)) n = CPU_COUNT(&cores);
  return n < GP_OP_THREADS ? n : GP_OP_THREADS;
}

/* --- cutting ------------------------------------------------------------------------------------------------------------------------ */

static int64_t GpOpRowPointer(const GpChunkSource *A, int64_t i)
{
  return A->rowbytes == 8 ? ((const int64_t *)A->rowptr)[i] : ((const int32_t *)A->rowptr)[i];
}

/* Checks and counts the rows from C->first[C->nchunks - 1] on, up to the end of the chunk, and appends this end to the table. */
static GpErr GpOpChunksAppend(GpOpChunks *C, const GpChunkSource *rows, int64_t begin, int64_t end, char why[GP_CHUNK_WHY])
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
    const int64_t length = GpOpRowPointer(rows, i + 1) - GpOpRowPointer(rows, i);

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

/* Cuts the matrix into chunks, from windows of row pointers. A chunk that ends with its window, but not with the matrix, could be longer, so it is cut again from the next window. */
static GpErr GpOpChunksCut(GpOpChunks *C, const GpRowSource *rows, char why[GP_CHUNK_WHY])
{
  const int64_t least = (int64_t)(C->limit / sizeof(int32_t)) + 2, window = least > GP_OP_WINDOW ? least : GP_OP_WINDOW;
  GpErr         err = GP_SUCCESS;

  for (int64_t row = 0; !err && row < C->m;) {
    const int64_t end = C->m - row < window ? C->m : row + window;
    GpChunkSource W   = {0};
    int64_t       at  = 0;

    err = rows->get(rows->context, row, end, 0, &W, why);
    while (!err && at < end - row) {
      const int64_t next = GpChunkEnd(&W, at, C->limit);

      if (next == end - row && end < C->m && at) break;
      err = GpOpChunksAppend(C, &W, at, next, why);
      at  = next;
    }
    row += at;
  }
  return err;
}

/* --- encoding ----------------------------------------------------------------------------------------------------------------------- */

static GpErr GpOpPlanChunk(void *context, int64_t item, void *destination, char *why, size_t whylen)
{
  GpOpEncoder   *E     = (GpOpEncoder *)context;
  const int64_t *first = E->C->first + E->begin + item;

  (void)destination;
  (void)whylen; /* the message of a job has GP_FILLERS_WHY bytes, more than GP_CHUNK_WHY */
  return GpChunkPlanRows(&E->source, first[0] - E->source.start, first[1] - E->source.start, &E->plan[item], why);
}

static GpErr GpOpEncodeChunk(void *context, int64_t item, void *destination, char *why, size_t whylen)
{
  GpOpEncoder *E = (GpOpEncoder *)context;

  (void)why;
  (void)whylen;
  GpChunkEncode(&E->source, &E->plan[item], destination);
  return GP_SUCCESS;
}

/* Runs a function for n chunks on the threads. Returns the error of the first chunk that failed. */
static GpErr GpOpRunThreads(GpOpEncoder *E, int64_t n, GpStreamFill function, char why[GP_CHUNK_WHY])
{
  int64_t job0 = 0;
  GpErr   err  = GP_SUCCESS;

  for (int64_t k = 0; k < n; k++) {
    const GpFillJob job    = {.fill = function, .context = E, .item = k, .destination = E->C->chunk[E->begin + k]};
    const int64_t   number = GpFillersPost(E->threads, &job);

    if (!k) job0 = number;
  }
  for (int64_t k = 0; k < n; k++) {
    const char *reason;

    (void)GpFillersWait(E->threads, job0 + k, -1);
    if (err) continue;
    err = GpFillersResult(E->threads, job0 + k, &reason);
    if (err) (void)snprintf(why, GP_CHUNK_WHY, "%s", reason);
  }
  return err;
}

/* Adds the rounding error of a chunk to that of the matrix. Nonzero `from` of the matrix is the first one of the chunk. */
static void GpOpAddLoss(GpLoss *sum, const GpLoss *loss, int64_t from)
{
  if (loss->overflow >= 0 && sum->overflow < 0) sum->overflow = from + loss->overflow;
  sum->rounded += loss->rounded;
  sum->lost += loss->lost;
  if (loss->at < 0 || !(loss->worst > sum->worst)) return;
  sum->worst = loss->worst;
  sum->at    = from + loss->at;
}

/* Allocates the memory of the chunks begin to end - 1, whose sizes are known. */
static GpErr GpOpAllocPiece(GpOpChunks *C, int64_t begin, int64_t end, char why[GP_CHUNK_WHY])
{
  const double before = GpFillersClock();
  GpOpPiece   *piece  = (GpOpPiece *)realloc(C->piece, (size_t)(C->npieces + 1) * sizeof(*piece));
  size_t       bytes  = 0;
  char        *at;
  GpErr        err;

  if (piece) C->piece = piece;
  for (int64_t c = begin; c < end; c++) bytes += C->head[c].bytes;
  err = piece ? GpDevAllocHost(C->dev, bytes, &C->piece[C->npieces].memory, &C->piece[C->npieces].pinned) : GP_ERR_MEMORY;
  if (err) {
    (void)snprintf(why, GP_CHUNK_WHY, "out of host memory for encoded chunks: %zu bytes asked for beside %.0f", bytes, C->bytes);
    return err;
  }
  at = (char *)C->piece[C->npieces].memory;
  for (int64_t c = begin; c < end; c++) {
    C->chunk[c]  = at;
    C->pinned[c] = C->piece[C->npieces].pinned;
    at += C->head[c].bytes;
  }
  C->npieces++;
  C->bytes += (double)bytes;
  C->pin_seconds += GpFillersClock() - before;
  return GP_SUCCESS;
}

/* Encodes the chunks of a group. If refill is 1, it writes them to the memory of the old chunks; if a chunk has another size than before, it sets *same to 0 and writes nothing. */
static GpErr GpOpEncodeGroup(GpOpEncoder *E, const GpRowSource *rows, int64_t end, int refill, int64_t *nonzeros, int *same, char why[GP_CHUNK_WHY])
{
  GpOpChunks   *C = E->C;
  const int64_t n = end - E->begin;
  GpErr         err;

  memset(&E->source, 0, sizeof(E->source));
  err             = rows->get(rows->context, C->first[E->begin], C->first[end], 1, &E->source, why);
  E->source.plain = C->plain;
  if (!err) err = GpOpRunThreads(E, n, GpOpPlanChunk, why);
  for (int64_t k = 0; k < n; k++) { /* after a failure too, because C->loss must have the position of a value that overflows */
    const GpChunkPlan *P = &E->plan[k];

    GpOpAddLoss(&C->loss, &P->loss, *nonzeros);
    *nonzeros += P->head.nnz;
    if (err) continue;
    if (refill && P->head.bytes != C->head[E->begin + k].bytes) *same = 0;
    C->head[E->begin + k] = P->head;
    C->largest            = P->head.bytes > C->largest ? P->head.bytes : C->largest;
    if (GpChunkWorkspace(&P->head) > C->work) C->work = GpChunkWorkspace(&P->head);
  }
  if (!err && !refill) err = GpOpAllocPiece(C, E->begin, end, why);
  if (!err && *same) err = GpOpRunThreads(E, n, GpOpEncodeChunk, why);
  return err;
}

static GpErr GpOpEncodeGroups(GpOpEncoder *E, const GpRowSource *rows, int refill, int *same, char why[GP_CHUNK_WHY])
{
  GpOpChunks   *C     = E->C;
  const int64_t group = (int64_t)(GP_OP_BYTES / (double)C->limit) + 1, many = group < GP_OP_GROUP ? group : GP_OP_GROUP;
  int64_t       nonzeros = 0;
  GpErr         err      = GP_SUCCESS;

  C->loss = (GpLoss){.worst = 0, .at = -1, .overflow = -1};
  for (E->begin = 0; !err && *same && E->begin < C->nchunks; E->begin += many) {
    const int64_t left = C->nchunks - E->begin;

    err = GpOpEncodeGroup(E, rows, E->begin + (left < many ? left : many), refill, &nonzeros, same, why);
  }
  return err;
}

static GpErr GpOpChunksEncode(GpOpChunks *C, const GpRowSource *rows, int refill, int *same, char why[GP_CHUNK_WHY])
{
  GpOpEncoder  E      = {.C = C, .plan = (GpChunkPlan *)calloc(GP_OP_GROUP, sizeof(GpChunkPlan))};
  const double before = GpFillersClock(), pinned = C->pin_seconds;
  const int    threads = C->nchunks < C->threads ? (int)C->nchunks : C->threads;
  const int    code    = E.plan ? GpFillersCreate(threads > 1 ? threads : 0, GP_OP_GROUP, &E.threads) : 0;
  GpErr        err     = GP_ERR_MEMORY;

  *same = 1;
  if (!E.plan) (void)snprintf(why, GP_CHUNK_WHY, "out of host memory");
  else if (code) (void)snprintf(why, GP_CHUNK_WHY, "%d threads cannot be started: %s; use fewer threads", threads, strerror(code));
  else err = GpOpEncodeGroups(&E, rows, refill, same, why);
  GpFillersDestroy(&E.threads);
  free(E.plan);
  C->encode_seconds = GpFillersClock() - before - (C->pin_seconds - pinned);
  return err;
}

GpErr GpOpChunksCreate(GpDev dev, const GpRowSource *rows, size_t bytes, int plain, int threads, GpOpChunks *C)
{
  char  why[GP_CHUNK_WHY] = "";
  int   same;
  GpErr err;

  *C  = (GpOpChunks){.dev = dev, .limit = bytes, .plain = plain, .threads = GpOpCountThreads(threads), .m = rows->m, .n = rows->n, .prec = rows->prec, .loss = {.at = -1, .overflow = -1}};
  err = GpOpChunksCut(C, rows, why);
  if (!err && C->nchunks) {
    C->head   = (GpChunkHeader *)calloc((size_t)C->nchunks, sizeof(*C->head));
    C->chunk  = (void **)calloc((size_t)C->nchunks, sizeof(*C->chunk));
    C->pinned = (int *)calloc((size_t)C->nchunks, sizeof(*C->pinned));
    if (C->head && C->chunk && C->pinned) err = GpOpChunksEncode(C, rows, 0, &same, why);
    else {
      err = GP_ERR_MEMORY;
      (void)snprintf(why, sizeof(why), "out of host memory for the table of %" PRId64 " chunks; choose larger chunks", C->nchunks);
    }
  }
  if (!err) return err;
  err = GpOpChunksFail(C, err, why);
  GpOpChunksDestroy(C);
  return err;
}

GpErr GpOpChunksRefill(GpOpChunks *C, const GpRowSource *rows, int *same)
{
  char        why[GP_CHUNK_WHY] = "";
  const GpErr err               = C->nchunks ? GpOpChunksEncode(C, rows, 1, same, why) : GP_SUCCESS;

  if (!C->nchunks) *same = 1;
  return err ? GpOpChunksFail(C, err, why) : err;
}

void GpOpChunksDestroy(GpOpChunks *C)
{
  const GpLoss loss = C->loss;

  for (int64_t p = 0; p < C->npieces; p++) GpDevFreeHost(C->dev, &C->piece[p].memory, C->piece[p].pinned);
  free(C->first);
  free(C->head);
  free(C->chunk);
  free(C->pinned);
  free(C->piece);
  *C = (GpOpChunks){.loss = loss};
}

double GpOpChunksRowBytes(const GpOpChunks *C)
{
  return ((double)C->m + 1) * sizeof(int32_t) + (double)C->nnz * (double)(sizeof(int32_t) + GpPrecBytes(C->prec));
}
