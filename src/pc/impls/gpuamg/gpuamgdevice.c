/* Set-up of the levels of PCGPUAMG on the device, and their destruction. */
#include "pc/impls/gpuamg/gpuamgdevice.h"

#define WHAT "setting up algebraic multigrid"

/* Tells whether the options database has an option of the PCMG.  Only levels that are matrices of PETSc use a PCMG. */
static PetscErrorCode PCGPUAMGHasCycleOptions(PC pc, PetscBool *has)
{
  const char *prefix;
  char       *all, *found, name[256];

  PetscFunctionBegin;
  PetscCall(PCGetOptionsPrefix(pc, &prefix));
  PetscCall(PetscSNPrintf(name, sizeof(name), "-%spc_gpuamg_mg_", prefix ? prefix : ""));
  PetscCall(PetscOptionsGetAll(((PetscObject)pc)->options, &all));
  PetscCall(PetscStrstr(all, name, &found));
  PetscCall(PetscFree(all));
  *has = (PetscBool)(found != NULL);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets *why to the reason why the levels cannot be on the device; NULL: they can. */
PetscErrorCode PCGPUAMGDeviceGetObstacle_Private(PC pc, const char **why)
{
  const PCGPUAMGOptions *o = &((PC_GPUAMG *)pc->data)->options;
  PetscMPIInt            size;
  PetscBool              options = PETSC_FALSE;
  PetscInt               block;
  GpOp                   op;

  PetscFunctionBegin;
  *why = NULL;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &size));
  PetscCall(MatGetBlockSize(pc->pmat, &block));
  if (size > 1) *why = "there are several processes";
  else if (!MatGPUCSRIs_Private(pc->pmat) || ((Mat_GPUCSR *)pc->pmat->spptr)->mpi) *why = "the matrix does not have the type seqaijgpucsr";
  else if (o->smoother != PC_GPUAMG_SMOOTHER_CHEBYSHEV && o->smoother != PC_GPUAMG_SMOOTHER_L1JACOBI) *why = "the smoother is not chebyshev or l1jacobi";
  else if (block > GP_AGG_BLOCK) *why = "the block size is too large";
  if (*why) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCGPUAMGHasCycleOptions(pc, &options));
  if (options) *why = "there are options that begin with pc_gpuamg_mg_";
  if (*why) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatSeqAIJGPUCSRUpload_Private(pc->pmat, PETSC_FALSE, &op));
  if (GpOpIsStreamed(op)) *why = "the matrix is streamed";
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void PCGPUAMGDestroyFactor(GpDev dev, PCGPUAMGFactor *f)
{
  GpDevFree(dev, &f->narrow, (size_t)f->m.csr.nnz * sizeof(float));
  GpAggDestroyCodes(dev, &f->m.codes);
}

static void PCGPUAMGDestroyLevel(PCGPUAMGDevice d, PetscInt level)
{
  PCGPUAMGDeviceLevel *L     = &d->level[level];
  const size_t         bytes = (size_t)L->A.m * sizeof(double);

  GpSpgemmDestroy(&L->inner);
  GpSpgemmDestroy(&L->outer);
  PCGPUAMGDestroyFactor(d->dev, &L->a);
  PCGPUAMGDestroyFactor(d->dev, &L->p);
  PCGPUAMGDestroyFactor(d->dev, &L->r);
  PCGPUAMGDestroyFactor(d->dev, &L->at);
  GpDevFree(d->dev, &L->wide, (size_t)L->A.nnz * sizeof(double));
  GpDevFree(d->dev, &L->empty, (size_t)L->rows * sizeof(int32_t));
  GpDevFree(d->dev, &L->scale[GP_F64], bytes);
  GpDevFree(d->dev, &L->scale[GP_F32], bytes / 2);
  GpDevFree(d->dev, &L->b, bytes);
  GpDevFree(d->dev, &L->x[0], bytes);
  GpDevFree(d->dev, &L->x[1], bytes);
  GpDevFree(d->dev, &L->w, bytes);
  GpCsrDestroy(&L->middle);
  GpCsrDestroy(&L->P);
  GpCsrDestroy(&L->R);
  GpCsrDestroy(&L->transpose);
  if (level) GpCsrDestroy(&L->A);
}

