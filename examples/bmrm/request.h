/* The request of the command line of the program bmrm. */
#ifndef BMRM_REQUEST_H
#define BMRM_REQUEST_H

#include "app/program/appmain.h"
#include "model.h"

/* The request of the command line. An empty name means that the option was not given. */
typedef struct {
  char      train[PETSC_MAX_PATH_LEN], test[PETSC_MAX_PATH_LEN], predict[PETSC_MAX_PATH_LEN];
  char      save[PETSC_MAX_PATH_LEN], model[PETSC_MAX_PATH_LEN], predictions[PETSC_MAX_PATH_LEN], report[PETSC_MAX_PATH_LEN], groups[PETSC_MAX_PATH_LEN], weights[PETSC_MAX_PATH_LEN];
  char      picture[PETSC_MAX_PATH_LEN], qualitypicture[PETSC_MAX_PATH_LEN], pathpicture[PETSC_MAX_PATH_LEN];
  char      classweights[4096]; /* -class_weights */
  char      label[256];         /* -label_column: the column of a table that holds the labels */
  PetscInt  features, folds, platt;
  PetscReal bias, bias_factor; /* bias: value of the feature that every example gets, 0 for none */
  PetscBool biased;            /* -bias was given */
  PetscBool scores, probabilities, quality, normalize, scale;
  PetscBool serve, table; /* -serve was given; its lines are those of a table */
  BMRM      solver;       /* the solver, created only for training */
  BMRMTask  task;
  PetscInt  nlambda; /* number of lambdas of -bmrm_path; 0: the option was not given */
  PetscReal lambda[BMRM_MAX_PATH];
  PetscBool together, automatic; /* automatic: -bmrm_path auto */
  PetscBool one_se, ruled;       /* one_se: the rule of -cv_rule; ruled: -cv_rule was given */
} BMRMRequest;

/* request.c: the functions that GpAppMain() calls before the run. context: the BMRMRequest */
PETSC_INTERN PetscErrorCode     BMRMGetRequest(MPI_Comm, void *);
PETSC_INTERN PetscErrorCode     BMRMShowHelp(MPI_Comm, void *);
PETSC_INTERN PetscErrorCode     BMRMCheckRequest(MPI_Comm, void *);
PETSC_INTERN const GpAppManual *BMRMGetManual(void);

PETSC_INTERN const char *BMRMGetQualityOption(const BMRMRequest *);

#endif
