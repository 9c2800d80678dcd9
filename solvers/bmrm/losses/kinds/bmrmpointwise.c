/* Losses that are means over the examples of a function of one score. */
#include "bmrmkinds.h"

/* The smallest value of a convex function is the offset of its cut with slope 0. */
static PetscErrorCode BMRMLossLeast_Pointwise(BMRMLoss l, Vec y, PetscInt n, PetscReal least[])
{
  const BMRMPointwise *pw = (const BMRMPointwise *)((BMRMMean *)l->data)->of;
  const PetscScalar   *ya;
  PetscInt             m, start;

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(least, n));
  PetscCall(VecGetLocalSize(y, &m));
  PetscCall(VecGetOwnershipRange(y, &start, NULL));
  PetscCall(VecGetArrayRead(y, &ya));
  for (PetscInt i = 0; i < m; i++) least[(start + i) % n] += l->scale * (l->weight ? l->weight[i] : 1) * (*pw->offset)(0, ya[i], l->value);
  PetscCall(VecRestoreArrayRead(y, &ya));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, least, (PetscMPIInt)n, MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)y)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Runs on the host for all types of vectors. */
static PetscErrorCode BMRMLossPieces_Pointwise(BMRMLoss l, Vec f, Vec e, Vec y, BMRMPieces *p)
{
  const BMRMPointwise *pw   = (const BMRMPointwise *)((BMRMMean *)l->data)->of;
  BMRMScores           x    = {.k = 1, .p = l->value, .v = l->weight};
  const PetscReal      zero = 0;
  PetscReal            d[2] = {0, 0};
  PetscInt             n;

  PetscFunctionBegin;
  PetscCall((*l->ops->slopes)(l, f, e, 1, &zero, y, d));
  p->slope += d[0];
  p->curve += d[1];
  PetscCall(VecGetLocalSize(y, &n));
  x.n = n;
  PetscCall(BMRMPiecesReserve(p, p->n + pw->kinks * n + 1)); /* one entry more, because the branch-free loop writes past the kinks that it keeps */
  PetscCall(VecGetArrayRead(f, &x.f));
  PetscCall(VecGetArrayRead(e, &x.e));
  PetscCall(VecGetArrayRead(y, &x.y));
  p->n += (PetscInt)(*pw->pieces)(&x, l->scale, p->end, p->kink + p->n);
  PetscCall(VecRestoreArrayRead(y, &x.y));
  PetscCall(VecRestoreArrayRead(e, &x.e));
  PetscCall(VecRestoreArrayRead(f, &x.f));
  PetscCall(PetscLogFlops(6.0 * pw->kinks * n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  BMRMLossSetPointwise - Sets the operations of a loss that is a mean over the examples

  Not Collective

  Input Parameters:
+ l    - the loss
. host - the formulas and the host kernels, defined by bmrmpointwise.h
- cuda - the CUDA kernels, or `NULL`: then vectors on a GPU are copied to the host

  Level: developer

.seealso: `BMRMLossRegister()`
@*/
PetscErrorCode BMRMLossSetPointwise(BMRMLoss l, const BMRMPointwise *host, const BMRMKernels *cuda)
{
  static const PetscLogDouble flops[] = {4, 6, 10};

  PetscFunctionBegin;
  PetscCall(BMRMLossSetMean_Private(l, host, &host->kernels, cuda, flops));
  l->ops->least = BMRMLossLeast_Pointwise;
  if (host->pieces) l->ops->pieces = BMRMLossPieces_Pointwise;
  PetscCall(BMRMLossDescribe(l, host->task, host->fits, host->labels, host->nparameter, host->parameter));
  l->steps = (PetscBool)(*host->steps)(l->value);
  PetscFunctionReturn(PETSC_SUCCESS);
}
