/* A decision tree learnt from times: a leaf names the kernel with the least penalty over its matrices, and a split is the one that
   lowers the sum of the leaves' penalties most.  Labels would forget that the second best is nearly as good. */
#include "mat/impls/gpucsr/selector/train.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BINS     64  /* thresholds of a feature that are tried: quantiles */
#define REFUSED  1.1 /* what a refusal costs beyond the kernel that is taken instead */
#define SEVERITY 3.0 /* of losses that are large */

#define FALLBACKS 6 /* kernels that a leaf may name for the matrices that refuse its first */
#define SAYS      (TRAIN_NAMES * FALLBACKS)

/* of a loss factor: its logarithm, and more for large ones, for the worst case counts too */
static double Penalty(double factor)
{
  const double loss = log(fmin(fmax(factor, 1), TRAIN_WORST));

  return loss + SEVERITY * loss * loss;
}

/* What a leaf can say: a kernel that no matrix refuses, or another with one of those for the matrices that refuse it */
typedef struct {
  int first, second; /* second -1: not needed */
} Say;

typedef struct {
  Say say[SAYS];
  int n;
} Says;

static double SayPenalty(const Case *c, Say say)
{
  if (c->time[say.first] > 0 || say.second < 0) return Penalty(c->time[say.first] / c->best);
  return Penalty(REFUSED * c->time[say.second] / c->best);
}

/* the few kernels that serve every matrix and together lose least: chosen one after the other */
static int Fallbacks(const Table *T, const int which[], int n, int fallback[])
{
  int many = 0;

  for (; many < FALLBACKS; many++) {
    double least = INFINITY;
    int    best  = -1;

    for (int k = 0; k < T->kernels; k++) {
      double sum = 0;

      for (int i = 0; i < n && T->everywhere[k]; i++) {
        const Case *c    = &T->c[which[i]];
        double      time = c->time[k];

        for (int f = 0; f < many; f++) time = fmin(time, c->time[fallback[f]]);
        sum += Penalty(time / c->best);
      }
      for (int f = 0; f < many; f++)
        if (fallback[f] == k) sum = INFINITY;
      if (!T->everywhere[k] || sum >= least) continue;
      least = sum;
      best  = k;
    }
    if (best < 0) break;
    fallback[many] = best;
  }
  return many;
}

static void ListSays(const Table *T, const int which[], int n, Says *S)
{
  int fallback[FALLBACKS], many = Fallbacks(T, which, n, fallback);

  S->n = 0;
  for (int k = 0; k < T->kernels; k++) {
    if (T->everywhere[k]) S->say[S->n++] = (Say){k, -1};
    for (int f = 0; f < many && !T->everywhere[k]; f++) S->say[S->n++] = (Say){k, fallback[f]};
  }
}

static const double *SortValues;

static int CompareValues(const void *a, const void *b)
{
  const double x = SortValues[*(const int *)a], y = SortValues[*(const int *)b];

  return x != y ? (x > y) - (x < y) : *(const int *)a - *(const int *)b;
}

static double Least(const double sum[], int n, int *which)
{
  double least = INFINITY;

  for (int k = 0; k < n; k++) {
    if (sum[k] >= least) continue;
    least = sum[k];
    if (which) *which = k;
  }
  return least;
}

typedef struct {
  const Table *T;
  Limits       limits;
  Says         says;
  double      *penalty; /* [cases * says] */
  double       root;    /* penalty of one leaf for all */
  double      *value;   /* [cases] of the feature that is looked at */
  int         *order;
} Growth;

/* the best threshold of feature f for the n cases in which; *gain is raised when it is better */
static int TrySplit(Growth *G, const int which[], int n, int f, double together, double *gain, double *threshold)
{
  const Table *T          = G->T;
  const int    K          = G->says.n;
  double       left[SAYS] = {0}, right[SAYS] = {0};
  int          better = 0, tried = 0;

  for (int i = 0; i < n; i++) {
    G->order[i]        = which[i];
    G->value[which[i]] = T->c[which[i]].feature[f];
    for (int k = 0; k < K; k++) right[k] += G->penalty[(size_t)which[i] * K + k];
  }
  SortValues = G->value;
  qsort(G->order, (size_t)n, sizeof(int), CompareValues);
  if (G->value[G->order[0]] == G->value[G->order[n - 1]]) return 0;
  for (int i = 0; i + 1 < n; i++) {
    const double *p = G->penalty + (size_t)G->order[i] * K, a = G->value[G->order[i]], b = G->value[G->order[i + 1]];

    for (int k = 0; k < K; k++) {
      left[k] += p[k];
      right[k] -= p[k];
    }
    if (a == b || i + 1 < G->limits.least || n - i - 1 < G->limits.least || (int64_t)(i + 1) * BINS / n < tried) continue;
    tried            = (int)((int64_t)(i + 1) * BINS / n) + 1;
    const double won = together - Least(left, K, NULL) - Least(right, K, NULL);

    if (won <= *gain) continue;
    *gain      = won;
    *threshold = 0.5 * (a + b);
    if (!(*threshold >= a && *threshold < b)) *threshold = a;
    better = 1;
  }
  return better;
}

