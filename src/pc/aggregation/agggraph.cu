/* Sums over rows, and the graph of the strong connections (gpagg.h). */
#include "pc/aggregation/gpagg.h"
#include "pc/aggregation/aggstep.h"

#include <math.h>

typedef struct {
  GpCsr    A;
  double  *diagonal, *near;
  int32_t *bad;  /* [GP_AGG_FAULTS] */
  double  *norm; /* one number */
} GpAggSumArgs;

GP_STEP(GpAggSumRow)
{
  const GpAggSumArgs *a   = (const GpAggSumArgs *)args;
  const double       *val = (const double *)a->A.val;
  double              d = 0, near = 0;
  int32_t             before = -1, unsorted = 0;

  for (int32_t k = a->A.rowptr[i]; k < a->A.rowptr[i + 1]; k++) {
    const int32_t j = a->A.col[k];

    if (j == i) d = val[k];
    else near += fabs(val[k]);
    unsorted |= j <= before;
    before = j;
  }
  if (unsorted) GP_COUNT(a->bad + GP_AGG_UNSORTED);
  a->diagonal[i] = d;
  a->near[i]     = near;
  if (!isfinite(d + near)) GP_COUNT(a->bad + GP_AGG_INFINITE);
  else if (d < 0 || (d == 0 && near > 0)) GP_COUNT(a->bad + GP_AGG_NEGATIVE);
  else GP_AGG_RAISE(a->norm, 1 + near / (d > 0 ? d : 1));
}

GP_PAIR(GpAggSumRows, const GpCsr *A, double *diagonal, double *near, int32_t *bad, double *norm);
GpErr GP_IMPL(GpAggSumRows)(const GpCsr *A, double *diagonal, double *near, int32_t *bad, double *norm)
{
  const GpAggSumArgs a = {*A, diagonal, near, bad, norm};

  return GP_EACH(A->dev, GpAggSumArgs, GpAggSumRow, A->m, &a);
}

typedef struct {
  GpCsr          A; /* the operator */
  int32_t        block;
  double         threshold;
  double        *norm, *limit; /* [nodes] Frobenius norm of the diagonal block; bound above which a connection is strong */
  int32_t       *count;        /* [nodes + 1] number of strong connections of each node; after the prefix sum, position of the first one */
  int32_t       *col;          /* columns and weights of the strong connections */
  double        *weight;
  const int32_t *other, *othercol; /* the transpose */
  const double  *otherweight;
  int32_t       *differs;
} GpAggGraphArgs;

/* Positions in the rows of a node. */
typedef struct {
  int32_t at[GP_AGG_BLOCK];
} GpAggCursor;

GP_INLINE void GpAggBegin(const GpAggGraphArgs *a, int64_t i, GpAggCursor *c)
{
  for (int r = 0; r < GP_AGG_BLOCK; r++) {
    if (r < a->block) c->at[r] = a->A.rowptr[i * a->block + r];
  }
}

/* Gets the next block of the node's rows, in ascending order: its column, and the sum of the squares of its entries. Returns 0 at the end. */
GP_INLINE int GpAggNext(const GpAggGraphArgs *a, int64_t i, GpAggCursor *c, int32_t *column, double *square)
{
  const double *val = (const double *)a->A.val;
  int32_t       j   = INT32_MAX;

  *square = 0;
  for (int r = 0; r < GP_AGG_BLOCK; r++) {
    if (r < a->block && c->at[r] < a->A.rowptr[i * a->block + r + 1]) {
      const int32_t mine = a->A.col[c->at[r]] / a->block;

      if (mine < j) j = mine;
    }
  }
  for (int r = 0; r < GP_AGG_BLOCK; r++) {
    if (r >= a->block) continue;
    for (; c->at[r] < a->A.rowptr[i * a->block + r + 1] && a->A.col[c->at[r]] / a->block == j; c->at[r]++) *square += val[c->at[r]] * val[c->at[r]];
  }
  *column = j;
  return j < INT32_MAX;
}

