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

/* PETSc leaves no pointer in a Vec to a type that derives from its own: v->spptr exists only where PETSc was built for devices, and
   a composed object is a search by name and shared with duplicates.  So v->data is made longer and our part stands behind
   PETSc's, whose size is private, but far below this (about 330 bytes in 3.26). */
#define VEC_GPU_OFFSET 1024

static inline Vec_GPU *VecGPUState(Vec v)
{
  return (Vec_GPU *)((char *)v->data + VEC_GPU_OFFSET);
}

static inline Vec_GPUHeader *VecGPUHeader(Vec v)
{
  return (Vec_GPUHeader *)v->data;
}

/* what VecGetOffloadMask() tells */
static inline void VecGPUSetValid(Vec v, int valid)
{
  VecGPUState(v)->valid = valid;
  v->offloadmask        = valid == VEC_GPU_HOST ? PETSC_OFFLOAD_CPU : valid == VEC_GPU_DEVICE ? PETSC_OFFLOAD_GPU : valid ? PETSC_OFFLOAD_BOTH : PETSC_OFFLOAD_UNALLOCATED;
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

/* gpuvec.c */
PETSC_INTERN PetscErrorCode VecCreate_GPU(Vec);
PETSC_INTERN PetscErrorCode VecCreate_SeqGPU(Vec);
PETSC_INTERN PetscErrorCode VecGPUAttach_Private(Vec, VecType, struct _VecOps *base);

/* mpigpuvecghost.c */
PETSC_INTERN PetscErrorCode VecGPUKeepGhosts_Private(Vec);
PETSC_INTERN PetscErrorCode VecGPUAttachGhosts_Private(Vec);
PETSC_INTERN PetscErrorCode VecGPUGhostInitialize_Private(void);
PETSC_INTERN PetscErrorCode VecGPUGhostFinalize_Private(void);

/* gpuvecops.c: elementwise, for one rank and many */
PETSC_INTERN PetscErrorCode VecGPUSetMaps_Private(Vec);
PETSC_INTERN PetscErrorCode VecGPULogFlops_Private(Vec, PetscLogDouble);

/* gpuvecreduce.c: reductions on one rank; mpigpuvec.c: over all */
PETSC_INTERN PetscErrorCode VecGPUSetReductions_Private(Vec);
PETSC_INTERN PetscErrorCode VecGPUReduce_Private(Vec x, Vec y, GpVecReduceId, double result[]);
PETSC_INTERN PetscErrorCode VecGPUMDot_Private(Vec x, PetscInt many, const Vec y[], PetscScalar result[]);
PETSC_INTERN PetscErrorCode VecDotNorm2_SeqGPU(Vec, Vec, PetscScalar *, PetscScalar *);
PETSC_INTERN PetscErrorCode VecCreate_MPIGPU(Vec);

#endif
