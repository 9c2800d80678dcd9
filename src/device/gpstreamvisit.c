/* Visits of a pipeline. While an item is in use, GpStreamVisit() submits the transfers of later items, as long as slots are free and the staging buffers are filled. */
#include "device/gpstreamimpl.h"

#include <stdio.h>
#include <string.h>

#define GP_STREAM_PATIENCE 1e-4 /* seconds that one wait for a fill takes at most; then staging buffers whose transfer is done are filled again */

/* --- staging buffers ----------------------------------------------------------------------------------------------------------------- */

static int GpStreamIsTransferred(const GpStreamEntry *e)
{
  return e->item.bytes && !e->direct && !e->loaded;
}

/* Posts the fills of the next items, one for each free staging buffer. */
static GpErr GpStreamPost(GpStream S)
{
  for (; S->posting < S->n; S->posting++) {
    GpStreamEntry *e     = &S->entry[S->posting];
    GpStreamStage *stage = &S->stage[S->jobs % S->stages];
    GpFillJob      job   = {e->item.fill, e->item.context, e->item.host, e->item.bytes, S->posting, stage->memory};

    if (!e->staged || !GpStreamIsTransferred(e)) continue;
    if (stage->state == GP_STAGE_COPYING) {
      int         done = 0;
      const GpErr err  = GpDevEventPoll(S->dev, stage->copied, &done);

      if (err) return err;
      if (done) stage->state = GP_STAGE_FREE;
    }
    if (stage->state != GP_STAGE_FREE) return GP_SUCCESS;
    stage->state = GP_STAGE_FILLING;
    e->job       = GpFillersPost(S->fillers, &job);
    S->jobs++;
  }
  return GP_SUCCESS;
}

/* Sets *ready to 1 if the next item to transfer has been filled. If `must` is 1, it waits until the fill is done, and returns the error of a fill that failed. */
static GpErr GpStreamAwaitFill(GpStream S, int must, int *ready)
{
  const GpStreamEntry *e   = &S->entry[S->ahead];
  const char          *why = NULL;
  GpErr                err = GP_SUCCESS;

  *ready = 0;
  while (!err && !*ready) {
    err = GpStreamPost(S);
    if (err) break;
    if (S->posting > S->ahead) *ready = GpFillersWait(S->fillers, e->job, must ? GP_STREAM_PATIENCE : 0);
    else if (must) err = GpDevEventWait(S->dev, S->stage[S->jobs % S->stages].copied); /* all staging buffers are being transferred */
    if (!must) break;
  }
  if (err || !*ready) return err;
  err = GpFillersResult(S->fillers, e->job, &why);
  if (!err) return GP_SUCCESS;
  *ready = 0;
  return must ? GpDevFail(S->dev, err, "cannot fill a transfer buffer: %s", why) : GP_SUCCESS;
}

/* --- transfers ----------------------------------------------------------------------------------------------------------------------- */

/* Returns the next timer of an array, or NULL if it still times work that is not done. */
static GpErr GpStreamGetTimer(GpStream S, GpStreamTimer timers[], int64_t *count, double *bytes, double *seconds, GpStreamTimer **timer)
{
  GpStreamTimer *t   = &timers[*count % GP_STREAM_TIMERS];
  GpErr          err = GpStreamReadTimer(S, t, bytes, seconds);

  *timer = NULL;
  if (err || t->bytes > 0) return err;
  ++*count;
  *timer = t;
  return GP_SUCCESS;
}

