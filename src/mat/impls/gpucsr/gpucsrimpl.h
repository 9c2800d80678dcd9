/* What the files of the Mat type share.  The host AIJ underneath stays the truth; the device image is a cache of it. */
#ifndef GPUCSRIMPL_H
#define GPUCSRIMPL_H

#include <petsc/private/matimpl.h>
#include <petscsf.h>
#include "gpucsr.h"
#include "gpucsrcompat.h"
#include "mat/impls/gpucsr/operator/gpoperator.h"
#include "sys/gpucsrexchange.h"

/* the fields of MatGPUCSROptions, by the kinds that gpucsroptions.def explains */
typedef PetscInt  MatGPUCSR_CHOICE;
typedef PetscReal MatGPUCSR_BYTES;
typedef char      MatGPUCSR_TYPE[64];
typedef PetscBool MatGPUCSR_VIEWER;

typedef struct {
#define OPTION(name, kind, choices, setter, help) MatGPUCSR_##kind name;
#include "mat/impls/gpucsr/gpucsroptions.def"
#undef OPTION
  unsigned given; /* bits MAT_GPUCSR_GIVEN(name) of the options that a setter or the database has set */
} MatGPUCSROptions;

enum {
#define OPTION(name, kind, choices, setter, help) MAT_GPUCSR_OPTION_##name,
#include "mat/impls/gpucsr/gpucsroptions.def"
#undef OPTION
  MAT_GPUCSR_OPTIONS
};

#define MAT_GPUCSR_GIVEN(name) (1u << MAT_GPUCSR_OPTION_##name)

/* which host arrays the image was made of: same key, same pattern; same state too, same values */
typedef struct {
  Mat              owner; /* MatHeaderReplace() gives an image to a matrix whose state says nothing about it */
  PetscObjectState state, nonzerostate;
  const PetscInt  *rowptr, *col;
  PetscInt         nnz;
} MatGPUCSRKey;

/* what the conversion to single precision did to the values; sums over matrices */
typedef struct {
  double nnz, rounded, lost; /* lost: of the rounded ones, those that kept no correct decimal digit */
  double worst;              /* largest relative change */
} MatGPUCSRRounding;

/* whether single precision holds all values of a seq matrix; of a parallel one, only the states for which its ranks last reduced */
typedef struct {
  Mat              owner; /* NULL: not known; MatHeaderReplace() gives it to another matrix */
  PetscObjectState state, nonzerostate;
  PetscBool        fits;
} MatGPUCSRFits;

/* One side of the exchange of a parallel product: the entries of x that other ranks need (the boundary) or those that this one
   needs (the ghosts).  They lie in the order of the ranks that they go to or come from, so that every rank's share is one piece;
   an entry that several ranks need stands in the boundary several times. */
typedef struct {
  PetscInt n;
  GpPeers  peers;  /* whose share begins where */
  double  *host;   /* pinned memory, for the halo type host */
  double  *device; /* the same entries there */
} MatGPUCSRHaloSide;

/* places in the timeline of a product, each an event on one of the device's two streams */
typedef enum {
  MAT_GPUCSR_MARK_BEGIN,   /* nothing done yet */
  MAT_GPUCSR_MARK_PACKED,  /* what leaves is packed */
  MAT_GPUCSR_MARK_OUT,     /* second stream: it has reached the host, where it must */
  MAT_GPUCSR_MARK_LOCAL,   /* the diagonal block has multiplied */
  MAT_GPUCSR_MARK_ARRIVED, /* second stream: what comes from others is on the device */
  MAT_GPUCSR_MARK_END,     /* and has been used */
  MAT_GPUCSR_MARKS
} MatGPUCSRMark;

