/* The pass on the device that -gpucsr_device names: the dissimilarities there once, coordinates to it and sums back in every pass. */
#include "smacof.h"
#include <gpucsr.h>

#define FEW      4096 /* points whose errors in float do not yet cancel out; they take no time anyhow */
#define MIDDLING 1e12 /* dissimilarities whose squares, and those of differences far smaller, are numbers in float */

const char *const Arithmetics[] = {"auto", "mixed", "double", "Arithmetic", "", NULL};
const char *const Readings[]    = {"halves", "rows", "Reading", "", NULL};

#define CallDevice(dev, ...) \
  do { \
    GpErr err_ = (__VA_ARGS__); \
    PetscCheck(!err_, PETSC_COMM_SELF, err_ == GP_ERR_MEMORY ? PETSC_ERR_MEM : PETSC_ERR_LIB, "The dissimilarities on the device: %s", (dev)->error); \
  } while (0)

static size_t NoMemory(const Pass *p, const PassWork *w)
{
  return 0;
}

static GpErr RunOnHost(GpDev dev, const Pass *p, const PassWork *w)
{
  Pass_Host(p);
  return GP_SUCCESS;
}

static const struct {
  size_t (*memory)(const Pass *, const PassWork *);
  GpErr (*run)(GpDev, const Pass *, const PassWork *);
} Twins[GP_DEV_KINDS] = {
  {NoMemory, RunOnHost},
#if GP_HAVE_CUDA
  {PassMemory_CUDA, Pass_CUDA},
#endif
};

static PetscErrorCode Take(PassDevice *W, size_t bytes, void *where)
{
  PetscFunctionBegin;
  PetscCheck(W->nheld < PASS_DEVICE_ARRAYS, PETSC_COMM_SELF, PETSC_ERR_PLIB, "More arrays than there are places for");
  CallDevice(W->dev, W->dev->ops->alloc(W->dev, PetscMax(bytes, 1), &W->held[W->nheld]));
  *(void **)where = W->held[W->nheld++];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Send(PassDevice *W, const void *from, size_t bytes, void *where)
{
  void *to;

  PetscFunctionBegin;
  PetscCall(Take(W, bytes, &to));
  CallDevice(W->dev, W->dev->ops->copy_in(W->dev, to, from, bytes));
  *(void **)where = to;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SendDissim(PassDevice *W)
{
  const Dissim *D    = W->D;
  const size_t  each = D->single ? sizeof(float) : sizeof(double), m = (size_t)(D->last - D->first), N = (size_t)D->N;
  Pass         *p = &W->p;
  void         *delta;

  PetscFunctionBegin;
  if (D->start) {
    PetscCall(Send(W, D->start, sizeof(int64_t) * (m + 1), &p->start));
    PetscCall(Send(W, D->column, sizeof(int) * (size_t)D->start[m], &p->column));
    PetscCall(Send(W, D->delta, each * (size_t)D->start[m], &p->delta));
    if (D->weight) PetscCall(Send(W, D->weight, each * (size_t)D->start[m], &p->weight));
  } else if (D->delta) {
    p->ld = (N + 3) / 4 * 4;
    PetscCall(Take(W, each * m * p->ld, &delta));
    for (size_t i = 0; i < m; i++) CallDevice(W->dev, W->dev->ops->copy_in(W->dev, (char *)delta + each * i * p->ld, (const char *)D->delta + each * i * N, each * N));
    p->delta = delta;
  } else {
    PetscCall(Send(W, D->features.value, sizeof(double) * N * (size_t)D->features.n, &p->feature));
    p->frow = p->feature + D->first;
  }
  CallDevice(W->dev, W->dev->ops->sync(W->dev));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  PassDeviceCreate - Puts this rank's dissimilarities on its device

  Collective

  Input Parameters:
+ D - the dissimilarities
. p - the pass, of which the sizes count
- o - how to work

  Output Parameter:
. W - what the passes need
*/
PetscErrorCode PassDeviceCreate(const Dissim *D, const Pass *p, const PassDeviceOptions *o, PassDevice *W)
{
  const PetscReal typical = D->sumweights > 0 ? PetscSqrtReal(D->sumsquares / D->sumweights) : 0;
  Vec             v;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(W, sizeof(*W)));
  W->D = D;
  PetscCall(VecCreate(PETSC_COMM_SELF, &v));
  PetscCall(VecSetSizes(v, 1, 1));
  PetscCall(VecSetType(v, VECGPU));
  PetscCall(VecGPUGetRuntime(v, &W->dev));
  PetscCall(VecDestroy(&v));
  W->p           = *p;
  W->work.halves = o->reading == READING_HALVES;
  W->work.mixed  = W->dev->kind == GP_DEV_CUDA && D->delta && D->single && !D->start && o->arithmetic != ARITHMETIC_DOUBLE;
  if (o->arithmetic == ARITHMETIC_AUTO && (D->N < FEW || !(typical < MIDDLING && typical > 1 / MIDDLING))) W->work.mixed = 0;
  W->coordinates = sizeof(double) * (size_t)D->N * (size_t)p->dim;
  W->sums        = sizeof(double) * (size_t)p->rows * (size_t)p->dim;
  PetscCall(SendDissim(W));
  PetscCall(Take(W, W->coordinates, &W->x));
  PetscCall(Take(W, W->sums, &W->p.bx));
  PetscCall(Take(W, sizeof(double) * (size_t)p->rows, &W->p.stress));
  PetscCall(Take(W, Twins[W->dev->kind].memory(&W->p, &W->work), &W->work.memory));
  W->p.x    = W->x;
  W->p.xrow = W->x + D->first;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a pass over what was sent; coordinates and sums are the host's */
PetscErrorCode PassDeviceRun(PassDevice *W, const double x[], double bx[], double stress[])
{
  GpDev dev = W->dev;

  PetscFunctionBegin;
  CallDevice(dev, dev->ops->copy_in(dev, W->x, x, W->coordinates));
  CallDevice(dev, Twins[dev->kind].run(dev, &W->p, &W->work));
  CallDevice(dev, dev->ops->copy_out(dev, bx, W->p.bx, W->sums));
  CallDevice(dev, dev->ops->copy_out(dev, stress, W->p.stress, sizeof(double) * (size_t)W->p.rows));
  CallDevice(dev, dev->ops->sync(dev));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PassDeviceDestroy(PassDevice *W)
{
  PetscFunctionBegin;
  for (int k = 0; k < W->nheld; k++) W->dev->ops->release(W->dev, W->held[k]);
  W->nheld = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}
