static char help[] = "The device layer: allocation, copies through the staging buffers in many sizes, fills, events, counters and error messages.\n\n";

#include "device/gpdeviceimpl.h"
#include "device/gpupload.h"
#include "sys/gpucsrsys.h"

#include <string.h>

static PetscErrorCode TestCopies(GpDev dev)
{
  const size_t sizes[] = {0, 1, 4, 7, GP_DEV_FETCH - 4, GP_DEV_FETCH, GP_DEV_FETCH + 4, GP_DEV_STAGE_BYTES - 1, GP_DEV_STAGE_BYTES, GP_DEV_STAGE_BYTES + 1, 2 * GP_DEV_STAGE_BYTES, 5 * GP_DEV_STAGE_BYTES + 3};
  const double held    = GpDevBytesHeld(dev);

  PetscFunctionBeginUser;
  for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(sizes); s++) {
    const size_t   n = sizes[s];
    unsigned char *in, *out;
    char          *first, *second;

    PetscCall(PetscMalloc2(n + 1, &in, n + 1, &out));
    for (size_t i = 0; i <= n; i++) {
      in[i]  = (unsigned char)(i * 131 + s);
      out[i] = 0;
    }
    PetscCallGp(dev, "first", GpDevAlloc(dev, n, &first));
    PetscCallGp(dev, "second", GpDevAlloc(dev, n, &second));
    PetscCheck(GpDevBytesHeld(dev) == held + 2.0 * (double)n, PETSC_COMM_SELF, PETSC_ERR_PLIB, "the counter bytes_held is %g", GpDevBytesHeld(dev));
    PetscCallGp(dev, "upload", GpDevUpload(dev, first, in, n));
    memset(in, 255, n); /* GpDevUpload() has read its source when it returns */
    PetscCallGp(dev, "copy", GpDevCopyWithin(dev, second, first, n));
    PetscCallGp(dev, "download", GpDevDownload(dev, out, second, n));
    for (size_t i = 0; i < n; i++) PetscCheck(out[i] == (unsigned char)(i * 131 + s), PETSC_COMM_SELF, PETSC_ERR_PLIB, "Byte %zu of %zu came back as %d", i, n, (int)out[i]);
    PetscCheck(out[n] == 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The download of %zu bytes wrote beyond its end", n);
    PetscCallGp(dev, "zero", GpDevZero(dev, second, n));
    PetscCallGp(dev, "download", GpDevDownload(dev, out, second, n));
    for (size_t i = 0; i < n; i++) PetscCheck(!out[i], PETSC_COMM_SELF, PETSC_ERR_PLIB, "Byte %zu of %zu is not zero", i, n);
    GpDevFree(dev, &first, n);
    GpDevFree(dev, &second, n);
    PetscCheck(!first && !second && GpDevBytesHeld(dev) == held, PETSC_COMM_SELF, PETSC_ERR_PLIB, "the counter bytes_held is %g after all memory was freed", GpDevBytesHeld(dev));
    PetscCall(PetscFree2(in, out));
  }
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "copies of all sizes are unchanged\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* bytes_held counts all kinds of memory. Workspace that was returned and borrowed again follows the order of the stream: the copy out of it is done
   before the next owner writes zeros. */
static PetscErrorCode TestWorkSpace(GpDev dev)
{
  const size_t n    = (size_t)3 << 20;
  const double held = GpDevBytesHeld(dev);
  char        *in, *out, *kept, *shared, *work;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(n, &in, n, &out));
  PetscCallGp(dev, "memory", GpDevAlloc(dev, n, &kept));
  PetscCallGp(dev, "shared memory", GpDevAllocShared(dev, n, &shared));
  for (int turn = 0; turn < 8; turn++) {
    memset(in, turn + 1, n);
    PetscCallGp(dev, "workspace", GpDevBorrow(dev, n, &work));
    PetscCheck(work && GpDevBytesHeld(dev) == held + 3.0 * (double)n, PETSC_COMM_SELF, PETSC_ERR_PLIB, "the counter bytes_held is %g", GpDevBytesHeld(dev));
    PetscCallGp(dev, "upload", GpDevUpload(dev, work, in, n));
    PetscCallGp(dev, "copy", GpDevCopyWithin(dev, turn % 2 ? kept : shared, work, n));
    GpDevReturn(dev, &work, n);
    PetscCallGp(dev, "workspace", GpDevBorrow(dev, n - 1, &work));
    PetscCallGp(dev, "zero", GpDevZero(dev, work, n - 1));
    GpDevReturn(dev, &work, n - 1);
    PetscCallGp(dev, "download", GpDevDownload(dev, out, turn % 2 ? kept : shared, n));
    PetscCheck(!memcmp(in, out, n), PETSC_COMM_SELF, PETSC_ERR_PLIB, "Turn %d: the copy differs from the contents of the workspace", turn);
  }
  for (int turn = 0; turn < 8; turn++) { /* freed memory is not used again before the second stream has read it */
    memset(in, 16 + turn, n);
    PetscCallGp(dev, "upload", GpDevUpload(dev, kept, in, n));
    PetscCallGp(dev, "sync", GpDevSync(dev));
    PetscCallGp(dev, "stream", GpDevPushStream(dev, GP_DEV_STREAM_SIDE));
    PetscCallGp(dev, "copy", GpDevCopyWithin(dev, shared, kept, n));
    PetscCallGp(dev, "stream", GpDevPopStream(dev));
    GpDevFree(dev, &kept, n);
    PetscCallGp(dev, "memory", GpDevAlloc(dev, n, &kept));
    PetscCallGp(dev, "zero", GpDevZero(dev, kept, n));
    PetscCallGp(dev, "download", GpDevDownload(dev, out, shared, n));
    PetscCheck(!memcmp(in, out, n), PETSC_COMM_SELF, PETSC_ERR_PLIB, "Turn %d: memory was used again while the second stream read it", turn);
  }
  PetscCheck(GpDevPopStream(dev) == GP_ERR_ARGUMENT, PETSC_COMM_SELF, PETSC_ERR_PLIB, "A stream was popped that was not pushed");
  PetscCallGp(dev, "nothing", GpDevBorrow(dev, 0, &work));
  PetscCheck(!work, PETSC_COMM_SELF, PETSC_ERR_PLIB, "A workspace of 0 bytes has an address");
  GpDevFree(dev, &kept, n);
  GpDevFreeShared(dev, &shared, n);
  PetscCheck(!kept && !shared && GpDevBytesHeld(dev) == held, PETSC_COMM_SELF, PETSC_ERR_PLIB, "the counter bytes_held is %g after all memory was freed", GpDevBytesHeld(dev));
  PetscCall(PetscFree2(in, out));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "workspace follows the order of the stream\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckZero(GpDev dev, const char *p, size_t n)
{
  char *out;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, &out));
  PetscCallGp(dev, "download", GpDevDownload(dev, out, p, n));
  for (size_t i = 0; i < n; i++) PetscCheck(!out[i], PETSC_COMM_SELF, PETSC_ERR_PLIB, "Byte %zu of %zu of a clean workspace is %d, not 0", i, n, out[i]);
  PetscCall(PetscFree(out));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Clean workspace contains zeros: in each size, in two workspaces at once, on each stream, whatever its previous owners wrote. */
