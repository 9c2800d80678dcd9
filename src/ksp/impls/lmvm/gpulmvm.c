/* Quasi-Newton matrices (MATLMVM, for SNESQN and the quasi-Newton methods of TAO) that are used with vectors of type gpu.

   From PETSc 3.23 on, such a matrix stores its history in dense matrices.  MatCreateDenseFromVecType() creates them for the type of the work
   vectors.  It accepts only the names of PETSc's own vector types and cannot be extended.  The type gpu cannot be given such a name, because
   PETSc's preconditioners and solvers create vectors by type name.

   The work vectors are created by MatCreateVecs(), which a matrix type may replace.  The LMVM types are therefore registered again with
   constructors that call PETSc's constructor and then replace MatCreateVecs().  If the matrix is used with gpu vectors, its work vectors get the
   type cuda in a PETSc with CUDA: the history is on the device.  Otherwise they get the type standard: the history is on the host, an update
   copies two vectors to the host, and a product copies one vector there and one back. */
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
    PetscCall(PetscGPUCSRGetDevice(&dev));
    PetscCall(MatSetVecType(B, PetscDefined(HAVE_CUDA) && GpDevKindOf(dev) == GP_DEV_CUDA ? VECCUDA : VECSTANDARD));
  }
  B->ops->getvecs = NULL; /* lets MatCreateVecs() use its default */
  PetscCall(MatCreateVecs(B, right, left));
  B->ops->getvecs = MatLMVMGPUCreateVecs;
  if (gpu) PetscCall(MatSetVecType(B, name)); /* PETSc discards the history if this type differs from that of the vectors of an update */
  PetscFunctionReturn(PETSC_SUCCESS);
}

  #define LMVM_TYPES(entry) \
    entry(MATLMVMDFP) entry(MATLMVMDDFP) entry(MATLMVMBFGS) entry(MATLMVMDBFGS) entry(MATLMVMDQN) entry(MATLMVMSR1) entry(MATLMVMBROYDEN) entry(MATLMVMBADBROYDEN) entry(MATLMVMSYMBROYDEN) entry(MATLMVMSYMBADBROYDEN) entry(MATLMVMDIAGBROYDEN)

  /* A constructor does not get the name of the type, so each type needs its own one. */
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
  PetscCall(KSPInitializePackage()); /* registers PETSc's LMVM types */
  #define LMVM_REGISTER(type) PetscCall(MatLMVMGPURegisterType(type, &Create_##type, MatLMVMGPUCreate_##type));
  LMVM_TYPES(LMVM_REGISTER)
  PetscFunctionReturn(PETSC_SUCCESS);
}

#else /* older releases store the history in duplicates of the vectors, which are gpu vectors already */

PetscErrorCode MatLMVMGPURegister_Private(void)
{
  PetscFunctionBegin;
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif
