/* The pass of the smacof program on a GPU, without PETSc.

     bench_smacof [points ...]     times passes over distances of random features, default 10000 32768 100000 points: CSV on standard output
     bench_smacof --check [most [shared]]   compares the CUDA implementations with the host implementations: passes of all dimensions, storages and shapes, and the sums between them. most: maximum number of
                                            points; shared: bytes of shared memory for a block (65536: compute capability 7.5). The exit code is 1 if results differ

   Columns: median microseconds of a pass; the bytes of the dissimilarities that it must read; the rate of these bytes as a fraction of the GPU's copy rate, measured in the
   same run; and pairs a nanosecond, each pair counted once, which makes halves and rows comparable. */
#include "device/gpdeviceimpl.h"
#include "bench/device.h"
#include "solvers/smacof/pass/pass.h"
#include <limits.h>
#include <math.h>
#include <string.h>

#define REPEATS  15
#define FEATURES 10
#define COPY     ((size_t)1 << 30)

static double Random(uint64_t *state)
{
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(*state >> 11) / 9007199254740992.0;
}

static double *RandomArray(size_t n, uint64_t seed)
{
  double *a = (double *)malloc(sizeof(double) * (n ? n : 1));

  for (size_t k = 0; k < n; k++) a[k] = Random(&seed);
  return a;
}

static void *OnDevice(const void *from, size_t bytes)
{
  void *to;

  CHECK(GpDevAlloc(dev, bytes ? bytes : 1, &to));
  if (from) CHECK(GpDevUpload(dev, to, from, bytes));
  return to;
}

static void Release(const void *pointer)
{
  if (pointer) dev->ops->release(dev, (void *)pointer);
}

/* --- the device beside the host ------------------------------------------------------------------------------------------------ */

typedef enum {
  SINGLE,
  DOUBLE,
  FREE_EUCLIDEAN,
  FREE_COSINE,
  FREE_MANHATTAN,
  PAIRS,
  WEIGHTED,
  KINDS
} Kind;

static const char *const Kinds[] = {"single", "double", "euclidean", "cosine", "manhattan", "pairs", "weighted pairs"};

/* dissimilarities that are as they please, on the host, rows ld apart */
static void Fill(SMACOFPass *p, Kind kind, int64_t *start)
{
  const size_t each = p->single ? sizeof(float) : sizeof(double), N = (size_t)p->N, all = (size_t)p->rows * p->ld;
  int         *column = (int *)malloc(sizeof(int) * (all + 1));
  char        *delta = (char *)calloc(all + 1, each), *weight = (char *)calloc(all + 1, each);
  size_t       n = 0;

  for (int i = 0; i < p->rows; i++) {
    start[i] = (int64_t)n;
    for (size_t j = 0; j < N; j++) {
      const size_t low = (size_t)(p->first + i) < j ? (size_t)(p->first + i) : j, high = (size_t)(p->first + i) + j - low, at = kind >= PAIRS ? n : (size_t)i * p->ld + j;
      uint64_t     seed  = low * 1000003u + high + 1;
      double       value = (Random(&seed), Random(&seed)), w = 0.5 + Random(&seed);

      if (low == high) {
        if (kind >= PAIRS) continue;
        value = 0;
      }
      if (kind >= PAIRS && (low + high) % 3 == 0) continue;
      column[n++] = (int)j;
      if (p->single) ((float *)delta)[at] = (float)value, ((float *)weight)[at] = (float)w;
      else ((double *)delta)[at] = value, ((double *)weight)[at] = w;
    }
  }
  start[p->rows] = (int64_t)n;
  p->delta       = delta;
  p->column      = column;
  p->weight      = weight;
}

/* the largest difference, relative to the largest number or to the dissimilarities, of which the largest are 1 */
static double Difference(const double *a, const double *b, size_t n)
{
  double largest = 0, difference = 0;

  for (size_t k = 0; k < n; k++) {
    largest    = fmax(largest, fabs(b[k]));
    difference = fmax(difference, a[k] - a[k] == 0 ? fabs(a[k] - b[k]) : INFINITY);
  }
  return difference / fmax(largest, 1);
}

