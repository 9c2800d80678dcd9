/* Aggregates around a maximal independent set at distance 2 (gpagg.h).

   Every node has a key of 64 bits: from the highest bits, its state, a hash of its number, and its number. An undecided node joins the set if its key is the largest within distance 2
   (N. Bell, S. Dalton and L. N. Olson, SIAM J. Sci. Comput. 34, 2012). */
#include "pc/aggregation/gpagg.h"
#include "pc/aggregation/aggstep.h"

#define GP_AGG_STATE(key) ((key) >> 62)
#define GP_AGG_REST       (((uint64_t)1 << 62) - 1)

enum {
  GP_AGG_OUT,
  GP_AGG_UNDECIDED,
  GP_AGG_ROOT
};

typedef struct {
  GpCsr           g;
  uint64_t       *key, *near; /* near: the largest key at a node and its neighbours */
  int32_t        *undecided;  /* set to 1 if a node is undecided */
  int32_t        *toolong;    /* set to 1 if a node has too many connections */
  int32_t        *number;     /* [n + 1] 1 if a node is a root; after the prefix sum, the number of roots before it */
  int32_t        *before;     /* [n] aggregate of a node that is a root or a neighbour of one; -1 for other nodes */
  int32_t        *size;       /* [count] number of nodes of each aggregate according to `before` */
  GpAggAggregates a;
  uint32_t       *sorted; /* [n] aggregates of the nodes; `count` for no aggregate */
} GpAggNodes;

GP_STEP(GpAggInitialize)
{
  const GpAggNodes *a     = (const GpAggNodes *)args;
  const int32_t     edges = a->g.rowptr[i + 1] - a->g.rowptr[i];

  a->key[i] = (uint64_t)(edges ? GP_AGG_UNDECIDED : GP_AGG_OUT) << 62 | (GpAggHash((uint64_t)i) >> 34) << 32 | (uint64_t)i;
  if (edges > GP_AGG_LONGEST) GP_SET(a->toolong, 1);
}

GP_INLINE uint64_t GpAggLargest(const GpCsr *g, int64_t i, const uint64_t *from)
{
  uint64_t most = from[i];

  for (int32_t k = g->rowptr[i]; k < g->rowptr[i + 1]; k++) {
    if (from[g->col[k]] > most) most = from[g->col[k]];
  }
  return most;
}

GP_STEP(GpAggSpread)
{
  const GpAggNodes *a = (const GpAggNodes *)args;

  a->near[i] = GpAggLargest(&a->g, i, a->key);
}

GP_STEP(GpAggDecide)
{
  const GpAggNodes *a   = (const GpAggNodes *)args;
  const uint64_t    key = a->key[i];

  if (GP_AGG_STATE(key) != GP_AGG_UNDECIDED) return;
  const uint64_t far = GpAggLargest(&a->g, i, a->near);

  if (far == key) a->key[i] = (uint64_t)GP_AGG_ROOT << 62 | (key & GP_AGG_REST);
  else if (GP_AGG_STATE(far) == GP_AGG_ROOT) a->key[i] = key & GP_AGG_REST;
  else if (!*(volatile int32_t *)a->undecided) GP_SET(a->undecided, 1);
}

GP_STEP(GpAggMarkRoot)
{
  const GpAggNodes *a = (const GpAggNodes *)args;

  a->number[i] = GP_AGG_STATE(a->key[i]) == GP_AGG_ROOT;
}

/* A root and its neighbours form an aggregate. No node has two roots as neighbours. */
GP_STEP(GpAggJoinNeighbour)
{
  const GpAggNodes *a    = (const GpAggNodes *)args;
  int32_t           root = GP_AGG_STATE(a->key[i]) == GP_AGG_ROOT ? (int32_t)i : -1;

  for (int32_t k = a->g.rowptr[i]; root < 0 && k < a->g.rowptr[i + 1]; k++) {
    if (GP_AGG_STATE(a->key[a->g.col[k]]) == GP_AGG_ROOT) root = a->g.col[k];
  }
  a->before[i] = root < 0 ? -1 : a->number[root];
  if (root >= 0) GP_COUNT(a->size + a->number[root]);
}

