/* The Tao type lsbmrm: the bundle method with a line search, for f(x) + lambda/2 ||x||^2 with any convex f that the user evaluates, or for the
   risk of a BMRM. */
/* MANSEC = Tao */
#include "solvers/bmrm/bmrmimpl.h"
#include "app/text/appcollective.h"
#include <gpucsr.h>
#include <petsc/private/taoimpl.h>

PETSC_INTERN PetscErrorCode TaoCreate_LSBMRM(Tao);

#define TAO_LSBMRM_NO_FLOOR (-1e300) /* initial constant cut: no lower bound of f is known, and the value is so low that the cut gets no weight */

#define TAO_LSBMRM_SHORTEST 0.02 /* smallest step towards the minimiser of the model */

typedef struct {
  PetscReal       lambda, qp_rtol;
  PetscInt        idle_age;
  BMRMBundle      bundle;
  BMRMQP          qp;
  BMRMRegularizer reg; /* regulariser of the bundle: half the squared Euclidean norm */
  Vec             d, trial, gtrial;
  PetscReal       lower, step;
  BMRM            bmrm;     /* the solver that is used instead of the members above, or NULL; see TaoLSBMRMSetBMRM() */
  PetscInt        reported; /* last pass that was reported to TAO */
} TAO_LSBMRM;

