/* Netflix of BigKernel: records of 66 bytes, of which 20 are read: user, movie and rating. A pass computes the correlation of one user, the target, with every user over the
   movies that both have rated. Records are ordered by users. */
#include "bench/bigkernel.h"

#include <stdio.h>
#include <stdlib.h>

#define USERS     480189
#define MOVIES    17770
#define MEAN      208.25 /* ratings of a user */
#define LEAST     20
#define RECORD    66
#define AT_USER   0
#define AT_RATING 8
#define AT_MOVIE  16

typedef struct {
  int64_t  users, target;
  int32_t  movies;
  int64_t *group;
  uint8_t *rated; /* [movies] ratings of the target */
  /* device */
  uint8_t *devrated;
  int32_t *counts;
  double  *correlation;
} Netflix;

static void PutRecord(unsigned char *record, int64_t user, int32_t movie, double rating)
{
  memset(record, (int)(movie & 255), RECORD);
  memcpy(record + AT_USER, &user, sizeof(user));
  memcpy(record + AT_RATING, &rating, sizeof(rating));
  memcpy(record + AT_MOVIE, &movie, sizeof(movie));
}

static int64_t CountRatings(int64_t user)
{
  const double want = LEAST - (MEAN - LEAST) * log(1 - BkUniform((uint64_t)user));

  return want < MOVIES / 4 ? (int64_t)want : MOVIES / 4;
}

/* Movies ascend within a user, and low numbers are popular. */
static void Generate(void *context, int thread, int64_t begin, int64_t end)
{
  BkProgram      p = (BkProgram)context;
  const Netflix *x = (const Netflix *)p->context;

  (void)thread;
  for (int64_t u = begin; u < end; u++) {
    const int64_t n    = x->group[u + 1] - x->group[u];
    int32_t       last = -1;

    for (int64_t k = 0; k < n; k++) {
      const uint64_t seed = BkMix((uint64_t)(x->group[u] + k)), most = (uint64_t)(x->movies - n + k);
      const double   at    = ((double)k + BkUniform(seed)) / (double)n;
      int32_t        movie = (int32_t)(at * at * x->movies);

      if (movie <= last) movie = last + 1;
      if ((uint64_t)movie > most) movie = (int32_t)most; /* leaves as many movies as the user has ratings left */
      PutRecord(p->data + (size_t)(x->group[u] + k) * RECORD, u, movie, (double)(1 + seed % 5));
      last = movie;
    }
  }
}

/* --- ratings of a file -------------------------------------------------------------------------------------------------------- */

typedef struct {
  int64_t user;
  int32_t movie;
  double  rating;
} Rating;

static int CompareRatings(const void *a, const void *b)
{
  const Rating *r = (const Rating *)a, *s = (const Rating *)b;

  return r->user != s->user ? (r->user > s->user) - (r->user < s->user) : (r->movie > s->movie) - (r->movie < s->movie);
}

static void ReadRatings(BkProgram p, Netflix *x, const char *name)
{
  FILE     *file = fopen(name, "r");
  char      line[256];
  long long users, movies, n, u, m;
  Rating   *all;

  if (!file) BkFail(name, "cannot be opened");
  do {
    if (!fgets(line, sizeof(line), file)) BkFail(name, "the line with the sizes is missing");
  } while (line[0] == '%');
  if (sscanf(line, "%lld %lld %lld", &users, &movies, &n) != 3 || users < 1 || movies < 1 || n < 1) BkFail(name, "the line with the sizes is wrong");
  all = (Rating *)malloc((size_t)n * sizeof(*all));
  if (!all) BkFail(name, "out of memory");
  for (long long k = 0; k < n; k++) {
    if (fscanf(file, "%lld %lld %lf", &u, &m, &all[k].rating) != 3 || u < 1 || u > users || m < 1 || m > movies) BkFail(name, "a line is wrong");
    if (all[k].rating != floor(all[k].rating) || all[k].rating < 1 || all[k].rating > 255) BkFail(name, "a rating is not an integer from 1 to 255");
    all[k].user  = u - 1;
    all[k].movie = (int32_t)m - 1;
  }
  (void)fclose(file);
  qsort(all, (size_t)n, sizeof(*all), CompareRatings);
  x->users   = users;
  x->movies  = (int32_t)movies;
  x->group   = (int64_t *)calloc((size_t)users + 1, sizeof(*x->group));
  p->records = n;
  p->data    = (unsigned char *)BkAlloc((size_t)n * RECORD);
  if (!x->group) BkFail(name, "out of memory");
  for (long long k = 0; k < n; k++) {
    x->group[all[k].user + 1]++;
    PutRecord(p->data + (size_t)k * RECORD, all[k].user, all[k].movie, all[k].rating);
  }
  for (int64_t i = 0; i < x->users; i++) x->group[i + 1] += x->group[i];
  free(all);
}

static void GenerateRatings(BkProgram p, Netflix *x, double scale)
{
  x->users  = (int64_t)(scale * USERS);
  x->movies = MOVIES;
  x->group  = (int64_t *)calloc((size_t)x->users + 1, sizeof(*x->group));
  if (!x->group) BkFail("netflix", "out of memory");
  for (int64_t u = 0; u < x->users; u++) x->group[u + 1] = x->group[u] + CountRatings(u);
  p->records = x->group[x->users];
  p->data    = (unsigned char *)BkAlloc((size_t)p->records * RECORD);
  BkParallel(p->threads, x->users, Generate, p);
}

/* --- host ---------------------------------------------------------------------------------------------------------------------- */

typedef struct {
  BkProgram p;
  BkView    v;
} Correlate;

