/* The pass on the device of the vectors.  The dissimilarities are copied to the device once; coordinates and sums stay there. */
#include "solvers/smacof/smacofimpl.h"
#include <gpucsr.h>

#define FEW      4096 /* -smacof_arithmetic auto uses double below this number of points: float errors do not average out, and a pass is short */
#define MIDDLING 1e12 /* -smacof_arithmetic auto uses float for typical dissimilarities in (1 / MIDDLING, MIDDLING), whose squares fit float */

const char *const Arithmetics[] = {"auto", "mixed", "double", "Arithmetic", "", NULL};
const char *const Readings[]    = {"halves", "rows", "Reading", "", NULL};

#define ROOM "allocating device memory for the dissimilarities (-smacof_vec_type seq keeps them on the host; with more processes each has fewer)"

static size_t NoMemory(GpDev dev, const Pass *p)
{
  return 0;
}

static GpErr RunOnHost(GpDev dev, const Pass *p, int n, const PassWork *w)
{
  Pass_Host(p, n);
  return GP_SUCCESS;
}

static GpErr SquaresOnHost(GpDev dev, const Pass *p, int n, const double *v, double *y)
{
  PassSquares_Host(p, n, v, y);
  return GP_SUCCESS;
}

static GpErr StoreOnHost(GpDev dev, const Pass *p, void *delta)
{
  PassStore_Host(p, delta);
  return GP_SUCCESS;
}

#if GP_HAVE_CUDA
static GpErr RunOnGPU(GpDev dev, const Pass *p, int n, const PassWork *w)
{
  GpErr err = GP_SUCCESS;

  for (int k = 0; k < n && !err; k++) err = Pass_CUDA(dev, p + k, w);
  return err;
}
#endif

static const struct {
  size_t (*memory)(GpDev, const Pass *);
  GpErr (*run)(GpDev, const Pass *, int n, const PassWork *);
  GpErr (*squares)(GpDev, const Pass *, int n, const double *v, double *y);
  GpErr (*store)(GpDev, const Pass *, void *delta);
} Twins[GP_DEV_KINDS] = {
  {NoMemory, RunOnHost, SquaresOnHost, StoreOnHost},
#if GP_HAVE_CUDA
  {PassMemory_CUDA, RunOnGPU, PassSquares_CUDA, PassStore_CUDA},
#endif
};

