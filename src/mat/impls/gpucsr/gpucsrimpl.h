/* What the files of the Mat type share.  The host AIJ underneath stays the truth; the device image is a cache of it. */
#ifndef GPUCSRIMPL_H
#define GPUCSRIMPL_H

#include <petsc/private/matimpl.h>
#include <petscsf.h>
#include "gpucsr.h"
#include "gpucsrcompat.h"
#include "mat/impls/gpucsr/operator/gpoperator.h"

typedef struct {
  MatGPUCSRStorage   storage;
  MatGPUCSRTranspose transpose;
  int                kernel; /* row of the kernel table, -1: the selector decides */
  MatGPUCSRSelect    select; /* how it does */
  PetscReal          limit;  /* bytes on the device, negative: any */
} MatGPUCSROptions;

/* which host arrays the image was made of: same key, same pattern; same state too, same values */
typedef struct {
  PetscObjectState state, nonzerostate;
  const PetscInt  *rowptr, *col;
  PetscInt         nnz;
} MatGPUCSRKey;

/* the exchange of a parallel product: the entries of x that other ranks need (boundary) and those that this one does (ghosts) */
typedef struct {
  PetscObjectState nonzerostate; /* of the parallel matrix it was made for */
  PetscObjectId    offdiagonal;  /* and its off-diagonal block */
  GpDev            dev;
  PetscSF          sf; /* from boundary to ghosts */
  PetscInt         nboundary, nghosts;
  int32_t         *index, *device_index; /* of the boundary entries in x, on the host and on the device */
  double          *boundary, *ghosts;    /* pinned host memory */
  double          *device_boundary, *device_ghosts;
  GpDevEvent       packed;
} MatGPUCSRHalo;

typedef struct {
  struct _MatOps base;                                                                        /* the parent type's operations */
  PetscErrorCode (*preallocate)(Mat, PetscInt, const PetscInt[], PetscInt, const PetscInt[]); /* mpi: the parent's */
  PetscBool        mpi;
  MatGPUCSROptions options;
  GpDev            dev;
  GpOp             op;        /* seq */
  MatGPUCSRKey     key;       /* seq */
  GpOpPlace        place;     /* seq: of this block in the matrix that the user made */
  double          *staged[2]; /* device memory for vectors that live on the host: column space, row space */
  PetscInt         nstaged[2];
  MatGPUCSRHalo   *halo; /* mpi */
} Mat_GPUCSR;

/* a vector as a product sees it */
typedef struct {
  double   *device;  /* where the kernels read or write */
  double   *host;    /* where the values stand on the host, NULL when only the device has them */
  PetscBool staged;  /* device is a copy in our own buffer */
  PetscBool memtype; /* taken with its memory type, to be given back so */
  PetscBool gpu;     /* a VECGPU's own device memory */
} MatGPUCSRVec;

PETSC_INTERN PetscLogEvent MAT_GPUCSR_Upload, MAT_GPUCSR_Transpose;

/* gpucsr.c: both types */
PETSC_INTERN PetscErrorCode        MatGPUCSRIs_Private(Mat, PetscBool *);
PETSC_INTERN PetscErrorCode        MatGPUCSRGetData_Private(Mat, Mat_GPUCSR **); /* or an error that names the type */
PETSC_INTERN const struct _MatOps *MatGPUCSRBase_Private(Mat);                   /* the parent's operations */
PETSC_INTERN PetscErrorCode        MatGPUCSRAttach_Private(Mat, MatType base);
PETSC_INTERN PetscErrorCode        MatGPUCSRDetach_Private(Mat, MatType base);
PETSC_INTERN PetscErrorCode        MatCreate_SeqAIJGPUCSR(Mat);
PETSC_INTERN PetscErrorCode        MatGPUCSRGetOperator_Private(Mat, PetscBool transpose, GpOp *);

/* mpigpucsr.c */
PETSC_INTERN PetscErrorCode MatCreate_MPIAIJGPUCSR(Mat);
PETSC_INTERN PetscErrorCode MatGPUCSRAttach_MPI_Private(Mat);
PETSC_INTERN PetscErrorCode MatGPUCSRDetach_MPI_Private(Mat);
PETSC_INTERN PetscErrorCode MatGPUCSRGetBlocks_Private(Mat, Mat *diagonal, Mat *offdiagonal, const PetscInt *columns[]);
PETSC_INTERN PetscErrorCode MatGPUCSRHaloDestroy_Private(MatGPUCSRHalo **);

/* gpucsrmult.c, mpigpucsrmult.c: y = A x, or y = A x + z, or the same with the transpose */
PETSC_INTERN PetscErrorCode MatGPUCSRProduct_Seq(Mat, PetscBool transpose, Vec x, Vec z, Vec y);
PETSC_INTERN PetscErrorCode MatGPUCSRProduct_MPI(Mat, PetscBool transpose, Vec x, Vec z, Vec y);
PETSC_INTERN PetscErrorCode MatGPUCSRSetProducts_Private(Mat);
PETSC_INTERN PetscErrorCode MatGPUCSRIsSymmetric_Private(Mat, PetscBool *);
PETSC_INTERN PetscErrorCode MatGPUCSRLogFlops_Private(GpDev, PetscLogDouble);

/* gpucsrvec.c: vectors in and out of a product */
PETSC_INTERN PetscErrorCode MatGPUCSRVecGetRead_Private(Mat, PetscInt space, Vec, MatGPUCSRVec *);
PETSC_INTERN PetscErrorCode MatGPUCSRVecRestoreRead_Private(Vec, MatGPUCSRVec *);
PETSC_INTERN PetscErrorCode MatGPUCSRVecGetResult_Private(Mat, PetscInt space, Vec y, Vec z, MatGPUCSRVec *y_, MatGPUCSRVec *z_);
PETSC_INTERN PetscErrorCode MatGPUCSRVecRestoreResult_Private(Mat, Vec y, Vec z, MatGPUCSRVec *y_, MatGPUCSRVec *z_);

/* gpucsroptions.c */
PETSC_INTERN PetscErrorCode MatGPUCSRGetOptions_Private(Mat);
PETSC_INTERN PetscErrorCode MatSetFromOptions_GPUCSR(Mat, GpOptionItems);

/* gpucsrconvert.c */
PETSC_INTERN PetscInt       MatGPUCSRStayPlain; /* not zero: -mat_seqaij_type makes nothing ours just now */
PETSC_INTERN PetscErrorCode MatGPUCSRAttachTo_Private(Mat);
PETSC_INTERN PetscErrorCode MatConvert_GPUCSR(Mat, MatType, MatReuse, Mat *);
PETSC_INTERN PetscErrorCode MatConvertFrom_GPUCSR(Mat, MatType, MatReuse, Mat *);
PETSC_INTERN PetscErrorCode MatConvert_SeqAIJ_SeqAIJGPUCSR(Mat, MatType, MatReuse, Mat *);

/* gpucsrview.c, gpucsrproduct.c, gpucsrfactor.c */
PETSC_INTERN PetscErrorCode MatGPUCSRSetFactors_Private(Mat);
PETSC_INTERN PetscErrorCode MatGetFactor_SeqAIJGPUCSR_ILU(Mat, MatFactorType, Mat *);
PETSC_INTERN PetscErrorCode MatView_GPUCSR(Mat, PetscViewer);
PETSC_INTERN PetscErrorCode MatProductSetFromOptions_GPUCSR_AnyType(Mat);
PETSC_INTERN PetscErrorCode MatGPUCSRPresent_Private(Mat, char **own);
PETSC_INTERN PetscErrorCode MatGPUCSRPresentAgain_Private(Mat, char *own);

#endif
