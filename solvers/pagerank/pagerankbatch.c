/* Power iterations for several teleportation vectors at once: one sparse-matrix multiple-vector product serves all of them. */
#include "pagerankimpl.h"
#include <gpucsr.h>

/* y[k] = A D^-1 x[k] for every k. Matrices of type gpucsr are read once for several vectors, others once for each vector. */
static PetscErrorCode BatchMultLinks(Google *g, PetscInt n, Vec x[], Vec z[], Vec y[])
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

/* lost[k] is the total rank of the dangling nodes in x[k]. All dot products share one reduction over the processes, as the norms in SolveBatch() do. */
static PetscErrorCode BatchSumDanglingRanks(const Google *g, PetscInt n, Vec x[], PetscScalar lost[])
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < n; k++) PetscCall(VecDotBegin(x[k], g->isdangling, &lost[k]));
  for (PetscInt k = 0; k < n; k++) PetscCall(VecDotEnd(x[k], g->isdangling, &lost[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the residual of x in y. On entry y = A D^-1 x. z is a work vector. */
static PetscErrorCode BatchComputeResidual(const Google *g, Vec v, Vec x, PetscScalar lost, Vec z, Vec y)
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
  SolveBatch - Computes the ranks for several teleportation vectors by power iterations

  Collective

  Input Parameters:
+ g - the operator. Its own teleportation vector is not used
. n - number of vectors
. v - [n] teleportation vectors
. o - options
- x - [n] initial ranks

  Output Parameters:
+ x - [n] the ranks
- R - result of the vector with the largest residual
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
    PetscCall(BatchMultLinks(g, n, x, z, y));
    if (g->isdangling && g->dangling != DANGLING_SELF) PetscCall(BatchSumDanglingRanks(g, n, x, lost));
    for (PetscInt k = 0; k < n; k++) PetscCall(BatchComputeResidual(g, v[k], x[k], lost[k], z[k], y[k]));
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
