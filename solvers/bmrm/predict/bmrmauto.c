/* The lambdas of a path, from the largest useful one. */
#include "solvers/bmrm/bmrmimpl.h"
#include <gpucsrbmrmpredict.h>

#define BMRM_AUTO_GAIN    1e-3 /* part of the objective that the weights of the null model gain */
#define BMRM_AUTO_GAP     1e-6 /* relative gap of the null model; with this gain its gradient has an error of a few percent */
#define BMRM_AUTO_MARGIN  1.05 /* factor of the largest lambda, so that an error of the gradient does not make it too small */
#define BMRM_AUTO_SQUARES 100  /* without absolute values: the largest lambda, as a multiple of the curvature of the risk */
#define BMRM_AUTO_RANGE   1e-6 /* the smallest lambda, as a part of the largest one */
#define BMRM_AUTO_SPARSE  1e-4 /* the same for regularisers that make weights zero */

/* Sets a large lambda, for which the weights of the null model gain at most BMRM_AUTO_GAIN: from the gradient of the risk at zero. Overwrites d and r[0]. */
static PetscErrorCode BMRMAutoStart(BMRM null)
{
  PetscReal   offset, risk;
  PetscScalar square;
  Vec         a;

  PetscFunctionBegin;
  PetscCall(VecSet(null->f, 0));
  PetscCall((*null->loss->ops->risk)(null->loss, null->f, null->f, 0, null->labels, &risk));
  PetscCall((*null->loss->ops->cut)(null->loss, null->f, null->f, 0, null->labels, 1, 0, null->r[0], &offset));
  PetscCall(MatMultTranspose(null->A, null->r[0], null->d));
  PetscCall(VecDuplicate(null->d, &a));
  PetscCall(VecCopy(null->d, a));
  PetscCall((*null->reg->ops->solve)(null->reg, a));
  PetscCall(VecDot(a, null->d, &square));
  PetscCall(VecDestroy(&a));
  if (PetscRealPart(square) > 0 && risk != 0) PetscCall(BMRMSetLambda(null, PetscRealPart(square) / (2 * BMRM_AUTO_GAIN * PetscAbsReal(risk))));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Computes a subgradient of the risk at the best model whose weights are zero, except the free ones. For the regulariser l2 and a large lambda, it is
  -lambda times the solution times the factors. The first lambda may be too large, if the risk at zero is far from that of the null model.
*/
static PetscErrorCode BMRMAutoComputeGradient(BMRM b, Vec *g)
{
  BMRM      null;
  PetscReal J, omega, gain;

  PetscFunctionBegin;
  PetscCall(BMRMDuplicate(b, &null));
  PetscCall(BMRMSetOptionsPrefix(null, "null_")); /* viewers show the solves of the path only */
  PetscCall(BMRMSetRegularizerType(null, "l2"));
  PetscCall(BMRMSetConvergenceTest(null, NULL, NULL));
  PetscCall(BMRMSetErrorIfNotConverged(null, PETSC_FALSE));
  PetscCall(BMRMSetWarmStart(null, PETSC_TRUE));
  PetscCall(BMRMSetTolerances(null, 0, BMRM_AUTO_GAP, 200));
  PetscCall(BMRMSetUp(null));
  PetscCall(BMRMAutoStart(null));
  for (PetscInt round = 0; round < 4; round++) {
    PetscCall(BMRMSolve(null));
    PetscCall((*null->reg->ops->value)(null->reg, null->w, &omega));
    PetscCall(BMRMGetObjective(null, &J, NULL));
    gain = null->set.lambda * omega / PetscMax(PetscAbsReal(J), PETSC_SMALL);
    if (gain == 0 || gain >= 0.1 * BMRM_AUTO_GAIN || round == 3) break;
    PetscCall(BMRMSetLambda(null, null->set.lambda * PetscMax(gain / BMRM_AUTO_GAIN, 1e-4)));
  }
  PetscCall(VecDuplicate(null->w, g));
  PetscCall(VecCopy(null->w, *g));
  if (null->reg->weights) PetscCall(VecPointwiseMult(*g, *g, null->reg->weights));
  PetscCall(VecScale(*g, -null->set.lambda));
  PetscCall(BMRMDestroy(&null));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The smallest lambda for which all weights that are not free are zero at the null model, up to a factor of 1.01. *found: whether there is one. */
static PetscErrorCode BMRMAutoFindZero(BMRM b, Vec g, PetscReal *lambda, PetscBool *found)
{
  PetscReal lo = 0, hi = 0, norm;
  Vec       zero, w;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(g, &zero));
  PetscCall(VecDuplicate(g, &w));
  PetscCall(VecSet(zero, 0));
  for (PetscInt it = 0; it < 200 && !(lo > 0 && hi > 0 && hi <= 1.01 * lo); it++) {
    const PetscReal at = lo > 0 && hi > 0 ? PetscSqrtReal(lo * hi) : lo > 0 ? 8 * lo : hi > 0 ? hi / 8 : 1;

    PetscCall((*b->reg->ops->proximal)(b->reg, at, 1, zero, g, w));
    PetscCall(VecNorm(w, NORM_INFINITY, &norm));
    if (norm > 0) lo = at;
    else hi = at;
    if (lo > 1e150 || (hi > 0 && hi < 1e-150)) break;
  }
  *lambda = BMRM_AUTO_MARGIN * hi;
  *found  = (PetscBool)(lo > 0 && hi > 0);
  PetscCall(VecDestroy(&w));
  PetscCall(VecDestroy(&zero));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* BMRM_AUTO_SQUARES times the curvature of the mean square of the scores along the gradient, in the norm of the regulariser. */
static PetscErrorCode BMRMAutoMeasureCurvature(BMRM b, Vec g, PetscReal *lambda)
{
  PetscReal   norm;
  PetscScalar square;
  Vec         d, e;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(b->A, &d, &e));
  PetscCall(VecCopy(g, d));
  PetscCall((*b->reg->ops->solve)(b->reg, d));
  PetscCall(VecDot(d, g, &square));
  PetscCall(MatMult(b->A, d, e));
  PetscCall(VecNorm(e, NORM_2, &norm));
  *lambda = PetscRealPart(square) > 0 ? BMRM_AUTO_SQUARES * norm * norm / (b->m * PetscRealPart(square)) : 0;
  PetscCall(VecDestroy(&e));
  PetscCall(VecDestroy(&d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  BMRMComputePath - Computes lambdas for a path, in descending order from the largest useful one

  Collective

  Input Parameters:
+ b - the solver, with its data, loss and regulariser
- n - number of lambdas, at least two

  Output Parameter:
. lambda - the lambdas, in a geometric sequence

  Level: intermediate

  Notes:
  The null model has only free weights, such as an intercept. With a regulariser that makes weights zero (l1, elasticnet, grouplasso), the largest lambda is the
  smallest one, within a few percent, for which the null model is the solution. The last lambda is 1e-4 times the first.

  With l2 no lambda gives the null model. The largest lambda is 100 times the curvature of the mean square of the scores along the gradient at the null model.
  It shrinks a step along the gradient to about one hundredth. The last lambda is 1e-6 times the first.

  A few passes over the data compute the gradient at the null model.

.seealso: `BMRMSolvePath()`, `BMRMCrossValidate()`
@*/
PetscErrorCode BMRMComputePath(BMRM b, PetscInt n, PetscReal lambda[])
{
  PetscReal range = BMRM_AUTO_RANGE, top = 0;
  PetscBool found = PETSC_FALSE;
  Vec       g;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(b, BMRM_CLASSID, 1);
  BMRMCheckPointer(lambda, 3);
  PetscCheck(n >= 2, PetscObjectComm((PetscObject)b), PETSC_ERR_ARG_OUTOFRANGE, "The number of lambdas is %" PetscInt_FMT ", it must be two or more", n);
  PetscCall(BMRMSetUp(b));
  PetscCall(BMRMAutoComputeGradient(b, &g));
  if (!b->reg->ops->solve) PetscCall(BMRMAutoFindZero(b, g, &top, &found));
  if (found) range = BMRM_AUTO_SPARSE;
  else if (b->reg->ops->solve) PetscCall(BMRMAutoMeasureCurvature(b, g, &top));
  PetscCall(VecDestroy(&g));
  PetscCheck(top > 0 && !PetscIsInfOrNanReal(top), PetscObjectComm((PetscObject)b), PETSC_ERR_USER_INPUT,
             "There is no largest useful lambda, because the risk does not depend on the regularised weights: give the lambdas, or check the features of the data");
  for (PetscInt k = 0; k < n; k++) lambda[k] = top * PetscPowReal(range, (PetscReal)k / (n - 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}
