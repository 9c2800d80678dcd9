/* What the laws miss, learnt from examples: trees whose leaves hold, for every candidate, a part of the logarithm of its time over its law's.
   The kernels share the trees, so that what is learnt is where sorts of matrices part.  Every tree learns from what those before it left (J. H. Friedman,
   "Greedy function approximation: a gradient boosting machine", Annals of Statistics 29, 2001); thresholds are drawn, not searched
   (P. Geurts, D. Ernst, L. Wehenkel, "Extremely randomized trees", Machine Learning 63, 2006), from a sequence that is the same in every run. */
#include "mat/impls/gpucsr/selector/train.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CARE 0.4 /* a kernel so far (a logarithm) from a matrix's best counts half: how slow those are that nobody would choose need not be known */

typedef struct {
  double rest[GP_SEL_MODELLED], care[GP_SEL_MODELLED]; /* of cases: sums weighed by care, and those of care */
} Sums;

typedef struct {
  const Table *T;
  Model       *M;
  const int   *which;
  double      *rest, *care;             /* [n][candidates] */
  double       weight[GP_SEL_MODELLED]; /* one over the variance of a candidate's rest: all count alike */
  uint64_t     seed;
} Growth;

static uint64_t Random(uint64_t *seed) /* splitmix64 (S. Vigna, public domain) */
{
  uint64_t z = *seed += 0x9e3779b97f4a7c15ULL;

  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

static double Asked(const Growth *G, int i, int what)
{
  return G->T->c[G->which[i]].asked[what];
}

static void AddCase(const Growth *G, Sums *sum, int i)
{
  const int     K    = G->M->candidates;
  const double *rest = G->rest + (size_t)i * K, *care = G->care + (size_t)i * K;

  for (int k = 0; k < K; k++) {
    sum->rest[k] += care[k] * rest[k];
    sum->care[k] += care[k];
  }
}

/* how far the means of the two sides are apart: the squares that a split explains */
static double Explained(const Growth *G, const Sums *all, const Sums *low)
{
  double explained = 0;

  for (int k = 0; k < G->M->candidates; k++) {
    const double high = all->care[k] - low->care[k], apart = low->rest[k] / low->care[k] - (all->rest[k] - low->rest[k]) / high;

    explained += G->weight[k] * apart * apart * low->care[k] * high / all->care[k];
  }
  return explained;
}

/* One threshold for everything that can be asked, between the values of two cases; the question that explains most is taken, or none.  mine is
   rearranged: the low side first; so many are returned. */
static int Split(Growth *G, int mine[], int n, const Sums *all, Node *node)
{
  double most = 0;
  int    low  = 0;

  for (int f = 0; f < GP_ASKED; f++) {
    const double a = Asked(G, mine[Random(&G->seed) % (uint64_t)n], f), b = Asked(G, mine[Random(&G->seed) % (uint64_t)n], f), threshold = 0.5 * (a + b);
    double       explained;
    Sums         sum = {{0}, {0}};
    int          on  = 0;

    if (a == b) continue;
    for (int i = 0; i < n; i++) {
      if (Asked(G, mine[i], f) > threshold) continue;
      AddCase(G, &sum, mine[i]);
      on++;
    }
    if (on < G->M->settings.least || n - on < G->M->settings.least) continue;
    explained = Explained(G, all, &sum);
    if (explained <= most) continue;
    most            = explained;
    node->feature   = f;
    node->threshold = threshold;
  }
  for (int i = 0; i < n && node->feature >= 0; i++) {
    if (Asked(G, mine[i], node->feature) > node->threshold) continue;
    const int t = mine[i];

    mine[i]     = mine[low];
    mine[low++] = t;
  }
  return low;
}

static void *Room(void *array, int used, int *room, size_t size)
{
  if (used < *room) return array;
  *room = *room ? 2 * *room : 1024;
  array = realloc(array, (size_t)*room * size);
  if (!array) abort();
  return array;
}

/* what a leaf says of each candidate is taken from the rest of its cases */
static int MakeLeaf(Growth *G, const int mine[], int n, const Sums *all)
{
  Model       *M = G->M;
  signed char *leaf;

  M->leaf = (signed char *)Room(M->leaf, M->leaves, &M->leafroom, GP_SEL_MODELLED);
  leaf    = M->leaf + (size_t)M->leaves * GP_SEL_MODELLED;
  for (int k = 0; k < M->candidates; k++) {
    leaf[k] = (signed char)fmax(-127, fmin(127, rint(GP_SEL_STEPS * M->settings.rate * all->rest[k] / all->care[k])));
    for (int i = 0; i < n; i++) G->rest[(size_t)mine[i] * M->candidates + k] -= leaf[k] / GP_SEL_STEPS;
  }
  return M->leaves++;
}

static int Grow(Growth *G, int mine[], int n, int depth)
{
  Model    *M    = G->M;
  const int self = M->nodes++;
  Sums      all  = {{0}, {0}};
  Node      node = {-1, 0, 0, 0};
  int       low  = 0;

  M->node = (Node *)Room(M->node, self, &M->noderoom, sizeof(Node));
  for (int i = 0; i < n; i++) AddCase(G, &all, mine[i]);
  if (depth < M->settings.depth && n >= 2 * M->settings.least) low = Split(G, mine, n, &all, &node);
  if (node.feature < 0) node.low = MakeLeaf(G, mine, n, &all);
  else {
    node.low  = Grow(G, mine, low, depth + 1);
    node.high = Grow(G, mine + low, n - low, depth + 1);
  }
  M->node[self] = node;
  return self;
}

/* by its time or by what its law expects, whichever is nearer to the best: who looks good, and is not, must be found out, and so must who refuses */
static double Care(const Case *c, int kernel, const double law[GP_TERMS])
{
  const double expected = GpSelLaw(law, c->asked), time = c->time[kernel], near = time > 0 ? fmin(time, expected) : expected, far = fmax(0, log(near / c->best)) / CARE;

  return 1 / (1 + far * far);
}

void ForestGrow(Model *M, const Table *T, const int which[], int n, double rest[])
{
  Growth G    = {.T = T, .M = M, .which = which, .rest = rest, .seed = 1};
  int   *mine = (int *)malloc(((size_t)n + 1) * sizeof(int));

  G.care = (double *)malloc(((size_t)n * (size_t)M->candidates + 1) * sizeof(double));
  if (!mine || !G.care) abort();
  for (int i = 0; i < n; i++)
    for (int k = 0; k < M->candidates; k++) G.care[(size_t)i * M->candidates + k] = Care(&T->c[which[i]], M->candidate[k], M->law[k]);
  M->nodes = M->leaves = 0;
  for (int k = 0; k < M->candidates; k++) {
    double sum = 0, squares = 0;

    for (int i = 0; i < n; i++) {
      sum += rest[(size_t)i * M->candidates + k];
      squares += rest[(size_t)i * M->candidates + k] * rest[(size_t)i * M->candidates + k];
    }
    G.weight[k] = 1 / (squares / n - sum * sum / n / n + 1e-6);
  }
  for (int i = 0; i < n; i++) mine[i] = i;
  for (int t = 0; t < M->settings.trees; t++) M->root[t] = Grow(&G, mine, n, 0);
  free(mine);
  free(G.care);
}

void ForestRest(const Model *M, const Case *c, double rest[])
{
  for (int k = 0; k < M->candidates; k++) rest[k] = 0;
  for (int t = 0; t < M->settings.trees; t++) {
    const Node *node = M->node + M->root[t];

    while (node->feature >= 0) node = M->node + (c->asked[node->feature] <= node->threshold ? node->low : node->high);
    for (int k = 0; k < M->candidates; k++) rest[k] += M->leaf[(size_t)node->low * GP_SEL_MODELLED + k] / GP_SEL_STEPS;
  }
}

void ForestFree(Model *M)
{
  free(M->node);
  free(M->leaf);
}
