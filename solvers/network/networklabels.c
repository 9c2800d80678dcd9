/* Measure labels: communities by label propagation in the undirected graph, whose weights are the sums of both directions. Loops are ignored.

   Every node begins with a label of its own. In a sweep every node takes the label of the largest total weight among its neighbours. A node keeps
   its label if no label has a larger weight. If several other labels have the largest weight, a hash decides. Neighbours never change at the same time: they
   have different colours, and a sweep updates one colour after the other. Every change increases the total weight of the links within communities, so that
   the sweeps stop. The hash depends on the number of the row only, so that the result does not depend on the number of processes.

   U. Raghavan, R. Albert, S. Kumara, "Near linear time algorithm to detect community structures in large-scale networks", 2007; G. Cordasco, L. Gargano,
   "Community detection via semi-synchronous label propagation algorithms", 2010; M. Jones, P. Plassmann, "A parallel graph coloring heuristic", 1993. */
#include "networkimpl.h"
#include "app/program/apphash.h"
#include <stdlib.h>

/* The total weight of each label among the neighbours of a node, in a hash table. An entry is valid if its `valid` is the current stamp. */
typedef struct {
  PetscInt    slots; /* a power of 2 */
  PetscInt   *label;
  PetscInt64 *valid, stamp;
  PetscReal  *weight;
} NetworkTally;

typedef struct {
  uint64_t priority;
  PetscInt node;
} NetworkPriority;

/* Priority of a node or ghost, from the number of its row. No two rows have the same priority, because the hash is a bijection. */
static inline uint64_t NetworkGetPriority(const NetworkLocal *G, PetscInt k)
{
  return GpAppHash64((uint64_t)(k < G->n ? G->first + k : G->ghost[k - G->n]));
}

static int NetworkComparePriorities(const void *a, const void *b)
{
  const NetworkPriority *p = (const NetworkPriority *)a, *q = (const NetworkPriority *)b;

  return (p->priority < q->priority) - (p->priority > q->priority);
}

/* Gives a node the lowest colour that no neighbour of higher priority has. Returns false if such a neighbour has no colour yet. */
static PetscBool NetworkColourNode(const NetworkLocal *G, PetscInt v, uint64_t priority, PetscInt colour[], PetscInt taken[])
{
  PetscInt c = 0;

  for (PetscInt k = G->i[v]; k < G->i[v + 1]; k++) {
    const PetscInt other = colour[G->j[k]];

    if (other >= 0) taken[other] = v;
    else if (NetworkGetPriority(G, G->j[k]) > priority) return PETSC_FALSE;
  }
  while (taken[c] == v) c++;
  colour[v] = c;
  return PETSC_TRUE;
}

/* Colours the nodes greedily in the order of their priorities. most: largest number of neighbours of a node on any process, so that the colours are from 0 to most. */
static PetscErrorCode NetworkColour(Network nw, const NetworkLocal *G, PetscInt most, PetscInt colour[])
{
  NetworkPriority *order;
  PetscInt        *taken;
  PetscMPIInt      waiting = 1;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(G->n, &order, most + 2, &taken));
  for (PetscInt k = 0; k < most + 2; k++) taken[k] = -1;
  for (PetscInt k = 0; k < G->n + G->nghost; k++) colour[k] = -1;
  for (PetscInt k = 0; k < G->n; k++) order[k] = (NetworkPriority){NetworkGetPriority(G, k), k};
  qsort(order, (size_t)G->n, sizeof(*order), NetworkComparePriorities);
  while (waiting) {
    waiting = 0;
    for (PetscInt k = 0; k < G->n; k++)
      if (colour[order[k].node] < 0 && !NetworkColourNode(G, order[k].node, order[k].priority, colour, taken)) waiting = 1;
    PetscCall(PetscSFBcastBegin(G->sf, MPIU_INT, colour, colour + G->n, MPI_REPLACE));
    PetscCall(PetscSFBcastEnd(G->sf, MPIU_INT, colour, colour + G->n, MPI_REPLACE));
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &waiting, 1, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)nw)));
  }
  PetscCall(PetscFree2(order, taken));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds a weight to a label, and returns the sum. */
static PetscReal NetworkTallyAdd(NetworkTally *T, PetscInt label, PetscReal weight)
{
  PetscInt at = (PetscInt)(GpAppHash64((uint64_t)label) & (uint64_t)(T->slots - 1));

  while (T->valid[at] == T->stamp && T->label[at] != label) at = (at + 1) & (T->slots - 1);
  if (T->valid[at] != T->stamp) T->weight[at] = 0;
  T->valid[at] = T->stamp;
  T->label[at] = label;
  return T->weight[at] += weight;
}

