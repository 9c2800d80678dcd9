/* A trained model, its file, what it predicts, and the report of a run. */
#ifndef BMRM_MODEL_H
#define BMRM_MODEL_H

#include <gpucsrbmrm.h>
#include <gpucsrcompat.h>
#include "app/app.h"
#include "libsvm.h"

/* a linear model, the whole of it on every rank: the score of x is <w, x> + offset; of several classes one of each */
typedef struct {
  char       loss[64];
  PetscBool  classify;   /* scores stand for two labels */
  PetscBool  order;      /* scores are good for an order only; where this is so neither, and there are no classes, they are the prediction */
  PetscInt   n;          /* features */
  PetscReal  classes[2]; /* the labels of negative and positive scores */
  PetscReal  lambda, offset;
  PetscReal  platt[2];  /* the probability of the second label is 1/(1 + exp(platt[0] score + platt[1])) */
  PetscBool  unit_rows; /* examples are divided by their norms first */
  PetscBool  probable;  /* platt is known */
  PetscReal *w;
  PetscInt   nclass;        /* classes with a score each, 0 for one score */
  PetscReal *label;         /* their labels, in ascending order */
  PetscReal *shift;         /* what is added to their scores; w has the weights of the first class, of the second, ... */
  char      *class_names;   /* names of the classes in the order of their labels, each with its final 0; NULL: they have none */
  char      *feature_names; /* names of the features in their order, each with its final 0; NULL: they have none */
} BMRMModel;

/* the first line of a model without and with sections of names */
#define BMRM_MODEL_MAGIC       "bmrm-model 1"
#define BMRM_MODEL_MAGIC_NAMES "bmrm-model 2"

/* A file that is small beside the number of its features is taken for damaged, unless -features says that the number is meant: vectors of weights would take most of the memory. */
static inline PetscBool BMRMFeaturesFit_Private(PetscInt64 features, PetscInt64 entries, PetscInt64 accepted)
{
  return (PetscBool)(features <= PetscMax(accepted, 1 << 24) || features / 64 <= entries);
}

PETSC_EXTERN PetscErrorCode BMRMModelCreate(Vec, PetscInt, BMRMModel *);
PETSC_EXTERN PetscErrorCode BMRMModelCreateClasses(Vec, PetscInt, PetscInt, const PetscReal[], BMRMModel *);
PETSC_EXTERN PetscErrorCode BMRMModelWrite(MPI_Comm, const BMRMModel *, const char[]);
PETSC_EXTERN PetscErrorCode BMRMModelRead(MPI_Comm, const char[], BMRMModel *);
PETSC_EXTERN PetscErrorCode BMRMModelScore(const BMRMModel *, Mat, Vec *);
PETSC_EXTERN PetscErrorCode BMRMExamplesMatchModel(BMRMExamples *, const BMRMModel *, PetscBool);
PETSC_EXTERN PetscErrorCode BMRMModelDestroy(BMRMModel *);

/* how good predictions are; what does not apply is NaN */
typedef struct {
  PetscInt  rows, tp, fp, tn, fn; /* of two labels */
  PetscReal accuracy, precision, recall, f1, mcc, auc;
  PetscReal rmse, mae, r2; /* of numbers */
} BMRMScore;

PETSC_EXTERN PetscErrorCode BMRMScoreCreate(BMRMScore *);
PETSC_EXTERN PetscErrorCode BMRMScoreClasses(Vec, Vec, BMRMScore *);
PETSC_EXTERN PetscErrorCode BMRMScoreNumbers(Vec, Vec, BMRMScore *);
PETSC_EXTERN PetscErrorCode BMRMScoreMany(Vec, Vec, PetscInt, BMRMScore *);
PETSC_EXTERN PetscErrorCode BMRMPredictionsWrite(Vec, const BMRMModel *, PetscBool, PetscBool, const char[]);

/* platt.c */
PETSC_EXTERN PetscErrorCode BMRMPlattFit(Vec, Vec, PetscReal[2]);

/* modelclasses.c */
PETSC_INTERN PetscErrorCode BMRMModelScoreClasses_Private(const BMRMModel *, Mat, Vec *);
PETSC_INTERN PetscErrorCode BMRMPredictionsWriteClasses_Private(Vec, const BMRMModel *, PetscBool, const char[]);
PETSC_INTERN void           BMRMModelPutClasses_Private(FILE *, const BMRMModel *);

/* what -report writes; numbers that are not known are NaN, names NULL */
typedef struct {
  PetscInt       rows, cols;
  PetscInt64     nnz;
  PetscReal      lambda, objective, lower_bound, gap;
  PetscInt       iterations, matmults, cuts;
  const char    *reason;
  char           loss[64], regularizer[64];
  PetscInt       weights, nonzeros; /* weights, those that are not zero */
  BMRMScore      train, test;
  PetscLogDouble seconds_load, seconds_solve;
  char           mat_type[64];
  const char    *device;
  const char    *class_names; /* nclass names, each with its final 0; NULL: there are none */
  PetscInt       nclass;
  GpAppRounding  rounding; /* of the examples in the matrix */
} BMRMReport;

PETSC_EXTERN PetscErrorCode BMRMReportCreate(BMRMReport *);
PETSC_EXTERN PetscErrorCode BMRMReportSetMat(BMRMReport *, Mat);
PETSC_EXTERN PetscErrorCode BMRMReportPrint(MPI_Comm, const BMRMReport *);
PETSC_EXTERN PetscErrorCode BMRMReportWrite(MPI_Comm, const BMRMReport *, const char[]);

/* objective, lower bound and gap, pass by pass */
typedef struct {
  PetscInt n, room;
  double  *pass, *value[3];
} BMRMHistory;

PETSC_EXTERN PetscErrorCode BMRMHistoryStart(BMRMHistory *, BMRM);
PETSC_EXTERN PetscErrorCode BMRMHistoryWritePicture(MPI_Comm, const BMRMHistory *, const char[]);
PETSC_EXTERN PetscErrorCode BMRMHistoryDestroy(BMRMHistory *);

/* one lambda of a path, and what cross-validation says of it */
typedef struct {
  PetscReal           lambda, objective, lower_bound;
  PetscInt            iterations, nonzeros;
  BMRMConvergedReason reason;
  PetscReal           train, validation; /* accuracy, or root of the mean square error; NaN where not known */
} BMRMPathPoint;

PETSC_EXTERN PetscErrorCode BMRMPathGetLambdas(MPI_Comm, PetscInt *, PetscReal[], PetscBool *);
PETSC_EXTERN PetscErrorCode BMRMPathValidate(BMRM, Mat, Vec, Vec, PetscInt, PetscBool, PetscInt, BMRMPathPoint[]);
PETSC_EXTERN PetscErrorCode BMRMPathHoldOut(BMRM, Mat, Vec, Vec, PetscInt, Vec);
PETSC_EXTERN PetscErrorCode BMRMPathSolve(BMRM, Vec, PetscBool, PetscInt, BMRMPathPoint[]);
PETSC_EXTERN PetscErrorCode BMRMPathPrint(MPI_Comm, PetscBool, PetscInt, PetscInt, const BMRMPathPoint[]);

#define BMRM_MAX_PATH 64

#endif
