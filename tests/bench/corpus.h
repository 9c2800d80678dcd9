/* The corpus: families of seeded generators, stand-ins fitted to published statistics, and real matrices if their files exist.

   A member is identified by its family and its number, and is the same matrix on every machine.  Sizes of generated members lie in the
   range of the family, multiplied by a scale. */
#ifndef GPUCSR_BENCH_CORPUS_H
#define GPUCSR_BENCH_CORPUS_H

#include "bench/matrices.h"

typedef struct {
  const char *family, *kind; /* kind: the group of matrices in summaries */
  char        name[64];      /* family-number, or the name of a real or fitted matrix */
  int         a, b;          /* parameters of the family's generator */
  double      nnz;           /* approximate number of nonzeros */
  uint64_t    seed;
  const void *source;                           /* source of a stand-in or real matrix */
  int (*make)(const void *job, BenchMatrix *A); /* returns 0 on failure, for example if the file does not exist */
} CorpusJob;

typedef int (*CorpusMake)(const void *job, BenchMatrix *A);

/* All members, in an order that mixes families and sizes, so that the first members are a representative sample. *n: their number. The caller frees the list.
   data: the folder of real matrices and published statistics; missing files are skipped. */
CorpusJob  *CorpusList(const char *data, double scale, int *n);
const char *CorpusHelp(int family, const char **name); /* help text and name of a family by its number; NULL after the last family */

/* Growing compressed rows. The caller adds rows in order. */
void CorpusBegin(BenchMatrix *A, int64_t m, int64_t n, double nnz);
void CorpusPush(BenchMatrix *A, int64_t col, double val);
void CorpusEndRow(BenchMatrix *A, int64_t i);  /* ends a row whose columns were pushed in ascending order */
void CorpusSortRow(BenchMatrix *A, int64_t i); /* ends a row: sorts its columns and drops duplicates; values are not set yet */
void CorpusEnd(BenchMatrix *A);
void CorpusSort(int32_t *first, int64_t n);
void CorpusTurn(BenchMatrix *A);                                      /* replaces the matrix by its transpose */
void CorpusRename(BenchMatrix *A, uint64_t seed, int rows, int cols); /* renumbers rows or columns at random; if both are 2, rows and columns by the same permutation */
void CorpusValues(BenchMatrix *A, int kind, uint64_t seed);

enum {           /* kinds of values for CorpusValues() */
  CORPUS_FLOATS, /* uniform in (-1, 1) */
  CORPUS_ONES,
  CORPUS_SIGNS,  /* +1 and -1 */
  CORPUS_COUNTS, /* small integers, mostly 1 */
  CORPUS_COLUMNS /* 1 / length of the column */
};

static inline double CorpusBetween(uint64_t *seed, double lo, double hi) /* a number whose logarithm is uniform */
{
  return lo * pow(hi / lo, BenchUniform(seed));
}

static inline int64_t CorpusDraw(uint64_t *seed, int64_t n)
{
  return (int64_t)(BenchUniform(seed) * (double)n);
}

static inline int64_t CorpusZipf(uint64_t *seed, int64_t n) /* Zipf's law with exponent one */
{
  const int64_t j = (int64_t)(exp(BenchUniform(seed) * log((double)n + 1.0)) - 1.0);

  return j < n ? j : n - 1;
}

/* corpusfit.c, corpusread.c: append the members that come from a table or from a folder to jobs. The last argument is the allocated length of jobs. */
void       CorpusListFitted(const char *data, double scale, CorpusJob **jobs, int *n, int *capacity);
void       CorpusListReal(const char *data, CorpusJob **jobs, int *n, int *capacity);
CorpusJob *CorpusAppend(CorpusJob **jobs, int *n, int *capacity);

/* Declares the generators of all families */
#define FAMILY(name, kind, generator, a, b, count, lo, hi, help) int generator(const void *job, BenchMatrix *A);
#include "bench/corpus.def"
#undef FAMILY

#endif