static PetscErrorCode PassDeviceAllocate(PassDevice *W, size_t bytes, void *where)
{
  PetscFunctionBegin;
  PetscCheck(W->nheld < PASS_DEVICE_ARRAYS, PETSC_COMM_SELF, PETSC_ERR_PLIB, "PASS_DEVICE_ARRAYS is too small");
  W->bytes[W->nheld] = PetscMax(bytes, 1);
  PetscCall(PetscGPUCSRDeviceMalloc(W->dev, ROOM, W->bytes[W->nheld], &W->held[W->nheld]));
  *(void **)where = W->held[W->nheld++];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PassDeviceUpload(PassDevice *W, const void *from, size_t bytes, void *where)
{
  void *to = NULL;

  PetscFunctionBegin;
  PetscCall(PassDeviceAllocate(W, bytes, &to));
  PetscCallDevice(W->dev, "The dissimilarities", W->dev->ops->copy_in(W->dev, to, from, bytes));
  *(void **)where = to;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PassDeviceUploadDissim(PassDevice *W)
{
  const Dissim *D    = W->D;
  const size_t  each = D->single ? sizeof(float) : sizeof(double), m = (size_t)(D->last - D->first), N = (size_t)D->N;
  Pass         *p = &W->p;
  void         *delta;

  PetscFunctionBegin;
  if (D->start) {
    PetscCall(PassDeviceUpload(W, D->start, sizeof(int64_t) * (m + 1), &p->start));
    PetscCall(PassDeviceUpload(W, D->column, sizeof(int) * (size_t)D->start[m], &p->column));
    PetscCall(PassDeviceUpload(W, D->delta, each * (size_t)D->start[m], &p->delta));
    if (D->weight) PetscCall(PassDeviceUpload(W, D->weight, each * (size_t)D->start[m], &p->weight));
  } else if (D->delta) {
    p->ld = (N + 3) / 4 * 4;
    PetscCall(PassDeviceAllocate(W, each * m * p->ld, &delta));
    if (p->ld == N) PetscCallDevice(W->dev, "The dissimilarities", W->dev->ops->copy_in(W->dev, delta, D->delta, each * m * N));
    else
      for (size_t i = 0; i < m; i++) PetscCallDevice(W->dev, "The dissimilarities", W->dev->ops->copy_in(W->dev, (char *)delta + each * i * p->ld, (const char *)D->delta + each * i * N, each * N));
    p->delta = delta;
  } else {
    PetscCall(PassDeviceUpload(W, D->features.value, sizeof(double) * N * (size_t)D->features.n, &p->feature));
    p->frow = p->feature + D->first;
    if (D->stored) {
      p->ld = PassStorePitch(p->N); /* not used for arrays from the host, which would need a copy for each row */
      PetscCall(PassDeviceAllocate(W, each * m * p->ld, &delta));
      PetscCallDevice(W->dev, "The dissimilarities", Twins[W->dev->kind].store(W->dev, p, delta));
      p->delta = delta;
    }
  }
  PetscCallDevice(W->dev, "The dissimilarities", W->dev->ops->sync(W->dev));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  PassDeviceCreate - Copies the local dissimilarities to a device, or computes the distances between features there

  Not Collective

  Input Parameters:
+ dev - the device
. D   - the dissimilarities
- p   - the pass on host arrays; sizes and ranges are taken from it

  Output Parameter:
. W - the pass on the device, with double arithmetic
*/
PetscErrorCode PassDeviceCreate(GpDev dev, const Dissim *D, const Pass *p, PassDevice *W)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(W, sizeof(*W)));
  W->D   = D;
  W->dev = dev;
  W->p   = *p;
  PetscCall(PassDeviceUploadDissim(W));
  PetscCall(PassDeviceAllocate(W, Twins[dev->kind].memory(dev, &W->p), &W->work.memory));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Selects the arithmetic.  The sums of D must be known. */
PetscErrorCode PassDeviceChoose(PassDevice *W, const PassDeviceOptions *o)
{
  const Dissim   *D       = W->D;
  const PetscReal typical = D->sumweights > 0 ? PetscSqrtReal(D->sumsquares / D->sumweights) : 0;

  PetscFunctionBegin;
  W->work.mixed = W->dev->kind == GP_DEV_CUDA && D->single && !D->start && o->arithmetic != ARITHMETIC_DOUBLE;
  if (o->arithmetic == ARITHMETIC_AUTO && (D->N < FEW || !(typical < MIDDLING && typical > 1 / MIDDLING))) W->work.mixed = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Runs n passes over the dissimilarities on the device.  Their coordinates and sums are in device memory.  Does not wait for the device. */
PetscErrorCode PassDeviceRun(const PassDevice *W, const Pass p[], PetscInt n)
{
  PetscFunctionBegin;
  PetscCallDevice(W->dev, "The dissimilarities", Twins[W->dev->kind].run(W->dev, p, (int)n, &W->work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Multiplies n vectors on the host, [n][N], by the matrix of squares of the dissimilarities; the results are [n][rows] on the host. */
PetscErrorCode PassDeviceSquares(const PassDevice *W, PetscInt n, const double v[], double y[])
{
  const size_t in = sizeof(double) * (size_t)n * (size_t)W->p.N, out = sizeof(double) * (size_t)n * (size_t)W->p.rows;
  GpDev        dev = W->dev;
  char        *from;

  PetscFunctionBegin;
  PetscCall(PetscGPUCSRDeviceMalloc(dev, ROOM, in + out, &from));
  PetscCallDevice(dev, "The dissimilarities", dev->ops->copy_in(dev, from, v, in));
  PetscCallDevice(dev, "The dissimilarities", Twins[dev->kind].squares(dev, &W->p, (int)n, (const double *)from, (double *)(from + in)));
  PetscCallDevice(dev, "The dissimilarities", dev->ops->copy_out(dev, y, from + in, out));
  PetscCallDevice(dev, "The dissimilarities", dev->ops->sync(dev));
  PetscCall(PetscGPUCSRDeviceFree(dev, in + out, &from));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PassDeviceDestroy(PassDevice *W)
{
  PetscFunctionBegin;
  for (int k = 0; k < W->nheld; k++) PetscCall(PetscGPUCSRDeviceFree(W->dev, W->bytes[k], &W->held[k]));
  W->nheld = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}
