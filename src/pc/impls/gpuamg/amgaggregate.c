/* Aggregates around a maximal independent set at distance 2, and orthonormal bases on them (amg.h).

   The set is that of N. Bell, S. Dalton and L. N. Olson, Exposing fine-grained parallelism in algebraic multigrid methods, SIAM J. Sci. Comput. 34 (2012).  Every node has a key of 64 bits: from the highest bits, its state, a hash
   of its global number, and its local number.  An undecided node joins the set if its key is the largest within distance 2. */
#include "pc/impls/gpuamg/amg.h"
#include "app/program/apphash.h"

#define GP_AMG_STATE(key) ((key) >> 62)

enum {
  GP_AMG_OUT,
  GP_AMG_UNDECIDED,
  GP_AMG_ROOT
};

static void GpAmgInitializeKeys(PetscInt n, PetscInt first, const PetscBool skip[], uint64_t key[])
{
  for (PetscInt i = 0; i < n; i++) {
    const uint64_t hash = GpAppHash64((uint64_t)(first + i)) >> 34, state = skip[i] ? GP_AMG_OUT : GP_AMG_UNDECIDED;

    key[i] = state << 62 | hash << 32 | (uint64_t)i; /* a rank has fewer than 2^32 nodes */
  }
}

/* Sets to[i] to the largest value at node i and its neighbours. */
static void GpAmgSpreadMaximum(const GpAmgGraph *g, const uint64_t from[], uint64_t to[])
{
  for (PetscInt i = 0; i < g->n; i++) {
    uint64_t most = from[i];

    for (PetscInt k = g->rowptr[i]; k < g->rowptr[i + 1]; k++) most = PetscMax(most, from[g->col[k]]);
    to[i] = most;
  }
}

static PetscErrorCode GpAmgFindRoots(const GpAmgGraph *g, uint64_t key[])
{
  const uint64_t rest = ((uint64_t)1 << 62) - 1;
  uint64_t      *near, *far;
  PetscBool      undecided = PETSC_TRUE;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(g->n, &near, g->n, &far));
  while (undecided) {
    GpAmgSpreadMaximum(g, key, near);
    GpAmgSpreadMaximum(g, near, far);
    undecided = PETSC_FALSE;
    for (PetscInt i = 0; i < g->n; i++) {
      if (GP_AMG_STATE(key[i]) != GP_AMG_UNDECIDED) continue;
      if (far[i] == key[i]) key[i] = (uint64_t)GP_AMG_ROOT << 62 | (key[i] & rest);
      else if (GP_AMG_STATE(far[i]) == GP_AMG_ROOT) key[i] &= rest;
      else undecided = PETSC_TRUE;
    }
  }
  PetscCall(PetscFree2(near, far));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes each root and its neighbours an aggregate.  No node has two roots as neighbours. */
static void GpAmgJoinNeighbours(const GpAmgGraph *g, const uint64_t key[], GpAmgAggregates *a)
{
  a->count = 0;
  for (PetscInt i = 0; i < g->n; i++) a->of[i] = -1;
  for (PetscInt i = 0; i < g->n; i++) {
    if (GP_AMG_STATE(key[i]) != GP_AMG_ROOT) continue;
    a->of[i] = a->count;
    for (PetscInt k = g->rowptr[i]; k < g->rowptr[i + 1]; k++) a->of[g->col[k]] = a->count;
    a->count++;
  }
}

/* Each other node has a neighbour in an aggregate.  It joins the aggregate to which its connections have the largest sum of weights.  If several
   aggregates have this sum, it joins the smallest one; if several of these have the same size, the one with the lowest number. */