static PetscErrorCode TestClean(GpDev dev)
{
  const size_t sizes[] = {1, 4096, 3 << 20, 5, 2 << 20, GP_DEV_CLEAN, GP_DEV_CLEAN + 1, 4096};
  const double held    = GpDevBytesHeld(dev);
  char        *dirt, *first, *second;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(GP_DEV_CLEAN + 1, &dirt));
  memset(dirt, 77, GP_DEV_CLEAN + 1);
  for (size_t k = 0; k < 12; k++) {
    const size_t n = sizes[k % PETSC_STATIC_ARRAY_LENGTH(sizes)], clean = k % 2 ? n / 3 : 0; /* bytes at the beginning that the owner leaves zero */

    if (k % 6 == 2) PetscCallGp(dev, "stream", GpDevPushStream(dev, GP_DEV_STREAM_SIDE));
    if (k % 6 == 5) PetscCallGp(dev, "stream", GpDevPopStream(dev));
    PetscCallGp(dev, "clean workspace", GpDevBorrowClean(dev, n, &first));
    PetscCallGp(dev, "clean workspace", GpDevBorrowClean(dev, n, &second));
    PetscCheck(first != second && GpDevBytesHeld(dev) == held + 2.0 * (double)n, PETSC_COMM_SELF, PETSC_ERR_PLIB, "the counter bytes_held is %g", GpDevBytesHeld(dev));
    PetscCall(CheckZero(dev, first, n));
    PetscCall(CheckZero(dev, second, n));
    PetscCallGp(dev, "upload", GpDevUpload(dev, first + clean, dirt, n - clean));
    PetscCallGp(dev, "upload", GpDevUpload(dev, second, dirt, n));
    GpDevReturnClean(dev, &first, n, clean);
    GpDevReturnClean(dev, &second, n, 0);
    PetscCheck(!first && !second && GpDevBytesHeld(dev) == held, PETSC_COMM_SELF, PETSC_ERR_PLIB, "the counter bytes_held is %g after all memory was freed", GpDevBytesHeld(dev));
  }
  PetscCallGp(dev, "nothing", GpDevBorrowClean(dev, 0, &first));
  PetscCheck(!first, PETSC_COMM_SELF, PETSC_ERR_PLIB, "A workspace of 0 bytes has an address");
  PetscCall(PetscFree(dirt));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "clean workspace is zero\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* GpDevFetchBegin() reads its source before the next owner writes there, and another download may take place before GpDevFetchEnd(). */
