/* Public interface of gpucsr: PETSc types for sparse matrices, vectors and conjugate gradients on a GPU, for an unmodified PETSc. */
#ifndef GPUCSR_H
#define GPUCSR_H

/* MANSEC = Mat */
#include <petscmat.h>
#include <petscpctypes.h>
#include <stdint.h>

#define GPUCSR_VERSION_MAJOR 0
#define GPUCSR_VERSION_MINOR 1
#define GPUCSR_VERSION_PATCH 0

#define MATGPUCSR       "gpucsr"
#define MATAIJGPUCSR    "aijgpucsr"
#define MATSEQAIJGPUCSR "seqaijgpucsr"
#define MATMPIAIJGPUCSR "mpiaijgpucsr"
#define MATGPUCSRSTREAM "gpucsrstream"

#define VECGPU    "gpu"
#define VECSEQGPU "seqgpu"
#define VECMPIGPU "mpigpu"

#define KSPGPU      "gpu"
#define KSPGPUCG    "gpucg"
#define KSPGPUBCGS  "gpubcgs"
#define KSPGPUGMRES "gpugmres"

#define PCGPUAMG  "gpuamg"
#define PCGPUPOLY "gpupoly"
#define PCGPUFSAI "gpufsai"
#define PCGPUSPAI "gpuspai"

#define TAOLSBMRM "lsbmrm"

#define MATSOLVERGPUCSR "gpucsr"

#define MATORDERINGMULTICOLOR "multicolor"

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
  MatGPUCSRFactorStorage - Precision of the values of ILU and ICC factors on the device

  Values:
+ `MAT_GPUCSR_FACTOR_STORAGE_MATRIX` - single precision if the storage of the matrix is `MAT_GPUCSR_STORAGE_SINGLE`, else double precision
. `MAT_GPUCSR_FACTOR_STORAGE_SINGLE` - single precision
- `MAT_GPUCSR_FACTOR_STORAGE_DOUBLE` - double precision

  Level: intermediate

.seealso: `MatGPUCSRSetFactorStorage()`, `MATSOLVERGPUCSR`
E*/
typedef enum {
  MAT_GPUCSR_FACTOR_STORAGE_MATRIX,
  MAT_GPUCSR_FACTOR_STORAGE_SINGLE,
  MAT_GPUCSR_FACTOR_STORAGE_DOUBLE
} MatGPUCSRFactorStorage;

/*E
  MatGPUCSRFactorNumericType - Where the values of ILU and ICC factors are computed

  Values:
+ `MAT_GPUCSR_FACTOR_NUMERIC_DEVICE` - on the device
- `MAT_GPUCSR_FACTOR_NUMERIC_HOST`   - by PETSc on the host; the device solves

  Level: advanced

.seealso: `MatGPUCSRSetFactorNumeric()`, `MATSOLVERGPUCSR`
E*/
typedef enum {
  MAT_GPUCSR_FACTOR_NUMERIC_DEVICE,
  MAT_GPUCSR_FACTOR_NUMERIC_HOST
} MatGPUCSRFactorNumericType;

/*E
  MatGPUCSRTrisolve - How the device solves with the triangles of ILU and ICC factors

  Values:
+ `MAT_GPUCSR_TRISOLVE_EXACT`  - by substitution
. `MAT_GPUCSR_TRISOLVE_JACOBI` - approximately, by a few sweeps of Jacobi's method
- `MAT_GPUCSR_TRISOLVE_ISAI`   - approximately, by incomplete sparse approximate inverses of the triangles

  Level: intermediate

.seealso: `MatGPUCSRSetTrisolve()`, `MatGPUCSRSetTrisolveSweeps()`, `MATSOLVERGPUCSR`
E*/
typedef enum {
  MAT_GPUCSR_TRISOLVE_EXACT,
  MAT_GPUCSR_TRISOLVE_JACOBI,
  MAT_GPUCSR_TRISOLVE_ISAI
} MatGPUCSRTrisolve;

/*E
  MatGPUCSRSORType - How `MatSOR()` sweeps over the rows of a `MATGPUCSR` matrix

  Values:
+ `MAT_GPUCSR_SOR_HOST`       - PETSc sweeps on the host, in the order of the rows
- `MAT_GPUCSR_SOR_MULTICOLOR` - the device sweeps by colours: rows of one colour are not coupled and are relaxed at once

  Level: intermediate

.seealso: `MatGPUCSRSetSORType()`, `PCSOR`
E*/
typedef enum {
  MAT_GPUCSR_SOR_HOST,
  MAT_GPUCSR_SOR_MULTICOLOR
} MatGPUCSRSORType;

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
. `MAT_GPUCSR_HALO_NCCL` - NCCL, from GPU to GPU; the library is loaded at run time
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

