/* Measure core: core numbers of the undirected graph. Weights, directions and loops are ignored, and equal links count once.

   Each process removes its nodes in the order of their remaining degrees. It removes a ghost when this degree reaches the upper bound that the ghost has
   at this time. This gives upper bounds on the core numbers of the nodes of the process. The processes exchange the bounds until none changes. Then the
   nodes with a bound of at least k have at least k neighbours among themselves, so that the bounds are the core numbers. One process needs one round.

   V. Batagelj, M. Zaversnik, "An O(m) algorithm for cores decomposition of networks", 2003; A. Montresor, F. De Pellegrini, D. Miorandi, "Distributed
   k-core decomposition", 2013. */
#include "networkimpl.h"

/* Nodes in ascending order of their keys. Decreasing a key by 1 takes constant time. node: [n] the sorted nodes. place: [n] position of each node in that
   list. begin: where the nodes of each key begin in the list. */
typedef struct {
  PetscInt *key, *node, *place, *begin;
} NetworkBuckets;

static PetscErrorCode NetworkBucketsSort(PetscInt n, PetscInt most, NetworkBuckets *B)
{
  PetscFunctionBegin;
  PetscCall(PetscArrayzero(B->begin, most + 2));
  for (PetscInt k = 0; k < n; k++) B->begin[B->key[k] + 1]++;
  for (PetscInt d = 0; d <= most; d++) B->begin[d + 1] += B->begin[d];
  for (PetscInt k = 0; k < n; k++) {
    B->place[k]          = B->begin[B->key[k]]++;
    B->node[B->place[k]] = k;
  }
  for (PetscInt d = most + 1; d > 0; d--) B->begin[d] = B->begin[d - 1];
  B->begin[0] = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Moves a node to the next lower key: it changes places with the first node of its key. */
static void NetworkBucketsDecrease(NetworkBuckets *B, PetscInt k)
{
  const PetscInt at = B->place[k], to = B->begin[B->key[k]]++, other = B->node[to];

  B->node[to]     = k;
  B->node[at]     = other;
  B->place[k]     = to;
  B->place[other] = at;
  B->key[k]--;
}

/* Computes bounds on the core numbers of the nodes of this process from the bounds of the ghosts. i, j: neighbours of the nodes and ghosts as
   compressed rows. most: largest key. bound: [n + nghost], where those of the ghosts are input and those of the nodes are output. */
static PetscErrorCode NetworkCorePeel(const NetworkLocal *G, const PetscInt i[], const PetscInt j[], PetscInt most, PetscInt bound[], NetworkBuckets *B)
{
  const PetscInt all = G->n + G->nghost;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < all; k++) B->key[k] = k < G->n ? G->i[k + 1] - G->i[k] : PetscMin(bound[k], most);
  PetscCall(NetworkBucketsSort(all, most, B));
  for (PetscInt at = 0; at < all; at++) {
    const PetscInt v = B->node[at], level = B->key[v];

    for (PetscInt k = i[v]; k < i[v + 1]; k++)
      if (j[k] < G->n && B->key[j[k]] > level) NetworkBucketsDecrease(B, j[k]); /* the keys of ghosts are fixed */
  }
  for (PetscInt k = 0; k < G->n; k++) bound[k] = B->key[k];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode NetworkCoreIterate(Network nw, const NetworkLocal *G, PetscInt bound[])
{
  const PetscInt all  = G->n + G->nghost;
  PetscInt       most = 0, *i = NULL, *j = NULL, *ghost;
  NetworkBuckets B;
  PetscMPIInt    changed = 1;

  PetscFunctionBegin;
  PetscCall(NetworkLocalAddGhosts_Private(G, &i, &j));
  for (PetscInt r = 0; r < G->n; r++) most = PetscMax(most, bound[r] = G->i[r + 1] - G->i[r]);
  PetscCall(PetscMalloc5(all, &B.key, all, &B.node, all, &B.place, most + 2, &B.begin, G->nghost, &ghost));
  PetscCall(PetscSFBcastBegin(G->sf, MPIU_INT, bound, bound + G->n, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(G->sf, MPIU_INT, bound, bound + G->n, MPI_REPLACE));
  while (changed) {
    PetscCall(NetworkCorePeel(G, i, j, most, bound, &B));
    PetscCall(PetscArraycpy(ghost, bound + G->n, G->nghost));
    PetscCall(PetscSFBcastBegin(G->sf, MPIU_INT, bound, bound + G->n, MPI_REPLACE));
    PetscCall(PetscSFBcastEnd(G->sf, MPIU_INT, bound, bound + G->n, MPI_REPLACE));
    changed = 0;
    for (PetscInt k = 0; k < G->nghost && !changed; k++) changed = ghost[k] != bound[G->n + k];
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &changed, 1, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)nw)));
    nw->it++;
  }
  PetscCall(PetscFree5(B.key, B.node, B.place, B.begin, ghost));
  PetscCall(PetscFree(i));
  PetscCall(PetscFree(j));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode NetworkSolve_Core(Network nw)
{
  NetworkLocal G;
  PetscInt    *bound;
  PetscScalar *a, inner = 0;
  PetscReal    most;

  PetscFunctionBegin;
  PetscCall(NetworkLocalCreate_Private(nw, PETSC_TRUE, &G));
  PetscCall(PetscMalloc1(G.n + G.nghost, &bound));
  PetscCall(NetworkCoreIterate(nw, &G, bound));
  PetscCall(VecGetArrayWrite(nw->x[0], &a));
  for (PetscInt k = 0; k < G.n; k++) a[k] = (PetscScalar)bound[k];
  PetscCall(VecRestoreArrayWrite(nw->x[0], &a));
  PetscCall(VecMax(nw->x[0], NULL, &most));
  for (PetscInt k = 0; k < G.n; k++) inner += bound[k] == (PetscInt)most;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &inner, 1, MPIU_SCALAR, MPIU_SUM, PetscObjectComm((PetscObject)nw)));
  PetscCall(NetworkLocalDestroy_Private(&G));
  PetscCall(PetscFree(bound));
  nw->reason = NETWORK_CONVERGED_EXACT;
  PetscCall(NetworkAddQuantity_Private(nw, "largest_core", most));
  PetscCall(NetworkAddQuantity_Private(nw, "largest_core_nodes", inner));
  PetscFunctionReturn(PETSC_SUCCESS);
}