/* Sum of the weights of the connections from node i to aggregate c, in the order of the row. */
GP_INLINE double GpAggSumWeights(const GpAggNodes *a, int64_t i, int32_t c)
{
  double sum = 0;

  for (int32_t k = a->g.rowptr[i]; k < a->g.rowptr[i + 1]; k++) {
    if (a->before[a->g.col[k]] == c) sum += ((const double *)a->g.val)[k];
  }
  return sum;
}

/* Each other node joins the neighbouring aggregate to which its connections have the largest sum of weights. If several aggregates have this sum, it joins the smallest one; if several of these have the same
   size, the one with the lowest number. */
GP_STEP(GpAggJoinOther)
{
  const GpAggNodes *a    = (const GpAggNodes *)args;
  int32_t           best = a->before[i];
  double            most = 0;

  for (int32_t k = a->g.rowptr[i]; a->before[i] < 0 && k < a->g.rowptr[i + 1]; k++) {
    const int32_t c = a->before[a->g.col[k]];
    double        sum;

    if (c < 0 || c == best) continue;
    sum = GpAggSumWeights(a, i, c);
    if (best < 0 || sum > most || (sum == most && (a->size[c] < a->size[best] || (a->size[c] == a->size[best] && c < best)))) {
      best = c;
      most = sum;
    }
  }
  a->a.of[i]   = best;
  a->sorted[i] = best < 0 ? (uint32_t)a->a.count : (uint32_t)best;
  a->a.row[i]  = (int32_t)i;
  if (best >= 0) GP_COUNT(a->a.ptr + best);
}

/* Initializes the keys. The rounds follow (GpAggRunRound()). */
GP_PAIR(GpAggStartRoots, const GpAggNodes *a);
GpErr GP_IMPL(GpAggStartRoots)(const GpAggNodes *a)
{
  return GP_EACH(a->g.dev, GpAggNodes, GpAggInitialize, a->g.m, a);
}

GP_PAIR(GpAggRunRound, const GpAggNodes *a);
GpErr GP_IMPL(GpAggRunRound)(const GpAggNodes *a)
{
  GpErr err = GpDevZero(a->g.dev, a->undecided, sizeof(int32_t));

  if (!err) err = GP_EACH(a->g.dev, GpAggNodes, GpAggSpread, a->g.m, a);
  return err ? err : GP_EACH(a->g.dev, GpAggNodes, GpAggDecide, a->g.m, a);
}

GP_PAIR(GpAggNumberRoots, const GpAggNodes *a);
GpErr GP_IMPL(GpAggNumberRoots)(const GpAggNodes *a)
{
  const GpErr err = GP_EACH(a->g.dev, GpAggNodes, GpAggMarkRoot, a->g.m, a);

  return err ? err : GP_IMPL(GpScan)(a->g.dev, a->g.m, a->number);
}

GP_PAIR(GpAggJoin, const GpAggNodes *a, int bits);
GpErr GP_IMPL(GpAggJoin)(const GpAggNodes *a, int bits)
{
  GpErr err = GP_EACH(a->g.dev, GpAggNodes, GpAggJoinNeighbour, a->g.m, a);

  if (!err) err = GP_EACH(a->g.dev, GpAggNodes, GpAggJoinOther, a->g.m, a);
  if (!err) err = GP_IMPL(GpScan)(a->g.dev, a->a.count, a->a.ptr);
  return err ? err : GP_IMPL(GpSort)(a->g.dev, a->g.m, bits, a->sorted, a->a.row);
}

