/* The pass on the device of the vectors.  The pairs are copied to the device once; coordinates and sums stay there. */
#include "solvers/smacof/smacofimpl.h"
#include "device/gpdevice.h"
#include <gpucsr.h>

#define SMACOF_SHORT_PASS 4096 /* SMACOF_ARITHMETIC_AUTO is double below this number of points: float errors do not average out, and a pass is short */
#define SMACOF_FLOAT_SAFE 1e12 /* SMACOF_ARITHMETIC_AUTO is float for typical dissimilarities in (1 / SMACOF_FLOAT_SAFE, SMACOF_FLOAT_SAFE), whose squares fit float */

#define SMACOF_GROUP_BYTES ((size_t)64 << 20) /* size of a group of rows that is copied to the device for products with squares */

#define SMACOF_ALLOCATING "allocating device memory for the dissimilarities (-smacof_stream always streams them from the host; -smacof_vec_type seq runs on the host; with more processes each has fewer)"

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

/* Returns the size in bytes that the local pairs take on the device. */
static double SMACOFPairsGetBytes(const SMACOFPairs *D)
{
  const double each = D->single ? sizeof(float) : sizeof(double), m = (double)(D->last - D->first);

  if (!D->start) return each * m * (double)SMACOFGetStorePitch((int)D->N);
  return sizeof(int64_t) * (m + 1) + (sizeof(int) + each * (D->weight ? 2 : 1)) * (double)D->start[D->last - D->first];
}

