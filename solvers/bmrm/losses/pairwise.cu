/* The mean hinge loss over all pairs of a list with different labels, in O(n log n), for all lists in parallel.

   A pair with labels y_i > y_j is violated if z_i - 1 < z_j. Sort each list by score. The examples i that violate a pair with a given j are a
   prefix of the list; from this prefix, those with larger labels count. The examples j that violate a pair with a given i are a suffix; from this
   suffix, those with smaller labels count. The required numbers are counts and, if pairs are weighted by distance, sums of labels.

   A wavelet tree over the ranks of the labels answers both queries. It is processed level by level, from the highest bit of the ranks. On each
   level, examples with bit 0 move before those with bit 1. Prefix sums over the examples with bit 0 give the contribution of the smaller ranks,
   and the bounds of each prefix or suffix on the next level. */
#include "device/gpsteps.h"
#include "solvers/bmrm/losses/pairwise.h"
#include <math.h>

typedef struct {
  BMRMLists     of;
  const double *z;
  double       *u, *c;
  int32_t      *order;                  /* positions sorted by list, then by score */
  double       *score;                  /* scores in that order */
  int32_t      *from, *to;              /* bounds on this level: of the prefixes of the n examples, followed by their n suffixes */
  int32_t      *start;                  /* begin of the suffixes on the first level */
  int32_t      *count;                  /* number of examples with larger labels found so far in each prefix and suffix */
  int32_t      *rank, *nextrank, *zero; /* ranks in the order of this level and of the next; number of examples with bit 0 before each position */
  int           bit;
  /* the following arrays are NULL unless pairs are weighted by distance */
  double *sum;                   /* sum of the labels of the examples that count counts */
  double *all;                   /* prefix sums of the labels in the order of the scores */
  double *label, *next, *before; /* labels in the order of this level and of the next; sum of the labels with bit 0 before each position */
} PairsArgs;

GP_STEP(BMRMPairsArrange)
{
  const PairsArgs *a     = (const PairsArgs *)args;
  const int32_t    place = a->order[i];

  a->score[i] = a->z[place];
  a->rank[i]  = a->of.rank[place];
  if (a->label) a->label[i] = a->all[i] = a->of.y[place];
}

/* With last = 0, the first position of the list that is not in the prefix of the example at i (score - 1 < own score). With last = 1, the first
   position of its suffix (own score - 1 < score). The comparisons round as those of the pairs do, so that no pair is treated differently. */
GP_INLINE int32_t BMRMPairsBoundary(const PairsArgs *a, int64_t i, int last)
{
  const int32_t list = a->of.group[a->order[i]];
  const double  own  = a->score[i];
  int32_t       lo = a->of.begin[list], many = a->of.begin[list + 1] - lo; /* the boundary lies in [lo, lo + many] */

  while (many > 0) { /* no branches: they could not be predicted */
    const int32_t half = many / 2, mid = lo + half;
    const int     before = last ? !(own - 1 < a->score[mid]) : a->score[mid] - 1 < own;

    lo   = before ? mid + 1 : lo;
    many = before ? many - half - 1 : half;
  }
  return lo;
}

GP_STEP(BMRMPairsFindParts)
{
  const PairsArgs *a    = (const PairsArgs *)args;
  const int64_t    n    = a->of.n;
  const int32_t    list = a->of.group[a->order[i]];

  a->from[i]     = a->of.begin[list];
  a->to[i]       = BMRMPairsBoundary(a, i, 0);
  a->from[n + i] = a->start[i] = BMRMPairsBoundary(a, i, 1);
  a->to[n + i]                 = a->of.begin[list + 1];
  a->count[i] = a->count[n + i] = 0;
  if (a->sum) a->sum[i] = a->sum[n + i] = 0;
}

GP_INLINE int BMRMPairsIsOne(const PairsArgs *a, int32_t rank)
{
  return rank >> a->bit & 1;
}

GP_STEP(BMRMPairsMarkZeros)
{
  const PairsArgs *a = (const PairsArgs *)args;

  a->zero[i] = !BMRMPairsIsOne(a, a->rank[i]);
  if (a->label) a->before[i] = a->zero[i] ? a->label[i] : 0;
}

/* Descends one level for prefix i (i < n) or suffix i - n. */
GP_STEP(BMRMPairsDescend)
{
  const PairsArgs *a   = (const PairsArgs *)args;
  const int64_t    n   = a->of.n;
  const int32_t    own = a->of.rank[a->order[i < n ? i : i - n]], from = a->from[i], to = a->to[i], zeros = a->zero[n];

  if (BMRMPairsIsOne(a, own)) {
    a->count[i] += a->zero[to] - a->zero[from];
    if (a->sum) a->sum[i] += a->before[to] - a->before[from];
    a->from[i] = zeros + from - a->zero[from];
    a->to[i]   = zeros + to - a->zero[to];
  } else {
    a->from[i] = a->zero[from];
    a->to[i]   = a->zero[to];
  }
}

