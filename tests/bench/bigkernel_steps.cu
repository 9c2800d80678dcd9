/* The work on records and rows that bench_bigkernel.c streams, for both backends. All sums are exact, so the order of the atomic additions changes no result. */
#include "bench/bigkernel.h"

#if defined(__CUDACC__)
  #define BK_ADD(p, x) ((void)atomicAdd(p, x))
  #define BK_UNROLL    _Pragma("unroll")
#else
  #define BK_ADD(p, x) ((void)(*(p) += (x)))
  #define BK_UNROLL
#endif

/* --- k-means --------------------------------------------------------------------------------------------------------------- */

typedef struct {
  BkView      v;
  BkCentroids c;
  int64_t     slots;
  double     *sums, *label;
} BkAssignArgs;

/* Slot i takes the points i, i + slots, ... Its sums stay in registers of a GPU, because the loop over the clusters is unrolled. */
GP_STEP(BkAssignSlot)
{
  const BkAssignArgs *a                            = (const BkAssignArgs *)args;
  double              sum[BK_CLUSTERS][BK_DIM + 1] = {{0}};

  for (int64_t k = i; k < a->v.n; k += a->slots) {
    double x[BK_DIM], least = 1e300;
    int    best = 0;

    BK_UNROLL
    for (int d = 0; d < BK_DIM; d++) x[d] = BkDouble(&a->v, d, k);
    BK_UNROLL
    for (int c = 0; c < BK_CLUSTERS; c++) {
      double square = 0;

      BK_UNROLL
      for (int d = 0; d < BK_DIM; d++) square += (x[d] - a->c.centroid[c][d]) * (x[d] - a->c.centroid[c][d]);
      if (square < least) {
        least = square;
        best  = c;
      }
    }
    a->label[k] = best;
    BK_UNROLL
    for (int c = 0; c < BK_CLUSTERS; c++) {
      if (c != best) continue;
      BK_UNROLL
      for (int d = 0; d < BK_DIM; d++) sum[c][d] += x[d];
      sum[c][BK_DIM] += 1;
    }
  }
  BK_UNROLL
  for (int c = 0; c < BK_CLUSTERS; c++) {
    BK_UNROLL
    for (int d = 0; d <= BK_DIM; d++) a->sums[(c * (BK_DIM + 1) + d) * a->slots + i] += sum[c][d];
  }
}

GP_EXTERN GpErr GP_IMPL(BkAssign)(GpDev dev, const BkView *v, const BkCentroids *c, int64_t slots, double *sums, double *label)
{
  const BkAssignArgs a = {*v, *c, slots, sums, label};

  return GP_EACH(dev, BkAssignArgs, BkAssignSlot, slots, &a);
}

typedef struct {
  int64_t       n; /* numbers of each sum */
  int           parts;
  const double *from;
  double       *to;
} BkAddArgs;

/* Part i % parts of sum i / parts takes the numbers part, part + parts, ... */
GP_STEP(BkAddPart)
{
  const BkAddArgs *a   = (const BkAddArgs *)args;
  double           sum = 0;

  for (int64_t k = i % a->parts; k < a->n; k += a->parts) sum += a->from[i / a->parts * a->n + k];
  a->to[i] = sum;
}

GP_EXTERN GpErr GP_IMPL(BkAddSlots)(GpDev dev, int64_t slots, const double *sums, double *parts, double *total)
{
  const BkAddArgs first = {slots, BK_PARTS, sums, parts}, last = {BK_PARTS, 1, parts, total};
  GpErr           err = GP_EACH(dev, BkAddArgs, BkAddPart, BK_SUMS * BK_PARTS, &first);

  if (!err) err = GP_EACH(dev, BkAddArgs, BkAddPart, BK_SUMS, &last);
  return err;
}

/* --- correlations of users --------------------------------------------------------------------------------------------------- */

typedef struct {
  BkView         v;
  GpCsr          A;
  int64_t        first;
  const uint8_t *target;
  int32_t       *counts;
  double        *correlation;
} BkCorrelateArgs;

GP_INLINE void BkAddRating(int32_t *s, int rating, int target)
{
  s[0] += 1;
  s[1] += rating;
  s[2] += rating * rating;
  s[3] += target;
  s[4] += target * target;
  s[5] += rating * target;
}

GP_INLINE void BkAddCounts(int32_t *to, const int32_t *s)
{
  BK_UNROLL
  for (int k = 0; k < BK_COUNTS; k++) BK_ADD(to + k, s[k]);
}

/* Fields: user, rating, movie. */
GP_STEP(BkCorrelateRecord)
{
  const BkCorrelateArgs *a            = (const BkCorrelateArgs *)args;
  const int              target       = a->target[BkBits(&a->v, 2, i, 4)];
  int32_t                s[BK_COUNTS] = {0};

  if (!target) return;
  BkAddRating(s, (int)BkDouble(&a->v, 1, i), target);
  BkAddCounts(a->counts + BK_COUNTS * BkBits(&a->v, 0, i, 8), s);
}

