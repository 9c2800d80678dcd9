/* k-means of BigKernel: records of eight doubles, of which four are the coordinates of a point and one receives its label. A pass assigns all points to the nearest of 16
   centroids and sums the points of each cluster. Coordinates are multiples of 2^-10 in [0,1), so that all distances and sums are exact. */
#include "bench/bigkernel.h"

#include <stdlib.h>

#define RECORDS 93750000 /* 6.0 GB */
#define DOUBLES 8        /* of a record */
#define SLOTS   256      /* slots of a multiprocessor: registers allow no more threads */

typedef struct {
  BkCentroids c;
  int64_t     slots;
  double     *sums, *parts, *total; /* device */
} Kmeans;

static void Generate(void *context, int thread, int64_t begin, int64_t end)
{
  double *record = (double *)((BkProgram)context)->data + DOUBLES * begin;

  (void)thread;
  for (int64_t i = begin; i < end; i++, record += DOUBLES) {
    uint64_t bits = BkMix((uint64_t)i);

    for (int d = 0; d < DOUBLES; d++, bits >>= 8) record[d] = d == BK_DIM ? -1 : (double)(bits & 1023) / 1024;
  }
}

typedef struct {
  BkProgram p;
  BkView    v;
  double   *sums; /* [threads][BK_SUMS] */
} Assign;

/* The strides are compile-time constants in the callers. Centroids are transposed, so that the compiler computes the distances to several of them at once. */
static inline __attribute__((always_inline)) void AssignRange(const Assign *a, size_t stride, double *total, int64_t begin, int64_t end)
{
  const Kmeans *k            = (const Kmeans *)a->p->context;
  double        sum[BK_SUMS] = {0};
  double        c[BK_DIM][BK_CLUSTERS];
  const double *x[BK_DIM];

  for (int d = 0; d < BK_DIM; d++) {
    x[d] = (const double *)(a->v.base + a->v.offset[d]);
    for (int j = 0; j < BK_CLUSTERS; j++) c[d][j] = k->c.centroid[j][d];
  }
  for (int64_t i = begin; i < end; i++) {
    const double x0 = x[0][(size_t)i * stride], x1 = x[1][(size_t)i * stride], x2 = x[2][(size_t)i * stride], x3 = x[3][(size_t)i * stride];
    double       square[BK_CLUSTERS];
    int          best = 0;

    for (int j = 0; j < BK_CLUSTERS; j++) square[j] = (x0 - c[0][j]) * (x0 - c[0][j]) + (x1 - c[1][j]) * (x1 - c[1][j]) + (x2 - c[2][j]) * (x2 - c[2][j]) + (x3 - c[3][j]) * (x3 - c[3][j]);
    for (int j = 1; j < BK_CLUSTERS; j++) best = square[j] < square[best] ? j : best;
    a->p->labels[i] = best;
    sum[best * (BK_DIM + 1)] += x0;
    sum[best * (BK_DIM + 1) + 1] += x1;
    sum[best * (BK_DIM + 1) + 2] += x2;
    sum[best * (BK_DIM + 1) + 3] += x3;
    sum[best * (BK_DIM + 1) + 4] += 1;
  }
  memcpy(total, sum, sizeof(sum));
}

#if defined(__x86_64__)
__attribute__((target_clones("avx512f", "avx2", "default")))
#endif
static void
AssignPart(void *context, int thread, int64_t begin, int64_t end)
{
  const Assign *a = (const Assign *)context;

  if (a->v.stride[0] == sizeof(double)) AssignRange(a, 1, a->sums + (ptrdiff_t)thread * BK_SUMS, begin, end);
  else AssignRange(a, DOUBLES, a->sums + (ptrdiff_t)thread * BK_SUMS, begin, end);
}

