/* Separable regularisers: sum_j c_j (square w_j^2/2 + absolute |w_j|) with factors c_j. */
#include "solvers/bmrm/bmrmimpl.h"

typedef struct {
  PetscReal square, absolute;
  Vec       inverse; /* 1/(square c_j), and 0 for the free weight; only if Omega is half a squared norm with factors */
} Separable;

/* The terms of the weights on this rank. */
typedef struct {
  PetscInt           n;
  PetscReal          square, absolute;
  const PetscScalar *factor; /* NULL stands for ones */
} Terms;

static PetscErrorCode TermsGet(BMRMRegularizer r, Vec w, Terms *t)
{
  const Separable *s = (const Separable *)r->data;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(w, &t->n));
  t->square   = s->square;
  t->absolute = s->absolute;
  t->factor   = NULL;
  if (r->weights) PetscCall(VecGetArrayRead(r->weights, &t->factor));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TermsRestore(BMRMRegularizer r, Terms *t)
{
  PetscFunctionBegin;
  if (r->weights) PetscCall(VecRestoreArrayRead(r->weights, &t->factor));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscReal Factor(const Terms *t, PetscInt j)
{
  return t->factor ? PetscRealPart(t->factor[j]) : 1;
}

/* The minimiser over x of square/2 x^2 + absolute |x| - u x: soft thresholding. */
static inline PetscReal Soft(PetscReal u, PetscReal absolute, PetscReal square)
{
  return u > absolute ? (u - absolute) / square : u < -absolute ? (u + absolute) / square : 0;
}

static PetscErrorCode SetUp_Separable(BMRMRegularizer r, Vec like)
{
  Separable *s = (Separable *)r->data;

  PetscFunctionBegin;
  PetscCall(VecDestroy(&s->inverse));
  r->euclidean = (PetscBool)(s->square == 1 && s->absolute == 0 && !r->weights);
  if (!r->weights || s->absolute > 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecDuplicate(r->weights, &s->inverse));
  PetscCall(VecCopy(r->weights, s->inverse));
  PetscCall(VecScale(s->inverse, s->square));
  PetscCall(VecReciprocal(s->inverse)); /* keeps zeros */
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Value_Separable(BMRMRegularizer r, Vec w, PetscReal *omega)
{
  const Separable   *s = (const Separable *)r->data;
  const PetscScalar *wa;
  PetscReal          sum = 0;
  Terms              t;

  PetscFunctionBegin;
  if (!r->weights && s->absolute == 0) {
    PetscCall(VecNorm(w, NORM_2, omega));
    *omega *= 0.5 * s->square * *omega;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(TermsGet(r, w, &t));
  PetscCall(VecGetArrayRead(w, &wa));
  for (PetscInt j = 0; j < t.n; j++) {
    const PetscReal x = PetscRealPart(wa[j]);

    sum += Factor(&t, j) * (0.5 * t.square * x * x + t.absolute * PetscAbsReal(x));
  }
  PetscCall(VecRestoreArrayRead(w, &wa));
  PetscCall(TermsRestore(r, &t));
  PetscCallMPI(MPI_Allreduce(&sum, omega, 1, MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)w)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* <w, d> and <d, d> in the norm of the squares, summed over all ranks. */
static PetscErrorCode Products(BMRMRegularizer r, Vec w, Vec d, PetscReal *wd, PetscReal *dd)
{
  const Separable   *s = (const Separable *)r->data;
  const PetscScalar *wa, *da;
  PetscReal          mine[2] = {0, 0}, all[2];
  Terms              t;

  PetscFunctionBegin;
  if (!r->weights) {
    PetscScalar dot;

    PetscCall(VecDotNorm2(w, d, &dot, &mine[1]));
    *wd = s->square * PetscRealPart(dot);
    *dd = s->square * mine[1];
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(TermsGet(r, w, &t));
  PetscCall(VecGetArrayRead(w, &wa));
  PetscCall(VecGetArrayRead(d, &da));
  for (PetscInt j = 0; j < t.n; j++) {
    const PetscReal x = t.square * Factor(&t, j) * PetscRealPart(da[j]);

    mine[0] += x * PetscRealPart(wa[j]);
    mine[1] += x * PetscRealPart(da[j]);
  }
  PetscCall(VecRestoreArrayRead(d, &da));
  PetscCall(VecRestoreArrayRead(w, &wa));
  PetscCall(TermsRestore(r, &t));
  PetscCallMPI(MPI_Allreduce(mine, all, 2, MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)w)));
  *wd = all[0];
  *dd = all[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Pieces_Separable(BMRMRegularizer r, PetscReal lambda, Vec w, Vec d, PetscReal *A, PetscReal *B, BMRMPieces *p)
{
  const PetscScalar *wa, *da;
  Terms              t;
  PetscInt           n = p->n;

  PetscFunctionBegin;
  PetscCall(Products(r, w, d, A, B));
  if (((const Separable *)r->data)->absolute == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(TermsGet(r, w, &t));
  PetscCall(BMRMPiecesReserve(p, n + t.n));
  PetscCall(VecGetArrayRead(w, &wa));
  PetscCall(VecGetArrayRead(d, &da));
  for (PetscInt j = 0; j < t.n; j++) {
    const PetscReal c = lambda * t.absolute * Factor(&t, j), x = PetscRealPart(wa[j]), v = PetscRealPart(da[j]);

    p->slope += c * (x > 0 || (x == 0 && v > 0) ? v : -v);
    if (!(x * v < 0)) continue; /* no change of sign at a t > 0 */
    p->kink[n].t    = -x / v;
    p->kink[n].jump = 2 * c * PetscAbsReal(v);
    p->kink[n].bend = 0;
    n++;
  }
  p->n = n;
  PetscCall(VecRestoreArrayRead(d, &da));
  PetscCall(VecRestoreArrayRead(w, &wa));
  PetscCall(TermsRestore(r, &t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Derivative_Separable(BMRMRegularizer r, PetscReal lambda, Vec w, Vec d, PetscReal step, PetscReal out[2])
{
  const PetscScalar *wa, *da;
  PetscReal          first = 0, second = 0;
  Terms              t;

  PetscFunctionBegin;
  PetscCall(TermsGet(r, w, &t));
  PetscCall(VecGetArrayRead(w, &wa));
  PetscCall(VecGetArrayRead(d, &da));
  for (PetscInt j = 0; j < t.n; j++) {
    const PetscReal v = PetscRealPart(da[j]), x = PetscRealPart(wa[j]) + step * v, c = Factor(&t, j);

    first += c * (t.square * x * v + t.absolute * (x > 0 || (x == 0 && v > 0) ? v : -v));
    second += c * t.square * v * v;
  }
  PetscCall(VecRestoreArrayRead(d, &da));
  PetscCall(VecRestoreArrayRead(w, &wa));
  PetscCall(TermsRestore(r, &t));
  out[0] = lambda * first;
  out[1] = lambda * second;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solve_Separable(BMRMRegularizer r, Vec a)
{
  const Separable *s = (const Separable *)r->data;

  PetscFunctionBegin;
  if (s->inverse) PetscCall(VecPointwiseMult(a, a, s->inverse));
  else if (s->square != 1) PetscCall(VecScale(a, 1 / s->square));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Proximal_Separable(BMRMRegularizer r, PetscReal lambda, PetscReal rho, Vec c, Vec v, Vec w)
{
  const PetscScalar *ca, *va;
  PetscScalar       *wa;
  Terms              t;

  PetscFunctionBegin;
  PetscCall(TermsGet(r, w, &t));
  PetscCall(VecGetArrayRead(c, &ca));
  PetscCall(VecGetArrayRead(v, &va));
  PetscCall(VecGetArrayWrite(w, &wa));
  for (PetscInt j = 0; j < t.n; j++) {
    const PetscReal f = lambda * Factor(&t, j);

    wa[j] = Soft(rho * PetscRealPart(ca[j]) - PetscRealPart(va[j]), f * t.absolute, f * t.square + rho);
  }
  PetscCall(VecRestoreArrayWrite(w, &wa));
  PetscCall(VecRestoreArrayRead(v, &va));
  PetscCall(VecRestoreArrayRead(c, &ca));
  PetscCall(TermsRestore(r, &t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Hessian_Separable(BMRMRegularizer r, PetscReal lambda, PetscReal rho, Vec c, Vec v, PetscInt n, const Vec a[], PetscReal H[])
{
  const PetscScalar *ca, *va, *aa;
  PetscReal         *scaled, *rows;
  PetscInt           k = 0, *in;
  Terms              t;

  PetscFunctionBegin;
  PetscCall(TermsGet(r, v, &t));
  PetscCall(PetscMalloc3(t.n, &in, t.n, &scaled, (size_t)n * t.n, &rows));
  PetscCall(VecGetArrayRead(c, &ca));
  PetscCall(VecGetArrayRead(v, &va));
  for (PetscInt j = 0; j < t.n; j++) { /* the weights that are not thresholded to zero */
    const PetscReal f = lambda * Factor(&t, j);

    if (Soft(rho * PetscRealPart(ca[j]) - PetscRealPart(va[j]), f * t.absolute, 1) == 0 && f * t.absolute > 0) continue;
    in[k]       = j;
    scaled[k++] = PetscSqrtReal(1 / (f * t.square + rho));
  }
  PetscCall(VecRestoreArrayRead(v, &va));
  PetscCall(VecRestoreArrayRead(c, &ca));
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
  PetscCall(TermsRestore(r, &t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Shrink_Separable(BMRMRegularizer r, PetscReal lambda, Vec v, PetscReal *shrink)
{
  const PetscScalar *va;
  PetscReal          least = 1;
  Terms              t;

  PetscFunctionBegin;
  PetscCall(TermsGet(r, v, &t));
  PetscCall(VecGetArrayRead(v, &va));
  for (PetscInt j = 0; t.square == 0 && j < t.n; j++) {
    const PetscReal x = PetscAbsReal(PetscRealPart(va[j])), bound = lambda * t.absolute * Factor(&t, j);

    if (x > bound && Factor(&t, j) > 0) least = PetscMin(least, bound / x);
  }
  PetscCall(VecRestoreArrayRead(v, &va));
  PetscCall(TermsRestore(r, &t));
  PetscCallMPI(MPI_Allreduce(&least, shrink, 1, MPIU_REAL, MPIU_MIN, PetscObjectComm((PetscObject)v)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Least_Separable(BMRMRegularizer r, PetscReal lambda, Vec v, PetscReal *value)
{
  const PetscScalar *va;
  PetscReal          sum = 0;
  Terms              t;

  PetscFunctionBegin;
  PetscCall(TermsGet(r, v, &t));
  PetscCall(VecGetArrayRead(v, &va));
  for (PetscInt j = 0; t.square > 0 && j < t.n; j++) {
    const PetscReal f = lambda * Factor(&t, j), over = PetscAbsReal(PetscRealPart(va[j])) - f * t.absolute;

    if (over > 0 && f > 0) sum -= 0.5 * over * over / (f * t.square);
  }
  PetscCall(VecRestoreArrayRead(v, &va));
  PetscCall(TermsRestore(r, &t));
  PetscCallMPI(MPI_Allreduce(&sum, value, 1, MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)v)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Destroy_Separable(BMRMRegularizer r)
{
  PetscFunctionBegin;
  PetscCall(VecDestroy(&((Separable *)r->data)->inverse));
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
  Separable *s;

  PetscFunctionBegin;
  PetscCall(PetscNew(&s));
  s->square          = square;
  s->absolute        = absolute;
  r->data            = s;
  r->proximal        = (PetscBool)(square == 0);
  r->ops->setup      = SetUp_Separable;
  r->ops->value      = Value_Separable;
  r->ops->pieces     = Pieces_Separable;
  r->ops->derivative = Derivative_Separable;
  if (absolute == 0) r->ops->solve = Solve_Separable;
  r->ops->proximal = Proximal_Separable;
  r->ops->hessian  = Hessian_Separable;
  r->ops->shrink   = Shrink_Separable;
  r->ops->least    = Least_Separable;
  r->ops->destroy  = Destroy_Separable;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BMRMRegularizerDestroy_Private(BMRMRegularizer *r)
{
  PetscFunctionBegin;
  if (!*r) PetscFunctionReturn(PETSC_SUCCESS);
  if ((*r)->ops->destroy) PetscCall((*(*r)->ops->destroy)(*r));
  PetscCall(VecDestroy(&(*r)->weights));
  PetscCall(PetscFree(*r));
  PetscFunctionReturn(PETSC_SUCCESS);
}