/* Submits the transfer of an item on the current stream, which the caller has set to GP_DEV_STREAM_COPY. */
static GpErr GpStreamSubmit(GpStream S, GpStreamEntry *e, GpStreamSlot *slot)
{
  GpStreamStage *stage = e->staged ? &S->stage[e->job % S->stages] : NULL;
  GpStreamTimer *timer = NULL;
  GpErr          err   = GpDevEventOrder(S->dev, slot->used);

  if (!err) err = GpStreamGetTimer(S, S->timer, &S->timed, &S->info.timed_bytes, &S->info.timed_seconds, &timer);
  if (!err && timer) err = GpDevEventRecord(S->dev, timer->begin);
  if (!err) err = GpDevCopyIn(S->dev, e->resident ? e->resident : slot->device, stage ? stage->memory : e->item.host, e->item.bytes);
  if (!err && timer) {
    err          = GpDevEventRecord(S->dev, timer->end);
    timer->bytes = (double)e->item.bytes;
  }
  if (!err) err = GpDevEventRecord(S->dev, slot->copied);
  if (!err && stage) {
    err          = GpDevEventRecord(S->dev, stage->copied);
    stage->state = GP_STAGE_COPYING;
  }
  return err;
}

static GpErr GpStreamSend(GpStream S, GpStreamEntry *e)
{
  const int slot = (int)(S->sent % S->buffers);
  GpErr     err  = GpDevPushStream(S->dev, GP_DEV_STREAM_COPY);

  if (err) return err;
  err = GpStreamSubmit(S, e, &S->slot[slot]);
  (void)GpDevPopStream(S->dev);
  if (err) return err;
  e->slot = slot;
  S->sent++;
  if (e->resident) e->loaded = 1;
  S->info.moved += (double)e->item.bytes;
  S->info.moved_last += (double)e->item.bytes;
  return GP_SUCCESS;
}

/* Submits the transfer of the current item and of later items. It waits for the fill of the current item, and returns the error if that failed. It stops at a later item whose
   fill is not done or has failed. */
static GpErr GpStreamAdvance(GpStream S)
{
  GpErr err = GpStreamPost(S);

  for (; !err && S->ahead < S->n; S->ahead++) {
    GpStreamEntry *e = &S->entry[S->ahead];

    if (!GpStreamIsTransferred(e)) continue;
    if (S->sent - S->freed == S->buffers) break; /* no slot is free: the work on the items that hold them has not been submitted */
    if (e->staged) {
      const int    must  = S->ahead == S->current;
      const double begin = must ? GpFillersClock() : 0;
      int          ready;

      err = GpStreamAwaitFill(S, must, &ready);
      if (must) S->info.wait_seconds += GpFillersClock() - begin;
      if (err || !ready) break;
    }
    err = GpStreamSend(S, e);
    if (err) break;
  }
  return err;
}

/* --- use ------------------------------------------------------------------------------------------------------------------------------ */

/* Transfers the result of an item to the host. */
static GpErr GpStreamReturn(GpStream S, const GpStreamItem *item, GpStreamResult *r)
{
  GpErr err = GpDevEventRecord(S->dev, r->written);

  if (!err) err = GpDevPushStream(S->dev, GP_DEV_STREAM_BACK);
  if (err) return err;
  err = GpDevEventOrder(S->dev, r->written);
  if (!err) err = GpDevCopyOut(S->dev, item->back, r->device, item->back_bytes);
  if (!err) err = GpDevEventRecord(S->dev, r->returned);
  (void)GpDevPopStream(S->dev);
  S->results++;
  S->info.returned += (double)item->back_bytes;
  return err;
}

/* Calls use() for the current item. GpDevMarkMatrixWrite() prevents that a product which reads the item is launched early, before the stream has waited for the transfer. */
static GpErr GpStreamUseItem(GpStream S, GpStreamUse use, void *context)
{
  GpStreamEntry      *e      = &S->entry[S->current];
  const GpStreamItem *item   = &e->item;
  GpStreamResult     *r      = item->back_bytes && GpDevHasMemory(S->dev) ? &S->result[S->results % S->buffers] : NULL;
  GpStreamSlot       *slot   = e->slot >= 0 ? &S->slot[e->slot] : NULL;
  GpStreamTimer      *timer  = NULL;
  const void         *device = e->direct ? item->host : e->resident ? e->resident : slot ? slot->device : NULL;
  GpErr               err    = GP_SUCCESS;

  if (slot) {
    err = GpDevEventOrder(S->dev, slot->copied);
    GpDevMarkMatrixWrite(S->dev);
  }
  if (!err && r) err = GpDevEventOrder(S->dev, r->returned);
  if (!err && item->bytes) err = GpStreamGetTimer(S, S->work, &S->worked, &S->info.used_bytes, &S->info.used_seconds, &timer);
  if (!err && timer) err = GpDevEventRecord(S->dev, timer->begin);
  if (!err) err = use(context, S->current, item->bytes ? device : NULL, r ? r->device : item->back_bytes ? item->back : NULL);
  if (!err && timer) err = GpDevEventRecord(S->dev, timer->end);
  if (!err && timer) timer->bytes = (double)item->bytes;
  if (!err && slot) err = GpDevEventRecord(S->dev, slot->used);
  if (!err && r) err = GpStreamReturn(S, item, r);
  if (slot) S->freed++;
  e->slot = -1;
  return err;
}

