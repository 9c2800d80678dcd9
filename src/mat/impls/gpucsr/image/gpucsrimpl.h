/* The data of both matrix types, and the functions of the device image of a sequential matrix.
   The values of the parent type AIJ on the host are authoritative; the device image is a copy of them. */
#ifndef GPUCSRIMPL_H
#define GPUCSRIMPL_H

#include <petsc/private/matimpl.h>
#include "gpucsr.h"
#include "gpucsrcompat.h"
#include "mat/impls/gpucsr/operator/gpoperator.h"

/* Declares the member of MatGPUCSROptions for an option of each kind in gpucsroptions.def. */
#define MAT_GPUCSR_ENUM(type, name)   type name
#define MAT_GPUCSR_KERNEL(type, name) PetscInt name
#define MAT_GPUCSR_BYTES(type, name)  PetscReal name
#define MAT_GPUCSR_COUNT(type, name)  PetscInt name
#define MAT_GPUCSR_FLAG(type, name)   PetscBool name
#define MAT_GPUCSR_TYPE(type, name)   char name[64]
#define MAT_GPUCSR_PATH(type, name)   char name[PETSC_MAX_PATH_LEN]
#define MAT_GPUCSR_VIEWER(type, name) PetscBool name

typedef struct {
#define OPTION(name, kind, type, setter, help) MAT_GPUCSR_##kind(type, name);
#include "mat/impls/gpucsr/image/gpucsroptions.def"
#undef OPTION
  unsigned given; /* bits MAT_GPUCSR_GIVEN(name) of the options that were set by a setter or by the options database */
} MatGPUCSROptions;

enum {
#define OPTION(name, kind, type, setter, help) MAT_GPUCSR_OPTION_##name,
#include "mat/impls/gpucsr/image/gpucsroptions.def"
#undef OPTION
  MAT_GPUCSR_OPTIONS
};

#define MAT_GPUCSR_GIVEN(name) (1u << MAT_GPUCSR_OPTION_##name)

/* Identifies the host arrays from which the device image was built.  If all members except state agree with the matrix, the image has
   its pattern.  If state agrees too, the image has its values. */
typedef struct {
  Mat              owner; /* MatHeaderReplace() can move an image to another matrix, whose object state is unrelated to it */
  PetscObjectState state, nonzerostate;
  const PetscInt  *rowptr, *col;
  PetscInt         nnz;
} MatGPUCSRKey;

/* Rounding by the conversion to single precision, summed over blocks and ranks. */
typedef struct {
  double nnz, rounded, lost; /* number of values, of rounded values, and of rounded values that became zero or kept no correct decimal digit */
  double worst;              /* largest relative change of a value */
} MatGPUCSRRounding;

/* Whether single precision holds every value of a matrix exactly.  For a parallel matrix the object states tell when its ranks last
   reduced this answer. */
typedef struct {
  Mat              owner; /* matrix to which the answer belongs, NULL: not known; MatHeaderReplace() can move this structure to another matrix */
  PetscObjectState state, nonzerostate;
  PetscBool        fits;
} MatGPUCSRFits;

/* The last upload of a parallel matrix of which all ranks know that it succeeded on every rank. */
typedef struct {
  Mat              owner; /* NULL: none */
  PetscObjectState state, nonzerostate;
  PetscBool        transpose; /* the transposes were built too */
} MatGPUCSRUploaded;

/* The array of a vector that is an operand of a product. */
typedef struct {
  double   *device;  /* address that the kernels read or write */
  double   *host;    /* address of the values on the host, NULL if only the device has them */
  PetscBool staged;  /* device points to a buffer of the matrix */
  PetscBool memtype; /* obtained, and to be restored, by a function ending in AndMemType() */
  PetscBool gpu;     /* the vector is a VECGPU; device is its own memory */
} MatGPUCSRVec;

/* Device memory for vectors in host memory, kept from one product to the next. */
typedef struct {
  double *array;
  size_t  n; /* number of entries */
} MatGPUCSRBuffer;

/* Data of MatSetValuesCOO() for values in device memory.  Created by MatSetPreallocationCOO().  Holds the indices of the entries until values
   in device memory are set for the first time, and from then on the lists of the entries of each nonzero. */