GP_STEP(BMRMPairsMove)
{
  const PairsArgs *a  = (const PairsArgs *)args;
  const int64_t    to = BMRMPairsIsOne(a, a->rank[i]) ? a->zero[a->of.n] + i - a->zero[i] : a->zero[i];

  a->nextrank[to] = a->rank[i];
  if (a->label) a->next[to] = a->label[i];
}

GP_STEP(BMRMPairsConclude)
{
  const PairsArgs *a     = (const PairsArgs *)args;
  const int64_t    q     = a->of.n + i;
  const int32_t    place = a->order[i], list = a->of.group[place], end = a->of.begin[list + 1], equal = a->to[q] - a->from[q];
  const double     pairs = a->of.pairs[list];
  double           under = a->count[i], over = (double)(end - a->start[i]) - a->count[q] - equal;

  if (a->sum) {
    const double y = a->of.y[place];

    under = fabs(y * under - a->sum[i]);
    over  = fabs(y * over - (a->all[end] - a->all[a->start[i]] - a->sum[q] - y * equal));
  }
  a->u[place] = pairs > 0 ? (under - over) / pairs : 0;
  a->c[place] = pairs > 0 ? over / pairs : 0;
}

static GpErr BMRMPairsDescendLevels(GpDev dev, PairsArgs *a)
{
  const int64_t n    = a->of.n;
  int           bits = 0;
  GpErr         err  = GP_SUCCESS;

  while (bits < 31 && (int32_t)1 << bits < a->of.nlabel) bits++;
  for (a->bit = bits - 1; !err && a->bit >= 0; a->bit--) {
    int32_t *rank  = a->rank;
    double  *label = a->label;

    err = GP_EACH(dev, PairsArgs, BMRMPairsMarkZeros, n, a);
    if (!err) err = GP_IMPL(GpScan)(dev, n, a->zero);
    if (!err && label) err = GP_IMPL(BMRMListsScan)(dev, n, a->before);
    if (!err) err = GP_EACH(dev, PairsArgs, BMRMPairsDescend, 2 * n, a);
    if (!err && a->bit) err = GP_EACH(dev, PairsArgs, BMRMPairsMove, n, a);
    a->rank     = a->nextrank;
    a->nextrank = rank;
    a->label    = a->next;
    a->next     = label;
  }
  return err;
}

static GpErr BMRMPairsEvaluate(GpDev dev, const BMRMLists *of, int distance, const double *z, double *u, double *c)
{
  const size_t n = (size_t)of->n, bytes = (distance ? 7 * n + 2 : n) * sizeof(double) + (11 * n + 1) * sizeof(int32_t);
  PairsArgs    a = {*of, z, u, c};
  double      *d = NULL;
  int32_t     *k;
  GpErr        err = GpDevBorrow(dev, bytes, &d);

  if (err) return err;
  a.score = d;
  d += n;
  if (distance) {
    a.sum    = d;
    a.label  = a.sum + 2 * n;
    a.next   = a.label + n;
    a.all    = a.next + n;
    a.before = a.all + n + 1;
    d        = a.before + n + 1;
  }
  k          = (int32_t *)d;
  a.order    = k;
  a.from     = k + n;
  a.to       = k + 3 * n;
  a.count    = k + 5 * n;
  a.start    = k + 7 * n;
  a.rank     = k + 8 * n;
  a.nextrank = k + 9 * n;
  a.zero     = k + 10 * n;
  d          = a.score;
  err        = GP_IMPL(BMRMListsOrder)(dev, of->n, z, of->group, of->ngroup, a.order);
  if (!err) err = GP_EACH(dev, PairsArgs, BMRMPairsArrange, of->n, &a);
  if (!err && distance) err = GP_IMPL(BMRMListsScan)(dev, of->n, a.all);
  if (!err) err = GP_EACH(dev, PairsArgs, BMRMPairsFindParts, of->n, &a);
  if (!err) err = BMRMPairsDescendLevels(dev, &a);
  if (!err) err = GP_EACH(dev, PairsArgs, BMRMPairsConclude, of->n, &a);
  GpDevReturn(dev, &d, bytes);
  return err;
}

GP_EXTERN GpErr GP_IMPL(BMRMPairsCut)(GpDev dev, const BMRMLists *of, const double p[], const double *z, double *u, double *c)
{
  (void)p;
  return BMRMPairsEvaluate(dev, of, 0, z, u, c);
}

GP_EXTERN GpErr GP_IMPL(BMRMDistantPairsCut)(GpDev dev, const BMRMLists *of, const double p[], const double *z, double *u, double *c)
{
  (void)p;
  return BMRMPairsEvaluate(dev, of, 1, z, u, c);
}
