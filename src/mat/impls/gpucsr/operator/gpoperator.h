/* The operator: a matrix and its transpose on a device, each in the format of the kernel selected for it. */
#ifndef GPOPERATOR_H
#define GPOPERATOR_H

#include "mat/impls/gpucsr/operator/gpopstream.h"
#include "mat/impls/gpucsr/spmv/csr/csrnarrow.h"
#include "mat/impls/gpucsr/selector/gpselectmany.h"
#include "sys/gpucsrsys.h"

/* Upper bound on rows, columns and nonzeros. The distance to 2^31 prevents overflow when a lane steps past the end of its row or a block past the
   last row. */
#define GP_OP_MOST (INT32_MAX - 65536)

typedef struct _n_GpOp *GpOp;

/* Whether a matrix stays in host memory as chunks that each product streams to the device. */
typedef enum {
  GP_OP_STREAM_AUTO, /* streamed if the compressed rows do not fit the free device memory */
  GP_OP_STREAM_ALWAYS,
  GP_OP_STREAM_NEVER
} GpOpStreaming;

typedef struct {
  GpPrec    prec;
  int       kernel; /* index in GpKernelTable, for A and its transpose; -1: the selector decides */
  GpSelMode mode;   /* how the selector decides */
  double    limit;  /* upper bound in bytes on the device memory of the operator, including its formats; negative: no bound */
  PetscBool adds;   /* whether most products with A add to a vector */
  PetscBool probe;  /* prec is single, and the caller does not know whether it holds every value. If it does not, or if the matrix would be streamed, GpOpSetUp() builds nothing and sets `unfit` */
  PetscBool exact;  /* single precision was selected because it holds every value exactly; no later value may be rounded */

  GpOpStreaming     streaming;
  GpOpStreamOptions chunks;    /* used if the matrix is streamed; both sides share the bound on resident chunks */
  double            reserved;  /* bytes of device memory that GP_OP_STREAM_AUTO keeps free for the other block of a parallel matrix */
  PetscBool         shared;    /* for products with the transpose, the device transposes the chunks of the matrix; there are no chunks of the transpose */
  PetscBool         lacked;    /* device memory was too small for the matrix or its transpose; the matrix is streamed therefore */
  PetscBool         transpose; /* whether the transpose is needed; GP_OP_STREAM_AUTO then adds its size */
} GpOpOptions;

/* What has been logged of a stage of streaming: the bytes of all items, the bytes of the items that were timed, and the seconds of these. */
typedef struct {
  PetscLogDouble bytes, timed_bytes, timed_seconds;
} GpOpLoggedStage;

typedef struct {
  GpOpLoggedStage fill, transfer, multiply;
} GpOpLogged;

/* one direction: A or its transpose */
typedef struct {
  GpOpStream stream; /* chunks of a streamed matrix; csr then has sizes only, and fmt is empty. NULL: not streamed, or no chunks of the transpose */
  GpOpLogged logged;
  GpCsr      csr;
  GpFmt      fmt;
  GpFeatures features;
  GpChoice   choice;
  GpFmt      many[GP_SPMM_KERNELS]; /* formats for products with several vectors; csr is NULL until a product needs the format */
  double     spread;                /* GpSelSpread(), which decides on the SpMM kernel; 0: not yet computed */
} GpOpSide;

/* Position of local row 0 and of the local columns in the user's matrix. Used in error messages. */
typedef struct {
  PetscInt        row, column; /* global row of local row 0; global column of local column 0 if columns is NULL */
  const PetscInt *columns;     /* global column of every local column; NULL: columns are consecutive */
  PetscBool       block;       /* a block of a parallel matrix */
} GpOpPlace;

struct _n_GpOp {
  GpDev          dev;
  GpOpOptions    options;
  GpOpSide       side[2];               /* 0: A; 1: its transpose */
  int64_t        nnz;                   /* number of nonzeros; that of a streamed matrix can exceed 32 bits, and side[0].csr.nnz is then INT32_MAX */
  PetscBool      has[2];                /* whether the side is built */
  int32_t       *perm;                  /* index in A of every nonzero of the transpose; kept once values have changed on one pattern */
  PetscBool      unfit;                 /* see GpOpOptions.probe */
  PetscBool      refills;               /* values have changed on one pattern */
  GpLoss         loss;                  /* rounding error of the conversion to single precision */
  PetscInt       loss_row, loss_column; /* local position of the largest rounding error; -1: there is none */
  PetscInt64     version;               /* Version of the device memory, unique among all operators. A new version means new addresses; a refill keeps the version. */
  PetscLogDouble seconds;               /* duration of the last set-up, including the transpose */
};

static inline PetscBool GpOpIsStreamed(GpOp op)
{
  return (PetscBool)(op->side[0].stream != NULL);
}

PETSC_INTERN PetscErrorCode GpOpCreate(GpDev, GpOp *);
PETSC_INTERN PetscErrorCode GpOpDestroy(GpOp *);
PETSC_INTERN PetscErrorCode GpOpSetUp(GpOp, const GpOpOptions *, PetscInt m, PetscInt n, const PetscInt rowptr[], const PetscInt col[], const double val[], const GpOpPlace *);
/* Creates an operator with the pattern and the values of another one, which has double precision, in the precision of the options. The copy is made on the device. rowptr: the host's row pointers. fits: a value that
   overflows single precision gives PETSC_FALSE, and no operator */
