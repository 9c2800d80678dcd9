/* The graph of the strong connections (amg.h). */
#include "pc/impls/gpuamg/amg.h"

/* The graph before it is made symmetric: row i has the nodes j to which row i of the matrix has strong connections. */
typedef struct {
  PetscInt    *rowptr, *col;
  PetscScalar *weight;
} GpAmgRows;

/* norm: [n] receives the Frobenius norms of the diagonal blocks; 0 for a block that is not stored. */
static void GpAmgGetDiagonalNorms(PetscInt n, PetscInt block, const PetscInt rowptr[], const PetscInt col[], const PetscScalar val[], PetscReal norm[])
{
  for (PetscInt i = 0; i < n; i++) {
    PetscReal sum = 0;

    for (PetscInt k = rowptr[i * block]; k < rowptr[(i + 1) * block]; k++) {
      if (col[k] / block == i) sum += val[k] * val[k];
    }
    norm[i] = PetscSqrtReal(sum);
  }
}

/* Adds up the squares of the entries of each block in a row of blocks.  J and square receive the columns and the sums of the blocks.  where: [n] workspace; all entries are -1 on entry and on exit.  Returns
   the number of blocks. */
static PetscInt GpAmgGatherRow(PetscInt i, PetscInt block, const PetscInt rowptr[], const PetscInt col[], const PetscScalar val[], PetscInt where[], PetscInt J[], PetscScalar square[])
{
  PetscInt m = 0;

  for (PetscInt k = rowptr[i * block]; k < rowptr[(i + 1) * block]; k++) {
    const PetscInt j = col[k] / block;

    if (where[j] < 0) {
      where[j]  = m;
      J[m]      = j;
      square[m] = 0;
      m++;
    }
    square[where[j]] += val[k] * val[k];
  }
  for (PetscInt e = 0; e < m; e++) where[J[e]] = -1;
  return m;
}

/* Replaces the sums of squares of a row by weights, and returns the bound above which a connection is strong: the threshold.  If no weight is above the threshold, the bound is half of the largest weight,
   unless the row is dominated by its diagonal block. */
static PetscReal GpAmgScaleRow(PetscInt i, PetscInt m, const PetscInt J[], const PetscReal norm[], PetscReal threshold, PetscScalar w[])
{
  PetscReal sum = 0, largest = 0;

  for (PetscInt e = 0; e < m; e++) {
    const PetscReal size = PetscSqrtReal(w[e]), scale = PetscSqrtReal(norm[i]) * PetscSqrtReal(norm[J[e]]);

    w[e] = size > 0 && scale > 0 ? size / scale : size > 0 ? 1 : 0;
    if (J[e] == i) continue;
    sum += size;
    largest = PetscMax(largest, w[e]);
  }
  return largest > threshold || sum <= GP_AMG_DOMINATED * norm[i] ? threshold : largest / 2;
}

static PetscErrorCode GpAmgFindStrong(PetscInt n, PetscInt block, const PetscInt rowptr[], const PetscInt col[], const PetscScalar val[], PetscReal threshold, GpAmgRows *S)
{
  PetscReal *norm;
  PetscInt  *where, used = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(n + 1, &S->rowptr, rowptr[n * block], &S->col, rowptr[n * block], &S->weight));
  PetscCall(PetscMalloc2(n, &norm, n, &where));
  GpAmgGetDiagonalNorms(n, block, rowptr, col, val, norm);
  for (PetscInt i = 0; i < n; i++) where[i] = -1;
  S->rowptr[0] = 0;
  for (PetscInt i = 0; i < n; i++) {
    PetscInt      *J = S->col + used;
    PetscScalar   *w = S->weight + used;
    const PetscInt m = GpAmgGatherRow(i, block, rowptr, col, val, where, J, w);
    PetscReal      limit;
    PetscInt       kept = 0;

    limit = GpAmgScaleRow(i, m, J, norm, threshold, w);
    for (PetscInt e = 0; e < m; e++) {
      if (J[e] == i || !(w[e] > limit)) continue;
      J[kept] = J[e];
      w[kept] = w[e];
      kept++;
    }
    PetscCall(PetscSortIntWithScalarArray(kept, J, w));
    used += kept;
    S->rowptr[i + 1] = used;
  }
  PetscCall(PetscFree2(norm, where));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Transposes the graph.  The columns of each row of the transpose ascend. */
