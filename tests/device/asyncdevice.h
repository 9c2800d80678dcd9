/* A host backend whose work is asynchronous, as on a GPU: copies, fills with zero and events are put into a queue for each stream, and are done later, in an order
   that only the streams and their events restrict. A missing event changes the results of a test. One stream at a time is preferred, so that streams get far ahead
   of each other. */
#ifndef GPUCSR_TESTS_ASYNCDEVICE_H
#define GPUCSR_TESTS_ASYNCDEVICE_H

#include "device/gpdeviceimpl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ASYNC_ROOM 65536 /* maximum number of entries in a queue */

typedef struct {
  int64_t recorded, completed; /* number of records that were submitted, and the last one that has been done */
} AsyncEvent;

typedef enum {
  ASYNC_COPY,
  ASYNC_ZERO,
  ASYNC_RECORD,
  ASYNC_ORDER
} AsyncKind;

typedef struct {
  AsyncKind   kind;
  void       *to;
  const void *from;
  size_t      bytes;
  AsyncEvent *event;
  int64_t     record; /* number of the record of the event */
} AsyncWork;

static struct {
  AsyncWork work[ASYNC_ROOM];
  size_t    head, tail;
} AsyncQueue[GP_DEV_STREAMS_OWN];

static uint64_t AsyncSeed = 1;
static int      AsyncFavourite; /* the stream that is preferred now */

static unsigned AsyncRandom(unsigned n)
{
  AsyncSeed = AsyncSeed * 6364136223846793005u + 1442695040888963407u;
  return (unsigned)(AsyncSeed >> 33) % n;
}

static int AsyncCanRun(int q)
{
  const AsyncWork *w = &AsyncQueue[q].work[AsyncQueue[q].head % ASYNC_ROOM];

  return AsyncQueue[q].head < AsyncQueue[q].tail && (w->kind != ASYNC_ORDER || w->event->completed >= w->record);
}

static void AsyncRun(int q)
{
  const AsyncWork *w = &AsyncQueue[q].work[AsyncQueue[q].head++ % ASYNC_ROOM];

  if (w->kind == ASYNC_COPY) memcpy(w->to, w->from, w->bytes);
  else if (w->kind == ASYNC_ZERO) memset(w->to, 0, w->bytes);
  else if (w->kind == ASYNC_RECORD) w->event->completed = w->record;
}

/* Does one piece of work of a stream that need not wait. Returns 0 if there is none. */
static int AsyncStep(void)
{
  if (AsyncRandom(16) == 0) AsyncFavourite = (int)AsyncRandom(GP_DEV_STREAMS_OWN);
  for (int k = 0; k < GP_DEV_STREAMS_OWN; k++) {
    const int q = (AsyncFavourite + k) % GP_DEV_STREAMS_OWN;

    if (!AsyncCanRun(q)) continue;
    AsyncRun(q);
    return 1;
  }
  return 0;
}

static void AsyncDrain(void)
{
  while (AsyncStep()) {}
}

static GpErr AsyncSubmit(GpDev dev, AsyncWork work)
{
  for (int q = 0; q < GP_DEV_STREAMS_OWN; q++) {
    if (dev->stream != &AsyncQueue[q]) continue;
    if (AsyncQueue[q].tail - AsyncQueue[q].head == ASYNC_ROOM) return GpDevFail(dev, GP_ERR_DEVICE, "a queue of the test is full");
    AsyncQueue[q].work[AsyncQueue[q].tail++ % ASYNC_ROOM] = work;
    return GP_SUCCESS;
  }
  return GpDevFail(dev, GP_ERR_DEVICE, "work was submitted to a stream that the test does not know");
}

static GpErr AsyncCopy(GpDev dev, void *to, const void *from, size_t bytes)
{
  return AsyncSubmit(dev, (AsyncWork){.kind = ASYNC_COPY, .to = to, .from = from, .bytes = bytes});
}

static GpErr AsyncZero(GpDev dev, void *to, size_t bytes)
{
  return AsyncSubmit(dev, (AsyncWork){.kind = ASYNC_ZERO, .to = to, .bytes = bytes});
}

