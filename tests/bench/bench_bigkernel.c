/* The programs k-means, Netflix and Affinity of BigKernel (Mokhtari and Stumm 2014), on the host and through the pipeline of gpstream.h. Uses no PETSc.

     bench_bigkernel [--host] [--program name] [--scale x] [--repeats n] [--threads n] [--item MiB] [--ratings file] [--write file]

     --program  kmeans, netflix or affinity; default: all of them
     --scale    fraction of the records of the paper, which has 6.0 to 6.6 GB a program; default 0.02
     --repeats  passes that are timed; default 5. The serial program of the host runs one pass
     --threads  threads of the host; default: one for each core
     --item     upper bound on the size of an item of the pipeline; default 32 MiB
     --ratings  the ratings of netflix, a file in Matrix Market format; default: generated
     --write    file for the target of netflix and its correlations, one a line

   The answers of all variants must have the same bits. The program ends with an error if one differs. CSV, in which times are medians:
     program, variant, layout, buffers
                          assembled: threads gather the fields from whole records in each pass, as BigKernel does; all other variants transfer pinned memory in place
     ms                   a pass, from the first transfer until the answer is on the host
     bytes, back          bytes transferred to the device and to the host in a pass
     link                 bytes over ms, as a fraction of the rate of plain copies of pinned memory
     serial, threaded, single, double   times of these variants over ms
     transfer_ms          bytes over the rate of the single transfers, a sample of which is timed by events
     compute_ms           work of the device in a pass, timed by events
     fill_ms              time in fills, summed over the threads; wait_ms: time that the host waited for fills
     prepare_s, pin_s     seconds to create the layout once, without pinning, and to pin it */
