/* The Google operator: the matrix of the links together with damping, teleportation and dangling nodes.

   L. Page, S. Brin, R. Motwani, T. Winograd, "The PageRank citation ranking: bringing order to the web", 1999. */
#include "pagerankimpl.h"

const char *const Danglings[] = {"teleport", "uniform", "vector", "self", "drop", "Dangling", "", NULL};

/* Sets scale = 1/out, counts the dangling nodes, and sets isdangling if there are any whose rank is not dropped. */
static PetscErrorCode FindDangling(Google *g)
{
  const PetscScalar *out;
  PetscScalar       *scale, *isdangling;
  Vec                marks;
  PetscInt           n, mine = 0;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(g->graph->out, &g->scale));
  PetscCall(VecDuplicate(g->graph->out, &marks));
  PetscCall(VecGetLocalSize(marks, &n));
  PetscCall(VecGetArrayRead(g->graph->out, &out));
  PetscCall(VecGetArrayWrite(g->scale, &scale));
  PetscCall(VecGetArrayWrite(marks, &isdangling));
  for (PetscInt k = 0; k < n; k++) {
    isdangling[k] = out[k] > 0 ? 0.0 : 1.0;
    scale[k]      = out[k] > 0 ? 1.0 / out[k] : 0.0;
    mine += out[k] > 0 ? 0 : 1;
  }
  PetscCall(VecRestoreArrayWrite(marks, &isdangling));
  PetscCall(VecRestoreArrayWrite(g->scale, &scale));
  PetscCall(VecRestoreArrayRead(g->graph->out, &out));
  PetscCallMPI(MPI_Allreduce(&mine, &g->ndangling, 1, MPIU_INT, MPI_SUM, g->graph->comm));
  if (g->ndangling && g->dangling != DANGLING_DROP) g->isdangling = marks;
  else PetscCall(VecDestroy(&marks));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  GoogleCreate - Creates the Google operator of a graph

  Collective

  Input Parameters:
+ G        - the graph. It must exist as long as the operator
. damping  - probability that the random walk follows a link
. dangling - where the random walk continues from a node without links
. v        - teleportation vector, with entries of at least 0 and sum 1. NULL: all entries are 1/N
- u        - for DANGLING_VECTOR, the distribution of the rank of dangling nodes, with entries of at least 0 and sum 1

  Output Parameter:
. g - the operator
*/
PetscErrorCode GoogleCreate(const Graph *G, PetscReal damping, Dangling dangling, Vec v, Vec u, Google *g)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(g, sizeof(*g)));
  g->graph    = G;
  g->damping  = damping;
  g->dangling = dangling;
  PetscCall(FindDangling(g));
  PetscCall(VecDuplicate(G->out, &g->z));
  if (v) {
    PetscCall(PetscObjectReference((PetscObject)v));
    g->v = v;
  } else {
    PetscCall(VecDuplicate(G->out, &g->v));
    PetscCall(VecSet(g->v, 1.0 / G->N));
    g->anywhere = PETSC_TRUE;
  }
  if (!g->isdangling || dangling == DANGLING_SELF) PetscFunctionReturn(PETSC_SUCCESS);
  if (dangling == DANGLING_UNIFORM && v) {
    PetscCall(VecDuplicate(G->out, &g->u));
    PetscCall(VecSet(g->u, 1.0 / G->N));
  } else {
    g->u = dangling == DANGLING_VECTOR ? u : g->v;
    PetscCall(PetscObjectReference((PetscObject)g->u));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GooglePull(Google *g, Vec x, Vec y)
{
  PetscScalar lost;

  PetscFunctionBegin;
  PetscCall(VecPointwiseMult(g->z, g->scale, x));
  PetscCall(GraphMult(g->graph, g->z, y));
  g->matmults++;
  if (g->u) {
    PetscCall(VecDot(x, g->isdangling, &lost));
    PetscCall(VecAXPY(y, lost, g->u));
  } else if (g->isdangling) { /* the rank stays at its node */
    PetscCall(VecPointwiseMult(g->z, g->isdangling, x));
    PetscCall(VecAXPY(y, 1.0, g->z));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes r = G x - x and its 1-norm. The fixed point solves (I - damping P) x = (1 - damping) v. No column of P sums to more than 1, so the 1-norm
   of the inverse is at most 1/(1 - damping). Hence the error of any x in the 1-norm is at most |r|_1 / (1 - damping). */
PetscErrorCode GoogleResidual(Google *g, Vec x, Vec px, Vec r, PetscReal *norm1)
{
  PetscFunctionBegin;
  if (r != px) PetscCall(VecCopy(px, r));
  PetscCall(VecAXPBYPCZ(r, 1 - g->damping, -1.0, g->damping, g->v, x));
  PetscCall(VecNorm(r, NORM_1, norm1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GoogleDestroy(Google *g)
{
  PetscFunctionBegin;
  PetscCall(LoopDestroy(g));
  PetscCall(VecDestroy(&g->scale));
  PetscCall(VecDestroy(&g->isdangling));
  PetscCall(VecDestroy(&g->v));
  PetscCall(VecDestroy(&g->u));
  PetscCall(VecDestroy(&g->z));
  PetscCall(VecDestroy(&g->inverse));
  PetscFunctionReturn(PETSC_SUCCESS);
}
