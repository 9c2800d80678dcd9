/* Measures the rates of transfers to the device by the pipeline of gpstream.h, without PETSc.

     bench_stream [MiB of a visit [repeats]]   defaults: 1024 MiB, 5 repeats. Without a GPU the host backend is timed, to test the program

   First lines: rates of plain copies of pinned memory in both directions, of copies within the device (bytes read plus bytes written), and of pinning. Then CSV:
     source     pinned: in place; pageable: threads copy it to staging buffers
     threads    number of threads that fill staging buffers; 0: the thread that calls GpStreamVisit()
     MiB        size of an item
     buffers    number of device buffers; 1: transfers and work take turns
     results    bytes of a result as a fraction of the bytes of its item
     resident   fraction of the items that stay on the device
     GB/s       bytes transferred in a visit over its time; visits follow each other without a wait
     link       GB/s over the rate of plain copies
     transfer   rate of the single transfers in GB/s, timed by events
     host_us    microseconds until GpStreamVisit() returns; it does not wait for work on the device unless a queue of the GPU is full
     wait_us    microseconds in which GpStreamVisit() waited for fills and for free staging buffers

   The work on an item is one copy of the item within the device. */
#include "bench/device.h"
#include "device/gpstream.h"

#include <string.h>
#include <time.h>

#define PLAIN   ((size_t)256 << 20) /* bytes of a plain copy */
#define REPEATS 15
#define MiB     ((size_t)1 << 20)

typedef struct {
  int    pinned, threads, buffers;
  size_t item;    /* bytes */
  int    results; /* an item has this many times as many bytes as its result; 0: there are no results */
  double resident;
} Case;

static unsigned char *source[2], *back; /* pageable and pinned memory of a visit, pinned memory for results */
static void          *scratch;          /* device memory for the work */
static size_t         total;            /* bytes of a visit */
static int            repeats = 5;
static double         linkrate;

