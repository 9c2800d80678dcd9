/* Cuts a matrix into chunks and encodes them in pinned host memory. */
#include "mat/impls/gpucsr/operator/gpopchunks.h"
#include "device/gpfillers.h"
#include "mat/impls/gpucsr/spmv/csr/csrnarrow.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GP_OP_GROUP 1024                /* maximum number of chunks of a group; a group is encoded at the same time, into one piece of memory */
#define GP_OP_BYTES ((double)(1 << 30)) /* approximate size in bytes of a group as compressed rows */

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

/* --- encoding ----------------------------------------------------------------------------------------------------------------------- */

static GpErr GpOpPlanChunk(void *context, int64_t item, void *destination, char *why, size_t whylen)
{
  GpOpEncoder   *E     = (GpOpEncoder *)context;
  const int64_t *first = E->C->table.first + E->begin + item;

  (void)destination;
  (void)whylen; /* the message of a job has GP_FILLERS_WHY bytes, more than GP_CHUNK_WHY */
  return GpChunkPlanRows(&E->source, first[0] - E->source.start, first[1] - E->source.start, &E->plan[item], why);
}

static GpErr GpOpEncodeChunk(void *context, int64_t item, void *destination, char *why, size_t whylen)
{
  GpOpEncoder *E = (GpOpEncoder *)context;

  (void)destination;
  (void)why;
  (void)whylen;
  GpChunkEncode(&E->source, &E->plan[item], E->C->chunk[E->begin + item]);
  return GP_SUCCESS;
}

/* Allocates the memory of the chunks begin to end - 1, whose sizes are known. */
static GpErr GpOpAllocPiece(GpOpChunks *C, int64_t begin, int64_t end, char why[GP_CHUNK_WHY])
{
  GpOpPiece *piece = (GpOpPiece *)realloc(C->piece, (size_t)(C->npieces + 1) * sizeof(*piece));
  size_t     bytes = 0;
  char      *at;
  GpErr      err;

  if (piece) C->piece = piece;
  for (int64_t c = begin; c < end; c++) bytes += C->head[c].bytes;
  err = piece ? GpDevAllocHost(C->dev, bytes, &C->piece[C->npieces].memory, NULL) : GP_ERR_MEMORY;
  if (err) {
    (void)snprintf(why, GP_CHUNK_WHY, "out of host memory for encoded chunks: %zu bytes asked for in addition to %.0f", bytes, C->bytes);
    return err;
  }
  at = (char *)C->piece[C->npieces].memory;
  for (int64_t c = begin; c < end; c++) {
    C->chunk[c] = at;
    at += C->head[c].bytes;
  }
  C->piece[C->npieces].bytes  = bytes;
  C->piece[C->npieces].pinned = 0;
  C->npieces++;
  C->bytes += (double)bytes;
  return GP_SUCCESS;
}

/* Pins the last piece, which contains the chunks begin to end - 1. The threads have written it before, so that they and not this thread wait for the system to provide its pages. */
static GpErr GpOpPinPiece(GpOpChunks *C, int64_t begin, int64_t end, char why[GP_CHUNK_WHY])
{
  const double before = GpFillersClock();
  GpOpPiece   *piece  = &C->piece[C->npieces - 1];
  const GpErr  err    = GpDevPin(C->dev, piece->memory, piece->bytes, &piece->pinned);

  if (err) (void)snprintf(why, GP_CHUNK_WHY, "%s", GpDevError(C->dev));
  for (int64_t c = begin; c < end; c++) C->pinned[c] = piece->pinned;
  C->pin_seconds += GpFillersClock() - before;
  return err;
}

/* Encodes the chunks of a group. If refill is 1, it writes them to the memory of the old chunks; if a chunk has another size than before, it sets *same to 0 and writes nothing. */
static GpErr GpOpEncodeGroup(GpOpEncoder *E, const GpRowSource *rows, int64_t end, int refill, int64_t *nonzeros, int *same, char why[GP_CHUNK_WHY])
{
  GpOpChunks   *C = E->C;
  const int64_t n = end - E->begin;
  GpErr         err;

  memset(&E->source, 0, sizeof(E->source));
  err             = rows->get(rows->context, C->table.first[E->begin], C->table.first[end], 1, &E->source, why);
  E->source.plain = C->plain;
  if (!err) err = GpRowRunThreads(E->threads, n, GpOpPlanChunk, NULL, E, why, GP_CHUNK_WHY);
  for (int64_t k = 0; k < n; k++) { /* after a failure too, because C->loss must have the position of a value that overflows */
    const GpChunkPlan *P = &E->plan[k];

    GpCsrAddLoss(&C->loss, &P->loss, *nonzeros);
    *nonzeros += P->head.nnz;
    if (err) continue;
    if (refill && P->head.bytes != C->head[E->begin + k].bytes) *same = 0;
    C->head[E->begin + k] = P->head;
    C->largest            = P->head.bytes > C->largest ? P->head.bytes : C->largest;
    if (GpChunkWorkspace(&P->head) > C->work) C->work = GpChunkWorkspace(&P->head);
  }
  if (!err && !refill) err = GpOpAllocPiece(C, E->begin, end, why);
  if (!err && *same) err = GpRowRunThreads(E->threads, n, GpOpEncodeChunk, NULL, E, why, GP_CHUNK_WHY);
  if (!err && !refill) err = GpOpPinPiece(C, E->begin, end, why);
  return err;
}