PETSC_INTERN PetscErrorCode GpOpSetUpCopy(GpOp, const GpOpOptions *, GpOp, const PetscInt rowptr[], PetscBool *fits);
PETSC_INTERN PetscErrorCode GpOpRefillCopy(GpOp, GpOp, PetscBool *fits);                                     /* copies new values of the other operator, whose pattern has not changed */
PETSC_INTERN PetscErrorCode GpOpSetUpRows(GpOp, const GpOpOptions *, const GpRowSource *, const GpOpFile *); /* file: has the encoded rows, or NULL; the operator closes it. Always streamed; products with the transpose use the chunks of the matrix */
PETSC_INTERN PetscErrorCode GpOpRefill(GpOp, const PetscInt rowptr[], const PetscInt col[], const double val[], const GpOpPlace *);
PETSC_INTERN PetscErrorCode GpOpRefillSide_Private(GpOp, int side); /* refills the format of one side; if the format refuses the values, selects another kernel */
PETSC_INTERN PetscErrorCode GpOpDownloadRows_Private(GpOp, int side, int32_t **);
PETSC_INTERN PetscErrorCode GpOpRefreshTranspose(GpOp); /* must be called after the values of A have changed */
/* Builds the transpose, unless it exists. If device memory is too small for it, *fits is PETSC_FALSE; if fits is NULL, this is an error. */
PETSC_INTERN PetscErrorCode GpOpSetUpTranspose(GpOp, PetscBool *fits);
PETSC_INTERN PetscBool      GpOpMayStream(GpOp);
PETSC_INTERN PetscErrorCode GpOpMult(GpOp, PetscBool transpose, const double x[], const double z[], double y[]);

/* gpoperatorupdate.c: changes values in place. The host's values have changed by one of a few operations. GpOpUpdate() changes the device's values in the
   same way if the result has the same bits as an upload; *done tells whether it has. rowptr, col and val are the host's current arrays. other is the
   matrix that GP_UPDATE_AXPY adds, otherwise NULL. */
PETSC_INTERN PetscBool      GpOpIsExact(GpOp);
PETSC_INTERN PetscErrorCode GpOpUpdate(GpOp, const GpCsrUpdate *, GpOp other, const PetscInt rowptr[], const PetscInt col[], const double val[], PetscBool *done);
PETSC_INTERN PetscErrorCode GpOpZeroEntries(GpOp);
/* multiplies k columns; entries of a column are incx or incy apart */
PETSC_INTERN PetscErrorCode GpOpMultMany(GpOp, PetscBool transpose, PetscInt k, PetscBool add, PetscInt incx, const double *const x[], PetscInt incy, double *const y[]);
PETSC_INTERN PetscErrorCode GpOpGetBytes(GpOp, PetscLogDouble *);

/* gpoperatorplace.c: positions in the user's matrix, for errors */
PETSC_INTERN PetscErrorCode GpOpLocate_Private(GpOp, int64_t k, const PetscInt rowptr[], const PetscInt col[], PetscInt *row, PetscInt *column);
PETSC_INTERN PetscErrorCode GpOpRefusePattern_Private(PetscInt m, PetscInt n, const PetscInt rowptr[], const PetscInt col[], const GpOpPlace *); /* names the first wrong row */
PETSC_INTERN PetscErrorCode GpOpRefuseValue_Private(GpOp, const PetscInt rowptr[], const PetscInt col[], const double val[], const GpOpPlace *); /* a value that overflows */

/* gpoperatorstream.c: a matrix that is streamed */
PETSC_INTERN PetscLogEvent  GpOp_Encode, GpOp_Pin, GpOp_Fill, GpOp_Transfer, GpOp_Multiply;                              /* stages of streaming in -log_view */
PETSC_INTERN double         GpOpEstimateBytes(GpDev, GpPrec, PetscInt m, PetscInt n, PetscInt nnz, PetscBool transpose); /* device memory for the compressed rows, and for building the transpose */
PETSC_INTERN PetscErrorCode GpOpMustStream_Private(GpOp, const GpOpOptions *, PetscInt m, PetscInt n, PetscInt nnz, PetscBool *);
PETSC_INTERN PetscErrorCode GpOpSetUpStream_Private(GpOp, PetscInt m, PetscInt n, const PetscInt rowptr[], const PetscInt col[], const double val[], const GpOpPlace *);
PETSC_INTERN PetscErrorCode GpOpSetUpStreamRows_Private(GpOp, const GpRowSource *, const GpOpFile *);
PETSC_INTERN PetscErrorCode GpOpRefillStream_Private(GpOp, const PetscInt rowptr[], const PetscInt col[], const double val[], const GpOpPlace *);
PETSC_INTERN PetscErrorCode GpOpMultStream_Private(GpOp, int side, const double x[], const double z[], double y[]);
PETSC_INTERN PetscErrorCode GpOpMultManyStream_Private(GpOp, int side, PetscInt k, PetscBool add, PetscInt incx, const double *const x[], PetscInt incy, double *const y[]);
PETSC_INTERN PetscErrorCode GpOpPass(GpOp, GpOpStreamUse, void *context, GpErr *);                                             /* visits the chunks of the matrix; the caller raises the error of use() or of the device */
PETSC_INTERN PetscErrorCode GpOpMustStreamTranspose(GpOp, PetscBool *);                                                        /* whether both must be streamed, because the transpose does not fit beside the matrix */
PETSC_INTERN PetscErrorCode GpOpSetUpTransposeStream(GpOp, const PetscInt rowptr[], const PetscInt col[], const double val[]); /* rowptr, col and val: the host's current arrays */

#endif
