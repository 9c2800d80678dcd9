/* Public interface of gpucsr: PETSc types for sparse matrices, vectors and conjugate gradients on a GPU, for an unmodified PETSc. */
#ifndef GPUCSR_H
#define GPUCSR_H

/* MANSEC = Mat */
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

/*E
  MatGPUCSRStorage - Precision of the values of a `MATGPUCSR` matrix on the device

  Values:
+ `MAT_GPUCSR_STORAGE_SINGLE` - single precision
. `MAT_GPUCSR_STORAGE_DOUBLE` - double precision
- `MAT_GPUCSR_STORAGE_AUTO`   - single precision if it holds every value exactly, else double precision

  Level: intermediate

  Note:
  Vectors and sums are always in double precision.

.seealso: `MatGPUCSRSetStorage()`, `MatGPUCSRGetStorage()`, `MatGPUCSRGetInfo()`
E*/
typedef enum {
  MAT_GPUCSR_STORAGE_SINGLE,
  MAT_GPUCSR_STORAGE_DOUBLE,
  MAT_GPUCSR_STORAGE_AUTO
} MatGPUCSRStorage;

/*E
  MatGPUCSRTranspose - When a `MATGPUCSR` matrix builds its transpose on the device

  Values:
+ `MAT_GPUCSR_TRANSPOSE_EAGER` - with the upload
- `MAT_GPUCSR_TRANSPOSE_LAZY`  - before the first product that needs it

  Level: intermediate

.seealso: `MatGPUCSRSetTranspose()`
E*/
typedef enum {
  MAT_GPUCSR_TRANSPOSE_EAGER,
  MAT_GPUCSR_TRANSPOSE_LAZY
} MatGPUCSRTranspose;

/*E
  MatGPUCSRSelect - How a `MATGPUCSR` matrix selects its kernel if none is named

  Values:
+ `MAT_GPUCSR_SELECT_MODEL`   - by the times that a cost model predicts
. `MAT_GPUCSR_SELECT_MEASURE` - by timing the candidates with the smallest predicted times
- `MAT_GPUCSR_SELECT_FIXED`   - by a rule among the kernels on compressed rows

  Level: intermediate

.seealso: `MatGPUCSRSetSelect()`, `MatGPUCSRSetKernel()`
E*/
typedef enum {
  MAT_GPUCSR_SELECT_MODEL,
  MAT_GPUCSR_SELECT_MEASURE,
  MAT_GPUCSR_SELECT_FIXED
} MatGPUCSRSelect;

/*E
  MatGPUCSRHaloType - How the ranks of a parallel product exchange entries of x

  Values:
+ `MAT_GPUCSR_HALO_AUTO` - the first of nccl, mpi, host that works on all ranks
. `MAT_GPUCSR_HALO_HOST` - MPI, through pinned host memory
. `MAT_GPUCSR_HALO_NCCL` - NCCL, from GPU to GPU; the library is looked for at run time
- `MAT_GPUCSR_HALO_MPI`  - an MPI that accepts pointers to device memory

  Level: intermediate

.seealso: `MatGPUCSRSetHaloType()`, `MatGPUCSRHaloView()`
E*/
typedef enum {
  MAT_GPUCSR_HALO_AUTO,
  MAT_GPUCSR_HALO_HOST,
  MAT_GPUCSR_HALO_NCCL,
  MAT_GPUCSR_HALO_MPI
} MatGPUCSRHaloType;

/*S
  MatGPUCSRInfo - State of the device image of a `MATGPUCSR` matrix on this rank

  Level: intermediate

  Notes:
  For a parallel matrix `kernel` and `kernel_transpose` are those of the diagonal block. `bytes`, `seconds`, `values`, `rounded` and `lost` count both
  blocks. `loss` is the larger one of both.

  Rows and columns are in local numbering.

.seealso: `MatGPUCSRGetInfo()`
S*/
typedef struct {
  const char      *device;           /* "host", or the name of the GPU */
  MatGPUCSRStorage storage;          /* precision in effect: single or double, never auto */
  PetscBool        lossless;         /* PETSC_TRUE if the conversion changed no value */
  PetscReal        loss;             /* largest relative rounding error of a value */
  PetscInt         loss_row;         /* row of the value with that error, -1 if lossless */
  PetscInt         loss_column;      /* column of the value with that error, -1 if lossless */
  PetscLogDouble   bytes;            /* device memory in bytes */
  const char      *kernel;           /* kernel of the products with A */
  const char      *kernel_transpose; /* kernel of the products with the transpose, NULL if the transpose is not built */
  PetscBool        symmetric;        /* PETSC_TRUE if A is used as its own transpose */
  PetscLogDouble   seconds;          /* time of the last upload, with transpose and formats */
  const char      *halo;             /* halo type in effect: host, nccl or mpi; NULL for a sequential matrix */
  PetscInt64       values;           /* number of values on the device */
  PetscInt64       rounded;          /* number of values that the conversion to single precision changed */
  PetscInt64       lost;             /* number of values that became zero or kept no correct decimal digit: relative change above 0.1 */
} MatGPUCSRInfo;

/* Names of the values of the enumerations, for PetscOptionsEnum(). */
PETSC_EXTERN const char *const MatGPUCSRStorages[];
PETSC_EXTERN const char *const MatGPUCSRTransposes[];
PETSC_EXTERN const char *const MatGPUCSRSelects[];
PETSC_EXTERN const char *const MatGPUCSRHaloTypes[];

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

/* Arrays on the device, for solvers that launch their own kernels (gpucsrdevice.h). */
struct GpDev_;
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
