/* The mean hinge loss over all pairs of a list with different labels, on one core in O(n log n): two sweeps over the sorted scores with a Fenwick
   tree.

   It is used for vectors in host memory. Vectors on a device, including the host backend, use the parallel steps of pairwise.cu. */
#include "device/gpsteps.h"
#include "solvers/bmrm/losses/pairwise.h"
#include <math.h>
#include <string.h>

/* Sums over a set of examples. */
typedef struct {
  double count, label; /* number of examples, sum of their labels */
} Sums;

/* An example of a list that is sorted by score. */
typedef struct {
  double  z, y, under; /* score; label; cost of the pairs that violate the margin and in which this example has the smaller label */
  int32_t place, rank;
} Example;

/* Adds one example to a Fenwick tree over the ranks of n labels. */
static void BMRMTreeAdd(Sums *tree, int32_t n, int32_t rank, double label)
{
  for (int32_t k = rank + 1; k <= n; k += k & -k) {
    tree[k].count++;
    tree[k].label += label;
  }
}

/* Sums over the examples in the tree with a smaller rank. */
static Sums BMRMTreeSum(const Sums *tree, int32_t rank)
{
  Sums sum = {0, 0};

  for (int32_t k = rank; k > 0; k -= k & -k) {
    sum.count += tree[k].count;
    sum.label += tree[k].label;
  }
  return sum;
}

static inline double BMRMPairCost(const Example *x, int distance, Sums sum)
{
  return distance ? fabs(x->y * sum.count - sum.label) : sum.count;
}

/* For every example, computes the cost of the violated pairs in which it has the smaller label (under), and of those in which it has the larger
   label (over). Both sweeps visit the scores in order. A second index runs ahead by the margin 1; the examples up to it are in the tree. Rank 0 is
   the largest label. */
static void BMRMSweepList(Example *x, int32_t n, int32_t labels, double pairs, int distance, Sums *tree, double *u, double *c)
{
  memset(tree, 0, (size_t)(labels + 1) * sizeof(*tree));
  for (int32_t s = 0, ahead = 0; s < n; s++) {
    for (; ahead < n && x[ahead].z - 1 < x[s].z; ahead++) BMRMTreeAdd(tree, labels, x[ahead].rank, x[ahead].y);
    x[s].under = BMRMPairCost(&x[s], distance, BMRMTreeSum(tree, x[s].rank));
  }
  memset(tree, 0, (size_t)(labels + 1) * sizeof(*tree));
  for (int32_t s = n - 1, ahead = n - 1; s >= 0; s--) {
    double over;

    for (; ahead >= 0 && x[s].z - 1 < x[ahead].z; ahead--) BMRMTreeAdd(tree, labels, labels - 1 - x[ahead].rank, x[ahead].y);
    over          = BMRMPairCost(&x[s], distance, BMRMTreeSum(tree, labels - 1 - x[s].rank));
    u[x[s].place] = pairs > 0 ? (x[s].under - over) / pairs : 0;
    c[x[s].place] = pairs > 0 ? over / pairs : 0;
  }
}

static GpErr BMRMSweepLists(GpDev dev, const BMRMLists *of, int distance, const double *z, double *u, double *c)
{
  const size_t n = (size_t)of->n, bytes = n * sizeof(Example) + (size_t)(of->nlabel + 1) * sizeof(Sums) + n * sizeof(int32_t);
  Example     *x = NULL;
  Sums        *tree;
  int32_t     *order;
  GpErr        err = GpDevBorrow(dev, bytes, &x);

  if (err) return err;
  tree  = (Sums *)(x + n);
  order = (int32_t *)(tree + of->nlabel + 1);
  err   = BMRMListsOrder_Host(dev, of->n, z, of->group, of->ngroup, order);
  for (size_t i = 0; !err && i < n; i++) x[i] = (Example){z[order[i]], of->y[order[i]], 0, order[i], of->rank[order[i]]};
  for (int32_t list = 0; !err && list < of->ngroup; list++) {
    const int32_t begin = of->begin[list], end = of->begin[list + 1];

    BMRMSweepList(x + begin, end - begin, of->rank[end - 1] + 1, of->pairs[list], distance, tree, u, c);
  }
  GpDevReturn(dev, &x, bytes);
  return err;
}

GpErr BMRMPairsSweep(GpDev dev, const BMRMLists *of, const double p[], const double *z, double *u, double *c)
{
  (void)p;
  return BMRMSweepLists(dev, of, 0, z, u, c);
}

GpErr BMRMDistantPairsSweep(GpDev dev, const BMRMLists *of, const double p[], const double *z, double *u, double *c)
{
  (void)p;
  return BMRMSweepLists(dev, of, 1, z, u, c);
}
