/* Setters and options of solvers that stream data from host memory. */
#ifndef GPUCSR_APPSTREAM_H
#define GPUCSR_APPSTREAM_H

#include "app/program/appbytes.h"

/* The settings of a solver that may stream its data. */
typedef struct {
  PetscObject solver;
  PetscBool  *setup; /* a setting that changes sets it to false, as the solver must be set up again */
} GpAppStreamed;

/* Sets a number of bytes, or -1 for the default. */
static inline PetscErrorCode GpAppSetStreamBytes(const GpAppStreamed *s, const char option[], PetscReal bytes, int least, PetscReal *setting)
{
  PetscFunctionBegin;
  PetscValidLogicalCollectiveReal(s->solver, bytes, 3);
  PetscCheck((bytes >= least && bytes <= PETSC_MAX_REAL) || bytes == PETSC_DECIDE, PetscObjectComm(s->solver), PETSC_ERR_USER_INPUT, "%s %.15g: expected a number of bytes of at least %d, or -1 for the default", option, (double)bytes, least);
  if (bytes != *setting) *s->setup = PETSC_FALSE;
  *setting = bytes;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets a number of buffers or threads, or 0 for the default. */
static inline PetscErrorCode GpAppSetStreamCount(const GpAppStreamed *s, const char option[], PetscInt count, PetscInt *setting)
{
  PetscFunctionBegin;
  PetscValidLogicalCollectiveInt(s->solver, count, 3);
  PetscCheck(count >= 0 && count <= 1024, PetscObjectComm(s->solver), PETSC_ERR_USER_INPUT, "%s %" PetscInt_FMT ": expected a number from 1 to 1024, or 0 for the default", option, count);
  if (count != *setting) *s->setup = PETSC_FALSE;
  *setting = count;
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif
