/* The operator: a matrix and its transpose on a device, each in the format of the kernel chosen for it. */
#ifndef GPOPERATOR_H
#define GPOPERATOR_H

#include "mat/impls/gpucsr/formats/csrnarrow.h"
#include "mat/impls/gpucsr/selector/gpselect.h"
#include "sys/gpucsrsys.h"

typedef struct _n_GpOp *GpOp;

typedef struct {
  GpPrec    prec;
  int       kernel; /* row of the kernel table for A and its transpose, -1: the selector decides */
  GpSelMode mode;   /* how it does */
  double    limit;  /* bytes on the device that no format may pass, with all else that the operator holds; negative: none */
} GpOpOptions;

/* one direction: A, or its transpose */
typedef struct {
  GpCsr      csr;
  GpFmt      fmt;
  GpFeatures features;
  GpChoice   choice;
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
PETSC_INTERN PetscErrorCode GpOpSetUpTranspose(GpOp); /* does nothing when it exists */
PETSC_INTERN PetscErrorCode GpOpMult(GpOp, PetscBool transpose, const double x[], const double z[], double y[]);
PETSC_INTERN PetscErrorCode GpOpGetBytes(GpOp, PetscLogDouble *);

#endif
