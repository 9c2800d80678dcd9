/* Matrices that are streamed from host memory, for the summary and the report of a program. */
#ifndef GPUCSR_APPSTREAMED_H
#define GPUCSR_APPSTREAMED_H

#include "app/report/appjson.h"
#include <gpucsrcompat.h>
#include <petscmat.h>

/* Chunks of the streamed matrices; sums over all ranks and matrices */
typedef struct {
  PetscBool ours;   /* there was a matrix of type gpucsr */
  PetscReal chunks; /* 0: no matrix was streamed */
  PetscReal bytes, resident, moved;
} GpAppStreamed;

PETSC_EXTERN PetscErrorCode GpAppStreamedAdd(Mat, GpAppStreamed *);
PETSC_EXTERN PetscErrorCode GpAppStreamedPrint(MPI_Comm, const char start[], const GpAppStreamed *);
PETSC_EXTERN void           GpAppStreamedWrite(GpAppJSON *, const GpAppStreamed *);

#endif
