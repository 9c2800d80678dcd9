/* What the BMRM trainer calls by numbers: the part of its interface that needs no PETSc. */
#ifndef GPUCSRBMRMTYPES_H
#define GPUCSRBMRMTYPES_H

/* what the labels are */
typedef enum {
  BMRM_TASK_CLASSIFICATION, /* +1 and -1 */
  BMRM_TASK_REGRESSION,     /* numbers to come close to */
  BMRM_TASK_NOVELTY,        /* nothing: they are ignored */
  BMRM_TASK_RANKING,        /* numbers by which examples are to be ordered */
  BMRM_TASK_MULTICLASS,     /* one of the classes 0, 1, ... */
  BMRM_TASK_MULTILABEL      /* for every class +1 or -1 */
} BMRMTask;

/* why the method stopped: positive when the certified gap reached a tolerance, negative when something else ended it */
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
