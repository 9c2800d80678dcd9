/* The BMRM object: settings of the method. */
#include "solvers/bmrm/bmrmimpl.h"

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
  b->set.lambda = lambda;
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
  *lambda = b->set.lambda;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  BMRMSetTolerances - Sets the tolerances on the certified gap and the maximum number of passes

  Logically Collective

  Input Parameters:
+ b       - the solver
. eps     - absolute tolerance on the gap J(w) - lower bound, 1e-4 by default
. eps_rel - relative tolerance: the gap divided by |J(w)|, 0 by default
- max_it  - maximum number of passes over the data, 10000 by default

  Options Database Keys:
+ -bmrm_eps <eps>         - absolute tolerance
. -bmrm_eps_rel <eps_rel> - relative tolerance
- -bmrm_max_it <max_it>   - maximum number of passes

  Level: beginner

  Note:
  `PETSC_DEFAULT` keeps the current value.

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
    b->set.eps = eps;
  }
  if (eps_rel != (PetscReal)PETSC_DEFAULT) {
    PetscCheck(eps_rel >= 0 && eps_rel < 1, PetscObjectComm((PetscObject)b), PETSC_ERR_ARG_OUTOFRANGE, "The relative tolerance is %g, it must be in [0, 1)", (double)eps_rel);
    b->set.eps_rel = eps_rel;
  }
  if (max_it != PETSC_DEFAULT) {
    PetscCheck(max_it >= 0, PetscObjectComm((PetscObject)b), PETSC_ERR_ARG_OUTOFRANGE, "The number of passes is %" PetscInt_FMT ", it must not be negative", max_it);
    b->set.max_it = max_it;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  BMRMConvergedDefault - Stops if the gap is within the tolerances of `BMRMSetTolerances()`, or at the maximum number of passes

  Logically Collective

  Input Parameters:
+ b     - the solver
. it    - number of passes so far
. J     - the objective of the best point
. lower - the lower bound
- ctx   - not used

  Output Parameter:
. reason - the reason to stop, or `BMRM_CONVERGED_ITERATING` to continue

  Level: advanced

.seealso: `BMRMSetConvergenceTest()`, `BMRMSetTolerances()`
@*/
PetscErrorCode BMRMConvergedDefault(BMRM b, PetscInt it, PetscReal J, PetscReal lower, BMRMConvergedReason *reason, void *ctx)
{
  const PetscReal gap = J - lower;

  PetscFunctionBegin;
  if (gap <= b->set.eps) *reason = BMRM_CONVERGED_GAP_ATOL;
  else if (gap <= b->set.eps_rel * PetscAbsReal(J)) *reason = BMRM_CONVERGED_GAP_RTOL;
  else if (it >= b->set.max_it) *reason = BMRM_DIVERGED_MAX_IT;
  else *reason = BMRM_CONVERGED_ITERATING;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  BMRMSetConvergenceTest - Sets the convergence test, which replaces `BMRMConvergedDefault()`

  Logically Collective

  Input Parameters:
+ b    - the solver
. test - the function, `NULL` for the default. Its arguments are the solver, the pass, the objective, the lower bound, the reason that it returns, and ctx
- ctx  - context for the function, or `NULL`

  Level: advanced

  Notes:
  `BMRM_CONVERGED_USER` and `BMRM_DIVERGED_USER` are for the user's own criteria. If the function returns a reason, the solver computes the scores of the
  best point anew, and calls the function a second time before it stops.

  The solve also stops, whatever the function returns, if neither objective nor lower bound has changed for 100 passes, or if a value is infinite or not
  a number.

.seealso: `BMRMSetTolerances()`, `BMRMConvergedDefault()`, `BMRMGetConvergedReason()`
@*/
PetscErrorCode BMRMSetConvergenceTest(BMRM b, BMRMConvergenceTestFn test, void *ctx)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(b, BMRM_CLASSID, 1);
  b->set.test    = test ? test : BMRMConvergedDefault;
  b->set.testctx = ctx;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  BMRMSetLineSearch - Chooses between the line search of OCAS and plain BMRM

  Logically Collective

  Input Parameters:
+ b    - the solver
- flag - `PETSC_TRUE` (default): each pass searches the line from the best point to the minimiser of the model; `PETSC_FALSE`: plain BMRM

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
  if (flag != b->set.line_search) b->setup = PETSC_FALSE;
  b->set.line_search = flag;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  BMRMSetMu - Sets where the next cut is taken on the line from the best point to the minimiser of the model

  Logically Collective

  Input Parameters:
+ b     - the solver
. mu    - the position, in (0, 1]: 0 is the best point, 1 the minimiser of the model; 0.01 by default
- adapt - `PETSC_TRUE` (default) adapts the position to the steps of the line search, between mu and 6 mu

  Options Database Keys:
+ -bmrm_mu <mu>         - the position
- -bmrm_mu_adapt <bool> - adapt it to the steps of the line search

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
  b->set.mu       = mu;
  b->set.mu_adapt = adapt;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  BMRMSetBestCut - Sets whether a pass takes a second cut, at the best point itself, if that cut is cheap

  Logically Collective

  Input Parameters:
+ b    - the solver
- flag - `PETSC_TRUE`, the default, or `PETSC_FALSE`

  Options Database Key:
. -bmrm_best_cut <bool> - take the second cut

  Level: intermediate

  Note:
  The cut is cheap for a matrix of type `MATSEQAIJ` and a piecewise linear loss. Between two points the slopes of few examples change, and a product needs
  only the rows of these examples. In all other cases, without the line search, and with several cuts per pass (`BMRMSetCuts()`), the setting has no effect.

.seealso: `BMRMSetCuts()`, `BMRMSetMu()`
@*/
PetscErrorCode BMRMSetBestCut(BMRM b, PetscBool flag)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(b, BMRM_CLASSID, 1);
  PetscValidLogicalCollectiveBool(b, flag, 2);
  if (flag != b->set.best_cut) b->setup = PETSC_FALSE;
  b->set.best_cut = flag;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  BMRMSetIdleAge - Sets the number of consecutive QP solutions without weight after which a cut is dropped

  Logically Collective

  Input Parameters:
+ b   - the solver
- age - number of consecutive solutions; 0 keeps all cuts; 20 by default

  Options Database Key:
. -bmrm_idle_age <age> - number of consecutive solutions

  Level: intermediate

  Note:
  The lower bound is the best one so far, so that it does not decrease when a cut is dropped.

.seealso: `BMRMGetCuts()`
@*/
PetscErrorCode BMRMSetIdleAge(BMRM b, PetscInt age)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(b, BMRM_CLASSID, 1);
  PetscValidLogicalCollectiveInt(b, age, 2);
  PetscCheck(age >= 0, PetscObjectComm((PetscObject)b), PETSC_ERR_ARG_OUTOFRANGE, "The number of QP solutions after which a cut is dropped is %" PetscInt_FMT ", it must not be negative", age);
  b->set.idle_age = age;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  BMRMSetQPTolerance - Sets the tolerance of the inner QP as a fraction of the gap

  Logically Collective

  Input Parameters:
+ b    - the solver
- rtol - the fraction, in [0, 1); 0.01 by default

  Options Database Key:
. -bmrm_qp_rtol <rtol> - the fraction

  Level: advanced

  Note:
  The lower bound is a dual value. It is valid for every accuracy of the QP.

.seealso: `BMRMSolve()`
@*/
PetscErrorCode BMRMSetQPTolerance(BMRM b, PetscReal rtol)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(b, BMRM_CLASSID, 1);
  PetscValidLogicalCollectiveReal(b, rtol, 2);
  PetscCheck(rtol >= 0 && rtol < 1, PetscObjectComm((PetscObject)b), PETSC_ERR_ARG_OUTOFRANGE, "The tolerance of the QP is %g, it must be in [0, 1)", (double)rtol);
  b->set.qp_rtol = rtol;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  BMRMSetErrorIfNotConverged - Sets whether `BMRMSolve()` raises an error if the gap does not reach a tolerance

  Logically Collective

  Input Parameters:
+ b    - the solver
- flag - `PETSC_TRUE` raises an error; `PETSC_FALSE` is the default

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
  b->set.error_if_not_converged = flag;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  BMRMSetCuts - Sets the number of cuts per pass

  Logically Collective

  Input Parameters:
+ b - the solver
- n - the number, from 1 (default) to 64

  Options Database Key:
. -bmrm_cuts <1> - cuts per pass

  Level: intermediate

  Note:
  The examples are divided into n blocks; example i belongs to block i mod n. The risk of each block has its own cutting-plane model. More cuts mean fewer
  passes and a larger QP, which pays if a pass is expensive.

.seealso: `BMRMSolve()`, `BMRMSetIdleAge()`
@*/
PetscErrorCode BMRMSetCuts(BMRM b, PetscInt n)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(b, BMRM_CLASSID, 1);
  PetscValidLogicalCollectiveInt(b, n, 2);
  PetscCheck(n >= 1 && n <= BMRM_MAX_BLOCKS, PetscObjectComm((PetscObject)b), PETSC_ERR_ARG_OUTOFRANGE, "The number of cuts per pass is %" PetscInt_FMT ", it must be from 1 to %d", n, BMRM_MAX_BLOCKS);
  if (n != b->set.ncut) PetscCall(BMRMInvalidate_Private(b));
  b->set.ncut = n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  BMRMSetMaxCuts - Sets the maximum number of cuts in the bundle

  Logically Collective

  Input Parameters:
+ b - the solver
- n - the maximum, at least four times the number of cuts per pass; 0 (default): no limit

  Options Database Key:
. -bmrm_max_cuts <0> - maximum number of cuts

  Level: intermediate

  Note:
  If the bundle exceeds the maximum, the half of the cuts with the smallest weights is replaced by their weighted mean, one for each block of examples. The
  lower bound keeps its value. A smaller maximum saves memory and costs passes.

.seealso: `BMRMSetIdleAge()`, `BMRMSetCuts()`, `BMRMGetCuts()`
@*/
PetscErrorCode BMRMSetMaxCuts(BMRM b, PetscInt n)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(b, BMRM_CLASSID, 1);
  PetscValidLogicalCollectiveInt(b, n, 2);
  PetscCheck(n == 0 || n >= 4 * b->set.ncut, PetscObjectComm((PetscObject)b), PETSC_ERR_ARG_OUTOFRANGE, "The maximum number of cuts is %" PetscInt_FMT ": with %" PetscInt_FMT " cuts per pass it must be %" PetscInt_FMT " or more, or 0 for no limit",
             n, b->set.ncut, 4 * b->set.ncut);
  b->set.max_cuts = n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  BMRMSetWarmStart - Sets whether `BMRMSolve()` starts from the bundle and the solution of the last solve

  Logically Collective

  Input Parameters:
+ b    - the solver
- warm - `PETSC_TRUE` for a warm start; `PETSC_FALSE` is the default

  Options Database Key:
. -bmrm_warm_start <bool> - start from the last solve

  Level: intermediate

  Note:
  Cuts of the risk depend on the data and the loss, not on lambda and the tolerances. After a change of lambda or of the tolerances the bundle remains valid.
  After a change of the data, the loss, the regulariser or the number of cuts per pass, the next solve starts from zero.

.seealso: `BMRMSolve()`, `BMRMSetLambda()`, `BMRMSetTolerances()`
@*/
PetscErrorCode BMRMSetWarmStart(BMRM b, PetscBool warm)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(b, BMRM_CLASSID, 1);
  PetscValidLogicalCollectiveBool(b, warm, 2);
  b->set.warm = warm;
  PetscFunctionReturn(PETSC_SUCCESS);
}
