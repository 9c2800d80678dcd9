/* BMRMSeparable regularisers: sum_j c_j (square w_j^2/2 + absolute |w_j|) with factors c_j. */
#include "solvers/bmrm/bmrmimpl.h"

typedef struct {
  PetscReal square, absolute;
  Vec       inverse; /* 1/(square c_j), and 0 for free weights; only if Omega is half a squared norm with factors */
  Vec       work;    /* square c_j times a vector; only with inverse */
} BMRMSeparable;

/* The terms of the weights on this rank, with the entries of two vectors. */
typedef struct {
  PetscInt           n;
  PetscReal          square, absolute;
  const PetscScalar *factor, *x, *y; /* factor: NULL stands for ones */
} BMRMTerms;

/* y may be NULL. */
static PetscErrorCode BMRMTermsGet(BMRMRegularizer r, Vec x, Vec y, BMRMTerms *t)
{
  const BMRMSeparable *s = (const BMRMSeparable *)r->data;

  PetscFunctionBegin;
  *t = (BMRMTerms){.square = s->square, .absolute = s->absolute};
  PetscCall(VecGetLocalSize(x, &t->n));
  if (r->weights) PetscCall(VecGetArrayRead(r->weights, &t->factor));
  PetscCall(VecGetArrayRead(x, &t->x));
  if (y) PetscCall(VecGetArrayRead(y, &t->y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BMRMTermsRestore(BMRMRegularizer r, Vec x, Vec y, BMRMTerms *t)
{
  PetscFunctionBegin;
  if (y) PetscCall(VecRestoreArrayRead(y, &t->y));
  PetscCall(VecRestoreArrayRead(x, &t->x));
  if (r->weights) PetscCall(VecRestoreArrayRead(r->weights, &t->factor));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscReal BMRMTermsGetFactor(const BMRMTerms *t, PetscInt j)
{
  return t->factor ? PetscRealPart(t->factor[j]) : 1;
}

/* The minimiser over x of square/2 x^2 + absolute |x| - u x: soft thresholding. */
static inline PetscReal BMRMSoftThreshold(PetscReal u, PetscReal absolute, PetscReal square)
{
  return u > absolute ? (u - absolute) / square : u < -absolute ? (u + absolute) / square : 0;
}

static PetscErrorCode BMRMRegularizerSetUp_Separable(BMRMRegularizer r, Vec like)
{
  BMRMSeparable *s = (BMRMSeparable *)r->data;

  PetscFunctionBegin;
  PetscCall(VecDestroy(&s->inverse));
  PetscCall(VecDestroy(&s->work));
  r->euclidean = (PetscBool)(s->square == 1 && s->absolute == 0 && !r->weights);
  if (!r->weights || s->absolute > 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecDuplicate(r->weights, &s->inverse));
  PetscCall(VecDuplicate(r->weights, &s->work));
  PetscCall(VecCopy(r->weights, s->inverse));
  PetscCall(VecScale(s->inverse, s->square));
  PetscCall(VecReciprocal(s->inverse)); /* keeps zeros */
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BMRMRegularizerValue_Separable(BMRMRegularizer r, Vec w, PetscReal *omega)
{
  const BMRMSeparable *s   = (const BMRMSeparable *)r->data;
  PetscReal            sum = 0;
  BMRMTerms            t;

  PetscFunctionBegin;
  if (!r->weights && s->absolute == 0) {
    PetscCall(VecNorm(w, NORM_2, omega));
    *omega *= 0.5 * s->square * *omega;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (s->inverse) {
    PetscScalar dot;

    PetscCall(VecPointwiseMult(s->work, r->weights, w));
    PetscCall(VecDot(s->work, w, &dot));
    *omega = 0.5 * s->square * PetscRealPart(dot);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(BMRMTermsGet(r, w, NULL, &t));
  for (PetscInt j = 0; j < t.n; j++) {
    const PetscReal x = PetscRealPart(t.x[j]);

    sum += BMRMTermsGetFactor(&t, j) * (0.5 * t.square * x * x + t.absolute * PetscAbsReal(x));
  }
  PetscCall(BMRMTermsRestore(r, w, NULL, &t));
  PetscCallMPI(MPI_Allreduce(&sum, omega, 1, MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)w)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* <w, d> and <d, d> in the norm of the squares, summed over all ranks. */
static PetscErrorCode BMRMSeparableProducts(BMRMRegularizer r, Vec w, Vec d, PetscReal *wd, PetscReal *dd)
{
  const BMRMSeparable *s      = (const BMRMSeparable *)r->data;
  PetscReal            all[2] = {0, 0};
  BMRMTerms            t;

  PetscFunctionBegin;
  if (!r->weights) {
    PetscScalar dot;

    PetscCall(VecDotNorm2(w, d, &dot, &all[1]));
    *wd = s->square * PetscRealPart(dot);
    *dd = s->square * all[1];
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (s->inverse) {
    const Vec   both[] = {w, d};
    PetscScalar dot[2];

    PetscCall(VecPointwiseMult(s->work, r->weights, d));
    PetscCall(VecMDot(s->work, 2, both, dot));
    *wd = s->square * PetscRealPart(dot[0]);
    *dd = s->square * PetscRealPart(dot[1]);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(BMRMTermsGet(r, w, d, &t));
  for (PetscInt j = 0; j < t.n; j++) {
    const PetscReal x = t.square * BMRMTermsGetFactor(&t, j) * PetscRealPart(t.y[j]);

    all[0] += x * PetscRealPart(t.x[j]);
    all[1] += x * PetscRealPart(t.y[j]);
  }
  PetscCall(BMRMTermsRestore(r, w, d, &t));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, all, 2, MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)w)));
  *wd = all[0];
  *dd = all[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BMRMRegularizerPieces_Separable(BMRMRegularizer r, PetscReal lambda, Vec w, Vec d, PetscReal *A, PetscReal *B, BMRMPieces *p)
{
  BMRMTerms t;
  PetscInt  n = p->n;

  PetscFunctionBegin;
  PetscCall(BMRMSeparableProducts(r, w, d, A, B));
  if (((const BMRMSeparable *)r->data)->absolute == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(BMRMTermsGet(r, w, d, &t));
  PetscCall(BMRMPiecesReserve(p, n + t.n));
  for (PetscInt j = 0; j < t.n; j++) {
    const PetscReal c = lambda * t.absolute * BMRMTermsGetFactor(&t, j), x = PetscRealPart(t.x[j]), v = PetscRealPart(t.y[j]);

    p->slope += c * (x > 0 || (x == 0 && v > 0) ? v : -v);
    if (!(x * v < 0)) continue; /* no change of sign at a t > 0 */
    p->kink[n++] = (BMRMKink){-x / v, 2 * c * PetscAbsReal(v), 0};
  }
  p->n = n;
  PetscCall(BMRMTermsRestore(r, w, d, &t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BMRMRegularizerDerivative_Separable(BMRMRegularizer r, PetscReal lambda, Vec w, Vec d, PetscReal step, PetscReal out[2])
{
  PetscReal first = 0, second = 0;
  BMRMTerms t;

  PetscFunctionBegin;
  PetscCall(BMRMTermsGet(r, w, d, &t));
  for (PetscInt j = 0; j < t.n; j++) {
    const PetscReal v = PetscRealPart(t.y[j]), x = PetscRealPart(t.x[j]) + step * v, c = BMRMTermsGetFactor(&t, j);

    first += c * (t.square * x * v + t.absolute * (x > 0 || (x == 0 && v > 0) ? v : -v));
    second += c * t.square * v * v;
  }
  PetscCall(BMRMTermsRestore(r, w, d, &t));
  out[0] = lambda * first;
  out[1] = lambda * second;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BMRMRegularizerSolve_Separable(BMRMRegularizer r, Vec a)
{
  const BMRMSeparable *s = (const BMRMSeparable *)r->data;

  PetscFunctionBegin;
  if (s->inverse) PetscCall(VecPointwiseMult(a, a, s->inverse));
  else if (s->square != 1) PetscCall(VecScale(a, 1 / s->square));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BMRMRegularizerProximal_Separable(BMRMRegularizer r, PetscReal lambda, PetscReal rho, Vec c, Vec v, Vec w)
{
  PetscScalar *wa;
  BMRMTerms    t;

  PetscFunctionBegin;
  PetscCall(BMRMTermsGet(r, c, v, &t));
  PetscCall(VecGetArrayWrite(w, &wa));
  for (PetscInt j = 0; j < t.n; j++) {
    const PetscReal f = lambda * BMRMTermsGetFactor(&t, j);

    wa[j] = BMRMSoftThreshold(rho * PetscRealPart(t.x[j]) - PetscRealPart(t.y[j]), f * t.absolute, f * t.square + rho);
  }
  PetscCall(VecRestoreArrayWrite(w, &wa));
  PetscCall(BMRMTermsRestore(r, c, v, &t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BMRMRegularizerHessian_Separable(BMRMRegularizer r, PetscReal lambda, PetscReal rho, Vec c, Vec v, PetscInt n, const Vec a[], PetscReal H[])
{
  const PetscScalar *aa;
  PetscReal         *scaled, *rows;
  PetscInt           k = 0, *in;
  BMRMTerms          t;

  PetscFunctionBegin;
  PetscCall(BMRMTermsGet(r, c, v, &t));
  PetscCall(PetscMalloc3(t.n, &in, t.n, &scaled, (size_t)n * t.n, &rows));
  for (PetscInt j = 0; j < t.n; j++) { /* the weights that are not thresholded to zero */
    const PetscReal f = lambda * BMRMTermsGetFactor(&t, j);

    if (BMRMSoftThreshold(rho * PetscRealPart(t.x[j]) - PetscRealPart(t.y[j]), f * t.absolute, 1) == 0 && f * t.absolute > 0) continue;
    in[k]       = j;
    scaled[k++] = PetscSqrtReal(1 / (f * t.square + rho));
  }
  for (PetscInt i = 0; i < n; i++) {
    PetscReal *row = rows + (size_t)i * k;

    PetscCall(VecGetArrayRead(a[i], &aa));
    for (PetscInt j = 0; j < k; j++) row[j] = scaled[j] * PetscRealPart(aa[in[j]]);
    PetscCall(VecRestoreArrayRead(a[i], &aa));
    for (PetscInt l = 0; l <= i; l++) {
      const PetscReal *other = rows + (size_t)l * k;
      PetscReal        sum   = 0;

      for (PetscInt j = 0; j < k; j++) sum += row[j] * other[j];
      H[(size_t)i * n + l] += sum;
    }
  }
  PetscCall(PetscLogFlops((PetscLogDouble)n * n * k));
  PetscCall(PetscFree3(in, scaled, rows));
  PetscCall(BMRMTermsRestore(r, c, v, &t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BMRMRegularizerShrink_Separable(BMRMRegularizer r, PetscReal lambda, Vec v, PetscReal *shrink)
{
  PetscReal least = 1;
  BMRMTerms t;

  PetscFunctionBegin;
  PetscCall(BMRMTermsGet(r, v, NULL, &t));
  for (PetscInt j = 0; t.square == 0 && j < t.n; j++) {
    const PetscReal x = PetscAbsReal(PetscRealPart(t.x[j])), bound = lambda * t.absolute * BMRMTermsGetFactor(&t, j);

    if (x > bound && BMRMTermsGetFactor(&t, j) > 0) least = PetscMin(least, bound / x);
  }
  PetscCall(BMRMTermsRestore(r, v, NULL, &t));
  PetscCallMPI(MPI_Allreduce(&least, shrink, 1, MPIU_REAL, MPIU_MIN, PetscObjectComm((PetscObject)v)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BMRMRegularizerLeast_Separable(BMRMRegularizer r, PetscReal lambda, Vec v, PetscReal *value)
{
  PetscReal sum = 0;
  BMRMTerms t;

  PetscFunctionBegin;
  PetscCall(BMRMTermsGet(r, v, NULL, &t));
  for (PetscInt j = 0; t.square > 0 && j < t.n; j++) {
    const PetscReal f = lambda * BMRMTermsGetFactor(&t, j), over = PetscAbsReal(PetscRealPart(t.x[j])) - f * t.absolute;

    if (over > 0 && f > 0) sum -= 0.5 * over * over / (f * t.square);
  }
  PetscCall(BMRMTermsRestore(r, v, NULL, &t));
  PetscCallMPI(MPI_Allreduce(&sum, value, 1, MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)v)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BMRMRegularizerDestroy_Separable(BMRMRegularizer r)
{
  PetscFunctionBegin;
  PetscCall(VecDestroy(&((BMRMSeparable *)r->data)->inverse));
  PetscCall(VecDestroy(&((BMRMSeparable *)r->data)->work));
  PetscCall(PetscFree(r->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  BMRMRegularizerSetSeparable - Sets the operations of the regulariser sum_j c_j (square/2 w_j^2 + absolute |w_j|), with the factors c_j of `BMRMSetWeights()`

  Not Collective

  Input Parameters:
+ r        - the regulariser
. square   - coefficient of w_j^2/2, not negative
- absolute - coefficient of |w_j|, not negative

  Level: developer

.seealso: `BMRMRegularizerRegister()`, `BMRMSetWeights()`
@*/
PetscErrorCode BMRMRegularizerSetSeparable(BMRMRegularizer r, PetscReal square, PetscReal absolute)
{
  BMRMSeparable *s;

  PetscFunctionBegin;
  PetscCall(PetscNew(&s));
  s->square          = square;
  s->absolute        = absolute;
  r->data            = s;
  r->proximal        = (PetscBool)(square == 0);
  r->ops->setup      = BMRMRegularizerSetUp_Separable;
  r->ops->value      = BMRMRegularizerValue_Separable;
  r->ops->pieces     = BMRMRegularizerPieces_Separable;
  r->ops->derivative = BMRMRegularizerDerivative_Separable;
  if (absolute == 0) r->ops->solve = BMRMRegularizerSolve_Separable;
  r->ops->proximal = BMRMRegularizerProximal_Separable;
  r->ops->hessian  = BMRMRegularizerHessian_Separable;
  r->ops->shrink   = BMRMRegularizerShrink_Separable;
  r->ops->least    = BMRMRegularizerLeast_Separable;
  r->ops->destroy  = BMRMRegularizerDestroy_Separable;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BMRMRegularizerDestroy_Private(BMRMRegularizer *r)
{
  PetscFunctionBegin;
  if (!*r) PetscFunctionReturn(PETSC_SUCCESS);
  if ((*r)->ops->destroy) PetscCall((*(*r)->ops->destroy)(*r));
  PetscCall(BMRMFreeReset_Private(*r));
  PetscCall(VecDestroy(&(*r)->weights));
  PetscCall(PetscFree(*r));
  PetscFunctionReturn(PETSC_SUCCESS);
}
