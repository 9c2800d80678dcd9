/* gpucsr: a sparse matrix and its transpose on the GPU, and vectors beside it, for an unmodified PETSc.  All that an application sees. */
#ifndef GPUCSR_H
#define GPUCSR_H

#include <petscmat.h>

#define GPUCSR_VERSION_MAJOR 0
#define GPUCSR_VERSION_MINOR 1
#define GPUCSR_VERSION_PATCH 0

#define MATGPUCSR       "gpucsr"
#define MATAIJGPUCSR    "aijgpucsr"
#define MATSEQAIJGPUCSR "seqaijgpucsr"
#define MATMPIAIJGPUCSR "mpiaijgpucsr"

#define VECGPU    "gpu"
#define VECSEQGPU "seqgpu"
#define VECMPIGPU "mpigpu"

#define KSPGPUCG "gpucg"

#define TAOLSBMRM "lsbmrm"

/* Precision of the matrix values on the device. Vectors and sums are double in all of them. */
typedef enum {
  MAT_GPUCSR_STORAGE_SINGLE,
  MAT_GPUCSR_STORAGE_DOUBLE,
  MAT_GPUCSR_STORAGE_AUTO /* single where single precision holds every value exactly, else double */
} MatGPUCSRStorage;

/* when the transpose is built: with the upload, or by the first product that needs it */
typedef enum {
  MAT_GPUCSR_TRANSPOSE_EAGER,
  MAT_GPUCSR_TRANSPOSE_LAZY
} MatGPUCSRTranspose;

/* how the kernel is chosen, when none is named */
typedef enum {
  MAT_GPUCSR_SELECT_MODEL,
  MAT_GPUCSR_SELECT_MEASURE,
  MAT_GPUCSR_SELECT_FIXED
} MatGPUCSRSelect;

/* how the entries of x that other ranks need cross between the GPUs of a parallel product */
typedef enum {
  MAT_GPUCSR_HALO_AUTO, /* the shortest way that works on all ranks: nccl, mpi, host */
  MAT_GPUCSR_HALO_HOST, /* through the hosts */
  MAT_GPUCSR_HALO_NCCL, /* from GPU to GPU by NCCL, which is looked for at run time */
  MAT_GPUCSR_HALO_MPI   /* by an MPI that takes pointers to device memory */
} MatGPUCSRHaloType;

/* what is known of the device image of a matrix (of this rank's diagonal block for mpiaijgpucsr) */
typedef struct {
  const char      *device;           /* "host", or the name of the GPU */
  MatGPUCSRStorage storage;          /* precision of the values there: single or double, also with storage auto */
  PetscBool        lossless;         /* every value survived the conversion unchanged */
  PetscReal        loss;             /* largest relative change of a value */
  PetscInt         loss_row;         /* where, in local numbering; -1 when lossless */
  PetscInt         loss_column;      /* likewise */
  PetscLogDouble   bytes;            /* memory held on the device */
  const char      *kernel;           /* row of the kernel table that multiplies by A */
  const char      *kernel_transpose; /* and by the transpose, NULL while it does not exist */
  PetscBool        symmetric;        /* A serves as its own transpose */
  PetscLogDouble   seconds;          /* of the last upload, transposition and format build */
  const char      *halo;             /* how boundary entries cross between ranks: host, nccl or mpi; NULL for a sequential matrix */
  PetscInt64       values;           /* number of values on the device */
  PetscInt64       rounded;          /* number of values that the conversion to single precision changed */
  PetscInt64       lost;             /* number of values that became zero or kept no correct decimal digit: relative change above 0.1 */
} MatGPUCSRInfo;

PETSC_EXTERN PetscErrorCode PetscGPUCSRInitialize(void);
PETSC_EXTERN PetscErrorCode PetscGPUCSRGetDeviceName(const char *[]);
PETSC_EXTERN PetscErrorCode PetscGPUCSRSetNotice(PetscBool);

PETSC_EXTERN PetscErrorCode MatGPUCSRSetStorage(Mat, MatGPUCSRStorage);
PETSC_EXTERN PetscErrorCode MatGPUCSRGetStorage(Mat, MatGPUCSRStorage *);
PETSC_EXTERN PetscErrorCode MatGPUCSRSetKernel(Mat, const char[]);
PETSC_EXTERN PetscErrorCode MatGPUCSRSetSelect(Mat, MatGPUCSRSelect);
PETSC_EXTERN PetscErrorCode MatGPUCSRSetMemoryLimit(Mat, PetscReal);
PETSC_EXTERN PetscErrorCode MatGPUCSRSetTranspose(Mat, MatGPUCSRTranspose);
PETSC_EXTERN PetscErrorCode MatGPUCSRSetVecType(Mat, VecType);
PETSC_EXTERN PetscErrorCode MatGPUCSRSetHaloType(Mat, MatGPUCSRHaloType);
PETSC_EXTERN PetscErrorCode MatGPUCSRUpload(Mat);
PETSC_EXTERN PetscErrorCode MatGPUCSRHaloView(Mat, PetscViewer);
PETSC_EXTERN PetscErrorCode MatGPUCSRMultMany(Mat, PetscBool, PetscInt, const Vec[], Vec[]);
PETSC_EXTERN PetscErrorCode MatGPUCSRGetInfo(Mat, MatGPUCSRInfo *);

/* for solvers that bring kernels of their own */
struct GpDev_;
PETSC_EXTERN PetscErrorCode PetscGPUCSRDeviceMalloc(struct GpDev_ *, const char what[], size_t, void *ptr);
PETSC_EXTERN PetscErrorCode PetscGPUCSRDeviceFree(struct GpDev_ *, size_t, void *ptr);
PETSC_EXTERN PetscErrorCode MatGPUCSRMultArray(Mat, PetscBool, const PetscScalar[], PetscScalar[]);
PETSC_EXTERN PetscErrorCode VecGPUGetRuntime(Vec, struct GpDev_ **);
PETSC_EXTERN PetscErrorCode VecGPUGetDeviceArrayRead(Vec, const PetscScalar **);
PETSC_EXTERN PetscErrorCode VecGPURestoreDeviceArrayRead(Vec, const PetscScalar **);
PETSC_EXTERN PetscErrorCode VecGPUGetDeviceArrayWrite(Vec, PetscScalar **);
PETSC_EXTERN PetscErrorCode VecGPURestoreDeviceArrayWrite(Vec, PetscScalar **);
PETSC_EXTERN PetscErrorCode VecGPUGetDeviceArray(Vec, PetscScalar **);
PETSC_EXTERN PetscErrorCode VecGPURestoreDeviceArray(Vec, PetscScalar **);
PETSC_EXTERN PetscErrorCode VecGPUSumRanks(MPI_Comm, PetscInt, Vec[]);

#endif
