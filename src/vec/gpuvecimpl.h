/* What the files of the Vec type share.  The type is PETSc's VECSEQ or VECMPI with its array operations, its arithmetic and its
   copies replaced; the values live on the device, on the host, or on both. */
#ifndef GPUVECIMPL_H
#define GPUVECIMPL_H

#include <petsc/private/vecimpl.h>
#include "gpucsr.h"
#include "gpucsrcompat.h"
#include "sys/gpucsrsys.h"
#include "vec/kernels/gpveckernel.h"

/* where the current values are; with neither bit set they are all zero and stored nowhere */
#define VEC_GPU_HOST   1
#define VEC_GPU_DEVICE 2

typedef struct {
  const struct _VecOps *base; /* the parent type's operations */
  GpDev                 dev;
  double               *device; /* the values on the device, made at first need */
  double               *mirror; /* pinned host memory, made at first need; while no other array is placed, the Vec's array */
  int                   valid;
  int                   unplaced; /* what valid was when VecPlaceArray() put another array in */
  PetscBool             placed;
  PetscBool             shared;   /* host runtime: the host array is device memory too, nothing is ever copied */
  PetscBool             inflight; /* an upload may still be reading the mirror */
  PetscBool             ghosted;  /* the host array has ghosts behind the values, and stays PETSc's */
  int                   windows;  /* subvectors that are out */
  int                   window;   /* of a subvector: which of its two memories belongs to its vector */
  PetscInt              start;    /* and from where on */
  PetscObjectState      got;      /* its state then */
} Vec_GPU;

/* how Vec_Seq and Vec_MPI begin */
typedef struct {
  VECHEADER
} Vec_GPUHeader;

/* A Vec has no pointer for a type that derives from VECSEQ or VECMPI, and the size of the parent's data is private.  The state is
   therefore attached to the object under a number from PetscObjectComposedDataRegister(), as PETSc attaches the norms of a Vec.
   PETSc copies such data to no other object, so a duplicate never shares it.  Reading it costs two loads. */
PETSC_INTERN PetscInt VecGPUStateId;

