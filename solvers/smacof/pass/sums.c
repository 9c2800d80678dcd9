/* Sums and inner products of a configuration, computed where its vectors are.  On a GPU they are launched without a wait, and the host waits
   only when it needs the results. */
#include "solvers/smacof/smacofimpl.h"
#include <gpucsr.h>

/* Gets the array of a vector in device memory, or on the host if dev is NULL. */
PetscErrorCode SMACOFGetArray_Private(GpDev dev, Vec v, PetscBool write, const double **a)
{
  PetscFunctionBegin;
  if (dev) PetscCall(write ? VecGPUGetDeviceArrayWrite(v, (double **)a) : VecGPUGetDeviceArrayRead(v, a));
  else PetscCall(write ? VecGetArrayWrite(v, (double **)a) : VecGetArrayRead(v, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SMACOFRestoreArray_Private(GpDev dev, Vec v, PetscBool write, const double **a)
{
  PetscFunctionBegin;
  if (dev) PetscCall(write ? VecGPURestoreDeviceArrayWrite(v, (double **)a) : VecGPURestoreDeviceArrayRead(v, a));
  else PetscCall(write ? VecRestoreArrayWrite(v, (double **)a) : VecRestoreArrayRead(v, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline size_t SMACOFSumsGetBytes(const SMACOFSums *L)
{
  return sizeof(double) * 2 * (size_t)L->parts;
}

/* Creates the workspace for sums and inner products with up to `history` pairs of differences.  dev is NULL if the vectors are on the host. */
PetscErrorCode SMACOFSumsCreate_Private(GpDev dev, PetscInt history, SMACOFSums *L)
{
  size_t n;

  PetscFunctionBegin;
  *L = (SMACOFSums){.dev = dev, .parts = SMACOFIsOnGPU(dev) ? SMACOF_SUM_PARTS : 1};
  n  = (size_t)L->parts * (2 + (history ? (size_t)SMACOFCountBatches((int)history - 1) * SMACOF_BATCH_SUMS : 0));
  if (SMACOFIsOnGPU(dev)) {
    PetscCall(PetscGPUCSRDeviceMalloc(dev, "allocating device memory for the sums of a configuration (-smacof_vec_type seq uses host memory)", SMACOFSumsGetBytes(L), &L->sums));
    PetscCall(PetscGPUCSRDeviceMallocPinned(dev, sizeof(double) * n, &L->result));
    PetscCall(PetscGPUCSRWatchReset((PetscInt)n, L->result));
  } else PetscCall(PetscMalloc2(2, &L->sums, n, &L->result));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SMACOFSumsDestroy_Private(SMACOFSums *L)
{
  PetscFunctionBegin;
  if (SMACOFIsOnGPU(L->dev)) {
    PetscCall(PetscGPUCSRDeviceFree(L->dev, SMACOFSumsGetBytes(L), &L->sums));
    PetscCall(PetscGPUCSRDeviceFreePinned(L->dev, &L->result));
  } else PetscCall(PetscFree2(L->sums, L->result));
  *L = (SMACOFSums){NULL};
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Waits for n sums and adds their partial sums [parts][n], in the order that the device uses.  Then resets the memory for the next sums.  result
   is that of L for the sums that SMACOFSumsBegin_Private() began. */
PetscErrorCode SMACOFSumsEnd_Private(SMACOFSums *L, PetscInt n, double *result, PetscScalar sum[])
{
  const PetscBool gpu = (PetscBool)SMACOFIsOnGPU(L->dev);
  double          part[SMACOF_SUM_PARTS];

  PetscFunctionBegin;
  if (gpu) PetscCall(PetscGPUCSRWatchWait(L->dev, L->parts * n, result));
  for (PetscInt k = 0; k < n; k++) {
    for (int p = 0; p < L->parts; p++) part[p] = result[p * n + k];
    for (int half = L->parts / 2; half > 0; half /= 2)
      for (int p = 0; p < half; p++) part[p] += part[p + half];
    sum[k] = part[0];
  }
  if (gpu) PetscCall(PetscGPUCSRWatchReset(L->parts * n, result));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Begins to compute the sum of the stress of all points and the inner product <x, bx>, where bx is B(X) X.  Does not wait for a GPU. */
PetscErrorCode SMACOFSumsBegin_Private(SMACOFSums *L, Vec x, Vec bx, Vec stress)
{
  SMACOFSumsTask q = {.sums = L->sums, .result = L->result};
  PetscInt       n, points;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(VecGetLocalSize(stress, &points));
  q.n      = (size_t)n;
  q.points = (size_t)points;
  PetscCall(SMACOFGetArray_Private(L->dev, x, PETSC_FALSE, &q.x));
  PetscCall(SMACOFGetArray_Private(L->dev, bx, PETSC_FALSE, &q.bx));
  PetscCall(SMACOFGetArray_Private(L->dev, stress, PETSC_FALSE, &q.stress));
  if (SMACOFIsOnGPU(L->dev)) PetscCallGp(L->dev, "The sums of a configuration on the device", SMACOFComputeSums_CUDA(L->dev, &q));
  else SMACOFComputeSums_Host(&q);
  PetscCall(SMACOFRestoreArray_Private(L->dev, x, PETSC_FALSE, &q.x));
  PetscCall(SMACOFRestoreArray_Private(L->dev, bx, PETSC_FALSE, &q.bx));
  PetscCall(SMACOFRestoreArray_Private(L->dev, stress, PETSC_FALSE, &q.stress));
  PetscCall(PetscLogFlops(2.0 * n + points));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets or restores the arrays of a history that the new differences are computed from and written to. */
static PetscErrorCode SMACOFDifferencesGetArrays(const SMACOFSums *L, SMACOFHistory *H, PetscErrorCode (*get)(GpDev, Vec, PetscBool, const double **), SMACOFDifferencesTask *q)
{
  PetscFunctionBegin;
  PetscCall(get(L->dev, H->next[0], PETSC_TRUE, (const double **)&q->x));
  PetscCall(get(L->dev, H->next[1], PETSC_TRUE, (const double **)&q->f));
  if (!H->any) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(get(L->dev, H->latest[0], PETSC_FALSE, &q->lastx));
  PetscCall(get(L->dev, H->latest[1], PETSC_FALSE, &q->lastf));
  PetscCall(get(L->dev, H->next[2], PETSC_TRUE, (const double **)&q->dx));
  PetscCall(get(L->dev, H->next[3], PETSC_TRUE, (const double **)&q->df));
  q->before = 0;
  for (PetscInt k = 0; k < H->have; k++) {
    if (k == SMACOFHistoryGetNext(H)) continue;
    PetscCall(get(L->dev, H->dx[k], PETSC_FALSE, &q->u[q->before]));
    PetscCall(get(L->dev, H->df[k], PETSC_FALSE, &q->v[q->before++]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Begins to compute the differences that a configuration x adds to a history, and their inner products, after SMACOFSumsBegin_Private() for x.  The Guttman transform is
   gfactor times g.  If unit > 0, it is the sum of squares that normalises the stress, and x is scaled to its best scale. */
PetscErrorCode SMACOFDifferencesBegin_Private(SMACOFSums *L, SMACOFHistory *H, Vec x, Vec g, PetscReal gfactor, PetscReal unit)
{
  SMACOFDifferencesTask q = {.sums = unit > 0 ? L->sums : NULL, .unit = unit, .gfactor = gfactor, .result = L->result + 2 * L->parts};
  PetscInt              n;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(x, &n));
  q.n = (size_t)n;
  PetscCall(SMACOFGetArray_Private(L->dev, x, PETSC_FALSE, &q.X));
  PetscCall(SMACOFGetArray_Private(L->dev, g, PETSC_FALSE, &q.g));
  PetscCall(SMACOFDifferencesGetArrays(L, H, SMACOFGetArray_Private, &q));
  if (SMACOFIsOnGPU(L->dev)) PetscCallGp(L->dev, "The sums of a configuration on the device", SMACOFComputeDifferences_CUDA(L->dev, &q));
  else SMACOFComputeDifferences_Host(&q);
  PetscCall(SMACOFDifferencesGetArrays(L, H, SMACOFRestoreArray_Private, &q));
  PetscCall(SMACOFRestoreArray_Private(L->dev, x, PETSC_FALSE, &q.X));
  PetscCall(SMACOFRestoreArray_Private(L->dev, g, PETSC_FALSE, &q.g));
  PetscCall(PetscLogFlops(5.0 * n + (H->any ? 8.0 * n * (1 + q.before) : 0)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Waits for the inner products that SMACOFDifferencesBegin_Private() began: three for each pair of differences, starting with the new pair itself. */
PetscErrorCode SMACOFDifferencesEnd_Private(SMACOFSums *L, PetscInt pairs, PetscScalar product[])
{
  PetscScalar row[SMACOF_BATCH_SUMS];

  PetscFunctionBegin;
  for (PetscInt first = 0; first < pairs; first += SMACOF_PAIR_BATCH) {
    PetscCall(SMACOFSumsEnd_Private(L, SMACOF_BATCH_SUMS, L->result + L->parts * (2 + 3 * first), row));
    PetscCall(PetscArraycpy(product + 3 * first, row, 3 * PetscMin(SMACOF_PAIR_BATCH, pairs - first)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