#if !defined(__CUDACC__)
void GpAggDestroyAggregates(GpDev dev, GpAggAggregates *a)
{
  const size_t nodes = ((size_t)a->n + 1) * sizeof(int32_t);

  GpDevReturn(dev, &a->of, nodes);
  GpDevReturn(dev, &a->row, nodes);
  GpDevReturn(dev, &a->ptr, ((size_t)a->count + 1) * sizeof(int32_t));
}

static GpErr GpAggFindRoots(GpAggNodes *a)
{
  int32_t flags[2] = {1, 0};
  GpErr   err      = GP_ON_DEVICE(a->g.dev, GpAggStartRoots, a);

  while (!err && flags[0]) {
    err = GP_ON_DEVICE(a->g.dev, GpAggRunRound, a);
    if (!err) err = GpDevDownload(a->g.dev, flags, a->undecided, sizeof(flags));
    if (!err && flags[1]) err = GpDevFail(a->g.dev, GP_ERR_ARGUMENT, "a node has more than %d strong connections", GP_AGG_LONGEST);
  }
  if (!err) err = GP_ON_DEVICE(a->g.dev, GpAggNumberRoots, a);
  return err ? err : GpDevDownload(a->g.dev, &a->a.count, a->number + a->g.m, sizeof(int32_t));
}

/* Creates the aggregates from numbered roots. */
static GpErr GpAggCreateAggregates(GpAggNodes *a)
{
  GpDev        dev   = a->g.dev;
  const size_t nodes = ((size_t)a->g.m + 1) * sizeof(int32_t), sets = ((size_t)a->a.count + 1) * sizeof(int32_t);
  int          bits = 1;
  GpErr        err  = GpDevBorrow(dev, nodes, &a->a.of);

  while (bits < 31 && a->a.count >> bits) bits++;
  if (!err) err = GpDevBorrow(dev, nodes, &a->a.row);
  if (!err) err = GpDevBorrow(dev, sets, &a->a.ptr);
  if (!err) err = GpDevBorrow(dev, sets, &a->size);
  if (!err) err = GpDevZero(dev, a->a.ptr, sets);
  if (!err) err = GpDevZero(dev, a->size, sets);
  if (!err) err = GP_ON_DEVICE(dev, GpAggJoin, a, bits);
  if (!err) err = GpDevDownload(dev, &a->a.listed, a->a.ptr + a->a.count, sizeof(int32_t));
  GpDevReturn(dev, &a->size, sets);
  return err;
}

GpErr GpAggAggregate(const GpCsr *graph, GpAggAggregates *aggregates)
{
  GpDev        dev  = graph->dev;
  const size_t keys = ((size_t)graph->m + 1) * sizeof(uint64_t), nodes = ((size_t)graph->m + 1) * sizeof(int32_t);
  GpAggNodes   a   = {.g = *graph, .a = {.n = graph->m}};
  GpErr        err = GpDevBorrow(dev, keys, &a.key);

  if (!err) err = GpDevBorrow(dev, keys, &a.near);
  if (!err) err = GpDevBorrow(dev, nodes, &a.number);
  if (!err) err = GpDevBorrow(dev, nodes, &a.before);
  if (!err) err = GpDevBorrow(dev, nodes, &a.sorted);
  if (!err) err = GpDevBorrow(dev, 2 * sizeof(int32_t), &a.undecided);
  a.toolong = a.undecided ? a.undecided + 1 : NULL;
  if (!err) err = GpDevZero(dev, a.undecided, 2 * sizeof(int32_t));
  if (!err) err = GpAggFindRoots(&a);
  if (!err) err = GpAggCreateAggregates(&a);
  GpDevReturn(dev, &a.undecided, 2 * sizeof(int32_t));
  GpDevReturn(dev, &a.sorted, nodes);
  GpDevReturn(dev, &a.before, nodes);
  GpDevReturn(dev, &a.number, nodes);
  GpDevReturn(dev, &a.near, keys);
  GpDevReturn(dev, &a.key, keys);
  if (err) GpAggDestroyAggregates(dev, &a.a);
  *aggregates = a.a;
  return err;
}
#endif
