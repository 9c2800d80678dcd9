/* The memory of a pipeline: device buffers, resident items, staging buffers, events. */
#include "device/gpstreamimpl.h"

#include <string.h>

/* Creates all events. After a failure too, GpStreamFreeMemory() destroys those that were created. */
GpErr GpStreamCreateEvents(GpStream S)
{
  GpErr err = GpDevEventCreate(S->dev, &S->begun);

  if (!err) err = GpDevEventCreate(S->dev, &S->loaded);
  for (int b = 0; !err && b < S->buffers; b++) {
    err = GpDevEventCreate(S->dev, &S->slot[b].copied);
    if (!err) err = GpDevEventCreate(S->dev, &S->slot[b].used);
    if (!err) err = GpDevEventCreate(S->dev, &S->result[b].written);
    if (!err) err = GpDevEventCreate(S->dev, &S->result[b].returned);
  }
  for (int b = 0; !err && b < S->stages; b++) err = GpDevEventCreate(S->dev, &S->stage[b].copied);
  for (int t = 0; !err && t < GP_STREAM_TIMERS; t++) {
    err = GpDevEventCreate(S->dev, &S->timer[t].begin);
    if (!err) err = GpDevEventCreate(S->dev, &S->timer[t].end);
    if (!err) err = GpDevEventCreate(S->dev, &S->work[t].begin);
    if (!err) err = GpDevEventCreate(S->dev, &S->work[t].end);
  }
  return err;
}

static GpErr GpStreamSync(GpStream S, GpDevStreamKind which)
{
  GpErr err = GpDevPushStream(S->dev, which);

  if (err) return err;
  err = GpDevSync(S->dev);
  (void)GpDevPopStream(S->dev);
  return err;
}

GpErr GpStreamWait(GpStream S)
{
  const GpErr err = GpStreamSync(S, GP_DEV_STREAM_COPY), back = GpStreamSync(S, GP_DEV_STREAM_BACK);

  return err ? err : back;
}

static void GpStreamFreeSlots(GpStream S)
{
  for (int b = 0; S->slot && b < S->buffers; b++) GpDevFree(S->dev, &S->slot[b].device, S->slot_bytes);
  S->slot_bytes = 0;
}

static void GpStreamFreeResults(GpStream S)
{
  for (int b = 0; S->result && b < S->buffers; b++) GpDevFree(S->dev, &S->result[b].device, S->result_bytes);
  S->result_bytes = 0;
}

static void GpStreamFreeStages(GpStream S)
{
  for (int b = 0; S->stage && b < S->stages; b++) {
    if (S->stage[b].memory) GpDevFreePinned(S->dev, S->stage[b].memory);
    S->stage[b].memory = NULL;
  }
  S->stage_bytes = 0;
}

static void GpStreamDropEvent(GpStream S, GpDevEvent event)
{
  if (event) GpDevEventDestroy(S->dev, event);
}

void GpStreamFreeMemory(GpStream S)
{
  (void)GpStreamWait(S); /* an error is ignored: a device that failed has no work to wait for */
  for (int64_t i = 0; i < S->n; i++) GpDevFree(S->dev, &S->entry[i].resident, S->entry[i].item.bytes);
  GpStreamFreeSlots(S);
  GpStreamFreeResults(S);
  GpStreamFreeStages(S);
  for (int b = 0; S->slot && b < S->buffers; b++) {
    GpStreamDropEvent(S, S->slot[b].copied);
    GpStreamDropEvent(S, S->slot[b].used);
  }
  for (int b = 0; S->result && b < S->buffers; b++) {
    GpStreamDropEvent(S, S->result[b].written);
    GpStreamDropEvent(S, S->result[b].returned);
  }
  for (int b = 0; S->stage && b < S->stages; b++) GpStreamDropEvent(S, S->stage[b].copied);
  for (int t = 0; t < GP_STREAM_TIMERS; t++) {
    GpStreamDropEvent(S, S->timer[t].begin);
    GpStreamDropEvent(S, S->timer[t].end);
    GpStreamDropEvent(S, S->work[t].begin);
    GpStreamDropEvent(S, S->work[t].end);
  }
  GpStreamDropEvent(S, S->begun);
  GpStreamDropEvent(S, S->loaded);
}

/* --- setting up --------------------------------------------------------------------------------------------------------------------- */

/* Computes the sizes of the device, result and staging buffers. They depend on which items are resident. */
static void GpStreamNeed(GpStream S, size_t *slot, size_t *result, size_t *stage)
{
  *slot = *result = *stage = 0;
  for (int64_t i = 0; i < S->n; i++) {
    const GpStreamEntry *e = &S->entry[i];

    if (!e->direct && !e->keep && e->item.bytes > *slot) *slot = e->item.bytes;
    if (e->staged && e->item.bytes > *stage) *stage = e->item.bytes;
    if (GpDevHasMemory(S->dev) && e->item.back_bytes > *result) *result = e->item.back_bytes;
  }
}

/* Enlarges the device buffers and the result buffers to at least these sizes. After a failure no buffer of either kind is allocated. alloc is GpDevAlloc() or GpDevTryAlloc(). */
static GpErr GpStreamAllocBuffers(GpStream S, size_t slot, size_t result, GpErr (*alloc)(GpDev, size_t, void *))
{
  GpErr err = GP_SUCCESS;

  if (slot > S->slot_bytes) {
    GpStreamFreeSlots(S);
    S->slot_bytes = slot;
    for (int b = 0; !err && b < S->buffers; b++) err = alloc(S->dev, slot, &S->slot[b].device);
  }
  if (!err && result > S->result_bytes) {
    GpStreamFreeResults(S);
    S->result_bytes = result;
    for (int b = 0; !err && b < S->buffers; b++) err = alloc(S->dev, result, &S->result[b].device);
  }
  if (err) {
    GpStreamFreeSlots(S);
    GpStreamFreeResults(S);
  }
  return err;
}