/* the exchange of a parallel product, for one pattern */
typedef struct {
  PetscObjectState   nonzerostate; /* of the parallel matrix it was made for */
  PetscObjectId      offdiagonal;  /* and its off-diagonal block */
  MatGPUCSRHaloType  wanted, type; /* as the option has it, and as it is: never auto */
  char               why[512];     /* it is that type */
  GpDev              dev;
  MPI_Comm           comm;
  PetscMPIInt        tag;
  GpNccl             nccl;
  MatGPUCSRHaloSide  side[2];              /* 0: the boundary, 1: the ghosts */
  int32_t           *index, *device_index; /* of the boundary entries in x, on the host and on the device */
  MPI_Request       *request;              /* receives, then sends */
  PetscInt           room;                 /* values that the buffers hold for an entry: 1, or those of so many vectors, side by side */
  MatGPUCSRHaloSide *from, *to;            /* of what is under way: */
  PetscInt           many;                 /* values an entry */
  PetscBool          onhost;               /* it was packed there */
  PetscMPIInt        nreceives, nsends;
  GpDevEvent         mark[MAT_GPUCSR_MARKS];
  PetscBool          timed; /* keep all marks, not only those that order the streams */
} MatGPUCSRHalo;

/* the rows of every row's node, for MatMultDiagonalBlock() */
typedef struct {
  PetscObjectState nonzerostate;
  PetscInt         m;
  int32_t         *span; /* [2 m] device memory: from, to */
  PetscLogDouble   flops;
} MatGPUCSRNodes;

/* the first row of a file or of arrays that cannot be */
typedef struct {
  PetscBool found, falls; /* falls: its row pointers do; else it has a column out of range */
  PetscInt  row, column;
} MatGPUCSRDamage;

typedef struct _n_MatGPUCSRCoo *MatGPUCSRCoo;  /* gpucsrcoo.h */
typedef struct _n_MatGPUCSRMany MatGPUCSRMany; /* gpucsrmany.h: what products with several vectors keep */

typedef struct {
  struct _MatOps base;                                                                            /* the parent type's operations */
  PetscErrorCode (*preallocate)(Mat, PetscInt, const PetscInt[], PetscInt, const PetscInt[]);     /* mpi: the parent's */
  PetscErrorCode (*preallocatecsr)(Mat, const PetscInt[], const PetscInt[], const PetscScalar[]); /* mpi: the parent's */
  PetscErrorCode (*preallocatecoo)(Mat, PetscCount, PetscInt[], PetscInt[]);                      /* the parent's */
  PetscErrorCode (*setvaluescoo)(Mat, const PetscScalar[], InsertMode);
  MatGPUCSRDamage *loading; /* mpi: where to note what is wrong, while MatLoad() runs */
  PetscBool        mpi;
  PetscBool        setvectype; /* MatGPUCSRSetVecType() has replaced the parent's type of vectors */
  PetscBool        wide;       /* storage auto: a block of this parallel matrix, on some rank, needs double precision */
  PetscBool        noticed;    /* no notice about rounded values is due any more */
  MatGPUCSRFits    fits;
  MatGPUCSROptions options;
  GpDev            dev;
  GpOp             op;        /* seq */
  MatGPUCSRKey     key;       /* seq */
  GpOpPlace        place;     /* seq: of this block in the matrix that the user made */
  PetscBool        typed;     /* seq: by MatSetType(), so it is no block of a parallel matrix that is not ours */
  Vec             *factors;   /* seq: of a MatDiagonalScale() of the whole matrix, which puts them here and sees to the image */
  double          *staged[2]; /* device memory for vectors that live on the host: column space, row space */
  PetscInt         nstaged[2];
  MatGPUCSRHalo   *halo; /* mpi */
  MatGPUCSRCoo     coo;  /* after MatSetPreallocationCOO() */
  MatGPUCSRMany   *many;
  MatGPUCSRNodes   nodes; /* seq */
} Mat_GPUCSR;

