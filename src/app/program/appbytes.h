/* Options of solvers whose value is a number of bytes, between PetscOptionsBegin() and PetscOptionsEnd(). PETSc has no such type of options. */
#ifndef GPUCSR_APPBYTES_H
#define GPUCSR_APPBYTES_H

#include <gpucsrcompat.h>

#include "sys/gpucsrbytes.h"

/* Reads the option if it is given; the caller checks the range of the number. */
static inline PetscErrorCode GpAppOptionsBytes(GpOptionItems PetscOptionsObject, const char option[], const char text[], const char manual[], PetscReal *bytes)
{
  char      now[32], value[64];
  PetscBool set;

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(now, sizeof(now), "%g", (double)*bytes));
  PetscCall(PetscOptionsString(option, text, manual, now, value, sizeof(value), &set));
  PetscCheck(!set || PetscGPUCSRParseBytes_Private(value, bytes), PETSC_COMM_SELF, PETSC_ERR_USER_INPUT, "%s %s: give " GPUCSR_BYTES_FORM ", or -1 for the default", option, value);
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif
