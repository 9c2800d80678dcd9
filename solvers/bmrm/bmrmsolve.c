/* The outer method: BMRM with the line search of OCAS, and its certificate. */
#include "bmrmimpl.h"

#define BMRM_STALL 100  /* passes without any change of either bound, after which rounding is to blame */
#define BMRM_SLACK 1e-7 /* by which rounding may put the lower bound above the objective */

/*@
  BMRMSetUp - Creates the vectors that `BMRMSolve()` works with

  Collective

  Input Parameter:
. b - the solver, with its data set by `BMRMSetData()`

  Level: advanced

  Note:
  `BMRMSolve()` calls this by itself.

.seealso: `BMRMSolve()`, `BMRMSetData()`, `BMRMReset()`
@*/
PetscErrorCode BMRMSetUp(BMRM b)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(b, BMRM_CLASSID, 1);
  if (b->setup) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(b->X, PetscObjectComm((PetscObject)b), PETSC_ERR_ORDER, "No data to train on: call BMRMSetData() first");
  PetscCall(MatCreateVecs(b->X, &b->w, &b->f));
  PetscCall(VecDuplicate(b->w, &b->d));
  PetscCall(VecDuplicate(b->f, &b->e));
  PetscCall(VecDuplicate(b->f, &b->r));
  b->setup = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The objective of the best point, from its products f. */