/*E
  MatGPUCSRStream - Whether a `MATGPUCSR` matrix stays in host memory, from which each product streams it to the device

  Values:
+ `MAT_GPUCSR_STREAM_AUTO`   - the matrix is streamed if its compressed rows, with those of the transpose if that is built, exceed the free device memory
. `MAT_GPUCSR_STREAM_ALWAYS` - the matrix is streamed
- `MAT_GPUCSR_STREAM_NEVER`  - the matrix is not streamed; if it does not fit, this is an error

  Level: intermediate

.seealso: `MatGPUCSRSetStream()`, `MatGPUCSRGetStreamInfo()`
E*/
typedef enum {
  MAT_GPUCSR_STREAM_AUTO,
  MAT_GPUCSR_STREAM_ALWAYS,
  MAT_GPUCSR_STREAM_NEVER
} MatGPUCSRStream;

/*E
  MatGPUCSRStreamEncode - How the chunks of a streamed matrix are stored

  Values:
+ `MAT_GPUCSR_STREAM_ENCODE_AUTO` - each chunk takes its smallest lossless encoding
- `MAT_GPUCSR_STREAM_ENCODE_NONE` - columns take 32 bits and values the precision of the storage. Use it to measure what encoding saves

  Level: advanced

.seealso: `MatGPUCSRSetStreamEncode()`
E*/
typedef enum {
  MAT_GPUCSR_STREAM_ENCODE_AUTO,
  MAT_GPUCSR_STREAM_ENCODE_NONE
} MatGPUCSRStreamEncode;

/*E
  MatGPUCSRStreamTranspose - How a streamed matrix multiplies by its transpose

  Values:
+ `MAT_GPUCSR_STREAM_TRANSPOSE_STORED` - the host keeps chunks of the transpose in addition to those of the matrix
- `MAT_GPUCSR_STREAM_TRANSPOSE_SHARED` - the device transposes the chunks of the matrix in each product with the transpose

  Level: intermediate

.seealso: `MatGPUCSRSetStreamTranspose()`
E*/
typedef enum {
  MAT_GPUCSR_STREAM_TRANSPOSE_STORED,
  MAT_GPUCSR_STREAM_TRANSPOSE_SHARED
} MatGPUCSRStreamTranspose;

/*S
  MatGPUCSRStreamInfo - State on this rank of a streamed matrix of type `MATGPUCSR` or `MATGPUCSRSTREAM`

  Level: intermediate

  Notes:
  All numbers are sums over the matrix and its transpose, and over the diagonal and the off-diagonal block of a parallel matrix. One product with a parallel matrix therefore counts as two.
  After products with the matrix and with its transpose, `moved_last` is the sum of both last products.

  With `MAT_GPUCSR_STREAM_TRANSPOSE_SHARED` the transpose has no chunks, and its products count as products of the matrix.

.seealso: `MatGPUCSRGetStreamInfo()`, `MatGPUCSRSetStream()`
S*/
typedef struct {
  PetscBool      streamed;       /* PETSC_FALSE if the matrix is on the device; then all other members are 0 */
  PetscInt64     chunks;         /* number of chunks */
  PetscInt64     products;       /* number of products with the matrix and with its transpose */
  PetscLogDouble row_bytes;      /* size of the matrix as compressed rows */
  PetscLogDouble bytes;          /* size of the chunks in host memory */
  PetscLogDouble pageable_bytes; /* size of the chunks that the system refused to pin, which are copied to pinned buffers in each product */
  PetscLogDouble resident_bytes; /* size of the chunks that are on the device now */
  PetscLogDouble device_bytes;   /* device memory for resident chunks, buffers and workspace */
  PetscLogDouble moved;          /* bytes transferred to the device in all products */
  PetscLogDouble moved_last;     /* bytes transferred to the device in the last product with the matrix, plus those of the last product with its transpose */
  PetscLogDouble timed_bytes;    /* size of those transfers that were timed, a sample of all transfers */
  PetscLogDouble timed_seconds;  /* duration in seconds of the timed transfers */
  PetscLogDouble used_bytes;     /* size of the chunks in a timed sample of decoding and multiplying */
  PetscLogDouble used_seconds;   /* duration in seconds of decoding and multiplying in this sample */
  PetscLogDouble encode_seconds; /* seconds of the last encoding */
  PetscLogDouble pin_seconds;    /* seconds of allocating pinned memory */
  PetscLogDouble wait_seconds;   /* seconds that the host waited for threads that read chunks from files or copy pageable chunks */
} MatGPUCSRStreamInfo;

