/* Trained models, their files and predictions, and the report of a run. */
#ifndef BMRM_MODEL_H
#define BMRM_MODEL_H

#include <gpucsrbmrmpredict.h>
#include <gpucsrcompat.h>
#include "app/app.h"
#include "examples/bmrm/quality.h"
#include "examples/bmrm/readers/examples.h"

/* A linear model, replicated on every rank. The score of x is <w, x> + offset; a model of several classes has a score for each. */
typedef struct {
  char      loss[64];
  PetscBool classify;   /* scores predict one of two labels */
  PetscBool order;      /* scores are meaningful only for sorting. Without classify, order and nclass, the score is the predicted number. */
  PetscInt  n;          /* features */
  PetscReal classes[2]; /* the labels of negative and positive scores */
  PetscReal lambda, offset;
  PetscReal platt[2];    /* the probability of the second label is 1/(1 + exp(platt[0] score + platt[1])) */
  PetscBool unit_rows;   /* examples are divided by their norms before scores are computed */
  PetscReal temperature; /* the probabilities of several classes are proportional to exp(score / temperature) */
  PetscBool probable;    /* platt is valid, or temperature if each class has a score */
  PetscInt  nclass;      /* number of classes if each has its own score; 0: there is one score */

  /* Arrays. They are the last members, so that the members before them can be broadcast at once. */
  PetscReal *w;
  PetscReal *label;         /* labels of the classes, in ascending order */
  PetscReal *shift;         /* offset of the score of each class; w holds the weights of the first class, then of the second, ... */
  char      *class_names;   /* zero-terminated names of the classes, in the order of their labels; NULL: no names */
  char      *feature_names; /* zero-terminated names of the features, in their order; NULL: no names */
} BMRMModel;

/* the first line of a model without and with sections of names */
#define BMRM_MODEL_MAGIC       "bmrm-model 1"
#define BMRM_MODEL_MAGIC_NAMES "bmrm-model 2"

PETSC_INTERN PetscErrorCode BMRMModelCreate(Vec, PetscInt, PetscInt, const PetscReal[], BMRMModel *);
PETSC_INTERN PetscErrorCode BMRMModelWrite(MPI_Comm, const BMRMModel *, const char[]);
PETSC_INTERN PetscErrorCode BMRMModelRead(MPI_Comm, const char[], BMRMModel *);
PETSC_INTERN PetscErrorCode BMRMModelComputeScores(const BMRMModel *, Mat, Vec *);
PETSC_INTERN PetscBool      BMRMModelHasProbabilities(const BMRMModel *);
PETSC_INTERN PetscErrorCode BMRMModelCheckProbabilities(MPI_Comm, const BMRMModel *, PetscBool, const char[]);
PETSC_INTERN PetscErrorCode BMRMModelComputeProbabilities(const BMRMModel *, Vec, Vec *);
PETSC_INTERN PetscErrorCode BMRMExamplesMatchModel(BMRMExamples *, const BMRMModel *, PetscBool);
PETSC_INTERN PetscErrorCode BMRMModelDestroy(BMRMModel *);

/* What the lines of predictions show besides the label */
typedef struct {
  const BMRMModel *model;
  PetscInt         k, width;       /* number of scores of an example; number of values that the ranks send for it */
  PetscBool        scores, likely; /* whether a line has the scores; whether it has probabilities */
} BMRMPredictionLine;

PETSC_INTERN PetscErrorCode BMRMPredictionsWrite(Vec, Vec, const BMRMModel *, PetscBool, const char[]);
PETSC_INTERN void           BMRMPredictionsWriteLine(FILE *, const BMRMPredictionLine *, const PetscReal[]);

#define BMRM_MAX_PATH 64

/* The content of -report. Unknown numbers are NaN, unknown names are NULL. */
typedef struct {
  PetscInt       rows, cols;
  PetscInt64     nnz;
  PetscReal      lambda, objective, lower_bound, gap;
  PetscInt       iterations, matmults, cuts;
  const char    *reason;
  char           loss[64], regularizer[64];
  PetscInt       weights, nonzeros; /* number of weights, number of nonzero weights */
  BMRMQuality    train, test;
  PetscInt       npath, best; /* number of lambdas of -bmrm_path; the place of the model among them */
  BMRMPathPoint  path[BMRM_MAX_PATH];
  BMRMDetails    details; /* of the quality on the data of -test or -predict, with -quality */
  PetscLogDouble seconds_load, seconds_solve;
  char           mat_type[64];
  const char    *device;
  GpAppRounding  rounding; /* rounding of the values of the matrix on the device */
  GpAppStreamed  streamed; /* chunks of the matrix, if it is streamed */
} BMRMReport;

PETSC_INTERN PetscErrorCode BMRMReportCreate(BMRMReport *);
PETSC_INTERN PetscErrorCode BMRMReportSetMat(BMRMReport *, Mat);
PETSC_INTERN PetscErrorCode BMRMReportPrint(MPI_Comm, const BMRMReport *, const BMRMModel *);
PETSC_INTERN PetscErrorCode BMRMReportWrite(MPI_Comm, const BMRMReport *, const BMRMModel *, const char[]);

/* objective, lower bound and gap after every pass */
typedef struct {
  PetscInt n, capacity;
  double  *value[4]; /* number of the pass, objective, lower bound, gap */
} BMRMHistory;

PETSC_INTERN PetscErrorCode BMRMHistoryStart(BMRMHistory *, BMRM);
PETSC_INTERN PetscErrorCode BMRMHistoryWritePicture(MPI_Comm, const BMRMHistory *, const BMRMReport *, const char[]);
PETSC_INTERN PetscErrorCode BMRMHistoryDestroy(BMRMHistory *);

/* path.c */
PETSC_INTERN PetscErrorCode BMRMPathGetLambdas(MPI_Comm, PetscInt *, PetscReal[], PetscBool *, PetscBool *);
PETSC_INTERN PetscInt       BMRMPathChoose(PetscBool, PetscBool, PetscInt, const BMRMPathPoint[]);
PETSC_INTERN void           BMRMPathWrite(GpAppJSON *, PetscInt, PetscInt, const BMRMPathPoint[]);
PETSC_INTERN PetscErrorCode BMRMPathPrint(MPI_Comm, PetscBool, PetscInt, PetscInt, const BMRMPathPoint[]);

/* pathpicture.c */
PETSC_INTERN PetscErrorCode BMRMPathWritePicture(MPI_Comm, const BMRMReport *, PetscBool, PetscInt, const char[]);

#endif
