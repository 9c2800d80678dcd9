/* What the readers of graphs build: links, and nodes with labels. */
#include "app/graph/appgraphread.h"
#include <string.h>

enum {
  PER_BYTE = 64,     /* a file with more than ANYWAY nodes may have at most PER_BYTE nodes for each of its bytes */
  ANYWAY   = 1 << 20 /* vectors of this size always fit in memory */
};

/* Enlarges the arrays of links and of their weights. */
PetscErrorCode GpAppLinksReserve(GpAppLinks *L, PetscInt64 more, PetscBool weighted)
{
  const PetscBool grow = (PetscBool)(L->n + more > L->capacity);

  PetscFunctionBegin;
  if (grow) {
    L->capacity = PetscMax(L->n + more, 2 * L->capacity);
    PetscCall(PetscRealloc((size_t)L->capacity * sizeof(*L->from), &L->from));
    PetscCall(PetscRealloc((size_t)L->capacity * sizeof(*L->to), &L->to));
  }
  if (weighted && (grow || !L->weight)) PetscCall(PetscRealloc((size_t)L->capacity * sizeof(*L->weight), &L->weight));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds the opposite of every link of this rank, except loops. */
PetscErrorCode GpAppLinksMirror(GpAppLinks *L)
{
  const PetscInt64 n = L->n;

  PetscFunctionBegin;
  PetscCall(GpAppLinksReserve(L, n, (PetscBool)(L->weight != NULL)));
  for (PetscInt64 k = 0; k < n; k++)
    if (L->from[k] != L->to[k]) GpAppLinksAppend(L, L->to[k], L->from[k], L->weight ? L->weight[k] : 1);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GpAppLinksDestroy(GpAppLinks *L)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(L->from));
  PetscCall(PetscFree(L->to));
  PetscCall(PetscFree(L->weight));
  *L = (GpAppLinks){0};
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Refuses more nodes than fit PetscInt, or than a file of this size can plausibly have. */
PetscBool GpAppGraphRefuseNodes(PetscInt64 nodes, PetscInt64 bytes, PetscInt64 line, GpAppComplaint *C)
{
  if (nodes < PETSC_MAX_INT && (nodes <= ANYWAY || nodes / PER_BYTE <= bytes)) return PETSC_FALSE;
  if (nodes >= PETSC_MAX_INT && sizeof(PetscInt) == 4) GpAppComplainAbout(C, PETSC_ERR_FILE_UNEXPECTED, line, "%" PetscInt64_FMT " nodes do not fit PetscInt: use a PETSc with 64-bit indices", nodes);
  else GpAppComplainAbout(C, PETSC_ERR_FILE_UNEXPECTED, line, "%" PetscInt64_FMT " nodes in a file of %" PetscInt64_FMT " bytes: a vector of that size would take %.2g GB", nodes, bytes, 8e-9 * (double)nodes);
  return PETSC_TRUE;
}

/* Adds an edge of a text that every rank has; one of them keeps it. weight NaN: it has none. */
PetscErrorCode GpAppGraphAddEdge(GpAppGraph *G, PetscInt64 from, PetscInt64 to, double weight, PetscBool both)
{
  GpAppLinks *L = &G->links;
  PetscMPIInt rank, size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(G->comm, &rank));
  PetscCallMPI(MPI_Comm_size(G->comm, &size));
  if (weight == weight) G->weighted = PETSC_TRUE;
  else weight = 1;
  if (G->edges++ % size != rank) PetscFunctionReturn(PETSC_SUCCESS);
  if (L->n + 2 > L->capacity) PetscCall(GpAppLinksReserve(L, 2, PETSC_TRUE));
  GpAppLinksAppend(L, from, to, weight);
  if (both && from != to) GpAppLinksAppend(L, to, from, weight);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gives the nodes their names if all of n have one and no two the same, else numbers from base on. */
PetscErrorCode GpAppGraphSetLabels(GpAppGraph *G, PetscInt64 n, char *const label[], PetscInt64 base)
{
  PetscFunctionBegin;
  G->nodes = n;
  G->base  = base;
  G->named = (PetscBool)(n > 0);
  for (PetscInt64 k = 0, number; k < n && G->named; k++) {
    if (label[k] && *label[k]) PetscCall(GpAppNamesAdd(&G->names, label[k], strlen(label[k]), &number));
    G->named = (PetscBool)(label[k] && *label[k] && number == k);
  }
  if (!G->named) PetscCall(GpAppNamesDestroy(&G->names));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finds the place of a node, and adds a new one. */
PetscErrorCode GpAppGraphPartsFind(GpAppGraphParts *P, const char id[], size_t length, PetscInt64 *place)
{
  PetscFunctionBegin;
  PetscCall(GpAppNamesAdd(&P->id, id, length, place));
  if (P->id.n > P->capacity) {
    const PetscInt64 before = P->capacity;

    P->capacity = PetscMax(64, 2 * before);
    PetscCall(PetscRealloc((size_t)P->capacity * sizeof(*P->label), &P->label));
    PetscCall(PetscRealloc((size_t)P->capacity * sizeof(*P->declared), &P->declared));
    PetscCall(PetscArrayzero(P->label + before, P->capacity - before));
    PetscCall(PetscArrayzero(P->declared + before, P->capacity - before));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the label of a node, which replaces an earlier one. The caller frees the copy with PetscFree(). */
PetscErrorCode GpAppGraphCopyLabel(const char label[], size_t length, char **copy)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(*copy));
  PetscCall(PetscCalloc1(length + 1, copy));
  PetscCall(PetscMemcpy(*copy, label, length));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GpAppGraphPartsAddEdge(GpAppGraphParts *P, const GpAppGraphEdge *edge)
{
  GpAppGraphEdge *to;

  PetscFunctionBegin;
  if (!P->edges) PetscCall(PetscSegBufferCreate(sizeof(*to), 1024, &P->edges));
  PetscCall(PetscSegBufferGet(P->edges, 1, &to));
  *to = *edge;
  P->nedges++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds the edges to the graph; they must join declared nodes. undirected: all edges lead both ways. The labels are the names if they tell all nodes apart, else the identities are. */
PetscErrorCode GpAppGraphPartsFinish(GpAppGraphParts *P, PetscBool undirected, GpAppGraph *G, GpAppComplaint *C)
{
  GpAppGraphEdge *edge = NULL;

  PetscFunctionBegin;
  if (P->edges) PetscCall(PetscSegBufferExtractInPlace(P->edges, &edge));
  for (PetscInt64 k = 0; k < P->nedges; k++) {
    const GpAppGraphEdge *e = &edge[k];

    if (!P->declared[e->from] || !P->declared[e->to]) {
      const char *id = GpAppNamesGet(&P->id, P->declared[e->from] ? e->to : e->from);

      GpAppComplain(C, e->line, id, id + strlen(id), "expected an edge between nodes of the graph");
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    PetscCall(GpAppGraphAddEdge(G, e->from, e->to, e->weight, (PetscBool)(undirected || e->both)));
  }
  G->undirected = undirected;
  PetscCall(GpAppGraphSetLabels(G, P->id.n, P->label, 0));
  if (!G->named) {
    G->names = P->id;
    P->id    = (GpAppNames){0};
    G->named = PETSC_TRUE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GpAppGraphPartsDestroy(GpAppGraphParts *P)
{
  PetscFunctionBegin;
  for (PetscInt64 k = 0; k < P->capacity; k++) PetscCall(PetscFree(P->label[k]));
  PetscCall(PetscFree(P->label));
  PetscCall(PetscFree(P->declared));
  PetscCall(PetscSegBufferDestroy(&P->edges));
  PetscCall(GpAppNamesDestroy(&P->id));
  PetscFunctionReturn(PETSC_SUCCESS);
}
