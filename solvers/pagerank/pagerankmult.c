/* Products with the transition matrix P of the random walk, residuals, and the stopping test of all methods.

   Every method stops on the residual r = d P x + (1 - d) v - x of the vector x that it returns. The fixed point solves (I - d P) x = (1 - d) v. No
   column of P sums to more than 1, so the 1-norm of the inverse is at most 1/(1 - d), and the error of any x is at most |r|_1 / (1 - d).

   L. Page, S. Brin, R. Motwani, T. Winograd, "The PageRank citation ranking: bringing order to the web", 1999. */
#include "pagerankimpl.h"
#include <gpucsr.h>

/* y[k] = A z[k] for the matrix A of the links. Matrices of type gpucsr are read once for several vectors, others once for each vector. */
static PetscErrorCode PageRankMultLinks(PageRank pr, PetscInt n, const Vec z[], Vec y[])
{
  PetscBool ours;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)pr->A[0], &ours, MATSEQAIJGPUCSR, MATMPIAIJGPUCSR, ""));
  if (n > 1 && ours && pr->nblocks == 1) PetscCall(MatGPUCSRMultMany(pr->A[0], PETSC_FALSE, n, z, y));
  else {
    for (PetscInt k = 0; k < n; k++) {
      for (PetscInt b = 0; b < pr->nblocks; b++) {
        Vec part = y[k];

        if (pr->nblocks > 1) PetscCall(VecGetSubVector(y[k], pr->rows[b], &part));
        PetscCall(MatMult(pr->A[b], z[k], part));
        if (pr->nblocks > 1) PetscCall(VecRestoreSubVector(y[k], pr->rows[b], &part));
      }
    }
  }
  pr->matmults++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* v[k]: the teleportation vector that belongs to x[k]. All dot products share one reduction over the processes. */
PetscErrorCode PageRankMultMany_Private(PageRank pr, PetscInt n, const Vec v[], const Vec x[], Vec y[])
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < n; k++) PetscCall(VecPointwiseMult(pr->z[k], pr->scale, x[k]));
  PetscCall(PageRankMultLinks(pr, n, pr->z, y));
  if (pr->u) {
    for (PetscInt k = 0; k < n; k++) PetscCall(VecDotBegin(x[k], pr->isdangling, &pr->lost[k]));
    for (PetscInt k = 0; k < n; k++) PetscCall(VecDotEnd(x[k], pr->isdangling, &pr->lost[k]));
    for (PetscInt k = 0; k < n; k++) PetscCall(VecAXPY(y[k], pr->lost[k], pr->dangling == PAGERANK_DANGLING_TELEPORT ? v[k] : pr->u));
  } else if (pr->isdangling) { /* the rank stays at its node */
    for (PetscInt k = 0; k < n; k++) {
      PetscCall(VecPointwiseMult(pr->z[k], pr->isdangling, x[k]));
      PetscCall(VecAXPY(y[k], 1.0, pr->z[k]));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PageRankMult - Multiplies a vector by the transition matrix P of the random walk, which includes the links of dangling nodes

  Collective

  Input Parameters:
+ pr - the solver, after `PageRankSetUp()`
- x  - a vector with an entry for each node

  Output Parameter:
. y - P x; must differ from x

  Level: developer

.seealso: `PageRankRegister()`, `PageRankGetTeleportation()`, `PageRankGetMatMults()`
@*/
PetscErrorCode PageRankMult(PageRank pr, Vec x, Vec y)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pr, PAGERANK_CLASSID, 1);
  PetscValidHeaderSpecific(x, VEC_CLASSID, 2);
  PetscValidHeaderSpecific(y, VEC_CLASSID, 3);
  PetscCheck(pr->setup, PetscObjectComm((PetscObject)pr), PETSC_ERR_ORDER, "The solver is not set up: call PageRankSetUp() first");
  PetscCheck(x != y, PetscObjectComm((PetscObject)pr), PETSC_ERR_ARG_IDN, "x and y must be different vectors");
  PetscCall(PageRankMultMany_Private(pr, 1, &pr->v, &x, &y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PageRankComputeResidual_Private(PageRank pr, Vec v, Vec x, Vec r)
{
  PetscFunctionBegin;
  PetscCall(VecAXPBYPCZ(r, 1 - pr->damping, -1.0, pr->damping, v, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The factor below 1 covers the rounding of the division in PageRankCheckResidual_Private(). */
PetscReal PageRankGetTarget_Private(PageRank pr)
{
  return pr->tolerance * (1 - pr->damping) * (1 - 4 * PETSC_MACHINE_EPSILON);
}

PetscErrorCode PageRankCheckResidual_Private(PageRank pr, PetscReal residual)
{
  PetscFunctionBegin;
  pr->residual = residual;
  PetscCall(PageRankMonitor_Private(pr, residual, -1));
  PetscCheck(residual <= PETSC_MAX_REAL, PetscObjectComm((PetscObject)pr), PETSC_ERR_FP, "The residual of iteration %" PetscInt_FMT " is infinite or not a number", pr->it);
  if (residual / (1 - pr->damping) <= pr->tolerance) pr->reason = PAGERANK_CONVERGED_ERROR_BOUND;
  else if (pr->it >= pr->max_it) pr->reason = PAGERANK_DIVERGED_ITS;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PageRankCheckRanks - Scales ranks to the sum 1, computes their residual, calls the monitors and decides whether the method stops

  Collective

  Input Parameters:
+ pr  - the solver
. its - number of iterations since the last call; 0 in the first call
- x   - the ranks; they are not scaled if the rank of dangling nodes is dropped

  Output Parameter:
. stop - `PETSC_TRUE`\: the method must return x, because it has converged, stagnates or has used all iterations

  Level: developer

.seealso: `PageRankRegister()`, `PageRankGetResidual()`
@*/
PetscErrorCode PageRankCheckRanks(PageRank pr, PetscInt its, Vec x, PetscBool *stop)
{
  const PetscReal last = pr->residual;
  PetscScalar     sum;
  PetscReal       norm;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pr, PAGERANK_CLASSID, 1);
  PetscValidHeaderSpecific(x, VEC_CLASSID, 3);
  PageRankCheckPointer(stop, 4);
  PetscCheck(pr->setup, PetscObjectComm((PetscObject)pr), PETSC_ERR_ORDER, "The solver is not set up: call PageRankSetUp() first");
  pr->it += its;
  if (pr->isdangling || !pr->ndangling) {
    PetscCall(VecSum(x, &sum));
    PetscCall(VecScale(x, 1 / sum));
  }
  if (!pr->r) PetscCall(VecDuplicate(x, &pr->r));
  PetscCall(PageRankMult(pr, x, pr->r));
  PetscCall(PageRankComputeResidual_Private(pr, pr->v, x, pr->r));
  PetscCall(VecNorm(pr->r, NORM_1, &norm));
  PetscCall(PageRankCheckResidual_Private(pr, norm));
  if (!pr->reason && norm > 0.5 * last) pr->reason = PAGERANK_DIVERGED_STAGNATION; /* the residual is at the level of rounding errors, or the solver does not converge */
  *stop = (PetscBool)(pr->reason != PAGERANK_CONVERGED_ITERATING);
  PetscFunctionReturn(PETSC_SUCCESS);
}