static PetscErrorCode BMRMEvaluate(BMRM b)
{
  PetscReal norm;

  PetscFunctionBegin;
  PetscCall(BMRMHingeRisk(b->f, b->e, 0, b->y, b->m, &b->risk));
  PetscCall(VecNorm(b->w, NORM_2, &norm));
  b->J = 0.5 * b->lambda * norm * norm + b->risk;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds the cut of the point w + s d. */
static PetscErrorCode BMRMAddCut(BMRM b, PetscReal s)
{
  Vec       a;
  PetscReal offset, square;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(BMRM_CutEvent, b, 0, 0, 0));
  PetscCall(BMRMHingeCut(b->f, b->e, s, b->y, b->m, b->r, &offset));
  PetscCall(BMRMBundleGetVec(&b->bundle, b->w, &a));
  PetscCall(MatMultTranspose(b->X, b->r, a));
  b->matmults++;
  PetscCall(BMRMBundleAdd(&b->bundle, a, offset, &square));
  if (PetscIsInfOrNanReal(square)) b->broken = PETSC_TRUE;
  PetscCall(PetscLogEventEnd(BMRM_CutEvent, b, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Minimises the model: raises the lower bound, and leaves the direction from the best point to the minimiser in d.

  All ranks solve the same small problem; the weights of the first one count, should their arithmetic differ.
*/
static PetscErrorCode BMRMSolveModel(BMRM b)
{
  BMRMBundle *bu = &b->bundle;
  PetscReal   dual;
  PetscInt    dropped;
  PetscMPIInt n;

  PetscFunctionBegin;
  if (b->broken) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscLogEventBegin(BMRM_QPEvent, b, 0, 0, 0));
  PetscCall(BMRMQPSolve(&b->qp, bu->n, bu->G, bu->cap, bu->b, b->lambda, b->qp_rtol * (b->J - b->lower), bu->alpha, &b->qp_gap, &b->qp_its));
  PetscCall(PetscMPIIntCast(bu->n, &n));
  PetscCallMPI(MPI_Bcast(bu->alpha, n, MPIU_REAL, 0, PetscObjectComm((PetscObject)b)));
  PetscCall(BMRMBundleCombine(bu, b->lambda, b->d, &dual));
  if (dual > b->lower) b->lower = dual;
  PetscCall(BMRMBundleDropIdle(bu, b->idle_age, &dropped));
  PetscCall(VecAXPY(b->d, -1, b->w));
  PetscCall(PetscLogEventEnd(BMRM_QPEvent, b, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One pass over the data: the products with d, a better best point along d if there is one, a new cut. */
static PetscErrorCode BMRMPass(BMRM b)
{
  PetscScalar wd; /* <w, d> */
  PetscReal   dd; /* <d, d> */

  PetscFunctionBegin;
  PetscCall(MatMult(b->X, b->d, b->e));
  b->matmults++;
  PetscCall(PetscLogEventBegin(BMRM_LineSearchEvent, b, 0, 0, 0));
  PetscCall(VecDotNorm2(b->w, b->d, &wd, &dd));
  if (b->line_search) {
    PetscCall(BMRMHingeLineSearch(b->f, b->e, b->y, b->m, b->lambda * PetscRealPart(wd), b->lambda * dd, &b->step));
  } else {
    PetscReal norm, risk, J;

    PetscCall(VecNorm(b->w, NORM_2, &norm));
    PetscCall(BMRMHingeRisk(b->f, b->e, 1, b->y, b->m, &risk));
    J       = 0.5 * b->lambda * (norm * norm + 2 * PetscRealPart(wd) + dd) + risk;
    b->step = J < b->J ? 1 : 0;
  }
  if (b->step > 0) {
    PetscCall(VecAXPY(b->w, b->step, b->d));
    PetscCall(VecAXPY(b->f, b->step, b->e));
    PetscCall(BMRMEvaluate(b));
  }
  PetscCall(PetscLogEventEnd(BMRM_LineSearchEvent, b, 0, 0, 0));
  PetscCall(BMRMAddCut(b, (b->line_search ? b->mu_now : 1) * (1 - b->step)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  How far past the best point the next cut is taken, as a part of the way to the minimiser of the model.

  No fixed value is best. Cuts near the best point agree with the risk where it matters; when the line search takes long steps,
  the model is still wrong farther out, and cuts there mend it. So follow the step, between mu and six times mu: for every data
  set and lambda tried this needs about as few passes as the best fixed value for it.
*/
static void BMRMAdaptMu(BMRM b)
{
  if (b->mu_adapt) b->mu_now = PetscMin(1, PetscMax(b->mu, PetscMin(6 * b->mu, 4 * b->step)));
}

/*
  Takes the tests of the method. A point that seems good enough, or is the last, is multiplied by X once more: what the combinations
  of products have gathered of rounding does not enter the certificate.
*/
static PetscErrorCode BMRMTest(BMRM b)
{
  BMRMConvergedReason reason = BMRM_CONVERGED_ITERATING;

  PetscFunctionBegin;
  for (PetscInt verified = 0; verified < 2; verified++) {
    const PetscReal gap = b->J - b->lower;

    if (b->broken || PetscIsInfOrNanReal(gap)) reason = BMRM_DIVERGED_NANORINF;
    else if (gap <= b->eps) reason = BMRM_CONVERGED_GAP_ATOL;
    else if (gap <= b->eps_rel * PetscAbsReal(b->J)) reason = BMRM_CONVERGED_GAP_RTOL;
    else if (b->it >= b->max_it) reason = BMRM_DIVERGED_MAX_IT;
    else if (b->stalled >= BMRM_STALL) reason = BMRM_DIVERGED_STAGNATED;
    else reason = BMRM_CONVERGED_ITERATING;
    if (reason == BMRM_DIVERGED_NANORINF) break;
    PetscCheck(gap >= -BMRM_SLACK * PetscMax(1, PetscAbsReal(b->J)), PetscObjectComm((PetscObject)b), PETSC_ERR_PLIB, "The lower bound %g is above the objective %g: MatMult() and MatMultTranspose() of this Mat are not those of one matrix",
               (double)b->lower, (double)b->J);
    if (!reason || verified) break;
    PetscCall(MatMult(b->X, b->w, b->f));
    b->matmults++;
    PetscCall(BMRMEvaluate(b));
  }
  b->reason = reason;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The state before the first pass: the best point is zero, and so is the lower bound. */
static PetscErrorCode BMRMStart(BMRM b)
{
  PetscFunctionBegin;
  PetscCall(BMRMBundleCreate(&b->bundle));
  PetscCall(VecSet(b->w, 0));
  PetscCall(VecSet(b->d, 0));
  PetscCall(VecSet(b->f, 0));
  PetscCall(VecSet(b->e, 0));
  b->it       = 0;
  b->matmults = 0;
  b->stalled  = 0;
  b->broken   = PETSC_FALSE;
  b->lower    = 0;
  b->step     = 0;
  b->mu_now   = b->mu;
  b->reason   = BMRM_CONVERGED_ITERATING;
  PetscCall(BMRMEvaluate(b));
  PetscCall(BMRMAddCut(b, 0));
  PetscCall(BMRMSolveModel(b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  BMRMSolve - Trains: minimises J(w) = lambda/2 ||w||^2 + (1/m) sum_i max(0, 1 - y_i <x_i, w>)

  Collective

  Input Parameter:
. b - the solver

  Options Database Keys:
+ -bmrm_view             - view the solver after the solve
- -bmrm_converged_reason - say why it stopped

  Level: beginner

  Notes:
  Starts from w = 0 and an empty bundle. Every pass costs one `MatMult()` and one `MatMultTranspose()`; one more of each begins
  and ends the solve. Use `BMRMGetConvergedReason()` to see whether the gap reached the tolerance.

  Objective and lower bound are computed in double precision for the matrix as the `Mat` stores it: where a matrix
  type rounds its values, the certificate holds for the rounded matrix.

.seealso: `BMRMCreate()`, `BMRMSetData()`, `BMRMGetSolution()`, `BMRMGetObjective()`, `BMRMGetConvergedReason()`
@*/
PetscErrorCode BMRMSolve(BMRM b)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(b, BMRM_CLASSID, 1);
  PetscCall(BMRMSetUp(b));
  PetscCall(PetscLogEventBegin(BMRM_SolveEvent, b, 0, 0, 0));
  PetscCall(BMRMStart(b));
  PetscCall(BMRMTest(b));
  PetscCall(BMRMMonitor_Private(b));
  while (!b->reason) {
    const PetscReal J = b->J, lower = b->lower;

    b->it++;
    PetscCall(BMRMPass(b));
    BMRMAdaptMu(b);
    PetscCall(BMRMSolveModel(b));
    b->stalled = b->J < J || b->lower > lower ? 0 : b->stalled + 1;
    PetscCall(BMRMTest(b));
    PetscCall(BMRMMonitor_Private(b));
  }
  PetscCall(PetscLogEventEnd(BMRM_SolveEvent, b, 0, 0, 0));
  PetscCall(PetscInfo(b, "%s after %" PetscInt_FMT " passes, gap %g\n", BMRMConvergedReasons[b->reason], b->it, (double)(b->J - b->lower)));
  PetscCall(BMRMViewFromOptions(b, NULL, "-bmrm_view"));
  PetscCall(BMRMConvergedReasonViewFromOptions_Private(b));
  PetscCheck(b->reason > 0 || !b->error_if_not_converged, PetscObjectComm((PetscObject)b), PETSC_ERR_NOT_CONVERGED, "BMRM has not converged: %s after %" PetscInt_FMT " passes, gap %g", BMRMConvergedReasons[b->reason], b->it,
             (double)(b->J - b->lower));
  PetscFunctionReturn(PETSC_SUCCESS);
}