/* Creates the blocks of pairs that are streamed.  The device memory has the features that distances are computed from, and the workspaces of passes that share a transfer. */
static PetscErrorCode SMACOFDevicePassStream(SMACOFDevicePass *W, const SMACOFPairs *D, const SMACOFPass *p, const SMACOFStreamOptions *o, PetscInt npaths, double later)
{
  const size_t N = (size_t)D->N;
  size_t       bytes;

  PetscFunctionBegin;
  if (!p->start && !p->delta) {
    PetscCall(SMACOFDevicePassUpload(W, D->feature, sizeof(double) * N * (size_t)D->nfeature, &W->p.feature));
    W->p.frow      = W->p.feature + D->first;
    W->p.as_stored = 1;
  }
  PetscCall(PetscCalloc1(npaths, &W->works));
  W->npaths = npaths;
  bytes     = SMACOFIsOnGPU(W->dev) ? SMACOFGetPassMemory_CUDA(W->dev, &W->p) : 0;
  if (bytes) {
    PetscCall(SMACOFDevicePassAllocate(W, bytes * (size_t)npaths, &W->work.memory));
    for (PetscInt k = 0; k < npaths; k++) W->works[k].memory = (char *)W->work.memory + bytes * (size_t)k;
  }
  PetscCall(PetscGPUCSRDeviceSynchronize(W->dev));
  PetscCall(SMACOFStreamedCreate_Private(W->dev, p, &W->p, o, later, &W->streamed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the local pairs to a device, or computes the distances between features there, or prepares to stream them.  Sizes and ranges are those of p, the pass on host arrays,
   which is copied if dev is NULL.  Arithmetic is double.  Up to npaths passes run together.  later: size in bytes of the device memory that is allocated after this call. */
PetscErrorCode SMACOFDevicePassCreate_Private(GpDev dev, const SMACOFPairs *D, const SMACOFPass *p, const SMACOFStreamOptions *o, PetscInt npaths, double later, SMACOFDevicePass *W)
{
  PetscBool streams = PETSC_FALSE;
  double    work;

  PetscFunctionBegin;
  *W = (SMACOFDevicePass){.dev = dev, .p = *p};
  if (!dev) PetscFunctionReturn(PETSC_SUCCESS);
  work = SMACOFIsOnGPU(dev) ? (double)SMACOFGetPassMemory_CUDA(dev, p) : 0;
  if (D->stored && p->rows) PetscCall(SMACOFStreamedIsNeeded_Private(dev, o, SMACOFPairsGetBytes(D) + work + later, &streams));
  if (streams) {
    PetscCall(SMACOFDevicePassStream(W, D, p, o, npaths, later));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
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
  for (PetscInt k = 0; k < W->npaths; k++) W->works[k].mixed = W->work.mixed;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Runs n passes over the pairs.  Their coordinates and sums are where the pass runs.  Does not wait for a GPU. */
PetscErrorCode SMACOFDevicePassRun_Private(const SMACOFDevicePass *W, const SMACOFPass p[], PetscInt n)
{
  PetscFunctionBegin;
  if (W->streamed) {
    PetscCall(SMACOFStreamedRun_Private(W->streamed, p, W->works, n));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!SMACOFIsOnGPU(W->dev)) SMACOFRunPass_Host(p, (int)n);
  for (PetscInt k = 0; SMACOFIsOnGPU(W->dev) && k < n; k++) PetscCallGp(W->dev, "The dissimilarities on the device", SMACOFRunPass_CUDA(W->dev, p + k, &W->work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Multiplies vectors on the device by the squares of dissimilarities there; the results are [n][rows] on the host. */
static PetscErrorCode SMACOFDevicePassMultiplyRows(const SMACOFDevicePass *W, const SMACOFPass *p, PetscInt n, const double *v, double *work, double y[])
{
  PetscFunctionBegin;
  PetscCallGp(W->dev, "The dissimilarities on the device", SMACOFMultiplySquares_CUDA(W->dev, p, (int)n, v, work));
  PetscCall(PetscGPUCSRDeviceCopyOut(W->dev, y, work, sizeof(double) * (size_t)n * (size_t)p->rows));
  PetscCall(PetscGPUCSRDeviceSynchronize(W->dev));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Returns the number of rows, of `bytes` bytes each, that are copied to the device at once: at most SMACOF_GROUP_BYTES bytes and half of the free memory. */
static PetscErrorCode SMACOFDevicePassGetGroup(const SMACOFDevicePass *W, size_t bytes, int *group)
{
  size_t available, total;

  PetscFunctionBegin;
  PetscCallGp(W->dev, "The dissimilarities", GpDevGetMemory(W->dev, &available, &total));
  *group = (int)PetscMax(1, PetscMin((size_t)W->p.rows, PetscMin(SMACOF_GROUP_BYTES, available / 2) / bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same for dissimilarities whose rows are in host memory.  Rows are copied to the device in groups; the products of a row do not depend on the group.  The transfers are not
   overlapped with the products, because a start needs few of them. */
static PetscErrorCode SMACOFDevicePassMultiplyHostRows(const SMACOFDevicePass *W, PetscInt n, const double *v, double *work, double y[])
{
  const size_t each = W->p.single ? sizeof(float) : sizeof(double), N = (size_t)W->p.N, ld = (N + 3) / 4 * 4;
  SMACOFPass   q = W->p;
  char        *rows, *padded;
  double      *part;
  int          group;

  PetscFunctionBegin;
  PetscCall(SMACOFDevicePassGetGroup(W, each * ld, &group));
  q.ld = ld;
  PetscCall(PetscMalloc2(each * ld * (size_t)group, &padded, (size_t)n * (size_t)group, &part));
  PetscCall(PetscGPUCSRDeviceMalloc(W->dev, SMACOF_ALLOCATING, each * ld * (size_t)group, &rows));
  q.delta = rows;
  for (int i = 0; i < W->p.rows; i += group) {
    q.rows = SMACOFMin(group, W->p.rows - i);
    for (int k = 0; k < q.rows; k++) PetscCall(PetscMemcpy(padded + each * ld * (size_t)k, (const char *)W->p.delta + each * N * (size_t)(i + k), each * N));
    PetscCall(PetscGPUCSRDeviceCopyIn(W->dev, rows, padded, each * ld * (size_t)q.rows));
    PetscCall(SMACOFDevicePassMultiplyRows(W, &q, n, v, work, part));
    for (PetscInt k = 0; k < n; k++) PetscCall(PetscArraycpy(y + (size_t)k * (size_t)W->p.rows + i, part + (size_t)k * (size_t)q.rows, q.rows));
  }
  PetscCall(PetscGPUCSRDeviceFree(W->dev, each * ld * (size_t)group, &rows));
  PetscCall(PetscFree2(padded, part));
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
  if (W->streamed && W->p.delta) PetscCall(SMACOFDevicePassMultiplyHostRows(W, n, (const double *)from, (double *)(from + in), y));
  else PetscCall(SMACOFDevicePassMultiplyRows(W, &W->p, n, (const double *)from, (double *)(from + in), y));
  PetscCall(PetscGPUCSRDeviceFree(dev, in + out, &from));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SMACOFDevicePassDestroy_Private(SMACOFDevicePass *W)
{
  PetscFunctionBegin;
  PetscCall(SMACOFStreamedDestroy_Private(&W->streamed));
  PetscCall(PetscFree(W->works));
  W->npaths = 0;
  for (int k = 0; k < W->nheld; k++) PetscCall(PetscGPUCSRDeviceFree(W->dev, W->bytes[k], &W->held[k]));
  W->nheld = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}
