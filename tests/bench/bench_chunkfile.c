/* Files of chunks (docs/streaming.md): rates of reading.  Writes CSV to standard output.  Uses no PETSc.

     bench_chunkfile [--host] [--repeats n] [--file name] [MiB]   defaults: 3 repeats, bench_chunkfile.tmp in the current folder, which is deleted, 1024 MiB

   First line: the rate of writing, until the disk has stored all, and the rate of one thread that checks chunks in memory.  Columns:
     cache      cold: the operating system was asked to forget the file before each run; warm: the file was read before
     reader     read: threads read and check chunks into memory of their own; pipeline: a visit of gpstream.h, whose threads read and check chunks, and which
                copies them to the device
     threads    number of threads that read
     GB/s       median rate
     plain      median rate of one thread that reads the file by pread() in pieces of 32 MiB and checks nothing, in turns with the reader
     ratio      median of the ratio of the two rates */
#include "bench/matrices.h"
#include "bench/order.h"
#include "mat/impls/gpucsr/spmv/stream/gpchunkfile.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define PIECE   ((size_t)32 << 20)
#define MOST    16 /* repeats and threads, at most */
#define ROWS    100000
#define COLUMNS 1000000
#define LENGTH  40 /* nonzeros of a row */

/* Ends the program with a message if a call has failed. */
#define TRY(call)   Require(call, why)
#define CHECK(call) Require(call, GpDevError(dev))

static const char *name = "bench_chunkfile.tmp";
static char        why[GP_CHUNK_FILE_WHY];
static int         repeats = 3, fd;
static GpChunkFile file;
static GpStream    stream;
static GpDev       dev;
static double      bytes; /* of all chunks */

static void Require(GpErr err, const char *message)
{
  if (!err) return;
  fprintf(stderr, "%s\n", message);
  (void)unlink(name);
  exit(1);
}

