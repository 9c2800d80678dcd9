/* Where the values of a gpu Vec are: device memory, the pinned mirror on the host, and the copies between them, made only when the
   side that is asked for is behind. */
#include "vec/gpuvecimpl.h"

PetscLogEvent VEC_GPU_Upload, VEC_GPU_Download;
PetscBool     VecGPUSeparate = PETSC_FALSE;

static GpVecWork VecGPUWork; /* where reductions work; made by the first */

/* the options, while all ranks are here */
PetscErrorCode VecGPUInitialize_Private(void)
{
  PetscFunctionBegin;
  PetscCall(VecGPUStateInitialize_Private());
  VecGPUSeparate = PETSC_FALSE;
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "gpucsr vector options", "Vec");
  PetscCall(PetscOptionsBool("-vec_gpu_separate", "On the host runtime, keep the device's values apart from the host's, so that a missing copy shows", "VECGPU", VecGPUSeparate, &VecGPUSeparate, NULL));
  PetscOptionsEnd();
  PetscCall(VecGPUCUDAInitialize_Private());
  PetscCall(PetscLogEventRegister("VecGPUUpload", VEC_CLASSID, &VEC_GPU_Upload));
  PetscCall(PetscLogEventRegister("VecGPUDownload", VEC_CLASSID, &VEC_GPU_Download));
  /* ranks copy when they need to, which is not the same on all */
  PetscCall(PetscLogEventSetCollective(VEC_GPU_Upload, PETSC_FALSE));
  PetscCall(PetscLogEventSetCollective(VEC_GPU_Download, PETSC_FALSE));
  PetscCall(VecGPUScatterInitialize_Private());
  PetscCall(VecGPUGhostInitialize_Private());
  PetscCall(VecGPUSLEPcCheck());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecGPUFinalize_Private(void)
{
  PetscFunctionBegin;
  PetscCall(VecGPUSLEPcFinalize_Private());
  PetscCall(VecGPUGhostFinalize_Private());
  PetscCall(VecGPUScatterFinalize_Private());
  GpVecWorkDestroy(&VecGPUWork);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecGPUGetWork_Private(GpVecWork **work)
{
  PetscFunctionBegin;
  if (!VecGPUWork.dev) {
    GpDev dev;

    PetscCall(PetscGPUCSRGetDevice_Private(&dev));
    PetscCallGp(dev, "making room for reductions", GpVecWorkCreate(dev, &VecGPUWork));
  }
  *work = &VecGPUWork;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline size_t VecGPUBytes(Vec v)
{
  return (size_t)v->map->n * sizeof(double);
}

/* With -vec_gpu_separate the side that has fallen behind is made unusable, so that a test sees whoever still reads it.  (Host
   runtime: device memory can be written from here.) */
static void VecGPUPoison(Vec v, double *values)
{
  if (VecGPUState(v)->dev->kind != GP_DEV_HOST || !values || VecGPUState(v)->windows) return; /* subvectors still live there */
  for (PetscInt i = 0; i < v->map->n; i++) values[i] = 1e303;
}

static PetscErrorCode VecGPUWaitForUpload(Vec v)
{
  Vec_GPU *g = VecGPUState(v);

  PetscFunctionBegin;
  if (!g->inflight) PetscFunctionReturn(PETSC_SUCCESS);
  g->inflight = PETSC_FALSE;
  PetscCallGp(g->dev, "waiting for a vector's upload", g->dev->ops->sync(g->dev));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecGPUAllocateDevice(Vec v)
{
  Vec_GPU *g = VecGPUState(v);

  PetscFunctionBegin;
  if (!g->device) PetscCallGp(g->dev, "making room for a vector", GpDevAllocShared(g->dev, VecGPUBytes(v), &g->device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* makes the device's values current */
static PetscErrorCode VecGPUToDevice(Vec v)
{
  Vec_GPU      *g    = VecGPUState(v);
  const double *host = VecGPUHeader(v)->array;

  PetscFunctionBegin;
  PetscCall(PetscGPUCSRGetDevice_Private(&g->dev));
  PetscCall(VecGPUAllocateDevice(v));
  if (!g->valid) {
    PetscCallGp(g->dev, "zeroing a vector", g->dev->ops->zero(g->dev, g->device, VecGPUBytes(v)));
    VecGPUSetValid(v, VEC_GPU_DEVICE);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscLogEventBegin(VEC_GPU_Upload, v, 0, 0, 0));
  if (host == g->mirror) {
    PetscCallGp(g->dev, "uploading a vector", g->dev->ops->copy_in(g->dev, g->device, host, VecGPUBytes(v)));
    g->inflight = PETSC_TRUE;
  } else PetscCallGp(g->dev, "uploading a vector", GpDevUpload(g->dev, g->device, host, VecGPUBytes(v)));
  PetscCall(PetscLogCpuToGpu((PetscLogDouble)VecGPUBytes(v)));
  PetscCall(PetscLogEventEnd(VEC_GPU_Upload, v, 0, 0, 0));
  VecGPUSetValid(v, VEC_GPU_HOST | VEC_GPU_DEVICE);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* makes the host's values current */
PetscErrorCode VecGPUToHost_Private(Vec v)
{
  Vec_GPU       *g = VecGPUState(v);
  Vec_GPUHeader *h = VecGPUHeader(v);

  PetscFunctionBegin;
  if (g->shared || (g->valid & VEC_GPU_HOST)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscGPUCSRGetDevice_Private(&g->dev));
  if (!h->array) {
    if (!g->mirror) PetscCallGp(g->dev, "making room for a vector on the host", g->dev->ops->alloc_pinned(g->dev, PetscMax(VecGPUBytes(v), sizeof(double)), (void **)&g->mirror));
    h->array = g->mirror;
  }
  if (!g->valid) {
    PetscCall(VecGPUWaitForUpload(v)); /* of the former values, which a scatter that replaces all of them has declared void */
    PetscCall(PetscArrayzero(h->array, v->map->n));
    VecGPUSetValid(v, VEC_GPU_HOST);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscLogEventBegin(VEC_GPU_Download, v, 0, 0, 0));
  if (h->array == g->mirror) {
    PetscCallGp(g->dev, "downloading a vector", g->dev->ops->copy_out(g->dev, h->array, g->device, VecGPUBytes(v)));
    PetscCallGp(g->dev, "downloading a vector", g->dev->ops->sync(g->dev));
    g->inflight = PETSC_FALSE; /* the wait was for everything before, too */
  } else PetscCallGp(g->dev, "downloading a vector", GpDevDownload(g->dev, h->array, g->device, VecGPUBytes(v)));
  PetscCall(PetscLogGpuToCpu((PetscLogDouble)VecGPUBytes(v)));
  PetscCall(PetscLogEventEnd(VEC_GPU_Download, v, 0, 0, 0));
  VecGPUSetValid(v, VEC_GPU_HOST | VEC_GPU_DEVICE);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the host's values are the newest, or are about to be */
PetscErrorCode VecGPUHostWritten_Private(Vec v)
{
  Vec_GPU *g = VecGPUState(v);

  PetscFunctionBegin;
  if (g->shared) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGPUWaitForUpload(v));
  if (g->valid & VEC_GPU_DEVICE) VecGPUPoison(v, g->device);
  VecGPUSetValid(v, VEC_GPU_HOST);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecGPUIs_Private(Vec v, PetscBool *is)
{
  PetscFunctionBegin;
  *is = VecGPUIs(v);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecGPUGetDeviceRead_Private(Vec v, const double **values)
{
  Vec_GPU *g = VecGPUState(v);

  PetscFunctionBegin;
  if (!g->shared && !(g->valid & VEC_GPU_DEVICE)) PetscCall(VecGPUToDevice(v));
  *values = g->shared ? VecGPUHeader(v)->array : g->device;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecGPUGetDevice_Private(Vec v, double **values)
{
  PetscFunctionBegin;
  PetscCall(VecGPUGetDeviceRead_Private(v, (const double **)values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecGPUGetDeviceWrite_Private(Vec v, double **values)
{
  Vec_GPU *g = VecGPUState(v);

  PetscFunctionBegin;
  if (!g->shared && !g->device) PetscCall(VecGPUAllocateDevice(v));
  *values = g->shared ? VecGPUHeader(v)->array : g->device;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecGPURestoreDevice_Private(Vec v)
{
  Vec_GPU *g = VecGPUState(v);

  PetscFunctionBegin;
  if (!g->shared) {
    if (g->valid != VEC_GPU_DEVICE) {
      VecGPUPoison(v, VecGPUHeader(v)->array);
      VecGPUSetValid(v, VEC_GPU_DEVICE);
    }
  }
  /* not every VecXxx() that calls a type's operation does it, and a remembered norm would be believed */
  PetscCall(PetscObjectStateIncrease((PetscObject)v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecGPUGetHostIfValid_Private(Vec v, const double **values)
{
  Vec_GPU *g = VecGPUState(v);

  PetscFunctionBegin;
  *values = g->shared || (g->valid & VEC_GPU_HOST) ? VecGPUHeader(v)->array : NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* gives back what is ours; the array that PETSc allocated is PETSc's to free */
PetscErrorCode VecGPUFree_Private(Vec v)
{
  Vec_GPU *g = VecGPUState(v);

  PetscFunctionBegin;
  PetscCall(VecGPUWaitForUpload(v));
  if (g->mirror) {
    if (VecGPUHeader(v)->array == g->mirror) VecGPUHeader(v)->array = NULL;
    g->dev->ops->release_pinned(g->dev, g->mirror);
    g->mirror = NULL;
  }
  if (g->window == VEC_GPU_DEVICE) g->device = NULL;
  else GpDevFreeShared(g->dev, &g->device, VecGPUBytes(v));
  PetscFunctionReturn(PETSC_SUCCESS);
}
