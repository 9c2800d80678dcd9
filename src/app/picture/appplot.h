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

/* A plot of curves over a linear or logarithmic horizontal axis and a logarithmic vertical axis. */
typedef struct {
  const char       *title, *note; /* note: the result in a few words, below the title */
  const char       *xlabel, *ylabel;
  PetscBool         xlog;
  int               n;
  const GpAppCurve *curves; /* [n] */
} GpAppPlot;

PETSC_EXTERN PetscErrorCode GpAppPlotProbe(MPI_Comm, const char file[]);
PETSC_EXTERN PetscErrorCode GpAppPlotWrite(MPI_Comm, const char file[], const GpAppPlot *);

#endif
