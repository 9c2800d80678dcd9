/* Products with a matrix whose chunks exceed device memory. Uses no PETSc.

     bench_beyond [--host] [--repeats n] [--threads n] [GB | <factor>x]     defaults: 3 repeats, one thread for each core, 0.25 GB of chunks

   <factor>x, for example 1.05x, takes the factor times the device memory as the size of the chunks.

   All rows have 64 nonzeros in random columns of a million, with random values in double precision. The source of the rows repeats one block of rows, so that the matrix
   itself is never in memory; its chunks are. First line: the rate of plain copies of pinned memory. Then CSV:
     GB, nonzeros, chunks       size of the matrix
     memory                     device memory of the GPU in GB; the host backend has none of its own: 0
     resident                   bytes in GB that may stay on the device
     moved                      GB transferred in a product
     ms                         a product, median
     link                       bytes transferred over this time, as a fraction of plain copies
     encode_s, pin_s            seconds to encode and to allocate pinned memory
   The product is compared with the host's on the rows of the block, and bit by bit between all copies of a row. */
#define _GNU_SOURCE
#include "bench/matrices.h"
#include "bench/order.h"
#include "device/gpstream.h"
#include "mat/impls/gpucsr/operator/gpopchunks.h"
#include "mat/impls/gpucsr/spmv/common/gpkernel.h"

#include <sched.h>
#include <stdio.h>
#include <time.h>

#define LENGTH  64
#define COLUMNS 1000000
#define BLOCK   1500000  /* maximum number of rows of the block: more than GpOpChunksCreate() encodes at a time */
#define WINDOW  16777216 /* maximum number of rows whose row pointers are requested */
#define MOST    16       /* repeats */
#define PLAIN   ((size_t)256 << 20)

#define CHECK(call) \
  do { \
    if (call) Fail(GpDevError(dev)); \
  } while (0)

typedef struct {
  int64_t first, end;
} Piece;

static GpDev      dev;
static GpOpChunks chunks;
static int64_t    m, *rowptr; /* rowptr: [WINDOW + 1] of rows of equal length */
static int32_t   *col;        /* columns and values of the block */
static double    *val;
static Piece     *piece; /* rows whose nonzeros were requested at a time: the block from its beginning */
static int        pieces, repeats = 3, threads;
static double     link_rate, *x, *y; /* x, y: device */
static void      *work;

