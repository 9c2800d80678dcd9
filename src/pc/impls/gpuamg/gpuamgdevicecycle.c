/* The cycle of PCGPUAMG on the device: kernels on the vectors of the levels. */
#include "pc/impls/gpuamg/gpuamgdevice.h"

#define WHAT "applying algebraic multigrid"

/* One application. */
typedef struct {
  PC_GPUAMG            *amg;
  PCGPUAMGDevice        d;
  const GpCycleKernels *K;
  PetscBool             transpose;
} PCGPUAMGCycleContext;

/* Stores the inverse of the coarsest level.  rowptr and col: workspace of N + 1 and N N integers */
PetscErrorCode PCGPUAMGDeviceStoreInverse_Private(PC_GPUAMG *amg, PetscInt N, const PetscScalar D[], int32_t rowptr[], int32_t col[])
{
  PCGPUAMGDevice d      = amg->device;
  const GpPrec   prec   = amg->options.storage == MAT_GPUCSR_STORAGE_SINGLE ? GP_F32 : GP_F64;
  const size_t   n      = (size_t)N * (size_t)N;
  float         *narrow = NULL;
  GpErr          err    = GP_SUCCESS;

  PetscFunctionBegin;
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt i = 0; i <= N; i++) rowptr[i] = (int32_t)(i * N);
  for (size_t k = 0; k < n; k++) col[k] = (int32_t)(k % (size_t)N);
  if (!d->dense.dev) {
    PetscCallGp(d->dev, WHAT, GpCsrCreate(d->dev, prec, (int32_t)N, (int32_t)N, (int32_t)n, &d->dense));
    err = GpDevUpload(d->dev, d->dense.rowptr, rowptr, ((size_t)N + 1) * sizeof(int32_t));
    if (!err) err = GpDevUpload(d->dev, d->dense.col, col, n * sizeof(int32_t));
    d->lanes = GpCycleLanes(&d->dense);
  }
  if (prec == GP_F32) {
    PetscCall(PetscMalloc1(n, &narrow));
    for (size_t k = 0; k < n; k++) narrow[k] = (float)D[k];
  }
  if (!err) err = GpDevUpload(d->dev, d->dense.val, narrow ? (const void *)narrow : (const void *)D, n * GpPrecBytes(prec));
  PetscCall(PetscFree(narrow));
  PetscCallGp(d->dev, WHAT, err);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates the vectors of the cycle. */
