/* Services that bmrm and the example programs share: parallel reading of text files, detection of PETSc's binary files, error messages with file and line, atomic output
   files, and plots of curves. */
#ifndef GPUCSR_APP_H
#define GPUCSR_APP_H

#include "app/report/appjson.h"
#include <gpucsrcompat.h>
#include <petscmat.h>
#include <stdio.h>

/* The first error that a rank found in its lines */
typedef struct {
  int        code;   /* PETSc error code; 0: no error */
  PetscInt64 line;   /* line, counted from 1 on this rank; 0: the error concerns the whole file */
  PetscInt64 column; /* column, counted from 1; 0: the error concerns the whole line */
  char       what[256];
} GpAppComplaint;

PETSC_EXTERN void GpAppComplain(GpAppComplaint *, PetscInt64 line, const char token[], const char end[], const char expected[]);
PETSC_EXTERN void GpAppComplainAt(GpAppComplaint *, int code, PetscInt64 line, PetscInt64 column, const char token[], const char end[], const char expected[]);

typedef struct GpAppSource_ *GpAppSource; /* a stream of bytes on one rank (appsource.h) */

/* the lines of a text file that this rank works on; every line ends with a newline, and a carriage return before that is removed */
typedef struct {
  MPI_Comm   comm;
  char       file[PETSC_MAX_PATH_LEN]; /* the name for messages */
  char      *text;                     /* the current lines: all lines after GpAppTextRead(), one block after GpAppTextNext() */
  size_t     length;
  PetscInt64 before; /* number of lines of the file on the ranks before this one; known after GpAppTextRead() or GpAppTextRaise() */
  PetscInt64 lines;  /* number of lines on this rank: all lines after GpAppTextRead(); otherwise the caller counts the lines that it has parsed */

  /* the fields below are private to apptext.c */
  GpAppSource    source;      /* NULL at the end */
  PetscBool      sized;       /* `left` is known */
  PetscBool      everywhere;  /* every rank has all lines */
  size_t         room, ahead; /* bytes allocated at text; bytes read beyond length */
  PetscInt64     left;        /* bytes that this rank has still to read, if sized */
  GpAppComplaint unreadable;
} GpAppText;

PETSC_EXTERN PetscErrorCode GpAppTextOpen(MPI_Comm, const char[], GpAppText *);
PETSC_EXTERN PetscErrorCode GpAppTextOpenFirst(MPI_Comm, const char[], GpAppText *);
PETSC_EXTERN PetscErrorCode GpAppTextNext(GpAppText *, size_t);
PETSC_EXTERN PetscErrorCode GpAppTextRead(MPI_Comm, const char[], GpAppText *);
PETSC_EXTERN PetscErrorCode GpAppTextReadAll(MPI_Comm, const char[], GpAppText *);
PETSC_EXTERN PetscErrorCode GpAppTextBeginning(const GpAppText *, char[], size_t);
PETSC_EXTERN PetscErrorCode GpAppTextRaise(GpAppText *, const GpAppComplaint *);
PETSC_EXTERN PetscErrorCode GpAppTextDestroy(GpAppText *);
PETSC_EXTERN void           GpAppTextLine(const char p[], const char end[], char line[], size_t room);

PETSC_EXTERN PetscErrorCode GpAppIsBinary(MPI_Comm, const char[], int classid, PetscBool *, PetscInt64 *);

/* the header of a matrix in PETSc's binary format; the file is long enough for it */
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

/* temporary files do not outlive the program: see GpAppSignalsInstall() */
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

/* Rounding of matrix values by the conversion to the storage on the device; sums over all ranks and matrices */
typedef struct {
  const char *storage; /* single, double or mixed; NULL: there was no matrix of type gpucsr */
  PetscInt64  values, rounded, lost;
  PetscReal   change; /* largest relative change of a value */
} GpAppRounding;

PETSC_EXTERN PetscErrorCode GpAppRoundingAdd(Mat, GpAppRounding *);
PETSC_EXTERN PetscErrorCode GpAppRoundingPrint(MPI_Comm, const char start[], const GpAppRounding *);
PETSC_EXTERN void           GpAppRoundingWrite(GpAppJSON *, const GpAppRounding *);

/* a curve of a picture; without a name it has no legend */
typedef struct {
  const char   *name;
  PetscInt      n;
  const double *x, *y;
} GpAppCurve;

PETSC_EXTERN void GpAppPlotWrite(GpAppOutput *, const char xlabel[], PetscBool xlog, const char ylabel[], int n, const GpAppCurve[]);

#endif
