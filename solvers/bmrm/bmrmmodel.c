/* The model of the objective: the regulariser and the cuts.  Its minimiser is the next direction, its dual value the lower bound. */
#include "bmrmimpl.h"

#define BMRM_RHO_MIN    1e-5 /* least proximal term, in lambda: the QP becomes as ill-conditioned as it is small */
#define BMRM_FREE_RANGE 1e4  /* the bound holds for free weights up to so many times 1 + that of the model's minimiser */

static PetscErrorCode Reserve(BMRM b)
{
  const PetscInt cap = b->bundle.cap;

  PetscFunctionBegin;
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

/* Called when data or regulariser go. */
PetscErrorCode BMRMModelReset_Private(BMRM b)
{
  PetscFunctionBegin;
  PetscCall(VecDestroy(&b->v));
  PetscCall(VecDestroy(&b->u));
  PetscCall(VecDestroy(&b->center));
  PetscCall(PetscFree3(b->H, b->bt, b->trial));
  b->ncap = 0;
  b->rho  = 0;
  b->free = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All ranks solve the same small problem; the weights of the first one count, should their arithmetic differ. */
static PetscErrorCode SolveQP(BMRM b, const BMRMQPData *q, PetscReal tol, PetscReal alpha[])
{
  PetscMPIInt n;

  PetscFunctionBegin;
  PetscCall(BMRMQPSolve(&b->qp, q, tol, alpha, &b->qp_gap, &b->qp_its));
  PetscCall(PetscMPIIntCast(q->n, &n));
  PetscCallMPI(MPI_Bcast(alpha, n, MPIU_REAL, 0, PetscObjectComm((PetscObject)b)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscReal FreeSum(const BMRMBundle *bu, const PetscReal alpha[])
{
  PetscReal sum = 0;

  for (PetscInt i = 0; i < bu->n; i++) sum += alpha[i] * bu->z[i];
  return sum;
}

/*
  A bound needs z'alpha = 0, or the free weight could take the model down for ever. Mixes alpha with the cuts that pull the other
  way as far as it takes; where none does, with the least risks, which do not pull at all.
*/
static void Balance(const BMRMBundle *bu, PetscReal alpha[])
{
  const PetscReal sum  = FreeSum(bu, alpha);
  PetscReal       pull = 0, t;
  PetscInt        best[BMRM_MAX_BLOCKS];

  if (sum == 0) return;
  for (PetscInt k = 0; k < bu->nblock; k++) best[k] = k;
  for (PetscInt i = bu->nblock; i < bu->n; i++) {
    const PetscInt k = bu->block[i];

    if (sum > 0 ? bu->z[i] < bu->z[best[k]] : bu->z[i] > bu->z[best[k]]) best[k] = i;
  }
  for (PetscInt k = 0; k < bu->nblock; k++) pull += bu->z[best[k]];
  t = sum / (sum - pull);
  if (PetscAbsReal(sum) * BMRM_FREE_RANGE < t) return; /* what Raise() will take off is less than what the mixture loses */
  for (PetscInt i = 0; i < bu->n; i++) alpha[i] *= 1 - t;
  for (PetscInt k = 0; k < bu->nblock; k++) alpha[best[k]] += t;
}

static PetscErrorCode Raise(BMRM b, const PetscReal alpha[], PetscReal dual)
{
  PetscFunctionBegin;
  if (b->reg->free >= 0) dual -= PetscAbsReal(FreeSum(&b->bundle, alpha)) * BMRM_FREE_RANGE * (1 + PetscAbsReal(b->free));
  if (dual > b->lower) b->lower = dual;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* With a free weight: the method of multipliers for z'alpha = 0, whose multiplier is the free weight of the model's minimiser. */
static PetscErrorCode SolveFree(BMRM b, PetscReal tol)
{
  BMRMBundle    *bu      = &b->bundle;
  const PetscInt n       = bu->n;
  PetscReal      penalty = 0, largest = 0, zmax = 0;
  BMRMQPData     q = {n, bu->nblock, n, bu->block, b->H, b->bt, b->lambda};

  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; i++) {
    largest = PetscMax(largest, bu->G[(size_t)i * bu->cap + i]);
    zmax    = PetscMax(zmax, PetscAbsReal(bu->z[i]));
  }
  if (zmax > 0) penalty = largest > 0 ? 100 * largest / (zmax * zmax) : 1;
  for (PetscInt i = 0; i < n; i++) {
    for (PetscInt j = 0; j < n; j++) b->H[(size_t)i * n + j] = bu->G[(size_t)i * bu->cap + j] + penalty * bu->z[i] * bu->z[j];
  }
  for (PetscInt it = 0; it < 50; it++) {
    PetscReal sum;

    for (PetscInt i = 0; i < n; i++) b->bt[i] = bu->b[i] + bu->z[i] * b->free;
    PetscCall(SolveQP(b, &q, 0.25 * tol, bu->alpha));
    sum = FreeSum(bu, bu->alpha);
    b->free -= penalty / b->lambda * sum;
    if (PetscAbsReal(sum) <= 0.1 * tol * zmax) break; /* what Balance() will cost is below tol then, the risk at zero being about one */
  }
  Balance(bu, bu->alpha);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Half a squared norm: one QP with the Gram matrix. The value is taken from the vectors, not from the matrix, where more would cancel. */
static PetscErrorCode Quadratic(BMRM b, PetscReal tol)
{
  BMRMBundle *bu = &b->bundle;
  BMRMQPData  q  = {bu->n, bu->nblock, bu->cap, bu->block, bu->G, bu->b, b->lambda};
  PetscReal   ab, square;

  PetscFunctionBegin;
  if (b->reg->free < 0) PetscCall(SolveQP(b, &q, tol, bu->alpha));
  else PetscCall(SolveFree(b, tol));
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
  PetscCall(Raise(b, bu->alpha, ab - 0.5 * square / b->lambda));
  PetscCall(VecScale(b->d, -1 / b->lambda));
  if (b->reg->free >= 0) {
    PetscInt start, end;

    PetscCall(VecGetOwnershipRange(b->d, &start, &end));
    if (b->reg->free >= start && b->reg->free < end) {
      PetscScalar *da;

      PetscCall(VecGetArray(b->d, &da));
      da[b->reg->free - start] = b->free;
      PetscCall(VecRestoreArray(b->d, &da));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* value[i] = <a_i, w> + b_i, the gap of the blocks, and the model of the risk at w */
static PetscErrorCode CutValues(BMRM b, Vec w, const PetscReal alpha[], PetscReal value[], PetscReal *gap, PetscReal *risk)
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
  The step from alpha towards trial: to where the slope of the smooth convex function changes its sign, or all the way. Leaves v, w
  and alpha there.
*/
static PetscErrorCode Towards(BMRM b, PetscReal trial[])
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
    PetscCall((*b->reg->ops->proximal)(b->reg, b->lambda, b->rho, b->center, b->v, b->d));
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
  Minimises over alpha  -b'alpha - min_w lambda Omega(w) + <A alpha, w> + rho/2 ||w - c||^2,  smooth and convex, by Newton's method:
  each step is a QP. Leaves the minimiser w in d, A alpha in v; returns the model's risk at w, and whether alpha is another one now.
*/
static PetscErrorCode Newton(BMRM b, PetscReal tol, PetscReal *risk, PetscBool *moved)
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
  PetscCall((*b->reg->ops->proximal)(b->reg, b->lambda, b->rho, b->center, b->v, b->d));
  for (PetscInt it = 0; it < 100; it++) {
    PetscMPIInt count;

    PetscCall(CutValues(b, b->d, bu->alpha, b->bt, &gap, risk));
    stalled = gap < 0.99 * before ? 0 : stalled + 1;
    before  = PetscMin(before, gap);
    if (!(gap > tol) || stalled > 10) break;
    *moved = PETSC_TRUE;
    PetscCall(PetscArrayzero(packed, (size_t)(n - m) * (n - m)));
    PetscCall((*b->reg->ops->hessian)(b->reg, b->lambda, b->rho, b->center, b->v, n - m, bu->a + m, packed));
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
    PetscCall(SolveQP(b, &q, 0.05 * gap, b->trial));
    PetscCall(Towards(b, b->trial));
  }
  PetscCall(PetscFree(packed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The bound that alpha gives, after it is balanced and shrunk to where the conjugate is finite. */
static PetscErrorCode Bound(BMRM b, PetscReal *dual)
{
  BMRMBundle *bu = &b->bundle;
  PetscReal   ab, t, least;

  PetscFunctionBegin;
  PetscCall(PetscArraycpy(b->trial, bu->alpha, bu->n));
  if (b->reg->free >= 0) Balance(bu, b->trial);
  PetscCall(BMRMBundleSum(bu, b->trial, b->u, &ab));
  PetscCall((*b->reg->ops->shrink)(b->reg, b->lambda, b->u, &t));
  if (t < 1) {
    t *= 1 - 4 * PETSC_MACHINE_EPSILON;
    PetscCall(VecScale(b->u, t));
    ab *= t;
    for (PetscInt i = 0; i < bu->n; i++) {
      if (i < bu->nblock) ab += (1 - t) * bu->b[i];
      b->trial[i] = t * b->trial[i];
    }
  }
  PetscCall((*b->reg->ops->least)(b->reg, b->lambda, b->u, &least));
  *dual = ab + least;
  PetscCall(Raise(b, b->trial, *dual));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Any other regulariser: its model through the proximal point and the conjugate. Where it is not strictly convex, proximal steps on the
  model alone, which cost no product with the data, lead to the model's minimum.
*/
static PetscErrorCode Proximal(BMRM b, PetscReal tol)
{
  const PetscBool proximal = (PetscBool)(b->reg->proximal || b->reg->free >= 0);
  PetscReal       model    = PETSC_INFINITY;

  PetscFunctionBegin;
  if (proximal && b->rho == 0) b->rho = b->lambda;
  PetscCall(VecCopy(b->w, b->center));
  for (PetscInt it = 0; it < 60; it++) {
    PetscReal risk, omega, dual = 0;
    PetscBool moved;

    PetscCall(Newton(b, proximal ? 0.25 * tol : tol, &risk, &moved));
    PetscCall(Bound(b, &dual));
    if (!proximal) break;
    PetscCall((*b->reg->ops->value)(b->reg, b->d, &omega));
    if (b->lambda * omega + risk - dual <= tol || (!moved && b->lambda * omega + risk >= model)) break;
    model = b->lambda * omega + risk;
    PetscCall(VecCopy(b->d, b->center));
    if (!moved || it % 4 == 3) b->rho = PetscMax((moved ? 0.3 : 0.1) * b->rho, BMRM_RHO_MIN * b->lambda); /* longer steps */
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Minimises the model: raises the lower bound, and leaves the direction from the best point to the minimiser in d. */
PetscErrorCode BMRMSolveModel_Private(BMRM b)
{
  const PetscReal tol = b->qp_rtol * PetscMax(b->J - b->lower, 0);
  PetscInt        dropped;

  PetscFunctionBegin;
  if (b->broken) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscLogEventBegin(BMRM_QPEvent, b, 0, 0, 0));
  PetscCall(Reserve(b));
  if (b->reg->ops->solve) PetscCall(Quadratic(b, tol));
  else PetscCall(Proximal(b, tol));
  PetscCall(BMRMBundleDropIdle(&b->bundle, b->idle_age, &dropped));
  PetscCall(BMRMBundleCompress(&b->bundle, b->reg, b->max_cuts));
  PetscCall(VecAXPY(b->d, -1, b->w));
  PetscCall(PetscLogEventEnd(BMRM_QPEvent, b, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}