/* Returns the label that the node takes. */
static PetscInt NetworkChooseLabel(const NetworkLocal *G, PetscInt v, const PetscInt label[], NetworkTally *T)
{
  PetscInt  best = label[v];
  PetscReal most;

  T->stamp++;
  for (PetscInt k = G->i[v]; k < G->i[v + 1]; k++) (void)NetworkTallyAdd(T, label[G->j[k]], G->w[k]);
  most = NetworkTallyAdd(T, best, 0.0);
  for (PetscInt k = G->i[v]; k < G->i[v + 1]; k++) {
    const PetscInt  other  = label[G->j[k]];
    const PetscReal weight = NetworkTallyAdd(T, other, 0.0);

    if (weight > most || (weight == most && best != label[v] && GpAppHash64((uint64_t)other) > GpAppHash64((uint64_t)best))) {
      most = weight;
      best = other;
    }
  }
  return best;
}

/* The nodes in the order of a sweep, and which of them may change. A node keeps its label if its neighbours have kept theirs since its last update. */
typedef struct {
  PetscInt   colours; /* number of colours on all processes together */
  PetscInt  *node;    /* [n] nodes by ascending colour */
  PetscInt  *begin;   /* [most + 2] position of the first node of each colour in `node` */
  PetscInt  *i, *j;   /* neighbours of the nodes and ghosts, as compressed rows */
  PetscInt  *colour;  /* [n + nghost] */
  PetscInt  *ghost;   /* [nghost] labels of the ghosts before an exchange */
  PetscBool *stale;   /* [n + nghost] a neighbour has changed since the last update; unused for ghosts */
} NetworkOrder;

/* Marks the neighbours of a node or ghost that has changed its label. */
static void NetworkMarkNeighbours(NetworkOrder *O, PetscInt v)
{
  for (PetscInt k = O->i[v]; k < O->i[v + 1]; k++) O->stale[O->j[k]] = PETSC_TRUE;
}

