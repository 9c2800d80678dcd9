/* Set-up of preconditioners that multiply by approximate inverses or by factors of them: the rows of A are read, and a gpucsr matrix is filled with the computed rows. */
#ifndef PCINVERSE_H
#define PCINVERSE_H

#include <petsc/private/pcimpl.h>
#include "gpucsr.h"
#include "gpucsrcompat.h"
#include "pc/inverse/inverserows.h"

/* How a type computes its rows. */
typedef struct {
  const char      *type;     /* name of the type */
  const char      *failure;  /* cause that is printed if a row cannot be computed */
  const char      *remedy;   /* options that reduce the number of nonzeros, for error messages */
  GpInvRowFn      *row;      /* computes a row */
  const void      *options;  /* passed to row() */
  PetscInt         distance; /* if the pattern is not local: a row reads only rows of A that are at most that many entries of A away */
  PetscInt         threads;  /* number of threads; 0: the default */
  PetscBool        local;    /* rows read the diagonal block of A only */
  PetscBool        diagonal; /* the diagonal of A must be stored */
  PetscBool        lazy;     /* the transpose of the matrix is built before the first product that needs it */
  MatGPUCSRStorage storage;  /* precision of the values of the inverse on the device */
} PCGPUInverseType;

typedef struct {
  Mat            matrix;          /* the rows; NULL: not set up, or the set-up has failed */
  IS             overlap;         /* global numbers of the rows of A that the set-up reads; NULL if the pattern is local */
  GpInvRows      rows;            /* pattern of the rows of this rank; values only during a set-up */
  PetscInt       first;           /* number of this rank's first row among the rows that a set-up reads */
  PetscReal      measure;         /* sum of GpInvReport.measure over the ranks; GpInvScratch defines it */
  PetscInt       longest;         /* number of nonzeros of the longest row on any rank */
  PetscLogDouble seconds;         /* duration of the last set-up */
  PetscInt       setups, refills; /* number of set-ups, and of those that kept the pattern */
} PCGPUInverse;

PETSC_INTERN PetscErrorCode PCGPUInverseSetUp_Private(PC, PCGPUInverse *, const PCGPUInverseType *);
PETSC_INTERN PetscErrorCode PCGPUInverseReset_Private(PCGPUInverse *);
PETSC_INTERN PetscErrorCode PCGPUInverseApply_Private(const PCGPUInverse *, PetscBool transpose, Vec x, Vec y); /* multiplies by the matrix or its transpose */
PETSC_INTERN PetscErrorCode PCGPUInverseViewOptions_Private(PC, const char name[], PetscBool local, MatGPUCSRStorage, PetscViewer);
PETSC_INTERN PetscErrorCode PCGPUInverseView_Private(PCGPUInverse *, const char name[], PetscViewer); /* numbers of nonzeros */
PETSC_INTERN PetscErrorCode PCGPUInverseViewInfo_Private(PCGPUInverse *, PetscViewer);                /* the duration of the set-up and the matrix, if the format of the viewer asks for them */

#endif