/* --- visits --------------------------------------------------------------------------------------------------------------------------- */

static GpErr GpStreamRecordCopies(GpStream S, GpDevEvent event)
{
  GpErr err = GpDevPushStream(S->dev, GP_DEV_STREAM_COPY);

  if (err) return err;
  err = GpDevEventRecord(S->dev, event);
  (void)GpDevPopStream(S->dev);
  return err;
}

/* Orders the work of this visit after the transfers of resident items in earlier visits, because earlier visits may have submitted work on another stream. Sets *loads to 1 if this
   visit transfers resident items. Earlier work may still use their memory, so these transfers are then ordered after all earlier work. */
static GpErr GpStreamBegin(GpStream S, int *loads)
{
  GpErr err = GpDevEventOrder(S->dev, S->loaded);

  *loads = 0;
  for (int64_t i = 0; i < S->n && !*loads; i++) *loads = S->entry[i].resident && !S->entry[i].loaded;
  if (err || !*loads) return err;
  err = GpDevEventRecord(S->dev, S->begun);
  if (!err) err = GpDevPushStream(S->dev, GP_DEV_STREAM_COPY);
  if (err) return err;
  err = GpDevEventOrder(S->dev, S->begun);
  (void)GpDevPopStream(S->dev);
  return err;
}

/* Ends a visit that failed: drops the fills, waits for all submitted work and marks all slots and staging buffers as free. The error message of the failure is kept. */
static void GpStreamAbort(GpStream S, GpErr err)
{
  char  message[sizeof(S->dev->error)];
  GpErr late;

  memcpy(message, S->dev->error, sizeof(message));
  if (S->fillers) GpFillersCancel(S->fillers);
  late = GpStreamWait(S);
  if (GpDevSync(S->dev) || late) GpStreamSourcesChanged(S); /* after a failure of the device no transfer is known to be complete */
  S->freed = S->sent;
  for (int64_t i = S->current; i < S->n; i++) S->entry[i].slot = -1;
  for (int b = 0; b < S->stages; b++) S->stage[b].state = GP_STAGE_FREE;
  (void)GpDevFail(S->dev, err, "%s", message);
}

GpErr GpStreamVisit(GpStream S, GpStreamUse use, void *context)
{
  int   loads = 0;
  GpErr err;

  if (S->visiting) return GpDevFail(S->dev, GP_ERR_ARGUMENT, "a visit of a stream was begun during another visit of it; wait until that has returned");
  err = GpStreamSetUp(S);
  if (err) return err;
  S->visiting = 1;
  GpDevKeepWorkspace(S->dev);
  S->current = S->ahead = S->posting = 0;
  S->info.moved_last                 = 0;
  S->info.visits++;
  err = GpStreamBegin(S, &loads);
  while (!err && S->current < S->n) {
    err = GpStreamAdvance(S);
    if (!err) err = GpStreamUseItem(S, use, context);
    if (!err) S->current++;
  }
  if (!err && loads) err = GpStreamRecordCopies(S, S->loaded);
  if (err) GpStreamAbort(S, err);
  S->visiting = 0;
  GpDevDropWorkspace(S->dev);
  return err;
}
