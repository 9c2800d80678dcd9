/* The bundle: stores the cuts, their offsets and Gram matrix, drops or merges cuts, and computes weighted sums of cuts. */
#include "solvers/bmrm/bmrmimpl.h"

static PetscErrorCode BMRMBundleReserve(BMRMBundle *bu, PetscInt cap)
{
  BMRMBundle old = *bu;

  PetscFunctionBegin;
  if (cap <= bu->cap) PetscFunctionReturn(PETSC_SUCCESS);
  bu->cap = PetscMax(cap, PetscMax(32, 2 * old.cap));
  PetscCall(PetscCalloc7(bu->cap, &bu->a, bu->cap, &bu->b, (size_t)bu->cap * bu->nfree, &bu->z, bu->cap, &bu->alpha, bu->cap, &bu->idle, bu->cap, &bu->block, (size_t)bu->cap * bu->cap, &bu->G));
  PetscCall(PetscCalloc3(bu->cap, &bu->spare, bu->cap, &bu->va, bu->cap, &bu->work));
  PetscCall(PetscArraycpy(bu->a, old.a, old.n));
  PetscCall(PetscArraycpy(bu->b, old.b, old.n));
  PetscCall(PetscArraycpy(bu->z, old.z, (size_t)old.n * bu->nfree));
  PetscCall(PetscArraycpy(bu->alpha, old.alpha, old.n));
  PetscCall(PetscArraycpy(bu->idle, old.idle, old.n));
  PetscCall(PetscArraycpy(bu->block, old.block, old.n));
  PetscCall(PetscArraycpy(bu->spare, old.spare, old.nspare));
  for (PetscInt i = 0; i < old.n; i++) PetscCall(PetscArraycpy(bu->G + (size_t)i * bu->cap, old.G + (size_t)i * old.cap, old.n));
  PetscCall(PetscFree7(old.a, old.b, old.z, old.alpha, old.idle, old.block, old.G));
  PetscCall(PetscFree3(old.spare, old.va, old.work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates the bundle with one constant cut for each block: the smallest risk of the block, with weight 1. nfree: number of free weights */
PetscErrorCode BMRMBundleCreate(BMRMBundle *bu, PetscInt nblock, PetscInt nfree, const PetscReal least[])
{
  PetscFunctionBegin;
  PetscCall(BMRMBundleDestroy(bu));
  bu->nfree = nfree;
  PetscCall(BMRMBundleReserve(bu, nblock));
  bu->n = bu->peak = bu->nblock = nblock;
  for (PetscInt k = 0; k < nblock; k++) {
    bu->alpha[k] = 1;
    bu->b[k]     = least[k];
    bu->block[k] = k;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BMRMBundleDestroy(BMRMBundle *bu)
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < bu->n; i++) PetscCall(VecDestroy(&bu->a[i]));
  for (PetscInt i = 0; i < bu->nspare; i++) PetscCall(VecDestroy(&bu->spare[i]));
  PetscCall(VecDestroy(&bu->image));
  PetscCall(PetscFree7(bu->a, bu->b, bu->z, bu->alpha, bu->idle, bu->block, bu->G));
  PetscCall(PetscFree3(bu->spare, bu->va, bu->work));
  bu->n = bu->cap = bu->nspare = bu->peak = bu->nblock = bu->nfree = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets a vector with the layout of w for the next cut, if possible one of a dropped cut. The caller owns it until BMRMBundleAdd(). */
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
  Adds the cut <a, w> + b of a block with weight 0. The bundle takes over the vector. If the regulariser is half a squared norm, one VecMDot()
  computes the row of the Gram matrix. *square is finite if and only if a is.
*/
PetscErrorCode BMRMBundleAdd(BMRMBundle *bu, BMRMRegularizer r, PetscInt block, Vec a, PetscReal b, PetscReal *square)
{
  const PetscInt n = bu->n, m = bu->nblock;

  PetscFunctionBegin;
  PetscCall(BMRMBundleReserve(bu, n + 1));
  bu->a[n]     = a;
  bu->b[n]     = b;
  bu->block[n] = block;
  bu->alpha[n] = 0;
  bu->idle[n]  = 0;
  bu->n++;
  bu->peak = PetscMax(bu->peak, bu->n);
  PetscCall(BMRMFreeGet_Private(r, a, bu->z + (size_t)n * bu->nfree));
  if (r->ops->solve) {
    PetscScalar *dots  = bu->work;
    Vec          image = a;

    if (!r->euclidean) {
      if (!bu->image) PetscCall(VecDuplicate(a, &bu->image));
      PetscCall(VecCopy(a, image = bu->image));
      PetscCall((*r->ops->solve)(r, image));
    }
    PetscCall(VecMDot(image, n + 1 - m, bu->a + m, dots));
    for (PetscInt i = 0; i < m; i++) bu->G[(size_t)n * bu->cap + i] = bu->G[(size_t)i * bu->cap + n] = 0;
    for (PetscInt i = m; i <= n; i++) bu->G[(size_t)n * bu->cap + i] = bu->G[(size_t)i * bu->cap + n] = PetscRealPart(dots[i - m]);
    *square = PetscRealPart(dots[n - m]);
  } else PetscCall(VecNorm(a, NORM_2, square));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Keeps the first cut of every block and the marked cuts. The vectors of the other cuts become spare vectors. */
static PetscErrorCode BMRMBundleKeepMarked(BMRMBundle *bu, const PetscBool marked[])
{
  const PetscInt n = bu->n, ld = bu->cap;
  PetscInt       k = bu->nblock, *keep;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, &keep));
  for (PetscInt i = 0; i < k; i++) keep[i] = i;
  for (PetscInt i = bu->nblock; i < n; i++) {
    if (marked[i]) keep[k++] = i;
    else bu->spare[bu->nspare++] = bu->a[i];
  }
  if (k < n) {
    for (PetscInt i = bu->nblock; i < k; i++) { /* keep[i] >= i: no entry is overwritten before it is read */
      bu->a[i]     = bu->a[keep[i]];
      bu->b[i]     = bu->b[keep[i]];
      bu->block[i] = bu->block[keep[i]];
      bu->alpha[i] = bu->alpha[keep[i]];
      bu->idle[i]  = bu->idle[keep[i]];
      for (PetscInt c = 0; c < bu->nfree; c++) bu->z[(size_t)i * bu->nfree + c] = bu->z[(size_t)keep[i] * bu->nfree + c];
      for (PetscInt j = 0; j < k; j++) bu->G[(size_t)i * ld + j] = bu->G[(size_t)keep[i] * ld + keep[j]];
    }
    for (PetscInt i = k; i < n; i++) bu->a[i] = NULL;
  }
  PetscCall(PetscFree(keep));
  bu->n = k;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Updates the ages of the cuts from the last weights. Drops cuts that had no weight in max_idle consecutive solutions; 0 keeps all. */
PetscErrorCode BMRMBundleDropIdle(BMRMBundle *bu, PetscInt max_idle)
{
  PetscBool *marked;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < bu->n; i++) bu->idle[i] = bu->alpha[i] > 0 ? 0 : bu->idle[i] + 1;
  if (max_idle <= 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(bu->n, &marked));
  for (PetscInt i = 0; i < bu->n; i++) marked[i] = (PetscBool)(bu->idle[i] < max_idle);
  PetscCall(BMRMBundleKeepMarked(bu, marked));
  PetscCall(PetscFree(marked));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  If the bundle holds more than max cuts, replaces those with the smallest weights by their weighted means, one for each block. Half of the
  maximum remains. A convex combination of cuts is a cut, and the dual value of the model does not change, so that the lower bound does not
  decrease.
*/
PetscErrorCode BMRMBundleCompress(BMRMBundle *bu, BMRMRegularizer r, PetscInt max)
{
  const PetscInt n = bu->n, m = bu->nblock;
  PetscBool     *marked;
  PetscReal     *weight, mass[BMRM_MAX_BLOCKS] = {0}, offset[BMRM_MAX_BLOCKS] = {0};
  Vec            mean[BMRM_MAX_BLOCKS] = {NULL};
  PetscInt      *order, gone;

  PetscFunctionBegin;
  if (max <= 0 || n - m <= max) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc3(n, &marked, n, &weight, n, &order));
  gone = PetscMin(n - m, n - m - max / 2 + m); /* the means are cuts, too */
  for (PetscInt i = 0; i < n; i++) {
    marked[i] = PETSC_TRUE;
    order[i]  = i;
    weight[i] = i < m ? PETSC_INFINITY : bu->alpha[i] - 1e-12 * bu->idle[i]; /* among cuts without weight those with the largest age come first */
  }
  PetscCall(PetscSortRealWithPermutation(n, weight, order));
  for (PetscInt i = 0; i < gone; i++) {
    const PetscInt cut = order[i], k = bu->block[cut];

    marked[cut] = PETSC_FALSE;
    if (bu->alpha[cut] <= 0) continue;
    if (!mean[k]) {
      PetscCall(BMRMBundleGetVec(bu, bu->a[cut], &mean[k])); /* reuses a spare vector; otherwise the number of spare vectors would grow */
      PetscCall(VecSet(mean[k], 0));
    }
    PetscCall(VecAXPY(mean[k], bu->alpha[cut], bu->a[cut]));
    offset[k] += bu->alpha[cut] * bu->b[cut];
    mass[k] += bu->alpha[cut];
  }
  PetscCall(BMRMBundleKeepMarked(bu, marked));
  PetscCall(PetscFree3(marked, weight, order));
  for (PetscInt k = 0; k < m; k++) {
    PetscReal square;

    if (!mean[k]) continue;
    PetscCall(VecScale(mean[k], 1 / mass[k]));
    PetscCall(BMRMBundleAdd(bu, r, k, mean[k], offset[k] / mass[k], &square));
    bu->alpha[bu->n - 1] = mass[k];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* v = sum_i alpha_i a_i by one VecMAXPY(), and *ab = b'alpha. */
PetscErrorCode BMRMBundleSum(BMRMBundle *bu, const PetscReal alpha[], Vec v, PetscReal *ab)
{
  PetscInt k = 0;

  PetscFunctionBegin;
  *ab = 0;
  for (PetscInt i = 0; i < bu->n; i++) {
    *ab += alpha[i] * bu->b[i];
    if (alpha[i] == 0 || !bu->a[i]) continue;
    bu->va[k]     = bu->a[i];
    bu->work[k++] = alpha[i];
  }
  PetscCall(VecSet(v, 0));
  PetscCall(VecMAXPY(v, k, bu->work, bu->va));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Restores the bundle from a checkpoint, except the values of the vectors. The line of a cut: block, age, offset, weight, entries at the free
   weights, row of G. */
PetscErrorCode BMRMBundleRefill(BMRMBundle *bu, Vec like, PetscInt n, const double lines[])
{
  PetscFunctionBegin;
  PetscCall(BMRMBundleReserve(bu, n));
  for (PetscInt i = 0; i < n; i++, lines += 4 + bu->nfree + n) {
    bu->block[i] = (PetscInt)lines[0];
    bu->idle[i]  = (PetscInt)lines[1];
    bu->b[i]     = lines[2];
    bu->alpha[i] = lines[3];
    PetscCall(PetscArraycpy(bu->z + (size_t)i * bu->nfree, lines + 4, bu->nfree));
    PetscCall(PetscArraycpy(bu->G + (size_t)i * bu->cap, lines + 4 + bu->nfree, n));
    if (i >= bu->nblock) PetscCall(BMRMBundleGetVec(bu, like, &bu->a[i]));
  }
  bu->n = n;
  PetscFunctionReturn(PETSC_SUCCESS);
}