/*S
  MatGPUCSRInfo - State of the device image of a `MATGPUCSR` matrix on this rank

  Level: intermediate

  Notes:
  For a parallel matrix `kernel` and `kernel_transpose` are those of the diagonal block. `bytes`, `seconds`, `values`, `rounded` and `lost` are sums
  over both blocks. `loss` is the maximum of both.

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

/*S
  MatGPUCSRRowsFn - A function that returns rows of a matrix of type `MATGPUCSRSTREAM`

  Calling Sequence:
+ A      - the matrix
. first  - global number of the first row
. n      - number of rows; all are rows of this process
. length - [n] number of nonzeros of each row
. col    - global columns of the nonzeros of all n rows, row by row; they need not ascend, but must differ within a row. NULL: only the lengths are wanted
. val    - values of the nonzeros; NULL if col is NULL
- ctx    - context that was given to `MatGPUCSRStreamSetRows()`

  Level: intermediate

  Notes:
  The function is called twice for the same rows. In the first call `col` is NULL, and the function sets `length`. In the second call `length` has these lengths, and the function sets `col`
  and `val`, which have space for all nonzeros of the rows. The columns of a row must differ from each other, otherwise reading the rows is an error.

  The function may be called for a row any number of times, in any order of the rows. It must return the same values each time. On one process, the values of a row are requested once each
  time the matrix is encoded; on several processes three times. One call requests at most about 1 GB of rows, unless one row takes more.

  The function is called in the thread that calls PETSc. It is not collective: the processes call it at different times, so it must not call collective functions on the communicator of the matrix.

.seealso: `MATGPUCSRSTREAM`, `MatGPUCSRStreamSetRows()`, `MatCreateGPUCSRStream()`
S*/
typedef PetscErrorCode MatGPUCSRRowsFn(Mat A, PetscInt first, PetscInt n, PetscInt length[], PetscInt col[], PetscScalar val[], void *ctx);

/* Names of the values of the enumerations, for PetscOptionsEnum(). */
PETSC_EXTERN const char *const MatGPUCSRStorages[];
PETSC_EXTERN const char *const MatGPUCSRFactorStorages[];
PETSC_EXTERN const char *const MatGPUCSRFactorNumericTypes[];
PETSC_EXTERN const char *const MatGPUCSRTrisolves[];
PETSC_EXTERN const char *const MatGPUCSRSORTypes[];
PETSC_EXTERN const char *const MatGPUCSRTransposes[];
PETSC_EXTERN const char *const MatGPUCSRSelects[];
PETSC_EXTERN const char *const MatGPUCSRHaloTypes[];
PETSC_EXTERN const char *const MatGPUCSRStreams[];
PETSC_EXTERN const char *const MatGPUCSRStreamEncodes[];
PETSC_EXTERN const char *const MatGPUCSRStreamTransposes[];

PETSC_EXTERN PetscErrorCode PetscGPUCSRInitialize(void);
PETSC_EXTERN PetscErrorCode PetscGPUCSRGetDeviceName(const char *[]);
PETSC_EXTERN PetscErrorCode PetscGPUCSRSetWisdom(const char[]);
PETSC_EXTERN PetscErrorCode PetscGPUCSRSetNotice(PetscBool);

