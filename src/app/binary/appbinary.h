/* Declarations that the readers of PETSc's binary format share. */
#ifndef GPUCSR_APPBINARY_H
#define GPUCSR_APPBINARY_H

#include "app/app.h"

PETSC_INTERN PetscErrorCode GpAppBinaryReadInts_Private(FILE *, PetscInt n, PetscInt[], PetscBool *whole);
PETSC_INTERN FILE          *GpAppBinaryOpenAt_Private(const char[], PetscInt64 at, GpAppComplaint *);
PETSC_INTERN PetscErrorCode GpAppBinaryRaise_Private(MPI_Comm, const char[], const GpAppComplaint *);

#endif
