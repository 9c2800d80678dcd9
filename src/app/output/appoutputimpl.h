/* Declarations that the files of the output module share: targets of outputs, and temporary files. */
#ifndef GPUCSR_APPOUTPUTIMPL_H
#define GPUCSR_APPOUTPUTIMPL_H

#include "app/output/appoutput.h"
#include <limits.h>
#include <sys/stat.h>

#define GP_APP_TEMPORARY_LEN 64

/* The target of an output, with all symbolic links resolved. Valid on the first rank. */
typedef struct {
  int         err;                                            /* an errno if the target cannot be written; 0: no obstacle was found */
  PetscBool   direct;                                         /* a device, pipe or descriptor, which is opened and never replaced */
  int         descriptor;                                     /* the descriptor of this process that the name stands for, or -1 */
  PetscBool   regular;                                        /* a regular file exists */
  struct stat st, folder_st;                                  /* of the target, if there is one, and of its folder */
  char        folder[PETSC_MAX_PATH_LEN], name[NAME_MAX + 1]; /* folder and name of an output that is not direct */
  char        path[PETSC_MAX_PATH_LEN];                       /* path of a direct output */
} GpAppTarget;

PETSC_INTERN void GpAppTargetResolve_Private(const char path[], GpAppTarget *);

PETSC_INTERN int  GpAppTemporaryCreate_Private(int folder, mode_t, int *slot, char name[GP_APP_TEMPORARY_LEN]);
PETSC_INTERN void GpAppTemporaryForget_Private(int slot, PetscBool remove);

/* A function that takes or supplies n values on the first rank */
typedef PetscErrorCode (*GpAppPass)(void *ctx, void *values, PetscInt n);

PETSC_INTERN PetscErrorCode GpAppPassInTurn_Private(MPI_Comm, void *, PetscInt, size_t, PetscBool write, GpAppPass, void *);

#endif