/* a vector as a product sees it */
typedef struct {
  double   *device;  /* where the kernels read or write */
  double   *host;    /* where the values stand on the host, NULL when only the device has them */
  PetscBool staged;  /* device is a copy in our own buffer */
  PetscBool memtype; /* taken with its memory type, to be given back so */
  PetscBool gpu;     /* a VECGPU's own device memory */
} MatGPUCSRVec;

PETSC_INTERN PetscLogEvent MAT_GPUCSR_Upload, MAT_GPUCSR_Transpose, MAT_GPUCSR_HaloBegin, MAT_GPUCSR_HaloEnd, MAT_GPUCSR_Update, MAT_GPUCSR_MultMany;

/* gpucsr.c: both types */
PETSC_INTERN PetscErrorCode        MatGPUCSRIs_Private(Mat, PetscBool *);
PETSC_INTERN PetscErrorCode        MatGPUCSRGetData_Private(Mat, Mat_GPUCSR **); /* or an error that names the type */
PETSC_INTERN const struct _MatOps *MatGPUCSRBase_Private(Mat);                   /* the parent's operations */
PETSC_INTERN PetscErrorCode        MatGPUCSRAttach_Private(Mat, MatType base);
PETSC_INTERN PetscErrorCode        MatGPUCSRDetach_Private(Mat, MatType base);
PETSC_INTERN PetscErrorCode        MatCreate_SeqAIJGPUCSR(Mat);
PETSC_INTERN PetscErrorCode        MatGPUCSRRefresh_Private(Mat, PetscBool transpose, GpOp *);

PETSC_INTERN PetscErrorCode MatGPUCSRCopyOptions_Private(const MatGPUCSROptions *, Mat);

/* gpucsrstorage.c */
PETSC_INTERN PetscErrorCode MatGPUCSRGetOperator_Private(Mat, PetscBool transpose, GpOp *);                               /* of a seq matrix */
PETSC_INTERN PetscErrorCode MatGPUCSRGetBlockOperators_Private(Mat, Mat const block[2], PetscBool transpose, GpOp op[2]); /* of a parallel one; collective */
PETSC_INTERN PetscErrorCode MatGPUCSRChoosePrecision_Private(Mat, PetscBool refill, GpPrec *);
PETSC_INTERN PetscErrorCode MatGPUCSRGetRounding_Private(Mat block, GpOp, MatGPUCSRRounding *); /* adds that of a seq matrix */

/* gpucsrload.c: loading, and preallocation from compressed rows, refuse columns out of range */
PETSC_INTERN PetscErrorCode MatLoad_GPUCSR(Mat, PetscViewer);
PETSC_INTERN PetscErrorCode MatMPIAIJSetPreallocationCSR_MPIAIJGPUCSR(Mat, const PetscInt[], const PetscInt[], const PetscScalar[]);

/* mpigpucsr.c */
PETSC_INTERN PetscErrorCode MatCreate_MPIAIJGPUCSR(Mat);
PETSC_INTERN PetscErrorCode MatGPUCSRAttach_MPI_Private(Mat);
PETSC_INTERN PetscErrorCode MatGPUCSRDetach_MPI_Private(Mat);
PETSC_INTERN PetscErrorCode MatGPUCSRGetBlocks_Private(Mat, Mat *diagonal, Mat *offdiagonal, const PetscInt *columns[]);

/* mpigpucsrhalo.c: makes and keeps the exchange */
PETSC_INTERN const char *const MatGPUCSRHaloTypes_Private[4];
PETSC_INTERN PetscErrorCode    MatGPUCSRGetHalo_Private(Mat, Mat offdiagonal, const PetscInt columns[], MatGPUCSRHalo **); /* collective */
PETSC_INTERN PetscErrorCode    MatGPUCSRFindHalo_Private(Mat, MatGPUCSRHalo **);
PETSC_INTERN PetscErrorCode    MatGPUCSRHaloCreateFromPeers_Private(Mat, GpPeers peers[2], int32_t **index, MatGPUCSRHalo **); /* collective: of entries that are no vector's; takes over the arrays */
PETSC_INTERN PetscErrorCode    MatGPUCSRHaloDestroy_Private(MatGPUCSRHalo **);