/* Allocates the memory of resident items. No other memory is reclaimed for them. If an item does not fit, it and all later items are not resident, and *changed is 1. */
static GpErr GpStreamAllocResident(GpStream S, int *changed)
{
  *changed = 0;
  for (int64_t i = 0; i < S->n; i++) {
    GpStreamEntry *e   = &S->entry[i];
    GpErr          err = GP_SUCCESS;

    if (!e->keep || e->resident) continue;
    if (!*changed) err = GpDevTryAlloc(S->dev, e->item.bytes, &e->resident);
    if (err && err != GP_ERR_MEMORY) return err;
    if (err || *changed) {
      S->resident_left = 0;
      e->keep          = 0;
      *changed         = 1;
    }
  }
  return GP_SUCCESS;
}

static GpErr GpStreamFailBuffers(GpStream S, size_t slot, size_t result)
{
  const size_t each      = slot + result;
  const char  *remedy    = S->dev->limit > 0 ? ", or raise -gpucsr_device_memory" : "";
  size_t       available = 0, total = 0;
  GpErr        err = GpDevGetMemory(S->dev, &available, &total);

  if (err) return err;
  return GpDevFail(S->dev, GP_ERR_MEMORY, "out of device memory on %s for a stream: %zu bytes asked for (%d buffers of %zu), %zu free; use fewer buffers or smaller items%s", GpDevName(S->dev), each * (size_t)S->buffers, S->buffers, each, available,
                   remedy);
}

static GpErr GpStreamSetUpStages(GpStream S, size_t bytes)
{
  GpErr err = GP_SUCCESS;

  if (bytes > S->stage_bytes) {
    GpStreamFreeStages(S);
    S->stage_bytes = bytes;
    for (int b = 0; !err && b < S->stages; b++) err = GpDevAllocPinned(S->dev, bytes, &S->stage[b].memory);
    if (err) {
      GpStreamFreeStages(S);
      return err == GP_ERR_MEMORY ? GpDevFail(S->dev, err, "out of pinned host memory for a stream: %zu bytes asked for (%d staging buffers of %zu); use fewer staging buffers or smaller items", bytes * (size_t)S->stages, S->stages, bytes) : err;
    }
  }
  if (bytes && !S->fillers) {
    const int code = GpFillersCreate(S->threads, S->stages, &S->fillers);

    if (code) return GpDevFail(S->dev, GP_ERR_DEVICE, "%d threads that fill the items of a stream cannot be started: %s; use fewer threads", S->threads, strerror(code));
  }
  return GP_SUCCESS;
}

/* If the buffers do not fit in addition to the resident items, GpStreamRelease() frees resident items, the last item first. Memory of other pipelines is reclaimed before. */
static GpErr GpStreamAllocDevice(GpStream S, size_t *stage)
{
  size_t slot, result;
  int    again = 1;
  GpErr  err   = GP_SUCCESS;

  while (!err && again) {
    GpStreamNeed(S, &slot, &result, stage);
    err = GpStreamAllocBuffers(S, slot, result, GpDevAlloc);
    if (err == GP_ERR_MEMORY) {
      if (!GpStreamRelease(S, (slot + result) * (size_t)S->buffers)) return GpStreamFailBuffers(S, slot, result);
      err = GP_SUCCESS;
    } else if (!err) err = GpStreamAllocResident(S, &again);
  }
  return err;
}

GpErr GpStreamSetUp(GpStream S)
{
  size_t stage;
  GpErr  err = S->changed ? GpStreamWait(S) : GP_SUCCESS;

  if (err || !S->changed) return err;
  S->allocating = 1;
  err           = GpStreamAllocDevice(S, &stage);
  S->allocating = 0;
  if (!err) err = GpStreamSetUpStages(S, stage);
  if (!err) S->changed = 0;
  return err;
}

size_t GpStreamRelease(GpStream S, size_t bytes)
{
  const int64_t end   = S->visiting ? S->current : S->n;
  size_t        freed = 0;

  S->resident_left = 0;
  S->changed       = 1;
  for (int64_t i = S->n - 1; i >= 0; i--) {
    GpStreamEntry *e = &S->entry[i];

    if (e->resident && (freed >= bytes || i >= end)) continue;
    if (e->resident) freed += e->item.bytes;
    GpDevFree(S->dev, &e->resident, e->item.bytes);
    e->keep = e->loaded = 0;
  }
  return freed;
}

/* Frees resident items and keeps enough memory for the buffers through which they are then transferred, so that later visits do not fail. During a visit the buffers cannot be replaced. */
size_t GpStreamReclaim(void *stream, size_t bytes)
{
  GpStream S        = (GpStream)stream;
  size_t   resident = 0, freed, slot = S->slot_bytes, more;

  if (S->allocating) return 0;
  for (int64_t i = 0; i < S->n; i++) {
    const GpStreamEntry *e = &S->entry[i];

    resident += e->resident ? e->item.bytes : 0;
    if (e->resident && e->item.bytes > slot) slot = e->item.bytes;
  }
  more = (slot - S->slot_bytes) * (size_t)S->buffers; /* additional size of the buffers */
  if (resident <= more || (more && S->visiting)) return 0;
  freed = GpStreamRelease(S, more + bytes < bytes ? SIZE_MAX : more + bytes);
  while (freed && more && GpStreamAllocBuffers(S, slot, S->result_bytes, GpDevTryAlloc)) { /* memory is fragmented */
    const size_t again = GpStreamRelease(S, more);

    if (!again) break;
    freed += again;
  }
  return freed > more ? freed - more : 0;
}