static inline __attribute__((always_inline)) void CorrelateRange(const Correlate *c, size_t wide, size_t narrow, int64_t begin, int64_t end)
{
  const Netflix       *x      = (const Netflix *)c->p->context;
  const unsigned char *rating = c->v.base + c->v.offset[1], *movie = c->v.base + c->v.offset[2];

  for (int64_t u = begin; u < end; u++) {
    int32_t s[BK_COUNTS] = {0};

    for (int64_t k = x->group[u]; k < x->group[u + 1]; k++) {
      int32_t m, r, t;
      double  value;

      memcpy(&m, movie + (size_t)k * narrow, sizeof(m));
      t = x->rated[m];
      if (!t) continue;
      memcpy(&value, rating + (size_t)k * wide, sizeof(value));
      r = (int32_t)value;
      s[0] += 1;
      s[1] += r;
      s[2] += r * r;
      s[3] += t;
      s[4] += t * t;
      s[5] += r * t;
    }
    ((double *)c->p->answer)[u] = BkCorrelation(s);
  }
}

static void CorrelatePart(void *context, int thread, int64_t begin, int64_t end)
{
  const Correlate *c = (const Correlate *)context;

  (void)thread;
  if (c->v.stride[1] == 8) CorrelateRange(c, 8, 4, begin, end);
  else CorrelateRange(c, RECORD, RECORD, begin, end);
}

static void Host(BkProgram p, const BkView *v, int threads)
{
  Correlate c = {p, *v};

  BkParallel(threads, p->groups, CorrelatePart, &c);
}

/* --- device ------------------------------------------------------------------------------------------------------------------- */

static size_t CountBytes(const Netflix *x)
{
  return (size_t)x->users * BK_COUNTS * sizeof(int32_t);
}

static GpErr Begin(BkProgram p)
{
  Netflix *x = (Netflix *)p->context;

  return GpDevZero(p->dev, x->counts, CountBytes(x));
}

static GpErr Use(BkProgram p, const BkView *v, void *result)
{
  Netflix *x = (Netflix *)p->context;

  (void)result;
  return GP_ON_DEVICE(p->dev, BkCorrelateRecords, p->dev, v, x->devrated, x->counts);
}

static GpErr UseRows(BkProgram p, const GpCsr *A, int64_t first)
{
  Netflix *x = (Netflix *)p->context;

  return GP_ON_DEVICE(p->dev, BkCorrelateRows, p->dev, A, first, x->devrated, x->counts);
}

static GpErr End(BkProgram p)
{
  Netflix *x   = (Netflix *)p->context;
  GpErr    err = GP_ON_DEVICE(p->dev, BkCorrelations, p->dev, x->users, x->counts, x->correlation);

  return err ? err : GpDevDownload(p->dev, p->answer, x->correlation, p->answerbytes);
}

static void Destroy(BkProgram p)
{
  Netflix *x = (Netflix *)p->context;

  GpDevFree(p->dev, &x->devrated, (size_t)x->movies);
  GpDevFree(p->dev, &x->counts, CountBytes(x));
  GpDevFree(p->dev, &x->correlation, p->answerbytes);
  BkFree(p->data, (size_t)p->records * p->bytes);
  free(x->group);
  free(x->rated);
  free(p->answer);
  free(x);
}

void BkNetflixCreate(GpDev dev, double scale, int threads, const char *file, BkProgram p)
{
  Netflix *x = (Netflix *)calloc(1, sizeof(*x));

  if (!x) BkFail("netflix", "out of memory");
  *p         = (struct BkProgram_){.name = "netflix", .bytes = RECORD, .fields = 3, .offset = {AT_USER, AT_RATING, AT_MOVIE}, .size = {8, 8, 4}, .threads = threads, .dev = dev, .colfield = 2, .valfield = 1};
  p->context = x;
  if (file) ReadRatings(p, x, file);
  else GenerateRatings(p, x, scale);
  x->target      = x->users / 2;
  x->rated       = (uint8_t *)calloc((size_t)x->movies, 1);
  p->groups      = x->users;
  p->group       = x->group;
  p->columns     = x->movies;
  p->host        = Host;
  p->begin       = Begin;
  p->use         = Use;
  p->useRows     = UseRows;
  p->end         = End;
  p->destroy     = Destroy;
  p->answerbytes = (size_t)x->users * sizeof(double);
  p->answer      = malloc(p->answerbytes);
  if (!x->rated || !p->answer) BkFail("netflix", "out of memory");
  for (int64_t k = x->group[x->target]; k < x->group[x->target + 1]; k++) {
    const BkView v = BkRecords(p, p->data, p->records);

    x->rated[BkBits(&v, 2, k, 4)] = (uint8_t)BkDouble(&v, 1, k);
  }
  if (GpDevAlloc(dev, (size_t)x->movies, &x->devrated) || GpDevAlloc(dev, CountBytes(x), &x->counts) || GpDevAlloc(dev, p->answerbytes, &x->correlation) || GpDevUpload(dev, x->devrated, x->rated, (size_t)x->movies))
    BkFail("netflix", GpDevError(dev));
}

void BkNetflixWrite(BkProgram p, const char *path)
{
  const Netflix *x    = (const Netflix *)p->context;
  FILE          *file = fopen(path, "w");

  if (!file) BkFail(path, "cannot be created");
  fprintf(file, "%lld\n", (long long)x->target + 1);
  for (int64_t u = 0; u < x->users; u++) fprintf(file, "%.17g\n", ((const double *)p->answer)[u]);
  if (fclose(file)) BkFail(path, "cannot be written");
}