/* mpigpucsrexchange.c: Begin packs the boundary entries of x or, without an x, takes what stands in the ghosts on the device; then
   the local product is launched; End lets them cross meanwhile, and the other side has arrived for all that follows on the
   device's stream.  For several vectors at once: Reserve, pack (k values of the first entry, then those of the next), Start. */
PETSC_INTERN PetscErrorCode MatGPUCSRHaloBegin_Private(MatGPUCSRHalo *, const MatGPUCSRVec *x);
PETSC_INTERN PetscErrorCode MatGPUCSRHaloEnd_Private(MatGPUCSRHalo *);
PETSC_INTERN PetscErrorCode MatGPUCSRHaloReserve_Private(MatGPUCSRHalo *, PetscInt many, PetscBool onhost); /* buffers free to be written: on the host too? */
PETSC_INTERN PetscErrorCode MatGPUCSRHaloStart_Private(MatGPUCSRHalo *, int side, PetscInt many, PetscBool onhost);
PETSC_INTERN PetscErrorCode MatGPUCSRHaloMark_Private(MatGPUCSRHalo *, MatGPUCSRMark);

/* mpigpucsrview.c */
PETSC_INTERN PetscErrorCode MatGPUCSRViewHalo_Private(Mat, PetscViewer);
PETSC_INTERN PetscErrorCode MatGPUCSRHaloViewFromOptions_Private(Mat);

/* gpucsrmult.c, mpigpucsrmult.c: y = A x, or y = A x + z, or the same with the transpose */
PETSC_INTERN PetscErrorCode MatGPUCSRProduct_Seq(Mat, PetscBool transpose, Vec x, Vec z, Vec y);
PETSC_INTERN PetscErrorCode MatGPUCSRProduct_MPI(Mat, PetscBool transpose, Vec x, Vec z, Vec y);
PETSC_INTERN PetscErrorCode MatGPUCSRSetProducts_Private(Mat);
PETSC_INTERN PetscErrorCode MatGPUCSRResetProducts_Private(Mat);
PETSC_INTERN PetscErrorCode MatGPUCSRIsSymmetric_Private(Mat, PetscBool *);
PETSC_INTERN PetscErrorCode MatGPUCSRMult_Private(GpOp, PetscBool transpose, const double *x, const double *z, double *y); /* with its time */

/* gpucsrmany.c: several vectors at once */
PETSC_INTERN PetscErrorCode MatGPUCSRManyDestroy_Private(GpDev, MatGPUCSRMany **);

/* gpucsrvec.c: vectors in and out of a product; an array where it is, mode 'r', 'w' or 'b' */
PETSC_INTERN PetscErrorCode MatGPUCSRVecGetArray_Private(GpDev, Vec, char mode, MatGPUCSRVec *);
PETSC_INTERN PetscErrorCode MatGPUCSRVecRestoreArray_Private(Vec, char mode, MatGPUCSRVec *);
PETSC_INTERN PetscErrorCode MatGPUCSRVecIsOnDevice_Private(Vec, PetscBool *);
PETSC_INTERN PetscErrorCode MatGPUCSRVecGetRead_Private(Mat, PetscInt space, Vec, MatGPUCSRVec *);
PETSC_INTERN PetscErrorCode MatGPUCSRVecRestoreRead_Private(Vec, MatGPUCSRVec *);
PETSC_INTERN PetscErrorCode MatGPUCSRVecGetResult_Private(Mat, PetscInt space, Vec y, Vec z, MatGPUCSRVec *y_, MatGPUCSRVec *z_);
PETSC_INTERN PetscErrorCode MatGPUCSRVecRestoreResult_Private(Mat, Vec y, Vec z, MatGPUCSRVec *y_, MatGPUCSRVec *z_);

