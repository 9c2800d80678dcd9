/* Private declarations of the Vec type gpu.

   The type derives from PETSc's VECSEQ or VECMPI and replaces their array access, arithmetic and copy operations.  The values are in
   device memory, in host memory, or in both. */
#ifndef GPUVECIMPL_H
#define GPUVECIMPL_H

#include <petsc/private/vecimpl.h>
#include "gpucsr.h"
#include "gpucsrcompat.h"
#include "sys/gpucsrsys.h"
#include "vec/kernels/gpveckernel.h"

/* Bits of Vec_GPU.valid: which memory holds the current values.  Neither bit set: all values are zero and are not stored. */
#define VEC_GPU_HOST   1
#define VEC_GPU_DEVICE 2

typedef struct {
  const struct _VecOps *base; /* operations of the parent type, VECSEQ or VECMPI */
  GpDev                 dev;
  double               *device;   /* device memory of the values; allocated at first need */
  double               *mirror;   /* pinned host memory; allocated at first need.  It is the Vec's array unless another array is placed */
  int                   valid;    /* VEC_GPU_HOST and VEC_GPU_DEVICE bits */
  int                   unplaced; /* what valid becomes in VecResetArray() */
  double               *lent;     /* the caller's device memory while VecPlaceArray() replaces it */
  PetscBool             borrowed; /* device, or the host array if it serves as device memory, belongs to the caller (gpuvecwitharray.c) */
  PetscBool             placed;   /* VecPlaceArray() was called, VecResetArray() not yet */
  PetscBool             shared;   /* host backend: the host array serves as device memory, and nothing is copied */
  PetscBool             inflight; /* an asynchronous upload may still read the mirror */
  PetscBool             ghosted;  /* ghost entries follow the values in the host array, which PETSc owns */
  int                   windows;  /* number of contiguous subvectors that VecRestoreSubVector() has not yet returned */
  int                   window;   /* subvectors only: the memory that is shared with the original vector, VEC_GPU_HOST or VEC_GPU_DEVICE */
  PetscInt              start;    /* subvectors only: local index of the first entry in the original vector */
  PetscObjectState      got;      /* subvectors only: object state when VecGetSubVector() returned; a larger one means that values changed */
  int                   locals;   /* number of vectors whose member original is this vector */
  Vec                   original; /* local vectors only (gpuveclocal.c): the vector that holds the values; NULL for all other vectors */
  PetscInt              offset;   /* local vectors only: local index of the first entry in the original vector */
  PetscScalar          *own;      /* local vectors only: the Vec's own array, which is restored at the end */
} Vec_GPU;

/* the common first members of PETSc's private Vec_Seq and Vec_MPI */
typedef struct {
  VECHEADER
} Vec_GPUHeader;

/* A Vec has no pointer for the data of a derived type, and the size of the parent's data is private.  The state is therefore
   attached to the object under a number from PetscObjectComposedDataRegister(), as PETSc attaches cached norms.  PETSc does not copy
   such data to other objects, so duplicates never share it.  Access costs two loads. */
PETSC_INTERN PetscInt VecGPUStateId;

static inline void *VecGPUGetAttached(Vec v)
{
  PetscInt *attached = NULL;
  PetscBool current;

  (void)PetscObjectComposedDataGetIntstar((PetscObject)v, VecGPUStateId, attached, current);
  (void)current; /* PETSc reports whether the object has changed since the data were attached, which does not matter here */
  return attached;
}

static inline Vec_GPU *VecGPUState(Vec v)
{
  return (Vec_GPU *)VecGPUGetAttached(v);
}

static inline Vec_GPUHeader *VecGPUHeader(Vec v)
{
  return (Vec_GPUHeader *)v->data;
}

/* Sets the valid bits and the offload mask that VecGetOffloadMask() returns.  In a PETSc with CUDA the mask must always say host:
   VecCopy() of a cuda vector tests the mask of its target, not the type.  If the mask says GPU, VecCopy() writes to an array of its own. */
static inline void VecGPUSetValid(Vec v, int valid)
{
  VecGPUState(v)->valid = valid;
  if (PetscDefined(HAVE_CUDA)) v->offloadmask = valid ? PETSC_OFFLOAD_CPU : PETSC_OFFLOAD_UNALLOCATED;
  else v->offloadmask = valid == VEC_GPU_HOST ? PETSC_OFFLOAD_CPU : valid == VEC_GPU_DEVICE ? PETSC_OFFLOAD_GPU : valid ? PETSC_OFFLOAD_BOTH : PETSC_OFFLOAD_UNALLOCATED;
}