static PetscErrorCode GpAmgTransposeRows(PetscInt n, const GpAmgRows *S, GpAmgRows *T)
{
  const PetscInt nnz = S->rowptr[n];
  PetscInt      *next;

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(n + 1, &T->rowptr, nnz, &T->col, nnz, &T->weight));
  PetscCall(PetscCalloc1(n + 1, &next));
  for (PetscInt k = 0; k < nnz; k++) next[S->col[k] + 1]++;
  for (PetscInt i = 0; i < n; i++) next[i + 1] += next[i];
  PetscCall(PetscArraycpy(T->rowptr, next, n + 1));
  for (PetscInt i = 0; i < n; i++) {
    for (PetscInt k = S->rowptr[i]; k < S->rowptr[i + 1]; k++) {
      const PetscInt to = next[S->col[k]]++;

      T->col[to]    = i;
      T->weight[to] = S->weight[k];
    }
  }
  PetscCall(PetscFree(next));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Merges row i of a graph and of its transpose, and returns the number of edges.  The weight of an edge is the larger one of its weights in the two rows.  col: NULL only counts. */
static PetscInt GpAmgMergeRow(const GpAmgRows *S, const GpAmgRows *T, PetscInt i, PetscInt col[], PetscReal weight[])
{
  PetscInt a = S->rowptr[i], b = T->rowptr[i], m = 0;

  while (a < S->rowptr[i + 1] || b < T->rowptr[i + 1]) {
    const PetscInt  u = a < S->rowptr[i + 1] ? S->col[a] : PETSC_MAX_INT, v = b < T->rowptr[i + 1] ? T->col[b] : PETSC_MAX_INT;
    const PetscReal x = u <= v ? S->weight[a] : 0, y = v <= u ? T->weight[b] : 0;

    if (col) {
      col[m]    = PetscMin(u, v);
      weight[m] = PetscMax(x, y);
    }
    m++;
    if (u <= v) a++;
    if (v <= u) b++;
  }
  return m;
}

PetscErrorCode GpAmgCreateGraph(PetscInt n, PetscInt block, const PetscInt rowptr[], const PetscInt col[], const PetscScalar val[], PetscReal threshold, GpAmgGraph *g)
{
  GpAmgRows S, T;

  PetscFunctionBegin;
  PetscCall(GpAmgFindStrong(n, block, rowptr, col, val, threshold, &S));
  PetscCall(GpAmgTransposeRows(n, &S, &T));
  g->n = n;
  PetscCall(PetscMalloc1(n + 1, &g->rowptr));
  g->rowptr[0] = 0;
  for (PetscInt i = 0; i < n; i++) g->rowptr[i + 1] = g->rowptr[i] + GpAmgMergeRow(&S, &T, i, NULL, NULL);
  PetscCall(PetscMalloc2(g->rowptr[n], &g->col, g->rowptr[n], &g->weight));
  for (PetscInt i = 0; i < n; i++) (void)GpAmgMergeRow(&S, &T, i, g->col + g->rowptr[i], g->weight + g->rowptr[i]);
  PetscCall(PetscFree3(S.rowptr, S.col, S.weight));
  PetscCall(PetscFree3(T.rowptr, T.col, T.weight));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GpAmgDestroyGraph(GpAmgGraph *g)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(g->rowptr));
  PetscCall(PetscFree2(g->col, g->weight));
  PetscFunctionReturn(PETSC_SUCCESS);
}