/* Evaluates f, its subgradient and the objective at x, and adds the cut. */
static PetscErrorCode TaoEvaluate_LSBMRM(Tao tao, Vec x, Vec g, PetscReal *J)
{
  TAO_LSBMRM *ls = (TAO_LSBMRM *)tao->data;
  PetscReal   f, square;
  PetscScalar gx, xx;
  Vec         a;

  PetscFunctionBegin;
  PetscCall(TaoComputeObjectiveAndGradient(tao, x, &f, g));
  PetscCall(VecDot(g, x, &gx));
  PetscCall(VecDot(x, x, &xx));
  PetscCheck(!PetscIsInfOrNanReal(f) && !PetscIsInfOrNanScalar(gx), PetscObjectComm((PetscObject)tao), PETSC_ERR_USER, "The user's function or its gradient is infinite or not a number");
  PetscCall(BMRMBundleGetVec(&ls->bundle, x, &a));
  PetscCall(VecCopy(g, a));
  PetscCall(BMRMBundleAdd(&ls->bundle, ls->reg, 0, a, f - PetscRealPart(gx), &square));
  *J = f + 0.5 * ls->lambda * PetscRealPart(xx);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Minimises the model: raises the lower bound, and sets d to the direction from x to the minimiser. */
static PetscErrorCode TaoModel_LSBMRM(Tao tao, PetscReal J)
{
  TAO_LSBMRM *ls = (TAO_LSBMRM *)tao->data;
  BMRMBundle *bu = &ls->bundle;
  BMRMQPData  q  = {bu->n, 1, bu->cap, bu->block, bu->G, bu->b, ls->lambda};
  PetscReal   ab, norm;

  PetscFunctionBegin;
  PetscCall(BMRMQPSolveAlike(PetscObjectComm((PetscObject)tao), &ls->qp, &q, ls->qp_rtol * PetscMax(J - ls->lower, 0), bu->alpha));
  PetscCall(BMRMBundleSum(bu, bu->alpha, ls->d, &ab));
  PetscCall(VecNorm(ls->d, NORM_2, &norm));
  ls->lower = PetscMax(ls->lower, ab - 0.5 * norm * norm / ls->lambda);
  PetscCall(BMRMBundleDropIdle(bu, ls->idle_age));
  PetscCall(VecAXPBY(ls->d, -1, -1 / ls->lambda, tao->solution));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  One evaluation along d, the only one of an iteration. If the objective decreases, the point becomes the best point. A cut is added in all cases.
  tao->gradient is the subgradient of f at the best point.

  The slopes at both ends of the step give an estimate of the minimiser between them. The next step is 1.5 times as long, since a cut near the
  best point is more useful than one at the minimiser of the model, where the model is inaccurate.
*/
static PetscErrorCode TaoStep_LSBMRM(Tao tao, PetscReal *J)
{
  TAO_LSBMRM     *ls = (TAO_LSBMRM *)tao->data;
  const PetscReal t  = ls->step;
  PetscScalar     gd, xd;
  PetscReal       dd, Jt, slope[2];

  PetscFunctionBegin;
  PetscCall(VecDotNorm2(tao->solution, ls->d, &xd, &dd));
  PetscCall(VecDot(tao->gradient, ls->d, &gd));
  slope[0] = PetscRealPart(gd) + ls->lambda * PetscRealPart(xd);
  PetscCall(VecWAXPY(ls->trial, t, ls->d, tao->solution));
  PetscCall(TaoEvaluate_LSBMRM(tao, ls->trial, ls->gtrial, &Jt));
  PetscCall(VecDot(ls->gtrial, ls->d, &gd));
  slope[1] = PetscRealPart(gd) + ls->lambda * (PetscRealPart(xd) + t * dd);
  if (Jt < *J) {
    *J = Jt;
    PetscCall(VecCopy(ls->trial, tao->solution));
    PetscCall(VecCopy(ls->gtrial, tao->gradient));
  }
  ls->step = PetscMin(1, PetscMax(TAO_LSBMRM_SHORTEST, 1.5 * (slope[1] <= 0 ? 2 * t : t * slope[0] / (slope[0] - slope[1]))));
  if (PetscIsNanReal(ls->step)) ls->step = 1; /* both slopes are zero */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The convergence test of the BMRM, called after every pass: runs TAO's monitors once a pass, and TAO's test. A pass at which TAO wants to stop is
   tested twice. */
static PetscErrorCode TaoTest_LSBMRM(BMRM b, PetscInt it, PetscReal J, PetscReal lower, BMRMConvergedReason *reason, void *ctx)
{
  Tao             tao   = (Tao)ctx;
  TAO_LSBMRM     *ls    = (TAO_LSBMRM *)tao->data;
  const PetscReal gap   = PetscMax(0, J - lower);
  const PetscBool first = (PetscBool)(it > ls->reported);

  PetscFunctionBegin;
  if (first) {
    PetscCall(TaoLogConvergenceHistory(tao, J, gap, 0, tao->ksp_its));
    PetscCall(TaoMonitor(tao, it, J, gap, 0, 1));
  }
  ls->reported  = it;
  tao->niter    = it;
  tao->fc       = J;
  tao->residual = gap;
  tao->reason   = TAO_CONTINUE_ITERATING;
  PetscCall((*tao->ops->convergencetest)(tao, tao->cnvP));
  *reason = tao->reason > 0 ? BMRM_CONVERGED_USER : tao->reason < 0 ? BMRM_DIVERGED_USER : BMRM_CONVERGED_ITERATING;
  if (!*reason && tao->ops->update) PetscCall((*tao->ops->update)(tao, it, tao->user_update));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TaoSolveBMRM_LSBMRM(Tao tao)
{
  TAO_LSBMRM         *ls = (TAO_LSBMRM *)tao->data;
  BMRMConvergedReason reason;
  PetscInt            n, m;
  Vec                 w;

  PetscFunctionBegin;
  ls->reported = -1;
  PetscCall(BMRMSetUp(ls->bmrm));
  PetscCall(BMRMGetSolution(ls->bmrm, &w));
  PetscCall(VecGetLocalSize(w, &n));
  PetscCall(VecGetLocalSize(tao->solution, &m));
  PetscCall(GpAppCheckLocalSize(PetscObjectComm((PetscObject)tao), "solution", m, n, "use a vector with the layout of the columns of the data"));
  PetscCall(BMRMSetConvergenceTest(ls->bmrm, TaoTest_LSBMRM, tao));
  PetscCall(BMRMSolve(ls->bmrm));
  PetscCall(BMRMSetConvergenceTest(ls->bmrm, NULL, NULL));
  PetscCall(BMRMGetConvergedReason(ls->bmrm, &reason));
  if (reason == BMRM_DIVERGED_STAGNATED) tao->reason = TAO_DIVERGED_LS_FAILURE;
  if (reason == BMRM_DIVERGED_NANORINF) tao->reason = TAO_DIVERGED_NAN;
  PetscCall(VecCopy(w, tao->solution));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates *v with the layout of the solution, unless it has that layout. */
static PetscErrorCode TaoMatchVec_LSBMRM(Tao tao, Vec *v)
{
  PetscLayout mine, solution;
  PetscBool   same;

  PetscFunctionBegin;
  if (*v) {
    PetscCall(VecGetLayout(*v, &mine));
    PetscCall(VecGetLayout(tao->solution, &solution));
    PetscCall(PetscLayoutCompare(mine, solution, &same));
    if (same) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(VecDestroy(v));
  }
  PetscCall(VecDuplicate(tao->solution, v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Called by every solve: TaoSetSolution() may set a vector of another size without another call of TaoSetUp(). */
static PetscErrorCode TaoSetUp_LSBMRM(Tao tao)
{
  TAO_LSBMRM *ls = (TAO_LSBMRM *)tao->data;

  PetscFunctionBegin;
  if (ls->bmrm) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(TaoMatchVec_LSBMRM(tao, &tao->gradient));
  PetscCall(TaoMatchVec_LSBMRM(tao, &ls->d));
  PetscCall(TaoMatchVec_LSBMRM(tao, &ls->trial));
  PetscCall(TaoMatchVec_LSBMRM(tao, &ls->gtrial));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TaoSolve_LSBMRM(Tao tao)
{
  TAO_LSBMRM     *ls    = (TAO_LSBMRM *)tao->data;
  const PetscReal floor = TAO_LSBMRM_NO_FLOOR;
  PetscReal       J;

  PetscFunctionBegin;
  if (ls->bmrm) {
    PetscCall(TaoSolveBMRM_LSBMRM(tao));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(TaoSetUp_LSBMRM(tao));
  PetscCall(BMRMBundleCreate(&ls->bundle, 1, 0, &floor));
  PetscCall(TaoEvaluate_LSBMRM(tao, tao->solution, tao->gradient, &J));
  ls->bundle.alpha[0] = 0; /* moves the weight from the initial constant cut to the first real cut */
  ls->bundle.alpha[1] = 1;
  ls->step            = 1;
  ls->lower           = TAO_LSBMRM_NO_FLOOR;
  PetscCall(TaoModel_LSBMRM(tao, J));
  PetscCall(TaoModel_LSBMRM(tao, J)); /* again: the tolerance of the QP depends on the gap, which is known only now */
  tao->reason = TAO_CONTINUE_ITERATING;
  while (1) {
    PetscCall(TaoLogConvergenceHistory(tao, J, J - ls->lower, 0, tao->ksp_its));
    PetscCall(TaoMonitor(tao, tao->niter, J, PetscMax(0, J - ls->lower), 0, ls->step));
    PetscCall((*tao->ops->convergencetest)(tao, tao->cnvP));
    if (tao->reason != TAO_CONTINUE_ITERATING) break;
    if (tao->ops->update) PetscCall((*tao->ops->update)(tao, tao->niter, tao->user_update));
    tao->niter++;
    PetscCall(TaoStep_LSBMRM(tao, &J));
    PetscCall(TaoModel_LSBMRM(tao, J));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TaoDestroy_LSBMRM(Tao tao)
{
  TAO_LSBMRM *ls = (TAO_LSBMRM *)tao->data;

  PetscFunctionBegin;
  PetscCall(BMRMBundleDestroy(&ls->bundle));
  PetscCall(BMRMQPDestroy(&ls->qp));
  PetscCall(BMRMRegularizerDestroy_Private(&ls->reg));
  PetscCall(VecDestroy(&ls->d));
  PetscCall(VecDestroy(&ls->trial));
  PetscCall(VecDestroy(&ls->gtrial));
  PetscCall(BMRMDestroy(&ls->bmrm));
  PetscCall(PetscObjectComposeFunction((PetscObject)tao, "TaoLSBMRMSetBMRM_C", NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)tao, "TaoLSBMRMGetBMRM_C", NULL));
  PetscCall(PetscFree(tao->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TaoSetFromOptions_LSBMRM(Tao tao, GpOptionItems PetscOptionsObject)
{
  TAO_LSBMRM *ls = (TAO_LSBMRM *)tao->data;

  PetscFunctionBegin;
  /* the options below apply if the user goes back to an objective and a gradient */
  if (ls->bmrm) PetscCall(BMRMSetFromOptions(ls->bmrm));
  PetscOptionsHeadBegin(PetscOptionsObject, "The bundle method with a line search, for f(x) + lambda/2 ||x||^2");
  PetscCall(PetscOptionsReal("-tao_lsbmrm_lambda", "weight of the regulariser", "TAOLSBMRM", ls->lambda, &ls->lambda, NULL));
  PetscCall(PetscOptionsInt("-tao_lsbmrm_idle_age", "drop a cut after this many QP solutions without weight, 0 keeps all", "TAOLSBMRM", ls->idle_age, &ls->idle_age, NULL));
  PetscCall(PetscOptionsReal("-tao_lsbmrm_qp_rtol", "tolerance of the inner QP as a fraction of the gap", "TAOLSBMRM", ls->qp_rtol, &ls->qp_rtol, NULL));
  PetscOptionsHeadEnd();
  PetscCheck(ls->lambda > 0 && !PetscIsInfOrNanReal(ls->lambda), PetscObjectComm((PetscObject)tao), PETSC_ERR_ARG_OUTOFRANGE, "lambda is %g, it must be positive", (double)ls->lambda);
  PetscCheck(ls->idle_age >= 0 && ls->qp_rtol >= 0 && ls->qp_rtol < 1, PetscObjectComm((PetscObject)tao), PETSC_ERR_ARG_OUTOFRANGE, "-tao_lsbmrm_idle_age must not be negative, and -tao_lsbmrm_qp_rtol must be in [0, 1)");
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TaoView_LSBMRM(Tao tao, PetscViewer viewer)
{
  const TAO_LSBMRM *ls = (const TAO_LSBMRM *)tao->data;
  PetscBool         ascii;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (ls->bmrm) PetscCall(BMRMView(ls->bmrm, viewer));
  else if (ascii) PetscCall(PetscViewerASCIIPrintf(viewer, "lambda=%g, lower bound=%.10g, cuts=%" PetscInt_FMT "\n", (double)ls->lambda, (double)ls->lower, ls->bundle.n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TaoLSBMRMSetBMRM_LSBMRM(Tao tao, BMRM b)
{
  TAO_LSBMRM *ls = (TAO_LSBMRM *)tao->data;

  PetscFunctionBegin;
  if (b) PetscCall(PetscObjectReference((PetscObject)b));
  PetscCall(BMRMDestroy(&ls->bmrm));
  ls->bmrm         = b;
  tao->setupcalled = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TaoLSBMRMGetBMRM_LSBMRM(Tao tao, BMRM *b)
{
  PetscFunctionBegin;
  *b = ((TAO_LSBMRM *)tao->data)->bmrm;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  TaoLSBMRMSetBMRM - Makes a `TAOLSBMRM` minimise the regularised risk of a `BMRM` instead of the user's objective

  Collective

  Input Parameters:
+ tao - the Tao; for other types than `TAOLSBMRM` the call has no effect
- b   - the solver, with its data; `NULL` to go back to the objective and gradient of the user

  Level: intermediate

  Notes:
  `TaoSolve()` then needs no callback. The scores are updated by linear combinations, so that the line search costs no evaluation. An iteration is one
  `MatMult()` and one `MatMultTranspose()`.

  Loss, regulariser and lambda are those of b; `TaoSetFromOptions()` reads the options of b, too. Tolerances, convergence test, monitors and history are those of
  the Tao. The solve starts from zero, and ignores the values of the vector of the solution; after `BMRMSetWarmStart()` it starts from the last solve.

  The vector of `TaoSetSolution()` has the layout of the columns of the data. If examples have one score per class, see `BMRMGetClasses()`.

.seealso: `TAOLSBMRM`, `TaoLSBMRMGetBMRM()`, `BMRMCreate()`, `BMRMSetData()`
@*/
PetscErrorCode TaoLSBMRMSetBMRM(Tao tao, BMRM b)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(tao, TAO_CLASSID, 1);
  if (b) PetscCheckSameComm(tao, 1, b, 2);
  PetscTryMethod(tao, "TaoLSBMRMSetBMRM_C", (Tao, BMRM), (tao, b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  TaoLSBMRMGetBMRM - Gets the solver that `TaoLSBMRMSetBMRM()` has set

  Not Collective

  Input Parameter:
. tao - the Tao, of type `TAOLSBMRM`

  Output Parameter:
. b - the solver, or `NULL` for none; the reference is borrowed, do not destroy it

  Level: intermediate

.seealso: `TAOLSBMRM`, `TaoLSBMRMSetBMRM()`
@*/
PetscErrorCode TaoLSBMRMGetBMRM(Tao tao, BMRM *b)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(tao, TAO_CLASSID, 1);
  BMRMCheckPointer(b, 2);
  PetscUseMethod(tao, "TaoLSBMRMGetBMRM_C", (Tao, BMRM *), (tao, b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
  TAOLSBMRM - The bundle method with a line search, for f(x) + lambda/2 ||x||^2 with a convex f that need not be smooth

  Options Database Keys:
+ -tao_lsbmrm_lambda <1>     - weight of the regulariser
. -tao_lsbmrm_idle_age <20>  - drop a cut after this many QP solutions without weight, 0 keeps all
- -tao_lsbmrm_qp_rtol <0.01> - tolerance of the inner QP as a fraction of the gap

  Level: beginner

  Notes:
  The user provides f and a subgradient, as for `TAOBMRM`. This type adds the regulariser. An iteration evaluates f and its subgradient once. After
  `TaoLSBMRMSetBMRM()` the objective is that of a `BMRM`, and the line search is exact for piecewise quadratic losses.

  The residual of the convergence tests is the certified gap: no point has an objective smaller than the reported objective minus the gap. The solution is the
  best point found, and the reported objective is its objective.

.seealso: `TAOBMRM`, `TaoSetType()`, `TaoLSBMRMSetBMRM()`, `BMRMCreate()`
M*/
PetscErrorCode TaoCreate_LSBMRM(Tao tao)
{
  TAO_LSBMRM *ls;

  PetscFunctionBegin;
  PetscCall(BMRMInitializePackage());
  PetscCall(PetscNew(&ls));
  ls->lambda   = 1;
  ls->qp_rtol  = 0.01;
  ls->idle_age = 20;
  PetscCall(PetscNew(&ls->reg));
  PetscCall(BMRMRegularizerSetSeparable(ls->reg, 1, 0));
  ls->reg->euclidean       = PETSC_TRUE;
  tao->data                = ls;
  tao->ops->setup          = TaoSetUp_LSBMRM;
  tao->ops->solve          = TaoSolve_LSBMRM;
  tao->ops->view           = TaoView_LSBMRM;
  tao->ops->setfromoptions = TaoSetFromOptions_LSBMRM;
  tao->ops->destroy        = TaoDestroy_LSBMRM;
  PetscCall(PetscObjectComposeFunction((PetscObject)tao, "TaoLSBMRMSetBMRM_C", TaoLSBMRMSetBMRM_LSBMRM));
  PetscCall(PetscObjectComposeFunction((PetscObject)tao, "TaoLSBMRMGetBMRM_C", TaoLSBMRMGetBMRM_LSBMRM));
  PetscFunctionReturn(PETSC_SUCCESS);
}