PetscErrorCode PCGPUAMGDeviceDestroy_Private(PC_GPUAMG *amg)
{
  PCGPUAMGDevice d = amg->device;
  size_t         rows;

  PetscFunctionBegin;
  if (!d) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscGPUCSRGraphDestroy(&d->graph));
  rows = (size_t)amg->level[0].rows * sizeof(double);
  for (PetscInt level = PC_GPUAMG_MOST_LEVELS - 1; level >= 0; level--) PCGPUAMGDestroyLevel(d, level);
  GpCsrDestroy(&d->dense.csr);
  GpCsrDestroy(&d->transposed.csr);
  GpDevFree(d->dev, &d->overflow, sizeof(int32_t));
  GpDevFree(d->dev, &d->rows.diagonal, rows);
  GpDevFree(d->dev, &d->rows.near, rows);
  GpDevFree(d->dev, &d->B, d->bytes);
  PetscCall(PetscFree(amg->device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Downloads the operator of the coarsest level, and uploads its inverse. */
static PetscErrorCode PCGPUAMGDeviceInvert(PC pc)
{
  PC_GPUAMG     *amg = (PC_GPUAMG *)pc->data;
  PCGPUAMGDevice d   = amg->device;
  const GpCsr   *A   = &d->level[amg->n - 1].A;
  const PetscInt N   = A->m;
  int32_t       *rowptr, *col;
  PetscScalar   *val, *D;
  GpErr          err;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(PC_GPUAMG_Coarse, pc, 0, 0, 0));
  PetscCall(PetscMalloc4(N + 1, &rowptr, PetscMax(N * N, A->nnz), &col, A->nnz, &val, N * N, &D));
  PetscCall(PetscArrayzero(D, N * N));
  err = GpDevDownload(d->dev, rowptr, A->rowptr, ((size_t)N + 1) * sizeof(int32_t));
  if (!err && A->nnz) err = GpDevDownload(d->dev, col, A->col, (size_t)A->nnz * sizeof(int32_t));
  if (!err && A->nnz) err = GpDevDownload(d->dev, val, A->val, (size_t)A->nnz * sizeof(double));
  PetscCallGp(d->dev, WHAT, err);
  for (PetscInt i = 0; i < N; i++) {
    for (int32_t k = rowptr[i]; k < rowptr[i + 1]; k++) D[i * N + col[k]] += val[k];
  }
  amg->rounded = (PetscBool)(d->level[0].wide != NULL);
  PetscCall(PCGPUAMGInvertDense_Private(amg, N, D));
  if (!amg->why[0]) PetscCall(PCGPUAMGDeviceStoreInverse_Private(amg, N, D, rowptr, col));
  PetscCall(PetscFree4(rowptr, col, val, D));
  PetscCall(PetscLogEventEnd(PC_GPUAMG_Coarse, pc, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets amg->why if a value was too large for single precision. */
static PetscErrorCode PCGPUAMGDeviceCheckOverflow(PC_GPUAMG *amg)
{
  PCGPUAMGDevice d        = amg->device;
  int32_t        overflow = 0;

  PetscFunctionBegin;
  if (amg->why[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallGp(d->dev, WHAT, GpDevDownload(d->dev, &overflow, d->overflow, sizeof(overflow)));
  if (overflow) PetscCall(PetscSNPrintf(amg->why, sizeof(amg->why), "a value of a level is too large for single precision; -pc_gpuamg_storage double stores it"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates the next level, unless this level is the coarsest one.  *more receives whether there is a next level, and *refused whether the device cannot build this one. */
static PetscErrorCode PCGPUAMGDeviceBuildLevel(PC pc, PetscInt level, PetscBool *more, PetscBool *refused)
{
  PC_GPUAMG           *amg = (PC_GPUAMG *)pc->data;
  PCGPUAMGDevice       d   = amg->device;
  PCGPUAMGLevel       *L   = &amg->level[level];
  PCGPUAMGDeviceLevel *own = &d->level[level];

  PetscFunctionBegin;
  *more       = PETSC_FALSE;
  amg->n      = level + 1;
  L->rows     = own->A.m;
  L->nonzeros = own->A.nnz;
  amg->exact  = (PetscBool)(L->rows <= amg->options.limit);
  PetscCall(PCGPUAMGDeviceMeasure_Private(amg, level));
  *refused = (PetscBool)(d->rows.bad[GP_AGG_UNSORTED] > 0);
  if (*refused || amg->why[0] || amg->exact) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCGPUAMGDeviceEstimate_Private(pc, level));
  if (amg->why[0] || level + 1 >= amg->options.levels) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCGPUAMGDeviceCreateProlongator_Private(pc, level, refused));
  if (*refused || !own->P.dev) PetscFunctionReturn(PETSC_SUCCESS);
  L->pnonzeros = own->P.nnz;
  *more        = PETSC_TRUE;
  PetscCall(PCGPUAMGDeviceMultiply_Private(pc, level));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates the levels on the device.  If that is not possible, *obstacle receives the reason, and nothing remains on the device. */
PetscErrorCode PCGPUAMGDeviceBuild_Private(PC pc, const char **obstacle)
{
  PC_GPUAMG     *amg  = (PC_GPUAMG *)pc->data;
  PetscBool      more = PETSC_TRUE, refused = PETSC_FALSE;
  PCGPUAMGDevice d;
  size_t         rows;

  PetscFunctionBegin;
  PetscCall(PetscNew(&d));
  amg->device = d;
  d->dev      = ((Mat_GPUCSR *)amg->level[0].A->spptr)->dev;
  PetscCallGp(d->dev, WHAT, GpDevAlloc(d->dev, sizeof(int32_t), &d->overflow));
  PetscCallGp(d->dev, WHAT, GpDevZero(d->dev, d->overflow, sizeof(int32_t)));
  PetscCall(PCGPUAMGDeviceGetMatrix_Private(amg, PETSC_TRUE));
  PetscCall(MatGetSize(amg->level[0].A, &amg->level[0].rows, NULL));
  rows = (size_t)amg->level[0].rows * sizeof(double);
  PetscCallGp(d->dev, WHAT, GpDevAlloc(d->dev, rows, &d->rows.diagonal));
  PetscCallGp(d->dev, WHAT, GpDevAlloc(d->dev, rows, &d->rows.near));
  PetscCall(PCGPUAMGDeviceFillBasis_Private(pc));
  if (d->k > GP_AGG_BLOCK) refused = PETSC_TRUE;
  for (PetscInt level = 0; more && !refused; level++) PetscCall(PCGPUAMGDeviceBuildLevel(pc, level, &more, &refused));
  if (refused) {
    *obstacle = d->k > GP_AGG_BLOCK ? "the near-null space has too many vectors" : d->rows.bad[GP_AGG_UNSORTED] ? "the columns of a row do not ascend" : "a node has too many strong connections";
    PetscCall(PCGPUAMGDeviceDestroy_Private(amg));
    for (PetscInt level = 1; level < PC_GPUAMG_MOST_LEVELS; level++) PetscCall(PetscMemzero(&amg->level[level], sizeof(amg->level[level])));
    amg->level[0].pnonzeros = 0;
    amg->why[0]             = 0;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  GpDevFree(d->dev, &d->B, d->bytes);
  if (!amg->why[0] && amg->exact) PetscCall(PCGPUAMGDeviceInvert(pc));
  PetscCall(PCGPUAMGDeviceCheckOverflow(amg));
  if (!amg->why[0]) PetscCall(PCGPUAMGDeviceCreateVectors_Private(amg));
  if (!amg->why[0]) PetscCallGp(d->dev, WHAT, GpAggHashPattern(&d->level[0].A, &amg->pattern));
  amg->setups++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Keeps the prolongators and computes everything else from the new values. */
PetscErrorCode PCGPUAMGDeviceRefill_Private(PC pc)
{
  PC_GPUAMG     *amg = (PC_GPUAMG *)pc->data;
  PCGPUAMGDevice d   = amg->device;

  PetscFunctionBegin;
  PetscCallGp(d->dev, WHAT, GpDevZero(d->dev, d->overflow, sizeof(int32_t)));
  PetscCall(PCGPUAMGDeviceGetMatrix_Private(amg, PETSC_FALSE));
  GpCsrDestroy(&d->transposed.csr);
  PetscCall(PetscGPUCSRGraphDestroy(&d->graph)); /* the coefficients of the smoothers change */
  d->recorded.amg = NULL;
  for (PetscInt level = 0; level < amg->n && !amg->why[0]; level++) {
    PCGPUAMGDestroyFactor(d->dev, &d->level[level].at);
    GpCsrDestroy(&d->level[level].transpose);
    PetscCall(PCGPUAMGDeviceMeasure_Private(amg, level));
    if (!amg->why[0] && (level + 1 < amg->n || !amg->exact)) PetscCall(PCGPUAMGDeviceEstimate_Private(pc, level));
    if (!amg->why[0] && level + 1 < amg->n) PetscCall(PCGPUAMGDeviceMultiply_Private(pc, level));
  }
  if (!amg->why[0] && amg->exact) PetscCall(PCGPUAMGDeviceInvert(pc));
  PetscCall(PCGPUAMGDeviceCheckOverflow(amg));
  amg->setups++;
  amg->refills++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGPUAMGDeviceHashPattern_Private(Mat A, uint64_t *hash)
{
  GpOp op;

  PetscFunctionBegin;
  PetscCall(MatSeqAIJGPUCSRUpload_Private(A, PETSC_FALSE, &op));
  PetscCallGp(op->dev, WHAT, GpAggHashPattern(&op->side[0].csr, hash));
  PetscFunctionReturn(PETSC_SUCCESS);
}
