/* Set-up of preconditioners that multiply by approximate inverses or by factors of them: the rows of A are read, and a gpucsr matrix is filled with the computed rows. */
#ifndef PCINVERSE_H
#define PCINVERSE_H

#include <petsc/private/pcimpl.h>
#include "gpucsr.h"
#include "gpucsrcompat.h"
#include "pc/inverse/inverserows.h"
#include "pc/kernels/gpbatch.h"
#include "mat/impls/gpucsr/image/gpucsrimpl.h"

/* How a type computes its rows. */
typedef struct {
  const char      *type;      /* name of the type */
  const char      *failure;   /* cause that is printed if a row cannot be computed */
  const char      *remedy;    /* options that reduce the number of nonzeros, for error messages */
  GpInvRowFn      *row;       /* computes a row */
  const void      *options;   /* passed to row() */
  PetscInt         distance;  /* if the pattern is not local: a row reads only rows of A that are at most that many entries of A away */
  PetscInt         threads;   /* number of threads; 0: the default */
  PetscBool        local;     /* rows read the diagonal block of A only */
  PetscBool        diagonal;  /* the diagonal of A must be stored */
  PetscBool        lazy;      /* the transpose of the matrix is built before the first product that needs it */
  MatGPUCSRStorage storage;   /* precision of the values of the inverse on the device */
  GpBatchKind      kind;      /* the kernels of the device that compute the rows */
  PetscInt         power;     /* the pattern of a new inverse is that of this power of A */
  PetscReal        threshold; /* entries of A that are at most this fraction of sqrt(|a(i,i) a(j,j)|) are not used for the pattern */
  PetscBool        lower;     /* the pattern has columns up to the diagonal only */
  const char      *byvalue;   /* why the pattern of a new inverse depends on computed values, so that the host computes it; NULL: it does not */
  PetscBool        host;      /* the user wants the set-up on the host */
} PCGPUInverseType;

/* The rows of A that a set-up reads, and the matrices from which they come. */
typedef struct {
  Mat         aij; /* the matrix, or a copy of type AIJ */
  Mat        *sub; /* rows of this and other ranks; NULL: the diagonal block is read */
  Mat         A;   /* sequential matrix whose arrays are in `rows` */
  GpInvMatrix rows;
} PCGPUInverseRows;

/* Device memory of a set-up. */
typedef struct {
  GpDev          dev; /* NULL: the device does not compute the rows */
  GpBatchMatrix  A;
  GpCsr          csr;      /* compressed rows of A that were uploaded for the set-up; empty: A is in the image of a gpucsr matrix */
  double        *uploaded; /* values of A, if the image has rounded them; else NULL */
  size_t         bytes;    /* size of uploaded */
  GpBatchPattern P;
  PetscBool      shared; /* P belongs to the image of the inverse */
  double        *val;    /* [P.nnz] computed values */
} PCGPUInverseDevice;

typedef struct {
  Mat            matrix;          /* the rows; NULL: not set up, or the set-up has failed */
  IS             overlap;         /* global numbers of the rows of A that the set-up reads; NULL if the pattern is local */
  GpInvRows      rows;            /* pattern of the rows of this rank; values only during a set-up */
  PetscScalar   *val;             /* array of values of the matrix, if the matrix uses the arrays of `rows`; else NULL */
  PetscInt      *none;            /* row pointers of the empty off-diagonal block of that matrix, if there are several ranks */
  PetscInt       first;           /* number of this rank's first row among the rows that a set-up reads */
  PetscReal      measure;         /* sum of GpInvReport.measure over the ranks; GpInvScratch defines it */
  PetscInt       longest;         /* number of nonzeros of the longest row on any rank */
  PetscLogDouble seconds;         /* duration of the last set-up */
  PetscInt       setups, refills; /* number of set-ups, and of those that kept the pattern */

  PCGPUInverseDevice device;   /* empty except during a set-up */
  GpBatchPlan        plan;     /* for the pattern of the inverse; plan.dev is NULL before the first computation on the device */
  PetscScalar       *pinned;   /* array of values of the matrix that is pinned, or NULL */
  PetscBool          hosted;   /* the last set-up ran on the host of a rank */
  char               why[160]; /* why the last set-up ran on the host of this rank */
} PCGPUInverse;

PETSC_INTERN PetscErrorCode PCGPUInverseSetUp_Private(PC, PCGPUInverse *, const PCGPUInverseType *);
PETSC_INTERN PetscErrorCode PCGPUInverseReset_Private(PCGPUInverse *);
PETSC_INTERN PetscErrorCode PCGPUInverseApply_Private(const PCGPUInverse *, PetscBool transpose, Vec x, Vec y); /* multiplies by the matrix or its transpose */
PETSC_INTERN PetscErrorCode PCGPUInverseViewOptions_Private(PC, const char name[], PetscBool local, MatGPUCSRStorage, PetscViewer);
PETSC_INTERN PetscErrorCode PCGPUInverseView_Private(PCGPUInverse *, const char name[], PetscViewer); /* numbers of nonzeros */
PETSC_INTERN PetscErrorCode PCGPUInverseViewInfo_Private(PCGPUInverse *, PetscViewer);                /* the duration of the set-up and the matrix, if the format of the viewer asks for them */

/* pcinversematrix.c: the matrix, created from the pattern and the values in inverse->rows; the values are freed or belong to the matrix afterwards */
PETSC_INTERN PetscErrorCode PCGPUInverseCreateMatrix_Private(PC, PCGPUInverse *, const PCGPUInverseType *);
PETSC_INTERN PetscErrorCode PCGPUInverseRefillMatrix_Private(PCGPUInverse *);
PETSC_INTERN PetscErrorCode PCGPUInverseGetBlocks_Private(const PCGPUInverse *, Mat *here, Mat *away);
PETSC_INTERN PetscErrorCode PCGPUInverseDestroyMatrix_Private(PCGPUInverse *); /* also frees inverse->rows */

/* pcinversedevice.c: set-up on the device.  Begin and Compute do nothing on the device, and clear inverse->device, if the host must compute the rows; inverse->why then has the reason.
   bad: first row of this rank without diagonal entry, and with columns that do not ascend, or PETSC_MAX_INT */
PETSC_INTERN PetscErrorCode PCGPUInverseDeviceBegin_Private(PC, PCGPUInverse *, const PCGPUInverseType *, const PCGPUInverseRows *, PetscInt bad[2]);
PETSC_INTERN PetscErrorCode PCGPUInverseDeviceCompute_Private(PCGPUInverse *, const PCGPUInverseType *, GpInvReport *);
PETSC_INTERN PetscErrorCode PCGPUInverseDeviceRefill_Private(PCGPUInverse *);   /* copies the values to the matrix and to its image */
PETSC_INTERN PetscErrorCode PCGPUInverseDeviceDownload_Private(PCGPUInverse *); /* copies the values to inverse->rows */
PETSC_INTERN PetscErrorCode PCGPUInverseDeviceFree_Private(PCGPUInverse *);
PETSC_INTERN PetscErrorCode PCGPUInverseDeviceReset_Private(PCGPUInverse *); /* also frees what is kept for new values; must be called before the matrix is destroyed */

#endif