static void Host(BkProgram p, const BkView *v, int threads)
{
  Assign  a     = {p, *v, (double *)calloc((size_t)threads * BK_SUMS, sizeof(double))};
  double *total = (double *)p->answer;

  if (!a.sums) BkFail("kmeans", "out of memory");
  BkParallel(threads, v->n, AssignPart, &a);
  memset(total, 0, p->answerbytes);
  for (int t = 0; t < threads; t++) {
    for (int k = 0; k < BK_SUMS; k++) total[k] += a.sums[t * BK_SUMS + k];
  }
  free(a.sums);
}

static size_t SumsBytes(const Kmeans *k)
{
  return BK_SUMS * (size_t)k->slots * sizeof(double);
}

static GpErr Begin(BkProgram p)
{
  Kmeans *k = (Kmeans *)p->context;

  return GpDevZero(p->dev, k->sums, SumsBytes(k));
}

static GpErr Use(BkProgram p, const BkView *v, void *result)
{
  Kmeans *k = (Kmeans *)p->context;

  return GP_ON_DEVICE(p->dev, BkAssign, p->dev, v, &k->c, k->slots, k->sums, (double *)result);
}

static GpErr End(BkProgram p)
{
  Kmeans *k   = (Kmeans *)p->context;
  GpErr   err = GP_ON_DEVICE(p->dev, BkAddSlots, p->dev, k->slots, k->sums, k->parts, k->total);

  return err ? err : GpDevDownload(p->dev, p->answer, k->total, p->answerbytes);
}

static void Destroy(BkProgram p)
{
  Kmeans *k = (Kmeans *)p->context;

  GpDevFree(p->dev, &k->sums, SumsBytes(k));
  GpDevFree(p->dev, &k->parts, BK_SUMS * BK_PARTS * sizeof(double));
  GpDevFree(p->dev, &k->total, BK_SUMS * sizeof(double));
  GpDevFreeHost(p->dev, &p->labels, p->labelspinned);
  BkFree(p->data, (size_t)p->records * p->bytes);
  free(p->answer);
  free(k);
}

void BkKmeansCreate(GpDev dev, double scale, int threads, BkProgram p)
{
  Kmeans *k = (Kmeans *)calloc(1, sizeof(*k));

  *p = (struct BkProgram_){.name = "kmeans", .records = (int64_t)(scale * RECORDS), .bytes = DOUBLES * sizeof(double), .fields = BK_DIM, .back = sizeof(double), .threads = threads, .dev = dev, .colfield = -1, .valfield = -1};
  for (int d = 0; d < BK_DIM; d++) {
    p->offset[d] = (size_t)d * sizeof(double);
    p->size[d]   = sizeof(double);
  }
  p->context     = k;
  p->groups      = p->records;
  p->host        = Host;
  p->begin       = Begin;
  p->use         = Use;
  p->end         = End;
  p->destroy     = Destroy;
  p->answerbytes = BK_SUMS * sizeof(double);
  p->answer      = malloc(p->answerbytes);
  p->data        = (unsigned char *)BkAlloc((size_t)p->records * p->bytes);
  if (!k || !p->answer) BkFail("kmeans", "out of memory");
  for (int c = 0; c < BK_CLUSTERS; c++) {
    for (int d = 0; d < BK_DIM; d++) k->c.centroid[c][d] = (double)(BkMix((uint64_t)(1 + c * BK_DIM + d) << 40) & 1023) / 1024;
  }
  BkParallel(threads, p->records, Generate, p);
  k->slots = GpDevKindOf(dev) == GP_DEV_CUDA ? (int64_t)GpDevComputeUnits(dev) * SLOTS : 1;
  if (GpDevAllocHost(dev, (size_t)p->records * p->back, &p->labels, &p->labelspinned) || GpDevAlloc(dev, SumsBytes(k), &k->sums) || GpDevAlloc(dev, BK_SUMS * BK_PARTS * sizeof(double), &k->parts) ||
      GpDevAlloc(dev, BK_SUMS * sizeof(double), &k->total))
    BkFail("kmeans", GpDevError(dev));
  if (!p->labelspinned) BkFail("kmeans: labels", GpDevError(dev)); /* results of the pipeline must be pinned */
}
