/* Access to the values of a gpu Vec: device memory, the pinned mirror on the host, and the copies between them.  Values are copied only
   if the memory that is accessed does not hold the current ones. */
#include "vec/gpuvecimpl.h"

PetscLogEvent VEC_GPU_Upload, VEC_GPU_Download;
PetscBool     VecGPUSeparate = PETSC_FALSE;
PetscInt      VecGPUStateId  = -1;

PetscErrorCode VecGPUAttachData_Private(Vec v, void *data)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectComposedDataSetIntstar((PetscObject)v, VecGPUStateId, (PetscInt *)data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline size_t VecGPUBytes(Vec v)
{
  return (size_t)v->map->n * sizeof(double);
}

/* With -vec_gpu_separate, overwrites values that are out of date, so that a test detects code that still reads them.  Does nothing on the
   CUDA backend. */
static void VecGPUPoison(Vec v, double *values)
{
  if (GpDevKindOf(VecGPUState(v)->dev) != GP_DEV_HOST || !values || VecGPUState(v)->windows) return; /* subvectors share this memory */
  for (PetscInt i = 0; i < v->map->n; i++) values[i] = 1e303;
}

/* Updates what a local vector copies from its original: the host array and the offload mask. */
static void VecGPUFollowOriginal(Vec v)
{
  Vec_GPU     *g     = VecGPUState(v);
  PetscScalar *array = VecGPUHeader(g->original)->array;

  VecGPUHeader(v)->array = array ? array + g->offset : NULL;
  v->offloadmask         = g->original->offloadmask;
}

static PetscErrorCode VecGPUWaitForUpload(Vec v)
{
  Vec_GPU *g = VecGPUState(v);

  PetscFunctionBegin;
  if (!g->inflight) PetscFunctionReturn(PETSC_SUCCESS);
  g->inflight = PETSC_FALSE;
  PetscCallGp(g->dev, "waiting for the upload of a vector", GpDevSync(g->dev));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* If only a part of the original is written, the rest of it must be current on the device too. */
static PetscErrorCode VecGPUGetDeviceOfOriginal(Vec v, PetscBool read, double **values)
{
  Vec_GPU *g = VecGPUState(v);

  PetscFunctionBegin;
  if (read || v->map->n < g->original->map->n) PetscCall(VecGPUGetDevice_Private(g->original, values));
  else PetscCall(VecGPUGetDeviceWrite_Private(g->original, values));
  if (*values) *values += g->offset;
  VecGPUFollowOriginal(v);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecGPUGetDeviceWrite_Private(Vec v, double **values)
{
  Vec_GPU *g = VecGPUState(v);

  PetscFunctionBegin;
  if (g->original) {
    PetscCall(VecGPUGetDeviceOfOriginal(v, PETSC_FALSE, values));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!g->shared && !g->device) PetscCallGp(g->dev, "allocating device memory for a vector", GpDevAllocShared(g->dev, VecGPUBytes(v), &g->device));
  *values = g->shared ? VecGPUHeader(v)->array : g->device;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes the values on the device current. */
static PetscErrorCode VecGPUToDevice(Vec v)
{
  Vec_GPU      *g    = VecGPUState(v);
  const double *host = VecGPUHeader(v)->array;
  double       *device;

  PetscFunctionBegin;
  PetscCall(PetscGPUCSRGetDevice(&g->dev));
  PetscCall(VecGPUGetDeviceWrite_Private(v, &device));
  if (!g->valid) {
    PetscCallGp(g->dev, "zeroing a vector", GpDevZero(g->dev, device, VecGPUBytes(v)));
    VecGPUSetValid(v, VEC_GPU_DEVICE);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscLogEventBegin(VEC_GPU_Upload, v, 0, 0, 0));
  if (host == g->mirror) {
    PetscCallGp(g->dev, "uploading a vector", GpDevCopyIn(g->dev, device, host, VecGPUBytes(v)));
    g->inflight = PETSC_TRUE;
  } else PetscCallGp(g->dev, "uploading a vector", GpDevUpload(g->dev, device, host, VecGPUBytes(v)));
  PetscCall(PetscLogCpuToGpu((PetscLogDouble)VecGPUBytes(v)));
  PetscCall(PetscLogEventEnd(VEC_GPU_Upload, v, 0, 0, 0));
  VecGPUSetValid(v, VEC_GPU_HOST | VEC_GPU_DEVICE);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes the values on the host current. */
PetscErrorCode VecGPUToHost_Private(Vec v)
{
  Vec_GPU       *g = VecGPUState(v);
  Vec_GPUHeader *h = VecGPUHeader(v);

  PetscFunctionBegin;
  if (g->original) {
    PetscCall(VecGPUToHost_Private(g->original));
    VecGPUFollowOriginal(v);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (g->shared || (g->valid & VEC_GPU_HOST)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscGPUCSRGetDevice(&g->dev));
  if (!h->array) {
    if (!g->mirror) PetscCallGp(g->dev, "allocating pinned host memory for a vector", GpDevAllocPinned(g->dev, PetscMax(VecGPUBytes(v), sizeof(double)), (void **)&g->mirror));
    h->array = g->mirror;
  }
  if (!g->valid) {
    PetscCall(VecGPUWaitForUpload(v)); /* a scatter that replaces all entries clears valid while an upload of the old values may still run */
    PetscCall(PetscArrayzero(h->array, v->map->n));
    VecGPUSetValid(v, VEC_GPU_HOST);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscLogEventBegin(VEC_GPU_Download, v, 0, 0, 0));
  if (h->array == g->mirror) {
    PetscCallGp(g->dev, "downloading a vector", GpDevCopyOut(g->dev, h->array, g->device, VecGPUBytes(v)));
    PetscCallGp(g->dev, "downloading a vector", GpDevSync(g->dev));
    g->inflight = PETSC_FALSE; /* the synchronisation also covered earlier uploads */
  } else PetscCallGp(g->dev, "downloading a vector", GpDevDownload(g->dev, h->array, g->device, VecGPUBytes(v)));
  PetscCall(PetscLogGpuToCpu((PetscLogDouble)VecGPUBytes(v)));
  PetscCall(PetscLogEventEnd(VEC_GPU_Download, v, 0, 0, 0));
  VecGPUSetValid(v, VEC_GPU_HOST | VEC_GPU_DEVICE);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Marks the values on the host as current; called before or after the host writes them. */
PetscErrorCode VecGPUHostWritten_Private(Vec v)
{
  Vec_GPU *g = VecGPUState(v);

  PetscFunctionBegin;
  if (g->original) {
    PetscCall(VecGPUHostWritten_Private(g->original));
    PetscCall(PetscObjectStateIncrease((PetscObject)g->original));
    VecGPUFollowOriginal(v);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (g->shared) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGPUWaitForUpload(v));
  if (g->valid & VEC_GPU_DEVICE) VecGPUPoison(v, g->device);
  VecGPUSetValid(v, VEC_GPU_HOST);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecGPUGetDeviceRead_Private(Vec v, const double **values)
{
  Vec_GPU *g = VecGPUState(v);

  PetscFunctionBegin;
  if (g->original) {
    PetscCall(VecGPUGetDeviceOfOriginal(v, PETSC_TRUE, (double **)values));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!g->shared && !(g->valid & VEC_GPU_DEVICE)) PetscCall(VecGPUToDevice(v));
  *values = g->shared ? VecGPUHeader(v)->array : g->device;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecGPURestoreDevice_Private(Vec v)
{
  Vec_GPU *g = VecGPUState(v);

  PetscFunctionBegin;
  if (g->original) {
    PetscCall(VecGPURestoreDevice_Private(g->original));
    VecGPUFollowOriginal(v);
  } else if (!g->shared && g->valid != VEC_GPU_DEVICE) {
    VecGPUPoison(v, VecGPUHeader(v)->array);
    VecGPUSetValid(v, VEC_GPU_DEVICE);
  }
  /* Not every VecXxx() function of PETSc increases the state after the type's operation.  Without this, PETSc would return cached norms. */
  PetscCall(PetscObjectStateIncrease((PetscObject)v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecGPUGetHostIfValid_Private(Vec v, const double **values)
{
  Vec_GPU *g = VecGPUState(v);

  PetscFunctionBegin;
  if (g->original) {
    PetscCall(VecGPUGetHostIfValid_Private(g->original, values));
    if (*values) *values += g->offset;
  } else *values = g->shared || (g->valid & VEC_GPU_HOST) ? VecGPUHeader(v)->array : NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Frees the mirror and the device memory.  PETSc frees a host array that PETSc allocated. The device memory of a subvector belongs to the original vector, and borrowed memory to the
   caller. */
PetscErrorCode VecGPUFree_Private(Vec v)
{
  Vec_GPU *g = VecGPUState(v);

  PetscFunctionBegin;
  PetscCall(VecGPUWaitForUpload(v));
  if (g->mirror) {
    if (VecGPUHeader(v)->array == g->mirror) VecGPUHeader(v)->array = NULL;
    GpDevFreePinned(g->dev, g->mirror);
    g->mirror = NULL;
  }
  if (g->window == VEC_GPU_DEVICE || (g->borrowed && !g->lent)) g->device = NULL;
  else GpDevFreeShared(g->dev, &g->device, VecGPUBytes(v));
  g->lent     = NULL;
  g->borrowed = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
