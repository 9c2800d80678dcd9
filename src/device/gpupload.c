/* Copies of large arrays in pageable memory by several threads (gpupload.h). Piece k is job k of the threads, and uses the pinned buffer k % stages. */
#include "device/gpupload.h"
#include "device/gpdeviceimpl.h"
#include "device/gpfillers.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#define GP_UPLOAD_SPARE   3  /* number of pinned buffers that are being copied to the device while the threads fill the others */
#define GP_UPLOAD_PIECES  4  /* number of pieces below which starting threads takes longer than it saves */
#define GP_UPLOAD_THREADS 16 /* upper bound on the default number of threads. A GPU receives 55 GB/s, and a thread converts 2 to 3 GB/s */

/* The pieces of an array. */
typedef struct {
  GpDev     dev;
  GpFillers fillers;
  int64_t   pieces;
  size_t    bytes;  /* size of the array */
  int       stages; /* number of pinned staging buffers */
  GpDevFill fill;
  void     *context;
} GpPieces;

static size_t GpPieceBytes(const GpPieces *p, int64_t n)
{
  const size_t left = p->bytes - (size_t)n * GP_DEV_STAGE_BYTES;

  return left < GP_DEV_STAGE_BYTES ? left : GP_DEV_STAGE_BYTES;
}

static GpErr GpPieceCopy(void *source, size_t offset, size_t bytes, void *destination)
{
  memcpy(destination, (const char *)source + offset, bytes);
  return GP_SUCCESS;
}

static GpErr GpPieceFill(void *context, int64_t n, void *destination, char *why, size_t whylen)
{
  const GpPieces *p = (const GpPieces *)context;

  (void)why;
  (void)whylen;
  return p->fill(p->context, (size_t)n * GP_DEV_STAGE_BYTES, GpPieceBytes(p, n), destination);
}

/* Starts threads. Returns 0, and leaves p->fillers NULL, if one thread takes less time or if the system refuses threads or pinned memory. */
static int GpPiecesStart(GpPieces *p, int threads)
{
  const int64_t pieces = (int64_t)((p->bytes + GP_DEV_STAGE_BYTES - 1) / GP_DEV_STAGE_BYTES);
  const int     wanted = threads > 0 ? threads : GpFillersCores(GP_UPLOAD_THREADS), count = wanted < pieces ? wanted : (int)pieces;
  const int     most = count + GP_UPLOAD_SPARE < GP_DEV_STAGES_MOST ? count + GP_UPLOAD_SPARE : GP_DEV_STAGES_MOST;

  p->pieces = pieces;
  if (count < 2 || p->pieces < GP_UPLOAD_PIECES) return 0;
  if (p->dev->kind == GP_DEV_HOST) p->stages = most;
  else
    while (p->stages < most && !GpDevStageGet(p->dev, p->stages)) p->stages++;
  return p->stages > GP_UPLOAD_SPARE && !GpFillersCreate(count, p->stages, &p->fillers);
}

/* Waits until piece n is filled. */
static GpErr GpPieceAwait(const GpPieces *p, int64_t n)
{
  const char *why;
  GpErr       err;

  (void)GpFillersWait(p->fillers, n, -1);
  err = GpFillersResult(p->fillers, n, &why);
  return err ? GpDevFail(p->dev, err, "filling a pinned buffer: %s", why) : GP_SUCCESS;
}

/* Fills all pieces in the order of their numbers. to: their destination in memory that the host can write; NULL: they are copied to `device`. */
static GpErr GpPiecesFill(GpPieces *p, char *to, char *device)
{
  GpErr   err    = GP_SUCCESS;
  int64_t posted = 0;

  for (int64_t n = 0; !err && n < p->pieces; n++) {
    for (; !err && posted < p->pieces && posted < n + p->stages - 1; posted++) {
      const int i   = (int)(posted % p->stages);
      GpFillJob job = {.fill = GpPieceFill, .context = p, .item = posted};

      if (!to) err = GpDevStageGet(p->dev, i);
      job.destination = to ? to + posted * GP_DEV_STAGE_BYTES : (char *)p->dev->stage[i];
      if (!err) (void)GpFillersPost(p->fillers, &job);
    }
    if (!err) err = GpPieceAwait(p, n);
    if (err || to) continue;
    err = p->dev->ops->copy_in(p->dev, device + n * GP_DEV_STAGE_BYTES, p->dev->stage[n % p->stages], GpPieceBytes(p, n));
    if (!err) err = p->dev->ops->event_record(p->dev, p->dev->staged[n % p->stages]);
  }
  GpFillersCancel(p->fillers);
  return err;
}

