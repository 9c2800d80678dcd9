/* The type gpu in a PETSc that was built with CUDA.  Such a PETSc has a GPU vector type of its own, cuda.

   Mixing the two types is slow: PETSc's operations on a cuda vector run on the host, with copies both ways, if an operand has another type.
   Matrices, DMs and solvers of such a PETSc create cuda vectors.  On a GPU the name gpu therefore stands for PETSc's type cuda, so that
   programs that use either name have one type.  -vec_gpu_cuda 0 keeps the type of this library.  Its operations and products then use
   cuda operands in place, and PETSc's scatters and matrices get its arrays as device memory. */
#include "vec/gpuvecimpl.h"

#if defined(PETSC_HAVE_CUDA)

static PetscBool AsCUDA = PETSC_TRUE; /* -vec_gpu_cuda */

PetscErrorCode VecGPUCUDAInitialize_Private(void)
{
  PetscFunctionBegin;
  AsCUDA = PETSC_TRUE;
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "gpucsr vector options", "Vec");
  PetscCall(PetscOptionsBool("-vec_gpu_cuda", "On a GPU, create vectors of PETSc's type cuda for the type name gpu", "VECGPU", AsCUDA, &AsCUDA, NULL));
  PetscOptionsEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecGPUIsDeviceCUDA(PetscBool *is)
{
  GpDev dev;

  PetscFunctionBegin;
  PetscCall(PetscGPUCSRGetDevice(&dev));
  *is = (PetscBool)(GpDevKindOf(dev) == GP_DEV_CUDA);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates a vector of PETSc's type cuda if the name gpu stands for it.  v has no type yet. */
PetscErrorCode VecGPUCreateCUDA_Private(Vec v, VecType type, PetscBool *done)
{
  PetscBool mpi;

  PetscFunctionBegin;
  *done = PETSC_FALSE;
  if (AsCUDA) PetscCall(VecGPUIsDeviceCUDA(done));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscStrcmp(type, VECMPICUDA, &mpi));
  if (mpi) PetscCall(VecGPUHasGhostsAside_Private(v, &mpi));
  if (mpi) { /* PETSc converts a VECMPI to its type cuda in place and keeps the ghosts */
    PetscCall(VecSetType(v, VECMPI));
    PetscCall(VecGPUKeepGhosts_Private(v));
  }
  PetscCall(VecSetType(v, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecGPUCreateWithArrayCUDA_Private(MPI_Comm comm, VecType type, PetscInt bs, PetscInt n, PetscInt N, const PetscScalar array[], Vec *v)
{
  PetscBool cuda = AsCUDA, mpi;

  PetscFunctionBegin;
  *v = NULL;
  if (cuda) PetscCall(VecGPUIsDeviceCUDA(&cuda));
  if (!cuda) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscStrcmp(type, VECMPIGPU, &mpi));
  if (mpi) PetscCall(VecCreateMPICUDAWithArray(comm, bs, n, N, array, v));
  else PetscCall(VecCreateSeqCUDAWithArray(comm, bs, n, array, v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscBool VecGPUIsCUDA_Private(Vec v)
{
  const char *type = ((PetscObject)v)->type_name;
  GpDev       dev  = NULL;

  if (!type || (strcmp(type, VECSEQCUDA) && strcmp(type, VECMPICUDA)) || v->boundtocpu) return PETSC_FALSE;
  return (PetscBool)(!PetscGPUCSRGetDevice(&dev) && GpDevKindOf(dev) == GP_DEV_CUDA);
}

/* The array may be restored at once, because PETSc frees it only with the vector. */
PetscErrorCode VecGPUGetOperandCUDA_Private(Vec v, const double **values)
{
  const PetscScalar *array;
  PetscMemType       where;

  PetscFunctionBegin;
  PetscCall(VecGetArrayReadAndMemType(v, &array, &where));
  PetscCheck(!PetscMemTypeHost(where), PETSC_COMM_SELF, PETSC_ERR_PLIB, "VecGetArrayReadAndMemType() of a vector of type %s returned host memory; device memory was expected", ((PetscObject)v)->type_name);
  *values = array;
  PetscCall(VecRestoreArrayReadAndMemType(v, &array));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --- VecGetArrayAndMemType() and related functions, through which PETSc's scatters and matrices get device memory ------------ */

static PetscErrorCode VecGetArrayReadAndMemType_GPU(Vec v, const PetscScalar **array, PetscMemType *type)
{
  const PetscBool cuda = (PetscBool)(GpDevKindOf(VecGPUState(v)->dev) == GP_DEV_CUDA);

  PetscFunctionBegin;
  if (cuda) PetscCall(VecGPUGetDeviceRead_Private(v, array));
  else PetscCall((*v->ops->getarrayread)(v, array));
  if (type) *type = cuda ? PETSC_MEMTYPE_CUDA : PETSC_MEMTYPE_HOST;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Marks the values on the host as out of date at once, because the caller may write the array at any time before restoring it.  PETSc passes
   array NULL to get the memory type alone. */
static PetscErrorCode VecGPUGetWritable(Vec v, PetscBool read, PetscScalar **array, PetscMemType *type)
{
  const PetscBool cuda = (PetscBool)(GpDevKindOf(VecGPUState(v)->dev) == GP_DEV_CUDA);

  PetscFunctionBegin;
  if (type) *type = cuda ? PETSC_MEMTYPE_CUDA : PETSC_MEMTYPE_HOST;
  if (!array) PetscFunctionReturn(PETSC_SUCCESS);
  if (cuda) {
    if (read) PetscCall(VecGPUGetDevice_Private(v, array));
    else PetscCall(VecGPUGetDeviceWrite_Private(v, array));
    PetscCall(VecGPURestoreDevice_Private(v));
  } else PetscCall(VecGetArray_GPU(v, array));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecGetArrayAndMemType_GPU(Vec v, PetscScalar **array, PetscMemType *type)
{
  PetscFunctionBegin;
  PetscCall(VecGPUGetWritable(v, PETSC_TRUE, array, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecGetArrayWriteAndMemType_GPU(Vec v, PetscScalar **array, PetscMemType *type)
{
  PetscFunctionBegin;
  PetscCall(VecGPUGetWritable(v, PETSC_FALSE, array, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecRestoreArrayAndMemType_GPU(Vec v, PetscScalar **array)
{
  PetscFunctionBegin;
  if (GpDevKindOf(VecGPUState(v)->dev) == GP_DEV_CUDA) PetscCall(VecGPURestoreDevice_Private(v));
  else PetscCall((*v->ops->restorearray)(v, array));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecRestoreArrayWriteAndMemType_GPU(Vec v, PetscScalar **array, PetscMemType *type)
{
  PetscFunctionBegin;
  (void)type;
  PetscCall(VecRestoreArrayAndMemType_GPU(v, array));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecGPUSetScatters_Private(Vec v)
{
  PetscFunctionBegin;
  if (VecGPUState(v)->ghosted) PetscFunctionReturn(PETSC_SUCCESS); /* callers expect the ghosts after the values, and ghosts are on the host */
  v->ops->getarrayandmemtype          = VecGetArrayAndMemType_GPU;
  v->ops->restorearrayandmemtype      = VecRestoreArrayAndMemType_GPU;
  v->ops->getarrayreadandmemtype      = VecGetArrayReadAndMemType_GPU;
  v->ops->restorearrayreadandmemtype  = VecRestoreArrayRead_GPU;
  v->ops->getarraywriteandmemtype     = VecGetArrayWriteAndMemType_GPU;
  v->ops->restorearraywriteandmemtype = VecRestoreArrayWriteAndMemType_GPU;
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif
