/* Operators of the levels of PCGPUAMG on the device: properties of their rows, bounds of the eigenvalues, products. */
#include "pc/impls/gpuamg/gpuamgdevice.h"
#include <petscblaslapack.h>

PetscLogEvent PC_GPUAMG_Estimate;

#define WHAT         "setting up algebraic multigrid"
#define GP_AMG_SHORT 10 /* the finest level is relaxed by rows if they have at most this number of nonzeros on average; with longer rows, the kernel of the matrix was measured to be faster */

/* Prepares the finest level for the cycle.  Either the selected kernel of the matrix multiplies there, or the kernel of the cycle, which multiplies by compressed rows and relaxes at once.  The one that moves
   fewer bytes is used.  The kernel of the matrix writes the product, which another kernel reads together with the vector, and it needs vectors in double precision. */
PetscErrorCode PCGPUAMGDeviceSetFinest_Private(PC_GPUAMG *amg, PetscBool first)
{
  PCGPUAMGDevice       d      = amg->device;
  PCGPUAMGDeviceLevel *L      = &d->level[0];
  const GpOpSide      *S      = &d->op->side[0];
  const PetscBool      single = (PetscBool)(amg->options.storage == MAT_GPUCSR_STORAGE_SINGLE);
  const double         m = S->csr.m, rest = single ? 48 * m : 24 * m;
  double               each = single || S->csr.prec == GP_F32 ? 8 : 12; /* bytes of a nonzero */

  PetscFunctionBegin;
  d->version = d->op->version;
  L->a.m.csr = (GpCsr){.nnz = S->csr.nnz}; /* keeps the size of the values in single precision */
  if (S->csr.nnz > GP_AMG_SHORT * m) PetscFunctionReturn(PETSC_SUCCESS);
  if (single && first) PetscCallGp(d->dev, WHAT, GpAggEncodeColumns(&S->csr, &L->a.m.codes));
  if (L->a.m.codes.count) each -= 3;
  if (4 * m + each * S->csr.nnz > GpFmtTraffic(&S->fmt) + rest) GpAggDestroyCodes(d->dev, &L->a.m.codes);
  else PetscCall(PCGPUAMGDeviceNarrow_Private(d, (PetscBool)(single && S->csr.prec == GP_F64), &S->csr, &L->a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the operator of the finest level from the image of the matrix. */
PetscErrorCode PCGPUAMGDeviceGetMatrix_Private(PC_GPUAMG *amg, PetscBool first)
{
  PCGPUAMGDevice       d = amg->device;
  PCGPUAMGDeviceLevel *L = &d->level[0];

  PetscFunctionBegin;
  PetscCall(MatSeqAIJGPUCSRUpload_Private(amg->level[0].A, PETSC_FALSE, &d->op));
  L->A = d->op->side[0].csr;
  PetscCall(PCGPUAMGDeviceSetFinest_Private(amg, first));
  if (L->A.prec == GP_F64) PetscFunctionReturn(PETSC_SUCCESS);
  if (first) PetscCallGp(d->dev, WHAT, GpDevAlloc(d->dev, (size_t)L->A.nnz * sizeof(double), &L->wide));
  PetscCallGp(d->dev, WHAT, GpAggWiden(d->dev, L->A.nnz, (const float *)L->A.val, L->wide));
  L->A.val  = L->wide;
  L->A.prec = GP_F64;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finds the first row with an entry that is not finite, or whose diagonal entry is not positive. */
static PetscErrorCode PCGPUAMGDeviceFindRow(PCGPUAMGDevice d, PetscInt n, PetscBool infinite, PetscInt *row)
{
  double *diagonal, *near;
  GpErr   err;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(n, &diagonal, n, &near));
  err = GpDevDownload(d->dev, diagonal, d->rows.diagonal, (size_t)n * sizeof(double));
  if (!err) err = GpDevDownload(d->dev, near, d->rows.near, (size_t)n * sizeof(double));
  for (*row = 0; !err && *row < n; (*row)++) {
    const PetscBool bad = PetscIsInfOrNanReal(diagonal[*row] + near[*row]);

    if (infinite ? bad : !bad && (diagonal[*row] < 0 || (diagonal[*row] == 0 && near[*row] > 0))) break;
  }
  PetscCall(PetscFree2(diagonal, near));
  PetscCallGp(d->dev, WHAT, err);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes sums over the rows of a level.  Sets amg->why if an entry is not finite or the diagonal entry of a row that is not zero is not positive. */
PetscErrorCode PCGPUAMGDeviceMeasure_Private(PC_GPUAMG *amg, PetscInt level)
{
  PCGPUAMGDevice d   = amg->device;
  const GpCsr   *A   = &d->level[level].A;
  PetscInt       row = 0;

  PetscFunctionBegin;
  PetscCallGp(d->dev, WHAT, GpAggMeasureRows(A, &d->rows));
  if (!d->rows.bad[GP_AGG_INFINITE] && !d->rows.bad[GP_AGG_NEGATIVE]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCGPUAMGDeviceFindRow(d, A->m, (PetscBool)(d->rows.bad[GP_AGG_INFINITE] > 0), &row));
  if (d->rows.bad[GP_AGG_INFINITE]) PetscCall(PetscSNPrintf(amg->why, sizeof(amg->why), "level %" PetscInt_FMT ", row %" PetscInt_FMT ": the matrix has an entry that is not finite", level, row));
  else PetscCall(PetscSNPrintf(amg->why, sizeof(amg->why), "level %" PetscInt_FMT ", row %" PetscInt_FMT ": the diagonal entry is not positive", level, row));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the smallest and the largest Ritz value, and the residual norm of the largest. */
static PetscErrorCode PCGPUAMGDeviceGetRitz(GpLanczos *s, PetscReal *low, PetscReal *high, PetscReal *residual)
{
  PetscReal    alpha[GP_AGG_STEPS], beta[GP_AGG_STEPS];
  PetscScalar *vectors;
  PetscReal   *work;
  PetscBLASInt n, info;

  PetscFunctionBegin;
  PetscCall(PetscBLASIntCast(s->steps, &n));
  for (PetscInt j = 0; j < n; j++) {
    alpha[j] = s->alpha[j];
    beta[j]  = s->beta[j];
  }
  PetscCall(PetscMalloc2(n * n, &vectors, 2 * n, &work));
  PetscCallBLAS("LAPACKsteqr", LAPACKsteqr_("I", &n, alpha, beta, vectors, &n, work, &info));
  PetscCheck(!info, PETSC_COMM_SELF, PETSC_ERR_LIB, "LAPACK's routine steqr returned info = %d", (int)info);
  *low      = alpha[0]; /* steqr returns ascending eigenvalues in place of the diagonal */
  *high     = alpha[n - 1];
  *residual = s->beta[n - 1] * PetscAbsScalar(vectors[n * n - 1]);
  PetscCall(PetscFree2(vectors, work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Runs Lanczos steps.  memory: [4 n] workspace */
static PetscErrorCode PCGPUAMGDeviceRunLanczos(PCGPUAMGDevice d, PetscInt level, PetscInt steps, const GpLanczosWork *work, double *memory)
{
  const PCGPUAMGFactor   *a = &d->level[level].a;
  const GpLanczosKernels *K = GpLanczosKernelsOf(d->dev);
  const PetscInt          n = work->n;
  double                 *v = memory, *before = memory + n, *w = memory + 2 * (size_t)n, *scaled = memory + 3 * (size_t)n, *last;

  PetscFunctionBegin;
  PetscCallGp(d->dev, WHAT, GpDevZero(d->dev, work->state, sizeof(GpLanczos)));
  PetscCallGp(d->dev, WHAT, K->start(work, v));
  for (PetscInt j = 0; j < PetscMin(n, steps); j++) {
    PetscCallGp(d->dev, WHAT, K->scale(work, v, scaled));
    if (a->m.csr.dev) PetscCallGp(d->dev, WHAT, GpCycleKernelsOf(d->dev)->multiply(&a->m, (GpCycleVector){scaled, GP_F64}, (GpCycleVector){w, GP_F64}));
    else PetscCall(GpOpMult(d->op, PETSC_FALSE, scaled, NULL, w));
    PetscCallGp(d->dev, WHAT, K->product(work, (int)j, v, before, w));
    PetscCallGp(d->dev, WHAT, K->orthogonalize(work, (int)j, v, before, w));
    last   = before;
    before = v;
    v      = w;
    w      = last;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the bound of the eigenvalues of D^-1 A from the Lanczos steps (gpuamgrows.c explains it). */
static PetscErrorCode PCGPUAMGDeviceSetBound(PC pc, PetscInt level, GpLanczos *s)
{
  PC_GPUAMG *amg = (PC_GPUAMG *)pc->data;
  PetscReal  low = 0, high = 0, residual = 0;

  PetscFunctionBegin;
  amg->level[level].high = amg->device->rows.norm;
  amg->level[level].norm = (PetscBool)(s->status == GP_LANCZOS_UNSYMMETRIC);
  if (s->status == GP_LANCZOS_FAILED) PetscCall(PetscSNPrintf(amg->why, sizeof(amg->why), "level %" PetscInt_FMT ": a Lanczos step gave a number that is not finite", level));
  if (s->status == GP_LANCZOS_FAILED || s->status == GP_LANCZOS_UNSYMMETRIC || !s->steps) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCGPUAMGDeviceGetRitz(s, &low, &high, &residual));
  if (low < -1e-6 * high) PetscCall(PetscSNPrintf(amg->why, sizeof(amg->why), "level %" PetscInt_FMT ": a Ritz value is negative, so the matrix is not positive definite", level));
  amg->level[level].high = PetscMin(amg->level[level].high, 1.01 * (high + residual));
  PetscCall(PetscInfo(pc, "Level %" PetscInt_FMT ": %" PetscInt_FMT " Lanczos steps, the eigenvalues are at most %g\n", level, (PetscInt)s->steps, (double)amg->level[level].high));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the inverse of the diagonal and the bound of the eigenvalues. */
PetscErrorCode PCGPUAMGDeviceEstimate_Private(PC pc, PetscInt level)
{
  PC_GPUAMG           *amg = (PC_GPUAMG *)pc->data;
  PCGPUAMGDevice       d   = amg->device;
  PCGPUAMGDeviceLevel *L   = &d->level[level];
  const size_t         n = (size_t)L->A.m, bytes = n * sizeof(double);
  const PetscBool      l1 = (PetscBool)(amg->options.smoother == PC_GPUAMG_SMOOTHER_L1JACOBI), single = (PetscBool)(amg->options.storage == MAT_GPUCSR_STORAGE_SINGLE);
  const size_t         sizes = (5 * n + 2 * GP_DEV_PARTS) * sizeof(double) + sizeof(GpLanczos);
  GpLanczosWork        work  = {.dev = d->dev, .n = L->A.m};
  GpLanczos            state;
  double              *memory = NULL;
  PetscErrorCode       err;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(PC_GPUAMG_Estimate, pc, 0, 0, 0));
  if (!L->scale[GP_F64]) PetscCallGp(d->dev, WHAT, GpDevAlloc(d->dev, bytes, &L->scale[GP_F64]));
  if (single && !L->scale[GP_F32]) PetscCallGp(d->dev, WHAT, GpDevAlloc(d->dev, bytes / 2, &L->scale[GP_F32]));
  PetscCallGp(d->dev, WHAT, GpDevBorrow(d->dev, sizes, &memory));
  work.root    = memory + 4 * n;
  work.partial = memory + 5 * n;
  work.state   = (GpLanczos *)(work.partial + 2 * GP_DEV_PARTS);
  err          = GpAggInvert(d->dev, L->A.m, &d->rows, l1 ? NULL : (double *)L->scale[GP_F64], memory + 4 * n, l1 ? (double *)L->scale[GP_F64] : NULL) ? PETSC_ERR_GPU : PETSC_SUCCESS;
  if (!err && single && GpAggNarrow(d->dev, L->A.m, (const double *)L->scale[GP_F64], (float *)L->scale[GP_F32], d->overflow)) err = PETSC_ERR_GPU;
  if (!err) err = PCGPUAMGDeviceRunLanczos(d, level, amg->options.steps, &work, memory);
  if (!err && GpDevDownload(d->dev, &state, work.state, sizeof(state))) err = PETSC_ERR_GPU;
  GpDevReturn(d->dev, &memory, sizes);
  PetscCheck(!err, PETSC_COMM_SELF, PETSC_ERR_GPU, "%s: %s", WHAT, GpDevError(d->dev));
  PetscCall(PCGPUAMGDeviceSetBound(pc, level, &state));
  PetscCall(PetscLogEventEnd(PC_GPUAMG_Estimate, pc, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Prepares a matrix for the cycle.  A further call converts new values. */
PetscErrorCode PCGPUAMGDeviceNarrow_Private(PCGPUAMGDevice d, PetscBool single, const GpCsr *A, PCGPUAMGFactor *f)
{
  PetscFunctionBegin;
  f->m.csr   = *A;
  f->m.lanes = GpCycleLanes(A);
  if (!single) PetscFunctionReturn(PETSC_SUCCESS);
  if (!f->narrow) PetscCallGp(d->dev, WHAT, GpDevAlloc(d->dev, (size_t)A->nnz * sizeof(float), &f->narrow));
  PetscCallGp(d->dev, WHAT, GpAggNarrow(d->dev, A->nnz, (const double *)A->val, f->narrow, d->overflow));
  f->m.csr.val  = f->narrow;
  f->m.csr.prec = GP_F32;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the operator of the next level.  If it exists, only its values are computed. */
PetscErrorCode PCGPUAMGDeviceMultiply_Private(PC pc, PetscInt level)
{
  PC_GPUAMG           *amg = (PC_GPUAMG *)pc->data;
  PCGPUAMGDevice       d   = amg->device;
  PCGPUAMGDeviceLevel *L = &d->level[level], *next = L + 1;
  const PetscBool      single = (PetscBool)(amg->options.storage == MAT_GPUCSR_STORAGE_SINGLE);

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(PC_GPUAMG_Galerkin, pc, 0, 0, 0));
  if (!L->outer) {
    PetscCallGp(d->dev, WHAT, GpSpgemmSymbolic(&L->A, &L->P, &L->inner, &L->middle));
    PetscCallGp(d->dev, WHAT, GpCsrTranspose(&L->P, &L->R, NULL));
    PetscCall(PCGPUAMGDeviceNarrow_Private(d, single, &L->P, &L->p));
    PetscCall(PCGPUAMGDeviceNarrow_Private(d, single, &L->R, &L->r));
    PetscCallGp(d->dev, WHAT, GpSpgemmSymbolic(&L->R, &L->middle, &L->outer, &next->A));
  }
  PetscCallGp(d->dev, WHAT, GpSpgemmNumeric(L->inner, &L->A, &L->P, &L->middle));
  PetscCallGp(d->dev, WHAT, GpSpgemmNumeric(L->outer, &L->R, &L->middle, &next->A));
  if (amg->level[level + 1].nempty) PetscCallGp(d->dev, WHAT, GpAggFillEmpty(&next->A, (int32_t)amg->level[level + 1].block, next->empty));
  PetscCall(PCGPUAMGDeviceNarrow_Private(d, single, &next->A, &next->a));
  PetscCall(PetscLogEventEnd(PC_GPUAMG_Galerkin, pc, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}
