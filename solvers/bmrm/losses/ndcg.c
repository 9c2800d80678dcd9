/* The normalised discounted cumulative gain (NDCG) of a query with n examples as a loss: max over the permutations p of
        1 - NDCG(p) + sum_j c_j (z_p(j) - z_q(j)),    c_j = (j + 1)^(-1/4),
   where q orders the examples by label. If labels are equal, the term with q is the mean over all such orders.

   Source: Le and Smola, Direct Optimization of Ranking Measures (2007).

   NDCG(p) = (1/N) sum over the first k places j of (2^y_p(j) - 1) / log2(j + 2). N is chosen so that NDCG(q) = 1. The maximising p solves a linear
   assignment problem. The method of shortest augmenting paths solves it in O(n^3). */
#include "solvers/bmrm/bmrmgrouped.h"

static int BMRMNdcgFits(double y)
{
  return y >= 0 && y <= 50;
}

/* The assignment problem: example i at place j gains weight[j] z[i] - discount[j] gain[i]. */
typedef struct {
  PetscInt         n;
  const PetscReal *z;
  PetscReal       *weight, *discount, *gain;
} Places;

/* The method of Kuhn and Munkres with potentials. Places and examples are counted from 1. On return at[i] is the place of example i. */
static PetscErrorCode BMRMNdcgAssign(const Places *ps, PetscInt at[])
{
  const PetscInt n = ps->n;
  PetscReal     *u, *v, *least;
  PetscInt      *way;
  PetscBool     *used;

  PetscFunctionBegin;
  PetscCall(PetscCalloc5(n + 1, &u, n + 1, &v, n + 1, &least, n + 1, &way, n + 1, &used));
  PetscCall(PetscArrayzero(at, n + 1));
  for (PetscInt place = 1; place <= n; place++) {
    PetscInt now = 0;

    at[0] = place;
    for (PetscInt i = 0; i <= n; i++) {
      least[i] = PETSC_MAX_REAL;
      used[i]  = PETSC_FALSE;
    }
    do {
      const PetscInt p    = at[now];
      PetscInt       next = 0;
      PetscReal      step = PETSC_MAX_REAL;

      used[now] = PETSC_TRUE;
      for (PetscInt i = 1; i <= n; i++) {
        PetscReal cost;

        if (used[i]) continue;
        cost = ps->discount[p - 1] * ps->gain[i - 1] - ps->weight[p - 1] * ps->z[i - 1] - u[p] - v[i];
        if (cost < least[i]) {
          least[i] = cost;
          way[i]   = now;
        }
        if (least[i] < step) {
          step = least[i];
          next = i;
        }
      }
      for (PetscInt i = 0; i <= n; i++) {
        if (used[i]) {
          u[at[i]] += step;
          v[i] -= step;
        } else least[i] -= step;
      }
      now = next;
    } while (at[now]);
    for (; now; now = way[now]) at[now] = at[way[now]];
  }
  PetscCall(PetscFree5(u, v, least, way, used));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BMRMNdcgCut(const BMRMGroup *g, PetscReal u[], PetscReal *offset)
{
  const PetscInt n     = g->n;
  PetscReal      ideal = 0;
  PetscInt      *at;
  Places         ps = {n, g->z, NULL, NULL, NULL};

  PetscFunctionBegin;
  *offset = 0;
  PetscCall(PetscMalloc4(n, &ps.weight, n, &ps.discount, n, &ps.gain, n + 1, &at));
  for (PetscInt i = 0; i < n; i++) {
    ps.weight[i]   = PetscPowReal(i + 1, -0.25);
    ps.discount[i] = i < g->p[0] ? PetscLogReal(2) / PetscLogReal(i + 2) : 0;
    ps.gain[i]     = PetscPowReal(2, g->y[i]) - 1;
    ideal += ps.discount[i] * ps.gain[i];
  }
  for (PetscInt i = 0; i < n && ideal > 0; i++) ps.gain[i] /= ideal;
  for (PetscInt i = 0, end; i < n; i = end) { /* examples with equal labels get the mean weight of their places */
    PetscReal mean = 0;

    for (end = i; end < n && g->y[end] == g->y[i]; end++) mean += ps.weight[end];
    for (PetscInt k = i; k < end; k++) u[k] = -mean / (end - i);
  }
  if (g->y[0] == g->y[n - 1]) PetscCall(PetscArrayzero(u, n)); /* all labels are equal: the loss is 0 */
  else {
    PetscCall(BMRMNdcgAssign(&ps, at));
    *offset = 1;
    for (PetscInt i = 0; i < n; i++) {
      u[i] += ps.weight[at[i + 1] - 1];
      *offset -= ps.discount[at[i + 1] - 1] * ps.gain[i];
    }
  }
  PetscCall(PetscFree4(ps.weight, ps.discount, ps.gain, at));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const BMRMGrouped BMRMGrouped_ndcg = {
  .kind = BMRM_GROUP_QUERY, .task = BMRM_TASK_RANKING, .labels = "a relevance from 0 to 50", .fits = BMRMNdcgFits, .nparameter = 1, .parameter = {{"-bmrm_loss_places", "loss ndcg: number of places that count", 10, 0, INFINITY}}, .cut = BMRMNdcgCut};