PETSC_EXTERN PetscErrorCode MatGPUCSRSetStorage(Mat, MatGPUCSRStorage);
PETSC_EXTERN PetscErrorCode MatGPUCSRGetStorage(Mat, MatGPUCSRStorage *);
PETSC_EXTERN PetscErrorCode MatGPUCSRSetFactorStorage(Mat, MatGPUCSRFactorStorage);
PETSC_EXTERN PetscErrorCode MatGPUCSRSetFactorNumeric(Mat, MatGPUCSRFactorNumericType);
PETSC_EXTERN PetscErrorCode MatGPUCSRSetFactorHost(Mat, PetscBool);
PETSC_EXTERN PetscErrorCode MatGPUCSRSetTrisolve(Mat, MatGPUCSRTrisolve);
PETSC_EXTERN PetscErrorCode MatGPUCSRSetTrisolveSweeps(Mat, PetscInt);
PETSC_EXTERN PetscErrorCode MatGPUCSRSetSORType(Mat, MatGPUCSRSORType);
PETSC_EXTERN PetscErrorCode MatGPUCSRSetKernel(Mat, const char[]);
PETSC_EXTERN PetscErrorCode MatGPUCSRSetSelect(Mat, MatGPUCSRSelect);
PETSC_EXTERN PetscErrorCode MatGPUCSRSetMemoryLimit(Mat, PetscReal);
PETSC_EXTERN PetscErrorCode MatGPUCSRSetTranspose(Mat, MatGPUCSRTranspose);
PETSC_EXTERN PetscErrorCode MatGPUCSRSetVecType(Mat, VecType);
PETSC_EXTERN PetscErrorCode MatGPUCSRSetHaloType(Mat, MatGPUCSRHaloType);
PETSC_EXTERN PetscErrorCode MatGPUCSRSetStream(Mat, MatGPUCSRStream);
PETSC_EXTERN PetscErrorCode MatGPUCSRSetStreamChunk(Mat, PetscReal);
PETSC_EXTERN PetscErrorCode MatGPUCSRSetStreamResident(Mat, PetscReal);
PETSC_EXTERN PetscErrorCode MatGPUCSRSetStreamBuffers(Mat, PetscInt);
PETSC_EXTERN PetscErrorCode MatGPUCSRSetStreamThreads(Mat, PetscInt);
PETSC_EXTERN PetscErrorCode MatGPUCSRSetStreamEncode(Mat, MatGPUCSRStreamEncode);
PETSC_EXTERN PetscErrorCode MatGPUCSRSetStreamTranspose(Mat, MatGPUCSRStreamTranspose);
PETSC_EXTERN PetscErrorCode MatGPUCSRSetStreamFile(Mat, const char[]);
PETSC_EXTERN PetscErrorCode MatGPUCSRGetStreamInfo(Mat, MatGPUCSRStreamInfo *);
PETSC_EXTERN PetscErrorCode MatCreateGPUCSRStream(MPI_Comm, PetscInt, PetscInt, PetscInt, PetscInt, MatGPUCSRRowsFn *, void *, Mat *);
PETSC_EXTERN PetscErrorCode MatGPUCSRStreamSetRows(Mat, MatGPUCSRRowsFn *, void *);
PETSC_EXTERN PetscErrorCode MatGPUCSRUpload(Mat);
PETSC_EXTERN PetscErrorCode MatGPUCSRHaloView(Mat, PetscViewer);
PETSC_EXTERN PetscErrorCode MatGPUCSRMultMany(Mat, PetscBool, PetscInt, const Vec[], Vec[]);
PETSC_EXTERN PetscErrorCode MatGPUCSRGetInfo(Mat, MatGPUCSRInfo *);

/*S
  MatGPUCSRChunk - Consecutive rows of a matrix, which `MatGPUCSRPass()` passes to a function

  Level: developer

.seealso: `MatGPUCSRPass()`, `MatGPUCSRChunkGetRows()`, `MatGPUCSRChunkMult()`, `MatGPUCSRChunkMultTransposeAdd()`
S*/
typedef struct _n_MatGPUCSRChunk *MatGPUCSRChunk;

/*S
  MatGPUCSRPassFn - A function that `MatGPUCSRPass()` calls for each chunk of a matrix

  Calling Sequence:
+ chunk - the chunk, valid until the function returns
- ctx   - context that was given to `MatGPUCSRPass()`

  Level: developer

.seealso: `MatGPUCSRPass()`, `MatGPUCSRChunk`
S*/
typedef PetscErrorCode MatGPUCSRPassFn(MatGPUCSRChunk chunk, void *ctx);