static double Now(void)
{
  struct timespec t;

  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static GpErr Use(void *context, int64_t item, const void *device, void *result)
{
  const Case *c   = (const Case *)context;
  const GpErr err = GpDevCopyWithin(dev, scratch, device, c->item);

  (void)item;
  return err || !result ? err : GpDevCopyWithin(dev, result, device, c->item / (size_t)c->results);
}

/* Returns the median rate of a copy in bytes a second. */
static double PlainRate(GpErr (*copy)(GpDev, void *, const void *, size_t), void *to, const void *from, size_t bytes)
{
  double rate[REPEATS];

  for (int k = 0; k < REPEATS; k++) {
    double seconds;

    CHECK(GpDevEventRecord(dev, begin));
    CHECK(copy(dev, to, from, bytes));
    CHECK(GpDevEventRecord(dev, end));
    CHECK(GpDevEventWait(dev, end));
    CHECK(GpDevEventSeconds(dev, begin, end, &seconds));
    rate[k] = (double)bytes / seconds;
  }
  qsort(rate, REPEATS, sizeof(*rate), CompareDoubles);
  return rate[REPEATS / 2];
}

static void MeasurePlainRates(void)
{
  const size_t bytes = PLAIN < total ? PLAIN : total;
  void        *other;
  double       down;

  CHECK(GpDevAlloc(dev, bytes, &other));
  linkrate = PlainRate(GpDevCopyIn, scratch, source[1], bytes);
  down     = PlainRate(GpDevCopyOut, source[1], scratch, bytes);
  copyrate = 2 * PlainRate(GpDevCopyWithin, other, scratch, bytes);
  printf("%s: to the device %.1f GB/s, to the host %.1f GB/s, within the device %.0f GB/s\n", GpDevName(dev), 1e-9 * linkrate, 1e-9 * down, 1e-9 * copyrate);
  GpDevFree(dev, &other, bytes);
}

static GpStream Open(const Case *c)
{
  const GpStreamOptions o = {.buffers = c->buffers, .threads = c->threads, .resident = (size_t)(c->resident * (double)total)};
  GpStream              S;

  CHECK(GpStreamCreate(dev, &o, &S));
  for (size_t at = 0; at + c->item <= total; at += c->item) {
    GpStreamItem item = {.bytes = c->item, .host = source[c->pinned] + at, .pinned = c->pinned};

    if (c->results) {
      item.back_bytes = c->item / (size_t)c->results;
      item.back       = back + at / (size_t)c->results;
    }
    CHECK(GpStreamAdd(S, &item));
  }
  return S;
}

static void Finish(GpStream S)
{
  CHECK(GpDevSync(dev));
  CHECK(GpStreamWait(S));
}

/* Times visits that follow each other without a wait, and checks the last item and its result. */
static void Time(const Case *c)
{
  GpStream      S = Open(c);
  GpStreamInfo  first, last;
  double        host = 0, whole;
  const size_t  size = c->item < 4096 ? c->item : 4096, at = (total / c->item - 1) * c->item;
  unsigned char got[4096];

  CHECK(GpStreamVisit(S, Use, (void *)c));
  Finish(S);
  GpStreamGetInfo(S, &first);
  whole = -Now();
  for (int k = 0; k < repeats; k++) {
    host -= Now();
    CHECK(GpStreamVisit(S, Use, (void *)c));
    host += Now();
  }
  Finish(S);
  whole += Now();
  GpStreamGetInfo(S, &last);
  CHECK(GpDevDownload(dev, got, scratch, size));
  if (memcmp(got, source[c->pinned] + at, size) || (c->results && memcmp(back + at / (size_t)c->results, got, size / (size_t)c->results))) {
    fprintf(stderr, "the last item differs from its source\n");
    exit(1);
  }
  printf("%s,%d,%zu,%d,%.3f,%.2f,%.2f,%.3f,%.2f,%.0f,%.0f\n", c->pinned ? "pinned" : "pageable", c->threads, c->item / MiB, c->buffers, c->results ? 1.0 / c->results : 0.0, c->resident, 1e-9 * (last.moved - first.moved) / whole,
         (last.moved - first.moved) / whole / linkrate, last.timed_seconds > 0 ? 1e-9 * last.timed_bytes / last.timed_seconds : 0.0, 1e6 * host / repeats, 1e6 * (last.wait_seconds - first.wait_seconds) / repeats);
  fflush(stdout);
  GpStreamDestroy(&S);
}

static void TimeAll(void)
{
  static const size_t sizes[]   = {1, 4, 32};
  static const int    threads[] = {0, 1, 4, 8};

  printf("source,threads,MiB,buffers,results,resident,GB/s,link,transfer,host_us,wait_us\n");
  for (int s = 0; s < 3; s++) {
    for (int buffers = 1; buffers <= 4; buffers++) {
      const Case c = {.pinned = 1, .buffers = buffers, .item = sizes[s] * MiB};

      Time(&c);
      for (int t = 0; t < 4; t++) {
        const Case filled = {.threads = threads[t], .buffers = buffers, .item = sizes[s] * MiB};

        Time(&filled);
      }
    }
  }
  for (int buffers = 2; buffers <= 3; buffers++) {
    const Case results = {.pinned = 1, .buffers = buffers, .item = 32 * MiB, .results = 8}, half = {.pinned = 1, .buffers = buffers, .item = 32 * MiB, .resident = 0.5};

    Time(&results);
    Time(&half);
  }
}

int main(int argc, char **argv)
{
  char   why[256] = "";
  int    pinned, also;
  double seconds;

  if (argc > 1 && argv[1][0] == '-') argc = 1; /* options of PETSc, which `make bench` passes to all benchmarks */
  if (argc > 2) repeats = atoi(argv[2]);
  total = (size_t)(argc > 1 ? atol(argv[1]) : 1024) * MiB;
  if (total < 32 * MiB || repeats < 1) {
    fprintf(stderr, "a visit needs at least 32 MiB, and at least one repeat\n");
    return 1;
  }
  if (GpDevOpen(GP_DEV_CUDA, 0, &dev, why, sizeof(why))) {
    fprintf(stderr, "%s: timing the host backend\n", why);
    if (GpDevOpen(GP_DEV_HOST, 0, &dev, why, sizeof(why))) return 1;
  }
  CHECK(GpDevEventCreate(dev, &begin));
  CHECK(GpDevEventCreate(dev, &end));
  CHECK(GpDevAlloc(dev, PLAIN < total ? PLAIN : total, &scratch));
  source[0] = (unsigned char *)malloc(total);
  seconds   = -Now();
  CHECK(GpDevAllocHost(dev, total, &source[1], &pinned));
  seconds += Now();
  CHECK(GpDevAllocHost(dev, total / 8, &back, &also));
  if (!source[0] || !pinned || !also) {
    fprintf(stderr, "%zu bytes of host memory cannot be allocated or pinned: %s; give a smaller first argument\n", total, GpDevError(dev));
    return 1;
  }
  for (size_t k = 0; k < total; k++) source[0][k] = source[1][k] = (unsigned char)(k * 2654435761u >> 13);
  printf("pinned %zu MiB in %.3f s, with the allocation\n", total / MiB, seconds);
  MeasurePlainRates();
  TimeAll();
  free(source[0]);
  GpDevFreeHost(dev, &source[1], pinned);
  GpDevFreeHost(dev, &back, also);
  GpDevFree(dev, &scratch, PLAIN < total ? PLAIN : total);
  GpDevEventDestroy(dev, begin);
  GpDevEventDestroy(dev, end);
  GpDevClose(&dev);
  return 0;
}
