/* Copies of large arrays in pageable memory, and loops, by several threads (gpupload.h).

   An array is divided into pieces. The threads take pieces in ascending order.

   In an upload, each thread fills a pinned buffer of the ring. The calling thread copies filled buffers to the device in ascending order. It copies adjacent buffers by one call, because the link is idle
   between two calls for about 3 microseconds, in which it could transfer 150 kB. In a download, the calling thread copies from the device to the buffers, and the threads empty them.

   Threads wait for each other by polling, because a piece takes less time than waking a thread. */
#include "device/gpupload.h"
#include "device/gpdeviceimpl.h"
#include "device/gpfillers.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#if defined(__SSE2__)
  #include <emmintrin.h>
#endif

#define GP_UPLOAD_PIECES   6  /* arrays with fewer pieces are copied by one thread, because waking threads takes longer than it saves */
#define GP_UPLOAD_TOGETHER 16 /* largest number of pieces that are copied by one call */
#define GP_UPLOAD_UNDERWAY 2  /* if this number of copies is under way, fewer than the largest number of pieces are not copied yet: the calling thread waits for more pieces, or for a copy to end */
#define GP_UPLOAD_THREADS  16 /* upper bound on the default number of threads. A GPU receives 55 GB/s, and a thread converts 3 to 6 GB/s */
#define GP_UPLOAD_HELPED   4  /* with fewer threads than this, the calling thread also processes pieces while it waits. With more threads it does not, because this would delay copies */

/* The pieces of arrays. Piece n uses the buffer base + n of the ring. */
typedef struct {
  GpDev            dev;
  int              workers; /* number of threads beside the calling one */
  const GpDevPart *part;    /* the arrays. A download has one, of which only device and bytes are set */
  int              parts;
  int64_t          first[GP_UPLOAD_PARTS + 1]; /* number of the first piece of each array, and number of all pieces */
  int64_t          pieces, base;
  int              direct; /* 1: threads read or write the arrays themselves, on the host backend */
  GpDevDrain       drain;  /* NULL: this is an upload */
  void            *context;
  int64_t          next;                 /* number of the piece that the next thread takes */
  int64_t          open;                 /* threads may take pieces below this number: in an upload their buffers are free, in a download their data have arrived */
  int              err;                  /* a GpErr: the error of a piece */
  int64_t          done[GP_RING_PIECES]; /* for each buffer: 1 plus the number of the last piece that a thread has processed in it */
} GpPieces;

/* The place of a piece. */
typedef struct {
  const GpDevPart *part;
  size_t           offset, bytes;
  char            *device;
  int64_t          left; /* number of pieces of the array from this one on */
} GpPlace;

static GpPlace GpPieceGetPlace(const GpPieces *p, int64_t n)
{
  GpPlace place;
  int     k = 0;

  while (n >= p->first[k + 1]) k++;
  place.part   = &p->part[k];
  place.left   = p->first[k + 1] - n;
  place.offset = (size_t)(n - p->first[k]) * GP_RING_BYTES;
  place.bytes  = place.part->bytes - place.offset < GP_RING_BYTES ? place.part->bytes - place.offset : GP_RING_BYTES;
  place.device = (char *)place.part->device + place.offset;
  return place;
}

static int GpPieceSlot(const GpPieces *p, int64_t n)
{
  return (int)((p->base + n) % p->dev->ring.buffers);
}

static char *GpPieceBuffer(const GpPieces *p, int64_t n)
{
  const int slot = GpPieceSlot(p, n);

  return p->dev->ring.segment[slot / GP_RING_SEGMENT] + (size_t)(slot % GP_RING_SEGMENT) * GP_RING_BYTES;
}

static int GpPieceIsDone(const GpPieces *p, int64_t n)
{
  return __atomic_load_n(&p->done[GpPieceSlot(p, n)], __ATOMIC_ACQUIRE) == n + 1;
}

void GpDevCopyPast(void *to, const void *from, size_t bytes)
{
  size_t at = 0;

#if defined(__SSE2__)
  if ((uintptr_t)to % sizeof(__m128i) == 0) {
    for (; at + sizeof(__m128i) <= bytes; at += sizeof(__m128i)) _mm_stream_si128((__m128i *)((char *)to + at), _mm_loadu_si128((const __m128i *)((const char *)from + at)));
    _mm_sfence(); /* other cores and the device see these stores before later ones */
  }
#endif
  memcpy((char *)to + at, (const char *)from + at, bytes - at);
}

