/* Rounding of matrix values, for the summary and the report of a program. */
#ifndef GPUCSR_APPROUNDING_H
#define GPUCSR_APPROUNDING_H

#include "app/report/appjson.h"
#include <gpucsrcompat.h>
#include <petscmat.h>

/* Rounding of matrix values by the conversion to the storage on the device; sums over all ranks and matrices */
typedef struct {
  const char *storage; /* single, double or mixed; NULL: there was no matrix of type gpucsr */
  PetscInt64  values, rounded, lost;
  PetscReal   change; /* largest relative change of a value */
} GpAppRounding;

PETSC_EXTERN PetscErrorCode GpAppRoundingAdd(Mat, GpAppRounding *);
PETSC_EXTERN PetscErrorCode GpAppRoundingPrint(MPI_Comm, const char start[], const GpAppRounding *);
PETSC_EXTERN void           GpAppRoundingWrite(GpAppJSON *, const GpAppRounding *);

#endif
