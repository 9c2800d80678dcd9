/* Many personalisations at once: one product moves the rank of all of them. */
#include "pagerank.h"
#include <gpucsr.h>

/* y = A D^-1 x for each vector: this type reads the matrix once for many of them, others for each anew */
static PetscErrorCode PullMany(Google *g, PetscInt n, Vec x[], Vec z[], Vec y[])
{
  const Mat A = g->graph->A[0];
  PetscBool ours;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < n; k++) PetscCall(VecPointwiseMult(z[k], g->scale, x[k]));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)A, &ours, MATSEQAIJGPUCSR, MATMPIAIJGPUCSR, ""));
  if (ours) PetscCall(MatGPUCSRMultMany(A, PETSC_FALSE, n, z, y));
  for (PetscInt k = 0; k < n && !ours; k++) PetscCall(MatMult(A, z[k], y[k]));
  g->matmults++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the rank that dangling nodes hold of each vector; the sums of all cross the ranks at once, as do the norms below */
static PetscErrorCode DanglingRanks(const Google *g, PetscInt n, Vec x[], PetscScalar lost[])
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < n; k++) PetscCall(VecDotBegin(x[k], g->isdangling, &lost[k]));
  for (PetscInt k = 0; k < n; k++) PetscCall(VecDotEnd(x[k], g->isdangling, &lost[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y, A D^-1 x so far, becomes the residual of x; z is for the work */
static PetscErrorCode Residual(const Google *g, Vec v, Vec x, PetscScalar lost, Vec z, Vec y)
{
  PetscFunctionBegin;
  if (g->isdangling && g->dangling == DANGLING_SELF) {
    PetscCall(VecPointwiseMult(z, g->isdangling, x));
    PetscCall(VecAXPY(y, 1.0, z));
  } else if (g->isdangling) PetscCall(VecAXPY(y, lost, g->dangling == DANGLING_TELEPORT ? v : g->u));
  PetscCall(VecAXPBYPCZ(y, 1 - g->damping, -1.0, g->damping, v, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  SolveBatch - Power iterations for many vectors of where bored walkers jump

  Collective

  Input Parameters:
+ g - the operator; its own such vector is not used
. n - how many
. v - [n] the vectors
. o - how
- x - [n] where to begin

  Output Parameters:
+ x - [n] the ranks
- R - of the worst one
*/
PetscErrorCode SolveBatch(Google *g, PetscInt n, const Vec v[], const SolveOptions *o, Vec x[], SolveResult *R)
{
  Vec         *y, *z;
  PetscScalar *lost;
  PetscReal   *norm, worst;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(R, sizeof(*R)));
  PetscCall(VecDuplicateVecs(g->scale, n, &y));
  PetscCall(VecDuplicateVecs(g->scale, n, &z));
  PetscCall(PetscCalloc2(n, &lost, n, &norm));
  while (1) {
    PetscCall(PullMany(g, n, x, z, y));
    if (g->isdangling && g->dangling != DANGLING_SELF) PetscCall(DanglingRanks(g, n, x, lost));
    for (PetscInt k = 0; k < n; k++) PetscCall(Residual(g, v[k], x[k], lost[k], z[k], y[k]));
    for (PetscInt k = 0; k < n; k++) PetscCall(VecNormBegin(y[k], NORM_1, &norm[k]));
    worst = 0;
    for (PetscInt k = 0; k < n; k++) {
      PetscCall(VecNormEnd(y[k], NORM_1, &norm[k]));
      worst = norm[k] > worst || PetscIsInfOrNanReal(norm[k]) ? norm[k] : worst;
    }
    PetscCall(SolveCheck(g, o, worst, R));
    if (R->reason) break;
    for (PetscInt k = 0; k < n; k++) PetscCall(VecAXPY(x[k], 1.0, y[k]));
    R->iterations++;
  }
  PetscCall(PetscFree2(lost, norm));
  PetscCall(VecDestroyVecs(n, &z));
  PetscCall(VecDestroyVecs(n, &y));
  PetscFunctionReturn(PETSC_SUCCESS);
}