/* what the passes of a rank between others are made of: its own points, all of those after it, of some before it and some of its own rows half */
static void SetRanges(SMACOFPass *p, int halves)
{
  const int first = p->first, rows = p->rows, last = first + rows;

  if (!halves) {
    p->range[0] = (SMACOFPassRange){0, rows, 0, p->N, PASS_ROWS};
    p->nranges  = 1;
    return;
  }
  p->nranges  = 4;
  p->range[0] = (SMACOFPassRange){0, rows, first, last, PASS_TRIANGLE};
  p->range[1] = (SMACOFPassRange){0, rows, last, p->N, PASS_BOTH};
  p->range[2] = (SMACOFPassRange){0, rows, 0, first / 2, PASS_BOTH};
  p->range[3] = (SMACOFPassRange){rows / 2, rows, first / 2, first, PASS_BOTH};
  for (int k = 0; k < p->nranges; k++)
    if (p->range[k].c0 == p->range[k].c1) p->range[k--] = p->range[--p->nranges];
}

static int CheckOne(Kind kind, int N, int first, int rows, int dim, int single, SMACOFPassWork work, int halves)
{
  const size_t sums = (size_t)N * (size_t)(dim + 1), ld = ((size_t)N + 3) / 4 * 4;
  const double tolerance = work.mixed ? 3e-6 : 1e-12;
  int64_t     *start     = (int64_t *)malloc(sizeof(int64_t) * ((size_t)rows + 1));
  double   *x = RandomArray((size_t)N * (size_t)dim, 7), *formed = RandomArray((size_t)N * (size_t)dim, 12), *feature = RandomArray((size_t)N * FEATURES, 8), *mine = RandomArray(sums, 9), *again = RandomArray(sums, 10), *host = RandomArray(sums, 11);
  const int listed = kind >= PAIRS, computed = kind >= FREE_EUCLIDEAN && kind <= FREE_MANHATTAN;
  SMACOFPass h = {.N = N, .rows = rows, .dim = dim, .first = first, .single = single, .x = x, .xrow = x + first, .ldrow = (size_t)N, .ld = ld, .feature = feature, .frow = feature + first}, d;
  double     difference;
  int        wrong;

  if (work.mixed) { /* numbers that differ from the first one by floats, as the kernels round them */
    for (int k = 0; k < N * dim; k++) x[k] = floor(x[k] * (1 << 23)) / (1 << 23);
  }
  if (N > 5) {
    for (int c = 0; c < dim; c++) x[(size_t)c * N + 4] = x[(size_t)c * N + 1]; /* points that coincide */
  }
  for (int j = 0; j < N; j++) { /* of length 1, as cosines want them */
    double length = 0;

    for (int f = 0; f < FEATURES; f++) length += feature[(size_t)f * N + j] * feature[(size_t)f * N + j];
    for (int f = 0; f < FEATURES; f++) feature[(size_t)f * N + j] /= sqrt(length);
  }
  h.ldsum    = (size_t)N;
  h.nfeature = FEATURES;
  h.metric   = kind == FREE_COSINE ? PASS_COSINE : kind == FREE_MANHATTAN ? PASS_MANHATTAN : PASS_EUCLIDEAN;
  Fill(&h, kind, start);
  h.start  = listed ? start : NULL;
  h.bx     = host;
  h.stress = host + (size_t)N * (size_t)dim;
  SetRanges(&h, halves);
  d        = h;
  d.delta  = computed ? NULL : OnDevice(h.delta, (listed ? (size_t)start[rows] : (size_t)rows * ld) * (single ? sizeof(float) : sizeof(double)));
  d.weight = kind == WEIGHTED ? OnDevice(h.weight, (size_t)start[rows] * (single ? sizeof(float) : sizeof(double))) : NULL;
  if (listed) {
    d.start  = (const int64_t *)OnDevice(start, sizeof(int64_t) * ((size_t)rows + 1));
    d.column = (const int *)OnDevice(h.column, sizeof(int) * (size_t)start[rows]);
  }
  d.x            = (const double *)OnDevice(formed, sizeof(double) * (size_t)N * (size_t)dim);
  d.xrow         = d.x + first;
  d.form         = (SMACOFPassForm){.n = 3, .factor = {0.5, 0.25, 0.25}, .to = (double *)d.x};
  d.form.term[0] = d.form.term[1] = d.form.term[2] = (const double *)OnDevice(x, sizeof(double) * (size_t)N * (size_t)dim);
  d.feature                                        = (const double *)OnDevice(feature, sizeof(double) * (size_t)N * FEATURES);
  d.frow                                           = d.feature + first;
  d.bx                                             = (double *)OnDevice(NULL, sizeof(double) * sums);
  d.stress                                         = d.bx + (size_t)N * (size_t)dim;
  work.memory                                      = OnDevice(NULL, SMACOFGetPassMemory_CUDA(dev, &d));
  if (computed || kind == PAIRS) {
    free((void *)h.weight);
    h.weight = NULL;
  }
  if (computed) {
    free((void *)h.delta);
    h.delta = NULL;
  }
  SMACOFRunPass_Host(&h, 1);
  CHECK(SMACOFRunPass_CUDA(dev, &d, &work));
  CHECK(GpDevDownload(dev, mine, d.bx, sizeof(double) * sums));
  CHECK(GpDevZero(dev, d.bx, sizeof(double) * sums));
  CHECK(GpDevDownload(dev, formed, d.x, sizeof(double) * (size_t)N * (size_t)dim));
  d.form.n = 0;
  CHECK(SMACOFRunPass_CUDA(dev, &d, &work));
  CHECK(GpDevDownload(dev, again, d.bx, sizeof(double) * sums));
  difference = fmax(Difference(mine, host, (size_t)N * (size_t)dim), Difference(mine + (size_t)N * (size_t)dim, h.stress, (size_t)N));
  wrong      = !(difference <= tolerance) || memcmp(mine, again, sizeof(double) * sums) != 0 || memcmp(x, formed, sizeof(double) * (size_t)N * (size_t)dim) != 0;
  if (wrong)
    printf("not the same: %s, %s, %d points, rows %d to %d, dimension %d, %s, %s: differs by %.2e (%.0e allowed)%s\n", Kinds[kind], single ? "single" : "double", N, first, first + rows - 1, dim, work.mixed ? "mixed" : "double",
           halves ? "halves" : "rows", difference, tolerance, memcmp(mine, again, sizeof(double) * sums) ? ", and from run to run" : "");
  for (const void **a = (const void *[]){d.delta, d.weight, d.start, listed ? (const void *)d.column : NULL, d.x, d.form.term[0], d.feature, d.bx, work.memory, dev}; *a != dev; a++) Release(*a);
  free((void *)h.delta), free((void *)h.weight), free((void *)h.column), free(start), free(x), free(formed), free(feature), free(mine), free(again), free(host);
  return wrong;
}

