/* Affinity of BigKernel: purchases in records of 64 bytes, of which 16 are read: customer and merchant. A pass counts, for each merchant, the purchases of all customers who
   have bought from one chosen merchant: A'(A e > 0). Records are ordered by customers, which is the index of the paper's indexed variant. */
#include "bench/bigkernel.h"

#include <stdlib.h>

#define CUSTOMERS 2000000
#define MERCHANTS 100000
#define MEAN      50 /* purchases of a customer */
#define RECORD    64

typedef struct {
  int64_t  customers;
  int64_t *group;
  uint8_t *chosen; /* [MERCHANTS] 1: chosen */
  /* device */
  uint8_t *devchosen;
  int32_t *flag, *count;
} Affinity;

/* Merchants ascend within a customer; low numbers are popular, and a customer may buy from a merchant several times. */
static void Generate(void *context, int thread, int64_t begin, int64_t end)
{
  BkProgram       p = (BkProgram)context;
  const Affinity *x = (const Affinity *)p->context;

  (void)thread;
  for (int64_t c = begin; c < end; c++) {
    const int64_t n = x->group[c + 1] - x->group[c];

    for (int64_t k = 0; k < n; k++) {
      unsigned char *record   = p->data + (size_t)(x->group[c] + k) * RECORD;
      const double   at       = ((double)k + BkUniform((uint64_t)(x->group[c] + k))) / (double)n;
      const int64_t  merchant = (int64_t)(at * at * MERCHANTS);

      memset(record, (int)(k & 255), RECORD);
      memcpy(record, &c, sizeof(c));
      memcpy(record + 8, &merchant, sizeof(merchant));
    }
  }
}

/* --- host ---------------------------------------------------------------------------------------------------------------------- */

typedef struct {
  BkProgram p;
  BkView    v;
  int32_t  *count; /* [threads][MERCHANTS] */
} Count;

static inline __attribute__((always_inline)) void CountRange(const Count *c, size_t stride, int32_t *count, int64_t begin, int64_t end)
{
  const Affinity *x        = (const Affinity *)c->p->context;
  const int64_t  *merchant = (const int64_t *)(c->v.base + c->v.offset[1]);

  for (int64_t u = begin; u < end; u++) {
    int flag = 0;

    for (int64_t k = x->group[u]; k < x->group[u + 1]; k++) flag |= x->chosen[merchant[(size_t)k * stride]];
    for (int64_t k = x->group[u]; flag && k < x->group[u + 1]; k++) count[merchant[(size_t)k * stride]]++;
  }
}

static void CountPart(void *context, int thread, int64_t begin, int64_t end)
{
  const Count *c = (const Count *)context;

  if (c->v.stride[1] == 8) CountRange(c, 1, c->count + (ptrdiff_t)thread * MERCHANTS, begin, end);
  else CountRange(c, RECORD / 8, c->count + (ptrdiff_t)thread * MERCHANTS, begin, end);
}

static void Host(BkProgram p, const BkView *v, int threads)
{
  Count    c     = {p, *v, (int32_t *)calloc((size_t)threads * MERCHANTS, sizeof(int32_t))};
  int32_t *total = (int32_t *)p->answer;

  if (!c.count) BkFail("affinity", "out of memory");
  BkParallel(threads, p->groups, CountPart, &c);
  memset(total, 0, p->answerbytes);
  for (int t = 0; t < threads; t++) {
    for (int m = 0; m < MERCHANTS; m++) total[m] += c.count[t * MERCHANTS + m];
  }
  free(c.count);
}

/* --- device ------------------------------------------------------------------------------------------------------------------- */

static GpErr Begin(BkProgram p)
{
  Affinity *x   = (Affinity *)p->context;
  GpErr     err = GpDevZero(p->dev, x->flag, (size_t)x->customers * sizeof(int32_t));

  return err ? err : GpDevZero(p->dev, x->count, p->answerbytes);
}

static GpErr Use(BkProgram p, const BkView *v, void *result)
{
  Affinity *x = (Affinity *)p->context;

  (void)result;
  return GP_ON_DEVICE(p->dev, BkAffinityRecords, p->dev, v, x->devchosen, x->flag, x->count);
}

static GpErr UseRows(BkProgram p, const GpCsr *A, int64_t first)
{
  Affinity *x = (Affinity *)p->context;

  return GP_ON_DEVICE(p->dev, BkAffinityRows, p->dev, A, first, x->devchosen, x->flag, x->count);
}

static GpErr End(BkProgram p)
{
  return GpDevDownload(p->dev, p->answer, ((Affinity *)p->context)->count, p->answerbytes);
}

static void Destroy(BkProgram p)
{
  Affinity *x = (Affinity *)p->context;

  GpDevFree(p->dev, &x->devchosen, MERCHANTS);
  GpDevFree(p->dev, &x->flag, (size_t)x->customers * sizeof(int32_t));
  GpDevFree(p->dev, &x->count, p->answerbytes);
  BkFree(p->data, (size_t)p->records * p->bytes);
  free(x->group);
  free(x->chosen);
  free(p->answer);
  free(x);
}

void BkAffinityCreate(GpDev dev, double scale, int threads, BkProgram p)
{
  Affinity *x = (Affinity *)calloc(1, sizeof(*x));

  if (!x) BkFail("affinity", "out of memory");
  *p           = (struct BkProgram_){.name = "affinity", .bytes = RECORD, .fields = 2, .offset = {0, 8}, .size = {8, 8}, .columns = MERCHANTS, .threads = threads, .dev = dev, .colfield = 1, .valfield = -1};
  p->context   = x;
  x->customers = (int64_t)(scale * CUSTOMERS);
  x->group     = (int64_t *)calloc((size_t)x->customers + 1, sizeof(*x->group));
  x->chosen    = (uint8_t *)calloc(MERCHANTS, 1);
  if (!x->group || !x->chosen) BkFail("affinity", "out of memory");
  for (int64_t c = 0; c < x->customers; c++) x->group[c + 1] = x->group[c] + (int64_t)(BkMix((uint64_t)c) % (2 * MEAN + 1));
  x->chosen[MERCHANTS / 8] = 1;
  p->records               = x->group[x->customers];
  p->groups                = x->customers;
  p->group                 = x->group;
  p->host                  = Host;
  p->begin                 = Begin;
  p->use                   = Use;
  p->useRows               = UseRows;
  p->end                   = End;
  p->destroy               = Destroy;
  p->answerbytes           = MERCHANTS * sizeof(int32_t);
  p->answer                = malloc(p->answerbytes);
  p->data                  = (unsigned char *)BkAlloc((size_t)p->records * RECORD);
  if (!p->answer) BkFail("affinity", "out of memory");
  BkParallel(threads, p->groups, Generate, p);
  if (GpDevAlloc(dev, MERCHANTS, &x->devchosen) || GpDevAlloc(dev, (size_t)x->customers * sizeof(int32_t), &x->flag) || GpDevAlloc(dev, p->answerbytes, &x->count) || GpDevUpload(dev, x->devchosen, x->chosen, MERCHANTS))
    BkFail("affinity", GpDevError(dev));
}
