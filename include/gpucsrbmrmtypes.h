/* Enumerations of the BMRM trainer: the part of its interface that does not need PETSc's headers. */
#ifndef GPUCSRBMRMTYPES_H
#define GPUCSRBMRMTYPES_H

/* MANSEC = BMRM */
/*E
  BMRMTask - What the labels of a loss mean

  Values:
+ `BMRM_TASK_CLASSIFICATION` - +1 and -1
. `BMRM_TASK_REGRESSION`     - real numbers to approximate
. `BMRM_TASK_NOVELTY`        - labels are ignored
. `BMRM_TASK_RANKING`        - real numbers; scores should order the examples in the same way
. `BMRM_TASK_MULTICLASS`     - the class 0, 1, ... of an example
- `BMRM_TASK_MULTILABEL`     - +1 or -1 for each class

  Level: intermediate

.seealso: `BMRMGetTask()`, `BMRMSetLossType()`
E*/
typedef enum {
  BMRM_TASK_CLASSIFICATION,
  BMRM_TASK_REGRESSION,
  BMRM_TASK_NOVELTY,
  BMRM_TASK_RANKING,
  BMRM_TASK_MULTICLASS,
  BMRM_TASK_MULTILABEL
} BMRMTask;

/*E
  BMRMConvergedReason - Why `BMRMSolve()` stopped

  Values:
+ `BMRM_CONVERGED_GAP_ATOL`  - objective minus lower bound is below the absolute tolerance
. `BMRM_CONVERGED_GAP_RTOL`  - the same relative to the objective
. `BMRM_CONVERGED_USER`      - the user's convergence test stopped the iteration
. `BMRM_DIVERGED_MAX_IT`     - the maximum number of passes was reached
. `BMRM_DIVERGED_STAGNATED`  - rounding prevents further progress
. `BMRM_DIVERGED_USER`       - the user's convergence test reported divergence
. `BMRM_DIVERGED_NANORINF`   - the objective is not a finite number
- `BMRM_CONVERGED_ITERATING` - the solver is running or was not called yet

  Level: beginner

  Note:
  Positive values mean that the certified gap reached a tolerance. Negative values mean that it did not.

.seealso: `BMRMGetConvergedReason()`, `BMRMSetTolerances()`, `BMRMSetConvergenceTest()`
E*/
typedef enum {
  BMRM_CONVERGED_GAP_ATOL  = 2,
  BMRM_CONVERGED_GAP_RTOL  = 3,
  BMRM_CONVERGED_USER      = 4,
  BMRM_DIVERGED_MAX_IT     = -3,
  BMRM_DIVERGED_STAGNATED  = -4,
  BMRM_DIVERGED_USER       = -5,
  BMRM_DIVERGED_NANORINF   = -9,
  BMRM_CONVERGED_ITERATING = 0
} BMRMConvergedReason;

#endif
