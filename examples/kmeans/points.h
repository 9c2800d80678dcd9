/* The points of the program kmeans: readers and generator. */
#ifndef KMEANS_POINTS_H
#define KMEANS_POINTS_H

#include "app/table/apptable.h"
#include "app/program/appmain.h"
#include <petscmat.h>

/* The format of a file of points. */
typedef enum {
  POINTS_AUTO, /* recognised by the first bytes or lines; a table if nothing else fits */
  POINTS_TABLE,
  POINTS_LIBSVM,
  POINTS_MARKET,
  POINTS_PETSC,
  POINTS_IDX,
  POINTS_MINEBENCH
} PointSetFormat;

PETSC_INTERN const char *const PointSetFormats[];

typedef struct {
  char           file[PETSC_MAX_PATH_LEN];
  PointSetFormat format;
  GpAppTableSpec table;
  char           columns[1024];          /* numbers counted from 0 and ranges, such as 0,3-7; empty: all columns */
  PetscBool      all;                    /* -columns does not apply to the file */
  PetscInt       generate[2], ngenerate; /* number of points, number of features */
  PetscInt       seed;
  PetscInt       features; /* least number of features of LIBSVM points, whose last ones may be zero in all points of a file */
} PointSetOptions;

typedef struct {
  Mat   X;
  char *names;       /* names of all points on every rank, one after another; NULL: none */
  char *headings;    /* likewise those of the features */
  char  source[256]; /* the file and how it was understood */
} PointSet;

PETSC_INTERN PetscErrorCode PointSetLoad(MPI_Comm, const PointSetOptions *, PointSet *);
PETSC_INTERN PetscErrorCode PointSetDestroy(PointSet *);

/* pointscolumns.c */
PETSC_INTERN PetscErrorCode PointSetParseColumns(MPI_Comm, const char[], PetscInt, PetscInt *, PetscInt **);
PETSC_INTERN PetscErrorCode PointSetSelectColumns(MPI_Comm, const PointSetOptions *, Mat *);

/* pointstext.c */
PETSC_INTERN PetscErrorCode PointSetReadText(MPI_Comm, const PointSetOptions *, PointSet *);

/* pointsbinary.c */
PETSC_INTERN PetscErrorCode PointSetRecognise(MPI_Comm, const char[], PointSetFormat *);
PETSC_INTERN PetscErrorCode PointSetReadBinary(MPI_Comm, const char[], PointSetFormat, Mat *);

#endif