GP_INLINE double GpAggWeigh(const GpAggGraphArgs *a, int64_t i, int32_t j, double size)
{
  const double scale = sqrt(a->norm[i]) * sqrt(a->norm[j]);

  return size > 0 && scale > 0 ? size / scale : size > 0 ? 1 : 0;
}

GP_STEP(GpAggFindNorm)
{
  const GpAggGraphArgs *a   = (const GpAggGraphArgs *)args;
  const double         *val = (const double *)a->A.val;
  double                sum = 0;

  for (int32_t k = a->A.rowptr[i * a->block]; k < a->A.rowptr[(i + 1) * a->block]; k++) {
    if (a->A.col[k] / a->block == i) sum += val[k] * val[k];
  }
  a->norm[i] = sqrt(sum);
}

/* Sets the bound of a node and counts the strong connections in its rows. If no connection is above the threshold and the node is not dominated by its diagonal block, the bound is half the largest weight. */
GP_STEP(GpAggCountStrong)
{
  const GpAggGraphArgs *a = (const GpAggGraphArgs *)args;
  GpAggCursor           c;
  int32_t               j, above = 0, n = 0;
  double                square, sum = 0, largest = 0;

  GpAggBegin(a, i, &c);
  while (GpAggNext(a, i, &c, &j, &square)) {
    const double size = sqrt(square), w = GpAggWeigh(a, i, j, size);

    if (j == i) continue;
    sum += size;
    if (w > largest) largest = w;
    above += w > a->threshold;
  }
  a->limit[i] = a->threshold;
  a->count[i] = above;
  if (largest > a->threshold || sum <= GP_AGG_DOMINATED * a->norm[i]) return;
  a->limit[i] = largest / 2;
  GpAggBegin(a, i, &c);
  while (GpAggNext(a, i, &c, &j, &square)) n += j != i && GpAggWeigh(a, i, j, sqrt(square)) > a->limit[i];
  a->count[i] = n;
}

GP_STEP(GpAggFillStrong)
{
  const GpAggGraphArgs *a  = (const GpAggGraphArgs *)args;
  int32_t               to = a->count[i], j;
  GpAggCursor           c;
  double                square;

  GpAggBegin(a, i, &c);
  while (GpAggNext(a, i, &c, &j, &square)) {
    const double w = GpAggWeigh(a, i, j, sqrt(square));

    if (j == i || !(w > a->limit[i])) continue;
    a->col[to]      = j;
    a->weight[to++] = w;
  }
}

/* Tells whether the node is a neighbour of its neighbours, with the same weights. */
GP_STEP(GpAggCompareRow)
{
  const GpAggGraphArgs *a = (const GpAggGraphArgs *)args;

  for (int32_t k = a->count[i]; k < a->count[i + 1]; k++) {
    int32_t       lo = a->count[a->col[k]], hi = a->count[a->col[k] + 1];
    const int32_t end = hi;

    while (lo < hi) {
      const int32_t mid = lo + (hi - lo) / 2;

      if (a->col[mid] < i) lo = mid + 1;
      else hi = mid;
    }
    if (lo < end && a->col[lo] == i && a->weight[lo] == a->weight[k]) continue;
    if (!*(volatile int32_t *)a->differs) GP_SET(a->differs, 1);
    return;
  }
}

/* Merges row i with row i of the transpose, and returns the number of edges. An edge gets the larger of its weights in the two rows. If col is NULL, the edges are counted but not stored. */
GP_INLINE int32_t GpAggMerge(const GpAggGraphArgs *a, int64_t i, int32_t *col, double *weight)
{
  int32_t p = a->count[i], q = a->other[i], n = 0;

  while (p < a->count[i + 1] || q < a->other[i + 1]) {
    const int32_t u = p < a->count[i + 1] ? a->col[p] : INT32_MAX, v = q < a->other[i + 1] ? a->othercol[q] : INT32_MAX;
    const double  x = u <= v ? a->weight[p] : 0, y = v <= u ? a->otherweight[q] : 0;

    if (col) {
      col[n]    = u < v ? u : v;
      weight[n] = x > y ? x : y;
    }
    n++;
    if (u <= v) p++;
    if (v <= u) q++;
  }
  return n;
}

