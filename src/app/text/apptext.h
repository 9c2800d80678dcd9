/* The lines of text files, read in parallel. */
#ifndef GPUCSR_APPTEXT_H
#define GPUCSR_APPTEXT_H

#include "app/text/appcollective.h"
#include "app/text/appcomplaint.h"
#include "app/text/appsource.h"

/* The lines of a text file that this rank works on. Every line ends with a newline, and a carriage return before that is removed. */
typedef struct {
  MPI_Comm   comm;
  char       file[PETSC_MAX_PATH_LEN]; /* the name for messages */
  char      *text;                     /* the current lines: all lines after GpAppTextRead(), one block after GpAppTextNext() */
  size_t     length;
  PetscInt64 before; /* number of lines of the file on the ranks before this one; known after GpAppTextRead() or GpAppTextRaise() */
  PetscInt64 lines;  /* number of lines on this rank: all lines after GpAppTextRead(); otherwise the caller counts the lines that it has parsed */

  /* the fields below are private to apptext.c */
  GpAppSource    source;          /* NULL at the end */
  PetscBool      sized;           /* `left` is known */
  PetscBool      everywhere;      /* every rank has all lines */
  size_t         capacity, ahead; /* bytes allocated at text; bytes read beyond length */
  PetscInt64     left;            /* bytes that this rank has still to read, if sized */
  GpAppComplaint unreadable;
} GpAppText;

PETSC_EXTERN PetscErrorCode GpAppTextOpen(MPI_Comm, const char[], GpAppText *);
PETSC_EXTERN PetscErrorCode GpAppTextOpenFirst(MPI_Comm, const char[], GpAppText *);
PETSC_EXTERN PetscErrorCode GpAppTextNext(GpAppText *, size_t);
PETSC_EXTERN PetscErrorCode GpAppTextRead(MPI_Comm, const char[], GpAppText *);
PETSC_EXTERN PetscErrorCode GpAppTextReadRest(GpAppText *);
PETSC_EXTERN PetscErrorCode GpAppTextReadAll(MPI_Comm, const char[], GpAppText *);
PETSC_EXTERN PetscErrorCode GpAppTextGather(GpAppText *);
PETSC_EXTERN PetscErrorCode GpAppTextBeginning(const GpAppText *, char[], size_t);
PETSC_EXTERN PetscErrorCode GpAppTextRaise(GpAppText *, const GpAppComplaint *);
PETSC_EXTERN PetscErrorCode GpAppTextDestroy(GpAppText *);

#endif