GP_EXTERN GpErr GP_IMPL(BkCorrelateRecords)(GpDev dev, const BkView *v, const uint8_t *target, int32_t *counts)
{
  const BkCorrelateArgs a = {.v = *v, .target = target, .counts = counts};

  return GP_EACH(dev, BkCorrelateArgs, BkCorrelateRecord, v->n, &a);
}

/* Lane i % BK_LANES of row i / BK_LANES. */
GP_STEP(BkCorrelateLane)
{
  const BkCorrelateArgs *a            = (const BkCorrelateArgs *)args;
  const int64_t          row          = i / BK_LANES;
  int32_t                s[BK_COUNTS] = {0};

  for (int32_t k = a->A.rowptr[row] + (int32_t)(i % BK_LANES); k < a->A.rowptr[row + 1]; k += BK_LANES) {
    const int target = a->target[a->A.col[k]];

    if (target) BkAddRating(s, (int)((const float *)a->A.val)[k], target);
  }
  if (s[0]) BkAddCounts(a->counts + BK_COUNTS * (a->first + row), s);
}

GP_EXTERN GpErr GP_IMPL(BkCorrelateRows)(GpDev dev, const GpCsr *A, int64_t first, const uint8_t *target, int32_t *counts)
{
  const BkCorrelateArgs a = {.A = *A, .first = first, .target = target, .counts = counts};

  return GP_EACH(dev, BkCorrelateArgs, BkCorrelateLane, (int64_t)A->m * BK_LANES, &a);
}

GP_STEP(BkCorrelateUser)
{
  const BkCorrelateArgs *a = (const BkCorrelateArgs *)args;

  a->correlation[i] = BkCorrelation(a->counts + BK_COUNTS * i);
}

GP_EXTERN GpErr GP_IMPL(BkCorrelations)(GpDev dev, int64_t users, const int32_t *counts, double *correlation)
{
  const BkCorrelateArgs a = {.counts = (int32_t *)counts, .correlation = correlation};

  return GP_EACH(dev, BkCorrelateArgs, BkCorrelateUser, users, &a);
}

/* --- affinity of merchants --------------------------------------------------------------------------------------------------- */

typedef struct {
  BkView         v;
  GpCsr          A;
  int64_t        first;
  const uint8_t *chosen;
  int32_t       *flag, *count;
} BkAffinityArgs;

/* Fields: customer, merchant. */
GP_STEP(BkFlagRecord)
{
  const BkAffinityArgs *a = (const BkAffinityArgs *)args;

  if (a->chosen[BkBits(&a->v, 1, i, 8)]) GP_SET(a->flag + BkBits(&a->v, 0, i, 8), 1);
}

GP_STEP(BkCountRecord)
{
  const BkAffinityArgs *a = (const BkAffinityArgs *)args;

  if (a->flag[BkBits(&a->v, 0, i, 8)]) GP_COUNT(a->count + BkBits(&a->v, 1, i, 8));
}

/* An item has all records of its customers, so their flags are complete after the first step. */
GP_EXTERN GpErr GP_IMPL(BkAffinityRecords)(GpDev dev, const BkView *v, const uint8_t *chosen, int32_t *flag, int32_t *count)
{
  const BkAffinityArgs a   = {.v = *v, .chosen = chosen, .flag = flag, .count = count};
  GpErr                err = GP_EACH(dev, BkAffinityArgs, BkFlagRecord, v->n, &a);

  if (!err) err = GP_EACH(dev, BkAffinityArgs, BkCountRecord, v->n, &a);
  return err;
}

GP_STEP(BkFlagLane)
{
  const BkAffinityArgs *a   = (const BkAffinityArgs *)args;
  const int64_t         row = i / BK_LANES;

  for (int32_t k = a->A.rowptr[row] + (int32_t)(i % BK_LANES); k < a->A.rowptr[row + 1]; k += BK_LANES) {
    if (a->chosen[a->A.col[k]]) GP_SET(a->flag + a->first + row, 1);
  }
}

GP_STEP(BkCountLane)
{
  const BkAffinityArgs *a   = (const BkAffinityArgs *)args;
  const int64_t         row = i / BK_LANES;

  if (!a->flag[a->first + row]) return;
  for (int32_t k = a->A.rowptr[row] + (int32_t)(i % BK_LANES); k < a->A.rowptr[row + 1]; k += BK_LANES) GP_COUNT(a->count + a->A.col[k]);
}

GP_EXTERN GpErr GP_IMPL(BkAffinityRows)(GpDev dev, const GpCsr *A, int64_t first, const uint8_t *chosen, int32_t *flag, int32_t *count)
{
  const BkAffinityArgs a   = {.A = *A, .first = first, .chosen = chosen, .flag = flag, .count = count};
  GpErr                err = GP_EACH(dev, BkAffinityArgs, BkFlagLane, (int64_t)A->m * BK_LANES, &a);

  if (!err) err = GP_EACH(dev, BkAffinityArgs, BkCountLane, (int64_t)A->m * BK_LANES, &a);
  return err;
}
