/* Arrays of the vectors of a product.  Vectors in device memory are used in place; others are copied to and from a device buffer of the matrix. */
#include "mat/impls/gpucsr/image/gpucsrimpl.h"
#include "vec/gpuvecimpl.h"

/* Gets the arrays of a VECGPU.  Also gets its host array if that is current, because a parallel product can pack boundary entries from it. */
static PetscErrorCode MatGPUCSRVecGetGPU(Vec v, char mode, MatGPUCSRVec *a)
{
  PetscFunctionBegin;
  if (mode == 'w') PetscCall(VecGPUGetDeviceWrite_Private(v, &a->device));
  else PetscCall(VecGPUGetDevice_Private(v, &a->device));
  PetscCall(VecGPUGetHostIfValid_Private(v, (const double **)&a->host));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Tells whether only the device has the newest values. */
PetscErrorCode MatGPUCSRVecIsOnDevice_Private(Vec v, PetscBool *there)
{
  const double    *host = NULL;
  PetscOffloadMask mask;

  PetscFunctionBegin;
  *there = VecGPUIs(v);
  if (*there) {
    PetscCall(VecGPUGetHostIfValid_Private(v, &host));
    *there = (PetscBool)!host;
  } else {
    PetscCall(VecGetOffloadMask(v, &mask));
    *there = (PetscBool)(mask == PETSC_OFFLOAD_GPU);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the array of a vector without a copy.  It is in device memory for a VECGPU, and can be for other vectors if PETSc was built with CUDA.
   mode: 'r' read, 'w' write, 'b' both */
PetscErrorCode MatGPUCSRVecGetArray_Private(GpDev dev, Vec v, char mode, MatGPUCSRVec *a)
{
  PetscScalar *array = NULL;
  PetscMemType where = PETSC_MEMTYPE_HOST;

  PetscFunctionBegin;
  *a     = (MatGPUCSRVec){0};
  a->gpu = VecGPUIs(v);
  if (a->gpu) {
    PetscCall(MatGPUCSRVecGetGPU(v, mode, a));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  a->memtype = (PetscBool)(PetscDefined(HAVE_CUDA) && GpDevKindOf(dev) == GP_DEV_CUDA);
  if (a->memtype) {
    if (mode == 'r') PetscCall(VecGetArrayReadAndMemType(v, (const PetscScalar **)&array, &where));
    else if (mode == 'w') PetscCall(VecGetArrayWriteAndMemType(v, &array, &where));
    else PetscCall(VecGetArrayAndMemType(v, &array, &where));
  } else {
    if (mode == 'r') PetscCall(VecGetArrayRead(v, (const PetscScalar **)&array));
    else if (mode == 'w') PetscCall(VecGetArrayWrite(v, &array));
    else PetscCall(VecGetArray(v, &array));
  }
  a->host   = PetscMemTypeHost(where) ? array : NULL;
  a->device = PetscMemTypeHost(where) && GpDevKindOf(dev) != GP_DEV_HOST ? NULL : array;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatGPUCSRVecRestoreArray_Private(Vec v, char mode, MatGPUCSRVec *a)
{
  PetscScalar *array = a->host ? a->host : a->device;

  PetscFunctionBegin;
  if (a->gpu) {
    if (mode != 'r') PetscCall(VecGPURestoreDevice_Private(v));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (a->memtype) {
    if (mode == 'r') PetscCall(VecRestoreArrayReadAndMemType(v, (const PetscScalar **)&array));
    else if (mode == 'w') PetscCall(VecRestoreArrayWriteAndMemType(v, &array));
    else PetscCall(VecRestoreArrayAndMemType(v, &array));
  } else {
    if (mode == 'r') PetscCall(VecRestoreArrayRead(v, (const PetscScalar **)&array));
    else if (mode == 'w') PetscCall(VecRestoreArrayWrite(v, &array));
    else PetscCall(VecRestoreArray(v, &array));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets a device address for an array of n entries in host memory: the given buffer.  copy: uploads the values to it. */
PetscErrorCode MatGPUCSRVecStage_Private(Mat A, GpDev dev, MatGPUCSRBuffer *buffer, PetscInt n, PetscBool copy, MatGPUCSRVec *a)
{
  PetscFunctionBegin;
  if (a->gpu || !a->host || GpDevKindOf(dev) == GP_DEV_HOST) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGPUCSRReserve_Private(dev, "allocating memory for a vector", (size_t)n, buffer));
  a->device = buffer->array;
  a->staged = PETSC_TRUE;
  if (!copy) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscLogEventBegin(VEC_GPU_Upload, A, 0, 0, 0));
  PetscCallGp(dev, "uploading a vector", GpDevUpload(dev, a->device, a->host, (size_t)n * sizeof(double)));
  PetscCall(PetscLogCpuToGpu((PetscLogDouble)n * sizeof(double)));
  PetscCall(PetscLogEventEnd(VEC_GPU_Upload, A, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Downloads the values of an array that MatGPUCSRVecStage_Private() replaced by a buffer. */
PetscErrorCode MatGPUCSRVecUnstage_Private(Mat A, GpDev dev, PetscInt n, const MatGPUCSRVec *a)
{
  PetscFunctionBegin;
  if (!a->staged) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscLogEventBegin(VEC_GPU_Download, A, 0, 0, 0));
  PetscCallGp(dev, "downloading a vector", GpDevDownload(dev, a->host, a->device, (size_t)n * sizeof(double)));
  PetscCall(PetscLogGpuToCpu((PetscLogDouble)n * sizeof(double)));
  PetscCall(PetscLogEventEnd(VEC_GPU_Download, A, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatGPUCSRVecStage(Mat A, PetscInt space, MatGPUCSRVec *a, PetscBool copy)
{
  Mat_GPUCSR *g = (Mat_GPUCSR *)A->spptr;

  PetscFunctionBegin;
  PetscCall(MatGPUCSRVecStage_Private(A, g->dev, &g->vector[space], space ? A->rmap->n : A->cmap->n, copy, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatGPUCSRVecGetRead_Private(Mat A, PetscInt space, Vec x, MatGPUCSRVec *a)
{
  PetscFunctionBegin;
  PetscCall(MatGPUCSRVecGetArray_Private(((Mat_GPUCSR *)A->spptr)->dev, x, 'r', a));
  PetscCall(MatGPUCSRVecStage(A, space, a, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the arrays of y and of z, which is added to the product.  z may be NULL or y.  A z in host memory is uploaded to the buffer of y, which
   works because kernels allow y and z to be the same array. */
PetscErrorCode MatGPUCSRVecGetResult_Private(Mat A, PetscInt space, Vec y, Vec z, MatGPUCSRVec *ya, MatGPUCSRVec *za)
{
  GpDev dev = ((Mat_GPUCSR *)A->spptr)->dev;

  PetscFunctionBegin;
  *za = (MatGPUCSRVec){0};
  PetscCall(MatGPUCSRVecGetArray_Private(dev, y, z == y ? 'b' : 'w', ya));
  PetscCall(MatGPUCSRVecStage(A, space, ya, (PetscBool)(z == y)));
  if (z && z != y) {
    PetscCall(MatGPUCSRVecGetArray_Private(dev, z, 'r', za));
    PetscCall(MatGPUCSRVecStage(A, space, za, PETSC_TRUE));
  } else if (z) *za = *ya;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatGPUCSRVecRestoreResult_Private(Mat A, Vec y, Vec z, MatGPUCSRVec *ya, MatGPUCSRVec *za)
{
  PetscInt n;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(y, &n));
  PetscCall(MatGPUCSRVecUnstage_Private(A, ((Mat_GPUCSR *)A->spptr)->dev, n, ya));
  if (z && z != y) PetscCall(MatGPUCSRVecRestoreArray_Private(z, 'r', za));
  PetscCall(MatGPUCSRVecRestoreArray_Private(y, z == y ? 'b' : 'w', ya));
  PetscFunctionReturn(PETSC_SUCCESS);
}
