/* What bin/bmrm and the example apps share: text files read by all ranks, complaints that name file and line, output that is there whole or
   not at all. */
#ifndef GPUCSR_APP_H
#define GPUCSR_APP_H

#include <gpucsrcompat.h>
#include <petscsys.h>
#include <stdio.h>

/* this rank's lines of a text file, in the order of the ranks; every line ends with a newline */
typedef struct {
  MPI_Comm   comm;
  char       file[PETSC_MAX_PATH_LEN];
  char      *text;
  size_t     length;
  PetscInt64 before; /* lines of the file on the ranks before this one */
} GpAppText;

PETSC_EXTERN PetscErrorCode GpAppTextRead(MPI_Comm, const char[], GpAppText *);
PETSC_EXTERN PetscErrorCode GpAppTextDestroy(GpAppText *);

/* the first thing wrong that a rank found in its lines */
typedef struct {
  PetscInt64 line; /* counted from 1 on this rank; 0: nothing is wrong */
  char       what[256];
} GpAppComplaint;

PETSC_EXTERN void           GpAppComplain(GpAppComplaint *, PetscInt64 line, const char token[], const char end[], const char expected[]);
PETSC_EXTERN PetscErrorCode GpAppTextRaise(const GpAppText *, const GpAppComplaint *);

/* a file that the first rank writes aside and that gets its name at the end */
typedef struct {
  MPI_Comm comm;
  char     path[PETSC_MAX_PATH_LEN], aside[PETSC_MAX_PATH_LEN];
  FILE    *fp; /* NULL on other ranks */
} GpAppOutput;

PETSC_EXTERN PetscErrorCode GpAppOutputOpen(MPI_Comm, const char[], GpAppOutput *);
PETSC_EXTERN PetscErrorCode GpAppOutputCommit(GpAppOutput *);
PETSC_EXTERN PetscErrorCode GpAppOutputProbe(MPI_Comm, const char[]);

#endif
