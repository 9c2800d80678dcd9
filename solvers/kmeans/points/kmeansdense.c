/* Dense points, which are read in place from the matrix. Threads check its columns, and convert the values to the layout (by rows) and the precision of the device. */
#include "kmeansrows.h"
#include "device/gpclones.h"
#include "device/gpupload.h"

#include <float.h>

#define KMEANS_DENSE_LANES 8         /* number of partial results of a scan, which vector instructions compute together */
#define KMEANS_DENSE_PART  (1 << 18) /* least number of values that a thread scans at once */
#define KMEANS_DENSE_BLOCK 4096      /* number of values in a block of rows that stays in the cache */

/* Results of a scan. */
typedef struct {
  double  zero;   /* sum of 0 * x over all values x; NaN if a value is infinite or NaN */
  double  change; /* sum of the rounding errors of the conversion to single precision */
  double *range;  /* as KMeansRows.range */
} KMeansScanned;

typedef struct {
  const KMeansRows *rows;
  PetscBool         round; /* KMeansScanned.range has the bounds of the values rounded to single precision */
  KMeansScanned    *part;
} KMeansScan;

/* Scans n values of a column. The lanes allow vector instructions without a change of the order of additions. */
GP_CLONES static void KMeansScanColumn(const PetscScalar *x, PetscInt n, double range[2], double *zero, double *change)
{
  double   least[KMEANS_DENSE_LANES], most[KMEANS_DENSE_LANES], zeros[KMEANS_DENSE_LANES] = {0}, changes[KMEANS_DENSE_LANES] = {0}; /* least: -1 times the least value */
  PetscInt i;

  for (int l = 0; l < KMEANS_DENSE_LANES; l++) least[l] = most[l] = -DBL_MAX;

  for (i = 0; i + KMEANS_DENSE_LANES <= n; i += KMEANS_DENSE_LANES)
    for (int l = 0; l < KMEANS_DENSE_LANES; l++) {
      const double v = x[i + l];

      least[l] = -v > least[l] ? -v : least[l];
      most[l]  = v > most[l] ? v : most[l];
      zeros[l] += 0 * v;
      changes[l] += fabs((double)(float)v - v);
    }
  for (; i < n; i++) {
    const double v = x[i];

    least[0] = -v > least[0] ? -v : least[0];
    most[0]  = v > most[0] ? v : most[0];
    zeros[0] += 0 * v;
    changes[0] += fabs((double)(float)v - v);
  }
  for (int l = 0; l < KMEANS_DENSE_LANES; l++) {
    range[0] = PetscMax(range[0], least[l]);
    range[1] = PetscMax(range[1], most[l]);
    *zero += zeros[l];
    *change += changes[l];
  }
}

static void KMeansScanPart(void *context, int part, int64_t begin, int64_t end)
{
  const KMeansScan *S    = (const KMeansScan *)context;
  const KMeansRows *rows = S->rows;
  KMeansScanned    *R    = &S->part[part];

  for (PetscInt j = 0; j < rows->d; j++) {
    KMeansScanColumn(rows->array + begin + (size_t)j * rows->lda, (PetscInt)(end - begin), R->range + 2 * j, &R->zero, &R->change);
    for (int e = 0; e < 2 && S->round; e++) R->range[2 * j + e] = (double)(float)R->range[2 * j + e]; /* rounding keeps the order, so that the largest rounded value is the rounded largest one */
  }
}

/* Finds the first value that is not finite. */
static void KMeansRowsFindFault(const KMeansRows *rows, PetscInt *faulty, PetscInt *at)
{
  for (PetscInt i = 0; i < rows->n; i++)
    for (PetscInt j = 0; j < rows->d; j++) {
      if (fabs(KMeansRowsGet_Private(rows, i, j)) <= DBL_MAX) continue;
      *faulty = i;
      *at     = j;
      return;
    }
}

double KMeansRowsGet_Private(const KMeansRows *rows, PetscInt i, PetscInt j)
{
  return rows->array[(rows->order ? rows->order[i] : i) + (size_t)j * rows->lda];
}

/* Checks all values of rows->X. round: rows->range receives the bounds of the values rounded to single precision. *faulty: receives the first row with an infinity or NaN, or -1. *at: receives
   the column of this value. */