GpErr GpDevUploadByThreads(GpDev dev, int threads, void *device, size_t bytes, GpDevFill fill, void *context)
{
  GpPieces p = {.dev = dev, .bytes = bytes, .fill = fill ? fill : GpPieceCopy, .context = context};
  GpErr    err;

  if (!GpPiecesStart(&p, threads)) return GpDevUploadFilled(dev, device, bytes, p.fill, context);
  err = GpPiecesFill(&p, dev->kind == GP_DEV_HOST ? (char *)device : NULL, (char *)device);
  GpFillersDestroy(&p.fillers);
  return err;
}

/* Copies all pieces from the device to pinned buffers. Threads copy them from there. */
static GpErr GpPiecesFetch(GpPieces *p, char *host, const char *device)
{
  const GpDev dev = p->dev;
  const int   lag = GP_UPLOAD_SPARE - 1; /* number of copies from the device that are under way */
  GpErr       err = GP_SUCCESS;

  for (int64_t n = 0; !err && n < p->pieces + lag; n++) {
    const int64_t arrived = n - lag;

    if (n < p->pieces) {
      if (n >= p->stages) err = GpPieceAwait(p, n - p->stages);
      if (!err) err = GpDevStageGet(dev, (int)(n % p->stages));
      if (!err) err = dev->ops->copy_out(dev, dev->stage[n % p->stages], device + n * GP_DEV_STAGE_BYTES, GpPieceBytes(p, n));
      if (!err) err = dev->ops->event_record(dev, dev->staged[n % p->stages]);
    }
    if (arrived >= 0 && !err) {
      const GpFillJob job = {.source = dev->stage[arrived % p->stages], .bytes = GpPieceBytes(p, arrived), .destination = host + arrived * GP_DEV_STAGE_BYTES};

      err = dev->ops->event_wait(dev, dev->staged[arrived % p->stages]);
      if (!err) (void)GpFillersPost(p->fillers, &job);
    }
  }
  for (int64_t n = p->pieces > p->stages ? p->pieces - p->stages : 0; !err && n < p->pieces; n++) err = GpPieceAwait(p, n);
  GpFillersCancel(p->fillers);
  return err;
}

/* Asks for huge pages in an array that is about to be written. New memory then takes fewer page faults. If the system has none, madvise() fails, and ordinary pages are used. */
static void GpPiecesAdvise(void *host, size_t bytes)
{
  const uintptr_t huge = (uintptr_t)2 << 20, from = ((uintptr_t)host + huge - 1) / huge * huge, to = ((uintptr_t)host + bytes) / huge * huge;

  if (from < to) (void)madvise((void *)from, to - from, MADV_HUGEPAGE);
}

GpErr GpDevDownloadByThreads(GpDev dev, int threads, void *host, const void *device, size_t bytes)
{
  GpPieces p = {.dev = dev, .bytes = bytes, .fill = GpPieceCopy, .context = (void *)(uintptr_t)device};
  GpErr    err;

  if (!GpPiecesStart(&p, threads)) return GpDevDownload(dev, host, device, bytes);
  GpPiecesAdvise(host, bytes);
  err = dev->kind == GP_DEV_HOST ? GpPiecesFill(&p, (char *)host, NULL) : GpPiecesFetch(&p, (char *)host, (const char *)device);
  GpFillersDestroy(&p.fillers);
  return err;
}
