/* The PageRank object: its settings and results. */
#include "pagerankimpl.h"

/*@
  PageRankGetDamping - Gets the probability with which the random walk follows a link

  Not Collective

  Input Parameter:
. pr - the solver

  Output Parameter:
. damping - the probability

  Level: intermediate

.seealso: `PageRankSetDamping()`
@*/
PetscErrorCode PageRankGetDamping(PageRank pr, PetscReal *damping)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pr, PAGERANK_CLASSID, 1);
  PageRankCheckPointer(damping, 2);
  *damping = pr->damping;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PageRankGetDangling - Gets where the random walk continues from a dangling node

  Not Collective

  Input Parameter:
. pr - the solver

  Output Parameters:
+ type - the policy, or `NULL`
- u    - the distribution of `PAGERANK_DANGLING_VECTOR`, do not destroy it; or `NULL`

  Level: intermediate

.seealso: `PageRankSetDangling()`
@*/
PetscErrorCode PageRankGetDangling(PageRank pr, PageRankDanglingType *type, Vec *u)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pr, PAGERANK_CLASSID, 1);
  if (type) *type = pr->dangling;
  if (u) *u = pr->danglingvec;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PageRankGetMethod - Gets the name of the method

  Not Collective

  Input Parameter:
. pr - the solver

  Output Parameter:
. method - the name; do not free it

  Level: intermediate

.seealso: `PageRankSetMethod()`
@*/
PetscErrorCode PageRankGetMethod(PageRank pr, const char *method[])
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pr, PAGERANK_CLASSID, 1);
  PageRankCheckPointer(method, 2);
  *method = ((PetscObject)pr)->type_name;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PageRankGetBlocks - Gets the number of row blocks of each process for the method gauss_seidel

  Not Collective

  Input Parameter:
. pr - the solver

  Output Parameter:
. blocks - the number

  Level: intermediate

.seealso: `PageRankSetBlocks()`
@*/
PetscErrorCode PageRankGetBlocks(PageRank pr, PetscInt *blocks)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pr, PAGERANK_CLASSID, 1);
  PageRankCheckPointer(blocks, 2);
  *blocks = pr->blocks;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PageRankGetTolerances - Gets the tolerance on the error and the maximum number of iterations

  Not Collective

  Input Parameter:
. pr - the solver

  Output Parameters:
+ tolerance - upper bound on the error of the ranks in the 1-norm, or `NULL`
- max_it    - maximum number of iterations, or `NULL`

  Level: intermediate

.seealso: `PageRankSetTolerances()`
@*/
PetscErrorCode PageRankGetTolerances(PageRank pr, PetscReal *tolerance, PetscInt *max_it)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pr, PAGERANK_CLASSID, 1);
  if (tolerance) *tolerance = pr->tolerance;
  if (max_it) *max_it = pr->max_it;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PageRankGetTeleportation - Gets the teleportation vector of the ranks that a method computes

  Not Collective

  Input Parameter:
. pr - the solver

  Output Parameter:
. v - the vector; do not destroy it

  Level: developer

.seealso: `PageRankRegister()`, `PageRankMult()`
@*/
PetscErrorCode PageRankGetTeleportation(PageRank pr, Vec *v)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pr, PAGERANK_CLASSID, 1);
  PageRankCheckPointer(v, 2);
  *v = pr->v;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PageRankGetRanks - Gets the ranks

  Not Collective

  Input Parameter:
. pr - the solver

  Output Parameters:
+ n - number of vectors: one for each personalisation, or 1 if none was set. May be `NULL`
- x - [n] the ranks; do not destroy or change them. May be `NULL`

  Level: beginner

  Note:
  The vectors belong to the solver. A later call of `PageRankSetUp()`, `PageRankSolve()`, `PageRankReset()` or `PageRankDestroy()` changes or destroys them.

