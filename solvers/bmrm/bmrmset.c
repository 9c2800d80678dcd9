/* The BMRM object: what the user sets. */
#include "bmrmimpl.h"

/*@
  BMRMSetLambda - Sets the weight of the regulariser

  Logically Collective

  Input Parameters:
+ b      - the solver
- lambda - the weight, positive; 1e-5 by default

  Options Database Key:
. -bmrm_lambda <lambda> - the weight

  Level: beginner

.seealso: `BMRMSolve()`, `BMRMGetLambda()`
@*/
PetscErrorCode BMRMSetLambda(BMRM b, PetscReal lambda)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(b, BMRM_CLASSID, 1);
  PetscValidLogicalCollectiveReal(b, lambda, 2);
  PetscCheck(lambda > 0 && !PetscIsInfOrNanReal(lambda), PetscObjectComm((PetscObject)b), PETSC_ERR_ARG_OUTOFRANGE, "lambda is %g, it must be positive", (double)lambda);
  b->lambda = lambda;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  BMRMGetLambda - Gets the weight of the regulariser

  Not Collective

  Input Parameter:
. b - the solver

  Output Parameter:
. lambda - the weight

  Level: beginner

.seealso: `BMRMSetLambda()`
@*/
PetscErrorCode BMRMGetLambda(BMRM b, PetscReal *lambda)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(b, BMRM_CLASSID, 1);
  BMRMCheckPointer(lambda, 2);
  *lambda = b->lambda;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  BMRMSetTolerances - Sets when to stop: at the first certified gap that is small enough, or after too many passes

  Logically Collective

  Input Parameters:
+ b       - the solver
. eps     - absolute tolerance on the gap J(w) - lower bound, 1e-4 by default
. eps_rel - tolerance on the gap as a part of J(w), 0 by default
- max_it  - passes over the data at most, 10000 by default

  Options Database Keys:
+ -bmrm_eps <eps>         - absolute tolerance
. -bmrm_eps_rel <eps_rel> - relative tolerance
- -bmrm_max_it <max_it>   - most passes

  Level: beginner

  Note:
  `PETSC_DEFAULT` leaves a value as it is.

.seealso: `BMRMSolve()`, `BMRMGetConvergedReason()`
@*/
PetscErrorCode BMRMSetTolerances(BMRM b, PetscReal eps, PetscReal eps_rel, PetscInt max_it)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(b, BMRM_CLASSID, 1);
  PetscValidLogicalCollectiveReal(b, eps, 2);
  PetscValidLogicalCollectiveReal(b, eps_rel, 3);
  PetscValidLogicalCollectiveInt(b, max_it, 4);
  if (eps != (PetscReal)PETSC_DEFAULT) {
    PetscCheck(eps >= 0, PetscObjectComm((PetscObject)b), PETSC_ERR_ARG_OUTOFRANGE, "The absolute tolerance is %g, it must not be negative", (double)eps);
    b->eps = eps;
  }
  if (eps_rel != (PetscReal)PETSC_DEFAULT) {
    PetscCheck(eps_rel >= 0 && eps_rel < 1, PetscObjectComm((PetscObject)b), PETSC_ERR_ARG_OUTOFRANGE, "The relative tolerance is %g, it must be in [0, 1)", (double)eps_rel);
    b->eps_rel = eps_rel;
  }
  if (max_it != PETSC_DEFAULT) {
    PetscCheck(max_it >= 0, PetscObjectComm((PetscObject)b), PETSC_ERR_ARG_OUTOFRANGE, "The number of passes is %" PetscInt_FMT ", it must not be negative", max_it);
    b->max_it = max_it;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  BMRMConvergedDefault - Stops at a gap within the tolerances of `BMRMSetTolerances()`, or after too many passes

  Logically Collective

  Input Parameters:
+ b     - the solver
. it    - passes so far
. J     - the objective of the best point
. lower - the lower bound
- ctx   - not used

  Output Parameter:
. reason - why to stop, `BMRM_CONVERGED_ITERATING` to go on

  Level: advanced

.seealso: `BMRMSetConvergenceTest()`, `BMRMSetTolerances()`
@*/
PetscErrorCode BMRMConvergedDefault(BMRM b, PetscInt it, PetscReal J, PetscReal lower, BMRMConvergedReason *reason, void *ctx)
{
  const PetscReal gap = J - lower;

  PetscFunctionBegin;
  if (gap <= b->eps) *reason = BMRM_CONVERGED_GAP_ATOL;
  else if (gap <= b->eps_rel * PetscAbsReal(J)) *reason = BMRM_CONVERGED_GAP_RTOL;
  else if (it >= b->max_it) *reason = BMRM_DIVERGED_MAX_IT;
  else *reason = BMRM_CONVERGED_ITERATING;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  BMRMSetConvergenceTest - Sets the function that decides when to stop, in place of `BMRMConvergedDefault()`

  Logically Collective

  Input Parameters:
+ b    - the solver
. test - the function, `NULL` for the default. It gets the pass, the objective and the lower bound, and returns a reason
- ctx  - context for the function, or `NULL`

  Level: advanced

  Notes:
  `BMRM_CONVERGED_USER` and `BMRM_DIVERGED_USER` are for reasons of its own. A pass at which it wants to stop is tested once more, with the products computed
  anew. That neither bound moves any more, or something is not a number, ends the solve whatever it says.

.seealso: `BMRMSetTolerances()`, `BMRMConvergedDefault()`, `BMRMGetConvergedReason()`
@*/
PetscErrorCode BMRMSetConvergenceTest(BMRM b, BMRMConvergenceTestFn test, void *ctx)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(b, BMRM_CLASSID, 1);
  b->test    = test ? test : BMRMConvergedDefault;
  b->testctx = ctx;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  BMRMSetLineSearch - Chooses between the line search of OCAS and plain BMRM

  Logically Collective

  Input Parameters:
+ b    - the solver
- flag - `PETSC_TRUE`, the default, searches the line from the best point to the minimiser of the model exactly

  Options Database Key:
. -bmrm_line_search <bool> - use the line search

  Level: intermediate

.seealso: `BMRMSolve()`, `BMRMSetMu()`
@*/
PetscErrorCode BMRMSetLineSearch(BMRM b, PetscBool flag)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(b, BMRM_CLASSID, 1);
  PetscValidLogicalCollectiveBool(b, flag, 2);
  if (flag != b->line_search) b->setup = PETSC_FALSE;
  b->line_search = flag;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  BMRMSetMu - Sets how far past the best point the next cut is taken, as a part of the way to the minimiser of the model

  Logically Collective

  Input Parameters:
+ b     - the solver
. mu    - the part, in (0, 1]
- adapt - change it on the way, with mu as the first value; the default

  Options Database Keys:
+ -bmrm_mu <mu>         - the part
- -bmrm_mu_adapt <bool> - change it on the way

  Level: intermediate

.seealso: `BMRMSetLineSearch()`
@*/
PetscErrorCode BMRMSetMu(BMRM b, PetscReal mu, PetscBool adapt)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(b, BMRM_CLASSID, 1);
  PetscValidLogicalCollectiveReal(b, mu, 2);
  PetscValidLogicalCollectiveBool(b, adapt, 3);
  PetscCheck(mu > 0 && mu <= 1, PetscObjectComm((PetscObject)b), PETSC_ERR_ARG_OUTOFRANGE, "mu is %g, it must be in (0, 1]", (double)mu);
  b->mu       = mu;
  b->mu_adapt = adapt;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  BMRMSetBestCut - Makes a pass take a second cut, at the best point itself, where that costs little

  Logically Collective

  Input Parameters:
+ b    - the solver
- flag - `PETSC_TRUE`, the default, or `PETSC_FALSE`

  Options Database Key:
. -bmrm_best_cut <bool> - whether to

  Level: intermediate

  Note:
  It costs little with a matrix of type `MATSEQAIJ` and a loss that is piecewise linear: from one point to the next the slopes of few examples change, and the
  rows of those are all that a product has to read. Elsewhere, and with several blocks of examples, see `BMRMSetCuts()`, nothing changes.

.seealso: `BMRMSetCuts()`, `BMRMSetMu()`
@*/
PetscErrorCode BMRMSetBestCut(BMRM b, PetscBool flag)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(b, BMRM_CLASSID, 1);
  PetscValidLogicalCollectiveBool(b, flag, 2);
  if (flag != b->best_cut) b->setup = PETSC_FALSE;
  b->best_cut = flag;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  BMRMSetIdleAge - Sets after how many solutions of the model without weight a cut is dropped

  Logically Collective

  Input Parameters:
+ b   - the solver
- age - solutions in a row; 0 keeps all cuts

  Options Database Key:
. -bmrm_idle_age <age> - solutions in a row

  Level: intermediate

  Note:
  The lower bound is that of the best model so far, so that it does not fall when a cut goes.

.seealso: `BMRMGetCuts()`
@*/
PetscErrorCode BMRMSetIdleAge(BMRM b, PetscInt age)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(b, BMRM_CLASSID, 1);
  PetscValidLogicalCollectiveInt(b, age, 2);
  PetscCheck(age >= 0, PetscObjectComm((PetscObject)b), PETSC_ERR_ARG_OUTOFRANGE, "The age is %" PetscInt_FMT ", it must not be negative", age);
  b->idle_age = age;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  BMRMSetQPTolerance - Sets how well the model is minimised: to this part of the gap

  Logically Collective

  Input Parameters:
+ b    - the solver
- rtol - the part, in [0, 1); 0.01 by default

  Options Database Key:
. -bmrm_qp_rtol <rtol> - the part

  Level: advanced

  Note:
  The lower bound is a dual value, valid however well the model is minimised.

.seealso: `BMRMSolve()`
@*/
PetscErrorCode BMRMSetQPTolerance(BMRM b, PetscReal rtol)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(b, BMRM_CLASSID, 1);
  PetscValidLogicalCollectiveReal(b, rtol, 2);
  PetscCheck(rtol >= 0 && rtol < 1, PetscObjectComm((PetscObject)b), PETSC_ERR_ARG_OUTOFRANGE, "The tolerance is %g, it must be in [0, 1)", (double)rtol);
  b->qp_rtol = rtol;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  BMRMSetErrorIfNotConverged - Makes `BMRMSolve()` raise an error when the gap did not reach the tolerance

  Logically Collective

  Input Parameters:
+ b    - the solver
- flag - `PETSC_TRUE` for an error

  Options Database Key:
. -bmrm_error_if_not_converged <bool> - raise an error

  Level: intermediate

.seealso: `BMRMGetConvergedReason()`
@*/
PetscErrorCode BMRMSetErrorIfNotConverged(BMRM b, PetscBool flag)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(b, BMRM_CLASSID, 1);
  PetscValidLogicalCollectiveBool(b, flag, 2);
  b->error_if_not_converged = flag;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  BMRMSetCuts - Sets how many cuts a pass takes

  Logically Collective

  Input Parameters:
+ b - the solver
- n - cuts, from 1 (the default) to 64

  Options Database Key:
. -bmrm_cuts <1> - cuts a pass

  Level: intermediate

  Note:
  The examples are divided into as many blocks, and the risk of each has a model of its own. More cuts mean fewer passes and a larger
  QP: worth it where a pass is dear.

.seealso: `BMRMSolve()`, `BMRMSetIdleAge()`
@*/
PetscErrorCode BMRMSetCuts(BMRM b, PetscInt n)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(b, BMRM_CLASSID, 1);
  PetscValidLogicalCollectiveInt(b, n, 2);
  PetscCheck(n >= 1 && n <= BMRM_MAX_BLOCKS, PetscObjectComm((PetscObject)b), PETSC_ERR_ARG_OUTOFRANGE, "%" PetscInt_FMT " cuts a pass, it must be from 1 to %d", n, BMRM_MAX_BLOCKS);
  if (n != b->ncut) PetscCall(BMRMForget_Private(b));
  b->ncut = n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  BMRMSetMaxCuts - Bounds the size of the bundle

  Logically Collective

  Input Parameters:
+ b - the solver
- n - most cuts that are kept, at least four for every cut a pass; 0, the default, for any number

  Options Database Key:
. -bmrm_max_cuts <0> - most cuts

  Level: intermediate

  Note:
  When there are more, the lightest half is replaced by their weighted mean, one a block of examples. The lower bound keeps its value; the method
  needs more passes the fewer cuts there may be.

.seealso: `BMRMSetIdleAge()`, `BMRMSetCuts()`, `BMRMGetCuts()`
@*/
PetscErrorCode BMRMSetMaxCuts(BMRM b, PetscInt n)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(b, BMRM_CLASSID, 1);
  PetscValidLogicalCollectiveInt(b, n, 2);
  PetscCheck(n == 0 || n >= 4 * b->ncut, PetscObjectComm((PetscObject)b), PETSC_ERR_ARG_OUTOFRANGE, "At most %" PetscInt_FMT " cuts: with %" PetscInt_FMT " a pass the method needs %" PetscInt_FMT ", or 0 for any number", n, b->ncut, 4 * b->ncut);
  b->max_cuts = n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  BMRMSetWarmStart - Makes `BMRMSolve()` go on from the bundle and the solution of the last solve

  Logically Collective

  Input Parameters:
+ b    - the solver
- warm - `PETSC_TRUE` to go on

  Options Database Key:
. -bmrm_warm_start <bool> - go on

  Level: intermediate

  Note:
  Cuts of the risk depend on data and loss, not on lambda and the tolerances: after a change of these the bundle is as good as before. Whatever else
  changes, the next solve begins anew.

.seealso: `BMRMSolve()`, `BMRMSetLambda()`, `BMRMSetTolerances()`
@*/
PetscErrorCode BMRMSetWarmStart(BMRM b, PetscBool warm)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(b, BMRM_CLASSID, 1);
  PetscValidLogicalCollectiveBool(b, warm, 2);
  b->warm = warm;
  PetscFunctionReturn(PETSC_SUCCESS);
}
