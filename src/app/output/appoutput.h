/* Output files, temporary files, and the check of all files of a run. */
#ifndef GPUCSR_APPOUTPUT_H
#define GPUCSR_APPOUTPUT_H

#include <gpucsrcompat.h>
#include <petscsys.h>
#include <stdio.h>

/*
  An output of the program, written by the first rank. A file is replaced as a whole when the output is committed, or left as it was; a device or pipe is written
  to at once.
*/
typedef struct _n_GpAppOutputFile *GpAppOutputFile;
typedef struct {
  MPI_Comm        comm;
  char            path[PETSC_MAX_PATH_LEN]; /* as the user names it */
  FILE           *fp;                       /* NULL on other ranks */
  char            why[128];                 /* the cause of a failure to open or write, the same on all ranks; empty: no failure */
  char            failed[128];              /* set by the writer on the first rank if it has no result to write: the commit fails with this cause */
  PetscBool       direct;                   /* a device or pipe */
  GpAppOutputFile file;                     /* private to the output module */
} GpAppOutput;

PETSC_EXTERN PetscErrorCode GpAppOutputOpen(MPI_Comm, const char[], GpAppOutput *);
PETSC_EXTERN PetscErrorCode GpAppOutputTryOpen(MPI_Comm, const char[], GpAppOutput *);
PETSC_EXTERN PetscErrorCode GpAppOutputCommit(GpAppOutput *);
PETSC_EXTERN PetscErrorCode GpAppOutputTryCommit(GpAppOutput *);
PETSC_EXTERN PetscErrorCode GpAppOutputProbe(MPI_Comm, const char[]);
PETSC_EXTERN PetscErrorCode GpAppOutputBinary(GpAppOutput *, const void *, PetscInt, PetscDataType);

/* Temporary files are removed when the program ends: see GpAppSignalsInstall(). */
PETSC_EXTERN PetscErrorCode GpAppSignalsInstall(void);
PETSC_EXTERN void           GpAppTemporariesRemove(void);

#define GP_APP_SCRATCH_FILES 6

/* A folder for temporary files */
typedef struct {
  char path[PETSC_MAX_PATH_LEN];
  int  parent, folder, nslots, slot[GP_APP_SCRATCH_FILES]; /* private to the output module */
} GpAppScratch;

PETSC_EXTERN int  GpAppScratchCreate(int n, const char *const name[], size_t bytes, GpAppScratch *);
PETSC_EXTERN void GpAppScratchRemove(GpAppScratch *);

/* The role of a file in a run */
typedef enum {
  GP_APP_FILE_INPUT,
  GP_APP_FILE_OUTPUT,
  GP_APP_FILE_CHECKPOINT, /* an output that may be the file that the run restarts from */
  GP_APP_FILE_RESTART
} GpAppFileRole;

PETSC_EXTERN PetscErrorCode GpAppFilesAdd(GpAppFileRole, const char option[], const char path[]);
PETSC_EXTERN PetscErrorCode GpAppFilesCheck(MPI_Comm);

#endif
