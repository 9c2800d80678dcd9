/* Matrices and vectors in PETSc's binary format. */
#ifndef GPUCSR_APPBINARY_H
#define GPUCSR_APPBINARY_H

#include "app/text/appcomplaint.h"
#include <petscmat.h>
#include <stdio.h>

PETSC_EXTERN PetscErrorCode GpAppIsBinary(MPI_Comm, const char[], int classid, PetscBool *, PetscInt64 *);

/* The header of a matrix in PETSc's binary format. The file is long enough for it. */
typedef struct {
  PetscInt   M, N;
  PetscInt64 nnz;        /* MATRIX_BINARY_FORMAT_DENSE: M x N values, row by row */
  PetscInt64 end, bytes; /* bytes up to the end of the matrix, and of the whole file */
} GpAppMatHeader;

PETSC_EXTERN PetscErrorCode GpAppMatReadHeader(MPI_Comm, const char[], GpAppMatHeader *);
PETSC_EXTERN PetscErrorCode GpAppMatCheck(MPI_Comm, const char[], const GpAppMatHeader *);
PETSC_EXTERN PetscBool      GpAppMatCheckColumns(const GpAppMatHeader *, PetscInt row, PetscInt n, const PetscInt column[], PetscInt last, GpAppComplaint *);
PETSC_EXTERN PetscInt64     GpAppMatCheckLengths(const GpAppMatHeader *, PetscInt start, PetscInt m, const PetscInt length[], GpAppComplaint *);
PETSC_EXTERN PetscErrorCode GpAppMatSumLengths(MPI_Comm, const char[], const GpAppMatHeader *, PetscInt64 mine, const GpAppComplaint *lengths, PetscInt64 *before);
PETSC_EXTERN PetscErrorCode GpAppMatLoad(MPI_Comm, const char[], MatType, Mat *);
PETSC_EXTERN PetscErrorCode GpAppVecLoad(const char[], PetscInt n, Vec[]);

/* for appbinaryload.c */
PETSC_INTERN PetscErrorCode GpAppBinaryReadInts_Private(FILE *, PetscInt n, PetscInt[], PetscBool *whole);
PETSC_INTERN FILE          *GpAppBinaryOpenAt_Private(const char[], PetscInt64 at, GpAppComplaint *);

#endif
