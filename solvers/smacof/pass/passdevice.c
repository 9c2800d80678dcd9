/* The pass on the device of the vectors.  The pairs are copied to the device once; coordinates and sums stay there. */
#include "solvers/smacof/smacofimpl.h"
#include <gpucsr.h>

#define SMACOF_SHORT_PASS 4096 /* SMACOF_ARITHMETIC_AUTO is double below this number of points: float errors do not average out, and a pass is short */
#define SMACOF_FLOAT_SAFE 1e12 /* SMACOF_ARITHMETIC_AUTO is float for typical dissimilarities in (1 / SMACOF_FLOAT_SAFE, SMACOF_FLOAT_SAFE), whose squares fit float */

#define SMACOF_ALLOCATING "allocating device memory for the dissimilarities (-smacof_vec_type seq keeps them on the host; with more processes each has fewer)"

static PetscErrorCode SMACOFDevicePassAllocate(SMACOFDevicePass *W, size_t bytes, void *where)
{
  PetscFunctionBegin;
  PetscCheck(W->nheld < SMACOF_DEVICE_ARRAYS, PETSC_COMM_SELF, PETSC_ERR_PLIB, "PASS_DEVICE_ARRAYS is too small");
  W->bytes[W->nheld] = PetscMax(bytes, 1);
  PetscCall(PetscGPUCSRDeviceMalloc(W->dev, SMACOF_ALLOCATING, W->bytes[W->nheld], &W->held[W->nheld]));
  *(void **)where = W->held[W->nheld++];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SMACOFDevicePassUpload(SMACOFDevicePass *W, const void *from, size_t bytes, void *where)
{
  PetscFunctionBegin;
  PetscCall(SMACOFDevicePassAllocate(W, bytes, where));
  PetscCall(PetscGPUCSRDeviceCopyIn(W->dev, *(void **)where, from, bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SMACOFDevicePassUploadPairs(SMACOFDevicePass *W, const SMACOFPairs *D)
{
  const size_t each = D->single ? sizeof(float) : sizeof(double), m = (size_t)(D->last - D->first), N = (size_t)D->N;
  SMACOFPass  *p = &W->p;
  void        *delta;

  PetscFunctionBegin;
  if (D->start) {
    PetscCall(SMACOFDevicePassUpload(W, D->start, sizeof(int64_t) * (m + 1), &p->start));
    PetscCall(SMACOFDevicePassUpload(W, D->column, sizeof(int) * (size_t)D->start[m], &p->column));
    PetscCall(SMACOFDevicePassUpload(W, D->delta, each * (size_t)D->start[m], &p->delta));
    if (D->weight) PetscCall(SMACOFDevicePassUpload(W, D->weight, each * (size_t)D->start[m], &p->weight));
  } else if (D->delta) {
    p->ld = (N + 3) / 4 * 4;
    PetscCall(SMACOFDevicePassAllocate(W, each * m * p->ld, &delta));
    if (p->ld == N) PetscCall(PetscGPUCSRDeviceCopyIn(W->dev, delta, D->delta, each * m * N));
    else
      for (size_t i = 0; i < m; i++) PetscCall(PetscGPUCSRDeviceCopyIn(W->dev, (char *)delta + each * i * p->ld, (const char *)D->delta + each * i * N, each * N));
    p->delta = delta;
  } else {
    PetscCall(SMACOFDevicePassUpload(W, D->feature, sizeof(double) * N * (size_t)D->nfeature, &p->feature));
    p->frow = p->feature + D->first;
    if (D->stored) {
      p->ld = SMACOFGetStorePitch(p->N); /* not used for arrays from the host, which would need a copy for each row */
      PetscCall(SMACOFDevicePassAllocate(W, each * m * p->ld, &delta));
      if (SMACOFIsOnGPU(W->dev)) PetscCallGp(W->dev, "The dissimilarities on the device", SMACOFStoreDistances_CUDA(W->dev, p, delta));
      else SMACOFStoreDistances_Host(p, delta);
      p->delta = delta;
    }
  }
  PetscCall(PetscGPUCSRDeviceSynchronize(W->dev));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the local pairs to a device, or computes the distances between features there.  Sizes and ranges are those of p, the pass on host arrays, which is copied if dev
   is NULL.  Arithmetic is double. */
PetscErrorCode SMACOFDevicePassCreate_Private(GpDev dev, const SMACOFPairs *D, const SMACOFPass *p, SMACOFDevicePass *W)
{
  PetscFunctionBegin;
  *W = (SMACOFDevicePass){.dev = dev, .p = *p};
  if (!dev) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SMACOFDevicePassUploadPairs(W, D));
  if (SMACOFIsOnGPU(dev)) PetscCall(SMACOFDevicePassAllocate(W, SMACOFGetPassMemory_CUDA(dev, &W->p), &W->work.memory));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Selects the arithmetic.  The sums of D must be known. */
PetscErrorCode SMACOFDevicePassSelectArithmetic_Private(SMACOFDevicePass *W, const SMACOFPairs *D, SMACOFArithmetic arithmetic)
{
  const PetscReal typical = D->sumweights > 0 ? PetscSqrtReal(D->sumsquares / D->sumweights) : 0;

  PetscFunctionBegin;
  W->work.mixed = SMACOFIsOnGPU(W->dev) && D->single && !D->start && arithmetic != SMACOF_ARITHMETIC_DOUBLE;
  if (arithmetic == SMACOF_ARITHMETIC_AUTO && (D->N < SMACOF_SHORT_PASS || !(typical < SMACOF_FLOAT_SAFE && typical > 1 / SMACOF_FLOAT_SAFE))) W->work.mixed = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Runs n passes over the pairs.  Their coordinates and sums are where the pass runs.  Does not wait for a GPU. */
PetscErrorCode SMACOFDevicePassRun_Private(const SMACOFDevicePass *W, const SMACOFPass p[], PetscInt n)
{
  PetscFunctionBegin;
  if (!SMACOFIsOnGPU(W->dev)) SMACOFRunPass_Host(p, (int)n);
  for (PetscInt k = 0; SMACOFIsOnGPU(W->dev) && k < n; k++) PetscCallGp(W->dev, "The dissimilarities on the device", SMACOFRunPass_CUDA(W->dev, p + k, &W->work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Multiplies n vectors on the host, [n][N], by the matrix of squares of the dissimilarities; the results are [n][rows] on the host. */
PetscErrorCode SMACOFDevicePassMultiplySquares_Private(const SMACOFDevicePass *W, PetscInt n, const double v[], double y[])
{
  const size_t in = sizeof(double) * (size_t)n * (size_t)W->p.N, out = sizeof(double) * (size_t)n * (size_t)W->p.rows;
  GpDev        dev = W->dev;
  char        *from;

  PetscFunctionBegin;
  if (!SMACOFIsOnGPU(dev)) {
    SMACOFMultiplySquares_Host(&W->p, (int)n, v, y);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscGPUCSRDeviceMalloc(dev, SMACOF_ALLOCATING, in + out, &from));
  PetscCall(PetscGPUCSRDeviceCopyIn(dev, from, v, in));
  PetscCallGp(dev, "The dissimilarities on the device", SMACOFMultiplySquares_CUDA(dev, &W->p, (int)n, (const double *)from, (double *)(from + in)));
  PetscCall(PetscGPUCSRDeviceCopyOut(dev, y, from + in, out));
  PetscCall(PetscGPUCSRDeviceSynchronize(dev));
  PetscCall(PetscGPUCSRDeviceFree(dev, in + out, &from));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SMACOFDevicePassDestroy_Private(SMACOFDevicePass *W)
{
  PetscFunctionBegin;
  for (int k = 0; k < W->nheld; k++) PetscCall(PetscGPUCSRDeviceFree(W->dev, W->bytes[k], &W->held[k]));
  W->nheld = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}
