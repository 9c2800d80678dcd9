/* The F-beta score: max over all other labellings y' of 1 - F_beta(y') - (1/m) sum of y_i z_i over the examples that y' labels otherwise.

   Joachims, A Support Vector Method for Multivariate Performance Measures (ICML 2005).  With the error rate in place of 1 - F it is the hinge loss.
   Of all y' with a true positives and b false ones the best takes the lowest scores of the positives away, and the highest of the negatives. For
   every a the rest is concave in b, so that b is found by halving: O(m log m) in all. */
#include "solvers/bmrm/bmrmgrouped.h"

PETSC_INTERN PetscErrorCode BMRMLossCreate_fbeta(BMRMLoss);

static int Fits(double y)
{
  return y == 1 || y == -1;
}

/* what a labelling with a true and b false positives misses */
static PetscReal Missing(PetscReal square, PetscInt positives, PetscInt a, PetscInt b)
{
  return 1 - (1 + square) * a / (a + b + square * positives);
}

static PetscErrorCode Cut(const BMRMGroup *g, PetscReal u[], PetscReal *offset)
{
  const PetscInt  n      = g->n;
  const PetscReal square = g->p[0] * g->p[0];
  PetscInt       *order, positives = 0, negatives, besta = 0, bestb = 0;
  PetscReal      *sum, lost = 0, best = PETSC_NINFINITY;

  PetscFunctionBegin;
  while (positives < n && g->y[positives] > 0) positives++;
  negatives = n - positives;
  PetscCall(PetscMalloc2(n, &order, negatives + 1, &sum));
  PetscCall(BMRMGroupSort(g, 0, positives, order));
  PetscCall(BMRMGroupSort(g, positives, n, order + positives));
  sum[0] = 0; /* of the highest scores of the negatives */
  for (PetscInt b = 0; b < negatives; b++) sum[b + 1] = sum[b] + g->z[order[n - 1 - b]];
  for (PetscInt a = positives; a >= 0; a--) {
    PetscInt  lo = 0, hi = negatives; /* the best b is among them */
    PetscReal value;

    while (lo < hi) {
      const PetscInt mid = lo + (hi - lo) / 2;

      if (Missing(square, positives, a, mid + 1) - Missing(square, positives, a, mid) + g->z[order[n - 1 - mid]] / n > 0) lo = mid + 1;
      else hi = mid;
    }
    value = Missing(square, positives, a, lo) + (sum[lo] - lost) / n;
    if (value > best) {
      best  = value;
      besta = a;
      bestb = lo;
    }
    if (a > 0) lost += g->z[order[positives - a]];
  }
  PetscCall(PetscArrayzero(u, n));
  for (PetscInt i = 0; i < positives - besta; i++) u[order[i]] = (PetscReal)-1 / n;
  for (PetscInt i = 0; i < bestb; i++) u[order[n - 1 - i]] = (PetscReal)1 / n;
  *offset = Missing(square, positives, besta, bestb);
  PetscCall(PetscFree2(order, sum));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const BMRMGrouped loss = {
  .kind = BMRM_GROUP_ALL, .task = BMRM_TASK_CLASSIFICATION, .labels = "+1 or -1", .fits = Fits, .nparameter = 1, .parameter = {{"-bmrm_loss_beta", "F-beta loss: how much more recall counts than precision", 1, 0, INFINITY}}, .cut = Cut};

PetscErrorCode BMRMLossCreate_fbeta(BMRMLoss l)
{
  PetscFunctionBegin;
  PetscCall(BMRMLossSetGrouped(l, &loss));
  PetscFunctionReturn(PETSC_SUCCESS);
}