static PetscErrorCode TestFetch(GpDev dev)
{
  unsigned char in[GP_DEV_FETCH], out[GP_DEV_FETCH], other[GP_DEV_FETCH], *p;

  PetscFunctionBeginUser;
  for (size_t n = 4; n <= GP_DEV_FETCH; n *= 2) {
    for (size_t i = 0; i < n; i++) in[i] = (unsigned char)(7 * i + n);
    PetscCallGp(dev, "clean workspace", GpDevBorrowClean(dev, n, &p));
    PetscCallGp(dev, "upload", GpDevUpload(dev, p, in, n));
    PetscCallGp(dev, "start of a fetch", GpDevFetchBegin(dev, p, n));
    GpDevReturnClean(dev, &p, n, 0);
    PetscCallGp(dev, "clean workspace", GpDevBorrowClean(dev, n, &p));
    PetscCallGp(dev, "download", GpDevDownload(dev, other, p, n));
    PetscCallGp(dev, "end of a fetch", GpDevFetchEnd(dev, out, n));
    GpDevReturnClean(dev, &p, n, 0);
    PetscCheck(!memcmp(in, out, n), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%zu fetched bytes differ", n);
    for (size_t i = 0; i < n; i++) PetscCheck(!other[i], PETSC_COMM_SELF, PETSC_ERR_PLIB, "Byte %zu of %zu downloaded meanwhile is %d", i, n, other[i]);
  }
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "a few words are fetched in two steps\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static GpErr Refuse(void *context, size_t offset, size_t bytes, void *destination)
{
  memset(destination, 0, bytes);
  return offset + bytes > *(size_t *)context ? GP_ERR_ARGUMENT : GP_SUCCESS;
}

static PetscErrorCode TestErrors(GpDev dev)
{
  size_t available, total, limit = 2 * GP_DEV_STAGE_BYTES, n = 4 * GP_DEV_STAGE_BYTES;
  char  *p = (char *)&limit, why[256] = "";
  GpDev  other;
  double held = GpDevBytesHeld(dev);
  int    count;

  PetscFunctionBeginUser;
  PetscCallGp(dev, "memory", GpDevGetMemory(dev, &available, &total));
  PetscCheck(available <= total && total > 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%zu of %zu bytes are free", available, total);
  PetscCheck(GpDevBorrow(dev, (size_t)1 << 60, &p) == GP_ERR_MEMORY && !p, PETSC_COMM_SELF, PETSC_ERR_PLIB, "A workspace of an exabyte was borrowed");
  PetscCheck(GpDevAllocShared(dev, (size_t)1 << 60, &p) == GP_ERR_MEMORY && !p, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Shared memory of an exabyte was allocated");
  PetscCheck(GpDevAlloc(dev, (size_t)1 << 60, &p) == GP_ERR_MEMORY && !p, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Device memory of an exabyte was allocated");
  PetscCheck(strstr(GpDevError(dev), "1152921504606846976 bytes asked for"), PETSC_COMM_SELF, PETSC_ERR_PLIB, "The error message does not contain the number of bytes: %s", GpDevError(dev));
  PetscCheck(GpDevBytesHeld(dev) == held, PETSC_COMM_SELF, PETSC_ERR_PLIB, "bytes_held counts a failed allocation");
  PetscCallGp(dev, "after an error", GpDevAlloc(dev, n, &p));
  PetscCheck(GpDevUploadFilled(dev, p, n, Refuse, &limit) == GP_ERR_ARGUMENT, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The error of the fill function was not returned");
  limit = n;
  PetscCallGp(dev, "after an error of the fill function", GpDevUploadFilled(dev, p, n, Refuse, &limit));
  GpDevFree(dev, &p, n);
  if (GpDevCount(GP_DEV_CUDA, &count, why, sizeof(why))) PetscCheck(GpDevOpen(GP_DEV_CUDA, 0, &other, why, sizeof(why)) && !other && why[0], PETSC_COMM_SELF, PETSC_ERR_PLIB, "GpDevOpen() opened a GPU although there is none, or gave no message");
  else PetscCheck(GpDevOpen(GP_DEV_CUDA, count, &other, why, sizeof(why)) == GP_ERR_ARGUMENT && strstr(why, "asked for"), PETSC_COMM_SELF, PETSC_ERR_PLIB, "GpDevOpen() opened a GPU whose number is too large, or gave another message: %s", why);
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "errors have messages and leave no memory allocated\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static GpErr Pattern(void *context, size_t offset, size_t bytes, void *destination)
{
  for (size_t i = 0; i < bytes; i++) ((unsigned char *)destination)[i] = (unsigned char)((offset + i) * 131 + *(size_t *)context + ((offset + i) >> 20));
  return GP_SUCCESS;
}

/* pinned: 1: pinned buffers are used on the host backend too, as on a GPU */
static PetscErrorCode TestThreads(GpDev dev, int pinned)
{
  const GpDevKind kind    = dev->kind;
  const size_t    sizes[] = {0, 1, 7 * GP_DEV_STAGE_BYTES + 1, 8 * GP_DEV_STAGE_BYTES, 41 * GP_DEV_STAGE_BYTES - 3}, most = sizes[4];
  unsigned char  *in, *out;
  char           *p;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(most, &in, most + 1, &out));
  PetscCallGp(dev, "memory", GpDevAlloc(dev, most, &p));
  if (pinned) dev->kind = GP_DEV_CUDA;
  for (int threads = 0; threads < 20; threads = 2 * threads + 1) {
    for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(sizes); s++) {
      size_t n = sizes[s], limit = n - 1, start = s + (size_t)threads;

      for (size_t at = 0; at < n; at += GP_DEV_STAGE_BYTES) (void)Pattern(&start, at, PetscMin(GP_DEV_STAGE_BYTES, n - at), in + at);
      PetscCall(PetscMemzero(out, most + 1));
      PetscCallGp(dev, "upload", GpDevUploadByThreads(dev, threads, p, n, Pattern, &start));
      PetscCallGp(dev, "download", GpDevDownloadByThreads(dev, threads, out, p, n));
      PetscCheck(!memcmp(in, out, n) && !out[n], PETSC_COMM_SELF, PETSC_ERR_PLIB, "%zu bytes copied by %d threads differ", n, threads);
      if (n) PetscCheck(GpDevUploadByThreads(dev, threads, p, n, Refuse, &limit) == GP_ERR_ARGUMENT, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The error of the fill function was not returned");
    }
  }
  dev->kind = kind;
  GpDevFree(dev, &p, most);
  PetscCall(PetscFree2(in, out));
  if (pinned) PetscCall(PetscPrintf(PETSC_COMM_SELF, "several threads copy what one thread copies\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Refuses bytes beyond a limit. */
static GpErr RefuseSource(void *context, size_t offset, size_t bytes, const void *source)
{
  (void)source;
  return offset + bytes > *(size_t *)context ? GP_ERR_ARGUMENT : GP_SUCCESS;
}

static void CountIterations(void *context, int part, int64_t begin, int64_t end)
{
  unsigned char *count = (unsigned char *)context;

  (void)part;
  for (int64_t i = begin; i < end; i++) count[i]++;
}

/* Uploads that follow each other without a wait, downloads that convert or fail, and loops. The numbers of integers are chosen so that a download starts at any buffer of the ring. */
static PetscErrorCode TestConversions(GpDev dev, int pinned)
{
  const GpDevKind kind = dev->kind;
  const size_t    most = ((size_t)23 << 18) + 5;
  int32_t        *in[3], *p[3];
  int64_t        *out;
  unsigned char  *count;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(most, &out, most, &count));
  if (pinned) dev->kind = GP_DEV_CUDA;
  for (int a = 0; a < 3; a++) {
    PetscCall(PetscMalloc1(most, &in[a]));
    for (size_t i = 0; i < most; i++) in[a][i] = (int32_t)(i * 2654435761u + (unsigned)a);
    PetscCallGp(dev, "memory", GpDevAlloc(dev, most * sizeof(int32_t), &p[a]));
  }
  for (int threads = 0; threads < 8; threads = 2 * threads + 1) {
    size_t limit = most * sizeof(int32_t) - 1;

    for (int a = 0; a < 3; a++) PetscCallGp(dev, "upload", GpDevUploadByThreads(dev, threads, p[a], (most >> a) * sizeof(int32_t), NULL, in[a]));
    for (int a = 0; a < 3; a++) {
      PetscCall(PetscMemzero(out, most * sizeof(int64_t)));
      PetscCallGp(dev, "download", GpDevDownloadDrained(dev, threads, p[a], (most >> a) * sizeof(int32_t), GpDevDrainWiden, out));
      for (size_t i = 0; i < most >> a; i++) PetscCheck(out[i] == in[a][i], PETSC_COMM_SELF, PETSC_ERR_PLIB, "Integer %zu of %zu, copied by %d threads, came back as %lld", i, most >> a, threads, (long long)out[i]);
      for (size_t i = most >> a; i < most; i++) PetscCheck(!out[i], PETSC_COMM_SELF, PETSC_ERR_PLIB, "The download wrote beyond its end");
    }
    PetscCheck(GpDevDownloadDrained(dev, threads, p[0], most * sizeof(int32_t), RefuseSource, &limit) == GP_ERR_ARGUMENT, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The error of the function that stores the data was not returned");
  }
  for (int64_t n = 0; n < (int64_t)most; n = 3 * n + 1) {
    PetscCall(PetscMemzero(count, most));
    GpDevLoop(dev, GpDevLoopParts(n, 1000), n, CountIterations, count);
    for (int64_t i = 0; i < (int64_t)most; i++) PetscCheck(count[i] == (i < n), PETSC_COMM_SELF, PETSC_ERR_PLIB, "A loop of %lld ran iteration %lld %d times", (long long)n, (long long)i, (int)count[i]);
  }
  for (int a = 0; a < 3; a++) {
    GpDevFree(dev, &p[a], most * sizeof(int32_t));
    PetscCall(PetscFree(in[a]));
  }
  dev->kind = kind;
  PetscCall(PetscFree2(out, count));
  if (pinned) PetscCall(PetscPrintf(PETSC_COMM_SELF, "copies that convert, and loops, are complete\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestEvents(GpDev dev)
{
  GpDevEvent begin, end;
  double     seconds = -1;
  char      *p;

  PetscFunctionBeginUser;
  PetscCallGp(dev, "event", GpDevEventCreate(dev, &begin));
  PetscCallGp(dev, "event", GpDevEventCreate(dev, &end));
  PetscCallGp(dev, "waiting for an event that was never recorded", GpDevEventWait(dev, end));
  PetscCallGp(dev, "memory", GpDevAlloc(dev, 64 << 20, &p));
  PetscCallGp(dev, "record", GpDevEventRecord(dev, begin));
  PetscCallGp(dev, "work", GpDevZero(dev, p, 64 << 20));
  PetscCallGp(dev, "record", GpDevEventRecord(dev, end));
  PetscCallGp(dev, "wait", GpDevEventWait(dev, end));
  PetscCallGp(dev, "seconds", GpDevEventSeconds(dev, begin, end, &seconds));
  PetscCheck(seconds > 0 && seconds < 10, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Zeroing 64 MiB took %g seconds", seconds);
  PetscCallGp(dev, "sync", GpDevSync(dev));
  GpDevFree(dev, &p, 64 << 20);
  GpDevEventDestroy(dev, begin);
  GpDevEventDestroy(dev, end);
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "events complete in order\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  GpDev dev;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRSetUpDevice_Private());
  PetscCall(PetscGPUCSRGetDevice(&dev));
  PetscCall(TestCopies(dev));
  PetscCall(TestWorkSpace(dev));
  PetscCall(TestClean(dev));
  PetscCall(TestFetch(dev));
  PetscCall(TestErrors(dev));
  PetscCall(TestThreads(dev, 0));
  PetscCall(TestThreads(dev, 1));
  PetscCall(TestConversions(dev, 0));
  PetscCall(TestConversions(dev, 1));
  PetscCall(TestEvents(dev));
  PetscCall(PetscGPUCSRCloseDevice_Private());
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   test:

TEST*/
