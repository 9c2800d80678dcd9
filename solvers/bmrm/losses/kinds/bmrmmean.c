/* Losses that are means over the examples, with one or several scores per example: apply their host or CUDA kernels to PETSc vectors. */
#include "bmrmkinds.h"

/* Gets the arrays, and the kernels for the memory that they are in. at->start becomes the number of the first example of this rank. */
static PetscErrorCode BMRMMeanGet(BMRMLoss l, Vec f, Vec e, Vec y, const BMRMKernels **kernels, BMRMScores *x)
{
  BMRMMean      *mean   = (BMRMMean *)l->data;
  BMRMPlace     *at     = &mean->at;
  const PetscInt labels = l->many ? l->outputs : 1; /* per example */

  PetscFunctionBegin;
  PetscCall(BMRMPlaceGet_Private(at, (PetscBool)(mean->cuda && !l->weight), f, e, y)); /* CUDA kernels have no weights of examples */
  *kernels = at->gpu ? mean->cuda : mean->host;
  at->start /= labels;
  *x = (BMRMScores){at->n / labels, (int)l->outputs, l->value, at->f, at->e, at->y, l->weight};
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BMRMMeanRestore(BMRMLoss l, Vec f, Vec e, Vec y, PetscLogDouble flops)
{
  PetscFunctionBegin;
  PetscCall(BMRMPlaceRestore_Private(&((BMRMMean *)l->data)->at, f, e, y, flops * (PetscLogDouble)l->outputs));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BMRMMeanSum(BMRMLoss l, Vec y, PetscReal *sum)
{
  PetscFunctionBegin;
  *sum = l->scale * ((BMRMMean *)l->data)->at.work.result[0];
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sum, 1, MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)y)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BMRMLossRisk_Mean(BMRMLoss l, Vec f, Vec e, PetscReal s, Vec y, PetscReal *risk)
{
  BMRMMean          *mean    = (BMRMMean *)l->data;
  const BMRMKernels *kernels = NULL;
  BMRMScores         x;

  PetscFunctionBegin;
  PetscCall(BMRMMeanGet(l, f, e, y, &kernels, &x));
  PetscCallGp(mean->at.work.dev, "The loss on the device", (*kernels->risk)(&mean->at.work, &x, s));
  PetscCall(BMRMMeanRestore(l, f, e, y, mean->flops[0]));
  PetscCall(BMRMMeanSum(l, y, risk));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BMRMLossCut_Mean(BMRMLoss l, Vec f, Vec e, PetscReal s, Vec y, PetscInt n, PetscInt k, Vec r, PetscReal *offset)
{
  BMRMMean          *mean    = (BMRMMean *)l->data;
  const BMRMKernels *kernels = NULL;
  BMRMScores         x;
  PetscScalar       *ra;

  PetscFunctionBegin;
  PetscCall(BMRMMeanGet(l, f, e, y, &kernels, &x));
  PetscCall(BMRMPlaceGetWrite_Private(&mean->at, r, &ra));
  PetscCallGp(mean->at.work.dev, "The loss on the device", (*kernels->cut)(&mean->at.work, &x, s, mean->at.start, (int)n, (int)k, l->scale, ra));
  PetscCall(BMRMPlaceRestoreWrite_Private(&mean->at, r, &ra));
  PetscCall(BMRMMeanRestore(l, f, e, y, mean->flops[1]));
  PetscCall(BMRMMeanSum(l, y, offset));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BMRMLossSlopes_Mean(BMRMLoss l, Vec f, Vec e, PetscInt nt, const PetscReal t[], Vec y, PetscReal d[])
{
  BMRMMean          *mean    = (BMRMMean *)l->data;
  const BMRMKernels *kernels = NULL;
  BMRMScores         x;

  PetscFunctionBegin;
  PetscCall(BMRMMeanGet(l, f, e, y, &kernels, &x));
  PetscCallGp(mean->at.work.dev, "The loss on the device", (*kernels->slopes)(&mean->at.work, &x, (int)nt, t));
  PetscCall(BMRMMeanRestore(l, f, e, y, mean->flops[2] * (PetscLogDouble)nt));
  for (PetscInt k = 0; k < 2 * nt; k++) d[k] = l->scale * mean->at.work.result[k];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BMRMLossDestroy_Mean(BMRMLoss l)
{
  PetscFunctionBegin;
  PetscCall(BMRMPlaceDestroy_Private(&((BMRMMean *)l->data)->at));
  PetscCall(PetscFree(l->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the operations that all means over the examples have in common. */
PetscErrorCode BMRMLossSetMean_Private(BMRMLoss l, const void *of, const BMRMKernels *host, const BMRMKernels *cuda, const PetscLogDouble flops[])
{
  BMRMMean *mean;

  PetscFunctionBegin;
  PetscCall(PetscNew(&mean));
  mean->of        = of;
  mean->host      = host;
  mean->cuda      = cuda;
  mean->flops     = flops;
  l->data         = mean;
  l->outputs      = 1;
  l->weighable    = PETSC_TRUE;
  l->ops->risk    = BMRMLossRisk_Mean;
  l->ops->cut     = BMRMLossCut_Mean;
  l->ops->slopes  = BMRMLossSlopes_Mean;
  l->ops->destroy = BMRMLossDestroy_Mean;
  PetscFunctionReturn(PETSC_SUCCESS);
}
