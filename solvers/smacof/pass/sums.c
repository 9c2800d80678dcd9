/* Sums and inner products of a configuration, computed where its vectors are.  On a GPU they are launched without a wait, and the host waits
   only when it needs the results. */
#include "device/gpwatch.h"
#include "solvers/smacof/smacofimpl.h"
#include <gpucsr.h>

static inline PetscBool LookIsOnGPU(const Look *L)
{
  return (PetscBool)(L->dev && L->dev->kind == GP_DEV_CUDA);
}

/* Gets the array of a vector in device memory, or on the host if dev is NULL. */
PetscErrorCode ArrayGet(GpDev dev, Vec v, PetscBool write, const double **a)
{
  PetscFunctionBegin;
  if (dev) PetscCall(write ? VecGPUGetDeviceArrayWrite(v, (double **)a) : VecGPUGetDeviceArrayRead(v, a));
  else PetscCall(write ? VecGetArrayWrite(v, (double **)a) : VecGetArrayRead(v, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ArrayRestore(GpDev dev, Vec v, PetscBool write, const double **a)
{
  PetscFunctionBegin;
  if (dev) PetscCall(write ? VecGPURestoreDeviceArrayWrite(v, (double **)a) : VecGPURestoreDeviceArrayRead(v, a));
  else PetscCall(write ? VecRestoreArrayWrite(v, (double **)a) : VecRestoreArrayRead(v, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline size_t LookSumsBytes(const Look *L)
{
  return sizeof(double) * 2 * (size_t)L->parts;
}

/*
  LookCreate - Creates the workspace for sums and inner products of configurations

  Not Collective

  Input Parameters:
+ dev     - the device of the vectors, or NULL if they are on the host
- history - capacity of the history; 0 if there is no history

  Output Parameter:
. L - the workspace
*/
PetscErrorCode LookCreate(GpDev dev, PetscInt history, Look *L)
{
  size_t n;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(L, sizeof(*L)));
  L->dev   = dev;
  L->parts = LookIsOnGPU(L) ? LOOK_PARTS : 1;
  n        = (size_t)L->parts * (2 + (history ? (size_t)LookBatches((int)history - 1) * LOOK_ROW : 0));
  if (dev) {
    PetscCall(PetscGPUCSRDeviceMalloc(dev, "allocating device memory for the sums of a configuration (-smacof_vec_type seq uses host memory)", LookSumsBytes(L), &L->sums));
    PetscCallDevice(dev, "The sums of a configuration", dev->ops->alloc_pinned(dev, sizeof(double) * n, (void **)&L->told));
  } else PetscCall(PetscMalloc2(2, &L->sums, n, &L->told));
  if (LookIsOnGPU(L)) GpWatchClear(L->told, n);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LookDestroy(Look *L)
{
  PetscFunctionBegin;
  if (L->dev) PetscCall(PetscGPUCSRDeviceFree(L->dev, LookSumsBytes(L), &L->sums));
  if (L->dev && L->told) L->dev->ops->release_pinned(L->dev, L->told);
  if (!L->dev) PetscCall(PetscFree2(L->sums, L->told));
  PetscCall(PetscMemzero(L, sizeof(*L)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Waits for n sums and adds their partial sums [parts][n], in the order that the device uses.  Then resets the memory for the next sums. */
static PetscErrorCode LookFetch(const Look *L, PetscInt n, double *told, PetscScalar sum[])
{
  double part[LOOK_PARTS];

  PetscFunctionBegin;
  for (int p = 0; LookIsOnGPU(L) && p < L->parts; p++)
    for (PetscInt k = 0; k < n; k++) PetscCallDevice(L->dev, "The sums of a configuration", GpWatch(L->dev, &told[p * n + k]));
  for (PetscInt k = 0; k < n; k++) {
    for (int p = 0; p < L->parts; p++) part[p] = told[p * n + k];
    for (int half = L->parts / 2; half > 0; half /= 2)
      for (int p = 0; p < half; p++) part[p] += part[p + half];
    sum[k] = part[0];
  }
  if (LookIsOnGPU(L)) GpWatchClear(told, (size_t)L->parts * (size_t)n);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Begins to compute the sum of the stress of all points and the inner product <x, bx>, where bx is B(X) X.  Does not wait for a GPU. */
PetscErrorCode LookBegin(Look *L, Vec x, Vec bx, Vec stress)
{
  LookSums q = {.sums = L->sums, .told = L->told};
  PetscInt n, points;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(VecGetLocalSize(stress, &points));
  q.n      = (size_t)n;
  q.points = (size_t)points;
  PetscCall(ArrayGet(L->dev, x, PETSC_FALSE, &q.x));
  PetscCall(ArrayGet(L->dev, bx, PETSC_FALSE, &q.bx));
  PetscCall(ArrayGet(L->dev, stress, PETSC_FALSE, &q.stress));
#if GP_HAVE_CUDA
  if (LookIsOnGPU(L)) PetscCallDevice(L->dev, "The sums of a configuration", LookSums_CUDA(L->dev, &q));
#endif
  if (!LookIsOnGPU(L)) LookSums_Host(&q);
  PetscCall(ArrayRestore(L->dev, x, PETSC_FALSE, &q.x));
  PetscCall(ArrayRestore(L->dev, bx, PETSC_FALSE, &q.bx));
  PetscCall(ArrayRestore(L->dev, stress, PETSC_FALSE, &q.stress));
  PetscCall(PetscLogFlops(2.0 * n + points));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Waits for the sums that LookBegin() began. */
PetscErrorCode LookEnd(Look *L, PetscScalar sum[2])
{
  PetscFunctionBegin;
  PetscCall(LookFetch(L, 2, L->told, sum));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets or restores the arrays of a history that the new differences are computed from and written to. */
static PetscErrorCode LookHistoryArrays(const Look *L, History *H, PetscErrorCode (*get)(GpDev, Vec, PetscBool, const double **), LookNewest *q)
{
  PetscFunctionBegin;
  PetscCall(get(L->dev, H->newx, PETSC_TRUE, (const double **)&q->x));
  PetscCall(get(L->dev, H->newf, PETSC_TRUE, (const double **)&q->f));
  if (!H->any) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(get(L->dev, H->x, PETSC_FALSE, &q->lastx));
  PetscCall(get(L->dev, H->f, PETSC_FALSE, &q->lastf));
  PetscCall(get(L->dev, H->newdx, PETSC_TRUE, (const double **)&q->dx));
  PetscCall(get(L->dev, H->newdf, PETSC_TRUE, (const double **)&q->df));
  q->before = 0;
  for (PetscInt k = 0; k < H->have; k++) {
    if (k == HistoryNext(H)) continue;
    PetscCall(get(L->dev, H->dx[k], PETSC_FALSE, &q->u[q->before]));
    PetscCall(get(L->dev, H->df[k], PETSC_FALSE, &q->v[q->before++]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  LookAtNewest - Begins to compute the differences that a configuration adds to a history, and their inner products. HistoryAdd() then adds them

  Not Collective

  Input Parameters:
+ L       - the workspace, after LookBegin() for this configuration
. H       - the history
. x       - the configuration
. g       - its Guttman transform without the factor
. gfactor - the Guttman transform is gfactor times g
- unit    - the sum of squares that normalises the stress, if the configuration is to be scaled to its best scale; 0: no scaling
*/
PetscErrorCode LookAtNewest(Look *L, History *H, Vec x, Vec g, PetscReal gfactor, PetscReal unit)
{
  LookNewest q = {.sums = unit > 0 ? L->sums : NULL, .unit = unit, .gfactor = gfactor, .told = L->told + 2 * L->parts};
  PetscInt   n;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(x, &n));
  q.n = (size_t)n;
  PetscCall(ArrayGet(L->dev, x, PETSC_FALSE, &q.X));
  PetscCall(ArrayGet(L->dev, g, PETSC_FALSE, &q.g));
  PetscCall(LookHistoryArrays(L, H, ArrayGet, &q));
#if GP_HAVE_CUDA
  if (LookIsOnGPU(L)) PetscCallDevice(L->dev, "The sums of a configuration", LookNewest_CUDA(L->dev, &q));
#endif
  if (!LookIsOnGPU(L)) LookNewest_Host(&q);
  PetscCall(LookHistoryArrays(L, H, ArrayRestore, &q));
  PetscCall(ArrayRestore(L->dev, x, PETSC_FALSE, &q.X));
  PetscCall(ArrayRestore(L->dev, g, PETSC_FALSE, &q.g));
  PetscCall(PetscLogFlops(5.0 * n + (H->any ? 8.0 * n * (1 + q.before) : 0)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Waits for the inner products that LookAtNewest() began: three for each pair of differences, starting with the new pair itself. */
PetscErrorCode LookProducts(Look *L, PetscInt pairs, PetscScalar product[])
{
  PetscScalar row[LOOK_ROW];

  PetscFunctionBegin;
  for (PetscInt first = 0; first < pairs; first += LOOK_BATCH) {
    PetscCall(LookFetch(L, LOOK_ROW, L->told + L->parts * (2 + 3 * first), row));
    PetscCall(PetscArraycpy(product + 3 * first, row, 3 * PetscMin(LOOK_BATCH, pairs - first)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