/* Returns the valid bits of the memory that holds the values of v. */
static inline int VecGPUGetValid(Vec v)
{
  while (VecGPUState(v)->original) v = VecGPUState(v)->original;
  return VecGPUState(v)->valid;
}

PETSC_INTERN PetscLogEvent VEC_GPU_Upload, VEC_GPU_Download;

/* gpuvecaccess.c: access for other modules.  A pointer from a Get function is valid until the next operation on the vector.  Restore
   must follow a write: it marks the values on the device as current and increases the object state. */
PETSC_INTERN PetscErrorCode VecGPUGetDeviceRead_Private(Vec, const double **);
PETSC_INTERN PetscErrorCode VecGPUGetDeviceWrite_Private(Vec, double **);       /* write only: the contents are undefined */
PETSC_INTERN PetscErrorCode VecGPURestoreDevice_Private(Vec);                   /* required after GetDeviceWrite and after GetDevice */
PETSC_INTERN PetscErrorCode VecGPUGetHostIfValid_Private(Vec, const double **); /* NULL unless the values on the host are current */
PETSC_INTERN PetscBool      VecGPUSeparate;                                     /* -vec_gpu_separate */

PETSC_INTERN PetscErrorCode VecGPUToHost_Private(Vec);
PETSC_INTERN PetscErrorCode VecGPUHostWritten_Private(Vec);
PETSC_INTERN PetscErrorCode VecGPUFree_Private(Vec);
PETSC_INTERN PetscErrorCode VecGPUAttachData_Private(Vec, void *); /* PETSc frees the data by PetscFree() when it destroys the vector */

/* read and write */
static inline PetscErrorCode VecGPUGetDevice_Private(Vec v, double **values)
{
  return VecGPUGetDeviceRead_Private(v, (const double **)values);
}

/* gpuvecsettype.c: VecSetType() between the names gpu, seqgpu and mpigpu keeps the values.  Begin also clears the type name. */
#if GP_COMPAT_SETTYPE_KEEPS
  #define VecGPUKeepValues_Private(v)        PETSC_SUCCESS
  #define VecGPUBeginType_Private(v, values) (*(values) = NULL, PetscObjectChangeTypeName((PetscObject)(v), NULL))
  #define VecGPUEndType_Private(v, values)   PETSC_SUCCESS
#else
PETSC_INTERN PetscErrorCode VecGPUKeepValues_Private(Vec);
PETSC_INTERN PetscErrorCode VecGPUBeginType_Private(Vec, Vec *values);
PETSC_INTERN PetscErrorCode VecGPUEndType_Private(Vec, Vec *values);
#endif

/* gpuvecarray.c */
PETSC_INTERN PetscErrorCode VecGetArray_GPU(Vec, PetscScalar **);
PETSC_INTERN PetscErrorCode VecRestoreArrayRead_GPU(Vec, const PetscScalar **); /* does nothing */
PETSC_INTERN PetscErrorCode VecGPUSetArrays_Private(Vec);

/* scatter/gpuvecscatter.c; in a PETSc with CUDA gpuveccuda.c: access by VecGetArrayAndMemType() */
PETSC_INTERN PetscErrorCode VecGPUSetScatters_Private(Vec);
#if defined(PETSC_HAVE_CUDA)
  #define VecGPUScatterInitialize_Private() PETSC_SUCCESS
  #define VecGPUScatterFinalize_Private()   PETSC_SUCCESS
#else
PETSC_INTERN PetscErrorCode VecGPUScatterInitialize_Private(void);
PETSC_INTERN PetscErrorCode VecGPUScatterFinalize_Private(void);
#endif

/* gpuvecsub.c */
PETSC_INTERN PetscErrorCode VecGetSubVector_GPU(Vec, IS, Vec *);
PETSC_INTERN PetscErrorCode VecRestoreSubVector_GPU(Vec, IS, Vec *);

/* gpuveclocal.c */
PETSC_INTERN PetscErrorCode VecGPUBeginLocal_Private(Vec v, PetscInt offset, Vec w); /* w becomes the entries of v from offset on */
PETSC_INTERN PetscErrorCode VecGPUEndLocal_Private(Vec w);
PETSC_INTERN PetscErrorCode VecGPUSetLocals_Private(Vec);

static inline PetscBool VecGPUIs(Vec v)
{
  return (PetscBool)(v->ops->getarray == VecGetArray_GPU);
}