.seealso: `PageRankSolve()`, `PageRankGetResidual()`
@*/
PetscErrorCode PageRankGetRanks(PageRank pr, PetscInt *n, const Vec *x[])
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pr, PAGERANK_CLASSID, 1);
  PetscCheck(pr->reason, PetscObjectComm((PetscObject)pr), PETSC_ERR_ORDER, "There are no ranks yet: call PageRankSolve() first");
  if (n) *n = pr->nranks;
  if (x) *x = pr->x;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PageRankGetResidual - Gets the residual of the ranks, and the bound on their error

  Not Collective

  Input Parameter:
. pr - the solver

  Output Parameters:
+ residual - 1-norm of the residual of the last solve, or `NULL`. With several personalisations it is the largest one
- bound    - upper bound on the 1-norm of the error, or `NULL`

  Level: beginner

  Note:
  The bound belongs to the damping of the last solve. Both numbers are lost in `PageRankSetUp()` after a change of the settings.

.seealso: `PageRankSolve()`, `PageRankSetTolerances()`
@*/
PetscErrorCode PageRankGetResidual(PageRank pr, PetscReal *residual, PetscReal *bound)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pr, PAGERANK_CLASSID, 1);
  PetscCheck(pr->residual >= 0, PetscObjectComm((PetscObject)pr), PETSC_ERR_ORDER, "There is no residual yet: call PageRankSolve() first");
  if (residual) *residual = pr->residual;
  if (bound) *bound = pr->residual / (1 - pr->solvedamping);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PageRankGetConvergedReason - Gets the reason why the solve stopped

  Not Collective

  Input Parameter:
. pr - the solver

  Output Parameter:
. reason - positive if the bound reached the tolerance, negative if it did not, zero before the solve; `PageRankConvergedReasons` holds the names

  Level: beginner

.seealso: `PageRankSolve()`, `PageRankConvergedReason`
@*/
PetscErrorCode PageRankGetConvergedReason(PageRank pr, PageRankConvergedReason *reason)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pr, PAGERANK_CLASSID, 1);
  PageRankCheckPointer(reason, 2);
  *reason = pr->reason;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PageRankGetIterationNumber - Gets the number of iterations of the last solve, or of the current one if called by a monitor

  Not Collective

  Input Parameter:
. pr - the solver

  Output Parameter:
. its - the number; with several personalisations the largest one

  Level: beginner

.seealso: `PageRankSolve()`, `PageRankGetMatMults()`
@*/
PetscErrorCode PageRankGetIterationNumber(PageRank pr, PetscInt *its)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pr, PAGERANK_CLASSID, 1);
  PageRankCheckPointer(its, 2);
  *its = pr->it;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PageRankGetMatMults - Gets the number of products with the matrix of the links

  Not Collective

  Input Parameter:
. pr - the solver

  Output Parameter:
. n - the number in the last solve; the products of a sweep over all blocks count as one, and so does the product with several vectors

  Level: intermediate

.seealso: `PageRankGetIterationNumber()`
@*/
PetscErrorCode PageRankGetMatMults(PageRank pr, PetscInt *n)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pr, PAGERANK_CLASSID, 1);
  PageRankCheckPointer(n, 2);
  *n = pr->matmults;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PageRankGetDanglingNodes - Gets the number of dangling nodes

  Not Collective

  Input Parameter:
. pr - the solver

  Output Parameter:
. n - the number, after `PageRankSetUp()`

  Level: intermediate

.seealso: `PageRankSetDangling()`
@*/
PetscErrorCode PageRankGetDanglingNodes(PageRank pr, PetscInt *n)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pr, PAGERANK_CLASSID, 1);
  PageRankCheckPointer(n, 2);
  *n = pr->ndangling;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PageRankUsesDeviceLoop - Gets whether the iteration runs on the device, its stopping test included

  Not Collective

  Input Parameter:
. pr - the solver

  Output Parameter:
. loop - whether it does, after `PageRankSetUp()`

  Level: advanced

.seealso: `PageRankSetDeviceLoop()`
@*/
PetscErrorCode PageRankUsesDeviceLoop(PageRank pr, PetscBool *loop)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pr, PAGERANK_CLASSID, 1);
  PageRankCheckPointer(loop, 2);
  *loop = (PetscBool)(pr->loop != NULL);
  PetscFunctionReturn(PETSC_SUCCESS);
}
