/* The operator: a matrix and its transpose on a device, each in the format of the kernel chosen for it. */
#ifndef GPOPERATOR_H
#define GPOPERATOR_H

#include "mat/impls/gpucsr/formats/csrnarrow.h"
#include "mat/impls/gpucsr/selector/gpselectmany.h"
#include "sys/gpucsrsys.h"

/* rows, columns and nonzeros of a matrix: 32 bits count them, and have some left for a lane that steps past the end of its row, or a block past the last */
#define GP_OP_MOST (INT32_MAX - 65536)

typedef struct _n_GpOp *GpOp;

typedef struct {
  GpPrec    prec;
  int       kernel; /* row of the kernel table for A and its transpose, -1: the selector decides */
  GpSelMode mode;   /* how it does */
  double    limit;  /* bytes on the device that no format may pass, with all else that the operator holds; negative: none */
  PetscBool adds;   /* do products with A mostly add to a vector? */
  PetscBool exact;  /* single precision was taken because it holds every value: it is not to round any later one */
} GpOpOptions;

/* one direction: A, or its transpose */
typedef struct {
  GpCsr      csr;
  GpFmt      fmt;
  GpFeatures features;
  GpChoice   choice;
  GpFmt      many[GP_SPMM_KERNELS]; /* of products with several vectors; csr is NULL until one needs it */
  double     spread;                /* what their kernel is chosen by; 0: not known yet */
} GpOpSide;

/* where the source's local row i and column j stand in the matrix that the user made, for error messages */
typedef struct {
  PetscInt        row, column; /* of the first */
  const PetscInt *columns;     /* of every local column, or NULL: consecutive */
} GpOpPlace;

struct _n_GpOp {
  GpDev          dev;
  GpOpOptions    options;
  GpOpSide       side[2];               /* 0: A, 1: its transpose */
  PetscBool      has[2];                /* is that side built? */
  int32_t       *perm;                  /* source of every nonzero of the transpose; kept once values have changed on one pattern */
  PetscBool      refills;               /* they have */
  GpLoss         loss;                  /* of the values */
  PetscInt       loss_row, loss_column; /* where, local */
  PetscInt64     version;               /* of its memory: another number, of this operator or any other, means other memory; a refill keeps it */
  PetscLogDouble seconds;               /* of the last set-up, including the transpose */
};

PETSC_INTERN PetscErrorCode GpOpCreate(GpDev, GpOp *);
PETSC_INTERN PetscErrorCode GpOpDestroy(GpOp *);
PETSC_INTERN PetscErrorCode GpOpSetUp(GpOp, const GpOpOptions *, PetscInt m, PetscInt n, const PetscInt rowptr[], const PetscInt col[], const double val[], const GpOpPlace *);
PETSC_INTERN PetscErrorCode GpOpRefill(GpOp, const PetscInt rowptr[], const PetscInt col[], const double val[], const GpOpPlace *);
PETSC_INTERN PetscErrorCode GpOpRefillSide_Private(GpOp, int side); /* its format takes new values, or is chosen anew */
PETSC_INTERN PetscErrorCode GpOpRefreshTranspose(GpOp);             /* when the values of A have changed */
PETSC_INTERN PetscErrorCode GpOpSetUpTranspose(GpOp);               /* does nothing when it exists */
PETSC_INTERN PetscErrorCode GpOpMult(GpOp, PetscBool transpose, const double x[], const double z[], double y[]);

/* gpupdate.c: the host's values have changed by one of a few operations; does the same to the device's, when that gives what an
   upload of the host's (rowptr, col, val: as they are now) would give; other: the matrix that GP_UPDATE_AXPY adds, else NULL */
PETSC_INTERN PetscBool      GpOpIsExact(GpOp);
PETSC_INTERN PetscErrorCode GpOpUpdate(GpOp, const GpCsrUpdate *, GpOp other, const PetscInt rowptr[], const PetscInt col[], const double val[], PetscBool *done);
PETSC_INTERN PetscErrorCode GpOpZeroEntries(GpOp);
PETSC_INTERN PetscErrorCode GpOpLocate_Private(GpOp, int64_t k, const PetscInt rowptr[], const PetscInt col[], PetscInt *row, PetscInt *column);
PETSC_INTERN PetscErrorCode GpOpMultMany(GpOp, PetscBool transpose, PetscInt k, PetscBool add, PetscInt incx, const double *const x[], PetscInt incy, double *const y[]); /* k columns, their entries inc apart */
PETSC_INTERN void           GpOpResetMany(GpOpSide *);
PETSC_INTERN PetscErrorCode GpOpGetBytes(GpOp, PetscLogDouble *);

#endif