typedef struct {
  GpAggGraphArgs merge;
  int32_t       *rowptr, *col;
  double        *weight;
} GpAggMergeArgs;

GP_STEP(GpAggCountMerged)
{
  const GpAggMergeArgs *a = (const GpAggMergeArgs *)args;

  a->rowptr[i] = GpAggMerge(&a->merge, i, NULL, NULL);
}

GP_STEP(GpAggFillMerged)
{
  const GpAggMergeArgs *a = (const GpAggMergeArgs *)args;

  (void)GpAggMerge(&a->merge, i, a->col + a->rowptr[i], a->weight + a->rowptr[i]);
}

GP_PAIR(GpAggCountEdges, const GpAggGraphArgs *a, int32_t nodes);
GpErr GP_IMPL(GpAggCountEdges)(const GpAggGraphArgs *a, int32_t nodes)
{
  GpErr err = GP_EACH(a->A.dev, GpAggGraphArgs, GpAggFindNorm, nodes, a);

  if (!err) err = GP_EACH(a->A.dev, GpAggGraphArgs, GpAggCountStrong, nodes, a);
  return err ? err : GP_IMPL(GpScan)(a->A.dev, nodes, a->count);
}

/* Fills the rows, and sets *differs if they are not symmetric. */
GP_PAIR(GpAggFillEdges, const GpAggGraphArgs *a, int32_t nodes);
GpErr GP_IMPL(GpAggFillEdges)(const GpAggGraphArgs *a, int32_t nodes)
{
  const GpErr err = GP_EACH(a->A.dev, GpAggGraphArgs, GpAggFillStrong, nodes, a);

  return err ? err : GP_EACH(a->A.dev, GpAggGraphArgs, GpAggCompareRow, nodes, a);
}

GP_PAIR(GpAggCountUnion, const GpCsr *S, const GpCsr *T, int32_t *rowptr);
GpErr GP_IMPL(GpAggCountUnion)(const GpCsr *S, const GpCsr *T, int32_t *rowptr)
{
  GpAggMergeArgs a = {{{0}}};
  GpErr          err;

  a.merge.count       = S->rowptr;
  a.merge.col         = S->col;
  a.merge.weight      = (double *)S->val;
  a.merge.other       = T->rowptr;
  a.merge.othercol    = T->col;
  a.merge.otherweight = (const double *)T->val;
  a.rowptr            = rowptr;
  err                 = GP_EACH(S->dev, GpAggMergeArgs, GpAggCountMerged, S->m, &a);
  return err ? err : GP_IMPL(GpScan)(S->dev, S->m, rowptr);
}

GP_PAIR(GpAggFillUnion, const GpCsr *S, const GpCsr *T, GpCsr *U);
GpErr GP_IMPL(GpAggFillUnion)(const GpCsr *S, const GpCsr *T, GpCsr *U)
{
  GpAggMergeArgs a = {{{0}}};

  a.merge.count       = S->rowptr;
  a.merge.col         = S->col;
  a.merge.weight      = (double *)S->val;
  a.merge.other       = T->rowptr;
  a.merge.othercol    = T->col;
  a.merge.otherweight = (const double *)T->val;
  a.rowptr            = U->rowptr;
  a.col               = U->col;
  a.weight            = (double *)U->val;
  return GP_EACH(S->dev, GpAggMergeArgs, GpAggFillMerged, S->m, &a);
}

#if !defined(__CUDACC__)
GpErr GpAggMeasureRows(const GpCsr *A, GpAggMeasure *R)
{
  struct {
    double  norm;
    int32_t bad[GP_AGG_FAULTS];
  } found = {0}, *device = NULL;
  GpErr err = GpDevBorrow(A->dev, sizeof(found), &device);

  if (!err) err = GpDevZero(A->dev, device, sizeof(found));
  if (!err) err = GP_ON_DEVICE(A->dev, GpAggSumRows, A, R->diagonal, R->near, device->bad, &device->norm);
  if (!err) err = GpDevDownload(A->dev, &found, device, sizeof(found));
  GpDevReturn(A->dev, &device, sizeof(found));
  R->norm = found.norm;
  for (int f = 0; f < GP_AGG_FAULTS; f++) R->bad[f] = found.bad[f];
  return err;
}

