static char help[] = "The pipeline gpstream: order and contents of items from every kind of source, resident items, results, failures, and lack of memory.\n\n\
  -largest n : size in bytes of the largest item\n\
  -every n   : tests every n-th combination of sources, buffers, threads and resident items\n\n";

#include "asyncdevice.h"
#include "device/gpdeviceimpl.h"
#include "device/gpstream.h"
#include "sys/gpucsrsys.h"

#include <limits.h>
#include <string.h>
#include <time.h>

#define N    23
#define BACK 100 /* bytes of a result, at most */

typedef enum {
  IN_PLACE,
  PAGEABLE,
  FILLED,
  MIXED,
  KINDS
} Kind;

/* Items, what a visit has found, and the failures that a test asks for. */
typedef struct {
  GpDev          dev;
  GpStream       S;
  size_t         bytes[N], offset[N + 1];
  unsigned char *host[N]; /* sources in host memory */
  int            pinned[N];
  unsigned char *back; /* results of BACK bytes each */
  int            back_pinned;
  unsigned char *device, *out; /* all items one after the other, as work on the device copied them; `device` holds those of two visits */
  size_t         at;           /* where in `device` this visit copies them */
  int            generation;   /* contents of the items */
  int            results;      /* 1: every second item has a result; none of these is empty */
  int64_t        next;         /* the item that must come next */
  int64_t        fail_fill, fail_use, release;
  size_t         released;
} Data;

static GpDevOps        Ops; /* operations of the device, with those that tests replace */
static const GpDevOps *Real;
static int             Left; /* number of allocations until one fails */
static size_t          Largest = 300000;

#define Check(condition, ...) PetscCheck(condition, PETSC_COMM_SELF, PETSC_ERR_PLIB, __VA_ARGS__)

static GpErr Allocate(GpDev dev, size_t bytes, void **pointer)
{
  if (Left-- != 0) return Real->alloc(dev, bytes, pointer);
  return GpDevFail(dev, GP_ERR_MEMORY, "no memory");
}

static GpErr AllocatePinned(GpDev dev, size_t bytes, void **pointer)
{
  if (Left-- != 0) return Real->alloc_pinned(dev, bytes, pointer);
  return GpDevFail(dev, GP_ERR_MEMORY, "no pinned memory");
}

static GpErr RefusePin(GpDev dev, void *memory, size_t bytes)
{
  return GpDevFail(dev, GP_ERR_MEMORY, "%zu bytes of host memory cannot be pinned: the test refuses", bytes);
}

/* Makes the host backend keep device memory apart from host memory, so that items in pinned memory are copied as on a GPU. */
static GpErr Holds(GpDev dev, const void *pointer, int *holds)
{
  *holds = 0;
  return GP_SUCCESS;
}

static unsigned char Byte(int64_t item, size_t at, int generation)
{
  return (unsigned char)(131 * item + 7 * (int64_t)at + (int64_t)(at >> 8) + 29 * generation);
}

static GpErr Fill(void *context, int64_t item, void *destination, char *why, size_t whylen)
{
  const Data *d = (const Data *)context;

  if (item == d->fail_fill) {
    snprintf(why, whylen, "the test wants it");
    return GP_ERR_ARGUMENT;
  }
  if (item > 12 && d->fail_use >= 0) (void)nanosleep(&(struct timespec){.tv_nsec = 300000}, NULL); /* so that fills are on the way when a use fails */
  for (size_t k = 0; k < d->bytes[item]; k++) ((unsigned char *)destination)[k] = Byte(item, k, d->generation);
  return GP_SUCCESS;
}