PetscErrorCode KMeansRowsScan_Private(KMeansRows *rows, PetscBool round, PetscInt *faulty, PetscInt *at)
{
  const int     parts = rows->n ? GpDevLoopParts(rows->n, KMEANS_DENSE_PART / rows->d + 1) : 0;
  KMeansScan    S     = {.rows = rows, .round = round};
  KMeansScanned all   = {.range = rows->range};
  double       *range;
  GpDev         dev;

  PetscFunctionBegin;
  PetscCall(PetscGPUCSRGetDevice(&dev));
  PetscCall(PetscCalloc2(parts, &S.part, parts * 2 * rows->d, &range));
  for (PetscInt j = 0; j < parts * 2 * rows->d; j++) range[j] = -DBL_MAX;
  for (PetscInt j = 0; j < 2 * rows->d; j++) all.range[j] = -DBL_MAX;
  for (int p = 0; p < parts; p++) S.part[p].range = range + p * 2 * rows->d;
  GpDevLoop(dev, parts, rows->n, KMeansScanPart, &S);
  for (int p = 0; p < parts; p++) {
    for (PetscInt j = 0; j < 2 * rows->d; j++) all.range[j] = PetscMax(all.range[j], S.part[p].range[j]);
    all.zero += S.part[p].zero;
    all.change += S.part[p].change;
  }
  PetscCall(PetscFree2(S.part, range));
  rows->exact = (PetscBool)(all.change == 0);
  *faulty     = -1;
  if (all.zero != 0) KMeansRowsFindFault(rows, faulty, at);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Defines a function that writes the rows [from, to) of d features. Blocks of rows keep the lines of both arrays in the cache. A compiler can unroll the loop over a constant
   d. */
#define KMEANS_DENSE_FILL(Real) \
  static inline __attribute__((always_inline)) void KMeansFillFew_##Real(const KMeansRows *rows, PetscInt from, PetscInt to, int d, Real *value) \
  { \
    for (PetscInt i = from; i < to; i++) \
      for (int j = 0; j < d; j++) value[(size_t)(i - from) * d + j] = (Real)rows->array[i + (size_t)j * rows->lda]; \
  } \
  static void KMeansFillMany_##Real(const KMeansRows *rows, PetscInt from, PetscInt to, Real *value) \
  { \
    const PetscInt d = rows->d, block = PetscMin(PetscMax(KMEANS_DENSE_BLOCK / PetscMax(d, 1), 8), 512); \
\
    for (PetscInt first = from; first < to; first += block) \
      for (PetscInt j = 0; j < d; j++) \
        for (PetscInt i = first; i < PetscMin(first + block, to); i++) value[(size_t)(i - from) * d + j] = (Real)KMeansRowsGet_Private(rows, i, j); \
  } \
  GP_CLONES static void KMeansFillRows_##Real(const KMeansRows *rows, PetscInt from, PetscInt to, Real *value) \
  { \
    switch (rows->order ? 0 : rows->d) { \
    case 1: \
      KMeansFillFew_##Real(rows, from, to, 1, value); \
      break; \
    case 2: \
      KMeansFillFew_##Real(rows, from, to, 2, value); \
      break; \
    case 3: \
      KMeansFillFew_##Real(rows, from, to, 3, value); \
      break; \
    case 4: \
      KMeansFillFew_##Real(rows, from, to, 4, value); \
      break; \
    case 6: \
      KMeansFillFew_##Real(rows, from, to, 6, value); \
      break; \
    case 8: \
      KMeansFillFew_##Real(rows, from, to, 8, value); \
      break; \
    default: \
      KMeansFillMany_##Real(rows, from, to, value); \
    } \
  } \
  static void KMeansFill_##Real(const KMeansRows *rows, size_t first, size_t count, Real *value) \
  { \
    const size_t d = (size_t)rows->d, end = first + count, head = PetscMin((first + d - 1) / d * d, end), tail = PetscMax(end / d * d, head); \
\
    for (size_t k = first; k < head; k++) value[k - first] = (Real)KMeansRowsGet_Private(rows, (PetscInt)(k / d), (PetscInt)(k % d)); \
    if (tail > head) KMeansFillRows_##Real(rows, (PetscInt)(head / d), (PetscInt)(tail / d), value + (head - first)); \
    for (size_t k = tail; k < end; k++) value[k - first] = (Real)KMeansRowsGet_Private(rows, (PetscInt)(k / d), (PetscInt)(k % d)); \
  }
KMEANS_DENSE_FILL(float)
KMEANS_DENSE_FILL(double)

/* Writes `count` values from value `first` on, row by row, in single or double precision. Several threads may call it at once. */
void KMeansRowsFill_Private(const KMeansRows *rows, size_t first, size_t count, int single, void *values)
{
  if (rows->X && single) KMeansFill_float(rows, first, count, (float *)values);
  else if (rows->X) KMeansFill_double(rows, first, count, (double *)values);
  else if (single) {
    for (size_t k = 0; k < count; k++) ((float *)values)[k] = (float)rows->value[first + k];
  } else memcpy(values, rows->value + first, count * sizeof(double));
}
