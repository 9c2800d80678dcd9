/* The points of the program kmeans: readers and generator. */
#ifndef KMEANS_POINTS_H
#define KMEANS_POINTS_H

#include "app/table/apptable.h"
#include "app/program/appmain.h"
#include <petscmat.h>

/* The format of a file of points. */
typedef enum {
  POINTS_AUTO, /* recognised by the first bytes; a table if nothing else fits */
  POINTS_TABLE,
  POINTS_MARKET,
  POINTS_PETSC,
  POINTS_IDX,
  POINTS_MINEBENCH
} PointsFormat;

PETSC_INTERN const char *const PointsFormats[];

typedef struct {
  char           file[PETSC_MAX_PATH_LEN];
  PointsFormat   format;
  GpAppTableSpec table;
  char           columns[1024];          /* numbers counted from 0 and ranges, such as 0,3-7; empty: all columns */
  PetscInt       generate[2], ngenerate; /* number of points, number of features */
  PetscInt       seed;
} PointsOptions;

typedef struct {
  Mat   X;
  char *names;       /* names of all points on every rank, one after another; NULL: none */
  char  source[256]; /* the file and how it was understood */
} Points;

PETSC_INTERN PetscErrorCode PointsLoad(MPI_Comm, const PointsOptions *, Points *);
PETSC_INTERN PetscErrorCode PointsDestroy(Points *);

/* pointsbinary.c */
PETSC_INTERN PetscErrorCode PointsRecognise(MPI_Comm, const char[], PointsFormat *);
PETSC_INTERN PetscErrorCode PointsReadBinary(MPI_Comm, const char[], PointsFormat, Mat *);

#endif
