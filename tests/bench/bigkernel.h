/* The programs of BigKernel (Mokhtari and Stumm 2014), which bench_bigkernel.c times: declarations that its files share.

   A program reads some fields of all records and computes sums over them. Its data have one of these layouts:
   - records: whole records, as a file has them;
   - fields: the fields that the program reads, record after record;
   - columns: these fields, one array for each field in each item of the pipeline;
   - encoded: chunks of a sparse matrix (docs/streaming.md), for programs whose records are the nonzeros of one.

   All sums are exact: they are integers, or the data are multiples of 2^-10 of so few bits that no sum of doubles is rounded. So every variant must give the same bits. */
#ifndef GPUCSR_BENCH_BIGKERNEL_H
#define GPUCSR_BENCH_BIGKERNEL_H

#include "device/gpsteps.h"
#include "mat/impls/gpucsr/spmv/common/gpformat.h"

#include <math.h>
#include <string.h>

#if defined(__cplusplus)
extern "C" {
#endif

#define BK_FIELDS   4  /* maximum number of fields that a program reads */
#define BK_CLUSTERS 16 /* clusters of k-means */
#define BK_DIM      4  /* fields of a point of k-means */
#define BK_SUMS     (BK_CLUSTERS * (BK_DIM + 1))
#define BK_PARTS    256 /* parts of each sum of k-means, before the last addition */
#define BK_COUNTS   6   /* sums for the correlation of two users */
#define BK_LANES    8   /* threads for a row of an encoded matrix */

/* The fields of n records in memory. Field f of record i is at base + offset[f] + i stride[f]. */
typedef struct {
  int64_t              n;
  int                  aligned; /* 1: the address of every field is a multiple of its size */
  const unsigned char *base;
  size_t               offset[BK_FIELDS], stride[BK_FIELDS];
} BkView;

/* Reads a field. A GPU cannot load 8 bytes at an address that is not a multiple of 8; all addresses are multiples of 2. */
GP_INLINE uint64_t BkBits(const BkView *v, int f, int64_t i, int bytes)
{
  const unsigned char *p = v->base + v->offset[f] + (size_t)i * v->stride[f];

#if defined(__CUDACC__)
  uint64_t bits = 0;

  if (v->aligned) return bytes == 8 ? *(const uint64_t *)p : *(const uint32_t *)p;
  for (int k = 0; k < bytes / 2; k++) bits |= (uint64_t)((const uint16_t *)p)[k] << 16 * k;
  return bits;
#else
  uint64_t bits = 0;

  if (bytes == 8) memcpy(&bits, p, 8);
  else {
    uint32_t half;

    memcpy(&half, p, 4);
    bits = half;
  }
  return bits;
#endif
}

GP_INLINE double BkDouble(const BkView *v, int f, int64_t i)
{
  const uint64_t bits = BkBits(v, f, i, 8);
  double         value;

  memcpy(&value, &bits, 8);
  return value;
}

/* Pearson's correlation of two users over the movies that both have rated. s: number of these movies; sums of the ratings of the first user, of their squares, of the ratings of
   the second user, of their squares, and of the products. The result is 0 if there are fewer than two such movies, or if all ratings of a user are equal. */
GP_INLINE double BkCorrelation(const int32_t *s)
{
  const int64_t n = s[0], first = n * s[2] - (int64_t)s[1] * s[1], second = n * s[4] - (int64_t)s[3] * s[3], both = n * s[5] - (int64_t)s[1] * s[3];

  return n < 2 || !first || !second ? 0.0 : (double)both / sqrt((double)first * (double)second);
}

/* --- device: each function submits work on GpDevStream() (bigkernel_steps.cu) ------------------------------------------------ */

typedef struct {
  double centroid[BK_CLUSTERS][BK_DIM];
} BkCentroids;

/* Writes the label of each point as a double, and adds each point and 1 to the sums of its cluster. sums: [BK_SUMS][slots], zero before the first call of a pass. */
GP_PAIR(BkAssign, GpDev dev, const BkView *v, const BkCentroids *c, int64_t slots, double *sums, double *label);
/* Adds the sums of all slots in their order; parts: [BK_SUMS][BK_PARTS]. */
GP_PAIR(BkAddSlots, GpDev dev, int64_t slots, const double *sums, double *parts, double *total);

/* Adds each rating of a movie that the target has rated to the sums of its user; counts: [users][BK_COUNTS]. target: [movies] ratings of the target; 0: none. */
GP_PAIR(BkCorrelateRecords, GpDev dev, const BkView *v, const uint8_t *target, int32_t *counts);
GP_PAIR(BkCorrelateRows, GpDev dev, const GpCsr *A, int64_t first, const uint8_t *target, int32_t *counts);
GP_PAIR(BkCorrelations, GpDev dev, int64_t users, const int32_t *counts, double *correlation);

/* Counts the purchases of all customers who have bought from a chosen merchant. chosen: [merchants]; flag: [customers], zero before the first call; count: [merchants]. */
GP_PAIR(BkAffinityRecords, GpDev dev, const BkView *v, const uint8_t *chosen, int32_t *flag, int32_t *count);
GP_PAIR(BkAffinityRows, GpDev dev, const GpCsr *A, int64_t first, const uint8_t *chosen, int32_t *flag, int32_t *count);

/* --- threads of the host (bigkernel_data.c) -------------------------------------------------------------------------------- */

typedef void (*BkBody)(void *context, int thread, int64_t begin, int64_t end);

void   BkParallel(int threads, int64_t n, BkBody body, void *context); /* calls body() once in each thread, with a contiguous part of 0 ... n - 1 */
double BkNow(void);
void   BkFail(const char *what, const char *why); /* prints a message and ends the program */
void  *BkAlloc(size_t bytes);                     /* memory on pages of its own, which can be pinned. The thread that first writes a page allocates it */
void   BkFree(void *memory, size_t bytes);

static inline uint64_t BkMix(uint64_t x) /* splitmix64: S. Vigna. A number that depends on x alone, so that threads may generate any part of the data */
{
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

static inline double BkUniform(uint64_t x) /* in [0,1) */
{
  return (double)(BkMix(x) >> 11) * (1.0 / 9007199254740992.0);
}

/* --- programs -------------------------------------------------------------------------------------------------------------- */

typedef struct BkProgram_ *BkProgram;

struct BkProgram_ {
  const char    *name;
  int64_t        records;
  size_t         bytes;                              /* size of a record */
  int            fields;                             /* number of fields that are read */
  size_t         offset[BK_FIELDS], size[BK_FIELDS]; /* offset in the record and size of each of them; 8-byte fields come first */
  size_t         back;                               /* bytes that are written for each record; 0: none */
  int64_t        groups;                             /* groups of records that no item divides */
  const int64_t *group;                              /* [groups + 1] first record of each group; NULL: each record is a group */
  unsigned char *data;                               /* [records] whole records */
  int            threads;
  GpDev          dev;

  /* Host: computes the answer from records in any layout, by this number of threads. The labels of k-means go to `labels`. */
  void (*host)(BkProgram p, const BkView *v, int threads);
  /* Device: a pass is begin(), use() or useRows() for each item, and end(), which downloads the answer. */
  GpErr (*begin)(BkProgram p);
  GpErr (*use)(BkProgram p, const BkView *v, void *result);
  GpErr (*useRows)(BkProgram p, const GpCsr *A, int64_t first); /* NULL: the records are no matrix */
  GpErr (*end)(BkProgram p);
  void (*destroy)(BkProgram p);

  void   *answer; /* of the last pass */
  size_t  answerbytes;
  double *labels; /* [records] in pinned memory if back > 0 */
  int     labelspinned;
  int32_t columns;            /* of the matrix of useRows(); its rows are the groups, its nonzeros the records */
  int32_t colfield, valfield; /* fields with the column and the value of a nonzero; valfield -1: all values are 1 */
  void   *context;
};

/* scale: fraction of the records of the paper. Each creates its records and the memory of the device. */
void BkKmeansCreate(GpDev dev, double scale, int threads, BkProgram p);
void BkNetflixCreate(GpDev dev, double scale, int threads, const char *file, BkProgram p); /* file: ratings in Matrix Market format, column by column or row by row; NULL: generated */
void BkAffinityCreate(GpDev dev, double scale, int threads, BkProgram p);
void BkNetflixWrite(BkProgram p, const char *path); /* writes the target and one correlation a line */

BkView BkRecords(BkProgram p, const void *base, int64_t n);

#if defined(__cplusplus)
}
#endif
#endif