PetscErrorCode PCGPUAMGDeviceCreateVectors_Private(PC_GPUAMG *amg)
{
  PCGPUAMGDevice d = amg->device;

  PetscFunctionBegin;
  for (PetscInt level = 0; level < amg->n; level++) {
    PCGPUAMGDeviceLevel *L     = &d->level[level];
    const size_t         bytes = (size_t)L->A.m * sizeof(double);

    PetscCallGp(d->dev, WHAT, GpDevAlloc(d->dev, bytes, &L->w));
    PetscCallGp(d->dev, WHAT, GpDevAlloc(d->dev, bytes, &L->x[0]));
    if (!level) continue;
    PetscCallGp(d->dev, WHAT, GpDevAlloc(d->dev, bytes, &L->x[1]));
    PetscCallGp(d->dev, WHAT, GpDevAlloc(d->dev, bytes, &L->b));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates the transposes of the operators of the coarse levels. */
static PetscErrorCode PCGPUAMGDeviceTranspose(PC_GPUAMG *amg)
{
  PCGPUAMGDevice d = amg->device;

  PetscFunctionBegin;
  PetscCall(MatSeqAIJGPUCSRUpload_Private(amg->level[0].A, PETSC_TRUE, &d->op));
  for (PetscInt level = 1; level < amg->n; level++) {
    PCGPUAMGDeviceLevel *L = &d->level[level];

    if (L->transpose.dev) continue;
    PetscCallGp(d->dev, WHAT, GpCsrTranspose(&L->A, &L->transpose, NULL));
    PetscCall(PCGPUAMGDeviceNarrow_Private(d, (PetscBool)(amg->options.storage == MAT_GPUCSR_STORAGE_SINGLE), &L->transpose, &L->at));
  }
  if (d->dense.dev && !d->transposed.dev) PetscCallGp(d->dev, WHAT, GpCsrTranspose(&d->dense, &d->transposed, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the next iterate of a level. */
static PetscErrorCode PCGPUAMGDeviceRelax(PCGPUAMGCycleContext *c, PetscInt level, const GpCycleRelaxation *r, const double *x, double *y)
{
  PCGPUAMGDeviceLevel  *L = &c->d->level[level];
  const PCGPUAMGFactor *a = c->transpose ? &L->at : &L->a;

  PetscFunctionBegin;
  if (level) PetscCallGp(c->d->dev, WHAT, c->K->relax(&a->csr, a->lanes, r, x, y));
  else {
    PetscCall(GpOpMult(c->d->op, c->transpose, x, NULL, L->w));
    PetscCallGp(c->d->dev, WHAT, c->K->update(c->d->dev, L->A.m, r, x, L->w, y));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Runs the smoother: Chebyshev iterations of the first kind as KSPCHEBYSHEV does them, or Richardson iterations.  *now: index of the current iterate; zero: this iterate is zero and not stored */
static PetscErrorCode PCGPUAMGDeviceSmoothLevel(PCGPUAMGCycleContext *c, PetscInt level, const double *b, double *const x[2], PetscBool zero, int *now)
{
  const PCGPUAMGOptions *o         = &c->amg->options;
  PCGPUAMGDeviceLevel   *L         = &c->d->level[level];
  const PetscBool        chebyshev = (PetscBool)(o->smoother == PC_GPUAMG_SMOOTHER_CHEBYSHEV);
  const double           high = (double)c->amg->level[level].high, low = high / (double)o->ratio, scale = chebyshev ? 2 / (high + low) : 1, mu = 1 / (1 - scale * low);
  double                 last = 1, current = mu;
  GpCycleRelaxation      r = {.x = 1, .correction = scale, .b = b, .inverse = chebyshev ? L->inverse : L->l1};

  PetscFunctionBegin;
  for (PetscInt step = 0; step < o->sweeps; step++) {
    double *from = x[*now], *to = x[1 - *now];

    if (step && chebyshev) {
      const double next = 2 * mu * current - last, omega = 2 * mu * current / next;

      r       = (GpCycleRelaxation){.x = omega, .before = 1 - omega, .correction = omega * scale, .b = b, .inverse = L->inverse, .previous = step == 1 && zero ? NULL : to};
      last    = current;
      current = next;
    }
    if (!step && zero) PetscCallGp(c->d->dev, WHAT, c->K->relaxfirst(c->d->dev, L->A.m, scale, r.inverse, b, to));
    else PetscCall(PCGPUAMGDeviceRelax(c, level, &r, from, to));
    *now = 1 - *now;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the right-hand side of the next level from the residual. */
static PetscErrorCode PCGPUAMGDeviceRestrict(PCGPUAMGCycleContext *c, PetscInt level, const double *b, const double *x)
{
  PCGPUAMGDeviceLevel  *L = &c->d->level[level];
  const PCGPUAMGFactor *a = c->transpose ? &L->at : &L->a;

  PetscFunctionBegin;
  if (level) PetscCallGp(c->d->dev, WHAT, c->K->residual(&a->csr, a->lanes, b, x, L->w));
  else {
    PetscCall(GpOpMult(c->d->op, c->transpose, x, NULL, L->w));
    PetscCallGp(c->d->dev, WHAT, c->K->subtract(c->d->dev, L->A.m, b, L->w, L->w));
  }
  PetscCallGp(c->d->dev, WHAT, c->K->multiply(&L->r.csr, L->r.lanes, L->w, L[1].b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Runs the cycle from a level on.  x: two iterates; *now: index of the current one, on return that of the result */
static PetscErrorCode PCGPUAMGDeviceRunLevel(PCGPUAMGCycleContext *c, PetscInt level, const double *b, double *const x[2], PetscBool zero, int *now)
{
  PCGPUAMGDeviceLevel *L = &c->d->level[level], *next = L + 1;
  const PetscBool      last   = (PetscBool)(level + 1 == c->amg->n);
  const int            turns  = c->amg->options.cycle == PC_GPUAMG_CYCLE_W && level + 2 < c->amg->n ? 2 : 1;
  int                  coarse = 1;

  PetscFunctionBegin;
  if (last && c->amg->exact) {
    *now = 1 - *now;
    if (c->d->dense.dev) PetscCallGp(c->d->dev, WHAT, c->K->multiply(c->transpose ? &c->d->transposed : &c->d->dense, c->d->lanes, b, x[*now]));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PCGPUAMGDeviceSmoothLevel(c, level, b, x, zero, now));
  if (last) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCGPUAMGDeviceRestrict(c, level, b, x[*now]));
  for (int turn = 0; turn < turns; turn++) PetscCall(PCGPUAMGDeviceRunLevel(c, level + 1, next->b, next->x, (PetscBool)!turn, &coarse));
  PetscCallGp(c->d->dev, WHAT, c->K->add(&L->p.csr, L->p.lanes, next->x[coarse], x[*now]));
  PetscCall(PCGPUAMGDeviceSmoothLevel(c, level, b, x, PETSC_FALSE, now));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Number of iterates that the finest level computes. */
static PetscInt PCGPUAMGDeviceCountIterates(const PC_GPUAMG *amg)
{
  if (amg->n > 1) return 2 * amg->options.sweeps;
  return amg->exact ? 1 : amg->options.sweeps;
}

PetscErrorCode PCGPUAMGDeviceApply_Private(PC pc, PetscBool transpose, Vec x, Vec y)
{
  PC_GPUAMG           *amg = (PC_GPUAMG *)pc->data;
  Mat                  A   = amg->level[0].A;
  PCGPUAMGCycleContext c   = {.amg = amg, .d = amg->device, .transpose = PETSC_FALSE};
  MatGPUCSRVec         from, to, none;
  double              *iterate[2];
  int                  now;
  PetscErrorCode       err;

  PetscFunctionBegin;
  c.K = GpCycleKernelsOf(c.d->dev);
  for (PetscInt level = 0; level < amg->n; level++) c.transpose = (PetscBool)(c.transpose || (transpose && amg->level[level].norm)); /* the cycle of symmetric operators is symmetric */
  PetscCall(MatSeqAIJGPUCSRUpload_Private(A, c.transpose, &c.d->op));
  if (c.transpose) PetscCall(PCGPUAMGDeviceTranspose(amg));
  PetscCall(MatGPUCSRVecGetRead_Private(A, 0, x, &from));
  PetscCall(MatGPUCSRVecGetResult_Private(A, 1, y, NULL, &to, &none));
  iterate[0] = c.d->level[0].x[0];
  iterate[1] = to.device;
  now        = PCGPUAMGDeviceCountIterates(amg) % 2 ? 0 : 1; /* the last iterate is iterate[1] */
  err        = PCGPUAMGDeviceRunLevel(&c, 0, from.device, iterate, PETSC_TRUE, &now);
  PetscCall(MatGPUCSRVecRestoreResult_Private(A, y, NULL, &to, &none));
  PetscCall(MatGPUCSRVecRestoreArray_Private(x, 'r', &from));
  PetscCall(err);
  PetscFunctionReturn(PETSC_SUCCESS);
}