static GpErr GpPieceCopy(void *source, size_t offset, size_t bytes, void *destination)
{
  GpDevCopyPast(destination, (const char *)source + offset, bytes);
  return GP_SUCCESS;
}

static GpErr GpPieceStore(void *destination, size_t offset, size_t bytes, const void *source)
{
  memcpy((char *)destination + offset, source, bytes);
  return GP_SUCCESS;
}

/* Fills or empties the buffer of piece n. */
static void GpPieceProcess(GpPieces *p, int64_t n)
{
  const GpPlace place  = GpPieceGetPlace(p, n);
  char         *buffer = p->direct ? place.device : GpPieceBuffer(p, n);
  const GpErr   err    = p->drain ? p->drain(p->context, place.offset, place.bytes, buffer) : place.part->fill(place.part->context, place.offset, place.bytes, buffer);

  if (err) __atomic_store_n(&p->err, (int)err, __ATOMIC_RELEASE);
  if (!p->direct) __atomic_store_n(&p->done[GpPieceSlot(p, n)], n + 1, __ATOMIC_RELEASE);
}

/* Processes one piece if one can be processed now. Returns 1 if it has done so. */
static int GpPiecesTry(GpPieces *p)
{
  int64_t n = __atomic_load_n(&p->next, __ATOMIC_RELAXED);

  if (n >= p->pieces || n >= __atomic_load_n(&p->open, __ATOMIC_ACQUIRE)) return 0;
  if (!__atomic_compare_exchange_n(&p->next, &n, n + 1, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) return 1; /* another thread took it */
  GpPieceProcess(p, n);
  return 1;
}

/* The task of a thread. After an error the calling thread opens no more pieces. All pieces before a failed one are processed, because they were opened before it. */
static void GpPiecesWork(void *context)
{
  GpPieces *p = (GpPieces *)context;

  for (int turn = 0; __atomic_load_n(&p->next, __ATOMIC_RELAXED) < p->pieces;) {
    const int err = __atomic_load_n(&p->err, __ATOMIC_ACQUIRE);

    if (GpPiecesTry(p)) turn = 0;
    else if (err) return;
    else GpWorkersPause(turn++);
  }
}

/* Returns the number of threads to use beside the calling one. */
static int GpDevGetWorkers(GpDev dev, int threads)
{
  const int wanted = (threads > 0 ? threads : GpFillersCores(GP_UPLOAD_THREADS)) - 1;
  int       count  = GpWorkersCount(dev->workers);

  if (wanted > count) {
    GpWorkersDestroy(&dev->workers);
    count = GpWorkersCreate(wanted, &dev->workers) ? 0 : wanted;
  }
  return wanted < count ? wanted : count;
}

/* --- the ring ------------------------------------------------------------------------------------------------------------------------ */

/* Checks the oldest copy that is still counted as under way. If it is complete, releases its buffers and returns 1. must: waits until it is complete. */
static int GpRingComplete(GpDev dev, int must, GpErr *err)
{
  GpDevRing *R    = &dev->ring;
  int        done = 1, e = (int)(R->completed % GP_RING_EVENTS);

  if (R->completed == R->copies || *err) return 0;
  *err = must ? dev->ops->event_wait(dev, R->event[e]) : dev->ops->event_poll(dev, R->event[e], &done);
  if (*err || !done) return 0;
  R->released = R->end[e];
  R->completed++;
  return 1;
}

static GpErr GpRingAwaitAll(GpDev dev)
{
  GpErr err = GP_SUCCESS;

  while (GpRingComplete(dev, 1, &err)) {}
  return err;
}

static void GpRingTouch(void *segment, int part, int64_t begin, int64_t end)
{
  (void)part;
  for (int64_t page = begin; page < end; page++) ((volatile char *)segment)[page * 4096] = 0;
}

/* Allocates a segment of buffers. The threads touch its pages, which are huge pages if possible, and then the segment is pinned in place. This takes less than half the time of an allocation of pinned memory. */
static GpErr GpRingAddSegment(GpDev dev)
{
  GpDevRing   *R = &dev->ring;
  const int    s = R->buffers / GP_RING_SEGMENT, pages = (int)(GP_RING_SEGMENT * GP_RING_BYTES / 4096);
  const size_t bytes = GP_RING_SEGMENT * GP_RING_BYTES;
  GpErr        err   = GpDevAllocHost(dev, bytes, &R->segment[s], NULL);

  if (!err) {
    GpDevLoop(dev, pages / 64, pages, GpRingTouch, R->segment[s]);
    err = GpDevPin(dev, R->segment[s], bytes, &R->in_place[s]);
    if (err || !R->in_place[s]) GpDevFreeHost(dev, &R->segment[s], 0);
  }
  if (err || !R->in_place[s]) err = dev->ops->alloc_pinned(dev, bytes, (void **)&R->segment[s]);
  if (!err) R->buffers += GP_RING_SEGMENT;
  else R->segment[s] = NULL;
  return err;
}

/* Enlarges the ring to one buffer for each piece, at most GP_RING_PIECES. Fails only if the ring has no buffer at all. */
static GpErr GpRingCreate(GpDev dev, int64_t pieces)
{
  GpDevRing *R    = &dev->ring;
  const int  most = pieces < GP_RING_PIECES ? ((int)pieces + GP_RING_SEGMENT - 1) / GP_RING_SEGMENT * GP_RING_SEGMENT : GP_RING_PIECES;
  GpErr      err  = GP_SUCCESS;

  if (R->buffers >= most) return GP_SUCCESS;
  err = GpRingAwaitAll(dev);
  for (int e = 0; !err && e < GP_RING_EVENTS; e++)
    if (!R->event[e]) err = dev->ops->event_create(dev, &R->event[e]);
  R->copies = R->completed = R->used = R->released = 0; /* a larger ring gives the buffers other numbers */
  while (!err && R->buffers < most) err = GpRingAddSegment(dev);
  return R->buffers ? GP_SUCCESS : err;
}

/* Records the event of a copy that uses the buffers before `end`. */
static GpErr GpRingRecord(GpDev dev, int64_t end)
{
  GpDevRing *R = &dev->ring;
  const int  e = (int)(R->copies % GP_RING_EVENTS);
  GpErr      err;

  err       = dev->ops->event_record(dev, R->event[e]);
  R->end[e] = end;
  if (!err) R->copies++;
  return err;
}

/* Numbers the pieces, and prepares the threads and the ring. Returns 0 if one thread takes less time, or if the system refuses threads or pinned memory. */
static int GpPiecesStart(GpPieces *p, int threads)
{
  for (int k = 0; k < p->parts; k++) p->first[k + 1] = p->first[k] + (int64_t)((p->part[k].bytes + GP_RING_BYTES - 1) / GP_RING_BYTES);
  p->pieces = p->first[p->parts];
  if (p->pieces < GP_UPLOAD_PIECES) return 0;
  p->workers = GpDevGetWorkers(p->dev, threads);
  if (p->workers < 1) return 0;
  p->direct = p->dev->kind == GP_DEV_HOST;
  if (p->direct) return 1;
  if (GpRingCreate(p->dev, p->pieces)) return 0;
  p->base = p->dev->ring.used;
  return 1;
}

/* Processes all pieces on the host backend, where threads read and write the arrays themselves. */
static GpErr GpPiecesRun(GpPieces *p)
{
  p->open = p->pieces;
  GpWorkersBegin(p->dev->workers, p->workers, GpPiecesWork, p);
  GpPiecesWork(p);
  GpWorkersEnd(p->dev->workers);
  return (GpErr)p->err;
}

/* Number of pieces from n on, at most `most` of the `left` pieces of their array, whose buffers are adjacent. */
static int GpPiecesAdjacent(const GpPieces *p, int64_t n, int64_t left, int64_t most)
{
  const int64_t segment = GP_RING_SEGMENT - GpPieceSlot(p, n) % GP_RING_SEGMENT;

  most = most < left ? most : left;
  return (int)(most < segment ? most : segment);
}

/* Waits for threads or for copies, or does some of the work of the threads. */
static void GpPiecesPause(GpPieces *p, int *turn)
{
  if (p->workers < GP_UPLOAD_HELPED && GpPiecesTry(p)) *turn = 0;
  else GpWorkersPause((*turn)++);
}

/* --- uploads ------------------------------------------------------------------------------------------------------------------------- */

/* Copies the buffers of `run` pieces to the device. */
static GpErr GpPiecesCopyIn(GpPieces *p, int64_t n, int run)
{
  const GpPlace place = GpPieceGetPlace(p, n), last = GpPieceGetPlace(p, n + run - 1);
  GpErr         err = p->dev->ops->copy_in(p->dev, place.device, GpPieceBuffer(p, n), (size_t)(run - 1) * GP_RING_BYTES + last.bytes);

  return err ? err : GpRingRecord(p->dev, p->base + n + run);
}

/* Copies filled buffers to the device. */
static GpErr GpPiecesSend(GpPieces *p)
{
  const GpDev dev  = p->dev;
  GpDevRing  *R    = &dev->ring;
  GpErr       err  = GP_SUCCESS;
  int64_t     n    = 0;
  int         turn = 0;

  p->open = (R->completed == R->copies ? R->used : R->released) + R->buffers - p->base;
  GpWorkersBegin(dev->workers, p->workers, GpPiecesWork, p);
  while (!err && n < p->pieces) {
    const int most = GpPiecesAdjacent(p, n, GpPieceGetPlace(p, n).left, GP_UPLOAD_TOGETHER);
    int       run  = 0;

    if (GpRingComplete(dev, R->copies - R->completed == GP_RING_EVENTS, &err)) __atomic_store_n(&p->open, R->released + R->buffers - p->base, __ATOMIC_RELEASE);
    while (run < most && GpPieceIsDone(p, n + run)) run++;
    if (!err) err = (GpErr)__atomic_load_n(&p->err, __ATOMIC_ACQUIRE);
    if (err) break;
    if (run == most || (run && R->copies - R->completed < GP_UPLOAD_UNDERWAY)) {
      turn = 0;
      err  = GpPiecesCopyIn(p, n, run);
      n += run;
    } else GpPiecesPause(p, &turn);
  }
  if (err) __atomic_store_n(&p->err, (int)err, __ATOMIC_RELEASE);
  GpWorkersEnd(dev->workers);
  R->used = p->base + n;
  return err;
}

GpErr GpDevUploadParts(GpDev dev, int threads, int n, const GpDevPart part[])
{
  GpPieces p   = {.dev = dev, .part = part, .parts = n};
  GpErr    err = GP_SUCCESS;

  if (GpPiecesStart(&p, threads)) return p.direct ? GpPiecesRun(&p) : GpPiecesSend(&p);
  for (int k = 0; !err && k < n; k++) err = GpDevUploadFilled(dev, part[k].device, part[k].bytes, part[k].fill, part[k].context);
  return err;
}

GpErr GpDevUploadByThreads(GpDev dev, int threads, void *device, size_t bytes, GpDevFill fill, void *context)
{
  const GpDevPart part = {device, bytes, fill ? fill : GpPieceCopy, context};

  return GpDevUploadParts(dev, threads, 1, &part);
}

/* --- downloads ----------------------------------------------------------------------------------------------------------------------- */

/* Number of pieces from n on that are copied from the device by one call now: their buffers are adjacent, and the threads have emptied them. */
static int GpPiecesFree(const GpPieces *p, int64_t n)
{
  const int     most     = n < p->pieces ? GpPiecesAdjacent(p, n, p->pieces - n, GP_UPLOAD_TOGETHER / 2) : 0;
  const int64_t underway = p->dev->ring.copies - p->dev->ring.completed;
  int           run      = 0;

  while (run < most && (n + run < p->dev->ring.buffers || GpPieceIsDone(p, n + run - p->dev->ring.buffers))) run++;
  return (run == most && underway < GP_RING_EVENTS) || underway < GP_UPLOAD_UNDERWAY ? run : 0;
}

/* Copies from the device to buffers, which the threads empty. */
static GpErr GpPiecesReceive(GpPieces *p)
{
  const GpDev dev  = p->dev;
  GpDevRing  *R    = &dev->ring;
  GpErr       err  = GpRingAwaitAll(dev);
  int64_t     n    = 0;
  int         turn = 0;

  GpWorkersBegin(dev->workers, p->workers, GpPiecesWork, p);
  while (!err && p->open < p->pieces) {
    const int run = GpPiecesFree(p, n);

    if (run) {
      turn = 0;
      err  = dev->ops->copy_out(dev, GpPieceBuffer(p, n), GpPieceGetPlace(p, n).device, (size_t)(run - 1) * GP_RING_BYTES + GpPieceGetPlace(p, n + run - 1).bytes);
      n += run;
      if (!err) err = GpRingRecord(dev, p->base + n);
    }
    if (GpRingComplete(dev, 0, &err)) __atomic_store_n(&p->open, R->released - p->base, __ATOMIC_RELEASE);
    else if (!run) GpPiecesPause(p, &turn);
    if (!err) err = (GpErr)__atomic_load_n(&p->err, __ATOMIC_ACQUIRE);
  }
  if (err) __atomic_store_n(&p->err, (int)err, __ATOMIC_RELEASE);
  else GpPiecesWork(p);
  GpWorkersEnd(dev->workers);
  R->used = p->base + n;
  return err ? err : (GpErr)p->err;
}

GpErr GpDevDownloadDrained(GpDev dev, int threads, const void *device, size_t bytes, GpDevDrain drain, void *context)
{
  const GpDevPart part = {(void *)(uintptr_t)device, bytes, NULL, NULL};
  GpPieces        p    = {.dev = dev, .part = &part, .parts = 1, .drain = drain, .context = context};
  GpErr           err;

  if (GpPiecesStart(&p, threads)) return p.direct ? GpPiecesRun(&p) : GpPiecesReceive(&p);
  if (dev->kind == GP_DEV_HOST) return bytes ? drain(context, 0, bytes, device) : GP_SUCCESS;
  for (size_t at = 0; at < bytes; at += GP_DEV_STAGE_BYTES) { /* one thread, one buffer */
    const size_t piece = bytes - at < GP_DEV_STAGE_BYTES ? bytes - at : GP_DEV_STAGE_BYTES;

    err = GpDevStageGet(dev, 0);
    if (!err) err = dev->ops->copy_out(dev, dev->stage[0], (const char *)device + at, piece);
    if (!err) err = dev->ops->event_record(dev, dev->staged[0]);
    if (!err) err = dev->ops->event_wait(dev, dev->staged[0]);
    if (!err) err = drain(context, at, piece, dev->stage[0]);
    if (err) return err;
  }
  return GP_SUCCESS;
}

void GpDevAdviseHuge(void *host, size_t bytes)
{
  const uintptr_t huge = (uintptr_t)2 << 20, from = ((uintptr_t)host + huge - 1) / huge * huge, to = ((uintptr_t)host + bytes) / huge * huge;

  if (from < to) (void)madvise((void *)from, to - from, MADV_HUGEPAGE);
}

GpErr GpDevDownloadByThreads(GpDev dev, int threads, void *host, const void *device, size_t bytes)
{
  if (bytes < GP_UPLOAD_PIECES * GP_RING_BYTES) return GpDevDownload(dev, host, device, bytes);
  GpDevAdviseHuge(host, bytes);
  return GpDevDownloadDrained(dev, threads, device, bytes, GpPieceStore, host);
}

GpErr GpDevDrainWiden(void *wide, size_t offset, size_t bytes, const void *source)
{
  int64_t       *to   = (int64_t *)wide + offset / sizeof(int32_t);
  const int32_t *from = (const int32_t *)source;

  for (size_t k = 0; k < bytes / sizeof(int32_t); k++) to[k] = from[k];
  return GP_SUCCESS;
}

/* --- loops --------------------------------------------------------------------------------------------------------------------------- */

typedef struct {
  GpDevLoopBody body;
  void         *context;
  int           parts, next;
  int64_t       n;
} GpLoop;

static void GpLoopWork(void *context)
{
  GpLoop *l = (GpLoop *)context;

  for (int part; (part = __atomic_fetch_add(&l->next, 1, __ATOMIC_RELAXED)) < l->parts;) l->body(l->context, part, l->n * part / l->parts, l->n * (part + 1) / l->parts);
}

int GpDevLoopParts(int64_t n, int64_t grain)
{
  const int64_t threads = GpFillersCores(GP_UPLOAD_THREADS), most = threads > 1 ? 4 * threads : 1, parts = n / grain;

  return parts < 1 ? 1 : parts < most ? (int)parts : (int)most;
}

void GpDevLoop(GpDev dev, int parts, int64_t n, GpDevLoopBody body, void *context)
{
  GpLoop    l       = {.body = body, .context = context, .parts = parts, .n = n};
  const int workers = parts > 1 ? GpDevGetWorkers(dev, 0) : 0, most = workers < parts - 1 ? workers : parts - 1;

  if (most > 0) GpWorkersBegin(dev->workers, most, GpLoopWork, &l);
  GpLoopWork(&l);
  if (most > 0) GpWorkersEnd(dev->workers);
}
