/* A trained model, its file, what it predicts, and the report of a run. */
#ifndef BMRM_MODEL_H
#define BMRM_MODEL_H

#include <gpucsrcompat.h>
#include <petscmat.h>
#include <stdio.h>

/* a file that appears under its name when it is complete, and not at all otherwise; the first rank writes */
typedef struct {
  MPI_Comm comm;
  char     path[PETSC_MAX_PATH_LEN], aside[PETSC_MAX_PATH_LEN];
  FILE    *fp; /* NULL on the other ranks: write only where it is not */
} BMRMOutput;

PETSC_EXTERN PetscErrorCode BMRMOutputOpen(MPI_Comm, const char[], BMRMOutput *);
PETSC_EXTERN PetscErrorCode BMRMOutputProbe(MPI_Comm, const char[]);
PETSC_EXTERN PetscErrorCode BMRMOutputCommit(BMRMOutput *);

/* a linear classifier, the whole of it on every rank */
typedef struct {
  PetscInt   n;          /* features */
  PetscReal  classes[2]; /* the labels of negative and positive scores */
  PetscReal  lambda;
  PetscReal *w;
} BMRMModel;

PETSC_EXTERN PetscErrorCode BMRMModelCreate(Vec, PetscReal, const PetscReal[2], BMRMModel *);
PETSC_EXTERN PetscErrorCode BMRMModelWrite(MPI_Comm, const BMRMModel *, const char[]);
PETSC_EXTERN PetscErrorCode BMRMModelRead(MPI_Comm, const char[], BMRMModel *);
PETSC_EXTERN PetscErrorCode BMRMModelScore(const BMRMModel *, Mat, Vec *);
PETSC_EXTERN PetscErrorCode BMRMModelDestroy(BMRMModel *);

/* how predictions and labels meet */
typedef struct {
  PetscInt tp, fp, tn, fn;
} BMRMConfusion;

PETSC_EXTERN PetscErrorCode BMRMConfusionCount(Vec, Vec, BMRMConfusion *);
PETSC_EXTERN PetscReal      BMRMConfusionAccuracy(const BMRMConfusion *);
PETSC_EXTERN PetscErrorCode BMRMPredictionsWrite(Vec, const PetscReal[2], PetscBool, const char[]);

/* what -report writes; numbers that are not known are NaN, names NULL */
typedef struct {
  PetscInt       rows, cols;
  PetscInt64     nnz;
  PetscReal      lambda, objective, lower_bound, gap;
  PetscInt       iterations, matmults, cuts;
  const char    *reason;
  PetscReal      train_accuracy, test_accuracy;
  BMRMConfusion  test;
  PetscInt       test_rows;
  PetscLogDouble seconds_load, seconds_solve;
  char           mat_type[64];
  const char    *device;
  PetscBool      has_image, lossless; /* of the device image of a gpucsr matrix */
  PetscReal      loss;
} BMRMReport;

PETSC_EXTERN PetscErrorCode BMRMReportCreate(BMRMReport *);
PETSC_EXTERN PetscErrorCode BMRMReportSetMat(BMRMReport *, Mat);
PETSC_EXTERN PetscErrorCode BMRMReportPrint(MPI_Comm, const BMRMReport *);
PETSC_EXTERN PetscErrorCode BMRMReportWrite(MPI_Comm, const BMRMReport *, const char[]);

#endif
