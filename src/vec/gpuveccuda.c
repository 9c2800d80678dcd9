/* The type gpu in a PETSc that was built with CUDA, and so has vectors on the GPU of its own, of type cuda.

   Vectors of the two types do not mix well: PETSc's operations on a cuda vector run on the host, with copies both ways, when another
   operand is of any other type.  Matrices, DMs and solvers of such a PETSc make cuda vectors.  So on a GPU the name gpu stands for
   PETSc's type there, and programs that ask for either have one type.  -vec_gpu_cuda 0 keeps the type of this library, whose own
   operations and products then use cuda operands in place, and whose arrays are device memory to PETSc's scatters and matrices. */
#include "vec/gpuvecimpl.h"

#if defined(PETSC_HAVE_CUDA)

static PetscBool AsCUDA = PETSC_TRUE; /* -vec_gpu_cuda */

PetscErrorCode VecGPUCUDAInitialize_Private(void)
{
  PetscFunctionBegin;
  AsCUDA = PETSC_TRUE;
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "gpucsr vector options", "Vec");
  PetscCall(PetscOptionsBool("-vec_gpu_cuda", "On a GPU, make PETSc's cuda vectors where the type gpu is asked for", "VECGPU", AsCUDA, &AsCUDA, NULL));
  PetscOptionsEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OnGPU(PetscBool *is)
{
  GpDev dev;

  PetscFunctionBegin;
  PetscCall(PetscGPUCSRGetDevice_Private(&dev));
  *is = (PetscBool)(dev->kind == GP_DEV_CUDA);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* v has no type yet */
PetscErrorCode VecGPUCreateCUDA_Private(Vec v, VecType type, PetscBool *done)
{
  PetscBool mpi;

  PetscFunctionBegin;
  *done = PETSC_FALSE;
  if (AsCUDA) PetscCall(OnGPU(done));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscStrcmp(type, VECMPICUDA, &mpi));
  if (mpi) PetscCall(VecGPUHasGhostsAside_Private(v, &mpi));
  if (mpi) { /* PETSc turns a VECMPI into its cuda type in place, ghosts and all */
    PetscCall(VecSetType(v, VECMPI));
    PetscCall(VecGPUKeepGhosts_Private(v));
  }
  PetscCall(VecSetType(v, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscBool VecGPUIsCUDA_Private(Vec v)
{
  const char *type = ((PetscObject)v)->type_name;
  GpDev       dev  = NULL;

  if (!type || (strcmp(type, VECSEQCUDA) && strcmp(type, VECMPICUDA)) || v->boundtocpu) return PETSC_FALSE;
  return (PetscBool)(!PetscGPUCSRGetDevice_Private(&dev) && dev->kind == GP_DEV_CUDA);
}

/* PETSc frees the array no sooner than the vector, so it may be given back at once */
PetscErrorCode VecGPUGetOperandCUDA_Private(Vec v, const double **values)
{
  const PetscScalar *array;
  PetscMemType       where;

  PetscFunctionBegin;
  PetscCall(VecGetArrayReadAndMemType(v, &array, &where));
  PetscCheck(!PetscMemTypeHost(where), PETSC_COMM_SELF, PETSC_ERR_PLIB, "A vector of type %s gave host memory", ((PetscObject)v)->type_name);
  *values = array;
  PetscCall(VecRestoreArrayReadAndMemType(v, &array));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#else

PetscErrorCode VecGPUCUDAInitialize_Private(void)
{
  PetscFunctionBegin;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecGPUCreateCUDA_Private(Vec v, VecType type, PetscBool *done)
{
  PetscFunctionBegin;
  (void)v;
  (void)type;
  *done = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif
