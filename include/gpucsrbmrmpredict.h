/* Public interface for the use of trained BMRM models: scores of new examples, quality of predictions, calibrated probabilities, and paths over lambda with
   cross-validation. */
#ifndef GPUCSRBMRMPREDICT_H
#define GPUCSRBMRMPREDICT_H

/* MANSEC = BMRM */
#include "gpucsrbmrm.h"

/*S
  BMRMQuality - The quality of predictions: what `BMRMComputeQuality()` finds by comparing scores with labels

  Level: intermediate

  Note:
  Members that do not apply to the task are NaN, and so is a quotient whose denominator is zero. For more than two classes there are only `rows` and `accuracy`,
  and `tp` is -1.

.seealso: `BMRMComputeQuality()`, `BMRMTask`
S*/
typedef struct {
  PetscInt  rows, tp, fp, tn, fn; /* number of examples; for two classes the numbers of true and false positives and negatives */
  PetscReal accuracy, precision, recall, f1, mcc, auc;
  PetscReal rmse, mae, r2; /* for predicted numbers: root mean square error, mean absolute error, coefficient of determination */
} BMRMQuality;

/*S
  BMRMPathPoint - One lambda of a path, and the results for it

  Level: intermediate

.seealso: `BMRMSolvePath()`, `BMRMCrossValidate()`
S*/
typedef struct {
  PetscReal           lambda, objective, lower_bound;
  PetscInt            iterations, nonzeros;
  BMRMConvergedReason reason;
  PetscReal           train, validation; /* accuracy, or root of the mean square error; NaN: unknown */
  PetscReal           deviation;         /* standard error of validation, the mean over the folds */
} BMRMPathPoint;

PETSC_EXTERN PetscErrorCode BMRMComputeScores(Mat, PetscInt, Vec, Vec *);
PETSC_EXTERN PetscErrorCode BMRMFindClasses(Vec, PetscInt, Vec *);
PETSC_EXTERN PetscErrorCode BMRMInitializeQuality(BMRMQuality *);
PETSC_EXTERN PetscErrorCode BMRMComputeQuality(BMRMTask, PetscInt, Vec, Vec, BMRMQuality *);
PETSC_EXTERN PetscErrorCode BMRMFitProbabilities(Vec, Vec, PetscReal[2]);
PETSC_EXTERN PetscErrorCode BMRMFitTemperature(PetscInt, Vec, Vec, PetscReal *);
PETSC_EXTERN PetscErrorCode BMRMComputeProbabilities(PetscInt, Vec, const PetscReal[2], Vec *);

PETSC_EXTERN PetscErrorCode BMRMComputePath(BMRM, PetscInt, PetscReal[]);
PETSC_EXTERN PetscErrorCode BMRMSolvePath(BMRM, PetscBool, PetscInt, BMRMPathPoint[]);
PETSC_EXTERN PetscErrorCode BMRMCrossValidate(BMRM, PetscInt, PetscBool, PetscInt, BMRMPathPoint[]);
PETSC_EXTERN PetscErrorCode BMRMComputeHeldOutScores(BMRM, PetscInt, Vec);

#endif
