/* Times every kernel of the table on every matrix of the corpus and on its transpose, and checks each product against sums in long double.
   Writes CSV to standard output, which tools/selector reads.  Uses no PETSc.  Options: bench_corpus --help

   A line of the table describes a matrix or its transpose:
   - sizes, features, and the kernel that the selector chose;
   - for every format: microseconds to build it, bytes in addition to the compressed rows, bytes that a product must read;
   - for every kernel and every algorithm of cuSPARSE: microseconds with warm caches, and with caches that were filled with other data.
   A field is empty if the format does not support the matrix.
   A kernel that is much slower than the best one in a trial run keeps the time of that run and has no cold time.  A kernel is timed again if its
   batches differ much from each other, or from the time that the cost model of the GPU predicts.  Then the smallest median is printed. */
#include "bench/corpus.h"
#include "bench/corpusqueue.h"
#include "bench/order.h"
#include "mat/impls/gpucsr/spmv/csr/csrnarrow.h"
#include "mat/impls/gpucsr/selector/gpselect.h"
#include "vec/kernels/gpveckernel.h"
#if GP_HAVE_CUDA
  #include "bench/rivals.h"
#endif

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define WARM         5     /* batches whose median is printed */
#define COLD         3     /* products whose median is printed */
#define BATCH_TIME   40e-6 /* target length of a batch in seconds */
#define BATCH_MOST   20    /* largest number of products in a batch; a batch of this length is recorded as a graph if the backend has graphs */
#define BUSY         48    /* operations of 2 microseconds each before a batch: while they run, the host launches the batch */
#define LAUNCH       3e-6  /* seconds that the host needs for one launch */
#define HOPELESS     4.0   /* a kernel is slow if it takes this many times as long as the best so far */
#define LOOKS        3     /* trial runs before a kernel counts as slow */
#define SURELY       25.0  /* from this ratio to the best on, one trial run is enough: the program train treats all ratios above 20 alike */
#define ROUNDS       4     /* largest number of rounds of batches */
#define LEAST_ROUNDS 2     /* smallest number of rounds */
#define UNSTEADY     1.2   /* a round is repeated if its median is this many times its minimum */
#define UNLIKELY     2.0   /* a round is repeated if the median and the predicted time differ by this factor */
#define LEAST_FILL   0.6   /* smallest share of nonzeros in the entries of a format of cuSPARSE */
#define TOLERANCE    1e-13 /* error of a product, relative to the sum of absolute values */

typedef struct {
  const char *data, *family, *only, *without, *log;
  double      scale, seconds, slowest;
  int         shard, shards, threads, every, list, plain, rivals, verbose, wrong;
  GpPrec      prec;
  GpDevKind   kind;
} Options;

static Options    opt = {.data = "../shared/data", .scale = 1, .seconds = 1e9, .slowest = 0.25, .shards = 1, .threads = 2, .every = 1, .kind = GP_DEV_CUDA};
static GpDev      dev;
static GpDevEvent begin, end;
static GpVecWork  work;
static char      *flush; /* read between cold products */
static size_t     flushed = (size_t)160 << 20;
static size_t     copied  = (size_t)2 << 30; /* bytes copied to measure the copy rate: so many that caches and launches do not matter */
static double     copyrate;

static char doing[160]; /* the work in progress, for error messages */