/* enough for what few points have not: several ranges of some strips; runs of both lengths (passruns.h), some of which go on from one strip to the next */
static int CheckLarge(int *n)
{
  int wrong = 0;

  for (int halves = 0; halves < 2; halves++, ++*n) wrong += CheckOne(SINGLE, 3000, 700, 1501, 2, 1, (SMACOFPassWork){1, NULL}, halves);
  for (int dim = 1; dim <= 5; dim++, ++*n) wrong += CheckOne(SINGLE, 9001, 0, 9001, dim, 1, (SMACOFPassWork){1, NULL}, dim != 1);
  for (int halves = 0; halves < 2; halves++, ++*n) wrong += CheckOne(SINGLE, 9001, 0, 9001, 2, 1, (SMACOFPassWork){0, NULL}, halves);
  wrong += CheckOne(FREE_EUCLIDEAN, 9001, 0, 9001, 2, 0, (SMACOFPassWork){1, NULL}, 1);
  ++*n;
  return wrong;
}

/* Compares the sums of a configuration, and its inner products with `before` earlier pairs of differences; -1: it is the first configuration. */
static int CheckSums(int points, int dim, int before, int scaled)
{
  const size_t n = (size_t)points * (size_t)dim, places = (size_t)SMACOF_SUM_PARTS * (2 + (size_t)SMACOFCountBatches(SMACOF_HISTORY_LIMIT) * SMACOF_BATCH_SUMS), arrays = 8 + 2 * SMACOF_HISTORY_LIMIT;
  double      *values = RandomArray(arrays * n, 13), *host = RandomArray(4 * n, 14), *mine = RandomArray(4 * n, 15), *stress = RandomArray((size_t)points, 16), *result, *place, part[2 + 3 * SMACOF_HISTORY_LIMIT] = {0},
         truth[2 + 3 * SMACOF_HISTORY_LIMIT + SMACOF_BATCH_SUMS] = {0}, sums[2];
  double               *there = (double *)OnDevice(values, sizeof(double) * arrays * n), *theirs = (double *)OnDevice(stress, sizeof(double) * (size_t)points), *parts = (double *)OnDevice(NULL, sizeof(double) * 2 * SMACOF_SUM_PARTS);
  SMACOFSumsTask        s = {n, (size_t)points, there, there + n, theirs, parts, NULL}, hs = {n, (size_t)points, values, values + n, stress, sums, truth};
  SMACOFDifferencesTask q = {.n = n, .sums = scaled ? parts : NULL, .unit = 0.3 * points, .gfactor = 0.7, .X = there, .g = there + n, .before = before < 0 ? 0 : before}, h = q;
  int                   wrong;

  CHECK(GpDevAllocPinned(dev, sizeof(double) * places, (void **)&result));
  for (size_t k = 0; k < places; k++) result[k] = 0;
  s.result = result;
  q.result = result + 2 * SMACOF_SUM_PARTS;
  q.x = there + 4 * n, q.f = q.x + n, q.dx = q.f + n, q.df = q.dx + n;
  h.sums = scaled ? sums : NULL, h.X = values, h.g = values + n, h.x = host, h.f = host + n, h.dx = host + 2 * n, h.df = host + 3 * n, h.result = truth + 2;
  if (before >= 0) q.lastx = there + 2 * n, q.lastf = there + 3 * n, h.lastx = values + 2 * n, h.lastf = values + 3 * n;
  for (int k = 0; k < q.before; k++) {
    q.u[k] = there + (8 + 2 * (size_t)k) * n, q.v[k] = q.u[k] + n;
    h.u[k] = values + (8 + 2 * (size_t)k) * n, h.v[k] = h.u[k] + n;
  }
  SMACOFComputeSums_Host(&hs);
  SMACOFComputeDifferences_Host(&h);
  CHECK(SMACOFComputeSums_CUDA(dev, &s));
  CHECK(SMACOFComputeDifferences_CUDA(dev, &q));
  CHECK(GpDevDownload(dev, mine, q.x, sizeof(double) * 4 * n));
  for (int p = 0; p < SMACOF_SUM_PARTS; p++) {
    for (int k = 0; k < 2; k++) part[k] += result[2 * p + k];
    for (int k = 0; k < 3 * (before + 1); k++) {
      place = q.result + (size_t)(k / SMACOF_BATCH_SUMS * SMACOF_SUM_PARTS + p) * SMACOF_BATCH_SUMS + k % SMACOF_BATCH_SUMS;
      part[2 + k] += *place;
    }
  }
  wrong = !(Difference(part, truth, 2 + 3 * (size_t)(before + 1)) <= 1e-13 && Difference(mine, host, (before < 0 ? 2 : 4) * n) <= 1e-13);
  if (wrong) printf("not the same: sums of %d points in dimension %d beside %d pairs of differences%s\n", points, dim, before, scaled ? ", scaled" : "");
  GpDevFreePinned(dev, result);
  Release(there), Release(theirs), Release(parts);
  free(values), free(host), free(mine), free(stress);
  return wrong;
}

