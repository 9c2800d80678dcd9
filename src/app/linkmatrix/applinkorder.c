/* Permutations of the rows: by degree, and interleaved over blocks. */
#include "app/linkmatrix/applinkmatrix.h"

const char *const GpAppLinkOrders[] = {"given", "degree", "GpAppLinkOrder", "", NULL};

/* Replaces the numbers of the nodes in the links. */
static void LinksRenumber(GpAppLinks *L, const PetscInt number[])
{
  for (PetscInt64 k = 0; k < L->n; k++) {
    L->from[k] = number[L->from[k]];
    L->to[k]   = number[L->to[k]];
  }
}

/* Orders the rows by descending number of outgoing links, then by ascending identity, and renumbers the links.

   A product reads the vector entry of a node once for every outgoing link. This order places the entries that are read most often next to each other,
   so that they stay in the caches. R-MAT graphs and other graphs with random node numbers gain. Web graphs in the order of their addresses lose,
   because there neighbouring nodes link to each other. */
PetscErrorCode GpAppLinkMatrixReorder(MPI_Comm comm, GpAppLinks *L, GpAppLinkMatrix *G)
{
  PetscInt *degree, *start, most = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(G->N, &G->row, G->N, &G->node));
  PetscCall(PetscCalloc1(G->N, &degree));
  for (PetscInt64 k = 0; k < L->n; k++) degree[L->from[k]]++;
  for (PetscInt first = 0, n; first < G->N; first += n) { /* in pieces whose length fits the int of MPI */
    n = PetscMin(G->N - first, 1 << 27);
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, degree + first, (PetscMPIInt)n, MPIU_INT, MPI_SUM, comm));
  }
  for (PetscInt i = 0; i < G->N; i++) most = PetscMax(most, degree[i]);
  PetscCall(PetscCalloc1(most + 2, &start));
  for (PetscInt i = 0; i < G->N; i++) start[most - degree[i] + 1]++;
  for (PetscInt d = 0; d <= most; d++) start[d + 1] += start[d];
  for (PetscInt i = 0; i < G->N; i++) {
    G->row[i]          = start[most - degree[i]]++;
    G->node[G->row[i]] = i;
  }
  PetscCall(PetscFree(start));
  PetscCall(PetscFree(degree));
  LinksRenumber(L, G->row);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Assigns the rows of every process to its blocks in turn and renumbers the links.

   Nodes with neighbouring numbers often link to each other, for example the pages of one site. Block Gauss-Seidel converges faster than a power
   iteration only through links between different blocks, so neighbours belong in different blocks. */
PetscErrorCode GpAppLinkMatrixInterleave(PetscLayout layout, PetscInt blocks, GpAppLinks *L, GpAppLinkMatrix *G)
{
  const PetscInt *ranges;
  PetscMPIInt     size;
  PetscInt       *moved;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(layout->comm, &size));
  PetscCall(PetscLayoutGetRanges(layout, &ranges));
  PetscCall(PetscMalloc1(G->N, &moved));
  for (PetscMPIInt p = 0; p < size; p++)
    for (PetscInt r = 0, n = ranges[p + 1] - ranges[p]; r < n; r++) moved[ranges[p] + r] = ranges[p] + GpAppLinkBlockStart(n, blocks, r % blocks) + r / blocks;
  LinksRenumber(L, moved);
  if (G->row) {
    for (PetscInt i = 0; i < G->N; i++) G->row[i] = moved[G->row[i]];
  } else {
    PetscCall(PetscMalloc2(G->N, &G->row, G->N, &G->node));
    PetscCall(PetscArraycpy(G->row, moved, G->N));
  }
  for (PetscInt i = 0; i < G->N; i++) G->node[G->row[i]] = i;
  PetscCall(PetscFree(moved));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Permutes x from node order to row order (byrow), or back. */
PetscErrorCode GpAppLinkMatrixPermute(const GpAppLinkMatrix *G, PetscBool byrow, Vec x)
{
  VecScatter scatter;
  PetscInt   first, last;
  Vec        old;
  IS         from;

  PetscFunctionBegin;
  if (!G->row) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecDuplicate(x, &old));
  PetscCall(VecCopy(x, old));
  PetscCall(VecGetOwnershipRange(x, &first, &last));
  PetscCall(ISCreateGeneral(G->comm, last - first, (byrow ? G->node : G->row) + first, PETSC_USE_POINTER, &from));
  PetscCall(VecScatterCreate(old, from, x, NULL, &scatter));
  PetscCall(VecScatterBegin(scatter, old, x, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter, old, x, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterDestroy(&scatter));
  PetscCall(ISDestroy(&from));
  PetscCall(VecDestroy(&old));
  PetscFunctionReturn(PETSC_SUCCESS);
}