typedef struct {
  PetscCount n;            /* number of entries of this rank */
  PetscInt  *i, *j;        /* [n] global rows and columns of the entries, NULL once sum is set up */
  PetscBool  ready, never; /* mpi only: exchange and sums are set up; there are too many entries for 32-bit indices, so the host assembles */
  GpCoo      sum[2];       /* sums of a sequential matrix ([0]), or of the diagonal [0] and off-diagonal [1] block */
} * MatGPUCSRCoo;

/* The node of each row, for MatMultDiagonalBlock().  A node is a group of consecutive rows with one pattern (MatInodeGetInodeSizes()). */
typedef struct {
  PetscObjectState nonzerostate; /* nonzero state of the matrix for which the nodes were uploaded */
  PetscInt         m;            /* number of rows */
  int32_t         *span;         /* [2 m] device memory: for each row the first row of its node, and the row after the last one */
  PetscLogDouble   flops;        /* flops of one product */
} MatGPUCSRNodes;

/* Values in double precision that MatGPUCSRGetDeviceCSR() has copied to the device, because the image is in single precision. */
typedef struct {
  PetscScalar *val;
  size_t       bytes;
  int          uses; /* calls that have not been restored */
} MatGPUCSRLent;

struct _n_MatGPUCSRHalo;
typedef struct _n_MatGPUCSRSOR *MatGPUCSRSOR;

/* Data of all types: the first member of Mat_SeqAIJGPUCSR, Mat_MPIAIJGPUCSR and Mat_GPUCSRStream. */
typedef struct {
  struct _MatOps base, own;                                                  /* operations of the parent type, and those that replaced them */
  PetscErrorCode (*preallocatecoo)(Mat, PetscCount, PetscInt[], PetscInt[]); /* function of the parent type */
  PetscErrorCode (*setvaluescoo)(Mat, const PetscScalar[], InsertMode);      /* function of the parent type */
  PetscErrorCode (*mult)(Mat, PetscBool transpose, Vec x, Vec z, Vec y);     /* y = A x, or y = A x + z */
  PetscErrorCode (*multbatch)(Mat, PetscBool transpose, PetscInt k, const MatGPUCSRVec x[], double *const dx[],
                              double *const dy[]);                                                  /* multiplies one batch; dx, dy: device addresses. dx NULL, only if mpi is true: this rank has failed and takes part in the exchange only */
  PetscErrorCode (*getoperators)(Mat, PetscBool transpose, GpOp op[2], struct _n_MatGPUCSRHalo **); /* current images: one if mpi is false (halo may be NULL), else of both blocks, and the exchange; collective */
  PetscErrorCode (*assemblecoo)(Mat, const PetscScalar entries[]);                                  /* MatSetValuesCOO() with values in device memory */
  PetscBool         mpi;                                                                            /* the matrix has two blocks and a halo exchange */
  PetscBool         fromrows, stale;                                                                /* the type is gpucsrstream; its chunks were encoded with other options */
  PetscBool         agrees;                                                                         /* a failure of one rank in a product is an error on all ranks, by a reduction at its end */
  PetscBool         setvectype;                                                                     /* MatGPUCSRSetVecType() has replaced the vector type of the parent type */
  PetscBool         wide;                                                                           /* storage auto: a block of this parallel matrix, on some rank, needs double precision */
  PetscBool         noticed;                                                                        /* the notice about rounded values was given, or is not wanted for this matrix */
  MatGPUCSRFits     fits;                                                                           /* whether single precision holds the values */
  MatGPUCSRUploaded uploaded;                                                                       /* used if mpi is true */
  MatGPUCSROptions  options;
  GpDev             dev;
  MatGPUCSRBuffer   vector[2];   /* for one vector of the column space [0] and of the row space [1] */
  MatGPUCSRBuffer   batch[2][2]; /* for several vectors: first index 0: x, 1: y; second index: the batch, of which two alternate */
  MatGPUCSRCoo      coo;         /* NULL before MatSetPreallocationCOO() */
} Mat_GPUCSR;

