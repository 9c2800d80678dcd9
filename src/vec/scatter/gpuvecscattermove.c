/* Execution of a scatter with gpu vectors: access to both sides, the kernels that pack, move and unpack, and the exchange between ranks. */
#include "vec/scatter/gpuvecscatter.h"

static inline PetscBool VecGPUHasDeviceValues(Vec v)
{
  return (PetscBool)(v && (VecGPUGetValid(v) & VEC_GPU_DEVICE));
}

/* Decides for both sides whether the values are used on the host or on the device, and gets them.  The choice follows the memory that
   holds the current values.  If all entries are replaced, the old values of the receiving vector are dropped first, unless another vector
   shares them. */
static PetscErrorCode VecGPUScatterGetValues(VecGPUScatter s, PetscBool replaced)
{
  VecGPUSide *from = &s->from, *to = &s->to;

  PetscFunctionBegin;
  if (replaced && !VecGPUState(to->vec)->shared && !VecGPUState(to->vec)->original && !VecGPUState(to->vec)->locals) VecGPUSetValid(to->vec, 0);
  if (s->ours && from->vec != to->vec) { /* within one vector PETSc moves the entries one after the other, on the host */
    if (from->vec && to->vec) from->device = to->device = (PetscBool)(VecGPUHasDeviceValues(from->vec) || VecGPUHasDeviceValues(to->vec));
    else if (from->vec) from->device = (PetscBool) !(VecGPUGetValid(from->vec) & VEC_GPU_HOST);
    else to->device = VecGPUHasDeviceValues(to->vec);
  }
  if (from->device) PetscCall(VecGPUGetDeviceRead_Private(from->vec, (const double **)&from->values));
  else if (from->vec) PetscCall((*from->vec->ops->getarrayread)(from->vec, (const double **)&from->values));
  if (to->device && replaced) PetscCall(VecGPUGetDeviceWrite_Private(to->vec, &to->values));
  else if (to->device) PetscCall(VecGPUGetDevice_Private(to->vec, &to->values));
  else if (to->vec) PetscCall(VecGetArray_GPU(to->vec, &to->values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecGPUScatterMoveEntries(VecGPUScatter s, PetscBool device, MPI_Op op, const GpVecMove *m, const double *x, double *y)
{
  const GpVecMoveOp   move    = op == MPI_REPLACE ? GP_VEC_REPLACE : op == MPIU_SUM ? GP_VEC_ADD : op == MPIU_MAX ? GP_VEC_MAX : GP_VEC_MIN;
  const GpVecKernels *kernels = device ? GpVecKernelsOf(s->dev) : &GpVecKernels_Host;

  PetscFunctionBegin;
  if (m->n) PetscCallGp(s->dev, "scatter", kernels->move(s->dev, move, s->bs, m, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Follows a kernel that reads (in) or writes n entries of a pinned buffer: records the event, and counts the bytes as transferred, because kernels
   access pinned buffers directly and no copy function counts them. */
static PetscErrorCode VecGPUScatterRecordTransfer(VecGPUScatter s, PetscBool in, PetscInt n)
{
  const double bytes = (double)n * s->bs * sizeof(double);

  PetscFunctionBegin;
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  GpDevCountBytes(s->dev, in, bytes);
  PetscCall(in ? PetscLogCpuToGpu(bytes) : PetscLogGpuToCpu(bytes));
  PetscCallGp(s->dev, "scatter", GpDevEventRecord(s->dev, s->event));
  s->reading = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecGPUScatterWaitForBuffers(VecGPUScatter s)
{
  PetscFunctionBegin;
  if (s->reading) PetscCallGp(s->dev, "scatter", GpDevEventWait(s->dev, s->event));
  s->reading = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Packs the entries of the sending side into a buffer; the host does not wait for the kernel. */
static PetscErrorCode VecGPUScatterPack(VecGPUScatter s, int scope, int to, double *buffer)
{
  GpVecMove m;

  PetscFunctionBegin;
  if (!s->from.device) PetscCall(VecGPUScatterWaitForBuffers(s));
  PetscCall(VecGPUScatterGetPack_Private(s, scope, !to, s->from.device, &m));
  PetscCall(VecGPUScatterMoveEntries(s, s->from.device, MPI_REPLACE, &m, s->from.values, buffer));
  if (s->from.device) PetscCall(VecGPUScatterRecordTransfer(s, PETSC_FALSE, s->edges[scope][!to].n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecGPUScatterUnpack(VecGPUScatter s, int scope, int to, const double *buffer, MPI_Op op)
{
  GpVecMove m;

  PetscFunctionBegin;
  PetscCall(VecGPUScatterGetMove_Private(s, scope, to, PETSC_TRUE, s->to.device, &m));
  PetscCall(VecGPUScatterMoveEntries(s, s->to.device, op, &m, buffer, s->to.values));
  if (s->to.device) PetscCall(VecGPUScatterRecordTransfer(s, PETSC_TRUE, s->edges[scope][to].n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Moves the entries that stay on this rank.  Between device memory and a host array they are packed into a pinned buffer. */
static PetscErrorCode VecGPUScatterMoveLocal(VecGPUScatter s, int to, MPI_Op op)
{
  const PetscInt n = s->edges[LOCAL][to].n;

  PetscFunctionBegin;
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  if (s->from.device == s->to.device) {
    GpVecMove m;

    PetscCall(VecGPUScatterGetMove_Private(s, LOCAL, to, PETSC_FALSE, s->to.device, &m));
    PetscCall(VecGPUScatterMoveEntries(s, s->to.device, op, &m, s->from.values, s->to.values));
  } else {
    const PetscLogEvent event = s->from.device ? VEC_GPU_Download : VEC_GPU_Upload;

    PetscCall(PetscLogEventBegin(event, s->from.device ? s->from.vec : s->to.vec, 0, 0, 0));
    if (!s->own) PetscCallGp(s->dev, "allocating a pinned buffer for a scatter", GpDevAllocPinned(s->dev, (size_t)n * s->bs * sizeof(double), (void **)&s->own));
    PetscCall(VecGPUScatterPack(s, LOCAL, to, s->own));
    if (s->from.device) PetscCall(VecGPUScatterWaitForBuffers(s));
    PetscCall(VecGPUScatterUnpack(s, LOCAL, to, s->own, op));
    PetscCall(PetscLogEventEnd(event, s->from.device ? s->from.vec : s->to.vec, 0, 0, 0));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecGPUScatterExchange(PetscSF sf, VecGPUScatter s, int to, MPI_Datatype unit, PetscBool begin)
{
  PetscFunctionBegin;
  if (!s->inner) PetscFunctionReturn(PETSC_SUCCESS);
  s->inner->vscat.logging = sf->vscat.logging; /* the inner exchange is logged as the scatter itself */
  if (begin && to == LEAF) PetscCall(PetscSFBcastWithMemTypeBegin(s->inner, unit, PETSC_MEMTYPE_HOST, s->buffer[ROOT], PETSC_MEMTYPE_HOST, s->buffer[LEAF], MPI_REPLACE));
  else if (begin) PetscCall(PetscSFReduceWithMemTypeBegin(s->inner, unit, PETSC_MEMTYPE_HOST, s->buffer[LEAF], PETSC_MEMTYPE_HOST, s->buffer[ROOT], MPI_REPLACE));
  else if (to == LEAF) PetscCall(PetscSFBcastEnd(s->inner, unit, s->buffer[ROOT], s->buffer[LEAF], MPI_REPLACE));
  else PetscCall(PetscSFReduceEnd(s->inner, unit, s->buffer[LEAF], s->buffer[ROOT], MPI_REPLACE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the values of both sides.  If this library runs the scatter, moves the local entries and begins the exchange with other ranks. */
PetscErrorCode VecGPUScatterBegin_Private(PetscSF sf, VecGPUScatter s, int to, MPI_Datatype unit, MPI_Op op)
{
  PetscFunctionBegin;
  PetscCall(VecGPUScatterGetValues(s, (PetscBool)(s->ours && s->to.vec && op == MPI_REPLACE && s->from.vec != s->to.vec && s->covered[to] * s->bs == s->to.vec->map->n)));
  if (!s->ours) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGPUScatterPack(s, REMOTE, to, s->buffer[!to]));
  if (s->from.device == s->to.device) PetscCall(VecGPUScatterMoveLocal(s, to, op)); /* launched before the wait for the packing kernel */
  PetscCall(VecGPUScatterWaitForBuffers(s));
  PetscCall(VecGPUScatterExchange(sf, s, to, unit, PETSC_TRUE));
  if (s->from.device != s->to.device) PetscCall(VecGPUScatterMoveLocal(s, to, op));
  if (s->to.device) PetscCall(VecGPURestoreDevice_Private(s->to.vec));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecGPUScatterEnd_Private(PetscSF sf, VecGPUScatter s, int to, MPI_Datatype unit, MPI_Op op)
{
  PetscFunctionBegin;
  PetscCall(VecGPUScatterExchange(sf, s, to, unit, PETSC_FALSE));
  PetscCall(VecGPUScatterUnpack(s, REMOTE, to, s->buffer[to], op));
  PetscFunctionReturn(PETSC_SUCCESS);
}
