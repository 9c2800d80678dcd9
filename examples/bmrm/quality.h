/* Details of the quality of predicted classes: confusion matrix, scores of each class, ROC and precision-recall curve, calibration. */
#ifndef BMRM_QUALITY_H
#define BMRM_QUALITY_H

#include "app/app.h"
#include <petscvec.h>

#define BMRM_BINS  10  /* of probabilities, of equal width */
#define BMRM_CURVE 200 /* maximum number of points of a written curve */

/* Examples whose probability lies in a bin. Two classes: the probability of the second label. Several classes: that of the predicted class. */
typedef struct {
  PetscReal count, probability, right; /* their number; sum of their probabilities; number of those with that label */
} BMRMBin;

/* A point of the curves of two classes: the examples whose score is at least the threshold are predicted to have the second label. */
typedef struct {
  PetscReal threshold, tpr, fpr, precision;
} BMRMCurvePoint;

/* Unknown numbers are NaN. */
typedef struct {
  PetscInt        k;         /* number of classes; 0: there are no details */
  PetscInt64     *confusion; /* k × k, row by row: examples of each true class by predicted class, on all ranks */
  PetscBool       likely;    /* there are probabilities */
  PetscReal       log_loss, brier, calibration_error, average_precision;
  PetscReal       auc; /* area under the ROC curve; on the first rank alone */
  BMRMBin         bin[BMRM_BINS];
  PetscInt        npoint; /* number of points of the curves; on the first rank alone */
  BMRMCurvePoint *point;
  char            file[PETSC_MAX_PATH_LEN];
} BMRMDetails;

PETSC_INTERN PetscErrorCode BMRMDetailsCreate(const char[], PetscBool, PetscInt, Vec, Vec, Vec, BMRMDetails *);
PETSC_INTERN PetscErrorCode BMRMDetailsPrint(MPI_Comm, const BMRMDetails *, const PetscReal[], const char[]);
PETSC_INTERN void           BMRMDetailsWrite(GpAppJSON *, const BMRMDetails *, const PetscReal[], const char[]);
PETSC_INTERN PetscErrorCode BMRMDetailsWritePicture(MPI_Comm, const BMRMDetails *, const PetscReal[], const char[], const char[]);
PETSC_INTERN PetscErrorCode BMRMDetailsDestroy(BMRMDetails *);

#endif