typedef struct {
  Mat_GPUCSR     common;
  GpOp           op;                 /* the device image, NULL before the first upload */
  MatGPUCSRKey   key;                /* host arrays of the image; zero if the image is invalid */
  GpOpPlace      place;              /* global position of this block, for error messages */
  PetscLogDouble held_by_other;      /* bytes of device memory that the other block of a parallel matrix holds; subtracted from the bound on resident chunks */
  PetscLogDouble reserved_for_other; /* bytes of device memory that the other block will need in addition to what it holds */
  PetscBool      typed;              /* the type was set by MatSetType(); excludes the blocks of a plain MATMPIAIJ */
  Vec           *factors;            /* while MatDiagonalScale() of the parallel matrix runs: receives its left [0] and right [1] vector for this block */
  MatGPUCSRNodes nodes;
  MatGPUCSRSOR   sor; /* data of sweeps by colours, NULL before the first */
  MatGPUCSRLent  lent;
} Mat_SeqAIJGPUCSR;

PETSC_INTERN PetscLogEvent  MAT_GPUCSR_Upload, MAT_GPUCSR_Transpose, MAT_GPUCSR_HaloBegin, MAT_GPUCSR_HaloEnd, MAT_GPUCSR_Update, MAT_GPUCSR_MultMany, MAT_GPUCSR_Factor, MAT_GPUCSR_Numeric, MAT_GPUCSR_Sparse;
PETSC_INTERN struct _MatOps MatGPUCSRParentOps_Private[2]; /* operations of MATSEQAIJ and of MATMPIAIJ, copied from the matrix that got our type last */

PETSC_INTERN PetscErrorCode MatDuplicate_GPUCSR(Mat, MatDuplicateOption, Mat *);
PETSC_INTERN PetscErrorCode MatDuplicate_GPUCSRStream(Mat, MatDuplicateOption, Mat *);
PETSC_INTERN PetscErrorCode MatDestroy_MPIAIJGPUCSR(Mat);

/* Tests the operation instead of the type name, because MatGPUCSRExchangeTypeName_Private() exchanges the name for some time.  The destroy operation would
   not do: MatCreateSubMatrices() replaces it in its results. */
static inline PetscBool MatGPUCSRIs_Private(Mat A)
{
  return (PetscBool)(A->ops->duplicate == MatDuplicate_GPUCSR && A->spptr);
}

/* Tells whether the matrix has a Mat_GPUCSR: it is of type gpucsr or gpucsrstream. */
static inline PetscBool MatGPUCSRHasData_Private(Mat A)
{
  return (PetscBool)((A->ops->duplicate == MatDuplicate_GPUCSR || A->ops->duplicate == MatDuplicate_GPUCSRStream) && A->spptr);
}

/* Gets the operations of the parent type.  MatHeaderMerge() can call our operations on a matrix without spptr, and can leave them in one. */
static inline const struct _MatOps *MatGPUCSRBase_Private(Mat A)
{
  return A->spptr ? &((Mat_GPUCSR *)A->spptr)->base : &MatGPUCSRParentOps_Private[A->ops->destroy == MatDestroy_MPIAIJGPUCSR];
}

/* gpucsrbase.c: data, options and buffers of both types */
PETSC_INTERN PetscErrorCode MatGPUCSRGetData_Private(Mat, Mat_GPUCSR **); /* raises an error that names the type of the matrix if it is not gpucsr */
PETSC_INTERN PetscErrorCode MatGPUCSRCheckAssembled_Private(Mat);
PETSC_INTERN PetscErrorCode MatGPUCSRIsSymmetric_Private(Mat, PetscBool *); /* whether the matrix is known to be symmetric, so that it is its own transpose */
PETSC_INTERN PetscErrorCode MatGPUCSRSetOptions_Private(Mat, const MatGPUCSROptions *);
PETSC_INTERN PetscErrorCode MatGPUCSRReserve_Private(GpDev, const char what[], size_t n, MatGPUCSRBuffer *);

/* gpucsrcolor.c: orders the rows of a square pattern by the colours of a greedy colouring, and by row numbers within a colour.  The rows of colour c are order[start[c]] to order[start[c + 1] - 1].
   symmetric: the pattern is known to be symmetric; order: [n], of the caller; start: the caller frees it by PetscFree() */
PETSC_INTERN PetscErrorCode MatGPUCSRColorRows_Private(PetscInt n, const PetscInt rowptr[], const PetscInt col[], PetscBool symmetric, PetscInt *colors, PetscInt **start, PetscInt order[]);

