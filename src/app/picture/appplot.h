/* Plots of curves. */
#ifndef GPUCSR_APPPLOT_H
#define GPUCSR_APPPLOT_H

#include <gpucsrcompat.h>
#include <petscsys.h>

/* A curve of a picture. Without a name it has no legend. */
typedef struct {
  const char   *name;
  PetscInt      n;
  const double *x, *y;
} GpAppCurve;

PETSC_EXTERN PetscErrorCode GpAppPlotWrite(MPI_Comm, const char file[], const char xlabel[], PetscBool xlog, const char ylabel[], int n, const GpAppCurve[]);

#endif
