/* The points on the host, for results that are computed after the solve: silhouette and picture. */
#ifndef KMEANS_ROWS_H
#define KMEANS_ROWS_H

#include <gpucsrcompat.h>
#include <gpucsrkmeans.h>

/* Rows of points. Sparse rows have ascending columns. With the cosine metric rows have norm 1. */
typedef struct {
  MPI_Comm    comm;
  PetscInt    N, first, n, d; /* points of all ranks, number of the first one here, points here, features */
  PetscInt64 *begin;          /* [n+1] where the rows begin in `value` */
  PetscInt   *col;            /* [begin[n]] columns of sparse rows; NULL: rows are dense */
  double     *value;          /* [begin[n]] */
} PointRows;

PETSC_INTERN PetscErrorCode PointRowsCreate(Mat, KMeansMetric, PointRows *);
PETSC_INTERN PetscErrorCode PointRowsGather(const PointRows *, PetscInt m, const PetscInt number[], PointRows *);
PETSC_INTERN PetscErrorCode PointRowsDestroy(PointRows *);
PETSC_INTERN PetscInt       PointRowsFindSample(PetscInt N, PetscInt m, PetscInt s);

/* Sums over points in 64-bit integers, which do not depend on the ranks. */
PETSC_INTERN double         PointRowsGetScale(PetscInt N, double largest);
PETSC_INTERN PetscErrorCode PointRowsSum(const PointRows *, const double factor[], double sum[], double *total);

/* silhouette.c */
PETSC_INTERN PetscErrorCode SilhouetteCompute(const PointRows *, KMeansMetric, PetscInt k, const PetscInt label[], const PetscInt64 size[], PetscInt m, PetscReal *silhouette);

/* The two axes of a picture. */
typedef struct {
  PetscBool principal; /* principal axes; else two columns, or one */
  PetscInt  column[2]; /* -1: there is no such column */
  double   *mean;      /* [d] weighted mean of the points */
  double   *axis[2];   /* [d] orthonormal */
  double    middle[2]; /* inner products of the axes and the mean */
  double    share[2];  /* of each axis in the variance */
} PictureAxes;

/* axes.c */
PETSC_INTERN PetscErrorCode PictureAxesCreate(const PointRows *, const double weight[], PetscInt ncolumns, const PetscInt columns[], PictureAxes *);
PETSC_INTERN double         PictureAxesProject(const PictureAxes *, int which, PetscInt n, const PetscInt col[], const double value[]);
PETSC_INTERN PetscErrorCode PictureAxesDestroy(PictureAxes *);

#endif