static double Now(void)
{
  struct timespec t;

  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void Fail(const char *why)
{
  fprintf(stderr, "bench_beyond: %s\n", why);
  exit(1);
}

static void *Allocate(size_t bytes)
{
  void *memory = malloc(bytes);

  if (!memory) Fail("out of host memory");
  return memory;
}

/* --- the matrix ---------------------------------------------------------------------------------------------------------------- */

static void CreateBlock(void)
{
  const int64_t rows = m < BLOCK ? m : BLOCK, window = m < WINDOW ? m : WINDOW;
  uint64_t      seed = 1;

  rowptr = (int64_t *)Allocate(((size_t)window + 1) * sizeof(*rowptr));
  col    = (int32_t *)Allocate((size_t)rows * LENGTH * sizeof(*col));
  val    = (double *)Allocate((size_t)rows * LENGTH * sizeof(*val));
  for (int64_t i = 0; i <= window; i++) rowptr[i] = i * LENGTH;
  for (int64_t k = 0; k < rows * LENGTH; k++) {
    col[k] = (int32_t)(((double)(k % LENGTH) + BenchUniform(&seed)) * (COLUMNS / LENGTH));
    val[k] = 2 * BenchUniform(&seed) - 1;
  }
}

static GpErr GetRows(void *context, int64_t first, int64_t end, int entries, GpChunkSource *rows, char why[GP_CHUNK_WHY])
{
  if (end - first > (entries ? BLOCK : WINDOW)) {
    (void)snprintf(why, GP_CHUNK_WHY, "%lld rows were requested at a time", (long long)(end - first));
    return GP_ERR_ARGUMENT;
  }
  (void)context;
  if (entries) {
    piece = (Piece *)realloc(piece, (size_t)(pieces + 1) * sizeof(*piece));
    if (!piece) Fail("out of host memory");
    piece[pieces++] = (Piece){first, end};
  }
  *rows = (GpChunkSource){.start = first, .m = end - first, .n = COLUMNS, .prec = GP_F64, .rowbytes = 8, .colbytes = 4, .rowptr = rowptr, .col = col, .val = val};
  return GP_SUCCESS;
}

/* --- products ------------------------------------------------------------------------------------------------------------------ */

static GpErr Multiply(void *context, int64_t item, const void *device, void *result)
{
  GpCsr       A;
  GpFmt       F   = {GP_FMT_CSR, &A, NULL};
  const GpErr err = GpChunkDecode(dev, &chunks.head[item], device, work, &A);

  (void)context;
  (void)result;
  return err ? err : GpKernelTable[GP_SPMV_csrvector8].mult[GpDevKindOf(dev)][GP_F64](&F, x, NULL, y + chunks.head[item].first);
}

static void Check(const double *hostx)
{
  double       *hosty = (double *)Allocate((size_t)m * sizeof(*hosty)), worst = 0;
  const int64_t rows = piece[0].end;

  CHECK(GpDevDownload(dev, hosty, y, (size_t)m * sizeof(*hosty)));
  for (int64_t i = 0; i < rows; i++) {
    double sum = 0;

    for (int64_t k = i * LENGTH; k < (i + 1) * LENGTH; k++) sum += val[k] * hostx[col[k]];
    if (!(fabs(sum - hosty[i]) <= worst)) worst = fabs(sum - hosty[i]);
  }
  if (!(worst < 1e-12 * LENGTH)) Fail("the product differs from that of the host");
  for (int p = 1; p < pieces; p++) {
    const int64_t n = piece[p].end - piece[p].first;

    if (n > rows || memcmp(hosty + piece[p].first, hosty, (size_t)n * sizeof(*hosty))) Fail("equal rows have different products");
  }
  free(hosty);
}

static void Time(double resident, double memory, const double *hostx)
{
  const GpStreamOptions o = {.threads = threads, .resident = (size_t)resident};
  GpStream              S;
  GpStreamInfo          info;
  double                seconds[MOST];

  CHECK(GpStreamCreate(dev, &o, &S));
  for (int64_t c = 0; c < chunks.table.nchunks; c++) {
    const GpStreamItem item = {.bytes = chunks.head[c].bytes, .host = chunks.chunk[c], .pinned = chunks.pinned[c]};

    CHECK(GpStreamAdd(S, &item));
  }
  CHECK(GpDevZero(dev, y, (size_t)m * sizeof(*y)));
  for (int r = -1; r < repeats; r++) {
    const double start = Now();

    CHECK(GpStreamVisit(S, Multiply, NULL));
    CHECK(GpDevSync(dev));
    CHECK(GpStreamWait(S));
    if (r >= 0) seconds[r] = Now() - start;
  }
  Check(hostx);
  GpStreamGetInfo(S, &info);
  qsort(seconds, (size_t)repeats, sizeof(*seconds), CompareDoubles);
  printf("%.3f,%.0f,%lld,%.1f,%.1f,%.2f,%.2f,%.3f,%.1f,%.1f\n", 1e-9 * chunks.bytes, (double)m * LENGTH, (long long)chunks.table.nchunks, 1e-9 * memory, 1e-9 * info.resident_bytes, 1e-9 * info.moved_last, 1e3 * seconds[repeats / 2],
         info.moved_last / seconds[repeats / 2] / link_rate, chunks.encode_seconds, chunks.pin_seconds);
  fflush(stdout);
  GpStreamDestroy(&S);
}

/* Measures plain copies of a piece of the chunks, which is pinned, in bytes a second. */
static void MeasureLink(void)
{
  const size_t bytes = chunks.bytes < (double)PLAIN ? chunks.head[0].bytes : PLAIN;
  double       seconds[9];
  void        *to;

  CHECK(GpDevAlloc(dev, bytes, &to));
  for (int r = 0; r < 9; r++) {
    CHECK(GpDevSync(dev));
    seconds[r] = -Now();
    CHECK(GpDevCopyIn(dev, to, chunks.chunk[0], bytes)); /* the chunks of a group follow each other in memory */
    CHECK(GpDevSync(dev));
    seconds[r] += Now();
  }
  qsort(seconds, 9, sizeof(*seconds), CompareDoubles);
  link_rate = (double)bytes / seconds[4];
  GpDevFree(dev, &to, bytes);
  printf("# %s, plain copies of pinned memory %.2f GB/s\n", GpDevName(dev), 1e-9 * link_rate);
}

static void TimeAll(double bytes)
{
  GpRowSource rows = {.n = COLUMNS, .prec = GP_F64, .get = GetRows};
  size_t      available, total;
  double     *hostx = (double *)Allocate(COLUMNS * sizeof(*hostx)), memory;
  uint64_t    seed  = 2;

  m = rows.m = (int64_t)(bytes / (LENGTH * 11.0)); /* 8 bytes a value, 3 a column */
  CreateBlock();
  CHECK(GpOpChunksCreate(dev, &rows, GP_CHUNK_BYTES, 0, threads, &chunks));
  MeasureLink();
  for (int i = 0; i < COLUMNS; i++) hostx[i] = BenchUniform(&seed);
  CHECK(GpDevAlloc(dev, COLUMNS * sizeof(*x), &x));
  CHECK(GpDevAlloc(dev, (size_t)m * sizeof(*y), &y));
  CHECK(GpDevAlloc(dev, chunks.work, &work));
  CHECK(GpDevUpload(dev, x, hostx, COLUMNS * sizeof(*x)));
  CHECK(GpDevGetMemory(dev, &available, &total));
  memory = GpDevHasMemory(dev) ? (double)total : 0;
  printf("GB,nonzeros,chunks,memory,resident,moved,ms,link,encode_s,pin_s\n");
  Time(0, memory, hostx);
  Time(memory > 0 && 0.8 * (double)available < 0.5 * chunks.bytes ? 0.8 * (double)available : 0.5 * chunks.bytes, memory, hostx);
  if (memory > 0 && chunks.bytes <= memory) printf("# the chunks do not exceed the device memory of %.1f GB\n", 1e-9 * memory);
  GpDevFree(dev, &x, COLUMNS * sizeof(*x));
  GpDevFree(dev, &y, (size_t)m * sizeof(*y));
  GpDevFree(dev, &work, chunks.work);
  GpOpChunksDestroy(&chunks);
  free(hostx);
  free(rowptr);
  free(col);
  free(val);
  free(piece);
}

int main(int argc, char **argv)
{
  double    bytes = 0.25e9, factor = 0;
  int       host = 0;
  size_t    available, total;
  cpu_set_t cores;
  char      why[256];

  threads = sched_getaffinity(0, sizeof(cores), &cores) ? 1 : CPU_COUNT(&cores);
  if (argc > 1 && argv[1][0] == '-' && argv[1][1] != '-') argc = 1; /* options of PETSc, which `make bench` passes to all benchmarks */
  for (int a = 1; a < argc; a++) {
    if (!strcmp(argv[a], "--host")) host = 1;
    else if (!strcmp(argv[a], "--repeats") && a + 1 < argc) repeats = atoi(argv[++a]);
    else if (!strcmp(argv[a], "--threads") && a + 1 < argc) threads = atoi(argv[++a]);
    else if (strchr(argv[a], 'x')) factor = atof(argv[a]);
    else bytes = 1e9 * atof(argv[a]);
  }
  if (bytes < 1e6 || repeats < 1 || repeats > MOST || threads < 1) Fail("the chunks need at least 0.001 GB, 1 to 16 repeats and at least one thread");
  if (host || GpDevOpen(GP_DEV_CUDA, 0, &dev, why, sizeof(why))) {
    if (GpDevOpen(GP_DEV_HOST, 0, &dev, why, sizeof(why))) Fail(why);
  }
  CHECK(GpDevGetMemory(dev, &available, &total));
  if (factor > 0 && GpDevHasMemory(dev)) bytes = factor * (double)total;
  TimeAll(bytes);
  GpDevClose(&dev);
  return 0;
}