#define _GNU_SOURCE
#include "bench/bigkernel_layout.h"
#include "bench/order.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST 64 /* repeats */
#define CHECK(call) \
  do { \
    if (call) BkFail(#call, GpDevError(dev)); \
  } while (0)

typedef struct {
  const char  *name;
  BkLayoutKind kind;
  int          assembled, buffers;
} Variant;

static const Variant Variants[] = {
  {"single buffer", BK_RECORDS, 0, 1}, {"double buffer", BK_RECORDS, 0, 2}, {"overlap", BK_RECORDS, 0, 3}, {"volume, assembled", BK_USED, 1, 3}, {"volume", BK_USED, 0, 3}, {"layout", BK_COLUMNS, 0, 3}, {"encoding", BK_ENCODED, 0, 3},
};

typedef struct {
  const BkLayout *layout;
  GpDevEvent     *begin, *end; /* of each item, or NULL */
} Pass;

static GpDev   dev;
static int     threads, repeats = 5;
static size_t  item = (size_t)32 << 20;
static double  link_rate, base[4]; /* bytes a second of plain copies; milliseconds of serial, threaded, single, double */
static void   *answer;             /* of the serial program */
static double *labels;

/* --- comparing with the serial program ----------------------------------------------------------------------------------------- */

typedef struct {
  BkProgram p;
  int64_t   wrong;
} Compare;

static void CompareLabels(void *context, int thread, int64_t begin, int64_t end)
{
  Compare *c = (Compare *)context;

  (void)thread;
  if (memcmp(c->p->labels + begin, labels + begin, (size_t)(end - begin) * sizeof(double))) __atomic_fetch_add(&c->wrong, 1, __ATOMIC_RELAXED);
}

static void ClearLabels(void *context, int thread, int64_t begin, int64_t end)
{
  (void)thread;
  memset(((BkProgram)context)->labels + begin, 255, (size_t)(end - begin) * sizeof(double));
}

static void KeepLabels(void *context, int thread, int64_t begin, int64_t end)
{
  (void)thread;
  memcpy(labels + begin, ((BkProgram)context)->labels + begin, (size_t)(end - begin) * sizeof(double));
}

/* Clears the answer, so that an earlier answer cannot pass for that of the next variant. */
static void Clear(BkProgram p)
{
  memset(p->answer, 255, p->answerbytes);
  if (p->back) BkParallel(threads, p->records, ClearLabels, p);
}

static void Check(BkProgram p, const char *variant)
{
  Compare c = {p, 0};

  if (memcmp(p->answer, answer, p->answerbytes)) BkFail(variant, "the answer is not that of the serial program");
  if (p->back) BkParallel(threads, p->records, CompareLabels, &c);
  if (c.wrong) BkFail(variant, "labels are not those of the serial program");
}

/* --- timing -------------------------------------------------------------------------------------------------------------------- */

static void MeasureLink(const void *pinned, size_t bytes)
{
  double     seconds[9];
  GpDevEvent begin, end;
  void      *to;

  if (bytes > (size_t)256 << 20) bytes = (size_t)256 << 20;
  CHECK(GpDevAlloc(dev, bytes, &to));
  CHECK(GpDevEventCreate(dev, &begin));
  CHECK(GpDevEventCreate(dev, &end));
  for (int r = 0; r < 9; r++) {
    CHECK(GpDevEventRecord(dev, begin));
    CHECK(GpDevCopyIn(dev, to, pinned, bytes));
    CHECK(GpDevEventRecord(dev, end));
    CHECK(GpDevEventWait(dev, end));
    CHECK(GpDevEventSeconds(dev, begin, end, &seconds[r]));
  }
  qsort(seconds, 9, sizeof(*seconds), CompareDoubles);
  link_rate = (double)bytes / seconds[4];
  GpDevEventDestroy(dev, begin);
  GpDevEventDestroy(dev, end);
  GpDevFree(dev, &to, bytes);
}

static GpErr Use(void *context, int64_t i, const void *device, void *result)
{
  const Pass *pass = (const Pass *)context;
  GpErr       err  = pass->begin ? GpDevEventRecord(dev, pass->begin[i]) : GP_SUCCESS;

  if (!err) err = BkLayoutUse(pass->layout, i, device, result);
  if (!err && pass->end) err = GpDevEventRecord(dev, pass->end[i]);
  return err;
}

static double RunPass(GpStream S, Pass *pass)
{
  const BkProgram p     = pass->layout->p;
  const double    start = BkNow();

  CHECK(p->begin(p));
  CHECK(GpStreamVisit(S, Use, pass));
  CHECK(p->end(p));
  CHECK(GpStreamWait(S));
  return BkNow() - start;
}

/* Returns the seconds of the work of the device in a pass. */
static double TimeWork(GpStream S, const BkLayout *L)
{
  const size_t n       = (size_t)L->items;
  GpDevEvent  *event   = (GpDevEvent *)calloc(2 * n, sizeof(*event));
  Pass         pass    = {L, event, event + n};
  double       seconds = 0, one;

  if (!event) BkFail(L->p->name, "out of memory");
  for (size_t i = 0; i < 2 * n; i++) CHECK(GpDevEventCreate(dev, &event[i]));
  (void)RunPass(S, &pass);
  for (size_t i = 0; i < n; i++) {
    CHECK(GpDevEventWait(dev, event[n + i]));
    CHECK(GpDevEventSeconds(dev, event[i], event[n + i], &one));
    seconds += one;
  }
  for (size_t i = 0; i < 2 * n; i++) GpDevEventDestroy(dev, event[i]);
  free(event);
  return seconds;
}

static void Ratio(double from, double ms)
{
  if (from > 0) printf(",%.2f", from / ms);
  else printf(",");
}

static void PrintRow(BkProgram p, const char *variant, const char *layout, int buffers, double ms, double bytes, double back)
{
  printf("%s,\"%s\",%s,%d,%.3f,%.0f,%.0f,", p->name, variant, layout, buffers, ms, bytes, back);
  if (bytes > 0) printf("%.3f", bytes / (1e-3 * ms) / link_rate);
  for (int k = 0; k < 4; k++) Ratio(base[k], ms);
}

static void TimeVariant(BkProgram p, const Variant *v)
{
  BkLayout     L;
  Pass         pass = {&L, NULL, NULL};
  GpStream     S;
  GpStreamInfo before, after;
  double       seconds[MOST], work, bytes, rate;

  BkLayoutCreate(p, v->kind, v->assembled, item, &L);
  if (v->kind == BK_RECORDS && v->buffers == 1 && L.pinned) MeasureLink(L.memory, (size_t)L.bytes);
  CHECK(BkLayoutOpen(&L, v->buffers, &S));
  Clear(p);
  (void)RunPass(S, &pass);
  Check(p, v->name);
  Clear(p);
  GpStreamGetInfo(S, &before);
  for (int r = 0; r < repeats; r++) seconds[r] = RunPass(S, &pass);
  GpStreamGetInfo(S, &after);
  Check(p, v->name);
  work = TimeWork(S, &L);
  qsort(seconds, (size_t)repeats, sizeof(*seconds), CompareDoubles);
  if (v->kind == BK_RECORDS && v->buffers <= 2) base[1 + v->buffers] = 1e3 * seconds[repeats / 2];
  bytes = (after.moved - before.moved) / repeats;
  rate  = after.timed_seconds > 0 ? after.timed_bytes / after.timed_seconds : 0;
  PrintRow(p, v->name, BkLayoutNames[v->kind], v->buffers, 1e3 * seconds[repeats / 2], bytes, (after.returned - before.returned) / repeats);
  printf(",%.3f,%.3f,%.3f,%.3f,%.3f,%.3f\n", rate > 0 ? 1e3 * bytes / rate : 0, 1e3 * work, 1e3 * (after.fill_seconds - before.fill_seconds) / repeats, 1e3 * (after.wait_seconds - before.wait_seconds) / repeats, L.prepare_seconds, L.pin_seconds);
  fflush(stdout);
  GpStreamDestroy(&S);
  BkLayoutDestroy(&L);
}

static void TimeHost(BkProgram p, const char *name, const BkView *v, const char *layout, int n, int times, double *ms)
{
  double seconds[MOST];

  for (int r = 0; r < times; r++) {
    Clear(p);
    seconds[r] = -BkNow();
    p->host(p, v, n);
    seconds[r] += BkNow();
  }
  qsort(seconds, (size_t)times, sizeof(*seconds), CompareDoubles);
  if (!answer) {
    answer = malloc(p->answerbytes);
    if (!answer) BkFail(p->name, "out of memory");
    memcpy(answer, p->answer, p->answerbytes);
    if (p->back) labels = (double *)BkAlloc((size_t)p->records * sizeof(double));
    if (p->back) BkParallel(threads, p->records, KeepLabels, p);
  }
  Check(p, name);
  if (ms) *ms = 1e3 * seconds[times / 2];
  PrintRow(p, name, layout, 0, 1e3 * seconds[times / 2], 0, 0);
  printf(",,,,,,\n");
  fflush(stdout);
}

static void TimeProgram(BkProgram p, double created)
{
  const BkView records = BkRecords(p, p->data, p->records);
  BkLayout     whole; /* columns of all records, for the host */
  BkView       columns;

  printf("# %s: %lld records of %zu bytes, created in %.2f s\n", p->name, (long long)p->records, p->bytes, created);
  memset(base, 0, sizeof(base));
  TimeHost(p, "serial", &records, "records", 1, 1, &base[0]);
  TimeHost(p, "threaded", &records, "records", threads, repeats, &base[1]);
  BkLayoutCreate(p, BK_COLUMNS, 0, (size_t)-1, &whole);
  columns = BkLayoutView(&whole, 0, whole.memory);
  TimeHost(p, "threaded, columns", &columns, "columns", threads, repeats, NULL);
  BkLayoutDestroy(&whole);
  for (size_t v = 0; v < sizeof(Variants) / sizeof(*Variants); v++) {
    if (Variants[v].kind != BK_ENCODED || p->useRows) TimeVariant(p, &Variants[v]);
  }
  if (link_rate > 0) printf("# %s: plain copies of pinned memory %.2f GB/s\n", p->name, 1e-9 * link_rate);
  free(answer);
  BkFree(labels, (size_t)p->records * sizeof(double));
  answer = NULL;
  labels = NULL;
}

static int CountCores(void)
{
  cpu_set_t cores;

  return sched_getaffinity(0, sizeof(cores), &cores) ? 1 : CPU_COUNT(&cores);
}

int main(int argc, char **argv)
{
  const char *program = NULL, *ratings = NULL, *write = NULL, *const names[] = {"kmeans", "netflix", "affinity"};
  double scale = 0.02;
  int    host = 0, found = 0;
  char   why[256];

  threads = CountCores();
  if (argc > 1 && argv[1][0] == '-' && argv[1][1] != '-') argc = 1; /* options of PETSc, which `make bench` passes to all benchmarks */
  for (int a = 1; a < argc; a++) {
    if (!strcmp(argv[a], "--host")) host = 1;
    else if (a + 1 == argc) BkFail(argv[a], "unknown option, or its value is missing");
    else if (!strcmp(argv[a], "--program")) program = argv[++a];
    else if (!strcmp(argv[a], "--scale")) scale = atof(argv[++a]);
    else if (!strcmp(argv[a], "--repeats")) repeats = atoi(argv[++a]);
    else if (!strcmp(argv[a], "--threads")) threads = atoi(argv[++a]);
    else if (!strcmp(argv[a], "--item")) item = (size_t)(atof(argv[++a]) * (1 << 20));
    else if (!strcmp(argv[a], "--ratings")) ratings = argv[++a];
    else if (!strcmp(argv[a], "--write")) write = argv[++a];
    else BkFail(argv[a], "unknown option");
  }
  if (scale < 1e-4 || scale > 4 || repeats < 1 || repeats > MOST || threads < 1 || item < 1) BkFail("options", "--scale must be 0.0001 to 4, --repeats 1 to 64, --threads at least 1, --item positive");
  if (host || GpDevOpen(GP_DEV_CUDA, 0, &dev, why, sizeof(why))) {
    if (GpDevOpen(GP_DEV_HOST, 0, &dev, why, sizeof(why))) BkFail("device", why);
  }
  printf("# %s, %d threads, items of %.2f MiB\nprogram,variant,layout,buffers,ms,bytes,back,link,serial,threaded,single,double,transfer_ms,compute_ms,fill_ms,wait_ms,prepare_s,pin_s\n", GpDevName(dev), threads, (double)item / (1 << 20));
  for (int k = 0; k < 3; k++) {
    struct BkProgram_ p;
    const double      start = BkNow();

    if (program && strcmp(program, names[k])) continue;
    found = 1;
    if (k == 0) BkKmeansCreate(dev, scale, threads, &p);
    else if (k == 1) BkNetflixCreate(dev, scale, threads, ratings, &p);
    else BkAffinityCreate(dev, scale, threads, &p);
    TimeProgram(&p, BkNow() - start);
    if (k == 1 && write) BkNetflixWrite(&p, write);
    p.destroy(&p);
  }
  GpDevClose(&dev);
  if (!found) BkFail("--program", "the programs are kmeans, netflix and affinity");
  return 0;
}
