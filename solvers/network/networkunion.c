/* Gives connected nodes equal labels, by union-find on each process. The processes exchange the labels until none changes. */
#include "networkimpl.h"
#include "app/program/appforest.h"

/* Labels the nodes of this process and the ghosts. The label of a node is the smallest global number among the nodes that are connected to it.

   sides is PETSC_FALSE: a link connects two nodes, in both directions. label has n + nghost entries.
   sides is PETSC_TRUE: a node is two vertices, one for its outgoing and one for its incoming links. A link connects the outgoing vertex of one node with the
   incoming vertex of the other. label has n + nghost entries for outgoing vertices, then n for incoming ones. The label of a vertex is the smallest number among
   the outgoing vertices that are connected to it. It is N for an incoming vertex without links. */
PetscErrorCode NetworkConnect_Private(Network nw, const NetworkLocal *G, PetscBool sides, PetscInt label[])
{
  const PetscInt columns = G->n + G->nghost, all = columns + (sides ? G->n : 0);
  PetscInt      *parent, *least;
  PetscMPIInt    changed = 1;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(all, &parent, all, &least));
  for (PetscInt k = 0; k < all; k++) {
    parent[k] = k;
    label[k]  = k < G->n ? G->first + k : k < columns ? G->ghost[k - G->n] : nw->N;
  }
  for (PetscInt r = 0; r < G->n; r++)
    for (PetscInt k = G->i[r]; k < G->i[r + 1]; k++) GpAppForestJoin(parent, sides ? columns + r : r, G->j[k]);
  while (changed) {
    for (PetscInt k = 0; k < all; k++) least[k] = nw->N;
    for (PetscInt k = 0; k < all; k++) {
      const PetscInt root = GpAppForestFindRoot(parent, k);

      least[root] = PetscMin(least[root], label[k]);
    }
    for (PetscInt k = 0; k < all; k++) label[k] = least[GpAppForestFindRoot(parent, k)];
    PetscCall(PetscSFReduceBegin(G->sf, MPIU_INT, label + G->n, label, MPI_MIN));
    PetscCall(PetscSFReduceEnd(G->sf, MPIU_INT, label + G->n, label, MPI_MIN));
    PetscCall(PetscSFBcastBegin(G->sf, MPIU_INT, label, label + G->n, MPI_REPLACE));
    PetscCall(PetscSFBcastEnd(G->sf, MPIU_INT, label, label + G->n, MPI_REPLACE));
    changed = 0;
    for (PetscInt k = 0; k < all && !changed; k++) changed = label[k] != least[GpAppForestFindRoot(parent, k)];
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &changed, 1, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)nw)));
    nw->it++;
  }
  PetscCall(PetscFree2(parent, least));
  PetscFunctionReturn(PETSC_SUCCESS);
}