/* gpucsrvec.c: arrays of vectors for a product.  mode: 'r' read, 'w' write, 'b' both; space: 0 column space, 1 row space */
PETSC_INTERN PetscErrorCode MatGPUCSRVecGetArray_Private(GpDev, Vec, char mode, MatGPUCSRVec *);
PETSC_INTERN PetscErrorCode MatGPUCSRVecRestoreArray_Private(Vec, char mode, MatGPUCSRVec *);
PETSC_INTERN PetscErrorCode MatGPUCSRVecStage_Private(Mat, GpDev, MatGPUCSRBuffer *, PetscInt n, PetscBool copy, MatGPUCSRVec *); /* a device address for an array in host memory */
PETSC_INTERN PetscErrorCode MatGPUCSRVecUnstage_Private(Mat, GpDev, PetscInt n, const MatGPUCSRVec *);                            /* downloads the values of such an array */
PETSC_INTERN PetscErrorCode MatGPUCSRVecIsOnDevice_Private(Vec, PetscBool *);
PETSC_INTERN PetscErrorCode MatGPUCSRVecGetRead_Private(Mat, PetscInt space, Vec, MatGPUCSRVec *); /* restored by MatGPUCSRVecRestoreArray_Private() with the mode 'r' */
PETSC_INTERN PetscErrorCode MatGPUCSRVecGetResult_Private(Mat, PetscInt space, Vec y, Vec z, MatGPUCSRVec *y_, MatGPUCSRVec *z_);
PETSC_INTERN PetscErrorCode MatGPUCSRVecRestoreResult_Private(Mat, Vec y, Vec z, MatGPUCSRVec *y_, MatGPUCSRVec *z_);

/* gpucsrupload.c: upload of a sequential matrix */
PETSC_INTERN PetscErrorCode MatSeqAIJGPUCSRFitsSingle_Private(Mat, PetscBool *);             /* whether single precision holds every value */
PETSC_INTERN PetscErrorCode MatSeqAIJGPUCSRUpload_Private(Mat, PetscBool transpose, GpOp *); /* uploads if the image is stale; transpose: also builds that of the transpose */
PETSC_INTERN PetscErrorCode MatSeqAIJGPUCSRGetCurrent_Private(Mat, GpOp *);                  /* the image if it is current and on the device, else NULL */

/* gpucsrnotice.c: rounding by the conversion to single precision */
PETSC_INTERN PetscErrorCode MatGPUCSRGetOperator_Private(Mat, PetscBool transpose, GpOp *); /* seq only: uploads if necessary, and prints the notice if it is due */
PETSC_INTERN PetscErrorCode MatGPUCSRAddRounding_Private(Mat block, GpOp, MatGPUCSRRounding *);
PETSC_INTERN PetscErrorCode MatGPUCSRIsNoticeDue_Private(Mat, PetscBool *);
PETSC_INTERN PetscErrorCode MatGPUCSRPrintNotice_Private(Mat, PetscBool here, const char who[], const MatGPUCSRRounding *);

/* gpucsrupdate.c: operations that change the host values and the device image in the same way */
PETSC_INTERN PetscErrorCode MatGPUCSRSetUpdates_Private(Mat);
PETSC_INTERN PetscErrorCode MatGPUCSRResetUpdates_Private(Mat);
PETSC_INTERN PetscErrorCode MatSeqAIJGPUCSRUpdate_Private(Mat, const GpCsrUpdate *, GpOp other, PetscInt raises);
PETSC_INTERN PetscErrorCode MatSeqAIJGPUCSRUpdateDiagonalScale_Private(Mat, Vec left, Vec right, PetscInt raises);

/* gpucsrcoo.c: MatSetPreallocationCOO() and MatSetValuesCOO() */
PETSC_INTERN PetscErrorCode MatGPUCSRSetCOO_Private(Mat);
PETSC_INTERN PetscErrorCode MatGPUCSRResetCOO_Private(Mat);
PETSC_INTERN PetscErrorCode MatGPUCSRCooReset_Private(MatGPUCSRCoo); /* frees everything except the indices */
PETSC_INTERN PetscErrorCode MatGPUCSRCooDestroy_Private(MatGPUCSRCoo *);
PETSC_INTERN PetscErrorCode MatSeqAIJGPUCSRCooSetUp_Private(Mat, PetscCount n, const PetscInt i[], const PetscInt j[], GpCoo *);
PETSC_INTERN PetscErrorCode MatSeqAIJGPUCSRCooAssemble_Private(Mat, const GpCoo *, PetscCount n, const PetscScalar entries[], const double more[]);

#endif