/* Copies the item several times, so that a transfer into the buffer that starts too early changes the copy. */
static GpErr Use(void *context, int64_t item, const void *device, void *result)
{
  Data        *d = (Data *)context;
  const size_t n = d->bytes[item];
  GpErr        err;

  if (item != d->next) return GpDevFail(d->dev, GP_ERR_ARGUMENT, "item %d came instead of item %d", (int)item, (int)d->next);
  if (!n != !device || !result != (item % 2 != 0 || !d->results)) return GpDevFail(d->dev, GP_ERR_ARGUMENT, "item %d has a wrong address", (int)item);
  if (item == d->fail_use) return GpDevFail(d->dev, GP_ERR_ARGUMENT, "the use of item %d fails", (int)item);
  if (item == d->release) d->released = GpStreamRelease(d->S, SIZE_MAX);
  d->next++;
  err = GpDevCopyWithin(d->dev, d->device + d->at + d->offset[item], device, n);
  for (int k = 0; !err && k < 4; k++) err = GpDevCopyWithin(d->dev, d->device + d->at + d->offset[item], device, n);
  if (!err && result) err = GpDevCopyWithin(d->dev, result, device, n < BACK ? n : BACK);
  return err;
}

static PetscErrorCode Write(Data *d, int generation)
{
  PetscFunctionBeginUser;
  d->generation = generation;
  for (int i = 0; i < N; i++) {
    for (size_t k = 0; k < d->bytes[i]; k++) d->host[i][k] = Byte(i, k, generation);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create(GpDev dev, Data *d)
{
  const size_t sizes[] = {1000, 0, 4096, 1, Largest / 4, 333, Largest, 64, 65, Largest / 2 + 1};

  PetscFunctionBeginUser;
  memset(d, 0, sizeof(*d));
  d->dev       = dev;
  d->results   = 1;
  d->fail_fill = d->fail_use = d->release = -1;
  for (int i = 0; i < N; i++) {
    d->bytes[i]      = sizes[i % 10] + (i >= 10 && sizes[i % 10] ? (size_t)(i % 3) : 0);
    d->offset[i + 1] = d->offset[i] + d->bytes[i];
    PetscCallGp(dev, "host memory", GpDevAllocHost(dev, d->bytes[i], &d->host[i], &d->pinned[i]));
  }
  PetscCallGp(dev, "host memory", GpDevAllocHost(dev, N * BACK, &d->back, &d->back_pinned));
  PetscCallGp(dev, "device memory", Real->alloc(dev, 2 * d->offset[N], (void **)&d->device));
  PetscCall(PetscMalloc1(d->offset[N], &d->out));
  PetscCall(Write(d, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Destroy(Data *d)
{
  PetscFunctionBeginUser;
  for (int i = 0; i < N; i++) GpDevFreeHost(d->dev, &d->host[i], d->pinned[i]);
  GpDevFreeHost(d->dev, &d->back, d->back_pinned);
  Real->release(d->dev, d->device);
  PetscCall(PetscFree(d->out));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Open(Data *d, Kind kind, int buffers, int threads, size_t resident)
{
  const GpStreamOptions o = {.buffers = buffers, .threads = threads, .resident = resident};

  PetscFunctionBeginUser;
  PetscCallGp(d->dev, "creating a stream", GpStreamCreate(d->dev, &o, &d->S));
  for (int i = 0; i < N; i++) {
    const Kind   how  = kind == MIXED ? (Kind)(i % 3) : kind;
    GpStreamItem item = {.bytes = d->bytes[i]};

    if (how == FILLED) {
      item.fill    = Fill;
      item.context = d;
    } else {
      item.host   = d->host[i];
      item.pinned = how == IN_PLACE && d->pinned[i];
    }
    if (d->results && i % 2 == 0) {
      item.back_bytes = d->bytes[i] < BACK ? d->bytes[i] : BACK;
      item.back       = d->back + i * BACK;
    }
    PetscCallGp(d->dev, "adding an item", GpStreamAdd(d->S, &item));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares what the device copied to `at` with the sources of a generation. */
static PetscErrorCode Compare(Data *d, size_t at, int generation)
{
  PetscFunctionBeginUser;
  PetscCallGp(d->dev, "waiting for the work", GpDevSync(d->dev));
  PetscCallGp(d->dev, "download", GpDevDownload(d->dev, d->out, d->device + at, d->offset[N]));
  for (int i = 0; i < N; i++) {
    for (size_t k = 0; k < d->bytes[i]; k++) Check(d->out[d->offset[i] + k] == Byte(i, k, generation), "Byte %zu of item %d differs", k, i);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Begin(Data *d, size_t at)
{
  PetscFunctionBeginUser;
  d->next = 0;
  d->at   = at;
  PetscCallGp(d->dev, "zero", GpDevZero(d->dev, d->device + at, d->offset[N]));
  PetscCallGp(d->dev, "a visit", GpStreamVisit(d->S, Use, d));
  Check(d->next == N, "Only %d items were visited", (int)d->next);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Visit(Data *d)
{
  PetscFunctionBeginUser;
  memset(d->back, 0, N * BACK);
  PetscCall(Begin(d, 0));
  PetscCallGp(d->dev, "waiting for the stream", GpStreamWait(d->S));
  for (int i = 0; d->results && i < N; i += 2) {
    for (size_t k = 0; k < BACK && k < d->bytes[i]; k++) Check(d->back[i * BACK + (int)k] == Byte(i, k, d->generation), "Byte %zu of result %d differs", k, i);
  }
  PetscCall(Compare(d, 0, d->generation));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static double Moved(Data *d)
{
  GpStreamInfo info;

  GpStreamGetInfo(d->S, &info);
  return info.moved_last;
}

/* All combinations of sources, buffers, threads and resident items. */
static PetscErrorCode TestKinds(Data *d, int every)
{
  const int    buffers[] = {1, 2, 3, 5}, threads[] = {0, 1, 4};
  const size_t residents[] = {0, d->offset[N] / 2, d->offset[N]};
  int          number      = 0;
  GpStreamInfo info;

  PetscFunctionBeginUser;
  for (int k = 0; k < KINDS; k++) {
    for (int b = 0; b < 4; b++) {
      for (int t = 0; t < 3; t++) {
        for (int r = 0; r < 3; r++) {
          double first;

          if (number++ % every) continue;
          PetscCall(Open(d, (Kind)k, buffers[b], threads[t], residents[r]));
          PetscCall(Visit(d));
          first = Moved(d);
          PetscCall(Visit(d));
          PetscCall(Visit(d));
          GpStreamGetInfo(d->S, &info);
          Check(info.items == N && info.visits == 3 && info.bytes == (double)d->offset[N], "Items, visits or bytes are wrong");
          Check(info.moved_last == first - info.resident_bytes && info.moved == 3 * first - 2 * info.resident_bytes, "%g bytes were transferred in visit 3 and %g in visit 1", info.moved_last, first);
          Check(r != 2 || info.moved_last == 0, "%g bytes were transferred although all are resident", info.moved_last);
          Check(r || !info.resident_bytes, "%g bytes are resident", info.resident_bytes);
          Check(!GpDevHasMemory(d->dev) || r != 1 || info.resident_bytes > 0, "Nothing is resident");
          Check(info.timed_bytes <= info.moved && (info.timed_bytes > 0 || info.moved == 0), "%g of %g bytes were timed", info.timed_bytes, info.moved);
          GpStreamDestroy(&d->S);
        }
      }
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Visits that follow each other without a wait, on different streams; sources that change; resident items that are released. Results order most work, so that
   some errors show only without them. */
static PetscErrorCode TestChanges(Data *d, Kind kind, int results, size_t resident)
{
  GpStreamInfo info, later;
  size_t       freed;

  PetscFunctionBeginUser;
  d->results = results;
  PetscCall(Open(d, kind, 2, 2, resident));
  PetscCall(Begin(d, 0));
  PetscCallGp(d->dev, "stream", GpDevPushStream(d->dev, GP_DEV_STREAM_SIDE));
  PetscCall(Begin(d, d->offset[N]));
  PetscCall(Compare(d, d->offset[N], 0));
  PetscCallGp(d->dev, "stream", GpDevPopStream(d->dev));
  PetscCall(Compare(d, 0, 0));
  PetscCall(Begin(d, d->offset[N]));
  PetscCallGp(d->dev, "waiting for the stream", GpStreamWait(d->S));
  if (kind != IN_PLACE || GpDevHasMemory(d->dev)) PetscCall(Write(d, 1));
  GpStreamSourcesChanged(d->S);
  PetscCall(Visit(d));
  PetscCall(Compare(d, d->offset[N], 0));
  GpStreamGetInfo(d->S, &info);
  freed = GpStreamRelease(d->S, 1);
  PetscCall(Visit(d));
  GpStreamGetInfo(d->S, &later);
  Check(later.resident_bytes == info.resident_bytes - (double)freed, "%g bytes are resident after %zu of %g were released", later.resident_bytes, freed, info.resident_bytes);
  Check(!info.resident_bytes == !freed, "%zu bytes were released", freed);
  d->release = 3; /* in a visit, those of the items before the current one are released */
  PetscCall(Visit(d));
  d->release = -1;
  PetscCall(Visit(d));
  GpStreamGetInfo(d->S, &info);
  Check(info.resident_bytes == later.resident_bytes - (double)d->released, "%g bytes are resident after %zu were released in a visit", info.resident_bytes, d->released);
  GpStreamDestroy(&d->S);
  d->results = 1;
  PetscCall(Write(d, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestFailures(Data *d, Kind kind, int threads)
{
  const int64_t items[] = {2, 8, 20}; /* items that are filled in both kinds */

  PetscFunctionBeginUser;
  PetscCall(Open(d, kind, 3, threads, d->offset[N] / 3));
  for (int k = 0; k < 6; k++) {
    int64_t *fail = k % 2 ? &d->fail_use : &d->fail_fill;
    GpErr    err;
    char     words[64];

    d->next = 0;
    *fail   = items[k / 2];
    GpStreamSourcesChanged(d->S);
    err = GpStreamVisit(d->S, Use, d);
    if (k % 2) snprintf(words, sizeof(words), "use of item %d fails", (int)items[k / 2]);
    else snprintf(words, sizeof(words), "cannot fill a transfer buffer: the test wants it");
    Check(err == GP_ERR_ARGUMENT && strstr(GpDevError(d->dev), words), "A failure gave error %d: %s", (int)err, GpDevError(d->dev));
    Check(d->next == items[k / 2], "%d items were used before the one that failed", (int)d->next);
    *fail = -1;
    PetscCall(Visit(d));
  }
  GpStreamDestroy(&d->S);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static GpErr UseNested(void *context, int64_t item, const void *device, void *result)
{
  Data              *d   = (Data *)context;
  const GpStreamItem one = {.bytes = 1, .host = d->host[0]};

  return GpStreamAdd(d->S, &one) == GP_ERR_ARGUMENT ? GpStreamVisit(d->S, Use, d) : GP_SUCCESS;
}

static PetscErrorCode TestArguments(Data *d)
{
  const GpStreamOptions wrong = {.buffers = -1};
  const GpStreamItem    none = {.bytes = 3}, nowhere = {.back_bytes = 3};
  GpStreamInfo          info;

  PetscFunctionBeginUser;
  Check(GpStreamCreate(d->dev, &wrong, &d->S) == GP_ERR_ARGUMENT && !d->S, "A stream of -1 buffers was created");
  PetscCallGp(d->dev, "creating a stream", GpStreamCreate(d->dev, NULL, &d->S));
  Check(GpStreamAdd(d->S, &none) == GP_ERR_ARGUMENT, "An item without a source was added");
  Check(GpStreamAdd(d->S, &nowhere) == GP_ERR_ARGUMENT, "An item with a result but no destination was added");
  PetscCallGp(d->dev, "a visit of no items", GpStreamVisit(d->S, Use, d));
  GpStreamGetInfo(d->S, &info);
  Check(info.items == 0 && info.visits == 1 && info.device_bytes == 0, "A stream without items has memory");
  GpStreamDestroy(&d->S);
  PetscCall(Open(d, IN_PLACE, 0, 0, 0));
  Check(GpStreamVisit(d->S, UseNested, d) == GP_ERR_ARGUMENT && strstr(GpDevError(d->dev), "during another visit"), "A visit in a visit: %s", GpDevError(d->dev));
  PetscCall(Visit(d));
  GpStreamDestroy(&d->S);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Lets each allocation fail in turn. Buffers that do not fit are an error; resident items that do not fit are streamed. */
static PetscErrorCode TestMemory(Data *d)
{
  const double held  = GpDevBytesHeld(d->dev);
  int          fails = 0, fewer = 0, all = 0; /* all: no allocation failed */
  GpStreamInfo info;

  PetscFunctionBeginUser;
  for (int allowed = 0; !all; allowed++) {
    GpErr err;

    Left = allowed;
    PetscCall(Open(d, FILLED, 2, 1, d->offset[N] / 2));
    err = GpStreamSetUp(d->S);
    Check(!err || (err == GP_ERR_MEMORY && strstr(GpDevError(d->dev), "bytes asked for") && strstr(GpDevError(d->dev), "use fewer")), "Error %d: %s", (int)err, GpDevError(d->dev));
    fails += err != GP_SUCCESS;
    fewer += !err && Left < 0;
    all  = Left >= 0;
    Left = INT_MAX;
    PetscCall(Visit(d));
    GpStreamGetInfo(d->S, &info);
    Check(info.resident_bytes <= (double)(d->offset[N] / 2), "%g bytes are resident", info.resident_bytes);
    GpStreamDestroy(&d->S);
    Check(GpDevBytesHeld(d->dev) == held, "%g bytes of device memory were leaked when allocation %d failed", GpDevBytesHeld(d->dev) - held, allowed);
  }
  Check(fails >= 4 && fewer >= 1, "%d set-ups failed, and %d had fewer resident items", fails, fewer);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Pinning is refused: the same items are staged. */
static PetscErrorCode TestPin(GpDev dev)
{
  Data         d;
  GpStreamInfo info;

  PetscFunctionBeginUser;
  Ops.pin = RefusePin;
  PetscCall(Create(dev, &d));
  Ops.pin = Real->pin;
  for (int threads = 0; threads < 3; threads++) {
    PetscCall(Open(&d, IN_PLACE, 0, threads, d.offset[N] / 4));
    PetscCall(Visit(&d));
    PetscCall(Visit(&d));
    GpStreamGetInfo(d.S, &info);
    Check(info.pageable_bytes == info.bytes && info.staged_bytes == info.bytes && info.fill_seconds > 0 && info.stage_bytes > 0, "The stream does not report that pinning was refused");
    GpStreamDestroy(&d.S);
  }
  PetscCall(Destroy(&d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestAll(GpDev dev, int every)
{
  Data d;

  PetscFunctionBeginUser;
  PetscCall(Create(dev, &d));
  PetscCall(TestKinds(&d, every));
  for (int k = 0; k < KINDS; k++) {
    PetscCall(TestChanges(&d, (Kind)k, 1, d.offset[N] / 2));
    PetscCall(TestChanges(&d, (Kind)k, 0, d.offset[N] / 2));
    PetscCall(TestChanges(&d, (Kind)k, 0, d.offset[N]));
  }
  for (int threads = 0; threads < 5; threads += 2) {
    PetscCall(TestFailures(&d, FILLED, threads));
    PetscCall(TestFailures(&d, MIXED, threads));
  }
  PetscCall(TestArguments(&d));
  PetscCall(TestMemory(&d));
  PetscCall(TestPin(dev));
  PetscCall(Destroy(&d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscInt largest = (PetscInt)Largest, every = 1;
  GpDev    dev;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRSetUpDevice_Private());
  PetscCall(PetscGPUCSRGetDevice(&dev));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-largest", &largest, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-every", &every, NULL));
  Largest          = (size_t)largest;
  Left             = INT_MAX;
  Real             = dev->ops;
  Ops              = *Real;
  Ops.alloc        = Allocate;
  Ops.alloc_pinned = AllocatePinned;
  dev->ops         = &Ops;
  PetscCall(TestAll(dev, (int)every));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "items are visited as they should\n"));
  if (GpDevKindOf(dev) == GP_DEV_HOST) { /* on a GPU the first run has tested this */
    Ops.holds = Holds;
    PetscCall(TestAll(dev, (int)every));
    AsyncOpen(dev, &Ops);
    for (int repeat = 0; repeat < 4; repeat++) PetscCall(TestAll(dev, (int)every));
    AsyncClose(dev);
  }
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "also if device memory is separate, and if work is asynchronous\n"));
  dev->ops = Real;
  PetscCall(PetscGPUCSRCloseDevice_Private());
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   test:
      suffix: 1

TEST*/
