/* Differences between PETSc releases, from 3.18 to the newest one.  This is the only file that tests PETSC_VERSION. */
#ifndef GPUCSR_COMPAT_H
#define GPUCSR_COMPAT_H

#include <petscsys.h>

#if PETSC_VERSION_LT(3, 18, 0)
  #error "gpucsr needs PETSc 3.18 or newer"
#endif
#if defined(PETSC_USE_COMPLEX) || !defined(PETSC_USE_REAL_DOUBLE)
  #error "gpucsr needs a PETSc with real scalars in double precision; indices may have 32 or 64 bits"
#endif

#if PETSC_VERSION_LT(3, 19, 0) && !defined(PETSC_SUCCESS)
  #define PETSC_SUCCESS ((PetscErrorCode)0)
#endif

#if PETSC_VERSION_LT(3, 20, 0) && !defined(PetscAssertPointer)
  #define PetscAssertPointer(p, arg) PetscCheck(p, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "Null pointer: argument %d", arg)
#endif

/* Converts a message length.  PetscMPIIntCast() of older releases takes a PetscInt; if that has 32 bits, a larger number would be truncated
   without an error. */
static inline PetscErrorCode GpCompatMPIIntCast(PetscInt64 a, PetscMPIInt *b)
{
  PetscFunctionBegin;
  *b = 0;
  PetscCheck(a <= PETSC_MPI_INT_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "Message length %" PetscInt64_FMT " exceeds the range of MPI's int; use more MPI ranks", a);
  *b = (PetscMPIInt)a;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Type of the second argument of ops->setfromoptions. */
#if PETSC_VERSION_LT(3, 23, 0)
typedef PetscOptionItems *GpOptionItems;
#else
typedef PetscOptionItems     GpOptionItems;
#endif

/* Type of the number of ranks of a PetscSF. */
#if PETSC_VERSION_LT(3, 22, 0)
typedef PetscInt GpSFRanks;
#else
typedef PetscMPIInt          GpSFRanks;
#endif

/* Creates the viewer that an option names. */
#if PETSC_VERSION_LT(3, 22, 0)
  #define GpCompatOptionsViewer PetscOptionsGetViewer
#else
  #define GpCompatOptionsViewer PetscOptionsCreateViewer
#endif

/* Makes a container free the memory to which it points. */
#if PETSC_VERSION_LT(3, 23, 0)
  #define GpCompatContainerSetFree(container) PetscContainerSetUserDestroy(container, PetscContainerUserDestroyDefault)
#else
  #define GpCompatContainerSetFree(container) PetscContainerSetCtxDestroy(container, PetscCtxDestroyDefault)
#endif

/* GP_COMPAT_CONTAINER_DESTROY(name, destroy) defines the function `name`, with which GpCompatContainerSetDestroy() makes a container call destroy(pointer). */
#if PETSC_VERSION_LT(3, 23, 0)
  #define GP_COMPAT_CONTAINER_DESTROY(name, destroy) \
    static PetscErrorCode name(void *pointer) \
    { \
      return destroy(pointer); \
    }
  #define GpCompatContainerSetDestroy PetscContainerSetUserDestroy
#else
  #define GP_COMPAT_CONTAINER_DESTROY(name, destroy) \
    static PetscErrorCode name(void **pointer) \
    { \
      return destroy(*pointer); \
    }
  #define GpCompatContainerSetDestroy(container, name) PetscContainerSetCtxDestroy(container, (PetscCtxDestroyFn *)(name)) /* releases declare the parameter in two ways */
#endif

/* Minimum number of iterations of a KSP (-ksp_min_it), and whether it stops at negative curvature (-ksp_converged_neg_curve). */
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

/* 1: vector types that derive from VECMPI can have ghost entries.  The functions of older releases accept only VECMPI itself. */
#if PETSC_VERSION_GE(3, 26, 0) && defined(PETSC_USE_LOG)
  #define GP_COMPAT_GHOSTS 1
#else
  #define GP_COMPAT_GHOSTS 0
#endif

/* GpCompatGetEventInfo(): what the current stage logs of an event, to which callers add times that PETSc cannot measure; NULL if nothing is logged. */
#if !defined(PETSC_USE_LOG)
static inline PetscErrorCode GpCompatGetEventInfo(PetscLogEvent event, PetscEventPerfInfo **info)
{
  (void)event;
  *info = NULL;
  return PETSC_SUCCESS;
}
#elif PETSC_VERSION_LT(3, 20, 0)
static inline PetscErrorCode GpCompatGetEventInfo(PetscLogEvent event, PetscEventPerfInfo **info)
{
  PetscStageLog     log;
  PetscEventPerfLog events;

  PetscFunctionBegin;
  *info = NULL;
  if (!PetscLogPLB) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscLogGetStageLog(&log));
  if (log->curStage < 0) PetscFunctionReturn(PETSC_SUCCESS);
  events = log->stageInfo[log->curStage].eventLog;
  if (event < events->numEvents) *info = &events->eventInfo[event];
  PetscFunctionReturn(PETSC_SUCCESS);
}
#else
static inline PetscErrorCode GpCompatGetEventInfo(PetscLogEvent event, PetscEventPerfInfo **info)
{
  PetscLogHandler handler;

  PetscFunctionBegin;
  *info = NULL;
  PetscCall(PetscLogGetDefaultHandler(&handler));
  if (handler) PetscCall(PetscLogHandlerGetEventPerfInfo(handler, PETSC_DEFAULT, event, info));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

/* GP_COMPAT_IS_CLASSICAL(KSP, PetscBool *): whether a GMRES method orthogonalises by the classical Gram-Schmidt method without refinement. */
#if PETSC_VERSION_LT(3, 26, 0)
  #define GP_COMPAT_IS_CLASSICAL(ksp, classical) \
    do { \
      PetscErrorCode (*orthogonalise)(KSP, PetscInt); \
      KSPGMRESCGSRefinementType refinement; \
\
      PetscCall(KSPGMRESGetOrthogonalization(ksp, &orthogonalise)); \
      PetscCall(KSPGMRESGetCGSRefinementType(ksp, &refinement)); \
      *(classical) = (PetscBool)(orthogonalise == KSPGMRESClassicalGramSchmidtOrthogonalization && refinement == KSP_GMRES_CGS_REFINE_NEVER); \
    } while (0)
#else
  #define GP_COMPAT_IS_CLASSICAL(ksp, classical) \
    do { \
      KSPOrthogonalizationFn               *orthogonalise; \
      KSPOrthogonalizationCGSRefinementType refinement; \
\
      PetscCall(KSPOrthogonalizationGet(ksp, &orthogonalise)); \
      PetscCall(KSPOrthogonalizationGetCGSRefinementType(ksp, &refinement)); \
      *(classical) = (PetscBool)(orthogonalise == KSPOrthogonalizationClassicalGramSchmidt && refinement == KSP_ORTHOGONALIZATION_CGS_REFINE_NEVER); \
    } while (0)
#endif

/* 1: quasi-Newton matrices (MATLMVM) store their history in dense matrices. */
#if PETSC_VERSION_GE(3, 23, 0)
  #define GP_COMPAT_LMVM_DENSE 1
#else
  #define GP_COMPAT_LMVM_DENSE 0
#endif

/* 1: VecSetType() with the name gpu leaves a vector of type seqgpu or mpigpu unchanged and keeps its values.  True from 3.26 on, maybe earlier. */
#if PETSC_VERSION_GE(3, 26, 0)
  #define GP_COMPAT_SETTYPE_KEEPS 1
#else
  #define GP_COMPAT_SETTYPE_KEEPS 0
#endif

/* GpCompatGetStream(): stream of the current PetscDeviceContext, on which a PETSc built with CUDA runs its kernels; NULL is the legacy default
   stream.  GpCompatGetDeviceId(): GPU that PETSc selected, -1 if PETSc has no CUDA or is too old to report it. */
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

/* Gets the array of a dense matrix without a copy.  memtype tells whether it is in host or in device memory. */
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
