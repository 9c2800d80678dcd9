/* What reading examples costs a process, for the test that holds it and the benchmark that tells it. */
#ifndef BMRM_LOADCOST_H
#define BMRM_LOADCOST_H

#include "examples/bmrm/readers/examples.h"
#include <sys/resource.h>

/* processor time so far, and the most bytes that were resident */
static inline PetscErrorCode LoadUsage(double *seconds, double *resident)
{
  struct rusage usage;

  PetscFunctionBegin;
  PetscCheck(!getrusage(RUSAGE_SELF, &usage), PETSC_COMM_SELF, PETSC_ERR_SYS, "getrusage() failed");
  *seconds  = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + 1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
  *resident = 1024.0 * (double)usage.ru_maxrss;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* bytes of the matrix of these examples, and of their labels */
static inline double LoadedBytes(const BMRMExamples *ex)
{
  return (double)ex->i[ex->m] * (sizeof(PetscInt) + sizeof(PetscScalar)) + (double)ex->m * (sizeof(PetscInt) + sizeof(PetscReal));
}

#endif
