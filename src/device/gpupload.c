/* Copies of large arrays in pageable memory, and loops, by several threads (gpupload.h).

   An array is divided into pieces. The threads take pieces in ascending order. Of an upload, each thread fills a pinned buffer of the ring, and the calling thread copies filled buffers to the device in
   ascending order: adjacent ones by one call, because a call takes as long as the transfer of 150 kB. Of a download, the calling thread copies to the buffers, and the threads empty them. Threads wait for each other
   by polling, because a piece takes less time than to wake a thread. */
#include "device/gpupload.h"
#include "device/gpdeviceimpl.h"
#include "device/gpfillers.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#define GP_UPLOAD_PIECES   4  /* number of pieces below which waking threads takes longer than it saves */
#define GP_UPLOAD_TOGETHER 8  /* number of pieces that are copied by one call */
#define GP_UPLOAD_THREADS  16 /* upper bound on the default number of threads. A GPU receives 55 GB/s, and a thread converts 3 to 6 GB/s */
#define GP_UPLOAD_HELPED   4  /* number of threads below which the calling thread takes pieces too while it waits; otherwise it would delay copies */

/* The pieces of an array. Piece n uses the buffer base + n of the ring. */
typedef struct {
  GpDev      dev;
  int        workers; /* number of threads beside the calling one */
  int64_t    pieces, base;
  size_t     bytes; /* size of the array */
  char      *host;  /* memory that the threads read or write instead of the ring, on the host backend; else NULL */
  GpDevFill  fill;  /* NULL: this is a download */
  GpDevDrain drain;
  void      *context;
  int64_t    next;                 /* number of the piece that the next thread takes */
  int64_t    open;                 /* pieces below this one have a free buffer, or have arrived from the device */
  int        err;                  /* a GpErr: the error of a piece */
  int64_t    done[GP_RING_PIECES]; /* for each buffer: 1 plus the number of the last piece that a thread has processed in it */
} GpPieces;

static size_t GpPieceBytes(const GpPieces *p, int64_t n)
{
  const size_t left = p->bytes - (size_t)n * GP_RING_BYTES;

  return left < GP_RING_BYTES ? left : GP_RING_BYTES;
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

static GpErr GpPieceCopy(void *source, size_t offset, size_t bytes, void *destination)
{
  memcpy(destination, (const char *)source + offset, bytes);
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
  const size_t at = (size_t)n * GP_RING_BYTES, bytes = GpPieceBytes(p, n);
  char        *buffer = p->host ? p->host + at : GpPieceBuffer(p, n);
  const GpErr  err    = p->fill ? p->fill(p->context, at, bytes, buffer) : p->drain(p->context, at, bytes, buffer);

  if (err) __atomic_store_n(&p->err, (int)err, __ATOMIC_RELEASE);
  if (!p->host) __atomic_store_n(&p->done[GpPieceSlot(p, n)], n + 1, __ATOMIC_RELEASE);
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

/* Learns whether the oldest copy that is not known to be complete is complete. must: waits for it. Returns 1 if there is such a copy and it is complete. */
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

/* Allocates buffers for this number of pieces, if there are fewer. Fails if the system refuses all pinned memory. */
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
  for (int s = R->buffers / GP_RING_SEGMENT; !err && R->buffers < most; s++) {
    err = dev->ops->alloc_pinned(dev, GP_RING_SEGMENT * GP_RING_BYTES, (void **)&R->segment[s]);
    if (!err) R->buffers += GP_RING_SEGMENT;
  }
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

/* Prepares the threads and the ring. Returns 0 if one thread takes less time, or if the system refuses threads or pinned memory. */
static int GpPiecesStart(GpPieces *p, int threads)
{
  p->pieces = (int64_t)((p->bytes + GP_RING_BYTES - 1) / GP_RING_BYTES);
  if (p->pieces < GP_UPLOAD_PIECES) return 0;
  p->workers = GpDevGetWorkers(p->dev, threads);
  if (p->workers < 1) return 0;
  if (p->dev->kind == GP_DEV_HOST) return 1;
  if (GpRingCreate(p->dev, p->pieces)) return 0;
  p->base = p->dev->ring.used;
  p->host = NULL;
  return 1;
}

/* All threads process all pieces in host memory. */
static GpErr GpPiecesRun(GpPieces *p)
{
  p->open = p->pieces;
  GpWorkersBegin(p->dev->workers, p->workers, GpPiecesWork, p);
  GpPiecesWork(p);
  GpWorkersEnd(p->dev->workers);
  return (GpErr)p->err;
}

/* Number of pieces from n on, at most `most`, whose buffers are adjacent. */
static int GpPiecesAdjacent(const GpPieces *p, int64_t n, int64_t most)
{
  const int64_t left = p->pieces - n, segment = GP_RING_SEGMENT - GpPieceSlot(p, n) % GP_RING_SEGMENT;

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

/* Copies filled buffers to the device. */
static GpErr GpPiecesSend(GpPieces *p, char *device)
{
  const GpDev dev  = p->dev;
  GpDevRing  *R    = &dev->ring;
  GpErr       err  = GP_SUCCESS;
  int64_t     n    = 0;
  int         turn = 0;

  p->open = (R->completed == R->copies ? R->used : R->released) + R->buffers - p->base;
  GpWorkersBegin(dev->workers, p->workers, GpPiecesWork, p);
  while (!err && n < p->pieces) {
    const int most = GpPiecesAdjacent(p, n, GP_UPLOAD_TOGETHER);
    int       run  = 0;

    if (GpRingComplete(dev, R->copies - R->completed == GP_RING_EVENTS, &err)) __atomic_store_n(&p->open, R->released + R->buffers - p->base, __ATOMIC_RELEASE);
    while (run < most && GpPieceIsDone(p, n + run)) run++;
    if (!err) err = (GpErr)__atomic_load_n(&p->err, __ATOMIC_ACQUIRE);
    if (err) break;
    if (!run) {
      GpPiecesPause(p, &turn);
      continue;
    }
    turn = 0;
    err  = dev->ops->copy_in(dev, device + (size_t)n * GP_RING_BYTES, GpPieceBuffer(p, n), (size_t)(run - 1) * GP_RING_BYTES + GpPieceBytes(p, n + run - 1));
    n += run;
    if (!err) err = GpRingRecord(dev, p->base + n);
  }
  if (err) __atomic_store_n(&p->err, (int)err, __ATOMIC_RELEASE);
  GpWorkersEnd(dev->workers);
  R->used = p->base + n;
  return err;
}

GpErr GpDevUploadByThreads(GpDev dev, int threads, void *device, size_t bytes, GpDevFill fill, void *context)
{
  GpPieces p = {.dev = dev, .bytes = bytes, .host = (char *)device, .fill = fill ? fill : GpPieceCopy, .context = context};

  if (!GpPiecesStart(&p, threads)) return GpDevUploadFilled(dev, device, bytes, p.fill, context);
  return p.host ? GpPiecesRun(&p) : GpPiecesSend(&p, (char *)device);
}

/* --- downloads ----------------------------------------------------------------------------------------------------------------------- */

/* Number of pieces from n on that can be copied from the device by one call: their buffers are adjacent, and the threads have emptied them. */
static int GpPiecesFree(const GpPieces *p, int64_t n)
{
  const int most = n < p->pieces ? GpPiecesAdjacent(p, n, GP_UPLOAD_TOGETHER / 2) : 0;
  int       run  = 0;

  while (run < most && (n + run < p->dev->ring.buffers || GpPieceIsDone(p, n + run - p->dev->ring.buffers))) run++;
  return run;
}

/* Copies from the device to buffers, which the threads empty. */
static GpErr GpPiecesReceive(GpPieces *p, const char *device)
{
  const GpDev dev  = p->dev;
  GpDevRing  *R    = &dev->ring;
  GpErr       err  = GpRingAwaitAll(dev);
  int64_t     n    = 0;
  int         turn = 0;

  GpWorkersBegin(dev->workers, p->workers, GpPiecesWork, p);
  while (!err && p->open < p->pieces) {
    const int run = R->copies - R->completed < GP_RING_EVENTS ? GpPiecesFree(p, n) : 0;

    if (run) {
      turn = 0;
      err  = dev->ops->copy_out(dev, GpPieceBuffer(p, n), device + (size_t)n * GP_RING_BYTES, (size_t)(run - 1) * GP_RING_BYTES + GpPieceBytes(p, n + run - 1));
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
  GpPieces p = {.dev = dev, .bytes = bytes, .host = (char *)(uintptr_t)device, .drain = drain, .context = context};
  GpErr    err;

  if (GpPiecesStart(&p, threads)) return p.host ? GpPiecesRun(&p) : GpPiecesReceive(&p, (const char *)device);
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