static PetscErrorCode GpAmgJoinOthers(const GpAmgGraph *g, const PetscBool skip[], GpAmgAggregates *a)
{
  PetscInt  *before, *size;
  PetscReal *sum;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(g->n, &before));
  PetscCall(PetscCalloc2(a->count, &size, a->count, &sum));
  PetscCall(PetscArraycpy(before, a->of, g->n));
  for (PetscInt i = 0; i < g->n; i++) {
    if (before[i] >= 0) size[before[i]]++;
  }
  for (PetscInt i = 0; i < g->n; i++) {
    PetscInt best = -1;

    if (before[i] >= 0 || skip[i]) continue;
    for (PetscInt k = g->rowptr[i]; k < g->rowptr[i + 1]; k++) {
      if (before[g->col[k]] >= 0) sum[before[g->col[k]]] += g->weight[k];
    }
    for (PetscInt k = g->rowptr[i]; k < g->rowptr[i + 1]; k++) {
      const PetscInt c = before[g->col[k]];

      if (c < 0 || c == best) continue;
      if (best < 0 || sum[c] > sum[best] || (sum[c] == sum[best] && (size[c] < size[best] || (size[c] == size[best] && c < best)))) best = c;
    }
    for (PetscInt k = g->rowptr[i]; k < g->rowptr[i + 1]; k++) {
      if (before[g->col[k]] >= 0) sum[before[g->col[k]]] = 0;
    }
    a->of[i] = best;
  }
  PetscCall(PetscFree(before));
  PetscCall(PetscFree2(size, sum));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Lists the nodes of each aggregate. */
static PetscErrorCode GpAmgListNodes(GpAmgAggregates *a)
{
  PetscInt *next;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(a->count + 1, &next));
  for (PetscInt i = 0; i < a->n; i++) {
    if (a->of[i] >= 0) next[a->of[i] + 1]++;
  }
  for (PetscInt c = 0; c < a->count; c++) next[c + 1] += next[c];
  PetscCall(PetscMalloc2(a->count + 1, &a->ptr, next[a->count], &a->row));
  PetscCall(PetscArraycpy(a->ptr, next, a->count + 1));
  for (PetscInt i = 0; i < a->n; i++) {
    if (a->of[i] >= 0) a->row[next[a->of[i]]++] = i;
  }
  PetscCall(PetscFree(next));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GpAmgAggregate(const GpAmgGraph *g, PetscInt first, const PetscBool skip[], GpAmgAggregates *a)
{
  uint64_t *key;

  PetscFunctionBegin;
  a->n = g->n;
  PetscCall(PetscMalloc1(g->n, &a->of));
  PetscCall(PetscMalloc1(g->n, &key));
  GpAmgInitializeKeys(g->n, first, skip, key);
  PetscCall(GpAmgFindRoots(g, key));
  GpAmgJoinNeighbours(g, key, a);
  PetscCall(PetscFree(key));
  PetscCall(GpAmgJoinOthers(g, skip, a));
  PetscCall(GpAmgListNodes(a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GpAmgDestroyAggregates(GpAmgAggregates *a)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(a->of));
  PetscCall(PetscFree2(a->ptr, a->row));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscReal GpAmgDot(PetscInt m, const PetscReal x[], const PetscReal y[])
{
  PetscReal sum = 0;

  for (PetscInt i = 0; i < m; i++) sum += x[i] * y[i];
  return sum;
}

/* The modified Gram-Schmidt process.  Each vector is orthogonalised twice, which keeps rounding errors small. */
void GpAmgOrthonormalize(PetscInt m, PetscInt k, PetscReal Q[], PetscReal R[])
{
  for (PetscInt e = 0; e < k * k; e++) R[e] = 0;
  for (PetscInt j = 0; j < k; j++) {
    PetscReal      *q    = Q + j * m;
    const PetscReal size = PetscSqrtReal(GpAmgDot(m, q, q));
    PetscReal       norm;

    for (int pass = 0; pass < 2; pass++) {
      for (PetscInt i = 0; i < j; i++) {
        const PetscReal dot = GpAmgDot(m, Q + i * m, q);

        R[i * k + j] += dot;
        for (PetscInt r = 0; r < m; r++) q[r] -= dot * Q[i * m + r];
      }
    }
    norm = PetscSqrtReal(GpAmgDot(m, q, q));
    if (norm > 1e-10 * size) R[j * k + j] = norm;
    for (PetscInt r = 0; r < m; r++) q[r] = R[j * k + j] > 0 ? q[r] / norm : 0;
  }
}
