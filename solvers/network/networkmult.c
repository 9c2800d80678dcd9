/* Products with the matrix of the links, scaling of the results, and the test for cycles. */
#include "networkimpl.h"

PetscErrorCode NetworkMult_Private(Network nw, Vec x, Vec y)
{
  PetscFunctionBegin;
  PetscCall(MatMult(nw->links, x, y));
  nw->matmults++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode NetworkMultTranspose_Private(Network nw, Vec x, Vec y)
{
  PetscFunctionBegin;
  if (nw->symmetric) PetscCall(MatMult(nw->links, x, y));
  else PetscCall(MatMultTranspose(nw->links, x, y));
  nw->matmults++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode NetworkAddQuantity_Private(Network nw, const char name[], PetscReal value)
{
  PetscFunctionBegin;
  PetscCheck(nw->nquantities < NETWORK_MAX_QUANTITIES, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Too many quantities");
  nw->quantityname[nw->nquantities] = name;
  nw->quantity[nw->nquantities++]   = value;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode NetworkClip_Private(Network nw, Vec x)
{
  PetscScalar *a;

  PetscFunctionBegin;
  PetscCall(VecGetArray(x, &a));
  for (PetscInt k = 0; k < nw->n; k++) a[k] = PetscMax(a[k], 0.0);
  PetscCall(VecRestoreArray(x, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode NetworkScaleResults_Private(Network nw)
{
  const NetworkScale scale = nw->scale == NETWORK_SCALE_AUTO ? nw->measure->scale : nw->scale;

  PetscFunctionBegin;
  if (nw->measure->type != NETWORK_RESULT_SCORE || scale == NETWORK_SCALE_NONE) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt k = 0; k < nw->nresults; k++) {
    PetscReal norm;

    PetscCall(VecNorm(nw->x[k], scale == NETWORK_SCALE_SUM ? NORM_1 : scale == NETWORK_SCALE_NORM ? NORM_2 : NORM_INFINITY, &norm));
    if (norm > 0) PetscCall(VecScale(nw->x[k], 1 / norm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Tests whether the graph has a cycle. Each round removes, by one product, the nodes that have no incoming links from the remaining nodes. If a round removes no
   node, the rest has a cycle. */
PetscErrorCode NetworkHasCycle_Private(Network nw, PetscBool *cycle)
{
  PetscScalar left, before = nw->N;
  Vec         x, y;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(nw->x[0], &x));
  PetscCall(VecDuplicate(nw->x[0], &y));
  PetscCall(VecSet(x, 1.0));
  for (PetscInt k = 0;; k++, before = left) {
    PetscScalar *a;

    PetscCall(NetworkMult_Private(nw, x, y));
    PetscCall(VecGetArray(y, &a));
    for (PetscInt r = 0; r < nw->n; r++) a[r] = a[r] > 0;
    PetscCall(VecRestoreArray(y, &a));
    PetscCall(VecSum(y, &left));
    if (left == 0 || left == before || k >= nw->max_it) break;
    PetscCall(VecSwap(x, y));
  }
  *cycle = (PetscBool)(left > 0);
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}
