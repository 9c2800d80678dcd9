/* A run of the program kmeans and its outputs. */
#ifndef KMEANS_KMEANSRUN_H
#define KMEANS_KMEANSRUN_H

#include "points.h"
#include <gpucsrkmeans.h>

/* A solve that has ended. */
typedef struct {
  MPI_Comm       comm;
  PointSet       points, added; /* those of -f and of -predict */
  KMeans         km;
  Vec            weights; /* like the rows of the points, or NULL */
  PetscInt       k;       /* clusters now */
  PetscInt64    *size;    /* [k] points of each cluster on all ranks */
  PetscInt       sample;  /* points of which the silhouette is the mean; 0: it was not asked for */
  PetscReal      silhouette;
  PetscLogDouble load, solve; /* seconds */
} KMeansRun;

/* What a picture shows. */
typedef struct {
  char     file[PETSC_MAX_PATH_LEN];
  PetscInt columns[2], ncolumns; /* the columns on the axes; 0: not given */
} PictureOptions;

/* results.c */
PETSC_INTERN PetscErrorCode KMeansCountPoints(KMeansRun *);
PETSC_INTERN PetscErrorCode KMeansWriteLabels(MPI_Comm, IS labels, const char names[], const char file[]);
PETSC_INTERN PetscErrorCode KMeansWriteLabelsBinary(MPI_Comm, IS labels, const char file[]);
PETSC_INTERN PetscErrorCode KMeansWriteCentroids(const KMeansRun *, const char file[]);
PETSC_INTERN PetscErrorCode KMeansWriteCentroidsBinary(const KMeansRun *, const char file[]);

/* report.c */
PETSC_INTERN PetscErrorCode KMeansPrintPoints(const KMeansRun *);
PETSC_INTERN PetscErrorCode KMeansPrintSummary(const KMeansRun *);
PETSC_INTERN PetscErrorCode KMeansWriteReport(const KMeansRun *, const char file[]);

/* picture.c */
PETSC_INTERN PetscErrorCode KMeansWritePicture(const KMeansRun *, const PictureOptions *);

#endif
