/* Prolongators of PCGPUAMG on the device: near-null space, aggregates, smoothing. */
#include "pc/impls/gpuamg/gpuamgdevice.h"

PetscLogEvent PC_GPUAMG_Graph, PC_GPUAMG_Prolong;

#define WHAT "setting up algebraic multigrid"

/* Sets the near-null space of the finest level: the vectors of MatSetNearNullSpace(), by default one constant vector for each component of a block. */
PetscErrorCode PCGPUAMGDeviceFillBasis_Private(PC pc)
{
  PC_GPUAMG     *amg = (PC_GPUAMG *)pc->data;
  PCGPUAMGDevice d   = amg->device;
  MatNullSpace   space;
  PetscInt       m        = 0;
  PetscBool      constant = PETSC_FALSE;
  PetscReal     *B;
  GpErr          err;

  PetscFunctionBegin;
  PetscCall(MatGetNearNullSpace(pc->pmat, &space));
  if (space) PetscCall(MatNullSpaceGetVecs(space, &constant, &m, NULL));
  d->k     = m ? m + (constant ? 1 : 0) : constant ? 1 : amg->level[0].block;
  d->bytes = (size_t)amg->level[0].rows * (size_t)d->k * sizeof(double);
  PetscCallGp(d->dev, WHAT, GpDevAlloc(d->dev, d->bytes, &d->B));
  if (!m) {
    PetscCallGp(d->dev, WHAT, GpAggFillConstant(d->dev, (int32_t)amg->level[0].rows, (int32_t)d->k, d->B));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PCGPUAMGGetNearNullSpace_Private(pc, &d->k, &B));
  err = GpDevUpload(d->dev, d->B, B, d->bytes);
  PetscCall(PetscFree(B));
  PetscCallGp(d->dev, WHAT, err);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates the aggregates. */
static PetscErrorCode PCGPUAMGDeviceAggregate(PC pc, PetscInt level, GpAggAggregates *a, PetscBool *refused)
{
  PC_GPUAMG      *amg       = (PC_GPUAMG *)pc->data;
  PCGPUAMGDevice  d         = amg->device;
  const PetscReal threshold = amg->options.threshold / PetscPowRealInt(2, (int)level);
  GpCsr           graph;
  GpErr           err;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(PC_GPUAMG_Graph, pc, 0, 0, 0));
  err = GpAggCreateGraph(&d->level[level].A, (int32_t)amg->level[level].block, (double)threshold, &graph);
  PetscCall(PetscLogEventEnd(PC_GPUAMG_Graph, pc, 0, 0, 0));
  PetscCall(PetscLogEventBegin(PC_GPUAMG_Aggregate, pc, 0, 0, 0));
  if (!err) err = GpAggAggregate(&graph, a);
  GpCsrDestroy(&graph);
  PetscCall(PetscLogEventEnd(PC_GPUAMG_Aggregate, pc, 0, 0, 0));
  *refused = (PetscBool)(err == GP_ERR_ARGUMENT);
  if (!*refused) PetscCallGp(d->dev, WHAT, err);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes P = (I - damping / high D^-1 A) P0. */
static PetscErrorCode PCGPUAMGDeviceSmooth(PC_GPUAMG *amg, PetscInt level, GpCsr *P0)
{
  PCGPUAMGDevice       d = amg->device;
  PCGPUAMGDeviceLevel *L = &d->level[level];
  GpSpgemm             plan;
  GpErr                err;

  PetscFunctionBegin;
  if (amg->options.damping == 0) {
    L->P = *P0;
    *P0  = (GpCsr){0};
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCallGp(d->dev, WHAT, GpSpgemmSymbolic(&L->A, P0, &plan, &L->P));
  err = GpSpgemmNumeric(plan, &L->A, P0, &L->P);
  if (!err) err = GpAggSmooth(&L->P, P0, (double)(amg->options.damping / amg->level[level].high), d->rows.diagonal);
  GpSpgemmDestroy(&plan);
  PetscCallGp(d->dev, WHAT, err);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates the tentative prolongator, and the near-null space of the next level. */
static PetscErrorCode PCGPUAMGDeviceCreateTentative(PC_GPUAMG *amg, PetscInt level, const GpAggAggregates *a, GpCsr *P0)
{
  PCGPUAMGDevice       d    = amg->device;
  PCGPUAMGDeviceLevel *next = &d->level[level + 1];
  const int32_t        k = (int32_t)d->k, total = a->count * k;
  const size_t         bytes = (size_t)total * (size_t)k * sizeof(double);
  double              *B     = NULL;
  int32_t              empty = 0;
  GpErr                err;

  PetscFunctionBegin;
  PetscCallGp(d->dev, WHAT, GpDevAlloc(d->dev, (size_t)total * sizeof(int32_t), &next->empty));
  next->rows = total;
  PetscCallGp(d->dev, WHAT, GpDevAlloc(d->dev, bytes, &B));
  err = GpAggCreateTentative(d->dev, a, (int32_t)amg->level[level].block, k, d->rows.near, d->B, B, next->empty, P0);
  if (!err) err = GpAggCount(d->dev, total, next->empty, &empty);
  GpDevFree(d->dev, &d->B, d->bytes);
  d->B                         = B;
  d->bytes                     = bytes;
  amg->level[level + 1].nempty = empty;
  amg->level[level + 1].block  = d->k;
  PetscCallGp(d->dev, WHAT, err);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates the prolongator of a level, unless there are no aggregates or the next level would have more than 0.8 times as many rows. */
PetscErrorCode PCGPUAMGDeviceCreateProlongator_Private(PC pc, PetscInt level, PetscBool *refused)
{
  PC_GPUAMG      *amg = (PC_GPUAMG *)pc->data;
  PCGPUAMGDevice  d   = amg->device;
  GpAggAggregates a   = {0};
  GpCsr           P0  = {0};
  PetscErrorCode  err = PETSC_SUCCESS;
  PetscInt        total;

  PetscFunctionBegin;
  PetscCall(PCGPUAMGDeviceAggregate(pc, level, &a, refused));
  if (*refused) PetscFunctionReturn(PETSC_SUCCESS);
  total = a.count * d->k;
  PetscCall(PetscInfo(pc, "Level %" PetscInt_FMT ": %" PetscInt_FMT " rows, %" PetscInt_FMT " on the next level\n", level, amg->level[level].rows, total));
  if (total && total <= 0.8 * amg->level[level].rows) {
    PetscCall(PetscLogEventBegin(PC_GPUAMG_Prolong, pc, 0, 0, 0));
    err = PCGPUAMGDeviceCreateTentative(amg, level, &a, &P0);
    if (!err) err = PCGPUAMGDeviceSmooth(amg, level, &P0);
    GpCsrDestroy(&P0);
    PetscCall(PetscLogEventEnd(PC_GPUAMG_Prolong, pc, 0, 0, 0));
  }
  GpAggDestroyAggregates(d->dev, &a);
  PetscCall(err);
  PetscFunctionReturn(PETSC_SUCCESS);
}