static int CheckAllSums(void)
{
  static const int points[] = {1, 2, 33, 1000, 40001}, before[] = {-1, 0, 1, 4, 5, SMACOF_HISTORY_LIMIT - 1};
  int              wrong = 0, n = 0;

  for (int k = 0; k < 5; k++) {
    for (int b = 0; b < 6; b++) {
      for (int scaled = 0; scaled < 2; scaled++, n++) wrong += CheckSums(points[k], 1 + (k + b) % PASS_MAX_DIM, before[b], scaled);
    }
  }
  printf("%d of %d sums of configurations differ from the host's\n", wrong, n);
  return wrong != 0;
}

static int Check(int most)
{
  static const int sizes[] = {1, 2, 5, 33, 130, 515, 1100};
  int              wrong = 0, n = 0;

  for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]) && sizes[s] <= most; s++) {
    const int N = sizes[s], part[3][2] = {{0, N}, {N / 3, (N + 1) / 2}, {N - 1, 1}};

    for (int dim = 1; dim <= PASS_MAX_DIM; dim++) {
      for (int k = 0; k < 3; k++) {
        for (int kind = 0; kind < KINDS; kind++) {
          const int single = kind == SINGLE || (kind >= PAIRS && dim % 2);

          for (int halves = 0; halves < (kind >= PAIRS ? 1 : 2); halves++) {
            for (int mixed = 0; mixed <= (kind == SINGLE || (kind >= FREE_EUCLIDEAN && kind <= FREE_MANHATTAN)); mixed++, n++) wrong += CheckOne((Kind)kind, N, part[k][0], part[k][1], dim, single, (SMACOFPassWork){mixed, NULL}, halves);
          }
        }
      }
    }
  }
  if (most >= 9001) wrong += CheckLarge(&n);
  printf("%d of %d passes differ from the host's\n", wrong, n);
  return wrong != 0;
}

/* --- speed ---------------------------------------------------------------------------------------------------------------------- */

static double Median(const SMACOFPass *p, const SMACOFPassWork *work)
{
  double times[REPEATS];

  for (int r = -2; r < REPEATS; r++) {
    double seconds;

    CHECK(GpDevEventRecord(dev, begin));
    CHECK(p ? SMACOFRunPass_CUDA(dev, p, work) : GpDevCopyWithin(dev, work->memory, (char *)work->memory + COPY, COPY));
    CHECK(GpDevEventRecord(dev, end));
    CHECK(GpDevEventWait(dev, end));
    CHECK(GpDevEventSeconds(dev, begin, end, &seconds));
    if (r >= 0) times[r] = seconds;
  }
  qsort(times, REPEATS, sizeof(double), CompareDoubles);
  return times[REPEATS / 2];
}

