/* The host backend: the table of operations on ordinary memory. All types run and are tested with it where there is no GPU. */
#include "device/gpdeviceimpl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <time.h>

static GpErr GpDevOpen_Host(GpDev dev, int ordinal)
{
  snprintf(dev->name, sizeof(dev->name), "host");
  dev->ordinal       = ordinal;
  dev->compute_units = 1;
  dev->shared_bytes  = 227 * 1024;
  return GP_SUCCESS;
}

static void GpDevClose_Host(GpDev dev)
{
  (void)dev;
}

static GpErr GpDevAlloc_Host(GpDev dev, size_t bytes, void **ptr)
{
  if (posix_memalign(ptr, 64, bytes)) {
    *ptr = NULL;
    return GpDevFail(dev, GP_ERR_MEMORY, "out of host memory: %zu bytes asked for", bytes);
  }
  return GP_SUCCESS;
}

static void GpDevRelease_Host(GpDev dev, void *ptr)
{
  (void)dev;
  free(ptr);
}

static GpErr GpDevPin_Host(GpDev dev, void *memory, size_t bytes)
{
  (void)dev;
  (void)memory;
  (void)bytes;
  return GP_SUCCESS;
}

static void GpDevUnpin_Host(GpDev dev, void *memory)
{
  (void)dev;
  (void)memory;
}

static GpErr GpDevCopy_Host(GpDev dev, void *to, const void *from, size_t bytes)
{
  (void)dev;
  if (bytes) memcpy(to, from, bytes);
  return GP_SUCCESS;
}

/* Copies of the host backend are counted like those of a GPU, so that tests can check the number of copied bytes without a GPU. */
static GpErr GpDevCopyIn_Host(GpDev dev, void *to, const void *from, size_t bytes)
{
  dev->bytes_in += (double)bytes;
  return GpDevCopy_Host(dev, to, from, bytes);
}

static GpErr GpDevCopyOut_Host(GpDev dev, void *to, const void *from, size_t bytes)
{
  dev->bytes_out += (double)bytes;
  return GpDevCopy_Host(dev, to, from, bytes);
}

static GpErr GpDevDeliver_Host(GpDev dev, void *to, const void *from, size_t bytes)
{
  const uint32_t mark = 1;

  memcpy((char *)to + bytes, &mark, sizeof(mark));
  return GpDevCopy_Host(dev, to, from, bytes);
}

static GpErr GpDevZero_Host(GpDev dev, void *ptr, size_t bytes)
{
  (void)dev;
  if (bytes) memset(ptr, 0, bytes);
  return GP_SUCCESS;
}

static GpErr GpDevSync_Host(GpDev dev)
{
  (void)dev;
  return GP_SUCCESS;
}

static GpErr GpDevEventCreate_Host(GpDev dev, GpDevEvent *event)
{
  *event = calloc(1, sizeof(struct timespec));
  return *event ? GP_SUCCESS : GpDevFail(dev, GP_ERR_MEMORY, "out of host memory for an event");
}

static void GpDevEventDestroy_Host(GpDev dev, GpDevEvent event)
{
  (void)dev;
  free(event);
}

static GpErr GpDevEventRecord_Host(GpDev dev, GpDevEvent event)
{
  (void)dev;
  clock_gettime(CLOCK_MONOTONIC, (struct timespec *)event);
  return GP_SUCCESS;
}

static GpErr GpDevEventWait_Host(GpDev dev, GpDevEvent event)
{
  (void)dev;
  (void)event;
  return GP_SUCCESS;
}

static GpErr GpDevEventPoll_Host(GpDev dev, GpDevEvent event, int *done)
{
  (void)dev;
  (void)event;
  *done = 1;
  return GP_SUCCESS;
}

static GpErr GpDevEventOrder_Host(GpDev dev, GpDevEvent event)
{
  (void)dev;
  (void)event;
  return GP_SUCCESS;
}

static GpErr GpDevEventSeconds_Host(GpDev dev, GpDevEvent begin, GpDevEvent end, double *seconds)
{
  const struct timespec *b = (const struct timespec *)begin, *e = (const struct timespec *)end;

  (void)dev;
  *seconds = (double)(e->tv_sec - b->tv_sec) + 1e-9 * (double)(e->tv_nsec - b->tv_nsec);
  return GP_SUCCESS;
}

static GpErr GpDevMemory_Host(GpDev dev, size_t *available, size_t *total)
{
  struct sysinfo info;

  if (sysinfo(&info)) return GpDevFail(dev, GP_ERR_DEVICE, "sysinfo() failed");
  *available = (size_t)info.freeram * info.mem_unit;
  *total     = (size_t)info.totalram * info.mem_unit;
  return GP_SUCCESS;
}

static GpErr GpDevPoll_Host(GpDev dev, int *idle)
{
  (void)dev;
  *idle = 1;
  return GP_SUCCESS;
}

const GpDevOps GpDevOpsHost = {
  .open           = GpDevOpen_Host,
  .close          = GpDevClose_Host,
  .alloc          = GpDevAlloc_Host,
  .release        = GpDevRelease_Host,
  .alloc_shared   = GpDevAlloc_Host,
  .release_shared = GpDevRelease_Host,
  .borrow         = GpDevAlloc_Host,
  .give_back      = GpDevRelease_Host,
  .alloc_pinned   = GpDevAlloc_Host,
  .release_pinned = GpDevRelease_Host,
  .pin            = GpDevPin_Host,
  .unpin          = GpDevUnpin_Host,
  .copy_in        = GpDevCopyIn_Host,
  .copy_out       = GpDevCopyOut_Host,
  .copy_within    = GpDevCopy_Host,
  .zero           = GpDevZero_Host,
  .sync           = GpDevSync_Host,
  .event_create   = GpDevEventCreate_Host,
  .event_destroy  = GpDevEventDestroy_Host,
  .event_record   = GpDevEventRecord_Host,
  .event_wait     = GpDevEventWait_Host,
  .event_poll     = GpDevEventPoll_Host,
  .event_order    = GpDevEventOrder_Host,
  .event_seconds  = GpDevEventSeconds_Host,
  .memory         = GpDevMemory_Host,
  .poll           = GpDevPoll_Host,
  .deliver        = GpDevDeliver_Host,
};

#if !GP_HAVE_CUDA
GpErr GpDevCount(GpDevKind kind, int *count, char *why, size_t whylen)
{
  *count = kind == GP_DEV_HOST ? 1 : 0;
  if (*count) return GP_SUCCESS;
  if (why) snprintf(why, whylen, "this libgpucsr was built without CUDA; rebuild it with CUDA_DIR set to a CUDA toolkit");
  return GP_ERR_NOT_BUILT;
}
#endif