/* gpucsrupdate.c: operations that change the host's values and the device's alike */
PETSC_INTERN PetscErrorCode MatGPUCSRSetUpdates_Private(Mat);
PETSC_INTERN PetscErrorCode MatGPUCSRResetUpdates_Private(Mat);
PETSC_INTERN PetscErrorCode MatGPUCSRGetCurrent_Private(Mat, GpOp *);
PETSC_INTERN PetscErrorCode MatGPUCSRFollow_Private(Mat, const GpCsrUpdate *, PetscInt raises);

/* gpucsrdiagonal.c */
PETSC_INTERN PetscErrorCode MatGPUCSRSetDiagonals_Private(Mat);
PETSC_INTERN PetscErrorCode MatGPUCSRResetDiagonals_Private(Mat);
PETSC_INTERN PetscErrorCode MatGPUCSRSetDiagonalBlock_Private(Mat); /* after PETSc has put its own there */
PETSC_INTERN PetscErrorCode MatGPUCSRNodesDestroy_Private(GpDev, MatGPUCSRNodes *);

/* gpucsrcoo.c */
PETSC_INTERN PetscErrorCode MatGPUCSRSetCOO_Private(Mat);
PETSC_INTERN PetscErrorCode MatGPUCSRResetCOO_Private(Mat);
PETSC_INTERN PetscErrorCode MatGPUCSRCooDestroy_Private(MatGPUCSRCoo *);

/* gpucsroptions.c, gpucsrset.c */
PETSC_INTERN const char *const MatGPUCSRStorages_Private[3];
PETSC_INTERN const char *const MatGPUCSRKernels_Private[GP_KERNELS + 1]; /* auto, then the kernel table's names */
PETSC_INTERN PetscErrorCode    MatGPUCSRCheckOptions_Private(void);
PETSC_INTERN PetscErrorCode    MatGPUCSRGetOptions_Private(Mat);
PETSC_INTERN PetscErrorCode    MatGPUCSRSetOptions_Private(Mat, const MatGPUCSROptions *);
PETSC_INTERN PetscBool         MatGPUCSRIsLimit_Private(PetscReal bytes);
#define MAT_GPUCSR_LIMIT_WANTED "give a number of bytes, 0 or more, or -1 for no limit"
PETSC_INTERN PetscErrorCode MatSetFromOptions_GPUCSR(Mat, GpOptionItems);

/* gpucsrconvert.c */
PETSC_INTERN PetscInt       MatGPUCSRStayPlain; /* not zero: -mat_seqaij_type makes nothing ours just now */
PETSC_INTERN PetscErrorCode MatGPUCSRAttachTo_Private(Mat);
PETSC_INTERN PetscErrorCode MatConvert_GPUCSR(Mat, MatType, MatReuse, Mat *);
PETSC_INTERN PetscErrorCode MatConvertFrom_GPUCSR(Mat, MatType, MatReuse, Mat *);
PETSC_INTERN PetscErrorCode MatConvert_SeqAIJ_SeqAIJGPUCSR(Mat, MatType, MatReuse, Mat *);

/* gpucsrview.c, gpucsrproduct.c, gpucsrdense.c, gpucsrfactor.c */
PETSC_INTERN PetscErrorCode MatProductSetFromOptions_GPUCSR_Dense(Mat, PetscBool *found);
PETSC_INTERN PetscErrorCode MatGPUCSRSetFactors_Private(Mat);
PETSC_INTERN PetscErrorCode MatGPUCSRRegisterFactors_Private(void);
PETSC_INTERN PetscErrorCode MatView_GPUCSR(Mat, PetscViewer);
PETSC_INTERN PetscErrorCode MatProductSetFromOptions_GPUCSR_AnyType(Mat);
PETSC_INTERN PetscErrorCode MatGPUCSRPresent_Private(Mat, char **own);
PETSC_INTERN PetscErrorCode MatGPUCSRPresentAgain_Private(Mat, char *own);

#endif