static inline void *VecGPUGetAttached(Vec v)
{
  PetscInt *attached = NULL;
  PetscBool current;

  (void)PetscObjectComposedDataGetIntstar((PetscObject)v, VecGPUStateId, attached, current);
  (void)current; /* whether the object has changed since, which does not matter here */
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

/* The offload mask is for VecGetOffloadMask().  A PETSc with CUDA takes it for that of its own type: told that the newest values are on
   the GPU, VecCopy() of a cuda vector would write into an array of its own, behind the back of ours.  There it always says host. */
static inline void VecGPUSetValid(Vec v, int valid)
{
  VecGPUState(v)->valid = valid;
  if (PetscDefined(HAVE_CUDA)) v->offloadmask = valid ? PETSC_OFFLOAD_CPU : PETSC_OFFLOAD_UNALLOCATED;
  else v->offloadmask = valid == VEC_GPU_HOST ? PETSC_OFFLOAD_CPU : valid == VEC_GPU_DEVICE ? PETSC_OFFLOAD_GPU : valid ? PETSC_OFFLOAD_BOTH : PETSC_OFFLOAD_UNALLOCATED;
}

PETSC_INTERN PetscLogEvent VEC_GPU_Upload, VEC_GPU_Download;

/* gpuvecaccess.c: the way in for other rooms.  What a Get gives stays valid until the vector is used otherwise; the Restore after
   a write tells that the device's values are the newest, and raises the object's state. */
PETSC_INTERN PetscErrorCode VecGPUIs_Private(Vec, PetscBool *);
PETSC_INTERN PetscErrorCode VecGPUGetDeviceRead_Private(Vec, const double **);
PETSC_INTERN PetscErrorCode VecGPUGetDeviceWrite_Private(Vec, double **);       /* contents undefined */
PETSC_INTERN PetscErrorCode VecGPUGetDevice_Private(Vec, double **);            /* to read and to write */
PETSC_INTERN PetscErrorCode VecGPURestoreDevice_Private(Vec);                   /* after either of the latter two */
PETSC_INTERN PetscErrorCode VecGPUGetHostIfValid_Private(Vec, const double **); /* NULL unless the host's values are current */
PETSC_INTERN PetscErrorCode VecGPUInitialize_Private(void);
PETSC_INTERN PetscErrorCode VecGPUFinalize_Private(void);
PETSC_INTERN PetscErrorCode VecGPUGetWork_Private(GpVecWork **);
PETSC_INTERN PetscBool      VecGPUSeparate; /* -vec_gpu_separate */

PETSC_INTERN PetscErrorCode VecGPUToHost_Private(Vec);
PETSC_INTERN PetscErrorCode VecGPUHostWritten_Private(Vec);
PETSC_INTERN PetscErrorCode VecGPUFree_Private(Vec);

/* gpuvecsettype.c: values outlive a change between the names of one type.  Begin also clears the name of the type. */
PETSC_INTERN PetscErrorCode VecGPUKeepValues_Private(Vec);
PETSC_INTERN PetscErrorCode VecGPUBeginType_Private(Vec, Vec *values);
PETSC_INTERN PetscErrorCode VecGPUEndType_Private(Vec, Vec *values);

/* gpuvecarray.c */
PETSC_INTERN PetscErrorCode VecGetArray_GPU(Vec, PetscScalar **);
PETSC_INTERN PetscErrorCode VecGPUSetArrays_Private(Vec);

/* gpuvecscatter.c */
PETSC_INTERN PetscErrorCode VecGPUSetScatters_Private(Vec);
PETSC_INTERN PetscErrorCode VecGPUScatterInitialize_Private(void);
PETSC_INTERN PetscErrorCode VecGPUScatterFinalize_Private(void);

/* gpuvecsub.c */
PETSC_INTERN PetscErrorCode VecGetSubVector_GPU(Vec, IS, Vec *);
PETSC_INTERN PetscErrorCode VecRestoreSubVector_GPU(Vec, IS, Vec *);

static inline PetscBool VecGPUIs(Vec v)
{
  return (PetscBool)(v->ops->getarray == VecGetArray_GPU);
}

/* gpuveccuda.c: a PETSc with CUDA.  A vector is reachable if kernels on our device can use its values in place. */
PETSC_INTERN PetscErrorCode VecGPUCUDAInitialize_Private(void);
PETSC_INTERN PetscErrorCode VecGPUCreateCUDA_Private(Vec, VecType, PetscBool *done);
#if defined(PETSC_HAVE_CUDA)
PETSC_INTERN PetscBool      VecGPUIsCUDA_Private(Vec);
PETSC_INTERN PetscErrorCode VecGPUGetOperandCUDA_Private(Vec, const double **);
#else
  #define VecGPUIsCUDA_Private(v) PETSC_FALSE
#endif

static inline PetscBool VecGPUIsReachable(Vec v)
{
  return (PetscBool)(VecGPUIs(v) || VecGPUIsCUDA_Private(v));
}

/* the values of a reachable vector, to be read; they stay valid until the vector is used otherwise */
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
PETSC_INTERN PetscErrorCode VecGPUAttach_Private(Vec, VecType, struct _VecOps *base);
PETSC_INTERN PetscErrorCode VecGPUAttachData_Private(Vec, void *); /* PETSc frees the data with the vector, by PetscFree() */
PETSC_INTERN PetscErrorCode VecGPUStateInitialize_Private(void);

/* mpigpuvecghost.c */
PETSC_INTERN PetscErrorCode VecGPUHasGhostsAside_Private(Vec, PetscBool *);
PETSC_INTERN PetscErrorCode VecGPUKeepGhosts_Private(Vec);
PETSC_INTERN PetscErrorCode VecGPUAttachGhosts_Private(Vec);
PETSC_INTERN PetscErrorCode VecGPUGhostInitialize_Private(void);
PETSC_INTERN PetscErrorCode VecGPUGhostFinalize_Private(void);

/* gpuvecslepc.c: SLEPc can only have come into the process, or into use, when a class was registered since the last look */
PETSC_INTERN PetscClassId    VecGPUSLEPcSeen;
PETSC_INTERN PetscErrorCode  VecGPUSLEPcLook_Private(void);
PETSC_INTERN PetscErrorCode  VecGPUSLEPcFinalize_Private(void);
static inline PetscErrorCode VecGPUSLEPcCheck(void)
{
  return VecGPUSLEPcSeen == PETSC_LARGEST_CLASSID ? PETSC_SUCCESS : VecGPUSLEPcLook_Private();
}

/* gpuvecops.c: elementwise, for one rank and many */
PETSC_INTERN PetscErrorCode VecGPUSetMaps_Private(Vec);

/* gpuvecreduce.c: reductions on one rank; mpigpuvec.c: over all */
PETSC_INTERN PetscErrorCode VecGPUSetReductions_Private(Vec);
PETSC_INTERN PetscErrorCode VecGPUReduce_Private(Vec x, Vec y, GpVecReduceId, double result[]);
PETSC_INTERN PetscErrorCode VecGPUMDot_Private(Vec x, PetscInt many, const Vec y[], PetscScalar result[]);
PETSC_INTERN PetscErrorCode VecDotNorm2_SeqGPU(Vec, Vec, PetscScalar *, PetscScalar *);
PETSC_INTERN PetscErrorCode VecCreate_MPIGPU(Vec);

#endif