#define CHECK(call) \
  do { \
    if (call) { \
      fprintf(stderr, "%s:%d: %s: %s (%s)\n", __FILE__, __LINE__, #call, dev ? GpDevError(dev) : "no device", doing); \
      _exit(3); /* not exit(): threads may run, and the device may be lost. The current line of the table is lost too */ \
    } \
  } while (0)

static double Now(void)
{
  struct timespec now;

  CHECK(dev && GpDevSync(dev));
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* phases whose share of the run time is printed */
enum {
  WAIT,
  UPLOAD,
  FEATURES,
  BUILD,
  VERIFY,
  WARMLY,
  COLDLY,
  RIVAL,
  PHASES
};
static const char *const Phases[PHASES] = {"waiting for a matrix", "upload and transpose", "features", "formats", "verification", "warm", "cold", "rivals"};
static double            spent[PHASES], lap;

static void Lap(int phase)
{
  struct timespec now;
  double          time;

  clock_gettime(CLOCK_MONOTONIC, &now);
  time = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
  if (phase >= 0) spent[phase] += time - lap;
  lap = time;
}

typedef int (*Run)(void *);

/* Records products in a graph, which is launched at once.  Returns NULL if the backend has no graphs or the batch is short.
   The host needs longer for a launch than the GPU for a small product, so separate launches would measure the host. */
static GpGraph Record(Run run, void *context, int products)
{
  GpGraph graph = NULL;
  GpErr   err;

  if (!GpDevHasGraphs(dev) || products < BATCH_MOST) return NULL;
  CHECK(GpGraphCaptureBegin(dev, 0));
  for (int p = 0; p < products; p++)
    if (run(context)) products = 0;
  err = GpGraphCaptureEnd(dev, &graph);
  return err ? NULL : graph;
}

static GpGraph busy; /* small operations that keep the device busy while the host launches a few products */

static void RecordBusy(void)
{
  if (!GpDevHasGraphs(dev)) return;
  CHECK(GpGraphCaptureBegin(dev, 0));
  for (int i = 0; i < BUSY; i++) CHECK(GpDevZero(dev, flush, 256));
  CHECK(GpGraphCaptureEnd(dev, &busy));
}

/* Returns the seconds of a product.  The device is busy while the host launches the batch, so the launches are not part of the time. */
static double Batch(Run run, void *context, int products, GpGraph graph)
{
  double seconds;

  if (busy) CHECK(GpGraphLaunch(dev, busy));
  CHECK(GpDevEventRecord(dev, begin));
  if (graph) CHECK(GpGraphLaunch(dev, graph));
  else
    for (int p = 0; p < products; p++) CHECK(run(context));
  CHECK(GpDevEventRecord(dev, end));
  CHECK(GpDevEventWait(dev, end));
  CHECK(GpDevEventSeconds(dev, begin, end, &seconds));
  return seconds / products;
}

static int again; /* number of repeated trial runs and rounds */

/* A trial run of a product.  It is repeated if the kernel is slow, because then its time is the one that is printed. */
static double Look(Run run, void *context, double best)
{
  double look = Batch(run, context, 2, NULL);

  for (int l = 1; l < LOOKS && look > HOPELESS * best && look < SURELY * best; l++, again++) look = fmin(look, Batch(run, context, 2, NULL));
  return look;
}

static double Median(double times[], int n)
{
  qsort(times, (size_t)n, sizeof(double), CompareDoubles);
  return times[n / 2];
}

/* Returns the smallest median of several rounds of batches.  Each round records a graph of its own, because some graphs of the same launches take
   one or two microseconds longer per product; the cause is unknown.  There are more than two rounds only if the times of a round differ much from
   each other or from the predicted time (0: none). */
static double Warmly(Run run, void *context, int batch, double expected)
{
  double times[WARM], median = INFINITY;
  int    doubtful = 1;

  for (int round = 0; round < ROUNDS && (round < LEAST_ROUNDS || doubtful); round++) {
    GpGraph graph = Record(run, context, batch);

    for (int r = 0; r < WARM; r++) times[r] = Batch(run, context, batch, graph);
    median   = fmin(median, Median(times, WARM));
    doubtful = median > UNSTEADY * times[0] || (expected > 0 && (median > UNLIKELY * expected || expected > UNLIKELY * median));
    again += round >= LEAST_ROUNDS;
    GpGraphDestroy(dev, &graph);
  }
  return median;
}

/* Fills the cache with data that no product needs.  The data are read: written data would be written back during the product. */
static void Flush(void)
{
  CHECK(GpVecKernelsOf(dev)->reduce[GP_VEC_sum](&work, (int64_t)(flushed / sizeof(double)), (const double *)flush, NULL, 0));
  CHECK(GpVecWait(&work));
}

/* Returns the seconds of a product that has run once already.  *cold is 0 if it was not measured. */
static double Measure(Run run, void *context, double best, double expected, double *cold)
{
  double    times[COLD], look = Look(run, context, best);
  const int batch = look > BATCH_TIME ? 1 : look * BATCH_MOST < BATCH_TIME + 4 * LAUNCH * BATCH_MOST ? BATCH_MOST : (int)(BATCH_TIME / look) + 1;

  *cold = 0;
  if (look > HOPELESS * best) return look;
  look = Warmly(run, context, batch, expected);
  Lap(WARMLY);
  for (int r = 0; r < COLD; r++) {
    Flush();
    times[r] = Batch(run, context, 1, NULL);
  }
  *cold = Median(times, COLD);
  Lap(COLDLY);
  return look;
}

/* A matrix or its transpose on the device. */
typedef struct {
  GpCsr          csr;
  const int32_t *rowptr, *col; /* in host memory */
  double        *x, *y, *gold, *scale, *difference;
} Side;

typedef struct {
  const GpFmt *fmt;
  int          kernel;
  const Side  *side;
} Ours;

static int RunOurs(void *context)
{
  const Ours *o = (const Ours *)context;

  return GpKernelTable[o->kernel].mult[GpDevKindOf(dev)][o->side->csr.prec](o->fmt, o->side->x, NULL, o->side->y);
}

static double Error(const Side *S)
{
  const GpVecKernels *vec        = GpVecKernelsOf(dev);
  const double        scalars[3] = {-1, 0, 0};

  CHECK(vec->map[GP_VEC_waxpy](dev, S->csr.m, scalars, S->gold, S->y, S->difference));
  CHECK(vec->reduce[GP_VEC_maxratio](&work, S->csr.m, S->difference, S->scale, 0));
  CHECK(GpVecWait(&work));
  return work.result[0];
}

static int IsRight(const Side *S, const char *name, int side, const char *who)
{
  const double error = Error(S);

  if (error <= TOLERANCE) return 1;
  opt.wrong++;
  fprintf(stderr, "WRONG: %s %s %s: relative error %g\n", name, side ? "At" : "A", who, error);
  return 0;
}

/* Tells whether a name is in a list separated by commas. */
static int Among(const char *list, const char *name)
{
  const size_t n = strlen(name);

  for (const char *at = strstr(list, name); at; at = strstr(at + 1, name))
    if ((at == list || at[-1] == ',') && (at[n] == ',' || !at[n])) return 1;
  return 0;
}

static int Wanted(int kernel)
{
  const char *name = GpKernelTable[kernel].name;

  return (!opt.only || Among(opt.only, name)) && (!opt.without || (!Among(opt.without, name) && !Among(opt.without, GpFmtTable[GpKernelTable[kernel].format].name)));
}

static int FormatWanted(int format)
{
  for (int k = 0; k < GP_KERNELS; k++)
    if ((int)GpKernelTable[k].format == format && Wanted(k)) return 1;
  return 0;
}

/* Tells whether a kernel on compressed rows would take too long for the longest row.  A step of the lanes along a row takes at least 50 ns. */
static int TooUneven(const GpFeatures *F, int kernel, double best)
{
  const GpKernelRow *row = &GpKernelTable[kernel];

  return row->format == GP_FMT_CSR && row->lanes && GpDevKindOf(dev) == GP_DEV_CUDA && 50e-9 * (double)F->counts.longest / row->lanes > HOPELESS * best + 1e-4;
}

typedef struct {
  double build[GP_FORMATS], bytes[GP_FORMATS], traffic[GP_FORMATS]; /* build is 0 if the format does not support the matrix */
  double warm[GP_KERNELS], cold[GP_KERNELS];
  double expected[GP_KERNELS];     /* predicted seconds, by the model of this or the nearest GPU; 0 if the model has no coefficients of the kernel */
  char   refusal[GP_FORMATS][256]; /* message of a format that does not support the matrix */
} Times;

static void Expect(const GpFeatures *F, Times *T)
{
  const GpSelModel *model = GpSelModelNearest(F);
  double            us[GP_SEL_MODELLED];

  if (!model) return;
  GpSelModelTimes(model, F, us);
  for (int k = 0; k < model->kernels; k++) T->expected[model->kernel[k]] = 1e-6 * us[k];
}

static double slowness[GP_FORMATS]; /* seconds per nonzero to build a format: the slowest of the latest builds */

static void BenchFormat(const char *name, int side, const Side *S, const GpFeatures *F, int format, double *best, Times *T)
{
  GpFmt  fmt;
  Ours   ours = {&fmt, 0, S};
  double start;
  GpErr  err;

  if (!FormatWanted(format)) return;
  if (slowness[format] * S->csr.nnz > opt.slowest) {
    slowness[format] *= 0.98; /* after some matrices the format is tried again */
    return;
  }
  snprintf(doing, sizeof(doing), "%s %s format %s", name, side ? "At" : "A", GpFmtTable[format].name);
  start = Now();
  err   = GpFmtBuild(&fmt, (GpFmtId)format, &S->csr, S->rowptr);
  if (err == GP_ERR_DEVICE) CHECK(err);
  if (err) {
    snprintf(T->refusal[format], sizeof(T->refusal[format]), "%s", GpDevError(dev));
    return;
  }
  T->build[format] = Now() - start;
  Lap(BUILD);
  T->bytes[format]   = GpFmtBytes(&fmt);
  T->traffic[format] = GpFmtTraffic(&fmt);
  slowness[format]   = fmax(0.9 * slowness[format], T->build[format] / (S->csr.nnz + 1e5));
  for (int k = 0; k < GP_KERNELS; k++) {
    if ((int)GpKernelTable[k].format != format || !Wanted(k) || !GpKernelTable[k].mult[GpDevKindOf(dev)][S->csr.prec] || TooUneven(F, k, *best)) continue;
    ours.kernel = k;
    snprintf(doing, sizeof(doing), "%s %s kernel %s", name, side ? "At" : "A", GpKernelTable[k].name);
    CHECK(RunOurs(&ours));
    if (IsRight(S, name, side, GpKernelTable[k].name)) { /* a wrong product has no time */
      Lap(VERIFY);
      T->warm[k] = Measure(RunOurs, &ours, *best, T->expected[k], &T->cold[k]);
      if (T->warm[k] < *best) *best = T->warm[k];
    }
  }
  GpFmtDestroy(&fmt);
}

static void Cell(double value)
{
  if (value > 0) printf(",%.4g", value);
  else printf(",");
}

#if GP_HAVE_CUDA
/* Converts to a format of cuSPARSE only if padding or blocks leave few entries empty. */
static void BenchRivals(const char *name, int side, Side *S, const GpFeatures *F, const GpCsr *A, int transpose, double best)
{
  const double *value = F->value, fill[RIVALS] = {1, 1, 1, 1, 1 / fmax(value[GP_SEL_padding], 1), value[GP_SEL_block2], value[GP_SEL_block3], value[GP_SEL_block4], value[GP_SEL_block6]};

  for (int r = 0; r < RIVALS; r++) {
    Rival  R    = fill[r] < LEAST_FILL ? NULL : RivalCreate(r, A, S->rowptr, S->col, transpose, S->x, S->y);
    double warm = 0, cold = 0;

    if (R && !RivalRun(R) && IsRight(S, name, side, RivalNames[r])) {
      warm = Measure(RivalRun, R, best, 0, &cold);
      if (warm < best) best = warm;
    }
    Cell(1e6 * warm);
    Cell(1e6 * cold);
    RivalDestroy(&R);
  }
}

/* Creates the same matrix with double values. */
static void Widen(const GpCsr *A, const double *val, GpCsr *D)
{
  GpLoss loss;

  CHECK(GpCsrCreate(dev, GP_F64, A->m, A->n, A->nnz, D));
  CHECK(GpDevCopyWithin(dev, D->rowptr, A->rowptr, ((size_t)A->m + 1) * sizeof(int32_t)));
  CHECK(GpDevCopyWithin(dev, D->col, A->col, (size_t)A->nnz * sizeof(int32_t)));
  CHECK(GpCsrSetValues(D, val, &loss));
}
#endif

static double Upload(const double *host, int64_t n, double **device)
{
  CHECK(GpDevAlloc(dev, (size_t)n * sizeof(double), device));
  CHECK(GpDevUpload(dev, *device, host, (size_t)n * sizeof(double)));
  return (double)n;
}

/* Returns the kernel that a program would get: the first candidate whose format supports the matrix. */
static int Taken(const GpChoice *choice, const Times *T)
{
  int c = 0;

  while (c + 1 < choice->candidates && T->refusal[GpKernelTable[choice->candidate[c]].format][0]) c++;
  return choice->candidate[c];
}

/* Writes a line of the table.  The time of the features is that of the whole selection without building a format. */
static void BenchSide(const CorpusItem *item, int side, Side *S, double upload, double transpose, int rivals)
{
  const CorpusJob *job     = item->job;
  const GpCsr     *A       = &S->csr;
  Times            T       = {0};
  double           best    = 1, start, seconds;
  GpSelOptions     options = {GP_SELECT_MODEL, -1, -1};
  GpFeatures       F;
  GpChoice         choice;

  start = Now();
  CHECK(GpSelDecide(&options, A, &F, &choice));
  seconds = Now() - start;
  Expect(&F, &T);
  Lap(FEATURES);
  (void)Upload(item->x[side], A->n, &S->x);
  (void)Upload(item->gold[side], A->m, &S->gold);
  (void)Upload(item->scale[side], A->m, &S->scale);
  CHECK(GpDevAlloc(dev, (size_t)A->m * sizeof(double), &S->y));
  CHECK(GpDevAlloc(dev, (size_t)A->m * sizeof(double), &S->difference));
  BenchFormat(job->name, side, S, &F, GpKernelTable[GP_SPMV_csrsplit].format, &best, &T); /* first, because other times are compared with it */
  for (int f = 0; f < GP_FORMATS; f++)
    if (f != (int)GpKernelTable[GP_SPMV_csrsplit].format) BenchFormat(job->name, side, S, &F, f, &best, &T);

  printf("%s,%s,%s,%s,%d,%d,%d", job->name, job->family, job->kind, side ? "At" : "A", A->m, A->n, A->nnz);
  for (int f = 0; f < GP_FEATURES; f++) printf(",%.6g", F.value[f]);
  printf(",%s,%.4g,%.4g,%.4g", GpKernelTable[Taken(&choice, &T)].name, 1e6 * upload, 1e6 * transpose, 1e6 * seconds);
  for (int f = 0; f < GP_FORMATS; f++) {
    Cell(1e6 * T.build[f]);
    Cell(T.build[f] > 0 ? T.bytes[f] : 0);
    Cell(T.build[f] > 0 ? T.traffic[f] : 0);
    if (T.refusal[f][0] && opt.verbose) fprintf(stderr, "refused: %s %s %s: %s\n", job->name, side ? "At" : "A", GpFmtTable[f].name, T.refusal[f]);
  }
  for (int k = 0; k < GP_KERNELS; k++) {
    Cell(1e6 * T.warm[k]);
    Cell(1e6 * T.cold[k]);
  }
#if GP_HAVE_CUDA
  if (opt.rivals) {
    if (rivals) {
      GpCsr D;

      BenchRivals(job->name, side, S, &F, A, 0, best);
      Widen(A, side ? item->tval : item->A.val, &D);
      BenchRivals(job->name, side, S, &F, &D, 0, 2 * best);
      GpCsrDestroy(&D);
    } else
      for (int r = 0; r < 4 * RIVALS; r++) printf(",");
  }
#endif
  printf("\n");
  fflush(stdout);
  Lap(RIVAL);
  GpDevFree(dev, &S->x, (size_t)A->n * sizeof(double));
  GpDevFree(dev, &S->y, (size_t)A->m * sizeof(double));
  GpDevFree(dev, &S->gold, (size_t)A->m * sizeof(double));
  GpDevFree(dev, &S->scale, (size_t)A->m * sizeof(double));
  GpDevFree(dev, &S->difference, (size_t)A->m * sizeof(double));
}

static void Bench(const CorpusItem *item, int number)
{
  const BenchMatrix *B      = &item->A;
  const int          rivals = opt.rivals && number % opt.every == 0;
  Side               S = {.rowptr = B->rowptr, .col = B->col}, St = {.rowptr = item->trowptr, .col = item->tcol};
  double             start = Now(), upload, transpose;
  GpLoss             loss;

  CHECK(GpCsrCreate(dev, opt.prec, B->m, B->n, B->nnz, &S.csr));
  CHECK(GpCsrSetPattern(&S.csr, B->rowptr, B->col));
  CHECK(GpCsrSetValues(&S.csr, B->val, &loss));
  upload = Now() - start;
  start  = Now();
  CHECK(GpCsrTranspose(&S.csr, &St.csr, NULL));
  transpose = Now() - start;
  Lap(UPLOAD);
  BenchSide(item, 0, &S, upload, 0, rivals);
  BenchSide(item, 1, &St, 0, transpose, rivals);
  GpCsrDestroy(&S.csr);
  GpCsrDestroy(&St.csr);
}

static int RunCopy(void *context)
{
  return GpDevCopyWithin(dev, context, (char *)context + copied / 2, copied / 2);
}

static double CopyRate(void)
{
  char  *memory;
  double seconds[WARM];

  CHECK(GpDevAllocShared(dev, copied, &memory));
  CHECK(GpDevZero(dev, memory, copied));
  for (int r = 0; r < WARM; r++) seconds[r] = Batch(RunCopy, memory, 1, NULL);
  GpDevFreeShared(dev, &memory, copied);
  return (double)copied / Median(seconds, WARM); /* half of the bytes are read, half are written */
}

static void Head(void)
{
  printf("# %s, %d multiprocessors, cache %.0f bytes, copy rate %.4g bytes/s, %s values, warm: median of %d batches, cold: median of %d after %zu MiB of others were read, scale %g, shard %d/%d\n", GpDevName(dev), GpDevComputeUnits(dev),
         GpDevCacheBytes(dev), copyrate, opt.prec == GP_F32 ? "single" : "double", WARM, COLD, flushed >> 20, opt.scale, opt.shard, opt.shards);
  printf("matrix,family,kind,side,m,n,nnz");
  for (int f = 0; f < GP_FEATURES; f++) printf(",f:%s", GpFeatureNames[f]);
  printf(",chosen,upload,transpose,selection");
  for (int f = 0; f < GP_FORMATS; f++) printf(",b:%s,bytes:%s,traffic:%s", GpFmtTable[f].name, GpFmtTable[f].name, GpFmtTable[f].name);
  for (int k = 0; k < GP_KERNELS; k++) printf(",k:%s:%s,c:%s:%s", GpKernelTable[k].name, GpFmtTable[GpKernelTable[k].format].name, GpKernelTable[k].name, GpFmtTable[GpKernelTable[k].format].name);
#if GP_HAVE_CUDA
  for (int d = 0; opt.rivals && d < 2; d++)
    for (int r = 0; r < RIVALS; r++) printf(",r:%s:%s,rc:%s:%s", RivalNames[r], d ? "double" : "mixed", RivalNames[r], d ? "double" : "mixed");
#endif
  printf("\n");
}

static const char *const Help = "bench_corpus: times every kernel on every matrix of the corpus\n"
                                "  --list            tell the members, and stop\n"
                                "  --family words    only families or members whose name has these words; several are separated by commas\n"
                                "  --shard i/n       only every n-th member\n"
                                "  --scale s         sizes of generated members\n"
                                "  --data folder     real matrices and published statistics, default ../shared/data\n"
                                "  --seconds s       begin no matrix after so many\n"
                                "  --threads n       that generate matrices, default 2\n"
                                "  --device d        cuda (default) or host\n"
                                "  --storage p       single (default) or double\n"
                                "  --memory m        pool (default) or plain: every piece of memory input of the driver and given back to it\n"
                                "  --kernels names   only these, separated by commas\n"
                                "  --without names   not these kernels or formats\n"
                                "  --slowest s       no format whose building would take longer, default 0.25 seconds\n"
                                "  --rivals          cuSPARSE's formats too, with float and with double values\n"
                                "  --every n         on every n-th matrix\n"
                                "  --log file        go on: leave out members named there, and name there what is begun\n"
                                "  --verbose         tell why a format refuses a matrix\n";

static void Arguments(int argc, char **argv)
{
  for (int i = 1; i < argc; i++) {
    const char *name = argv[i], *value = i + 1 < argc ? argv[i + 1] : "";

    if (!strcmp(name, "--list")) opt.list = 1;
    else if (!strcmp(name, "--rivals")) opt.rivals = 1;
    else if (!strcmp(name, "--verbose")) opt.verbose = 1;
    else if (i + 1 == argc) {
      fputs(Help, stderr);
      exit(strcmp(name, "--help") ? 2 : 0);
    } else {
      i++;
      if (!strcmp(name, "--family")) opt.family = value;
      else if (!strcmp(name, "--scale")) opt.scale = atof(value);
      else if (!strcmp(name, "--data")) opt.data = value;
      else if (!strcmp(name, "--seconds")) opt.seconds = atof(value);
      else if (!strcmp(name, "--slowest")) opt.slowest = atof(value);
      else if (!strcmp(name, "--threads")) opt.threads = atoi(value);
      else if (!strcmp(name, "--every")) opt.every = atoi(value);
      else if (!strcmp(name, "--memory")) opt.plain = !strcmp(value, "plain");
      else if (!strcmp(name, "--kernels")) opt.only = value;
      else if (!strcmp(name, "--without")) opt.without = value;
      else if (!strcmp(name, "--log")) opt.log = value;
      else if (!strcmp(name, "--device")) opt.kind = strcmp(value, "host") ? GP_DEV_CUDA : GP_DEV_HOST;
      else if (!strcmp(name, "--storage")) opt.prec = strcmp(value, "double") ? GP_F32 : GP_F64;
      else if (strcmp(name, "--shard") || sscanf(value, "%d/%d", &opt.shard, &opt.shards) != 2) {
        fprintf(stderr, "bench_corpus: unknown option %s\n%s", name, Help);
        exit(2);
      }
    }
  }
}

/* Tells whether a member is named in the log of the run that this one continues.  The last member of the log, which stopped that run, is left out too. */
static int InLog(const char *name)
{
  FILE *file = opt.log ? fopen(opt.log, "r") : NULL;
  char  line[128];
  int   found = 0;

  while (file && !found && fgets(line, sizeof(line), file)) {
    line[strcspn(line, "\n")] = 0;
    found                     = !strcmp(line, name);
  }
  if (file) fclose(file);
  return found;
}

static void Begun(const char *name)
{
  FILE *file = opt.log ? fopen(opt.log, "a") : NULL;

  if (!file) return;
  fprintf(file, "%s\n", name);
  fclose(file);
}

/* Tells whether the family or the name of a member contains one of the words of --family. */
static int Asked(const CorpusJob *job)
{
  char words[1024], *rest = words;

  if (!opt.family) return 1;
  snprintf(words, sizeof(words), "%s", opt.family);
  for (const char *word = strtok_r(rest, ",", &rest); word; word = strtok_r(NULL, ",", &rest))
    if (strstr(job->family, word) || strstr(job->name, word)) return 1;
  return 0;
}

/* Keeps the members that this run measures. */
static int Select(CorpusJob *jobs, int n)
{
  int keep = 0;

  for (int k = 0; k < n; k++)
    if (!InLog(jobs[k].name) && k % opt.shards == opt.shard && Asked(&jobs[k])) jobs[keep++] = jobs[k];
  return keep;
}

static void Open(void)
{
  char why[256];

  if (GpDevOpen(opt.kind, 0, &dev, why, sizeof(why))) {
    printf("bench_corpus: skipped: %s\n", why);
    exit(0);
  }
  if (opt.plain) GpDevSetMemoryLimit(dev, 1e30); /* a limit excludes the memory pool */
  CHECK(GpDevEventCreate(dev, &begin));
  CHECK(GpDevEventCreate(dev, &end));
  CHECK(GpVecWorkCreate(dev, &work));
  if (GpDevKindOf(dev) == GP_DEV_HOST) flushed = copied = (size_t)16 << 20;
  CHECK(GpDevAlloc(dev, flushed, &flush));
  CHECK(GpDevZero(dev, flush, flushed));
  RecordBusy();
  copyrate = CopyRate();
}

static void Close(void)
{
  GpGraphDestroy(dev, &busy);
  GpDevFree(dev, &flush, flushed);
  GpVecWorkDestroy(&work);
  GpDevEventDestroy(dev, begin);
  GpDevEventDestroy(dev, end);
  if (GpDevBytesHeld(dev) != 0) {
    fprintf(stderr, "bench_corpus: %g bytes of device memory were not given back\n", GpDevBytesHeld(dev));
    opt.wrong++;
  }
  GpDevClose(&dev);
}

int main(int argc, char **argv)
{
  CorpusJob  *jobs;
  CorpusQueue queue;
  CorpusItem *item;
  int         n, done = 0;
  double      start;

  Arguments(argc, argv);
  setvbuf(stdout, NULL, _IOFBF, 1 << 16); /* writes whole lines only */
  jobs = CorpusList(opt.data, opt.scale, &n);
  n    = Select(jobs, n);
  if (opt.list) {
    for (int k = 0; k < n; k++) printf("%s,%s,%s,%.0f\n", jobs[k].name, jobs[k].family, jobs[k].kind, jobs[k].nnz);
    free(jobs);
    return 0;
  }
  Open();
  Head();
  start = Now();
  queue = CorpusQueueStart(jobs, n, opt.threads);
  Lap(-1);
  while ((item = CorpusQueueNext(queue))) {
    Lap(WAIT);
    Begun(item->job->name);
    if (item->A.rowptr) Bench(item, done++);
    else fprintf(stderr, "bench_corpus: %s could not be read\n", item->job->name);
    CorpusItemDestroy(&item);
    if (Now() - start > opt.seconds) break;
  }
  printf("# %d of %d members in %.1f seconds, %d wrong; %d looks and rounds beyond the first\n", done, n, Now() - start, opt.wrong, again);
  printf("# seconds:");
  for (int p = 0; p < PHASES; p++) printf("%s %s %.1f", p ? "," : "", Phases[p], spent[p]);
  printf("\n");
  CorpusQueueStop(&queue);
  Close();
  free(jobs);
  return opt.wrong ? 1 : 0;
}
