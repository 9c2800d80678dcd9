/* Kernels of the loss for the F-beta score: max over all labellings y' of 1 - F_beta(y') - (1/m) sum of y_i z_i over the examples i with y'_i !=
   y_i.

   Source: Joachims, A Support Vector Method for Multivariate Performance Measures (ICML 2005). With the error rate in place of 1 - F_beta this is
   the mean hinge loss.

   Among the labellings with a true positives and b false positives, the maximiser relabels the positives of lowest score and the negatives of
   highest score. For fixed a the maximum is concave in b, so bisection finds b. The total work is O(m log m). */
#include "device/gpsteps.h"
#include "solvers/bmrm/bmrmlists.h"

enum {
  PIECE = 64 /* labellings among which one step finds the best */
};

typedef struct {
  BMRMLists     of;
  double        square; /* beta squared */
  const double *z;
  double       *u, *c;
  int32_t      *order;         /* positions of the positives by ascending score, then of the negatives by ascending score */
  double       *taken, *given; /* taken[k]: sum of the k lowest scores of positives. given[k]: sum of the k highest scores of negatives */
  double       *value;         /* value[k]: largest value of a labelling that relabels the k lowest positives */
  int32_t      *wrong;         /* wrong[k]: number of false positives of that labelling */
  int32_t      *best, *better; /* indices into value. best: candidates of this round, NULL for all. better: the best candidate of each piece */
  int64_t       n;             /* number of candidates */
} FbetaArgs;

/* 1 - F_beta of a labelling with a true positives and b false positives */
GP_INLINE double BMRMFbetaMissing(const FbetaArgs *x, double a, double b)
{
  return 1 - (1 + x->square) * a / (a + b + x->square * (double)x->of.first);
}

/* The score of the negative that has this many negatives with higher scores. */
GP_INLINE double BMRMFbetaNegative(const FbetaArgs *a, int64_t above)
{
  return a->z[a->order[a->of.n - 1 - above]];
}

GP_STEP(BMRMFbetaTakeScores)
{
  const FbetaArgs *a = (const FbetaArgs *)args;

  if (i < a->of.first) a->taken[i] = a->z[a->order[i]];
  else a->given[i - a->of.first] = BMRMFbetaNegative(a, i - a->of.first);
}

GP_STEP(BMRMFbetaWeigh)
{
  const FbetaArgs *a = (const FbetaArgs *)args;
  const double     m = (double)a->of.n, right = (double)(a->of.first - i);
  int32_t          lo = 0, hi = (int32_t)(a->of.n - a->of.first); /* the optimal number of false positives lies in [lo, hi] */

  while (lo < hi) {
    const int32_t mid = lo + (hi - lo) / 2;

    if (BMRMFbetaMissing(a, right, mid + 1) - BMRMFbetaMissing(a, right, mid) + BMRMFbetaNegative(a, mid) / m > 0) lo = mid + 1;
    else hi = mid;
  }
  a->wrong[i] = lo;
  a->value[i] = BMRMFbetaMissing(a, right, lo) + (a->given[lo] - a->taken[i]) / m;
}

GP_STEP(BMRMFbetaFindBest)
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

GP_STEP(BMRMFbetaTakeBest)
{
  const FbetaArgs *a       = (const FbetaArgs *)args;
  const int64_t    without = a->best[0], wrong = a->wrong[without];
  const int        positive = i < a->of.first, other = positive ? i < without : a->of.n - 1 - i < wrong;

  a->u[a->order[i]] = other ? (positive ? -1.0 : 1.0) / (double)a->of.n : 0;
  a->c[i]           = i ? 0 : BMRMFbetaMissing(a, (double)(a->of.first - without), (double)wrong);
}

static GpErr BMRMFbetaBestOfAll(GpDev dev, FbetaArgs *a, int32_t *next)
{
  GpErr err = GP_SUCCESS;

  a->n = a->of.first + 1;
  do {
    const int64_t pieces = (a->n + PIECE - 1) / PIECE;

    a->better = next;
    next += pieces;
    err     = GP_EACH(dev, FbetaArgs, BMRMFbetaFindBest, pieces, a);
    a->best = a->better;
    a->n    = pieces;
  } while (!err && a->n > 1);
  return err;
}

GP_EXTERN GpErr GP_IMPL(BMRMFbetaCut)(GpDev dev, const BMRMLists *of, const double p[], const double *z, double *u, double *c)
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
  err     = GP_IMPL(BMRMListsOrder)(dev, of->n, z, of->rank, 2, a.order);
  if (!err) err = GP_EACH(dev, FbetaArgs, BMRMFbetaTakeScores, of->n, &a);
  if (!err) err = GP_IMPL(BMRMListsScan)(dev, of->first, a.taken);
  if (!err) err = GP_IMPL(BMRMListsScan)(dev, of->n - of->first, a.given);
  if (!err) err = GP_EACH(dev, FbetaArgs, BMRMFbetaWeigh, of->first + 1, &a);
  if (!err) err = BMRMFbetaBestOfAll(dev, &a, a.wrong + positives + 1);
  if (!err) err = GP_EACH(dev, FbetaArgs, BMRMFbetaTakeBest, of->n, &a);
  GpDevReturn(dev, &work, bytes);
  return err;
}
