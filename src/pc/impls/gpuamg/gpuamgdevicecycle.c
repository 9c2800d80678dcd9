/* The cycle of PCGPUAMG on the device: kernels on the vectors of the levels. */
#include "pc/impls/gpuamg/gpuamgdevice.h"

#define WHAT "applying algebraic multigrid"

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
  if (!d->dense.csr.dev) {
    PetscCallGp(d->dev, WHAT, GpCsrCreate(d->dev, prec, (int32_t)N, (int32_t)N, (int32_t)n, &d->dense.csr));
    err = GpDevUpload(d->dev, d->dense.csr.rowptr, rowptr, ((size_t)N + 1) * sizeof(int32_t));
    if (!err) err = GpDevUpload(d->dev, d->dense.csr.col, col, n * sizeof(int32_t));
    d->dense.lanes = d->transposed.lanes = GpCycleLanes(&d->dense.csr);
  }
  if (prec == GP_F32) {
    PetscCall(PetscMalloc1(n, &narrow));
    for (size_t k = 0; k < n; k++) narrow[k] = (float)D[k];
  }
  if (!err) err = GpDevUpload(d->dev, d->dense.csr.val, narrow ? (const void *)narrow : (const void *)D, n * GpPrecBytes(prec));
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
    if (!level && amg->options.storage != MAT_GPUCSR_STORAGE_SINGLE) continue;
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
  if (d->dense.csr.dev && !d->transposed.csr.dev) PetscCallGp(d->dev, WHAT, GpCsrTranspose(&d->dense.csr, &d->transposed.csr, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the matrix of a level.  NULL, on the finest level: the selected kernel of the matrix multiplies. */
static const PCGPUAMGFactor *PCGPUAMGDeviceGetFactor(const PCGPUAMGCycleContext *c, PetscInt level)
{
  const PCGPUAMGDeviceLevel *L = &c->d->level[level];

  if (c->transpose) return level ? &L->at : NULL;
  return L->a.m.csr.dev ? &L->a : NULL;
}

/* The vectors of a level. */
typedef struct {
  GpPrec      prec;
  const void *b;
  void       *x[2], *w;
  double     *result; /* receives the last iterate; NULL: it is in x */
} PCGPUAMGVectors;

/* Gets the vectors of a level.  With single storage they have single precision.  On the finest level this holds only if there are several levels and the kernel of the cycle multiplies there; then the caller's vectors are read and written once. */
static PCGPUAMGVectors PCGPUAMGDeviceGetVectors(const PCGPUAMGCycleContext *c, PetscInt level)
{
  const PCGPUAMGDeviceLevel *L      = &c->d->level[level];
  const PetscBool            single = (PetscBool)(c->amg->options.storage == MAT_GPUCSR_STORAGE_SINGLE);

  if (level) return (PCGPUAMGVectors){single ? GP_F32 : GP_F64, L->b, {L->x[0], L->x[1]}, L->w, NULL};
  if (single && c->amg->n > 1 && PCGPUAMGDeviceGetFactor(c, 0)) return (PCGPUAMGVectors){GP_F32, L->b, {L->x[0], L->x[1]}, L->w, c->to};
  return (PCGPUAMGVectors){GP_F64, c->from, {L->x[0], c->to}, L->w, NULL};
}

/* Computes the first iterate from the right-hand side. */
static PetscErrorCode PCGPUAMGDeviceStart(PCGPUAMGCycleContext *c, PetscInt level, const PCGPUAMGVectors *v, double correction, void *y)
{
  PCGPUAMGDeviceLevel *L     = &c->d->level[level];
  const GpCycleVector  scale = {L->scale[v->prec], v->prec}, to = {y, v->prec};
  const PetscBool      copies = (PetscBool)(v->result != NULL);

  PetscFunctionBegin;
  PetscCallGp(c->d->dev, WHAT, GpCycleKernelsOf(c->d->dev)->start(c->d->dev, L->A.m, correction, (GpCycleVector){(void *)(copies ? c->from : v->b), copies ? GP_F64 : v->prec}, scale, to, copies ? L->b : NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the next iterate of a level. */
static PetscErrorCode PCGPUAMGDeviceRelax(PCGPUAMGCycleContext *c, PetscInt level, const GpCycleRelaxation *r, GpCycleVector x, GpCycleVector y)
{
  PCGPUAMGDeviceLevel  *L = &c->d->level[level];
  const PCGPUAMGFactor *a = PCGPUAMGDeviceGetFactor(c, level);

  PetscFunctionBegin;
  if (a) PetscCallGp(c->d->dev, WHAT, GpCycleKernelsOf(c->d->dev)->relax(&a->m, r, x, y));
  else {
    PetscCall(GpOpMult(c->d->op, c->transpose, (const double *)x.data, NULL, L->w));
    PetscCallGp(c->d->dev, WHAT, GpCycleKernelsOf(c->d->dev)->update(c->d->dev, L->A.m, r, (const double *)x.data, L->w, (double *)y.data));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Runs the smoother: Chebyshev iterations of the first kind as KSPCHEBYSHEV does them, or Richardson iterations.  *now: index of the current iterate; zero: this iterate is zero and not stored */
static PetscErrorCode PCGPUAMGDeviceSmoothLevel(PCGPUAMGCycleContext *c, PetscInt level, const PCGPUAMGVectors *v, PetscBool zero, int *now)
{
  const PCGPUAMGOptions *o         = &c->amg->options;
  const PetscBool        chebyshev = (PetscBool)(o->smoother == PC_GPUAMG_SMOOTHER_CHEBYSHEV);
  const double           high = (double)c->amg->level[level].high, low = high / (double)o->ratio, scale = chebyshev ? 2 / (high + low) : 1, mu = 1 / (1 - scale * low);
  double                 last = 1, current = mu;
  GpCycleRelaxation      r = {.x = 1, .correction = scale, .b = v->b, .inverse = c->d->level[level].scale[v->prec]};

  PetscFunctionBegin;
  for (PetscInt step = 0; step < o->sweeps; step++) {
    void           *to   = v->x[1 - *now];
    const PetscBool ends = (PetscBool)(v->result && !zero && step + 1 == o->sweeps);

    if (step && chebyshev) {
      const double next = 2 * mu * current - last, omega = 2 * mu * current / next;

      r.x          = omega;
      r.before     = 1 - omega;
      r.correction = omega * scale;
      r.previous   = step == 1 && zero ? NULL : to;
      last         = current;
      current      = next;
    }
    if (!step && zero) PetscCall(PCGPUAMGDeviceStart(c, level, v, scale, to));
    else PetscCall(PCGPUAMGDeviceRelax(c, level, &r, (GpCycleVector){v->x[*now], v->prec}, ends ? (GpCycleVector){v->result, GP_F64} : (GpCycleVector){to, v->prec}));
    *now = 1 - *now;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the right-hand side of the next level from the residual. */
static PetscErrorCode PCGPUAMGDeviceRestrict(PCGPUAMGCycleContext *c, PetscInt level, const PCGPUAMGVectors *v, const void *x)
{
  PCGPUAMGDeviceLevel  *L    = &c->d->level[level];
  const PCGPUAMGFactor *a    = PCGPUAMGDeviceGetFactor(c, level);
  const PCGPUAMGVectors next = PCGPUAMGDeviceGetVectors(c, level + 1);
  const GpCycleVector   w    = {v->w, v->prec};

  PetscFunctionBegin;
  if (a) PetscCallGp(c->d->dev, WHAT, GpCycleKernelsOf(c->d->dev)->residual(&a->m, v->b, (GpCycleVector){(void *)x, v->prec}, w));
  else {
    PetscCall(GpOpMult(c->d->op, c->transpose, (const double *)x, NULL, L->w));
    PetscCallGp(c->d->dev, WHAT, GpCycleKernelsOf(c->d->dev)->subtract(c->d->dev, L->A.m, (const double *)v->b, L->w, L->w));
  }
  PetscCallGp(c->d->dev, WHAT, GpCycleKernelsOf(c->d->dev)->multiply(&L->r.m, w, (GpCycleVector){L[1].b, next.prec}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Runs the cycle from a level on.  *now: index of the current iterate of this level, on return that of the result; zero: this iterate is zero and not stored */
static PetscErrorCode PCGPUAMGDeviceRunLevel(PCGPUAMGCycleContext *c, PetscInt level, PetscBool zero, int *now)
{
  PCGPUAMGDeviceLevel  *L = &c->d->level[level];
  const PCGPUAMGVectors v = PCGPUAMGDeviceGetVectors(c, level), next = PCGPUAMGDeviceGetVectors(c, level + 1);
  const PetscBool       last   = (PetscBool)(level + 1 == c->amg->n);
  const int             turns  = c->amg->options.cycle == PC_GPUAMG_CYCLE_W && level + 2 < c->amg->n ? 2 : 1;
  int                   coarse = 1;

  PetscFunctionBegin;
  if (last && c->amg->exact) {
    *now = 1 - *now;
    if (c->d->dense.csr.dev) PetscCallGp(c->d->dev, WHAT, GpCycleKernelsOf(c->d->dev)->multiply(c->transpose ? &c->d->transposed : &c->d->dense, (GpCycleVector){(void *)v.b, v.prec}, (GpCycleVector){v.x[*now], v.prec}));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PCGPUAMGDeviceSmoothLevel(c, level, &v, zero, now));
  if (last) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCGPUAMGDeviceRestrict(c, level, &v, v.x[*now]));
  for (int turn = 0; turn < turns; turn++) PetscCall(PCGPUAMGDeviceRunLevel(c, level + 1, (PetscBool)!turn, &coarse));
  PetscCallGp(c->d->dev, WHAT, GpCycleKernelsOf(c->d->dev)->add(&L->p.m, (GpCycleVector){next.x[coarse], next.prec}, (GpCycleVector){v.x[*now], v.prec}));
  PetscCall(PCGPUAMGDeviceSmoothLevel(c, level, &v, PETSC_FALSE, now));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Number of flops of the cycle from a level on. */
static PetscLogDouble PCGPUAMGDeviceCountFlops(const PC_GPUAMG *amg, PetscInt level)
{
  const PCGPUAMGLevel *L = &amg->level[level];
  const PetscLogDouble n = (PetscLogDouble)L->rows, nnz = (PetscLogDouble)L->nonzeros, sweeps = (PetscLogDouble)amg->options.sweeps;
  const int            turns = amg->options.cycle == PC_GPUAMG_CYCLE_W && level + 2 < amg->n ? 2 : 1;

  if (level + 1 == amg->n) return amg->exact ? 2 * n * n : (sweeps - 1) * (2 * nnz + 6 * n) + 2 * n;
  return 2 * sweeps * (2 * nnz + 6 * n) + 4 * (PetscLogDouble)L->pnonzeros + turns * PCGPUAMGDeviceCountFlops(amg, level + 1);
}

/* Number of iterates that the finest level computes. */
static PetscInt PCGPUAMGDeviceCountIterates(const PC_GPUAMG *amg)
{
  if (amg->n > 1) return 2 * amg->options.sweeps;
  return amg->exact ? 1 : amg->options.sweeps;
}

/* Launches the cycle for the vectors of the context. */
static PetscErrorCode PCGPUAMGDeviceLaunch(void *context)
{
  PCGPUAMGCycleContext *c   = (PCGPUAMGCycleContext *)context;
  int                   now = PCGPUAMGDeviceCountIterates(c->amg) % 2 ? 0 : 1; /* the last iterate has index 1 */

  PetscFunctionBegin;
  PetscCall(PCGPUAMGDeviceRunLevel(c, 0, PETSC_TRUE, &now));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Runs the cycle.  If it has run for the same vectors before, it is launched as a graph.  The first run loads the kernels, which is not allowed during a capture. */
static PetscErrorCode PCGPUAMGDeviceRun(PCGPUAMGCycleContext *now)
{
  PCGPUAMGDevice        d    = now->d;
  PCGPUAMGCycleContext *c    = &d->recorded;
  const PetscBool       same = (PetscBool)(c->amg && c->from == now->from && c->to == now->to && c->transpose == now->transpose && d->version == d->op->version);

  PetscFunctionBegin;
  if (!same) PetscCall(PetscGPUCSRGraphDestroy(&d->graph));
  if (d->version != d->op->version) PetscCall(PCGPUAMGDeviceSetFinest_Private(now->amg, PETSC_FALSE)); /* the image has other memory */
  *c = *now;
  if (same && !d->graph) PetscCall(PetscGPUCSRGraphCreate(d->dev, PETSC_FALSE, PCGPUAMGDeviceLaunch, c, &d->graph));
  if (d->graph) PetscCall(PetscGPUCSRGraphLaunch(d->graph));
  else PetscCall(PCGPUAMGDeviceLaunch(c));
  PetscCall(PetscGPUCSRLogFlops_Private(d->dev, PCGPUAMGDeviceCountFlops(now->amg, 0)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGPUAMGDeviceApply_Private(PC pc, PetscBool transpose, Vec x, Vec y)
{
  PC_GPUAMG           *amg = (PC_GPUAMG *)pc->data;
  Mat                  A   = amg->level[0].A;
  PCGPUAMGCycleContext c   = {.amg = amg, .d = amg->device, .transpose = PETSC_FALSE};
  MatGPUCSRVec         from, to, none;
  PetscErrorCode       err;

  PetscFunctionBegin;
  for (PetscInt level = 0; level < amg->n; level++) c.transpose = (PetscBool)(c.transpose || (transpose && amg->level[level].norm)); /* the cycle of symmetric operators is symmetric */
  PetscCall(MatSeqAIJGPUCSRUpload_Private(A, c.transpose, &c.d->op));
  if (c.transpose) PetscCall(PCGPUAMGDeviceTranspose(amg));
  PetscCall(MatGPUCSRVecGetRead_Private(A, 0, x, &from));
  PetscCall(MatGPUCSRVecGetResult_Private(A, 1, y, NULL, &to, &none));
  c.from = from.device;
  c.to   = to.device;
  err    = PCGPUAMGDeviceRun(&c);
  PetscCall(MatGPUCSRVecRestoreResult_Private(A, y, NULL, &to, &none));
  PetscCall(MatGPUCSRVecRestoreArray_Private(x, 'r', &from));
  PetscCall(err);
  PetscFunctionReturn(PETSC_SUCCESS);
}