/* Updates the labels, one colour after the other. changed: number of changes on all processes. */
static PetscErrorCode NetworkSweepLabels(Network nw, const NetworkLocal *G, NetworkOrder *O, NetworkTally *T, PetscInt label[], PetscInt64 *changed)
{
  PetscInt64 mine = 0;

  PetscFunctionBegin;
  for (PetscInt c = 0; c < O->colours; c++) {
    for (PetscInt k = O->begin[c]; k < O->begin[c + 1]; k++) {
      const PetscInt v = O->node[k], before = label[v];

      if (!O->stale[v]) continue;
      O->stale[v] = PETSC_FALSE;
      label[v]    = NetworkChooseLabel(G, v, label, T);
      if (label[v] == before) continue;
      mine++;
      NetworkMarkNeighbours(O, v);
    }
    PetscCall(PetscArraycpy(O->ghost, label + G->n, G->nghost));
    PetscCall(PetscSFBcastBegin(G->sf, MPIU_INT, label, label + G->n, MPI_REPLACE));
    PetscCall(PetscSFBcastEnd(G->sf, MPIU_INT, label, label + G->n, MPI_REPLACE));
    for (PetscInt k = 0; k < G->nghost; k++)
      if (O->ghost[k] != label[G->n + k]) NetworkMarkNeighbours(O, G->n + k);
  }
  PetscCallMPI(MPI_Allreduce(&mine, changed, 1, MPIU_INT64, MPI_SUM, PetscObjectComm((PetscObject)nw)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sorts the nodes by colour. most: as in NetworkColour(). */
static PetscErrorCode NetworkOrderCreate(Network nw, const NetworkLocal *G, PetscInt most, NetworkOrder *O)
{
  const PetscInt all = G->n + G->nghost;

  PetscFunctionBegin;
  PetscCall(PetscMalloc5(most + 2, &O->begin, G->n, &O->node, G->nghost, &O->ghost, all, &O->stale, all, &O->colour));
  PetscCall(NetworkLocalAddGhosts_Private(G, &O->i, &O->j));
  PetscCall(NetworkColour(nw, G, most, O->colour));
  PetscCall(PetscArrayzero(O->begin, most + 2));
  O->colours = 0;
  for (PetscInt r = 0; r < G->n; r++) {
    O->begin[O->colour[r] + 1]++;
    O->colours = PetscMax(O->colours, O->colour[r] + 1);
  }
  for (PetscInt c = 0; c <= most; c++) O->begin[c + 1] += O->begin[c];
  for (PetscInt r = 0; r < G->n; r++) O->node[O->begin[O->colour[r]]++] = r;
  for (PetscInt c = most + 1; c > 0; c--) O->begin[c] = O->begin[c - 1];
  O->begin[0] = 0;
  for (PetscInt k = 0; k < all; k++) O->stale[k] = PETSC_TRUE;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &O->colours, 1, MPIU_INT, MPI_MAX, PetscObjectComm((PetscObject)nw)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode NetworkOrderDestroy(NetworkOrder *O)
{
  PetscFunctionBegin;
  PetscCall(PetscFree5(O->begin, O->node, O->ghost, O->stale, O->colour));
  PetscCall(PetscFree(O->i));
  PetscCall(PetscFree(O->j));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Propagates the labels until a sweep changes none. */
static PetscErrorCode NetworkPropagate(Network nw, const NetworkLocal *G, PetscInt label[])
{
  PetscInt     most    = 0;
  PetscInt64   changed = 1;
  NetworkTally T       = {.slots = 4};
  NetworkOrder O       = {0};

  PetscFunctionBegin;
  for (PetscInt r = 0; r < G->n; r++) most = PetscMax(most, G->i[r + 1] - G->i[r]);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPIU_INT, MPI_MAX, PetscObjectComm((PetscObject)nw)));
  while (T.slots < 2 * (most + 1)) T.slots *= 2;
  PetscCall(PetscCalloc3(T.slots, &T.label, T.slots, &T.valid, T.slots, &T.weight));
  PetscCall(NetworkOrderCreate(nw, G, most, &O));
  for (PetscInt k = 0; k < G->n + G->nghost; k++) label[k] = k < G->n ? G->first + k : G->ghost[k - G->n];
  while (changed && nw->it < nw->max_it) {
    PetscCall(NetworkSweepLabels(nw, G, &O, &T, label, &changed));
    nw->it++;
    PetscCall(NetworkMonitor_Private(nw, nw->it, (PetscReal)changed));
  }
  nw->reason = changed ? NETWORK_DIVERGED_ITS : NETWORK_CONVERGED_STABLE;
  PetscCall(NetworkOrderDestroy(&O));
  PetscCall(PetscFree3(T.label, T.valid, T.weight));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Modularity of the groups: the share of the weights within groups, minus the share that is expected if the links were drawn at random with the same
   total weight at every node. M. Newman, M. Girvan, "Finding and evaluating community structure in networks", 2004. */
static PetscErrorCode NetworkGetModularity(Network nw, const NetworkLocal *G, const PetscInt label[], PetscReal *modularity)
{
  PetscReal *strength, *sum, total[3] = {0, 0, 0}; /* total: of all weights, of those within groups, of the squares of the groups' weights */

  PetscFunctionBegin;
  PetscCall(PetscCalloc2(G->n, &strength, G->n, &sum));
  for (PetscInt r = 0; r < G->n; r++) {
    for (PetscInt k = G->i[r]; k < G->i[r + 1]; k++) {
      strength[r] += G->w[k];
      if (label[r] == label[G->j[k]]) total[1] += G->w[k];
    }
    total[0] += strength[r];
  }
  PetscCall(NetworkSumByLabel_Private(nw, label, 1, (const PetscReal *const[]){strength}, &sum));
  for (PetscInt r = 0; r < G->n; r++) total[2] += sum[r] * sum[r];
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, total, 3, MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)nw)));
  *modularity = total[0] > 0 ? total[1] / total[0] - total[2] / total[0] / total[0] : 0;
  PetscCall(PetscFree2(strength, sum));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode NetworkSolve_Labels(Network nw)
{
  NetworkLocal G;
  PetscInt    *label;
  PetscReal    modularity = 0;

  PetscFunctionBegin;
  PetscCall(NetworkLocalCreate_Private(nw, PETSC_TRUE, &G));
  PetscCall(PetscMalloc1(G.n + G.nghost, &label));
  PetscCall(NetworkPropagate(nw, &G, label));
  PetscCall(NetworkGroupsCreate_Private(nw, label, nw->x[0]));
  PetscCall(NetworkGetModularity(nw, &G, label, &modularity));
  PetscCall(NetworkLocalDestroy_Private(&G));
  PetscCall(PetscFree(label));
  PetscCall(NetworkAddQuantity_Private(nw, "communities", nw->groups.n));
  PetscCall(NetworkAddQuantity_Private(nw, "largest", nw->groups.n ? nw->groups.size[0] : 0));
  PetscCall(NetworkAddQuantity_Private(nw, "modularity", modularity));
  PetscFunctionReturn(PETSC_SUCCESS);
}
