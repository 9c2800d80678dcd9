/* What a loss of several classes is, for those who write one: a convex function of the scores of one example, one a class, least 0.

   The risk is its mean over the examples.  BMRMLossSetClasses() fills in the operations of a loss: it goes through the rows of a rank, on the
   host, and finds the kinks along a line where the loss is the largest of some lines, one a class. */
#ifndef BMRM_CLASSES_H
#define BMRM_CLASSES_H

#include "solvers/bmrm/bmrmloss.h"

/* one example */
typedef struct {
  PetscInt         k; /* classes */
  const PetscReal *z; /* their scores */
  const PetscReal *y; /* its class, a number from 0; or for every class +1 or -1 */
  const PetscReal *p; /* parameters of the loss */
} BMRMExample;

typedef struct {
  BMRMTask          task; /* BMRM_TASK_MULTICLASS or BMRM_TASK_MULTILABEL */
  PetscInt          nparameter;
  BMRMLossParameter parameter[BMRM_LOSS_PARAMETERS];
  /* u and offset with u'g + offset <= the loss at every g, and equal at z */
  void (*cut)(const BMRMExample *, PetscReal u[], PetscReal *offset);
  /* the second derivative by t at z + t e, u as cut() made it; NULL for 0 */
  PetscReal (*curvature)(const BMRMExample *, const PetscReal u[], const PetscReal e[]);
  /* the loss is the largest of k lines: line c at z, and its slope along e; NULL where it is not */
  void (*line)(const BMRMExample *, const PetscReal e[], PetscInt c, PetscReal *value, PetscReal *slope);
} BMRMClasses;

PETSC_EXTERN PetscErrorCode BMRMLossSetClasses(BMRMLoss, const BMRMClasses *);

#endif