/* Replaces S by the union of S and its transpose. */
static GpErr GpAggMakeSymmetric(GpCsr *S)
{
  const size_t bytes = ((size_t)S->m + 1) * sizeof(int32_t);
  GpCsr        T = {0}, U = {0};
  int32_t     *rowptr = NULL, nnz = 0;
  GpErr        err = GpCsrTranspose(S, &T, NULL);

  if (!err) err = GpDevBorrow(S->dev, bytes, &rowptr);
  if (!err) err = GP_ON_DEVICE(S->dev, GpAggCountUnion, S, &T, rowptr);
  if (!err) err = GpDevDownload(S->dev, &nnz, rowptr + S->m, sizeof(nnz));
  if (!err) err = GpCsrCreate(S->dev, GP_F64, S->m, S->n, nnz, &U);
  if (!err) err = GpDevCopyWithin(S->dev, U.rowptr, rowptr, bytes);
  if (!err) err = GP_ON_DEVICE(S->dev, GpAggFillUnion, S, &T, &U);
  GpDevReturn(S->dev, &rowptr, bytes);
  GpCsrDestroy(&T);
  if (err) {
    GpCsrDestroy(&U);
    return err;
  }
  GpCsrDestroy(S);
  *S = U;
  return GP_SUCCESS;
}

/* Creates the graph. a->count has the row starts. */
static GpErr GpAggCreateStrong(GpAggGraphArgs *a, int32_t nodes, GpCsr *graph)
{
  GpDev   dev = a->A.dev;
  int32_t nnz = 0, differs = 0;
  GpErr   err = GpDevDownload(dev, &nnz, a->count + nodes, sizeof(nnz));

  if (!err) err = GpCsrCreate(dev, GP_F64, nodes, nodes, nnz, graph);
  if (!err) err = GpDevCopyWithin(dev, graph->rowptr, a->count, ((size_t)nodes + 1) * sizeof(int32_t));
  if (err || !nnz) return err;
  a->col    = graph->col;
  a->weight = (double *)graph->val;
  err       = GpDevZero(dev, a->differs, sizeof(int32_t));
  if (!err) err = GP_ON_DEVICE(dev, GpAggFillEdges, a, nodes);
  if (!err) err = GpDevDownload(dev, &differs, a->differs, sizeof(differs));
  return err || !differs ? err : GpAggMakeSymmetric(graph);
}

GpErr GpAggCreateGraph(const GpCsr *A, int32_t block, double threshold, GpCsr *graph)
{
  const int32_t  nodes = A->m / block;
  const size_t   real = ((size_t)nodes + 1) * sizeof(double), index = ((size_t)nodes + 2) * sizeof(int32_t);
  GpAggGraphArgs a = {.A = *A, .block = block, .threshold = threshold};
  GpErr          err;

  *graph = (GpCsr){0};
  if (block > GP_AGG_BLOCK) return GpDevFail(A->dev, GP_ERR_ARGUMENT, "a node has %d unknowns, at most %d are supported", (int)block, GP_AGG_BLOCK);
  err = GpDevBorrow(A->dev, real, &a.norm);
  if (!err) err = GpDevBorrow(A->dev, real, &a.limit);
  if (!err) err = GpDevBorrow(A->dev, index, &a.count);
  if (!err) {
    a.differs = a.count + nodes + 1;
    err       = GP_ON_DEVICE(A->dev, GpAggCountEdges, &a, nodes);
  }
  if (!err) err = GpAggCreateStrong(&a, nodes, graph);
  GpDevReturn(A->dev, &a.count, index);
  GpDevReturn(A->dev, &a.limit, real);
  GpDevReturn(A->dev, &a.norm, real);
  if (err) GpCsrDestroy(graph);
  return err;
}
#endif
