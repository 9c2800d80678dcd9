/* The pipeline of gpstream.h: its sizes, items and properties. gpstreammemory.c has its memory, and gpstreamvisit.c its visits. */
#include "device/gpstreamimpl.h"

#include <stdlib.h>
#include <string.h>

#define GP_STREAM_SMALL ((double)(64 << 20)) /* size in bytes below which data are assumed to fit a GPU, because a query of the free device memory takes as long as a small upload */

/* --- sizes --------------------------------------------------------------------------------------------------------------------------- */

GpErr GpStreamIsNeeded(GpDev dev, double bytes, int *exceeds, size_t *available)
{
  size_t total;
  GpErr  err;

  *exceeds = 0;
  if (GpDevMemoryLimit(dev) <= 0 && (!GpDevHasMemory(dev) || bytes < GP_STREAM_SMALL)) return GP_SUCCESS;
  err      = GpDevGetMemory(dev, available, &total);
  *exceeds = !err && bytes > (double)*available;
  return err;
}

size_t GpStreamGetItemBytes(double wanted)
{
  return wanted <= 0 ? GP_STREAM_BYTES : wanted < 1 ? 1 : wanted < 0x1p62 ? (size_t)wanted : (size_t)1 << 62;
}

GpErr GpStreamGetBudget(GpDev dev, double wanted, double bytes, double largest, int buffers, double reserved, size_t *resident)
{
  size_t available, total;
  double left;
  GpErr  err;

  *resident = wanted < 0 ? 0 : wanted < (double)SIZE_MAX ? (size_t)wanted : SIZE_MAX;
  if (wanted >= 0 || !GpDevHasMemory(dev)) return GP_SUCCESS; /* the host backend uses pinned items where they are */
  err = GpDevGetMemory(dev, &available, &total);
  if (err) return err;
  left = 0.9 * (double)available - reserved;
  if (bytes <= left) *resident = SIZE_MAX; /* all items are resident, so that no buffers are needed */
  else {
    left -= largest * (buffers ? buffers : GP_STREAM_BUFFERS);
    if (left > 0) *resident = (size_t)left;
  }
  return GP_SUCCESS;
}

/* --- items --------------------------------------------------------------------------------------------------------------------------- */

GpErr GpStreamCreate(GpDev dev, const GpStreamOptions *options, GpStream *stream)
{
  const GpStreamOptions none = {0}, *o = options ? options : &none;
  GpStream              S;
  GpErr                 err = GP_ERR_MEMORY;

  *stream = NULL;
  if (o->buffers < 0 || o->threads < 0 || o->stages < 0) return GpDevFail(dev, GP_ERR_ARGUMENT, "a stream cannot have %d buffers, %d threads and %d staging buffers; give numbers that are not negative", o->buffers, o->threads, o->stages);
  S = (GpStream)calloc(1, sizeof(*S));
  if (!S) return GpDevFail(dev, GP_ERR_MEMORY, "out of host memory for a stream");
  S->dev           = dev;
  S->buffers       = o->buffers ? o->buffers : GP_STREAM_BUFFERS;
  S->threads       = o->threads;
  S->stages        = o->stages ? o->stages : o->threads + 2;
  S->resident_left = o->resident;
  S->changed       = 1;
  S->slot          = (GpStreamSlot *)calloc((size_t)S->buffers, sizeof(*S->slot));
  S->result        = (GpStreamResult *)calloc((size_t)S->buffers, sizeof(*S->result));
  S->stage         = (GpStreamStage *)calloc((size_t)S->stages, sizeof(*S->stage));
  if (S->slot && S->result && S->stage) err = GpStreamCreateEvents(S);
  else (void)GpDevFail(dev, err, "out of host memory for a stream of %d buffers and %d staging buffers", S->buffers, S->stages);
  if (err) GpStreamDestroy(&S);
  else {
    S->reclaimer = (GpDevReclaimer){.reclaim = GpStreamReclaim, .owner = S};
    GpDevAddReclaimer(dev, &S->reclaimer);
  }
  *stream = S;
  return err;
}

