/* The main() of the programs: options, requests, the run, errors of users in one line, exit codes. */
#ifndef GPUCSR_APPMAIN_H
#define GPUCSR_APPMAIN_H

#include "app/program/appoptions.h"
#include <gpucsrcompat.h>
#include <petscsys.h>

/* The exit codes of all programs; docs/programs.md lists them. A program that a signal ends has the code 128 + the signal's number. */
typedef enum {
  GP_APP_DONE        = 0, /* the results are written and are as exact as was asked for */
  GP_APP_INTERNAL    = 1, /* an error of the program: PETSc's trace is printed */
  GP_APP_USAGE       = 2, /* an option or a combination of options is wrong; nothing was done */
  GP_APP_UNCONVERGED = 3, /* the results are written, but the iteration stopped before it converged */
  GP_APP_INPUT       = 4, /* an input file is missing, unreadable or malformed */
  GP_APP_OUTPUT      = 5, /* an output file cannot be written */
  GP_APP_MEMORY      = 6  /* the memory of the host or of the device does not suffice */
} GpAppExit;

/* A program. Its functions are collective over PETSC_COMM_WORLD and are called in the order of the fields. */
typedef struct {
  const char        *name;                                       /* of the program, which opens every message */
  const GpAppManual *manual;                                     /* its options and the texts of its manual page */
  PetscErrorCode (*request)(MPI_Comm, void *context);            /* reads the options */
  PetscErrorCode (*show)(MPI_Comm, void *context);               /* with -help only: prints the options of parts that the program would use; may be NULL */
  PetscErrorCode (*check)(MPI_Comm, void *context);              /* checks the request before the work; with -help it is not called */
  PetscErrorCode (*run)(MPI_Comm, void *context, PetscBool *ok); /* does the work; *ok is PETSC_FALSE if it did not converge; with -help it is not called */
  void *context;
} GpAppProgram;

PETSC_EXTERN int GpAppMain(int argc, char **argv, const GpAppProgram *program);

#endif
