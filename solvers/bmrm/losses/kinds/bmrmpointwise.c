/* Losses that are means over the examples: apply their host or CUDA kernels to PETSc vectors. */
#include "solvers/bmrm/bmrmimpl.h"

typedef struct {
  const BMRMPointwise        *pw;
  const BMRMPointwiseKernels *cuda;
  BMRMPlace                   at;
} Pointwise;

/* Gets the arrays, and the kernels for the memory that they are in. */
static PetscErrorCode Get(Pointwise *pt, Vec f, Vec e, Vec y, const BMRMPointwiseKernels **kernels)
{
  PetscFunctionBegin;
  PetscCall(BMRMPlaceGet_Private(&pt->at, (PetscBool)(pt->cuda != NULL), f, e, y));
  *kernels = pt->at.gpu ? pt->cuda : &pt->pw->kernels;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Risk_Pointwise(BMRMLoss l, Vec f, Vec e, PetscReal s, Vec y, PetscReal *risk)
{
  Pointwise                  *pt      = (Pointwise *)l->data;
  BMRMPlace                  *at      = &pt->at;
  const BMRMPointwiseKernels *kernels = NULL;
  PetscReal                   sum;

  PetscFunctionBegin;
  PetscCall(Get(pt, f, e, y, &kernels));
  PetscCallDevice(at->work.dev, "The loss", (*kernels->risk)(&at->work, at->n, l->value, at->f, at->e, s, at->y));
  PetscCall(BMRMPlaceRestore_Private(at, f, e, y, 4));
  sum = l->scale * at->work.result[0];
  PetscCallMPI(MPI_Allreduce(&sum, risk, 1, MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)y)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Cut_Pointwise(BMRMLoss l, Vec f, Vec e, PetscReal s, Vec y, PetscInt n, PetscInt k, Vec r, PetscReal *offset)
{
  Pointwise                  *pt      = (Pointwise *)l->data;
  BMRMPlace                  *at      = &pt->at;
  const BMRMPointwiseKernels *kernels = NULL;
  PetscScalar                *ra;
  PetscReal                   sum;

  PetscFunctionBegin;
  PetscCall(Get(pt, f, e, y, &kernels));
  PetscCall(BMRMPlaceGetWrite_Private(at, r, &ra));
  PetscCallDevice(at->work.dev, "The loss", (*kernels->cut)(&at->work, at->n, at->start, (int)n, (int)k, l->value, l->scale, at->f, at->e, s, at->y, ra));
  PetscCall(BMRMPlaceRestoreWrite_Private(at, r, &ra));
  PetscCall(BMRMPlaceRestore_Private(at, f, e, y, 6));
  sum = l->scale * at->work.result[0];
  PetscCallMPI(MPI_Allreduce(&sum, offset, 1, MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)y)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The smallest value of a convex function is the offset of its cut with slope 0. */
static PetscErrorCode Least_Pointwise(BMRMLoss l, Vec y, PetscInt n, PetscReal least[])
{
  const Pointwise   *pt                   = (const Pointwise *)l->data;
  PetscReal          sum[BMRM_MAX_BLOCKS] = {0};
  const PetscScalar *ya;
  PetscInt           m, start;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(y, &m));
  PetscCall(VecGetOwnershipRange(y, &start, NULL));
  PetscCall(VecGetArrayRead(y, &ya));
  for (PetscInt i = 0; i < m; i++) sum[(start + i) % n] += l->scale * (*pt->pw->offset)(0, ya[i], l->value);
  PetscCall(VecRestoreArrayRead(y, &ya));
  PetscCallMPI(MPI_Allreduce(sum, least, (PetscMPIInt)n, MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)y)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Slopes_Pointwise(BMRMLoss l, Vec f, Vec e, PetscInt nt, const PetscReal t[], Vec y, PetscReal d[])
{
  Pointwise                  *pt      = (Pointwise *)l->data;
  BMRMPlace                  *at      = &pt->at;
  const BMRMPointwiseKernels *kernels = NULL;

  PetscFunctionBegin;
  PetscCall(Get(pt, f, e, y, &kernels));
  PetscCallDevice(at->work.dev, "The loss", (*kernels->slopes)(&at->work, at->n, l->value, at->f, at->e, (int)nt, t, at->y));
  PetscCall(BMRMPlaceRestore_Private(at, f, e, y, 10.0 * (PetscLogDouble)nt));
  for (PetscInt k = 0; k < 2 * nt; k++) d[k] = l->scale * at->work.result[k];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Runs on the host for all types of vectors. */
static PetscErrorCode Pieces_Pointwise(BMRMLoss l, Vec f, Vec e, Vec y, BMRMPieces *p)
{
  const Pointwise   *pt = (const Pointwise *)l->data;
  const PetscScalar *fa, *ea, *ya;
  const PetscReal    zero = 0;
  PetscReal          d[2] = {0, 0};
  PetscInt           n;

  PetscFunctionBegin;
  PetscCall(Slopes_Pointwise(l, f, e, 1, &zero, y, d));
  p->slope += d[0];
  p->curve += d[1];
  PetscCall(VecGetLocalSize(y, &n));
  PetscCall(BMRMPiecesReserve(p, p->n + pt->pw->kinks * n + 1)); /* one entry more, because the branch-free loop writes past the kinks that it keeps */
  PetscCall(VecGetArrayRead(f, &fa));
  PetscCall(VecGetArrayRead(e, &ea));
  PetscCall(VecGetArrayRead(y, &ya));
  p->n += (PetscInt)(*pt->pw->pieces)(n, l->value, l->scale, p->end, fa, ea, ya, p->kink + p->n);
  PetscCall(VecRestoreArrayRead(y, &ya));
  PetscCall(VecRestoreArrayRead(e, &ea));
  PetscCall(VecRestoreArrayRead(f, &fa));
  PetscCall(PetscLogFlops(6.0 * pt->pw->kinks * n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Destroy_Pointwise(BMRMLoss l)
{
  PetscFunctionBegin;
  PetscCall(BMRMPlaceDestroy_Private(&((Pointwise *)l->data)->at));
  PetscCall(PetscFree(l->data));
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
PetscErrorCode BMRMLossSetPointwise(BMRMLoss l, const BMRMPointwise *host, const BMRMPointwiseKernels *cuda)
{
  Pointwise *pt;

  PetscFunctionBegin;
  PetscCall(PetscNew(&pt));
  pt->pw          = host;
  pt->cuda        = cuda;
  l->data         = pt;
  l->ops->risk    = Risk_Pointwise;
  l->ops->cut     = Cut_Pointwise;
  l->ops->least   = Least_Pointwise;
  l->ops->slopes  = Slopes_Pointwise;
  l->ops->destroy = Destroy_Pointwise;
  if (host->pieces) l->ops->pieces = Pieces_Pointwise;
  PetscCall(BMRMLossDescribe(l, host->task, host->fits, host->labels, host->nparameter, host->parameter));
  l->steps = (PetscBool)(*host->steps)(l->value);
  PetscFunctionReturn(PETSC_SUCCESS);
}