static double Now(void)
{
  struct timespec t;

  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Encodes a chunk of random columns and values. */
static unsigned char *EncodeChunk(GpChunkPlan *P)
{
  GpChunkSource  A    = {.m = ROWS, .n = COLUMNS, .prec = GP_F32, .rowbytes = 4, .colbytes = 4};
  uint64_t       seed = 1;
  unsigned char *chunk;
  BenchMatrix    M;

  BenchMatrixCreate(&M, ROWS, COLUMNS, (int64_t)ROWS * LENGTH);
  for (int32_t i = 0; i <= ROWS; i++) M.rowptr[i] = i * LENGTH;
  for (int32_t k = 0; k < M.nnz; k++) {
    M.col[k] = (int32_t)(BenchRandom(&seed) % COLUMNS);
    M.val[k] = BenchValue(&seed);
  }
  A.rowptr = M.rowptr;
  A.col    = M.col;
  A.val    = M.val;
  TRY(GpChunkPlanRows(&A, 0, ROWS, P, why));
  chunk = (unsigned char *)malloc(P->head.bytes);
  if (!chunk) abort();
  GpChunkEncode(&A, P, chunk);
  BenchMatrixDestroy(&M);
  return chunk;
}

/* Writes a file of at least `total` bytes: one chunk again and again, each time as the rows that follow. */
static void WriteFile(double total)
{
  GpChunkPlan    P;
  unsigned char *chunk = EncodeChunk(&P);
  GpChunkWriter  w;
  double         check = 0, write = 0;
  int            n = 0;

  TRY(GpChunkWriterCreate(name, GP_F32, 0, COLUMNS, &w, why, sizeof(why)));
  for (; bytes < total; bytes += (double)P.head.bytes, n++) {
    P.head.first = (int64_t)n * ROWS;
    memcpy(chunk, &P.head, sizeof(P.head));
    check -= Now();
    P.head.checksum = GpChunkChecksum(chunk);
    check += Now();
    memcpy(chunk, &P.head, sizeof(P.head));
    write -= Now();
    TRY(GpChunkWriterAppend(w, chunk, why, sizeof(why)));
    write += Now();
  }
  write -= Now();
  TRY(GpChunkWriterFinish(&w, why, sizeof(why)));
  write += Now();
  printf("# %s, %d chunks of %.1f MB: written at %.2f GB/s, checked by one thread at %.2f GB/s\n", GpDevName(dev), n, 1e-6 * (double)P.head.bytes, 1e-9 * bytes / write, 1e-9 * bytes / check);
  free(chunk);
}

/* --- readers: each reads all chunks once ---------------------------------------------------------------------------------------------- */

static void *Touched(size_t size)
{
  void *memory = malloc(size);

  if (!memory) abort();
  memset(memory, 1, size);
  return memory;
}

static void *memories[MOST];

static void ReadPlain(int threads)
{
  off_t   at = 0;
  ssize_t n;

  while ((n = pread(fd, memories[0], PIECE, at)) > 0) at += n;
  (void)threads;
}

static int64_t next; /* chunk */

static void *ReadSome(void *memory)
{
  char    reason[GP_CHUNK_FILE_WHY];
  int64_t c;

  while ((c = __sync_fetch_and_add(&next, 1)) < GpChunkFileGetHeader(file)->chunks) {
    if (!GpChunkFileRead(file, c, memory, reason, sizeof(reason))) continue;
    fprintf(stderr, "%s\n", reason);
    exit(1);
  }
  return NULL;
}

static void ReadChunks(int threads)
{
  pthread_t thread[MOST];

  next = 0;
  for (int t = 0; t < threads; t++) {
    if (pthread_create(&thread[t], NULL, ReadSome, memories[t])) abort();
  }
  for (int t = 0; t < threads; t++) pthread_join(thread[t], NULL);
}

static GpErr Use(void *context, int64_t item, const void *device, void *result)
{
  return GP_SUCCESS;
}

static void VisitChunks(int threads)
{
  CHECK(GpStreamVisit(stream, Use, NULL));
  CHECK(GpStreamWait(stream));
  (void)threads;
}

static void OpenStream(int threads)
{
  const GpStreamOptions o = {.threads = threads};

  CHECK(GpStreamCreate(dev, &o, &stream));
  for (int64_t c = 0; c < GpChunkFileGetHeader(file)->chunks; c++) {
    const GpStreamItem item = {.bytes = GpChunkFileGetChunk(file, c)->bytes, .fill = GpChunkFileFill, .context = file};

    CHECK(GpStreamAdd(stream, &item));
  }
  CHECK(GpStreamSetUp(stream));
}

static double Run(void (*reader)(int), int threads, int cold)
{
  double seconds;

  if (cold) (void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
  seconds = -Now();
  reader(threads);
  return bytes / (seconds + Now());
}

/* Prints the median rates of a reader and of the plain reader, which take turns, so that other work of the machine slows both. */
static void Time(const char *label, void (*reader)(int), int threads, int cold)
{
  double plain[MOST], rate[MOST], ratio[MOST];

  for (int r = -1; r < repeats; r++) {
    const double p = Run(ReadPlain, 1, cold), q = Run(reader, threads, cold);

    if (r < 0) continue; /* the first runs fill the cache and touch the buffers */
    plain[r] = p;
    rate[r]  = q;
    ratio[r] = q / p;
  }
  qsort(plain, (size_t)repeats, sizeof(*plain), CompareDoubles);
  qsort(rate, (size_t)repeats, sizeof(*rate), CompareDoubles);
  qsort(ratio, (size_t)repeats, sizeof(*ratio), CompareDoubles);
  printf("%s,%s,%d,%.2f,%.2f,%.2f\n", cold ? "cold" : "warm", label, threads, 1e-9 * rate[repeats / 2], 1e-9 * plain[repeats / 2], ratio[repeats / 2]);
  fflush(stdout);
}

static void TimeAll(int cold)
{
  static const int threads[] = {1, 4, 8};

  for (int t = 0; t < 3; t++) {
    Time("read", ReadChunks, threads[t], cold);
    OpenStream(threads[t]);
    Time("pipeline", VisitChunks, threads[t], cold);
    GpStreamDestroy(&stream);
  }
}

int main(int argc, char **argv)
{
  double total = 1024;
  int    host  = 0;

  if (argc > 1 && !strncmp(argv[1], "-", 1) && strncmp(argv[1], "--", 2)) argc = 1; /* options of PETSc, which `make bench` passes to all benchmarks */
  for (int a = 1; a < argc; a++) {
    if (!strcmp(argv[a], "--host")) host = 1;
    else if (!strcmp(argv[a], "--repeats") && a + 1 < argc) repeats = atoi(argv[++a]);
    else if (!strcmp(argv[a], "--file") && a + 1 < argc) name = argv[++a];
    else total = atof(argv[a]);
  }
  if (total < 1 || repeats < 1 || repeats > MOST) {
    fprintf(stderr, "the file needs at least 1 MiB, and 1 to %d repeats\n", MOST);
    return 1;
  }
  if (host || GpDevOpen(GP_DEV_CUDA, 0, &dev, why, sizeof(why))) TRY(GpDevOpen(GP_DEV_HOST, 0, &dev, why, sizeof(why)));
  WriteFile(total * (1 << 20));
  TRY(GpChunkFileOpen(name, &file, why, sizeof(why)));
  fd = open(name, O_RDONLY);
  if (fd < 0) abort();
  for (int k = 0; k < MOST; k++) memories[k] = Touched(PIECE);
  printf("cache,reader,threads,GB/s,plain,ratio\n");
  TimeAll(1);
  TimeAll(0);
  for (int k = 0; k < MOST; k++) free(memories[k]);
  (void)close(fd);
  GpChunkFileClose(&file);
  GpDevClose(&dev);
  (void)unlink(name);
  return 0;
}
