/* Functions of the device object that both backends share: opening, copies through pinned buffers, error messages. */
#include "device/gpdeviceimpl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const GpDevOps *GpDevTable(GpDevKind kind)
{
  if (kind == GP_DEV_HOST) return &GpDevOpsHost;
#if GP_HAVE_CUDA
  if (kind == GP_DEV_CUDA) return &GpDevOpsCUDA;
#endif
  return NULL;
}

static void GpDevCopyMessage(char *why, size_t whylen, const char *words)
{
  if (why && whylen) snprintf(why, whylen, "%s", words);
}

GpErr GpDevOpen(GpDevKind kind, int ordinal, GpDev *out, char *why, size_t whylen)
{
  const GpDevOps *ops = GpDevTable(kind);
  GpErr           err;
  GpDev           dev;

  *out = NULL;
  if (!ops) {
    GpDevCopyMessage(why, whylen, "this libgpucsr was built without CUDA; rebuild it with CUDA_DIR set to a CUDA toolkit");
    return GP_ERR_NOT_BUILT;
  }
  dev = (GpDev)calloc(1, sizeof(*dev));
  if (!dev) return GP_ERR_MEMORY;
  dev->ops          = ops;
  dev->kind         = kind;
  dev->early_stream = dev;
  err               = ops->open(dev, ordinal);
  if (err) {
    GpDevCopyMessage(why, whylen, dev->error);
    free(dev);
    return err;
  }
  dev->stream = dev->own[GP_DEV_STREAM_OWN];
  *out        = dev;
  return GP_SUCCESS;
}

void GpDevClose(GpDev *pdev)
{
  GpDev dev = *pdev;

  if (!dev) return;
  GpWorkersDestroy(&dev->workers);
  for (int i = 0; i < GP_DEV_STAGES; i++) {
    if (dev->staged[i]) dev->ops->event_destroy(dev, dev->staged[i]);
    if (dev->stage[i]) dev->ops->release_pinned(dev, dev->stage[i]);
  }
  for (int e = 0; e < GP_RING_EVENTS; e++)
    if (dev->ring.event[e]) dev->ops->event_destroy(dev, dev->ring.event[e]);
  for (int s = 0; s < GP_RING_PIECES / GP_RING_SEGMENT; s++) {
    if (dev->ring.in_place[s]) GpDevFreeHost(dev, &dev->ring.segment[s], 1);
    if (dev->ring.segment[s]) dev->ops->release_pinned(dev, dev->ring.segment[s]);
  }
  if (dev->fetched) dev->ops->release_pinned(dev, dev->fetched);
  if (dev->clean) dev->ops->release(dev, dev->clean);
  dev->ops->close(dev);
  free(dev);
  *pdev = NULL;
}

GpErr GpDevStageGet(GpDev dev, int i)
{
  if (dev->stage[i]) return dev->ops->event_wait(dev, dev->staged[i]);
  GpErr err = dev->staged[i] ? GP_SUCCESS : dev->ops->event_create(dev, &dev->staged[i]);
  if (!err) err = dev->ops->alloc_pinned(dev, GP_DEV_STAGE_BYTES, &dev->stage[i]);
  return err;
}

GpErr GpDevUploadFilled(GpDev dev, void *device, size_t bytes, GpDevFill fill, void *context)
{
  if (dev->kind == GP_DEV_HOST) return bytes ? fill(context, 0, bytes, device) : GP_SUCCESS;
  for (size_t done = 0, n = 0; done < bytes; n++) {
    size_t piece = bytes - done < GP_DEV_STAGE_BYTES ? bytes - done : GP_DEV_STAGE_BYTES;
    int    i     = (int)(n % GP_DEV_STAGES);
    GpErr  err   = GpDevStageGet(dev, i);

    if (!err) err = fill(context, done, piece, dev->stage[i]);
    if (!err) err = dev->ops->copy_in(dev, (char *)device + done, dev->stage[i], piece);
    if (!err) err = dev->ops->event_record(dev, dev->staged[i]);
    if (err) return err;
    done += piece;
  }
  return GP_SUCCESS;
}

