/* The BMRM object: creation, duplication, destruction, data and results. */
#include "solvers/bmrm/bmrmimpl.h"

/*@
  BMRMCreate - Creates a bundle-method solver that trains linear models

  Collective

  Input Parameter:
. comm - the communicator, the same as that of the data

  Output Parameter:
. newb - the solver

  Level: beginner

  Note:
  The default is a support vector machine: loss hinge and regulariser l2.

.seealso: `BMRMSetData()`, `BMRMSetFromOptions()`, `BMRMSetLossType()`, `BMRMSetRegularizerType()`, `BMRMSolve()`, `BMRMDestroy()`
@*/
PetscErrorCode BMRMCreate(MPI_Comm comm, BMRM *newb)
{
  BMRM b;

  PetscFunctionBegin;
  BMRMCheckPointer(newb, 2);
  *newb = NULL;
  PetscCall(BMRMInitializePackage());
  PetscCall(PetscHeaderCreate(b, BMRM_CLASSID, "BMRM", "Bundle method for regularised risk", "BMRM", comm, BMRMDestroy, BMRMView));
  b->set.lambda      = 1e-5;
  b->set.eps         = 1e-4;
  b->set.eps_rel     = 0;
  b->set.max_it      = 10000;
  b->set.mu          = 0.01;
  b->set.mu_adapt    = PETSC_TRUE;
  b->set.line_search = PETSC_TRUE;
  b->set.best_cut    = PETSC_TRUE;
  b->set.idle_age    = 20;
  b->set.qp_rtol     = 0.01;
  b->set.ncut        = 1;
  b->set.classes     = PETSC_DECIDE;
  b->set.groupsize   = 1;

  b->checkpoint_every = 10;
  b->set.test         = BMRMConvergedDefault;
  PetscCall(BMRMSetLossType(b, "hinge"));
  PetscCall(BMRMSetRegularizerType(b, "l2"));
  *newb = b;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  BMRMDuplicate - Creates a solver with the settings and the data of another

  Collective

  Input Parameter:
. b - the solver

  Output Parameter:
. newb - the new solver, without a solution

  Level: intermediate

  Notes:
  The matrix and the vectors of the data are shared. All settings (loss, regulariser, their parameters, lambda, tolerances and so on) are copied; later changes
  of one solver do not affect the other. The new solver has no monitors, neither reads nor writes checkpoints, and starts from zero.

.seealso: `BMRMSolveMany()`, `BMRMCreate()`, `BMRMSetLambda()`
@*/
PetscErrorCode BMRMDuplicate(BMRM b, BMRM *newb)
{
  BMRM        c;
  const char *prefix;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(b, BMRM_CLASSID, 1);
  BMRMCheckPointer(newb, 2);
  PetscCall(BMRMCreate(PetscObjectComm((PetscObject)b), &c));
  PetscCall(PetscObjectGetOptionsPrefix((PetscObject)b, &prefix));
  PetscCall(PetscObjectSetOptionsPrefix((PetscObject)c, prefix));
  PetscCall(BMRMSetLossType(c, b->losstype));
  for (PetscInt k = 0; k < b->loss->nparameter; k++) c->loss->value[k] = b->loss->value[k];
  c->loss->steps = b->loss->steps;
  PetscCall(BMRMSetRegularizerType(c, b->regtype));
  PetscCall(BMRMSetElasticNetRatio(c, b->reg->ratio));
  if (b->X) PetscCall(BMRMSetData(c, b->X, b->y));
  PetscCall(BMRMSetQueries(c, b->queries));
  PetscCall(BMRMSetExampleWeights(c, b->importance));
  PetscCall(BMRMSetWeights(c, b->factor));
  PetscCall(BMRMSetGroups(c, b->groups));
  c->set = b->set;
  *newb  = c;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  BMRMDestroy - Destroys the solver

  Collective

  Input Parameter:
. b - the solver; set to `NULL`

  Level: beginner

.seealso: `BMRMCreate()`
@*/
PetscErrorCode BMRMDestroy(BMRM *b)
{
  PetscFunctionBegin;
  if (!*b) PetscFunctionReturn(PETSC_SUCCESS);
  PetscValidHeaderSpecific(*b, BMRM_CLASSID, 1);
  if (--((PetscObject)*b)->refct > 0) {
    *b = NULL;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(BMRMReset(*b));
  PetscCall(BMRMMonitorCancel(*b));
  PetscCall(BMRMLossDestroy_Private(&(*b)->loss));
  PetscCall(BMRMRegularizerDestroy_Private(&(*b)->reg));
  PetscCall(VecDestroy(&(*b)->factor));
  PetscCall(VecDestroy(&(*b)->groups));
  PetscCall(PetscHeaderDestroy(b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  BMRMGetSolution - Gets the weights of the best point, whose objective `BMRMGetObjective()` returns

  Not Collective

  Input Parameter:
. b - the solver

  Output Parameter:
. w - the weights of the features; the solver owns the vector, do not destroy it

  Level: beginner

.seealso: `BMRMSolve()`, `BMRMGetObjective()`, `BMRMGetScores()`
@*/
PetscErrorCode BMRMGetSolution(BMRM b, Vec *w)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(b, BMRM_CLASSID, 1);
  BMRMCheckPointer(w, 2);
  PetscCheck(b->w, PetscObjectComm((PetscObject)b), PETSC_ERR_ORDER, "There is no solution yet: call BMRMSolve() first");
  *w = b->w;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  BMRMGetScores - Gets the scores X w of the examples at the best point, without a product

  Not Collective

  Input Parameter:
. b - the solver

  Output Parameter:
. f - one score per example, or one per example and class, see `BMRMGetClasses()`; the solver owns the vector, do not destroy it

  Level: intermediate

.seealso: `BMRMGetSolution()`
@*/
PetscErrorCode BMRMGetScores(BMRM b, Vec *f)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(b, BMRM_CLASSID, 1);
  BMRMCheckPointer(f, 2);
  PetscCheck(b->f, PetscObjectComm((PetscObject)b), PETSC_ERR_ORDER, "There are no scores yet: call BMRMSolve() first");
  *f = b->f;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  BMRMGetObjective - Gets the objective of the best point and a lower bound on the objective of every point

  Not Collective

  Input Parameter:
. b - the solver

  Output Parameters:
+ J     - objective of the point that `BMRMGetSolution()` returns, or `NULL`
- lower - the lower bound, or `NULL`; J - lower is the certified gap

  Level: beginner

.seealso: `BMRMSolve()`, `BMRMSetTolerances()`
@*/
PetscErrorCode BMRMGetObjective(BMRM b, PetscReal *J, PetscReal *lower)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(b, BMRM_CLASSID, 1);
  if (J) *J = b->J;
  if (lower) *lower = b->lower;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  BMRMGetIterationNumber - Gets the number of passes over the data; each is one `MatMult()` and one `MatMultTranspose()`

  Not Collective

  Input Parameter:
. b - the solver

  Output Parameter:
. it - the number of passes of the last solve, or of the current one if called by a monitor

  Level: beginner

.seealso: `BMRMSolve()`, `BMRMGetMatMults()`
@*/
PetscErrorCode BMRMGetIterationNumber(BMRM b, PetscInt *it)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(b, BMRM_CLASSID, 1);
  BMRMCheckPointer(it, 2);
  *it = b->it;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  BMRMGetMatMults - Gets the number of products with the matrix or its transpose

  Not Collective

  Input Parameter:
. b - the solver

  Output Parameter:
. n - the number of products of the last solve

  Level: intermediate

.seealso: `BMRMGetIterationNumber()`
@*/
PetscErrorCode BMRMGetMatMults(BMRM b, PetscInt *n)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(b, BMRM_CLASSID, 1);
  BMRMCheckPointer(n, 2);
  *n = b->matmults;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  BMRMGetCuts - Gets the number of cuts in the bundle

  Not Collective

  Input Parameter:
. b - the solver

  Output Parameters:
+ now  - the number of cuts, or `NULL`
- peak - its maximum during the last solve, or `NULL`

  Level: intermediate

.seealso: `BMRMSetIdleAge()`
@*/
PetscErrorCode BMRMGetCuts(BMRM b, PetscInt *now, PetscInt *peak)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(b, BMRM_CLASSID, 1);
  if (now) *now = b->bundle.n;
  if (peak) *peak = b->bundle.peak;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  BMRMGetConvergedReason - Gets the reason why the solve stopped

  Not Collective

  Input Parameter:
. b - the solver

  Output Parameter:
. reason - positive if the gap reached a tolerance, negative if it did not, zero before the solve; `BMRMConvergedReasons` holds the names

  Level: beginner

.seealso: `BMRMSolve()`, `BMRMSetTolerances()`, `BMRMSetErrorIfNotConverged()`
@*/
PetscErrorCode BMRMGetConvergedReason(BMRM b, BMRMConvergedReason *reason)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(b, BMRM_CLASSID, 1);
  BMRMCheckPointer(reason, 2);
  *reason = b->reason;
  PetscFunctionReturn(PETSC_SUCCESS);
}
