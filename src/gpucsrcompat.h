/* The only file that tests PETSC_VERSION: what PETSc 3.18 up to the newest release call by different names. */
#ifndef GPUCSR_COMPAT_H
#define GPUCSR_COMPAT_H

#include <petscsys.h>

#if PETSC_VERSION_LT(3, 18, 0)
  #error "gpucsr needs PETSc 3.18 or newer"
#endif
#if defined(PETSC_USE_COMPLEX) || !defined(PETSC_USE_REAL_DOUBLE)
  #error "gpucsr needs a PETSc with real double scalars; indices may have 32 or 64 bits"
#endif

#if PETSC_VERSION_LT(3, 19, 0) && !defined(PETSC_SUCCESS)
  #define PETSC_SUCCESS ((PetscErrorCode)0)
#endif

/* Older PetscMPIIntCast() take a PetscInt, and one of 32 bits for granted: a larger number would lose its upper half without a word. */
static inline PetscErrorCode GpCompatMPIIntCast(PetscInt64 a, PetscMPIInt *b)
{
  PetscFunctionBegin;
  *b = 0;
  PetscCheck(a <= PETSC_MPI_INT_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "%" PetscInt64_FMT " is more than a message of MPI counts", a);
  *b = (PetscMPIInt)a;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the argument of ops->setfromoptions */
#if PETSC_VERSION_LT(3, 23, 0)
typedef PetscOptionItems *GpOptionItems;
#else
typedef PetscOptionItems     GpOptionItems;
#endif

/* how many ranks a PetscSF talks to */
#if PETSC_VERSION_LT(3, 22, 0)
typedef PetscInt GpSFRanks;
#else
typedef PetscMPIInt          GpSFRanks;
#endif

/* an option that names a viewer */
#if PETSC_VERSION_LT(3, 22, 0)
  #define GpCompatOptionsViewer PetscOptionsGetViewer
#else
  #define GpCompatOptionsViewer PetscOptionsCreateViewer
#endif

/* a container that frees what it points to */
#if PETSC_VERSION_LT(3, 23, 0)
  #define GpCompatContainerSetFree(container) PetscContainerSetUserDestroy(container, PetscContainerUserDestroyDefault)
#else
  #define GpCompatContainerSetFree(container) PetscContainerSetCtxDestroy(container, PetscCtxDestroyDefault)
#endif

/* the least number of iterations of a KSP, and whether it takes negative curvature for convergence */
#if PETSC_VERSION_LT(3, 21, 0)
  #define GpCompatGetMinIt(ksp) 0
#else
  #define GpCompatGetMinIt(ksp) ((ksp)->min_it)
#endif
#if PETSC_VERSION_LT(3, 19, 0)
  #define GpCompatGetNegCurve(ksp) PETSC_FALSE
#else
  #define GpCompatGetNegCurve(ksp) ((ksp)->converged_neg_curve)
#endif

/* ghosts in types that derive from VECMPI; before, PETSc's functions for ghosts knew VECMPI alone */
#if PETSC_VERSION_GE(3, 26, 0) && defined(PETSC_USE_LOG)
  #define GP_COMPAT_GHOSTS 1
#else
  #define GP_COMPAT_GHOSTS 0
#endif

/* quasi-Newton matrices that keep their history in dense matrices */
#if PETSC_VERSION_GE(3, 23, 0)
  #define GP_COMPAT_LMVM_DENSE 1
#else
  #define GP_COMPAT_LMVM_DENSE 0
#endif

/* whether VecSetType() knows that gpu is the name of the types seqgpu and mpigpu, and keeps the values; true from 3.26 on at the latest */
#if PETSC_VERSION_GE(3, 26, 0)
  #define GP_COMPAT_SETTYPE_KEEPS 1
#else
  #define GP_COMPAT_SETTYPE_KEEPS 0
#endif

/* the stream on which a PETSc built with CUDA runs its own kernels (NULL: the legacy default stream), and the GPU it chose
   (-1: PETSc has none) */
#if defined(PETSC_HAVE_CUDA) && PETSC_VERSION_GE(3, 20, 0)
  #include <petscdevice.h>
static inline PetscErrorCode GpCompatGetStream(void **stream)
{
  PetscDeviceContext context;
  void              *handle = NULL;

  PetscFunctionBegin;
  PetscCall(PetscDeviceContextGetCurrentContext(&context));
  PetscCall(PetscDeviceContextGetStreamHandle(context, &handle));
  *stream = handle ? *(void **)handle : NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode GpCompatGetDeviceId(PetscInt *id)
{
  PetscDeviceContext context;
  PetscDevice        device;

  PetscFunctionBegin;
  PetscCall(PetscDeviceContextGetCurrentContext(&context));
  PetscCall(PetscDeviceContextGetDevice(context, &device));
  PetscCall(PetscDeviceGetDeviceId(device, id));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#else
static inline PetscErrorCode GpCompatGetStream(void **stream)
{
  *stream = NULL;
  return PETSC_SUCCESS;
}

static inline PetscErrorCode GpCompatGetDeviceId(PetscInt *id)
{
  *id = -1;
  return PETSC_SUCCESS;
}
#endif

/* a dense matrix's array where it is */
#include <petscmat.h>
static inline PetscErrorCode GpCompatDenseGetArray(Mat A, PetscBool write, PetscScalar **array, PetscMemType *memtype)
{
  PetscFunctionBegin;
#if PETSC_VERSION_GE(3, 19, 0)
  if (write) PetscCall(MatDenseGetArrayWriteAndMemType(A, array, memtype));
  else PetscCall(MatDenseGetArrayReadAndMemType(A, (const PetscScalar **)array, memtype));
#else
  if (write) PetscCall(MatDenseGetArrayWrite(A, array));
  else PetscCall(MatDenseGetArrayRead(A, (const PetscScalar **)array));
  *memtype = PETSC_MEMTYPE_HOST;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode GpCompatDenseRestoreArray(Mat A, PetscBool write, PetscScalar **array)
{
  PetscFunctionBegin;
#if PETSC_VERSION_GE(3, 19, 0)
  if (write) PetscCall(MatDenseRestoreArrayWriteAndMemType(A, array));
  else PetscCall(MatDenseRestoreArrayReadAndMemType(A, (const PetscScalar **)array));
#else
  if (write) PetscCall(MatDenseRestoreArrayWrite(A, array));
  else PetscCall(MatDenseRestoreArrayRead(A, (const PetscScalar **)array));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif
