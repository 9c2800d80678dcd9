/* Rows in another order than that of identities. */
#include "pagerank.h"

const char *const Orders[] = {"given", "degree", "Order", "", NULL};

/*
  GraphReorder - Numbers rows by descending number of links out, equal ones by ascending identity, and renames the links

  Collective

  Input Parameters:
+ comm - the communicator
. L    - the links
- G    - the graph, of whom the number of nodes is known

  Note:
  A product reads an entry of its vector for every link out of a node. What is read most often is then in neighbouring places, of which the caches
  hold many: R-MAT graphs and others whose numbers say nothing gain. Pages of the web in the order of their addresses have neighbours that belong together, and lose.
*/
PetscErrorCode GraphReorder(MPI_Comm comm, Links *L, Graph *G)
{
  PetscInt *degree, *start, most = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(G->N, &G->row, G->N, &G->node));
  PetscCall(PetscCalloc1(G->N, &degree));
  for (PetscInt64 k = 0; k < L->n; k++) degree[L->from[k]]++;
  for (PetscInt first = 0, n; first < G->N; first += n) { /* in pieces that a message can count */
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
  for (PetscInt64 k = 0; k < L->n; k++) {
    L->from[k] = G->row[L->from[k]];
    L->to[k]   = G->row[L->to[k]];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* where row r comes to stand: of a rank's n rows from first on, every blocks-th is in the same block, and a block's rows are neighbours */
static inline PetscInt Interleaved(PetscInt first, PetscInt n, PetscInt blocks, PetscInt r)
{
  return first + GraphBlockStart(n, blocks, (r - first) % blocks) + (r - first) / blocks;
}

/*
  GraphInterleave - Deals the rows of every rank out to blocks, one by one, and renames the links

  Collective

  Input Parameters:
+ layout - the rows of the ranks
. blocks - how many blocks each of them has
. L      - the links
- G      - the graph

  Note:
  Nodes that have neighbouring numbers are often linked to each other, as the pages of a site are.  Gauss-Seidel iterations by blocks gain from links
  between blocks alone.
*/
PetscErrorCode GraphInterleave(PetscLayout layout, PetscInt blocks, Links *L, Graph *G)
{
  const PetscInt *ranges;
  PetscMPIInt     size;
  PetscInt       *moved;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(layout->comm, &size));
  PetscCall(PetscLayoutGetRanges(layout, &ranges));
  PetscCall(PetscMalloc1(G->N, &moved));
  for (PetscMPIInt p = 0; p < size; p++)
    for (PetscInt r = ranges[p]; r < ranges[p + 1]; r++) moved[r] = Interleaved(ranges[p], ranges[p + 1] - ranges[p], blocks, r);
  for (PetscInt64 k = 0; k < L->n; k++) {
    L->from[k] = moved[L->from[k]];
    L->to[k]   = moved[L->to[k]];
  }
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

/* entries of x that stand by node come to stand by row, or back */
PetscErrorCode GraphPermute(const Graph *G, PetscBool byrow, Vec x)
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