/* gpuveccuda.c: support for a PETSc with CUDA.  A vector is called reachable if kernels on our device can use its values in place. */
#if defined(PETSC_HAVE_CUDA)
PETSC_INTERN PetscErrorCode VecGPUCUDAInitialize_Private(void);
PETSC_INTERN PetscErrorCode VecGPUCreateCUDA_Private(Vec, VecType, PetscBool *done);
PETSC_INTERN PetscErrorCode VecGPUCreateWithArrayCUDA_Private(MPI_Comm, VecType, PetscInt bs, PetscInt n, PetscInt N, const PetscScalar array[], Vec *); /* NULL: another type is wanted */
PETSC_INTERN PetscBool      VecGPUIsCUDA_Private(Vec);
PETSC_INTERN PetscErrorCode VecGPUGetOperandCUDA_Private(Vec, const double **);
#else
  #define VecGPUCUDAInitialize_Private()                                    PETSC_SUCCESS
  #define VecGPUCreateCUDA_Private(v, type, done)                           (*(done) = PETSC_FALSE, PETSC_SUCCESS)
  #define VecGPUCreateWithArrayCUDA_Private(comm, type, bs, n, N, array, v) (*(v) = NULL, PETSC_SUCCESS)
  #define VecGPUIsCUDA_Private(v)                                           PETSC_FALSE
#endif

static inline PetscBool VecGPUIsReachable(Vec v)
{
  return (PetscBool)(VecGPUIs(v) || VecGPUIsCUDA_Private(v));
}

/* Gets read access to the values of a reachable vector.  The pointer is valid until the next operation on the vector. */
static inline PetscErrorCode VecGPUGetOperand_Private(Vec v, const double **values)
{
#if defined(PETSC_HAVE_CUDA)
  if (!VecGPUIs(v)) return VecGPUGetOperandCUDA_Private(v, values);
#endif
  return VecGPUGetDeviceRead_Private(v, values);
}

/* gpuvec.c */
PETSC_INTERN PetscErrorCode VecCreate_GPU(Vec);
PETSC_INTERN PetscErrorCode VecCreate_SeqGPU(Vec);
PETSC_INTERN PetscErrorCode VecCreate_MPIGPU(Vec);
PETSC_INTERN PetscErrorCode VecGPUInitialize_Private(void);
PETSC_INTERN PetscErrorCode VecGPUFinalize_Private(void);

/* mpigpuvecghost.c.  In a PETSc without these functions, VecGhostUpdateBegin() and others report that a gpu vector is not ghosted. */
#if GP_COMPAT_GHOSTS
PETSC_INTERN PetscErrorCode VecGPUHasGhostsAside_Private(Vec, PetscBool *);
PETSC_INTERN PetscErrorCode VecGPUKeepGhosts_Private(Vec);
PETSC_INTERN PetscErrorCode VecGPUAttachGhosts_Private(Vec);
PETSC_INTERN PetscErrorCode VecGPUGhostInitialize_Private(void);
PETSC_INTERN PetscErrorCode VecGPUGhostFinalize_Private(void);
#else
  #define VecGPUHasGhostsAside_Private(v, has) (*(has) = PETSC_FALSE, PETSC_SUCCESS)
  #define VecGPUKeepGhosts_Private(v)          PETSC_SUCCESS
  #define VecGPUAttachGhosts_Private(v)        PETSC_SUCCESS
  #define VecGPUGhostInitialize_Private()      PETSC_SUCCESS
  #define VecGPUGhostFinalize_Private()        PETSC_SUCCESS
#endif

/* gpuvecslepc.c: SLEPc registers class ids when it is initialised.  The search for SLEPc is therefore repeated only if the largest class
   id has changed since the last search. */
PETSC_INTERN PetscClassId    VecGPUSLEPcSeen;
PETSC_INTERN PetscErrorCode  VecGPUSLEPcFind_Private(void);
PETSC_INTERN PetscErrorCode  VecGPUSLEPcFinalize_Private(void);
static inline PetscErrorCode VecGPUSLEPcCheck(void)
{
  return VecGPUSLEPcSeen == PETSC_LARGEST_CLASSID ? PETSC_SUCCESS : VecGPUSLEPcFind_Private();
}

/* gpuvecops.c: elementwise operations of both types */
PETSC_INTERN PetscErrorCode VecGPUSetMaps_Private(Vec);

/* gpuvecreduce.c: reductions */
PETSC_INTERN PetscErrorCode VecGPUSetReductions_Private(Vec);
PETSC_INTERN PetscErrorCode VecGPUFreeWork_Private(void);

#endif
