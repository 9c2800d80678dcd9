/* The bundle: cuts as vectors, their offsets and Gram matrix, and the point that a weighting of them stands for. */
#include "bmrmimpl.h"

static PetscErrorCode BMRMBundleReserve(BMRMBundle *bu, PetscInt cap)
{
  BMRMBundle old = *bu;

  PetscFunctionBegin;
  if (cap <= bu->cap) PetscFunctionReturn(PETSC_SUCCESS);
  bu->cap = PetscMax(cap, PetscMax(32, 2 * old.cap));
  PetscCall(PetscCalloc5(bu->cap, &bu->a, bu->cap, &bu->b, bu->cap, &bu->alpha, bu->cap, &bu->idle, (size_t)bu->cap * bu->cap, &bu->G));
  PetscCall(PetscCalloc3(bu->cap, &bu->spare, bu->cap, &bu->va, bu->cap, &bu->work));
  PetscCall(PetscArraycpy(bu->a, old.a, old.n));
  PetscCall(PetscArraycpy(bu->b, old.b, old.n));
  PetscCall(PetscArraycpy(bu->alpha, old.alpha, old.n));
  PetscCall(PetscArraycpy(bu->idle, old.idle, old.n));
  PetscCall(PetscArraycpy(bu->spare, old.spare, old.nspare));
  for (PetscInt i = 0; i < old.n; i++) PetscCall(PetscArraycpy(bu->G + (size_t)i * bu->cap, old.G + (size_t)i * old.cap, old.n));
  PetscCall(PetscFree5(old.a, old.b, old.alpha, old.idle, old.G));
  PetscCall(PetscFree3(old.spare, old.va, old.work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The bundle of one cut, the constant zero, which has all the weight. */
PetscErrorCode BMRMBundleCreate(BMRMBundle *bu)
{
  PetscFunctionBegin;
  PetscCall(BMRMBundleDestroy(bu));
  PetscCall(BMRMBundleReserve(bu, 1));
  bu->n = bu->peak = 1;
  bu->alpha[0]     = 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BMRMBundleDestroy(BMRMBundle *bu)
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < bu->n; i++) PetscCall(VecDestroy(&bu->a[i]));
  for (PetscInt i = 0; i < bu->nspare; i++) PetscCall(VecDestroy(&bu->spare[i]));
  PetscCall(PetscFree5(bu->a, bu->b, bu->alpha, bu->idle, bu->G));
  PetscCall(PetscFree3(bu->spare, bu->va, bu->work));
  bu->n = bu->cap = bu->nspare = bu->peak = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A vector like w for the next cut, from those of dropped cuts while there are any; the caller owns it until BMRMBundleAdd(). */
PetscErrorCode BMRMBundleGetVec(BMRMBundle *bu, Vec w, Vec *a)
{
  PetscFunctionBegin;
  if (bu->nspare) {
    *a                    = bu->spare[--bu->nspare];
    bu->spare[bu->nspare] = NULL;
  } else PetscCall(VecDuplicate(w, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Adds the cut <a, w> + b with weight zero; the bundle takes over the vector. One VecMDot() gives the row of the Gram matrix,
  whose last entry, the square of a, is returned.
*/
PetscErrorCode BMRMBundleAdd(BMRMBundle *bu, Vec a, PetscReal b, PetscReal *square)
{
  const PetscInt n = bu->n;
  PetscScalar   *dots;

  PetscFunctionBegin;
  PetscCall(BMRMBundleReserve(bu, n + 1));
  bu->a[n]     = a;
  bu->b[n]     = b;
  bu->alpha[n] = 0;
  bu->idle[n]  = 0;
  bu->n++;
  bu->peak = PetscMax(bu->peak, bu->n);
  PetscCall(PetscMalloc1(n, &dots));
  PetscCall(VecMDot(a, n, bu->a + 1, dots));
  bu->G[(size_t)n * bu->cap] = bu->G[n] = 0;
  for (PetscInt i = 1; i <= n; i++) bu->G[(size_t)n * bu->cap + i] = bu->G[(size_t)i * bu->cap + n] = PetscRealPart(dots[i - 1]);
  *square = PetscRealPart(dots[n - 1]);
  PetscCall(PetscFree(dots));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ages the cuts by the last weights and drops those without weight for max_idle solutions in a row; 0 keeps all. */
PetscErrorCode BMRMBundleDropIdle(BMRMBundle *bu, PetscInt max_idle, PetscInt *dropped)
{
  const PetscInt n = bu->n, ld = bu->cap;
  PetscInt       k = 1, *keep;

  PetscFunctionBegin;
  *dropped = 0;
  for (PetscInt i = 0; i < n; i++) bu->idle[i] = bu->alpha[i] > 0 ? 0 : bu->idle[i] + 1;
  if (max_idle <= 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(n, &keep));
  keep[0] = 0;
  for (PetscInt i = 1; i < n; i++) {
    if (bu->idle[i] < max_idle) keep[k++] = i;
    else bu->spare[bu->nspare++] = bu->a[i];
  }
  if (k < n) {
    for (PetscInt i = 1; i < k; i++) { /* keep[i] >= i: nothing is overwritten before it is read */
      bu->a[i]     = bu->a[keep[i]];
      bu->b[i]     = bu->b[keep[i]];
      bu->alpha[i] = bu->alpha[keep[i]];
      bu->idle[i]  = bu->idle[keep[i]];
      for (PetscInt j = 0; j < k; j++) bu->G[(size_t)i * ld + j] = bu->G[(size_t)keep[i] * ld + keep[j]];
    }
    for (PetscInt i = k; i < n; i++) bu->a[i] = NULL;
  }
  PetscCall(PetscFree(keep));
  *dropped = n - k;
  bu->n    = k;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  wq = -A alpha / lambda by one VecMAXPY(), and the dual value b'alpha - lambda/2 ||wq||^2: no w has a smaller objective.
  The value is taken from the vector itself and not from the Gram matrix, where more would cancel.
*/
PetscErrorCode BMRMBundleCombine(BMRMBundle *bu, PetscReal lambda, Vec wq, PetscReal *dual)
{
  PetscScalar *scale = bu->work;
  PetscReal    norm, ab = 0;
  PetscInt     k = 0;

  PetscFunctionBegin;
  for (PetscInt i = 1; i < bu->n; i++) {
    ab += bu->alpha[i] * bu->b[i];
    if (bu->alpha[i] <= 0) continue;
    bu->va[k]  = bu->a[i];
    scale[k++] = -bu->alpha[i] / lambda;
  }
  PetscCall(VecSet(wq, 0));
  PetscCall(VecMAXPY(wq, k, scale, bu->va));
  PetscCall(VecNorm(wq, NORM_2, &norm));
  *dual = ab - 0.5 * lambda * norm * norm;
  PetscFunctionReturn(PETSC_SUCCESS);
}
