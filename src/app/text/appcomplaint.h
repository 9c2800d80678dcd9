/* Errors in input files: every rank notes the first one that it finds; the first of them becomes the error of all ranks. */
#ifndef GPUCSR_APPCOMPLAINT_H
#define GPUCSR_APPCOMPLAINT_H

#include <gpucsrcompat.h>
#include <petscsys.h>

/* The first error that a rank found in its lines */
typedef struct {
  int        code;   /* PETSc error code; 0: no error */
  PetscInt64 line;   /* line, counted from 1 on this rank; 0: the error concerns the whole file */
  PetscInt64 column; /* column, counted from 1; 0: the error concerns the whole line */
  char       what[256];
} GpAppComplaint;

PETSC_EXTERN void           GpAppComplain(GpAppComplaint *, PetscInt64 line, const char token[], const char end[], const char expected[]);
PETSC_EXTERN void           GpAppComplainAt(GpAppComplaint *, int code, PetscInt64 line, PetscInt64 column, const char token[], const char end[], const char expected[]);
PETSC_EXTERN void           GpAppComplainAbout(GpAppComplaint *, int code, PetscInt64 line, const char format[], ...) PETSC_ATTRIBUTE_FORMAT(4, 5);
PETSC_EXTERN PetscErrorCode GpAppComplaintRaise(MPI_Comm, const char file[], const GpAppComplaint *);

#endif
