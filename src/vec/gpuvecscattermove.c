/* A scatter with gpu vectors under way: where its two sides are, the kernels that pack, move and unpack, and the exchange. */
#include "vec/gpuvecscatter.h"

static inline PetscBool OnDevice(Vec v)
{
  return (PetscBool)(v && (VecGPUState(v)->valid & VEC_GPU_DEVICE));
}

static inline PetscBool OnHost(Vec v)
{
  return (PetscBool)(VecGPUState(v)->valid & VEC_GPU_HOST);
}

/* Where values are read and written: where they are.  A vector whose every entry is replaced has none. */
static PetscErrorCode Place(VecGPUScatter s, PetscBool replaced)
{
  VecGPUSide *from = &s->from, *to = &s->to;

  PetscFunctionBegin;
  if (replaced && !VecGPUState(to->vec)->shared) VecGPUSetValid(to->vec, 0);
  if (s->ours && from->vec != to->vec) { /* within one vector PETSc moves one entry after the other */
    if (from->vec && to->vec) from->device = to->device = (PetscBool)(OnDevice(from->vec) || OnDevice(to->vec));
    else if (from->vec) from->device = (PetscBool)!OnHost(from->vec);
    else to->device = OnDevice(to->vec);
  }
  if (from->device) PetscCall(VecGPUGetDeviceRead_Private(from->vec, (const double **)&from->values));
  else if (from->vec) PetscCall((*from->vec->ops->getarrayread)(from->vec, (const double **)&from->values));
  if (to->device && replaced) PetscCall(VecGPUGetDeviceWrite_Private(to->vec, &to->values));
  else if (to->device) PetscCall(VecGPUGetDevice_Private(to->vec, &to->values));
  else if (to->vec) PetscCall(VecGetArray_GPU(to->vec, &to->values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Move(VecGPUScatter s, PetscBool device, MPI_Op op, const GpVecMove *m, const double *x, double *y)
{
  const GpVecMoveOp   move    = op == MPI_REPLACE ? GP_VEC_REPLACE : op == MPIU_SUM ? GP_VEC_ADD : op == MPIU_MAX ? GP_VEC_MAX : GP_VEC_MIN;
  const GpVecKernels *kernels = device ? GpVecKernelsOf(s->dev) : &GpVecKernelsHost;

  PetscFunctionBegin;
  if (m->n) PetscCallGp(s->dev, "scatter", kernels->move(s->dev, move, s->bs, m, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* kernels read and write the pinned buffers themselves, which the device does not count */
static PetscErrorCode Crossed(VecGPUScatter s, PetscBool in, PetscInt n)
{
  const double bytes = (double)n * s->bs * sizeof(double);

  PetscFunctionBegin;
  if (in) s->dev->bytes_in += bytes;
  else s->dev->bytes_out += bytes;
  PetscCall(in ? PetscLogCpuToGpu(bytes) : PetscLogGpuToCpu(bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* out of the giving side into a buffer; the host waits for nothing yet */
static PetscErrorCode Pack(VecGPUScatter s, int scope, int to, double *buffer)
{
  const PetscInt n = s->edges[scope][!to].n;
  GpVecMove      m;

  PetscFunctionBegin;
  if (s->reading && !s->from.device) {
    PetscCallGp(s->dev, "scatter", s->dev->ops->event_wait(s->dev, s->event));
    s->reading = PETSC_FALSE;
  }
  PetscCall(VecGPUScatterGetPack_Private(s, scope, !to, s->from.device, &m));
  PetscCall(Move(s, s->from.device, MPI_REPLACE, &m, s->from.values, buffer));
  if (s->from.device && n) {
    PetscCall(Crossed(s, PETSC_FALSE, n));
    PetscCallGp(s->dev, "scatter", s->dev->ops->event_record(s->dev, s->event));
    s->reading = PETSC_TRUE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode WaitForBuffers(VecGPUScatter s)
{
  PetscFunctionBegin;
  if (s->reading) PetscCallGp(s->dev, "scatter", s->dev->ops->event_wait(s->dev, s->event));
  s->reading = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Unpack(VecGPUScatter s, int scope, int to, const double *buffer, MPI_Op op)
{
  const PetscInt n = s->edges[scope][to].n;
  GpVecMove      m;

  PetscFunctionBegin;
  PetscCall(VecGPUScatterGetMove_Private(s, scope, to, PETSC_TRUE, s->to.device, &m));
  PetscCall(Move(s, s->to.device, op, &m, buffer, s->to.values));
  if (s->to.device && n) {
    PetscCall(Crossed(s, PETSC_TRUE, n));
    PetscCallGp(s->dev, "scatter", s->dev->ops->event_record(s->dev, s->event));
    s->reading = PETSC_TRUE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the edges of this rank to itself; what goes from a vector on the device to the host, or back, goes packed */
static PetscErrorCode MoveLocal(VecGPUScatter s, int to, MPI_Op op)
{
  const PetscInt n = s->edges[LOCAL][to].n;

  PetscFunctionBegin;
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  if (s->from.device == s->to.device) {
    GpVecMove m;

    PetscCall(VecGPUScatterGetMove_Private(s, LOCAL, to, PETSC_FALSE, s->to.device, &m));
    PetscCall(Move(s, s->to.device, op, &m, s->from.values, s->to.values));
  } else {
    if (!s->own) PetscCallGp(s->dev, "making room for what a scatter moves", s->dev->ops->alloc_pinned(s->dev, (size_t)n * s->bs * sizeof(double), (void **)&s->own));
    PetscCall(Pack(s, LOCAL, to, s->own));
    if (s->from.device) PetscCall(WaitForBuffers(s));
    PetscCall(Unpack(s, LOCAL, to, s->own, op));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Exchange(PetscSF sf, VecGPUScatter s, int to, MPI_Datatype unit, PetscBool begin)
{
  PetscFunctionBegin;
  if (!s->inner) PetscFunctionReturn(PETSC_SUCCESS);
  s->inner->vscat.logging = sf->vscat.logging; /* its work is the scatter's */
  if (begin && to == LEAF) PetscCall(PetscSFBcastWithMemTypeBegin(s->inner, unit, PETSC_MEMTYPE_HOST, s->buffer[ROOT], PETSC_MEMTYPE_HOST, s->buffer[LEAF], MPI_REPLACE));
  else if (begin) PetscCall(PetscSFReduceWithMemTypeBegin(s->inner, unit, PETSC_MEMTYPE_HOST, s->buffer[LEAF], PETSC_MEMTYPE_HOST, s->buffer[ROOT], MPI_REPLACE));
  else if (to == LEAF) PetscCall(PetscSFBcastEnd(s->inner, unit, s->buffer[ROOT], s->buffer[LEAF], MPI_REPLACE));
  else PetscCall(PetscSFReduceEnd(s->inner, unit, s->buffer[LEAF], s->buffer[ROOT], MPI_REPLACE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finds the sides' values; where the scatter is ours, does all that need not wait for other ranks, and begins the exchange. */
PetscErrorCode VecGPUScatterBegin_Private(PetscSF sf, VecGPUScatter s, int to, MPI_Datatype unit, MPI_Op op)
{
  PetscFunctionBegin;
  PetscCall(Place(s, (PetscBool)(s->ours && s->to.vec && op == MPI_REPLACE && s->from.vec != s->to.vec && s->covered[to] * s->bs == s->to.vec->map->n)));
  if (!s->ours) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Pack(s, REMOTE, to, s->buffer[!to]));
  if (s->from.device == s->to.device) PetscCall(MoveLocal(s, to, op)); /* beside the packing, which is waited for next */
  PetscCall(WaitForBuffers(s));
  PetscCall(Exchange(sf, s, to, unit, PETSC_TRUE));
  if (s->from.device != s->to.device) PetscCall(MoveLocal(s, to, op));
  if (s->to.device) PetscCall(VecGPURestoreDevice_Private(s->to.vec));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecGPUScatterEnd_Private(PetscSF sf, VecGPUScatter s, int to, MPI_Datatype unit, MPI_Op op)
{
  PetscFunctionBegin;
  PetscCall(Exchange(sf, s, to, unit, PETSC_FALSE));
  PetscCall(Unpack(s, REMOTE, to, s->buffer[to], op));
  PetscFunctionReturn(PETSC_SUCCESS);
}