static GpErr AsyncSync(GpDev dev)
{
  for (int q = 0; q < GP_DEV_STREAMS_OWN; q++) {
    if (dev->stream != &AsyncQueue[q]) continue;
    while (AsyncQueue[q].head < AsyncQueue[q].tail) {
      if (!AsyncStep()) return GpDevFail(dev, GP_ERR_DEVICE, "streams wait for each other");
    }
  }
  return GP_SUCCESS;
}

static GpErr AsyncEventCreate(GpDev dev, GpDevEvent *event)
{
  *event = calloc(1, sizeof(AsyncEvent));
  return *event ? GP_SUCCESS : GpDevFail(dev, GP_ERR_MEMORY, "out of host memory for an event");
}

/* CUDA keeps a destroyed event until the work that refers to it is done. */
static void AsyncEventDestroy(GpDev dev, GpDevEvent event)
{
  AsyncDrain();
  free(event);
}

static GpErr AsyncEventRecord(GpDev dev, GpDevEvent event)
{
  AsyncEvent *e = (AsyncEvent *)event;

  return AsyncSubmit(dev, (AsyncWork){.kind = ASYNC_RECORD, .event = e, .record = ++e->recorded});
}

static GpErr AsyncEventOrder(GpDev dev, GpDevEvent event)
{
  AsyncEvent *e = (AsyncEvent *)event;

  return AsyncSubmit(dev, (AsyncWork){.kind = ASYNC_ORDER, .event = e, .record = e->recorded});
}

static GpErr AsyncEventWait(GpDev dev, GpDevEvent event)
{
  const AsyncEvent *e = (const AsyncEvent *)event;

  while (e->completed < e->recorded) {
    if (!AsyncStep()) return GpDevFail(dev, GP_ERR_DEVICE, "an event is waited for that cannot complete");
  }
  return GP_SUCCESS;
}

static GpErr AsyncEventPoll(GpDev dev, GpDevEvent event, int *done)
{
  const AsyncEvent *e = (const AsyncEvent *)event;

  for (unsigned k = AsyncRandom(4); k > 0; k--) (void)AsyncStep();
  *done = e->completed >= e->recorded;
  return GP_SUCCESS;
}

static GpErr AsyncEventSeconds(GpDev dev, GpDevEvent begin, GpDevEvent end, double *seconds)
{
  *seconds = 1e-6;
  return ((AsyncEvent *)end)->completed < ((AsyncEvent *)end)->recorded ? GpDevFail(dev, GP_ERR_DEVICE, "an event was timed that has not completed") : GP_SUCCESS;
}

static void AsyncRelease(GpDev dev, void *ptr)
{
  AsyncDrain();
  free(ptr);
}

/* Replaces operations of the host backend, and its streams. AsyncClose() undoes the latter. */
static void AsyncOpen(GpDev dev, GpDevOps *ops)
{
  ops->copy_in = ops->copy_out = ops->copy_within = AsyncCopy;
  ops->zero                                       = AsyncZero;
  ops->sync                                       = AsyncSync;
  ops->event_create                               = AsyncEventCreate;
  ops->event_destroy                              = AsyncEventDestroy;
  ops->event_record                               = AsyncEventRecord;
  ops->event_order                                = AsyncEventOrder;
  ops->event_wait                                 = AsyncEventWait;
  ops->event_poll                                 = AsyncEventPoll;
  ops->event_seconds                              = AsyncEventSeconds;
  ops->release = ops->release_pinned = AsyncRelease;
  for (int q = 0; q < GP_DEV_STREAMS_OWN; q++) dev->own[q] = &AsyncQueue[q];
  dev->stream = dev->own[GP_DEV_STREAM_OWN];
}

static void AsyncClose(GpDev dev)
{
  AsyncDrain();
  for (int q = 0; q < GP_DEV_STREAMS_OWN; q++) dev->own[q] = NULL;
  dev->stream = NULL;
}

#endif
