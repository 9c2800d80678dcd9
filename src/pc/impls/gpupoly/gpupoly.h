/* Declarations shared by the files of the PC type gpupoly. */
#ifndef GPUPOLY_H
#define GPUPOLY_H

#include <petsc/private/pcimpl.h>
#include "gpucsrpc.h"
#include "gpucsrcompat.h"
#include "mat/impls/gpucsr/image/gpucsrimpl.h"
#include "sys/gpurecord.h"

#define PC_GPUPOLY_MOST_STEPS 100 /* maximum number of Lanczos steps */
#define PC_GPUPOLY_RATIO      300 /* largest default of high / low for Chebyshev polynomials */

/* The spectrum of the scaled operator, as far as Lanczos steps tell. */
typedef struct {
  PetscInt  steps;                       /* number of steps done */
  PetscReal low, high;                   /* smallest and largest Ritz value */
  PetscReal low_residual, high_residual; /* an eigenvalue is as close as this to the Ritz value */
} PCGPUPolyRitz;

/* What the graph of a recorded application depends on. */
typedef struct {
  PetscInt64    product; /* version of the operator */
  PCGPUPolyType type;
  PetscInt      degree;
  PetscReal     low, high;
  PetscBool     scaled;
} PCGPUPolyGraph;

/* The preconditioner is z = P(C) D^-1 r with C = D^-1 A, where D is the diagonal of A or the identity.  With the residual polynomial R(t) = 1 - t P(t)
   of degree d + 1, PCApply() computes y[0] = 0 and, for k = 0, ..., d,
     y[k + 1] = omega[k] y[k] + (1 - omega[k]) y[k - 1] + alpha[k] D^-1 (r - A y[k]),   z = y[d + 1]. */
typedef struct {
  /* options */
  PCGPUPolyType    type;
  PCGPUPolyScale   scale;
  PetscInt         degree; /* d, the number of products in one application */
  PetscInt         steps;  /* maximum number of Lanczos steps */
  PetscReal        ratio;  /* largest high / low of bounds from Lanczos steps; 0: the default, which is unlimited for least squares (low may be 0) */
  PetscBool        given;  /* the bounds were given */
  PetscReal        given_low, given_high;
  MatGPUCSRStorage storage; /* of the matrix in products of a recorded application */
  /* results of PCSetUp() */
  PetscBool     ready;         /* the members below are valid */
  PetscReal     low, high;     /* bounds of the eigenvalues, [a, b] of the polynomial */
  PetscBool     ratio_used;    /* low is high / ratio, or 0, and not a Ritz value */
  PetscBool     unsymmetric;   /* Lanczos steps have found that the matrix is not symmetric */
  PCGPUPolyRitz ritz;          /* valid unless the bounds were given */
  const char   *failure;       /* why the set-up failed; NULL if it did not */
  PetscReal    *omega, *alpha; /* [degree + 1] coefficients of the recurrence; one block of memory */
  PetscObjectId matrix;        /* matrix for which the vectors were created */
  Vec           inverse;       /* alpha[0] D^-1, with the opposite sign if the degree is not 0; NULL without scaling */
  Vec           work[2];
  /* the application in the graph of a Krylov method */
  GpDev          dev;     /* device of the memory below */
  double        *memory;  /* [3 entries] device memory: the scaled diagonal and two vectors */
  PetscInt       entries; /* number of rows */
  GpOp           product; /* operator of the products: that of the matrix, or `narrow` */
  GpOp           narrow;  /* the matrix with values in single precision; NULL: not needed */
  MatGPUCSRKey   key;     /* version of the matrix from which `narrow` was copied */
  PetscInt64     version; /* increases if the graph must be recorded again, because one of the next members has changed */
  PCGPUPolyGraph graph;
  Vec            start; /* start vector of the Lanczos steps, kept for later set-ups; NULL if the bounds were given */
} PC_GPUPoly;

PETSC_INTERN PetscLogEvent  PC_GPUPoly_Bounds;
PETSC_INTERN PetscErrorCode PCCreate_GPUPoly(PC);
PETSC_INTERN PetscErrorCode PCGPUPolyFreeRecorded_Private(PC_GPUPoly *);
PETSC_INTERN PetscErrorCode PCGPUPolyGetRecorded_GPUPoly(PC, PCGPURecorded *);
PETSC_INTERN PetscErrorCode PCGPUPolyGetBounds_Private(PC, PC_GPUPoly *, Vec);
PETSC_INTERN PetscErrorCode PCGPUPolyRunLanczos_Private(Mat, PC_GPUPoly *, Vec);
PETSC_INTERN PetscErrorCode PCGPUPolyGetCoefficients_Private(PCGPUPolyType, PetscReal, PetscReal, PetscInt, PetscReal[], PetscReal[]);

#endif
