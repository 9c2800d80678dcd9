/* The corpus: families of seeded generators, stand-ins fitted to published statistics, real matrices where they are found.

   A member is told by its family and its number; the same member is the same matrix everywhere.  Generated sizes follow the
   family's range, times a scale. */
#ifndef GPUCSR_BENCH_CORPUS_H
#define GPUCSR_BENCH_CORPUS_H

#include "bench/matrices.h"

typedef struct {
  const char *family, *kind; /* kind: what a summary puts together */
  char        name[64];      /* family-number, or the name of a real or fitted matrix */
  int         a, b;          /* what the family's generator is told */
  double      nnz;           /* to aim at */
  uint64_t    seed;
  const void *source;                           /* of stand-ins and real matrices */
  int (*make)(const void *job, BenchMatrix *A); /* 0: could not (a file that is not there) */
} CorpusJob;

typedef int (*CorpusMake)(const void *job, BenchMatrix *A);

/* All members, in an order that mixes families and sizes, so that any first part is a fair sample; *n of them, to be freed.
   data: the folder of real matrices and published statistics; what is not there is left out. */
CorpusJob  *CorpusList(const char *data, double scale, int *n);
const char *CorpusHelp(int family, const char **name); /* of the families in turn, NULL after the last */

/* growing compressed rows */
void CorpusBegin(BenchMatrix *A, int64_t m, int64_t n, double nnz);
void CorpusPush(BenchMatrix *A, int64_t col, double val);
void CorpusEndRow(BenchMatrix *A, int64_t i);  /* entries as pushed, which must ascend */
void CorpusSortRow(BenchMatrix *A, int64_t i); /* sorted, repeats dropped; entries carry no values yet */
void CorpusEnd(BenchMatrix *A);
void CorpusSort(int32_t *first, int64_t n);
void CorpusTurn(BenchMatrix *A);                                      /* the transpose in its place */
void CorpusRename(BenchMatrix *A, uint64_t seed, int rows, int cols); /* renumbers rows, columns, or (both 2) the two alike, at random */
void CorpusValues(BenchMatrix *A, int kind, uint64_t seed);

enum {           /* of CorpusValues() */
  CORPUS_FLOATS, /* any in (-1, 1) */
  CORPUS_ONES,
  CORPUS_SIGNS,  /* +1 and -1 */
  CORPUS_COUNTS, /* small integers, mostly 1 */
  CORPUS_COLUMNS /* 1 over the column's length */
};

static inline double CorpusBetween(uint64_t *seed, double lo, double hi) /* log-uniform */
{
  return lo * pow(hi / lo, BenchUniform(seed));
}

static inline int64_t CorpusDraw(uint64_t *seed, int64_t n)
{
  return (int64_t)(BenchUniform(seed) * (double)n);
}

static inline int64_t CorpusZipf(uint64_t *seed, int64_t n) /* exponent one */
{
  const int64_t j = (int64_t)(exp(BenchUniform(seed) * log((double)n + 1.0)) - 1.0);

  return j < n ? j : n - 1;
}

/* corpusfit.c, corpusread.c: members that come from a table or a folder; appended to jobs[*n] */
void       CorpusListFitted(const char *data, double scale, CorpusJob **jobs, int *n, int *room);
void       CorpusListReal(const char *data, CorpusJob **jobs, int *n, int *room);
CorpusJob *CorpusAppend(CorpusJob **jobs, int *n, int *room);

/* the generators, by the room of matrices that they are from */
#define FAMILY(name, kind, generator, a, b, count, lo, hi, help) int generator(const void *job, BenchMatrix *A);
#include "bench/corpus.def"
#undef FAMILY

#endif