static int Holds(const Node *node, int n, int kernel)
{
  for (int l = 0; l < n; l++)
    if (node->leaf[l] == kernel) return 1;
  return 0;
}

/* kernels of a leaf: the best, with the one for those that refuse it next, then the next best */
static void MakeLeaf(Growth *G, Node *node, double sum[])
{
  int n = 0, best = -1;

  while (n < TRAIN_LEADING && Least(sum, G->says.n, &best) < INFINITY) {
    const Say say = G->says.say[best];

    if (!Holds(node, n, say.first)) node->leaf[n++] = say.first;
    if (n < TRAIN_LEADING && say.second >= 0 && !Holds(node, n, say.second)) node->leaf[n++] = say.second;
    sum[best] = INFINITY;
  }
  while (n < TRAIN_LEADING) node->leaf[n++] = -1;
}

static int AddNode(Tree *tree)
{
  if (tree->nodes == tree->room) {
    tree->room = tree->room ? 2 * tree->room : 64;
    tree->node = (Node *)realloc(tree->node, (size_t)tree->room * sizeof(Node));
    if (!tree->node) abort();
  }
  memset(&tree->node[tree->nodes], 0, sizeof(Node));
  tree->node[tree->nodes].feature = -1;
  return tree->nodes++;
}

/* which is rearranged: the cases of the low side first */
static int Grow(Growth *G, Tree *tree, int which[], int n, int depth)
{
  const Table *T         = G->T;
  const int    self      = AddNode(tree);
  double       sum[SAYS] = {0}, together, gain, threshold = 0;
  int          feature = -1, low = 0;

  tree->node[self].cases = n;
  for (int i = 0; i < n; i++)
    for (int k = 0; k < G->says.n; k++) sum[k] += G->penalty[(size_t)which[i] * G->says.n + k];
  together = Least(sum, G->says.n, NULL);
  if (depth == 0) G->root = together;
  gain = G->limits.gain * G->root;
  for (int f = 0; f < T->features && depth < G->limits.depth && n >= 2 * G->limits.least; f++)
    if (TrySplit(G, which, n, f, together, &gain, &threshold)) feature = f;
  if (feature < 0) {
    MakeLeaf(G, &tree->node[self], sum);
    return self;
  }
  for (int i = 0; i < n; i++) {
    if (T->c[which[i]].feature[feature] > threshold) continue;
    const int t = which[i];

    which[i]     = which[low];
    which[low++] = t;
  }
  const int a = Grow(G, tree, which, low, depth + 1), b = Grow(G, tree, which + low, n - low, depth + 1);

  tree->node[self].feature   = feature;
  tree->node[self].threshold = threshold;
  tree->node[self].low       = a;
  tree->node[self].high      = b;
  return self;
}

void TreeGrow(Tree *tree, const Table *T, const int which[], int n, Limits limits)
{
  Growth *G    = (Growth *)calloc(1, sizeof(*G));
  int    *mine = (int *)malloc(((size_t)n + 1) * sizeof(int));

  if (!G || !mine) abort();
  G->T      = T;
  G->limits = limits;
  ListSays(T, which, n, &G->says);
  G->penalty = (double *)malloc(((size_t)T->cases * G->says.n + 1) * sizeof(double));
  G->value   = (double *)malloc(((size_t)T->cases + 1) * sizeof(double));
  G->order   = (int *)malloc(((size_t)T->cases + 1) * sizeof(int));
  if (!G->penalty || !G->value || !G->order) abort();
  for (int i = 0; i < n; i++) {
    mine[i] = which[i];
    for (int k = 0; k < G->says.n; k++) G->penalty[(size_t)which[i] * G->says.n + k] = SayPenalty(&T->c[which[i]], G->says.say[k]);
  }
  memset(tree, 0, sizeof(*tree));
  (void)Grow(G, tree, mine, n, 0);
  free(G->penalty);
  free(G->value);
  free(G->order);
  free(G);
  free(mine);
}

void TreeFree(Tree *tree)
{
  free(tree->node);
}

int TreeLeaves(const Tree *tree)
{
  int leaves = 0;

  for (int k = 0; k < tree->nodes; k++) leaves += tree->node[k].feature < 0;
  return leaves;
}

int TreeChoose(const Tree *tree, const Table *T, const Case *c, int *refused)
{
  const Node *node = tree->node;

  *refused = 0;
  while (node->feature >= 0) node = tree->node + (c->feature[node->feature] <= node->threshold ? node->low : node->high);
  for (int l = 0; l < TRAIN_LEADING && node->leaf[l] >= 0; l++) {
    if (c->time[node->leaf[l]] > 0) return node->leaf[l];
    ++*refused;
  }
  for (int k = 0; k < T->kernels; k++)
    if (T->everywhere[k]) return k;
  return -1;
}