static GpErr GpOpEncodeGroups(GpOpEncoder *E, const GpRowSource *rows, int refill, int *same, char why[GP_CHUNK_WHY])
{
  GpOpChunks   *C     = E->C;
  const int64_t group = (int64_t)(GP_OP_BYTES / (double)C->limit) + 1, many = group < GP_OP_GROUP ? group : GP_OP_GROUP;
  int64_t       nonzeros = 0;
  GpErr         err      = GP_SUCCESS;

  C->loss = (GpLoss){.worst = 0, .at = -1, .overflow = -1};
  for (E->begin = 0; !err && *same && E->begin < C->table.nchunks; E->begin += many) {
    const int64_t left = C->table.nchunks - E->begin;

    err = GpOpEncodeGroup(E, rows, E->begin + (left < many ? left : many), refill, &nonzeros, same, why);
  }
  return err;
}

static GpErr GpOpChunksEncode(GpOpChunks *C, const GpRowSource *rows, int refill, int *same, char why[GP_CHUNK_WHY])
{
  GpOpEncoder  E      = {.C = C, .plan = (GpChunkPlan *)calloc(GP_OP_GROUP, sizeof(GpChunkPlan))};
  const double before = GpFillersClock(), pinned = C->pin_seconds;
  const int    threads = C->table.nchunks < C->threads ? (int)C->table.nchunks : C->threads;
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

  *C  = (GpOpChunks){.dev = dev, .limit = bytes, .plain = plain, .threads = GpFillersCount(threads), .m = rows->m, .n = rows->n, .prec = rows->prec, .loss = {.at = -1, .overflow = -1}};
  err = GpRowSourceCut(rows, C->limit, &C->table, why);
  if (!err && C->table.nchunks) {
    C->head   = (GpChunkHeader *)calloc((size_t)C->table.nchunks, sizeof(*C->head));
    C->chunk  = (void **)calloc((size_t)C->table.nchunks, sizeof(*C->chunk));
    C->pinned = (int *)calloc((size_t)C->table.nchunks, sizeof(*C->pinned));
    if (C->head && C->chunk && C->pinned) err = GpOpChunksEncode(C, rows, 0, &same, why);
    else {
      err = GP_ERR_MEMORY;
      (void)snprintf(why, sizeof(why), "out of host memory for the table of %" PRId64 " chunks; choose larger chunks", C->table.nchunks);
    }
  }
  if (!err) return err;
  err = GpOpChunksFail(C, err, why);
  GpOpChunksDestroy(C);
  return err;
}

GpErr GpOpChunksOpen(GpDev dev, const GpOpFile *F, size_t bytes, int threads, GpOpChunks *C)
{
  const GpChunkFileHeader *h = GpChunkFileGetHeader(F->file);
  const size_t             n = (size_t)h->chunks;

  *C       = (GpOpChunks){.dev = dev, .limit = bytes, .threads = GpFillersCount(threads), .m = h->m, .n = h->n, .prec = (GpPrec)h->prec, .file = F->file, .loss = F->loss, .encode_seconds = F->seconds};
  C->table = (GpRowChunks){.nchunks = h->chunks, .first = (int64_t *)calloc(n + 1, sizeof(*C->table.first)), .nnz = h->nnz, .longest = F->longest, .empty = F->empty};
  C->head  = (GpChunkHeader *)calloc(n + 1, sizeof(*C->head));
  if (!C->table.first || !C->head) {
    GpOpChunksDestroy(C);
    return GpDevFail(dev, GP_ERR_MEMORY, "out of host memory for the table of %" PRId64 " chunks; choose larger chunks", h->chunks);
  }
  for (int64_t c = 0; c < h->chunks; c++) {
    const GpChunkHeader *head = GpChunkFileGetChunk(F->file, c);

    C->head[c]            = *head;
    C->table.first[c + 1] = head->first + head->m;
    C->bytes += (double)head->bytes;
    C->largest = head->bytes > C->largest ? head->bytes : C->largest;
    if (GpChunkWorkspace(head) > C->work) C->work = GpChunkWorkspace(head);
  }
  return GP_SUCCESS;
}

GpErr GpOpChunksRefill(GpOpChunks *C, const GpRowSource *rows, int *same)
{
  char        why[GP_CHUNK_WHY] = "";
  const GpErr err               = C->table.nchunks ? GpOpChunksEncode(C, rows, 1, same, why) : GP_SUCCESS;

  if (!C->table.nchunks) *same = 1;
  return err ? GpOpChunksFail(C, err, why) : err;
}

void GpOpChunksDestroy(GpOpChunks *C)
{
  const GpLoss loss = C->loss;

  for (int64_t p = 0; p < C->npieces; p++) GpDevFreeHost(C->dev, &C->piece[p].memory, C->piece[p].pinned);
  GpChunkFileClose(&C->file);
  free(C->table.first);
  free(C->head);
  free(C->chunk);
  free(C->pinned);
  free(C->piece);
  *C = (GpOpChunks){.loss = loss};
}

double GpOpChunksRowBytes(const GpOpChunks *C)
{
  return ((double)C->m + 1) * sizeof(int32_t) + (double)C->table.nnz * (double)(sizeof(int32_t) + GpPrecBytes(C->prec));
}
