/* Declarations shared by the files of the matrix types seqaijgpucsr and mpiaijgpucsr.
   The values of the parent type AIJ on the host are authoritative; the device image is a copy of them. */
#ifndef GPUCSRIMPL_H
#define GPUCSRIMPL_H

#include <petsc/private/matimpl.h>
#include <petscsf.h>
#include "gpucsr.h"
#include "gpucsrcompat.h"
#include "mat/impls/gpucsr/operator/gpoperator.h"
#include "sys/gpucsrexchange.h"

/* Types of the members of MatGPUCSROptions, one for each kind of option in gpucsroptions.def. */
typedef PetscInt  MatGPUCSR_CHOICE;
typedef PetscReal MatGPUCSR_BYTES;
typedef char      MatGPUCSR_TYPE[64];
typedef PetscBool MatGPUCSR_VIEWER;

typedef struct {
#define OPTION(name, kind, choices, setter, help) MatGPUCSR_##kind name;
#include "mat/impls/gpucsr/image/gpucsroptions.def"
#undef OPTION
  unsigned given; /* bits MAT_GPUCSR_GIVEN(name) of the options that were set by a setter or by the options database */
} MatGPUCSROptions;

enum {
#define OPTION(name, kind, choices, setter, help) MAT_GPUCSR_OPTION_##name,
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

/* One side of a halo exchange: the boundary entries or the ghost entries of this rank.
   The entries are stored by ascending rank of the peer, so that each message is contiguous.  A boundary entry that several ranks
   need is stored once for each of them. */
typedef struct {
  PetscInt n;      /* number of entries */
  GpPeers  peers;  /* ranks with which entries are exchanged, and the offset of the first entry of each */
  double  *host;   /* entries in pinned memory, one value per vector and entry; NULL unless the halo type is host */
  double  *device; /* entries in device memory, one value per vector and entry */
} MatGPUCSRHaloSide;

/* Points in the timeline of a parallel product.  Each is an event on the first or on the second stream of the device. */
typedef enum {
  MAT_GPUCSR_MARK_BEGIN,   /* first stream: start of the product */
  MAT_GPUCSR_MARK_PACKED,  /* first stream: the entries to be sent are packed */
  MAT_GPUCSR_MARK_OUT,     /* second stream, halo type host only: the packed entries are in pinned memory */
  MAT_GPUCSR_MARK_LOCAL,   /* first stream: the product with the diagonal block is complete */
  MAT_GPUCSR_MARK_ARRIVED, /* second stream: the received entries are in device memory */
  MAT_GPUCSR_MARK_END,     /* first stream: the whole product is complete */
  MAT_GPUCSR_MARKS
} MatGPUCSRMark;

/* Halo exchange of a parallel product, for one pattern; or the exchange of entries by MatSetValuesCOO(). */
typedef struct {
  PetscObjectState   nonzerostate; /* nonzero state of the parallel matrix for which the exchange was created */
  PetscObjectId      offdiagonal;  /* object id of the off-diagonal block for which the exchange was created */
  MatGPUCSRHaloType  wanted, type; /* halo type that the option requests; halo type in use, never auto */
  char               why[512];     /* reason for the halo type in use */
  GpDev              dev;
  MPI_Comm           comm;
  PetscMPIInt        tag;
  GpNccl             nccl;
  MatGPUCSRHaloSide  side[2];              /* [0] boundary entries, [1] ghost entries */
  int32_t           *index, *device_index; /* [side[0].n] local indices in x of the boundary entries, in host memory and in device memory */
  MPI_Request       *request;              /* requests of the receives, then of the sends */
  PetscInt           room;                 /* values per entry for which the buffers are allocated: the largest number of vectors exchanged together */
  MatGPUCSRHaloSide *from, *to;            /* exchange in progress: sides that are sent from and received into */
  PetscInt           many;                 /* exchange in progress: values per entry */
  PetscBool          onhost;               /* exchange in progress: the entries were packed on the host */
  PetscMPIInt        nreceives, nsends;    /* exchange in progress: number of MPI receives and sends */
  GpDevEvent         mark[MAT_GPUCSR_MARKS];
  PetscBool          timed; /* record all marks, not only those that order the streams */
} MatGPUCSRHalo;

/* The node of each row, for MatMultDiagonalBlock().  A node is a group of consecutive rows with one pattern (MatInodeGetInodeSizes()). */
typedef struct {
  PetscObjectState nonzerostate; /* nonzero state of the matrix for which the nodes were uploaded */
  PetscInt         m;            /* number of rows */
  int32_t         *span;         /* [2 m] device memory: for each row the first row of its node, and the row after the last one */
  PetscLogDouble   flops;        /* flops of one product */
} MatGPUCSRNodes;

/* The first invalid row of a file, or of arrays given for preallocation. */
typedef struct {
  PetscBool found, falls; /* whether there is an invalid row; whether its row pointers descend (otherwise a column index is out of range) */
  PetscInt  row, column;  /* global row; column index if that is out of range */
} MatGPUCSRDamage;

typedef struct _n_MatGPUCSRCoo *MatGPUCSRCoo;  /* gpucsrcoo.h */
typedef struct _n_MatGPUCSRMany MatGPUCSRMany; /* gpucsrmany.h: buffers of products with several vectors */

typedef struct {
  struct _MatOps base;                                                                            /* operations of the parent type */
  PetscErrorCode (*preallocate)(Mat, PetscInt, const PetscInt[], PetscInt, const PetscInt[]);     /* mpi only: function of the parent type */
  PetscErrorCode (*preallocatecsr)(Mat, const PetscInt[], const PetscInt[], const PetscScalar[]); /* mpi only: function of the parent type */
  PetscErrorCode (*preallocatecoo)(Mat, PetscCount, PetscInt[], PetscInt[]);                      /* function of the parent type */
  PetscErrorCode (*setvaluescoo)(Mat, const PetscScalar[], InsertMode);                           /* function of the parent type */
  MatGPUCSRDamage *loading;                                                                       /* mpi only, while MatLoad() runs: receives the first invalid row of the file; otherwise NULL */
  PetscBool        mpi;                                                                           /* the type is mpiaijgpucsr */
  PetscBool        setvectype;                                                                    /* MatGPUCSRSetVecType() has replaced the vector type of the parent type */
  PetscBool        wide;                                                                          /* storage auto: a block of this parallel matrix, on some rank, needs double precision */
  PetscBool        noticed;                                                                       /* the notice about rounded values was given, or is not wanted for this matrix */
  MatGPUCSRFits    fits;                                                                          /* whether single precision holds the values */
  MatGPUCSROptions options;
  GpDev            dev;
  GpOp             op;         /* seq only: the device image, NULL before the first upload */
  MatGPUCSRKey     key;        /* seq only: host arrays of the image; zero if the image is invalid */
  GpOpPlace        place;      /* seq only: global position of this block, for error messages */
  PetscBool        typed;      /* seq only: the type was set by MatSetType(); excludes the blocks of a plain MATMPIAIJ */
  Vec             *factors;    /* seq only, while MatDiagonalScale() of the parallel matrix runs: receives its left [0] and right [1] vector for this block */
  double          *staged[2];  /* device buffers for vectors in host memory: [0] column space, [1] row space */
  PetscInt         nstaged[2]; /* number of entries of each buffer */
  MatGPUCSRHalo   *halo;       /* mpi only: the exchange of products */
  MatGPUCSRCoo     coo;        /* NULL before MatSetPreallocationCOO() */
  MatGPUCSRMany   *many;       /* NULL before the first product with several vectors that needs buffers */
  MatGPUCSRNodes   nodes;      /* seq only */
} Mat_GPUCSR;

/* The array of a vector that is an operand of a product. */
typedef struct {
  double   *device;  /* address that the kernels read or write */
  double   *host;    /* address of the values on the host, NULL if only the device has them */
  PetscBool staged;  /* device points to a buffer of the matrix (Mat_GPUCSR.staged) */
  PetscBool memtype; /* obtained, and to be restored, by a function ending in AndMemType() */
  PetscBool gpu;     /* the vector is a VECGPU; device is its own memory */
} MatGPUCSRVec;

PETSC_INTERN PetscLogEvent MAT_GPUCSR_Upload, MAT_GPUCSR_Transpose, MAT_GPUCSR_HaloBegin, MAT_GPUCSR_HaloEnd, MAT_GPUCSR_Update, MAT_GPUCSR_MultMany;

/* gpucsr.c: creation and destruction of both types, upload */
PETSC_INTERN PetscErrorCode        MatGPUCSRIs_Private(Mat, PetscBool *);
PETSC_INTERN PetscErrorCode        MatGPUCSRGetData_Private(Mat, Mat_GPUCSR **); /* raises an error that names the type of the matrix if it is not gpucsr */
PETSC_INTERN const struct _MatOps *MatGPUCSRBase_Private(Mat);                   /* operations of the parent type */
PETSC_INTERN PetscErrorCode        MatGPUCSRAttach_Private(Mat, MatType base);
PETSC_INTERN PetscErrorCode        MatGPUCSRDetach_Private(Mat, MatType base);
PETSC_INTERN PetscErrorCode        MatCreate_SeqAIJGPUCSR(Mat);
PETSC_INTERN PetscErrorCode        MatGPUCSRRefresh_Private(Mat, PetscBool transpose, GpOp *);

PETSC_INTERN PetscErrorCode MatGPUCSRCopyOptions_Private(const MatGPUCSROptions *, Mat);

/* gpucsrstorage.c: precision of the values on the device */
PETSC_INTERN PetscErrorCode MatGPUCSRGetOperator_Private(Mat, PetscBool transpose, GpOp *);                               /* seq only: the current device image */
PETSC_INTERN PetscErrorCode MatGPUCSRGetBlockOperators_Private(Mat, Mat const block[2], PetscBool transpose, GpOp op[2]); /* mpi only, collective: the current images of both blocks */
PETSC_INTERN PetscErrorCode MatGPUCSRChoosePrecision_Private(Mat, PetscBool refill, GpPrec *);
PETSC_INTERN PetscErrorCode MatGPUCSRGetRounding_Private(Mat block, GpOp, MatGPUCSRRounding *); /* adds the rounding of a seq matrix */

/* gpucsrload.c: MatLoad() and preallocation from compressed rows, with a check of row pointers and columns */
PETSC_INTERN PetscErrorCode MatLoad_GPUCSR(Mat, PetscViewer);
PETSC_INTERN PetscErrorCode MatMPIAIJSetPreallocationCSR_MPIAIJGPUCSR(Mat, const PetscInt[], const PetscInt[], const PetscScalar[]);

/* mpigpucsr.c: creation of mpiaijgpucsr, its blocks */
PETSC_INTERN PetscErrorCode MatCreate_MPIAIJGPUCSR(Mat);
PETSC_INTERN PetscErrorCode MatGPUCSRAttach_MPI_Private(Mat);
PETSC_INTERN PetscErrorCode MatGPUCSRDetach_MPI_Private(Mat);
PETSC_INTERN PetscErrorCode MatGPUCSRGetBlocks_Private(Mat, Mat *diagonal, Mat *offdiagonal, const PetscInt *columns[]);

/* mpigpucsrhalo.c: creates and stores the halo exchange */
PETSC_INTERN const char *const MatGPUCSRHaloTypes_Private[4];
PETSC_INTERN PetscErrorCode    MatGPUCSRGetHalo_Private(Mat, Mat offdiagonal, const PetscInt columns[], MatGPUCSRHalo **); /* collective */
PETSC_INTERN PetscErrorCode    MatGPUCSRFindHalo_Private(Mat, MatGPUCSRHalo **);
PETSC_INTERN PetscErrorCode    MatGPUCSRHaloCreateFromPeers_Private(Mat, GpPeers peers[2], int32_t **index, MatGPUCSRHalo **); /* collective: of entries that are no vector's; takes over the arrays */
PETSC_INTERN PetscErrorCode    MatGPUCSRHaloDestroy_Private(MatGPUCSRHalo **);

/* mpigpucsrexchange.c: communication of a halo exchange.

   One vector: HaloBegin() packs the boundary entries of x; for x = NULL it sends the ghost entries that are in device memory.  The caller
   then launches the product with the diagonal block.  HaloEnd() communicates while that product runs.  Work that is launched on the first
   stream after HaloEnd() sees the received entries.

   Several vectors: HaloReserve(), pack (all values of the first entry, then all values of the next one), HaloStart(), launch, HaloEnd(). */
PETSC_INTERN PetscErrorCode MatGPUCSRHaloBegin_Private(MatGPUCSRHalo *, const MatGPUCSRVec *x);
PETSC_INTERN PetscErrorCode MatGPUCSRHaloEnd_Private(MatGPUCSRHalo *);
PETSC_INTERN PetscErrorCode MatGPUCSRHaloReserve_Private(MatGPUCSRHalo *, PetscInt many, PetscBool onhost); /* waits until the buffers may be overwritten; onhost: also those on the host */
PETSC_INTERN PetscErrorCode MatGPUCSRHaloStart_Private(MatGPUCSRHalo *, int side, PetscInt many, PetscBool onhost);
PETSC_INTERN PetscErrorCode MatGPUCSRHaloMark_Private(MatGPUCSRHalo *, MatGPUCSRMark);

/* mpigpucsrview.c: views of the exchange */
PETSC_INTERN PetscErrorCode MatGPUCSRViewHalo_Private(Mat, PetscViewer);
PETSC_INTERN PetscErrorCode MatGPUCSRHaloViewFromOptions_Private(Mat);

/* gpucsrmult.c, mpigpucsrmult.c: y = A x, or y = A x + z, or the same with the transpose */
PETSC_INTERN PetscErrorCode MatGPUCSRProduct_Seq(Mat, PetscBool transpose, Vec x, Vec z, Vec y);
PETSC_INTERN PetscErrorCode MatGPUCSRProduct_MPI(Mat, PetscBool transpose, Vec x, Vec z, Vec y);
PETSC_INTERN PetscErrorCode MatGPUCSRSetProducts_Private(Mat);
PETSC_INTERN PetscErrorCode MatGPUCSRResetProducts_Private(Mat);
PETSC_INTERN PetscErrorCode MatGPUCSRIsSymmetric_Private(Mat, PetscBool *);
PETSC_INTERN PetscErrorCode MatGPUCSRMult_Private(GpOp, PetscBool transpose, const double *x, const double *z, double *y); /* logs the device time */

/* gpucsrmany.c: products with several vectors */
PETSC_INTERN PetscErrorCode MatGPUCSRManyDestroy_Private(GpDev, MatGPUCSRMany **);

/* gpucsrvec.c: arrays of vectors for a product.  mode: 'r' read, 'w' write, 'b' both; space: 0 column space, 1 row space */
PETSC_INTERN PetscErrorCode MatGPUCSRVecGetArray_Private(GpDev, Vec, char mode, MatGPUCSRVec *);
PETSC_INTERN PetscErrorCode MatGPUCSRVecRestoreArray_Private(Vec, char mode, MatGPUCSRVec *);
PETSC_INTERN PetscErrorCode MatGPUCSRVecIsOnDevice_Private(Vec, PetscBool *);
PETSC_INTERN PetscErrorCode MatGPUCSRVecGetRead_Private(Mat, PetscInt space, Vec, MatGPUCSRVec *);
PETSC_INTERN PetscErrorCode MatGPUCSRVecRestoreRead_Private(Vec, MatGPUCSRVec *);
PETSC_INTERN PetscErrorCode MatGPUCSRVecGetResult_Private(Mat, PetscInt space, Vec y, Vec z, MatGPUCSRVec *y_, MatGPUCSRVec *z_);
PETSC_INTERN PetscErrorCode MatGPUCSRVecRestoreResult_Private(Mat, Vec y, Vec z, MatGPUCSRVec *y_, MatGPUCSRVec *z_);

/* gpucsrupdate.c: operations that change the host values and the device image in the same way */
PETSC_INTERN PetscErrorCode MatGPUCSRSetUpdates_Private(Mat);
PETSC_INTERN PetscErrorCode MatGPUCSRResetUpdates_Private(Mat);
PETSC_INTERN PetscErrorCode MatGPUCSRGetCurrent_Private(Mat, GpOp *);
PETSC_INTERN PetscErrorCode MatGPUCSRFollow_Private(Mat, const GpCsrUpdate *, PetscInt raises);

/* gpucsrdiagonal.c: diagonal and diagonal blocks */
PETSC_INTERN PetscErrorCode MatGPUCSRSetDiagonals_Private(Mat);
PETSC_INTERN PetscErrorCode MatGPUCSRResetDiagonals_Private(Mat);
PETSC_INTERN PetscErrorCode MatGPUCSRSetDiagonalBlock_Private(Mat); /* replaces MatMultDiagonalBlock() after PETSc has set it */
PETSC_INTERN PetscErrorCode MatGPUCSRNodesDestroy_Private(GpDev, MatGPUCSRNodes *);

/* gpucsrcoo.c: MatSetPreallocationCOO() and MatSetValuesCOO() */
PETSC_INTERN PetscErrorCode MatGPUCSRSetCOO_Private(Mat);
PETSC_INTERN PetscErrorCode MatGPUCSRResetCOO_Private(Mat);
PETSC_INTERN PetscErrorCode MatGPUCSRCooDestroy_Private(MatGPUCSRCoo *);

/* gpucsroptions.c, gpucsrset.c: options from the database and from setters */
PETSC_INTERN const char *const MatGPUCSRStorages_Private[3];
PETSC_INTERN const char *const MatGPUCSRKernels_Private[GP_KERNELS + 1]; /* "auto", then the names of the kernel table */
PETSC_INTERN PetscErrorCode    MatGPUCSRCheckOptions_Private(void);
PETSC_INTERN PetscErrorCode    MatGPUCSRGetOptions_Private(Mat);
PETSC_INTERN PetscErrorCode    MatGPUCSRSetOptions_Private(Mat, const MatGPUCSROptions *);
PETSC_INTERN PetscBool         MatGPUCSRIsLimit_Private(PetscReal bytes);
#define MAT_GPUCSR_LIMIT_WANTED "give a number of bytes, 0 or more, or -1 for no limit"
PETSC_INTERN PetscErrorCode MatSetFromOptions_GPUCSR(Mat, GpOptionItems);

/* gpucsrconvert.c: MatConvert() */
PETSC_INTERN PetscInt       MatGPUCSRStayPlain; /* greater than 0: -mat_seqaij_type seqaijgpucsr leaves new matrices plain */
PETSC_INTERN PetscErrorCode MatGPUCSRAttachTo_Private(Mat);
PETSC_INTERN PetscErrorCode MatConvert_GPUCSR(Mat, MatType, MatReuse, Mat *);
PETSC_INTERN PetscErrorCode MatConvertFrom_GPUCSR(Mat, MatType, MatReuse, Mat *);
PETSC_INTERN PetscErrorCode MatConvert_SeqAIJ_SeqAIJGPUCSR(Mat, MatType, MatReuse, Mat *);

/* gpucsrview.c, gpucsrproduct.c, gpucsrdense.c, gpucsrfactor.c: views, MatProduct, factorisation */
PETSC_INTERN PetscErrorCode MatProductSetFromOptions_GPUCSR_Dense(Mat, PetscBool *found);
PETSC_INTERN PetscErrorCode MatGPUCSRSetFactors_Private(Mat);
PETSC_INTERN PetscErrorCode MatGPUCSRRegisterFactors_Private(void);
PETSC_INTERN PetscErrorCode MatView_GPUCSR(Mat, PetscViewer);
PETSC_INTERN PetscErrorCode MatProductSetFromOptions_GPUCSR_AnyType(Mat);
PETSC_INTERN PetscErrorCode MatGPUCSRPresent_Private(Mat, char **own);
PETSC_INTERN PetscErrorCode MatGPUCSRPresentAgain_Private(Mat, char *own);

#endif
