/* The F-beta score: max over all other labellings y' of 1 - F_beta(y') - (1/m) sum of y_i z_i over the examples that y' labels otherwise.

   Joachims, A Support Vector Method for Multivariate Performance Measures (ICML 2005).  With the error rate in place of 1 - F it is the hinge loss.
   Of all y' with a true positives and b false ones the best takes the lowest scores of the positives away, and the highest of the negatives. For
   every a the rest is concave in b, so that b is found by halving: O(m log m) in all. */
#include "device/gpsteps.h"
#include "solvers/bmrm/bmrmlists.h"

enum {
  PIECE = 64 /* of labellings, of which one step finds the best */
};

typedef struct {
  BMRMLists     of;
  double        square; /* of beta */
  const double *z;
  double       *u, *c;
  int32_t      *order;         /* the positives by rising score, the negatives by rising score */
  double       *taken, *given; /* sums of the lowest scores of the positives, of the highest of the negatives */
  double       *value;         /* of the best labelling without the k lowest positives */
  int32_t      *wrong;         /* negatives that it takes for positives */
  int32_t      *best, *better; /* places in value, NULL for all; those of the best of every piece */
  int64_t       n;             /* so many */
} FbetaArgs;

/* what a labelling with a true and b false positives misses */
GP_INLINE double Missing(const FbetaArgs *x, double a, double b)
{
  return 1 - (1 + x->square) * a / (a + b + x->square * (double)x->of.first);
}

/* the score of the negative with so many above it */
GP_INLINE double Negative(const FbetaArgs *a, int64_t above)
{
  return a->z[a->order[a->of.n - 1 - above]];
}

GP_STEP(TakeScores)
{
  const FbetaArgs *a = (const FbetaArgs *)args;

  if (i < a->of.first) a->taken[i] = a->z[a->order[i]];
  else a->given[i - a->of.first] = Negative(a, i - a->of.first);
}

GP_STEP(Weigh)
{
  const FbetaArgs *a = (const FbetaArgs *)args;
  const double     m = (double)a->of.n, right = (double)(a->of.first - i);
  int32_t          lo = 0, hi = (int32_t)(a->of.n - a->of.first); /* the best number of wrong ones is among them */

  while (lo < hi) {
    const int32_t mid = lo + (hi - lo) / 2;

    if (Missing(a, right, mid + 1) - Missing(a, right, mid) + Negative(a, mid) / m > 0) lo = mid + 1;
    else hi = mid;
  }
  a->wrong[i] = lo;
  a->value[i] = Missing(a, right, lo) + (a->given[lo] - a->taken[i]) / m;
}

GP_STEP(FindBest)
{
  const FbetaArgs *a   = (const FbetaArgs *)args;
  const int64_t    end = (i + 1) * PIECE < a->n ? (i + 1) * PIECE : a->n;
  int32_t          at  = a->best ? a->best[i * PIECE] : (int32_t)(i * PIECE);

  for (int64_t k = i * PIECE + 1; k < end; k++) {
    const int32_t other = a->best ? a->best[k] : (int32_t)k;

    if (a->value[other] > a->value[at]) at = other;
  }
  a->better[i] = at;
}

GP_STEP(TakeBest)
{
  const FbetaArgs *a       = (const FbetaArgs *)args;
  const int64_t    without = a->best[0], wrong = a->wrong[without];
  const int        positive = i < a->of.first, other = positive ? i < without : a->of.n - 1 - i < wrong;

  a->u[a->order[i]] = other ? (positive ? -1.0 : 1.0) / (double)a->of.n : 0;
  a->c[i]           = i ? 0 : Missing(a, (double)(a->of.first - without), (double)wrong);
}

static GpErr BestOfAll(GpDev dev, FbetaArgs *a, int32_t *room)
{
  GpErr err = GP_SUCCESS;

  a->n = a->of.first + 1;
  do {
    const int64_t pieces = (a->n + PIECE - 1) / PIECE;

    a->better = room;
    room += pieces;
    err     = GP_EACH(dev, FbetaArgs, FindBest, pieces, a);
    a->best = a->better;
    a->n    = pieces;
  } while (!err && a->n > 1);
  return err;
}

GP_EXTERN GpErr GP_TWIN(BMRMFbetaCut)(GpDev dev, const BMRMLists *of, const double p[], const double *z, double *u, double *c)
{
  const size_t n = (size_t)of->n, positives = (size_t)of->first, bytes = (n + positives + 3) * sizeof(double) + (n + 2 * positives + 32) * sizeof(int32_t);
  FbetaArgs    a    = {*of, p[0] * p[0], z, u, c};
  double      *work = NULL;
  GpErr        err  = GpDevBorrow(dev, bytes, &work);

  if (err) return err;
  a.taken = work;
  a.given = a.taken + positives + 1;
  a.value = a.given + (n - positives) + 1;
  a.order = (int32_t *)(a.value + positives + 1);
  a.wrong = a.order + n;
  err     = GP_TWIN(BMRMListsOrder)(dev, of->n, z, of->rank, 2, a.order);
  if (!err) err = GP_EACH(dev, FbetaArgs, TakeScores, of->n, &a);
  if (!err) err = GP_TWIN(BMRMListsScan)(dev, of->first, a.taken);
  if (!err) err = GP_TWIN(BMRMListsScan)(dev, of->n - of->first, a.given);
  if (!err) err = GP_EACH(dev, FbetaArgs, Weigh, of->first + 1, &a);
  if (!err) err = BestOfAll(dev, &a, a.wrong + positives + 1);
  if (!err) err = GP_EACH(dev, FbetaArgs, TakeBest, of->n, &a);
  GpDevReturn(dev, &work, bytes);
  return err;
}
