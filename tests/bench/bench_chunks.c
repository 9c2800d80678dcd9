/* Encodes matrices as chunks and decodes them (docs/streaming.md).  Writes CSV to standard output.  Uses no PETSc.

     bench_chunks [--host] [--double] [--data folder] [matrix ...]

   A matrix is a name of tests/bench/matrices.h or a real member of the corpus; "real" stands for all of these, which is the default.  --host: decode on the
   host.  --double: double storage; real members have values that single precision holds.

   Columns: matrix, rows, columns, nonzeros, chunks, encodings of the first chunk, bytes per nonzero of the chunks and of their three parts, nanoseconds per nonzero
   to encode by one thread, median picoseconds per nonzero to decode on the device, and to decode and multiply by the kernel csrvector8. */
#include "bench/corpus.h"
#include "bench/device.h"
#include "mat/impls/gpucsr/spmv/common/gpkernel.h"
#include "mat/impls/gpucsr/spmv/stream/gpchunk.h"

#include <time.h>

#define REPEATS 21

typedef struct {
  int64_t       n;
  GpChunkHeader head[4096];
  void         *device[4096];
  void         *work;
  size_t        workbytes;
  double        encode; /* seconds */
} Chunks;

static Chunks C;
static GpPrec prec = GP_F32;

static double Now(void)
{
  struct timespec now;

  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void Fail(const char *name, const char *why)
{
  fprintf(stderr, "%s: %s\n", name, why);
  exit(1);
}

/* Measures the rate at which the device copies 256 MiB. */
static void MeasureCopies(void)
{
  const size_t bytes = (size_t)256 << 20;
  double       seconds;
  char        *copy;

  CHECK(GpDevAlloc(dev, 2 * bytes, &copy));
  CHECK(GpDevZero(dev, copy, 2 * bytes));
  for (int r = 0; r < 2; r++) {
    CHECK(GpDevEventRecord(dev, begin));
    CHECK(GpDevCopyWithin(dev, copy, copy + bytes, bytes));
    CHECK(GpDevEventRecord(dev, end));
    CHECK(GpDevEventWait(dev, end));
    CHECK(GpDevEventSeconds(dev, begin, end, &seconds));
  }
  copyrate = 2 * (double)bytes / seconds;
  GpDevFree(dev, &copy, 2 * bytes);
}

static void Encode(const char *name, const BenchMatrix *A)
{
  const GpChunkSource S = {.m = A->m, .n = A->n, .prec = prec, .rowbytes = 4, .colbytes = 4, .rowptr = A->rowptr, .col = A->col, .val = A->val};
  char                why[GP_CHUNK_WHY];
  int64_t            *first;

  if (GpChunkCut(&S, GP_CHUNK_BYTES, &C.n, &first, why)) Fail(name, why);
  if (C.n > 4096) Fail(name, "more than 4096 chunks");
  C.encode = 0;
  for (int64_t c = 0; c < C.n; c++) {
    GpChunkPlan P;
    void       *chunk;
    double      start = Now();

    if (GpChunkPlanRows(&S, first[c], first[c + 1], &P, why)) Fail(name, why);
    C.encode += Now() - start;
    chunk = malloc(P.head.bytes);
    if (!chunk) abort();
    memset(chunk, 1, P.head.bytes); /* pages are allocated before the time is taken */
    start = Now();
    GpChunkEncode(&S, &P, chunk);
    C.encode += Now() - start;
    C.head[c] = P.head;
    if (GpChunkWorkspace(&P.head) > C.workbytes) C.workbytes = GpChunkWorkspace(&P.head);
    CHECK(GpDevAlloc(dev, P.head.bytes, &C.device[c]));
    CHECK(GpDevUpload(dev, C.device[c], chunk, P.head.bytes));
    free(chunk);
  }
  free(first);
}

/* Decodes all chunks, and multiplies if x is not NULL. Returns the median of the seconds. */
static double Decode(const double *x, double *y)
{
  double times[REPEATS];

  for (int r = -1; r < REPEATS; r++) {
    double seconds;

    CHECK(GpDevEventRecord(dev, begin));
    for (int64_t c = 0; c < C.n; c++) {
      GpCsr A;
      GpFmt F = {GP_FMT_CSR, &A, NULL};

      CHECK(GpChunkDecode(dev, &C.head[c], C.device[c], C.work, &A));
      if (x) CHECK(GpKernelTable[GP_SPMV_csrvector8].mult[GpDevKindOf(dev)][prec](&F, x, NULL, y + C.head[c].first));
    }
    CHECK(GpDevEventRecord(dev, end));
    CHECK(GpDevEventWait(dev, end));
    CHECK(GpDevEventSeconds(dev, begin, end, &seconds));
    if (r >= 0) times[r] = seconds;
  }
  qsort(times, REPEATS, sizeof(double), CompareDoubles);
  return times[REPEATS / 2];
}

static void Report(const char *name, const BenchMatrix *A, double decode, double both)
{
  static const char *const columns[] = {"plain", "offset", "difference"}, *const values[] = {"one", "code", "single", "double"};
  const GpChunkHeader *h    = &C.head[0];
  double               size = 0, rows = 0, cols = 0, vals = 0, nnz = A->nnz > 0 ? A->nnz : 1;

  for (int64_t c = 0; c < C.n; c++) {
    const uint64_t *at = C.head[c].offset;

    size += (double)C.head[c].bytes;
    rows += (double)(at[GP_CHUNK_AT_COLUMNS] - at[GP_CHUNK_AT_ROWS]);
    cols += (double)(at[GP_CHUNK_AT_TABLE] - at[GP_CHUNK_AT_COLUMNS]);
    vals += (double)(C.head[c].bytes - at[GP_CHUNK_AT_TABLE]);
  }
  printf("%s,%d,%d,%d,%d,rows %d columns %s %d values %s,%.2f,%.2f,%.2f,%.2f,%.1f,%.2f,%.2f\n", name, A->m, A->n, A->nnz, (int)C.n, C.n ? 8 * h->rowbytes : 0, C.n ? columns[h->columns] : "", C.n ? 8 * h->colbytes : 0, C.n ? values[h->values] : "",
         size / nnz, rows / nnz, cols / nnz, vals / nnz, 1e9 * C.encode / nnz, 1e12 * decode / nnz, 1e12 * both / nnz);
  fflush(stdout);
}

static void Bench(const char *name, BenchMatrix *A)
{
  const size_t bx = (size_t)A->n * sizeof(double), by = (size_t)A->m * sizeof(double);
  double      *x, *y, decode, both;

  Encode(name, A);
  CHECK(GpDevAlloc(dev, C.workbytes, &C.work));
  CHECK(GpDevAlloc(dev, bx, &x));
  CHECK(GpDevAlloc(dev, by, &y));
  CHECK(GpDevZero(dev, x, bx));
  decode = Decode(NULL, NULL);
  both   = Decode(x, y);
  Report(name, A, decode, both);
  for (int64_t c = 0; c < C.n; c++) GpDevFree(dev, &C.device[c], C.head[c].bytes);
  GpDevFree(dev, &C.work, C.workbytes);
  GpDevFree(dev, &x, bx);
  GpDevFree(dev, &y, by);
  C.workbytes = 0;
  BenchMatrixDestroy(A);
}

/* Returns 1 if a member of the corpus is a real matrix that `name` names. */
static int IsNamed(const CorpusJob *job, const char *name)
{
  return !strcmp(job->family, "real") && (!strcmp(name, "real") || !strcmp(name, job->name));
}

static void BenchByName(const char *name, const char *data)
{
  BenchMatrix A;
  CorpusJob  *jobs;
  int         n, found = 0;

  if (BenchNamed(name, &A)) {
    Bench(name, &A);
    return;
  }
  jobs = CorpusList(data, 1, &n);
  for (int j = 0; j < n; j++) {
    if (!IsNamed(&jobs[j], name)) continue;
    found = 1;
    if (jobs[j].make(&jobs[j], &A)) Bench(jobs[j].name, &A);
  }
  free(jobs);
  if (!found && strcmp(name, "real")) Fail(name, "there is no such matrix");
}

int main(int argc, char **argv)
{
  const char *data = "../shared/data";
  GpDevKind   kind = GP_DEV_CUDA;
  char        why[256];
  int         a = 1;

  for (; a < argc && argv[a][0] == '-'; a++) {
    if (!strcmp(argv[a], "--host")) kind = GP_DEV_HOST;
    else if (!strcmp(argv[a], "--double")) prec = GP_F64;
    else if (!strcmp(argv[a], "--data") && a + 1 < argc) data = argv[++a];
    else Fail(argv[a], "unknown option");
  }
  if (GpDevOpen(kind, 0, &dev, why, sizeof(why))) Fail("device", why);
  CHECK(GpDevEventCreate(dev, &begin));
  CHECK(GpDevEventCreate(dev, &end));
  MeasureCopies();
  printf("# %s, %s storage, copies %.0f GB/s\nmatrix,rows,columns,nonzeros,chunks,encodings,bytes,row bytes,column bytes,value bytes,encode ns,decode ps,decode and multiply ps\n", GpDevName(dev), prec == GP_F32 ? "single" : "double",
         1e-9 * copyrate);
  if (a == argc) BenchByName("real", data);
  for (; a < argc; a++) BenchByName(argv[a], data);
  GpDevEventDestroy(dev, begin);
  GpDevEventDestroy(dev, end);
  GpDevClose(&dev);
  return 0;
}
