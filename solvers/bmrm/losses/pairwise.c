/* The mean hinge loss of all pairs of a list with different labels, in O(n log n): sweeps over the sorted scores with trees of sums. */
#include "solvers/bmrm/losses/pairwise.h"

/* sums over the labels' ranks, to which single terms are added: a Fenwick tree of numbers of examples and of their labels */
typedef struct {
  PetscInt   n;
  PetscReal *count, *label;
} Tree;

static void TreeAdd(Tree *t, PetscInt rank, PetscReal label)
{
  for (PetscInt k = rank + 1; k <= t->n; k += k & -k) {
    t->count[k]++;
    t->label[k] += label;
  }
}

/* over the ranks before this one */
static void TreeSum(const Tree *t, PetscInt rank, PetscReal *count, PetscReal *label)
{
  *count = *label = 0;
  for (PetscInt k = rank; k > 0; k -= k & -k) {
    *count += t->count[k];
    *label += t->label[k];
  }
}

/*
  For every example the sum of the costs of those it should beat by 1 and does not, and of those that should beat it: both come from going
  through the scores in order, with a second place, 1 ahead, up to which examples are in the tree. Ranks count labels from the largest.
*/
static void Sweep(const BMRMGroup *g, PetscBool distance, PetscBool beats, const PetscInt order[], const PetscInt rank[], Tree *t, PetscReal sum[])
{
  const PetscInt n     = g->n;
  PetscInt       ahead = 0;

  for (PetscInt s = 0; s < n; s++) {
    const PetscInt i = order[beats ? n - 1 - s : s];
    PetscReal      count, label;

    for (; ahead < n; ahead++) {
      const PetscInt j = order[beats ? n - 1 - ahead : ahead];

      if (beats ? !(g->z[i] - 1 < g->z[j]) : !(g->z[j] - 1 < g->z[i])) break;
      TreeAdd(t, beats ? t->n - 1 - rank[j] : rank[j], g->y[j]);
    }
    TreeSum(t, beats ? t->n - 1 - rank[i] : rank[i], &count, &label);
    sum[i] = distance ? PetscAbsReal(g->y[i] * count - label) : count;
  }
}

PetscErrorCode BMRMPairwiseCut(const BMRMGroup *g, PetscBool distance, PetscReal u[], PetscReal *offset)
{
  const PetscInt n = g->n;
  PetscInt      *order, *rank, labels = 0, run = 0;
  PetscReal     *over, pairs = 0;
  Tree           t;

  PetscFunctionBegin;
  *offset = 0;
  PetscCall(PetscMalloc5(n, &order, n, &rank, n, &over, n + 1, &t.count, n + 1, &t.label));
  for (PetscInt i = 0; i < n; i++) {
    if (i && g->y[i] < g->y[i - 1]) {
      labels++;
      run = i;
    }
    rank[i] = labels;
    pairs += run; /* so many have a larger label */
  }
  t.n = labels + 1;
  PetscCall(BMRMGroupSort(g, 0, n, order));
  PetscCall(PetscArrayzero(t.count, t.n + 1));
  PetscCall(PetscArrayzero(t.label, t.n + 1));
  Sweep(g, distance, PETSC_FALSE, order, rank, &t, u); /* those that should beat it pull it down */
  PetscCall(PetscArrayzero(t.count, t.n + 1));
  PetscCall(PetscArrayzero(t.label, t.n + 1));
  Sweep(g, distance, PETSC_TRUE, order, rank, &t, over);
  for (PetscInt i = 0; i < n; i++) {
    *offset += pairs > 0 ? over[i] / pairs : 0;
    u[i] = pairs > 0 ? (u[i] - over[i]) / pairs : 0;
  }
  PetscCall(PetscFree5(order, rank, over, t.count, t.label));
  PetscFunctionReturn(PETSC_SUCCESS);
}
