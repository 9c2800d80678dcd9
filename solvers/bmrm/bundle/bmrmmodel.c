/* The model of the objective: the regulariser plus the cutting-plane model of the risk. Its minimiser gives the next direction, its dual value the
   lower bound. */
#include "solvers/bmrm/bmrmimpl.h"

#define BMRM_RHO_MIN    1e-5 /* smallest weight of the proximal term relative to lambda; smaller weights make the QP ill-conditioned */
#define BMRM_FREE_RANGE 1e4  /* the lower bound holds for free weights up to this factor times (1 + the largest absolute free weight of the model's minimiser) */

static PetscErrorCode BMRMModelReserve(BMRM b)
{
  const PetscInt cap = b->bundle.cap;

  PetscFunctionBegin;
  if (!b->free && b->bundle.nfree) PetscCall(PetscCalloc1(b->bundle.nfree, &b->free));
  if (b->ncap < cap) {
    PetscCall(PetscFree3(b->H, b->bt, b->trial));
    PetscCall(PetscMalloc3((size_t)cap * cap, &b->H, cap, &b->bt, cap, &b->trial));
    b->ncap = cap;
  }
  if (!b->v) {
    PetscCall(VecDuplicate(b->w, &b->v));
    if (b->reg->ops->solve) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(VecDuplicate(b->w, &b->u));
    PetscCall(VecDuplicate(b->w, &b->center));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Frees the workspace; called when the data or the regulariser change. */
PetscErrorCode BMRMModelReset_Private(BMRM b)
{
  PetscFunctionBegin;
  PetscCall(VecDestroy(&b->v));
  PetscCall(VecDestroy(&b->u));
  PetscCall(VecDestroy(&b->center));
  PetscCall(PetscFree3(b->H, b->bt, b->trial));
  b->ncap = 0;
  PetscCall(PetscFree(b->free));
  b->rho = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Absolute value of free weights up to which the lower bound holds. */
static PetscReal BMRMModelFreeRange(BMRM b)
{
  PetscReal most = 0;

  for (PetscInt c = 0; c < b->bundle.nfree; c++) most = PetscMax(most, PetscAbsReal(b->free[c]));
  return BMRM_FREE_RANGE * (1 + most);
}

/* Raises the lower bound to a dual value, less the effect of a remaining imbalance Z'alpha of the free weights. */
static PetscErrorCode BMRMModelRaiseBound(BMRM b, const PetscReal alpha[], PetscReal dual)
{
  PetscReal *sum;

  PetscFunctionBegin;
  if (b->bundle.nfree) {
    PetscCall(PetscMalloc1(b->bundle.nfree, &sum));
    dual -= BMRMFreeSum_Private(&b->bundle, alpha, sum) * BMRMModelFreeRange(b);
    PetscCall(PetscFree(sum));
  }
  if (dual > b->lower) b->lower = dual;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves the model with free weights by the method of multipliers for the constraint Z'alpha = 0. Its multipliers are the free weights of the
   model's minimiser. */
static PetscErrorCode BMRMModelSolveFree(BMRM b, PetscReal tol)
{
  BMRMBundle    *bu = &b->bundle;
  const PetscInt n = bu->n, m = bu->nfree;
  PetscReal      penalty = 0, largest = 0, zmax = 0, *sum;
  BMRMQPData     q = {n, bu->nblock, n, bu->block, b->H, b->bt, b->set.lambda};

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(m, &sum));
  for (PetscInt i = 0; i < n; i++) {
    for (PetscInt j = 0; j < n; j++) b->H[(size_t)i * n + j] = 0;
    for (PetscInt j = 0; j <= i; j++) {
      for (PetscInt c = 0; c < m; c++) b->H[(size_t)i * n + j] += bu->z[(size_t)i * m + c] * bu->z[(size_t)j * m + c];
    }
    largest = PetscMax(largest, bu->G[(size_t)i * bu->cap + i]);
    zmax    = PetscMax(zmax, PetscSqrtReal(b->H[(size_t)i * n + i]));
  }
  if (zmax > b->freenoise) penalty = largest > 0 ? 100 * largest / (zmax * zmax) : 1;
  for (PetscInt i = 0; i < n; i++) {
    for (PetscInt j = 0; j <= i; j++) b->H[(size_t)i * n + j] = b->H[(size_t)j * n + i] = bu->G[(size_t)i * bu->cap + j] + penalty * b->H[(size_t)i * n + j];
  }
  for (PetscInt it = 0; it < 50; it++) {
    PetscReal most = 0;

    for (PetscInt i = 0; i < n; i++) {
      b->bt[i] = bu->b[i];
      for (PetscInt c = 0; c < m; c++) b->bt[i] += bu->z[(size_t)i * m + c] * b->free[c];
    }
    PetscCall(BMRMQPSolveAlike(PetscObjectComm((PetscObject)b), &b->qp, &q, 0.25 * tol, bu->alpha));
    (void)BMRMFreeSum_Private(bu, bu->alpha, sum);
    for (PetscInt c = 0; c < m; c++) {
      b->free[c] -= penalty / b->set.lambda * sum[c];
      most = PetscMax(most, PetscAbsReal(sum[c]));
    }
    if (most <= PetscMax(0.1 * tol * zmax, b->freenoise)) break; /* the error that BMRMFreeBalance_Private() causes is then less than tol, if the risk at zero is about one */
  }
  PetscCall(PetscFree(sum));
  PetscCall(BMRMFreeBalance_Private(bu, m == 1 ? BMRM_FREE_RANGE : BMRMModelFreeRange(b), bu->alpha));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Half a squared norm: one QP with the Gram matrix. The dual value is computed from the vectors, because with the Gram matrix there would be more
   cancellation. */
static PetscErrorCode BMRMModelSolveQuadratic(BMRM b, PetscReal tol)
{
  BMRMBundle *bu = &b->bundle;
  BMRMQPData  q  = {bu->n, bu->nblock, bu->cap, bu->block, bu->G, bu->b, b->set.lambda};
  PetscReal   ab, square;

  PetscFunctionBegin;
  if (!bu->nfree) PetscCall(BMRMQPSolveAlike(PetscObjectComm((PetscObject)b), &b->qp, &q, tol, bu->alpha));
  else PetscCall(BMRMModelSolveFree(b, tol));
  PetscCall(BMRMBundleSum(bu, bu->alpha, b->d, &ab));
  if (b->reg->euclidean) {
    PetscCall(VecNorm(b->d, NORM_2, &square));
    square *= square;
  } else {
    PetscScalar dot;

    PetscCall(VecCopy(b->d, b->v));
    PetscCall((*b->reg->ops->solve)(b->reg, b->d));
    PetscCall(VecDot(b->d, b->v, &dot));
    square = PetscRealPart(dot);
  }
  PetscCall(BMRMModelRaiseBound(b, bu->alpha, ab - 0.5 * square / b->set.lambda));
  PetscCall(VecScale(b->d, -1 / b->set.lambda));
  PetscCall(BMRMFreeSet_Private(b->reg, b->free, b->d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* value[i] = <a_i, w> + b_i; the duality gap, summed over the blocks; the value of the model of the risk at w. */
static PetscErrorCode BMRMModelCutValues(BMRM b, Vec w, const PetscReal alpha[], PetscReal value[], PetscReal *gap, PetscReal *risk)
{
  BMRMBundle *bu = &b->bundle;
  PetscReal   most[BMRM_MAX_BLOCKS];

  PetscFunctionBegin;
  PetscCall(VecMDot(w, bu->n - bu->nblock, bu->a + bu->nblock, bu->work));
  *gap = *risk = 0;
  for (PetscInt i = 0; i < bu->n; i++) {
    const PetscInt k = bu->block[i];

    value[i] = bu->b[i] + (i < bu->nblock ? 0 : PetscRealPart(bu->work[i - bu->nblock]));
    most[k]  = i < bu->nblock ? value[i] : PetscMax(most[k], value[i]);
    *gap -= alpha[i] * value[i];
  }
  for (PetscInt k = 0; k < bu->nblock; k++) *risk += most[k];
  *gap += *risk;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Moves alpha towards trial: to the point where the slope of the smooth convex dual function changes sign, or all the way. Updates v, the
  minimiser w (in d) and alpha.
*/
static PetscErrorCode BMRMModelStepTowards(BMRM b, PetscReal trial[])
{
  BMRMBundle *bu = &b->bundle;
  PetscReal   db, lo = 0, hi = 1, step = 0, next = 1, first;
  PetscScalar dot;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < bu->n; i++) trial[i] -= bu->alpha[i];
  PetscCall(BMRMBundleSum(bu, trial, b->u, &db));
  PetscCall(VecDot(b->d, b->u, &dot));
  first = -db - PetscRealPart(dot);
  for (PetscInt it = 0; first < 0 && it < 40; it++) {
    PetscReal slope;

    PetscCall(VecAXPY(b->v, next - step, b->u));
    step = next;
    PetscCall((*b->reg->ops->proximal)(b->reg, b->set.lambda, b->rho, b->center, b->v, b->d));
    PetscCall(VecDot(b->d, b->u, &dot));
    slope = -db - PetscRealPart(dot);
    if (PetscAbsReal(slope) <= -0.1 * first || (step == 1 && slope < 0)) break;
    if (slope < 0) lo = step;
    else hi = step;
    next = 0.5 * (lo + hi);
  }
  for (PetscInt i = 0; i < bu->n; i++) bu->alpha[i] = PetscMax(0, bu->alpha[i] + step * trial[i]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Minimises over alpha the smooth convex function  -b'alpha - min_w lambda Omega(w) + <A alpha, w> + rho/2 ||w - c||^2  by Newton's method; each
  step is a QP. On return d is the minimiser w, and v = A alpha. Returns the model of the risk at w, and whether alpha has changed.
*/
static PetscErrorCode BMRMModelSolveNewton(BMRM b, PetscReal tol, PetscReal *risk, PetscBool *moved)
{
  BMRMBundle    *bu = &b->bundle;
  const PetscInt n = bu->n, m = bu->nblock;
  BMRMQPData     q   = {n, m, n, bu->block, b->H, b->bt, 1};
  PetscReal      gap = 0, ab, before = PETSC_INFINITY, *packed;
  PetscInt       stalled = 0;

  PetscFunctionBegin;
  *moved = PETSC_FALSE;
  PetscCall(PetscMalloc1((size_t)(n - m) * (n - m), &packed));
  PetscCall(BMRMBundleSum(bu, bu->alpha, b->v, &ab));
  PetscCall((*b->reg->ops->proximal)(b->reg, b->set.lambda, b->rho, b->center, b->v, b->d));
  for (PetscInt it = 0; it < 100; it++) {
    PetscMPIInt count;

    PetscCall(BMRMModelCutValues(b, b->d, bu->alpha, b->bt, &gap, risk));
    stalled = gap < 0.99 * before ? 0 : stalled + 1;
    before  = PetscMin(before, gap);
    if (!(gap > tol) || stalled > 10) break;
    *moved = PETSC_TRUE;
    PetscCall(PetscArrayzero(packed, (size_t)(n - m) * (n - m)));
    PetscCall((*b->reg->ops->hessian)(b->reg, b->set.lambda, b->rho, b->center, b->v, n - m, bu->a + m, packed));
    PetscCall(GpCompatMPIIntCast((PetscInt64)(n - m) * (n - m), &count));
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, packed, count, MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)b)));
    PetscCall(PetscArrayzero(b->H, (size_t)n * n));
    for (PetscInt i = m; i < n; i++) {
      for (PetscInt j = m; j <= i; j++) b->H[(size_t)i * n + j] = b->H[(size_t)j * n + i] = packed[(size_t)(i - m) * (n - m) + j - m];
    }
    for (PetscInt i = 0; i < n; i++) {
      for (PetscInt j = 0; j < n; j++) b->bt[i] += b->H[(size_t)i * n + j] * bu->alpha[j];
    }
    PetscCall(PetscArraycpy(b->trial, bu->alpha, n));
    PetscCall(BMRMQPSolveAlike(PetscObjectComm((PetscObject)b), &b->qp, &q, 0.05 * gap, b->trial));
    PetscCall(BMRMModelStepTowards(b, b->trial));
  }
  PetscCall(PetscFree(packed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Raises the lower bound by alpha, after alpha is balanced (free weights) and shrunk to a point where the conjugate is finite. */
static PetscErrorCode BMRMModelComputeBound(BMRM b, PetscReal *dual)
{
  BMRMBundle *bu = &b->bundle;
  PetscReal   ab, t, least;

  PetscFunctionBegin;
  PetscCall(PetscArraycpy(b->trial, bu->alpha, bu->n));
  if (bu->nfree) {
    PetscCall(BMRMFreeGet_Private(b->reg, b->d, b->free));
    PetscCall(BMRMFreeBalance_Private(bu, bu->nfree == 1 ? BMRM_FREE_RANGE : BMRMModelFreeRange(b), b->trial));
  }
  PetscCall(BMRMBundleSum(bu, b->trial, b->u, &ab));
  PetscCall((*b->reg->ops->shrink)(b->reg, b->set.lambda, b->u, &t));
  if (t < 1) {
    t *= 1 - 4 * PETSC_MACHINE_EPSILON;
    PetscCall(VecScale(b->u, t));
    ab *= t;
    for (PetscInt i = 0; i < bu->n; i++) {
      if (i < bu->nblock) ab += (1 - t) * bu->b[i];
      b->trial[i] = t * b->trial[i];
    }
  }
  PetscCall((*b->reg->ops->least)(b->reg, b->set.lambda, b->u, &least));
  *dual = ab + least;
  PetscCall(BMRMModelRaiseBound(b, b->trial, *dual));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Any other regulariser: minimises its model through the proximal point and the conjugate. If the regulariser is not strictly convex, proximal
  steps on the model lead to its minimum. They need no product with the data.
*/
static PetscErrorCode BMRMModelSolveProximal(BMRM b, PetscReal tol)
{
  const PetscBool proximal = (PetscBool)(b->reg->proximal || b->reg->nfree);
  PetscReal       model    = PETSC_INFINITY;

  PetscFunctionBegin;
  if (proximal && b->rho == 0) b->rho = b->set.lambda;
  PetscCall(VecCopy(b->w, b->center));
  for (PetscInt it = 0; it < 60; it++) {
    PetscReal risk, omega, dual = 0;
    PetscBool moved;

    PetscCall(BMRMModelSolveNewton(b, proximal ? 0.25 * tol : tol, &risk, &moved));
    PetscCall(BMRMModelComputeBound(b, &dual));
    if (!proximal) break;
    PetscCall((*b->reg->ops->value)(b->reg, b->d, &omega));
    if (b->set.lambda * omega + risk - dual <= tol || (!moved && b->set.lambda * omega + risk >= model)) break;
    model = b->set.lambda * omega + risk;
    PetscCall(VecCopy(b->d, b->center));
    if (!moved || it % 4 == 3) b->rho = PetscMax((moved ? 0.3 : 0.1) * b->rho, BMRM_RHO_MIN * b->set.lambda); /* allows longer steps */
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Returns the number of solutions without weight after which a cut is dropped; 0: never. With several free weights, a combination of cuts that is balanced at all of them may need cuts
  that have had no weight. They are kept longer in solutions that do not raise the lower bound from its former value. Not for ever, since old cuts can be the cause, through rounding
  errors. As long as the bound is that of the constant cuts, the bundle has too few cuts: it needs about as many as there are free weights.
*/
static PetscInt BMRMModelGetIdleAge(BMRM b, PetscReal before)
{
  const BMRMBundle *bu       = &b->bundle;
  PetscReal         constant = 0;

  for (PetscInt k = 0; k < bu->nblock; k++) constant += bu->b[k];
  if (bu->nfree < 2 || b->lower > before || b->set.idle_age <= 0) return b->set.idle_age;
  return PetscMax(b->set.idle_age, b->lower > constant ? 50 : 10 + 10 * bu->nfree);
}

/* Minimises the model: raises the lower bound, and sets d to the direction from the best point to the minimiser. Drops and merges cuts. */
PetscErrorCode BMRMSolveModel_Private(BMRM b)
{
  const PetscReal tol = b->set.qp_rtol * PetscMax(b->J - b->lower, 0), before = b->lower;

  PetscFunctionBegin;
  if (b->broken) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscLogEventBegin(BMRM_QPEvent, b, 0, 0, 0));
  PetscCall(BMRMModelReserve(b));
  if (b->reg->ops->solve) PetscCall(BMRMModelSolveQuadratic(b, tol));
  else PetscCall(BMRMModelSolveProximal(b, tol));
  PetscCall(BMRMBundleDropIdle(&b->bundle, BMRMModelGetIdleAge(b, before)));
  PetscCall(BMRMBundleCompress(&b->bundle, b->reg, b->set.max_cuts));
  PetscCall(VecAXPY(b->d, -1, b->w));
  PetscCall(PetscLogEventEnd(BMRM_QPEvent, b, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}
