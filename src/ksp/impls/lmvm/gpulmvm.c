/* Quasi-Newton matrices (MATLMVM, for SNESQN and the quasi-Newton methods of TAO) that are used with vectors of type gpu.

   PETSc's newer releases keep the history of such a matrix in dense matrices.  MatCreateDenseFromVecType() makes them for the type of
   the matrix' own work vectors; it compares that name with the names of PETSc's types, and stops at any other.  It cannot be extended.
   The names of our vectors must stay what they are, since PETSc's preconditioners and solvers make more vectors of a type by its name.

   The matrix makes its work vectors by MatCreateVecs(), which a type may replace.  The LMVM types are therefore registered again.
   The new constructor calls PETSc's, and replaces MatCreateVecs(): where the matrix is used with gpu vectors, its work vectors have a
   type that PETSc's dense matrices know.  That is cuda if this PETSc has it; then the history is on the device.  Otherwise it is the
   standard type: the history is on the host, an update brings two vectors there, and a product one there and one back. */
#include "ksp/impls/lmvm/gpulmvm.h"
#include "gpucsr.h"
#include "gpucsrcompat.h"
#include "sys/gpucsrsys.h"
#include <petsc/private/matimpl.h>

#if GP_COMPAT_LMVM_DENSE

static PetscErrorCode MatLMVMGPUCreateVecs(Mat B, Vec *right, Vec *left)
{
  VecType   type;
  char      name[64] = "";
  PetscBool gpu;

  PetscFunctionBegin;
  PetscCall(MatGetVecType(B, &type));
  PetscCall(PetscStrcmpAny(type, &gpu, VECGPU, VECSEQGPU, VECMPIGPU, ""));
  if (gpu) {
    GpDev dev;

    PetscCall(PetscStrncpy(name, type, sizeof(name)));
    PetscCall(PetscGPUCSRGetDevice_Private(&dev));
    PetscCall(MatSetVecType(B, PetscDefined(HAVE_CUDA) && dev->kind == GP_DEV_CUDA ? VECCUDA : VECSTANDARD));
  }
  B->ops->getvecs = NULL; /* PETSc's own way */
  PetscCall(MatCreateVecs(B, right, left));
  B->ops->getvecs = MatLMVMGPUCreateVecs;
  if (gpu) PetscCall(MatSetVecType(B, name)); /* PETSc drops the history when this is not the type of the vectors it is given */
  PetscFunctionReturn(PETSC_SUCCESS);
}

  #define LMVM_TYPES(entry) \
    entry(MATLMVMDFP) entry(MATLMVMDDFP) entry(MATLMVMBFGS) entry(MATLMVMDBFGS) entry(MATLMVMDQN) entry(MATLMVMSR1) entry(MATLMVMBROYDEN) entry(MATLMVMBADBROYDEN) entry(MATLMVMSYMBROYDEN) entry(MATLMVMSYMBADBROYDEN) entry(MATLMVMDIAGBROYDEN)

  /* a constructor is not told the type's name, so each type has one */
  #define LMVM_CONSTRUCTOR(type) \
    static PetscErrorCode (*Create_##type)(Mat); \
    static PetscErrorCode MatLMVMGPUCreate_##type(Mat B) \
    { \
      PetscFunctionBegin; \
      PetscCall((*Create_##type)(B)); \
      B->ops->getvecs = MatLMVMGPUCreateVecs; \
      PetscFunctionReturn(PETSC_SUCCESS); \
    }
LMVM_TYPES(LMVM_CONSTRUCTOR)

static PetscErrorCode MatLMVMGPURegisterType(const char type[], PetscErrorCode (**original)(Mat), PetscErrorCode (*ours)(Mat))
{
  PetscFunctionBegin;
  PetscCall(PetscFunctionListFind(MatList, type, original));
  if (*original) PetscCall(MatRegister(type, ours));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatLMVMGPURegister_Private(void)
{
  PetscFunctionBegin;
  PetscCall(KSPInitializePackage()); /* which registers PETSc's */
  #define LMVM_REGISTER(type) PetscCall(MatLMVMGPURegisterType(type, &Create_##type, MatLMVMGPUCreate_##type));
  LMVM_TYPES(LMVM_REGISTER)
  PetscFunctionReturn(PETSC_SUCCESS);
}

#else /* the history consists of duplicates of the vectors, on the device */

PetscErrorCode MatLMVMGPURegister_Private(void)
{
  PetscFunctionBegin;
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif
