/* The properties of a device object, its error message, and the operations that a backend provides without further work. */
#include "device/gpdeviceimpl.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

GpErr GpDevFail(GpDev dev, GpErr code, const char *format, ...)
{
  va_list args;

  va_start(args, format);
  vsnprintf(dev->error, sizeof(dev->error), format, args);
  va_end(args);
  return code;
}

#define GET(Type, Name, value) \
  Type Name(GpDev dev) \
  { \
    return value; \
  }
GET(GpDevKind, GpDevKindOf, dev->kind)
GET(int, GpDevComputeUnits, dev->compute_units)
GET(void *, GpDevStream, dev->stream)
GET(const char *, GpDevError, dev->error)
GET(const char *, GpDevName, dev->name)
GET(int, GpDevOrdinal, dev->ordinal)
GET(const unsigned char *, GpDevUUID, dev->uuid)
GET(int, GpDevClusterBlocks, dev->cluster_blocks)
GET(size_t, GpDevSharedBytes, dev->shared_bytes)
GET(double, GpDevCacheBytes, dev->cache)
GET(int, GpDevHasMemory, dev->ops->holds != NULL)
GET(int, GpDevHasGraphs, dev->ops->graph_begin != NULL)
GET(double, GpDevBytesIn, dev->bytes_in)
GET(double, GpDevBytesOut, dev->bytes_out)
GET(double, GpDevBytesHeld, dev->bytes_held)
GET(double, GpDevMemoryLimit, dev->limit)

void GpDevCountBytes(GpDev dev, int in, double bytes)
{
  *(in ? &dev->bytes_in : &dev->bytes_out) += bytes;
}

#define CALL(Name, operation, parameters, arguments) \
  GpErr Name parameters \
  { \
    return dev->ops->operation arguments; \
  }
CALL(GpDevCopyIn, copy_in, (GpDev dev, void *device, const void *host, size_t bytes), (dev, device, host, bytes))
CALL(GpDevCopyOut, copy_out, (GpDev dev, void *host, const void *device, size_t bytes), (dev, host, device, bytes))
CALL(GpDevCopyWithin, copy_within, (GpDev dev, void *to, const void *from, size_t bytes), (dev, to, from, bytes))
CALL(GpDevZero, zero, (GpDev dev, void *device, size_t bytes), (dev, device, bytes))
CALL(GpDevSync, sync, (GpDev dev), (dev))
CALL(GpDevPoll, poll, (GpDev dev, int *idle), (dev, idle))
CALL(GpDevHolds, holds, (GpDev dev, const void *pointer, int *holds), (dev, pointer, holds))
CALL(GpDevAllocPinned, alloc_pinned, (GpDev dev, size_t bytes, void *ptr), (dev, bytes, (void **)ptr))
CALL(GpDevEventCreate, event_create, (GpDev dev, GpDevEvent *event), (dev, event))
CALL(GpDevEventRecord, event_record, (GpDev dev, GpDevEvent event), (dev, event))
CALL(GpDevEventWait, event_wait, (GpDev dev, GpDevEvent event), (dev, event))
CALL(GpDevEventPoll, event_poll, (GpDev dev, GpDevEvent event, int *done), (dev, event, done))
CALL(GpDevEventOrder, event_order, (GpDev dev, GpDevEvent event), (dev, event))
CALL(GpDevEventSeconds, event_seconds, (GpDev dev, GpDevEvent begin, GpDevEvent end, double *seconds), (dev, begin, end, seconds))

void GpDevFreePinned(GpDev dev, void *pinned)
{
  dev->ops->release_pinned(dev, pinned);
}

GpErr GpDevPin(GpDev dev, void *memory, size_t bytes, int *pinned)
{
  const GpErr err = bytes ? dev->ops->pin(dev, memory, bytes) : GP_ERR_MEMORY;

  *pinned = !err;
  return err == GP_ERR_MEMORY ? GP_SUCCESS : err;
}

void GpDevUnpin(GpDev dev, void *memory)
{
  dev->ops->unpin(dev, memory);
}

/* Huge pages take less time to pin. If the system has none, madvise() fails, and ordinary pages are used. If pinned is NULL, the memory is not pinned, and the caller may use GpDevPin(). */
GpErr GpDevAllocHost(GpDev dev, size_t bytes, void *ptr, int *pinned)
{
  const size_t huge = (size_t)2 << 20;
  GpErr        err;

  if (pinned) *pinned = 0;
  *(void **)ptr = NULL;
  if (!bytes) return GP_SUCCESS;
  if (posix_memalign((void **)ptr, bytes >= huge ? huge : 4096, bytes)) {
    *(void **)ptr = NULL;
    return GpDevFail(dev, GP_ERR_MEMORY, "out of host memory: %zu bytes asked for", bytes);
  }
  if (bytes >= huge) (void)madvise(*(void **)ptr, bytes, MADV_HUGEPAGE);
  if (!pinned) return GP_SUCCESS;
  err = GpDevPin(dev, *(void **)ptr, bytes, pinned);
  if (err) GpDevFreeHost(dev, ptr, 0);
  return err;
}

void GpDevFreeHost(GpDev dev, void *ptr, int pinned)
{
  if (pinned) GpDevUnpin(dev, *(void **)ptr);
  free(*(void **)ptr);
  *(void **)ptr = NULL;
}

void GpDevEventDestroy(GpDev dev, GpDevEvent event)
{
  dev->ops->event_destroy(dev, event);
}
