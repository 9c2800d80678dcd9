/* A stream of bytes: a file, a pipe or standard input, decompressed when its first bytes are those of a compressed file. */
#ifndef GPUCSR_APPSOURCE_H
#define GPUCSR_APPSOURCE_H

#include "app/text/appcomplaint.h"
#include <stdio.h>
#include <sys/types.h>

typedef struct _n_GpAppSource *GpAppSource;

#define GP_APP_SOURCE_PEEK 10 /* number of bytes that identify the kind of compression */

struct _n_GpAppSource {
  int            fd;      /* the input, or the pipe on which the decompressor writes; -1: none */
  pid_t          pid;     /* the process group of the decompressor; 0 without one */
  const char    *program; /* its name; NULL without one */
  FILE          *errors;  /* the temporary file that receives its error messages */
  size_t         held, at;
  char           buffer[GP_APP_SOURCE_PEEK]; /* bytes [at, held) have been read from the input and wait to be handed on */
  GpAppComplaint wrong;                      /* the first failure */
};

PETSC_EXTERN PetscErrorCode GpAppSourceOpen(const char[], GpAppSource *);
PETSC_EXTERN PetscErrorCode GpAppSourceRead(GpAppSource, char[], size_t, size_t *);
PETSC_EXTERN PetscErrorCode GpAppSourceClose(GpAppSource *);

#endif