void GpStreamDestroy(GpStream *stream)
{
  GpStream S = *stream;

  if (!S) return;
  GpDevRemoveReclaimer(S->dev, &S->reclaimer);
  GpFillersDestroy(&S->fillers);
  GpStreamFreeMemory(S);
  free(S->slot);
  free(S->result);
  free(S->stage);
  free(S->entry);
  free(S);
  *stream = NULL;
}

/* Enlarges the array of items by half. */
static GpErr GpStreamGrow(GpStream S)
{
  const int64_t  capacity = S->capacity + S->capacity / 2 + 16;
  GpStreamEntry *entry    = (GpStreamEntry *)realloc(S->entry, (size_t)capacity * sizeof(*entry));

  if (!entry) return GpDevFail(S->dev, GP_ERR_MEMORY, "out of host memory for the table of %lld items of a stream", (long long)capacity);
  S->entry    = entry;
  S->capacity = capacity;
  return GP_SUCCESS;
}

GpErr GpStreamAdd(GpStream S, const GpStreamItem *item)
{
  GpStreamEntry *e;

  if (S->visiting) return GpDevFail(S->dev, GP_ERR_ARGUMENT, "an item was added during a visit of the stream; add items before or after it");
  if (item->bytes && !item->host && !item->fill) return GpDevFail(S->dev, GP_ERR_ARGUMENT, "item %lld of a stream has no source; set host or fill", (long long)S->n);
  if (item->back_bytes && !item->back) return GpDevFail(S->dev, GP_ERR_ARGUMENT, "item %lld of a stream has a result without a destination; set back", (long long)S->n);
  if (S->n == S->capacity) {
    const GpErr err = GpStreamGrow(S);

    if (err) return err;
  }
  e         = &S->entry[S->n++];
  *e        = (GpStreamEntry){.item = *item, .slot = -1};
  e->direct = item->host && item->pinned && !GpDevHasMemory(S->dev);
  e->staged = item->bytes && !(item->host && item->pinned);
  if (item->bytes && !e->direct) {
    e->keep          = item->bytes <= S->resident_left;
    S->resident_left = e->keep ? S->resident_left - item->bytes : 0;
  }
  S->changed = 1;
  return GP_SUCCESS;
}

/* --- properties ---------------------------------------------------------------------------------------------------------------------- */

void GpStreamSourcesChanged(GpStream S)
{
  for (int64_t i = 0; i < S->n; i++) S->entry[i].loaded = 0;
}

GpErr GpStreamReadTimer(GpStream S, GpStreamTimer *t, double *sum_bytes, double *sum_seconds)
{
  double seconds = 0;
  int    done    = 0;
  GpErr  err     = t->bytes > 0 ? GpDevEventPoll(S->dev, t->end, &done) : GP_SUCCESS;

  if (!err && done) err = GpDevEventSeconds(S->dev, t->begin, t->end, &seconds);
  if (err || !done) return err;
  *sum_bytes += t->bytes;
  *sum_seconds += seconds;
  t->bytes = 0;
  return GP_SUCCESS;
}

void GpStreamGetInfo(GpStream S, GpStreamInfo *info)
{
  for (int t = 0; t < GP_STREAM_TIMERS; t++) { /* the next visit returns an error of the device, so it is not returned here */
    (void)GpStreamReadTimer(S, &S->timer[t], &S->info.timed_bytes, &S->info.timed_seconds);
    (void)GpStreamReadTimer(S, &S->work[t], &S->info.used_bytes, &S->info.used_seconds);
  }
  *info              = S->info;
  info->items        = S->n;
  info->stage_bytes  = (double)S->stage_bytes * S->stages;
  info->device_bytes = ((double)S->slot_bytes + (double)S->result_bytes) * S->buffers;
  if (S->fillers) info->fill_seconds = GpFillersSeconds(S->fillers);
  for (int64_t i = 0; i < S->n; i++) {
    const GpStreamEntry *e     = &S->entry[i];
    const double         bytes = (double)e->item.bytes;

    info->bytes += bytes;
    if (e->staged) info->staged_bytes += bytes;
    if (e->item.host && !e->item.pinned) info->pageable_bytes += bytes;
    if (!e->resident) continue;
    info->device_bytes += bytes;
    if (!e->loaded) continue;
    info->resident_items++;
    info->resident_bytes += bytes;
  }
}