PETSC_EXTERN PetscErrorCode MatGPUCSRPass(Mat, MatGPUCSRPassFn *, void *);
PETSC_EXTERN PetscErrorCode MatGPUCSRChunkGetRows(MatGPUCSRChunk, PetscInt *, PetscInt *);
PETSC_EXTERN PetscErrorCode MatGPUCSRChunkMult(MatGPUCSRChunk, const PetscScalar[], PetscScalar[]);
PETSC_EXTERN PetscErrorCode MatGPUCSRChunkMultTransposeAdd(MatGPUCSRChunk, const PetscScalar[], PetscScalar[]);

/*E
  PCGPUFSAIPattern - How `PCGPUFSAI` chooses the pattern of its factor

  Values:
+ `PC_GPUFSAI_PATTERN_STATIC`   - that of the lower triangle of a power of A
- `PC_GPUFSAI_PATTERN_ADAPTIVE` - rows grow by the entries for which the functional of Kaporin's condition number has the largest gradient

  Level: intermediate

.seealso: `PCGPUFSAI`, `PCGPUFSAISetPattern()`
E*/
typedef enum {
  PC_GPUFSAI_PATTERN_STATIC,
  PC_GPUFSAI_PATTERN_ADAPTIVE
} PCGPUFSAIPattern;

PETSC_EXTERN const char *const PCGPUFSAIPatterns[];

PETSC_EXTERN PetscErrorCode PCGPUFSAISetPattern(PC, PCGPUFSAIPattern);
PETSC_EXTERN PetscErrorCode PCGPUFSAISetPower(PC, PetscInt);
PETSC_EXTERN PetscErrorCode PCGPUFSAISetThreshold(PC, PetscReal);
PETSC_EXTERN PetscErrorCode PCGPUFSAISetAdaptive(PC, PetscInt, PetscInt, PetscReal);
PETSC_EXTERN PetscErrorCode PCGPUFSAISetFilter(PC, PetscReal);
PETSC_EXTERN PetscErrorCode PCGPUFSAISetLocal(PC, PetscBool);
PETSC_EXTERN PetscErrorCode PCGPUFSAISetStorage(PC, MatGPUCSRStorage);
PETSC_EXTERN PetscErrorCode PCGPUSPAISetPower(PC, PetscInt);
PETSC_EXTERN PetscErrorCode PCGPUSPAISetThreshold(PC, PetscReal);
PETSC_EXTERN PetscErrorCode PCGPUSPAISetFilter(PC, PetscReal);
PETSC_EXTERN PetscErrorCode PCGPUSPAISetLocal(PC, PetscBool);
PETSC_EXTERN PetscErrorCode PCGPUSPAISetStorage(PC, MatGPUCSRStorage);

/* Arrays on the device, for solvers that launch their own kernels (gpucsrdevice.h). */
struct GpDev_;
PETSC_EXTERN PetscErrorCode MatGPUCSRGetDeviceCSR(Mat, const int32_t **, const int32_t **, const PetscScalar **);
PETSC_EXTERN PetscErrorCode MatGPUCSRRestoreDeviceCSR(Mat, const int32_t **, const int32_t **, const PetscScalar **);
PETSC_EXTERN PetscErrorCode MatGPUCSRMultArray(Mat, PetscBool, const PetscScalar[], PetscScalar[]);
PETSC_EXTERN PetscErrorCode VecGPUGetRuntime(Vec, struct GpDev_ **);
PETSC_EXTERN PetscErrorCode VecGPUGetDeviceArrayRead(Vec, const PetscScalar **);
PETSC_EXTERN PetscErrorCode VecGPURestoreDeviceArrayRead(Vec, const PetscScalar **);
PETSC_EXTERN PetscErrorCode VecGPUGetDeviceArrayWrite(Vec, PetscScalar **);
PETSC_EXTERN PetscErrorCode VecGPURestoreDeviceArrayWrite(Vec, PetscScalar **);
PETSC_EXTERN PetscErrorCode VecGPUGetDeviceArray(Vec, PetscScalar **);
PETSC_EXTERN PetscErrorCode VecGPURestoreDeviceArray(Vec, PetscScalar **);
PETSC_EXTERN PetscErrorCode VecCreateSeqGPUWithArray(MPI_Comm, PetscInt bs, PetscInt n, const PetscScalar[], Vec *);
PETSC_EXTERN PetscErrorCode VecCreateMPIGPUWithArray(MPI_Comm, PetscInt bs, PetscInt n, PetscInt N, const PetscScalar[], Vec *);
PETSC_EXTERN PetscErrorCode VecGPUSumRanks(MPI_Comm, PetscInt, Vec[]);

#endif
