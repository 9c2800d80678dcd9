/* The outer iteration: BMRM with the line search of OCAS, and the certificate. */
#include "solvers/bmrm/bmrmimpl.h"
#include <gpucsr.h>

#define BMRM_STALL      100                          /* number of passes without a change of objective and lower bound after which rounding is assumed to prevent progress */
#define BMRM_PAST       3                            /* factor of the distance of the cut past the best point if there is also a cut at the best point */
#define BMRM_FREE_NOISE (64 * PETSC_MACHINE_EPSILON) /* rounding error of an entry of a cut at a free weight, relative to the sum of the absolute values of its terms */
#define BMRM_SLACK      1e-7                         /* relative amount by which rounding may raise the lower bound above the objective */

/* Computes the objective of the best point from its scores f. */
static PetscErrorCode BMRMEvaluate(BMRM b)
{
  PetscReal omega;

  PetscFunctionBegin;
  PetscCall((*b->loss->ops->risk)(b->loss, b->f, b->e, 0, b->labels, &b->risk));
  PetscCall((*b->reg->ops->value)(b->reg, b->w, &omega));
  b->J = b->set.lambda * omega + b->risk;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes slopes and offsets of the cuts of a pass: one for each block of examples at w + s d, or, with b->pair, one at the best point w and one
   past it. The subgradients follow from the products with the transpose of A. */
static PetscErrorCode BMRMCutsBegin(BMRM b, PetscReal s)
{
  PetscReal slopes;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(BMRM_CutEvent, b, 0, 0, 0));
  b->taken = b->pair && s == 0 ? 1 : b->nr;
  for (PetscInt k = 0; k < b->taken; k++) {
    const PetscReal at = b->pair ? k * PetscMin(1, BMRM_PAST * s) : s;

    PetscCall((*b->loss->ops->cut)(b->loss, b->f, b->e, at, b->labels, b->set.ncut, b->pair ? 0 : k, b->r[k], &b->offset[k]));
    if (b->reg->nfree) { /* before BMRMProducts(), which may exchange the vectors r */
      PetscCall(VecNorm(b->r[k], NORM_1, &slopes));
      b->freenoise = PetscMax(b->freenoise, BMRM_FREE_NOISE * slopes * b->freemax);
    }
    PetscCall(BMRMBundleGetVec(&b->bundle, b->w, &b->a[k]));
  }
  PetscCall(PetscLogEventEnd(BMRM_CutEvent, b, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BMRMCutsEnd(BMRM b)
{
  PetscReal square;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(BMRM_CutEvent, b, 0, 0, 0));
  for (PetscInt k = 0; k < b->taken; k++) {
    PetscCall(BMRMBundleAdd(&b->bundle, b->reg, b->pair ? 0 : k, b->a[k], b->offset[k], &square));
    if (PetscIsInfOrNanReal(square) || PetscIsInfOrNanReal(b->offset[k])) b->broken = PETSC_TRUE;
  }
  PetscCall(PetscLogEventEnd(BMRM_CutEvent, b, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  The products of a pass for all solvers that have not stopped: e = A d, or with the transpose of A the subgradients of the cuts. Consecutive
  solvers with the same gpucsr matrix share one read of the matrix. A single product uses MatMult() or MatMultTranspose(), which have kernels of
  their own.
*/
static PetscErrorCode BMRMProducts(PetscInt n, BMRM b[], PetscBool transpose)
{
  PetscInt most = 0;
  Vec     *x, *y;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; i++) most += transpose ? b[i]->set.ncut : 1;
  PetscCall(PetscMalloc2(most, &x, most, &y));
  for (PetscInt i = 0; i < n;) {
    const Mat A = b[i]->A;
    PetscInt  m = 0;

    if (b[i]->rows) {
      if (!b[i]->reason) PetscCall(BMRMRowsProducts(b[i], transpose));
      i++;
      continue;
    }
    for (; i < n && b[i]->A == A; i++) {
      const PetscInt mine = b[i]->reason ? 0 : transpose ? b[i]->set.ncut : 1;

      PetscCall(PetscArraycpy(x + m, transpose ? b[i]->r : &b[i]->d, mine));
      PetscCall(PetscArraycpy(y + m, transpose ? b[i]->a : &b[i]->e, mine));
      b[i]->matmults += mine;
      m += mine;
    }
    if (m > 1) PetscCall(MatGPUCSRMultMany(A, transpose, m, x, y));
    else if (m == 1) PetscCall(transpose ? MatMultTranspose(A, x[0], y[0]) : MatMult(A, x[0], y[0]));
  }
  PetscCall(PetscFree2(x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The part of a pass after the product A d: moves the best point along d if the objective decreases, and takes the cuts. */
static PetscErrorCode BMRMSearchLine(BMRM b)
{
  PetscFunctionBegin;
  b->before[0] = b->J;
  b->before[1] = b->lower;
  b->it++;
  PetscCall(PetscLogEventBegin(BMRM_LineSearchEvent, b, 0, 0, 0));
  if (b->set.line_search) PetscCall(BMRMLineSearch_Private(b, &b->step));
  else {
    PetscReal risk, omega;

    PetscCall((*b->loss->ops->risk)(b->loss, b->f, b->e, 1, b->labels, &risk));
    PetscCall(VecAXPY(b->d, 1, b->w));
    PetscCall((*b->reg->ops->value)(b->reg, b->d, &omega));
    PetscCall(VecAXPY(b->d, -1, b->w));
    b->step = b->set.lambda * omega + risk < b->J ? 1 : 0;
  }
  if (b->step > 0) {
    PetscCall(VecAXPY(b->w, b->step, b->d));
    PetscCall(VecAXPY(b->f, b->step, b->e));
    PetscCall(BMRMEvaluate(b));
  }
  PetscCall(PetscLogEventEnd(BMRM_LineSearchEvent, b, 0, 0, 0));
  PetscCall(BMRMCutsBegin(b, (b->set.line_search ? b->mu_now : 1) * (1 - b->step)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Adapts the position of the next cut between the best point and the minimiser of the model.

  No fixed position is best. Cuts near the best point approximate the risk where the solution is expected. If the line search takes long steps,
  the model is inaccurate farther out, and cuts there correct it. The position therefore follows the step, between mu and 6 mu. On all data sets
  and lambdas tested this needs about as many passes as the best fixed value for the data set.
*/
static void BMRMAdaptMu(BMRM b)
{
  if (b->set.mu_adapt) b->mu_now = PetscMin(1, PetscMax(b->set.mu, PetscMin(6 * b->set.mu, 4 * b->step)));
}

/*
  Runs the convergence tests. If a test wants to stop, the scores of the best point are computed anew by a product, and the tests run again.
  Rounding errors that accumulated in the combined products therefore do not enter the certificate.
*/
static PetscErrorCode BMRMTest(BMRM b)
{
  BMRMConvergedReason reason = BMRM_CONVERGED_ITERATING;

  PetscFunctionBegin;
  for (PetscInt verified = 0; verified < 2; verified++) {
    const PetscReal gap = b->J - b->lower;

    reason = BMRM_DIVERGED_NANORINF;
    if (b->broken || PetscIsInfOrNanReal(gap)) break;
    PetscCall((*b->set.test)(b, b->it, b->J, b->lower, &reason, b->set.testctx));
    if (!reason && b->stalled >= BMRM_STALL) reason = BMRM_DIVERGED_STAGNATED;
    PetscCheck(gap >= -BMRM_SLACK * PetscMax(1, PetscAbsReal(b->J)), PetscObjectComm((PetscObject)b), PETSC_ERR_PLIB, "The lower bound %g is above the objective %g: MatMult() and MatMultTranspose() of this Mat are not those of one matrix",
               (double)b->lower, (double)b->J);
    if (!reason || verified) break;
    PetscCall(MatMult(b->A, b->w, b->f));
    b->matmults++;
    PetscCall(BMRMEvaluate(b));
  }
  b->reason = reason;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Initialises the state before the first pass: best point 0 and the smallest risk as lower bound, or the state of the last solve or of a
   checkpoint. */
static PetscErrorCode BMRMStart(BMRM b)
{
  const PetscBool fresh = (PetscBool) !(b->set.warm && b->started && !b->broken);
  PetscReal       least[BMRM_MAX_BLOCKS], gap;

  PetscFunctionBegin;
  PetscCall(BMRMCheckpointSetUp_Private(b));
  b->it       = 0;
  b->matmults = 0;
  b->stalled  = 0;
  b->step     = 0;
  b->mu_now   = b->set.mu;
  b->reason   = BMRM_CONVERGED_ITERATING;
  b->broken   = PETSC_FALSE;
  b->lower    = 0;
  PetscCall((*b->loss->ops->least)(b->loss, b->labels, b->set.ncut, least));
  for (PetscInt k = 0; k < b->set.ncut; k++) b->lower += least[k];
  if (fresh) {
    PetscCall(BMRMBundleCreate(&b->bundle, b->set.ncut, b->reg->nfree, least));
    PetscCall(VecSet(b->w, 0));
    PetscCall(VecSet(b->d, 0));
    PetscCall(VecSet(b->f, 0));
    PetscCall(VecSet(b->e, 0));
    b->known     = PETSC_FALSE;
    b->freenoise = 0;
    if (b->free) PetscCall(PetscArrayzero(b->free, b->reg->nfree)); /* multipliers of the last solve */
  }
  b->started = PETSC_TRUE;
  if (b->restart[0]) {
    PetscCall(BMRMCheckpointLoad_Private(b));
    PetscCall(BMRMSetRestart(b, NULL));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(BMRMEvaluate(b));
  if (fresh) {
    PetscCall(BMRMCutsBegin(b, 0));
    PetscCall(BMRMProducts(1, &b, PETSC_TRUE));
    PetscCall(BMRMCutsEnd(b));
  }
  do { /* The QP is solved to a fraction of the gap, so an old bundle needs several solutions to give its bound. Rounding may make the gap negative. */
    gap = b->J - b->lower;
    PetscCall(BMRMSolveModel_Private(b));
  } while (!fresh && b->J > b->lower && b->J - b->lower < 0.5 * gap);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The last part of a pass, after the products of the cuts: adds the cuts, minimises the model, whose minimiser gives the next direction, and runs
   the tests. */
static PetscErrorCode BMRMFinishPass(BMRM b)
{
  PetscFunctionBegin;
  PetscCall(BMRMCutsEnd(b));
  BMRMAdaptMu(b);
  PetscCall(BMRMSolveModel_Private(b));
  b->stalled = b->J < b->before[0] || b->lower > b->before[1] ? 0 : b->stalled + 1;
  PetscCall(BMRMTest(b));
  PetscCall(BMRMMonitor_Private(b));
  if (!b->reason) PetscCall(BMRMCheckpointSave_Private(b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reports the result: info, viewers, and the error of -bmrm_error_if_not_converged. */
static PetscErrorCode BMRMReportResult(BMRM b)
{
  PetscFunctionBegin;
  PetscCall(PetscInfo(b, "%s after %" PetscInt_FMT " passes, gap %g\n", BMRMConvergedReasons[b->reason], b->it, (double)(b->J - b->lower)));
  PetscCall(BMRMViewFromOptions(b, NULL, "-bmrm_view"));
  PetscCall(BMRMConvergedReasonViewFromOptions_Private(b));
  PetscCheck(b->reason > 0 || !b->set.error_if_not_converged, PetscObjectComm((PetscObject)b), PETSC_ERR_NOT_CONVERGED, "BMRM has not converged: %s after %" PetscInt_FMT " passes, gap %g", BMRMConvergedReasons[b->reason], b->it,
             (double)(b->J - b->lower));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  BMRMSolveMany - Runs several solvers in step, so that solvers with the same matrix share the passes over it

  Collective

  Input Parameters:
+ n - number of solvers
- b - the solvers, all different

  Level: intermediate

  Notes:
  The results are those of `BMRMSolve()` for each solver, up to rounding. The solvers may have different settings and data, for instance different lambdas, or
  labels that separate one class from the others.

  If consecutive solvers have the same matrix of type `MATGPUCSR`, a pass reads the matrix once for all of them by `MatGPUCSRMultMany()`. With other types of
  matrices there is no such gain.

.seealso: `BMRMSolve()`, `BMRMDuplicate()`, `BMRMSetWarmStart()`, `MatGPUCSRMultMany()`
@*/
PetscErrorCode BMRMSolveMany(PetscInt n, BMRM b[])
{
  PetscInt going = 0;

  PetscFunctionBegin;
  if (n <= 0) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt i = 0; i < n; i++) {
    PetscValidHeaderSpecific(b[i], BMRM_CLASSID, 2);
    for (PetscInt k = 0; k < i; k++) PetscCheck(b[k] != b[i], PetscObjectComm((PetscObject)b[i]), PETSC_ERR_ARG_IDN, "Solvers %" PetscInt_FMT " and %" PetscInt_FMT " are the same: create one of them by BMRMDuplicate()", k, i);
    PetscCall(BMRMSetUp(b[i]));
  }
  PetscCall(PetscLogEventBegin(BMRM_SolveEvent, b[0], 0, 0, 0));
  for (PetscInt i = 0; i < n; i++) {
    PetscCall(BMRMStart(b[i]));
    PetscCall(BMRMTest(b[i]));
    PetscCall(BMRMMonitor_Private(b[i]));
    going += !b[i]->reason;
  }
  while (going) {
    PetscCall(BMRMProducts(n, b, PETSC_FALSE));
    for (PetscInt i = 0; i < n; i++) {
      if (!b[i]->reason) PetscCall(BMRMSearchLine(b[i]));
    }
    PetscCall(BMRMProducts(n, b, PETSC_TRUE));
    for (PetscInt i = 0; i < n; i++) {
      if (b[i]->reason) continue;
      PetscCall(BMRMFinishPass(b[i]));
      if (b[i]->reason) going--;
    }
  }
  PetscCall(PetscLogEventEnd(BMRM_SolveEvent, b[0], 0, 0, 0));
  for (PetscInt i = 0; i < n; i++) PetscCall(BMRMReportResult(b[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  BMRMSolve - Minimises the regularised risk J(w) = lambda Omega(w) + (1/m) sum_i loss(<x_i, w>, y_i)

  Collective

  Input Parameter:
. b - the solver

  Options Database Keys:
+ -bmrm_view             - view the solver after the solve
- -bmrm_converged_reason - print the reason why the solve stopped

  Level: beginner

  Notes:
  The solve starts from w = 0 and an empty bundle, or from the last solve, see `BMRMSetWarmStart()`. Every pass costs one `MatMult()` and one
  `MatMultTranspose()`. One more `MatMultTranspose()` starts the solve, and one more `MatMult()` ends it. `BMRMGetConvergedReason()` returns whether the gap reached a tolerance.

  Objective and lower bound are computed in double precision for the matrix as the `Mat` stores it. If a matrix type rounds its values, the certificate holds
  for the rounded matrix.

.seealso: `BMRMSolveMany()`, `BMRMCreate()`, `BMRMSetData()`, `BMRMSetLossType()`, `BMRMSetRegularizerType()`, `BMRMGetSolution()`, `BMRMGetObjective()`, `BMRMGetConvergedReason()`
@*/
PetscErrorCode BMRMSolve(BMRM b)
{
  PetscFunctionBegin;
  PetscCall(BMRMSolveMany(1, &b));
  PetscFunctionReturn(PETSC_SUCCESS);
}
