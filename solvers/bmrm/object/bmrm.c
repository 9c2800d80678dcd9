/* The BMRM object: creation, reset, destruction, data and results. The settings are in bmrmset.c. */
#include "solvers/bmrm/bmrmimpl.h"

PetscClassId  BMRM_CLASSID;
PetscLogEvent BMRM_SolveEvent, BMRM_QPEvent, BMRM_LineSearchEvent, BMRM_CutEvent;

static PetscBool BMRMPackageInitialized = PETSC_FALSE;

/*@C
  BMRMFinalizePackage - Destroys the lists of losses and regularisers; `PetscFinalize()` calls it

  Not Collective

  Level: developer

.seealso: `BMRMInitializePackage()`
@*/
PetscErrorCode BMRMFinalizePackage(void)
{
  PetscFunctionBegin;
  BMRMPackageInitialized = PETSC_FALSE;
  PetscCall(PetscFunctionListDestroy(&BMRMLossList));
  PetscCall(PetscFunctionListDestroy(&BMRMRegularizerList));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  BMRMInitializePackage - Registers the class and the log events of the solver; `BMRMCreate()` calls it

  Not Collective

  Level: developer

.seealso: `BMRMFinalizePackage()`, `BMRMCreate()`
@*/
PetscErrorCode BMRMInitializePackage(void)
{
  PetscFunctionBegin;
  if (BMRMPackageInitialized) PetscFunctionReturn(PETSC_SUCCESS);
  BMRMPackageInitialized = PETSC_TRUE;
  PetscCall(PetscClassIdRegister("BMRM", &BMRM_CLASSID));
  PetscCall(PetscLogEventRegister("BMRMSolve", BMRM_CLASSID, &BMRM_SolveEvent));
  PetscCall(PetscLogEventRegister("BMRMQP", BMRM_CLASSID, &BMRM_QPEvent));
  PetscCall(PetscLogEventRegister("BMRMLineSearch", BMRM_CLASSID, &BMRM_LineSearchEvent));
  PetscCall(PetscLogEventRegister("BMRMCut", BMRM_CLASSID, &BMRM_CutEvent));
  PetscCall(BMRMLossRegisterAll_Private());
  PetscCall(BMRMRegularizerRegisterAll_Private());
  PetscCall(PetscRegisterFinalize(BMRMFinalizePackage));
  PetscFunctionReturn(PETSC_SUCCESS);
}

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
  b->lambda      = 1e-5;
  b->eps         = 1e-4;
  b->eps_rel     = 0;
  b->max_it      = 10000;
  b->mu          = 0.01;
  b->mu_adapt    = PETSC_TRUE;
  b->line_search = PETSC_TRUE;
  b->best_cut    = PETSC_TRUE;
  b->idle_age    = 20;
  b->qp_rtol     = 0.01;
  b->ncut        = 1;
  b->classes     = PETSC_DECIDE;
  b->groupsize   = 1;

  b->checkpoint_every = 10;
  b->test             = BMRMConvergedDefault;
  PetscCall(BMRMSetLossType(b, "hinge"));
  PetscCall(BMRMSetRegularizerType(b, "l2"));
  *newb = b;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Destroys the vectors and the matrix that BMRMSetUp() created for the present number of scores per example. */
PetscErrorCode BMRMVectorsDestroy_Private(BMRM b)
{
  PetscFunctionBegin;
  PetscCall(VecDestroy(&b->labels));
  PetscCall(VecDestroy(&b->w));
  PetscCall(VecDestroy(&b->d));
  PetscCall(VecDestroy(&b->f));
  PetscCall(VecDestroy(&b->e));
  PetscCall(VecDestroyVecs(b->nr, &b->r));
  PetscCall(VecDestroy(&b->rbest));
  PetscCall(VecDestroy(&b->gbest));
  PetscCall(PetscFree(b->order));
  b->nr    = 0;
  b->known = PETSC_FALSE;
  b->alike = BMRM_ALIKE_UNKNOWN;
  PetscCall(MatDestroy(&b->A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  BMRMReset - Frees the bundle, the work vectors and the references to the data; keeps the settings

  Collective

  Input Parameter:
. b - the solver

  Level: advanced

.seealso: `BMRMSetData()`, `BMRMDestroy()`
@*/
PetscErrorCode BMRMReset(BMRM b)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(b, BMRM_CLASSID, 1);
  PetscCall(BMRMBundleDestroy(&b->bundle));
  PetscCall(BMRMQPDestroy(&b->qp));
  PetscCall(BMRMModelReset_Private(b));
  PetscCall(BMRMPiecesDestroy_Private(&b->pieces));
  PetscCall(BMRMVectorsDestroy_Private(b));
  PetscCall(VecDestroy(&b->y));
  PetscCall(VecDestroy(&b->queries));
  PetscCall(MatDestroy(&b->X));
  b->setup   = PETSC_FALSE;
  b->started = PETSC_FALSE;
  b->reason  = BMRM_CONVERGED_ITERATING;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Invalidates what was set up and computed, because the loss, the regulariser or the data of either has changed. */
PetscErrorCode BMRMForget_Private(BMRM b)
{
  PetscFunctionBegin;
  PetscCall(BMRMModelReset_Private(b));
  b->setup   = PETSC_FALSE;
  b->started = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Replaces a user's vector, or NULL, that the solver references, and invalidates what was computed with the old one. */
PetscErrorCode BMRMTake_Private(BMRM b, Vec v, Vec *kept)
{
  PetscFunctionBegin;
  if (v) PetscCall(PetscObjectReference((PetscObject)v));
  PetscCall(VecDestroy(kept));
  *kept = v;
  PetscCall(BMRMForget_Private(b));
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
  BMRMSetData - Sets the examples and their labels

  Collective

  Input Parameters:
+ b - the solver
. X - the examples, one per row; any type with `MatMult()` and `MatMultTranspose()`
- y - the labels, with the layout of the rows of X; `BMRMSetUp()` checks that they suit the loss

  Level: beginner

  Note:
  For the loss multilabel, y holds on every rank the labels (+1 or -1) of its examples for the first class, then those for the second class, and so on.

.seealso: `BMRMSolve()`, `BMRMReset()`
@*/
PetscErrorCode BMRMSetData(BMRM b, Mat X, Vec y)
{
  PetscInt m, n, my, k;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(b, BMRM_CLASSID, 1);
  PetscValidHeaderSpecific(X, MAT_CLASSID, 2);
  PetscValidHeaderSpecific(y, VEC_CLASSID, 3);
  PetscCheckSameComm(b, 1, X, 2);
  PetscCheckSameComm(b, 1, y, 3);
  PetscCall(MatGetSize(X, &m, NULL));
  PetscCall(VecGetSize(y, &my));
  PetscCheck(m > 0, PetscObjectComm((PetscObject)b), PETSC_ERR_ARG_SIZ, "The matrix X of examples has no rows: set data with at least one example");
  PetscCheck(my > 0 && my % m == 0, PetscObjectComm((PetscObject)b), PETSC_ERR_ARG_SIZ, "The matrix has %" PetscInt_FMT " rows but there are %" PetscInt_FMT " labels", m, my);
  k = my / m;
  PetscCall(MatGetLocalSize(X, &n, NULL));
  PetscCall(VecGetLocalSize(y, &my));
  PetscCheck(k * n == my, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ, "The matrix has %" PetscInt_FMT " rows on this rank but there are %" PetscInt_FMT " labels", n, my);
  PetscCall(PetscObjectReference((PetscObject)X));
  PetscCall(PetscObjectReference((PetscObject)y));
  PetscCall(BMRMReset(b));
  b->X = X;
  b->y = y;
  b->m = m;
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
