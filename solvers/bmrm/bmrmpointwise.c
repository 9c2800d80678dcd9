/* Losses that are means over the examples: from vectors, wherever their values are, to the kernels. */
#include "bmrmimpl.h"
#include <gpucsr.h>

typedef struct {
  const BMRMPointwise        *pw;
  const BMRMPointwiseKernels *cuda;
  BMRMWork                    work;
  double                      result[2 * BMRM_SLOPES]; /* of the host's kernels */
} Pointwise;

/* the rows of this rank, on the device or on the host */
typedef struct {
  PetscInt                    n, start;
  PetscBool                   device;
  const PetscScalar          *f, *e, *y;
  const BMRMPointwiseKernels *kernels;
  BMRMWork                   *work;
} Rows;

#define CallGp(dev, ...) \
  do { \
    const GpErr err_ = (__VA_ARGS__); \
    PetscCheck(!err_, PETSC_COMM_SELF, PETSC_ERR_GPU, "The loss on the device: %s", (dev)->error); \
  } while (0)

static PetscErrorCode GetArray(PetscBool device, Vec v, const PetscScalar **a)
{
  PetscFunctionBegin;
  if (device) PetscCall(VecGPUGetDeviceArrayRead(v, a));
  else PetscCall(VecGetArrayRead(v, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RestoreArray(PetscBool device, Vec v, const PetscScalar **a)
{
  PetscFunctionBegin;
  if (device) PetscCall(VecGPURestoreDeviceArrayRead(v, a));
  else PetscCall(VecRestoreArrayRead(v, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The work area on a device, made at first need; device memory for sums, and results that kernels write to the host. */
static PetscErrorCode UseDevice(Pointwise *pt, GpDev dev)
{
  PetscFunctionBegin;
  if (pt->work.dev) PetscFunctionReturn(PETSC_SUCCESS);
  CallGp(dev, GpDevAlloc(dev, 2 * BMRM_SLOPES * BMRM_PARTS * sizeof(double), &pt->work.partial));
  CallGp(dev, dev->ops->alloc_pinned(dev, 2 * BMRM_SLOPES * sizeof(double), (void **)&pt->work.result));
  pt->work.dev = dev;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RowsGet(BMRMLoss l, Vec f, Vec e, Vec y, Rows *rows)
{
  Pointwise *pt  = (Pointwise *)l->data;
  GpDev      dev = NULL;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(y, &rows->n));
  PetscCall(VecGetOwnershipRange(y, &rows->start, NULL));
  PetscCall(VecGPUGetRuntime(y, &dev));
  rows->kernels = &pt->pw->kernels;
  if (dev && dev->kind != GP_DEV_HOST) rows->kernels = pt->cuda;
  rows->device = (PetscBool)(dev && rows->kernels);
  if (!rows->kernels) rows->kernels = &pt->pw->kernels; /* a loss without device twins */
  if (rows->device) PetscCall(UseDevice(pt, dev));
  else if (!pt->work.dev) pt->work.result = pt->result;
  rows->work = &pt->work;
  PetscCall(GetArray(rows->device, f, &rows->f));
  PetscCall(GetArray(rows->device, e, &rows->e));
  PetscCall(GetArray(rows->device, y, &rows->y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Waits for the results, too. */
static PetscErrorCode RowsRestore(Vec f, Vec e, Vec y, Rows *rows, PetscLogDouble flops)
{
  PetscFunctionBegin;
  if (rows->device) CallGp(rows->work->dev, rows->work->dev->ops->sync(rows->work->dev));
  PetscCall(RestoreArray(rows->device, y, &rows->y));
  PetscCall(RestoreArray(rows->device, e, &rows->e));
  PetscCall(RestoreArray(rows->device, f, &rows->f));
  if (rows->device && rows->work->dev->kind != GP_DEV_HOST) PetscCall(PetscLogGpuFlops(flops * rows->n));
  else PetscCall(PetscLogFlops(flops * rows->n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Risk_Pointwise(BMRMLoss l, Vec f, Vec e, PetscReal s, Vec y, PetscReal *risk)
{
  PetscReal sum;
  Rows      rows;

  PetscFunctionBegin;
  PetscCall(RowsGet(l, f, e, y, &rows));
  CallGp(rows.work->dev, (*rows.kernels->risk)(rows.work, rows.n, l->value, rows.f, rows.e, s, rows.y));
  PetscCall(RowsRestore(f, e, y, &rows, 4));
  sum = l->scale * rows.work->result[0];
  PetscCallMPI(MPI_Allreduce(&sum, risk, 1, MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)y)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Cut_Pointwise(BMRMLoss l, Vec f, Vec e, PetscReal s, Vec y, PetscInt n, PetscInt k, Vec r, PetscReal *offset)
{
  PetscScalar *ra;
  PetscReal    sum;
  Rows         rows;

  PetscFunctionBegin;
  PetscCall(RowsGet(l, f, e, y, &rows));
  if (rows.device) PetscCall(VecGPUGetDeviceArrayWrite(r, &ra));
  else PetscCall(VecGetArrayWrite(r, &ra));
  CallGp(rows.work->dev, (*rows.kernels->cut)(rows.work, rows.n, rows.start, (int)n, (int)k, l->value, l->scale, rows.f, rows.e, s, rows.y, ra));
  if (rows.device) PetscCall(VecGPURestoreDeviceArrayWrite(r, &ra));
  else PetscCall(VecRestoreArrayWrite(r, &ra));
  PetscCall(RowsRestore(f, e, y, &rows, 6));
  sum = l->scale * rows.work->result[0];
  PetscCallMPI(MPI_Allreduce(&sum, offset, 1, MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)y)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The slope 0 belongs to the least value. */
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
  Rows rows;

  PetscFunctionBegin;
  PetscCall(RowsGet(l, f, e, y, &rows));
  CallGp(rows.work->dev, (*rows.kernels->slopes)(rows.work, rows.n, l->value, rows.f, rows.e, (int)nt, t, rows.y));
  PetscCall(RowsRestore(f, e, y, &rows, 10.0 * (PetscLogDouble)nt));
  for (PetscInt k = 0; k < 2 * nt; k++) d[k] = l->scale * rows.work->result[k];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On the host, whatever the vectors' type. */
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
  PetscCall(BMRMPiecesReserve(p, p->n + pt->pw->kinks * n + 1)); /* the branchless loop writes one more than it keeps */
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
  Pointwise *pt  = (Pointwise *)l->data;
  GpDev      dev = pt->work.dev;

  PetscFunctionBegin;
  if (dev) {
    GpDevFree(dev, &pt->work.partial, 2 * BMRM_SLOPES * BMRM_PARTS * sizeof(double));
    dev->ops->release_pinned(dev, pt->work.result);
  }
  PetscCall(PetscFree(l->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  BMRMLossSetPointwise - Makes a loss a mean over the examples

  Not Collective

  Input Parameters:
+ l    - the loss
. host - the formulas and their kernels, made by bmrmpointwise.h
- cuda - the kernels compiled by nvcc, or `NULL`: then vectors on a GPU are copied to the host

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