static void MeasureCopyRate(void)
{
  SMACOFPassWork copy = {0, OnDevice(NULL, 2 * COPY)};

  copyrate = 2.0 * (double)COPY / Median(NULL, &copy);
  Release(copy.memory);
  printf("# %s, copy rate %.0f GB/s\npoints,dimension,arithmetic,reading,microseconds,bytes,fraction,pairs a ns\n", GpDevName(dev), 1e-9 * copyrate);
}

static void TimeOne(SMACOFPass *p, const char *what, int mixed, int halves)
{
  SMACOFPassWork work  = {mixed, NULL};
  const double   pairs = 0.5 * (double)p->N * (double)(p->N - 1), bytes = p->delta ? 4 * pairs * (halves ? 1 : 2) : 0;
  double         seconds;

  p->nranges  = 1;
  p->range[0] = halves ? (SMACOFPassRange){0, p->N, 0, p->N, PASS_TRIANGLE} : (SMACOFPassRange){0, p->N, 0, p->N, PASS_ROWS};
  work.memory = OnDevice(NULL, SMACOFGetPassMemory_CUDA(dev, p));
  seconds     = Median(p, &work);
  Release(work.memory);
  printf("%d,%d,%s,%s,%.1f,%.0f,%.3f,%.3f\n", p->N, p->dim, what, halves ? "halves" : "rows", 1e6 * seconds, bytes, bytes / seconds / copyrate, 1e-9 * pairs / seconds);
  fflush(stdout);
}

static void Time(int N)
{
  double    *feature = RandomArray((size_t)N * FEATURES, 1), *x = RandomArray((size_t)N * PASS_MAX_DIM, 2);
  SMACOFPass p     = {.N = N, .rows = N, .dim = 2, .single = 1, .ldrow = (size_t)N, .ldsum = (size_t)N, .ld = SMACOFGetStorePitch(N), .nfeature = FEATURES};
  void      *delta = OnDevice(NULL, sizeof(float) * (size_t)N * p.ld);

  p.feature = p.frow = (const double *)OnDevice(feature, sizeof(double) * (size_t)N * FEATURES);
  p.x = p.xrow = (const double *)OnDevice(x, sizeof(double) * (size_t)N * PASS_MAX_DIM);
  p.bx         = (double *)OnDevice(NULL, sizeof(double) * (size_t)N * PASS_MAX_DIM);
  p.stress     = (double *)OnDevice(NULL, sizeof(double) * (size_t)N);
  CHECK(SMACOFStoreDistances_CUDA(dev, &p, delta));
  for (p.dim = 1; p.dim <= PASS_MAX_DIM; p.dim += p.dim < 3 ? 1 : p.dim < 5 ? 2 : 3) {
    p.delta = delta;
    for (int k = 0; k < 4; k++) TimeOne(&p, k < 2 ? "mixed" : "double", k < 2, k % 2 == 0);
    p.delta = NULL;
    for (int mixed = 0; mixed < 2 && p.dim == 2; mixed++) TimeOne(&p, mixed ? "computed mixed" : "computed double", mixed, 1);
  }
  Release(delta), Release(p.feature), Release(p.x), Release(p.bx), Release(p.stress);
  free(feature), free(x);
}

int main(int argc, char **argv)
{
  static const int usual[]  = {10000, 32768, 100000};
  char             why[256] = "";
  int              failed   = 0;

  if (GpDevOpen(GP_DEV_CUDA, 0, &dev, why, sizeof(why))) {
    fprintf(stderr, "%s\n", why);
    return 77;
  }
  CHECK(GpDevEventCreate(dev, &begin));
  CHECK(GpDevEventCreate(dev, &end));
  if (argc > 1 && !strcmp(argv[1], "--check")) {
    if (argc > 3 && (size_t)atol(argv[3]) < GpDevSharedBytes(dev)) dev->shared_bytes = (size_t)atol(argv[3]);
    failed = CheckAllSums() + Check(argc > 2 ? atoi(argv[2]) : INT_MAX);
  } else {
    MeasureCopyRate();
    for (int k = 1; k < argc; k++) Time(atoi(argv[k]));
    for (int k = 0; argc == 1 && k < 3; k++) Time(usual[k]);
  }
  BenchClose();
  return failed;
}