static GpErr GpDevFillCopy(void *source, size_t offset, size_t bytes, void *destination)
{
  memcpy(destination, (const char *)source + offset, bytes);
  return GP_SUCCESS;
}

GpErr GpDevUpload(GpDev dev, void *device, const void *host, size_t bytes)
{
  return GpDevUploadFilled(dev, device, bytes, GpDevFillCopy, (void *)(uintptr_t)host);
}

GpErr GpDevFetchBegin(GpDev dev, const void *device, size_t bytes)
{
  GpErr err = GP_SUCCESS;

  if (!dev->fetched) err = dev->ops->alloc_pinned(dev, GP_DEV_FETCH + sizeof(uint32_t), &dev->fetched);
  if (err) return err;
  __atomic_store_n((uint32_t *)((char *)dev->fetched + bytes), 0u, __ATOMIC_RELEASE);
  err           = dev->ops->deliver(dev, dev->fetched, device, bytes);
  dev->fetching = !err;
  return err;
}

/* Polls the flag behind the data, because that takes less time than a stream synchronisation. After GP_DEV_POLLS polls, or after a failure, the
   stream is synchronised instead. The flag is needed, since the data may hold any value. Numbers of GpWatchWrite() need none: a reserved NaN marks
   those that are not written yet. */
GpErr GpDevFetchEnd(GpDev dev, void *host, size_t bytes)
{
  const uint32_t *mark = (const uint32_t *)((const char *)dev->fetched + bytes);
  GpErr           err  = GP_SUCCESS;
  int             turn = 0;

  dev->fetching = 0;
  while (turn < GP_DEV_POLLS && !__atomic_load_n(mark, __ATOMIC_ACQUIRE)) turn++;
  if (turn == GP_DEV_POLLS) err = dev->ops->sync(dev);
  if (!err) memcpy(host, dev->fetched, bytes);
  return err;
}

GpErr GpDevDownload(GpDev dev, void *host, const void *device, size_t bytes)
{
  size_t pieces = (bytes + GP_DEV_STAGE_BYTES - 1) / GP_DEV_STAGE_BYTES;

  if (dev->kind == GP_DEV_HOST) {
    if (bytes) memcpy(host, device, bytes);
    return GP_SUCCESS;
  }
  if (bytes && bytes <= GP_DEV_FETCH && (bytes | (uintptr_t)device) % sizeof(uint32_t) == 0 && !dev->fetching) {
    GpErr err = GpDevFetchBegin(dev, device, bytes);

    return err ? err : GpDevFetchEnd(dev, host, bytes);
  }
  for (size_t n = 0; n < pieces + 1; n++) { /* piece n is copied from the device while the host copies piece n-1 out of its buffer */
    GpErr err = GP_SUCCESS;

    if (n < pieces) {
      size_t at = n * GP_DEV_STAGE_BYTES, size = bytes - at < GP_DEV_STAGE_BYTES ? bytes - at : GP_DEV_STAGE_BYTES;
      int    i = (int)(n % GP_DEV_STAGES);

      err = GpDevStageGet(dev, i);
      if (!err) err = dev->ops->copy_out(dev, dev->stage[i], (const char *)device + at, size);
      if (!err) err = dev->ops->event_record(dev, dev->staged[i]);
    }
    if (n > 0 && !err) {
      size_t at = (n - 1) * GP_DEV_STAGE_BYTES, size = bytes - at < GP_DEV_STAGE_BYTES ? bytes - at : GP_DEV_STAGE_BYTES;
      int    i = (int)((n - 1) % GP_DEV_STAGES);

      err = dev->ops->event_wait(dev, dev->staged[i]);
      if (!err) memcpy((char *)host + at, dev->stage[i], size);
    }
    if (err) return err;
  }
  return GP_SUCCESS;
}
